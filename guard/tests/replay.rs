//! A decision made again from its record alone.

#![expect(clippy::unwrap_used, reason = "the data is the tests' own")]

use std::collections::BTreeMap;

use framegate_guard::json::{Document, Limits};
use framegate_guard::ledger::Snapshot;
use framegate_guard::messages::{Message, Role};
use framegate_guard::policy::Policy;
use framegate_guard::session::Session;
use framegate_guard::trace::{Replayed, Trace};
use framegate_guard::world::{Instant, NoWorld, Unknown, World};
use framegate_guard::{Call, Decision, Facts, Guard, Outcome, RustRule};
use proptest::prelude::*;

fn read(text: &str) -> Document {
    Document::read(text.to_owned().into(), &Limits::default()).unwrap()
}

/// `/work/link` leads out; everything else is where it is.
struct Disk;

impl World for Disk {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        match path {
            "/work/link" => Ok("/etc/passwd".to_owned()),
            "/work/loop" => Err(Unknown("a loop".to_owned())),
            _ => Ok(path.to_owned()),
        }
    }

    fn now(&self) -> Result<Instant, Unknown> {
        Ok(Instant(1_700_000_000_000_000))
    }
}

const RULES: [&str; 6] = [
    "{ name: inside, tools: [read], that: 'within(args.path, \"/work\")', because: Only /work. }",
    "{ name: role, tools: [read], that: 'facts.role == \"admin\"', otherwise: ask, because: Ask first. }",
    "{ name: limit, that: 'args.size <= facts.limit', tools: [read], because: Too much. }",
    "{ name: asked, tools: [read], that: 'user_request.contains(\"read\")', otherwise: ask, because: Nobody asked. }",
    "{ name: late, tools: [read], that: 'now < timestamp(\"2020-01-01T00:00:00Z\")', mode: monitor, because: Late. }",
    "{ name: free, that: '!contains_any(texts, lists.secret)', tools: [\"*\"], because: Secret. }",
];

fn policy(head: &str, rules: &[usize]) -> Policy {
    let mut text = format!(
        "framegate: 1\n{head}\nfacts: {{ role: {{ type: string, default: viewer }}, limit: {{ type: number }} }}\nlists: {{ secret: [link, .ssh] }}\ntools: {{ read: {{ arguments: coerce }} }}\nrules:\n"
    );
    let rules = rules
        .iter()
        .filter_map(|n| RULES.get(*n))
        .chain(["{ name: last, tools: [read], that: 'true', because: B. }"].iter());
    rules.for_each(|rule| text.push_str(&format!("  - {rule}\n")));
    let loaded = Policy::load("p.yaml", text.as_bytes(), &mut |_| Err("none".into()));
    loaded.unwrap().policy
}

fn facts(policy: &Policy, given: &[(&str, &str)]) -> Facts {
    let given: BTreeMap<_, _> = given.iter().map(|(name, json)| ((*name).to_owned(), read(json))).collect();
    Facts::new(policy, &given).unwrap()
}

