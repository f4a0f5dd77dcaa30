//! Real MCP clients against real MCP servers, directly and through Framegate: the bytes on
//! both sides are the same, and so is what the client reports. One test a pair.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::cache::{Peers, peers};
use crate::support::programs::{
    AUTO, LEGACY, LEGACY_VERSION, MODERN, MODERN_VERSION, Script, client, memory_server, node_server,
    small_server,
};
use crate::support::scenario::{same_through_framegate, scratch};
use serde_json::{Value, json};

// === scenarios ===

fn report(
    name: &str,
    sdk: &str,
    script: &Script,
    era: &str,
    server: &dyn Fn(&Peers, &Path) -> Vec<String>,
) -> Option<Value> {
    let peers = peers()?;
    let client = |argv: &[String]| {
        let mut command = client(peers, sdk, script, era);
        command.args(argv);
        command
    };
    let printed = same_through_framegate(name, &client, &|folder| server(peers, folder));
    Some(serde_json::from_str(&printed).expect("the client prints one JSON line"))
}

fn tools(report: &Value) -> Vec<&str> {
    let tools = report["tools"].as_array().expect("tools");
    tools.iter().filter_map(Value::as_str).collect()
}

/// A session with one of the small servers.
fn with_small_server(name: &str, sdk: &str, era: &str, server: &str, version: &str) {
    let script = Script {
        calls: json!([
            // U+2028 and U+0085 break lines for readers that do not split at LF alone.
            {"name": "echo", "arguments": {"text": "h\u{e4}llo \u{2028}\u{85} \u{2713} \u{1f980}"}},
            {"name": "add", "arguments": {"a": 1, "b": 2}},
            {"name": "fail"},
            {"name": "nope"},
            {"name": "big", "arguments": {"chars": 2_000_000}},
        ]),
        cancel: Some(json!({"name": "slow", "arguments": {"seconds": 30}})),
        answers: None,
    };
    let Some(got) = report(name, sdk, &script, era, &|peers, _| small_server(peers, server)) else {
        return;
    };
    assert_eq!(got["protocol"], version);
    assert_eq!(tools(&got), ["add", "big", "echo", "fail", "slow"]);
    let [echo, add, fail, nope, big] = got["calls"].as_array().expect("calls").as_slice() else {
        panic!("five calls, got {got}");
    };
    let sent = &script.calls[0]["arguments"]["text"];
    assert_eq!(echo["content"], json!([["text", sent]]));
    assert_eq!(add["structured"], true);
    assert_eq!(fail["is_error"], true);
    // An unknown tool is an error result in some SDKs and a protocol error in others.
    assert!(nope["is_error"] == true || nope["error"] == -32602, "{nope}");
    assert_eq!(big["content"], json!([["text", 2_000_000]]));
    assert_eq!(got["cancelled"], true);
    assert_eq!(got["after_cancel"], 5);
}

/// A session with the reference server that also sends requests and bursts of its own.
fn with_everything(name: &str, sdk: &str, era: &str) {
    let cancel = json!({
        "name": "trigger-long-running-operation", "arguments": {"duration": 2, "steps": 2},
    });
    let script = Script {
        calls: json!([
            {"name": "echo", "arguments": {"message": "hi"}},
            {"name": "get-tiny-image"},
            {"name": "echo"},
        ]),
        // The 1.x Python SDK tells the server nothing when a caller gives up.
        cancel: (sdk != "py1").then_some(cancel),
        answers: None,
    };
    let Some(got) = report(name, sdk, &script, era, &|peers, _| node_server(peers, "EVERYTHING")) else {
        return;
    };
    assert_eq!(got["protocol"], LEGACY_VERSION);
    assert!(tools(&got).len() >= 13 && tools(&got).contains(&"get-sum"), "{got}");
    assert_eq!(got["calls"][0]["content"], json!([["text", "Echo: hi"]]));
    assert_eq!(got["calls"][1]["content"][1][0], "image");
    assert_eq!(got["calls"][2]["is_error"], true);
    assert_eq!(got["ping"], true);
    if sdk != "py1" {
        assert_eq!(got["cancelled"], true);
    }
}

fn with_filesystem(name: &str, sdk: &str, era: &str) {
    let shared = scratch(&format!("{name}-files"));
    fs::write(shared.join("note.txt"), "line one\nline two\n").expect("write the note");
    let note = shared.join("note.txt").display().to_string();
    let script = Script {
        calls: json!([
            {"name": "list_directory", "arguments": {"path": shared.display().to_string()}},
            {"name": "read_text_file", "arguments": {"path": note}},
            {"name": "read_text_file", "arguments": {"path": "/etc/hostname"}},
        ]),
        cancel: None,
        answers: None,
    };
    let server = |peers: &Peers, _: &Path| {
        let mut argv = node_server(peers, "FILESYSTEM");
        argv.push(shared.display().to_string());
        argv
    };
    let Some(got) = report(name, sdk, &script, era, &server) else { return };
    assert!(tools(&got).contains(&"read_text_file"), "{got}");
    assert_eq!(got["calls"][0]["content"], json!([["text", "[FILE] note.txt"]]));
    assert_eq!(got["calls"][1]["content"], json!([["text", "line one\nline two\n"]]));
    assert_eq!(got["calls"][2]["is_error"], true);
    let _ = fs::remove_dir_all(&shared);
}

