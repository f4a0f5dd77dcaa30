//! `framegate try`: an MCP client for one session, through the real wrapper.
//!
//! It starts `framegate run -- SERVER` as a client would and prints what a client gets, with the
//! time each took, and what the wrapper said about it on stderr.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::args::{Era, TryArgs};
use crate::exit::Exit;
use crate::mcp::{LEGACY, initialize_params, modern_meta};

/// Characters of a result that are printed.
const SHOWN_CHARS: usize = 2000;
/// Pages of a listing that are followed.
const PAGES_MAX: usize = 100;

#[derive(Debug, thiserror::Error)]
enum TryError {
    #[error(
        "`{0}` is not a JSON object: {1}. Quote the arguments of --call for your shell: --call NAME '{{\"key\":\"value\"}}'"
    )]
    Arguments(String, String),
    #[error("the server sent no answer to `{0}` in {1:.0?}")]
    Late(String, Duration),
    #[error("the session ended before `{0}` was answered")]
    Ended(String),
    #[error("`{0}` was answered with an error: {1}")]
    Refused(String, String),
    #[error(transparent)]
    System(#[from] io::Error),
}

pub(crate) fn main(args: &TryArgs, color: bool) -> Exit {
    let mut page = Page { out: Vec::new(), color };
    let result = play(args, &mut page);
    if let Err(why) = &result {
        page.line(&format!("\n{}", page.red(&format!("framegate try: {why}"))));
    }
    // Nobody is left to tell if stdout is gone.
    let _ = io::stdout().write_all(&page.out);
    match result {
        Ok(exit) => exit,
        Err(TryError::Arguments(..)) => Exit::Usage,
        Err(_) => Exit::Broken,
    }
}

fn play(args: &TryArgs, page: &mut Page) -> Result<Exit, TryError> {
    let is_demo = args.command.is_empty();
    let calls = calls(args, is_demo)?;
    let mut failed = false;
    let mut client = Client::start(&args.command, args.timeout)?;
    let opened = client.open(args.era).and_then(|()| {
        let era = if client.modern { "modern, 2026-07-28" } else { "legacy" };
        page.line(&format!("{} ({era})", page.bold(&client.server)));
        if args.list || calls.is_empty() || is_demo {
            client.list(page)?;
        }
        for (tool, arguments) in &calls {
            failed |= !client.call(tool, arguments, page)?;
        }
        Ok(())
    });
    let exit = client.close(page);
    opened?;
    // The last call of the tour fails on purpose.
    let was_asked = !args.call.is_empty();
    Ok(if exit == Exit::Clean && failed && was_asked { Exit::ToolError } else { exit })
}

/// What to call: as typed, or a short tour of the demo server.
fn calls(args: &TryArgs, is_demo: bool) -> Result<Vec<(String, Value)>, TryError> {
    if is_demo && args.call.is_empty() && !args.list {
        let note = "Every frame went through untouched.\nEach call was seen.";
        return Ok(vec![
            ("write_file".into(), json!({ "path": "note.txt", "text": note })),
            ("read_file".into(), json!({ "path": "note.txt" })),
            ("search".into(), json!({ "text": "seen" })),
            ("read_file".into(), json!({ "path": "../secret" })),
        ]);
    }
    let pairs = args.call.chunks(2).filter_map(|pair| Some((pair.first()?, pair.get(1)?)));
    pairs
        .map(|(tool, text)| match serde_json::from_str(text) {
            Ok(Value::Object(arguments)) => Ok((tool.clone(), Value::Object(arguments))),
            Ok(_) => Err(TryError::Arguments(text.clone(), "another kind of value".into())),
            Err(why) => Err(TryError::Arguments(text.clone(), why.to_string())),
        })
        .collect()
}

/// The client's end of one session.
struct Client {
    child: Child,
    to: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    said: Option<std::thread::JoinHandle<String>>,
    timeout: Duration,
    next_id: u64,
    modern: bool,
    server: String,
}

