//! A policy of praxiom as it is, in front of a server: its words, its line on stderr, its state, and where it decides
//! more safely than the original.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use framegate_tests::guarded::{Start, call, decision, text, tools};
use framegate_tests::{Guarded, Stored};
use serde_json::{Value, json};

const ANY: &str = r#"{"type":"object"}"#;
const POLICY: &str = r#"
patterns: { keys: ["AKIA"], secrets: ["/.env"] }
state: { tainted: { type: bool, init: false }, reads: { type: int, init: 0 } }
invariants: [{ name: few, expr: reads <= 3 }]
actions:
  - { name: read, match: "fs__read*", effect: { reads: reads + 1, tainted: "tainted or matches(payload, secrets)" },
      on_result: { tainted: "tainted or matches(result, keys)" } }
  - { name: send, match: "fs__send*", args: { to: str }, requires: ["member(to, ['alice', 'bob'])", "not tainted"] }
"#;
const ALICE: &str = r#"{"to":"alice"}"#;

fn listed() -> Value {
    tools(&[("read", ANY), ("send", ANY), ("release", ANY), ("other", ANY)])
}

/// What `read` gives.
fn reads(result: &str) -> Value {
    json!({ "on": "tools/call", "name": "read", "reply": format!(r#"{{"jsonrpc":"2.0","id":$ID,{result}}}"#) })
}

/// `read` is not answered before `release` is called.
fn reads_late(id: &str, said: &str) -> Value {
    let late = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{said}"}}]}}}}"#
    );
    let own = r#"{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}"#;
    json!([
        { "on": "tools/call", "name": "read" },
        { "on": "tools/call", "name": "release", "emit": [late, own] },
        listed(),
    ])
}

fn start(policy: &str, options: &[&str], script: Value) -> Guarded {
    let options = [&["--name", "fs"], options].concat();
    let wrapper = framegate_tests::wrapper!();
    let mut guarded =
        Start { wrapper: &wrapper, policy: Some(policy), options: &options, script, files: &[] }.now();
    guarded.open();
    guarded
}

fn denied(answer: &Value) -> &str {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(answer["result"]["content"].as_array().map(Vec::len), Some(1), "{answer}");
    assert_eq!(decision(answer)["outcome"], "deny", "{answer}");
    text(answer)
}

/// The lines about calls on stderr, without their times.
fn audit(guarded: &Guarded) -> Vec<String> {
    let said = guarded.stderr();
    let is_time = |head: &str| head.len() == 8 && head.bytes().all(|b| b.is_ascii_digit() || b == b':');
    let lines = said.lines().filter_map(|line| line.split_once("  ").filter(|(head, _)| is_time(head)));
    lines.map(|(_, line)| untimed(line).to_owned()).collect()
}

fn untimed(line: &str) -> &str {
    let Some((rest, last)) = line.rsplit_once("  ") else { return line };
    let is_millis = last.strip_suffix("ms").is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()));
    if is_millis { rest } else { line }
}

