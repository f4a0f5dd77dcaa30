//! Markup and escapes taken off: Markdown emphasis, HTML tags and comments, entities, percent and `\u` escapes.
//!
//! Works on the sentences that hold such a mark: what is not wrapped is not read twice.

use std::ops::Range;

use memchr::memchr;

use super::class::Class;
use super::mapped::Mapped;

/// Tags between which a sentence goes on; every other ends it.
const INLINE: [&str; 24] = [
    "a", "abbr", "b", "bdi", "bdo", "big", "code", "em", "font", "i", "kbd", "mark", "o", "q", "s", "small",
    "span", "strong", "sub", "sup", "tt", "u", "var", "wbr",
];
/// What stands between `<` and `>` at most.
const TAG_BYTES_MAX: usize = 400;

/// The pieces of the text that change when they are unwrapped; `None` when none does.
pub(super) fn unwrap(text: &str, pieces: &[Range<usize>]) -> Option<Mapped> {
    let mut out = Mapped::default();
    for at in pieces {
        let Some(piece) = text.get(at.clone()) else { continue };
        Unwrapping { text: piece, at: 0, base: at.start, out: &mut out }.run();
    }
    (!out.text().is_empty()).then_some(out)
}

/// Whether an escape, an entity, or a tag within a word begins at `at`: what changes the words of a sentence.
pub(super) fn is_escape(text: &[u8], at: usize) -> bool {
    let byte = |offset: usize| text.get(at + offset).copied().unwrap_or(b' ');
    let before = at.checked_sub(1).and_then(|at| text.get(at)).copied().unwrap_or(b' ');
    match byte(0) {
        b'&' => {
            byte(1) == b'#'
                || text
                    .get(at + 1..)
                    .unwrap_or_default()
                    .iter()
                    .take(9)
                    .find(|byte| !byte.is_ascii_alphanumeric())
                    == Some(&b';')
        }
        b'%' => byte(1).is_ascii_hexdigit() && byte(2).is_ascii_hexdigit(),
        b'=' => byte(1).is_ascii_hexdigit() && byte(2).is_ascii_hexdigit() && byte(3) == b'=',
        b'\\' => match byte(1) {
            b'n' | b'r' | b't' => byte(2).is_ascii_alphanumeric(),
            b'x' | b'U' => byte(2).is_ascii_hexdigit() && byte(3).is_ascii_hexdigit(),
            b'u' => byte(2) == b'{' || byte(2).is_ascii_hexdigit() && byte(3).is_ascii_hexdigit(),
            _ => false,
        },
        b'<' if before.is_ascii_alphanumeric() => {
            let inside = text.get(at..).unwrap_or_default();
            let end = inside.iter().take(TAG_BYTES_MAX).position(|byte| *byte == b'>');
            byte(1).is_ascii_alphabetic()
                || end.is_some_and(|end| byte(1) == b'/' && byte(end + 1).is_ascii_alphanumeric())
        }
        b'<' => byte(1) == b'!',
        _ => false,
    }
}

/// Whether anything that is taken off begins with this byte.
fn may_wrap(byte: &u8) -> bool {
    matches!(Class::of(*byte), Class::Emphasis | Class::Escape)
}

struct Unwrapping<'a> {
    text: &'a str,
    at: usize,
    /// Where the paragraph stands in the original.
    base: usize,
    out: &'a mut Mapped,
}

impl Unwrapping<'_> {
    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut copied = 0;
        while let Some(skip) = bytes.get(self.at..).and_then(|rest| rest.iter().position(may_wrap)) {
            self.at += skip;
            let token = match bytes.get(self.at).copied().unwrap_or_default() {
                b'&' => entity(self.rest()),
                b'%' => hex_bytes(self.rest(), "%"),
                b'=' => hex_bytes(self.rest(), "=").filter(|(text, _)| !text.is_ascii()),
                b'\\' => escape(self.rest()),
                b'<' => tag(self.rest()),
                byte @ (b'*' | b'~' | b'`' | b'_') => self.emphasis(byte),
                _ => None,
            };
            let Some((piece, length)) = token else {
                self.at += 1;
                continue;
            };
            if copied == 0 {
                // Two pieces are two paragraphs.
                self.out.put("\n\n", self.base..self.base);
            }
            self.out.copy(self.text.get(copied..self.at).unwrap_or_default(), self.base + copied);
            let end = self.at + length;
            self.out.put(&piece, self.base + self.at..self.base + end);
            self.at = end;
            copied = end;
        }
        if copied > 0 {
            self.out.copy(self.text.get(copied..).unwrap_or_default(), self.base + copied);
        }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// A run of marks that touches a word.
    fn emphasis(&self, mark: u8) -> Option<(String, usize)> {
        let bytes = self.text.as_bytes();
        let length = bytes.get(self.at..)?.iter().take_while(|byte| **byte == mark).count();
        let is_word = |at: Option<usize>| {
            at.and_then(|at| bytes.get(at))
                .is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
        };
        let (before, after) = (is_word(self.at.checked_sub(1)), is_word(Some(self.at + length)));
        let is_emphasis = length <= 3 && if mark == b'_' { before != after } else { before || after };
        // A mark that only punctuation touches on its other side: `**word,**`.
        let closes = length <= 3
            && mark != b'_'
            && self
                .at
                .checked_sub(1)
                .and_then(|at| bytes.get(at))
                .is_some_and(|byte| byte.is_ascii_punctuation())
            && bytes
                .get(self.at + length)
                .is_none_or(|byte| byte.is_ascii_whitespace() || byte.is_ascii_punctuation());
        let opens = length <= 3
            && mark != b'_'
            && bytes.get(self.at + length).is_some_and(|byte| matches!(byte, b'\'' | b'"' | b'(' | b'['))
            && self
                .at
                .checked_sub(1)
                .and_then(|at| bytes.get(at))
                .is_none_or(|byte| byte.is_ascii_whitespace());
        (is_emphasis || closes || opens).then(|| (String::new(), length))
    }
}

