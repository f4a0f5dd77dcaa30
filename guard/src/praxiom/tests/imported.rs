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
