//! A form for what a call lacks: what the person is shown, and what their answer is.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use framegate_guard::Guard;
use framegate_guard::form::{Form, Outcome};
use framegate_guard::json::{Document, Kind, Limits, Value};
use framegate_pump::{Frame, InjectError};

use super::reply::read_answer;
use crate::wire;

/// An answer to come.
pub type Filling = Pin<Box<dyn Future<Output = Filled> + Send>>;

/// A call that lacks required arguments, as it is put to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormQuestion {
    /// The server, as the user named it.
    pub server: String,
    /// The tool, as called.
    pub tool: String,
    /// What the person reads above the form.
    pub message: String,
    /// The form: the `requestedSchema` of MCP's elicitation in form mode, a flat JSON Schema.
    pub schema: String,
}

impl FormQuestion {
    pub(crate) fn new(guard: &Guard, tool: &str, message: String, form: &Form) -> FormQuestion {
        let (server, schema) = (guard.server().to_owned(), form.text().to_owned());
        FormQuestion { server, tool: tool.to_owned(), message, schema }
    }

    /// Params of an `elicitation/create`. As text: a form's fields stand in the order in which they are asked for.
    pub(crate) fn params(&self, mode: Option<&str>) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let mode = mode.map_or_else(String::new, |mode| format!(r#""mode":{},"#, quoted(mode)));
        format!(r#"{{{mode}"message":{},"requestedSchema":{}}}"#, quoted(&self.message), self.schema)
    }
}

/// What a person answered to a form.
#[derive(Clone, Debug)]
pub enum Filled {
    /// The question was dismissed.
    Cancelled,
    /// This, an object.
    Content(Document),
    /// No.
    Declined,
    /// What came is no answer; and why.
    Failed(String),
    /// Nothing, in the time there was.
    TimedOut,
    /// There is no form here.
    Unsupported,
}

impl Filled {
    /// Its name in a record and a log.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Cancelled => "dismissed",
            Self::Content(_) => "filled in",
            Self::Declined => "declined",
            Self::Failed(_) | Self::Unsupported => "unavailable",
            Self::TimedOut => "timed out",
        }
    }

    /// What the model is told.
    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            Self::Cancelled => Outcome::Cancelled,
            Self::Content(_) => Outcome::StillMissing(Vec::new()),
            Self::Declined => Outcome::Declined,
            Self::Failed(_) => Outcome::Failed,
            Self::TimedOut => Outcome::TimedOut,
            Self::Unsupported => Outcome::Unsupported,
        }
    }

    /// More of it, for people.
    pub(crate) fn note(&self) -> &str {
        match self {
            Self::Failed(why) => why,
            Self::Unsupported => "nobody there can fill in a form",
            _ => "",
        }
    }

    /// Of the client's answer to our `elicitation/create`.
    pub(crate) fn of_answer(answer: Result<Frame, InjectError>, limits: &wire::Limits) -> Filled {
        match read_answer(answer, limits) {
            Ok(read) => read.result().map_or_else(|| Filled::Failed(String::new()), Filled::of_result),
            Err(None) => Filled::TimedOut,
            Err(Some(why)) => Filled::Failed(why),
        }
    }

    /// Of the result of an elicitation.
    pub(crate) fn of_result(result: Value<'_>) -> Filled {
        let failed = |why: &str| Filled::Failed(why.to_owned());
        match result.get("action").and_then(Value::as_str) {
            Some("accept") => {
                let content = result.get("content").filter(|content| content.kind() == Kind::Object);
                let limits = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
                let read = |content: Value<'_>| {
                    Document::read(Bytes::copy_from_slice(content.raw().as_bytes()), &limits).ok()
                };
                content
                    .and_then(read)
                    .map_or_else(|| failed("the client's answer has no `content`"), Filled::Content)
            }
            Some("cancel") => Filled::Cancelled,
            Some("decline") => Filled::Declined,
            _ => failed("the client's answer has no `action` that is known"),
        }
    }
}

/// A form that the client carries.
#[derive(Clone, Debug)]
pub(crate) struct AskedForm {
    /// By what it was made.
    pub(crate) guard: Arc<Guard>,
    pub(crate) form: Arc<Form>,
    pub(crate) question: FormQuestion,
    /// How often the person was asked for what this call lacks, this time included.
    pub(crate) asked: u32,
}

/// An answer that completes a call, in each of its rounds.
#[derive(Clone, Debug)]
pub(crate) struct FormAnswer {
    pub(crate) guard: Arc<Guard>,
    pub(crate) form: Arc<Form>,
    pub(crate) content: Document,
}

impl FormAnswer {
    pub(crate) fn len(&self) -> usize {
        self.content.source().len() + self.form.text().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(result: &str) -> Filled {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":"q","result":{result}}}"#);
        Filled::of_answer(Ok(Frame::line(frame.as_bytes())), &wire::Limits::default())
    }

    #[test]
    fn only_an_accepted_object_is_an_answer() {
        match filled(r#"{"action":"accept","content":{"a":1.50}}"#) {
            Filled::Content(content) => assert_eq!(&content.source()[..], br#"{"a":1.50}"#),
            other => panic!("{other:?}"),
        }
        for (result, name) in [
            (r#"{"action":"decline","content":{"a":1}}"#, "declined"),
            (r#"{"action":"cancel"}"#, "dismissed"),
            (r#"{"action":"accept"}"#, "unavailable"),
            (r#"{"action":"accept","content":null}"#, "unavailable"),
            (r#"{"action":"accept","content":[1]}"#, "unavailable"),
            (r#"{"action":"Accept","content":{}}"#, "unavailable"),
            (r#"{"action":"accept","content":{"a":1,"a":2}}"#, "unavailable"),
            (r#""accept""#, "unavailable"),
        ] {
            assert_eq!(filled(result).name(), name, "{result}");
        }
        let late = Filled::of_answer(Err(InjectError::TimedOut), &wire::Limits::default());
        assert!(matches!(late.outcome(), Outcome::TimedOut));
    }

    #[test]
    fn a_form_keeps_the_order_of_its_fields() {
        let question = FormQuestion {
            server: "s".into(),
            tool: "t".into(),
            message: "say \"x\"".into(),
            schema: r#"{"type":"object","properties":{"z":{},"a":{}}}"#.into(),
        };
        let params = question.params(Some("form"));
        assert!(
            params.starts_with(r#"{"mode":"form","message":"say \"x\"","requestedSchema":{"type""#),
            "{params}"
        );
        assert!(question.params(None).starts_with(r#"{"message""#));
        assert!(params.find("\"z\"") < params.find("\"a\""));
    }
}
