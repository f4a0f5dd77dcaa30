//! The one strict reader.
//!
//! Two JSON parsers disagree about duplicate keys, lone surrogates, invalid UTF-8, control bytes, huge
//! numbers and depth. What is decided here must be what every server reads, so all of these are errors
//! ([`Fault`]) and nothing is ever repaired. Numbers stay text: `9007199254740993`, `1e-400` and `1.10` are
//! exact until something compares them ([`crate::decimal`]).
//!
//! A [`Document`] keeps its source; every [`Value`] knows its byte span in it, so that an edit is a splice.
//!
//! ```
//! use framegate_guard::json::{Document, Limits};
//! let document = Document::read(r#"{"path":"a\/b","n":1.10}"#.into(), &Limits::default())?;
//! let path = document.root().get("path").unwrap();
//! assert_eq!(path.as_str(), Some("a/b"));
//! assert_eq!(path.raw(), r#""a\/b""#);
//! assert_eq!(document.root().get("n").unwrap().number().unwrap(), "1.10");
//! # Ok::<(), framegate_guard::json::Fault>(())
//! ```

mod assert;
mod canonical;
mod offset;
mod read;

#[doc(hidden)]
pub use self::assert::fuzz;
pub(crate) use self::canonical::Nulls;

use bytes::Bytes;
use bytestring::ByteString;
use std::fmt;
use std::ops::Range;

/// What the reader accepts. Each limit is inclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Nested arrays and objects. A number above [`Limits::DEPTH_MAX`] counts as that.
    pub depth: usize,
    /// Digits of one number, in all.
    pub number_digits: usize,
    /// The exponent's magnitude, as written.
    pub number_exponent: u32,
}

impl Limits {
    /// For what was read once already, by whatever limits.
    #[must_use]
    pub fn again() -> Limits {
        Limits { depth: Limits::DEPTH_MAX, number_digits: usize::MAX, ..Limits::default() }
    }

    /// No depth is read beyond this, whatever is asked for: code that walks a value may recurse.
    pub const DEPTH_MAX: usize = 512;
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 64, number_digits: 1000, number_exponent: 10_000 }
    }
}

/// Why a text is not read, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}")]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Byte offset in the source.
    pub offset: usize,
}

/// The kinds of [`Fault`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// A byte-order mark: some parsers skip it, some refuse the text.
    #[error("byte-order mark")]
    ByteOrderMark,
    /// A raw byte below 0x20 inside a string (RFC 8259 section 7).
    #[error("raw control byte 0x{0:02x} in a string")]
    ControlByte(u8),
    /// More nesting than [`Limits::depth`].
    #[error("nested deeper than {0} levels")]
    Depth(usize),
    /// A key that stands twice in one object, compared after unescaping.
    #[error("duplicate key `{0}`")]
    DuplicateKey(String),
    /// Nothing but white space.
    #[error("empty text")]
    Empty,
    /// Not one of the escapes of RFC 8259 section 7.
    #[error("invalid escape in a string")]
    Escape,
    /// Half of a surrogate pair: no UTF-8 text can hold it.
    #[error("lone surrogate escape")]
    LoneSurrogate,
    /// A number with more than [`Limits::number_digits`] digits.
    #[error("number with more than {0} digits")]
    NumberDigits(usize),
    /// A number with an exponent beyond [`Limits::number_exponent`].
    #[error("number with an exponent beyond {0}")]
    NumberExponent(u32),
    /// Larger than the 4 GiB an offset can name.
    #[error("text longer than 4 GiB")]
    TooLarge,
    /// More after the value.
    #[error("more text after the value")]
    Trailing,
    /// Ends inside a value.
    #[error("unfinished value")]
    Unfinished,
    /// A byte that cannot stand there.
    #[error("unexpected byte 0x{0:02x}")]
    Unexpected(u8),
    /// Invalid UTF-8.
    #[error("invalid UTF-8")]
    Utf8,
}

/// What kind of value a [`Value`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, exact.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object, keys unique.
    Object,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Null => "null",
            Kind::Bool => "boolean",
            Kind::Number => "number",
            Kind::String => "string",
            Kind::Array => "array",
            Kind::Object => "object",
        })
    }
}

