//! What `prove` once said to hold and the guard let through: each policy here has a sequence that breaks its property, and
//! most of them are played to the guard.

use crate::prove_native::{Came, asked, is_open, never, plain};
use framegate_guard::prove::Asked;
use framegate_guard::prove::native::Asks;

fn is_broken(came: &Came) -> bool {
    matches!(came, Came::Broken(_))
}

fn once(after: &str, property: &str) -> Asked {
    Asked { after: Some(after.to_owned()), ..never(property) }
}

/// While nothing is known of a budget a person says yes to what is too much, and later it is known.
#[test]
fn what_was_let_through_while_a_window_was_unknown_counts_when_it_is_known_again() {
    let text = "framegate: 1\ntools: { pay: { budget: { of: args.amount, max: 100, per: day } } }\n";
    let came = plain(text, "state.budget_pay > 100");
    let Came::Broken(states) = &came else { panic!("{came:?}") };
    assert!(states.last().unwrap().contains("1 day later"), "{states:?}");
}

/// The window is known again when `mark` is called, and the answer to `begin` finds what its call found.
#[test]
fn an_answer_may_read_a_window_that_was_unknown_when_its_call_was_made() {
    let text = "framegate: 1
state: { marked: bool, seen: { type: bool, init: true }, w: { type: window, per: hour } }
tools: { begin: {}, mark: {}, use: {} }
rules:
  - { name: begin, tools: [begin], that: '!state.marked', set: { w: args.n }, after: { seen: 'state.w >= 0 || state.w < 0' }, lost: { seen: true } }
  - { name: mark, tools: [mark], set: { marked: 'true', seen: 'true' } }
  - { name: use, tools: [use], that: '!state.seen' }
";
    let property = once("tool == 'mark' && state.w == 0", "tool == 'use'");
    let came = asked(text, Asks::Granted, None, &property);
    assert!(is_broken(&came), "{came:?}");
}

#[test]
fn a_call_without_an_answer_adds_to_a_window_what_lost_says() {
    let text = "framegate: 1
state: { w: { type: window, per: hour } }
tools: { begin: {} }
rules:
  - { name: count, tools: [begin], after: { w: '1' }, lost: { w: 2.5 } }
";
    for property in ["state.w == 2.5", "state.w > 1 && state.w < 3 && state.w != 2"] {
        let came = plain(text, property);
        assert!(is_broken(&came), "{property}: {came:?}");
    }
}

/// The answer is lost, and one rule says what that leaves and the other does not.
#[test]
fn two_rules_that_say_different_things_of_a_lost_answer_leave_nothing_known() {
    let text = "framegate: 1
state: { b: bool }
tools: { begin: {}, use: {} }
rules:
  - { name: one, tools: [begin], after: { b: 'false' } }
  - { name: two, tools: [begin], after: { b: 'false' }, lost: { b: false } }
  - { name: use, tools: [use], that: state.b }
";
    let came = plain(text, "tool == 'use'");
    assert!(is_broken(&came), "{came:?}");
}

/// A call of `begin` is under way that will change `x`, and not `y`.
#[test]
fn a_call_makes_uncertain_only_what_its_own_rules_may_change() {
    let text = "framegate: 1
state: { x: bool, y: bool }
tools: { begin: {}, use: {} }
rules:
  - { name: x, tools: [begin], after: { x: 'true' }, lost: { x: true } }
  - { name: y, tools: [begin], when: 'args.n == 1', after: { y: 'true' }, lost: { y: true } }
  - { name: use, tools: [use], that: '!state.y' }
";
    let came = asked(text, Asks::Granted, None, &once("tool == 'begin'", "tool == 'use' && !state.x"));
    assert!(matches!(&came, Came::Broken(states) if states.len() == 2), "{came:?}");
    // What its rule is for is uncertain all the same.
    assert_eq!(plain(text, "tool == 'use' && state.y"), Came::Proved);
}

