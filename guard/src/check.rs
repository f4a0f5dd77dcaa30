//! The checks, one a file: each a function of the call to findings.
//!
//! The order in which they decide: the tool is offered → its schema can be used → its arguments are valid → they are
//! grounded → from the user → not injected → no tool output carries instructions → none is followed → the call was not made before → the
//! user confirmed it → asked for it → rules (those that deny, then those that ask) → it is authorized. All run;
//! [`crate::decision::Decision`] draws the conclusion.

pub(crate) mod arguments;
pub(crate) mod authorized;
pub(crate) mod confirmed;
pub(crate) mod env;
pub(crate) mod followed;
pub(crate) mod grounded;
pub(crate) mod injected;
pub(crate) mod instructions;
mod met;
pub(crate) mod once;
pub(crate) mod provenance;
pub(crate) mod purse;
pub(crate) mod requested;
pub(crate) mod rules;
pub(crate) mod state;
pub(crate) mod tool_values;
mod trail;
mod values;
