//! Markup and escapes taken off: Markdown emphasis, HTML tags and comments, entities, percent and `\u` escapes.
//!
//! Works on the sentences that hold such a mark: what is not wrapped is not read twice.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;

use super::blocks::Marks;
use super::count::looked;
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
            looked(inside.len().min(TAG_BYTES_MAX));
            let end = inside.iter().take(TAG_BYTES_MAX).position(|byte| *byte == b'>');
            byte(1).is_ascii_alphabetic()
                || end.is_some_and(|end| byte(1) == b'/' && byte(end + 1).is_ascii_alphanumeric())
        }
        b'<' => byte(1) == b'!',
        _ => false,
    }
}

/// What stands for a mark, and how long the mark is.
type Taken = (Cow<'static, str>, usize);

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
        looked(bytes.len());
        let (mut marks, mut copied) = (Marks::new(bytes), 0);
        while let Some(at) = marks.next(self.at) {
            self.at = at;
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
    fn emphasis(&self, mark: u8) -> Option<Taken> {
        /// Marks of a longer run are a line across the page. Counting all of them at each would be quadratic.
        const RUN_MAX: usize = 3;
        let bytes = self.text.as_bytes();
        let length = bytes.get(self.at..)?.iter().take(RUN_MAX + 1).take_while(|byte| **byte == mark).count();
        let is_word = |at: Option<usize>| {
            at.and_then(|at| bytes.get(at))
                .is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
        };
        let (before, after) = (is_word(self.at.checked_sub(1)), is_word(Some(self.at + length)));
        let is_emphasis = length <= RUN_MAX && if mark == b'_' { before != after } else { before || after };
        // A mark that only punctuation touches on its other side: `**word,**`.
        let closes = length <= RUN_MAX
            && mark != b'_'
            && self
                .at
                .checked_sub(1)
                .and_then(|at| bytes.get(at))
                .is_some_and(|byte| byte.is_ascii_punctuation())
            && bytes
                .get(self.at + length)
                .is_none_or(|byte| byte.is_ascii_whitespace() || byte.is_ascii_punctuation());
        let opens = length <= RUN_MAX
            && mark != b'_'
            && bytes.get(self.at + length).is_some_and(|byte| matches!(byte, b'\'' | b'"' | b'(' | b'['))
            && self
                .at
                .checked_sub(1)
                .and_then(|at| bytes.get(at))
                .is_none_or(|byte| byte.is_ascii_whitespace());
        (is_emphasis || closes || opens).then_some(("".into(), length))
    }
}

/// The character: of ASCII without a text of its own.
fn one(character: char) -> Cow<'static, str> {
    const ASCII: &str = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\
        \x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\
        \x20\x21\x22\x23\x24\x25\x26\x27\x28\x29\x2a\x2b\x2c\x2d\x2e\x2f\
        \x30\x31\x32\x33\x34\x35\x36\x37\x38\x39\x3a\x3b\x3c\x3d\x3e\x3f\
        \x40\x41\x42\x43\x44\x45\x46\x47\x48\x49\x4a\x4b\x4c\x4d\x4e\x4f\
        \x50\x51\x52\x53\x54\x55\x56\x57\x58\x59\x5a\x5b\x5c\x5d\x5e\x5f\
        \x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f\
        \x70\x71\x72\x73\x74\x75\x76\x77\x78\x79\x7a\x7b\x7c\x7d\x7e\x7f";
    let at = character as usize;
    ASCII.get(at..at + 1).map_or_else(|| character.to_string().into(), Cow::Borrowed)
}

fn entity(text: &str) -> Option<Taken> {
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
    Some((one(character), end + 1))
}

/// `%49%67…`: the bytes as text, as far as they are text. No further is read than what is taken, or else a run of bytes
/// that are none would be read again from each of them.
fn hex_bytes(text: &str, mark: &str) -> Option<Taken> {
    let (mut decoded, mut rest) = (String::new(), text);
    while let Some((character, after)) = hex_char(rest, mark) {
        decoded.push(character);
        rest = after;
    }
    looked(text.len() - rest.len() + 4 * (mark.len() + 2));
    (!decoded.is_empty()).then(|| (decoded.into(), text.len() - rest.len()))
}

/// The first character of a run, and what comes behind it.
fn hex_char<'a>(text: &'a str, mark: &str) -> Option<(char, &'a str)> {
    let mut bytes = [0; 4];
    let mut rest = text;
    for count in 1..=bytes.len() {
        let (pair, after) = rest.strip_prefix(mark)?.split_at_checked(2)?;
        *bytes.get_mut(count - 1)? = u8::from_str_radix(pair, 16).ok().filter(|_| !pair.starts_with('+'))?;
        rest = after;
        match std::str::from_utf8(bytes.get(..count)?) {
            Ok(one) => {
                let character = one.chars().next()?;
                let is_text = !character.is_control() || matches!(character, '\n' | '\r' | '\t');
                return is_text.then_some((character, rest));
            }
            Err(why) if why.error_len().is_some() => return None,
            Err(_) => {}
        }
    }
    None
}

/// `\u0049`, `\u{49}`, `\x49`, `\n`, `\"`.
fn escape(text: &str) -> Option<Taken> {
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
    Some((one(character), length))
}

/// A tag, or the beginning or the end of a comment.
fn tag(text: &str) -> Option<Taken> {
    if text.starts_with("<!--") {
        return Some(("\n\n".into(), 4));
    }
    let window = text.as_bytes().get(1..text.len().min(TAG_BYTES_MAX))?;
    looked(window.len());
    let end = memchr(b'>', window)? + 1;
    let inside = text.get(1..end)?;
    if memchr(b'<', inside.as_bytes()).is_some() {
        return None;
    }
    let name = inside.trim_start_matches('/');
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let length = name.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let name = name.get(..length).unwrap_or_default();
    let piece = if INLINE.iter().any(|inline| inline.eq_ignore_ascii_case(name)) { "" } else { "\n" };
    Some((piece.into(), end + 1))
}

#[cfg(test)]
mod tests {
    use super::{hex_bytes, unwrap};

    #[test]
    fn a_run_of_escapes_is_taken_as_far_as_it_is_text() {
        let taken = |text: &str| hex_bytes(text, "%").map(|(text, length)| (text.into_owned(), length));
        assert_eq!(taken("%49%67x"), Some(("Ig".to_owned(), 6)));
        assert_eq!(taken("%c3%A4%20%f0%9f%98%80%"), Some(("\u{e4} \u{1f600}".to_owned(), 21)));
        assert_eq!(taken("%41%c3%41"), Some(("A".to_owned(), 3)));
        assert_eq!(taken("%41%00%41"), Some(("A".to_owned(), 3)));
        for none in ["%80%41", "%c3", "%c3%4", "%+1", "%", "%0", "%00", "%ed%a0%80", "%\u{e4}"] {
            assert_eq!(taken(none), None, "{none}");
        }
    }

    /// Each of these took minutes: the rest of the run was read at each of its bytes.
    #[test]
    fn a_run_of_bytes_that_are_no_text_is_read_once() {
        for piece in ["%80", "%41%80", "%41%00"] {
            let text = piece.repeat(1 << 20);
            let read = unwrap(&text, std::slice::from_ref(&(0..text.len())));
            assert_eq!(read.is_some(), piece.starts_with("%41"), "{piece}");
        }
    }
}
