//! A tool's result in MCP's shape, as what the tool said.

use std::borrow::Cow;

use super::block::texts;
use super::present;
use crate::json::{Document, Kind, Limits, Value};

/// All that a `CallToolResult` says: its texts, the texts of embedded resources, what links say of themselves,
/// and `structuredContent`, which servers repeat as a text and models read as either. What a block says already
/// is not said again.
#[must_use]
pub fn result_text(content: Option<Value<'_>>, structured: Option<Value<'_>>) -> String {
    let blocks: Vec<&str> = content.into_iter().flat_map(Value::items).flat_map(texts_of).collect();
    let mut all: Vec<Cow<'_, str>> = blocks.iter().map(|block| Cow::Borrowed(*block)).collect();
    if let Some(structured) = structured.filter(|structured| !is_said(*structured, &blocks)) {
        lines(None, structured, &mut all);
    }
    all.join("\n")
}

/// The texts of one content block; whatever it calls itself, a text in it is one.
fn texts_of(block: Value<'_>) -> Vec<&str> {
    let mut all = texts(block);
    let kind = block.get("type").and_then(Value::as_str);
    let (from, keys): (_, &[&str]) = match kind {
        Some("resource") => (block.get("resource"), &["text"]),
        Some("resource_link") => (Some(block), &["name", "title", "description"]),
        _ => return all,
    };
    let member = |key: &&str| from.and_then(|from| present(from, key)).and_then(Value::as_str);
    all.extend(keys.iter().filter_map(member).filter(|text| !text.is_empty()));
    all
}

/// Whether the blocks say it: as its JSON, or as the one `result` that SDKs wrap what is no object in, of which
/// each item may be a block of its own.
fn is_said(structured: Value<'_>, blocks: &[&str]) -> bool {
    let any = |value: Value<'_>| blocks.iter().any(|block| is_same(block, value));
    let wrapped = structured.get("result").filter(|_| structured.len() == 1);
    let each = |list: Value<'_>| {
        list.kind() == Kind::Array
            && list.len() == blocks.len()
            && list.items().zip(blocks).all(|(item, block)| is_same(block, item))
    };
    any(structured) || wrapped.is_some_and(|wrapped| any(wrapped) || each(wrapped))
}

fn is_same(block: &str, value: Value<'_>) -> bool {
    if let Some(text) = value.as_str() {
        return text == block;
    }
    let read = || Document::read(block.to_owned().into(), &Limits::default());
    // A text that cannot be its JSON is not read for it.
    let begins = |text: &str| text.trim_start().bytes().next();
    begins(block) == begins(value.raw()) && read().is_ok_and(|read| read.root() == value)
}

/// Every name and value, decoded, so that an escape hides nothing: `name: value`, line by line.
// The reader's limit bounds the recursion.
fn lines<'a>(name: Option<&'a str>, value: Value<'a>, all: &mut Vec<Cow<'a, str>>) {
    let scalar = value.as_str().unwrap_or_else(|| value.raw());
    match (value.kind(), name) {
        (Kind::Array | Kind::Object, _) => all.extend(name.map(|name| Cow::Owned(format!("{name}:")))),
        (_, Some(name)) => all.push(Cow::Owned(format!("{name}: {scalar}"))),
        (_, None) => all.push(Cow::Borrowed(scalar)),
    }
    value.items().for_each(|item| lines(None, item, all));
    value.members().for_each(|(name, member)| lines(Some(name), member, all));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(result: &str) -> String {
        let read = Document::read(result.to_owned().into(), &Limits::default()).unwrap();
        result_text(read.root().get("content"), read.root().get("structuredContent"))
    }

    #[test]
    fn every_text_of_a_result_is_what_the_tool_said() {
        let result = r#"{"content":[{"type":"text","text":"a"},{"type":"image","data":"QUJD"},
            {"type":"resource","resource":{"uri":"file:///n","text":"in a\nfile"}},
            {"type":"resource","resource":{"uri":"file:///b","blob":"QUJD"}},
            {"type":"resource_link","uri":"file:///l","name":"n","description":"d"},{"text":"untyped"},"bare",7],
            "structuredContent":{"b":{"c":[1.50,"x\ny",true]},"d":null}}"#;
        assert_eq!(said(result), "a\nin a\nfile\nn\nd\nuntyped\nbare\nb:\nc:\n1.50\nx\ny\ntrue\nd: null");
        assert_eq!(said(r#"{"structuredContent":{"note":"\u0069gnore"}}"#), "note: ignore");
        assert_eq!(said("{}"), "");
    }

    #[test]
    fn what_a_block_says_already_is_said_once() {
        for (content, structured) in [
            (r#""{\"n\": 1.0, \"m\": \"x\"}""#, r#"{"m":"x","n":1}"#),
            (r#""plain""#, r#"{"result":"plain"}"#),
            (r#""7""#, r#"{"result":7}"#),
            (r#""[1, 2]""#, r#"{"result":[1,2]}"#),
            (r#""a"},{"type":"text","text":"b""#, r#"{"result":["a","b"]}"#),
        ] {
            let blocks = format!(r#"{{"content":[{{"type":"text","text":{content}}}]"#);
            let alone = said(&format!("{blocks}}}"));
            assert_eq!(said(&format!(r#"{blocks},"structuredContent":{structured}}}"#)), alone);
        }
        // Another value, or one thing more, is said.
        let more =
            r#"{"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1,"do":"it"}}"#;
        assert_eq!(said(more), "{\"n\":1}\nn: 1\ndo: it");
    }
}
