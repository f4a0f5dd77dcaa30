//! A strict reader of JSON text that finds where values end and builds nothing.
//!
//! It accepts what RFC 8259 accepts and nothing else, so that what it calls JSON no peer can take
//! for anything else. Its twin is `serde_json`: [`crate::envelope::assert_peek_agrees`] holds the
//! two against each other on whatever the fuzzer finds.

use std::borrow::Cow;

/// A member's key as it was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawKey<'a> {
    quoted: &'a [u8],
    has_escapes: bool,
}

impl<'a> RawKey<'a> {
    /// The name that it spells, in UTF-8. `None` if that holds a lone surrogate.
    pub(crate) fn name(self) -> Option<Cow<'a, [u8]>> {
        if self.has_escapes {
            return serde_json::from_slice::<String>(self.quoted).ok().map(|name| name.into_bytes().into());
        }
        Some(Cow::Borrowed(self.quoted.strip_prefix(b"\"")?.strip_suffix(b"\"")?))
    }
}

/// A place in a text.
#[derive(Debug)]
pub(crate) struct Scan<'a> {
    text: &'a [u8],
    /// INVARIANT: `at <= text.len()`.
    at: usize,
}

impl<'a> Scan<'a> {
    /// At the start of `text`, which is UTF-8.
    pub(crate) fn new(text: &'a str) -> Self {
        Self::over(text.as_bytes())
    }

    /// The same over bytes that somebody else checks to be UTF-8.
    pub(crate) fn over(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Passes over white space; where it ends.
    pub(crate) fn next_token(&mut self) -> usize {
        self.blanks();
        self.at
    }

    /// Goes on behind a value that somebody else has passed over.
    pub(crate) fn pass_to(&mut self, at: usize) {
        self.at = at.min(self.text.len());
    }

    /// Whether nothing is left but white space.
    pub(crate) fn is_at_end(&mut self) -> bool {
        self.blanks();
        self.at == self.text.len()
    }

    /// Passes over white space, and then over `byte` if it stands there.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        self.blanks();
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    /// Passes over `fixed` if it stands here as it is. `fixed` must be whole tokens.
    #[inline(always)]
    pub(crate) fn eat_fixed(&mut self, fixed: &[u8]) -> bool {
        let is_there = self.text.get(self.at..).is_some_and(|rest| rest.starts_with(fixed));
        self.at += if is_there { fixed.len() } else { 0 };
        is_there
    }

    /// Passes over a member's key and its colon.
    pub(crate) fn key(&mut self) -> Option<RawKey<'a>> {
        self.blanks();
        let start = self.at;
        let has_escapes = self.string()?;
        let quoted = self.text.get(start..self.at)?;
        self.eat(b':').then_some(RawKey { quoted, has_escapes })
    }

    /// Passes over a value; where it lies, without the white space around it.
    pub(crate) fn value(&mut self) -> Option<std::ops::Range<usize>> {
        self.blanks();
        let start = self.at;
        let mut nest = Nest::default();
        loop {
            self.blanks();
            match self.peek()? {
                b'{' => {
                    self.at += 1;
                    if !self.eat(b'}') {
                        self.key()?;
                        nest.push(true);
                        continue;
                    }
                }
                b'[' => {
                    self.at += 1;
                    if !self.eat(b']') {
                        nest.push(false);
                        continue;
                    }
                }
                b'"' => {
                    self.string()?;
                }
                b'-' | b'0'..=b'9' => self.number()?,
                _ => self.word()?,
            }
            if !self.close(&mut nest)? {
                return Some(start..self.at);
            }
        }
    }

