//! One line of a session: what it says, read strictly.

use std::collections::BTreeMap;

use bytes::Bytes;
use framegate_guard::call_shape::{CallShape, ParsedCall, ShapeError};
use framegate_guard::json::{Document, Kind, Limits, Value};
use framegate_guard::messages::{self, Message};
use framegate_guard::program::{Answer, read_stated};
use framegate_guard::world::{Instant, Unknown};

use crate::bridge::listing::Listed;
use crate::policy_file::members;

/// What a line may say; one of these a line.
const SAYINGS: [&str; 9] =
    ["call", "facts", "message", "now", "paths", "policy", "policy_text", "programs", "tools"];
/// What may stand beside a call.
const BESIDE_CALL: [&str; 4] = ["output", "is_error", "made", "expect"];
/// The keys under which tool definitions carry their schema: MCP, Anthropic, OpenAI.
const SCHEMAS: [&str; 3] = ["inputSchema", "input_schema", "parameters"];

/// What a program is said to answer.
pub(crate) type Stated = Result<Answer, Unknown>;

/// One line.
#[derive(Debug)]
pub(crate) enum Event {
    /// A blank line, or a comment.
    Nothing,
    Call(Box<CallEvent>),
    Facts(BTreeMap<String, Document>),
    Messages(Vec<Message>),
    Now(Instant),
    Paths(BTreeMap<String, String>),
    /// The policy to decide by: a file.
    Policy(String),
    /// The policy itself.
    PolicyText(String),
    /// What programs say, one after the other; the last one again and again.
    Programs(BTreeMap<String, Vec<Stated>>),
    Tools(Vec<Listed>),
}

/// A call, and what became of it.
#[derive(Debug)]
pub(crate) struct CallEvent {
    pub(crate) tool: String,
    pub(crate) id: Option<String>,
    /// Or why they cannot be read for certain.
    pub(crate) arguments: Result<Document, String>,
    pub(crate) output: Option<String>,
    /// `None`: the session does not say.
    pub(crate) is_error: Option<bool>,
    /// Its `structuredContent`.
    pub(crate) structured: Option<Document>,
    /// Whether it was made; `None`: when it is allowed.
    pub(crate) made: Option<bool>,
    /// What `framegate test` expects of the decision: an object.
    pub(crate) expect: Option<Document>,
}

/// Reads a line.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn read(line: &[u8]) -> Result<Event, String> {
    let text = line.trim_ascii();
    if text.is_empty() || text.starts_with(b"#") {
        return Ok(Event::Nothing);
    }
    let limits = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
    let document = Document::read(Bytes::copy_from_slice(text), &limits)
        .map_err(|fault| format!("no strict JSON: {fault}"))?;
    let event = document.root();
    if event.kind() != Kind::Object {
        return Err(format!("a line is a JSON object, not a JSON {}", event.kind()));
    }
    let mut said = event.members().filter(|(key, _)| SAYINGS.contains(key));
    let Some((saying, value)) = said.next() else {
        return Err(format!("the line says nothing that is known; it has one of {}", listed(&SAYINGS)));
    };
    if let Some((other, _)) = said.next() {
        return Err(format!("`{saying}` and `{other}` in one line: which comes first? Write two lines"));
    }
    let beside: &[&str] = if saying == "call" { &BESIDE_CALL } else { &[] };
    if let Some((key, _)) = event.members().find(|(key, _)| *key != saying && !beside.contains(key)) {
        let known = if beside.is_empty() { "nothing".to_owned() } else { listed(beside) };
        return Err(format!("unknown key `{key}`: beside `{saying}` may stand {known}"));
    }
    match saying {
        "call" => call(value, event).map(|call| Event::Call(Box::new(call))),
        "facts" => object(value, "facts").map(|facts| Event::Facts(members(facts))),
        "message" => message(value).map(Event::Messages),
        "now" => now(value).map(Event::Now),
        "paths" => paths(value).map(Event::Paths),
        "policy" => string(value, "policy").map(Event::Policy),
        "policy_text" => string(value, "policy_text").map(Event::PolicyText),
        "programs" => programs(value).map(Event::Programs),
        _ => tools(value).map(Event::Tools),
    }
}

