//! A frame of the server's: kept from the client only if it could be taken for another message.

use framegate_pump::{Ambiguity, Frame, Id, Kind, Opacity};
use serde_json::value::RawValue;

use super::outline;
use super::refusal::Reason;

/// Requests of the client's that one batch of answers may concern.
const BATCH_ANSWERS_MAX: usize = 4096;

/// A frame of the server's that passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerFrame {
    /// One message. What is inside its `result` is not looked at.
    Message,
    /// A line that is no JSON object: it passes as it would without a guard, and is counted.
    Noise {
        /// The request that it looks like the answer to. Some clients read `NaN`, so the output of that call
        /// was never seen, and counts as the worst.
        answers: Option<Id>,
    },
}

/// A frame of the server's that is kept from the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// For the log and the record.
    pub reason: Reason,
    /// For people: what is wrong.
    pub message: &'static str,
    /// The requests that it may have been the answer to: those that are open are answered with an error.
    pub answers: Vec<Id>,
}

/// Judges a frame of the server's; `kind` is what the pump's peek made of it, which has already seen every
/// byte: certain messages cost nothing here.
///
/// # Errors
/// [`Dropped`]: an inner CR, invalid UTF-8, a byte-order mark, or an envelope that is not certain.
pub fn server_frame(frame: &Frame, kind: Kind) -> Result<ServerFrame, Dropped> {
    let body = frame.body();
    let (reason, message) = match kind {
        Kind::Notification | Kind::Request | Kind::Response => return Ok(ServerFrame::Message),
        Kind::Blank => return Ok(ServerFrame::Noise { answers: None }),
        Kind::Opaque(Opacity::ByteOrderMark) => (Reason::ByteOrderMark, "it begins with a byte-order mark"),
        Kind::Opaque(Opacity::NotUtf8) => (Reason::Utf8, "it is not UTF-8"),
        _ if memchr::memchr(b'\r', body).is_some() => {
            (Reason::BareCarriageReturn, "it has a carriage return inside, where some clients cut it")
        }
        Kind::Opaque(Opacity::NotJson | Opacity::NotObject) => {
            return Ok(ServerFrame::Noise { answers: outline::answered(body) });
        }
        Kind::Batch => (Reason::Batch, "it is several messages in one array"),
        Kind::Ambiguous(why) => ambiguous(why),
    };
    let answers = if body.trim_ascii_start().starts_with(b"[") {
        batch_answers(body)
    } else {
        outline::answered_perhaps(body)
    };
    Err(Dropped { reason, message, answers })
}

fn ambiguous(why: Ambiguity) -> (Reason, &'static str) {
    match why {
        Ambiguity::BareCarriageReturn => (Reason::BareCarriageReturn, "it has a carriage return inside"),
        Ambiguity::DuplicateKey => (Reason::DuplicateKey, "one of its own keys stands twice"),
        Ambiguity::Hybrid => (Reason::Hybrid, "it is a request and an answer at once"),
        Ambiguity::IdType => (Reason::Id, "its `id` is neither a string nor a number"),
        Ambiguity::LookAlikeKey => (Reason::LookAlike, "one of its keys could be taken for another"),
        Ambiguity::MethodType => (Reason::Method, "its `method` is no string"),
        Ambiguity::NoMessage => (Reason::NoMessage, "it is neither a request nor an answer"),
    }
}

fn batch_answers(body: &[u8]) -> Vec<Id> {
    let Ok(messages) = serde_json::from_slice::<Vec<&RawValue>>(body) else { return Vec::new() };
    let answered = |message: &RawValue| outline::answered(message.get().as_bytes());
    messages.into_iter().filter_map(answered).take(BATCH_ANSWERS_MAX).collect()
}
