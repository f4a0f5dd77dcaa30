//! Every policy of the oracle as `framegate import praxiom` writes it, decided by our own rules: the same verdicts, but
//! for what [`REVIEWED`] lists with its reason.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::guarded::Answer;
use super::oracle::{calls, result_document, rows, text, verdicts};
use crate::guard::{Call, Guard};
use crate::import::praxiom;
use crate::json::{Document, Value};
use crate::ledger::{Ended, Ledger, MemoryLedger, SessionKey, Settled, Snapshot, Step};
use crate::policy::Policy;
use crate::session::Session;
use crate::trace::{PraxiomTrace, Trace};
use crate::world::NoWorld;
use crate::{Facts, Outcome};

/// A row a line: its number, what the old policy says to each call, what the new one says (`-`: it does not load), why.
const REVIEWED: &str = include_str!("imported.txt");

/// What the imported policy says to each call of a row, in the old one's words.
fn imported(row: Value<'_>) -> Result<String, String> {
    let source = text(row, "policy").unwrap();
    let all = || row.get("calls").unwrap().items();
    let servers: BTreeSet<&str> =
        all().map(|call| text(call, "tool").unwrap().split_once("__").unwrap().0).collect();
    let servers: Vec<String> = servers.into_iter().map(str::to_owned).collect();
    let imported =
        praxiom("policy.yaml", source.as_bytes(), &servers).map_err(|errors| errors.to_string())?;
    let loaded = Policy::load("native.yaml", imported.policy.as_bytes(), &mut |_| Err(String::new()));
    let policy = loaded.map_err(|errors| format!("{errors}\n{}", imported.policy))?.policy;
    let (ledger, key) = (MemoryLedger::default(), SessionKey { principal: "p".into(), name: "s".into() });
    let said: Vec<String> = all().map(|call| run(&policy, (&ledger, &key), call)).collect();
    Ok(said.join(" "))
}

fn run(policy: &Policy, (ledger, key): (&MemoryLedger, &SessionKey), row: Value<'_>) -> String {
    let (server, tool) = text(row, "tool").unwrap().split_once("__").unwrap();
    let guard = Guard::new(policy.clone(), server, Facts::default());
    let none = Document::empty_object();
    let given = row.get("arguments").filter(|arguments| !arguments.is_null());
    let call = Call { tool, id: None, arguments: given.unwrap_or(none.root()) };
    let mut outcome = Outcome::Deny;
    let decide = &mut |past: &Snapshot<'_>| {
        let decision = guard.decide(&call, &Session::default(), past, &NoWorld);
        outcome = decision.outcome;
        Step { is_sent: outcome == Outcome::Allow, decision: Arc::new(decision), record: None }
    };
    let sequence = ledger.step(key, decide).unwrap().wait().unwrap().sequence;
    if outcome != Outcome::Allow {
        return if outcome == Outcome::Ask { "ASK" } else { "DENY" }.to_owned();
    }
    let result = row.get("result");
    let raised = result.and_then(|result| text(result, "raise")).unwrap_or_default().to_owned();
    let result = raised.is_empty().then(|| Arc::new(result_document(result)));
    let how = if result.is_some() { Settled::Done } else { Settled::Failed };
    let answer = Answer { result, raised };
    ledger.settle(key, sequence, &Ended { how, answer: Some(&answer) }).unwrap();
    "ALLOW".to_owned()
}

#[test]
fn an_imported_policy_says_what_the_old_one_says() {
    let rows = rows();
    let mut found = Vec::new();
    for (id, row) in calls(&rows) {
        // What no action covers passes here too, and nobody says so.
        let old = verdicts(row).join(" ").replace("PASS", "ALLOW");
        if old == "-" {
            continue;
        }
        let new = imported(row).unwrap_or_else(|why| format!("- {}", why.lines().next().unwrap_or_default()));
        if old != new {
            found.push(format!("{id} | {old} | {new}"));
        }
    }
    if std::env::var_os("FRAMEGATE_BLESS").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/praxiom/tests/imported.txt");
        let lines: String = found.iter().map(|line| format!("{line} | ?\n")).collect();
        std::fs::write(file, format!("# row | old | imported | why\n{lines}")).unwrap();
    }
    let reviewed: Vec<&str> = REVIEWED.lines().filter(|line| !line.starts_with('#')).collect();
    let known: Vec<&str> =
        reviewed.iter().filter_map(|line| line.rsplit_once(" | ")).map(|(row, _)| row).collect();
    assert_eq!(found.join("\n"), known.join("\n"), "{} of {} rows", found.len(), calls(&rows).count());
}

