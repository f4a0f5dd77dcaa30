//! A call with how it ended. An end is a record of its own, some time after its call's.
//!
//! Beside calls stands what a reader of the log would otherwise take not to have happened: frames and requests that
//! were refused, and calls that went out unrecorded.

use std::collections::HashMap;

use framegate_guard::store::StoreError;
use framegate_guard::store::chain::Hash;
use framegate_guard::store::read::{Record, Row};

/// A recorded call, or another record that a log shows: a `frame`, a `method`, a `gap`.
#[derive(Debug, Clone)]
pub(crate) struct RecordedCall {
    pub(crate) record: Record,
    pub(crate) hash: Hash,
    /// Nothing while it has not ended, or where nobody saw it end.
    pub(crate) end: Option<Record>,
}

impl RecordedCall {
    pub(crate) fn seq(&self) -> u64 {
        self.record.seq()
    }

    pub(crate) fn session(&self) -> u64 {
        self.record.count("session").unwrap_or_default()
    }

    /// One of those that are no calls.
    fn aside(row: &Row) -> Result<Option<RecordedCall>, StoreError> {
        let record = row.record()?;
        // What is made here, listings with tools hidden and the answers of unrecorded calls refuse nothing.
        let is_quiet =
            |reason: &str| matches!(reason, "made" | "answered") || reason.ends_with(", no record");
        let is_told = record.kind() != "frame"
            || (!record.text("reason").is_some_and(is_quiet) && record.text("sent") != Some("edited"));
        Ok(is_told.then_some(RecordedCall { record, hash: row.hash, end: None }))
    }

    pub(crate) fn is_call(&self) -> bool {
        self.record.kind() == "call"
    }

    pub(crate) fn tool(&self) -> &str {
        let what = || self.record.text("method").unwrap_or(self.record.kind());
        self.record.text("tool").unwrap_or_else(what)
    }

    pub(crate) fn outcome(&self) -> &str {
        let sent = || match self.record.text("sent") {
            Some("no") => "deny",
            _ => "allow",
        };
        self.record.text("outcome").unwrap_or_else(sent)
    }

    /// What would have been decided, where that is something else.
    pub(crate) fn would(&self) -> Option<&str> {
        self.record.text("would").filter(|would| *would != self.outcome())
    }

    /// By which rules and checks.
    pub(crate) fn by(&self) -> String {
        match self.record.kind() {
            "gap" => return self.missed(),
            "method" => return methods(&self.record).to_owned(),
            "frame" => {
                let parts = [self.record.text("reason"), self.record.text("rule")];
                return parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
            }
            _ => {}
        }
        let names = |key| self.record.texts(key).collect::<Vec<_>>().join(", ");
        let (failed, observed) = (names("failed"), names("observed"));
        match self.would() {
            Some(would) => {
                let all =
                    [failed, observed].into_iter().filter(|names| !names.is_empty()).collect::<Vec<_>>();
                format!("would {would}: {}", all.join(", "))
            }
            None if observed.is_empty() => failed,
            None if failed.is_empty() => format!("on trial: {observed}"),
            None => format!("{failed}; on trial: {observed}"),
        }
    }

    fn missed(&self) -> String {
        let count = self.record.number("count").unwrap_or_default();
        let calls = if count == 1 { "call" } else { "calls" };
        format!("{count} {calls} went out unrecorded: {}", self.record.text("why").unwrap_or_default())
    }

    pub(crate) fn how(&self) -> String {
        match self.record.text("sent") {
            _ if self.is_call() => {}
            Some("no") => return "refused".into(),
            Some(_) => return "passed on".into(),
            None => return String::new(),
        }
        let Some(end) = &self.end else { return "no answer".into() };
        match (end.text("how").unwrap_or_default(), end.number("code")) {
            ("error", Some(code)) => format!("error {code}"),
            (how, _) => how.to_owned(),
        }
    }

