//! The arguments of a call as its line shows them: compact, clipped, without credentials, unable to forge a line.
//!
//! Only the start of long arguments is looked at, and a start can end inside a secret. So it is cut back to where
//! something whole ends, and closed there: then it is JSON, is read and redacted as all JSON is, and what was
//! closed is taken off again.

use std::borrow::Cow;

use bytes::Bytes;

use super::escape;
use crate::redact;

/// Bytes that are looked at.
pub(super) const READ_BYTES_MAX: usize = 1024;
/// Characters that are shown.
pub(crate) const SHOWN_CHARS: usize = 160;
/// What is shown of arguments that cannot be read for certain: what is a secret in them is not certain either.
const UNREADABLE: &str = "(arguments that cannot be read for certain)";

/// What of a call's arguments is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LogArguments {
    /// As they came, clipped.
    Full,
    /// Nothing.
    None,
    /// Without what looks like a credential, clipped.
    #[default]
    Redacted,
}

/// The start of arguments as it is shown. `text` begins with them and may go on behind their end.
pub(crate) fn shown(text: &[u8], what: LogArguments) -> Cow<'_, str> {
    if what == LogArguments::None {
        return "".into();
    }
    let Some(head) = Head::of(text) else { return UNREADABLE.into() };
    if let Head::Whole(json) = head
        && let Ok(plain) = std::str::from_utf8(json)
        && (what == LogArguments::Full || !redact::may_have_one(json))
    {
        // Nearly all calls: nothing to take out, and most often nothing to change.
        let is_plain = json.len() <= SHOWN_CHARS && json.iter().all(u8::is_ascii_graphic);
        return if is_plain { plain.into() } else { clipped(plain).into() };
    }
    let (open, is_cut) = head.closed_by();
    let json = match what {
        LogArguments::Redacted => match redact::json(Bytes::copy_from_slice(head.json())) {
            Ok(redacted) => redacted.bytes,
            Err(_) => return UNREADABLE.into(),
        },
        LogArguments::Full | LogArguments::None => Bytes::copy_from_slice(head.json()),
    };
    let end = json.len() - open.min(json.len());
    let Ok(json) = std::str::from_utf8(json.get(..end).unwrap_or_default()) else { return UNREADABLE.into() };
    let mut out = clipped(json);
    if is_cut && !out.ends_with('…') {
        out.push('…');
    }
    out.into()
}

/// All of the arguments, as JSON; nothing where they are not to be shown.
pub(crate) fn whole(text: &Bytes, what: LogArguments) -> Option<String> {
    let json = match what {
        LogArguments::None => return None,
        LogArguments::Full => text.clone(),
        LogArguments::Redacted => redact::json(text.clone()).ok()?.bytes,
    };
    String::from_utf8(json.to_vec()).ok()
}

/// JSON without the blanks between its parts, clipped.
fn clipped(json: &str) -> String {
    let mut out = String::with_capacity(json.len().min(4 * SHOWN_CHARS));
    let (mut is_in_string, mut is_escaped) = (false, false);
    for (count, c) in json.chars().filter(|c| keeps(*c, &mut is_in_string, &mut is_escaped)).enumerate() {
        if count == SHOWN_CHARS {
            out.push('…');
            break;
        }
        if c.is_ascii_graphic() || c == ' ' { out.push(c) } else { out.extend(escape(c)) }
    }
    out
}

/// Whether a character is more than a blank between two values.
fn keeps(c: char, is_in_string: &mut bool, is_escaped: &mut bool) -> bool {
    match c {
        '"' if !*is_escaped => *is_in_string = !*is_in_string,
        ' ' | '\t' | '\n' | '\r' if !*is_in_string => return false,
        _ => {}
    }
    *is_escaped = *is_in_string && c == '\\' && !*is_escaped;
    true
}

/// One value, or its start made whole.
enum Head<'a> {
    Cut {
        json: Vec<u8>,
        /// Bytes at the end that are not from the text.
        closed_by: usize,
    },
    Whole(&'a [u8]),
}

