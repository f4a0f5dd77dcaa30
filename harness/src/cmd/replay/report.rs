//! What a replay found, for people and as JSON.

use std::collections::BTreeMap;

use framegate_guard::Outcome;
use framegate_guard::store::retrace::Missing;
use serde_json::{Value, json};

use super::ends::Ends;
use crate::history::again::Again;
use crate::history::ends::EndAgain;
use crate::history::line::{Line, clip, visible, visible_json};
use crate::redact;

/// Calls that are named of each kind.
const NAMED_MAX: usize = 20;
/// Characters of a call's arguments, or of what differs.
const SHOWN_CHARS: usize = 120;

/// What a replay found.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The other policy's name; nothing under the policies of then.
    policy: Option<String>,
    decisions: u64,
    same: u64,
    /// By what is new, and then by what decides now.
    changed: BTreeMap<Change, BTreeMap<String, Group>>,
    missing: BTreeMap<Missing, Group>,
    ends: Ends,
    /// What answered beside the record.
    notes: Vec<String>,
}

/// What is new about a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Denied,
    Asked,
    Allowed,
    /// It depends on what was not recorded.
    Unknown,
    /// Another one than recorded, under the very same policy.
    Fault,
}

impl Change {
    fn name(self) -> &'static str {
        match self {
            Change::Denied => "newly denied",
            Change::Asked => "newly asked",
            Change::Allowed => "newly allowed",
            Change::Unknown => "unknown: the policy asks what was not recorded",
            Change::Fault => "not as recorded",
        }
    }

    fn key(self) -> &'static str {
        match self {
            Change::Denied => "denied",
            Change::Asked => "asked",
            Change::Allowed => "allowed",
            Change::Unknown => "unknown",
            Change::Fault => "faults",
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) count: u64,
    /// The first ones.
    pub(super) calls: Vec<Named>,
}

#[derive(Debug)]
pub(super) struct Named {
    pub(super) seq: u64,
    server: String,
    tool: String,
    arguments: String,
    pub(super) then: String,
    now: String,
    pub(super) differences: Vec<String>,
}

impl Report {
    pub(crate) fn new(policy: Option<String>) -> Report {
        Report { policy, ..Report::default() }
    }

    /// What answered where the record does not.
    pub(crate) fn rests_on(&mut self, notes: Vec<String>) {
        self.notes = notes;
    }

    /// Whether there is anything to tell of a decision.
    pub(crate) fn wants(&self, again: Result<&Again, &Missing>) -> bool {
        again.map_or(true, |again| self.change(again).is_some())
    }

    fn change(&self, again: &Again) -> Option<Change> {
        if self.policy.is_none() {
            return (!again.differences.is_empty()).then_some(Change::Fault);
        }
        match (again.then, again.now) {
            // What asks only since something is unknown may as well be a deny: not the same as what asked then.
            _ if again.unknown.is_some() => Some(Change::Unknown),
            (then, now) if then == now => None,
            (_, Outcome::Deny) => Some(Change::Denied),
            (_, Outcome::Ask) => Some(Change::Asked),
            (_, Outcome::Allow) => Some(Change::Allowed),
        }
    }

    pub(crate) fn same(&mut self) {
        self.decisions += 1;
        self.same += 1;
    }

    pub(crate) fn add(&mut self, again: Result<Again, Missing>, line: &Line) {
        self.decisions += 1;
        let mut named = Named::of(line);
        let group = match again {
            Err(why) => self.missing.entry(why).or_default(),
            Ok(again) => {
                let Some(change) = self.change(&again) else { return };
                named.then = again.then.to_string();
                named.now = again.now.to_string();
                let differences = match &again.unknown {
                    Some(why) => vec![why.clone()],
                    None => again.differences.iter().map(ToString::to_string).collect(),
                };
                let secrets = redact::secrets(&again.recorded.arguments);
                named.differences = differences.iter().map(|text| redact::without(text, &secrets)).collect();
                // What is allowed now is so since rules of then do not speak any more: it is listed by those.
                let by = if change == Change::Allowed { line.call.by() } else { again.by.join(", ") };
                self.changed.entry(change).or_default().entry(by).or_default()
            }
        };
        group.add(named);
    }

    /// The end of a call.
    pub(crate) fn end(&mut self, end: EndAgain, line: Option<&Line>) {
        match line {
            Some(line) => self.ends.add(end, line),
            None => self.ends.same(),
        }
    }

    /// A decision that is not the recorded one, under the policy of then, or what an end made of the state.
    pub(crate) fn is_fault(&self) -> bool {
        self.changed.contains_key(&Change::Fault) || self.ends.is_fault()
    }

    fn count(&self, change: Change) -> u64 {
        self.changed.get(&change).into_iter().flat_map(BTreeMap::values).map(|group| group.count).sum()
    }

    fn not_recomputable(&self) -> u64 {
        self.missing.values().map(|group| group.count).sum()
    }

