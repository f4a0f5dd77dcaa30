//! A decision as JSON for programs and as lines for people; the options in force.

use std::sync::Arc;

use framegate_guard::finding::{Effect, Evidence, Finding};
use framegate_guard::policy::{
    Approve, Arguments, Ask, Definitions, Effect as RuleEffect, Invisible, InvisibleBy, Missing, Mode,
    Remember, Rule, ToolOptions, Undeclared,
};
use framegate_guard::refusal::OnFailure;
use framegate_guard::{Decision, Guard, Outcome};
use serde_json::{Value, json};

use super::{Decided, provenance};
use crate::history::line::visible;

impl Decided {
    /// One line of JSON. `sent` has the bytes that would be sent.
    pub(crate) fn json(&self) -> String {
        let decision = &*self.decision;
        let members = [
            ("outcome", json!(decision.outcome.to_string())),
            ("would", json!(decision.would.to_string())),
            ("tool", json!(decision.tool)),
            ("id", json!(decision.call_id)),
            ("failed", decision.failed().collect()),
            // On trial: they decide nothing.
            (
                "observed",
                decision
                    .deciding()
                    .filter(|finding| finding.monitor)
                    .map(|finding| json!(finding.check))
                    .collect(),
            ),
            ("reasons", decision.reasons().collect()),
            ("evidence", decision.evidence().map(evidence).collect()),
            ("state", self.state()),
            ("message", json!(self.message)),
            ("advice", json!(self.advice)),
            ("policy_only", json!(decision.policy_only())),
            ("approval_key", json!(decision.approval_key)),
            ("missing", json!(decision.missing)),
        ];
        let mut line = String::from("{");
        for (key, value) in members {
            line.push_str(&format!("\"{key}\":{value},"));
        }
        line.push_str(&format!("\"sent\":{}}}", self.sent.as_deref().unwrap_or("null")));
        line
    }

    /// For people; the first line says what was called where.
    pub(crate) fn text(&self, place: &str) -> String {
        let decision = &*self.decision;
        let sent = self.sent.as_deref().unwrap_or("(arguments that cannot be read)");
        let mut lines = vec![format!("{place}: {} {sent}", decision.tool)];
        lines.push(format!("  {}", self.verdict()));
        let how = if decision.edits.is_empty() { "would coerce" } else { "coerced" };
        let changed = |change: &framegate_guard::schema::Change| {
            format!("  {how}: `{}` from {} to {}", change.path, change.from, change.to)
        };
        lines.extend(decision.changes.iter().map(changed));
        lines.extend(decision.deciding().map(|finding| format!("  why: {}", because(finding))));
        lines.extend(self.changes());
        lines.extend(self.asks.as_ref().map(|asks| format!("  {asks}")));
        let next = self.advice.lines().map(|line| line.strip_prefix("- ").unwrap_or(line));
        lines.extend(next.map(|line| format!("  next: {line}")));
        lines.iter().map(visible).collect::<Vec<_>>().join("\n")
    }

    /// The state before and after the call, and what its answer made of it.
    fn state(&self) -> Value {
        let Some(noted) = &self.decision.state else { return by_praxiom(&self.decision) };
        let mut state = noted.json();
        if let (Some(then), Some(members)) = (self.answered(), state.as_object_mut()) {
            members.insert("answered".to_owned(), then);
        }
        state
    }

    /// What the answer changed.
    fn answered(&self) -> Option<Value> {
        let noted: Value = serde_json::from_str(&self.then.as_ref()?.0).ok()?;
        noted.get("after").cloned()
    }

    /// What changes, a variable a line; and what would, of a call that is not allowed.
    fn changes(&self) -> Vec<String> {
        let Some(noted) = &self.decision.state else { return Vec::new() };
        let mut lines: Vec<String> = noted
            .changes()
            .map(|(name, before, after)| match self.decision.outcome {
                Outcome::Allow => format!("  state: `{name}` from {before} to {after}"),
                Outcome::Ask => format!("  state: `{name}` from {before} to {after}, if it is allowed"),
                Outcome::Deny => format!("  state: `{name}` stays {before}, and would be {after}"),
            })
            .collect();
        let then = self.answered().and_then(|then| framegate_guard::state::decode(&then.to_string()).ok());
        for (name, belief) in then.iter().flatten() {
            lines.push(format!("  state: `{name}` is {belief} after the answer"));
        }
        lines
    }

    fn verdict(&self) -> String {
        let (outcome, would) = (self.decision.outcome, self.decision.would);
        match (outcome, would) {
            (Outcome::Allow, Outcome::Allow) => "allow".to_owned(),
            _ if outcome == would => outcome.to_string(),
            _ => format!("{outcome} (would {would}, if nothing were only monitored)"),
        }
    }
}

