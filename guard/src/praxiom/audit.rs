//! One line a call, as the original's log has it (without its time stamp and milliseconds).

use super::payload::{self, Style};
use crate::json::Value;

/// How much of the arguments a line shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arguments {
    /// Nothing.
    None,
    /// Values of keys that sound secret are `***`, long texts lose their middle.
    #[default]
    Redacted,
    /// Everything.
    Full,
}

/// What happened to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Allowed, and answered.
    Allow,
    /// Refused.
    Deny,
    /// Allowed, and the server did not answer with a result.
    Error,
    /// No action covers the tool.
    Pass,
}

impl Event {
    fn column(self) -> &'static str {
        match self {
            Event::Allow => "ALLOW",
            Event::Deny => "DENY ",
            Event::Error => "ERROR",
            Event::Pass => "PASS ",
        }
    }
}

/// Characters of all arguments on a line.
const WIDTH: usize = 88;

/// The arguments for a line.
#[must_use]
pub fn arguments(value: Option<Value<'_>>, mode: Arguments) -> String {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return String::new() };
    let redacted = match mode {
        Arguments::None => return String::new(),
        Arguments::Redacted => true,
        Arguments::Full => false,
    };
    let text = payload::show(value, Style { sorted: false, colon: "=", redacted });
    let text = text.trim_matches(['{', '}']);
    if redacted { payload::shorten(text, WIDTH) } else { text.to_owned() }
}

/// The line. Control characters of names and messages are shown, not obeyed: a line break in a server's message
/// would print a line of its own, as good as ours.
#[must_use]
pub fn line(event: Event, tool: &str, arguments: &str, detail: &str) -> String {
    let mut line = format!("{} {tool}", event.column());
    for part in [arguments, detail] {
        if !part.is_empty() {
            line.push_str("  ");
            line.push_str(part);
        }
    }
    if !line.contains(char::is_control) {
        return line;
    }
    let mut shown = String::with_capacity(line.len());
    for c in line.chars() {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}