/// A read text: its source and its values, in the order they are written.
///
/// Invariant: `nodes` is a preorder walk; the subtree of node `i` is `i..nodes[i].next`; an object's children
/// alternate key (a string node) and value.
#[derive(Debug, Clone)]
pub struct Document {
    source: ByteString,
    nodes: Vec<Node>,
    /// Strings that hold an escape, decoded, one after the other.
    decoded: String,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    kind: Kind,
    /// The value's bytes in the source, quotes and brackets included.
    start: u32,
    end: u32,
    /// Index after this value's subtree.
    next: u32,
    /// For a string: where its decoded text lies in `decoded`; `u32::MAX` for none (it is the source itself).
    /// For an array or object: how many children it has (`text_end`).
    text_start: u32,
    text_end: u32,
}

/// No escapes: the decoded text is the source between the quotes.
const VERBATIM: u32 = u32::MAX;

impl Document {
    /// Reads one text strictly.
    ///
    /// # Errors
    /// [`Fault`] with the first thing wrong.
    pub fn read(source: Bytes, limits: &Limits) -> Result<Document, Fault> {
        read::read(source, limits)
    }

    /// Takes over a value of `serde_json`: what it can hold is always readable, except too deep a nesting or
    /// too long a number.
    ///
    /// # Errors
    /// [`Fault`] for these two.
    pub fn from_value(value: &serde_json::Value, limits: &Limits) -> Result<Document, Fault> {
        Document::read(value.to_string().into(), limits)
    }

    /// The empty object: what missing or `null` `arguments` stand for.
    #[must_use]
    pub fn empty_object() -> Document {
        let object = Node { kind: Kind::Object, start: 0, end: 2, next: 1, text_start: 0, text_end: 0 };
        Document { source: ByteString::from_static("{}"), nodes: vec![object], decoded: String::new() }
    }

    /// The whole value.
    #[must_use]
    pub fn root(&self) -> Value<'_> {
        Value { document: self, index: 0 }
    }

    /// The bytes it was read from.
    #[must_use]
    pub fn source(&self) -> &Bytes {
        self.source.as_bytes()
    }

    /// The decoded strings of the value, keys included, in the order they are written.
    pub fn strings(&self) -> impl Iterator<Item = &str> {
        self.all().filter_map(|value| value.as_str())
    }

    /// Every value (keys are string values too) in the order they are written.
    pub fn all(&self) -> impl Iterator<Item = Value<'_>> {
        (0..index(self.nodes.len())).map(|index| Value { document: self, index })
    }

    /// See [`Value::digest`].
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.root().digest()
    }
}

/// `n` as an index; a document with 2³² nodes cannot exist, its source is shorter.
fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// One value of a [`Document`].
#[derive(Clone, Copy)]
pub struct Value<'a> {
    document: &'a Document,
    index: u32,
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.raw())
    }
}

/// The same value: numbers by value, objects without order.
impl PartialEq for Value<'_> {
    fn eq(&self, other: &Value<'_>) -> bool {
        self.kind() == other.kind() && self.canonical() == other.canonical()
    }
}

