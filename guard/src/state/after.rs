//! What `after` effects read: the call, its answer, and the state as it is then.

use std::cell::OnceCell;
use std::sync::Arc;

use bytes::Bytes;

use super::View;
use crate::cel::{self, Env, Type};
use crate::facts::Facts;
use crate::json::{Document, Limits};
use crate::ledger::Said;
use crate::world::{Instant, Unknown, World};

/// `result` in expressions.
#[must_use]
pub(crate) fn result_type() -> Type {
    Type::object([("is_error", Type::Bool), ("text", Type::String), ("structured", Type::Dyn)])
}

/// What is kept of a call until its answer is in.
#[derive(Debug)]
pub(crate) struct AfterCall {
    /// The arguments as sent.
    pub(crate) arguments: Bytes,
    pub(crate) facts: Facts,
    pub(crate) server: Arc<str>,
    /// When it was decided: the time of an answer is in no record of the decision.
    pub(crate) now: Result<Instant, Unknown>,
}

/// The variables of an `after` effect.
pub(super) struct AfterEnv<'a> {
    tool: &'a str,
    call: &'a AfterCall,
    view: &'a View<'a>,
    said: &'a dyn Said,
    arguments: OnceCell<Document>,
    text: OnceCell<Arc<str>>,
    structured: OnceCell<Option<Arc<Document>>>,
}

impl<'a> AfterEnv<'a> {
    pub(super) fn new(
        (tool, call): (&'a str, &'a AfterCall),
        view: &'a View<'a>,
        said: &'a dyn Said,
    ) -> AfterEnv<'a> {
        let (arguments, text, structured) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        AfterEnv { tool, call, view, said, arguments, text, structured }
    }

    fn arguments(&self) -> &Document {
        self.arguments.get_or_init(|| {
            let read = Document::read(self.call.arguments.clone(), &Limits::again());
            read.unwrap_or_else(|_| Document::empty_object())
        })
    }

    fn result(&self, name: &str) -> Option<cel::Value<'_>> {
        Some(match name {
            "is_error" => cel::Value::Bool(self.said.is_error()),
            "text" => cel::Value::text(&**self.text.get_or_init(|| self.said.text())),
            "structured" => match self.structured.get_or_init(|| self.said.structured()) {
                Some(document) => cel::Value::Json(document.root()),
                None => cel::Value::missing("the answer has no structured content".to_owned()),
            },
            _ => return None,
        })
    }
}

impl Env for AfterEnv<'_> {
    fn variable(&self, name: &str) -> Option<cel::Value<'_>> {
        Some(match name {
            "args" => cel::Value::Json(self.arguments().root()),
            "facts" => self.call.facts.all(),
            "result" => {
                let members = ["is_error", "text", "structured"];
                cel::Value::map(members.into_iter().filter_map(|name| Some((name, self.result(name)?))))
            }
            "server" => cel::Value::text(&*self.call.server),
            "state" => self.view.whole(),
            "tool" => cel::Value::text(self.tool),
            _ => return None,
        })
    }

    fn member(&self, variable: &str, name: &str) -> Option<cel::Value<'_>> {
        match variable {
            "facts" => self.call.facts.member(name),
            "result" => self.result(name),
            "state" => self.view.member(name),
            _ => None,
        }
    }

    fn world(&self) -> &dyn World {
        self.call
    }
}

impl World for AfterCall {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        Err(Unknown(format!("no file system is asked for `{path}` when an answer is in")))
    }

    fn now(&self) -> Result<Instant, Unknown> {
        self.now.clone()
    }
}
