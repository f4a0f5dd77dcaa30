//! Calls whose answers are due, lost or not readable.

use super::*;
use crate::praxiom::Because;

const POLICY: &str = r#"
patterns: { keys: ["AKIA"] }
state: { tainted: { type: bool, init: false }, reads: { type: int, init: 0 }, note: { type: str, init: "" } }
invariants: [{ name: few, expr: reads <= 2 }]
actions:
  - { name: read, match: "t__read", effect: { reads: reads + 1 }, on_result: { tainted: "tainted or matches(result, keys)" } }
  - { name: send, match: "t__send", requires: "not tainted" }
  - { name: copy, match: "t__copy", effect: { note: "ite(tainted, 'secret', 'clean')" } }
  - { name: count, match: "t__count", requires: "reads < 5" }
"#;

fn call(tool: &str) -> Call<'_> {
    Call { tool, upstream: "t", arguments: None }
}

#[test]
fn a_send_does_not_slip_past_a_read_that_may_taint() {
    let policy = load(POLICY);
    let Verdict::Allow(read) = policy.decide(&policy.initial(), &call("t__read"), &[]) else { panic!() };
    assert_eq!(read.may_change, ["tainted"]);
    let open: Vec<&str> = read.may_change.iter().map(String::as_str).collect();
    let held = denied(policy.decide(&read.next, &call("t__send"), &open));
    assert_eq!((held.because, held.rule.as_deref()), (Because::InFlight, Some("send")));
    assert_eq!(
        held.text,
        "praxiom blocked 't__send': cannot decide guard 'send': a call in flight may still change 'tainted'; call \
         again when it has answered [state: tainted=False, reads=1, note='']"
    );
    // An effect that would copy what is about to change is held up too; what does not depend on it is not.
    assert_eq!(denied(policy.decide(&read.next, &call("t__copy"), &open)).because, Because::InFlight);
    allowed(policy.decide(&read.next, &call("t__count"), &open));
    allowed(policy.decide(&read.next, &call("t__read"), &open));
    // The answer is in.
    let clean = policy.answer(&read.next, &call("t__read"), "nothing").unwrap();
    assert!(!clean.changed && clean.violated.is_empty());
    allowed(policy.decide(&clean.next, &call("t__send"), &[]));
    let tainted = policy.answer(&read.next, &call("t__read"), "an AKIA key").unwrap();
    assert!(tainted.changed);
    assert_eq!(denied(policy.decide(&tainted.next, &call("t__send"), &[])).because, Because::Guard);
}

#[test]
fn the_original_lets_them_slip() {
    let policy = Praxiom::load("policy.yaml", POLICY.as_bytes(), Dialect::Original).unwrap();
    let state = policy.initial();
    allowed(policy.decide(&state, &call("t__send"), &["tainted"]));
    assert_eq!(policy.lost(&state, &call("t__read")), state);
}

#[test]
fn what_is_refused_anyway_is_refused_for_its_own_reason() {
    let policy = load(POLICY);
    let state = allowed(policy.decide(&policy.initial(), &call("t__read"), &[]));
    let state = allowed(policy.decide(&state, &call("t__read"), &[]));
    assert_eq!(denied(policy.decide(&state, &call("t__read"), &["tainted"])).because, Because::Invariant);
}

#[test]
fn a_lost_answer_leaves_its_variables_unknown_until_assigned() {
    let text = POLICY.to_owned() + "  - { name: clear, match: t__clear, effect: { tainted: no } }\n";
    let policy = load(&text);
    let lost = policy.lost(&policy.initial(), &call("t__read"));
    let refused = denied(policy.decide(&lost, &call("t__send"), &[]));
    assert_eq!(refused.because, Because::Undecided);
    assert!(refused.reason.contains("was not seen and may have changed 'tainted'"), "{}", refused.reason);
    assert!(refused.reason.ends_with("[state: tainted=<unknown>, reads=0, note='']"), "{}", refused.reason);
    // Kept and read again it is still unknown.
    let kept = policy.decode(&policy.encode(&lost)).unwrap();
    assert_eq!(kept, lost);
    let cleared = allowed(policy.decide(&kept, &call("t__clear"), &[]));
    allowed(policy.decide(&cleared, &call("t__send"), &[]));
    // A tool without `on_result` has nothing to lose, and a raised taint stays raised.
    assert_eq!(policy.lost(&cleared, &call("t__send")), cleared);
    let raised = policy.answer(&cleared, &call("t__read"), "AKIA").unwrap().next;
    assert_eq!(policy.lost(&raised, &call("t__read")), raised);
}

