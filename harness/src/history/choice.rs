//! Which calls are wanted.

use std::time::{SystemTime, UNIX_EPOCH};

use framegate_guard::policy::Glob;
use framegate_guard::store::retrace::SessionInfo;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

use super::call::RecordedCall;
use crate::args::{ChoiceArgs, ChosenOutcome};

/// Which calls are wanted. Everything must hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choice {
    tool: Option<Glob>,
    outcome: Option<&'static str>,
    /// A rule, or a check by its name.
    rule: Option<String>,
    session: Option<ChosenSession>,
    /// In µs since 1970.
    pub(crate) since: Option<i64>,
    until: Option<i64>,
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
        let time = |name: &str, text: &Option<String>, day| {
            let Some(text) = text else { return Ok(None) };
            let time = time(text, day, SystemTime::now(), &TimeZone::system());
            time.map(Some).ok_or_else(|| format!(
                "--{name}: `{text}` is no time; write how long ago (90s, 2h, 7d), a day (2026-01-31) or a time (2026-01-31T12:00:00Z, or without Z on this machine's clock)"
            ))
        };
        let (since, until) =
            (time("since", &args.since, Day::First)?, time("until", &args.until, Day::Last)?);
        let session = args.session.as_deref().map(ChosenSession::of);
        Ok(Choice { tool, outcome, rule: args.rule.clone(), session, since, until })
    }

    pub(crate) fn takes(&self, call: &RecordedCall, session: &SessionInfo) -> bool {
        self.tool.as_ref().is_none_or(|tool| tool.matches(&session.server, call.tool()))
            && self.outcome.is_none_or(|outcome| call.outcome() == outcome || call.would() == Some(outcome))
            && self.session.as_ref().is_none_or(|chosen| chosen.is(call.session(), session))
            && self.since.is_none_or(|since| call.record.time().0 >= since)
            && self.until.is_none_or(|until| call.record.time().0 <= until)
            && self.rule.as_deref().is_none_or(|rule| call.is_by(rule))
    }
}

/// A session by its number, or several by the name that they share.
#[derive(Debug, Clone)]
struct ChosenSession {
    number: Option<u64>,
    name: String,
}

impl ChosenSession {
    fn of(text: &str) -> ChosenSession {
        ChosenSession { number: text.parse().ok(), name: text.to_owned() }
    }

    fn is(&self, number: u64, session: &SessionInfo) -> bool {
        self.number == Some(number) || self.name == session.name
    }
}

/// Which end of a day is meant, where only the day is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Day {
    First,
    Last,
}

/// `2h`, `7d`; a day or a time on this machine's clock, as the log shows them; or a time with its zone. In µs since
/// 1970.
fn time(text: &str, day: Day, now: SystemTime, zone: &TimeZone) -> Option<i64> {
    if let Ok(ago) = humantime::parse_duration(text) {
        let since = now.checked_sub(ago).unwrap_or(UNIX_EPOCH).duration_since(UNIX_EPOCH);
        let micros = since.unwrap_or_default().as_micros();
        return Some(i64::try_from(micros).unwrap_or(i64::MAX));
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.as_microsecond());
    }
    let local = |time: DateTime| Some(time.to_zoned(zone.clone()).ok()?.timestamp().as_microsecond());
    match (Date::strptime("%Y-%m-%d", text), day) {
        (Ok(date), Day::First) => local(date.to_datetime(Time::midnight())),
        // A day has 23 hours where the clocks are put forward.
        (Ok(date), Day::Last) => Some(local(date.tomorrow().ok()?.to_datetime(Time::midnight()))? - 1),
        (Err(_), _) => local(text.parse().ok()?),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_ago_days_or_absolute() {
        let now = UNIX_EPOCH + Duration::from_secs(10_000);
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        let time = |text: &str, day, zone: &TimeZone| time(text, day, now, zone);
        for (text, micros) in [
            ("2h", Some(2_800_000_000)),
            ("9999d", Some(0)),
            ("1970-01-01T00:00:07Z", Some(7_000_000)),
            ("1970-01-01T01:00:07+01:00", Some(7_000_000)),
            ("1970-01-01 00:00:07", Some(7_000_000)),
            ("1970-01-01T00:00:07.5", Some(7_500_000)),
            ("1970-01-02", Some(86_400_000_000)),
            ("yesterday", None),
            ("1970-01-32", None),
            ("1970-01-02x", None),
            ("", None),
        ] {
            assert_eq!(time(text, Day::First, &TimeZone::UTC), micros, "{text}");
        }
        // As the log shows it: a row's time can be given as it stands there.
        assert_eq!(time("1970-01-01 02:00:00.000", Day::First, &berlin), Some(3_600_000_000));
        assert_eq!(time("1970-01-01", Day::First, &berlin), Some(-3_600_000_000));
        assert_eq!(time("1970-01-01", Day::Last, &TimeZone::UTC), Some(86_399_999_999));
        // 23 hours long.
        let ends = [Day::First, Day::Last].map(|day| time("2026-03-29", day, &berlin).unwrap());
        assert_eq!(ends[1] - ends[0], 23 * 3_600_000_000 - 1);
    }

    #[test]
    fn what_is_no_time_is_named() {
        let args = ChoiceArgs { until: Some("tomorrow".into()), ..ChoiceArgs::default() };
        let why = Choice::of(&args).unwrap_err();
        assert!(why.starts_with("--until: `tomorrow` is no time"), "{why}");
    }
}