    pub(crate) fn latency_us(&self) -> Option<i64> {
        self.end.as_ref()?.number("latency_us")
    }
}

/// Which part of a policy rules on a request that is no call.
fn methods(method: &Record) -> &'static str {
    if method.text("from") == Some("server") { "server_requests:" } else { "methods:" }
}

/// Kinds of records, told by how their bodies begin: most rows are none that a reader wants, and reading JSON is
/// what takes the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// A `gap` or a `method`.
    Aside,
    Call,
    Close,
    End,
    Frame,
    Other,
}

impl RowKind {
    pub(crate) fn of<'r>(row: &'r Row) -> RowKind {
        let digits = |text: &'_ str| text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-').len();
        let number = |text: &'r str| text.get(text.len() - digits(text)..);
        let kind = || {
            let rest = number(row.body.strip_prefix("{\"seq\":")?)?.strip_prefix(",\"time\":")?;
            Some(number(rest)?.strip_prefix(",\"kind\":\"")?.split_once('"')?.0)
        };
        let kind = kind();
        match kind {
            Some("call") => RowKind::Call,
            Some("close") => RowKind::Close,
            Some("end") => RowKind::End,
            Some("frame") => RowKind::Frame,
            Some("gap" | "method") => RowKind::Aside,
            _ => RowKind::Other,
        }
    }
}

/// The time in a body, without reading all of it.
pub(crate) fn time_of(row: &Row) -> Option<i64> {
    let (_, rest) = row.body.split_once("\"time\":")?;
    rest.split_once(',')?.0.parse().ok()
}

/// Calls from rows that come from the last to the first: an end is met before its call.
#[derive(Debug, Default)]
pub(crate) struct Backwards {
    ends: HashMap<u64, Record>,
}

impl Backwards {
    pub(crate) fn row(&mut self, row: &Row) -> Result<Option<RecordedCall>, StoreError> {
        match RowKind::of(row) {
            RowKind::Call => {
                let end = self.ends.remove(&row.seq);
                Ok(Some(RecordedCall { record: row.record()?, hash: row.hash, end }))
            }
            RowKind::End => {
                let end = row.record()?;
                if let Some(call) = end.count("call") {
                    // A task ends twice; its last end counts, and that comes first here.
                    self.ends.entry(call).or_insert(end);
                }
                Ok(None)
            }
            RowKind::Aside | RowKind::Frame => RecordedCall::aside(row),
            RowKind::Close | RowKind::Other => Ok(None),
        }
    }
}

/// Calls from rows that come as they were written: each is given when it has ended, or its session has.
#[derive(Debug, Default)]
pub(crate) struct Forwards {
    open: HashMap<u64, RecordedCall>,
}

impl Forwards {
    /// A call whose row was read before.
    pub(crate) fn begin(&mut self, call: RecordedCall) {
        self.open.insert(call.seq(), call);
    }

