//! What solvi 1.3.0 decides (`data/oracle/solvi_guard.jsonl`): outcome and failed checks. Its tools, policies, options
//! and facts are translated into a policy file, what was said into a session that knows the user's words, the calls
//! made into a ledger.
//!
//! Where we decide otherwise on purpose the row stands in `data/oracle/solvi_guard_deviations.jsonl` with our
//! answer and the reason; a row there that agrees is an error.

#![expect(clippy::unwrap_used, reason = "the data is the project's own")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use framegate_guard::json::{Document, Limits, Value};
use framegate_guard::ledger::{Ledger, MemoryLedger, SessionKey, Snapshot, Step};
use framegate_guard::messages;
use framegate_guard::policy::Policy;
use framegate_guard::session::{Session, Window};
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
    let only = input.get("allowed_tools");
    for tool in input.get("tools").unwrap().items() {
        let name = text(tool, "name").unwrap();
        let is_allowed = only.is_none_or(|only| {
            only.as_str() == Some(name) || only.items().any(|allowed| allowed.as_str() == Some(name))
        });
        if is_allowed {
            writeln!(file, "  {name}: {{{}}}", options(input, tool).join(", ")).unwrap();
        }
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
    if input.get("firewall").is_some() {
        file.push_str("facts: { acct: { type: string }, amt: { type: number } }\n");
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

/// The options of a tool, in flow style.
fn options(input: Value<'_>, tool: Value<'_>) -> Vec<String> {
    let mut all = Vec::new();
    let options = tool.get("options");
    let option = |key: &str| options.and_then(|options| options.get(key)).filter(|value| !value.is_null());
    if let Some(ground) = option("ground") {
        all.push(format!("ground: {{{}}}", grounds(ground, &option).join(", ")));
    }
    if let Some(firewall) = input.get("firewall").and_then(|all| all.items().last())
        && firewall.get("grounded").and_then(Value::as_bool) != Some(false)
    {
        all.push(format!("ground: {{{}}}, instructions: off", slots(firewall).join(", ")));
    }
    for (theirs, ours) in [
        ("injections", "instructions"),
        ("tool_values", "tool_values"),
        ("once", "once"),
        ("scan_user", "scan_user"),
    ] {
        let word = option(theirs).map(|value| value.raw().trim_matches('"').replace("escalate", "ask"));
        all.extend(word.map(|word| format!("{ours}: {word}")));
    }
    let of_tool = |key: &str| {
        let all = input.get(key).into_iter().flat_map(Value::items);
        let mine =
            |one: &Value<'_>| text(*one, "tools").is_none_or(|tools| Some(tools) == text(tool, "name"));
        all.filter(mine).last()
    };
    let otherwise = |of: Value<'_>| {
        text(of, "on_fail").map(|on_fail| format!("otherwise: {}", on_fail.replace("escalate", "ask")))
    };
    if let Some(confirm) = of_tool("require_confirmation") {
        let mut parts: Vec<String> = otherwise(confirm).into_iter().collect();
        for key in ["arguments", "match", "last"] {
            parts.extend(confirm.get(key).map(|value| format!("{key}: {}", value.raw())));
        }
        all.push(format!("confirm: {{{}}}", parts.join(", ")));
    }
    if let Some(request) = of_tool("require_request") {
        let mut parts: Vec<String> = otherwise(request).into_iter().collect();
        parts.extend(request.get("intent").map(|intent| format!("intents: {}", intent.raw())));
        // Our phrases are words, not patterns.
        parts.extend(request.get("phrases").map(|all| format!("phrases: {}", all.raw().replace(r"\\b", ""))));
        all.push(format!("require_request: {{{}}}", parts.join(", ")));
    }
    all
}

/// Every value that is sent must be in the request, or a fact.
fn slots(firewall: Value<'_>) -> Vec<String> {
    let mut parts = vec![format!("match: {}", text(firewall, "match").unwrap_or("nocase"))];
    let sources = firewall.get("sources").map(Value::items).into_iter().flatten().filter_map(Value::as_str);
    let sources: Vec<&str> = sources.collect();
    let from = if sources.is_empty() { "user".to_owned() } else { sources.join(", ") };
    parts.push(format!("from: [{from}, facts]"));
    parts.extend(text(firewall, "locale").map(|locale| format!("locale: {locale}")));
    let otherwise = if text(firewall, "on_ungrounded") == Some("deny") { "deny" } else { "ask" };
    parts.push(format!("otherwise: {otherwise}"));
    let exempt = firewall.get("exempt").map(Value::items).into_iter().flatten().filter_map(Value::as_str);
    let exempt = exempt.map(|name| format!("{name}: off"));
    std::iter::once(format!("'*': {{{}}}", parts.join(", "))).chain(exempt).collect()
}

fn grounds<'v>(ground: Value<'v>, option: &dyn Fn(&str) -> Option<Value<'v>>) -> Vec<String> {
    let common = [("ground_from", "from"), ("ground_last", "last"), ("locale", "locale")];
    let common: Vec<String> = common
        .into_iter()
        .filter_map(|(theirs, ours)| Some(format!("{ours}: {}", option(theirs)?.raw())))
        .collect();
    let named = ground.members().map(|(name, how)| (name, how.as_str()));
    let listed = ground.items().filter_map(Value::as_str).map(|name| (name, None));
    let one = |(name, how): (&str, Option<&str>)| {
        let how = how.map(|how| format!("match: {how}"));
        format!(
            "{name}: {{{}}}",
            how.into_iter().chain(common.iter().cloned()).collect::<Vec<_>>().join(", ")
        )
    };
    named.chain(listed).map(one).collect()
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
    let everything = Window { max_messages: 0, max_chars: 0 };
    let mut session = Session::new(everything).knowing_user(true);
    input.get("conversation").into_iter().flat_map(messages::read).for_each(|message| session.add(message));
    let call = input.get("call").unwrap();
    let none = Document::empty_object();
    let arguments = call.get("arguments").unwrap_or(none.root());
    let call = Call { tool: text(call, "name").unwrap(), id: None, arguments };
    let (ledger, key) =
        (MemoryLedger::default(), SessionKey { principal: String::new(), name: String::new() });
    let step =
        |decide: &mut dyn FnMut(&Snapshot<'_>) -> Step| ledger.step(&key, decide).unwrap().wait().unwrap();
    let made = input.get("facts").and_then(|facts| facts.get("calls_made"));
    for made in made.into_iter().flat_map(Value::items).filter_map(Value::as_str) {
        let arguments = made.strip_prefix("pay(").unwrap().strip_suffix(')').unwrap();
        // What was not sent stands there as null.
        let arguments = rows(&arguments.replace(r#", "note": null"#, "")).next().unwrap();
        let call = Call { arguments: arguments.root(), ..call };
        step(&mut |past| {
            let decision = guard.decide(&call, &session, past, &NoWorld);
            Step { decision: Arc::new(decision), is_sent: true, record: None }
        });
    }
    let decided = step(&mut |past| {
        let decision = guard.decide(&call, &session, past, &NoWorld);
        Step { decision: Arc::new(decision), is_sent: false, record: None }
    });
    let failed: Vec<&str> = decided.decision.failed().collect();
    format!("{}: {}", outcome(decided.decision.outcome), failed.join(", "))
}

fn theirs(output: Value<'_>) -> String {
    let Some(outcome) = text(output, "outcome") else { return "error".into() };
    // Two names of theirs for what is one check here.
    let ours = |name| match name {
        "in_session_tools" => "known_tool",
        "slots_grounded" => "arguments_grounded",
        name => name,
    };
    let failed: Vec<&str> =
        output.get("failed").unwrap().items().filter_map(Value::as_str).map(ours).collect();
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