/// The same under a policy of praxiom, values as it shows them.
fn by_praxiom(decision: &Decision) -> Value {
    let transition = decision.transition.as_ref().and_then(|transition| transition.praxiom());
    let Some(transition) = transition else { return json!({}) };
    let shown = |state| -> Value {
        let all = transition.policy().each_shown(state);
        Value::Object(all.map(|(name, value)| (name.to_owned(), value.into())).collect())
    };
    json!({ "before": shown(transition.met()), "after": shown(transition.next()) })
}

fn because(finding: &Finding) -> String {
    let about = match finding.effect {
        _ if finding.monitor => " [only monitored]",
        Effect::Ask => " [ask]",
        Effect::Deny => " [deny]",
        Effect::Unevaluated => " [cannot be evaluated: ask]",
    };
    let name = if finding.reason.starts_with(&format!("{}:", finding.check)) {
        String::new()
    } else {
        format!("{}: ", finding.check)
    };
    format!("{name}{}{about}", finding.reason)
}

fn evidence(evidence: &Evidence) -> Value {
    let Evidence { about, quote, start, end, source, message } = evidence;
    let mut told = json!({ "about": about, "quote": quote, "start": start, "end": end, "source": source });
    if let (Some(message), Some(members)) = (message, told.as_object_mut()) {
        members.insert("message".to_owned(), (*message).into());
    }
    told
}

/// What holds for a tool: its options, and the rules that its calls pass through.
pub(crate) struct Options<'g> {
    guard: &'g Guard,
    tool: &'g str,
}

/// Of every listed tool.
pub(crate) fn options(guard: &Guard) -> impl Iterator<Item = Options<'_>> {
    guard.tools().map(move |tool| Options { guard, tool })
}

impl<'g> Options<'g> {
    fn in_force(&self) -> Option<Arc<ToolOptions>> {
        self.guard.options(self.tool).filter(|options| !options.hidden)
    }

    pub(crate) fn tool(&self) -> &'g str {
        self.tool
    }

    /// One line of JSON.
    pub(crate) fn json(&self) -> String {
        if self.in_force().is_none() {
            return json!({ "tool": self.tool, "offered": false }).to_string();
        }
        let rule = |check: framegate_guard::definition::CheckInfo| json!({ "name": check.name, "because": check.reason, "otherwise": otherwise(check.on_failure) });
        let rules: Vec<Value> = self.guard.checks_of(self.tool).into_iter().map(rule).collect();
        let effects: Vec<Value> =
            self.guard.effects_of(self.tool).iter().map(|rule| effects_json(rule)).collect();
        json!({ "tool": self.tool, "offered": true, "options": self.options_json(), "rules": rules, "effects": effects })
            .to_string()
    }

    /// The options alone; nothing for a tool that is not offered.
    pub(crate) fn options_json(&self) -> Value {
        let Some(options) = self.in_force() else { return Value::Null };
        let mut all = json!({
            "arguments": arguments(options.arguments),
            "undeclared": undeclared(options.undeclared),
            "show_rules": options.show_rules,
            "definitions": definitions(options.definitions),
            "approve": approve(options.approve),
            "remember": remember(options.remember),
            "invisible": invisible_by(&options.invisible),
            "schema": schema(&options),
            "mode": mode(self.mode(&options)),
            "missing": missing(options.missing()),
            "ask": ask(&options.ask),
        });
        if let Some(members) = all.as_object_mut() {
            members.extend(provenance::json(&options.provenance));
        }
        all
    }

    /// Lines for people.
    pub(crate) fn text(&self) -> String {
        match self.in_force() {
            Some(_) => format!("{}: {}", visible(self.tool), self.text_in_force()),
            None => visible(format!("{}: not offered", self.tool)),
        }
    }

    /// The same without the tool's name; nothing for a tool that is not offered.
    pub(crate) fn text_in_force(&self) -> String {
        let Some(options) = self.in_force() else { return String::new() };
        let mut lines = vec![format!(
            "arguments {}, missing {}, undeclared {}, invisible {}, schema of the {}, mode {}",
            arguments(options.arguments),
            missing(options.missing()),
            undeclared(options.undeclared),
            match invisible_by(&options.invisible) {
                Value::String(word) => word,
                by => by.to_string(),
            },
            schema(&options),
            mode(self.mode(&options)),
        )];
        if options.approve == Approve::Terminal {
            lines.push(format!("  approve terminal, remember {}", remember(options.remember)));
        }
        if options.definitions != Definitions::default() {
            lines.push(format!("  definitions {}", definitions(options.definitions)));
        }
        lines.extend(provenance::text(&options.provenance));
        let rule = |check: framegate_guard::definition::CheckInfo| {
            format!("  rule {} (otherwise {}): {}", check.name, otherwise(check.on_failure), check.reason)
        };
        lines.extend(self.guard.checks_of(self.tool).into_iter().map(rule));
        lines.extend(self.guard.effects_of(self.tool).iter().flat_map(|rule| effects_text(rule)));
        lines.iter().map(visible).collect::<Vec<_>>().join("\n")
    }

    fn mode(&self, options: &ToolOptions) -> Mode {
        if self.guard.is_monitoring() { Mode::Monitor } else { options.mode }
    }
}

