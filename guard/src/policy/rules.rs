//! Rules and definitions as the file has them, checked as far as they can be without a tool's schema.

use std::ops::Range;
use std::sync::Arc;

use super::{Glob, Mode};
use crate::cel::Expression;

/// What a rule that does not hold leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Otherwise {
    /// The call is refused.
    #[default]
    Deny,
    /// A person is asked.
    Ask,
}

/// One entry of `rules:`.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its name, unique in the file.
    pub name: String,
    /// Its place in the file, from 0.
    pub position: usize,
    /// The tools it is for; empty: every tool that has the arguments it reads.
    pub tools: Vec<Glob>,
    /// It counts only where this holds.
    pub when: Option<Condition>,
    /// What must hold.
    pub that: Condition,
    /// What follows when it does not.
    pub otherwise: Otherwise,
    /// Why, in the author's words.
    pub because: String,
    /// What to do next, in the author's words.
    pub advice: Option<String>,
    /// Its own mode; the tool's counts as well, and monitor wins.
    pub mode: Mode,
    /// It demands nothing: [`Rule::that`] is `true`.
    pub has_effects_only: bool,
    /// What it does to the state.
    pub effects: super::RuleEffects,
    /// `limit` or `budget`, where it was made of one.
    pub made_of: Option<&'static str>,
    /// Where the patterns of `tools` and the name stand.
    pub(crate) spans: RuleSpans,
}

#[derive(Debug, Clone)]
pub(crate) struct RuleSpans {
    pub(crate) name: Range<usize>,
    pub(crate) tools: Vec<Range<usize>>,
}

impl Rule {
    /// Whether its `tools:` names this tool.
    #[must_use]
    pub fn names(&self, server: &str, tool: &str) -> bool {
        self.tools.iter().any(|glob| glob.matches(server, tool))
    }

    pub(crate) fn conditions(&self) -> impl Iterator<Item = &Condition> {
        self.when.iter().chain(std::iter::once(&self.that)).chain(self.effects.conditions())
    }
}

/// An expression of the file, checked with arguments of any type.
#[derive(Debug, Clone)]
pub struct Condition {
    /// As checked at load; [`super::BoundRule`] holds it as checked for one tool.
    pub expression: Arc<Expression>,
    pub(crate) cel: super::locate::Cel,
}

/// One entry of `define:`.
#[derive(Debug, Clone)]
pub struct Definition {
    /// Its name: `defs.NAME`.
    pub name: String,
    /// What it stands for.
    pub value: Condition,
    /// The definitions it reads, by name.
    pub reads: Vec<String>,
}
