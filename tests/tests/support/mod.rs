//! What the tests with real peers share.

pub(crate) mod cache;
pub(crate) mod guard_cases;
pub(crate) mod process;
pub(crate) mod programs;
pub(crate) mod scenario;
