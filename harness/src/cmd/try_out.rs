//! `framegate try`: an MCP client for one session, through the real wrapper.
//!
//! It starts `framegate run -- SERVER` as a client would and prints what a client gets, with the
//! time each took, and what the wrapper said about it on stderr.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::{Value, json};

use crate::args::TryArgs;
use crate::client::{Client, ClientError, Start};
use crate::exit::Exit;

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
    #[error(transparent)]
    Client(#[from] ClientError),
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
    let policy = args.policy.as_deref();
    let start = Start { command: &args.command, policy, timeout: args.timeout, ..Start::default() };
    let mut client = Client::start(&start)?;
    let opened = client.open(args.era).map_err(TryError::from).and_then(|()| {
        let era = if client.modern { "modern, 2026-07-28" } else { "legacy" };
        page.line(&format!("{} ({era})", page.bold(&client.server)));
        if args.list || calls.is_empty() || is_demo {
            list(&mut client, page)?;
        }
        for (tool, arguments) in &calls {
            failed |= !call(&mut client, tool, arguments, page)?;
        }
        Ok(())
    });
    let exit = close(client, page);
    opened?;
    // The last call of the tour fails on purpose.
    let was_asked = !args.call.is_empty();
    Ok(if exit == Exit::Clean && failed && was_asked { Exit::Failed } else { exit })
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

fn list(client: &mut Client, page: &mut Page) -> Result<(), TryError> {
    let (mut params, mut tools, mut took) = (json!({}), Vec::new(), Duration::ZERO);
    for _ in 0..PAGES_MAX {
        let (result, time) = client.request("tools/list", params)?;
        took += time;
        tools.extend(result.get("tools").and_then(Value::as_array).cloned().unwrap_or_default());
        match result.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => break,
        }
    }
    page.line(&format!("\ntools/list: {} tools, {}", tools.len(), millis(took)));
    let text = |tool: &Value, key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let width = tools.iter().map(|tool| text(tool, "name").chars().count()).max().unwrap_or(0).min(40);
    for tool in &tools {
        let what = text(tool, "description");
        let first: String = what.lines().next().unwrap_or_default().chars().take(90).collect();
        page.line(&format!("  {}  {first}", page.bold(&format!("{:<width$}", text(tool, "name")))));
    }
    Ok(())
}

/// Whether the tool did what was asked.
fn call(client: &mut Client, tool: &str, arguments: &Value, page: &mut Page) -> Result<bool, TryError> {
    page.line(&format!("\n{} {arguments}", page.bold(&format!("tools/call {tool}"))));
    match client.request("tools/call", json!({ "name": tool, "arguments": arguments })) {
        Ok((result, time)) => {
            let is_error = result.get("isError") == Some(&Value::Bool(true));
            let how = if is_error { page.red("tool error") } else { "ok".to_owned() };
            page.line(&format!("  {how}, {}", millis(time)));
            page.indented(&result_text(&result));
            Ok(!is_error)
        }
        Err(ClientError::Refused(_, text)) => {
            page.line(&format!("  {}", page.red(&format!("error {text}"))));
            Ok(false)
        }
        Err(why) => Err(why.into()),
    }
}

/// Ends the session, and shows what the wrapper and the server said.
fn close(client: Client, page: &mut Page) -> Exit {
    let (said, code) = client.close();
    page.line("\nobserved (stderr of the wrapper and the server):");
    page.indented(said.trim_end());
    match code {
        Some(0) => Exit::Clean,
        code => {
            page.line(&format!("the wrapper left with exit code {}", code.unwrap_or(-1)));
            code.and_then(|code| u8::try_from(code).ok()).map_or(Exit::Broken, Exit::Server)
        }
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
