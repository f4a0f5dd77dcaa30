//! What solvi 1.3.0 decides (`data/oracle/solvi_guard.jsonl`: the rows that need only tools, policies and facts):
//! outcome and failed checks. Its policies and facts are translated into a policy file.
//!
//! Where we decide otherwise on purpose the row stands in `data/oracle/solvi_guard_deviations.jsonl` with our
//! answer and the reason; a row there that agrees is an error.

#![expect(clippy::unwrap_used, reason = "the data is the project's own")]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use framegate_guard::json::{Document, Limits, Value};
use framegate_guard::ledger::Snapshot;
use framegate_guard::messages;
use framegate_guard::policy::Policy;
use framegate_guard::session::Session;
use framegate_guard::world::NoWorld;
use framegate_guard::{Call, Facts, Guard, Outcome};

fn rows(text: &str) -> impl Iterator<Item = Document> {
    text.lines().map(|line| Document::read(line.to_owned().into(), &Limits::default()).unwrap())
}

fn text<'a>(value: Value<'a>, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// The policy file that says the same.
fn policy(input: Value<'_>) -> String {
    let mut file = "framegate: 1\ndefaults: { arguments: coerce, undeclared: refuse }\ntools:\n".to_owned();
    for tool in input.get("tools").unwrap().items() {
        writeln!(file, "  {}: {{}}", text(tool, "name").unwrap()).unwrap();
    }
    let policies: Vec<_> = input.get("policies").into_iter().flat_map(Value::items).collect();
    let facts = input.get("fact_names").into_iter().flat_map(Value::items).filter_map(Value::as_str);
    for (position, name) in facts.enumerate() {
        let of = policies.iter().find(|policy| text(**policy, "value") == Some(name));
        let kind = match of.and_then(|policy| text(*policy, "fact_type")) {
            Some("int") => "int",
            _ => "number",
        };
        let head = if position == 0 { "facts:\n" } else { "" };
        writeln!(file, "{head}  {name}: {{ type: {kind} }}").unwrap();
    }
    for (position, policy) in policies.into_iter().enumerate() {
        let head = if position == 0 { "rules:\n" } else { "" };
        let tools = text(policy, "tools").map(|tools| format!("\n    tools: [{tools}]")).unwrap_or_default();
        let otherwise = if text(policy, "on_fail") == Some("escalate") { "ask" } else { "deny" };
        let because = text(policy, "doc").or(text(policy, "name")).unwrap();
        writeln!(file, "{head}  - name: {}{tools}\n    that: '{}'\n    otherwise: {otherwise}\n    because: \"{because}\"", text(policy, "name").unwrap(), condition(policy)).unwrap();
    }
    file
}

fn condition(policy: Value<'_>) -> String {
    let arg = text(policy, "arg").unwrap();
    let arg = if arg == "user_request" { arg.to_owned() } else { format!("args.{arg}") };
    let value = policy.get("value").unwrap();
    match text(policy, "op").unwrap() {
        "le_fact" => format!("{arg} <= facts.{}", value.as_str().unwrap()),
        "startswith" => format!("{arg}.startsWith({})", value.raw()),
        op => format!("{arg} {op} {}", value.raw()),
    }
}

/// Facts as text are typed as on the command line; null, and what is not of its type, is not given.
fn facts(policy: &Policy, input: Value<'_>) -> Result<Facts, Vec<String>> {
    let mut given = BTreeMap::new();
    for (name, value) in input.get("facts").into_iter().flat_map(Value::members) {
        let own = || Document::read(value.raw().to_owned().into(), &Limits::default()).unwrap();
        let value = match (policy.facts().get(name), value.as_str()) {
            _ if name == "calls_made" || value.is_null() => None,
            (Some(fact), Some(text)) => fact.parse(text).ok(),
            _ => Some(own()),
        };
        given.extend(value.map(|value| (name.to_owned(), value)));
    }
    Facts::new(policy, &given)
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Allow => "allow",
        Outcome::Ask => "escalate",
        Outcome::Deny => "deny",
    }
}

/// `deny: a, b`, or `error` where the policy or the facts are wrong.
fn ours(input: Value<'_>) -> String {
    let loaded = Policy::load("oracle.yaml", policy(input).as_bytes(), &mut |_| Err("no files".into()));
    let Ok(loaded) = loaded else { return "error".into() };
    let Ok(facts) = facts(&loaded.policy, input) else { return "error".into() };
    let listing = input.get("tools").unwrap().items().map(|tool| {
        let (name, schema) = (text(tool, "name").unwrap(), tool.get("schema").unwrap().raw());
        let definition = format!(r#"{{"name":"{name}","inputSchema":{schema}}}"#);
        (name.to_owned(), Document::read(definition.into(), &Limits::default()).map_err(|f| f.to_string()))
    });
    let (guard, warnings) = Guard::new(loaded.policy, "solvi", facts).adopt(listing);
    if !warnings.is_empty() {
        return "error".into();
    }
    let mut session = Session::default();
    input.get("conversation").into_iter().flat_map(messages::read).for_each(|message| session.add(message));
    let call = input.get("call").unwrap();
    let call =
        Call { tool: text(call, "name").unwrap(), id: None, arguments: call.get("arguments").unwrap() };
    let decision = guard.decide(&call, &session, &Snapshot::nothing(), &NoWorld);
    let failed: Vec<&str> = decision.failed().collect();
    format!("{}: {}", outcome(decision.outcome), failed.join(", "))
}

fn theirs(output: Value<'_>) -> String {
    let Some(outcome) = text(output, "outcome") else { return "error".into() };
    let failed: Vec<&str> = output.get("failed").unwrap().items().filter_map(Value::as_str).collect();
    format!("{outcome}: {}", failed.join(", "))
}

#[test]
fn decides_what_the_original_decides() {
    let row_of = |row: Value<'_>| row.get("row").unwrap().raw().parse::<usize>().unwrap();
    let mut deviations: BTreeMap<usize, String> =
        rows(include_str!("data/oracle/solvi_guard_deviations.jsonl"))
            .map(|row| (row_of(row.root()), text(row.root(), "ours").unwrap().to_owned()))
            .collect();
    let mut wrong = Vec::new();
    for row in rows(include_str!("data/oracle/solvi_guard.jsonl")) {
        let input = row.root().get("input").unwrap();
        let (ours, theirs) = (ours(input), theirs(row.root().get("output").unwrap()));
        let expected = deviations.remove(&row_of(row.root()));
        if ours != *expected.as_ref().unwrap_or(&theirs) || expected == Some(theirs.clone()) {
            wrong.push(format!("{}: ours `{ours}`, theirs `{theirs}`\n{input:?}", row_of(row.root())));
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
    assert!(deviations.is_empty(), "no such rows: {:?}", deviations.keys());
}
