//! The reader: one pass, no recursion, no repair.

use super::{Document, Fault, FaultKind, Kind, Limits, Node, VERBATIM, Value, index};
use bytes::Bytes;
use bytestring::ByteString;
use std::collections::HashSet;

/// Reads one text. See [`Document::read`].
pub(super) fn read(source: Bytes, limits: &Limits) -> Result<Document, Fault> {
    if u32::try_from(source.len()).is_err() {
        return Err(Fault { kind: FaultKind::TooLarge, offset: 0 });
    }
    let source = ByteString::try_from(source)
        .map_err(|error| Fault { kind: FaultKind::Utf8, offset: error.valid_up_to() })?;
    let text = source.clone();
    let document = Document { source, nodes: Vec::new(), decoded: String::new() };
    let mut reader = Reader {
        text: &text,
        bytes: text.as_bytes(),
        at: 0,
        limits,
        depth: limits.depth.min(Limits::DEPTH_MAX),
        open: Vec::new(),
        document,
    };
    reader.text()?;
    Ok(reader.document)
}

struct Reader<'a> {
    text: &'a str,
    /// The same.
    bytes: &'a [u8],
    /// `at <= bytes.len()`
    at: usize,
    limits: &'a Limits,
    depth: usize,
    /// Indices of the arrays and objects not closed yet, outermost first; `open.len() <= depth`.
    open: Vec<u32>,
    document: Document,
}

/// What may come next inside the innermost open array or object.
enum Next {
    /// A value stands here.
    Value,
    /// The value just read was closed by what follows; look again one level up.
    Closed,
    /// The outermost value is complete.
    Done,
}

