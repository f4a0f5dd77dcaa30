//! What was found, as lines for people and as one JSON object for programs.

use std::collections::BTreeMap;

use framegate_guard::policy::{Problem, Severity};
use serde_json::{Value, json};

use super::beside::{Server, Tool};
use crate::cmd::out::Failure;
use crate::history::line::visible;

/// Everything found.
pub(super) struct Report {
    pub(super) policy: String,
    pub(super) found: Vec<Finding>,
    pub(super) server: Option<Server>,
    /// Why the check ended early.
    pub(super) failure: Option<Failure>,
    /// What asks each program.
    pub(super) programs: BTreeMap<String, Vec<String>>,
    /// Show the options of each tool.
    pub(super) shows_options: bool,
}

/// One thing found.
pub(super) enum Finding {
    /// In the file.
    Placed(Problem),
    /// Elsewhere: in the facts given, in the server's listing.
    Said(Severity, String),
}

impl Finding {
    pub(super) fn severity(&self) -> Severity {
        match self {
            Self::Placed(problem) => problem.severity(),
            Self::Said(severity, _) => *severity,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Placed(problem) => format!("{problem}\n"),
            Self::Said(Severity::Error, text) => format!("error: {}\n", visible_lines(text)),
            Self::Said(Severity::Warning, text) => format!("warning: {}\n", visible_lines(text)),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Placed(problem) => json!({
                "file": problem.file(),
                "line": problem.line(),
                "column": problem.column(),
                "message": problem.message(),
                "hint": problem.advice(),
                "tools": problem.tools(),
            }),
            Self::Said(_, text) => said(text),
        }
    }
}

fn said(text: &str) -> Value {
    json!({ "file": null, "line": null, "column": null, "message": text, "hint": null, "tools": [] })
}

/// A message may have several lines; nothing else in it moves the cursor.
fn visible_lines(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}

impl Report {
    /// By place, each slip once; what has none last.
    pub(super) fn sort(&mut self) {
        self.found.sort_by_key(|finding| match finding {
            Finding::Placed(problem) => (problem.line(), problem.column()),
            Finding::Said(..) => (usize::MAX, 0),
        });
        // A misspelt name is wrong by the file and by the listing: one of the two says what to do.
        self.found.dedup_by(|second, first| match (first, second) {
            (Finding::Placed(first), Finding::Placed(second)) => {
                let place = |problem: &Problem| (problem.line(), problem.column(), problem.severity());
                place(first) == place(second) && first.advice().is_some() && first.advice() == second.advice()
            }
            _ => false,
        });
    }

    pub(super) fn count(&self, severity: Severity) -> usize {
        self.found.iter().filter(|finding| finding.severity() == severity).count()
    }

    pub(super) fn text(&self) -> String {
        let mut parts: Vec<String> = self.found.iter().map(Finding::text).collect();
        parts.extend(self.server.as_ref().map(|server| server_text(server, self.shows_options)));
        let asked = |(program, by): (&String, &Vec<String>)| {
            format!("the program `{program}` is asked for {}\n", visible(by.join(", ")))
        };
        let asked: String = self.programs.iter().map(asked).collect();
        parts.extend((!asked.is_empty()).then_some(asked));
        parts.push(format!(
            "{}: {}, {}",
            visible(&self.policy),
            counted(self.count(Severity::Error), "error"),
            counted(self.count(Severity::Warning), "warning")
        ));
        parts.join("\n")
    }

    /// One object, whatever happened.
    pub(super) fn json(&self) -> String {
        let of = |severity: Severity| {
            self.found.iter().filter(move |finding| finding.severity() == severity).map(Finding::json)
        };
        let mut errors: Vec<Value> = of(Severity::Error).collect();
        errors.extend(self.failure.iter().map(|failure| said(&failure.text)));
        let tool = |tool: &Tool| {
            json!({
                "name": tool.name,
                "offered": tool.is_offered,
                "named": tool.is_named,
                "rules": tool.rules,
                "checks": tool.checks,
                "options": tool.options_json,
                "schema_differences": tool.differences,
            })
        };
        let tools = self.server.as_ref().map(|server| server.tools.iter().map(tool).collect::<Vec<_>>());
        json!({
            "policy": self.policy,
            "ok": errors.is_empty(),
            "errors": errors,
            "warnings": of(Severity::Warning).collect::<Vec<_>>(),
            "server": self.server.as_ref().map(|server| &server.name),
            "tools": tools,
            "programs": self.programs,
        })
        .to_string()
    }
}

fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

fn server_text(server: &Server, shows_options: bool) -> String {
    let offered = server.tools.iter().filter(|tool| tool.is_offered).count();
    let mut text = format!(
        "`{}` lists {}: {offered} offered, {} hidden\n",
        visible(&server.name),
        counted(server.tools.len(), "tool"),
        server.tools.len() - offered
    );
    for tool in server.tools.iter().filter(|tool| tool.is_offered || tool.is_named) {
        text.push_str(&format!("  {}\n", visible(line(tool))));
        if shows_options && tool.is_offered {
            let lines = tool.options_text.lines().map(|line| format!("    {line}\n"));
            text.extend(lines);
        }
        for difference in &tool.differences {
            text.push_str(&format!("    schema: {}\n", visible(difference)));
        }
    }
    let unnamed = server.tools.iter().filter(|tool| !tool.is_offered && !tool.is_named);
    let unnamed: Vec<String> = unnamed.map(|tool| visible(&tool.name)).collect();
    if !unnamed.is_empty() {
        text.push_str(&format!(
            "  hidden   {} (nothing under `tools` names {}, and `default` is `deny`)\n",
            unnamed.join(", "),
            if unnamed.len() == 1 { "it" } else { "them" }
        ));
    }
    text
}

fn line(tool: &Tool) -> String {
    let parts = [("rules", tool.rules.join(", ")), ("checks", tool.checks.join(", "))];
    let told = parts.iter().filter(|(_, names)| !names.is_empty());
    let told = told.map(|(what, names)| format!("{what}: {names}")).collect::<Vec<_>>().join("; ");
    match (tool.is_offered, told.as_str()) {
        (true, "") => format!("offered  {} (no rules)", tool.name),
        (true, told) => format!("offered  {} ({told})", tool.name),
        (false, _) if tool.is_poisoned => {
            format!(
                "hidden   {} (its definition reads like an instruction, and the policy says `definitions: hide`)",
                tool.name
            )
        }
        (false, _) => format!("hidden   {} (the policy says `hidden`)", tool.name),
    }
}
