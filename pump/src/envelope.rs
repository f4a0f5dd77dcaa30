//! The peek: where the members of a JSON-RPC envelope lie in a frame.
//!
//! One strict pass (`scan.rs`): the whole frame is checked to be JSON, nothing is built. Four
//! habits of JSON readers that have let calls slip past proxies are avoided here on purpose:
//!
//! * a derived struct also accepts an array (`[7,"ping",null]`): only an object is read here;
//! * a `Value` keeps the last of two equal keys in silence: here that is [`Ambiguity::DuplicateKey`];
//! * a borrowed `&str` fails on an escaped key or method (`"tools\/call"`): both are unescaped;
//! * readers in Python, Java and C# end a line at a bare CR, so a second frame can hide in the
//!   white space of a valid one: that is [`Ambiguity::BareCarriageReturn`].

use std::borrow::Cow;
use std::ops::Range;

use serde_json::value::RawValue;

use crate::scan::Scan;

/// A byte range of a frame's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// The span as a range.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The bytes it covers in `body`; empty if it does not fit.
    pub fn of(self, body: &[u8]) -> &[u8] {
        body.get(self.range()).unwrap_or_default()
    }

    /// The text it covers in `body`.
    pub(crate) fn text_of(self, body: &[u8]) -> &str {
        // Spans come from a frame that was read as UTF-8, and lie on the borders of JSON tokens.
        std::str::from_utf8(self.of(body)).unwrap_or_default()
    }

    /// The cap on frames keeps every offset under 4 GiB.
    pub(crate) fn new(range: Range<usize>) -> Self {
        let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { start: clip(range.start), end: clip(range.end) }
    }

    /// The span of `part` inside `whole`, of which it must be a slice.
    pub(crate) fn within(whole: &str, part: &str) -> Self {
        let start = part.as_ptr().addr().saturating_sub(whole.as_ptr().addr());
        debug_assert!(start + part.len() <= whole.len(), "part is a slice of whole");
        Self::new(start..start + part.len())
    }
}

/// What a frame is, as far as its envelope tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only white space.
    Blank,
    /// A JSON array (legal in MCP 2025-03-26 only).
    Batch,
    /// JSON, but two readers could take it for two different things.
    Ambiguous(Ambiguity),
    /// No JSON object.
    Opaque(Opacity),
    /// `method` and no `id`.
    Notification,
    /// `method` and an `id` that is a string or a number.
    Request,
    /// `result` or `error`, and no `method`. Its id may be null or missing for an error.
    Response,
}

impl Kind {
    /// Whether the frame could be read for certain.
    pub fn is_certain(self) -> bool {
        matches!(self, Kind::Notification | Kind::Request | Kind::Response)
    }
}

/// Why an envelope can be read in more than one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ambiguity {
    /// A CR that is not part of the line's terminator.
    BareCarriageReturn,
    /// One of the envelope's keys stands twice.
    DuplicateKey,
    /// `method` together with `result` or `error`, or `result` with `error`.
    Hybrid,
    /// `id` is null, a boolean, an object or an array where a string or a number is due.
    IdType,
    /// A key that some reader takes for one of the envelope's: other case, not printable ASCII.
    LookAlikeKey,
    /// `method` is not a string.
    MethodType,
    /// An object that is neither request, notification nor response.
    NoMessage,
}

/// Why a line is no JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opacity {
    /// It starts with a UTF-8 byte order mark.
    ByteOrderMark,
    /// It is not JSON, or more than one value.
    NotJson,
    /// It is JSON, but neither object nor array.
    NotObject,
    /// It is not UTF-8.
    NotUtf8,
}

/// What the peek found. Spans are ranges of the frame's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// What the frame is.
    pub kind: Kind,
    /// The value of `id`.
    pub id: Option<Span>,
    /// The value of `method`, quotes included.
    pub method: Option<Span>,
    /// The value of `params`.
    pub params: Option<Span>,
    /// The value of `result`.
    pub result: Option<Span>,
    /// The value of `error`.
    pub error: Option<Span>,
}

impl Envelope {
    pub(crate) fn odd(kind: Kind) -> Self {
        Self { kind, id: None, method: None, params: None, result: None, error: None }
    }