impl Reader<'_> {
    fn text(&mut self) -> Result<(), Fault> {
        if self.bytes.starts_with(b"\xef\xbb\xbf") {
            return Err(self.fault(FaultKind::ByteOrderMark));
        }
        self.space();
        if self.at == self.bytes.len() {
            return Err(self.fault(FaultKind::Empty));
        }
        let mut next = Next::Value;
        loop {
            next = match next {
                Next::Value => self.value()?,
                Next::Closed => self.after_value()?,
                Next::Done => break,
            };
        }
        self.space();
        if self.at < self.bytes.len() { Err(self.fault(FaultKind::Trailing)) } else { Ok(()) }
    }

    /// Reads a scalar, or opens an array or object and goes to its first value.
    fn value(&mut self) -> Result<Next, Fault> {
        match self.peek()? {
            b'{' => self.open(Kind::Object),
            b'[' => self.open(Kind::Array),
            b'"' => {
                self.string()?;
                Ok(Next::Closed)
            }
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", Kind::Bool),
            b'f' => self.word("false", Kind::Bool),
            b'n' => self.word("null", Kind::Null),
            other => Err(self.fault(FaultKind::Unexpected(other))),
        }
    }

    fn open(&mut self, kind: Kind) -> Result<Next, Fault> {
        if self.open.len() >= self.depth {
            return Err(self.fault(FaultKind::Depth(self.depth)));
        }
        let start = self.at;
        self.at += 1;
        self.open.push(index(self.document.nodes.len()));
        self.push(kind, start);
        self.space();
        match (kind, self.peek()?) {
            (Kind::Object, b'}') | (Kind::Array, b']') => Ok(self.close()),
            (Kind::Object, _) => self.key(),
            _ => Ok(Next::Value),
        }
    }

    /// What stands behind a complete value: nothing more, a comma, or the end of what holds it.
    fn after_value(&mut self) -> Result<Next, Fault> {
        let Some(holder) = self.open.last().map(|&holder| holder as usize) else { return Ok(Next::Done) };
        let Some(node) = self.document.nodes.get_mut(holder) else { return Ok(Next::Done) };
        node.text_end += 1;
        let kind = node.kind;
        self.space();
        match (kind, self.peek()?) {
            (Kind::Object, b',') => {
                self.at += 1;
                self.space();
                self.key()
            }
            (Kind::Array, b',') => {
                self.at += 1;
                self.space();
                Ok(Next::Value)
            }
            (Kind::Object, b'}') => {
                self.unique_keys(holder)?;
                Ok(self.close())
            }
            (Kind::Array, b']') => Ok(self.close()),
            (_, other) => Err(self.fault(FaultKind::Unexpected(other))),
        }
    }

    fn close(&mut self) -> Next {
        self.at += 1;
        let (end, next) = (index(self.at), index(self.document.nodes.len()));
        let closed = self.open.pop().and_then(|holder| self.document.nodes.get_mut(holder as usize));
        if let Some(node) = closed {
            (node.end, node.next) = (end, next);
        }
        Next::Closed
    }

    fn key(&mut self) -> Result<Next, Fault> {
        match self.peek()? {
            b'"' => self.string()?,
            other => return Err(self.fault(FaultKind::Unexpected(other))),
        }
        self.space();
        match self.peek()? {
            b':' => self.at += 1,
            other => return Err(self.fault(FaultKind::Unexpected(other))),
        }
        self.space();
        Ok(Next::Value)
    }

    fn unique_keys(&self, holder: usize) -> Result<(), Fault> {
        let mut seen = Seen::default();
        // Its subtree is not closed yet: walk by hand up to the last node.
        let mut at = holder + 1;
        while let Some(node) = self.document.nodes.get(at) {
            let key = Value { document: &self.document, index: index(at) };
            let name = key.as_str().unwrap_or_default();
            if !seen.insert(name) {
                return Err(Fault { kind: FaultKind::DuplicateKey(clip(name)), offset: node.start as usize });
            }
            at = self.document.nodes.get(at + 1).map_or(usize::MAX, |value| value.next as usize);
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), Fault> {
        let start = self.at;
        self.at += 1;
        let plain = self.run();
        if self.peek()? == b'"' {
            self.at += 1;
            self.push(Kind::String, start);
            return Ok(());
        }
        let decoded_start = self.document.decoded.len();
        self.decode(plain)?;
        self.at += 1;
        self.push(Kind::String, start);
        let (text_start, text_end) = (index(decoded_start), index(self.document.decoded.len()));
        if let Some(node) = self.document.nodes.last_mut() {
            (node.text_start, node.text_end) = (text_start, text_end);
        }
        Ok(())
    }

    /// Appends the string from `plain` on to `decoded`, up to its closing quote.
    fn decode(&mut self, mut plain: usize) -> Result<(), Fault> {
        loop {
            self.document.decoded.push_str(self.text.get(plain..self.at).unwrap_or_default());
            match self.peek()? {
                b'"' => return Ok(()),
                b'\\' => {
                    let character = self.escape()?;
                    self.document.decoded.push(character);
                }
                control => return Err(self.fault(FaultKind::ControlByte(control))),
            }
            plain = self.run();
        }
    }

    /// Goes to the next quote, backslash or control byte (or the end); returns where it began.
    fn run(&mut self) -> usize {
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or_default();
        self.at += special(rest).unwrap_or(rest.len());
        start
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let backslash = self.at;
        self.at += 1;
        let letter = self.peek()?;
        self.at += 1;
        let plain = match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(backslash),
            _ => return Err(Fault { kind: FaultKind::Escape, offset: backslash }),
        };
        Ok(plain)
    }

    fn unicode(&mut self, backslash: usize) -> Result<char, Fault> {
        let lone = Fault { kind: FaultKind::LoneSurrogate, offset: backslash };
        let unit = self.hex(backslash)?;
        match unit {
            0xDC00..=0xDFFF => Err(lone),
            0xD800..=0xDBFF => {
                if self.bytes.get(self.at..self.at + 2) != Some(b"\\u") {
                    return Err(lone);
                }
                let second = self.at;
                self.at += 2;
                let low = self.hex(second)?;
                if !(0xDC00..=0xDFFF).contains(&low) {
                    return Err(lone);
                }
                char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)).ok_or(lone)
            }
            _ => char::from_u32(unit).ok_or(lone),
        }
    }

    fn hex(&mut self, backslash: usize) -> Result<u32, Fault> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = char::from(self.peek()?)
                .to_digit(16)
                .ok_or(Fault { kind: FaultKind::Escape, offset: backslash })?;
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }

    fn number(&mut self) -> Result<Next, Fault> {
        let start = self.at;
        if self.peek()? == b'-' {
            self.at += 1;
        }
        let mut digits = match self.peek()? {
            b'0' => {
                self.at += 1;
                1
            }
            _ => self.digits()?,
        };
        if self.here() == Some(b'.') {
            self.at += 1;
            digits += self.digits()?;
        }
        if digits > self.limits.number_digits {
            return Err(Fault { kind: FaultKind::NumberDigits(self.limits.number_digits), offset: start });
        }
        if let Some(b'e' | b'E') = self.here() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.here() {
                self.at += 1;
            }
            self.exponent(start)?;
        }
        self.push(Kind::Number, start);
        Ok(Next::Closed)
    }

    fn exponent(&mut self, number: usize) -> Result<(), Fault> {
        let start = self.at;
        self.digits()?;
        let written = self.text.get(start..self.at);
        let magnitude = written.and_then(|digits| digits.parse::<u32>().ok()).unwrap_or(u32::MAX);
        if magnitude > self.limits.number_exponent {
            return Err(Fault {
                kind: FaultKind::NumberExponent(self.limits.number_exponent),
                offset: number,
            });
        }
        Ok(())
    }

    /// At least one digit; how many.
    fn digits(&mut self) -> Result<usize, Fault> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            let other = self.peek()?;
            return Err(self.fault(FaultKind::Unexpected(other)));
        }
        self.at += count;
        Ok(count)
    }

    fn word(&mut self, word: &str, kind: Kind) -> Result<Next, Fault> {
        let start = self.at;
        for &expected in word.as_bytes() {
            let found = self.peek()?;
            if found != expected {
                return Err(self.fault(FaultKind::Unexpected(found)));
            }
            self.at += 1;
        }
        self.push(kind, start);
        Ok(Next::Closed)
    }

    /// Adds a node that ends here; an array or object is completed by [`Reader::close`].
    fn push(&mut self, kind: Kind, start: usize) {
        let next = index(self.document.nodes.len() + 1);
        let text_start = if kind == Kind::String { VERBATIM } else { 0 };
        let node = Node { kind, start: index(start), end: index(self.at), next, text_start, text_end: 0 };
        self.document.nodes.push(node);
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.here() {
            self.at += 1;
        }
    }

    fn here(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn peek(&self) -> Result<u8, Fault> {
        self.here().ok_or_else(|| self.fault(FaultKind::Unfinished))
    }

    fn fault(&self, kind: FaultKind) -> Fault {
        Fault { kind, offset: self.at }
    }
}