#[test]
fn denials_and_lines_are_the_originals_and_the_client_keeps_native_names() {
    let secret = reads(r#""result":{"content":[{"type":"text","text":"key AKIA1"}]}"#);
    let mut guarded = start(POLICY, &[], json!([secret, listed()]));
    assert_eq!(text(&guarded.call("1", "send", ALICE)), "ran send");
    assert_eq!(text(&guarded.call("2", "read", r#"{"path":"/a"}"#)), "key AKIA1");
    assert_eq!(
        denied(&guarded.call("3", "send", ALICE)),
        "praxiom blocked 'fs__send': fails guard 'send#2' [state: tainted=True, reads=1]"
    );
    assert_eq!(
        denied(&guarded.call("4", "send", r#"{"to":7}"#)),
        "praxiom blocked 'fs__send': action 'send' requires 'to' to be str, got int"
    );
    assert_eq!(
        text(&guarded.call("5", "other", "{}")),
        "ran other",
        "by default what no action covers passes"
    );
    guarded.call("6", "read", "{}");
    guarded.call("7", "read", "{}");
    assert_eq!(
        denied(&guarded.call("8", "read", "{}")),
        "praxiom blocked 'fs__read': violates invariant 'few' (reads <= 3) [state: tainted=True, reads=3]"
    );
    guarded.end();
    assert_eq!(
        audit(&guarded),
        [
            r#"ALLOW fs__send  "to"="alice"  [send] tainted=False, reads=0"#,
            r#"ALLOW fs__read  "path"="/a"  [read] result → tainted=True, reads=1"#,
            r#"DENY  fs__send  "to"="alice"  fails guard 'send#2' [state: tainted=True, reads=1]"#,
            r#"DENY  fs__send  "to"=7  action 'send' requires 'to' to be str, got int"#,
            "PASS  fs__other  no policy action covers this tool",
            "ALLOW fs__read  [read] tainted=True, reads=2",
            "ALLOW fs__read  [read] tainted=True, reads=3",
            "DENY  fs__read  violates invariant 'few' (reads <= 3) [state: tainted=True, reads=3]",
        ]
    );
    assert!(!String::from_utf8(guarded.session.record.server_got()).unwrap().contains("fs__"));
}

#[test]
fn two_calls_at_once_do_not_slip_past_each_other() {
    for (said, then) in [
        ("clean", "ran send"),
        ("AKIA", "praxiom blocked 'fs__send': fails guard 'send#2' [state: tainted=True, reads=1]"),
    ] {
        let mut guarded = start(POLICY, &[], reads_late("1", said));
        guarded.send(&call("1", "read", "{}"));
        guarded.wait_server_got(r#""name":"read""#, 1);
        assert_eq!(
            denied(&guarded.call("2", "send", ALICE)),
            "praxiom blocked 'fs__send': cannot decide guard 'send#2': a call in flight may still change 'tainted'; \
             call again when it has answered [state: tainted=False, reads=1]"
        );
        guarded.call("3", "release", "{}");
        guarded.wait("1");
        assert_eq!(text(&guarded.call("4", "send", ALICE)), then);
        guarded.end();
    }
    let mut guarded = start(POLICY, &["--compat"], reads_late("1", "AKIA"));
    guarded.send(&call("1", "read", "{}"));
    guarded.wait_server_got(r#""name":"read""#, 1);
    assert_eq!(text(&guarded.call("2", "send", ALICE)), "ran send", "the original lets it slip");
    guarded.call("3", "release", "{}");
    guarded.wait("1");
    denied(&guarded.call("4", "send", ALICE));
    guarded.end();
}

#[test]
fn a_cancelled_read_may_have_told_a_secret() {
    for (options, then) in [
        (
            &[][..],
            "praxiom blocked 'fs__send': cannot decide guard 'send#2': the answer to an earlier call was not seen \
                   and may have changed 'tainted' [state: tainted=<unknown>, reads=1]",
        ),
        (&["--compat"][..], "ran send"),
    ] {
        let mut guarded = start(POLICY, options, reads_late("9", ""));
        guarded.send(&call("1", "read", "{}"));
        guarded.wait_server_got(r#""name":"read""#, 1);
        guarded.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
        guarded.wait_server_got("notifications/cancelled", 1);
        assert_eq!(text(&guarded.call("2", "send", ALICE)), then);
        guarded.end();
    }
}

#[test]
fn what_an_error_says_reaches_the_model_too() {
    let error = reads(r#""error":{"code":-32000,"message":"cannot parse AKIA1"}"#);
    let mut guarded = start(POLICY, &[], json!([error.clone(), listed()]));
    guarded.call("1", "read", "{}");
    assert!(denied(&guarded.call("2", "send", ALICE)).ends_with("[state: tainted=True, reads=1]"));
    guarded.end();
    assert_eq!(audit(&guarded)[0], "ERROR fs__read  error -32000");
    let mut guarded = start(POLICY, &["--compat"], json!([error, listed()]));
    guarded.call("1", "read", "{}");
    assert_eq!(text(&guarded.call("2", "send", ALICE)), "ran send", "the original reads no errors");
    guarded.end();
}

#[test]
fn an_escape_inside_of_a_value_is_no_way_past_an_allow_list() {
    let escaped = r#"{"to":"\\u{61}lice"}"#;
    let mut guarded = start(POLICY, &[], json!([listed()]));
    assert_eq!(
        denied(&guarded.call("1", "send", escaped)),
        "praxiom blocked 'fs__send': fails guard 'send#1' [state: tainted=False, reads=0]"
    );
    guarded.end();
    let mut guarded = start(POLICY, &["--compat"], json!([listed()]));
    assert_eq!(text(&guarded.call("1", "send", escaped)), "ran send");
    guarded.end();
}

#[test]
fn integers_of_any_size_are_read_and_others_pass_unread() {
    let policy = "actions:\n  - { name: send, match: 'fs__send', args: { n: int }, requires: 'n % 7 < 7 and n > 0' }\n";
    let digits = |count: usize| format!(r#"{{"n":{}}}"#, "9".repeat(count));
    let mut guarded = start(policy, &[], json!([listed()]));
    for count in [1001, 4299, 4300] {
        let answer = guarded.call(&count.to_string(), "send", &digits(count));
        assert_eq!(text(&answer), "ran send", "{count} digits: {answer}");
    }
    let answer = guarded.call("5", "send", &digits(4301));
    assert!(answer["error"]["message"].as_str().unwrap().contains("4300"), "{answer}");
    assert_eq!(text(&guarded.call("6", "other", &digits(4300))), "ran other");
    guarded.end();
}

// === starting ===

fn framegate(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).env("XDG_STATE_HOME", folder);
    command.output().unwrap()
}

#[test]
fn a_policy_that_can_be_about_nothing_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let run = |options: &[&str], policy: &str| {
        fs::write(folder.path().join("p.yaml"), policy).unwrap();
        let arguments =
            [&["run", "--policy", "p.yaml"], options, &["--", "/bin/sh", "-c", "touch started; cat"]]
                .concat();
        let output = framegate(&arguments, folder.path());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(78), "{said}");
        assert!(!folder.path().join("started").exists(), "{said}");
        said
    };
    let said = run(&[], POLICY);
    assert!(
        said.contains(
            "its globs begin with `fs__`): say what this server is called there: framegate run --name fs"
        ),
        "{said}"
    );
    let said = run(&["--name", "files"], POLICY);
    assert!(said.contains("no action can match any tool of `files`") && said.contains("p.yaml:6:"), "{said}");
    let said = run(&["--name", "fs"], &POLICY.replace("not tainted", "not taintd"));
    assert!(said.contains("p.yaml:8:"), "{said}");
    assert!(said.contains("policy p.yaml, action 'send', requires: unknown name 'taintd'"), "{said}");
    let said = run(&["--name", "fs"], &POLICY.replace("init: 0", "init: 9"));
    assert!(said.contains("the initial state violates Φ_safe: few"), "{said}");
    let said = run(&["--name", "fs", "--compat"], "framegate: 1\n");
    assert!(said.contains("this is no policy of praxiom, so there is no dialect to decide it in"), "{said}");
}

#[test]
fn actions_that_match_no_listed_tool_let_nothing_through() {
    let policy = "actions:\n  - { name: send, match: '*__sent', requires: 'false' }\n";
    let mut guarded = start(policy, &[], json!([listed()]));
    let refused = guarded.call("1", "send", "{}");
    assert_eq!(decision(&refused)["outcome"], "deny");
    let said = text(&refused);
    assert!(
        said.contains("no action matches any tool of `fs`: they are called `fs__other`, `fs__read`"),
        "{said}"
    );
    guarded.end();
    assert_eq!(guarded.server_got_count("tools/call"), 0);
    assert!(guarded.stderr().contains("no action matches any tool of `fs`"), "{}", guarded.stderr());
}

#[test]
fn an_action_for_no_listed_tool_is_told() {
    let policy = POLICY.to_owned() + "  - { name: idle, match: fs__gone, requires: 'false' }\n";
    let mut guarded = start(&policy, &[], json!([listed()]));
    assert_eq!(text(&guarded.call("1", "send", ALICE)), "ran send");
    guarded.end();
    assert!(
        guarded.stderr().contains("the action `idle` matches none of the tools of `fs`"),
        "{}",
        guarded.stderr()
    );
}

#[test]
fn a_default_of_deny_refuses_what_no_action_covers_and_hides_nothing() {
    let policy = format!("default: deny\n{POLICY}");
    let mut guarded = start(&policy, &[], json!([listed()]));
    let listing = guarded.ask(r#"{"jsonrpc":"2.0","id":"tl","method":"tools/list"}"#, "\"tl\"");
    assert_eq!(listing["result"]["tools"].as_array().unwrap().len(), 4);
    assert_eq!(
        denied(&guarded.call("1", "other", "{}")),
        "praxiom blocked 'fs__other': no policy action covers 'fs__other' and the policy default is deny"
    );
    guarded.end();
}

// === while it runs, and afterwards ===

#[test]
fn a_policy_that_is_read_anew_keeps_what_fits_of_the_state() {
    let mut guarded = start(POLICY, &[], json!([listed()]));
    guarded.call("1", "read", r#"{"path":"/.env"}"#);
    denied(&guarded.call("2", "send", ALICE));
    let next = POLICY.replace(
        "reads: { type: int, init: 0 }",
        "reads: { type: int, init: 0 }, sent: { type: int, init: 5 }",
    );
    fs::write(guarded.policy_file(), next).unwrap();
    guarded.wait_stderr("was read anew and is in force");
    guarded.wait_stderr("the state's variables, by name and type: kept: `tainted`, `reads`; begun at the initial value: `sent`");
    assert_eq!(
        denied(&guarded.call("3", "send", ALICE)),
        "praxiom blocked 'fs__send': fails guard 'send#2' [state: tainted=True, reads=1, sent=5]"
    );
    fs::write(guarded.policy_file(), "actions: [{ name: a, match: other__x, requires: 'false' }]\n").unwrap();
    guarded.wait_stderr("the one before stays in force");
    denied(&guarded.call("4", "send", ALICE));
    guarded.end();
}

#[test]
fn in_monitor_mode_nothing_is_refused_and_what_would_be_changes_no_state() {
    let mut guarded = start(POLICY, &["--mode", "monitor"], json!([listed()]));
    guarded.call("1", "read", r#"{"path":"/.env"}"#);
    assert_eq!(text(&guarded.call("2", "send", ALICE)), "ran send");
    for id in ["3", "4", "5"] {
        guarded.call(id, "read", "{}");
    }
    guarded.end();
    let lines = audit(&guarded);
    assert_eq!(
        lines[1],
        r#"PASS  fs__send  "to"="alice"  would deny: fails guard 'send#2' [state: tainted=True, reads=1]"#
    );
    assert!(
        lines[4]
            .ends_with("would deny: violates invariant 'few' (reads <= 3) [state: tainted=True, reads=3]"),
        "{lines:?}"
    );
}

#[test]
fn the_record_has_every_state_and_decides_again() {
    for options in [&[][..], &["--compat"][..]] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("record.db");
        let store = file.display().to_string();
        let options = [options, &["--store", &store]].concat();
        let secret = reads(r#""result":{"content":[{"type":"text","text":"AKIA"}]}"#);
        let mut guarded = start(POLICY, &options, json!([secret, listed()]));
        guarded.call("1", "read", "{}");
        denied(&guarded.call("2", "send", ALICE));
        guarded.call("3", "send", r#"{"to":"\\u{61}lice"}"#);
        guarded.call("4", "other", "{}");
        guarded.end();
        for command in ["verify", "replay", "log"] {
            let output = framegate(&[command, &store], folder.path());
            let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert_eq!(output.status.code(), Some(0), "{command}: {said}");
            match command {
                "replay" => assert!(said.contains("4 decisions: 4 as recorded"), "{said}"),
                "log" => assert!(said.contains("praxiom:send#2"), "{said}"),
                _ => {}
            }
        }
        let stored = Stored::read(&file).unwrap();
        let calls: Vec<&Value> = stored.of("call").collect();
        let state = |record: &Value, field: &str| -> Value {
            serde_json::from_str(&stored.content(record, field).unwrap()).unwrap()
        };
        let read = state(calls[0], "praxiom");
        assert_eq!(read["praxiom"]["met"]["fresh"], true);
        assert_eq!(read["praxiom"]["next"], json!({ "state": { "tainted": false, "reads": 1 } }));
        let answered = state(stored.end_of(calls[0]).unwrap(), "state");
        assert_eq!(answered["praxiom"]["next"], json!({ "state": { "tainted": true, "reads": 1 } }));
        assert_eq!(
            state(calls[1], "praxiom")["praxiom"]["met"]["variables"][0],
            json!(["tainted", "bool", true])
        );
    }
}

#[test]
fn a_restarted_session_begins_with_the_initial_state_as_in_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("record.db").display().to_string();
    for _ in 0..2 {
        let mut guarded = start(POLICY, &["--store", &store], json!([listed()]));
        assert_eq!(text(&guarded.call("1", "send", ALICE)), "ran send");
        guarded.call("2", "read", r#"{"path":"/.env"}"#);
        denied(&guarded.call("3", "send", ALICE));
        guarded.end();
    }
}

#[test]
fn a_session_is_explained_by_the_names_it_gives() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        json!({ "call": { "name": "fs__read", "arguments": {} }, "output": "AKIA" }),
        json!({ "call": { "name": "fs__send", "arguments": { "to": "bob" } } }),
        json!({ "call": { "name": "web__fetch", "arguments": {} } }),
    ];
    let session = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    fs::write(folder.path().join("session.jsonl"), session).unwrap();
    fs::write(folder.path().join("p.yaml"), POLICY).unwrap();
    let output = framegate(&["explain", "--json", "--policy", "p.yaml", "session.jsonl"], folder.path());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "no listing is needed");
    let said = String::from_utf8(output.stdout).unwrap();
    let said: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(said[0]["state"]["before"], json!({ "tainted": "False", "reads": "0" }));
    assert_eq!(said[0]["state"]["after"], json!({ "tainted": "False", "reads": "1" }));
    assert_eq!(
        said[1]["message"],
        "praxiom blocked 'fs__send': fails guard 'send#2' [state: tainted=True, reads=1]"
    );
    assert_eq!(said[2]["outcome"], "allow");
}