impl Client {
    fn start(command: &[OsString], timeout: Duration) -> Result<Self, TryError> {
        let own = std::env::current_exe()?;
        let mut run = Command::new(&own);
        run.args(["run", "--log", "info", "--log-format", "text", "--color", "never", "--"]);
        match command {
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
            timeout,
            next_id: 0,
            modern: false,
            server: String::new(),
        })
    }

    /// Discovers, or shakes hands.
    fn open(&mut self, era: Era) -> Result<(), TryError> {
        if era != Era::Legacy {
            self.modern = true;
            match self.request("server/discover", json!({})) {
                Ok((result, _)) => {
                    self.name_server(&result, "/_meta/io.modelcontextprotocol~1serverInfo");
                    return Ok(());
                }
                Err(TryError::Refused(..)) if era == Era::Auto => self.modern = false,
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
    }

    fn list(&mut self, page: &mut Page) -> Result<(), TryError> {
        let (mut params, mut tools, mut took) = (json!({}), Vec::new(), Duration::ZERO);
        for _ in 0..PAGES_MAX {
            let (result, time) = self.request("tools/list", params)?;
            took += time;
            tools.extend(result.get("tools").and_then(Value::as_array).cloned().unwrap_or_default());
            match result.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        page.line(&format!("\ntools/list: {} tools, {}", tools.len(), millis(took)));
        let text =
            |tool: &Value, key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let width = tools.iter().map(|tool| text(tool, "name").chars().count()).max().unwrap_or(0).min(40);
        for tool in &tools {
            let what = text(tool, "description");
            let first: String = what.lines().next().unwrap_or_default().chars().take(90).collect();
            page.line(&format!("  {}  {first}", page.bold(&format!("{:<width$}", text(tool, "name")))));
        }
        Ok(())
    }

    /// Whether the tool did what was asked.
    fn call(&mut self, tool: &str, arguments: &Value, page: &mut Page) -> Result<bool, TryError> {
        page.line(&format!("\n{} {arguments}", page.bold(&format!("tools/call {tool}"))));
        match self.request("tools/call", json!({ "name": tool, "arguments": arguments })) {
            Ok((result, time)) => {
                let is_error = result.get("isError") == Some(&Value::Bool(true));
                let how = if is_error { page.red("tool error") } else { "ok".to_owned() };
                page.line(&format!("  {how}, {}", millis(time)));
                page.indented(&result_text(&result));
                Ok(!is_error)
            }
            Err(TryError::Refused(_, text)) => {
                page.line(&format!("  {}", page.red(&format!("error {text}"))));
                Ok(false)
            }
            Err(why) => Err(why),
        }
    }

    /// Ends the session, and shows what the wrapper and the server said.
    fn close(&mut self, page: &mut Page) -> Exit {
        drop(self.to.take());
        let status = self.child.wait();
        let said = self.said.take().and_then(|said| said.join().ok()).unwrap_or_default();
        page.line("\nobserved (stderr of the wrapper and the server):");
        page.indented(said.trim_end());
        match status.ok().and_then(|status| status.code()) {
            Some(0) => Exit::Clean,
            code => {
                page.line(&format!("the wrapper left with exit code {}", code.unwrap_or(-1)));
                code.and_then(|code| u8::try_from(code).ok()).map_or(Exit::Broken, Exit::Server)
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), TryError> {
        if let Some(to) = &mut self.to {
            writeln!(to, "{message}")?;
            to.flush()?;
        }
        Ok(())
    }

    fn request(&mut self, method: &str, mut params: Value) -> Result<(Value, Duration), TryError> {
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
                RecvTimeoutError::Timeout => TryError::Late(method.to_owned(), self.timeout),
                RecvTimeoutError::Disconnected => TryError::Ended(method.to_owned()),
            })?;
            let Ok(answer) = serde_json::from_slice::<Value>(&line) else { continue };
            if answer.get("method").is_some() {
                self.answer_server(&answer)?;
            } else if answer.get("id") == Some(&id) {
                let took = since.elapsed();
                return match answer.get("error") {
                    None => Ok((answer.get("result").cloned().unwrap_or_default(), took)),
                    Some(error) => {
                        let text = error.get("message").and_then(Value::as_str).unwrap_or("no message");
                        let code = error.get("code").cloned().unwrap_or_default();
                        Err(TryError::Refused(method.to_owned(), format!("{code}: {text}")))
                    }
                };
            }
        }
    }

    /// The server asks something: a ping is answered, the rest this client cannot do.
    fn answer_server(&mut self, request: &Value) -> Result<(), TryError> {
        let Some(id) = request.get("id") else { return Ok(()) };
        if request.get("method") == Some(&Value::from("ping")) {
            return self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
        }
        let error = json!({ "code": -32601, "message": "framegate try cannot do this" });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
    }
}

fn result_text(result: &Value) -> String {
    let content = result.get("content").and_then(Value::as_array);
    let block = |block: &Value| match block.get("text").and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => block.to_string(),
    };
    match content {
        Some(blocks) => blocks.iter().map(block).collect::<Vec<_>>().join("\n"),
        None => result.to_string(),
    }
}

fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

/// What is printed. Foreign text cannot move the cursor.
struct Page {
    out: Vec<u8>,
    color: bool,
}

impl Page {
    fn line(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(b'\n');
    }

    fn indented(&mut self, text: &str) {
        let clipped: String = text.chars().take(SHOWN_CHARS).collect();
        for line in clipped.lines() {
            let safe: String =
                line.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect();
            self.line(&format!("    {safe}"));
        }
        if clipped.len() < text.len() {
            self.line(&format!("    … ({} bytes in all)", text.len()));
        }
    }

    fn bold(&self, text: &str) -> String {
        if self.color { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn red(&self, text: &str) -> String {
        if self.color { format!("\x1b[31m{text}\x1b[0m") } else { text.to_owned() }
    }
}