    pub(crate) fn row(&mut self, row: &Row) -> Result<Vec<RecordedCall>, StoreError> {
        match RowKind::of(row) {
            RowKind::Call => {
                let call = RecordedCall { record: row.record()?, hash: row.hash, end: None };
                self.open.insert(row.seq, call);
                Ok(Vec::new())
            }
            RowKind::End => {
                let end = row.record()?;
                let seq = end.count("call").unwrap_or_default();
                let ended = self.open.remove(&seq);
                Ok(ended.map(|call| RecordedCall { end: Some(end), ..call }).into_iter().collect())
            }
            RowKind::Close => {
                let session = row.record()?.count("session").unwrap_or_default();
                let mut left: Vec<RecordedCall> =
                    self.open.extract_if(|_, call| call.session() == session).map(|(_, call)| call).collect();
                left.sort_by_key(RecordedCall::seq);
                Ok(left)
            }
            RowKind::Aside | RowKind::Frame => Ok(RecordedCall::aside(row)?.into_iter().collect()),
            RowKind::Other => Ok(Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seq: u64, rest: &str) -> Row {
        Row { seq, body: format!("{{\"seq\":{seq},\"time\":12,{rest}}}"), hash: Hash::default() }
    }

    #[test]
    fn rows_are_told_by_how_they_begin() {
        for (rest, kind) in [
            ("\"kind\":\"call\",\"tool\":\"x\"", RowKind::Call),
            ("\"kind\":\"end\"", RowKind::End),
            ("\"kind\":\"method\",\"method\":\",\\\"kind\\\":\\\"call\\\"\"", RowKind::Aside),
            ("\"kind\":\"context\"", RowKind::Other),
        ] {
            assert_eq!(RowKind::of(&row(7, rest)), kind, "{rest}");
        }
        assert_eq!(time_of(&row(7, "\"kind\":\"call\"")), Some(12));
    }

    #[test]
    fn what_is_no_call_is_told_all_the_same() {
        let rows = [
            row(1, "\"kind\":\"frame\",\"from\":\"server\",\"reason\":\"made\",\"sent\":\"ours\""),
            row(2, "\"kind\":\"frame\",\"method\":\"tools/list\",\"reason\":\"edited\",\"sent\":\"edited\""),
            row(
                3,
                "\"kind\":\"frame\",\"method\":\"tools/call\",\"reason\":\"no record\",\"rule\":\"r\",\"sent\":\"no\"",
            ),
            row(
                4,
                "\"kind\":\"method\",\"from\":\"client\",\"method\":\"x/y\",\"outcome\":\"deny\",\"sent\":\"no\"",
            ),
            row(
                5,
                "\"kind\":\"frame\",\"method\":\"tools/call\",\"reason\":\"done, no record\",\"sent\":\"verbatim\"",
            ),
            row(6, "\"kind\":\"gap\",\"count\":2,\"why\":\"full\""),
        ];
        let (mut back, mut on) = (Backwards::default(), Forwards::default());
        let mut calls: Vec<_> = rows.iter().rev().filter_map(|row| back.row(row).unwrap()).collect();
        calls.reverse();
        let told = |calls: &[RecordedCall]| -> Vec<String> {
            let told = calls.iter();
            told.map(|call| format!("{} {} ({}) {}", call.outcome(), call.tool(), call.by(), call.how()))
                .collect()
        };
        let expected = [
            "deny tools/call (no record: r) refused",
            "deny x/y (methods:) refused",
            "allow gap (2 calls went out unrecorded: full) ",
        ];
        assert_eq!(told(&calls), expected);
        let calls: Vec<_> = rows.iter().flat_map(|row| on.row(row).unwrap()).collect();
        assert_eq!(told(&calls), expected);
    }

    #[test]
    fn a_call_has_its_end_read_either_way() {
        let rows = [
            row(1, "\"kind\":\"call\",\"session\":9,\"tool\":\"a\",\"outcome\":\"allow\""),
            row(2, "\"kind\":\"call\",\"session\":9,\"tool\":\"b\",\"outcome\":\"deny\",\"failed\":[\"r\"]"),
            row(3, "\"kind\":\"end\",\"call\":1,\"how\":\"error\",\"code\":-32602,\"latency_us\":1500"),
            row(4, "\"kind\":\"close\",\"session\":9"),
        ];
        let mut back = Backwards::default();
        let calls: Vec<_> = rows.iter().rev().filter_map(|row| back.row(row).unwrap()).collect();
        let told = |calls: &[RecordedCall]| {
            calls.iter().map(|call| (call.seq(), call.how(), call.by())).collect::<Vec<_>>()
        };
        let (first, second) =
            ((1, "error -32602".to_owned(), String::new()), (2, "no answer".to_owned(), "r".to_owned()));
        assert_eq!(told(&calls), [second.clone(), first.clone()]);
        let mut on = Forwards::default();
        let calls: Vec<_> = rows.iter().flat_map(|row| on.row(row).unwrap()).collect();
        assert_eq!(told(&calls), [first, second]);
    }
}
