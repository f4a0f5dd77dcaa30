//! JSON as the original's `json.dumps` writes it: what rules search, and what the audit line shows.

use std::sync::LazyLock;

use num_bigint::BigInt;
use regex::Regex;

use super::python;
use super::yaml11::INT_DIGITS_MAX;
use crate::json::{Kind, Value};

/// How a value is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    /// Keys by code point, or as they came.
    pub(crate) sorted: bool,
    pub(crate) colon: &'static str,
    /// Values of keys that sound secret, and long texts, are not shown.
    pub(crate) redacted: bool,
}

/// What a rule's `payload` is.
pub(crate) const PAYLOAD: Style = Style { sorted: true, colon: ": ", redacted: false };
/// A part of a result.
pub(crate) const RESULT: Style = Style { sorted: false, colon: ": ", redacted: false };

/// `None` when it holds an integer that the original does not read: more than 4,300 digits.
pub(crate) fn write(value: Value<'_>, style: Style) -> Option<String> {
    let mut writer = Writer { out: String::with_capacity(value.raw().len()), style, readable: true };
    writer.value(value, "");
    writer.readable.then_some(writer.out)
}

/// The same, whatever it holds.
pub(crate) fn show(value: Value<'_>, style: Style) -> String {
    let mut writer = Writer { out: String::new(), style, readable: true };
    writer.value(value, "");
    writer.out
}

struct Writer {
    out: String,
    style: Style,
    readable: bool,
}

static SECRET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words =
        "(?i)token|secret|password|passwd|api[-_]?key|authorization|credential|cookie|private|session";
    Regex::new(words).ok()
});

fn secret(key: &str) -> bool {
    !key.is_empty() && SECRET.as_ref().is_none_or(|words| words.is_match(key))
}

/// Characters of one shown value.
const VALUE_CHARS_MAX: usize = 48;

impl Writer {
    /// Recursion is as deep as a document: at most [`crate::json::Limits::DEPTH_MAX`].
    fn value(&mut self, value: Value<'_>, key: &str) {
        if self.style.redacted && secret(key) {
            self.out.push_str("\"***\"");
            return;
        }
        match value.kind() {
            Kind::Null | Kind::Bool => self.out.push_str(value.raw()),
            Kind::Number => self.number(value.raw()),
            Kind::String => self.string(value.as_str().unwrap_or_default()),
            Kind::Array => {
                self.out.push('[');
                for (at, item) in value.items().enumerate() {
                    self.comma(at);
                    self.value(item, key);
                }
                self.out.push(']');
            }
            Kind::Object => self.object(value),
        }
    }

    fn comma(&mut self, at: usize) {
        if at > 0 {
            self.out.push_str(", ");
        }
    }

    fn object(&mut self, value: Value<'_>) {
        let mut members: Vec<(&str, Value<'_>)> = value.members().collect();
        if self.style.sorted {
            members.sort_by_key(|(key, _)| *key);
        }
        self.out.push('{');
        for (at, (key, value)) in members.into_iter().enumerate() {
            self.comma(at);
            python::json_string(&mut self.out, key);
            self.out.push_str(self.style.colon);
            self.value(value, key);
        }
        self.out.push('}');
    }

    fn string(&mut self, text: &str) {
        if self.style.redacted {
            python::json_string(&mut self.out, &shorten(text, VALUE_CHARS_MAX));
        } else {
            python::json_string(&mut self.out, text);
        }
    }

    fn number(&mut self, token: &str) {
        if token.contains(['.', 'e', 'E']) {
            let shown = match token.parse::<f64>() {
                Ok(value) if value.is_finite() => python::float(value),
                Ok(value) if value < 0.0 => "-Infinity".to_owned(),
                _ => "Infinity".to_owned(),
            };
            self.out.push_str(&shown);
            return;
        }
        self.readable &= token.trim_start_matches('-').len() <= INT_DIGITS_MAX;
        self.out.push_str(if token == "-0" { "0" } else { token });
    }
}

/// An integer of the arguments; `None` for one that is none, `Some(None)` for one that is too long.
pub(crate) fn integer(token: &str) -> Option<Option<BigInt>> {
    if token.contains(['.', 'e', 'E']) {
        return None;
    }
    let readable = token.trim_start_matches('-').len() <= INT_DIGITS_MAX;
    Some(if readable { BigInt::parse_bytes(token.as_bytes(), 10) } else { None })
}

/// Drops the middle: what identifies a path or an address stands at both ends.
pub(crate) fn shorten(text: &str, chars: usize) -> String {
    if text.len() <= chars || text.chars().count() <= chars {
        return text.to_owned();
    }
    let head = (chars - 1) * 2 / 3;
    let tail = chars - 1 - head;
    let left: String = text.chars().take(head).collect();
    let right: Vec<char> = text.chars().rev().take(tail).collect();
    let right: String = right.into_iter().rev().collect();
    format!("{left}…{right}")
}
