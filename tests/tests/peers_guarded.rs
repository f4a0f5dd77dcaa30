//! Real MCP clients against real MCP servers under a policy: a refused call is a tool error result in the
//! client's own SDK, with our text and no exception; a hidden tool is gone; all else is as without Framegate,
//! and arrives byte for byte. One test a pair.

use std::fs;
use std::path::Path;

use crate::support::cache::{Peers, peers};
use crate::support::programs::{
    AUTO, LEGACY, LEGACY_VERSION, MODERN, MODERN_VERSION, Script, client, memory_server, node_server,
    small_server,
};
use crate::support::scenario::{Guarded, scratch, under_policy};
use serde_json::{Value, json};

const BECAUSE: &str = "The policy says no.";

/// A scenario: the calls, and which of them are refused.
struct Case<'a> {
    sdk: &'a str,
    era: &'a str,
    policy: &'a str,
    script: Script,
    /// By their place in the script.
    refused: &'a [usize],
    hidden: &'a [&'a str],
}

/// Plays it; returns what the client reported under the policy.
fn play(name: &str, case: &Case<'_>, server: &dyn Fn(&Peers, &Path) -> Vec<String>) -> Option<Value> {
    let peers = peers()?;
    let start = |argv: &[String]| {
        let mut command = client(peers, case.sdk, &case.script, case.era);
        command.args(argv);
        command
    };
    let ran = under_policy(name, &start, &|folder| server(peers, folder), case.policy);
    let read =
        |printed: &str| serde_json::from_str::<Value>(printed).expect("the client prints one JSON line");
    let (direct, guarded) = (read(&ran.direct), read(&ran.guarded));
    assert_eq!(direct["protocol"], guarded["protocol"]);
    let mut shown = direct["tools"].as_array().expect("tools").clone();
    shown.retain(|tool| !case.hidden.iter().any(|hidden| tool == hidden));
    assert_eq!(guarded["tools"], Value::from(shown));
    assert_calls(case, &direct, &guarded);
    for member in ["cancelled", "ping"] {
        assert_eq!(direct[member], guarded[member], "{member}");
    }
    assert_arrived(case, &ran);
    Some(guarded)
}

fn assert_calls(case: &Case<'_>, direct: &Value, guarded: &Value) {
    let calls = |report: &Value| report["calls"].as_array().expect("calls").clone();
    for (at, (direct, guarded)) in calls(direct).iter().zip(calls(guarded)).enumerate() {
        if !case.refused.contains(&at) {
            assert_eq!(*direct, guarded, "call {at}");
            continue;
        }
        assert_eq!(guarded["is_error"], true, "call {at} is no tool error result: {guarded}");
        assert_eq!(guarded["structured"], false, "{guarded}");
        let content = guarded["content"].as_array().expect("content");
        assert!(content.len() == 1 && content[0][0] == "text", "{guarded}");
        let text = content[0][1].as_str().unwrap_or_default();
        let is_said = text.contains(BECAUSE) || text.contains("lists no tool") || text.contains("not offer");
        assert!(is_said && text.contains("was refused and not run"), "{guarded}");
    }
}

/// What was not refused arrived as it was sent, in order.
fn assert_arrived(case: &Case<'_>, ran: &Guarded) {
    let (mut sent, mut at) = (Vec::new(), 0);
    for line in &ran.sent {
        let is_call = line.contains("tools/call");
        if !(is_call && case.refused.contains(&at)) {
            sent.push(line.clone());
        }
        at += usize::from(is_call);
    }
    assert_eq!(ran.arrived, sent, "client to server");
}

// === the servers ===

const SMALL: &str = "framegate: 1
tools: { echo: {}, add: {}, big: {}, slow: {} }
rules:
  - { name: words, tools: [echo], that: args.text != 'forbidden', because: The policy says no. }
  - { name: numbers, tools: [add], that: args.a < 13, because: The policy says no. }
";

fn with_small_server(name: &str, sdk: &str, era: &str, server: &str, version: &str) {
    let script = Script {
        calls: json!([
            {"name": "echo", "arguments": {"text": "h\u{e4}llo \u{2028}\u{85} \u{2713} \u{1f980}"}},
            {"name": "echo", "arguments": {"text": "forbidden"}},
            // `add` has an outputSchema: some clients validate a result's structuredContent against it.
            {"name": "add", "arguments": {"a": 13, "b": 2}},
            {"name": "add", "arguments": {"a": 1, "b": 2}},
            {"name": "fail"},
            {"name": "nope"},
            {"name": "big", "arguments": {"chars": 2_000_000}},
        ]),
        cancel: (sdk != "py1").then(|| json!({"name": "slow", "arguments": {"seconds": 30}})),
        answers: None,
    };
    let case = Case { sdk, era, policy: SMALL, script, refused: &[1, 2, 4, 5], hidden: &["fail"] };
    let Some(got) = play(name, &case, &|peers, _| small_server(peers, server)) else { return };
    assert_eq!(got["protocol"], version);
    assert_eq!(got["calls"][3]["structured"], true);
}

fn with_everything(name: &str, sdk: &str, era: &str) {
    let policy = "framegate: 1
default: allow
tools: { get-sum: { hidden: true } }
rules: [ { name: words, tools: [echo], that: '!has(args.message) || args.message != \"forbidden\"', because: The policy says no. } ]
";
    let script = Script {
        calls: json!([
            {"name": "echo", "arguments": {"message": "hi"}},
            {"name": "echo", "arguments": {"message": "forbidden"}},
            {"name": "get-sum", "arguments": {"a": 1, "b": 2}},
            {"name": "get-tiny-image"},
        ]),
        cancel: None,
        answers: None,
    };
    let case = Case { sdk, era, policy, script, refused: &[1, 2], hidden: &["get-sum"] };
    play(name, &case, &|peers, _| node_server(peers, "EVERYTHING"));
}

