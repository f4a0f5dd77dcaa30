//! What came of asking people: `approval` records.
//!
//! By which ways people are asked, and in which words they reply, is whoever's that asks: the words of the record are
//! shown as they are, so that a way that came later is shown as well.

use std::collections::BTreeMap;

use framegate_guard::store::read::Record;
use serde_json::{Value, json};

use super::line::utc;

/// Calls whose replies are remembered while a record is followed. What is older than that many questions is not
/// looked up: its row names the record to see.
const CALLS_MAX: usize = 4096;

/// Replies by the call that they are about.
#[derive(Debug, Default)]
pub(crate) struct Replies(BTreeMap<u64, BTreeMap<u64, Record>>);

impl Replies {
    /// In any order.
    pub(crate) fn add(&mut self, approval: Record) {
        let Some(call) = approval.count("call") else { return };
        self.0.entry(call).or_default().insert(approval.seq(), approval);
        if self.0.len() > CALLS_MAX {
            self.0.pop_first();
        }
    }

    /// Those about a call, and about the one that it was decided anew after, in the order in which they came.
    pub(crate) fn of(&self, call: &Record) -> Vec<Record> {
        let calls = [call.count("again"), Some(call.seq())].into_iter().flatten();
        calls.filter_map(|seq| self.0.get(&seq)).flatten().map(|(_, reply)| reply.clone()).collect()
    }

    /// Nothing more is to come of a session.
    pub(crate) fn close(&mut self, session: u64) {
        let is_of = |reply: &Record| reply.count("session") == Some(session);
        self.0.retain(|_, replies| !replies.values().any(is_of));
    }
}

/// `approved (client)`; empty for none.
pub(crate) fn summary(replies: &[Record]) -> String {
    let text = |reply: &Record| {
        let outcome = reply.text("outcome").unwrap_or("asked");
        reply.text("how").map_or_else(|| outcome.to_owned(), |how| format!("{outcome} ({how})"))
    };
    replies.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// `approved after 3.200 s (client, the user)`, without the note.
pub(crate) fn sentence(reply: &Record) -> String {
    let after = reply.number("after_ms").map(|took| format!(" after {}", seconds(took))).unwrap_or_default();
    let who: Vec<&str> = [reply.text("how"), reply.text("by")].into_iter().flatten().collect();
    let who = if who.is_empty() { String::new() } else { format!(" ({})", who.join(", ")) };
    format!("{}{after}{who}", reply.text("outcome").unwrap_or("asked"))
}

fn seconds(millis: i64) -> String {
    format!("{}.{:03} s", millis / 1000, millis % 1000)
}

/// For programs; `clean` takes credentials out of what people and clients wrote.
pub(crate) fn json(reply: &Record, clean: impl Fn(&str) -> String) -> Value {
    let text = |key: &str| reply.text(key).map(&clean);
    json!({
        "seq": reply.seq(), "time": utc(reply.time().0), "call": reply.count("call"),
        "how": text("how"), "by": text("by"), "outcome": text("outcome"),
        "after_ms": reply.number("after_ms"), "note": text("note"),
    })
}