/// A record of the old policy says nothing of the new one's variables, also where they are called the same: it was once
/// replayed as if they were at their first values, and the import said to allow what had been denied.
#[test]
fn a_record_of_the_old_policy_leaves_the_new_ones_state_unknown() {
    const OLD: &str = "state: { tainted: { type: bool, init: false } }\nactions:\n  - { name: read, match: fs__read, \
        effect: { tainted: true } }\n  - { name: write, match: fs__write, requires: not tainted }\n";
    let old = Policy::load("old.yaml", OLD.as_bytes(), &mut |_| Err(String::new())).unwrap().policy;
    let new = praxiom("old.yaml", OLD.as_bytes(), &["fs".to_owned()]).unwrap().policy;
    let new = Policy::load("new.yaml", new.as_bytes(), &mut |_| Err(String::new())).unwrap().policy;
    let guard = Guard::new(old.clone(), "fs", Facts::default());
    let (ledger, key) = (MemoryLedger::default(), SessionKey { principal: "p".into(), name: "s".into() });
    let none = Document::empty_object();
    let mut traces = Vec::new();
    for tool in ["read", "write"] {
        let call = Call { tool, id: None, arguments: none.root() };
        let decide = &mut |past: &Snapshot<'_>| {
            let decision = guard.decide(&call, &Session::default(), past, &NoWorld);
            let mut trace = Trace::of(&guard, &call, &Session::default(), &decision);
            let met =
                decision.transition.as_ref().and_then(|transition| transition.praxiom()).unwrap().record();
            trace.praxiom = Some(PraxiomTrace::of(&met).unwrap());
            traces.push((decision.outcome, trace));
            let is_sent = decision.outcome == Outcome::Allow;
            Step { is_sent, decision: Arc::new(decision), record: None }
        };
        ledger.step(&key, decide).unwrap().wait().unwrap();
    }
    let again = Guard::new(new, "fs", Facts::default());
    let [(Outcome::Allow, _), (Outcome::Deny, write)] = &traces[..] else { panic!("{traces:?}") };
    assert_eq!(guard.replay(write).unwrap().decision.outcome, Outcome::Deny);
    let replayed = again.replay(write).unwrap().decision;
    assert_eq!(replayed.outcome, Outcome::Ask, "{replayed:?}");
    assert!(replayed.reasons().any(|why| why.contains("the record does not say what `state.tainted` was")));
}

#[test]
fn a_policy_of_our_own_is_not_imported_again() {
    for text in ["framegate: 1\ndefault: allow\n", "# ours\nframegate: 1\nrules: []\n"] {
        let why = praxiom("own.yaml", text.as_bytes(), &[]).unwrap_err();
        let [one] = why.problems() else { panic!("{why}") };
        assert_eq!(one.message(), "this is one of Framegate's own policies already");
        assert_eq!(one.line(), text.lines().count() - 1, "{why}");
    }
}

#[test]
fn actions_that_cover_a_tool_are_named() {
    let text = "actions:\n  - { name: reads, match: fs__read_* }\n  - { name: all, match: fs__*, requires: \"1 < 2\" }\n";
    let policy = Policy::load("p.yaml", text.as_bytes(), &mut |_| Err(String::new())).unwrap().policy;
    let names = |tool: &str| policy.praxiom().unwrap().actions(tool).collect::<Vec<_>>().join(" ");
    assert_eq!(names("fs__read_file"), "reads all");
    assert_eq!(names("fs__write"), "all");
    assert_eq!(names("web__read"), "");
}
