//! The oracle once more, through the guard and its ledger: native names, one guard a server, one session for all.

use std::sync::Arc;

use super::oracle::{
    NO_ANSWER, SAFER, Said, calls, expected, flag, names_another, result_document, rows, shown, text,
};
use crate::guard::{Call, Guard};
use crate::json::{Document, Value};
use crate::ledger::{self, Ended, Ledger, MemoryLedger, Remembered, SessionKey, Settled, Step};
use crate::policy::Policy;
use crate::praxiom::audit::{self, Arguments, Event};
use crate::praxiom::{Dialect, Praxiom, State};
use crate::session::Session;
use crate::world::NoWorld;
use crate::{Facts, Outcome};

/// An answer, or the exception in its place.
pub(super) struct Answer {
    pub(super) result: Option<Arc<Document>>,
    pub(super) raised: String,
}

impl ledger::Said for Answer {
    fn is_error(&self) -> bool {
        self.result.is_none()
    }

    fn text(&self) -> Arc<str> {
        match &self.result {
            Some(result) => crate::messages::heard_text(result.root().raw()).into(),
            None => self.raised.as_str().into(),
        }
    }

    fn result(&self) -> Option<Arc<Document>> {
        self.result.clone()
    }

    fn structured(&self) -> Option<Arc<Document>> {
        None
    }
}

struct Session1 {
    policy: Policy,
    ledger: MemoryLedger,
    key: SessionKey,
}

impl Session1 {
    fn praxiom(&self) -> &Arc<Praxiom> {
        self.policy.praxiom().unwrap()
    }

    fn state(&self) -> State {
        let mut state = None;
        let nothing = Document::empty_object();
        let look = &mut |past: &ledger::Snapshot<'_>| {
            state = Some(self.praxiom().adopt(past.remembered().praxiom()));
            let decision = crate::decision::Decision::conclude("none", None, nothing.root(), Vec::new());
            Step { decision: Arc::new(decision), is_sent: false, record: None }
        };
        self.ledger.step(&self.key, look).unwrap();
        state.unwrap()
    }

    fn run(&self, row: Value<'_>) -> Said {
        let whole = text(row, "tool").unwrap();
        let (server, tool) = whole.split_once("__").unwrap();
        let guard = Guard::new(self.policy.clone(), server, Facts::default());
        let none = Document::empty_object();
        let given = row.get("arguments").filter(|arguments| !arguments.is_null());
        let call = Call { tool, id: None, arguments: given.unwrap_or(none.root()) };
        let mut decided = None;
        let decide = &mut |past: &ledger::Snapshot<'_>| {
            let decision = Arc::new(guard.decide(&call, &Session::default(), past, &NoWorld));
            decided = Some(Arc::clone(&decision));
            Step { is_sent: decision.outcome == Outcome::Allow, decision, record: None }
        };
        let sequence = self.ledger.step(&self.key, decide).unwrap().wait().unwrap().sequence;
        let decision = decided.unwrap();
        let transition = decision.transition.as_ref().unwrap().praxiom().unwrap();
        let policy = self.praxiom();
        let arguments = audit::arguments(row.get("arguments"), Arguments::Redacted);
        let state = shown(policy, &self.state());
        let mut said = Said {
            verdict: "PASS".to_owned(),
            kind: None,
            rule: None,
            actions: Vec::new(),
            message: None,
            state_check: state.clone(),
            state,
            audit: audit::line(Event::Pass, whole, &arguments, "no policy action covers this tool"),
        };
        if decision.outcome != Outcome::Allow {
            let finding = decision.findings.first().unwrap();
            let rule = finding.check.strip_prefix("praxiom:").unwrap();
            said.verdict = "DENY".to_owned();
            said.rule = (rule != "state").then(|| rule.to_owned());
            said.audit = audit::line(Event::Deny, whole, &arguments, &finding.reason);
            said.message = Some(guard.message(&decision));
        } else if let Some(actions) = transition.actions() {
            said.verdict = "ALLOW".to_owned();
            said.actions = actions.to_vec();
            let result = row.get("result");
            let raised = result.and_then(|result| text(result, "raise")).unwrap_or_default().to_owned();
            let result = raised.is_empty().then(|| Arc::new(result_document(result)));
            let how = if result.is_some() { Settled::Done } else { Settled::Failed };
            let is_raised = result.is_none();
            let answer = Answer { result, raised };
            let note =
                self.ledger.settle(&self.key, sequence, &Ended { how, answer: Some(&answer) }).unwrap();
            let mut detail = format!("[{}] {}", actions.join(", "), policy.shown(transition.next()));
            if let Some(note) = note {
                let note: serde_json::Value = serde_json::from_str(&note.0).unwrap();
                let note = &note["praxiom"];
                if note["changed"] == true {
                    let actions: Vec<&str> =
                        note["actions"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
                    detail = format!("[{}] result → {}", actions.join(", "), note["shown"].as_str().unwrap());
                }
            }
            said.state = shown(policy, &self.state());
            said.audit = if is_raised {
                audit::line(Event::Error, whole, &arguments, &format!("RuntimeError: {}", answer.raised))
            } else {
                audit::line(Event::Allow, whole, &arguments, &detail)
            };
        }
        said
    }
}

