//! What `ask` says of arguments, beside the tools that it says it of.

use super::super::bind::{Bound, Listing, schema_has};
use super::super::problem::{Problem, did_you_mean};
use super::{Advice, schema_of};
use crate::json::Value;

impl Advice<'_> {
    /// Arguments that calls are asked for, and their tool has not: mostly mistyped.
    pub(super) fn asked_arguments(&self, server: &str, listing: &Listing<'_>, bound: &Bound) -> Vec<Problem> {
        let mut problems = Vec::new();
        for entry in self.policy.0.tools.all() {
            for (name, span) in entry.asked() {
                let mut problem = None;
                for tool in bound.tools().filter(|tool| tool.visible()) {
                    let Some(schema) = schema_of(tool, listing) else { continue };
                    if entry.glob.matches(server, &tool.name) && !schema_has(schema, name) {
                        let message =
                            format!("`ask` speaks of an argument `{name}`, and the tool declares none");
                        let known = schema.get("properties").into_iter().flat_map(Value::members);
                        let hint = did_you_mean(name, known.map(|(known, _)| known));
                        problem
                            .get_or_insert_with(|| self.warn(span, message).hint_maybe(hint))
                            .also_about_tool(&tool.name);
                    }
                }
                problems.extend(problem);
            }
        }
        problems
    }
}
