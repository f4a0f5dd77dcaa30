//! What a message or block says it is.

use super::present;
use crate::call_shape::is_space;
use crate::json::{Kind, Value};

/// Endings of the types that name a tool's output.
const OUTPUTS: [&str; 8] = [
    "tool_result",
    "call_output",
    "function_response",
    "function_result",
    "search_result",
    "tool_output",
    "tool_response",
    "tool_message",
];
/// What answers a call carries the call's id.
const CALL_IDS: [&str; 2] = ["tool_call_id", "tool_use_id"];
/// Where frameworks note where a message came from, and the words by which a `source` names a digest of earlier
/// messages.
const ORIGINS: [&str; 3] = ["additional_kwargs", "response_metadata", "metadata"];
const GENERATED: [&str; 7] = ["summar", "compact", "compress", "condens", "memory", "generated", "trimm"];

/// A type in one spelling: `toolResult`, `TOOL-RESULT` and `tool.result` are `tool_result`.
pub(super) fn normalise(kind: &str) -> String {
    let mut out = String::with_capacity(kind.len() + 4);
    let mut before = None;
    for c in kind.trim_matches(is_space).chars() {
        let hump = c.is_ascii_uppercase()
            && before.is_some_and(|b: char| b.is_ascii_lowercase() || b.is_ascii_digit());
        if matches!(c, '-' | '.') || is_space(c) {
            // A run of these is one; an underscore as written stays beside it.
            if !before.is_some_and(|b| matches!(b, '-' | '.') || is_space(b)) {
                out.push('_');
            }
        } else {
            if hump {
                out.push('_');
            }
            out.push(c);
        }
        before = Some(c);
    }
    out.to_lowercase()
}

/// What a block is by its type alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// A call the model made.
    Call,
    /// A tool's output.
    Output,
    /// `text` or `input_text`.
    Text,
    /// Another type.
    Other,
    /// No type, or one that is not a string.
    Untyped,
}

pub(super) fn block_kind(kind: Option<Value<'_>>) -> BlockKind {
    let Some(kind) = kind.and_then(Value::as_str).map(normalise) else { return BlockKind::Untyped };
    if is_output(&kind) {
        BlockKind::Output
    } else if kind.ends_with("tool_use") || kind.ends_with("tool_call") || kind == "function_call" {
        BlockKind::Call
    } else if kind == "text" || kind == "input_text" {
        BlockKind::Text
    } else {
        BlockKind::Other
    }
}

fn is_output(normalised: &str) -> bool {
    normalised == "tool" || OUTPUTS.iter().any(|ending| normalised.ends_with(ending))
}

/// Whether a message's `type` names a tool's output.
pub(super) fn is_tool_output(kind: Option<Value<'_>>) -> bool {
    kind.and_then(Value::as_str).is_some_and(|kind| is_output(&normalise(kind)))
}

pub(super) fn answers_a_call(value: Value<'_>) -> bool {
    CALL_IDS.iter().any(|id| present(value, id).is_some())
}

/// Whether a framework wrote the message in the user's place: a summary repeats what tools said.
pub(super) fn is_generated(message: Value<'_>) -> bool {
    ORIGINS.iter().filter_map(|origin| message.get(origin)).any(|origin| {
        let source = origin.get("source").and_then(Value::as_str).map(str::to_lowercase);
        origin.get("lc_source").is_some_and(says_something)
            || source.is_some_and(|source| GENERATED.iter().any(|word| source.contains(word)))
    })
}

/// Not `null`, `false`, zero, or empty.
pub(super) fn says_something(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Null => false,
        Kind::Bool => value.as_bool() == Some(true),
        Kind::Number => value.canonical() != "0",
        Kind::String => value.as_str() != Some(""),
        Kind::Array | Kind::Object => !value.is_empty(),
    }
}
