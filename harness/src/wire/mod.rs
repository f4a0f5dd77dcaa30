//! Whole MCP frames under a guard: what passes for certain, and what is refused for which reason.
//!
//! Two readers of one line may disagree, and each disagreement is a way past a guard: it decides on what it
//! read, the server runs what *it* read. So a frame of the client's is read once, strictly
//! ([`client_frame`]); what any reader could take for something else is refused, and nothing is repaired.
//!
//! Frames of the server's are looked at as little as possible ([`server_frame`]): honest servers write NaN,
//! duplicate keys and lone surrogates into their results, and only what could be taken for *another message*
//! is kept from the client.
//!
//! Pure functions, no I/O. Everything that [`client_frame`] accepts, the pump's peek reads as the same
//! message under the same id and method; the fuzz target `strict_reader` holds the two together.
//!
//! ```
//! use framegate::pump::Frame;
//! use framegate::wire::{Limits, MessageKind, client_frame};
//!
//! let line = br#"{"jsonrpc":"2.0","id":7,"method":"tools\/call","params":{"name":"echo","arguments":{"n":1.10}}}"#;
//! let read = client_frame(&Frame::line(line), &Limits::default()).unwrap().unwrap();
//! assert_eq!(read.kind(), MessageKind::Request);
//! let call = read.call().unwrap();
//! assert_eq!((call.name, call.arguments.unwrap().raw()), ("echo", r#"{"n":1.10}"#));
//!
//! let twice = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","\u006eame":"rm"}}"#;
//! let refusal = client_frame(&Frame::line(twice), &Limits::default()).unwrap_err();
//! assert_eq!(refusal.reason.as_str(), "duplicate_key");
//! assert_eq!(refusal.errors().len(), 1, "one error, with the call's id");
//! ```

mod client;
mod envelope;
mod ids;
mod keys;
mod outline;
mod refusal;
mod server;
#[cfg(test)]
mod tests;

use framegate_guard::policy::{CallLimits, Policy};

#[doc(hidden)]
pub use client::assert_reads_strictly;
pub use client::{Call, ClientFrame, client_frame};
pub use framegate_guard::look::{Look, look_alike};
pub use refusal::{Reason, Refusal, Subject};
pub use server::{Dropped, ServerFrame, server_frame};

/// What a frame of the client's may hold. Each limit is inclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a frame, without its terminator. The policy calls it `limits.call_bytes`.
    pub call_bytes: usize,
    /// Nested arrays and objects, the frame's own object included.
    pub depth: usize,
    /// Bytes of an id as JSON text.
    pub id_bytes: usize,
    /// Digits of one number.
    pub number_digits: usize,
    /// Integers beyond the range of a double are let through: a policy that reads them says what they may be.
    pub huge_integers: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            call_bytes: 16 * 1024 * 1024,
            depth: 64,
            id_bytes: 256,
            number_digits: 1000,
            huge_integers: false,
        }
    }
}

impl Limits {
    /// Those of a policy.
    #[must_use]
    pub fn of(policy: &Policy) -> Self {
        let CallLimits { call_bytes, depth, number_digits, .. } = policy.limits();
        Self {
            call_bytes,
            depth,
            number_digits,
            huge_integers: policy.praxiom().is_some(),
            ..Self::default()
        }
    }
}

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// `method`, no `id`: nobody waits for an answer.
    Notification,
    /// `method` and an `id`.
    Request,
    /// `result` or `error`: an answer to a question of the server's.
    Response,
}
