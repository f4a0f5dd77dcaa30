//! The state of a policy in `framegate run`: across calls that overlap, in the record, and after a restart.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

use framegate_tests::guarded::{Start, call, decision, text};
use framegate_tests::{Guarded, Stored};
use serde_json::{Value, json};
use tempfile::TempDir;

const POLICY: &str = r#"framegate: 1
default: allow
state: { tainted: bool }
tools:
  wipe: { limit: 1 per hour }
  pay: { budget: { of: args.amount, max: 100, per: day } }
rules:
  - name: secrets
    tools: [read]
    after: { tainted: 'state.tainted || result.text.contains("SECRET")' }
  - { name: no_publish, tools: [publish], that: '!state.tainted', because: Nothing is published after a secret. }
"#;

struct Session {
    guarded: Guarded,
    folder: TempDir,
}

fn script(more: &[Value]) -> Value {
    let any = json!({ "type": "object" });
    let tools = ["read", "publish", "wipe", "pay"].map(|name| json!({ "name": name, "inputSchema": any }));
    let mut all = vec![json!({ "tools": json!(tools).to_string() })];
    all.extend(more.iter().cloned());
    all.into()
}

/// What `read` gives, once: after a while, that the next call comes before it.
fn reads(text: &str, after_ms: u64) -> Value {
    let answer =
        format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#);
    json!({ "on": "tools/call", "name": "read", "times": 1, "emit": [{ "sleep_ms": after_ms }, answer] })
}

fn start(policy: &str, script: Value) -> Session {
    let folder = tempfile::tempdir().unwrap();
    let session = Session { guarded: start_in(folder.path(), policy, script), folder };
    session.guarded.session.record.wait_server_got("tools/list", framegate_tests::guarded::WITHIN).unwrap();
    session
}

fn start_in(folder: &Path, policy: &str, script: Value) -> Guarded {
    let file = folder.join("record.db").display().to_string();
    let wrapper = framegate_tests::wrapper!();
    let options = ["--store", file.as_str()];
    let mut guarded =
        Start { wrapper: &wrapper, policy: Some(policy), options: &options, script, files: &[] }.now();
    guarded.open();
    guarded
}

