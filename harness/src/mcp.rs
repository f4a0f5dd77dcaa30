//! Shapes of MCP messages that are built here, of both eras.

use serde_json::{Value, json};

use crate::approve::APPROVE;

/// The newest revision with a handshake.
pub(crate) const LEGACY: &str = "2025-11-25";
/// The stateless revision.
pub(crate) const MODERN: &str = "2026-07-28";
/// `params._meta` key of a modern request.
pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// `params._meta` key under which a modern request says what its client can.
pub(crate) const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// The envelope that each modern request carries in `params._meta` (2026-07-28, section 3.2).
pub(crate) fn modern_meta() -> Value {
    json!({
        VERSION_KEY: MODERN,
        "io.modelcontextprotocol/clientInfo": client_info(),
        CAPABILITIES_KEY: {},
    })
}

/// Params of an `elicitation/create` for a yes or a no. Before 2025-11-25 there is no `mode`, and without one it
/// is a form in every revision.
pub(crate) fn approval_form(text: &str, mode: Option<&str>) -> Value {
    let approve = json!({ "type": "boolean", "title": "Allow this call?" });
    let schema = json!({ "type": "object", "properties": { APPROVE: approve }, "required": [APPROVE] });
    let mut params = json!({ "message": text, "requestedSchema": schema });
    if let (Some(mode), Some(params)) = (mode, params.as_object_mut()) {
        params.insert("mode".into(), mode.into());
    }
    params
}

/// A result by which the client's user is asked (2026-07-28): the client repeats its request with the answer.
pub(crate) fn input_required(key: &str, form: &Value, state: &str) -> Value {
    json!({
        "resultType": "input_required",
        "inputRequests": { key: { "method": "elicitation/create", "params": form } },
        "requestState": state,
    })
}

/// The same with the form's params as text: its fields have an order.
pub(crate) fn input_required_of(key: &str, form: &str, state: &str) -> String {
    let (key, state) = (Value::from(key), Value::from(state));
    format!(
        r#"{{"resultType":"input_required","inputRequests":{{{key}:{{"method":"elicitation/create","params":{form}}}}},"requestState":{state}}}"#
    )
}

/// Who we say we are when we play a client.
pub(crate) fn client_info() -> Value {
    json!({ "name": "framegate-try", "version": env!("CARGO_PKG_VERSION") })
}

/// `initialize`'s params.
pub(crate) fn initialize_params() -> Value {
    json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client_info() })
}

/// A tool result of one text.
pub(crate) fn text_result(text: &str, is_error: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": is_error, "resultType": "complete" })
}

/// Params of the guard's own `tools/list`: those of the era that is in force (2026-07-28, section 3.3).
pub(crate) fn list_params(cursor: Option<&Value>, version: Option<&str>) -> Option<Value> {
    let mut params = serde_json::Map::new();
    if let Some(cursor) = cursor {
        params.insert("cursor".into(), cursor.clone());
    }
    if let Some(version) = version {
        let meta = json!({ VERSION_KEY: version, CAPABILITIES_KEY: {} });
        params.insert("_meta".into(), meta);
    }
    (!params.is_empty()).then_some(Value::Object(params))
}

/// `result._meta` key under which a refusal tells machines what the text tells people.
pub(crate) const DECISION_KEY: &str = "dev.framegate/decision";

/// `result._meta` key under which a call that was not completed says what it lacks.
pub(crate) const MISSING_KEY: &str = "dev.framegate/missing";

/// `result._meta` key under which `--annotate` says where a call is recorded.
pub(crate) const RECORD_KEY: &str = "dev.framegate/record";

/// A refused call, as every client of both eras shows it to the model: text, `isError`, `resultType`, and no
/// `structuredContent` (some clients validate it against the tool's `outputSchema`).
pub(crate) fn refusal_result(text: &str, decision: &Value) -> Value {
    json!({
        "content": [{ "type": "text", "text": text }],
        "isError": true,
        "resultType": "complete",
        "_meta": { DECISION_KEY: decision },
    })
}

/// The result of a call that was not completed: the same JSON for the model and for programs, whose members have an
/// order. `structuredContent` only where no `outputSchema` says what that must be.
pub(crate) fn incomplete_result(json: &str, decision: &Value, has_output: bool) -> String {
    let (text, key, decision_key) = (Value::from(json), Value::from(MISSING_KEY), Value::from(DECISION_KEY));
    let structured = if has_output { String::new() } else { format!(r#","structuredContent":{json}"#) };
    format!(
        r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true,"resultType":"complete"{structured},"_meta":{{{key}:{json},{decision_key}:{decision}}}}}"#
    )
}
