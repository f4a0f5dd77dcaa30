//! What is printed.

use framegate_guard::prove::{Coverage, EventKind, Model, NO_STATE, Step};
use serde_json::{Value, json};

use crate::history::line::visible;

/// What came of a property.
#[derive(Debug)]
pub(super) enum Result {
    /// Broken by a sequence that the guard itself lets through.
    Broken { steps: Vec<Step> },
    /// It holds.
    Proved { depth: usize },
    /// The solver's sequence is none of the guard's.
    Spurious { steps: Vec<Step>, why: String },
    /// Neither.
    Undecided { why: String },
}

#[derive(Debug)]
pub(super) struct Report<'r> {
    pub(super) policy: String,
    pub(super) model: &'r Model,
    pub(super) results: Vec<(usize, Result)>,
    pub(super) findings: Vec<String>,
    /// Where nobody could say whether something is in vain.
    pub(super) unasked: usize,
    pub(super) coverage: Option<Coverage>,
    pub(super) solver: bool,
}

impl Result {
    fn word(&self) -> &'static str {
        match self {
            Result::Broken { .. } => "broken",
            Result::Proved { .. } => "proved",
            Result::Spurious { .. } | Result::Undecided { .. } => "not decided",
        }
    }

    fn steps(&self) -> &[Step] {
        match self {
            Result::Broken { steps } | Result::Spurious { steps, .. } => steps,
            _ => &[],
        }
    }

    fn why(&self, free: &[&str]) -> Option<String> {
        match self {
            Result::Broken { .. } => {
                Some("the guard decides so: each call above was played to it".to_owned())
            }
            Result::Proved { .. } => None,
            Result::Undecided { why } => Some(why.clone()),
            Result::Spurious { why, .. } => {
                let free = match free {
                    [] => String::new(),
                    free => format!("; free to the solver: {}", free.join(", ")),
                };
                Some(format!("the solver's sequence is none of the guard's: {why}{free}"))
            }
        }
    }
}

impl Report<'_> {
    pub(super) fn text(&self) -> String {
        let mut lines = Vec::new();
        for (property, result) in &self.results {
            self.result(&mut lines, *property, result);
        }
        lines.extend(self.findings.iter().map(|finding| format!("note         {finding}")));
        let free = self.model.free();
        if !free.is_empty() {
            lines.push("any value was taken for possible of:".to_owned());
            lines.extend(free.iter().map(|free| format!("  {free}")));
        }
        lines.extend(
            self.model.notes.iter().map(|note| format!("more is possible here than in the guard: {note}")),
        );
        lines.extend(self.model.assumed.iter().map(|assumed| format!("taken for granted: {assumed}")));
        if let Some(coverage) = &self.coverage {
            table(&mut lines, coverage);
        }
        if self.unasked > 0 {
            let unasked = self.unasked;
            lines.push(format!("{unasked} more may be in vain; whether they are only the solver could say"));
        }
        if self.solver {
            lines.push(self.sum());
        }
        let lines: Vec<String> = lines.into_iter().map(visible).collect();
        lines.join("\n")
    }

    fn result(&self, lines: &mut Vec<String>, at: usize, result: &Result) {
        let Some(property) = self.model.properties.get(at) else { return };
        let after = property.after.as_ref().map(|after| format!("after `{after}`, ")).unwrap_or_default();
        lines.push(format!("{:<12} {}: {after}never `{}`", result.word(), property.name, property.never));
        for (number, step) in result.steps().iter().enumerate() {
            let (kind, tool) = self.event(step);
            let with = if step.with.is_empty() { String::new() } else { format!(" {}", step.with) };
            let later = step.later.as_ref().map(|later| format!(" ({later} later)")).unwrap_or_default();
            lines.push(format!("  {:>2}. {kind:<6} {tool}{with}{later}", number + 1));
            // A policy without variables has none to show at each step.
            if step.state != NO_STATE {
                lines.push(format!("             state: {}", step.state));
            }
        }
        if let Some(why) = result.why(&self.model.free()) {
            lines.push(format!("      {why}"));
        }
    }

    fn event(&self, step: &Step) -> (&'static str, &str) {
        let event = self.model.events.get(step.event);
        let kind = match event.map(|event| event.kind) {
            Some(EventKind::Answer) => "answer",
            Some(EventKind::Lost) => "lost",
            Some(EventKind::Elsewhere) => "elsewhere",
            Some(EventKind::Restart) => "restart",
            _ => "call",
        };
        (kind, event.map_or("", |event| event.shown.as_str()))
    }

    fn sum(&self) -> String {
        let count = |word: &str| self.results.iter().filter(|(_, result)| result.word() == word).count();
        let (proved, broken) = (count("proved"), count("broken"));
        format!("{proved} proved, {broken} broken, {} not decided", count("not decided"))
    }

    pub(super) fn json(&self) -> String {
        let results: Vec<Value> =
            self.results.iter().map(|(at, result)| self.result_json(*at, result)).collect();
        let coverage = self.coverage.as_ref().map(|coverage| {
            let row = |(tool, of): &(String, Vec<bool>)| {
                let rules = coverage.rules.iter().zip(of).filter(|(_, is_of)| **is_of);
                json!({ "tool": tool, "rules": rules.map(|(rule, _)| rule).collect::<Vec<_>>() })
            };
            coverage.tools.iter().map(row).collect::<Vec<_>>()
        });
        json!({
            "policy": self.policy,
            "properties": results,
            "findings": self.findings,
            "free": self.model.free(),
            "notes": self.model.notes,
            "assumed": self.model.assumed,
            "coverage": coverage,
        })
        .to_string()
    }

    fn result_json(&self, at: usize, result: &Result) -> Value {
        let property = self.model.properties.get(at);
        let steps: Vec<Value> = result
            .steps()
            .iter()
            .map(|step| {
                let (kind, tool) = self.event(step);
                json!({
                    "event": kind, "tool": tool, "later": step.later, "with": step.with, "state": step.state,
                })
            })
            .collect();
        let depth = match result {
            Result::Proved { depth } => Some(depth),
            _ => None,
        };
        json!({
            "name": property.map(|property| &property.name),
            "never": property.map(|property| &property.never),
            "after": property.map(|property| &property.after),
            "outcome": result.word().replace(' ', "_"),
            "confirmed": matches!(result, Result::Broken { .. }),
            "depth": depth,
            "steps": steps,
            "why": result.why(&self.model.free()),
        })
    }
}

/// Rules are numbered: their names are as long as their authors like.
fn table(lines: &mut Vec<String>, coverage: &Coverage) {
    lines.push("rules:".to_owned());
    lines.extend(coverage.rules.iter().enumerate().map(|(at, rule)| format!("  {:>3} {rule}", at + 1)));
    lines.push("tools, and the rules their calls are held to:".to_owned());
    let width = coverage.tools.iter().map(|(tool, _)| tool.chars().count()).max().unwrap_or_default();
    for (tool, of) in &coverage.tools {
        let numbers = of.iter().enumerate().filter(|(_, is_of)| **is_of);
        let numbers: Vec<String> = numbers.map(|(at, _)| (at + 1).to_string()).collect();
        let numbers = if numbers.is_empty() { "none".to_owned() } else { numbers.join(" ") };
        lines.push(format!("  {tool:<width$}  {numbers}"));
    }
}
