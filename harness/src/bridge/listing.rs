//! The guard lists the server's tools for itself: a client may call without ever listing.

use std::time::Duration;

use framegate_guard::json::{Document, Limits};
use framegate_pump::{Frame, Injector};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::mcp;

/// How long one page may take; a call that waits for it is refused after that.
pub(crate) const PAGE_WAIT: Duration = Duration::from_secs(5);
/// Pages of one listing. A server that always names a next page is not listed for ever.
const PAGES_MAX: usize = 1000;
/// Tools of one listing.
pub(super) const TOOLS_MAX: usize = 10_000;

/// One tool as the server listed it.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    /// Its name.
    pub(crate) name: String,
    /// The whole tool, or why it cannot be read for certain.
    pub(crate) definition: Result<Document, String>,
}

impl Listed {
    /// How long its definition is.
    pub(super) fn bytes(&self) -> usize {
        self.definition.as_ref().map_or(0, |definition| definition.source().len())
    }
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<RpcFault>,
}

#[derive(Deserialize)]
struct RpcFault {
    #[serde(default)]
    message: String,
    code: Option<serde_json::Number>,
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow, default)]
    tools: Vec<&'a RawValue>,
    #[serde(rename = "nextCursor")]
    next_cursor: Option<serde_json::Value>,
}

/// Lists all pages. `version` is the protocol revision of a modern session; `None` for a legacy one.
pub(crate) async fn list(injector: &Injector, version: Option<&str>) -> Result<Vec<Listed>, String> {
    let mut tools = Vec::new();
    let mut cursor: Option<serde_json::Value> = None;
    for _ in 0..PAGES_MAX {
        let params = mcp::list_params(cursor.as_ref(), version).map(|params| params.to_string());
        let answer = injector.request_server("tools/list", params.as_deref(), PAGE_WAIT).await;
        let answer = answer.map_err(|why| format!("the server did not list its tools: {why}"))?;
        (tools, cursor) = read_page(answer, tools).await?;
        if cursor.is_none() {
            return Ok(tools);
        }
    }
    Err(format!("the server's tool listing has more than {PAGES_MAX} pages"))
}

/// Pages, and listings, up to this size are read, and adopted, on the pump's thread.
pub(super) const ON_THREAD_BYTES_MAX: usize = 64 * 1024;

type Read = (Vec<Listed>, Option<serde_json::Value>);

async fn read_page(answer: Frame, mut tools: Vec<Listed>) -> Result<Read, String> {
    let is_small = answer.len() <= ON_THREAD_BYTES_MAX;
    let read = move || page(answer.body(), &mut tools).map(|cursor| (tools, cursor));
    if is_small {
        return read();
    }
    let reading = tokio::task::spawn_blocking(read);
    reading.await.unwrap_or_else(|why| Err(format!("the server's tool listing cannot be read: {why}")))
}

/// Adds one page's tools; returns the next page's cursor.
pub(crate) fn page(body: &[u8], tools: &mut Vec<Listed>) -> Result<Option<serde_json::Value>, String> {
    let unreadable = |why: serde_json::Error| format!("the server's tool listing cannot be read: {why}");
    let answer: Answer<'_> = serde_json::from_slice(body).map_err(unreadable)?;
    if let Some(error) = answer.error {
        // A server without tools says so by "method not found".
        if error.code.and_then(|code| code.as_i64()) == Some(-32601) {
            return Ok(None);
        }
        let said: String = error.message.chars().take(200).collect();
        return Err(format!("the server refused to list its tools: {said}"));
    }
    let Some(result) = answer.result else { return Err("the server's tool listing has no result".into()) };
    let page: Page<'_> = serde_json::from_str(result.get()).map_err(unreadable)?;
    // Before any of them is read: reading, and binding the policy to each, is what takes time.
    if tools.len() + page.tools.len() > TOOLS_MAX {
        return Err(format!("the server lists more than {TOOLS_MAX} tools"));
    }
    tools.extend(page.tools.into_iter().map(|tool| read(tool.get())));
    // Only absence ends a listing: an empty string is a cursor. A null is what some write for "absent".
    Ok(page.next_cursor)
}

fn read(tool: &str) -> Listed {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let definition = Document::read(tool.as_bytes().to_vec().into(), &Limits::default());
    let name = match &definition {
        Ok(tool) => tool.root().get("name").and_then(|name| name.as_str()).map(str::to_owned),
        Err(_) => serde_json::from_str::<Named>(tool).ok().map(|tool| tool.name),
    };
    Listed { name: name.unwrap_or_default(), definition: definition.map_err(|why| why.to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_their_ends() {
        let mut tools = Vec::new();
        let first = br#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","x":1,"x":2},{"name":"b"}],"nextCursor":""}}"#;
        assert_eq!(page(first, &mut tools).unwrap(), Some("".into()));
        let last = br#"{"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":null}}"#;
        assert_eq!(page(last, &mut tools).unwrap(), None);
        assert_eq!(tools.len(), 2);
        assert!(tools[0].definition.as_ref().unwrap_err().contains("duplicate key"));
        assert_eq!(tools[1].name, "b");
        let none = br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#;
        assert_eq!(page(none, &mut tools).unwrap(), None);
        let many = vec![r#"{"name":"t"}"#; TOOLS_MAX + 1].join(",");
        let many = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{many}]}}}}"#);
        assert!(
            page(many.as_bytes(), &mut Vec::new()).unwrap_err().contains("more than"),
            "also on the last page"
        );
        let broken = br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"boom"}}"#;
        assert!(page(broken, &mut tools).unwrap_err().contains("boom"));
    }
}