/// The keys of one object, so far. Most objects have few.
#[derive(Default)]
struct Seen<'a> {
    few: [Option<&'a str>; 8],
    many: HashSet<&'a str>,
}

impl<'a> Seen<'a> {
    /// False if it was there.
    fn insert(&mut self, name: &'a str) -> bool {
        for place in &mut self.few {
            match place {
                Some(seen) if *seen == name => return false,
                Some(_) => {}
                None => {
                    *place = Some(name);
                    return true;
                }
            }
        }
        self.many.insert(name)
    }
}

/// Where the first quote, backslash or control byte is.
pub(super) fn special(text: &[u8]) -> Option<usize> {
    let is_special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    let (words, rest) = text.as_chunks::<8>();
    // A word at a time; the bytes of the first word that holds one are looked at again.
    let plain = words.iter().take_while(|word| !holds_special(u64::from_le_bytes(**word))).count() * 8;
    let tail = if plain < words.len() * 8 { text.get(plain..)? } else { rest };
    tail.iter().position(is_special).map(|at| plain + at)
}

/// Whether a byte of the word is below 0x20, a quote or a backslash. A byte above 0x7f never counts.
fn holds_special(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES * 0x80;
    // Sets the high bit of bytes below `n`; a borrow can only come from a byte that is one itself.
    let below = |word: u64, n: u64| word.wrapping_sub(ONES * n) & !word;
    let found = below(word, 0x20)
        | below(word ^ (ONES * u64::from(b'"')), 1)
        | below(word ^ (ONES * u64::from(b'\\')), 1);
    found & HIGH != 0
}

/// Foreign text in a message: at most 64 characters, nothing that moves a terminal's cursor.
fn clip(text: &str) -> String {
    text.chars().take(64).flat_map(char::escape_debug).collect()
}
