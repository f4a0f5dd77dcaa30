//! What a session remembers: calls in flight that end, are lost, or never went out; another policy; a store.

use std::sync::Arc;

use super::{load, original};
use crate::json::{Document, Limits};
use crate::ledger::{Ended, Said, Settled, StateNote};
use crate::praxiom::{Call, Past, Praxiom, Step};

const POLICY: &str = r#"
state: { tainted: { type: bool, init: false }, reads: { type: int, init: 0 }, note: { type: str, init: "é\0" } }
actions:
  - { name: read, match: "t__read", effect: { reads: reads + 1 }, on_result: { tainted: "tainted or contains(result, 'key')" } }
  - { name: send, match: "t__send", requires: "not tainted", effect: { reads: reads + 10 } }
"#;

struct Answer(&'static str, bool);

impl Said for Answer {
    fn is_error(&self) -> bool {
        self.1
    }

    fn text(&self) -> Arc<str> {
        self.0.into()
    }

    fn result(&self) -> Option<Arc<Document>> {
        let text = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, self.0);
        (!self.1).then(|| Arc::new(Document::read(text.into(), &Limits::default()).unwrap()))
    }

    fn structured(&self) -> Option<Arc<Document>> {
        None
    }
}

/// A session, as a ledger holds it.
struct Session {
    policy: Arc<Praxiom>,
    past: Option<Past>,
    sent: Vec<Step>,
}

impl Session {
    fn new(policy: Praxiom) -> Session {
        Session { policy: Arc::new(policy), past: None, sent: Vec::new() }
    }

    /// Decides, and sends what is allowed: its number, or the refusal.
    fn call(&mut self, tool: &str) -> Result<u64, String> {
        let call = Call { tool, upstream: "t", arguments: None };
        let step = self.policy.step(self.past.as_ref(), &call);
        if let Some(denied) = step.denied {
            return Err(denied.reason);
        }
        let number = self.sent.len() as u64;
        self.past = Some(Past::apply(self.past.take(), number, &step.transition));
        self.sent.push(step);
        Ok(number)
    }

    fn end(&mut self, number: u64, how: Settled, answer: Option<&Answer>) -> Option<StateNote> {
        let transition = &self.sent[usize::try_from(number).unwrap()].transition;
        let ended = Ended { how, answer: answer.map(|answer| answer as &dyn Said) };
        self.past.as_mut().unwrap().settle(number, transition, &ended)
    }

    fn undo(&mut self, number: u64) {
        let transition = &self.sent[usize::try_from(number).unwrap()].transition;
        self.past.as_mut().unwrap().undo(number, transition);
    }

    fn shown(&self) -> String {
        self.policy.shown(&self.policy.adopt(self.past.as_ref()))
    }
}

#[test]
fn a_call_is_due_until_it_has_ended_however_it_ends() {
    let clean = Answer("nothing", false);
    for (how, answer, state) in [
        (Settled::Done, Some(&clean), "tainted=False"),
        (Settled::Done, Some(&Answer("a key", false)), "tainted=True"),
        (Settled::Failed, Some(&Answer("no key", true)), "tainted=True"),
        (Settled::Lost, None, "tainted=<unknown>"),
        // Too long to be read.
        (Settled::Done, None, "tainted=<unknown>"),
        // It asks for input first, so nothing ran: the call comes again.
        (Settled::Failed, Some(&Answer("key?", false)), "tainted=False"),
    ] {
        let mut session = Session::new(load(POLICY));
        let read = session.call("t__read").unwrap();
        assert!(session.call("t__send").unwrap_err().contains("a call in flight may still change 'tainted'"));
        session.end(read, how, answer);
        assert!(session.shown().starts_with(state), "{how:?}: {}", session.shown());
        assert_eq!(session.end(read, Settled::Done, Some(&clean)), None, "it ends once");
        assert_eq!(session.call("t__send").is_ok(), state == "tainted=False", "{how:?}");
    }
    let mut session = Session::new(original(POLICY));
    let read = session.call("t__read").unwrap();
    session.call("t__send").unwrap();
    session.end(read, Settled::Failed, Some(&Answer("a key", true)));
    assert!(session.shown().starts_with("tainted=False"), "the original reads no JSON-RPC error");
}

