//! What a case compares when it is over.

use std::time::Duration;

use serde_json::Value;

use crate::{
    case::{millis, texts},
    scan,
    transcript::difference,
};

/// The `checks` of a case.
#[derive(Debug, Default)]
pub struct Checks {
    /// Client to server.
    pub c2s: Flow,
    /// Server to client.
    pub s2c: Flow,
    /// The wrapper is still there, or gone, after the last step.
    pub alive_at_end: Option<bool>,
    /// The wrapper ends by itself within this time after the last step.
    pub exit_within: Option<Duration>,
    /// Its exit code.
    pub exit_code: Option<ExitCode>,
    /// No process of the case stays, after `leftover_within` at the latest.
    pub no_leftover: bool,
    /// How long a process may take to go.
    pub leftover_within: Option<Duration>,
    /// The wrapper's peak memory.
    pub rss_mib_max: Option<u64>,
    /// The whole case, from the start of the wrapper to its end.
    pub time_max: Option<Duration>,
    /// Texts the wrapper's stderr has.
    pub stderr_contains: Vec<String>,
    /// Texts it does not have.
    pub stderr_not_contains: Vec<String>,
}

/// What is right for the bytes of one direction.
#[derive(Debug, Default)]
pub enum Flow {
    /// Nothing is checked.
    #[default]
    Anything,
    /// Texts that are there, or not. Blanks behind a colon do not count.
    Texts {
        /// Each occurs.
        contains: Vec<String>,
        /// None occurs.
        not_contains: Vec<String>,
        /// Each occurs exactly so often.
        count: Vec<(String, u64)>,
        /// At least so much came.
        bytes_min: usize,
    },
    /// What arrived is what was sent.
    Verbatim,
}

/// A wanted exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCode {
    /// Exactly this.
    Is(i32),
    /// Any but 0; ended by a signal counts.
    NonZero,
}

impl Checks {
    pub(crate) fn read(checks: &Value) -> Result<Self, String> {
        let mut read = Self::default();
        for (key, value) in checks.as_object().into_iter().flatten() {
            match key.as_str() {
                "alive_at_end" => read.alive_at_end = value.as_bool(),
                "c2s" => read.c2s = Flow::read(value)?,
                "exit_code" => read.exit_code = Some(ExitCode::read(value)?),
                "exit_within_ms" => read.exit_within = millis(Some(value)),
                "leftover_ms" => read.leftover_within = millis(Some(value)),
                "max_ms" => read.time_max = millis(Some(value)),
                "max_rss_mib" => read.rss_mib_max = value.as_u64(),
                "no_leftover" => read.no_leftover = value.as_bool().unwrap_or_default(),
                "s2c" => read.s2c = Flow::read(value)?,
                "stderr_contains" => read.stderr_contains = texts(value),
                "stderr_not_contains" => read.stderr_not_contains = texts(value),
                key => return Err(format!("unknown check `{key}`")),
            }
        }
        Ok(read)
    }

    /// The failures in what stderr says.
    pub fn stderr(&self, stderr: &[u8]) -> Vec<String> {
        let flow = Flow::Texts {
            contains: self.stderr_contains.clone(),
            not_contains: self.stderr_not_contains.clone(),
            count: Vec::new(),
            bytes_min: 0,
        };
        flow.failures("stderr", stderr, b"")
    }
}

// === impl Flow ===

impl Flow {
    fn read(rule: &Value) -> Result<Self, String> {
        if rule == "verbatim" {
            return Ok(Self::Verbatim);
        }
        let (mut contains, mut not_contains, mut count, mut bytes_min) = (vec![], vec![], vec![], 0);
        for (key, value) in rule.as_object().ok_or_else(|| format!("unknown rule `{rule}`"))? {
            match key.as_str() {
                "contains" => contains = texts(value),
                "count" => {
                    let counts = value.as_object().into_iter().flatten();
                    count = counts.map(|(s, n)| (s.clone(), n.as_u64().unwrap_or_default())).collect();
                }
                "min_bytes" => {
                    bytes_min = usize::try_from(value.as_u64().unwrap_or_default()).unwrap_or(usize::MAX);
                }
                "not_contains" => not_contains = texts(value),
                key => return Err(format!("unknown rule `{key}`")),
            }
        }
        Ok(Self::Texts { contains, not_contains, count, bytes_min })
    }

    /// What is wrong with the bytes that arrived.
    pub fn failures(&self, name: &str, arrived: &[u8], sent: &[u8]) -> Vec<String> {
        match self {
            Self::Anything => Vec::new(),
            Self::Verbatim if arrived == sent => Vec::new(),
            Self::Verbatim => vec![format!("{name}: {}", difference(arrived, sent))],
            Self::Texts { contains, not_contains, count, bytes_min } => {
                let text = scan::replace(arrived, b"\": ", b"\":");
                let has = |s: &&String| scan::has(&text, s.as_bytes());
                let lacks = contains.iter().filter(|s| !has(s)).map(|s| format!("{name} lacks `{s}`"));
                let mut failures: Vec<String> = lacks.collect();
                failures.extend(not_contains.iter().filter(has).map(|s| format!("{name} has `{s}`")));
                for (wanted, times) in count {
                    let found = scan::count(&text, wanted.as_bytes());
                    if found as u64 != *times {
                        failures.push(format!("{name} has `{wanted}` {found} times, expected {times}"));
                    }
                }
                if arrived.len() < *bytes_min {
                    failures.push(format!("{name}: {} bytes < {bytes_min}", arrived.len()));
                }
                failures
            }
        }
    }
}

// === impl ExitCode ===

impl ExitCode {
    fn read(value: &Value) -> Result<Self, String> {
        if value == "nonzero" {
            return Ok(Self::NonZero);
        }
        let code = value.as_i64().and_then(|code| i32::try_from(code).ok());
        code.map(Self::Is).ok_or_else(|| format!("unknown exit code `{value}`"))
    }

    /// True if `code` is meant.
    pub fn allows(self, code: i32) -> bool {
        match self {
            Self::Is(wanted) => code == wanted,
            Self::NonZero => code != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_rule_of_a_flow_bites() {
        let rule =
            json!({"contains": ["\"id\":1"], "not_contains": ["x"], "count": {"a": 2}, "min_bytes": 9});
        let flow = Flow::read(&rule).unwrap();
        assert_eq!(flow.failures("s", br#"{"id": 1,"aa":[]}"#, b""), Vec::<String>::new());
        assert_eq!(flow.failures("s", b"x", b"").len(), 4);
        assert_eq!(Flow::Verbatim.failures("s", b"ab", b"ab\n").len(), 1);
    }

    #[test]
    fn a_misspelled_check_is_an_error() {
        assert!(Checks::read(&json!({"no_leftovers": true})).is_err());
        assert!(Flow::read(&json!({"contain": []})).is_err());
    }
}