fn entity(text: &str) -> Option<(String, usize)> {
    /// The longest entity that is read, without `&` and `;`.
    const NAME_BYTES_MAX: usize = 10;
    let end = memchr(b';', text.as_bytes().get(1..text.len().min(NAME_BYTES_MAX + 2))?)? + 1;
    let name = text.get(1..end)?;
    let character = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok().and_then(char::from_u32),
            None => number.parse().ok().and_then(char::from_u32),
        },
        None => match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" | "rsquo" | "lsquo" => Some('\''),
            "nbsp" | "ensp" | "emsp" | "thinsp" | "Tab" | "NewLine" => Some(' '),
            "shy" | "zwj" | "zwnj" => Some('\u{ad}'),
            "period" => Some('.'),
            "colon" => Some(':'),
            "comma" => Some(','),
            "excl" => Some('!'),
            _ => None,
        },
    }?;
    Some((character.to_string(), end + 1))
}

/// `%49%67…`: the bytes as text, as far as they are text.
fn hex_bytes(text: &str, mark: &str) -> Option<(String, usize)> {
    /// Bytes of one run.
    const RUN_BYTES_MAX: usize = 1 << 16;
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(after) = rest.strip_prefix(mark).filter(|_| bytes.len() < RUN_BYTES_MAX) {
        let Some(byte) = after.get(..2).and_then(|pair| u8::from_str_radix(pair, 16).ok()) else { break };
        bytes.push(byte);
        rest = after.get(2..).unwrap_or_default();
    }
    let valid = match std::str::from_utf8(&bytes) {
        Ok(valid) => valid.len(),
        Err(error) => error.valid_up_to(),
    };
    let decoded = std::str::from_utf8(bytes.get(..valid)?).ok()?;
    let is_text =
        !decoded.is_empty() && !decoded.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'));
    is_text.then(|| (decoded.to_owned(), valid * (mark.len() + 2)))
}

/// `\u0049`, `\u{49}`, `\x49`, `\n`, `\"`.
fn escape(text: &str) -> Option<(String, usize)> {
    let kind = text.as_bytes().get(1)?;
    let hex =
        |from: usize, to: usize| text.get(from..to).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let (code, length) = match kind {
        b'n' | b'r' => return Some(("\n".into(), 2)),
        // What stands behind a tab is a field of its own.
        b't' => return Some((" | ".into(), 2)),
        b'"' => return Some(("\"".into(), 2)),
        b'x' => (hex(2, 4)?, 4),
        b'U' => (hex(2, 10)?, 10),
        b'u' if text.as_bytes().get(2) == Some(&b'{') => {
            let end = memchr(b'}', text.as_bytes().get(3..text.len().min(11))?)? + 3;
            (hex(3, end)?, end + 1)
        }
        b'u' => {
            let code = hex(2, 6)?;
            // A pair of surrogates is one character.
            let low = hex(8, 12).filter(|_| text.get(6..8) == Some("\\u"));
            match (code, low) {
                (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) => {
                    (0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00), 12)
                }
                _ => (code, 6),
            }
        }
        _ => return None,
    };
    let character = char::from_u32(code).filter(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'))?;
    Some((character.to_string(), length))
}

/// A tag, or the beginning or the end of a comment.
fn tag(text: &str) -> Option<(String, usize)> {
    if text.starts_with("<!--") {
        return Some(("\n\n".into(), 4));
    }
    let window = text.as_bytes().get(1..text.len().min(TAG_BYTES_MAX))?;
    let end = memchr(b'>', window)? + 1;
    let inside = text.get(1..end)?;
    if memchr(b'<', inside.as_bytes()).is_some() {
        return None;
    }
    let name = inside.trim_start_matches('/');
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let name: String =
        name.chars().take_while(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect();
    let piece = if INLINE.contains(&name.as_str()) { "" } else { "\n" };
    Some((piece.into(), end + 1))
}
