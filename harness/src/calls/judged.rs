//! What a decision adds to a call's line.

use framegate_guard::{Decision, Outcome};
use serde_json::{Value, json};

use super::{Level, LogArguments, LogFormat, clipped};
use crate::redact;

/// Reasons of one decision that are written.
const REASONS_MAX: usize = 20;
/// Characters of one reason: it may quote an argument.
const REASON_CHARS: usize = 500;

/// A decision as a line tells it; nothing is kept where no line would.
#[derive(Debug)]
pub(super) struct Judged {
    outcome: Outcome,
    would: Outcome,
    failed: Vec<String>,
    /// Check and reason.
    reasons: Vec<(String, String)>,
}

impl Judged {
    pub(super) fn of(
        decision: &Decision,
        (level, format): (Level, LogFormat),
        arguments: LogArguments,
    ) -> Option<Judged> {
        if format != LogFormat::Json && level < Level::Debug {
            return None;
        }
        let clip = |text: &str| clipped(text, REASON_CHARS);
        // Only a reason quotes what came; a call that is allowed has none.
        let shows_all = arguments == LogArguments::Full || decision.findings.is_empty();
        let secrets = if shows_all { None } else { Some(redact::secrets(&decision.arguments)) };
        let said = |why: &str| match &secrets {
            Some(secrets) => clip(&redact::without(why, secrets)),
            None => clip(why),
        };
        let reasons = decision.standing().map(|finding| (clip(&finding.check), said(&finding.reason)));
        Some(Judged {
            outcome: decision.outcome,
            would: decision.would,
            failed: decision.held_by().take(REASONS_MAX).map(clip).collect(),
            reasons: reasons.take(REASONS_MAX).collect(),
        })
    }

    /// Bytes, about.
    pub(super) fn size(&self, what: usize) -> usize {
        let reasons = self.reasons.iter().map(|(check, reason)| check.len() + reason.len() + what + 64);
        reasons.sum::<usize>() + self.failed.iter().map(|check| check.len() + 4).sum::<usize>() + 64
    }

    pub(super) fn json(&self) -> Value {
        let reasons: Vec<&str> = self.reasons.iter().map(|(_, reason)| reason.as_str()).collect();
        json!({
            "outcome": self.outcome.to_string(),
            "would": self.would.to_string(),
            "failed": self.failed,
            "reasons": reasons,
        })
    }

    /// A line for each reason, below the call's.
    pub(super) fn lines(&self, time: &str, what: &str) -> String {
        let line = |(check, reason): &(String, String)| {
            // A rule's reason begins with its name.
            let is_named = reason.starts_with(&format!("{check}:"));
            let check = if is_named { String::new() } else { format!("{check}: ") };
            format!("{time} framegate: debug: {what}: {check}{reason}\n")
        };
        self.reasons.iter().map(line).collect()
    }
}