fn call(call: Value<'_>, event: Value<'_>) -> Result<CallEvent, String> {
    let limits = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
    let flag = |key: &str| match event.get(key) {
        None => Ok(None),
        Some(value) => value.as_bool().map(Some).ok_or_else(|| format!("`{key}` is true or false")),
    };
    let expect = event.get("expect").map(|expect| object(expect, "expect").map(own)).transpose()?;
    let mut made = CallEvent {
        tool: String::new(),
        id: None,
        arguments: Ok(Document::empty_object()),
        output: event.get("output").map(output),
        is_error: flag("is_error")?,
        structured: event.get("output").and_then(|output| output.get("structuredContent")).map(own),
        made: flag("made")?,
        expect,
    };
    match CallShape::parse(call, &limits) {
        Ok(ParsedCall { name, arguments, id, .. }) => {
            (made.tool, made.id, made.arguments) = (name, id, Ok(arguments));
        }
        // A model wrote them: that is no fault of whoever wrote the line, it is a call to refuse.
        Err(why @ ShapeError::Arguments(_)) => {
            let function = call.get("function").filter(|inner| inner.kind() == Kind::Object).unwrap_or(call);
            let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
            (made.tool, made.arguments) = (name.to_owned(), Err(why.to_string()));
        }
        Err(why) => return Err(why.to_string()),
    }
    Ok(made)
}

/// A tool's output as text: a string, content blocks, or an MCP result with such.
fn output(value: Value<'_>) -> String {
    let content = value.get("content").filter(|content| content.kind() == Kind::Array);
    let structured = value.get("structuredContent");
    match content.or(structured) {
        Some(_) => messages::result_text(content, structured),
        None => messages::text_of(value),
    }
}

fn message(value: Value<'_>) -> Result<Vec<Message>, String> {
    match value.kind() {
        Kind::String => Ok(messages::read(value)),
        Kind::Array | Kind::Object => Ok(messages::read_one(value)),
        kind => Err(format!("a message is an object with `role` and `content`, not a JSON {kind}")),
    }
}

fn now(value: Value<'_>) -> Result<Instant, String> {
    let text = string(value, "now")?;
    let wrong = || format!("`{text}` is no time as in RFC 3339, such as 2026-01-31T12:00:00Z");
    let time: jiff::Timestamp = text.parse().map_err(|_| wrong())?;
    Ok(Instant(time.as_microsecond()))
}

fn paths(value: Value<'_>) -> Result<BTreeMap<String, String>, String> {
    let real = |(asked, real): (&str, Value<'_>)| match real.as_str() {
        Some(real) if real.starts_with('/') => Ok((asked.to_owned(), real.to_owned())),
        _ => Err(format!("`{asked}` leads to an absolute path, a string, not to {}", real.raw())),
    };
    object(value, "paths")?.members().map(real).collect()
}

fn programs(value: Value<'_>) -> Result<BTreeMap<String, Vec<Stated>>, String> {
    let one = |(name, stated): (&str, Value<'_>)| {
        let answers: Result<Vec<Stated>, String> = match stated.kind() {
            Kind::Array => stated.items().map(read_stated).collect(),
            _ => read_stated(stated).map(|answer| vec![answer]),
        };
        match answers {
            Ok(answers) if answers.is_empty() => Err(format!("`{name}` says nothing: leave it out")),
            Ok(answers) => Ok((name.to_owned(), answers)),
            Err(why) => Err(format!("what `{name}` says: {why}")),
        }
    };
    object(value, "programs")?.members().map(one).collect()
}

fn tools(value: Value<'_>) -> Result<Vec<Listed>, String> {
    if value.kind() != Kind::Array {
        return Err(format!("`tools` is a list of tool definitions, not a JSON {}", value.kind()));
    }
    value.items().map(tool).collect()
}

/// A definition in MCP's form; that of a model's API is brought into it, the schema as it was written.
fn tool(tool: Value<'_>) -> Result<Listed, String> {
    let definition = tool.get("function").filter(|inner| inner.kind() == Kind::Object).unwrap_or(tool);
    let Some(name) = definition.get("name").and_then(Value::as_str) else {
        return Err(format!("a tool needs a name, a string: {}", shown(tool.raw())));
    };
    let is_mcp = tool.get("function").is_none() && !SCHEMAS.iter().skip(1).any(|key| tool.get(key).is_some());
    if is_mcp {
        return Ok(Listed { name: name.to_owned(), definition: Ok(own(tool)) });
    }
    let schema =
        SCHEMAS.iter().find_map(|key| definition.get(key)).map_or(r#"{"type":"object"}"#, Value::raw);
    let description = definition.get("description").map_or("\"\"", Value::raw);
    let quoted = serde_json::Value::from(name);
    let text = format!(r#"{{"name":{quoted},"description":{description},"inputSchema":{schema}}}"#);
    let definition = Document::read(text.into(), &Limits::default()).map_err(|fault| fault.to_string());
    Ok(Listed { name: name.to_owned(), definition })
}

fn object<'a>(value: Value<'a>, key: &str) -> Result<Value<'a>, String> {
    match value.kind() {
        Kind::Object => Ok(value),
        kind => Err(format!("`{key}` is an object, not a JSON {kind}")),
    }
}

