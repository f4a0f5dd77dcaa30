//! What a decision may cost: a hostile call must not hold the session that it comes through.

#![expect(clippy::unwrap_used, reason = "the data is the tests' own")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use framegate_guard::cel::Budget;
use framegate_guard::json::{Document, Limits};
use framegate_guard::ledger::Snapshot;
use framegate_guard::policy::Policy;
use framegate_guard::session::Session;
use framegate_guard::world::{self, Unknown, World};
use framegate_guard::{Call, Decision, Facts, Guard, MethodCall, Outcome};

/// A file system without links.
struct Plain;

impl World for Plain {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        Ok(path.to_owned())
    }

    fn now(&self) -> Result<world::Instant, Unknown> {
        Ok(world::Instant(0))
    }
}

fn decide(policy: &str, arguments: &str) -> Decision {
    let text = format!("framegate: 1\ndefault: allow\n{policy}");
    let policy = Policy::load("p.yaml", text.as_bytes(), &mut |_| Err("none".into())).unwrap().policy;
    let facts = Facts::new(&policy, &Default::default()).unwrap();
    let read = |text: &str| Document::read(text.to_owned().into(), &Limits::default()).unwrap();
    let listed = ("t".to_owned(), Ok(read(r#"{"name":"t","inputSchema":{"type":"object"}}"#)));
    let guard = Guard::new(policy, "s", facts).adopt([listed]).0;
    let arguments = read(arguments);
    let call = Call { tool: "t", id: None, arguments: arguments.root() };
    guard.decide(&call, &Session::default(), &Snapshot::nothing(), &Plain)
}

/// 49 KB of arguments.
fn large() -> String {
    format!(r#"{{"items":[{}]}}"#, vec![r#""x""#; 12_250].join(","))
}

fn rules(count: usize, that: &str) -> String {
    let mut text = "rules:\n".to_owned();
    for n in 0..count {
        writeln!(text, "  - {{ name: rule_{n}, tools: [t], because: B., that: '{that}' }}").unwrap();
    }
    text
}

#[test]
fn many_rules_over_a_large_call_share_one_budget() {
    let mut policy = "define:\n".to_owned();
    for n in 0..10 {
        writeln!(policy, "  d{n}: 'args.items.all(x, x != \"{n}\")'").unwrap();
    }
    let all: Vec<String> = (0..10).map(|n| format!("defs.d{n}")).collect();
    policy.push_str(&rules(50, &all.join(" && ")));
    let started = Instant::now();
    let decision = decide(&policy, &large());
    // 3.6 s when every definition had a budget of its own, in a debug build.
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(decision.outcome, Outcome::Ask);
    let reason = decision.reasons().last().unwrap();
    assert!(reason.contains("one decision may take 200000 steps"), "{reason}");
    assert!(reason.contains("`rule_0` alone took 100000"), "{reason}");
}

#[test]
fn an_empty_budget_never_allows_and_never_takes_a_deny_back() {
    let expensive = "args.items.all(x, x != \"y\" && x != \"z\" && x != \"q\")";
    let denied = format!("{}  - {{ name: no, tools: [t], that: 'false' }}\n", rules(1, expensive));
    assert_eq!(decide(&denied, &large()).outcome, Outcome::Deny);
    let after = format!("{}  - {{ name: no, tools: [t], that: 'false' }}\n", rules(10, expensive));
    let decision = decide(&after, &large());
    assert_eq!(decision.outcome, Outcome::Ask, "the denying rule came too late to be evaluated");
    assert!(decision.reasons().any(|reason| reason.starts_with("no: cannot be evaluated")));
    // One that decides without its other side is no way around it either.
    let or = rules(10, &format!("{expensive} || true"));
    assert_eq!(decide(&or, &large()).outcome, Outcome::Ask);
}

#[test]
fn a_definition_is_evaluated_once_a_decision() {
    let mut policy = "define:\n  d0: 'args.n'\n".to_owned();
    for n in 1..24 {
        writeln!(policy, "  d{n}: 'defs.d{0} + defs.d{0}'", n - 1).unwrap();
    }
    policy.push_str(&rules(20, "defs.d23 == 8388608"));
    let decision = decide(&policy, r#"{"n":1}"#);
    assert_eq!(decision.outcome, Outcome::Allow, "{:?}", decision.findings);
    let once = "define: { d: 'args.items.all(x, x != \"y\")' }\n".to_owned() + &rules(20, "defs.d");
    assert_eq!(decide(&once, &large()).outcome, Outcome::Allow);
}

#[test]
fn a_definition_that_failed_fails_for_each_rule_that_reads_it() {
    let policy = "define: { d: '1 / args.n' }\n".to_owned() + &rules(3, "defs.d > 0");
    let decision = decide(&policy, r#"{"n":0}"#);
    assert_eq!(decision.reasons().filter(|reason| reason.contains("`defs.d`: division by zero")).count(), 3);
}

#[test]
fn a_path_of_many_names_costs_a_look_at_each() {
    let deep = format!("/work/{}", "a/".repeat(2000));
    let call = |count: usize| format!(r#"{{"paths":[{}]}}"#, vec![format!("\"{deep}\""); count].join(","));
    let policy = rules(1, "args.paths.all(p, within(p, \"/work\"))");
    assert_eq!(decide(&policy, &call(4)).outcome, Outcome::Allow);
    assert_eq!(decide(&policy, &call(5)).outcome, Outcome::Ask);
}

#[test]
fn requests_that_come_in_one_message_share_one_budget() {
    let text = "framegate: 1\ndefault: allow\nserver_requests: { roots/list: { that: 'params.items.all(x, x != \"y\")' } }\n";
    let policy = Policy::load("p.yaml", text.as_bytes(), &mut |_| Err("none".into())).unwrap().policy;
    let guard = Guard::new(policy, "s", Facts::default());
    let params = Document::read(large().into(), &Limits::default()).unwrap();
    let call = MethodCall { method: "roots/list", params: Some(params.root()), is_servers: true };
    let mut budget = Budget::default();
    let mut rule = || guard.method_within(&call, &Session::default(), &Plain, &mut budget).outcome;
    assert_eq!(rule(), Outcome::Allow);
    assert_eq!((0..20).map(|_| rule()).next_back(), Some(Outcome::Ask));
    assert_eq!(guard.method(&call, &Session::default(), &Plain).outcome, Outcome::Allow);
}
