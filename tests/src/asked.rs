//! A client that is asked for approvals, in both eras, as tests written by hand play it.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::guarded::{Guarded, INITIALIZED, WITHIN};

/// The content of a yes.
pub const YES: &str = r#"{"action":"accept","content":{"approve":true}}"#;

/// A handshake of this revision, with this `elicitation` capability (JSON text).
#[must_use]
pub fn initialize(version: &str, elicitation: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"open","method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{"elicitation":{elicitation}}},"clientInfo":{{"name":"asked","version":"1"}}}}}}"#
    )
}

/// A modern `tools/call`; `more`: members of `params` beside name and arguments, each with a comma before it.
#[must_use]
pub fn modern(id: &str, tool: &str, arguments: &str, elicitation: &str, more: &str) -> String {
    let meta = format!(
        r#"{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"asked","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{elicitation}}}"#
    );
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{meta}{more}}}}}"#
    )
}

/// The members by which a retry answers our question with this result.
#[must_use]
pub fn answered(asks: &Value, result: &str) -> String {
    let (key, state) = question(asks);
    format!(r#","inputResponses":{{"{key}":{result}}},"requestState":"{state}""#)
}

/// Key and state of a result that asks.
///
/// # Panics
/// When it does not.
#[must_use]
pub fn question(asks: &Value) -> (String, String) {
    let result = &asks["result"];
    assert_eq!(result["resultType"], "input_required", "{asks}");
    let keys: Vec<&String> = result["inputRequests"].as_object().expect("questions").keys().collect();
    assert_eq!(keys.len(), 1, "{asks}");
    (keys[0].clone(), result["requestState"].as_str().expect("a state").to_owned())
}

impl Guarded {
    /// The handshake of a client that can ask its user.
    pub fn open_asking(&mut self, version: &str, elicitation: &str) {
        self.send(&initialize(version, elicitation));
        self.wait("\"open\"");
        self.send(INITIALIZED);
        self.session.record.wait_server_got("tools/list", WITHIN).expect("the guard lists");
        self.wait_quiet();
    }

    /// Sends a request and gives its answer, which may hold requests itself.
    ///
    /// # Panics
    /// When none comes.
    pub fn ask_modern(&self, frame: &str, id: &str) -> Value {
        self.send(frame);
        let (id, deadline) = (json!(id.parse::<u64>().expect("a number")), Instant::now() + WITHIN);
        loop {
            if let Some(answer) = self.client_lines().into_iter().find(|line| line["id"] == id) {
                return answer;
            }
            assert!(Instant::now() < deadline, "no answer to {id}; stderr: {}", self.stderr());
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn client_lines(&self) -> Vec<Value> {
        let received = self.session.client.received();
        received.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    /// All requests that the client got.
    #[must_use]
    pub fn client_asked(&self, method: &str) -> Vec<Value> {
        self.client_lines().into_iter().filter(|line| line["method"] == method).collect()
    }

    /// The nth question, once it is there.
    ///
    /// # Panics
    /// When it does not come.
    #[must_use]
    pub fn question(&self, nth: usize) -> Value {
        let deadline = Instant::now() + WITHIN;
        loop {
            if let Some(question) = self.client_asked("elicitation/create").get(nth) {
                return question.clone();
            }
            assert!(Instant::now() < deadline, "question {nth} never came; stderr: {}", self.stderr());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Answers a question by this result.
    pub fn reply(&self, question: &Value, result: &str) {
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, question["id"]));
    }

    /// A policy whose `touch` asks, and what a server that has it says; `more` are items of its script.
    #[must_use]
    pub fn script_of_touch(more: &[Value]) -> Value {
        let mut items = more.to_vec();
        items.push(crate::guarded::tools(&[
            ("touch", r#"{"type":"object"}"#),
            ("free", r#"{"type":"object"}"#),
            ("reports", r#"{"type":"object"}"#),
        ]));
        json!(items)
    }
}
