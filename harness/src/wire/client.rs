//! A frame of the client's, read once and for certain.

use framegate_guard::json::{self, Document, Fault, FaultKind, Kind, Value};
use framegate_pump::{Frame, Id};
use serde_json::value::RawValue;

use super::refusal::{Reason, Refusal, Subject};
use super::{Limits, MessageKind, envelope, keys, outline};

/// Requests of one batch that are answered one by one: no client has more open at once.
const BATCH_ANSWERS_MAX: usize = 4096;

/// A message that every reader takes for the same.
#[derive(Debug, Clone)]
pub struct ClientFrame {
    document: Document,
    kind: MessageKind,
}

/// A tool call, `task` or not.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The tool's name, unescaped.
    pub name: &'a str,
    /// The arguments, an object; missing or `null` is `None` and means `{}`.
    pub arguments: Option<Value<'a>>,
    /// `params.task`: the answer is a handle (MCP 2025-11-25), so a refusal must be a JSON-RPC error.
    pub task: Option<Value<'a>>,
    /// The whole `params`.
    pub params: Value<'a>,
}

impl ClientFrame {
    /// What it is.
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        self.kind
    }

    /// The `id`, a string or a number.
    #[must_use]
    pub fn id(&self) -> Option<Value<'_>> {
        self.document.root().get("id").filter(|id| !id.is_null())
    }

    /// The method's name, unescaped.
    #[must_use]
    pub fn method(&self) -> Option<&str> {
        self.document.root().get("method").and_then(Value::as_str)
    }

    /// `params`, an object or an array.
    #[must_use]
    pub fn params(&self) -> Option<Value<'_>> {
        self.document.root().get("params")
    }

    /// An answer's `result`.
    #[must_use]
    pub fn result(&self) -> Option<Value<'_>> {
        self.document.root().get("result")
    }

    /// An answer's `error`, an object.
    #[must_use]
    pub fn error(&self) -> Option<Value<'_>> {
        self.document.root().get("error")
    }

    /// The tool call, if it is one.
    #[must_use]
    pub fn call(&self) -> Option<Call<'_>> {
        let params = self.params().filter(|_| self.method() == Some("tools/call"))?;
        Some(Call {
            name: params.get("name")?.as_str()?,
            arguments: params.get("arguments").filter(|arguments| !arguments.is_null()),
            task: params.get("task"),
            params,
        })
    }

    /// Everything; offsets are those of the frame's body.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }
}

/// Reads a frame of the client's. `None` is a blank line, which is dropped.
///
/// # Errors
/// [`Refusal`]: the frame must not be sent on.
pub fn client_frame(frame: &Frame, limits: &Limits) -> Result<Option<ClientFrame>, Refusal> {
    let body = frame.body();
    if body.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
        return Ok(None);
    }
    read(frame, limits).map(Some).map_err(|refusal| {
        let subject = match refusal.reason {
            Reason::Batch => Subject::Batch(batch_ids(body)),
            _ => outline::subject(body),
        };
        Refusal { message: format!("not sent to the server: {}", refusal.message), ..refusal.of(subject) }
    })
}

fn read(frame: &Frame, limits: &Limits) -> Result<ClientFrame, Refusal> {
    let body = frame.body();
    if body.len() > limits.call_bytes {
        let message = format!("a message of {} bytes is over the limit of {}", body.len(), limits.call_bytes);
        return Err(Refusal::new(Reason::Size, message));
    }
    if let Some(at) = memchr::memchr2(b'\r', b'\n', body) {
        let message = format!("a line break inside the message, at byte {at}: some servers cut it there");
        return Err(Refusal::new(Reason::BareCarriageReturn, message));
    }
    let source = frame.bytes().slice(..body.len());
    let document = Document::read(source, &json_limits(limits)).map_err(|fault| unreadable(body, &fault))?;
    match document.root().kind() {
        Kind::Object => {}
        Kind::Array => return Err(batch()),
        other => {
            return Err(Refusal::new(
                Reason::NotObject,
                format!("a message must be an object, not a {other}"),
            ));
        }
    }
    let kind = envelope::check(document.root(), limits)?;
    keys::at_any_depth(document.all(), limits.huge_integers)?;
    Ok(ClientFrame { document, kind })
}

fn json_limits(limits: &Limits) -> json::Limits {
    json::Limits { depth: limits.depth, number_digits: limits.number_digits, ..json::Limits::default() }
}

