//! Real MCP clients whose user is asked for what a call lacks, in both eras: the completed call reaches a real server,
//! a refusal is a tool error result in the client's own SDK, and a yes or the server's own questions may follow.

use crate::support::cache::{Peers, peers};
use crate::support::programs::{LEGACY, MODERN, Script, client, small_server};
use crate::support::scenario::{Guarded, under_policy};
use serde_json::{Value, json};

const YES: &str = r#"{"action":"accept","content":{"approve":true}}"#;
const DECLINE: &str = r#"{"action":"decline"}"#;

fn play(
    name: &str,
    (sdk, era): (&str, &str),
    (policy, calls, answers): (&str, Value, &[String]),
    server: &dyn Fn(&Peers) -> Vec<String>,
) -> Option<(Value, Guarded)> {
    let peers = peers()?;
    let answers = answers.iter().map(|answer| serde_json::from_str::<Value>(answer).expect("JSON"));
    let script = Script { calls, cancel: None, answers: Some(answers.collect()) };
    let start = |argv: &[String]| {
        let mut command = client(peers, sdk, &script, era);
        command.args(argv);
        command
    };
    let ran = under_policy(name, &start, &|_| server(peers), policy);
    let guarded: Value = serde_json::from_str(&ran.guarded).expect("the client prints one JSON line");
    Some((guarded, ran))
}

fn content(content: &Value) -> String {
    json!({ "action": "accept", "content": content }).to_string()
}

fn text(guarded: &Value, nth: usize) -> &str {
    guarded["calls"][nth]["content"][0][1].as_str().unwrap_or_default()
}

fn with_small_server(name: &str, sdk: &str, era: &str, server: &str) {
    let policy = "framegate: 1
default: allow
rules: [ { name: sure, tools: [add], that: args.a + args.b < 10, otherwise: ask, because: A large sum. } ]
";
    let calls = json!([
        {"name": "echo", "arguments": {}},
        {"name": "add", "arguments": {"a": 1}},
        {"name": "echo", "arguments": {}},
        {"name": "add", "arguments": {"a": 1}},
        {"name": "add", "arguments": {"a": 2, "b": 3}},
    ]);
    let answers = [
        content(&json!({"text": "one \u{2028}\u{2713}"})),
        // Wrong, then right; then it is a large sum.
        content(&json!({"b": "many"})),
        content(&json!({"b": 20})),
        YES.to_owned(),
        DECLINE.to_owned(),
        content(&json!({"b": 30})),
        DECLINE.to_owned(),
    ];
    let played = play(name, (sdk, era), (policy, calls, &answers), &|peers| small_server(peers, server));
    let Some((guarded, ran)) = played else { return };
    assert_eq!(
        (text(&guarded, 0), &guarded["calls"][0]["is_error"]),
        ("one \u{2028}\u{2713}", &json!(false)),
        "{guarded}"
    );
    assert_eq!(guarded["calls"][1]["is_error"], false, "{guarded}");
    assert!(text(&guarded, 1).contains("21"), "{guarded}");
    assert_eq!(guarded["calls"][2]["is_error"], true, "{guarded}");
    // Longer texts are given by their length.
    assert_eq!(guarded["calls"][2]["content"][0][0], "text");
    assert_eq!(guarded["calls"][3]["is_error"], true, "{guarded}");
    assert!(text(&guarded, 4).contains('5'), "{guarded}");
    let asked = guarded["asked"].as_array().expect("asked");
    assert_eq!(asked.len(), 7, "{guarded}");
    assert_eq!(asked[0], "Input for tool 'echo' is incomplete. Please provide the missing fields.");
    assert!(asked[2].as_str().is_some_and(|text| text.contains("did not fit: `b`: expected")), "{guarded}");
    assert!(asked[3].as_str().is_some_and(|text| text.contains("b: 20")), "{guarded}");
    let calls: Vec<&String> = ran.arrived.iter().filter(|line| line.contains("tools/call")).collect();
    assert_eq!(calls.len(), 3, "{calls:#?}");
    for line in &ran.arrived {
        assert!(
            !line.contains("approve") && !line.contains("requestState") && !line.contains("inputResponses"),
            "{line}"
        );
    }
}

/// A server of 2026-07-28 asks twice within the call that was completed: it gets what was filled in each time.
fn with_asking_server(name: &str, sdk: &str) {
    let policy = "framegate: 1\ndefault: allow\n";
    let calls = json!([{"name": "rename", "arguments": {}}, {"name": "rename"}]);
    let answers = [content(&json!({"to": "x"})), content(&json!({"to": "y"}))];
    let server = |peers: &Peers| small_server(peers, "asks");
    let Some((guarded, ran)) = play(name, (sdk, MODERN), (policy, calls, &answers), &server) else { return };
    assert!(text(&guarded, 0).starts_with("renamed to x"), "{guarded}");
    assert!(text(&guarded, 1).starts_with("renamed to y"), "{guarded}");
    let asked = guarded["asked"].as_array().expect("asked");
    let is_other: Vec<bool> = asked.iter().map(|text| text == "other").collect();
    assert_eq!(is_other, [false, true, true, false, true, true], "{guarded}");
    let calls: Vec<&String> = ran.arrived.iter().filter(|line| line.contains("tools/call")).collect();
    assert_eq!(calls.len(), 6, "{calls:#?}");
    assert!(
        calls.iter().all(|call| call.contains(r#""to":"x""#) || call.contains(r#""to":"y""#)),
        "{calls:#?}"
    );
}

#[test]
fn py2_client_py2_server_legacy() {
    with_small_server("f_py2_client_py2_server_legacy", "py2", LEGACY, "py2");
}

#[test]
fn py2_client_py2_server_modern() {
    with_small_server("f_py2_client_py2_server_modern", "py2", MODERN, "py2");
}

#[test]
fn py2_client_rmcp_server_modern() {
    with_small_server("f_py2_client_rmcp_server_modern", "py2", MODERN, "rmcp");
}

#[test]
fn ts1_client_py2_server_legacy() {
    with_small_server("f_ts1_client_py2_server_legacy", "ts1", LEGACY, "py2");
}

#[test]
fn ts2_client_ts2_server_legacy() {
    with_small_server("f_ts2_client_ts2_server_legacy", "ts2", LEGACY, "ts2");
}

#[test]
fn ts2_client_ts2_server_modern() {
    with_small_server("f_ts2_client_ts2_server_modern", "ts2", MODERN, "ts2");
}

#[test]
fn ts2_client_py2_server_modern() {
    with_small_server("f_ts2_client_py2_server_modern", "ts2", MODERN, "py2");
}

#[test]
fn py2_client_asking_server_modern() {
    with_asking_server("f_py2_client_asking_server_modern", "py2");
}

#[test]
fn ts2_client_asking_server_modern() {
    with_asking_server("f_ts2_client_asking_server_modern", "ts2");
}
