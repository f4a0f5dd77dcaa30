//! The state of a policy: what calls do to it, when, and what others see meanwhile.

#![expect(clippy::unwrap_used, reason = "a failing test may panic")]

use crate::state_common::{Answer, HOUR, Rig};
use framegate_guard::Outcome::{Allow, Ask, Deny};
use framegate_guard::ledger::{Ledger as _, Settled};
use framegate_guard::policy::Policy;
use framegate_guard::state::Value;
use framegate_guard::world::{Instant, World as _};

const TAINT: &str = r#"
state: { tainted: bool }
rules:
  - name: secrets
    tools: ["read_*"]
    after: { tainted: 'state.tainted || result.text.contains("SECRET")' }
  - name: no_publish
    tools: [publish]
    that: '!state.tainted'
    because: Nothing is published after a secret was read.
"#;

#[test]
fn a_result_taints_and_a_denial_names_the_state_it_met() {
    let rig = Rig::new(TAINT);
    assert_eq!(rig.run("publish", "{}"), Allow);
    let read = rig.call("read_file", "{}");
    assert_eq!(rig.done(&read, "nothing here"), Some(r#"{"tainted":false}"#.into()));
    assert_eq!(rig.run("publish", "{}"), Allow);
    let read = rig.call("read_file", "{}");
    assert_eq!(rig.done(&read, "the SECRET is 7"), Some(r#"{"tainted":true}"#.into()));
    let denied = rig.call("publish", "{}");
    assert_eq!(denied.outcome(), Deny);
    let reason = "no_publish: Nothing is published after a secret was read. (`state.tainted` is true)";
    assert_eq!(denied.reasons(), reason);
    assert_eq!(rig.state(), r#"{"tainted":true}"#, "what is denied changes nothing");
}

#[test]
fn while_a_call_that_may_raise_it_is_under_way_it_counts_as_raised() {
    let rig = Rig::new(TAINT);
    let read = rig.call("read_file", "{}");
    let denied = rig.call("publish", "{}");
    assert_eq!(denied.outcome(), Deny);
    let finding = &denied.decision.findings[0];
    assert!(finding.reason.contains("while a call of `read_file` is under way"), "{}", finding.reason);
    assert_eq!(finding.advice.as_deref(), Some("Wait until a call of `read_file` is over, then call again."));
    rig.done(&read, "clean");
    assert_eq!(rig.run("publish", "{}"), Allow);
}

#[test]
fn a_lost_answer_is_the_worst_that_it_can_be_whichever_way_that_is() {
    let rig = Rig::new(
        r"
state: { tainted: bool, tested: { type: bool, init: true }, n: int }
rules:
  - { name: work, tools: [work], after: { tainted: 'result.text.contains(`x`)', tested: '!result.is_error', n: size(result.text) } }
  - { name: clean, tools: [publish], that: '!state.tainted' }
  - { name: tests, tools: [push], that: state.tested }
  - { name: few, tools: [count], that: state.n < 10 }
  - { name: again, tools: [reset], set: { tainted: false, tested: true, n: 0 } }
"
        .replace('`', "\"")
        .as_str(),
    );
    let work = rig.call("work", "{}");
    assert_eq!(
        rig.lost(&work),
        Some(r#"{"n":{"unknown":"a call of `work` got no answer"},"tainted":{"either":[false,true]},"tested":{"either":[false,true]}}"#.into())
    );
    assert_eq!((rig.run("publish", "{}"), rig.run("push", "{}"), rig.run("count", "{}")), (Deny, Deny, Ask));
    assert_eq!(rig.run("reset", "{}"), Allow);
    assert_eq!(
        (rig.run("publish", "{}"), rig.run("push", "{}"), rig.run("count", "{}")),
        (Allow, Allow, Allow)
    );
}

#[test]
fn what_a_lost_answer_means_can_be_said() {
    let rig = Rig::new(
        r"
state: { n: int, done: bool }
rules:
  - { name: work, tools: [work], after: { n: size(result.text), done: true }, lost: { n: 99, done: false } }
",
    );
    let work = rig.call("work", "{}");
    assert_eq!(rig.lost(&work), Some(r#"{"done":false,"n":99}"#.into()));
}

/// A window that answers add to.
const SPENT: &str = r"
state: { spent: { type: window, per: hour } }
rules:
  - { name: spend, tools: [spend], after: { spent: size(result.text) } }
  - { name: pay, tools: [pay], set: { spent: 2 }, on_error: undo }
  - { name: few, tools: [look], that: state.spent < 3 }
";

#[test]
fn what_a_lost_call_added_to_a_window_is_unknown_as_long_as_it_may_count() {
    let rig = Rig::new(SPENT);
    let spend = rig.call("spend", "{}");
    rig.pass(HOUR / 2);
    rig.lost(&spend);
    rig.run("pay", "{}");
    let asked = rig.call("look", "{}");
    assert_eq!(asked.outcome(), Ask);
    // From when it was decided, as its amount would have counted.
    let why =
        "`state.spent` is unknown: a call of `spend` got no answer; known again from 1970-02-11T17:00:00Z on";
    assert!(asked.reasons().contains(why), "{}", asked.reasons());
    rig.pass(HOUR / 2 - 1);
    assert_eq!(rig.run("look", "{}"), Ask);
    rig.pass(1);
    assert_eq!(rig.run("look", "{}"), Allow, "what others added is known all the while");
    rig.run("pay", "{}");
    assert_eq!(rig.run("look", "{}"), Deny);
}

#[test]
fn what_is_unknown_of_a_window_outlives_its_process_and_ends_all_the_same() {
    let rig = Rig::new(SPENT);
    rig.run("pay", "{}");
    let spend = rig.call("spend", "{}");
    rig.lost(&spend);
    let read = framegate_guard::state::decode(&rig.state()).unwrap();
    assert_eq!(framegate_guard::state::encode(&read), rig.state());
    let now = rig.clock.now().unwrap();
    let kept = framegate_guard::state::Kept::restored(read);
    let (_, held) = kept.values().next().unwrap();
    let Some(Value::Window(window)) = held.value() else { panic!("{held}") };
    let seen = |at| window.seen(HOUR, Instant(at)).to_string();
    assert!(seen(now.0 + HOUR - 1).contains("a call of `spend` got no answer"));
    assert_eq!(seen(now.0 + HOUR), "0");
}

#[test]
fn what_a_lost_call_adds_to_a_window_can_be_said() {
    let policy = SPENT.replace("size(result.text) }", "size(result.text) }, lost: { spent: 2.5 }");
    let rig = Rig::new(&policy);
    let spend = rig.call("spend", "{}");
    rig.lost(&spend);
    assert_eq!(rig.run("look", "{}"), Allow);
    let spend = rig.call("spend", "{}");
    rig.lost(&spend);
    assert_eq!(rig.run("look", "{}"), Deny);
    rig.pass(HOUR);
    assert_eq!(rig.run("look", "{}"), Allow);
    assert!(errors(&policy.replace("2.5", "-1")).contains("a window only adds"));
    assert!(errors(&policy.replace("2.5", "many")).contains("expected a decimal"));
}

#[test]
fn a_call_that_failed_makes_no_window_known_that_was_not() {
    let rig = Rig::new(SPENT);
    let spend = rig.call("spend", "{}");
    rig.lost(&spend);
    let pay = rig.call("pay", "{}");
    rig.failed(&pay, "");
    assert_eq!(rig.run("look", "{}"), Ask);
    let pay = rig.call("pay", "{}");
    rig.ledger.undo(&rig.key, pay.sequence);
    assert_eq!(rig.run("look", "{}"), Ask);
    rig.pass(HOUR);
    assert_eq!(rig.run("look", "{}"), Allow);
}

#[test]
fn a_window_of_which_nothing_is_known_is_known_again_once_a_call_after_that_counts_no_more() {
    let mut rig = Rig::new("state: { spent: int }\nrules: [ { name: a, tools: [a], set: { spent: 5 } } ]\n");
    rig.run("a", "{}");
    // Declared otherwise now: what it held says nothing of a window.
    rig.guard = rig.guard.under(crate::state_common::load(SPENT), framegate_guard::Facts::default()).0;
    assert_eq!(rig.run("look", "{}"), Ask);
    rig.pass(HOUR);
    assert_eq!(rig.run("look", "{}"), Ask, "nobody can say when that was");
    rig.run("pay", "{}");
    rig.pass(HOUR - 1);
    assert_eq!(rig.run("look", "{}"), Ask);
    rig.pass(1);
    assert_eq!(rig.run("look", "{}"), Allow);
}

#[test]
fn two_calls_at_once_do_not_slip_past_each_other() {
    let rig = Rig::new("tools: { 'delete_*': { limit: 2 per hour } }\n");
    let calls: Vec<_> = (0..3).map(|_| rig.call("delete_file", "{}")).collect();
    assert_eq!(calls.iter().map(|call| call.outcome()).collect::<Vec<_>>(), [Allow, Allow, Deny]);
    assert_eq!(
        calls[2].reasons(),
        "limit_delete_x: `delete_*` may be called 2 times within 1 hour. (`state.limit_delete_x` is 2)"
    );
    let advice = calls[2].decision.findings[0].advice.clone().unwrap();
    assert_eq!(advice, "Some of it counts no more from 1970-02-11T17:00:00Z on.");
    assert_eq!(rig.run("other", "{}"), Allow);
    rig.pass(HOUR - 1);
    assert_eq!(rig.run("delete_dir", "{}"), Deny);
    rig.pass(1);
    assert_eq!(
        (rig.run("delete_dir", "{}"), rig.run("delete_dir", "{}"), rig.run("delete_dir", "{}")),
        (Allow, Allow, Deny)
    );
}

#[test]
fn a_budget_is_spent_to_the_last_cent_and_no_further() {
    let rig = Rig::new("tools: { pay: { budget: { of: args.amount, max: 100, per: day } } }\n");
    let pay = |amount: &str| rig.run("pay", &format!(r#"{{"amount":{amount}}}"#));
    assert_eq!((pay("99.99"), pay("0.02"), pay("0.01"), pay("0.01")), (Allow, Deny, Allow, Deny));
    assert_eq!(pay("-50"), Deny, "nothing is earned back");
    assert_eq!(pay("0"), Allow);
    assert_eq!(pay("\"x\""), Ask, "no amount");
    rig.pass(24 * HOUR);
    assert_eq!((pay("100.01"), pay("100")), (Deny, Allow));
}

#[test]
fn a_limit_of_a_session_never_comes_back() {
    let rig = Rig::new(
        "tools: { a: { limit: 1 per session }, b: { budget: { of: args.n, max: 1.5, per: session } } }\n",
    );
    assert_eq!((rig.run("a", "{}"), rig.run("a", "{}")), (Allow, Deny));
    assert_eq!((rig.run("b", r#"{"n":1.5}"#), rig.run("b", r#"{"n":0.1}"#)), (Allow, Deny));
    rig.pass(10_000 * HOUR);
    assert_eq!((rig.run("a", "{}"), rig.run("b", r#"{"n":0.1}"#)), (Deny, Deny));
}

#[test]
fn the_more_literal_entry_has_the_limit() {
    let rig = Rig::new("tools: { 'd*': { limit: 1 per hour }, del: { limit: 2 per hour } }\n");
    assert_eq!((rig.run("del", "{}"), rig.run("del", "{}"), rig.run("del", "{}")), (Allow, Allow, Deny));
    assert_eq!((rig.run("drop", "{}"), rig.run("drop", "{}")), (Allow, Deny));
}

#[test]
fn all_effects_read_the_state_before_the_call() {
    let rig = Rig::new(
        r"
state: { a: { type: int, init: 1 }, b: { type: int, init: 2 } }
rules: [ { name: swap, tools: [swap], set: { a: state.b, b: state.a } } ]
",
    );
    rig.run("swap", "{}");
    assert_eq!(rig.state(), r#"{"a":2,"b":1}"#);
}

#[test]
fn an_int_never_wraps() {
    let rig = Rig::new(
        r"
state: { n: { type: int, init: 9223372036854775806 }, m: { type: int, init: 9223372036854775806, combine: add } }
rules:
  - { name: up, tools: [up], set: { n: state.n + 1 } }
  - { name: add, tools: [add], set: { m: 1 } }
  - { name: half, tools: [half], set: { n: state.n / 4 } }
",
    );
    assert_eq!((rig.run("up", "{}"), rig.run("add", "{}")), (Allow, Allow));
    for tool in ["up", "add"] {
        let denied = rig.call(tool, "{}");
        assert_eq!(denied.outcome(), Deny);
        assert!(denied.decision.failed().eq(["state_overflow"]), "{}", denied.reasons());
    }
    assert_eq!(rig.state(), r#"{"m":9223372036854775807,"n":9223372036854775807}"#);
    assert_eq!(rig.run("half", "{}"), Ask, "no whole number");
}

#[test]
fn a_set_and_a_list_hold_so_many_and_not_one_more() {
    let rig = Rig::new(
        r"
state: { hosts: { type: set, max: 2, combine: union }, log: { type: list, max: 2 } }
rules:
  - { name: fetch, tools: [fetch], set: { hosts: '[args.host]' } }
  - { name: log, tools: [log], set: { log: 'state.log + [args.host]' } }
  - { name: known, tools: [send], that: args.host in state.hosts }
",
    );
    let with = |tool, host: &str| rig.run(tool, &format!(r#"{{"host":"{host}"}}"#));
    assert_eq!(with("send", "a"), Deny);
    assert_eq!(
        (with("fetch", "b"), with("fetch", "a"), with("fetch", "a"), with("fetch", "c")),
        (Allow, Allow, Allow, Deny)
    );
    assert_eq!((with("send", "a"), with("send", "c")), (Allow, Deny));
    assert_eq!((with("log", "b"), with("log", "a"), with("log", "a")), (Allow, Allow, Deny));
    assert_eq!(rig.state(), r#"{"hosts":{"set":["a","b"]},"log":["b","a"]}"#);
}

#[test]
fn an_invariant_holds_in_the_state_that_the_call_would_make() {
    let rig = Rig::new(
        r"
state: { reads: int }
invariants: [ { name: few_reads, that: state.reads <= 2, because: At most two reads. } ]
rules: [ { name: reads, tools: [read], set: { reads: state.reads + 1 } } ]
",
    );
    assert_eq!((rig.run("read", "{}"), rig.run("read", "{}")), (Allow, Allow));
    let denied = rig.call("read", "{}");
    assert_eq!(denied.outcome(), Deny);
    assert_eq!(denied.reasons(), "few_reads: At most two reads. (`state.reads` is 3)");
    assert_eq!(rig.run("other", "{}"), Allow, "what stays as it is breaks nothing");
}

#[test]
fn an_error_takes_back_only_what_says_so() {
    let policy = r"
state: { kept: int, undone: int }
rules:
  - { name: keeps, tools: [work], set: { kept: state.kept + 1 } }
  - { name: undoes, tools: [work], set: { undone: state.undone + 1 }, on_error: undo }
";
    let rig = Rig::new(policy);
    let work = rig.call("work", "{}");
    assert_eq!(rig.failed(&work, "no"), Some(r#"{"undone":0}"#.into()));
    assert_eq!(rig.state(), r#"{"kept":1}"#);
    let (first, second) = (rig.call("work", "{}"), rig.call("work", "{}"));
    rig.failed(&first, "no");
    assert_eq!(rig.state(), r#"{"kept":3,"undone":2}"#, "another call changed it since");
    rig.lost(&second);
    assert_eq!(rig.state(), r#"{"kept":3,"undone":2}"#, "nobody knows whether it ran");
}

#[test]
fn an_error_takes_an_amount_off_a_sum_that_others_changed_since() {
    let rig = Rig::new(
        "tools: { pay: { budget: { of: args.n, max: 10, per: hour, on_error: undo } }, use: { budget: { of: args.n, max: 10, per: session, on_error: undo } } }\n",
    );
    for tool in ["pay", "use"] {
        let (first, _second) = (rig.call(tool, r#"{"n":6}"#), rig.call(tool, r#"{"n":4}"#));
        assert_eq!(rig.run(tool, r#"{"n":1}"#), Deny);
        rig.failed(&first, "no");
        assert_eq!((rig.run(tool, r#"{"n":6.5}"#), rig.run(tool, r#"{"n":6}"#)), (Deny, Allow), "{tool}");
    }
}

#[test]
fn an_end_says_what_it_met_and_what_it_made_of_that() {
    let rig = Rig::new(
        r"
state: { n: int, other: int, w: { type: window, per: hour } }
rules:
  - { name: work, tools: [work], set: { n: 7, w: 2 }, on_error: undo, after: { w: size(result.text) + state.n } }
",
    );
    let work = rig.call("work", "{}");
    let answer = |is_error| Answer { is_error, text: "abc".into(), structured: None };
    let until = rig.clock.now().unwrap().0 + HOUR;
    assert_eq!(
        rig.ends(&work, Settled::Done, Some(&answer(false))).unwrap(),
        format!(
            r#"{{"after":{{"w":{{"count":2,"per":{HOUR},"sum":"12","until":{until}}}}},"before":{{"n":7,"w":{{"count":1,"per":{HOUR},"sum":"2","until":{until}}}}},"how":"done"}}"#
        )
    );
    let work = rig.call("work", "{}");
    let told = rig.ends(&work, Settled::Failed, Some(&answer(true))).unwrap();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        (&told["before"]["n"], &told["undone"]["n"], &told["after"]["n"]),
        (&7.into(), &7.into(), &7.into())
    );
    assert_eq!((&told["before"]["w"]["sum"], &told["undone"]["w"]["sum"]), (&"14".into(), &"12".into()));
    assert_eq!((&told["after"]["w"]["sum"], &told["how"]), (&"22".into(), &"failed".into()));
    assert!(told["before"].get("other").is_none(), "nothing reads it");
    let lost = rig.call("work", "{}");
    let told = rig.ends(&lost, Settled::Lost, None).unwrap();
    let why = r#""after":{"w":{"unknown":"a call of `work` got no answer"}}"#;
    assert!(told.contains(why) && told.contains(r#""how":"lost""#), "{told}");
}

#[test]
fn an_error_never_empties_a_window_of_which_nothing_is_known() {
    let rig = Rig::new("tools: { pay: { budget: { of: args.n, max: 100, per: hour, on_error: undo } } }\n");
    let yes = |arguments: &str| rig.call_if("pay", arguments, |_| true);
    rig.done(&yes(r#"{"n":60}"#), "");
    // A person says yes to a call without an amount, and to one that comes upon a sum that nobody knows.
    rig.done(&yes("{}"), "");
    rig.failed(&yes(r#"{"n":5}"#), "no");
    assert_eq!(rig.run("pay", r#"{"n":60}"#), Ask, "{}", rig.state());
}

#[test]
fn what_a_call_did_to_one_window_twice_is_taken_back_the_last_first() {
    let rig = Rig::new(
        r"
state: { w: { type: window, per: hour } }
rules:
  - { name: one, tools: [work], set: { w: 1 }, on_error: undo }
  - { name: two, tools: [work], set: { w: args.n }, on_error: undo }
",
    );
    rig.run("work", r#"{"n":4}"#);
    let before = rig.state();
    let made = rig.call_if("work", "{}", |_| true);
    assert!(rig.state().contains("unclear"), "{}", rig.state());
    rig.failed(&made, "no");
    assert_eq!(rig.state(), before);
}

#[test]
fn a_call_that_was_not_sent_after_all_did_nothing() {
    let rig = Rig::new(TAINT);
    let read = rig.call("read_file", "{}");
    framegate_guard::ledger::Ledger::undo(&rig.ledger, &rig.key, read.sequence);
    assert_eq!((rig.run("publish", "{}"), rig.state()), (Allow, "{}".into()));
}

#[test]
fn a_variable_that_is_neither_true_nor_false_is_unknown_while_a_call_may_change_it() {
    let rig = Rig::new(
        r"
state: { n: int }
rules:
  - { name: count, tools: [scan], after: { n: 'state.n + size(result.text)' } }
  - { name: few, tools: [publish], that: state.n < 10 }
",
    );
    let scan = rig.call("scan", "{}");
    let asked = rig.call("publish", "{}");
    assert_eq!(asked.outcome(), Ask);
    assert!(
        asked.reasons().contains("`state.n` is uncertain while a call of `scan` is under way"),
        "{}",
        asked.reasons()
    );
    rig.done(&scan, "four");
    assert_eq!((rig.run("publish", "{}"), rig.state()), (Allow, r#"{"n":4}"#.into()));
}

#[test]
fn structured_content_of_an_answer_can_be_read() {
    let rig = Rig::new(
        r"
state: { rows: int }
rules: [ { name: rows, tools: [query], after: { rows: result.structured.rows } } ]
",
    );
    let query = rig.call("query", "{}");
    let structured =
        framegate_guard::json::Document::read(r#"{"rows":7}"#.into(), &Default::default()).unwrap();
    let answer = Answer { is_error: false, text: String::new(), structured: Some(structured.into()) };
    assert_eq!(rig.settle(&query, Settled::Done, Some(&answer)), Some(r#"{"rows":7}"#.into()));
    let query = rig.call("query", "{}");
    let note = rig.done(&query, "").unwrap();
    assert!(note.contains("no structured content"), "{note}");
}

#[test]
fn seven_uncertain_variables_are_too_many_and_six_are_not() {
    let policy = |count: usize| {
        let names: Vec<String> = (0..count).map(|n| format!("v{n}")).collect();
        let state = names.iter().map(|name| format!("{name}: bool")).collect::<Vec<_>>().join(", ");
        let after =
            names.iter().map(|name| format!("{name}: result.is_error")).collect::<Vec<_>>().join(", ");
        let that =
            names.iter().map(|name| format!("state.{name} == state.{name}")).collect::<Vec<_>>().join(" && ");
        format!(
            "state: {{ {state} }}\nrules:\n  - {{ name: a, tools: [a], after: {{ {after} }} }}\n  - {{ name: b, tools: [b], that: '{that}' }}\n"
        )
    };
    for (count, outcome) in [(6, Allow), (7, Ask)] {
        let rig = Rig::new(&policy(count));
        rig.call("a", "{}");
        assert_eq!(rig.call("b", "{}").outcome(), outcome, "{count}");
    }
}

#[test]
fn a_variable_that_combines_is_not_set_back_by_a_call_that_was_under_way() {
    let rig = Rig::new(
        r#"
state: { tainted: { type: bool, combine: or }, top: { type: int, combine: max } }
rules:
  - { name: a, tools: ["read_*"], after: { tainted: 'result.text.contains("SECRET")' }, set: { top: args.level } }
  - { name: b, tools: [read_env], set: { tainted: true } }
"#,
    );
    let first = rig.call("read_file", r#"{"level":3}"#);
    rig.run("read_env", r#"{"level":1}"#);
    rig.done(&first, "clean");
    assert_eq!(rig.state(), r#"{"tainted":true,"top":3}"#);
}

#[test]
fn what_is_only_monitored_goes_on_and_makes_nothing_up() {
    let rig = Rig::new(
        r"
mode: monitor
state: { n: { type: int, init: 9223372036854775807 } }
rules: [ { name: up, tools: [up], set: { n: state.n + 1 } } ]
",
    );
    assert_eq!(rig.run("up", "{}"), Allow);
    assert!(rig.state().contains("unknown"), "{}", rig.state());
    let would = rig.call("up", "{}");
    assert_eq!((would.outcome(), would.decision.would), (Allow, Ask));
}

#[test]
fn a_policy_that_declares_it_otherwise_does_not_misread_what_is_kept() {
    let mut rig = Rig::new("state: { x: int }\nrules: [ { name: a, tools: [a], set: { x: 5 } } ]\n");
    rig.run("a", "{}");
    let other = crate::state_common::load(
        "state: { x: string }\nrules: [ { name: b, tools: [b], that: 'state.x == \"\"' } ]\n",
    );
    rig.guard = rig.guard.under(other, framegate_guard::Facts::default()).0;
    assert_eq!(rig.run("b", "{}"), Ask);
}

#[test]
fn a_person_s_yes_changes_the_state_as_any_call_that_is_sent() {
    let rig = Rig::new(
        r"
state: { sends: int }
rules: [ { name: few, tools: [send], that: state.sends < 1, otherwise: ask, set: { sends: state.sends + 1 } } ]
",
    );
    assert_eq!(rig.run("send", "{}"), Allow);
    let asked = rig.call_if("send", "{}", |outcome| outcome == Ask);
    assert_eq!((asked.outcome(), rig.state()), (Ask, r#"{"sends":2}"#.into()));
}

#[test]
fn what_is_kept_comes_back_from_its_spelling() {
    let rig = Rig::new(
        r#"
state: { b: bool, i: int, d: decimal, s: string, l: list, t: set, at: timestamp, w: { type: window, per: hour } }
rules:
  - { name: a, tools: [a], set: { b: true, i: -5, d: 1.50, s: '"ü\n"', l: '["b","a"]', t: '["b","a"]', at: now, w: 2.5 } }
"#,
    );
    rig.run("a", "{}");
    let text = rig.state();
    let read = framegate_guard::state::decode(&text).unwrap();
    assert_eq!(framegate_guard::state::encode(&read), text);
    let kept = framegate_guard::state::Kept::restored(read);
    assert_eq!(framegate_guard::state::encode(kept.values()), text);
    for broken in ["", "[]", r#"{"a":null}"#, r#"{"a":{"time":"x"}}"#, r#"{"a":1.5}"#, r#"{"a":{"set":[1]}}"#]
    {
        assert!(framegate_guard::state::decode(broken).is_err(), "{broken}");
    }
}

fn errors(text: &str) -> String {
    let text = format!("framegate: 1\ndefault: allow\n{text}");
    Policy::load("p.yaml", text.as_bytes(), &mut |_| Err(String::new())).unwrap_err().to_string()
}

#[test]
fn two_rules_that_set_one_variable_differently_are_an_error() {
    let policy = |first: &str, second: &str, combine: &str, tool: &str| {
        format!(
            "state: {{ n: {{ type: int{combine} }} }}\nrules:\n  - {{ name: a, tools: ['del_*'], set: {{ n: {first} }} }}\n  - {{ name: b, tools: [{tool}], set: {{ n: {second} }} }}\n"
        )
    };
    let said = errors(&policy("1", "2", "", "del_a"));
    assert!(said.contains("`a` and `b` may both set `n` in one call, to different values"), "{said}");
    for fine in [
        policy("1", "1", "", "del_a"),
        policy("1", "2", ", combine: add", "del_a"),
        policy("1", "2", "", "ins_a"),
    ] {
        let _ = crate::state_common::load(&fine);
    }
}