fn batch() -> Refusal {
    Refusal::new(Reason::Batch, "several messages in one array: send them one by one (MCP since 2025-06-18)")
}

fn unreadable(body: &[u8], fault: &Fault) -> Refusal {
    // A batch with a fault in it is still answered as a batch.
    if body.trim_ascii_start().starts_with(b"[") && serde_json::from_slice::<&RawValue>(body).is_ok() {
        return batch();
    }
    let reason = match fault.kind {
        FaultKind::ByteOrderMark => Reason::ByteOrderMark,
        FaultKind::ControlByte(_) => Reason::ControlByte,
        FaultKind::Depth(_) => Reason::Depth,
        FaultKind::DuplicateKey(_) => Reason::DuplicateKey,
        FaultKind::LoneSurrogate => Reason::LoneSurrogate,
        FaultKind::NumberDigits(_) | FaultKind::NumberExponent(_) => Reason::NumberRange,
        FaultKind::TooLarge => Reason::Size,
        FaultKind::Utf8 => Reason::Utf8,
        _ => Reason::NotJson,
    };
    Refusal::new(reason, fault.to_string())
}

/// The ids of the requests in an array, at the first level. Nested arrays are no batch in any revision.
fn batch_ids(body: &[u8]) -> Vec<Id> {
    let Ok(messages) = serde_json::from_slice::<Vec<&RawValue>>(body) else { return Vec::new() };
    let request = |message: &RawValue| match outline::subject(message.get().as_bytes()) {
        Subject::Request(id) => Some(id),
        _ => None,
    };
    messages.into_iter().filter_map(request).take(BATCH_ANSWERS_MAX).collect()
}

/// Asserts what [`client_frame`] promises, on the first line of `bytes`.
///
/// The function behind the fuzz target `strict_reader`.
///
/// # Panics
/// When a promise is broken.
#[doc(hidden)]
pub fn assert_reads_strictly(bytes: &[u8]) {
    let line = bytes.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
    let frame = Frame::from_wire(bytes::Bytes::copy_from_slice(line));
    match client_frame(&frame, &Limits::default()) {
        Ok(Some(read)) => assert_is_certain(&frame, &read),
        Ok(None) => assert!(line.iter().all(u8::is_ascii_whitespace)),
        Err(refusal) => assert_is_answered(&refusal),
    }
}

/// The pump takes it for the same message, and so does `serde_json`.
fn assert_is_certain(frame: &Frame, read: &ClientFrame) {
    let (body, peeked) = (frame.body(), framegate_pump::envelope::peek(frame.body()));
    let kind = match read.kind() {
        MessageKind::Notification => framegate_pump::Kind::Notification,
        MessageKind::Request => framegate_pump::Kind::Request,
        MessageKind::Response => framegate_pump::Kind::Response,
    };
    assert_eq!(peeked.kind, kind, "the pump reads another kind");
    assert_eq!(peeked.method_name(body).as_deref(), read.method(), "the pump reads another method");
    let span = |value: Option<Value<'_>>| value.map(Value::span);
    assert_eq!(peeked.id.map(framegate_pump::Span::range), span(read.document().root().get("id")));
    assert_eq!(peeked.params.map(framegate_pump::Span::range), span(read.params()));
    let loose: Result<serde_json::Value, _> = serde_json::from_slice(body);
    assert!(loose.is_ok(), "serde_json refuses what is accepted here");
    if let Some(call) = read.call() {
        let loose = loose.unwrap_or_default();
        assert_eq!(loose.pointer("/params/name").and_then(|name| name.as_str()), Some(call.name));
        let arguments = call.arguments.map_or(serde_json::Value::Null, Value::to_serde);
        assert_eq!(loose.pointer("/params/arguments").unwrap_or(&serde_json::Value::Null), &arguments);
        assert_eq!(read.kind(), MessageKind::Request);
    }
}

/// Each error is one line of JSON under an id that the client could wait for.
fn assert_is_answered(refusal: &Refusal) {
    for error in refusal.errors() {
        let envelope = framegate_pump::envelope::peek(error.body());
        assert_eq!(envelope.kind, framegate_pump::Kind::Response, "{refusal:?}");
        assert!(memchr::memchr(b'\n', error.body()).is_none());
    }
}
