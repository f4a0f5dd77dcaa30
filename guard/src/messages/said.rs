//! What of a tool's result a session hears.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::result_text;
use crate::json::{Document, Kind, Limits};

/// Bytes of a tool's text that go into a conversation.
pub const HEARD_BYTES_MAX: usize = 1024 * 1024;

#[derive(Deserialize)]
struct ToolResult<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, rename = "structuredContent")]
    structured: Option<&'a RawValue>,
    #[serde(rename = "isError", default)]
    _is_error: Option<bool>,
}

/// A task with its outcome inside (2026-07-28).
#[derive(Deserialize)]
struct Task<'a> {
    #[serde(rename = "taskId")]
    id: Option<String>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

/// All that a `result` of `tools/call` says, as a session hears it: a function of its JSON text alone, so that it can
/// be computed again from a record. Where it cannot be read for certain it is all that is written there, or a rule
/// over it would hold for want of text.
#[must_use]
pub fn heard_text(result: &str) -> String {
    let task = serde_json::from_str::<Task<'_>>(result).ok();
    let outcome = task.and_then(|task| task.id.and(task.result)).map(RawValue::get);
    // Both, as whoever shows it may show either.
    let mut text = lines([Some(result), outcome].into_iter().flatten().map(said));
    if text.len() > HEARD_BYTES_MAX {
        let end = (0..=HEARD_BYTES_MAX).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

fn said(result: &str) -> String {
    let Ok(ToolResult { content, structured, .. }) = serde_json::from_str(result) else {
        return as_written(result);
    };
    let mut unread = Vec::new();
    let mut read = |part: Option<&RawValue>, fits: fn(Kind) -> bool| {
        let part = part?.get();
        let read = Document::read(Bytes::copy_from_slice(part.as_bytes()), &Limits::default());
        let read = read.ok().filter(|read| fits(read.root().kind()));
        if read.is_none() {
            unread.push(as_written(part));
        }
        read
    };
    let (content, structured) = (read(content, |kind| kind == Kind::Array), read(structured, |_| true));
    let text = result_text(content.as_ref().map(Document::root), structured.as_ref().map(Document::root));
    lines(std::iter::once(text).chain(unread))
}

fn lines(texts: impl Iterator<Item = String>) -> String {
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// JSON text with its escapes resolved, whether or not it is JSON.
#[must_use]
pub fn as_written(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        plain.push_str(before);
        let mut after = escape.chars();
        let code = |digits: Option<&str>| u32::from_str_radix(digits?, 16).ok();
        match after.next() {
            Some('u') => match code(after.as_str().get(..4)) {
                Some(code) => {
                    plain.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                    after = after.as_str().get(4..).unwrap_or_default().chars();
                }
                None => plain.push('u'),
            },
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some(other) => plain.push(other),
            None => {}
        }
        rest = after.as_str();
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_says_what_its_blocks_say() {
        let blocks = r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#;
        assert_eq!(heard_text(blocks), "a\nb");
        let doubled = r#"{"content":[{"text":"a","text":"\u0062"}]}"#;
        assert_eq!(heard_text(doubled), r#"[{"text":"a","text":"b"}]"#);
        let twice = r#"{"content":[],"content":"x"}"#;
        assert_eq!(heard_text(twice), twice);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let cut = |count: usize| {
            let text = "\u{e4}".repeat(count);
            heard_text(&format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#)).len()
        };
        let half = HEARD_BYTES_MAX / 2;
        assert_eq!(cut(half - 1), HEARD_BYTES_MAX - 2);
        assert_eq!((cut(half), cut(half + 1)), (HEARD_BYTES_MAX, HEARD_BYTES_MAX));
    }
}