impl<'a> Value<'a> {
    #[expect(clippy::indexing_slicing, reason = "an index is only ever made from the document's own nodes")]
    fn node(self) -> &'a Node {
        &self.document.nodes[self.index as usize]
    }

    /// What it is.
    #[must_use]
    pub fn kind(self) -> Kind {
        self.node().kind
    }

    /// The document it belongs to.
    #[must_use]
    pub fn document(self) -> &'a Document {
        self.document
    }

    /// Position in the document's preorder walk: unique, small, good as a key.
    #[must_use]
    pub fn ordinal(self) -> u32 {
        self.index
    }

    /// Its bytes in the source, quotes and brackets included.
    #[must_use]
    pub fn span(self) -> Range<usize> {
        let node = self.node();
        node.start as usize..node.end as usize
    }

    /// The text as written.
    #[must_use]
    pub fn raw(self) -> &'a str {
        // A span begins and ends at ASCII bytes.
        self.document.source.get(self.span()).unwrap_or_default()
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// A boolean's value.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.raw() == "true")
    }

    /// A string, decoded.
    #[must_use]
    pub fn as_str(self) -> Option<&'a str> {
        let node = self.node();
        if node.kind != Kind::String {
            return None;
        }
        if node.text_start == VERBATIM {
            let raw = self.raw();
            return raw.get(1..raw.len().saturating_sub(1));
        }
        self.document.decoded.get(node.text_start as usize..node.text_end as usize)
    }

    /// Where the decoded byte at `decoded` of a string is written in the source: the base for a splice inside
    /// a string. An offset inside an escaped character is that of its escape; the string's length, or more,
    /// is its closing quote. For anything but a string it is the value's start.
    ///
    /// ```
    /// use framegate_guard::json::{Document, Limits};
    /// let document = Document::read(r#"["a\u0062c"]"#.into(), &Limits::default())?;
    /// let string = document.root().item(0).unwrap();
    /// assert_eq!(string.as_str(), Some("abc"));
    /// assert_eq!([0, 1, 2, 3].map(|at| string.raw_offset(at)), [2, 3, 9, 10]);
    /// # Ok::<(), framegate_guard::json::Fault>(())
    /// ```
    #[must_use]
    pub fn raw_offset(self, decoded: usize) -> usize {
        offset::raw(self, decoded)
    }

    /// A number as written.
    #[must_use]
    pub fn number(self) -> Option<&'a str> {
        (self.kind() == Kind::Number).then(|| self.raw())
    }

    /// How many items or members it has; 0 for anything else.
    #[must_use]
    pub fn len(self) -> usize {
        match self.kind() {
            Kind::Array => self.node().text_end as usize,
            Kind::Object => self.node().text_end as usize,
            _ => 0,
        }
    }

    /// Whether it has no items or members.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// An array's items; nothing for anything else.
    pub fn items(self) -> impl Iterator<Item = Value<'a>> + Clone {
        self.children(Kind::Array)
    }

    /// An object's members (decoded key, value) as written; nothing for anything else.
    pub fn members(self) -> impl Iterator<Item = (&'a str, Value<'a>)> + Clone {
        self.entries().map(|(key, value)| (key.as_str().unwrap_or_default(), value))
    }

    /// An object's members with the key as a value, so that its span is known.
    pub fn entries(self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> + Clone {
        Pairs(self.children(Kind::Object))
    }

    /// The member of that name, compared after unescaping.
    #[must_use]
    pub fn get(self, name: &str) -> Option<Value<'a>> {
        self.members().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The item at that position.
    #[must_use]
    pub fn item(self, position: usize) -> Option<Value<'a>> {
        self.items().nth(position)
    }

    /// SHA-256 of [`Value::canonical`]: equal for equal values however they are written.
    #[must_use]
    pub fn digest(self) -> [u8; 32] {
        use sha2::Digest as _;
        let mut hash = sha2::Sha256::new();
        self.hash_into(Nulls::Written, &mut hash);
        hash.finalize().into()
    }

    /// Adds [`Value::canonical`] to a hash.
    pub(crate) fn hash_into(self, nulls: Nulls, hash: &mut sha2::Sha256) {
        canonical::hash(self, nulls, hash);
    }

    /// The value written in one way only: keys sorted by their bytes, no white space, shortest escapes,
    /// numbers as `coefficient e exponent` without trailing zeros. For hashing and comparing, never sent.
    #[must_use]
    pub fn canonical(self) -> String {
        canonical::write(self)
    }

    /// This value in `serde_json`'s form. Numbers that it cannot hold exactly are rounded, those beyond a double
    /// are null: never decide on it.
    #[must_use]
    pub fn to_serde(self) -> serde_json::Value {
        use serde_json::Value as Loose;
        match self.kind() {
            Kind::Null => Loose::Null,
            Kind::Bool => Loose::Bool(self.raw() == "true"),
            Kind::Number => self.raw().parse().map_or(Loose::Null, Loose::Number),
            Kind::String => Loose::from(self.as_str().unwrap_or_default()),
            Kind::Array => self.items().map(Value::to_serde).collect(),
            Kind::Object => self.members().map(|(key, value)| (key.to_owned(), value.to_serde())).collect(),
        }
    }

    fn children(self, of: Kind) -> Children<'a> {
        let node = self.node();
        let end = if node.kind == of { node.next } else { self.index + 1 };
        Children { document: self.document, at: self.index + 1, end }
    }
}

#[derive(Clone)]
struct Children<'a> {
    document: &'a Document,
    at: u32,
    /// `at <= end`; `at == end` when all were given.
    end: u32,
}

impl<'a> Iterator for Children<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        if self.at >= self.end {
            return None;
        }
        let value = Value { document: self.document, index: self.at };
        self.at = value.node().next;
        Some(value)
    }
}

#[derive(Clone)]
struct Pairs<'a>(Children<'a>);

impl<'a> Iterator for Pairs<'a> {
    type Item = (Value<'a>, Value<'a>);

    fn next(&mut self) -> Option<(Value<'a>, Value<'a>)> {
        Some((self.0.next()?, self.0.next()?))
    }
}

#[cfg(test)]
mod tests;
