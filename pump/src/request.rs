//! An owned request: it can live until its answer comes.

use std::borrow::Cow;
use std::sync::Arc;

use crate::envelope::{Envelope, Span};
use crate::frame::Frame;
use crate::id::Id;

/// One end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The MCP client: an agent.
    Client,
    /// The MCP server: tools.
    Server,
}

impl Side {
    /// The opposite end.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Client => "client",
            Self::Server => "server",
        })
    }
}

/// A number for each request of a session, unique even where ids are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Who asked what: the part of a request that is remembered until its answer.
#[derive(Clone, Debug)]
pub struct Head {
    /// Unique in the session.
    pub ticket: Ticket,
    /// Who sent the request.
    pub from: Side,
    /// Its id as its sender wrote it; none for a notification.
    pub id: Option<Id>,
    /// The method's name, unescaped.
    pub method: Method,
}

impl Head {
    /// `None` when the envelope is not that of a request or a notification.
    pub(crate) fn read(body: &[u8], envelope: &Envelope, from: Side, ticket: Ticket) -> Option<Self> {
        let method = match Method::known(envelope.method?.of(body)) {
            Some(known) => known,
            None => Method::new(&envelope.method_name(body)?),
        };
        let id = match envelope.id {
            Some(span) => Some(Id::from_json(span.text_of(body))?),
            None => None,
        };
        Some(Self { ticket, from, id, method })
    }
}

/// A method's name. Names in use today cost no allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method(Name);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Name {
    Known(&'static str),
    Other(Arc<str>),
}

/// Names in use today, the most frequent ones first.
const KNOWN: [&str; 20] = [
    "tools/call",
    "tools/list",
    "notifications/progress",
    "notifications/message",
    "ping",
    "notifications/cancelled",
    "initialize",
    "notifications/initialized",
    "server/discover",
    "subscriptions/listen",
    "resources/read",
    "resources/list",
    "prompts/get",
    "prompts/list",
    "completion/complete",
    "sampling/createMessage",
    "elicitation/create",
    "roots/list",
    "notifications/tools/list_changed",
    "tasks/get",
];

impl Method {
    /// Wraps a method name.
    pub fn new(name: &str) -> Self {
        Self(match KNOWN.iter().find(|known| **known == name) {
            Some(known) => Name::Known(known),
            None => Name::Other(name.into()),
        })
    }

    /// That of a tool call.
    pub(crate) fn call() -> Self {
        Self(Name::Known("tools/call"))
    }

    /// A name in use, as the bytes of a JSON string that is written without escapes.
    fn known(raw: &[u8]) -> Option<Self> {
        let name = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        KNOWN.iter().find(|known| known.as_bytes() == name).map(|known| Self(Name::Known(known)))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Name::Known(name) => name,
            Name::Other(name) => name,
        }
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A request (or a notification: "a Request object without an id", JSON-RPC 2.0, section 4.1)
/// with the bytes it came in. Cheap to clone, `'static`.
#[derive(Clone, Debug)]
pub struct Request {
    frame: Frame,
    envelope: Envelope,
    head: Head,
    /// The frame is not as it was received: a tool injector has edited it.
    edited: bool,
}

impl Request {
    /// `head` was read from the frame and its envelope.
    pub(crate) fn new(frame: Frame, envelope: Envelope, head: Head) -> Self {
        Self { frame, envelope, head, edited: false }
    }

    /// The frame as it was received.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Where its members lie.
    pub fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// Who asked what.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The id as its sender wrote it; none for a notification.
    pub fn id(&self) -> Option<&Id> {
        self.head.id.as_ref()
    }

    /// The method's name, unescaped.
    pub fn method(&self) -> &str {
        self.head.method.as_str()
    }

    /// The JSON text of `params`, if there is one.
    pub fn params(&self) -> Option<&str> {
        Some(self.envelope.params?.text_of(self.frame.body()))
    }

    /// Where `params` lies in the frame's body: the base for a splice.
    pub fn params_span(&self) -> Option<Span> {
        self.envelope.params
    }

    /// The JSON text of one member of `params`. `None` if it is missing, stands twice, or
    /// `params` is no object.
    pub fn param(&self, key: &str) -> Option<&str> {
        crate::scan::member(self.params()?, key)
    }

    /// The tool's name, unescaped, when this is a `tools/call` that names one.
    pub fn tool(&self) -> Option<Cow<'_, str>> {
        crate::envelope::unquote(self.param("name")?)
    }

    /// An answer to this request: `result` is JSON text. `None` for a notification.
    pub fn answer(&self, result: &str) -> Option<Frame> {
        Some(answer_line(self.id()?.json(), "result", result))
    }

