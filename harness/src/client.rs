//! An MCP client for one session through the real wrapper: it starts `framegate run -- SERVER` as any client
//! would.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::args::Era;
use crate::mcp::{LEGACY, initialize_params, modern_meta};

/// What is set for a user's own sessions and would change this one.
const OF_SESSIONS: [&str; 7] = [
    "FRAMEGATE_POLICY",
    "FRAMEGATE_REQUIRE_POLICY",
    "FRAMEGATE_MODE",
    "FRAMEGATE_FACT",
    "FRAMEGATE_FACTS",
    "FRAMEGATE_RECORD",
    "FRAMEGATE_SESSION",
];

/// Why a session did not go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("the session ended before `{0}` was answered")]
    Ended(String),
    #[error("the server sent no answer to `{0}` in {1:.0?}")]
    Late(String, Duration),
    #[error("`{0}` was answered with an error: {1}")]
    Refused(String, String),
    #[error(transparent)]
    System(#[from] io::Error),
}

/// How to start a session.
#[derive(Debug, Default)]
pub(crate) struct Start<'a> {
    /// The server; without one the demo server.
    pub(crate) command: &'a [OsString],
    /// What decides on its calls.
    pub(crate) policy: Option<&'a Path>,
    /// Where it is started.
    pub(crate) cwd: Option<&'a Path>,
    /// How long each answer may take.
    pub(crate) timeout: Duration,
    /// As if no variable set anything for `framegate run`.
    pub(crate) is_bare: bool,
}

/// The client's end of one session.
#[derive(Debug)]
pub(crate) struct Client {
    child: Child,
    to: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    said: Option<std::thread::JoinHandle<String>>,
    timeout: Duration,
    next_id: u64,
    pub(crate) modern: bool,
    /// Name and version, as the server says.
    pub(crate) server: String,
    /// What it says it can do.
    pub(crate) capabilities: Value,
}

