//! Ends made again from what they say of themselves: calls that overlap, fail, get lost, and set back clocks.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;

use super::*;
use crate::json::Document;
use crate::ledger::{MemoryLedger, SessionKey, Snapshot, Step, Transition};
use crate::policy::Policy;
use crate::session::Session;
use crate::world::World;
use crate::{Call, Decision, Facts, Guard};

const MINUTE: i64 = 60_000_000;
const POLICY: &str = r#"framegate: 1
default: allow
defaults: { arguments: unchecked }
state:
  b: bool
  c: { type: bool, combine: or }
  n: int
  sum: { type: int, combine: add }
  s: string
  l: { type: set, max: 4, combine: union }
  w: { type: window, per: hour }
  v: { type: window, per: 10 minutes }
rules:
  - { name: a, tools: [a], set: { n: state.n + 1, w: 2, sum: 3, b: true }, on_error: undo }
  - { name: a2, tools: [a], set: { v: state.n }, after: { w: size(result.text), c: result.is_error } }
  - { name: b, tools: [b], when: state.b, set: { w: 1, v: 1, s: '"b"' }, on_error: undo }
  - { name: b2, tools: [b], when: state.c, after: { n: state.w + state.v, s: 'state.s + result.text', w: state.n } }
  - { name: c, tools: [c], after: { b: 'result.text.contains("x")', l: '[result.text, state.s]', v: 9223372036854775807 } }
  - { name: d, tools: [d], set: { b: false, n: 0, s: '""' }, after: { sum: size(state.l) }, lost: { sum: 7 } }
"#;

struct Clock(AtomicI64);

impl World for Clock {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        Ok(path.to_owned())
    }

    fn now(&self) -> Result<Instant, Unknown> {
        Ok(Instant(self.0.load(Ordering::Relaxed)))
    }
}

struct Answer(bool, String);

impl Said for Answer {
    fn is_error(&self) -> bool {
        self.0
    }

    fn text(&self) -> Arc<str> {
        self.1.as_str().into()
    }

    fn structured(&self) -> Option<Arc<Document>> {
        None
    }
}

#[derive(Debug, Clone)]
enum Move {
    Call(usize),
    End(usize, usize, bool),
    Unsend(usize),
    Pass(i64),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        5 => (0..4_usize).prop_map(Move::Call),
        4 => (0..5_usize, 0..4_usize, any::<bool>()).prop_map(|(at, how, x)| Move::End(at, how, x)),
        1 => (0..5_usize).prop_map(Move::Unsend),
        2 => (-3..20_i64).prop_map(Move::Pass),
    ];
    prop::collection::vec(one, 1..60)
}

fn play(moves: &[Move]) -> Result<usize, TestCaseError> {
    let policy = Policy::load("p.yaml", POLICY.as_bytes(), &mut |_| Err(String::new())).unwrap().policy;
    let guard = Guard::new(policy, "s", Facts::default());
    let (ledger, clock) = (MemoryLedger::default(), Clock(AtomicI64::new(1_000 * MINUTE)));
    let key = SessionKey { principal: "p".into(), name: "s".into() };
    let (mut open, mut ends): (Vec<(u64, Arc<Decision>)>, usize) = Default::default();
    for one in moves {
        match one {
            Move::Call(tool) => {
                let mut decide = |past: &Snapshot<'_>| {
                    let none = Document::empty_object();
                    let call = Call { tool: ["a", "b", "c", "d"][*tool], id: None, arguments: none.root() };
                    let decision = guard.decide(&call, &Session::default(), past, &clock);
                    // Whatever it says: a person says yes.
                    Step { decision: Arc::new(decision), is_sent: true, record: None }
                };
                open.push(ledger.step_with(&key, &mut decide, |number, step| (number, step.decision)));
            }
            Move::Pass(minutes) => {
                clock.0.fetch_add(minutes * MINUTE, Ordering::Relaxed);
            }
            Move::Unsend(at) if *at < open.len() => {
                crate::ledger::Ledger::undo(&ledger, &key, open.remove(*at).0);
            }
            Move::End(at, how, x) if *at < open.len() => {
                let (number, decision) = open.remove(*at);
                let (how, has_answer) = [
                    (Settled::Done, true),
                    (Settled::Failed, true),
                    (Settled::Lost, false),
                    (Settled::Done, false),
                ][*how];
                let answer = Answer(
                    how == Settled::Failed,
                    if *x { "x".repeat(number as usize) } else { String::new() },
                );
                let ended = Ended { how, answer: has_answer.then_some(&answer as &dyn Said) };
                let note = crate::ledger::Ledger::settle(&ledger, &key, number, &ended).unwrap();
                let (Some(note), Some(Transition::Native(effects))) = (note, decision.transition.as_deref())
                else {
                    continue;
                };
                let told = Settlement::read(note.0.as_bytes()).unwrap();
                prop_assert_eq!(&told.spelled(), &note.0);
                let met = decision.state.as_ref().map(|noted| {
                    let noted = crate::state::seen_of(noted.json().to_string().as_bytes());
                    noted.unwrap()
                });
                prop_assert_eq!(told.again(effects, met.as_ref(), &ended).spelled(), note.0);
                ends += 1;
            }
            Move::Unsend(_) | Move::End(..) => {}
        }
    }
    Ok(ends)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_end_is_made_again_from_what_it_says_of_itself(moves in moves()) {
        play(&moves)?;
    }
}

#[test]
fn ends_are_there_to_be_made_again() {
    let calls = [Move::Call(0), Move::Call(1), Move::Call(2), Move::Call(3)];
    let ends = [Move::End(0, 1, true), Move::End(0, 1, true), Move::End(0, 0, true), Move::End(0, 2, true)];
    assert_eq!(play(&[calls, ends].concat()).unwrap(), 4);
}
