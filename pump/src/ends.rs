//! The members at both ends of a large object, without reading what lies between.
//!
//! A 60 MiB answer takes longer to parse than to carry, and peers put `id` first or last. Where
//! **nothing is decided** by it (a log line, a count of what is due) this finds the members
//! before and after the one long value. It trusts that the text is JSON and that there is only
//! one long value; whatever decides anything uses [`crate::envelope::peek`].

use std::ops::Range;

use crate::envelope::{Envelope, Kind, Span};

/// A scalar or string longer than this ends the look, in bytes.
const SHORT_BYTES_MAX: usize = 512;
/// Members looked at from each end.
const MEMBERS_MAX: usize = 16;

/// The keys of an envelope, for the usual case: the most frequent ones first.
const KEYS: [&[u8]; 6] =
    [br#""jsonrpc""#, br#""id""#, br#""method""#, br#""params""#, br#""result""#, br#""error""#];

/// One member: where its key (with quotes) and its value lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The key, quotes included.
    pub key: Range<usize>,
    /// The value; for the long one only its start is known (`start..start`).
    pub value: Range<usize>,
    /// The value was too long to read through.
    pub long: bool,
}

/// Members at the start and the end of the object that `text` holds, as spans of `text`.
///
/// `None` when `text` does not look like an object.
pub fn members(text: &[u8]) -> Option<Vec<Member>> {
    let mut found = Vec::with_capacity(8);
    visit(text, &mut |member| found.push(member))?;
    Some(found)
}

/// The same without a list. `None` may come after members were seen; they are then worth nothing.
///
/// Members are visited from the start up to the long value, then from the end back to it.
pub fn visit(text: &[u8], found: &mut impl FnMut(Member)) -> Option<()> {
    let front = Front { text, at: skip(text, 0) };
    match front.read(found)? {
        Reach::Whole => Some(()),
        Reach::Long { start } => Back { text, end: text.len() }.read(start, found),
    }
}

/// The envelope of a frame's body as far as its ends tell. `None` when they do not show an id:
/// then only a whole peek can say more.
pub(crate) fn glance(body: &[u8]) -> Option<Envelope> {
    /// Up to this size a bare CR is looked for; no writer of longer frames puts one in.
    const SEARCHED_BYTES: usize = 16 * 1024;
    if body.len() <= SEARCHED_BYTES && memchr::memchr(b'\r', body).is_some() {
        return None;
    }
    if let Some(envelope) = usual(body) {
        return Some(envelope);
    }
    read_ends(body)
}

