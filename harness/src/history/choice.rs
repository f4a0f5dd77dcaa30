//! Which calls are wanted.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use framegate_guard::policy::Glob;

use super::call::RecordedCall;
use crate::args::{ChoiceArgs, ChosenOutcome};

/// Which calls are wanted. Everything must hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choice {
    tool: Option<Glob>,
    outcome: Option<&'static str>,
    session: Option<u64>,
    /// In µs since 1970.
    pub(crate) since: Option<i64>,
}

impl Choice {
    /// What was typed, as it is meant.
    pub(crate) fn of(args: &ChoiceArgs) -> Result<Choice, String> {
        let tool =
            args.tool.as_deref().map(Glob::parse).transpose().map_err(|why| format!("--tool: {why}"))?;
        let outcome = args.outcome.map(|outcome| match outcome {
            ChosenOutcome::Allow => "allow",
            ChosenOutcome::Ask => "ask",
            ChosenOutcome::Deny => "deny",
        });
        let since = args.since.as_deref().map(|text| since(text, SystemTime::now())).transpose()?;
        Ok(Choice { tool, outcome, session: args.session, since })
    }

    pub(crate) fn takes(&self, call: &RecordedCall, server: &str) -> bool {
        self.tool.as_ref().is_none_or(|tool| tool.matches(server, call.tool()))
            && self.outcome.is_none_or(|outcome| call.outcome() == outcome || call.would() == Some(outcome))
            && self.session.is_none_or(|session| call.session() == session)
            && self.since.is_none_or(|since| call.record.time().0 >= since)
    }
}

/// `2h`, `7d`, or a time as RFC 3339.
fn since(text: &str, now: SystemTime) -> Result<i64, String> {
    let time = match humantime::parse_duration(text) {
        Ok(ago) => now.checked_sub(ago).unwrap_or(UNIX_EPOCH),
        Err(_) => humantime::parse_rfc3339_weak(text).map_err(|_| {
            format!("--since: `{text}` is no time; write how long ago (90s, 2h, 7d) or a time (2026-01-31T12:00:00Z)")
        })?,
    };
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Ok(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_ago_or_absolute() {
        let now = UNIX_EPOCH + Duration::from_secs(10_000);
        assert_eq!(since("2h", now), Ok(2_800_000_000));
        assert_eq!(since("1970-01-01T00:00:07Z", now), Ok(7_000_000));
        assert_eq!(since("1970-01-01 00:00:07", now), Ok(7_000_000));
        assert_eq!(since("9999d", now), Ok(0));
        assert!(since("yesterday", now).unwrap_err().contains("`yesterday`"));
    }
}
