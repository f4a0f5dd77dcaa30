//! The policy engine of Framegate: decides tool calls for any harness.
//!
//! It knows no protocol, does no input or output, asks no clock and reads no environment.

pub mod call_shape;
pub mod cel;
pub mod decimal;
pub mod definition;
pub mod function;
pub mod json;
pub mod look;
pub mod messages;
pub mod permit;
pub mod policy;
pub mod proposal;
pub mod refusal;
pub mod schema;
pub mod session;
pub mod text;
pub mod world;