impl Client {
    pub(crate) fn start(start: &Start<'_>) -> Result<Self, ClientError> {
        let own = std::env::current_exe()?;
        let mut run = Command::new(&own);
        run.args(["run", "--log-format", "text", "--color", "never"]);
        if start.is_bare {
            // What was wanted is known, or will not come: nobody waits for a server that is silent.
            run.args(["--log", "warn", "--grace", "1", "--drain", "1"]);
            for name in OF_SESSIONS {
                run.env_remove(name);
            }
        } else {
            run.args(["--log", "info"]);
        }
        if let Some(cwd) = start.cwd {
            run.arg("--cwd").arg(cwd);
        }
        if let Some(policy) = start.policy {
            run.arg("--policy").arg(policy);
            // A trial is nothing that anybody looks for in the record, unless it was asked for.
            if std::env::var_os("FRAMEGATE_STORE").is_none() {
                run.args(["--store", "none"]).env_remove("FRAMEGATE_SESSION");
            }
        }
        run.arg("--");
        match start.command {
            [] => run.arg(&own).arg("demo-server"),
            words => run.args(words),
        };
        let mut child = run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (send, lines) = channel();
        let stdout = child.stdout.take();
        std::thread::spawn(move || {
            for line in
                stdout.map(BufReader::new).into_iter().flat_map(|out| out.split(b'\n')).map_while(Result::ok)
            {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let stderr = child.stderr.take();
        let said = std::thread::spawn(move || {
            let mut text = Vec::new();
            if let Some(mut stderr) = stderr {
                // What was read before an error is shown all the same.
                let _ = stderr.read_to_end(&mut text);
            }
            String::from_utf8_lossy(&text).into_owned()
        });
        Ok(Self {
            to: child.stdin.take(),
            child,
            lines,
            said: Some(said),
            timeout: start.timeout,
            next_id: 0,
            modern: false,
            server: String::new(),
            capabilities: Value::Null,
        })
    }

    /// Discovers, or shakes hands.
    pub(crate) fn open(&mut self, era: Era) -> Result<(), ClientError> {
        if era != Era::Legacy {
            self.modern = true;
            match self.request("server/discover", json!({})) {
                Ok((result, _)) => {
                    self.name_server(&result, "/_meta/io.modelcontextprotocol~1serverInfo");
                    return Ok(());
                }
                Err(ClientError::Refused(..)) if era == Era::Auto => self.modern = false,
                Err(why) => return Err(why),
            }
        }
        let (result, _) = self.request("initialize", initialize_params())?;
        self.name_server(&result, "/serverInfo");
        let version = result.get("protocolVersion").and_then(Value::as_str).unwrap_or(LEGACY);
        self.server.push_str(&format!(", protocol {version}"));
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
    }

    fn name_server(&mut self, result: &Value, at: &str) {
        let part = |key: &str| {
            result.pointer(at).and_then(|info| info.get(key)).and_then(Value::as_str).unwrap_or("?")
        };
        self.server = format!("{} {}", part("name"), part("version"));
        self.capabilities = result.get("capabilities").cloned().unwrap_or_default();
    }

    fn send(&mut self, message: &Value) -> Result<(), ClientError> {
        if let Some(to) = &mut self.to {
            writeln!(to, "{message}")?;
            to.flush()?;
        }
        Ok(())
    }

    /// A request's result, and how long it took.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<(Value, Duration), ClientError> {
        let since = Instant::now();
        let (_, answer) = self.exchange(method, params)?;
        Ok((answer.get("result").cloned().unwrap_or_default(), since.elapsed()))
    }

    /// The line that answers a request with a result, as it came.
    pub(crate) fn request_line(&mut self, method: &str, params: Value) -> Result<Vec<u8>, ClientError> {
        self.exchange(method, params).map(|(line, _)| line)
    }

    fn exchange(&mut self, method: &str, mut params: Value) -> Result<(Vec<u8>, Value), ClientError> {
        if let (true, Some(params)) = (self.modern, params.as_object_mut()) {
            params.insert("_meta".to_owned(), modern_meta());
        }
        self.next_id += 1;
        let id = Value::from(self.next_id);
        let since = Instant::now();
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        // A server that is gone is noticed when its answer is read, with the reason.
        let _ = self.send(&message);
        loop {
            let left = self.timeout.saturating_sub(since.elapsed());
            let line = self.lines.recv_timeout(left).map_err(|why| match why {
                RecvTimeoutError::Timeout => ClientError::Late(method.to_owned(), self.timeout),
                RecvTimeoutError::Disconnected => ClientError::Ended(method.to_owned()),
            })?;
            let Ok(answer) = serde_json::from_slice::<Value>(&line) else { continue };
            if answer.get("method").is_some() {
                self.answer_server(&answer)?;
            } else if answer.get("id") == Some(&id) {
                let Some(error) = answer.get("error") else { return Ok((line, answer)) };
                let text = error.get("message").and_then(Value::as_str).unwrap_or("no message");
                let code = error.get("code").cloned().unwrap_or_default();
                return Err(ClientError::Refused(method.to_owned(), format!("{code}: {text}")));
            }
        }
    }

    /// Ends the session: what the wrapper and the server said on stderr, and the wrapper's exit code.
    pub(crate) fn close(mut self) -> (String, Option<i32>) {
        drop(self.to.take());
        let status = self.child.wait();
        let said = self.said.take().and_then(|said| said.join().ok()).unwrap_or_default();
        (said, status.ok().and_then(|status| status.code()))
    }

    /// The server asks something: a ping is answered, the rest this client cannot do.
    fn answer_server(&mut self, request: &Value) -> Result<(), ClientError> {
        let Some(id) = request.get("id") else { return Ok(()) };
        if request.get("method") == Some(&Value::from("ping")) {
            return self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
        }
        let error = json!({ "code": -32601, "message": "framegate try cannot do this" });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
    }
}
