//! What `prove` says of limits and budgets, beside all sequences of a few calls and gaps that the guard itself decides:
//! random small policies and properties. What any of them breaks is not proved, and a counter-example is no longer.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use framegate_guard::json::{Document, Limits};
use framegate_guard::ledger::{Ended, Ledger as _, MemoryLedger, SessionKey, Settled, Snapshot, Step};
use framegate_guard::policy::{Listing, Policy};
use framegate_guard::prove::native::{self, Asks};
use framegate_guard::prove::{Asked, Outcome as Found};
use framegate_guard::session::Session;
use framegate_guard::{Call, Decision, Facts, Guard, Outcome};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use crate::prove_common::{Test, outcome};
use crate::state_common::{Answer, Clock};

/// More by the environment variable `FRAMEGATE_PROVE_CASES`.
const CASES: usize = 16;
const CALLS: usize = 3;
const DEPTH: usize = 5;
const MINUTE: i64 = 60_000_000;
const TOOLS: [&str; 2] = ["t", "u"];

/// What a walk chooses from. More than a few of each are too many to try all.
#[derive(Debug, Clone, Copy)]
struct Choices {
    /// Before a call, and before a state is looked at: the windows are one and two minutes long.
    gaps: [i64; 3],
    /// One that `fails` is answered by an error, one that is `lost` never.
    arguments: [&'static str; 2],
}

const GAPS: [[i64; 3]; 3] =
    [[1, MINUTE, 2 * MINUTE], [1, MINUTE / 2, MINUTE], [1, MINUTE - 1, 2 * MINUTE - 1]];
const ARGUMENTS: [[&str; 2]; 4] = [
    [r#"{"n":2}"#, r#"{"n":1,"fails":true}"#],
    [r#"{"n":2}"#, r#"{"n":1,"lost":true}"#],
    ["{}", r#"{"n":2}"#],
    [r#"{"lost":true}"#, r#"{"n":2,"fails":true}"#],
];

#[derive(Debug, Clone)]
struct Property {
    tool: Option<&'static str>,
    tests: Vec<Test>,
}

impl Property {
    fn text(&self) -> String {
        let tool = self.tool.map(|tool| format!("tool == '{tool}'"));
        tool.into_iter().chain(self.tests.iter().map(Test::text)).collect::<Vec<_>>().join(" && ")
    }

    fn holds(&self, decision: &Decision) -> bool {
        self.tests.iter().all(|test| test.holds(decision))
    }
}

struct Walk<'w> {
    guard: &'w Guard,
    asks: Asks,
    property: &'w Property,
    choices: Choices,
    ledger: MemoryLedger,
    clock: Clock,
}

fn key() -> SessionKey {
    SessionKey { principal: "p".into(), name: "n".into() }
}

impl Walk<'_> {
    fn decided(&self, tool: &str, arguments: &str, sends: bool) -> (u64, Arc<Decision>, bool) {
        let document = Document::read(arguments.to_owned().into(), &Limits::default()).unwrap();
        let call = Call { tool, id: None, arguments: document.root() };
        let mut sent = false;
        let mut decide = |past: &Snapshot<'_>| {
            let decision = self.guard.decide(&call, &Session::default(), past, &self.clock);
            sent = sends
                && match decision.outcome {
                    Outcome::Allow => true,
                    Outcome::Ask => self.asks == Asks::Granted,
                    Outcome::Deny => false,
                };
            Step { decision: Arc::new(decision), is_sent: sent, record: None }
        };
        let receipt = self.ledger.step(&key(), &mut decide).unwrap().wait().unwrap();
        (receipt.sequence, receipt.decision, sent)
    }

    /// No state may be so, at any time.
    fn is_bad_state(&self) -> bool {
        let now = self.clock.0.load(Ordering::Relaxed);
        let found = [0].iter().chain(&self.choices.gaps).any(|gap| {
            self.clock.0.store(now + gap, Ordering::Relaxed);
            self.property.holds(&self.decided("look", "{}", false).1)
        });
        self.clock.0.store(now, Ordering::Relaxed);
        found
    }

    /// What comes of these calls, the last of which is the one that is looked at.
    fn run(&self, calls: &[usize], has_answers: bool) -> Went {
        let of_states = self.property.tool.is_none();
        let mut events = 0;
        for (at, call) in calls.iter().enumerate() {
            let Choices { gaps, arguments } = &self.choices;
            let (gap, call) = (gaps.get(call % gaps.len()).unwrap(), call / gaps.len());
            let (tool, arguments) = (TOOLS.get(call % 2).unwrap(), arguments.get(call / 2).unwrap());
            self.clock.0.fetch_add(*gap, Ordering::Relaxed);
            let is_last = at + 1 == calls.len();
            let (sequence, decision, is_sent) = self.decided(tool, arguments, true);
            if !is_sent {
                return Went::Refused;
            }
            events += 1;
            let is_broken = self.property.tool == Some(tool) && self.property.holds(&decision);
            if is_last && (is_broken || of_states && self.is_bad_state()) {
                return Went::Broken(events);
            }
            let is_error = arguments.contains("fails");
            let answer = Answer { is_error, text: String::new(), structured: None };
            let how = if is_error { Settled::Failed } else { Settled::Done };
            let ended = match arguments.contains("lost") {
                true => Ended::without_answer(Settled::Lost),
                false => Ended { how, answer: Some(&answer) },
            };
            self.ledger.settle(&key(), sequence, &ended).unwrap();
            events += usize::from(has_answers);
        }
        if of_states && self.is_bad_state() { Went::Broken(events) } else { Went::On }
    }
}

/// What came of a sequence.
enum Went {
    Broken(usize),
    On,
    Refused,
}

/// The fewest events that any sequence of so many calls needs.
fn shortest(
    guard: &Guard,
    asks: Asks,
    property: &Property,
    choices: Choices,
    has_answers: bool,
) -> Option<usize> {
    let count = TOOLS.len() * choices.arguments.len() * choices.gaps.len();
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..=CALLS {
        let (mut longer, mut found) = (Vec::new(), None);
        for calls in &all {
            let (ledger, clock) = (MemoryLedger::default(), Clock(AtomicI64::new(0)));
            match (Walk { guard, asks, property, choices, ledger, clock }).run(calls, has_answers) {
                Went::Broken(events) => found = Some(found.map_or(events, |least: usize| least.min(events))),
                Went::On => longer.extend((0..count).map(|call| [calls.as_slice(), &[call]].concat())),
                Went::Refused => {}
            }
        }
        if found.is_some() {
            return found;
        }
        all = longer;
    }
    None
}

fn written() -> impl Strategy<Value = String> {
    let limit = |of: &'static [&'static str]| proptest::sample::select(of);
    let t = limit(&[
        "limit: 1 per minute",
        "limit: 2 per minute",
        "limit: 2 per minute, mode: monitor",
        "limit: { max: 1, per: minute, on_error: undo }",
        "limit: { max: 1, per: minute, otherwise: ask }",
        "limit: { max: 1, per: 2 minutes, scope: store }",
    ]);
    let u = limit(&[
        "",
        "budget: { of: args.n, max: 3, per: minute }",
        "budget: { of: args.n, max: 2, per: 2 minutes, on_error: undo }",
        "budget: { of: '2 - args.n', max: 1, per: minute, otherwise: ask }",
        "budget: { of: 'args.n / 2', max: 1.5, per: minute }",
    ]);
    let amount = limit(&["1", "args.n", "args.n / 2", "state.w + 1", "1 - args.n", "'args.m'"]);
    let when = limit(&["", ", when: 'args.n == 2'", ", when: 'state.w < 2'", ", when: 'args.x'"]);
    let that =
        limit(&["true", "state.w < 2", "state.w + args.n <= 3", "state.calls < 3", "state.limit_t == 1"]);
    let scope = limit(&["", ", scope: store"]);
    let after = limit(&[
        "",
        "",
        ", after: { w: 1 }",
        ", after: { w: args.n }, lost: { w: 2 }",
        ", after: { n: 'state.w > 1 ? 1 : 0' }",
    ]);
    let tools = limit(&["t", "u", "t, u"]);
    (t, u, amount, when, that, scope, after, tools).prop_map(
        |(t, u, amount, when, that, scope, after, tools)| {
            let w = if after.contains(" w:") { String::new() } else { format!(", set: {{ w: {amount} }}") };
            format!(
                "framegate: 1
state: {{ calls: int, n: int, w: {{ type: window, per: 2 minutes{scope} }} }}
tools: {{ t: {{ {t} }}, u: {{ {u} }}, look: {{}} }}
rules:
  - {{ name: calls, tools: [t], set: {{ calls: state.calls + 1 }} }}
  - {{ name: w, tools: [{tools}]{when}{w}{after} }}
  - {{ name: that, tools: [u], that: '{that}' }}
"
            )
        },
    )
}

fn asked() -> impl Strategy<Value = Property> {
    let variable = proptest::sample::select(vec!["calls", "w", "w", "limit_t", "limit_t"]);
    let operator = proptest::sample::select(vec![">", "<", "=="]);
    let test =
        (variable, operator, 0_u8..4).prop_map(|(name, operator, number)| Test(name, operator, number));
    let tool = proptest::sample::select(vec![None, None, Some("t"), Some("u")]);
    // What takes time: more calls than count.
    let window = proptest::sample::select(vec!["w", "limit_t"]);
    let late = (1_u8..3, window, 0_u8..2)
        .prop_map(|(calls, window, left)| vec![Test("calls", ">", calls - 1), Test(window, "==", left)]);
    let tests = prop_oneof![1 => proptest::collection::vec(test, 1..3), 1 => late];
    (tool, tests).prop_map(|(tool, tests)| Property { tool, tests })
}

#[test]
fn what_is_said_of_windows_is_what_the_ledger_does() {
    // Other ones by the environment variable `FRAMEGATE_PROVE_SEED`.
    let seed = std::env::var("FRAMEGATE_PROVE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0_u8);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let cases =
        std::env::var("FRAMEGATE_PROVE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES);
    let (mut broken, mut proved, mut open) = (0, 0, 0);
    for _ in 0..cases {
        let chosen = (proptest::sample::select(&GAPS[..]), proptest::sample::select(&ARGUMENTS[..]));
        let chosen = chosen.prop_map(|(gaps, arguments)| Choices { gaps, arguments });
        let (text, property, choices, asks) = (written(), asked(), chosen, proptest::bool::weighted(0.4))
            .new_tree(&mut runner)
            .unwrap()
            .current();
        let asks = if asks { Asks::Granted } else { Asks::Refused };
        let loaded = Policy::load("p.yaml", text.as_bytes(), &mut |_| Err(String::new()));
        let policy = loaded.unwrap_or_else(|why| panic!("{why}\n{text}")).policy;
        let guard = Guard::new(policy.clone(), "server", Facts::default());
        let found =
            shortest(&guard, asks, &property, choices, text.contains("undo") || text.contains("after"));
        let bound = policy.bind("server", &Listing::unknown()).0;
        let asked = Asked { name: "p".to_owned(), never: property.text(), after: None };
        let mut model = native::model(&bound, None, asks, std::slice::from_ref(&asked)).unwrap();
        let said = || format!("{asks:?} {choices:?} {}\n{text}", asked.never);
        match outcome(&mut model, 0, DEPTH) {
            Found::Proved(_) => {
                proved += 1;
                assert_eq!(found, None, "{}", said());
            }
            Found::Broken(moments) => {
                let played = native::replay(&guard, &bound, asks, &model, &asked, &moments);
                let length = played.steps.len();
                match played.differs {
                    None => broken += 1,
                    Some(_) => open += 1,
                }
                assert!(found.is_none_or(|found| length <= found), "{length} {found:?} {}", said());
            }
            Found::Undecided(_) => {
                open += 1;
                assert!(found.is_none(), "{found:?} {}", said());
            }
        }
    }
    eprintln!("{broken} broken, {proved} proved, {open} not decided");
    // An answer that is never given would be no fault, and of no use.
    assert!(broken > cases / 5 && proved > cases / 10 && open < cases / 3, "{broken} {proved} {open}");
}
