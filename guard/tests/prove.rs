//! Proofs and counter-examples, with the real solver: known ones, and random systems beside a twin that knows every
//! state.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

use std::collections::{BTreeSet, VecDeque};

use crate::prove_common::{outcome, z3};
use framegate_guard::praxiom::{Dialect, Praxiom};
use framegate_guard::prove::{
    Answer, Asked, Event, EventKind, InputKind, Model, Outcome, Played, Property, Query, Sort, Value, Watch,
    findings, praxiom, suspicions,
};
use proptest::prelude::*;

fn never(text: &str) -> Asked {
    Asked { name: text.to_owned(), never: text.to_owned(), after: None }
}

fn after(after: &str, text: &str) -> Asked {
    Asked { after: Some(after.to_owned()), ..never(text) }
}

/// What comes of a property of a praxiom policy, and how a counter-example plays.
fn asked(policy: &str, asked: &Asked) -> (Outcome, Option<Played>) {
    let policy = Praxiom::load("p.yaml", policy.as_bytes(), Dialect::Safe).unwrap();
    let mut model = praxiom::model(&policy, None, None, std::slice::from_ref(asked)).unwrap();
    let outcome = outcome(&mut model, 0, 12);
    let played = match &outcome {
        Outcome::Broken(moments) => Some(praxiom::replay(&policy, None, &model, asked, moments)),
        _ => None,
    };
    (outcome, played)
}

fn proved(policy: &str, property: &Asked) {
    let (outcome, _) = asked(policy, property);
    assert!(matches!(outcome, Outcome::Proved(_)), "{property:?}: {outcome:?}");
}

/// Of a counter-example the states after each event, as the guard itself has them.
fn broken(policy: &str, property: &Asked) -> Vec<String> {
    let (outcome, played) = asked(policy, property);
    let Some(played) = played else { panic!("{property:?}: {outcome:?}") };
    assert_eq!(played.differs, None, "{property:?}: {outcome:?}");
    played.steps.into_iter().map(|step| step.state).collect()
}

const LEAK: &str = r#"
patterns: { secrets: ["/.ssh", "/.env"] }
state: { tainted: { type: bool, init: false }, sent: { type: int, init: 0 } }
invariants:
  - { name: budget, expr: "sent <= 3" }
actions:
  - { name: read, match: "fs__read*", effect: { tainted: "tainted or matches(payload, secrets)" } }
  - { name: send, match: "mail__send", args: { n: int }, requires: ["not tainted", "n > 0"], effect: { sent: "sent + n" } }
"#;

#[test]
fn what_the_rules_say_is_proved() {
    proved(LEAK, &never("tool == 'mail__send' and tainted"));
    proved(LEAK, &never("sent > 3"));
    proved(LEAK, &never("sent < 0"));
    proved(LEAK, &after("tool == 'fs__read_file' and contains(payload, '/.ssh')", "tool == 'mail__send'"));
    proved(LEAK, &never("tool == 'mail__send' and n <= 0"));
}

#[test]
fn a_counter_example_is_a_shortest_one_and_plays() {
    assert_eq!(broken(LEAK, &never("sent > 2")), ["tainted=False, sent=3"]);
    // Four calls of one each would do too, two are enough.
    let states = broken(LEAK, &never("tool == 'mail__send' and sent > 1"));
    assert_eq!(states.len(), 2, "{states:?}");
    let states = broken(LEAK, &after("tool == 'mail__send'", "tool == 'mail__send'"));
    assert_eq!(states.len(), 2, "{states:?}");
    assert_eq!(broken(LEAK, &never("tainted")), ["tainted=True, sent=0"]);
}

const ANSWERS: &str = r#"
state: { tainted: { type: bool, init: false }, passed: { type: bool, init: false } }
actions:
  - { name: fetch, match: "web__get", on_result: { tainted: "tainted or contains(result, 'SECRET')" } }
  - { name: test, match: "ci__test", on_result: { passed: "contains(result, 'ok')" } }
  - { name: edit, match: "fs__edit", effect: { passed: "false" } }
  - { name: send, match: "mail__send", requires: "not tainted" }
  - { name: push, match: "git__push", requires: "passed" }
"#;

