//! A call's line in the shape that praxiom's log has, under a policy of that format.
//!
//! ```text
//! 12:00:01  ALLOW fs__read_file  "path"="/work/a"  [read] tainted=False  12ms
//! 12:00:02  DENY  fs__write_file  "path"="/work/b"  fails guard 'write' [state: tainted=True]
//! ```

use framegate_guard::praxiom::audit::{Event, line};

use crate::redact;

use super::{LogArguments, escape};

/// What a call's line says besides its time.
#[derive(Debug)]
pub(crate) struct Audit {
    pub(crate) event: Event,
    /// As the policy names it.
    pub(crate) tool: String,
    pub(crate) arguments: String,
    /// By which actions and with which state; why not.
    pub(crate) detail: String,
}

impl Audit {
    /// The line. `outcome`: what became of the call. `instead`: what was decided on it after the policy had spoken.
    pub(super) fn line(&self, outcome: &str, instead: Option<&str>, shows: LogArguments) -> (String, bool) {
        let is_answered = matches!(outcome, "ok" | "tool error" | "task" | "asks for input");
        let (event, detail) = match (self.event, instead) {
            (Event::Deny, _) => (Event::Deny, self.detail.as_str()),
            (_, Some(instead)) => (Event::Deny, instead),
            (event, None) if is_answered => (event, self.detail.as_str()),
            (_, None) => (Event::Error, outcome),
        };
        let line = line(event, &self.tool, &self.arguments, detail);
        // A state may have taken up what an argument said.
        let line = if shows == LogArguments::Full { line.into() } else { redact::text(&line) };
        (line.chars().flat_map(escape).collect(), event != Event::Deny)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_a_call_shows_in_its_line() {
        let audit = |event| Audit {
            event,
            tool: "fs__read".into(),
            arguments: "\"path\"=\"/a\"".into(),
            detail: "[read] tainted=False".into(),
        };
        let line =
            |event, outcome: &str, instead| audit(event).line(outcome, instead, LogArguments::Redacted);
        let allowed = "ALLOW fs__read  \"path\"=\"/a\"  [read] tainted=False";
        for outcome in ["ok", "tool error"] {
            assert_eq!(line(Event::Allow, outcome, None), (allowed.to_owned(), true));
        }
        let failed = "ERROR fs__read  \"path\"=\"/a\"  error -32602";
        assert_eq!(line(Event::Allow, "error -32602", None), (failed.to_owned(), true));
        let refused = "DENY  fs__read  \"path\"=\"/a\"  refused (no record)";
        assert_eq!(line(Event::Pass, "ok", Some("refused (no record)")), (refused.to_owned(), false));
        let forged = Audit { detail: "x\u{202e}\u{2028}y\n".into(), ..audit(Event::Deny) };
        let (line, _) = forged.line("ok", None, LogArguments::Full);
        assert!(line.ends_with("x\\u{202e}\\u{2028}y\\n"), "{line}");
    }
}
