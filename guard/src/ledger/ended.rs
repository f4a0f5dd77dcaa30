//! How a call that was sent ended, and what its answer says.

use std::fmt;
use std::sync::Arc;

use crate::json::Document;

/// How a call that was sent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Settled {
    /// A result that is no error.
    Done,
    /// A JSON-RPC error, a result with `isError`, or one that asks for input first: then the call comes again.
    Failed,
    /// Cancelled, or the server left: nobody knows whether it ran.
    Lost,
}

impl Settled {
    /// As a record writes it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Settled::Done => "done",
            Settled::Failed => "failed",
            Settled::Lost => "lost",
        }
    }

    /// What [`Settled::name`] made.
    pub(crate) fn named(name: &str) -> Option<Settled> {
        [Settled::Done, Settled::Failed, Settled::Lost].into_iter().find(|how| how.name() == name)
    }
}

/// What an answer says, read only when something of its call depends on it: a large one costs as much to read as
/// to carry.
pub trait Said: Send + Sync {
    /// A JSON-RPC error, or a result with `isError`.
    fn is_error(&self) -> bool;

    /// All that it says, as a session keeps it.
    fn text(&self) -> Arc<str>;

    /// Its `result`, if it has one that can be read for certain: nothing for a JSON-RPC error.
    fn result(&self) -> Option<Arc<Document>> {
        None
    }

    /// Its `structuredContent`, if it has one that can be read for certain.
    fn structured(&self) -> Option<Arc<Document>>;
}

/// The end of a call.
#[derive(Clone, Copy)]
pub struct Ended<'a> {
    /// How it ended.
    pub how: Settled,
    /// What its answer says. Nothing where there is none, or none that could be read: of it nothing is known.
    pub answer: Option<&'a dyn Said>,
}

impl Ended<'_> {
    /// An end of whose answer nothing is known.
    #[must_use]
    pub fn without_answer(how: Settled) -> Ended<'static> {
        Ended { how, answer: None }
    }
}

impl fmt::Debug for Ended<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ended").field("how", &self.how).field("has_answer", &self.answer.is_some()).finish()
    }
}

/// What the record of a call's end says of the state: canonical JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateNote(pub String);