#[test]
fn two_answers_that_are_due_are_both_waited_for() {
    let (mut session, clean) = (Session::new(load(POLICY)), Answer("nothing", false));
    let (first, second) = (session.call("t__read").unwrap(), session.call("t__read").unwrap());
    session.end(second, Settled::Done, Some(&clean));
    assert!(session.call("t__send").is_err());
    session.end(first, Settled::Done, Some(&clean));
    assert!(session.call("t__send").is_ok());
}

#[test]
fn what_was_not_sent_is_taken_back_unless_others_built_on_it() {
    let mut session = Session::new(load(POLICY));
    let sent = session.call("t__send").unwrap();
    assert_eq!(session.shown(), "tainted=False, reads=10, note='é\\\\u{0}'");
    session.undo(sent);
    assert_eq!(session.shown(), "tainted=False, reads=0, note='é\\x00'", "as the file writes it, again");
    let (first, second) = (session.call("t__send").unwrap(), session.call("t__send").unwrap());
    session.undo(first);
    assert!(session.shown().contains("reads=20"), "too much rather than too little");
    session.undo(second);
    assert!(session.shown().contains("reads=10"), "the last one alone");
    let read = session.call("t__read").unwrap();
    session.undo(read);
    assert!(session.call("t__send").is_ok(), "an answer that never comes is not waited for");
}

#[test]
fn another_policy_takes_over_what_fits() {
    let (mut session, key) = (Session::new(load(POLICY)), Answer("key", false));
    let read = session.call("t__read").unwrap();
    let next = "state: { note: { type: int, init: 7 }, reads: { type: int, init: 5 }, tainted: { type: bool, init: false } }\n";
    let next = next.to_owned()
        + POLICY.split_once("actions").map(|(_, rest)| format!("actions{rest}")).unwrap().as_str();
    session.policy = Arc::new(load(&next));
    assert_eq!(session.shown(), "note=7, reads=1, tainted=False");
    assert!(session.call("t__send").unwrap_err().contains("may still change 'tainted'"), "by name");
    session.call("t__read").unwrap();
    // The answer to a call that the policy before had allowed.
    session.end(read, Settled::Done, Some(&key));
    assert_eq!(session.shown(), "note=7, reads=2, tainted=True");
    let fresh = Session::new(load(&next));
    assert_eq!(fresh.shown(), "note=7, reads=5, tainted=False");
}

#[test]
fn what_is_kept_is_read_again_and_a_process_that_is_gone_has_lost_its_answers() {
    let mut session = Session::new(load(POLICY));
    assert_eq!(
        Past::new(&session.policy, session.policy.initial()).encode(),
        r#"{"fresh":true,"version":0,"variables":[["tainted","bool",false],["reads","int",0],["note","str","é\u0000"]],"due":[]}"#
    );
    session.call("t__read").unwrap();
    let kept = session.past.as_ref().unwrap().encode();
    let mut again = Past::decode(&kept).unwrap();
    assert_eq!(again.encode(), kept);
    assert_eq!(again.in_flight(), ["tainted"]);
    again.lose(0);
    session.past = Some(again);
    assert!(session.call("t__send").unwrap_err().contains("was not seen and may have changed 'tainted'"));
    let unknown = session.past.as_ref().unwrap().encode();
    assert_eq!(Past::decode(&unknown).unwrap().encode(), unknown);
    for damaged in [
        "",
        "[]",
        r#"{"fresh":true,"version":0,"variables":[["a","int",true]],"due":[]}"#,
        r#"{"fresh":true,"version":-1,"variables":[],"due":[]}"#,
        r#"{"fresh":1,"version":0,"variables":[],"due":[]}"#,
        r#"{"fresh":true,"version":0,"variables":[["a","real",1]],"due":[]}"#,
        r#"{"fresh":true,"version":0,"variables":[],"due":[[1,[2]]]}"#,
        r#"{"fresh":true,"version":0,"variables":[]}"#,
    ] {
        assert!(Past::decode(damaged).is_err(), "{damaged}");
    }
}
