//! A call with how it ended. An end is a record of its own, some time after its call's.
//!
//! Beside calls stands what a reader of the log would otherwise take not to have happened: frames and requests that
//! were refused, and calls that went out unrecorded.

use std::collections::HashMap;

use framegate_guard::store::StoreError;
use framegate_guard::store::chain::Hash;
use framegate_guard::store::read::{Record, Row};

use super::reply::{self, Replies};

/// Why the retry that brings a no has a row of its own: the call that it answers stands in the log already.
pub(crate) const REPLY: &str = "reply";

/// A recorded call, or another record that a log shows: a `frame`, a `method`, a `gap`.
#[derive(Debug, Clone)]
pub(crate) struct RecordedCall {
    pub(crate) record: Record,
    pub(crate) hash: Hash,
    /// Nothing while it has not ended, or where nobody saw it end.
    pub(crate) end: Option<Record>,
    /// What came of asking people about it, and about the decision that it was made anew after. In their order.
    pub(crate) replies: Vec<Record>,
}

impl RecordedCall {
    /// As its own row says, and no other.
    pub(crate) fn of(row: &Row) -> Result<RecordedCall, StoreError> {
        Ok(RecordedCall { record: row.record()?, hash: row.hash, end: None, replies: Vec::new() })
    }

    pub(crate) fn seq(&self) -> u64 {
        self.record.seq()
    }

    pub(crate) fn session(&self) -> u64 {
        self.record.count("session").unwrap_or_default()
    }

    /// One of those that are no calls.
    fn aside(row: &Row) -> Result<Option<RecordedCall>, StoreError> {
        let call = RecordedCall::of(row)?;
        let record = &call.record;
        // What is made here, listings with tools hidden and the answers of unrecorded calls refuse nothing.
        let is_quiet =
            |reason: &str| matches!(reason, "made" | "answered" | REPLY) || reason.ends_with(", no record");
        let is_told = record.kind() != "frame"
            || (!record.text("reason").is_some_and(is_quiet) && record.text("sent") != Some("edited"));
        Ok(is_told.then_some(call))
    }

    /// The decision on the same call that this one was made anew after.
    pub(crate) fn again(&self) -> Option<u64> {
        self.record.count("again")
    }

