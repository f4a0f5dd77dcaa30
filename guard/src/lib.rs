//! The policy engine of Framegate: decides tool calls for any harness.
//!
//! It knows no protocol, does no input or output, asks no clock and reads no environment.

pub mod json;
pub mod world;