    /// The method's name, unescaped.
    pub fn method_name<'a>(&self, body: &'a [u8]) -> Option<Cow<'a, str>> {
        unquote(self.method?.text_of(body))
    }
}

/// Reads the envelope of a frame's body.
pub fn peek(body: &[u8]) -> Envelope {
    let Some(first) = body.iter().find(|b| !matches!(b, b' ' | b'\t' | b'\r' | b'\n')) else {
        return Envelope::odd(Kind::Blank);
    };
    match first {
        b'{' => peek_object(body),
        b'[' => Envelope::odd(match read_text(body).map(serde_json::from_str::<&RawValue>) {
            Ok(Ok(_)) => Kind::Batch,
            Ok(Err(_)) => Kind::Opaque(Opacity::NotJson),
            Err(kind) => kind,
        }),
        _ => Envelope::odd(peek_other(body)),
    }
}

fn peek_object(body: &[u8]) -> Envelope {
    let text = match read_text(body) {
        Ok(text) => text,
        Err(kind) => return Envelope::odd(kind),
    };
    let Some(Found { mut envelope, oddity }) = members(text) else {
        return Envelope::odd(Kind::Opaque(Opacity::NotJson));
    };
    envelope.kind = match oddity {
        Some(why) => Kind::Ambiguous(why),
        None => classify(&envelope, body),
    };
    if memchr::memchr(b'\r', body).is_some() {
        envelope.kind = Kind::Ambiguous(Ambiguity::BareCarriageReturn);
    }
    envelope
}

fn peek_other(body: &[u8]) -> Kind {
    if body.starts_with(b"\xef\xbb\xbf") {
        return Kind::Opaque(Opacity::ByteOrderMark);
    }
    Kind::Opaque(match read_text(body).map(serde_json::from_str::<&RawValue>) {
        Ok(Ok(_)) => Opacity::NotObject,
        Ok(Err(_)) => Opacity::NotJson,
        Err(_) => Opacity::NotUtf8,
    })
}

fn read_text(body: &[u8]) -> Result<&str, Kind> {
    simdutf8::basic::from_utf8(body).map_err(|_| Kind::Opaque(Opacity::NotUtf8))
}

fn classify(envelope: &Envelope, body: &[u8]) -> Kind {
    let answered = envelope.result.is_some() || envelope.error.is_some();
    let id = envelope.id.map(|span| IdShape::of(span.of(body)));
    match (envelope.method, answered) {
        (Some(_), true) => Kind::Ambiguous(Ambiguity::Hybrid),
        (Some(method), false) => match id {
            _ if !is_string(method.of(body)) => Kind::Ambiguous(Ambiguity::MethodType),
            None => Kind::Notification,
            Some(IdShape::Usable) => Kind::Request,
            Some(_) => Kind::Ambiguous(Ambiguity::IdType),
        },
        (None, true) if envelope.result.is_some() && envelope.error.is_some() => {
            Kind::Ambiguous(Ambiguity::Hybrid)
        }
        (None, true) => match id {
            Some(IdShape::Usable) => Kind::Response,
            // "If there was an error in detecting the id, it MUST be Null" (JSON-RPC 2.0,
            // section 5); later revisions of MCP leave it out instead.
            None | Some(IdShape::Null) if envelope.error.is_some() => Kind::Response,
            _ => Kind::Ambiguous(Ambiguity::IdType),
        },
        (None, false) => Kind::Ambiguous(Ambiguity::NoMessage),
    }
}

enum IdShape {
    Null,
    Unusable,
    Usable,
}

impl IdShape {
    fn of(raw: &[u8]) -> Self {
        match raw {
            b"null" => Self::Null,
            [b'-' | b'0'..=b'9', ..] => Self::Usable,
            raw if is_string(raw) => Self::Usable,
            _ => Self::Unusable,
        }
    }
}

/// Whether a JSON value is a string that every peer can hold: one without a lone surrogate.
fn is_string(raw: &[u8]) -> bool {
    raw.first() == Some(&b'"')
        && (memchr::memchr(b'\\', raw).is_none() || serde_json::from_slice::<String>(raw).is_ok())
}

