//! What a refused call says to the model: what failed, in the words of whoever wrote the policy, then what to do
//! next, by the kind of failure.
//!
//! The sentences come from a [`Language`], a table that can be given as data. What comes from outside, a reason,
//! a tool's name, is made one visible line and cut (`plain`), so that a text can neither hide nor flood anything;
//! the whole is bounded by the limits below.
//!
//! ```
//! use framegate_guard::refusal::{FindingView, Language, NextStep, OnFailure, Refusal};
//! let findings = [FindingView {
//!     name: "inside_work",
//!     reason: "Only files under /work may be used.",
//!     on_failure: OnFailure::Deny,
//!     next: NextStep::TellUser,
//! }];
//! let english = Language::english();
//! let refusal = Refusal { tool: "read_text_file", findings: &findings, language: &english };
//! assert_eq!(refusal.summary(), "read_text_file was refused and not run: Only files under /work may be used.");
//! assert!(refusal.message().contains("tell the user"));
//! ```

use crate::policy::Otherwise;

mod feedback;
mod language;
pub(crate) mod plain;

pub use feedback::ReplyRole;
pub use language::{Language, LanguageError};

pub(crate) use language::Key;

/// Code points of one reason, after escaping.
pub const REASON_CHARS_MAX: usize = 400;
/// Reasons that are written out; the others are counted.
pub const REASONS_MAX: usize = 8;
/// Code points of a tool's or rule's name, after escaping.
pub const NAME_CHARS_MAX: usize = 128;
/// Code points of a refused reply that its note repeats.
pub const REPLY_CHARS_MAX: usize = 300;

/// What becomes of a call that a check fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnFailure {
    /// A person decides.
    Ask,
    /// Refused.
    Deny,
}

impl From<Otherwise> for OnFailure {
    fn from(otherwise: Otherwise) -> OnFailure {
        match otherwise {
            Otherwise::Ask => OnFailure::Ask,
            Otherwise::Deny => OnFailure::Deny,
        }
    }
}

/// What the model should do after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NextStep {
    /// The user did not ask for it.
    AskFirst,
    /// The user has not confirmed it.
    ConfirmFirst,
    /// This very call was made before.
    DoNotRepeat,
    /// The arguments do not fit the tool's schema.
    FixArguments,
    /// A person would have to decide, and nobody can be asked.
    NobodyToAsk,
    /// The check could not be evaluated.
    NotEvaluated,
    /// A tool output carries instructions.
    NotFollow,
    /// A value comes only from such an output.
    NotFromTools,
    /// The policy does not offer this tool.
    NotOffered,
    /// A rule says no: follow its reason or tell the user.
    TellUser,
    /// A value is not as the user or a tool wrote it.
    UseAsWritten,
}

/// One failure, as far as the model may see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FindingView<'a> {
    /// The check or rule; said only where it has no reason.
    pub name: &'a str,
    /// Why, in the policy author's or the check's words; may be empty.
    pub reason: &'a str,
    /// What it makes of the call.
    pub on_failure: OnFailure,
    /// What to do next.
    pub next: NextStep,
}

/// A call that was not made, with all that failed in deciding order.
#[derive(Debug, Clone, Copy)]
pub struct Refusal<'a> {
    /// The tool as it was called.
    pub tool: &'a str,
    /// What failed, denies first.
    pub findings: &'a [FindingView<'a>],
    /// In which words.
    pub language: &'a Language,
}

impl Refusal<'_> {
    /// What failed: one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let asks = self.findings.iter().all(|finding| finding.on_failure == OnFailure::Ask);
        let key = if asks && !self.findings.is_empty() { Key::Held } else { Key::Refused };
        let tool = plain::line(self.tool, NAME_CHARS_MAX);
        self.language.text(key, &[("tool", &tool), ("reasons", &self.reasons())])
    }

    /// What to do next: each step once, one a line.
    #[must_use]
    pub fn advice(&self) -> String {
        let mut steps: Vec<NextStep> = Vec::new();
        for finding in self.findings {
            if !steps.contains(&finding.next) {
                steps.push(finding.next);
            }
        }
        let lines: Vec<String> =
            steps.into_iter().map(|step| format!("- {}", self.language.text(Key::from(step), &[]))).collect();
        lines.join("\n")
    }

    /// The text for the model: the summary, then the advice.
    #[must_use]
    pub fn message(&self) -> String {
        let advice = self.advice();
        let line_break = if advice.is_empty() { "" } else { "\n" };
        format!("{}{line_break}{advice}", self.summary())
    }

    fn reasons(&self) -> String {
        let mut reasons: Vec<String> = Vec::new();
        let mut unsaid = 0_usize;
        for finding in self.findings {
            let reason = self.language.reason(finding.name, finding.reason);
            if reasons.contains(&reason) {
                continue;
            }
            if reasons.len() < REASONS_MAX {
                reasons.push(reason);
            } else {
                unsaid += 1;
            }
        }
        if unsaid > 0 {
            reasons.push(self.language.text(Key::More, &[("count", &unsaid.to_string())]));
        }
        sentences(&reasons)
    }
}

/// One line of sentences: a full stop ends one as it is, anything else takes a semicolon before the next.
fn sentences(parts: &[String]) -> String {
    let mut line = String::new();
    for part in parts {
        match line.chars().last() {
            None => {}
            Some('.' | '!' | '?' | '…' | '。') => line.push(' '),
            Some(_) => line.push_str("; "),
        }
        line.push_str(part);
    }
    line
}

#[cfg(test)]
mod tests;
