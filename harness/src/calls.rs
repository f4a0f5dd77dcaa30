//! One line a call, and a warning for what a person should know of.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use framegate_pump::{
    Ended, Envelope, Frame, Head, Id, Kind, Member, Notice, Observer, Point, Seen, Side, Ticket, TooLong,
    members_at_ends,
};

use crate::child::ServerName;
use crate::stderr::{Line, Stderr};

/// SDK peers written in TypeScript close the connection on a longer line (measured: 1.32, 2.4).
const TYPESCRIPT_LINE_BYTES: usize = 10_485_760;
/// Longest foreign string in a line.
const SHOWN_CHARS: usize = 120;
/// Calls whose answers are waited for; a client that never gets answers must not fill memory.
const OPEN_CALLS_MAX: usize = 65_536;

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Level {
    /// Nothing.
    Off,
    /// What went wrong.
    Error,
    /// What a person should know of.
    Warn,
    /// A line for each tool call.
    #[default]
    Info,
    /// A line for each request of either side.
    Debug,
}

/// How a line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For people, with colour.
    Colored,
    /// One JSON object a line.
    Json,
}

/// The observer that logs calls and warns.
#[derive(Debug)]
pub struct CallLog {
    stderr: Stderr,
    name: ServerName,
    level: Level,
    format: LogFormat,
    state: Mutex<State>,
    noise_lines: AtomicU64,
    diverts_noise: bool,
}

#[derive(Debug, Default)]
struct State {
    open: HashMap<Ticket, OpenCall>,
    /// Warnings that are given once.
    warned: HashSet<Warning>,
}

#[derive(Debug)]
struct OpenCall {
    what: String,
    since: Instant,
    /// What was decided on it, where that says more than its outcome: instead of the outcome, or beside it.
    decided: Option<Decided>,
    /// Set when it has ended and only the error of ours is still to be sent.
    ended: Option<Ended>,
}