#[test]
fn what_a_call_under_way_may_change_is_as_uncertain_as_ever() {
    let text = "framegate: 1
state: { clean: { type: bool, init: true } }
tools: { test: {}, push: {} }
rules:
  - { name: risk, tools: [test], when: args.deep, set: { clean: 'true' }, after: { clean: '!result.is_error' } }
  - { name: push, tools: [push], that: state.clean }
";
    let schema =
        [("test", r#"{"type":"object","properties":{"deep":{"type":"boolean"}},"required":["deep"]}"#)];
    let tools = [schema[0], ("push", r#"{"type":"object"}"#)];
    assert_eq!(
        asked(text, Asks::Granted, Some(&tools), &never("tool == 'push' && !state.clean")),
        Came::Proved
    );
}

/// The schema asks for a bool; in monitor mode something else is sent, and the guard does not know what its rule sets.
#[test]
fn what_is_not_valid_leaves_the_state_unknown_where_nothing_is_enforced() {
    let text = "framegate: 1
state: { n: { type: int, init: 5 } }
tools: { begin: { mode: monitor }, use: {} }
rules:
  - { name: set, tools: [begin], set: { n: 'has(args.x) ? 5 : 5' } }
  - { name: use, tools: [use], that: 'state.n != 5' }
";
    let tools = [
        ("begin", r#"{"type":"object","properties":{"x":{"type":"boolean"}}}"#),
        ("use", r#"{"type":"object"}"#),
    ];
    assert!(is_open(&asked(text, Asks::Granted, Some(&tools), &never("tool == 'use'"))));
    let after = "framegate: 1
state: { b: bool }
tools: { begin: { mode: monitor }, use: {} }
rules:
  - { name: set, tools: [begin], when: has(args.x), after: { b: 'false' }, lost: { b: false } }
  - { name: use, tools: [use], that: 'state.b', otherwise: deny }
  - { name: both, tools: [use], that: '!state.b', otherwise: ask }
";
    assert!(is_open(&asked(after, Asks::Granted, Some(&tools), &never("tool == 'use'"))));
}

#[test]
fn what_is_hidden_changes_nothing_where_it_is_called_all_the_same() {
    let text = "framegate: 1
mode: monitor
state: { n: int }
tools: { begin: { hidden: true }, use: {} }
rules:
  - { name: set, tools: [begin], set: { n: 'state.n + 1' } }
";
    let came = asked(text, Asks::Granted, None, &once("tool == 'begin'", "tool == 'use' && state.n == 0"));
    assert!(is_broken(&came), "{came:?}");
}

#[test]
fn what_is_added_has_to_fit_as_well_as_the_sum() {
    let text = "framegate: 1
state: { n: { type: int, init: -5, combine: add } }
tools: { grow: {}, use: {} }
rules:
  - { name: grow, tools: [grow], set: { n: 9223372036854775808 }, mode: monitor }
  - { name: use, tools: [use], that: 'state.n < 0' }
";
    let came = asked(text, Asks::Granted, None, &once("tool == 'grow'", "tool == 'use'"));
    assert!(is_broken(&came), "{came:?}");
    // The first one makes room for the second one.
    let text = "framegate: 1
state: { n: { type: int, init: 5, combine: add } }
tools: { grow: {} }
rules:
  - { name: less, tools: [grow], set: { n: -10 } }
  - { name: more, tools: [grow], set: { n: 9223372036854775807 } }
";
    assert!(is_open(&plain(text, "tool == 'grow'")));
}

#[test]
fn conditions_have_an_order() {
    let text = "framegate: 1
state: { a: bool, b: bool }
tools: { set: {} }
rules: [ { name: set, tools: [set], set: { b: 'true' } } ]
";
    assert!(is_broken(&plain(text, "state.a < state.b")));
    assert!(is_broken(&plain(text, "tool == 'set' && state.a >= state.b")));
    assert_eq!(plain(text, "state.a > state.b"), Came::Proved);
}

#[test]
fn what_may_be_missing_is_not_believed_to_be_there() {
    let text = |missing: &str| {
        format!(
            "framegate: 1
tools: {{ pay: {{ missing: {missing} }} }}
rules: [ {{ name: small, tools: [pay], that: 'args.amount <= 10', otherwise: ask }} ]
"
        )
    };
    let tools =
        [("pay", r#"{"type":"object","properties":{"amount":{"type":"integer"}},"required":["amount"]}"#)];
    let property = never("!has(args.amount)");
    assert_eq!(asked(&text("refuse"), Asks::Granted, Some(&tools), &property), Came::Proved);
    let came = asked(&text("pass"), Asks::Granted, Some(&tools), &property);
    assert!(is_broken(&came), "{came:?}");
    let null = never("has(args.amount) && args.amount == null");
    assert!(is_open(&asked(&text("pass"), Asks::Granted, Some(&tools), &null)));
}

/// Draft 7 reads nothing beside `$ref`.
#[test]
fn what_stands_beside_a_reference_is_not_believed() {
    let text = "framegate: 1\ntools: { pay: {} }\nrules: [ { name: r, tools: [pay], that: 'true' } ]\n";
    let of = |body: &str| {
        format!(
            r##"{{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{{"any":{{}}}},{body}}}"##
        )
    };
    let whole = of(
        r##""$ref":"#/definitions/any","type":"object","properties":{"amount":{"type":"integer"}},"required":["amount"]"##,
    );
    let came = asked(text, Asks::Granted, Some(&[("pay", &whole)]), &never("!has(args.amount)"));
    assert!(is_broken(&came), "{came:?}");
    let part = of(
        r##""type":"object","properties":{"amount":{"$ref":"#/definitions/any","type":"integer"}},"required":["amount"]"##,
    );
    let came = asked(text, Asks::Granted, Some(&[("pay", &part)]), &never("args.amount == 'x'"));
    assert!(is_broken(&came), "{came:?}");
}

#[test]
fn a_quotient_that_is_rounded_is_not_believed_to_be_exact() {
    let text = "framegate: 1\ntools: { pay: {} }\nrules: [ { name: r, tools: [pay], that: 'args.n > 0' } ]\n";
    assert_eq!(plain(text, "args.n / 4 * 4 != args.n"), Came::Proved);
    assert!(is_open(&plain(text, "args.n / 1152921504606846976 * 1152921504606846976 != args.n")));
}

#[test]
fn characters_that_no_solver_has_stand_behind_those_of_the_policy() {
    let text =
        "framegate: 1\ntools: { say: {} }\nrules: [ { name: r, tools: [say], that: 'args.x != \"\"' } ]\n";
    let came = plain(text, "args.x > '\u{2ffff}' && !args.x.startsWith('\u{2ffff}')");
    assert!(is_open(&came), "{came:?}");
}

#[test]
fn a_tool_without_a_name_is_one() {
    let text = "framegate: 1
tools: { '*': {} }
rules: [ { name: none, tools: ['?*'], that: 'false' } ]
";
    let came = plain(text, "true || tool == 'x'");
    assert!(is_open(&came), "{came:?}");
}

/// An answer may approve only what is a draft still: what goes with a call under way is found, and carries the proof.
#[test]
fn an_approval_in_two_steps_is_proved() {
    let text = "framegate: 1
state: { drafted: bool, approved: bool }
tools: { draft: {}, approve: {}, publish: {} }
rules:
  - { name: draft, tools: [draft], set: { drafted: 'true', approved: 'false' } }
  - { name: approve, tools: [approve], that: state.drafted, after: { approved: '!result.is_error' }, lost: { approved: false } }
  - { name: publish, tools: [publish], that: state.approved, set: { drafted: 'false', approved: 'false' } }
";
    assert_eq!(plain(text, "tool == 'publish' && !state.drafted"), Came::Proved);
    assert_eq!(plain(text, "tool == 'publish' && !state.approved"), Came::Proved);
}
