//! Proof that a call was decided and may be made, once.

use bytes::Bytes;

use crate::proposal::CallKey;

/// One allowed call: what was decided on, byte for byte.
///
/// Only a decision makes one. Whoever runs the call takes the permit by value, so that one decision cannot be
/// used for two calls, nor for other arguments than those it was made on.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an allowed call that nobody makes still counts as raised"]
pub struct Permit {
    tool: String,
    id: Option<String>,
    arguments: Bytes,
    call: CallKey,
}

impl Permit {
    /// Grants the call of `tool` with exactly these arguments, whose key `call` is.
    pub(crate) fn new(tool: &str, id: Option<&str>, arguments: Bytes, call: CallKey) -> Permit {
        Permit { tool: tool.to_owned(), id: id.map(str::to_owned), arguments, call }
    }

    /// The tool, as it was called.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The call's own id, when it came with one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The JSON text of the arguments that were decided on.
    #[must_use]
    pub fn arguments(&self) -> &Bytes {
        &self.arguments
    }

    /// Tool and arguments by value: equal for equal calls however they are written.
    #[must_use]
    pub fn call(&self) -> CallKey {
        self.call
    }

    /// Uses the permit up.
    #[must_use]
    pub fn into_arguments(self) -> Bytes {
        self.arguments
    }
}