#[test]
fn an_answer_may_come_at_any_time_and_what_it_may_change_is_waited_for() {
    proved(ANSWERS, &never("tool == 'mail__send' and tainted"));
    let states = broken(ANSWERS, &never("tainted"));
    assert_eq!(states, ["tainted=False, passed=False", "tainted=True, passed=False"]);
    // An answer that is late comes after the edit.
    let states = broken(ANSWERS, &after("tool == 'fs__edit'", "tool == 'git__push'"));
    assert_eq!(states.len(), 4, "{states:?}");
    // While one is due nobody pushes, though the one before has passed.
    let states = broken(ANSWERS, &after("tool == 'ci__test'", "tool == 'git__push'"));
    assert_eq!(states.len(), 3, "{states:?}");
}

#[test]
fn a_zero_divisor_lets_nothing_through() {
    let policy = r#"
state: { n: { type: int, init: 0 } }
actions:
  - { name: split, match: "t", args: { d: int }, requires: "10 // d > 2", effect: { n: "10 % d" } }
"#;
    proved(policy, &never("tool == 't' and d == 0"));
    proved(policy, &never("tool == 't' and d > 3"));
    assert_eq!(broken(policy, &never("n == 1")).len(), 1);
}

#[test]
fn a_property_that_cannot_be_read_is_refused() {
    let policy = Praxiom::load("p.yaml", LEAK.as_bytes(), Dialect::Safe).unwrap();
    let said = |text: &str| praxiom::model(&policy, None, None, &[never(text)]).unwrap_err().to_string();
    assert!(
        said("tained").starts_with("property `tained`, `never`: unknown name 'tained'"),
        "{}",
        said("tained")
    );
    assert!(said("sent").contains("expected a condition"), "{}", said("sent"));
}

#[test]
fn what_is_in_vain_is_found() {
    let policy = r#"
state: { lit: { type: bool, init: false }, dark: { type: bool, init: false } }
actions:
  - { name: one, match: "t", args: { n: int }, requires: ["n > 0", "n > -1", "n < 0 or n >= 0"], effect: { lit: "true" } }
  - { name: two, match: "u", args: { n: int }, requires: ["n > 1 and n < 2", "not lit"] }
"#;
    let policy = Praxiom::load("p.yaml", policy.as_bytes(), Dialect::Safe).unwrap();
    let mut model = praxiom::model(&policy, None, None, &[]).unwrap();
    let suspicions = suspicions(&mut model);
    let ask = |query: &Query| match query.read(&model, &z3(&query.script)).unwrap() {
        Answer::Sat(_) => Ok::<_, ()>(Some(true)),
        Answer::Unsat => Ok(Some(false)),
        Answer::Unknown(_) => Ok(None),
    };
    let (mut found, unknown) = findings(&suspicions, ask).unwrap();
    assert_eq!(unknown, 0);
    found.sort();
    assert_eq!(
        found,
        [
            "`dark` is always false: nothing changes it",
            "`one#3` never stops a call",
            "`two#1` stops every call of `u`",
            "all that `one#2` stops is stopped by `one#1` too",
            "all that `two#2` stops is stopped by `two#1` too",
            "once `lit` is true, nothing makes it false again",
        ]
    );
}

/// A random condition over three booleans, a number and two inputs, as a small program of a stack.
type Condition = Vec<u8>;

fn condition(
    model: &mut Model,
    inputs: &[framegate_guard::prove::Id],
    program: &Condition,
) -> framegate_guard::prove::Id {
    let mut stack = vec![model.terms.bool(true)];
    for op in program {
        let top = stack.pop().unwrap();
        let next = match op % 12 {
            0..=2 => model.read(usize::from(op % 12)),
            3 => inputs[0],
            4 => inputs[1],
            5 => model.terms.not(top),
            6..=8 => {
                let (number, wanted) = (model.read(3), model.terms.int(i32::from(op % 12) - 6));
                model.terms.equal(number, wanted)
            }
            _ => {
                let below = stack.pop().unwrap_or(top);
                match op % 12 {
                    9 => model.terms.all([below, top]),
                    10 => model.terms.any([below, top]),
                    _ => model.terms.choose(below, top, below),
                }
            }
        };
        if op % 12 < 5 || (6..=8).contains(&(op % 12)) {
            stack.push(top);
        }
        stack.push(next);
    }
    stack.pop().unwrap()
}

#[derive(Debug, Clone)]
struct Random {
    /// Of each event: when it is possible, what the first boolean and the second become, and whether it counts.
    events: Vec<(Condition, Condition, Condition, u8)>,
    never: Condition,
    is_of_states: bool,
}

