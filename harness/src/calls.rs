//! One line a call, and a warning for what a person should know of.
//!
//! What is foreign in a line comes last, or has no blanks in it: nothing that a model, a client or a server chose
//! can stand where a verdict stands.

pub(crate) mod arguments;

mod audit;
mod judged;
mod named;
mod outcome;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use framegate_guard::Decision;
use framegate_pump::{Ended, Frame, Head, Id, Kind, Notice, Observer, Point, Seen, Side, Ticket, TooLong};

pub use self::arguments::LogArguments;
pub(crate) use self::audit::Audit;
use self::judged::Judged;
use self::named::Named;
pub(crate) use self::outcome::outcome;
use crate::child::ServerName;
use crate::redact;
use crate::stderr::Stderr;

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
    arguments: LogArguments,
    state: Mutex<State>,
    noise_lines: AtomicU64,
    diverts_noise: bool,
    has_no_server: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    open: HashMap<Ticket, OpenCall, BuildHasherDefault<TicketHasher>>,
    clock: Clock,
    /// Warnings that are given once.
    warned: HashSet<Warning>,
}

#[derive(Debug)]
struct OpenCall {
    what: String,
    /// The start of its arguments; empty where none are shown.
    arguments: Vec<u8>,
    id: Option<Id>,
    since: Instant,
    /// What was decided on it, where that says more than its outcome: instead of the outcome, or beside it.
    decided: Option<Decided>,
    /// The decision itself, where the line shows it.
    judged: Option<Judged>,
    /// What it says instead of all that, under a policy of praxiom.
    audit: Option<Audit>,
    /// Set when it has ended and only the error of ours is still to be sent.
    ended: Option<Ended>,
}

#[derive(Debug)]
enum Decided {
    Beside(String),
    Instead(String),
}

/// Tickets are numbered here, one after the other: nobody can choose them so that they collide.
#[derive(Debug, Default)]
struct TicketHasher(u64);

impl Hasher for TicketHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        // 2^64 divided by the golden ratio: neighbours end up far apart, in the high bits too.
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Warning {
    ContentLength(Side),
    LongFrame(Side),
    Noise,
}

/// A problem says behind its place what it is, as every line here does in front: once is enough.
fn once(level: Level, text: &str) -> std::borrow::Cow<'_, str> {
    let word = match level {
        Level::Error => ": error: ",
        Level::Warn => ": warning: ",
        _ => return text.into(),
    };
    match text.split_once(word) {
        Some((place, rest)) if is_place(place) => format!("{place}: {rest}").into(),
        _ => text.into(),
    }
}

/// `policy.yaml:3:14`
fn is_place(text: &str) -> bool {
    let mut ends = text.rsplitn(3, ':');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    !text.contains('\n')
        && ends.next().is_some_and(is_number)
        && ends.next().is_some_and(is_number)
        && ends.next().is_some()
}

impl CallLog {
    /// A log about the server `name`.
    pub fn new(stderr: Stderr, name: ServerName, level: Level, format: LogFormat) -> Self {
        Self {
            stderr,
            name,
            level,
            format,
            arguments: LogArguments::default(),
            state: Mutex::default(),
            noise_lines: AtomicU64::new(0),
            diverts_noise: false,
            has_no_server: AtomicBool::new(false),
        }
    }

    /// Lines that are not JSON go to stderr instead of the client; the warning says so.
    #[must_use]
    pub fn diverting_noise(mut self) -> Self {
        self.diverts_noise = true;
        self
    }

    /// What a call's line shows of its arguments. (Full also shows what looks like a credential elsewhere.)
    #[must_use]
    pub fn showing(mut self, arguments: LogArguments) -> Self {
        self.arguments = arguments;
        self
    }

    /// Where the lines go.
    pub(crate) fn stderr(&self) -> Stderr {
        self.stderr.clone()
    }

