//! What one check found.

use crate::policy::Otherwise;
pub use crate::refusal::NextStep;

/// What a failed check leads to. Ordered: the greater one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// The check could not be evaluated: asks, when nothing failed.
    Unevaluated,
    /// A person is asked.
    Ask,
    /// Refused.
    Deny,
}

impl From<Otherwise> for Effect {
    fn from(otherwise: Otherwise) -> Effect {
        match otherwise {
            Otherwise::Ask => Effect::Ask,
            Otherwise::Deny => Effect::Deny,
        }
    }
}

/// A quotation that supports a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// What it is about: an argument's path.
    pub about: String,
    /// The words.
    pub quote: String,
    /// Where they stand: bytes of the text that [`Evidence::source`] names, in a message as it was said.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Which text: `arguments`, or a role.
    pub source: String,
    /// The message, counted from 1 at the session's start.
    pub message: Option<u64>,
}

/// A check that did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The check's name (`arguments_valid`), or the rule's own.
    pub check: String,
    /// What it leads to.
    pub effect: Effect,
    /// What failed, in English, for the record.
    pub reason: String,
    /// What failed, in the words of the policy's author; empty: the reason is all there is.
    pub because: String,
    /// What to do next, in the words of the policy's author.
    pub advice: Option<String>,
    /// What to do next, by kind.
    pub next: NextStep,
    /// A rule of the policy, as opposed to a check of the guard's own.
    pub is_rule: bool,
    /// Only observed: it is recorded, and decides nothing.
    pub monitor: bool,
    /// Quotations.
    pub evidence: Vec<Evidence>,
}

impl Finding {
    /// A finding of the guard's own.
    #[must_use]
    pub fn new(check: &str, effect: Effect, next: NextStep, reason: impl Into<String>) -> Finding {
        Finding {
            check: check.to_owned(),
            effect,
            reason: reason.into(),
            because: String::new(),
            advice: None,
            next,
            is_rule: false,
            monitor: false,
            evidence: Vec::new(),
        }
    }
}
