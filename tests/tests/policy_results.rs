//! What becomes of a tool's results under a policy: passed on byte for byte, held against the tool's schema, and
//! heard by the rules over the conversation, also where a task's handle came first.

use std::{fs, thread, time::Duration};

use framegate_tests::{
    Guarded,
    guarded::{ENVELOPE, decision, ping, text},
    scan,
};
use serde_json::{Value, json};

/// `look` promises a number `n`; what it says decides on the next call.
const POLICY: &str = "framegate: 1\ndefault: allow\nrules:\n  - { name: quiet, tools: [safe], that: '!contains_any(conversation, [\"SECRET\"])' }\n";
const TOOLS: &str = r#"[{"name":"safe","inputSchema":{"type":"object"}},{"name":"look","inputSchema":{"type":"object"},
    "outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}]"#;
const UNFIT: &str = "a result of `look` does not fit its outputSchema in 1 places (passed on): `n`";

/// A server that gives these answers, each once, to requests of their method.
fn script(answers: &[(&str, &str)]) -> Value {
    let answer = |(on, result): &(&str, &str)| json!({ "on": on, "times": 1, "reply": format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{result}}}"#) });
    let mut items: Vec<Value> = answers.iter().map(answer).collect();
    items.push(json!({ "tools": TOOLS.replace('\n', " ") }));
    Value::Array(items)
}

fn request(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

fn is_quiet(guarded: &mut Guarded, id: &str) -> bool {
    let answer = guarded.call(id, "safe", "{}");
    match answer["result"]["isError"].as_bool() {
        Some(true) => {
            assert_eq!(decision(&answer)["failed"], json!(["quiet"]), "{answer}");
            false
        }
        _ => text(&answer) == "ran safe",
    }
}

#[test]
fn a_result_that_does_not_fit_its_schema_is_passed_on_and_reported() {
    let results = [
        r#"{"content":[],"structuredContent":{"n":7}}"#,
        r#"{"content":[],"isError":true,"structuredContent":{"n":"seven"}}"#,
        r#"{"content":[]}"#,
        r#"{"content":[], "structuredContent":{"n":1.50}}"#,
    ];
    let mut guarded =
        Guarded::start(&framegate_tests::wrapper!(), POLICY, script(&results.map(|it| ("tools/call", it))));
    guarded.open();
    for (n, result) in results.iter().enumerate() {
        assert!(!guarded.stderr().contains("outputSchema"), "{}", guarded.stderr());
        let id = (n + 1).to_string();
        guarded.call(&id, "look", "{}");
        let sent = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        assert!(scan::has(&guarded.session.client.received(), sent.as_bytes()), "{sent}");
        thread::sleep(Duration::from_millis(100));
    }
    guarded.wait_stderr(UNFIT);
    guarded.end();
}

#[test]
fn the_outcome_of_a_task_is_a_result_like_any_other_in_both_eras() {
    let said = r#"{"content":[],"structuredContent":{"note":"a SECRET"}}"#;
    let nested = r#"{"task":{"taskId":"7","status":"working"}}"#;
    let flat = r#"{"resultType":"task","taskId":"7","status":"working"}"#;
    let working = r#"{"taskId":"7","status":"working"}"#;
    let done = format!(r#"{{"taskId":"7","status":"completed","result":{said}}}"#);
    for (handle, asked, outcome) in [(nested, "tasks/result", said), (flat, "tasks/get", done.as_str())] {
        let answers = [("tools/call", handle), ("tasks/get", working), (asked, outcome), (asked, outcome)];
        let mut guarded = Guarded::start(&framegate_tests::wrapper!(), POLICY, script(&answers));
        guarded.open();
        let params =
            format!(r#"{{"name":"look","arguments":{{}},"task":{{"ttl":60000}},"_meta":{ENVELOPE}}}"#);
        guarded.ask(&request("1", "tools/call", &params), "1");
        guarded.ask(&request("2", "tasks/get", r#"{"taskId":"7"}"#), "2");
        assert!(is_quiet(&mut guarded, "3"), "nothing is said yet");
        guarded.ask(&request("4", asked, r#"{"taskId":"7"}"#), "4");
        guarded.wait_stderr(UNFIT);
        assert!(!is_quiet(&mut guarded, "5"), "{asked}");
        // Polled once more: it was said, and reported, once.
        guarded.ask(&request("6", asked, r#"{"taskId":"7"}"#), "6");
        guarded.ask(&ping("7"), "7");
        thread::sleep(Duration::from_millis(100));
        assert_eq!(guarded.stderr().matches("outputSchema").count(), 1, "{}", guarded.stderr());
        guarded.end();
    }
}

#[test]
fn limits_on_ids_begin_with_a_policy_that_enforces() {
    let policy = "framegate: 1\nmode: monitor\ndefault: allow\n";
    let mut guarded = Guarded::start(&framegate_tests::wrapper!(), policy, script(&[]));
    guarded.open();
    let long = format!("\"{}\"", "x".repeat(300));
    assert_eq!(text(&guarded.call(&long, "safe", "{}")), "ran safe");
    fs::write(guarded.policy_file(), "framegate: 1\ndefault: allow\n").unwrap();
    guarded.wait_stderr("was read anew and is in force");
    let other = long.replace('x', "y");
    let refused = guarded.call(&other, "safe", "{}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("over 256 bytes"), "{refused}");
    assert_eq!(guarded.server_got_count(&other), 0);
    guarded.end();
}