#[test]
fn an_answer_that_cannot_be_evaluated_leaves_its_variable_unknown() {
    let policy = load(
        "state: { n: { type: int, init: 3 }, m: { type: int, init: 1 } }\nactions:\n  - { name: a, match: t__a, args: { d: int }, \
         on_result: { n: 1 // d, m: m + 1 } }\n  - { name: b, match: t__b, requires: n < 9 }\n",
    );
    let zero = document(r#"{"d":0}"#);
    let call_a = Call { tool: "t__a", upstream: "t", arguments: Some(zero.root()) };
    let observed = policy.answer(&policy.initial(), &call_a, "").unwrap();
    assert_eq!(policy.shown(&observed.next), "n=<unknown>, m=2");
    assert_eq!(denied(policy.decide(&observed.next, &call("t__b"), &[])).because, Because::Undecided);
    // Arguments that no decision would accept.
    let observed = policy.answer(&policy.initial(), &call("t__a"), "").unwrap();
    assert_eq!(policy.shown(&observed.next), "n=<unknown>, m=<unknown>");
}

#[test]
fn an_invariant_that_an_answer_breaks_refuses_from_then_on() {
    let policy = load(
        "state: { ok: { type: bool, init: true } }\ninvariants: [{ name: i, expr: ok }]\nactions:\n  - { name: a, \
         match: t__a, on_result: { ok: \"not contains(result, 'bad')\" } }\n",
    );
    let observed = policy.answer(&policy.initial(), &call("t__a"), "bad").unwrap();
    assert_eq!(observed.violated, ["i"]);
    assert_eq!(denied(policy.decide(&observed.next, &call("t__a"), &[])).because, Because::Invariant);
    assert_eq!(policy.decide(&observed.next, &call("u__x"), &[]), Verdict::Pass);
}

#[test]
fn a_result_is_its_texts_other_blocks_and_structured_content() {
    let result = document(
        r#"{"content":[{"type":"text","text":"a"},{"type":"image","data":"x"},{"type":"text","text":"b"}],
            "structuredContent":{"z":1,"a":[null]},"isError":true}"#,
    );
    let text = load(POLICY).result_text(result.root());
    assert_eq!(text, "a\n{\"type\": \"image\", \"data\": \"x\"}\nb\n{\"z\": 1, \"a\": [null]}");
    // The original looks no further than 65,536 characters; there a key may hide.
    let long = format!(r#"{{"content":[{{"type":"text","text":"{}AKIA"}}]}}"#, "é".repeat(65_536));
    let long = document(&long);
    assert!(load(POLICY).result_text(long.root()).ends_with("AKIA"));
    let original = Praxiom::load("policy.yaml", POLICY.as_bytes(), Dialect::Original).unwrap();
    assert_eq!(original.result_text(long.root()).chars().count(), 65_536);
}

#[test]
fn a_kept_state_of_another_policy_is_refused() {
    let policy = load(POLICY);
    let state = allowed(policy.decide(&policy.initial(), &call("t__read"), &[]));
    assert_eq!(policy.decode(&policy.encode(&state)).unwrap(), state);
    assert_eq!(
        policy.shown(&policy.decode(&policy.encode(&policy.initial())).unwrap()),
        policy.shown(&policy.initial())
    );
    for text in [
        "",
        "{}",
        r#"{"state":{"tainted":true,"reads":1}}"#,
        r#"{"state":{"tainted":1,"reads":1,"note":""}}"#,
        r#"{"state":{"tainted":true,"reads":1.5,"note":""}}"#,
        r#"{"state":{"tainted":["what"],"reads":1,"note":""}}"#,
        r#"{"state":{"tainted":true,"reads":1,"other":""}}"#,
    ] {
        assert!(policy.decode(text).is_err(), "{text}");
    }
}