impl<'a> Head<'a> {
    fn of(text: &'a [u8]) -> Option<Head<'a>> {
        let mut scan = Scan::default();
        for (at, byte) in text.iter().take(READ_BYTES_MAX).enumerate() {
            if scan.byte(at, *byte)? {
                return text.get(..=at).map(Head::Whole);
            }
        }
        let (end, open, in_string) = scan.cut();
        let mut json = text.get(..end)?.to_vec();
        json.extend(in_string.then_some(b'"'));
        json.extend(open.iter().rev().map(|open| open + 2));
        Some(Head::Cut { closed_by: json.len() - end, json })
    }

    fn json(&self) -> &[u8] {
        match self {
            Head::Cut { json, .. } => json,
            Head::Whole(json) => json,
        }
    }

    /// How many bytes are not from the text, and whether any may be missing.
    fn closed_by(&self) -> (usize, bool) {
        match self {
            Head::Cut { closed_by, .. } => (*closed_by, true),
            Head::Whole(_) => (0, false),
        }
    }
}

/// Where a value ends, and where its start can be closed.
#[derive(Debug, Default)]
struct Scan {
    /// `{` and `[` that are open. Either closes with the byte two after it.
    open: Vec<u8>,
    is_key: bool,
    /// Inside a string: where it may be cut, since no secret goes over a blank.
    string: Option<Option<usize>>,
    is_escaped: bool,
    /// Where all before is whole, and how many were open there.
    whole: (usize, usize),
}

impl Scan {
    /// Whether the value ends with this byte; `None` when it is no object or list.
    fn byte(&mut self, at: usize, byte: u8) -> Option<bool> {
        if let Some(cut) = &mut self.string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.string = None,
                b' ' => *cut = Some(at),
                _ => {}
            }
            return Some(false);
        }
        match byte {
            b'"' => self.string = Some(None),
            b'{' | b'[' => {
                self.open.push(byte);
                self.is_key = byte == b'{';
                self.whole = (at + 1, self.open.len());
            }
            b'}' | b']' => {
                let closes = self.open.pop()? + 2 == byte;
                self.whole = (at + 1, self.open.len());
                return closes.then_some(self.open.is_empty());
            }
            b',' => {
                self.is_key = *self.open.last()? == b'{';
                self.whole = (at, self.open.len());
            }
            b':' => self.is_key = false,
            _ if self.open.is_empty() => return None,
            _ => {}
        }
        Some(false)
    }

    /// Where to cut, what is open there, and whether that is inside a string.
    fn cut(&self) -> (usize, &[u8], bool) {
        if let Some(Some(blank)) = self.string
            && !self.is_key
        {
            return (blank, &self.open, true);
        }
        let (end, open) = self.whole;
        (end, self.open.get(..open).unwrap_or(&self.open), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(text: &str) -> String {
        shown(text.as_bytes(), LogArguments::Redacted).into_owned()
    }

    #[test]
    fn arguments_are_compact_and_end_where_they_end() {
        for (text, want) in [
            (r#"{ "path" : "a b" , "n" : [ 1.50, {} ] } , "x": 1}"#, r#"{"path":"a b","n":[1.50,{}]}"#),
            (r#"{}}"#, "{}"),
            (r#"{"a":"}\"]"},"name":"x""#, r#"{"a":"}\"]"}"#),
            (r#"{"a":1]"#, UNREADABLE),
            ("7", UNREADABLE),
            (r#"{"a":1,"a":2,"token":1}"#, UNREADABLE),
        ] {
            assert_eq!(redacted(text), want, "{text}");
        }
        assert_eq!(shown(br#"{"a":1}"#, LogArguments::None), "");
        assert_eq!(shown(br#"{"token":"abc"}"#, LogArguments::Full), r#"{"token":"abc"}"#);
        assert_eq!(redacted(r#"{"token":"abc"}"#), r#"{"token":"***"}"#);
    }

    #[test]
    fn long_arguments_are_cut_where_something_whole_ends() {
        let fill = |to: usize| "x".repeat(to);
        // At the limit all of it counts; one byte more and the last string is gone.
        let exact = format!(r#"{{"a":"{}"}}"#, fill(READ_BYTES_MAX - 8));
        assert_eq!(exact.len(), READ_BYTES_MAX);
        assert!(redacted(&exact).starts_with(r#"{"a":"xxx"#));
        assert_eq!(redacted(&format!(r#"{{"a":"{}"}}"#, fill(READ_BYTES_MAX - 7))), "{…");
        let after = format!(r#"{{"path":"/a","content":"{}"}}"#, fill(READ_BYTES_MAX));
        assert_eq!(redacted(&after), r#"{"path":"/a"…"#);
        let words = format!(r#"{{"content":"two words and {}"}}"#, fill(READ_BYTES_MAX));
        assert_eq!(redacted(&words), r#"{"content":"two words and…"#);
        let nested = format!(r#"{{"a":[[{{"b":1}},"{}"]]}}"#, fill(READ_BYTES_MAX));
        assert_eq!(redacted(&nested), r#"{"a":[[{"b":1}…"#);
        let key = format!(r#"{{"a":1,"key with {}":1}}"#, fill(READ_BYTES_MAX));
        assert_eq!(redacted(&key), r#"{"a":1…"#);
    }

    #[test]
    fn a_cut_never_shows_half_a_secret() {
        let secret = "ghp_0123456789abcdefghijABCDEFGHIJ0123456789";
        for before in READ_BYTES_MAX - 80..READ_BYTES_MAX {
            for start in [r#"{"q":""#, r#"{"password":""#, r#"{"q":"Bearer "#, r#"{"a":["--password",""#] {
                let blanks = before.saturating_sub(start.len());
                let text = format!(r#"{}{}{secret} tail"}}"#, start, " ".repeat(blanks));
                let shown = redacted(&text);
                assert!(!shown.contains("ghp_0"), "{before} {shown}");
            }
        }
    }

    #[test]
    fn what_is_shown_is_clipped_and_cannot_forge_a_line() {
        let long = |chars: usize| format!(r#"{{"a":"{}"}}"#, "é".repeat(chars));
        assert_eq!(redacted(&long(SHOWN_CHARS - 8)).chars().count(), SHOWN_CHARS);
        assert!(!redacted(&long(SHOWN_CHARS - 8)).ends_with('…'));
        assert!(redacted(&long(SHOWN_CHARS - 7)).ends_with('…'));
        let odd = redacted("{\"a\":\"x\u{85}\u{202e}\u{2028}\u{7f}y\"}");
        assert_eq!(odd, r#"{"a":"x\u{85}\u{202e}\u{2028}\u{7f}y"}"#);
    }
}