/// A JSON string's value. `None` if it is none, or holds a lone surrogate.
pub(crate) fn unquote(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str::<String>(raw).ok().map(Cow::Owned)
}

// === the members ===

struct Found {
    envelope: Envelope,
    /// The first reason for doubt that was met.
    oddity: Option<Ambiguity>,
}

/// The members of the object that `text` is. `None` if it is not exactly one object.
fn members(text: &str) -> Option<Found> {
    let mut found = Found::new();
    let mut scan = Scan::new(text);
    if !scan.eat(b'{') {
        return None;
    }
    let mut has_version = false;
    if !scan.eat(b'}') {
        loop {
            let key = Key::read(&mut scan)?;
            let value = scan.value()?;
            found.add(key, Span::new(value), &mut has_version);
            if !scan.eat(b',') {
                break;
            }
        }
        if !scan.eat(b'}') {
            return None;
        }
    }
    scan.is_at_end().then_some(found)
}

impl Found {
    fn new() -> Self {
        Self { envelope: Envelope::odd(Kind::Ambiguous(Ambiguity::NoMessage)), oddity: None }
    }

    fn add(&mut self, key: Key, value: Span, has_version: &mut bool) {
        let is_double = match key {
            Key::Error => self.envelope.error.replace(value).is_some(),
            Key::Id => self.envelope.id.replace(value).is_some(),
            Key::LookAlike => {
                self.oddity.get_or_insert(Ambiguity::LookAlikeKey);
                false
            }
            Key::Method => self.envelope.method.replace(value).is_some(),
            Key::Other => false,
            Key::Params => self.envelope.params.replace(value).is_some(),
            Key::Result => self.envelope.result.replace(value).is_some(),
            Key::Version => std::mem::replace(has_version, true),
        };
        if is_double {
            self.oddity.get_or_insert(Ambiguity::DuplicateKey);
        }
    }
}

enum Key {
    Error,
    Id,
    LookAlike,
    Method,
    Other,
    Params,
    Result,
    Version,
}

impl Key {
    /// Passes over a key and its colon. `None` if it holds a lone surrogate, or is none.
    fn read(scan: &mut Scan<'_>) -> Option<Self> {
        // As nearly all writers spell them: one comparison each, no search for their ends.
        Some(if scan.eat_fixed(br#""jsonrpc":"#) {
            Self::Version
        } else if scan.eat_fixed(br#""id":"#) {
            Self::Id
        } else if scan.eat_fixed(br#""method":"#) {
            Self::Method
        } else if scan.eat_fixed(br#""params":"#) {
            Self::Params
        } else if scan.eat_fixed(br#""result":"#) {
            Self::Result
        } else {
            Self::of(&scan.key()?.name()?)
        })
    }

    fn of(key: &[u8]) -> Self {
        match key {
            b"error" => Self::Error,
            b"id" => Self::Id,
            b"jsonrpc" => Self::Version,
            b"method" => Self::Method,
            b"params" => Self::Params,
            b"result" => Self::Result,
            _ if looks_like_an_envelope_key(key) => Self::LookAlike,
            _ => Self::Other,
        }
    }
}

/// Go's reader matches keys without case and takes U+017F for `s`; others stop at a NUL.
/// No peer writes a top-level key that is not plain ASCII, so any such key counts. No reader is
/// known that trims blanks: `"method "` is another key to all that were tried.
fn looks_like_an_envelope_key(key: &[u8]) -> bool {
    const KEYS: [&[u8]; 6] = [b"error", b"id", b"jsonrpc", b"method", b"params", b"result"];
    !key.iter().all(|b| matches!(b, b' '..=b'~')) || KEYS.iter().any(|k| key.eq_ignore_ascii_case(k))
}

