//! Real MCP clients whose user is asked for a yes, in both eras: an approved call goes through as without
//! Framegate, a declined one is a tool error result in the client's own SDK, and a server that asks its own
//! questions is answered as ever. One test a pair.

use crate::support::cache::{Peers, peers};
use crate::support::programs::{LEGACY, MODERN, Script, client, node_server, small_server};
use crate::support::scenario::{Guarded, under_policy};
use serde_json::{Value, json};

const YES: &str = r#"{"action":"accept","content":{"approve":true}}"#;

fn play(
    name: &str,
    (sdk, era): (&str, &str),
    (policy, calls, answers): (&str, Value, &[&str]),
    server: &dyn Fn(&Peers) -> Vec<String>,
) -> Option<(Value, Value, Guarded)> {
    let peers = peers()?;
    let answers = answers.iter().map(|answer| serde_json::from_str::<Value>(answer).expect("JSON"));
    let script = Script { calls, cancel: None, answers: Some(answers.collect()) };
    let start = |argv: &[String]| {
        let mut command = client(peers, sdk, &script, era);
        command.args(argv);
        command
    };
    let ran = under_policy(name, &start, &|_| server(peers), policy);
    let read =
        |printed: &str| serde_json::from_str::<Value>(printed).expect("the client prints one JSON line");
    Some((read(&ran.direct), read(&ran.guarded), ran))
}

