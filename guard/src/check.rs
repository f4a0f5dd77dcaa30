//! The checks, one a file: each a function of the call to findings.
//!
//! The order in which they decide: the tool is offered → its schema can be used → its arguments are valid → rules
//! (those that deny, then those that ask). All run; [`crate::decision::Decision`] draws the conclusion.

pub(crate) mod arguments;
pub(crate) mod env;
pub(crate) mod purse;
pub(crate) mod rules;