    /// What people said, in a few words; empty where nobody was asked.
    pub(crate) fn person(&self) -> String {
        let said = reply::summary(&self.replies);
        match self.again() {
            None => said,
            Some(first) if said.is_empty() => format!("see {first}"),
            Some(first) => format!("{said}, see {first}"),
        }
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

    /// Whether this rule or check decided it, or would have.
    pub(crate) fn is_by(&self, rule: &str) -> bool {
        let mut names = self.record.texts("failed").chain(self.record.texts("observed"));
        names.any(|name| name == rule) || self.record.text("rule") == Some(rule)
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
    Approval,
    /// A `gap` or a `method`.
    Aside,
    Call,
    Close,
    End,
    Frame,
    /// Said in the conversation, or fetched beside calls.
    Message,
    Other,
    /// What the end of a call made of the state, later than the end.
    State,
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
            Some("approval") => RowKind::Approval,
            Some("call") => RowKind::Call,
            Some("close") => RowKind::Close,
            Some("end") => RowKind::End,
            Some("frame") => RowKind::Frame,
            Some("message") => RowKind::Message,
            Some("gap" | "method") => RowKind::Aside,
            Some("state") => RowKind::State,
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
    pub(crate) replies: Replies,
}

impl Backwards {
    pub(crate) fn row(&mut self, row: &Row) -> Result<Option<RecordedCall>, StoreError> {
        match RowKind::of(row) {
            RowKind::Approval => {
                self.replies.add(row.record()?);
                Ok(None)
            }
            RowKind::Call => {
                let call = RecordedCall::of(row)?;
                let (end, replies) = (self.ends.remove(&row.seq), self.replies.of(&call.record));
                Ok(Some(RecordedCall { end, replies, ..call }))
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
            RowKind::Close | RowKind::Message | RowKind::Other | RowKind::State => Ok(None),
        }
    }
}

/// Calls from rows that come as they were written: each is given when it has ended, or its session has.
#[derive(Debug, Default)]
pub(crate) struct Forwards {
    open: HashMap<u64, RecordedCall>,
    replies: Replies,
}

impl Forwards {
    /// Goes on from rows that were read before: calls that have not ended, and what people said.
    pub(crate) fn after(open: Vec<RecordedCall>, replies: Replies) -> Forwards {
        Forwards { open: open.into_iter().map(|call| (call.seq(), call)).collect(), replies }
    }

    pub(crate) fn row(&mut self, row: &Row) -> Result<Vec<RecordedCall>, StoreError> {
        match RowKind::of(row) {
            RowKind::Approval => {
                self.replies.add(row.record()?);
                Ok(Vec::new())
            }
            RowKind::Call => {
                self.open.insert(row.seq, RecordedCall::of(row)?);
                Ok(Vec::new())
            }
            RowKind::End => {
                let end = row.record()?;
                let ended = self.open.remove(&end.count("call").unwrap_or_default());
                Ok(ended.map(|call| self.told(RecordedCall { end: Some(end), ..call })).into_iter().collect())
            }
            RowKind::Close => {
                let session = row.record()?.count("session").unwrap_or_default();
                let left = self.open.extract_if(|_, call| call.session() == session);
                let mut left: Vec<RecordedCall> = left.map(|(_, call)| call).collect();
                left.sort_by_key(RecordedCall::seq);
                let left = left.into_iter().map(|call| self.told(call)).collect();
                self.replies.close(session);
                Ok(left)
            }
            RowKind::Aside | RowKind::Frame => Ok(RecordedCall::aside(row)?.into_iter().collect()),
            RowKind::Message | RowKind::Other | RowKind::State => Ok(Vec::new()),
        }
    }

    fn told(&self, call: RecordedCall) -> RecordedCall {
        RecordedCall { replies: self.replies.of(&call.record), ..call }
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
            ("\"kind\":\"approval\",\"how\":\"client\"", RowKind::Approval),
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
            row(7, "\"kind\":\"frame\",\"method\":\"tools/call\",\"reason\":\"reply\",\"sent\":\"no\""),
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

    #[test]
    fn what_people_said_is_told_of_the_call_and_of_the_decision_anew_either_way() {
        let said = |seq: u64, call: u64, words: &str| {
            row(seq, &format!("\"kind\":\"approval\",\"session\":9,\"call\":{call},{words}"))
        };
        let call = |seq: u64, rest: &str| {
            row(
                seq,
                &format!(
                    "\"kind\":\"call\",\"session\":9,\"tool\":\"a\",\"outcome\":\"ask\",\"sent\":\"no\"{rest}"
                ),
            )
        };
        let end = |seq: u64, call: u64, how: &str| {
            row(seq, &format!("\"kind\":\"end\",\"session\":9,\"call\":{call},\"how\":\"{how}\""))
        };
        let rows = [
            call(1, ""),
            said(2, 1, "\"how\":\"a way of tomorrow\",\"outcome\":\"filled in\""),
            end(3, 1, "asked"),
            call(4, ",\"again\":1"),
            end(5, 4, "asked"),
            said(6, 4, "\"how\":\"client\",\"outcome\":\"approved\""),
            call(7, ",\"again\":4"),
            end(8, 7, "done"),
            call(9, ""),
            said(10, 9, "\"outcome\":\"declined\""),
            end(11, 9, "refused"),
            call(12, ""),
            end(13, 12, "refused"),
        ];
        let told = |calls: &[RecordedCall]| calls.iter().map(RecordedCall::person).collect::<Vec<_>>();
        let mut on = Forwards::default();
        let forwards: Vec<_> = rows.iter().flat_map(|row| on.row(row).unwrap()).collect();
        let both = "filled in (a way of tomorrow), approved (client), see 1";
        assert_eq!(
            told(&forwards),
            [
                "filled in (a way of tomorrow)",
                "filled in (a way of tomorrow), see 1",
                "approved (client), see 4",
                "declined",
                ""
            ]
        );
        let mut back = Backwards::default();
        let mut backwards: Vec<_> = rows.iter().rev().filter_map(|row| back.row(row).unwrap()).collect();
        backwards.reverse();
        // What came of the first question stands before the decision anew: not read yet.
        assert_eq!(
            told(&backwards),
            ["filled in (a way of tomorrow)", "approved (client), see 1", "see 4", "declined", ""]
        );
        let replies = back.replies.of(&backwards[1].record);
        assert_eq!(RecordedCall { replies, ..backwards[1].clone() }.person(), both);
    }
}
