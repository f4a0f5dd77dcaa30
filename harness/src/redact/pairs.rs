//! Names with their values in a text: `TOKEN=…`, `--password …`, `Authorization: …`, `"pwd":"…"`, `?sig=…`.
//!
//! Each stretch of a text is looked at once, whatever is written there: names are at most
//! [`NAME_BYTES_MAX`] bytes, and a search goes on behind what the one before found.

use std::ops::Range;

use super::key::{self, Holds, NAME_BYTES_MAX};

/// What a value may begin with that is only the kind of credential.
const SCHEMES: &[&str] = &["basic", "bearer", "digest", "negotiate", "token"];

/// Where the values of names of credentials stand.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    let mut done = 0;
    for at in key::candidates(text) {
        if at < done {
            continue;
        }
        let Some(name) = name_around(text, at) else { continue };
        done = name.end;
        if let Some(value) = value_of(text, &name) {
            done = done.max(value.end);
            found.push(value);
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// The name that the byte at `at` is part of.
fn name_around(text: &str, at: usize) -> Option<Range<usize>> {
    let before = text.get(..at)?.bytes().rev().take(NAME_BYTES_MAX).take_while(|b| is_name(char::from(*b)));
    let start = at - before.count();
    let after = text.get(at..)?.bytes().take(NAME_BYTES_MAX).take_while(|b| is_name(char::from(*b)));
    let end = at + after.count();
    (end - start < NAME_BYTES_MAX).then_some(start..end)
}

/// The value behind a name, if it is a credential's.
fn value_of(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let word = text.get(name.clone())?;
    let holds = key::holds(word).or_else(|| key::holds(text.get(two_words(text, name))?))?;
    let rest = text.get(name.end..)?;
    let bare = rest.trim_start_matches(['\\', '"', '\'', '`', ']']);
    let unspaced = bare.trim_start_matches([' ', '\t']);
    let separator = [":=", "=>", "=", ":"].into_iter().find(|sign| unspaced.starts_with(sign));
    let value = match separator {
        Some(sign) => unspaced.get(sign.len()..)?.trim_start_matches([' ', '\t']),
        None if bare.len() != rest.len() || unspaced.len() == bare.len() => return None,
        None if word.starts_with('-') || is_of_netrc(text, name) => unspaced,
        None => return None,
    };
    let start = text.len() - value.len();
    let length = match (value.chars().next()?, separator) {
        ('"' | '\'' | '`' | '\\', _) => return quoted(text, start),
        // The next flag, the next line: there is no value.
        ('\n' | '\r', _) | ('-', None) => return None,
        ('[' | '{', Some(_)) => return bracketed(text, start).filter(|range| holds.takes(text, range)),
        ('|' | '>', Some(":")) if let Some(block) = block(text, name.start, value) => {
            return Some(start + block.start..start + block.end);
        }
        (_, Some(":")) if is_line(text, name.start) => to_the_end(text, name.start, value),
        _ => one_word(value),
    };
    let is_secret = holds == Holds::Anything || !is_plain_number(value.get(..length)?);
    (is_secret && !is_nothing(value.get(..length)?)).then_some(start..start + length)
}

/// `machine h login u password X`, in one line or several.
fn is_of_netrc(text: &str, name: &Range<usize>) -> bool {
    const LOOK_BACK_BYTES: usize = 512;
    if text.get(name.clone()) != Some("password") {
        return false;
    }
    let from =
        (name.start.saturating_sub(LOOK_BACK_BYTES)..=name.start).find(|at| text.is_char_boundary(*at));
    let before = from.and_then(|from| text.get(from..name.start)).unwrap_or_default();
    let words: Vec<&str> = before.split_whitespace().rev().take(4).collect();
    words.iter().skip(1).any(|word| matches!(*word, "login" | "machine" | "default"))
}

impl Holds {
    /// Whether there is anything in brackets that is a credential.
    fn takes(self, text: &str, range: &Range<usize>) -> bool {
        let inner = text.get(range.clone()).unwrap_or_default();
        let no_number = |c: char| !c.is_ascii_digit() && !c.is_whitespace() && !matches!(c, '.' | ',' | '-');
        match self {
            Holds::Anything => inner.contains(|c: char| !c.is_whitespace()),
            Holds::Strings => inner.contains(no_number),
        }
    }
}

/// What is inside brackets, strings with brackets in them and all, escaped as often as the first one is; without an
/// end: all.
fn bracketed(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let (mut depth, mut run, mut slashes, mut is_quoted) = (0_usize, 0, None, false);
    for (at, c) in rest.char_indices() {
        if c == '\\' {
            run += 1;
            continue;
        }
        match c {
            '"' => {
                let slashes = *slashes.get_or_insert(run);
                is_quoted ^= run == slashes || slashes == 0 && run % 2 == 0;
            }
            '[' | '{' if !is_quoted => depth += 1,
            ']' | '}' if !is_quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        run = 0;
        if depth == 0 {
            return Some(start + 1..start + at);
        }
    }
    Some(start + 1..text.len())
}

/// A block of YAML below its name: `|`, `>-`, `|2`; the lines that are deeper than the name's.
fn block(text: &str, name: usize, value: &str) -> Option<Range<usize>> {
    const SIGN_BYTES_MAX: usize = 8;
    let depth = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let end = value.bytes().take(SIGN_BYTES_MAX).position(|b| b == b'\n')?;
    let (sign, below) = (value.get(..end)?.trim_end(), value.get(end + 1..)?);
    if !sign.bytes().skip(1).all(|b| matches!(b, b'+' | b'-' | b'0'..=b'9')) {
        return None;
    }
    let line = text.get(..name)?.rsplit('\n').next().unwrap_or_default();
    // Where the name itself stands: behind `- ` another one may follow at the same depth.
    let own = line.trim_end_matches(['"', '\'']).len();
    let is_part = |line: &&str| line.trim().is_empty() || depth(line) > own;
    let length: usize = below.split_inclusive('\n').take_while(is_part).map(str::len).sum();
    let from = value.len() - below.len();
    let part = below.get(..length)?;
    let blanks = part.len() - part.trim_start().len();
    (!part.trim().is_empty()).then(|| from + blanks..from + part.trim_end().len())
}

/// With the word before it: `API key`, `session id`.
fn two_words(text: &str, name: &Range<usize>) -> Range<usize> {
    let before = text.get(..name.start).unwrap_or_default();
    let Some(before) = before.strip_suffix(' ') else { return name.clone() };
    let letters = before.bytes().rev().take(NAME_BYTES_MAX).take_while(u8::is_ascii_alphanumeric).count();
    before.len() - letters..name.end
}

/// Whether a header or a YAML member begins here: then the value is all of the line, blanks included.
fn is_line(text: &str, start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let before = before.trim_end_matches(is_name).trim_end_matches([' ', '\t', '-', '#', '"', '\'', '`']);
    before.is_empty() || before.ends_with(['\n', '\r'])
        // `-H "Authorization: …"`: a line within quotes.
        || text.get(..start).is_some_and(|text| text.ends_with(['"', '\'', '`']))
}

/// Bytes to the end of the line, or to the quote that stood before the name.
fn to_the_end(text: &str, name: usize, value: &str) -> usize {
    let quote = text.get(..name).and_then(|before| before.chars().next_back());
    let quote = quote.filter(|c| matches!(c, '"' | '\'' | '`'));
    value.find(|c: char| matches!(c, '\n' | '\r') || Some(c) == quote).unwrap_or(value.len())
}

/// Bytes of a value without quotes; with what follows its scheme (`Bearer …`).
fn one_word(value: &str) -> usize {
    let stops = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>');
    let end = value.find(stops).unwrap_or(value.len());
    let word = value.get(..end).unwrap_or_default();
    if SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme)) {
        let rest = value.get(end..).unwrap_or_default();
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let next = rest.get(blanks..).unwrap_or_default();
        return end + blanks + next.find(stops).unwrap_or(next.len());
    }
    // `a=1&b=2`, `a=1;b=2`: another member ends it. A sign alone may be part of a password.
    let ends = |(at, _): &(usize, char)| {
        let rest = word.get(at + 1..).unwrap_or_default();
        let name = rest.bytes().take_while(|b| is_name(char::from(*b))).count();
        name > 0 && rest.get(name..).is_some_and(|rest| rest.starts_with(['=', ':']))
    };
    let cut =
        word.char_indices().filter(|(_, c)| matches!(c, '&' | ';' | ',')).take(NAME_BYTES_MAX).find(ends);
    let word = cut.map_or(word, |(at, _)| word.get(..at).unwrap_or_default());
    word.trim_end_matches([',', ';', ')', '}', ']']).len()
}

/// Inside quotes, escaped as often as the first one: `\"a\"` ends at `\"`, `"a\"b"` at `"`. Without an end: all.
fn quoted(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let slashes = rest.bytes().take_while(|b| *b == b'\\').count();
    let quote = rest.get(slashes..)?.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let inner = slashes + quote.len_utf8();
    let mut run = 0;
    for (at, c) in rest.get(inner..)?.char_indices() {
        match c {
            '\\' => run += 1,
            c if c == quote && (run == slashes || slashes == 0 && run % 2 == 0) => {
                return Some(start + inner..start + inner + at - run.min(slashes))
                    .filter(|it| !it.is_empty());
            }
            _ => run = 0,
        }
    }
    Some(start + inner..text.len()).filter(|range| !range.is_empty())
}

fn is_plain_number(value: &str) -> bool {
    value.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// What stands for no value, or for one that is kept elsewhere.
fn is_nothing(value: &str) -> bool {
    matches!(value, "" | "null" | "true" | "false" | "None" | "True" | "False" | "{" | "[" | "***")
        || value.starts_with("${") && value.ends_with('}')
}
