//! What a replay found of the ends of calls: what their answers made of the state.

use std::collections::BTreeMap;

use framegate_guard::store::retrace::Missing;
use framegate_guard::trace::Difference;
use serde_json::{Value, json};

use super::report::{Group, Named};
use crate::history::ends::EndAgain;
use crate::history::line::Line;
use crate::redact;

/// What a replay found of them.
#[derive(Debug, Default)]
pub(super) struct Ends {
    count: u64,
    same: u64,
    differ: Group,
    missing: BTreeMap<Missing, Group>,
}

impl Ends {
    pub(super) fn same(&mut self) {
        self.count += 1;
        self.same += 1;
    }

    /// One that is not as recorded, or cannot be made again.
    pub(super) fn add(&mut self, end: EndAgain, line: &Line) {
        self.count += 1;
        let mut named = Named::of(line);
        named.then = end.how;
        let group = match end.made {
            Ok(differences) => {
                // What was remembered is no argument of this call: a secret in it may be of any other.
                let told = |one: &Difference| {
                    redact::text(&redact::without(&one.to_string(), &end.secrets)).into_owned()
                };
                named.differences = differences.iter().map(told).collect();
                &mut self.differ
            }
            Err(why) => self.missing.entry(why).or_default(),
        };
        group.add(named);
    }

    /// One that is not as recorded.
    pub(super) fn is_fault(&self) -> bool {
        self.differ.count > 0
    }

    pub(super) fn text(&self) -> Vec<String> {
        if self.count == 0 {
            return Vec::new();
        }
        let missing: u64 = self.missing.values().map(|group| group.count).sum();
        let parts = [
            (self.same, "as recorded"),
            (self.differ.count, "not as recorded"),
            (missing, "not recomputable"),
        ];
        let parts = parts.iter().filter(|(number, _)| *number > 0);
        let parts: Vec<String> = parts.map(|(number, what)| format!("{number} {what}")).collect();
        let ends = if self.count == 1 { "end of a call that changed" } else { "ends of calls that changed" };
        let mut lines = vec![format!("{} {ends} the state: {}", self.count, parts.join(", "))];
        if self.is_fault() {
            lines.push("  not as recorded:".to_owned());
            lines.extend(self.differ.calls.iter().flat_map(Named::ended));
            lines.extend(self.differ.more());
        }
        for (why, group) in &self.missing {
            lines.push(format!("  not recomputable: {why}: {}", group.first()));
        }
        lines
    }

    pub(super) fn json(&self) -> Value {
        let missing = self.missing.iter().map(|(why, group)| {
            let calls: Vec<u64> = group.calls.iter().map(|call| call.seq).collect();
            json!({ "why": why.to_string(), "count": group.count, "calls": calls })
        });
        let missing: Vec<Value> = missing.collect();
        let faults: Vec<Value> = self.differ.calls.iter().map(Named::json).collect();
        json!({ "count": self.count, "same": self.same, "faults": faults, "not_recomputable": missing })
    }
}
