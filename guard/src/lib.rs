//! The policy engine of Framegate: decides tool calls for any harness.
//!
//! It knows no protocol, does no input or output, asks no clock and reads no environment.

pub mod agent;
pub mod call_shape;
mod catalogue;
pub mod cel;
mod check;
pub mod decimal;
pub mod decision;
pub mod definition;
pub mod facts;
pub mod finding;
pub mod function;
mod guard;
pub mod json;
pub mod ledger;
pub mod link;
pub mod look;
pub mod messages;
pub mod permit;
pub mod policy;
pub mod proposal;
pub mod refusal;
mod rust_rule;
pub mod schema;
pub mod session;
pub mod text;
pub mod trace;
pub mod world;

pub use agent::Agent;
pub use decision::{Decision, Outcome};
pub use facts::Facts;
pub use guard::{Call, Guard, MethodCall, Ruled};
pub use rust_rule::{Judge, RuleError, RuleInput, RustRule};
