//! A session under a policy, with a scripted server behind it, for tests written by hand.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Wrapper, player::Session, process, scan};

/// Longest wait for anything that must come.
pub const WITHIN: Duration = Duration::from_secs(15);
const END_WITHIN: Duration = Duration::from_secs(8);

/// The legacy handshake as the client sends it.
pub const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"case","version":"1"}}}"#;
/// Its end.
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
/// The envelope of a modern request, as the value of `_meta`.
pub const ENVELOPE: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"case","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

/// A client, `framegate run --policy`, and the scripted server.
#[derive(Debug)]
pub struct Guarded {
    /// The session.
    pub session: Session,
    /// Policy and script.
    folder: TempDir,
}

/// What to start.
#[derive(Debug, Clone)]
pub struct Start<'a> {
    /// Which binary.
    pub wrapper: &'a Wrapper,
    /// The policy's text; none runs without a policy.
    pub policy: Option<&'a str>,
    /// Options of `run` beside `--policy`.
    pub options: &'a [&'a str],
    /// `server_frames` of a case.
    pub script: Value,
    /// Files that the policy names, put beside it.
    pub files: &'a [PathBuf],
}

impl Start<'_> {
    /// Starts it.
    pub fn now(&self) -> Guarded {
        let folder = tempfile::Builder::new().prefix("framegate-policy-").tempdir();
        let folder = folder.expect("a temporary directory can be made");
        let script = folder.path().join("script.json");
        let case = json!({ "server_frames": self.script });
        fs::write(&script, case.to_string()).expect("the script can be written");
        let mut options: Vec<String> = self.options.iter().map(|option| (*option).to_owned()).collect();
        for file in self.files {
            let copy = folder.path().join(file.file_name().unwrap_or_default());
            fs::copy(file, copy).expect("a policy's file can be copied");
        }
        if let Some(policy) = self.policy {
            let file = policy_file(&folder);
            fs::write(&file, policy).expect("the policy can be written");
            options.extend(["--policy".to_owned(), file.display().to_string()]);
        }
        let wrapper = self.wrapper.clone().with_options(options);
        Guarded { session: Session::start(&wrapper, "guarded", "scripted", &script, &[]), folder }
    }
}

impl Guarded {
    /// Starts with a policy alone.
    pub fn start(wrapper: &Wrapper, policy: &str, script: Value) -> Self {
        Start { wrapper, policy: Some(policy), options: &[], script, files: &[] }.now()
    }

    /// Where the policy is.
    pub fn policy_file(&self) -> PathBuf {
        policy_file(&self.folder)
    }

    /// The legacy handshake; returns when the guard's own listing is under way.
    pub fn open(&mut self) {
        self.send(INITIALIZE);
        self.wait("\"open\"");
        self.send(INITIALIZED);
        self.session.record.wait_server_got("tools/list", WITHIN).expect("the guard lists");
        self.wait_quiet();
    }

    /// Sends a frame; the line feed is added.
    pub fn send(&self, frame: &str) {
        self.session.send(frame).expect("the wrapper takes a frame");
    }

    /// A legacy `tools/call`.
    pub fn call(&mut self, id: &str, tool: &str, arguments: &str) -> Value {
        self.ask(&call(id, tool, arguments), id)
    }

    /// Kills the wrapper, which may end nothing.
    pub fn kill(&mut self) {
        process::signal(self.session.client.pid().cast_signed(), Signal::KILL);
        self.session.client.wait_exit(Duration::from_secs(5)).expect("it is gone");
    }

    /// Sends a request and gives its answer.
    pub fn ask(&mut self, frame: &str, id: &str) -> Value {
        self.send(frame);
        self.wait(id)
    }

    /// The answer with this raw id.
    pub fn wait(&mut self, id: &str) -> Value {
        if let Err(why) = self.session.client.wait_id(id, WITHIN) {
            panic!("{why}\nstderr: {}", self.stderr());
        }
        self.answer(id).unwrap_or_else(|| panic!("no answer with id {id}"))
    }