fn with_small_server(name: &str, sdk: &str, era: &str, server: &str) {
    let policy = "framegate: 1
default: allow
rules: [ { name: sure, tools: [echo], that: 'false', otherwise: ask, because: Echoing needs a yes. } ]
";
    let calls = json!([
        {"name": "echo", "arguments": {"text": "one \u{2028}\u{2713}"}},
        {"name": "echo", "arguments": {"text": "two"}},
        {"name": "add", "arguments": {"a": 1, "b": 2}},
        {"name": "echo", "arguments": {"text": "three"}},
        {"name": "echo", "arguments": {"text": "four"}},
    ]);
    let answers =
        [YES, r#"{"action":"decline"}"#, r#"{"action":"accept","content":{"approve":"true"}}"#, YES];
    let played = play(name, (sdk, era), (policy, calls, &answers), &|peers| small_server(peers, server));
    let Some((direct, guarded, ran)) = played else { return };
    for same in [0, 2, 4] {
        assert_eq!(guarded["calls"][same], direct["calls"][same], "{guarded}");
        assert_eq!(guarded["calls"][same]["is_error"], false, "{guarded}");
    }
    for refused in [1, 3] {
        assert_eq!(guarded["calls"][refused]["is_error"], true, "{guarded}");
        assert!(guarded["calls"][refused].to_string().contains("declined"), "{guarded}");
    }
    let asked = guarded["asked"].as_array().expect("asked");
    assert_eq!(asked.len(), 4, "{guarded}");
    assert!(asked[0].as_str().is_some_and(|text| text.contains(r#"text: "one \u{2028}✓""#)), "{guarded}");
    let calls: Vec<&String> = ran.arrived.iter().filter(|line| line.contains("tools/call")).collect();
    assert_eq!(calls.len(), 3, "{calls:#?}");
    for line in &ran.arrived {
        assert!(!line.contains("approve") && !line.contains("requestState"), "{line}");
    }
    if era == LEGACY {
        // What the client said to the server, and the server got, byte for byte.
        for call in calls {
            assert!(ran.sent.contains(call), "{call}");
        }
    }
}

/// The server asks on its own, inside a call that was asked about.
fn with_everything(name: &str, sdk: &str, era: &str) {
    let policy = "framegate: 1
default: allow
rules: [ { name: sure, tools: [trigger-elicitation-request], that: 'false', otherwise: ask, because: Sure? } ]
";
    let calls = json!([
        {"name": "trigger-elicitation-request"},
        {"name": "echo", "arguments": {"message": "hi"}},
        {"name": "trigger-elicitation-request"},
    ]);
    let answers = [YES, r#"{"action":"cancel"}"#];
    let played = play(name, (sdk, era), (policy, calls, &answers), &|peers| node_server(peers, "EVERYTHING"));
    let Some((direct, guarded, _)) = played else { return };
    for same in [0, 1] {
        assert_eq!(guarded["calls"][same], direct["calls"][same], "{guarded}");
    }
    assert_eq!(direct["asked"], json!(["other", "other"]));
    assert_eq!(guarded["calls"][2]["is_error"], true, "{guarded}");
    let asked = guarded["asked"].as_array().expect("asked");
    assert_eq!(asked.len(), 3, "{guarded}");
    assert_eq!(asked[1], "other", "{guarded}");
}

/// A server of 2026-07-28 asks twice within the call that was asked about: three rounds, one of them ours.
fn with_asking_server(name: &str, sdk: &str) {
    let policy = "framegate: 1
default: allow
rules: [ { name: sure, tools: [rename], that: 'false', otherwise: ask, because: Sure? } ]
";
    let calls =
        json!([{"name": "rename", "arguments": {"to": "x"}}, {"name": "rename", "arguments": {"to": "x"}}]);
    let server = |peers: &Peers| small_server(peers, "asks");
    let Some((direct, guarded, ran)) = play(name, (sdk, MODERN), (policy, calls, &[YES, YES]), &server)
    else {
        return;
    };
    assert_eq!(guarded["calls"], direct["calls"]);
    assert!(direct["calls"][1].to_string().contains("renamed to x"), "{direct}");
    assert_eq!(direct["asked"], json!(["other", "other", "other", "other"]));
    let asked = guarded["asked"].as_array().expect("asked");
    let is_other: Vec<bool> = asked.iter().map(|text| text == "other").collect();
    assert_eq!(is_other, [false, true, true, false, true, true], "{guarded}");
    let rounds: Vec<&String> = ran.arrived.iter().filter(|line| line.contains("requestState")).collect();
    assert_eq!(rounds.len(), 4, "{rounds:#?}");
    for round in rounds {
        assert!(ran.sent.contains(round), "the server's own rounds pass byte for byte: {round}");
    }
}

#[test]
fn py2_client_asking_server_modern() {
    with_asking_server("a_py2_client_asking_server_modern", "py2");
}

#[test]
fn ts2_client_asking_server_modern() {
    with_asking_server("a_ts2_client_asking_server_modern", "ts2");
}

#[test]
fn py2_client_py2_server_legacy() {
    with_small_server("a_py2_client_py2_server_legacy", "py2", LEGACY, "py2");
}

#[test]
fn py2_client_py2_server_modern() {
    with_small_server("a_py2_client_py2_server_modern", "py2", MODERN, "py2");
}

#[test]
fn py2_client_ts2_server_modern() {
    with_small_server("a_py2_client_ts2_server_modern", "py2", MODERN, "ts2");
}

#[test]
fn ts1_client_py2_server_legacy() {
    with_small_server("a_ts1_client_py2_server_legacy", "ts1", LEGACY, "py2");
}

#[test]
fn ts2_client_ts2_server_legacy() {
    with_small_server("a_ts2_client_ts2_server_legacy", "ts2", LEGACY, "ts2");
}

#[test]
fn ts2_client_ts2_server_modern() {
    with_small_server("a_ts2_client_ts2_server_modern", "ts2", MODERN, "ts2");
}

#[test]
fn ts2_client_py2_server_modern() {
    with_small_server("a_ts2_client_py2_server_modern", "ts2", MODERN, "py2");
}

#[test]
fn py2_client_rmcp_server_modern() {
    with_small_server("a_py2_client_rmcp_server_modern", "py2", MODERN, "rmcp");
}

#[test]
fn rmcp_client_rmcp_server_legacy() {
    with_small_server("a_rmcp_client_rmcp_server_legacy", "rmcp", LEGACY, "rmcp");
}

#[test]
fn rmcp_client_rmcp_server_modern() {
    with_small_server("a_rmcp_client_rmcp_server_modern", "rmcp", MODERN, "rmcp");
}

#[test]
fn rmcp_client_py2_server_modern() {
    with_small_server("a_rmcp_client_py2_server_modern", "rmcp", MODERN, "py2");
}

#[test]
fn rmcp_client_asking_server_modern() {
    with_asking_server("a_rmcp_client_asking_server_modern", "rmcp");
}

#[test]
fn rmcp_client_everything_legacy() {
    with_everything("a_rmcp_client_everything_legacy", "rmcp", LEGACY);
}

#[test]
fn py2_client_everything_legacy() {
    with_everything("a_py2_client_everything_legacy", "py2", LEGACY);
}

#[test]
fn ts1_client_everything_legacy() {
    with_everything("a_ts1_client_everything_legacy", "ts1", LEGACY);
}