fn differences(row: Value<'_>, dialect: Dialect) -> Vec<String> {
    let source = text(row, "policy").unwrap().as_bytes();
    let loaded = Policy::load_in(dialect, "policy.yaml", source, &mut |_| Err(String::new()));
    let Ok(loaded) = loaded else { return vec!["not loaded".to_owned()] };
    let key = SessionKey { principal: "p".into(), name: "s".into() };
    let session = Session1 { policy: loaded.policy, ledger: MemoryLedger::default(), key };
    let calls = row.get("calls").unwrap().items().zip(row.get("verdicts").unwrap().items());
    let mut differences = Vec::new();
    for (at, (call, verdict)) in calls.enumerate() {
        let (ours, mut wanted) = (session.run(call), expected(verdict));
        // The guard does not say of which kind a denial is.
        wanted.kind = None;
        if ours != wanted && !names_another(verdict, &ours, &wanted) {
            differences.push(format!("call {at}:\n  ours   {ours:?}\n  theirs {wanted:?}"));
        }
    }
    differences
}

#[test]
fn through_the_guard_every_verdict_is_the_originals() {
    let rows = rows();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (id, row) in calls(&rows).filter(|(id, _)| !NO_ANSWER.contains(id)) {
        count += 1;
        wrong.extend(
            differences(row, Dialect::Original).into_iter().map(|difference| format!("{id} {difference}")),
        );
    }
    assert!(wrong.is_empty(), "{} of {count} differ\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(count, 249);
}

#[test]
fn through_the_guard_the_safe_dialect_differs_where_the_machine_does() {
    let rows = rows();
    for (id, row) in calls(&rows).filter(|(_, row)| !flag(*row)) {
        let differences = differences(row, Dialect::Safe);
        assert_eq!(differences.is_empty(), !SAFER.contains(&id), "{id} {differences:?}");
    }
}

#[test]
fn what_is_remembered_is_nothing_under_a_policy_of_our_own() {
    let text = "framegate: 1\ndefault: allow\n";
    let policy = Policy::load("p.yaml", text.as_bytes(), &mut |_| Err(String::new())).unwrap().policy;
    let (guard, none) = (Guard::new(policy, "s", Facts::default()), Document::empty_object());
    let call = Call { tool: "t", id: None, arguments: none.root() };
    let decision = guard.decide(&call, &Session::default(), &ledger::Snapshot::nothing(), &NoWorld);
    assert!(decision.transition.is_none());
    assert!(matches!(ledger::Past::default().remembered(), Remembered::Nothing));
}