/// What a rule does to the state, as it is typed, or as a limit or budget is written out.
fn effects_json(rule: &Rule) -> Value {
    let effects = |effects: &[RuleEffect]| {
        let one =
            |effect: &RuleEffect| (effect.variable.name.to_string(), json!(effect.value.expression.source()));
        effects.iter().map(one).collect::<serde_json::Map<_, _>>()
    };
    let that = (!rule.has_effects_only).then(|| rule.that.expression.source());
    json!({
        "rule": rule.name,
        "made_of": rule.made_of,
        "that": that,
        "set": effects(&rule.effects.set),
        "after": effects(&rule.effects.after),
        "on_error": if rule.effects.is_undone { "undo" } else { "keep" },
    })
}

fn effects_text(rule: &Rule) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(key) = rule.made_of {
        lines.push(format!("  {key} as rule {}: that {}", rule.name, rule.that.expression.source()));
    }
    for (key, effects) in [("set", &rule.effects.set), ("after", &rule.effects.after)] {
        lines.extend(effects.iter().map(|effect| {
            let variable = &effect.variable;
            let value = effect.value.expression.source();
            format!("  rule {}: {key} state.{} ({}) to {value}", rule.name, variable.name, variable.kind)
        }));
    }
    lines
}

fn approve(approve: Approve) -> &'static str {
    match approve {
        Approve::Client => "client",
        Approve::Terminal => "terminal",
    }
}

fn definitions(definitions: Definitions) -> &'static str {
    match definitions {
        Definitions::Ask => "ask",
        Definitions::Hide => "hide",
        Definitions::Report => "report",
        Definitions::Unread => "unread",
    }
}

fn remember(remember: Remember) -> &'static str {
    match remember {
        Remember::Arguments => "arguments",
        Remember::Never => "never",
        Remember::Tool => "tool",
    }
}

fn arguments(arguments: Arguments) -> &'static str {
    match arguments {
        Arguments::Strict => "strict",
        Arguments::Coerce => "coerce",
        Arguments::Unchecked => "unchecked",
    }
}

fn missing(missing: Missing) -> &'static str {
    match missing {
        Missing::Ask => "ask",
        Missing::Pass => "pass",
        Missing::Refuse => "refuse",
    }
}

/// What the policy says of how it is asked; of fields, as the keywords that their forms have.
fn ask(ask: &Ask) -> Value {
    let fields: serde_json::Map<String, Value> =
        ask.fields.iter().map(|(name, field)| (name.clone(), field.document().root().to_serde())).collect();
    json!({
        "message": ask.message,
        "required": ask.required,
        "empty": if ask.empty_is_missing { "missing" } else { "value" },
        "fields": fields,
    })
}

fn undeclared(undeclared: Undeclared) -> &'static str {
    match undeclared {
        Undeclared::Schema => "schema",
        Undeclared::Refuse => "refuse",
    }
}

fn invisible(invisible: Invisible) -> &'static str {
    match invisible {
        Invisible::Refuse => "refuse",
        Invisible::Allow => "allow",
    }
}

/// A word, or where arguments differ a word for each of these and `*` for the rest.
fn invisible_by(by: &InvisibleBy) -> Value {
    if by.arguments.is_empty() {
        return invisible(by.otherwise).into();
    }
    let mut all: serde_json::Map<String, Value> =
        by.arguments.iter().map(|(name, one)| (name.clone(), invisible(*one).into())).collect();
    all.insert("*".to_owned(), invisible(by.otherwise).into());
    all.into()
}

/// Whose schema counts.
fn schema(options: &ToolOptions) -> &'static str {
    if options.schema.is_some() { "policy" } else { "server" }
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Enforce => "enforce",
        Mode::Monitor => "monitor",
    }
}

fn otherwise(on_failure: OnFailure) -> &'static str {
    match on_failure {
        OnFailure::Ask => "ask",
        OnFailure::Deny => "deny",
    }
}
