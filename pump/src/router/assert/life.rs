//! What is known of the frames that were fed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::frame::Frame;
use crate::request::{Side, Ticket};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Cancel,
    Notification,
    Odd,
    Request,
    Response,
}

/// One frame that was fed, and what became of it.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) from: Side,
    pub(super) class: Class,
    /// The line is `head`, `id`, `tail`.
    pub(super) head: String,
    pub(super) id: String,
    pub(super) tail: String,
    pub(super) plan: &'static str,
    /// Exactly one `answer` or `ended` is due once it is forwarded.
    pub(super) wanted: bool,
    /// A verdict was asked for.
    pub(super) judged: bool,
    /// It is a call that an interceptor decided on.
    pub(super) decided: bool,
    /// Its method, if it is one.
    pub(super) method: String,
    /// A person held it.
    pub(super) by_person: bool,
    /// A verdict says that its mark is to be changed.
    pub(super) marked: bool,
    /// A verdict says that it must not leave.
    pub(super) stopped: bool,
    /// It may have ended here: consumed, refused, withdrawn.
    pub(super) swallowed: bool,
    pub(super) sent: usize,
    pub(super) answered: usize,
    pub(super) ended: usize,
}

impl Life {
    pub(super) fn line(&self) -> String {
        [&*self.head, &*self.id, &*self.tail].concat()
    }

    /// The id that `sent` bears, if nothing else in it was changed but (where asked for) the mark.
    pub(super) fn id_in<'a>(&self, sent: &'a str) -> Option<&'a str> {
        let cut = |change: fn(&str) -> String| {
            sent.strip_prefix(&*change(&self.head))?.strip_suffix(&*change(&self.tail))
        };
        if self.marked { cut(|part| part.replace(MARK, MARKED)) } else { cut(str::to_owned) }
    }
}

pub(super) const MARK: &str = r#""mark":"a""#;
pub(super) const MARKED: &str = r#""mark":"b""#;

#[derive(Debug, Default)]
pub(super) struct Log {
    /// Who will send nothing more.
    pub(super) left: Vec<Side>,
    pub(super) lives: Vec<Life>,
    /// Answers whose verdict was asked for, by the request they answer.
    pub(super) judged_answers: HashMap<Ticket, usize>,
}

impl Log {
    pub(super) fn life(&mut self, frame: &Frame) -> Option<(usize, &mut Life)> {
        let text = std::str::from_utf8(frame.body()).ok()?;
        let (_, after) = text.split_once(r#""n":"#)?;
        let number = after.split(',').next()?.parse().ok()?;
        Some((number, self.lives.get_mut(number)?))
    }
}

pub(super) type Shared = Arc<Mutex<Log>>;

pub(super) fn lock(log: &Shared) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}