fn with_filesystem(name: &str, sdk: &str, era: &str) {
    let shared = scratch(&format!("{name}-files")).canonicalize().expect("the folder is there");
    fs::create_dir_all(shared.join("open")).expect("make a folder");
    fs::write(shared.join("open/note.txt"), "line one\nline two\n").expect("write the note");
    fs::write(shared.join("secret.txt"), "not for the model").expect("write the secret");
    let path = |name: &str| shared.join(name).display().to_string();
    let policy = format!(
        "framegate: 1\ntools: {{ \"read_*\": {{}}, list_directory: {{}} }}\nrules:\n  - {{ name: inside, that: 'within(args.path, \"{}\")', because: {BECAUSE} }}\n",
        path("open")
    );
    let script = Script {
        calls: json!([
            {"name": "list_directory", "arguments": {"path": path("open")}},
            {"name": "read_text_file", "arguments": {"path": path("open/note.txt")}},
            {"name": "read_text_file", "arguments": {"path": path("open/../secret.txt")}},
        ]),
        cancel: None,
        answers: None,
    };
    let hidden = [
        "create_directory",
        "directory_tree",
        "edit_file",
        "get_file_info",
        "list_allowed_directories",
        "list_directory_with_sizes",
        "move_file",
        "search_files",
        "write_file",
    ];
    let case = Case { sdk, era, policy: &policy, script, refused: &[2], hidden: &hidden };
    let server = |peers: &Peers, _: &Path| {
        let mut argv = node_server(peers, "FILESYSTEM");
        argv.push(shared.display().to_string());
        argv
    };
    play(name, &case, &server);
    let _ = fs::remove_dir_all(&shared);
}

fn with_memory(name: &str, sdk: &str, era: &str) {
    let policy = "framegate: 1
tools: { \"*\": {}, \"delete_*\": { hidden: true } }
rules: [ { name: names, tools: [create_entities], that: 'args.entities.all(one, one.name != \"secret\")', because: The policy says no. } ]
";
    let entity = |name: &str| {
        json!({"name": "create_entities", "arguments": {"entities": [
            {"name": name, "entityType": "thing", "observations": ["it is open"]},
        ]}})
    };
    let known = json!({"name": "open_nodes", "arguments": {"names": ["gate"]}});
    let script =
        Script { calls: json!([entity("gate"), entity("secret"), known]), cancel: None, answers: None };
    let hidden = ["delete_entities", "delete_observations", "delete_relations"];
    let case = Case { sdk, era, policy, script, refused: &[1], hidden: &hidden };
    play(name, &case, &memory_server);
}

// === the matrix ===

#[test]
fn py2_client_py2_server_legacy() {
    with_small_server("g_py2_client_py2_server_legacy", "py2", LEGACY, "py2", LEGACY_VERSION);
}

#[test]
fn py2_client_py2_server_modern() {
    with_small_server("g_py2_client_py2_server_modern", "py2", MODERN, "py2", MODERN_VERSION);
}

#[test]
fn py1_client_py2_server_legacy() {
    with_small_server("g_py1_client_py2_server_legacy", "py1", LEGACY, "py2", LEGACY_VERSION);
}

#[test]
fn ts1_client_py2_server_legacy() {
    with_small_server("g_ts1_client_py2_server_legacy", "ts1", LEGACY, "py2", LEGACY_VERSION);
}

#[test]
fn ts2_client_py2_server_modern() {
    with_small_server("g_ts2_client_py2_server_modern", "ts2", MODERN, "py2", MODERN_VERSION);
}

#[test]
fn ts2_client_ts2_server_auto() {
    with_small_server("g_ts2_client_ts2_server_auto", "ts2", AUTO, "ts2", MODERN_VERSION);
}

#[test]
fn rmcp_client_py2_server_modern() {
    with_small_server("g_rmcp_client_py2_server_modern", "rmcp", MODERN, "py2", MODERN_VERSION);
}

#[test]
fn rmcp_client_rmcp_server_legacy() {
    with_small_server("g_rmcp_client_rmcp_server_legacy", "rmcp", LEGACY, "rmcp", LEGACY_VERSION);
}

#[test]
fn py2_client_fastmcp_server_auto() {
    with_small_server("g_py2_client_fastmcp_server_auto", "py2", AUTO, "fastmcp", MODERN_VERSION);
}

#[test]
fn py2_client_everything_auto() {
    with_everything("g_py2_client_everything_auto", "py2", AUTO);
}

#[test]
fn ts1_client_everything() {
    with_everything("g_ts1_client_everything", "ts1", LEGACY);
}

#[test]
fn ts2_client_everything_auto() {
    with_everything("g_ts2_client_everything_auto", "ts2", AUTO);
}

#[test]
fn rmcp_client_everything_auto() {
    with_everything("g_rmcp_client_everything_auto", "rmcp", AUTO);
}

#[test]
fn py2_client_filesystem() {
    with_filesystem("g_py2_client_filesystem", "py2", AUTO);
}

#[test]
fn ts1_client_filesystem() {
    with_filesystem("g_ts1_client_filesystem", "ts1", LEGACY);
}

#[test]
fn rmcp_client_memory() {
    with_memory("g_rmcp_client_memory", "rmcp", LEGACY);
}

#[test]
fn ts2_client_memory() {
    with_memory("g_ts2_client_memory", "ts2", LEGACY);
}
