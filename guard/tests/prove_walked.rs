//! What is proved of a policy holds in the guard itself: random policies, and random sequences of calls, answers and
//! losses that are decided in earnest, while the clock moves. Only proofs are held to it: the model may allow more than the guard.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::prove_common::{Test, outcome};
use crate::state_common::Clock;
use framegate_guard::json::{Document, Limits};
use framegate_guard::ledger::{Ended, Ledger, MemoryLedger, Said, SessionKey, Settled, Step, Stepped};
use framegate_guard::policy::{Listed, Listing, Policy};
use framegate_guard::prove::native::{self, Asks};
use framegate_guard::prove::{Asked, Outcome as Found};
use framegate_guard::session::Session;
use framegate_guard::{Call, Facts, Guard, Outcome};
use proptest::prelude::*;

const DEPTH: usize = 3;
const WALKS: usize = 400;
const STEPS: usize = 7;
const TOOLS: [&str; 3] = ["t", "u", "v"];
const ARGUMENTS: [&str; 5] = ["{}", r#"{"x":true}"#, r#"{"x":false}"#, r#"{"x":7}"#, r#"{"x":null}"#];

struct Text(bool);

impl Said for Text {
    fn is_error(&self) -> bool {
        self.0
    }
    fn text(&self) -> Arc<str> {
        "x".into()
    }
    fn structured(&self) -> Option<Arc<Document>> {
        None
    }
}

/// Microseconds between two calls: windows are a minute long.
const GAPS: [i64; 6] = [0, 0, 1, 30_000_000, 59_999_999, 60_000_000];

/// What may never be: a call of `v`, after one of a tool, in a state of which all this is known.
#[derive(Debug, Clone)]
struct Property {
    after: Option<&'static str>,
    tests: Vec<Test>,
}

impl Property {
    fn asked(&self) -> Asked {
        let tests = self.tests.iter().map(Test::text);
        let never = std::iter::once("tool == 'v'".to_owned()).chain(tests).collect::<Vec<_>>().join(" && ");
        Asked { name: "p".to_owned(), never, after: self.after.map(|tool| format!("tool == '{tool}'")) }
    }
}

fn property() -> impl Strategy<Value = Property> {
    let names = proptest::sample::select(vec!["n", "w", "w", "m"]);
    let operator = proptest::sample::select(vec![">", "<", "=="]);
    let test = (names, operator, 0_u8..4).prop_map(|(name, operator, number)| Test(name, operator, number));
    let after = proptest::sample::select(vec![None, None, Some("t"), Some("u")]);
    (after, proptest::collection::vec(test, 0..3)).prop_map(|(after, tests)| Property { after, tests })
}

/// One walk: what it did up to a call that breaks the property.
fn walk(
    guard: &Guard,
    asks: Asks,
    property: &Property,
    mut choose: impl FnMut(usize) -> usize,
) -> Option<Vec<String>> {
    let (ledger, session) = (MemoryLedger::default(), Session::default());
    let key = SessionKey { principal: "p".into(), name: "n".into() };
    let (mut open, mut told): (Vec<(u64, &str)>, Vec<String>) = (Vec::new(), Vec::new());
    let clock = Clock(AtomicI64::new(0));
    for _ in 0..STEPS {
        let gap = GAPS[choose(GAPS.len())];
        clock.0.fetch_add(gap, Ordering::Relaxed);
        if !open.is_empty() && choose(2) == 0 {
            let (sequence, tool) = open.remove(choose(open.len()));
            let how = choose(3);
            let said = Text(how == 1);
            let ended = match how {
                0 => Ended { how: Settled::Done, answer: Some(&said) },
                1 => Ended { how: Settled::Failed, answer: Some(&said) },
                _ => Ended { how: Settled::Lost, answer: None },
            };
            ledger.settle(&key, sequence, &ended).unwrap();
            told.push(format!("{tool} ended {how}"));
            continue;
        }
        let (tool, arguments) = (TOOLS[choose(3)], ARGUMENTS[choose(ARGUMENTS.len())]);
        let document = Document::read(arguments.into(), &Limits::default()).unwrap();
        let receipt = ledger.step(&key, &mut |past| {
            let call = Call { tool, id: None, arguments: document.root() };
            let decision = guard.decide(&call, &session, past, &clock);
            let is_sent = match decision.outcome {
                Outcome::Allow => true,
                Outcome::Ask => asks == Asks::Granted,
                Outcome::Deny => false,
            };
            Step { decision: Arc::new(decision), is_sent, record: None }
        });
        let receipt = receipt.and_then(Stepped::wait).unwrap();
        let is_sent = match receipt.decision.outcome {
            Outcome::Allow => true,
            Outcome::Ask => asks == Asks::Granted,
            Outcome::Deny => false,
        };
        if !is_sent {
            continue;
        }
        told.push(format!("+{gap} {tool} {arguments} {:?}", receipt.decision.outcome));
        let follows = property.after.is_none_or(|after| {
            let before = told.split_last().map(|(_, before)| before).unwrap_or_default();
            before.iter().any(|step| step.starts_with('+') && step.contains(&format!(" {after} ")))
        });
        if tool == "v" && follows && property.tests.iter().all(|test| test.holds(&receipt.decision)) {
            return Some(told);
        }
        open.push((receipt.sequence, tool));
    }
    None
}

/// Conditions, as people write them.
fn condition() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        4 => prop_oneof![Just("state.a"), Just("state.b"), Just("state.c")],
        2 => prop_oneof![Just("state.n == 1"), Just("state.n > 0"), Just("state.n < 0")],
        1 => prop_oneof![Just("args.x"), Just("has(args.x)"), Just("true"), Just("defs.d")],
        2 => prop_oneof![Just("state.w > 1"), Just("state.w == 0"), Just("state.w == 1"), Just("state.w < 0")],
        1 => prop_oneof![Just("state.n % 2 == 1"), Just("defs.e"), Just("state[\"a\"]")],
    ];
    leaf.prop_map(str::to_owned)
        .prop_recursive(2, 5, 2, |inner| {
            prop_oneof![
                inner.clone().prop_map(|one| format!("!({one})")),
                (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one} && {other})")),
                (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one} || {other})")),
                (inner.clone(), inner.clone(), inner)
                    .prop_map(|(one, two, three)| format!("({one} ? {two} : {three})")),
            ]
        })
        .boxed()
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("0".to_owned()),
        Just("state.n + 1".to_owned()),
        condition().prop_map(|condition| format!("({condition} ? 1 : 2)")),
        Just("9000000000000000000 + 9000000000000000000".to_owned()),
        Just("state.n / 2".to_owned()),
    ]
}