mod outline;
mod twin;
#[doc(hidden)]
pub use outline::outline;
#[doc(hidden)]
pub use twin::assert_peek_agrees;

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(body: &str) -> Kind {
        assert_peek_agrees(body.as_bytes());
        peek(body.as_bytes()).kind
    }

    #[test]
    fn a_call_in_any_json_spelling_is_a_request() {
        for body in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
            r#" {"params":{"a":[1,{"id":2}]},"method":"tools\/call","id":"x","jsonrpc":"2.0"} "#,
            r#"{"m\u0065thod":"\u0074ools/call","\u0069d":1.5e0}"#,
            "{\t\"id\" :\t-3 , \"method\": \"tools/call\"}",
            r#"{"id":1,"method":"tools/call","method ":"ping"}"#,
        ] {
            assert_eq!(kind(body), Kind::Request, "{body}");
            let envelope = peek(body.as_bytes());
            assert_eq!(envelope.method_name(body.as_bytes()).as_deref(), Some("tools/call"), "{body}");
        }
    }

    #[test]
    fn spans_are_the_members_as_they_were_written() {
        let body = r#"{"id": 1.0 ,"error": {"code":1} }"#;
        let envelope = peek(body.as_bytes());
        assert_eq!(envelope.kind, Kind::Response);
        assert_eq!(envelope.id.unwrap().of(body.as_bytes()), b"1.0");
        assert_eq!(envelope.error.unwrap().of(body.as_bytes()), br#"{"code":1}"#);
    }

    #[test]
    fn what_two_readers_could_take_for_two_things_is_ambiguous() {
        use Ambiguity::*;
        for (body, why) in [
            (r#"{"id":1,"method":"a","method":"b"}"#, DuplicateKey),
            (r#"{"id":1,"\u0069d":1,"method":"a"}"#, DuplicateKey),
            (r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"a"}"#, DuplicateKey),
            (r#"{"id":1,"method":"a","Method":"b"}"#, LookAlikeKey),
            (r#"{"id":1,"method":"a","paramſ":{}}"#, LookAlikeKey),
            (r#"{"id":1,"method":"a","id\u0000":2}"#, LookAlikeKey),
            (r#"{"id":1,"method":"a","result":{}}"#, Hybrid),
            (r#"{"id":1,"result":{},"error":{}}"#, Hybrid),
            (r#"{"id":null,"method":"a"}"#, IdType),
            (r#"{"id":true,"method":"a"}"#, IdType),
            (r#"{"id":null,"result":{}}"#, IdType),
            (r#"{"result":{}}"#, IdType),
            (r#"{"id":1,"method":["a"]}"#, MethodType),
            (r#"{"id":1,"method":"\ud800"}"#, MethodType),
            (r#"{"status":"ok"}"#, NoMessage),
            ("{\"id\":1,\r\"method\":\"a\"}", BareCarriageReturn),
            ("{\"id\":1,\"method\":\"a\"}\r", BareCarriageReturn),
        ] {
            assert_eq!(kind(body), Kind::Ambiguous(why), "{body}");
        }
    }

    #[test]
    fn what_is_no_object_is_opaque() {
        use Opacity::*;
        for (body, why) in [
            (&b"Server started"[..], NotJson),
            (b"{\"id\":1,\"method\":\"a\"} {}", NotJson),
            (b"{\"id\":1,\"method\":NaN}", NotJson),
            (b"{\"id\":1", NotJson),
            (b"[1,", NotJson),
            (b"[INFO] x", NotJson),
            (b"7", NotObject),
            (b"\"x\"", NotObject),
            (b"\xef\xbb\xbf{\"id\":1,\"method\":\"a\"}", ByteOrderMark),
            (b"{\"id\":1,\"method\":\"\xff\"}", NotUtf8),
            (b"\xff\xfe", NotUtf8),
        ] {
            assert_eq!(peek(body).kind, Kind::Opaque(why), "{}", body.escape_ascii());
        }
        assert_eq!(kind(""), Kind::Blank);
        assert_eq!(kind(" \t\r"), Kind::Blank);
        assert_eq!(kind(r#"[{"id":1,"method":"a"}]"#), Kind::Batch);
    }

    #[test]
    fn an_error_may_come_without_an_id() {
        assert_eq!(kind(r#"{"id":null,"error":{"code":-32700}}"#), Kind::Response);
        assert_eq!(kind(r#"{"error":{"code":-32700}}"#), Kind::Response);
    }

    #[test]
    fn depth_is_no_limit_here() {
        let body =
            format!(r#"{{"id":1,"method":"a","params":{}{}}}"#, "[".repeat(20_000), "]".repeat(20_000));
        assert_eq!(peek(body.as_bytes()).kind, Kind::Request);
    }
}