fn with_memory(name: &str, sdk: &str, era: &str) {
    let script = Script {
        calls: json!([
            {"name": "create_entities", "arguments": {"entities": [
                {"name": "gate", "entityType": "thing", "observations": ["it is open"]},
            ]}},
            {"name": "read_graph"},
            {"name": "create_entities", "arguments": {"entities": "not a list"}},
        ]),
        cancel: None,
        answers: None,
    };
    let Some(got) = report(name, sdk, &script, era, &memory_server) else { return };
    assert!(tools(&got).contains(&"read_graph"), "{got}");
    assert_eq!(got["calls"][1]["is_error"], false);
    assert!(got["calls"][1].to_string().contains("it is open"), "{got}");
    assert_eq!(got["calls"][2]["is_error"], true);
}

/// The inspector's command line: one call a run, and no script.
fn with_inspector(name: &str, era: &str, argument: &str, server: &dyn Fn(&Peers) -> Vec<String>) {
    let Some(peers) = peers() else { return };
    let home = scratch(&format!("{name}-home"));
    let client = |argv: &[String]| {
        let mut command = Command::new(peers.path("NODE"));
        // It keeps a catalogue of servers, which is not to be the user's own.
        command.env("MCP_CATALOG_PATH", home.join("catalog.json"));
        command.args([&peers.path("INSPECTOR"), "--cli", "--protocol-era", era]);
        command.args(["--method", "tools/call", "--tool-name", "echo", "--tool-arg", argument]);
        command.arg("--").args(argv);
        command
    };
    let printed = same_through_framegate(name, &client, &|_| server(peers));
    let got: Value = serde_json::from_str(&printed).expect("the inspector prints JSON");
    assert_eq!(got["content"][0]["type"], "text");
    assert!(got["content"][0]["text"].as_str().is_some_and(|text| text.ends_with("hi")), "{got}");
    let _ = fs::remove_dir_all(&home);
}

// === the matrix ===

#[test]
fn py2_client_py2_server_legacy() {
    with_small_server("py2_client_py2_server_legacy", "py2", LEGACY, "py2", LEGACY_VERSION);
}

#[test]
fn py2_client_py2_server_modern() {
    with_small_server("py2_client_py2_server_modern", "py2", MODERN, "py2", MODERN_VERSION);
}

#[test]
fn py2_client_py2_server_auto() {
    with_small_server("py2_client_py2_server_auto", "py2", AUTO, "py2", MODERN_VERSION);
}

#[test]
fn py2_client_ts2_server_modern() {
    with_small_server("py2_client_ts2_server_modern", "py2", MODERN, "ts2", MODERN_VERSION);
}

#[test]
fn py2_client_fastmcp_server_auto() {
    with_small_server("py2_client_fastmcp_server_auto", "py2", AUTO, "fastmcp", MODERN_VERSION);
}

#[test]
fn ts2_client_py2_server_modern() {
    with_small_server("ts2_client_py2_server_modern", "ts2", MODERN, "py2", MODERN_VERSION);
}

#[test]
fn ts2_client_rmcp_server_modern() {
    with_small_server("ts2_client_rmcp_server_modern", "ts2", MODERN, "rmcp", MODERN_VERSION);
}

#[test]
fn rmcp_client_py2_server_modern() {
    with_small_server("rmcp_client_py2_server_modern", "rmcp", MODERN, "py2", MODERN_VERSION);
}

#[test]
fn rmcp_client_rmcp_server_legacy() {
    with_small_server("rmcp_client_rmcp_server_legacy", "rmcp", LEGACY, "rmcp", LEGACY_VERSION);
}

#[test]
fn rmcp_client_rmcp_server_modern() {
    with_small_server("rmcp_client_rmcp_server_modern", "rmcp", MODERN, "rmcp", MODERN_VERSION);
}

#[test]
fn py2_client_everything_auto() {
    with_everything("py2_client_everything_auto", "py2", AUTO);
}

#[test]
fn py1_client_everything() {
    with_everything("py1_client_everything", "py1", LEGACY);
}

#[test]
fn ts1_client_everything() {
    with_everything("ts1_client_everything", "ts1", LEGACY);
}

#[test]
fn ts2_client_everything_auto() {
    with_everything("ts2_client_everything_auto", "ts2", AUTO);
}

#[test]
fn rmcp_client_everything_auto() {
    with_everything("rmcp_client_everything_auto", "rmcp", AUTO);
}

#[test]
fn py2_client_filesystem() {
    with_filesystem("py2_client_filesystem", "py2", AUTO);
}

#[test]
fn ts1_client_filesystem() {
    with_filesystem("ts1_client_filesystem", "ts1", LEGACY);
}

#[test]
fn py2_client_memory() {
    with_memory("py2_client_memory", "py2", AUTO);
}

#[test]
fn ts1_client_memory() {
    with_memory("ts1_client_memory", "ts1", LEGACY);
}

#[test]
fn inspector_everything() {
    let server = |peers: &Peers| node_server(peers, "EVERYTHING");
    with_inspector("inspector_everything", LEGACY, "message=hi", &server);
}

#[test]
fn inspector_py2_server_modern() {
    let server = |peers: &Peers| small_server(peers, "py2");
    with_inspector("inspector_py2_server_modern", MODERN, "text=hi", &server);
}