fn string(value: Value<'_>, key: &str) -> Result<String, String> {
    value
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| format!("`{key}` is a string, not a JSON {}", value.kind()))
}

/// A part of a document as one of its own.
fn own(value: Value<'_>) -> Document {
    let limits = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
    let source = value.document().source().slice(value.span());
    // It was read once with the same limits.
    Document::read(source, &limits).unwrap_or_else(|_| Document::empty_object())
}

pub(crate) fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The start of a text, for a message.
pub(crate) fn shown(text: &str) -> String {
    const CHARS: usize = 60;
    match text.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call_of(line: &str) -> CallEvent {
        match read(line.as_bytes()) {
            Ok(Event::Call(call)) => *call,
            other => panic!("{other:?}"),
        }
    }

    fn tools_of(line: &str) -> Vec<(String, String)> {
        let Ok(Event::Tools(tools)) = read(line.as_bytes()) else { panic!("{line}") };
        tools.into_iter().map(|tool| (tool.name, tool.definition.unwrap().root().raw().to_owned())).collect()
    }

    #[test]
    fn calls_come_in_every_shape() {
        for call in [
            r#"{"call":{"name":"f","arguments":{"a":1.10}}}"#,
            r#"{"call":{"type":"tool_use","id":"i","name":"f","input":{"a":1.10}}}"#,
            r#"{"call":{"id":"i","type":"function","function":{"name":"f","arguments":"{\"a\":1.10}"}}}"#,
            r#"{"call":{"type":"function_call","call_id":"i","name":"f","arguments":"{\"a\":1.10}"}}"#,
            r#"{"call":{"type":"tool_call","name":"f","args":{"a":1.10},"id":"i"}}"#,
        ] {
            let event = call_of(call);
            assert_eq!((event.tool.as_str(), event.made), ("f", None));
            assert_eq!(event.arguments.unwrap().root().raw(), r#"{"a":1.10}"#, "{call}");
        }
        assert_eq!(call_of(r#"{"call":{"name":"f"}}"#).arguments.unwrap().root().raw(), "{}");
        let twice = call_of(r#"{"call":{"function":{"name":"f","arguments":"{\"a\":1,\"a\":2}"}}}"#);
        assert_eq!(twice.tool, "f");
        assert!(twice.arguments.unwrap_err().contains("duplicate key `a`"));
    }

    #[test]
    fn outputs_are_text_whatever_their_form() {
        let output =
            |output: &str| call_of(&format!(r#"{{"call":{{"name":"f"}},"output":{output}}}"#)).output;
        assert_eq!(output(r#""a\nb""#).as_deref(), Some("a\nb"));
        assert_eq!(
            output(r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#).as_deref(),
            Some("a\nb")
        );
        assert_eq!(
            output(r#"{"content":[{"type":"text","text":"a"}],"isError":false}"#).as_deref(),
            Some("a")
        );
        assert_eq!(output("12").as_deref(), Some("12"));
        assert_eq!(call_of(r#"{"call":{"name":"f"}}"#).output, None);
    }

    #[test]
    fn definitions_of_model_apis_become_those_of_mcp() {
        let schema = r#"{"type":"object", "maximum":1.10}"#;
        let mcp = format!(r#"{{"name":"f","inputSchema":{schema},"outputSchema":{{}}}}"#);
        assert_eq!(tools_of(&format!(r#"{{"tools":[{mcp}]}}"#)), [("f".to_owned(), mcp)]);
        let same = format!(r#"{{"name":"f","description":"d","inputSchema":{schema}}}"#);
        for tool in [
            format!(
                r#"{{"type":"function","function":{{"name":"f","description":"d","parameters":{schema}}}}}"#
            ),
            format!(
                r#"{{"type":"function","name":"f","description":"d","parameters":{schema},"strict":true}}"#
            ),
            format!(r#"{{"name":"f","description":"d","input_schema":{schema}}}"#),
        ] {
            assert_eq!(
                tools_of(&format!(r#"{{"tools":[{tool}]}}"#)),
                [("f".to_owned(), same.clone())],
                "{tool}"
            );
        }
        let none = tools_of(r#"{"tools":[{"type":"function","function":{"name":"f"}}]}"#);
        assert!(none[0].1.contains(r#""inputSchema":{"type":"object"}"#));
        let bare = tools_of(r#"{"tools":[{"name":"f"}]}"#);
        assert_eq!(bare[0].1, r#"{"name":"f"}"#);
    }

    #[test]
    fn comments_and_blank_lines_say_nothing() {
        for line in ["", "  ", "\r", "# a comment", "  # {\"call\":1}"] {
            assert!(matches!(read(line.as_bytes()), Ok(Event::Nothing)), "{line:?}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said() {
        let said = |line: &str| read(line.as_bytes()).unwrap_err();
        assert_eq!(said("{"), "no strict JSON: unfinished value at byte 1");
        assert_eq!(said(r#"{"now":1,"now":2}"#), "no strict JSON: duplicate key `now` at byte 9");
        assert_eq!(said("[]"), "a line is a JSON object, not a JSON array");
        assert_eq!(
            said(r#"{"cal":{}}"#),
            "the line says nothing that is known; it has one of `call`, `facts`, `message`, `now`, `paths`, \
             `policy`, `policy_text`, `programs`, `tools`"
        );
        assert_eq!(
            said(r#"{"call":{"name":"f"},"now":"x"}"#),
            "`call` and `now` in one line: which comes first? Write two lines"
        );
        assert_eq!(
            said(r#"{"call":{"name":"f"},"outputs":""}"#),
            "unknown key `outputs`: beside `call` may stand `output`, `is_error`, `made`, `expect`"
        );
        assert_eq!(said(r#"{"now":"x","made":true}"#), "unknown key `made`: beside `now` may stand nothing");
        assert_eq!(said(r#"{"call":[]}"#), "a tool call is an object, not array");
        assert_eq!(said(r#"{"call":{}}"#), "a tool call needs the tool's name, a string that is not empty");
        assert_eq!(said(r#"{"call":{"name":"f"},"made":1}"#), "`made` is true or false");
        assert_eq!(said(r#"{"call":{"name":"f"},"expect":[]}"#), "`expect` is an object, not a JSON array");
        assert_eq!(
            said(r#"{"now":"yesterday"}"#),
            "`yesterday` is no time as in RFC 3339, such as 2026-01-31T12:00:00Z"
        );
        assert!(said(r#"{"paths":{"a":"b"}}"#).contains("`a` leads to an absolute path"));
        assert!(said(r#"{"tools":{}}"#).contains("`tools` is a list"));
        assert!(said(r#"{"tools":[{"inputSchema":{}}]}"#).contains("a tool needs a name"));
        assert!(said(r#"{"message":5}"#).contains("a message is an object"));
        assert!(said(r#"{"facts":5}"#).contains("`facts` is an object"));
        assert!(said(r#"{"policy":5}"#).contains("`policy` is a string"));
    }

    #[test]
    fn times_have_any_offset() {
        let at = |text: &str| match read(format!(r#"{{"now":"{text}"}}"#).as_bytes()) {
            Ok(Event::Now(at)) => at.0,
            other => panic!("{other:?}"),
        };
        assert_eq!(at("1970-01-01T00:00:01.5Z"), 1_500_000);
        assert_eq!(at("1970-01-01T02:00:00+02:00"), 0);
    }

    proptest::proptest! {
        /// A line is read or refused, whatever is in it.
        #[test]
        fn a_damaged_line_is_read_or_refused(
            which in 0..4_usize,
            at in proptest::prelude::any::<proptest::sample::Index>(),
            with in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..4),
        ) {
            let lines = [
                r#"{"call":{"id":"i","function":{"name":"f","arguments":"{\"a\":[1.10,\"\\u0041\"]}"}},"output":[{"type":"text","text":"a"}],"made":true,"expect":{}}"#,
                r#"{"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}},{"name":"g","inputSchema":{}}]}"#,
                r#"{"message":{"role":"user","content":[{"type":"tool_result","content":"x"}]}}"#,
                r#"{"paths":{".":"/work","/a":"/b"}}"#,
            ];
            let mut line = lines[which].as_bytes().to_vec();
            let start = at.index(line.len());
            let end = (start + with.len() / 2).min(line.len());
            line.splice(start..end, with);
            if let Err(why) = read(&line) {
                proptest::prop_assert!(!why.is_empty());
            }
        }
    }
}
