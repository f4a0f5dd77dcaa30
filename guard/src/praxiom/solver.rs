//! What is left of the solver that the original asks: how it spells strings, and (with
//! [`Dialect::Original`](super::Dialect)) how it misreads them.

use std::fmt::Write as _;

/// The largest character that the solver knows.
const CHAR_MAX: u32 = 0x2_ffff;

/// How a string looks after it went through the solver: characters from 1 to 255 as they are, others as
/// `\u{hex}`, and so a backslash before a `u`.
pub(crate) fn spelled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let code = u32::from(c);
        let escape = c == '\\' && chars.peek() == Some(&'u');
        if (1..=255).contains(&code) && !escape {
            out.push(c);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{{{code:x}}}");
        }
    }
    out
}

/// What the solver reads: `\u{61}` and `\u0061` inside of any value become `a`, and what it does not know becomes
/// the text of its escape. An allow-list that is asked this way accepts what the server never sees as that name.
pub(crate) fn misread(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (read, taken) = match escape(rest) {
            Some((read, taken)) => (read, taken),
            None => (c, c.len_utf8()),
        };
        if u32::from(read) > CHAR_MAX {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(read));
        } else {
            out.push(read);
        }
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

/// One to five digits in braces, or exactly four without.
fn escape(rest: &str) -> Option<(char, usize)> {
    let body = rest.strip_prefix("\\u")?;
    let (digits, taken) = match body.strip_prefix('{') {
        Some(braced) => {
            let end = braced.bytes().take(6).position(|b| b == b'}').filter(|end| *end > 0)?;
            (braced.get(..end)?, end + 4)
        }
        None => (body.get(..4)?, 6),
    };
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let code = u32::from_str_radix(digits, 16).ok().filter(|code| *code <= CHAR_MAX)?;
    // Half of a surrogate pair is a character to the solver; no text of ours can hold it.
    Some((char::from_u32(code)?, taken))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_spelled_as_the_solver_shows_them() {
        assert_eq!(spelled("é漢\u{0}\t\\u{41}\\n\u{e0041}"), "é\\u{6f22}\\u{0}\t\\u{5c}u{41}\\n\\u{e0041}");
    }

    #[test]
    fn escapes_are_misread_as_the_solver_does() {
        let cases = [
            ("\\u{61}lice", "alice"),
            ("\\u0061", "a"),
            ("\\u{2fff}", "\u{2fff}"),
            ("\\u{1F600}", "\u{1f600}"),
            ("\\x41\\n\\u{}\\u{000061}\\U0041\\u41", "\\x41\\n\\u{}\\u{000061}\\U0041\\u41"),
            ("\\u{30000}", "\\u{30000}"),
            ("\u{e0041}", "\\u{e0041}"),
            ("\\", "\\"),
        ];
        for (text, read) in cases {
            assert_eq!(misread(text), read, "{text}");
        }
    }
}