/// What is added to a window.
fn amount() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => Just("1".to_owned()),
        2 => Just("2".to_owned()),
        1 => Just("0.5".to_owned()),
        1 => Just("state.n".to_owned()),
        1 => Just("state.w".to_owned()),
        1 => condition().prop_map(|condition| format!("({condition} ? 1 : 2)")),
        1 => Just("-1".to_owned()),
    ]
}

fn answered() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("result.is_error".to_owned()),
        Just("!result.is_error".to_owned()),
        Just("result.text == 'x' && state.a".to_owned()),
        Just("state.b ? true : state.a".to_owned()),
        Just("result.structured == 1".to_owned()),
        Just("true".to_owned()),
        Just("state.w > 1".to_owned()),
    ]
}

/// A rule with everything that a rule may have.
fn rule(name: usize) -> BoxedStrategy<String> {
    let of = prop_oneof![6 => Just(", tools: [t]"), 6 => Just(", tools: [u]"), 2 => Just(", tools: ['?']"), 2 => Just("")];
    let set = prop_oneof![
        condition().prop_map(|value| format!(", set: {{ a: '{value}' }}")),
        condition().prop_map(|value| format!(", set: {{ b: '{value}' }}")),
        condition().prop_map(|value| format!(", set: {{ c: '{value}' }}")),
        number().prop_map(|value| format!(", set: {{ n: '{value}' }}")),
        number().prop_map(|value| format!(", set: {{ m: '{value}' }}")),
        amount().prop_map(|value| format!(", set: {{ w: '{value}' }}")),
        amount().prop_map(|value| format!(", set: {{ w: '{value}' }}")),
    ];
    let after = (
        prop_oneof![4 => Just("a"), 4 => Just("b"), 4 => Just("c"), 3 => Just("w")],
        answered(),
        amount(),
        any::<bool>(),
    );
    let after = after.prop_map(|(variable, value, amount, lost)| {
        if variable == "w" {
            let amount = if amount.contains("args") { "1".to_owned() } else { amount };
            let lost = if lost { ", lost: { w: 2 }" } else { "" };
            return format!(", after: {{ w: '{amount}' }}{lost}");
        }
        let lost = if lost { format!(", lost: {{ {variable}: false }}") } else { String::new() };
        format!(", after: {{ {variable}: \"{value}\" }}{lost}")
    });
    let end = prop_oneof![
        8 => Just(""),
        1 => Just(", mode: monitor"),
        2 => Just(", on_error: undo"),
    ];
    let that = prop_oneof![Just(String::new()), condition().prop_map(|that| format!(", that: '{that}'"))];
    let when = prop_oneof![Just(String::new()), condition().prop_map(|when| format!(", when: '{when}'"))];
    let ask = prop_oneof![3 => Just(""), 1 => Just(", otherwise: ask")];
    let set = proptest::option::of(set).prop_map(Option::unwrap_or_default);
    let after = proptest::option::of(after).prop_map(Option::unwrap_or_default);
    (of, that, when, set, after, end, ask)
        .prop_map(move |(of, that, when, set, after, end, ask)| {
            let end = if end.contains("undo") && set.is_empty() { "" } else { end };
            let ask = if that.is_empty() { "" } else { ask };
            let that = if that.is_empty() && set.is_empty() && after.is_empty() {
                ", that: 'true'".to_owned()
            } else {
                that
            };
            format!("  - {{ name: r{name}{of}{that}{when}{set}{after}{end}{ask} }}\n")
        })
        .boxed()
}