fn said(arguments: &[&str], file: &Path) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    let output = command.args(arguments).arg(file).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[test]
fn two_calls_at_once_do_not_slip_past_each_other() {
    let mut guarded = Guarded::start(&framegate_tests::wrapper!(), POLICY, script(&[]));
    guarded.open();
    for id in ["1", "2"] {
        guarded.send(&call(id, "wipe", "{}"));
    }
    let answers = [guarded.wait("1"), guarded.wait("2")];
    assert_eq!(text(&answers[0]), "ran wipe");
    assert_eq!(decision(&answers[1])["outcome"], "deny", "{}", answers[1]);
    let refused = text(&answers[1]);
    assert!(
        refused.contains("`wipe` may be called once within 1 hour. (`state.limit_wipe` is 1)"),
        "{refused}"
    );
    assert!(refused.contains("Some of it counts no more from "), "{refused}");
    assert_eq!(guarded.server_got_count(r#""name":"wipe""#), 1);
    guarded.end();
}

#[test]
fn a_budget_is_spent_across_calls() {
    let mut guarded = Guarded::start(&framegate_tests::wrapper!(), POLICY, script(&[]));
    guarded.open();
    assert_eq!(text(&guarded.call("1", "pay", r#"{"amount":60}"#)), "ran pay");
    assert_eq!(decision(&guarded.call("2", "pay", r#"{"amount":40.01}"#))["outcome"], "deny");
    assert_eq!(text(&guarded.call("3", "pay", r#"{"amount":40}"#)), "ran pay");
    assert_eq!(decision(&guarded.call("4", "pay", r#"{"amount":0.01}"#))["outcome"], "deny");
    guarded.end();
}

#[test]
fn what_an_answer_says_taints_and_is_waited_for() {
    let mut guarded = Guarded::start(
        &framegate_tests::wrapper!(),
        POLICY,
        script(&[reads("clean", 400), reads("the SECRET", 0)]),
    );
    guarded.open();
    guarded.send(&call("1", "read", "{}"));
    guarded.send(&call("2", "publish", "{}"));
    let early = guarded.wait("2");
    assert_eq!(decision(&early)["outcome"], "deny", "{early}");
    assert!(text(&early).contains("while a call of `read` is under way"), "{early}");
    assert!(text(&early).contains("Wait until a call of `read` is over, then call again."), "{early}");
    guarded.wait("1");
    assert_eq!(text(&guarded.call("3", "publish", "{}")), "ran publish");
    guarded.call("4", "read", "{}");
    let denied = guarded.call("5", "publish", "{}");
    assert!(
        text(&denied).contains("Nothing is published after a secret. (`state.tainted` is true)"),
        "{denied}"
    );
    guarded.end();
}

#[test]
fn a_large_answer_is_read_before_the_client_can_go_on() {
    let large = format!("{}SECRET", "0123456789".repeat(200_000));
    let mut guarded = Guarded::start(&framegate_tests::wrapper!(), POLICY, script(&[reads(&large, 0)]));
    guarded.open();
    guarded.call("1", "read", "{}");
    let denied = guarded.call("2", "publish", "{}");
    assert!(text(&denied).contains("`state.tainted` is true"), "{denied}");
    guarded.end();
}

#[test]
fn the_record_has_every_state_and_a_replay_makes_it_again() {
    let Session { mut guarded, folder } = start(POLICY, script(&[reads("the SECRET", 0)]));
    guarded.call("1", "pay", r#"{"amount":60}"#);
    guarded.call("2", "read", "{}");
    guarded.call("3", "publish", "{}");
    guarded.call("4", "wipe", "{}");
    guarded.call("5", "wipe", "{}");
    guarded.end();
    let file = folder.path().join("record.db");
    let stored = Stored::read(&file).unwrap();
    let calls: Vec<&Value> = stored.of("call").collect();
    let state =
        |call: &Value| -> Value { serde_json::from_str(&stored.content(call, "state").unwrap()).unwrap() };
    let first = state(calls[0]);
    assert_eq!(first["before"]["tainted"], false);
    assert_eq!(
        (&first["before"]["budget_pay"]["sum"], &first["after"]["budget_pay"]["sum"]),
        (&json!("0"), &json!("60"))
    );
    let read = stored.end_of(calls[1]).unwrap();
    let made = r#"{"after":{"tainted":true},"before":{"tainted":false},"how":"done"}"#;
    assert_eq!(stored.content(read, "state").as_deref(), Some(made));
    assert_eq!(state(calls[2])["before"]["tainted"], true);
    assert_eq!(state(calls[3])["after"]["limit_wipe"]["count"], 1);
    for command in [&["verify", "--fidelity"][..], &["replay"]] {
        let (code, text) = said(command, &file);
        assert_eq!(code, Some(0), "{command:?}: {text}");
    }
    framegate_tests::verified_by_python(&file);
    // Another limit decides otherwise, a variable that the record does not know asks.
    for (policy, differs) in [
        (POLICY.replace("1 per hour", "2 per hour"), "/wipe {}  deny → allow"),
        (POLICY.replace("1 per hour", "1 per day"), "/wipe {}  allow → ask"),
        (POLICY.replace("tainted", "spoilt"), "/publish {}  deny → ask"),
    ] {
        let other = folder.path().join("other.yaml");
        std::fs::write(&other, policy).unwrap();
        let (_, text) = said(&["replay", "--policy", &other.display().to_string()], &file);
        assert!(text.contains(differs), "{differs}: {text}");
    }
}

#[test]
fn a_session_s_state_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let mut guarded = start_in(folder.path(), POLICY, script(&[]));
        assert_eq!(text(&guarded.call("1", "wipe", "{}")), "ran wipe");
        assert_eq!(decision(&guarded.call("2", "wipe", "{}"))["outcome"], "deny");
        guarded.end();
    }
    let (code, text) = said(&["verify"], &folder.path().join("record.db"));
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn explain_does_not_tell_of_a_refused_call_as_if_it_had_changed_the_state() {
    let folder = tempfile::tempdir().unwrap();
    let (policy, session) = (folder.path().join("p.yaml"), folder.path().join("session.jsonl"));
    let rule = "rules:\n  - { name: big, tools: [pay], that: args.amount < 9, otherwise: ask, because: That is much. }\n";
    let (head, _) = POLICY.split_once("rules:\n").unwrap();
    std::fs::write(&policy, format!("{head}{rule}")).unwrap();
    let wipe = r#"{"call":{"name":"wipe","arguments":{}}}"#;
    let pay = r#"{"call":{"name":"pay","arguments":{"amount":9}}}"#;
    std::fs::write(&session, [wipe, wipe, pay].join("\n")).unwrap();
    let (code, told) = said(&["explain", "--policy", policy.to_str().unwrap()], &session);
    assert_eq!(code, Some(0), "{told}");
    let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("  state:")).collect();
    let expected = [
        "  state: `limit_wipe` from 0 to 1",
        "  state: `limit_wipe` stays 1, and would be 2",
        "  state: `budget_pay` from 0 to 9, if it is allowed",
    ];
    assert_eq!(lines, expected, "{told}");
}
