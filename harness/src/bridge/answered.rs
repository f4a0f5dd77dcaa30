//! What the answer to a call says, for the state that depends on it.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use framegate_guard::json::{Document, Limits};
use framegate_guard::ledger::{Ended, Said, Settled};
use framegate_pump::Frame;

use super::answers::{says_error, structured_of, text_of, whole_result};

/// An answer as it came. Only what is asked of it is read, once.
pub(super) struct Answered {
    frame: Frame,
    /// What its ends say.
    is_error: bool,
    is_error_inside: OnceLock<bool>,
    text: OnceLock<Arc<str>>,
}

impl Answered {
    pub(super) fn new(frame: &Frame, is_error: bool) -> Answered {
        Answered { frame: frame.clone(), is_error, is_error_inside: OnceLock::new(), text: OnceLock::new() }
    }
}

impl Said for Answered {
    /// Between two long members it stands at neither end: what depends on it reads the whole.
    fn is_error(&self) -> bool {
        self.is_error || *self.is_error_inside.get_or_init(|| says_error(self.frame.body()))
    }

    fn text(&self) -> Arc<str> {
        Arc::clone(self.text.get_or_init(|| text_of(&self.frame).into()))
    }

    fn result(&self) -> Option<Arc<Document>> {
        let text = whole_result(self.frame.body())?;
        Document::read(Bytes::copy_from_slice(text.as_bytes()), &Limits::again()).ok().map(Arc::new)
    }

    fn structured(&self) -> Option<Arc<Document>> {
        let text = structured_of(self.frame.body())?;
        Document::read(Bytes::copy_from_slice(text.as_bytes()), &Limits::default()).ok().map(Arc::new)
    }
}

/// An end as the ledger takes it.
pub(super) fn ended(how: Settled, answer: Option<&Answered>) -> Ended<'_> {
    Ended { how, answer: answer.map(|answer| answer as &dyn Said) }
}