fn read_ends(body: &[u8]) -> Option<Envelope> {
    let mut envelope = Envelope::odd(Kind::Blank);
    let mut has_double = false;
    visit(body, &mut |member| {
        let place = match body.get(member.key) {
            Some(br#""error""#) => &mut envelope.error,
            Some(br#""id""#) => &mut envelope.id,
            Some(br#""method""#) => &mut envelope.method,
            Some(br#""params""#) => &mut envelope.params,
            Some(br#""result""#) => &mut envelope.result,
            _ => return,
        };
        has_double |= place.replace(Span::new(member.value)).is_some();
    })?;
    if has_double {
        return None;
    }
    let id = envelope.id?.of(body);
    let usable = matches!(id, [b'"' | b'-' | b'0'..=b'9', ..]);
    envelope.kind = match (envelope.method, envelope.result.or(envelope.error)) {
        (Some(_), None) if usable => Kind::Request,
        (None, Some(_)) if usable => Kind::Response,
        _ => return None,
    };
    Some(envelope)
}

/// The same for a call and an answer as the SDKs write them, in a few comparisons: their fixed
/// parts, and a number. Whatever differs by a byte is left to [`read_ends`].
fn usual(body: &[u8]) -> Option<Envelope> {
    const CALL: &[u8] = br#""method":"tools/call","params":{"#;
    const RESULT: &[u8] = br#""result":{"#;
    const ID_FIRST: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
    const ID_LAST: &[u8] = br#"},"jsonrpc":"2.0","id":"#;
    let (at, id) = match body.strip_prefix(ID_FIRST) {
        Some(rest) => {
            let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let id = ID_FIRST.len()..ID_FIRST.len() + len;
            (body.get(id.end) == Some(&b',') && body.ends_with(b"}}")).then_some((id.end + 1, id))?
        }
        None => {
            let rest = body.strip_suffix(b"}")?;
            let len = rest.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            let id = rest.len() - len..rest.len();
            body.get(..id.start)?.ends_with(ID_LAST).then_some((1, id))?
        }
    };
    let is_short = (1..=SHORT_BYTES_MAX).contains(&id.len());
    let rest = body.get(at..).filter(|_| is_short && body.first() == Some(&b'{'))?;
    // The long value is named by the place of its brace.
    let long = |fixed: &[u8]| Some(Span::new(at + fixed.len() - 1..at + fixed.len() - 1));
    let mut envelope = Envelope { id: Some(Span::new(id)), ..Envelope::odd(Kind::Response) };
    if rest.starts_with(CALL) {
        let name = at + br#""method":"#.len();
        envelope.method = Some(Span::new(name..name + br#""tools/call""#.len()));
        (envelope.kind, envelope.params) = (Kind::Request, long(CALL));
    } else if rest.starts_with(RESULT) {
        envelope.result = long(RESULT);
    } else {
        return None;
    }
    Some(envelope)
}

enum Reach {
    Whole,
    /// The value that starts here was too long to read through.
    Long {
        start: usize,
    },
}

struct Front<'a> {
    text: &'a [u8],
    at: usize,
}

impl Front<'_> {
    fn read(mut self, found: &mut impl FnMut(Member)) -> Option<Reach> {
        self.eat(b'{')?;
        if self.peek()? == b'}' {
            return Some(Reach::Whole);
        }
        for _ in 0..MEMBERS_MAX {
            let key = self.key()?;
            self.eat(b':')?;
            let start = self.at;
            let value = match self.peek()? {
                b'{' | b'[' => None,
                b'"' => self.string(),
                _ => self.scalar(),
            };
            let Some(value) = value else {
                found(Member { key, value: start..start, long: true });
                return Some(Reach::Long { start });
            };
            found(Member { key, value, long: false });
            match self.peek()? {
                b',' => self.eat(b',')?,
                b'}' => return Some(Reach::Whole),
                _ => return None,
            }
        }
        None
    }

    /// A key. Those of an envelope, as nearly all writers spell them, take one comparison each.
    fn key(&mut self) -> Option<Range<usize>> {
        let (start, rest) = (self.at, self.text.get(self.at..)?);
        match KEYS.iter().find(|key| rest.starts_with(key)) {
            Some(key) => {
                self.at = skip(self.text, start + key.len());
                Some(start..start + key.len())
            }
            None => self.string(),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at = skip(self.text, self.at + 1))
    }

    fn string(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let (quote, rest) = self.text.get(start..)?.split_first()?;
        if *quote != b'"' {
            return None;
        }
        // The closing quote lies at most `SHORT_BYTES_MAX` bytes after the opening one.
        let rest = rest.get(..SHORT_BYTES_MAX).unwrap_or(rest);
        let mut at = 0;
        loop {
            let fresh = rest.get(at..)?;
            at += fresh.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
            if rest.get(at) == Some(&b'"') {
                break;
            }
            at += 2;
        }
        let end = start + 1 + at + 1;
        self.at = skip(self.text, end);
        Some(start..end)
    }

    fn scalar(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let rest = self.text.get(start..)?;
        let len = rest.iter().take(SHORT_BYTES_MAX).take_while(|b| is_scalar(**b)).count();
        if len == 0 {
            return None;
        }
        self.at = skip(self.text, start + len);
        Some(start..start + len)
    }
}

/// Reads members backwards. In valid JSON this is unambiguous: an opening quote is never
/// preceded by a backslash, an escaped quote always by an odd number of them.
struct Back<'a> {
    text: &'a [u8],
    /// `text[end..]` is read.
    end: usize,
}

impl Back<'_> {
    fn read(mut self, after: usize, found: &mut impl FnMut(Member)) -> Option<()> {
        self.eat(b'}')?;
        for _ in 0..MEMBERS_MAX {
            let value = match self.last()? {
                b'}' | b']' => return Some(()),
                b'"' => match self.string() {
                    Some(value) => value,
                    None => return Some(()),
                },
                _ => self.scalar()?,
            };
            self.eat(b':')?;
            let key = self.key()?;
            if key.start <= after {
                return Some(());
            }
            found(Member { key, value, long: false });
            self.eat(b',')?;
        }
        Some(())
    }

    fn last(&mut self) -> Option<u8> {
        while let Some(byte) = self.end.checked_sub(1).and_then(|at| self.text.get(at)) {
            if !is_blank(*byte) {
                return Some(*byte);
            }
            self.end -= 1;
        }
        None
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.last()? == byte).then(|| self.end -= 1)
    }

    fn key(&mut self) -> Option<Range<usize>> {
        if self.last()? != b'"' {
            return None;
        }
        let before = self.text.get(..self.end)?;
        for key in KEYS {
            // A quote after a comma opens a string; what ends a longer string stands after something else.
            if let [.., b',' | b'{'] = before.strip_suffix(key).unwrap_or_default() {
                let stop = std::mem::replace(&mut self.end, before.len() - key.len());
                return Some(self.end..stop);
            }
        }
        self.string()
    }

    fn string(&mut self) -> Option<Range<usize>> {
        if self.last()? != b'"' {
            return None;
        }
        let stop = self.end;
        let floor = stop.saturating_sub(SHORT_BYTES_MAX);
        let mut at = stop - 1;
        while at > floor {
            at -= 1;
            if self.text.get(at) == Some(&b'"') && self.backslashes_before(at).is_multiple_of(2) {
                self.end = at;
                return Some(at..stop);
            }
        }
        None
    }

    fn backslashes_before(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or_default();
        before.iter().rev().take_while(|b| **b == b'\\').count()
    }

    fn scalar(&mut self) -> Option<Range<usize>> {
        self.last()?;
        let before = self.text.get(..self.end)?;
        let len = before.iter().rev().take(SHORT_BYTES_MAX).take_while(|b| is_scalar(**b)).count();
        if len == 0 {
            return None;
        }
        let stop = self.end;
        self.end -= len;
        Some(self.end..stop)
    }
}

fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn skip(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(|b| is_blank(*b)) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(&str, &str)> {
        members(text.as_bytes())
            .unwrap_or_default()
            .into_iter()
            .map(|m| (text.get(m.key).unwrap(), if m.long { "LONG" } else { text.get(m.value).unwrap() }))
            .collect()
    }

    #[test]
    fn members_before_and_after_the_long_value_are_found() {
        assert_eq!(
            read(r#" {"jsonrpc":"2.0","id":1,"result":{"a":[{"id":9}]}} "#),
            [(r#""jsonrpc""#, r#""2.0""#), (r#""id""#, "1"), (r#""result""#, "LONG")]
        );
        assert_eq!(
            read(r#"{"result":{"t":"}\""},"jsonrpc":"2.0","id":"x\\\"y"}"#),
            [(r#""result""#, "LONG"), (r#""id""#, r#""x\\\"y""#), (r#""jsonrpc""#, r#""2.0""#)]
        );
        assert_eq!(read(r#"{"id":5,"ok":true}"#), [(r#""id""#, "5"), (r#""ok""#, "true")]);
    }

    #[test]
    fn the_usual_frames_are_read_as_all_others_are() {
        let params = r#"{"name":"a","arguments":{}}"#;
        for id in ["0", "17", "18446744073709551615"] {
            for body in [
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#),
                format!(r#"{{"method":"tools/call","params":{params},"jsonrpc":"2.0","id":{id}}}"#),
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#),
                format!(r#"{{"result":{{"content":[]}},"jsonrpc":"2.0","id":{id}}}"#),
            ] {
                assert!(usual(body.as_bytes()).is_some(), "{body}");
                // And whatever one byte less, more, or another makes of it.
                for at in 0..body.len() {
                    for with in [&b""[..], b"x", b"}", b"{", b"\"", b"1", b",", b" ", b"\\", b"}}"] {
                        for cut in [0, 1] {
                            let mut other = body.clone().into_bytes();
                            other.splice(at..at + cut, with.iter().copied());
                            let seen = usual(&other);
                            assert!(seen.is_none() || seen == read_ends(&other), "{}", other.escape_ascii());
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_no_object_is_none() {
        for text in ["", "[1]", "noise", "{", r#"{"a""#, r#"{"a":1"#, r#"{"a":[1"#] {
            assert_eq!(members(text.as_bytes()), None, "{text}");
        }
    }
}