    /// After a value: passes over the ends that follow. Whether another value is due.
    fn close(&mut self, nest: &mut Nest) -> Option<bool> {
        while let Some(in_object) = nest.last() {
            if self.eat(b',') {
                if in_object {
                    self.key()?;
                }
                return Some(true);
            }
            if !self.eat(if in_object { b'}' } else { b']' }) {
                return None;
            }
            nest.pop();
        }
        Some(false)
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Whether it was written with escapes.
    fn string(&mut self) -> Option<bool> {
        if self.peek()? != b'"' {
            return None;
        }
        self.at += 1;
        let mut has_escapes = false;
        loop {
            self.at += plain_bytes(self.text.get(self.at..)?)?;
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(has_escapes);
                }
                b'\\' => {
                    has_escapes = true;
                    self.escape()?;
                }
                _ => return None,
            }
        }
    }

    /// A lone surrogate is JSON text (RFC 8259, section 8.2), though not every peer can hold it.
    fn escape(&mut self) -> Option<()> {
        let rest = self.text.get(self.at + 1..)?;
        self.at += match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
            [b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|byte| byte.is_ascii_hexdigit()) => 6,
            _ => return None,
        };
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        self.at += usize::from(self.peek() == Some(b'-'));
        if matches!(self.digits()?, (b'0', 2..)) {
            return None;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Some(())
    }

    /// The first digit, and how many there are; at least one.
    fn digits(&mut self) -> Option<(u8, usize)> {
        let rest = self.text.get(self.at..)?;
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        Some((*rest.first().filter(|_| count > 0)?, count))
    }

    fn word(&mut self) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        let word = [&b"true"[..], b"false", b"null"].into_iter().find(|word| rest.starts_with(word))?;
        self.at += word.len();
        Some(())
    }
}

/// Up to the first quote, backslash or control character; `None` if there is none.
fn plain_bytes(text: &[u8]) -> Option<usize> {
    /// Keys and names end before the setup of a vector search has paid off.
    const SHORT_WORDS: usize = 4;
    let (words, _) = text.as_chunks::<8>();
    for (at, word) in words.iter().take(SHORT_WORDS).enumerate() {
        if let Some(byte) = plain_bytes_of(*word) {
            return Some(at * 8 + byte);
        }
    }
    let seen = words.len().min(SHORT_WORDS) * 8;
    let rest = text.get(seen..)?;
    let at = memchr::memchr2(b'"', b'\\', rest);
    let plain = rest.get(..at.unwrap_or(rest.len()))?;
    // Without an early exit it is done many bytes at once.
    let has_control = plain.iter().fold(false, |any, byte| any | (*byte < 0x20));
    let len = if has_control { plain.iter().position(|byte| *byte < 0x20) } else { at };
    Some(seen + len?)
}

/// The same for eight bytes at once.
fn plain_bytes_of(word: [u8; 8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let word = u64::from_le_bytes(word);
    // A byte's high bit is set where `limit` (at most 0x80) is more than it. A borrow makes mistakes
    // above the first such byte only, and the first is what counts.
    let below = |bytes: u64, limit: u64| bytes.wrapping_sub(ONES * limit) & !bytes;
    let equals = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let ends = (below(word, 0x20) | equals(b'"') | equals(b'\\')) & (ONES << 7);
    (ends != 0).then(|| ends.trailing_zeros() as usize / 8)
}

/// Which brackets are open, one bit for each: a frame may hold 64 Mi of them.
#[derive(Default)]
struct Nest {
    depth: usize,
    /// The innermost `depth % 64` (or 64) levels, the last one in the lowest bit; true for an object.
    top: u64,
    /// Whole words of the levels outside `top`.
    outer: Vec<u64>,
}

impl Nest {
    const WORD_LEVELS: usize = u64::BITS as usize;

    fn push(&mut self, is_object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(Self::WORD_LEVELS) {
            self.outer.push(self.top);
        }
        self.top = self.top << 1 | u64::from(is_object);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.top >>= 1;
        if self.depth.is_multiple_of(Self::WORD_LEVELS)
            && let Some(word) = self.outer.pop()
        {
            self.top = word;
        }
    }

    fn last(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.top & 1 == 1)
    }
}