    /// The answer with this raw id, if it came.
    pub fn answer(&self, id: &str) -> Option<Value> {
        let line = lines(&self.session.client.received())
            .into_iter()
            .find(|line| scan::id(line) == Some(id.as_bytes()) && !scan::has(line, b"\"method\""))?;
        Some(serde_json::from_slice(&line).expect("an answer is JSON"))
    }

    /// Every line the server got.
    pub fn server_got(&self) -> Vec<String> {
        let lines = lines(&self.session.record.server_got());
        lines.into_iter().map(|line| String::from_utf8_lossy(&line).into_owned()).collect()
    }

    /// What the server got but did not get from the client: the guard's own listing.
    pub fn server_got_of_ours(&self) -> Vec<String> {
        self.server_got().into_iter().filter(|line| is_ours(line.as_bytes())).collect()
    }

    /// Every byte the server got from the client.
    pub fn server_got_of_client(&self) -> Vec<u8> {
        without_ours(&self.session.record.server_got())
    }

    /// Every byte the server sent for the client.
    pub fn server_sent_to_client(&self) -> Vec<u8> {
        without_ours(&self.session.record.server_sent())
    }

    /// How many lines the server got that have this text.
    pub fn server_got_count(&self, text: &str) -> usize {
        self.server_got().iter().filter(|line| line.contains(text)).count()
    }

    /// Waits until the server got so many lines with this text.
    pub fn wait_server_got(&self, text: &str, count: usize) {
        let missing = || format!("the server never got {count} x `{text}`; stderr: {}", self.stderr());
        until(|| self.server_got_count(text) >= count, missing);
    }

    /// Waits until nothing came to the server for a moment.
    pub fn wait_quiet(&self) {
        let mut before = usize::MAX;
        until(
            || {
                let now = self.session.record.server_got().len();
                let is_quiet = now == before;
                before = now;
                thread::sleep(Duration::from_millis(20));
                is_quiet
            },
            || "the server never comes to rest".to_owned(),
        );
    }

    /// Waits for a text on stderr.
    pub fn wait_stderr(&self, text: &str) {
        until(|| self.stderr().contains(text), || format!("stderr never says `{text}`: {}", self.stderr()));
    }

    /// What was said on stderr.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.session.client.stderr()).into_owned()
    }

    /// EOF; the session must end well.
    pub fn end(&mut self) {
        let code = self.session.end(END_WITHIN);
        assert_eq!(code, Ok(0), "stderr: {}", self.stderr());
    }
}

/// A legacy `tools/call` frame.
pub fn call(id: &str, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

/// A `ping` frame.
pub fn ping(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

/// A listing of tools as a script's item; each schema is JSON text.
pub fn tools(listed: &[(&str, &str)]) -> Value {
    let tool = |(name, schema): &(&str, &str)| format!(r#"{{"name":"{name}","inputSchema":{schema}}}"#);
    json!({ "tools": format!("[{}]", listed.iter().map(tool).collect::<Vec<_>>().join(",")) })
}

/// A result's text.
pub fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

/// A refusal's machine-readable part.
pub fn decision(answer: &Value) -> &Value {
    &answer["result"]["_meta"]["dev.framegate/decision"]
}

/// The checks that a refused call failed.
pub fn failed(answer: &Value) -> &Value {
    &decision(answer)["failed"]
}

/// Requests of Framegate's own, their answers, and their cancellation.
fn is_ours(line: &[u8]) -> bool {
    [&br#""id":"framegate-"#[..], br#""requestId":"framegate-"#].iter().any(|mark| scan::has(line, mark))
}

fn without_ours(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_ours(line));
    lines.collect::<Vec<_>>().concat()
}

fn policy_file(folder: &TempDir) -> PathBuf {
    Path::new(folder.path()).join("policy.yaml")
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    let whole = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    whole.map(|line| line.trim_ascii_end().to_vec()).collect()
}

fn until(mut done: impl FnMut() -> bool, otherwise: impl Fn() -> String) {
    let deadline = Instant::now() + WITHIN;
    while !done() {
        assert!(Instant::now() < deadline, "{}", otherwise());
        thread::sleep(Duration::from_millis(5));
    }
}