fn tool(name: &str) -> (String, Result<Document, String>) {
    let schema = r#"{"type":"object","properties":{"path":{"type":"string"},"size":{"type":"number"}},"required":["path"]}"#;
    (name.to_owned(), Ok(read(&format!(r#"{{"name":"{name}","inputSchema":{schema}}}"#))))
}

fn decide(
    guard: &Guard,
    tool: &str,
    frame: &Document,
    session: &Session,
    world: &dyn World,
) -> (Decision, Trace) {
    let arguments = frame.root().get("arguments").unwrap();
    let call = Call { tool, id: Some("c1"), arguments };
    let decision = guard.decide(&call, session, &Snapshot::nothing(), world);
    let trace = Trace::of(guard, &call, session, &decision);
    (decision, trace)
}

fn told(replayed: &Replayed) -> Vec<String> {
    replayed.differences.iter().map(|difference| difference.what.clone()).collect()
}

fn small() -> Guard {
    let policy = policy("", &[0, 1]);
    let facts = facts(&policy, &[("role", "\"admin\"")]);
    Guard::new(policy, "files", facts).adopt([tool("read")]).0
}

#[test]
fn the_worlds_answers_come_from_the_record() {
    let frame = read(r#"{"arguments":{"path":"/work/link"}}"#);
    let (decision, trace) = decide(&small(), "read", &frame, &Session::default(), &Disk);
    assert_eq!(decision.outcome, Outcome::Deny);
    assert!(small().replay(&trace).unwrap().differences.is_empty());
    let mut silent = trace;
    silent.decision.answers.paths.clear();
    let replayed = small().replay(&silent).unwrap();
    assert_eq!(replayed.decision.outcome, Outcome::Ask, "what is not in the record is unknown");
    assert_eq!(told(&replayed), ["outcome", "rule `inside`"]);
}

#[test]
fn another_policy_is_told_by_its_differences() {
    let frame = read(r#"{"arguments":{"path":"/etc/hosts","size":7}}"#);
    let (decision, trace) = decide(&small(), "read", &frame, &Session::default(), &Disk);
    assert_eq!(decision.failed().collect::<Vec<_>>(), ["inside"]);
    let other = policy("", &[2]);
    let none = Facts::default();
    let replayed = Guard::new(other, "files", none).replay(&trace).unwrap();
    assert_eq!(replayed.decision.outcome, Outcome::Ask, "the fact `limit` was not recorded");
    let expected = ["policy", "outcome", "rule `inside`", "rule `limit`"];
    assert_eq!(told(&replayed), expected);
    assert!(replayed.differences[2].to_string().ends_with("now nothing"), "{}", replayed.differences[2]);
}

#[test]
fn what_would_be_is_told_where_somebody_only_watched() {
    let frame = read(r#"{"arguments":{"path":"/etc/hosts","size":7}}"#);
    let watching = Guard::new(policy("mode: monitor", &[0]), "files", Facts::default());
    let (decision, trace) = decide(&watching, "read", &frame, &Session::default(), &Disk);
    assert_eq!((decision.outcome, decision.would), (Outcome::Allow, Outcome::Deny));
    let open = Guard::new(policy("mode: monitor", &[]), "files", Facts::default());
    assert_eq!(told(&open.replay(&trace).unwrap()), ["policy", "outcome if enforced", "rule `inside`"]);
}

#[test]
fn a_fact_that_the_policy_does_not_declare_any_more_is_told() {
    let frame = read(r#"{"arguments":{"path":"/work/a"}}"#);
    let (_, mut trace) = decide(&small(), "read", &frame, &Session::default(), &Disk);
    trace.facts.insert("gone".to_owned(), Some("1".into()));
    assert_eq!(told(&small().replay(&trace).unwrap()), ["fact `gone`"]);
}

#[test]
fn rules_in_rust_that_are_missing_are_told() {
    let no = RustRule::new("no", [], |_| Ok(false)).unwrap();
    let guard = small().with_rule(no).unwrap();
    let frame = read(r#"{"arguments":{"path":"/work/a"}}"#);
    let (decision, trace) = decide(&guard, "read", &frame, &Session::default(), &Disk);
    assert_eq!(decision.outcome, Outcome::Deny);
    assert!(guard.replay(&trace).unwrap().differences.is_empty());
    let replayed = small().replay(&trace).unwrap();
    assert_eq!(told(&replayed), ["rules in Rust", "outcome", "rule `no`"]);
}

fn arguments() -> impl Strategy<Value = String> {
    let path = prop::sample::select(vec![
        "/work/a",
        "/work/link",
        "/work/loop",
        "/etc",
        "/work/../etc",
        "a\\u200bb",
    ]);
    let size =
        prop::sample::select(vec!["", ",\"size\":3", ",\"size\":\"3\"", ",\"size\":9e30", ",\"size\":null"]);
    (path, size).prop_map(|(path, size)| format!(r#"{{"id":1, "arguments": {{"path" : "{path}"{size}}}}}"#))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_replayed_decision_equals_itself(
        rules in prop::sample::subsequence((0..RULES.len()).collect::<Vec<_>>(), 0..=RULES.len()),
        head in prop::sample::select(vec!["", "mode: monitor", "default: allow"]),
        facts_given in prop::sample::subsequence(vec![("role", "\"admin\""), ("limit", "5")], 0..=2),
        listed in prop::sample::select(vec!["", "read", "Read", "twice"]),
        name in prop::sample::select(vec!["read", "write"]),
        frame in arguments(),
        said in prop::option::of("[a-z ]{0,12}read?"),
        monitors in any::<bool>(),
        has_disk in any::<bool>(),
        others in prop::sample::subsequence((0..RULES.len()).collect::<Vec<_>>(), 0..=RULES.len()),
    ) {
        let world: &dyn World = if has_disk { &Disk } else { &NoWorld };
        let policy = policy(head, &rules);
        let facts = facts(&policy, &facts_given);
        let guard = Guard::new(policy, "files", facts).monitoring(monitors);
        let guard = match listed {
            "" => guard,
            "twice" => guard.adopt([tool("read"), ("read".to_owned(), Ok(read("{}")))]).0,
            name => guard.adopt([tool(name)]).0,
        };
        let mut session = Session::default();
        said.into_iter().for_each(|text| session.add(Message { role: Role::User, text }));
        let frame = read(&frame);
        let (decision, trace) = decide(&guard, name, &frame, &session, world);

        let again = guard.replay(&trace).unwrap();
        prop_assert_eq!(&again.differences, &vec![]);
        prop_assert_eq!(format!("{:?}", again.decision), format!("{decision:?}"));

        let other = self::policy(head, &others);
        let (other, _) = guard.under(other, Facts::default());
        let replayed = other.replay(&trace).unwrap();
        prop_assert_eq!(replayed.differences.is_empty(), rules == others, "{:?}", replayed.differences);
    }
}
