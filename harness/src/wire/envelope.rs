//! The shape of one message: which kind it is, and that its members are what JSON-RPC and MCP say.

use framegate_guard::json::{Kind, Value};
use framegate_guard::look::fold;

use super::refusal::{Reason, Refusal};
use super::{Limits, MessageKind, ids, keys};

const CALL: &str = "tools/call";
/// "Method not found" (JSON-RPC 2.0, section 5.1).
const METHOD_NOT_FOUND: i64 = -32601;

/// Checks a message that is one JSON object.
pub(super) fn check(message: Value<'_>, limits: &Limits) -> Result<MessageKind, Refusal> {
    keys::of_envelope(message)?;
    let kind = kind_of(message)?;
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refuse(Reason::Version, "`jsonrpc` is not the string \"2.0\"");
    }
    match kind {
        MessageKind::Response => response(message, limits)?,
        MessageKind::Notification | MessageKind::Request => request(message, kind, limits)?,
    }
    Ok(kind)
}

fn kind_of(message: Value<'_>) -> Result<MessageKind, Refusal> {
    let has = |key| message.get(key).is_some();
    match (has("method"), has("result"), has("error")) {
        (true, false, false) if has("id") => Ok(MessageKind::Request),
        (true, false, false) => Ok(MessageKind::Notification),
        (true, ..) => refuse(Reason::Hybrid, "a message with `method` and an answer at once"),
        (false, true, true) => refuse(Reason::Hybrid, "an answer with `result` and `error` at once"),
        (false, true, false) | (false, false, true) => Ok(MessageKind::Response),
        (false, false, false) => {
            refuse(Reason::NoMessage, "neither a request nor an answer: no `method`, `result` or `error`")
        }
    }
}

fn response(message: Value<'_>, limits: &Limits) -> Result<(), Refusal> {
    let error = message.get("error");
    if error.is_some_and(|error| error.kind() != Kind::Object) {
        return refuse(Reason::NoMessage, "an answer whose `error` is no object");
    }
    ids::of_response(message.get("id"), error.is_some(), limits)
}

fn request(message: Value<'_>, kind: MessageKind, limits: &Limits) -> Result<(), Refusal> {
    if let Some(id) = message.get("id") {
        ids::of_request(id, limits)?;
    }
    let Some(method) = message.get("method").and_then(Value::as_str) else {
        return refuse(Reason::Method, "`method` is no string");
    };
    if method != CALL && fold(method) == CALL {
        let message = "the method could be taken for `tools/call`, and is another";
        return Err(Refusal { code: METHOD_NOT_FOUND, ..Refusal::new(Reason::LookAlike, message) });
    }
    let params = message.get("params");
    match params.map(Value::kind) {
        None | Some(Kind::Array) => {}
        Some(Kind::Object) => params.map_or(Ok(()), keys::of_params)?,
        Some(other) => {
            return refuse(Reason::Params, format!("`params` is neither object nor array: {other}"));
        }
    }
    if method == CALL { call(params, kind) } else { Ok(()) }
}

fn call(params: Option<Value<'_>>, kind: MessageKind) -> Result<(), Refusal> {
    if kind == MessageKind::Notification {
        return refuse(Reason::NoId, "a tool call without an `id`: nobody could be told what became of it");
    }
    let Some(params) = params.filter(|params| params.kind() == Kind::Object) else {
        return refuse(Reason::Params, "the `params` of a tool call must be an object");
    };
    if params.get("name").and_then(Value::as_str).is_none() {
        return refuse(Reason::ToolName, "`params.name` of a tool call must be a string");
    }
    match params.get("arguments").map(Value::kind) {
        None | Some(Kind::Null | Kind::Object) => Ok(()),
        Some(other) => {
            refuse(Reason::Arguments, format!("`params.arguments` must be an object, not a {other}"))
        }
    }
}

fn refuse<T>(reason: Reason, message: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::new(reason, message))
}