    pub(crate) fn text(&self) -> Vec<String> {
        let mut lines = vec![self.summary()];
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        for (change, by) in &self.changed {
            lines.push(String::new());
            lines.push(format!("{}:", change.name()));
            for (by, group) in by {
                let by = if by.is_empty() { "(no rule)" } else { by };
                lines.push(format!("  {by}: {}", count(group.count, "call")));
                lines.extend(group.calls.iter().flat_map(|call| call.text(*change)));
                lines.extend(group.more());
            }
        }
        if !self.missing.is_empty() {
            lines.push(String::new());
            lines.push("not recomputable:".to_owned());
        }
        for (why, group) in &self.missing {
            lines.push(format!("  {why}: {}", group.first()));
        }
        let ends = self.ends.text();
        if !ends.is_empty() && lines.len() > 1 {
            lines.push(String::new());
        }
        lines.extend(ends);
        lines.into_iter().map(visible).collect()
    }

    fn summary(&self) -> String {
        let mut parts = Vec::new();
        let mut part = |number: u64, what: &str| {
            if number > 0 {
                parts.push(format!("{number} {what}"));
            }
        };
        part(self.same, if self.policy.is_some() { "the same" } else { "as recorded" });
        for change in [Change::Denied, Change::Asked, Change::Allowed, Change::Fault] {
            part(self.count(change), change.name());
        }
        part(self.count(Change::Unknown), "unknown");
        part(self.not_recomputable(), "not recomputable");
        let under = match &self.policy {
            Some(policy) => format!(" under `{policy}`"),
            None => String::new(),
        };
        let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
        format!("{}{under}{parts}", count(self.decisions, "decision"))
    }

    pub(crate) fn json(&self) -> String {
        let missing = self.missing.iter().map(|(why, group)| {
            let calls: Vec<u64> = group.calls.iter().map(|call| call.seq).collect();
            json!({ "why": why.to_string(), "count": group.count, "calls": calls })
        });
        let mut all = json!({
            "policy": self.policy, "notes": self.notes, "decisions": self.decisions, "same": self.same,
            "not_recomputable": missing.collect::<Vec<Value>>(), "ends": self.ends.json(),
        });
        for change in [Change::Denied, Change::Asked, Change::Allowed, Change::Unknown, Change::Fault] {
            let groups = self.changed.get(&change).into_iter().flatten().map(|(by, group)| {
                let calls: Vec<Value> = group.calls.iter().map(Named::json).collect();
                json!({ "by": by, "count": group.count, "calls": calls })
            });
            let groups: Vec<Value> = groups.collect();
            if let Some(members) = all.as_object_mut() {
                members.insert(change.key().to_owned(), groups.into());
            }
        }
        visible_json(&all.to_string())
    }
}

impl Group {
    pub(super) fn add(&mut self, named: Named) {
        self.count += 1;
        if self.calls.len() < NAMED_MAX {
            self.calls.push(named);
        }
    }

    /// How many, and the numbers of the first ones.
    pub(super) fn first(&self) -> String {
        let first: Vec<String> = self.calls.iter().take(5).map(|call| format!("#{}", call.seq)).collect();
        let more = if self.count > 5 { ", …" } else { "" };
        format!("{} ({}{more})", count(self.count, "call"), first.join(", "))
    }

    pub(super) fn more(&self) -> Option<String> {
        let left = self.count - u64::try_from(self.calls.len()).unwrap_or(u64::MAX);
        (left > 0).then(|| format!("    … and {left} more"))
    }
}

impl Named {
    pub(super) fn of(line: &Line) -> Named {
        Named {
            seq: line.call.seq(),
            server: line.session.server.clone(),
            tool: line.call.tool().to_owned(),
            arguments: line.arguments.clone(),
            then: line.call.outcome().to_owned(),
            now: String::new(),
            differences: Vec::new(),
        }
    }

    /// One whose end is not as recorded.
    pub(super) fn ended(&self) -> Vec<String> {
        let Named { seq, server, tool, arguments, then, .. } = self;
        let mut lines =
            vec![format!("    #{seq} {server}/{tool} {}  ended: {then}", clip(arguments, SHOWN_CHARS))];
        lines.extend(self.differences.iter().map(|text| format!("      {}", clip(text, 2 * SHOWN_CHARS))));
        lines
    }

    fn text(&self, change: Change) -> Vec<String> {
        let Named { seq, server, tool, arguments, then, now, .. } = self;
        let mut lines =
            vec![format!("    #{seq} {server}/{tool} {}  {then} → {now}", clip(arguments, SHOWN_CHARS))];
        if matches!(change, Change::Fault | Change::Unknown) {
            lines
                .extend(self.differences.iter().map(|text| format!("      {}", clip(text, 2 * SHOWN_CHARS))));
        }
        lines
    }

    pub(super) fn json(&self) -> Value {
        let Named { seq, server, tool, arguments, then, now, differences } = self;
        json!({
            "seq": seq, "server": server, "tool": tool, "arguments": arguments, "then": then, "now": now,
            "differences": differences,
        })
    }
}

fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