fn random() -> impl Strategy<Value = Random> {
    let program = || prop::collection::vec(any::<u8>(), 1..9);
    let event = (program(), program(), program(), any::<u8>());
    (prop::collection::vec(event, 1..4), program(), any::<bool>())
        .prop_map(|(events, never, is_of_states)| Random { events, never, is_of_states })
}

fn built(random: &Random) -> Model {
    let mut model = Model::default();
    for name in ["a", "b", "c"] {
        model.variable(name, Value::Bool(false));
    }
    model.variable("n", Value::Int(0.into()));
    let state = random.is_of_states.then(|| {
        // No inputs there: the state again.
        let inputs = [model.read(0), model.read(1)];
        condition(&mut model, &inputs, &random.never)
    });
    model.properties.push(Property { name: "p".into(), never: "p".into(), after: None, state });
    for (at, (possible, first, second, counts)) in random.events.iter().enumerate() {
        let (one, x) = model.input("x", Sort::Bool, InputKind::Free("x".into()));
        let (two, y) = model.input("y", Sort::Bool, InputKind::Free("y".into()));
        let possible = condition(&mut model, &[x, y], possible);
        let (first, second) = (condition(&mut model, &[x, y], first), condition(&mut model, &[x, y], second));
        let mut effects = vec![(usize::from(counts % 3), first), (usize::from((counts % 3 + 1) % 3), second)];
        // A number that goes around: 0, 1, 2, 0.
        let (number, two_) = (model.read(3), model.terms.int(2));
        let is_two = model.terms.equal(number, two_);
        if counts & 4 != 0 {
            let (zero, one) = (model.terms.int(0), model.terms.int(1));
            let is_one = model.terms.equal(number, one);
            let after = model.terms.choose(is_one, two_, one);
            let next = model.terms.choose(is_two, zero, after);
            effects.push((3, next));
        }
        let watched = match random.is_of_states {
            true => Vec::new(),
            false => vec![Watch { property: 0, never: condition(&mut model, &[x, y], &random.never) }],
        };
        model.events.push(Event {
            shown: String::new(),
            tool: format!("t{at}"),
            kind: EventKind::Call,
            inputs: vec![one, two],
            possible,
            effects,
            watched,
        });
    }
    model
}

/// Events of a shortest sequence that breaks the property, by looking at every state; `None` when there is none.
fn twin(model: &Model) -> Option<usize> {
    let start: Vec<Value> =
        model.variables.iter().map(|variable| variable.initial.clone().unwrap()).collect();
    let mut seen = BTreeSet::from([format!("{start:?}")]);
    let mut open = VecDeque::from([(start, 0)]);
    while let Some((state, depth)) = open.pop_front() {
        if model.is_bad(0, &state) {
            return Some(depth);
        }
        for event in 0..model.events.len() {
            for bits in 0..4_u8 {
                let mut inputs = vec![Value::Bool(false); model.inputs.len()];
                for (bit, at) in model.events[event].inputs.iter().enumerate() {
                    inputs[*at] = Value::Bool(bits & (1 << bit) != 0);
                }
                let Some(next) = model.next(&state, event, &inputs) else { continue };
                if model.breaks(0, &state, event, &inputs) {
                    // Breadth first: none of fewer events is left, one of as many may be a call too.
                    return Some(shorter(&open, model, depth + 1));
                }
                if seen.insert(format!("{next:?}")) {
                    open.push_back((next, depth + 1));
                }
            }
        }
    }
    None
}

/// A state that is bad itself needs no event more.
fn shorter(open: &VecDeque<(Vec<Value>, usize)>, model: &Model, depth: usize) -> usize {
    let bad = open.iter().filter(|(state, _)| model.is_bad(0, state)).map(|(_, depth)| *depth);
    bad.chain([depth]).min().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_search_and_a_twin_that_knows_every_state_agree(random in random()) {
        let mut model = built(&random);
        // 24 states: a sequence without a repetition is no longer.
        match (outcome(&mut model, 0, 24), twin(&model)) {
            (Outcome::Broken(moments), Some(length)) => prop_assert_eq!(moments.len() - 1, length),
            (Outcome::Proved(_), None) => {}
            (outcome, twin) => prop_assert!(false, "{outcome:?}, but {twin:?}"),
        }
    }
}
