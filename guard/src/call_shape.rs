//! Tool calls in the forms in which protocols and model APIs write them.
//!
//! One shape is read for all: the name beside the arguments, or both inside a `function` object; the arguments
//! under the first present of `arguments`, `args`, `input`, `parameters`, as a value or as JSON in a string; an
//! id under `id`, `call_id` or `tool_call_id`. Run what the permit of the decision holds, never the object this
//! was read from: where a call says `arguments` and `args`, another reader may take the other.

use crate::json::{Document, Fault, FaultKind, Kind, Limits, Value};

/// Whose form a call has: in the same form its refusal goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallShape {
    /// `{"type": "tool_use", "id", "name", "input"}`
    Anthropic,
    /// `{"name", "args", "id"}`, `"type": "tool_call"`
    LangChain,
    /// `{"name", "arguments"}`: the `params` of `tools/call`, and every other plain object.
    Mcp,
    /// Chat completions: `{"id", "type": "function", "function": {"name", "arguments": "…"}}`
    OpenAiChat,
    /// Responses: `{"type": "function_call", "call_id", "name", "arguments": "…"}`
    OpenAiResponses,
}

/// A call, read.
#[derive(Debug, Clone)]
pub struct ParsedCall {
    /// The tool: not empty.
    pub name: String,
    /// The arguments; missing, `null` and the empty string are `{}`. Not always an object: a string that is no
    /// JSON stays a string, and the check of the arguments refuses it.
    pub arguments: Document,
    /// The call's own id.
    pub id: Option<String>,
    /// The form it had.
    pub shape: CallShape,
}

/// Why a value is no tool call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// The arguments are JSON in a string that two parsers could read differently.
    #[error("the call's arguments cannot be read for certain: {0}")]
    Arguments(Fault),
    /// Not an object.
    #[error("a tool call is an object, not {0}")]
    NotAnObject(Kind),
    /// No name, or one that is not a string with something in it.
    #[error("a tool call needs the tool's name, a string that is not empty")]
    NoName,
}

/// The names under which arguments come, first one wins.
const ARGUMENTS: [&str; 4] = ["arguments", "args", "input", "parameters"];
/// The names under which a call's id comes, first one that says anything wins.
const IDS: [&str; 3] = ["id", "call_id", "tool_call_id"];

impl CallShape {
    /// Reads one call. `limits` holds for arguments that are JSON in a string.
    ///
    /// # Errors
    /// [`ShapeError`] when there is no tool's name, or the arguments can be read in two ways.
    pub fn parse(call: Value<'_>, limits: &Limits) -> Result<ParsedCall, ShapeError> {
        if call.kind() != Kind::Object {
            return Err(ShapeError::NotAnObject(call.kind()));
        }
        let inner = call.get("function").filter(|function| function.kind() == Kind::Object);
        let function = inner.unwrap_or(call);
        let name = function.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
        let name = name.ok_or(ShapeError::NoName)?.to_owned();
        let arguments = arguments(ARGUMENTS.iter().find_map(|key| function.get(key)), limits)?;
        let id = IDS.iter().find_map(|key| call.get(key).and_then(id));
        Ok(ParsedCall { name, arguments, id, shape: shape(call, inner.is_some()) })
    }
}

fn arguments(value: Option<Value<'_>>, limits: &Limits) -> Result<Document, ShapeError> {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return Ok(Document::empty_object());
    };
    let own = || {
        let source = value.document().source().slice(value.span());
        Document::read(source, &Limits { depth: usize::MAX, ..limits.clone() }).map_err(ShapeError::Arguments)
    };
    let Some(text) = value.as_str() else { return own() };
    if text.chars().all(is_space) {
        return Ok(Document::empty_object());
    }
    match Document::read(text.to_owned().into(), limits) {
        Ok(document) if document.root().is_null() => Ok(Document::empty_object()),
        Ok(document) => Ok(document),
        Err(fault) if no_json(&fault.kind) => own(),
        Err(fault) => Err(ShapeError::Arguments(fault)),
    }
}

/// No parser takes it, so it is nothing but a string. Every other fault is one that some parsers let pass.
fn no_json(fault: &FaultKind) -> bool {
    matches!(fault, FaultKind::Empty | FaultKind::Trailing | FaultKind::Unexpected(_) | FaultKind::Unfinished)
}