    /// An error answer to this request. `None` for a notification.
    pub fn refuse(&self, error: &RpcError) -> Option<Frame> {
        Some(error.answer(self.id()?))
    }

    /// A `tools/call` answer that says no in a form every client shows to its model: text,
    /// `isError: true`, no `structuredContent`, and the `resultType` that 2026-07-28 wants.
    pub fn refuse_tool(&self, text: &str) -> Option<Frame> {
        let text = serde_json::Value::from(text);
        self.answer(&format!(
            r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true,"resultType":"complete"}}"#
        ))
    }

    /// The request with edits made: what is decided from here on is decided on the edited bytes.
    /// `None` if they cannot be made, or leave another message than they found.
    pub(crate) fn with_edits(&self, edits: &crate::Edits) -> Option<Self> {
        if edits.is_empty() {
            return Some(self.clone());
        }
        let frame = edits.apply(&self.frame).ok()?;
        let envelope = crate::envelope::peek(frame.body());
        let is_same = envelope.kind == self.envelope.kind;
        let head = Head::read(frame.body(), &envelope, self.head.from, self.head.ticket)?;
        (is_same && head.id == self.head.id && head.method == self.head.method).then_some(Self {
            frame,
            envelope,
            head,
            edited: true,
        })
    }

    pub(crate) fn is_edited(&self) -> bool {
        self.edited
    }

    /// Keeps the request without pinning the buffer it was read into.
    pub(crate) fn detached(mut self: Box<Self>) -> Box<Self> {
        const SMALL_BYTES: usize = 16 * 1024;
        if self.frame.len() <= SMALL_BYTES {
            self.frame = self.frame.detached();
        }
        self
    }
}

/// A JSON-RPC error of our own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    /// The error code (JSON-RPC 2.0, section 5.1).
    pub code: i64,
    /// One sentence for people.
    pub message: String,
    /// JSON text for `data`, if any.
    pub data: Option<String>,
}

impl RpcError {
    /// The request could not be taken (-32600).
    pub const INVALID_REQUEST: i64 = -32600;
    /// The other side failed (-32603).
    pub const INTERNAL: i64 = -32603;

    /// An error without `data`.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The error as the answer to the request with this id.
    pub fn answer(&self, id: &Id) -> Frame {
        self.line(id.json())
    }

    /// The error as the answer to a request whose id cannot be used.
    pub fn answer_nobody(&self) -> Frame {
        self.line("null")
    }

    fn line(&self, id: &str) -> Frame {
        let message = serde_json::Value::from(self.message.as_str());
        let data = self.data.as_ref().map_or(String::new(), |data| format!(r#","data":{data}"#));
        let error = format!(r#"{{"code":{},"message":{message}{data}}}"#, self.code);
        answer_line(id, "error", &error)
    }
}

fn answer_line(id: &str, member: &str, value: &str) -> Frame {
    Frame::line(format!(r#"{{"jsonrpc":"2.0","id":{id},"{member}":{value}}}"#).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(body: &str) -> Request {
        let frame = Frame::line(body.as_bytes());
        let envelope = crate::envelope::peek(frame.body());
        let head = Head::read(frame.body(), &envelope, Side::Client, Ticket(1)).unwrap();
        Request::new(frame, envelope, head)
    }

    #[test]
    fn params_are_read_in_any_spelling() {
        let call = request(
            r#"{"id":1,"method":"tools\/call","params":{"n\u0061me":"a\/b","arguments":{"name":"x"}}}"#,
        );
        assert_eq!(call.method(), "tools/call");
        assert_eq!(call.tool().as_deref(), Some("a/b"));
        assert_eq!(call.param("arguments"), Some(r#"{"name":"x"}"#));
        let double = request(r#"{"id":1,"method":"tools/call","params":{"name":"a","name":"b"}}"#);
        assert_eq!(double.tool(), None, "two names are no name");
    }

    #[test]
    fn our_answers_carry_the_id_as_it_was_written() {
        let call = request(r#"{"id":"\u0061","method":"tools/call"}"#);
        let answer = call.refuse_tool("no \"x\"\n").unwrap();
        let text = std::str::from_utf8(answer.body()).unwrap();
        assert!(text.starts_with(r#"{"jsonrpc":"2.0","id":"\u0061","result":{"#), "{text}");
        assert_eq!(crate::envelope::peek(answer.body()).kind, crate::Kind::Response);
        let error = call.refuse(&RpcError::new(-32603, "gone")).unwrap();
        assert_eq!(
            &error.bytes()[..],
            b"{\"jsonrpc\":\"2.0\",\"id\":\"\\u0061\",\"error\":{\"code\":-32603,\"message\":\"gone\"}}\n"
        );
    }
}
