//! What the tests with real peers share.

// Each test binary compiles this module and uses its own part of it.
#![allow(dead_code, reason = "conformance.rs needs only part of it")]

pub(crate) mod cache;
pub(crate) mod process;
pub(crate) mod programs;
pub(crate) mod scenario;