fn written() -> impl Strategy<Value = String> {
    let rules = (rule(0), rule(1), rule(2), rule(3), condition(), condition());
    let combine = prop_oneof![2 => Just(""), 1 => Just(", combine: or"), 1 => Just(", combine: and")];
    let invariant = prop_oneof![
        2 => Just(String::new()),
        1 => condition()
            .prop_filter("an invariant reads the state", |one| !one.contains("args") && !one.contains("defs"))
            .prop_map(|that| format!("invariants: [ {{ name: i, that: '({that}) || true == false || !state.a' }} ]\n")),
    ];
    let limit = prop_oneof![
        3 => Just(""),
        2 => Just("limit: 1 per minute"),
        1 => Just("limit: { max: 2, per: minute, otherwise: ask }"),
        1 => Just("limit: { max: 1, per: minute, on_error: undo }"),
        2 => Just("budget: { of: '(has(args.x) ? 2 : 1)', max: 3, per: minute }"),
        1 => Just("budget: { of: '(args.x ? 2 : 1)', max: 2, per: minute, on_error: undo }"),
        1 => Just("mode: monitor, limit: 1 per minute"),
        1 => Just("mode: monitor, hidden: true"),
        1 => Just("missing: pass"),
    ];
    let limits = (limit.clone(), limit);
    (rules, combine, invariant, condition(), limits).prop_map(
        |((a, b, c, d, v, w), combine, invariant, defined, (t, u))| {
            let defined = if defined.contains("defs") { "state.b".to_owned() } else { defined };
            format!(
                "framegate: 1
state: {{ a: bool, b: bool, c: {{ type: bool{combine} }}, n: int, m: {{ type: int, combine: add }}, w: {{ type: window, per: minute }} }}
define: {{ d: '{defined}', e: 'state.n % 3 == 1' }}
tools: {{ t: {{ {t} }}, u: {{ {u} }}, v: {{}} }}
{invariant}rules:
{a}{b}{c}{d}  - {{ name: v, tools: [v], that: '{v}' }}
  - {{ name: w, tools: [v], that: '{w}' }}
"
            )
        },
    )
}

const SCHEMAS: [Option<&str>; 5] = [
    Some(r#"{"type":"object","properties":{"x":{"type":"boolean"}},"required":["x"]}"#),
    None,
    Some(r#"{"type":"object","properties":{"x":{"type":"boolean"}}}"#),
    Some(r#"{"type":"object","properties":{"y":{"type":"boolean"}}}"#),
    Some(r#"{"type":"object","properties":{"x":{"type":"string","pattern":"("}}}"#),
];

/// More by the environment variable `FRAMEGATE_PROVE_CASES`.
fn cases() -> u32 {
    std::env::var("FRAMEGATE_PROVE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(16)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_proved_no_walk_breaks(
        text in written(), schema in 0..SCHEMAS.len(), asks in any::<bool>(), property in property(), seed in any::<u64>(),
    ) {
        let Ok(loaded) = Policy::load("p.yaml", text.as_bytes(), &mut |_| Err(String::new())) else { return Ok(()) };
        let policy = loaded.policy;
        let asks = if asks { Asks::Granted } else { Asks::Refused };
        let guard = Guard::new(policy.clone(), "server", Facts::default());
        let schema = SCHEMAS[schema];
        let read = schema.map(|schema| Document::read(schema.to_owned().into(), &Limits::default()).unwrap());
        let listed: Option<Vec<Listed<'_>>> = read.as_ref().map(|schema| {
            TOOLS.iter().map(|name| Listed { name, schema: Some(schema.root()) }).collect()
        });
        // Without a listing the guard has any: here a tool that declares something else.
        let of = schema.unwrap_or(SCHEMAS[3].unwrap());
        let definitions = TOOLS.iter().map(|name| {
            let text = format!("{{\"name\":\"{name}\",\"inputSchema\":{of}}}");
            ((*name).to_owned(), Ok(Document::read(text.into(), &Limits::default()).unwrap()))
        });
        let guard = guard.adopt(definitions).0;
        let listing = listed.map_or_else(Listing::unknown, Listing::of);
        let bound = policy.bind("server", &listing).0;
        let asked = property.asked();
        let mut model = native::model(&bound, listing.tools.as_deref(), asks, std::slice::from_ref(&asked)).unwrap();
        let mut state = seed | 1;
        let mut choose = |of: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % 1_000_003).unwrap() % of
        };
        let broken = (0..WALKS).find_map(|_| walk(&guard, asks, &property, &mut choose));
        // Where a walk gets there already, a proof would be wrong; where none does there is nothing to hold it to.
        if let Some(broken) = broken {
            let is_proved = matches!(outcome(&mut model, 0, DEPTH), Found::Proved(_));
            prop_assert!(!is_proved, "{}\n{asked:?} {asks:?} {schema:?}\n{text}", broken.join("\n"));
        }
    }
}
