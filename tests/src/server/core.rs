//! The smallest MCP server: what every kind answers when it has nothing special to say.

use std::io;

use super::wire::Output;
use crate::scan;

/// The id to answer with, as the request spelled it.
pub(super) fn id_or_null(line: &[u8]) -> &[u8] {
    scan::id(line).unwrap_or(b"null")
}

/// Answers `initialize`, `tools/list`, `ping` and, with `text`, any other request.
pub(super) fn answer(output: &Output, line: &[u8], text: &str) -> io::Result<()> {
    if !scan::has(line, b"\"method\"") || scan::id(line).is_none() {
        return Ok(());
    }
    let result = if scan::has(line, b"\"initialize\"") {
        concat!(
            r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"#,
            r#""serverInfo":{"name":"s","version":"1"}}"#
        )
        .to_owned()
    } else if scan::has(line, b"\"tools/list\"") {
        r#"{"tools":[{"name":"touch","inputSchema":{"type":"object"}}]}"#.to_owned()
    } else if scan::has(line, b"\"ping\"") {
        "{}".to_owned()
    } else {
        format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#)
    };
    output.put(&result_frame(id_or_null(line), result.as_bytes()))
}

/// A whole answer with its line feed.
pub(super) fn result_frame(id: &[u8], result: &[u8]) -> Vec<u8> {
    [br#"{"jsonrpc":"2.0","id":"#, id, br#","result":"#, result, b"}\n"].concat()
}

/// True for a `tools/call`, of the tool `name` if one is given.
pub(super) fn is_call(line: &[u8], name: Option<&str>) -> bool {
    scan::has(line, b"\"tools/call\"")
        && name.is_none_or(|name| scan::strings(line, "name").contains(&name.as_bytes()))
}
