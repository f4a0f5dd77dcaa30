//! A message's content: whose each block is, and its text.

use std::borrow::Cow;

use super::kind::{BlockKind, answers_a_call, block_kind};
use super::{GUARD_NOTE, Role, present};
use crate::json::{Kind, Value};
use crate::proposal::{self, KeyOrder};

/// Who said it, if anyone known, and what.
type Part = (Option<Role>, String);

/// A message's content in parts; neighbouring blocks of one origin are one part.
pub(super) fn parts(role: Option<Role>, content: Option<Value<'_>>) -> Vec<Part> {
    let Some(content) = content else { return Vec::new() };
    let mut parts = Vec::new();
    match content.kind() {
        Kind::Object => add(&mut parts, block(role, content)),
        Kind::Array => content.items().for_each(|item| add(&mut parts, block(role, item))),
        _ => {
            let text = text_of(content);
            parts.push((unless_note(role, &text), text));
        }
    }
    parts
}

fn add(parts: &mut Vec<Part>, (role, text): Part) {
    if text.is_empty() {
        return;
    }
    match parts.last_mut() {
        Some((last, joined)) if *last == role => {
            joined.push('\n');
            joined.push_str(&text);
        }
        _ => parts.push((role, text)),
    }
}

fn block(role: Option<Role>, block: Value<'_>) -> Part {
    let kind = block_kind(block.get("type"));
    let output = kind == BlockKind::Output || kind == BlockKind::Untyped && answers_a_call(block);
    if kind == BlockKind::Call {
        (Some(Role::Assistant), call_text(block))
    } else if output || role == Some(Role::User) && !is_users_text(block, kind) {
        (Some(Role::Tool), output_text(block))
    } else {
        let text = joined(Leaves::default().item(block));
        (unless_note(role, &text), text)
    }
}

/// What the guard wrote into the conversation is not the user's, whatever else the message holds.
fn unless_note(role: Option<Role>, text: &str) -> Option<Role> {
    let note = role == Some(Role::User) && text.contains(GUARD_NOTE);
    if note { Some(Role::Assistant) } else { role }
}

fn is_users_text(block: Value<'_>, kind: BlockKind) -> bool {
    if block.kind() == Kind::String {
        return true;
    }
    let text = block.get("text").is_some_and(|text| text.kind() == Kind::String);
    let plain = match kind {
        BlockKind::Text => true,
        BlockKind::Untyped => block.get("content").is_none(),
        BlockKind::Call | BlockKind::Output | BlockKind::Other => false,
    };
    text && plain && !answers_a_call(block)
}

/// A call of the model's: `name({"a": 1})`.
fn call_text(block: Value<'_>) -> String {
    let name = block.get("name").map_or(Cow::Borrowed("None"), scalar);
    let arguments = ["input", "arguments", "args"].iter().find_map(|key| present(block, key));
    let mut text = format!("{name}(");
    match arguments {
        None => text.push_str("{}"),
        Some(arguments) => match arguments.as_str() {
            Some(written) => text.push_str(written),
            None => proposal::push(arguments, KeyOrder::AsWritten, &mut text),
        },
    }
    text.push(')');
    text
}

/// The text of a block that is not plain text.
fn output_text(block: Value<'_>) -> String {
    ["content", "output", "text"].iter().find_map(|key| present(block, key)).map_or_else(String::new, text_of)
}

/// The text of a tool's result or a message's content: a string itself, a list the texts of its blocks line by
/// line, any other object its JSON with sorted keys.
#[must_use]
pub fn text_of(content: Value<'_>) -> String {
    match content.kind() {
        Kind::Null => String::new(),
        Kind::Array => joined(Leaves::default().list(content)),
        _ => scalar(content).into_owned(),
    }
}

/// A value as Python's `str` writes it; an object or array as JSON.
fn scalar(value: Value<'_>) -> Cow<'_, str> {
    match value.kind() {
        Kind::Null => Cow::Borrowed("None"),
        Kind::Bool => Cow::Borrowed(if value.as_bool() == Some(true) { "True" } else { "False" }),
        Kind::Number => Cow::Owned(proposal::number(value)),
        Kind::String => Cow::Borrowed(value.as_str().unwrap_or_default()),
        Kind::Array | Kind::Object => {
            let mut text = String::new();
            proposal::push(value, KeyOrder::Sorted, &mut text);
            Cow::Owned(text)
        }
    }
}

/// The strings of a list of blocks, in order. The depth is bounded by the reader's limit.
#[derive(Default)]
struct Leaves<'a>(Vec<&'a str>);

impl<'a> Leaves<'a> {
    fn list(mut self, list: Value<'a>) -> Vec<&'a str> {
        self.collect(list);
        self.0
    }

    fn item(mut self, item: Value<'a>) -> Vec<&'a str> {
        self.one(item);
        self.0
    }

    fn collect(&mut self, list: Value<'a>) {
        list.items().for_each(|item| self.one(item));
    }

    fn one(&mut self, item: Value<'a>) {
        let text = match item.kind() {
            Kind::String => Some(item),
            Kind::Object => present(item, "text").or(item.get("content")),
            _ => None,
        };
        match text {
            Some(text) if text.kind() == Kind::Array => self.collect(text),
            Some(text) => self.0.extend(text.as_str().filter(|text| !text.is_empty())),
            None => {}
        }
    }
}

/// The texts of one block.
pub(super) fn texts(block: Value<'_>) -> Vec<&str> {
    Leaves::default().item(block)
}

fn joined(leaves: Vec<&str>) -> String {
    leaves.join("\n")
}