/// White space as Python's `str.strip` sees it.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// An id that says something: `null`, `false`, `""`, `0` and what is no id at all do not.
fn id(value: Value<'_>) -> Option<String> {
    match value.kind() {
        Kind::String => value.as_str().filter(|id| !id.is_empty()).map(str::to_owned),
        Kind::Number => (value.canonical() != "0").then(|| value.raw().to_owned()),
        Kind::Null | Kind::Bool | Kind::Array | Kind::Object => None,
    }
}

fn shape(call: Value<'_>, in_function: bool) -> CallShape {
    if in_function {
        return CallShape::OpenAiChat;
    }
    let has = |key: &str| call.get(key).is_some();
    match call.get("type").and_then(Value::as_str) {
        Some("function_call") => CallShape::OpenAiResponses,
        Some("tool_use") => CallShape::Anthropic,
        Some("tool_call") => CallShape::LangChain,
        _ if has("arguments") => {
            if has("call_id") {
                CallShape::OpenAiResponses
            } else {
                CallShape::Mcp
            }
        }
        _ if has("args") => CallShape::LangChain,
        _ if has("input") => CallShape::Anthropic,
        _ => CallShape::Mcp,
    }
}

#[cfg(test)]
mod tests {
    use super::{CallShape, ParsedCall, ShapeError};
    use crate::json::{Document, FaultKind, Limits};

    fn parse(text: &str) -> Result<ParsedCall, ShapeError> {
        let limits = Limits::default();
        CallShape::parse(Document::read(text.to_owned().into(), &limits).unwrap().root(), &limits)
    }

    #[test]
    fn each_shape_is_known_by_its_marks() {
        for (call, shape) in [
            (r#"{"name":"f","arguments":{}}"#, CallShape::Mcp),
            (r#"{"name":"f"}"#, CallShape::Mcp),
            (
                r#"{"type":"function","id":"c","function":{"name":"f","arguments":"{}"}}"#,
                CallShape::OpenAiChat,
            ),
            (
                r#"{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}"#,
                CallShape::OpenAiResponses,
            ),
            (r#"{"type":"tool_use","id":"c","name":"f","input":{}}"#, CallShape::Anthropic),
            (r#"{"type":"tool_call","id":"c","name":"f","args":{}}"#, CallShape::LangChain),
            (r#"{"id":"c","name":"f","args":{}}"#, CallShape::LangChain),
        ] {
            assert_eq!(parse(call).unwrap().shape, shape, "{call}");
        }
    }

    #[test]
    fn arguments_in_a_string_are_read_strictly() {
        let fault = |arguments: &str| {
            let call = serde_json::json!({"name": "f", "arguments": arguments}).to_string();
            match parse(&call) {
                Err(ShapeError::Arguments(fault)) => Some(fault.kind),
                _ => None,
            }
        };
        assert_eq!(fault(r#"{"a":1,"a":2}"#), Some(FaultKind::DuplicateKey("a".into())));
        assert_eq!(fault(r#"{"a":"\ud800"}"#), Some(FaultKind::LoneSurrogate));
        assert_eq!(fault("\u{feff}{}"), Some(FaultKind::ByteOrderMark));
        assert_eq!(fault("{\"a\":\"\u{1}\"}"), Some(FaultKind::ControlByte(1)));
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(fault(&nested(63)), None);
        assert_eq!(fault(&nested(64)), None);
        assert_eq!(fault(&nested(65)), Some(FaultKind::Depth(64)));
    }

    #[test]
    fn a_string_that_is_no_json_stays_a_string() {
        for text in ["not json", "{", "{} {}", "NaN"] {
            let call = serde_json::json!({"name": "f", "arguments": text}).to_string();
            assert_eq!(parse(&call).unwrap().arguments.root().as_str(), Some(text));
        }
    }

    #[test]
    fn an_id_that_says_nothing_is_passed_over() {
        let id = |text: &str| parse(text).unwrap().id;
        assert_eq!(id(r#"{"name":"f","id":"","call_id":"k"}"#).as_deref(), Some("k"));
        assert_eq!(id(r#"{"name":"f","id":null,"tool_call_id":"t"}"#).as_deref(), Some("t"));
        assert_eq!(id(r#"{"name":"f","id":7}"#).as_deref(), Some("7"));
        assert_eq!(id(r#"{"name":"f","id":0}"#), None);
    }

    #[test]
    fn what_is_no_call_is_said() {
        assert!(matches!(parse("[]"), Err(ShapeError::NotAnObject(_))));
        for call in [r#"{"name":""}"#, r#"{"name":5}"#, "{}", r#"{"name":"f","function":{}}"#] {
            assert!(matches!(parse(call), Err(ShapeError::NoName)), "{call}");
        }
    }
}
