//! Requests beside tool calls: which pass, which are denied, which are ruled on.

use std::cmp::Reverse;
use std::ops::Range;

use super::glob::Pattern;
use super::{Condition, Otherwise};

/// A ruling over a request's `params`.
#[derive(Debug, Clone)]
pub struct Ruling {
    /// What must hold.
    pub that: Condition,
    /// What follows when it does not.
    pub otherwise: Otherwise,
    /// Why, in the author's words.
    pub because: String,
}

/// What becomes of a request.
#[derive(Debug, Clone)]
pub enum Passage {
    /// It is refused.
    Deny,
    /// It passes.
    Pass,
    /// It passes where this holds.
    Ruled(Box<Ruling>),
}

#[derive(Debug)]
pub(crate) struct MethodEntry {
    pub(crate) text: String,
    pub(crate) pattern: Pattern,
    pub(crate) span: Range<usize>,
    pub(crate) passage: Passage,
}

/// `methods:` or `server_requests:`.
#[derive(Debug, Default)]
pub struct Methods {
    /// The most literal first.
    entries: Vec<MethodEntry>,
}

impl Methods {
    pub(crate) fn new(mut entries: Vec<MethodEntry>) -> Methods {
        entries.sort_by_key(|entry| Reverse(entry.pattern.literalness()));
        Methods { entries }
    }

    /// What becomes of a request with this method: the most literal entry that matches decides; without one
    /// it passes.
    #[must_use]
    pub fn of(&self, method: &str) -> &Passage {
        let entry = self.entries.iter().find(|entry| entry.pattern.matches(method));
        entry.map_or(&Passage::Pass, |entry| &entry.passage)
    }

    /// Whether nothing is denied or ruled on: such requests need not be read.
    #[must_use]
    pub fn all_pass(&self) -> bool {
        self.entries.iter().all(|entry| matches!(entry.passage, Passage::Pass))
    }

    pub(crate) fn entries(&self) -> &[MethodEntry] {
        &self.entries
    }
}
