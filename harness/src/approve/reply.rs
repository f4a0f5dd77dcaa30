//! What a person said. Only an explicit yes is one.

use framegate_guard::json::{Kind, Value};
use framegate_pump::{Frame, InjectError};

use crate::clip::clip;
use crate::wire::{self, ClientFrame};

/// The field of the form.
pub(crate) const APPROVE: &str = "approve";

/// A person's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The question was dismissed.
    Cancelled,
    /// No.
    No,
    /// Nothing, in the time there was.
    TimedOut,
    /// Nobody was asked, or what came is no reply; and why.
    Unavailable(String),
    /// Yes.
    Yes,
}

impl Reply {
    /// Its name in a record and a log.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Cancelled => "dismissed",
            Self::No => "declined",
            Self::TimedOut => "timed out",
            Self::Unavailable(_) => "unavailable",
            Self::Yes => "approved",
        }
    }

    /// Of the client's answer to our `elicitation/create`.
    pub(crate) fn of_answer(answer: Result<Frame, InjectError>, limits: &wire::Limits) -> Reply {
        match read_answer(answer, limits) {
            Ok(read) => read.result().map_or_else(|| Reply::Unavailable(String::new()), Reply::of_result),
            Err(None) => Reply::TimedOut,
            Err(Some(why)) => Reply::Unavailable(why),
        }
    }

    /// Of the result of an elicitation. `"true"`, `1`, a form with more in it than was asked: all of that is no yes.
    pub(crate) fn of_result(result: Value<'_>) -> Reply {
        match result.get("action").and_then(Value::as_str) {
            Some("accept") => {
                let content = result.get("content").filter(|content| content.kind() == Kind::Object);
                let is_yes = content.is_some_and(|content| {
                    content.len() == 1 && content.get(APPROVE).and_then(Value::as_bool) == Some(true)
                });
                if is_yes { Reply::Yes } else { Reply::No }
            }
            Some("cancel") => Reply::Cancelled,
            Some("decline") => Reply::No,
            _ => Reply::Unavailable("the client's answer has no `action` that is known".into()),
        }
    }
}

/// The client's answer to a question, read for certain: it has a result. Otherwise why there is none to use; `None`
/// where nothing came in time.
pub(super) fn read_answer(
    answer: Result<Frame, InjectError>,
    limits: &wire::Limits,
) -> Result<ClientFrame, Option<String>> {
    let frame = match answer {
        Ok(frame) => frame,
        Err(InjectError::TimedOut) => return Err(None),
        Err(why) => return Err(Some(why.to_string())),
    };
    let read = wire::client_frame(&frame, limits).map_err(|refusal| {
        Some(format!("the client's answer cannot be read for certain ({})", refusal.reason.as_str()))
    })?;
    let read = read.ok_or_else(|| Some("the client's answer is empty".to_owned()))?;
    match (read.result(), read.error()) {
        (Some(_), _) => Ok(read),
        (None, Some(error)) => {
            let said = error.get("message").and_then(Value::as_str).unwrap_or_default();
            Err(Some(format!("the client answered with an error: {}", clip(said))))
        }
        (None, None) => Err(Some("the client's answer holds none".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(answer: &str) -> Reply {
        Reply::of_answer(Ok(Frame::line(answer.as_bytes())), &wire::Limits::default())
    }

    fn to(result: &str) -> Reply {
        reply(&format!(r#"{{"jsonrpc":"2.0","id":"q","result":{result}}}"#))
    }

    #[test]
    fn only_a_boolean_yes_to_what_was_asked_approves() {
        assert_eq!(to(r#"{"action":"accept","content":{"approve":true}}"#), Reply::Yes);
        assert_eq!(to(r#"{"_meta":{},"content":{"approve":true},"action":"accept"}"#), Reply::Yes);
        for no in [
            r#"{"action":"accept","content":{"approve":false}}"#,
            r#"{"action":"accept","content":{"approve":"true"}}"#,
            r#"{"action":"accept","content":{"approve":1}}"#,
            r#"{"action":"accept","content":{"Approve":true}}"#,
            r#"{"action":"accept","content":{"approve":true,"also":1}}"#,
            r#"{"action":"accept","content":{}}"#,
            r#"{"action":"accept","content":[true]}"#,
            r#"{"action":"accept"}"#,
            r#"{"action":"decline","content":{"approve":true}}"#,
        ] {
            assert_eq!(to(no), Reply::No, "{no}");
        }
        assert_eq!(to(r#"{"action":"cancel"}"#), Reply::Cancelled);
    }

    #[test]
    fn what_is_no_reply_is_not_taken_for_one() {
        for none in [
            r#"{"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":"q","result":{"action":"Accept","content":{"approve":true}}}"#,
            r#"{"jsonrpc":"2.0","id":"q","result":{"content":{"approve":true}}}"#,
            r#"{"jsonrpc":"2.0","id":"q","result":true}"#,
            r#"{"jsonrpc":"2.0","id":"q","result":{"action":"accept","action":"decline","content":{"approve":true}}}"#,
            r#"{"jsonrpc":"2.0","id":"q","result":{"action":"accept","content":{"approve":true,"approve":true}}}"#,
            "not JSON",
        ] {
            assert!(matches!(reply(none), Reply::Unavailable(_)), "{none}");
        }
        let none = wire::Limits::default();
        assert_eq!(Reply::of_answer(Err(InjectError::TimedOut), &none), Reply::TimedOut);
        assert!(matches!(Reply::of_answer(Err(InjectError::Closed), &none), Reply::Unavailable(_)));
    }
}
