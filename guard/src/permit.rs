//! Proof that a call was decided and may be made, once.

use bytes::Bytes;

use crate::json::Value;

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
    /// [`Value::digest`] of `arguments`.
    digest: [u8; 32],
}

impl Permit {
    /// Grants the call of `tool` with exactly these arguments.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "granted by the decision engine, which is built on this")
    )]
    pub(crate) fn new(tool: &str, id: Option<&str>, arguments: Value<'_>) -> Permit {
        Permit {
            tool: tool.to_owned(),
            id: id.map(str::to_owned),
            arguments: arguments.document().source().slice(arguments.span()),
            digest: arguments.digest(),
        }
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

    /// [`Value::digest`] of the arguments: equal for equal arguments however they are written.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Uses the permit up.
    #[must_use]
    pub fn into_arguments(self) -> Bytes {
        self.arguments
    }
}

#[cfg(test)]
mod tests {
    use super::Permit;
    use crate::json::{Document, Limits};

    #[test]
    fn holds_the_bytes_of_the_arguments_only() {
        let frame = Document::read(r#"{"arguments": {"n": 1.10} }"#.into(), &Limits::default()).unwrap();
        let arguments = frame.root().get("arguments").unwrap();
        let permit = Permit::new("pay", Some("c1"), arguments);
        assert_eq!((permit.tool(), permit.id()), ("pay", Some("c1")));
        assert_eq!(permit.digest(), arguments.digest());
        assert_eq!(&permit.into_arguments()[..], br#"{"n": 1.10}"#);
    }
}
