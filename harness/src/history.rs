//! The record, read: what the commands `log`, `show` and `replay` have in common.
//!
//! * [`file`]: a store's database or JSON lines, the same to whoever reads.
//! * [`call`]: a call with how it ended, from records read forwards or backwards.
//! * [`reply`]: what came of asking people.
//! * [`after`]: what came after one call's record.
//! * [`choice`]: which calls are wanted.
//! * [`line`]: a call as a row for people, or as JSON.
//! * [`again`]: decisions made again.
//! * [`reach`]: which of another policy's rules are for any recorded tool.
//! * [`stated`]: where paths lead of which a record says nothing.
//! * [`learn`]: a policy from what was allowed.

pub(crate) mod after;
pub(crate) mod again;
pub(crate) mod call;
pub(crate) mod choice;
pub(crate) mod ends;
pub(crate) mod file;
pub(crate) mod learn;
pub(crate) mod line;
mod reach;
pub(crate) mod reply;
pub(crate) mod stated;