    /// There is no server behind this session: what comes is answered with the reason.
    pub(crate) fn without_server(&self) {
        self.has_no_server.store(true, Ordering::Relaxed);
    }

    /// Says something at a level, in one line: a server's tool name or error message with a line break in it would
    /// begin a line of its own, and that could look like one of ours.
    pub fn say(&self, level: Level, text: &str) {
        self.said(level, text, &|text| text.chars().flat_map(escape).collect());
    }

    /// Says something that has lines of its own: a policy's errors, with the places they are in. Whoever writes such
    /// a text makes what is foreign in it visible; that no line of it begins like one of ours is seen to here.
    pub(crate) fn say_lines(&self, level: Level, text: &str) {
        let lines = |text: &str| {
            let plain = |line: &str| line.chars().flat_map(escape).collect::<String>();
            text.split('\n').map(plain).collect::<Vec<_>>().join("\n  ")
        };
        self.said(level, &once(level, text), &lines);
    }

    fn said(&self, level: Level, text: &str, visible: &dyn Fn(&str) -> String) {
        if level > self.level || self.level == Level::Off {
            return;
        }
        // A warning may quote what a server wrote, an error a command line.
        let text = if self.arguments == LogArguments::Full { text.into() } else { redact::text(text) };
        let text = visible(&text);
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

    /// A decision on a call, for lines that show it whole.
    pub(crate) fn judged(&self, ticket: Ticket, decision: &Decision) {
        let Some(judged) = Judged::of(decision, (self.level, self.format), self.arguments) else { return };
        if let Some(call) = self.lock().open.get_mut(&ticket) {
            call.judged = Some(judged);
        }
    }

    /// Whether lines have the shape of praxiom's log where its policy decides, and what they show of the arguments.
    pub(crate) fn audits(&self) -> Option<LogArguments> {
        (self.format != LogFormat::Json && self.level >= Level::Info).then_some(self.arguments)
    }

    /// What such a line says.
    pub(crate) fn audited(&self, ticket: Ticket, audit: Audit) {
        if let Some(call) = self.lock().open.get_mut(&ticket) {
            call.audit = Some(audit);
        }
    }

    /// What an answer did to the state: the line says this instead.
    pub(crate) fn audit_detail(&self, ticket: Ticket, detail: String) {
        if let Some(audit) = self.lock().open.get_mut(&ticket).and_then(|call| call.audit.as_mut()) {
            audit.detail = detail;
        }
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

    /// The last words of a session: calls that will get no answer, and what was counted.
    pub fn finish(&self) {
        let mut state = self.lock();
        let State { open, clock, .. } = &mut *state;
        let mut unanswered: Vec<_> = open.drain().collect();
        unanswered.sort_by_key(|(ticket, _)| *ticket);
        for (_, call) in unanswered {
            self.write_line(clock, &call, "unanswered".into(), 0);
        }
        drop(state);
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
        let is_call = head.method.as_str() == "tools/call";
        let call = if is_call { Named::of(seen.frame, seen.envelope) } else { Named::default() };
        let what = call.tool.unwrap_or_else(|| head.method.as_str().into());
        let arguments = if self.arguments == LogArguments::None { &[] } else { call.arguments };
        let arguments = arguments.get(..arguments::READ_BYTES_MAX).unwrap_or(arguments);
        let mut state = self.lock();
        if state.open.len() < OPEN_CALLS_MAX {
            state.open.insert(
                head.ticket,
                OpenCall {
                    what: word(&what),
                    arguments: arguments.to_vec(),
                    id: head.id.clone(),
                    since: Instant::now(),
                    decided: None,
                    judged: None,
                    audit: None,
                    ended: None,
                },
            );
        }
    }

    fn close(&self, head: &Head, outcome: Cow<'static, str>, bytes: usize) {
        let mut state = self.lock();
        let Some(call) = state.open.remove(&head.ticket) else { return };
        let outcome = match call.ended {
            Some(Ended::PeerGone) if self.has_no_server.load(Ordering::Relaxed) => {
                "refused (no server was started)".into()
            }
            Some(Ended::PeerGone) => "lost (the server is gone)".into(),
            Some(Ended::TooLong) => "answer too long".into(),
            _ => outcome,
        };
        self.write_line(&mut state.clock, &call, outcome, bytes);
    }

    fn write_line(&self, clock: &mut Clock, call: &OpenCall, outcome: Cow<'_, str>, bytes: usize) {
        if let Some(audit) = &call.audit {
            return self.write_audit(clock, call, audit, &outcome);
        }
        let outcome = match &call.decided {
            Some(Decided::Instead(decided)) => decided.as_str().into(),
            Some(Decided::Beside(remark)) => format!("{outcome} ({remark})").into(),
            None => outcome,
        };
        let now = Instant::now();
        let latency = now.saturating_duration_since(call.since);
        let time = clock.text(now);
        let arguments = match call.arguments.as_slice() {
            [] => "".into(),
            text => arguments::shown(text, self.arguments),
        };
        let server = &self.name;
        let line = CallLine { time, server, call, arguments, outcome: &outcome, bytes, latency };
        self.stderr.append(line.size(), |out| line.write(out, self.format));
    }

    fn write_audit(&self, clock: &mut Clock, call: &OpenCall, audit: &Audit, outcome: &str) {
        let instead = match &call.decided {
            Some(Decided::Instead(decided)) => Some(decided.as_str()),
            Some(Decided::Beside(_)) | None => None,
        };
        let now = Instant::now();
        let millis = now.saturating_duration_since(call.since).as_millis();
        let (line, is_timed) = audit.line(outcome, instead, self.arguments);
        let time = clock.text(now);
        let time = time.get("2026-11-30T".len().."2026-11-30T07:23:34".len()).unwrap_or(time);
        let took = if is_timed { format!("  {millis}ms") } else { String::new() };
        self.stderr.line(&format!("{time}  {line}{took}"));
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

    fn sees_usual_frames(&self) -> bool {
        // Below, only what is odd or large is worth a word.
        self.level >= Level::Info
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
            Notice::IdTaken { from, method } => {
                format!("the {from} used the id of an open request again, on `{}`; refused", shown(method))
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

/// A foreign string in a line: clipped, and with nothing that moves a cursor or forges a line.
fn shown(text: &str) -> String {
    clipped(text, SHOWN_CHARS)
}

fn clipped(text: &str, chars: usize) -> String {
    if text.len() <= chars && text.bytes().all(|b| b.is_ascii_graphic()) {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(chars).flat_map(escape).collect();
    if text.chars().nth(chars).is_some() {
        out.push('…');
    }
    out
}

/// The same for a name in a line of words: a blank in it could begin a verdict.
fn word(name: &str) -> String {
    let text = shown(name);
    if !text.contains(char::is_whitespace) {
        return text;
    }
    let one = |c: char| -> Box<dyn Iterator<Item = char>> {
        if c.is_whitespace() { Box::new(c.escape_unicode()) } else { Box::new(std::iter::once(c)) }
    };
    text.chars().flat_map(one).collect()
}

/// Whether a character shows, and moves nothing.
pub(crate) fn is_shown(c: char) -> bool {
    escape(c).count() == 1
}

fn escape(c: char) -> Box<dyn Iterator<Item = char>> {
    let line_breaks = matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}');
    let unseen = matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{fff9}'..='\u{fffb}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    if c.is_control() || line_breaks || unseen {
        Box::new(c.escape_unicode())
    } else {
        Box::new(std::iter::once(c))
    }
}

fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

/// The time of day as text. Lines come in hundreds of thousands a second, the second changes once.
#[derive(Debug, Default)]
struct Clock {
    /// When the system's clock was read, and what it said. Read anew before a step of that clock
    /// (or our drift from it) could be seen.
    read: Option<(Instant, Duration)>,
    second: u64,
    /// `second` and milliseconds, RFC 3339.
    text: String,
}

impl Clock {
    const TRUSTED: Duration = Duration::from_millis(100);

    fn text(&mut self, at: Instant) -> &str {
        let since_epoch = match self.read {
            Some((then, time)) if at.saturating_duration_since(then) < Self::TRUSTED => {
                time + at.saturating_duration_since(then)
            }
            _ => {
                let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                self.read = Some((at, time));
                time
            }
        };
        if self.text.is_empty() || self.second != since_epoch.as_secs() {
            self.second = since_epoch.as_secs();
            let start = SystemTime::UNIX_EPOCH + Duration::from_secs(self.second);
            self.text = humantime::format_rfc3339_seconds(start).to_string();
        }
        self.text.truncate("2026-11-30T07:23:34".len());
        let millis = since_epoch.subsec_millis();
        self.text.extend(['.', digit(millis / 100), digit(millis / 10), digit(millis), 'Z']);
        &self.text
    }
}

fn digit(number: u32) -> char {
    char::from_digit(number % 10, 10).unwrap_or('0')
}

struct CallLine<'a> {
    time: &'a str,
    server: &'a ServerName,
    call: &'a OpenCall,
    arguments: Cow<'a, str>,
    outcome: &'a str,
    bytes: usize,
    latency: Duration,
}

impl CallLine<'_> {
    fn write(&self, out: &mut Vec<u8>, format: LogFormat) {
        let Self { time, call: OpenCall { what, id, .. }, outcome, bytes, .. } = self;
        let micros = u64::try_from(self.latency.as_micros()).unwrap_or(u64::MAX);
        if format == LogFormat::Json {
            let mut line = serde_json::json!({
                "time": time, "event": "call", "server": self.server.as_str(), "tool": what,
                "id": id.as_ref().map(|id| shown(id.json())), "outcome": outcome, "bytes": bytes,
                "latency_us": micros,
            });
            if let (Some(judged), Some(line)) = (&self.call.judged, line.as_object_mut()) {
                line.insert("decision".to_owned(), judged.json());
            }
            if let (false, Some(line)) = (self.arguments.is_empty(), line.as_object_mut()) {
                line.insert("arguments".to_owned(), self.arguments.as_ref().into());
            }
            let written = writeln!(out, "{line}");
            debug_assert!(written.is_ok(), "a vector takes everything");
            return;
        }
        let (on, off) = match format {
            LogFormat::Colored if *outcome == "ok" => ("\x1b[32m", "\x1b[0m"),
            LogFormat::Colored => ("\x1b[31m", "\x1b[0m"),
            _ => ("", ""),
        };
        // By hand: the formatting machinery takes as long as all the rest of a call's line.
        for part in [time, " framegate: ", what, " ", on, outcome, off, " "] {
            out.extend_from_slice(part.as_bytes());
        }
        decimal(*bytes as u64, 1, out);
        out.extend_from_slice(b" bytes ");
        decimal(micros / 1000, 1, out);
        out.push(b'.');
        decimal(micros % 1000 / 10, 2, out);
        out.extend_from_slice(b" ms");
        if !self.arguments.is_empty() {
            out.push(b' ');
            out.extend_from_slice(self.arguments.as_bytes());
        }
        out.push(b'\n');
        if let Some(judged) = &self.call.judged {
            out.extend_from_slice(judged.lines(time, what).as_bytes());
        }
    }

    fn size(&self) -> usize {
        let judged = self.call.judged.as_ref().map_or(0, |judged| judged.size(self.call.what.len()));
        self.call.what.len() + self.arguments.len() + self.outcome.len() + judged + 128
    }
}

/// Appends a number with at least `width` digits.
fn decimal(mut number: u64, width: usize, out: &mut Vec<u8>) {
    let mut digits = [b'0'; 20];
    let mut count = 0;
    for place in digits.iter_mut().rev() {
        if number == 0 && count >= width {
            break;
        }
        *place = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
        count += 1;
    }
    out.extend_from_slice(digits.get(digits.len() - count..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_with_a_place_says_once_that_it_is_one() {
        let warned = |text| once(Level::Warn, text).into_owned();
        assert_eq!(warned("p.yaml:3:14: warning: no tool\n  ^"), "p.yaml:3:14: no tool\n  ^");
        assert_eq!(warned("c:/p.yaml:3:14: warning: a: warning: b"), "c:/p.yaml:3:14: a: warning: b");
        for other in [
            "p.yaml: warning: x",
            "p:3: warning: x",
            "a\np:3:1: warning: x",
            ":3:: warning: x",
            "p:3:1: error: x",
        ] {
            assert_eq!(warned(other), other);
        }
        assert_eq!(once(Level::Error, "p:3:1: error: x"), "p:3:1: x");
        assert_eq!(once(Level::Info, "p:3:1: warning: x"), "p:3:1: warning: x");
    }

    #[test]
    fn a_line_has_the_time_of_day_and_plain_numbers() {
        let mut clock = Clock::default();
        let start = Instant::now();
        let at = |second: u64, millis: u64| (start, Duration::from_millis(second * 1000 + millis));
        for (read, want) in [
            (at(1_000_000_000, 7), "2001-09-09T01:46:40.007Z"),
            (at(1_000_000_000, 940), "2001-09-09T01:46:40.940Z"),
            (at(1_000_000_001, 0), "2001-09-09T01:46:41.000Z"),
        ] {
            clock.read = Some(read);
            assert_eq!(clock.text(start), want);
        }
        assert_eq!(clock.text(start + Duration::from_millis(50)), "2001-09-09T01:46:41.050Z");
        assert!(clock.text(start + Clock::TRUSTED) > "2026", "the system's clock is read again");
        for (number, width, want) in
            [(0, 1, "0"), (0, 2, "00"), (7, 2, "07"), (u64::MAX, 1, "18446744073709551615")]
        {
            let mut out = Vec::new();
            decimal(number, width, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), want);
        }
    }

    #[test]
    fn what_is_said_with_foreign_text_is_one_line_and_plain() {
        let bad = "a\n2026-01-01T00:00:00Z framegate: x ok\u{1b}[2J\u{9b}31m\u{202e}\u{2028}\r\t";
        for format in [LogFormat::Text, LogFormat::Colored, LogFormat::Json] {
            let (out, written) = std::sync::mpsc::channel();
            let stderr = Stderr::to(Sending(out));
            let name = ServerName::given("s");
            let log = CallLog::new(stderr.clone(), name, Level::Info, format);
            log.say(Level::Warn, bad);
            log.say_lines(Level::Warn, &format!("ours:\n  {bad}"));
            stderr.flush(Duration::from_secs(10));
            let said: Vec<u8> = written.try_iter().flatten().collect();
            let said = String::from_utf8(said).unwrap();
            assert!(said.chars().all(|c| c == '\n' || is_shown(c)), "{said:?}");
            let own = |line: &str| {
                line.is_empty() || line.starts_with(['{', ' ']) || line.starts_with("framegate: ")
            };
            assert!(said.lines().all(own), "{said}");
            let lines = if format == LogFormat::Json { 2 } else { 4 };
            assert_eq!(said.lines().count(), lines, "{said}");
        }
    }

    struct Sending(std::sync::mpsc::Sender<Vec<u8>>);

    impl Write for Sending {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let _ = self.0.send(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn foreign_strings_cannot_forge_a_line() {
        assert_eq!(shown("a\nb\u{1b}[2K\u{2028}c"), "a\\u{a}b\\u{1b}[2K\\u{2028}c");
        assert_eq!(shown(&"x".repeat(500)).chars().count(), SHOWN_CHARS + 1);
        assert_eq!(word("read ok 1\u{2003}bytes"), "read\\u{20}ok\\u{20}1\\u{2003}bytes");
    }
}
