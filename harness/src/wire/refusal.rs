//! Why a frame of the client's was not sent on, and who is told.

use framegate_pump::{Frame, Id, RpcError};

/// A frame that is not sent on. Nothing of it reaches the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// For the log and the record.
    pub reason: Reason,
    /// The JSON-RPC error code.
    pub code: i64,
    /// For people: what is wrong, and where.
    pub message: String,
    /// What was refused, as far as that is certain.
    pub subject: Subject,
}

/// What a refused frame was. Ids are JSON text as their sender wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The requests in a JSON array.
    Batch(Vec<Id>),
    /// A message that nobody waits for an answer to.
    Notification,
    /// A request: its sender waits.
    Request(Id),
    /// An answer: the *server* waits for it, if it has asked under this id.
    Response(Option<Id>),
    /// It cannot be told.
    Unknown,
}

impl Refusal {
    pub(super) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, code: reason.code(), message: message.into(), subject: Subject::Unknown }
    }

    pub(super) fn of(mut self, subject: Subject) -> Self {
        self.subject = subject;
        self
    }

    /// The id of the refused request, where it is certain.
    #[must_use]
    pub fn id(&self) -> Option<&Id> {
        match &self.subject {
            Subject::Request(id) => Some(id),
            _ => None,
        }
    }

    /// The errors that the client gets: one for each request; one with the id null when nobody can tell what
    /// the frame was ("if there was an error in detecting the id, it MUST be Null", JSON-RPC 2.0 section 5);
    /// none for a notification or an answer.
    #[must_use]
    pub fn errors(&self) -> Vec<Frame> {
        let error = RpcError::new(self.code, self.message.as_str());
        match &self.subject {
            Subject::Request(id) => vec![error.answer(id)],
            Subject::Batch(ids) if !ids.is_empty() => ids.iter().map(|id| error.answer(id)).collect(),
            Subject::Batch(_) | Subject::Unknown => vec![self.anonymous()],
            Subject::Notification | Subject::Response(_) => Vec::new(),
        }
    }

    fn anonymous(&self) -> Frame {
        let message = serde_json::Value::from(self.message.as_str());
        let code = self.code;
        let line = format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":{code},"message":{message}}}}}"#);
        Frame::line(line.as_bytes())
    }
}

/// The reasons, as the log and the record name them ([`Reason::as_str`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// `arguments` of a call is no object.
    Arguments,
    /// A CR that is not part of the line's end: universal-newline readers (Python, Java, C#) cut there.
    BareCarriageReturn,
    /// A JSON array of messages.
    Batch,
    /// A byte-order mark.
    ByteOrderMark,
    /// A raw control byte in a string.
    ControlByte,
    /// Nested deeper than [`super::Limits::depth`]: each reader gives up elsewhere.
    Depth,
    /// A key that stands twice in one object.
    DuplicateKey,
    /// `method` together with `result` or `error`, or both of these.
    Hybrid,
    /// An `id` that is no string and no integer that every reader can hold.
    Id,
    /// Half of a surrogate pair.
    LoneSurrogate,
    /// A key, or a method, that some reader takes for one that matters.
    LookAlike,
    /// `method` is no string.
    Method,
    /// `tools/call` without an id: nobody could be told what became of it.
    NoId,
    /// Neither request, notification nor answer.
    NoMessage,
    /// No JSON, or more than one value.
    NotJson,
    /// JSON, but no object.
    NotObject,
    /// A number that readers turn into infinity, null or an error.
    NumberRange,
    /// `params` is neither object nor array, or no object where a call needs one.
    Params,
    /// A `__proto__` key: JavaScript takes its members for the object's own.
    Prototype,
    /// Longer than [`super::Limits::call_bytes`].
    Size,
    /// `params.name` of a call is no string.
    ToolName,
    /// Invalid UTF-8.
    Utf8,
    /// `jsonrpc` is not the string `2.0`.
    Version,
}

impl Reason {
    /// The reason as a word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Arguments => "arguments",
            Self::BareCarriageReturn => "bare_carriage_return",
            Self::Batch => "batch",
            Self::ByteOrderMark => "byte_order_mark",
            Self::ControlByte => "control_byte",
            Self::Depth => "depth",
            Self::DuplicateKey => "duplicate_key",
            Self::Hybrid => "hybrid",
            Self::Id => "id",
            Self::LoneSurrogate => "lone_surrogate",
            Self::LookAlike => "look_alike",
            Self::Method => "method",
            Self::NoId => "no_id",
            Self::NoMessage => "no_message",
            Self::NotJson => "not_json",
            Self::NotObject => "not_object",
            Self::NumberRange => "number_range",
            Self::Params => "params",
            Self::Prototype => "prototype",
            Self::Size => "size",
            Self::ToolName => "tool_name",
            Self::Utf8 => "utf8",
            Self::Version => "version",
        }
    }

    /// -32700 where the text cannot be read, -32602 where a call's parameters have another shape, else -32600
    /// (JSON-RPC 2.0, section 5.1).
    #[must_use]
    pub fn code(self) -> i64 {
        match self {
            Self::BareCarriageReturn
            | Self::ByteOrderMark
            | Self::ControlByte
            | Self::LoneSurrogate
            | Self::NotJson
            | Self::Utf8 => -32700,
            Self::Arguments | Self::NumberRange | Self::Params | Self::ToolName => -32602,
            _ => -32600,
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
