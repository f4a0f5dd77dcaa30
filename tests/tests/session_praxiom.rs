//! The state of a policy of praxiom across the wrapped servers of one session.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use framegate_tests::guarded::{Start, call, text, tools};
use framegate_tests::{Guarded, decided_again, process};
use rustix::process::Signal;
use serde_json::{Value, json};

/// One file for both servers, as praxiom's gateway has.
const POLICY: &str = r#"
patterns: { keys: ["AKIA"] }
state: { tainted: { type: bool, init: false }, reads: { type: int, init: 0 } }
invariants: [{ name: few, expr: reads <= 3 }]
actions:
  - { name: read, match: "fs__read*", effect: { reads: reads + 1 }, on_result: { tainted: "tainted or matches(result, keys)" } }
  - { name: send, match: "mail__send*", requires: ["not tainted"], effect: { reads: reads + 1 } }
"#;

fn start(record: &Path, server: &str, policy: &str, script: &Value) -> Guarded {
    let record = record.display().to_string();
    let options = ["--store", &record, "--session", "s", "--name", server];
    let any = r#"{"type":"object"}"#;
    let items = script.as_array().unwrap().iter().cloned().chain([tools(&[("read", any), ("send", any)])]);
    let (wrapper, script) = (framegate_tests::wrapper!(), Value::Array(items.collect()));
    let mut guarded =
        Start { wrapper: &wrapper, policy: Some(policy), options: &options, script, files: &[] }.now();
    guarded.open();
    guarded
}

fn told(record: &Path) {
    decided_again(env!("CARGO_BIN_EXE_framegate-under-test"), record);
}

#[test]
fn its_state_is_one_for_all_servers() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record.db");
    let (mut fs, mut mail) =
        (start(&record, "fs", POLICY, &json!([])), start(&record, "mail", POLICY, &json!([])));
    assert_eq!(text(&fs.call("1", "read", "{}")), "ran read");
    assert_eq!(text(&mail.call("1", "send", "{}")), "ran send");
    assert_eq!(text(&fs.call("2", "read", "{}")), "ran read");
    let denied = mail.call("2", "send", "{}");
    assert!(text(&denied).contains("few") && text(&denied).contains("reads=3"), "{denied}");
    fs.end();
    mail.end();
    let mut again = start(&record, "fs", POLICY, &json!([]));
    assert!(text(&again.call("1", "read", "{}")).contains("reads=3"));
    again.end();
    told(&record);
}

#[test]
fn an_answer_that_never_came_leaves_nobody_sure() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record.db");
    let silent = json!([{"on": "tools/call", "name": "read", "emit": [{"stderr": "got it\n"}]}]);
    let (mut fs, mut mail) =
        (start(&record, "fs", POLICY, &silent), start(&record, "mail", POLICY, &json!([])));
    fs.send(&call("1", "read", "{}"));
    fs.wait_stderr("got it");
    assert_eq!(mail.call("1", "send", "{}")["result"]["isError"], true);
    process::signal(fs.session.client.pid().cast_signed(), Signal::KILL);
    fs.session.client.wait_exit(Duration::from_secs(5)).unwrap();
    assert_eq!(mail.call("2", "send", "{}")["result"]["isError"], true);
    assert_eq!(start(&record, "mail", POLICY, &json!([])).call("1", "send", "{}")["result"]["isError"], true);
    mail.end();
}

#[test]
fn policies_with_other_variables_do_not_share_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record.db");
    let _fs = start(&record, "fs", POLICY, &json!([]));
    let other = folder.path().join("other.yaml");
    std::fs::write(&other, POLICY.replace("reads: { type: int, init: 0 }", "reads: { type: int, init: 1 }"))
        .unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    run.args(["run", "--session", "s", "--name", "mail", "--store"]).arg(&record).arg("--policy").arg(&other);
    let done = run.args(["--", "cat"]).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(78), "{said}");
    assert!(said.contains("reads: int = 1") && said.contains("reads: int = 0"), "{said}");
}