#[derive(Debug)]
enum Decided {
    Beside(String),
    Instead(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Warning {
    ContentLength(Side),
    LongFrame(Side),
    Noise,
}

impl CallLog {
    /// A log about the server `name`.
    pub fn new(stderr: Stderr, name: ServerName, level: Level, format: LogFormat) -> Self {
        Self {
            stderr,
            name,
            level,
            format,
            state: Mutex::default(),
            noise_lines: AtomicU64::new(0),
            diverts_noise: false,
        }
    }

    /// Lines that are not JSON go to stderr instead of the client; the warning says so.
    #[must_use]
    pub fn diverting_noise(mut self) -> Self {
        self.diverts_noise = true;
        self
    }

    /// Says something at a level.
    pub fn say(&self, level: Level, text: &str) {
        if level > self.level || self.level == Level::Off {
            return;
        }
        let word = match level {
            Level::Warn => "warning",
            Level::Error => "error",
            _ => "info",
        };
        self.stderr.line(&match self.format {
            LogFormat::Json => serde_json::json!({
                "time": now(), "event": word, "server": self.name.as_str(), "message": text,
            })
            .to_string(),
            _ => format!("framegate: {word}: {text}"),
        });
    }

    /// What was decided on a call: its line says this instead of the outcome.
    pub(crate) fn decided(&self, ticket: Ticket, text: String) {
        if let Some(call) = self.lock().open.get_mut(&ticket) {
            call.decided = Some(Decided::Instead(shown(&text)));
        }
    }

    /// Something about a call that goes on: its line says this beside the outcome.
    pub(crate) fn remarked(&self, ticket: Ticket, text: String) {
        if let Some(call) = self.lock().open.get_mut(&ticket) {
            call.decided = Some(Decided::Beside(shown(&text)));
        }
    }

    /// The last words of a session: what was counted.
    pub fn finish(&self) {
        let lines = self.noise_lines.load(Ordering::Relaxed);
        if lines > 1 {
            let went = if self.diverts_noise { "kept from the client" } else { "passed on" };
            self.say(
                Level::Warn,
                &format!("{lines} lines of the server's stdout were not JSON-RPC; they were {went}"),
            );
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn first(&self, warning: Warning) -> bool {
        self.lock().warned.insert(warning)
    }

    /// Whether a request of this method gets a line.
    fn logs(&self, head: &Head) -> bool {
        match self.level {
            Level::Debug => true,
            Level::Info => head.method.as_str() == "tools/call",
            _ => false,
        }
    }

    fn open(&self, head: &Head, seen: &Seen<'_>) {
        let tool =
            (head.method.as_str() == "tools/call").then(|| tool_name(seen.frame, seen.envelope)).flatten();
        let what = tool.unwrap_or_else(|| head.method.as_str().to_owned());
        let mut state = self.lock();
        if state.open.len() < OPEN_CALLS_MAX {
            state.open.insert(
                head.ticket,
                OpenCall { what: shown(&what), since: Instant::now(), decided: None, ended: None },
            );
        }
    }

    fn close(&self, head: &Head, outcome: Cow<'static, str>, bytes: usize) {
        let Some(call) = self.lock().open.remove(&head.ticket) else { return };
        let outcome = match call.ended {
            Some(Ended::PeerGone) => "lost (the server is gone)".into(),
            Some(Ended::TooLong) => "answer too long".into(),
            _ => outcome,
        };
        let outcome = match call.decided {
            Some(Decided::Instead(decided)) => decided.into(),
            Some(Decided::Beside(remark)) => format!("{outcome} ({remark})").into(),
            None => outcome,
        };
        self.stderr.lazy(CallLine {
            time: SystemTime::now(),
            server: self.name.clone(),
            what: call.what,
            id: head.id.clone(),
            outcome,
            bytes,
            latency: call.since.elapsed(),
            format: self.format,
        });
    }

    fn watch_size(&self, side: Side, frame: &Frame) {
        if frame.bytes().len() > TYPESCRIPT_LINE_BYTES && self.first(Warning::LongFrame(side)) {
            let (from, to) = (side, side.other());
            let bytes = frame.bytes().len();
            self.say(
                Level::Warn,
                &format!("the {from} sent a frame of {bytes} bytes; a {to} built on the TypeScript SDK closes the connection on lines over {TYPESCRIPT_LINE_BYTES} bytes (passed on; said once)"),
            );
        }
    }

    fn watch_noise(&self, side: Side, frame: &Frame, kind: Kind) {
        if !matches!(kind, Kind::Opaque(_)) {
            return;
        }
        let body = frame.body();
        let header = b"content-length:";
        let is_header = body.get(..header.len()).is_some_and(|start| start.eq_ignore_ascii_case(header));
        if is_header && self.first(Warning::ContentLength(side)) {
            let other = side.other();
            self.say(
                Level::Warn,
                &format!("the {side} uses `Content-Length` framing (LSP style). MCP over stdio is one JSON message a line, so the {other} will not understand it; configure the {side} for MCP's stdio transport"),
            );
        } else if side == Side::Server && !is_header {
            self.noise_lines.fetch_add(1, Ordering::Relaxed);
            if self.first(Warning::Noise) {
                let line: String = shown(&String::from_utf8_lossy(body.get(..400).unwrap_or(body)));
                let went = if self.diverts_noise {
                    "kept from the client"
                } else {
                    "passed on; --noise stderr keeps such lines from the client"
                };
                self.say(
                    Level::Warn,
                    &format!("the server wrote a line to stdout that is not JSON: `{line}` ({went})"),
                );
            }
        }
    }
}

impl Observer for CallLog {
    fn frame(&self, seen: &Seen<'_>) {
        match seen.point {
            Point::Received(side) => {
                self.watch_size(side, seen.frame);
                if let Some(envelope) = seen.envelope {
                    self.watch_noise(side, seen.frame, envelope.kind);
                }
                if let Some(head) = seen.request.filter(|head| head.from == side && head.id.is_some())
                    && self.logs(head)
                {
                    self.open(head, seen);
                }
            }
            Point::Sent(to, _) => {
                if let Some(head) = seen.request.filter(|head| head.from == to)
                    && self.logs(head)
                {
                    self.close(head, outcome(seen.frame.body()), seen.frame.bytes().len());
                }
            }
        }
    }

    fn ended(&self, head: &Head, how: Ended) {
        match how {
            Ended::Cancelled => self.close(head, "cancelled".into(), 0),
            Ended::SenderGone => self.close(head, "dropped (the client is gone)".into(), 0),
            Ended::Unreadable => self.close(head, "answered with a line that is no JSON".into(), 0),
            // The log line comes with the error that is sent instead, if one is.
            Ended::PeerGone | Ended::Replaced | Ended::TooLong => {
                if let Some(call) = self.lock().open.get_mut(&head.ticket) {
                    call.ended = Some(how);
                }
            }
        }
    }

    fn too_long(&self, from: Side, gone: &TooLong) {
        let bytes = gone.frame_bytes;
        self.say(Level::Warn, &format!("the {from} sent a frame of {bytes} bytes, over the limit of 64 MiB; it was discarded, and whoever waits for its answer was told"));
    }

    fn notice(&self, notice: &Notice) {
        let text = match notice {
            Notice::IdRefused { from, method } => {
                format!("the {from} used an id that is reserved here on `{}`; refused", shown(method))
            }
            Notice::LateAnswer { from } => {
                format!("the {from} answered a question of Framegate's late or twice; dropped")
            }
            Notice::ListingUnreadable => {
                "the server's tool listing cannot be read for certain; the client got an error instead".into()
            }
            Notice::SpliceFailed { why } => {
                format!("an edit could not be made ({why}); the frame was not sent")
            }
            Notice::ToolShadowed { name } => format!(
                "the server has a tool `{}`, the name of a tool added here; the server's is hidden",
                shown(name)
            ),
            Notice::ToolsUnreadable { count } => {
                format!("{count} tools of the server have no certain name; hidden")
            }
        };
        self.say(Level::Warn, &text);
    }
}

/// The tool's name in a call: near the start of `params`, where every SDK writes it, or
/// wherever else a whole reading finds it.
fn tool_name(frame: &Frame, envelope: Option<&Envelope>) -> Option<String> {
    /// Longer calls are named by their method if their name is not where it usually is.
    const READ_BYTES: usize = 64 * 1024;
    let body = frame.body();
    let params = body.get(envelope?.params?.range().start..)?;
    if let Some(name) = name_in(params) {
        return Some(name);
    }
    if body.len() > READ_BYTES {
        return None;
    }
    let whole = framegate_pump::envelope::peek(body);
    let params: serde_json::Value = serde_json::from_slice(body.get(whole.params?.range())?).ok()?;
    params.get("name")?.as_str().map(str::to_owned)
}

fn name_in(params: &[u8]) -> Option<String> {
    let members = members_at_ends(params)?;
    serde_json::from_slice(scalar(params, &members, br#""name""#)?).ok()
}

/// What an answer says of itself, from its ends.
pub(crate) fn outcome(body: &[u8]) -> Cow<'static, str> {
    let envelope = members_at_ends(body).unwrap_or_default();
    if let Some(member) = find(body, &envelope, br#""error""#) {
        let error = if member.long { body.get(member.value.start..) } else { body.get(member.value.clone()) };
        let code = error.and_then(|error| scalar(error, &members_at_ends(error)?, br#""code""#));
        return match code {
            Some(code) => format!("error {}", shown(&String::from_utf8_lossy(code))).into(),
            None => "error".into(),
        };
    }
    let Some(member) = find(body, &envelope, br#""result""#) else { return "ok".into() };
    let result = result_text(body, &envelope, member.value.start);
    let members = members_at_ends(result).unwrap_or_default();
    if scalar(result, &members, br#""isError""#) == Some(b"true") {
        return "tool error".into();
    }
    match scalar(result, &members, br#""resultType""#) {
        Some(br#""input_required""#) => "asks for input".into(),
        Some(br#""task""#) => "task".into(),
        _ => "ok".into(),
    }
}

fn find<'a>(object: &[u8], members: &'a [Member], key: &[u8]) -> Option<&'a Member> {
    members.iter().find(|m| object.get(m.key.clone()) == Some(key))
}

fn scalar<'a>(object: &'a [u8], members: &[Member], key: &[u8]) -> Option<&'a [u8]> {
    object.get(find(object, members, key)?.value.clone())
}

/// The result's text from its start, cut before the envelope's members that follow it.
fn result_text<'a>(body: &'a [u8], envelope: &[Member], start: usize) -> &'a [u8] {
    let end = envelope.iter().filter(|m| !m.long && m.key.start > start).map(|m| m.key.start).min();
    let all = body.get(start..end.unwrap_or(body.len())).unwrap_or_default();
    let cut = |text: &[u8]| memchr::memrchr(b'}', text).unwrap_or(0);
    // Up to the result's own brace: before a comma, or before the envelope's brace.
    let last = cut(all);
    let close = if end.is_some() { last + 1 } else { cut(all.get(..last).unwrap_or_default()) + 1 };
    all.get(..close).unwrap_or(all)
}

/// A foreign string in a line: clipped, and with nothing that moves a cursor or forges a line.
fn shown(text: &str) -> String {
    if text.len() <= SHOWN_CHARS && text.bytes().all(|b| b.is_ascii_graphic()) {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(SHOWN_CHARS).flat_map(escape).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        out.push('…');
    }
    out
}

fn escape(c: char) -> Box<dyn Iterator<Item = char>> {
    let line_breaks = matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}');
    let unseen = matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    if c.is_control() || line_breaks || unseen {
        Box::new(c.escape_unicode())
    } else {
        Box::new(std::iter::once(c))
    }
}

fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

struct CallLine {
    time: SystemTime,
    server: ServerName,
    what: String,
    id: Option<Id>,
    outcome: Cow<'static, str>,
    bytes: usize,
    latency: Duration,
    format: LogFormat,
}

impl Line for CallLine {
    fn write(&self, out: &mut Vec<u8>) {
        let time = humantime::format_rfc3339_millis(self.time);
        let micros = u64::try_from(self.latency.as_micros()).unwrap_or(u64::MAX);
        let (what, outcome, bytes) = (&self.what, &self.outcome, self.bytes);
        let (on, off) = match self.format {
            LogFormat::Colored if outcome == "ok" => ("\x1b[32m", "\x1b[0m"),
            LogFormat::Colored => ("\x1b[31m", "\x1b[0m"),
            _ => ("", ""),
        };
        let line = if self.format == LogFormat::Json {
            let line = serde_json::json!({
                "time": time.to_string(), "event": "call", "server": self.server.as_str(), "tool": what,
                "id": self.id.as_ref().map(|id| shown(id.json())), "outcome": outcome, "bytes": bytes,
                "latency_us": micros,
            });
            writeln!(out, "{line}")
        } else {
            let (whole, hundredths) = (micros / 1000, micros % 1000 / 10);
            writeln!(
                out,
                "{time} framegate: {what} {on}{outcome}{off} {bytes} bytes {whole}.{hundredths:02} ms"
            )
        };
        debug_assert!(line.is_ok(), "a vector takes everything");
    }

    fn size(&self) -> usize {
        self.what.len() + self.outcome.len() + 128
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_read_from_the_ends() {
        for (body, want) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#, "ok"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}"#, "tool error"),
            (r#"{"result":{"content":[{"a":"}"}],"isError":true},"jsonrpc":"2.0","id":1}"#, "tool error"),
            (r#"{"result":{"isError":false,"content":[{"isError":true}]},"jsonrpc":"2.0","id":1}"#, "ok"),
            (r#"{"id":1,"error":{"code":-32602,"message":"x"}}"#, "error -32602"),
            (r#"{"id":1,"result":{"resultType":"input_required","inputRequests":{}}}"#, "asks for input"),
        ] {
            assert_eq!(outcome(body.as_bytes()), want, "{body}");
        }
    }

    #[test]
    fn foreign_strings_cannot_forge_a_line() {
        assert_eq!(shown("a\nb\u{1b}[2K\u{2028}c"), "a\\u{a}b\\u{1b}[2K\\u{2028}c");
        assert_eq!(shown(&"x".repeat(500)).chars().count(), SHOWN_CHARS + 1);
    }
}
