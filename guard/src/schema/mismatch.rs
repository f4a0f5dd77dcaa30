//! A mismatch in words, for a model and a person.

use crate::json::{Fault, Kind, Value};

/// Mismatches that one check reports.
pub const MISMATCHES_MAX: usize = 16;

/// Characters of foreign text that a message shows.
pub const SHOWN_CHARS_MAX: usize = 80;

/// Characters of a path or a validator's own sentence.
const LONG_CHARS_MAX: usize = 240;

/// One thing that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Where, for people: `a.b[0]`; empty for the whole value.
    pub path: String,
    /// Where, as a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// What the schema wants there.
    pub expected: String,
    /// What stands there.
    pub got: String,
    /// All of it in one sentence.
    pub message: String,
}

impl Mismatch {
    pub(super) fn new(place: &Place, expected: String, got: String) -> Mismatch {
        let shown = if place.path.is_empty() { "the value".into() } else { format!("`{}`", place.path) };
        let message = format!("{shown}: expected {expected}, got {got}");
        Mismatch { path: place.path.clone(), pointer: place.pointer.clone(), expected, got, message }
    }

    pub(super) fn unreadable(fault: &Fault) -> Mismatch {
        Mismatch::new(&Place::default(), "JSON that every reader reads alike".into(), fault.to_string())
    }
}

/// A place in the value, in both spellings.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) pointer: String,
}

impl Place {
    /// The place of a pointer, and the value there.
    pub(super) fn find<'a>(root: Value<'a>, pointer: &str) -> (Place, Option<Value<'a>>) {
        let mut place = Place::default();
        let mut at = Some(root);
        for segment in pointer.split('/').skip(1) {
            let name = segment.replace("~1", "/").replace("~0", "~");
            let parent = at;
            at = match parent.map(Value::kind) {
                Some(Kind::Array) => name.parse().ok().and_then(|position| parent?.item(position)),
                _ => parent.and_then(|parent| parent.get(&name)),
            };
            place = match parent.map(Value::kind) {
                Some(Kind::Array) => place.item(&name),
                _ => place.member(&name),
            };
        }
        (place, at)
    }

    pub(super) fn member(&self, name: &str) -> Place {
        let dot = if self.path.is_empty() { "" } else { "." };
        let escaped = name.replace('~', "~0").replace('/', "~1");
        Place {
            path: clip_long(&format!("{}{dot}{}", self.path, clip(name))),
            pointer: clip_long(&format!("{}/{escaped}", self.pointer)),
        }
    }

    pub(super) fn item(&self, position: impl std::fmt::Display) -> Place {
        Place {
            path: clip_long(&format!("{}[{position}]", self.path)),
            pointer: clip_long(&format!("{}/{position}", self.pointer)),
        }
    }
}

/// A value in a message.
pub(super) fn shown(value: Value<'_>) -> String {
    match value.kind() {
        Kind::Null => "null".into(),
        Kind::Bool => format!("boolean {}", value.raw()),
        Kind::Number => format!("number {}", clip(value.raw())),
        Kind::String => format!("string {}", clip(value.raw())),
        Kind::Array => format!("an array of {}", value.len()),
        Kind::Object => format!("an object of {}", value.len()),
    }
}

/// Foreign text, short and visible.
pub(super) fn clip(text: &str) -> String {
    clip_to(text, SHOWN_CHARS_MAX)
}

/// Foreign text that may be longer.
pub(super) fn clip_long(text: &str) -> String {
    clip_to(text, LONG_CHARS_MAX)
}

fn clip_to(text: &str, chars_max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(chars_max * 4));
    for (position, character) in text.chars().enumerate() {
        if position == chars_max {
            out.push('…');
            break;
        }
        match character {
            '"' | '\\' | '\'' => out.push(character),
            _ => out.extend(character.escape_debug()),
        }
    }
    out
}
