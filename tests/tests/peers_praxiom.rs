//! A policy of praxiom as its authors ship one, in front of the real filesystem server: the taint of a secret read goes
//! over two calls, and the refusal is praxiom's own text.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::support::cache::peers;
use crate::support::programs::node_server;
use crate::support::scenario::scratch;
use serde_json::{Value, json};

const POLICY: &str = r#"
patterns: { secrets: ["/.env", "/.ssh"] }
state: { tainted: { type: bool, init: false } }
actions:
  - { name: read, match: "fs__read_*", effect: { tainted: "tainted or matches(payload, secrets)" } }
  - { name: write, match: ["fs__write_*", "fs__edit_*"], args: { path: str }, requires: "not tainted" }
"#;

#[test]
fn a_secret_that_was_read_keeps_the_real_server_from_writing() {
    let Some(peers) = peers() else { return };
    let folder = scratch("praxiom-filesystem");
    let work = folder.join("work");
    fs::create_dir_all(&work).unwrap();
    fs::write(work.join(".env"), "KEY=1").unwrap();
    fs::write(folder.join("policy.yaml"), POLICY).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    command
        .args(["run", "--name", "fs", "--store", "none", "--policy"])
        .arg(folder.join("policy.yaml"))
        .arg("--");
    command.args(node_server(peers, "FILESYSTEM")).arg(&work);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut to, mut from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut ask = move |id: u64, method: &str, params: Value| -> Value {
        writeln!(to, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .unwrap();
        loop {
            let mut line = String::new();
            assert_ne!(from.read_line(&mut line).unwrap(), 0, "the session ended");
            let answer: Value = serde_json::from_str(&line).unwrap();
            // The server asks for roots: nobody answers it.
            if answer["id"] == id && answer.get("method").is_none() {
                return answer["result"].clone();
            }
        }
    };
    let client = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    ask(1, "initialize", client);
    let path = |name: &str| work.join(name).display().to_string();
    let mut call = |id: u64, tool: &str, arguments: Value| {
        ask(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
    };
    let written = call(2, "write_file", json!({ "path": path("a.txt"), "content": "x" }));
    assert_ne!(written["isError"], true, "{written}");
    let read = call(3, "read_text_file", json!({ "path": path(".env") }));
    assert_eq!(read["content"][0]["text"], "KEY=1");
    let refused = call(4, "write_file", json!({ "path": path("b.txt"), "content": "KEY=1" }));
    assert_eq!(refused["isError"], true);
    assert_eq!(
        refused["content"],
        json!([{ "type": "text", "text": "praxiom blocked 'fs__write_file': fails guard 'write' [state: tainted=True]" }])
    );
    drop(ask);
    assert!(child.wait().unwrap().success());
    assert!(work.join("a.txt").exists() && !work.join("b.txt").exists());
    let _ = fs::remove_dir_all(&folder);
}