/// The raw value of the one member of `object` that is called `key`. `None` if it is missing,
/// stands twice, or `object` is not exactly one object.
pub(crate) fn member<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    let mut scan = Scan::new(object);
    let mut found = None;
    if !scan.eat(b'{') {
        return None;
    }
    if scan.eat(b'}') {
        return None;
    }
    loop {
        let name = scan.key()?;
        let value = scan.value()?;
        if *name.name()? == *key.as_bytes() && found.replace(value).is_some() {
            return None;
        }
        if !scan.eat(b',') {
            break;
        }
    }
    (scan.eat(b'}') && scan.is_at_end()).then(|| object.get(found?))?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    /// Whether the scanner and its twin take `text` for the same: one JSON value, or none.
    fn agree(text: &str) {
        let mut scan = Scan::new(text);
        let ours = scan.value().filter(|_| scan.is_at_end()).and_then(|range| text.get(range));
        let twin = serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get);
        assert_eq!(ours, twin, "{}", text.escape_debug());
    }

    #[test]
    fn what_is_json_and_what_is_not() {
        for text in [
            "",
            " ",
            "{",
            "}",
            "{}",
            "{ }",
            "[]",
            "[ ]",
            "[1,]",
            "[,1]",
            "{\"a\":1,}",
            "{\"a\"}",
            "{\"a\":}",
            "{1:2}",
            "[1 2]",
            "[1}",
            "{\"a\":1]",
            "{}{}",
            "[]x",
            "-",
            "-1",
            "01",
            "-01",
            "0",
            "-0",
            "1.",
            "1.5",
            ".5",
            "1e",
            "1e5",
            "1E+05",
            "1e-",
            "1.e5",
            "+1",
            "1e1.5",
            "0x1",
            "NaN",
            "nul",
            "null",
            "nulll",
            "true",
            "false",
            "tru",
            "True",
            "\"",
            "\"\\",
            "\"\\\"",
            "\"\\\"\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"\\ud800\"",
            "\"\\uD800\\udc00\"",
            "\"a\u{1}b\"",
            "\"a\nb\"",
            "\"\t\"",
            "\"\u{7f}\u{e9}\u{1f600}\"",
            "\"aaaaaaaaaaaaaaaaaaaaaaaaaaa\u{2}\"",
            "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaa\\n\\u00e9\"",
            "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "\u{feff}1",
            "\u{a0}1",
            "\u{b}1",
        ] {
            agree(text);
        }
    }

    #[test]
    fn the_end_of_a_string_is_found_wherever_it_lies() {
        for len in 0..100 {
            for end in ['"', '\\', '\u{0}', '\u{1f}'] {
                for fill in ["x", "\u{7f}", " ", "!", "#", "[", "]", "\u{e9}", "\u{10ffff}"] {
                    let plain = fill.repeat(len);
                    let text = format!("{plain}{end}\"\u{1}\\{fill}");
                    assert_eq!(plain_bytes(text.as_bytes()), Some(plain.len()), "{}", text.escape_debug());
                    assert_eq!(plain_bytes(plain.as_bytes()), None);
                }
            }
        }
    }

    #[test]
    fn nesting_is_counted_to_any_depth() {
        for depth in [1, 63, 64, 65, 127, 128, 129, 1000] {
            for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":[", "]}]")] {
                let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
                agree(&text);
                let mut scan = Scan::new(&text);
                assert_eq!(scan.value(), Some(0..text.len()));
                agree(text.get(1..).unwrap());
                agree(text.get(..text.len() - 1).unwrap());
                agree(&text.replacen(']', "}", depth));
            }
        }
    }

    proptest! {
        #[test]
        fn the_twins_agree_on_text_that_is_nearly_json(
            text in r#"[\[\]{},: \t\r\n"\\0-9.eE+\-tfnua-z\u{0}-\u{1f}é]{0,40}"#,
        ) {
            agree(&text);
        }

        #[test]
        fn the_twins_agree_on_json_with_a_byte_changed(at in 0_usize..200, with in "[\\[\\]{},:\"\\\\ 0e.x-]{0,2}", cut in 0_usize..3) {
            let text = r#"{"a":[1,-2.5e+3,{"b\u00e9":"c\\\"d \/"}],"e" : [true ,false,null,[[]],{}] ,"f":"gggggggggggggggggggggggggg\n","a":0}"#;
            let at = at % text.len();
            if text.is_char_boundary(at) && text.is_char_boundary((at + cut).min(text.len())) {
                let mut text = text.to_owned();
                text.replace_range(at..(at + cut).min(text.len()), &with);
                agree(&text);
            }
        }
    }

    #[test]
    fn a_member_is_found_in_any_spelling_once() {
        for (object, want) in [
            (r#"{"name":"a"}"#, Some("\"a\"")),
            (r#" { "x" : {"name":1} , "n\u0061me" : [ 1 ] } "#, Some("[ 1 ]")),
            (r#"{"name":1,"n\u0061me":2}"#, None),
            (r#"{"name":1,"\ud800":2}"#, None),
            (r#"{"name":1"#, None),
            (r#"{"name":1}x"#, None),
            (r#"["name"]"#, None),
            ("{}", None),
            ("", None),
        ] {
            assert_eq!(member(object, "name"), want, "{object}");
        }
    }
}
