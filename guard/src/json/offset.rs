//! From a decoded string back to the bytes it was written in.

use super::{Kind, VERBATIM, Value};

/// See [`Value::raw_offset`].
pub(super) fn raw(string: Value<'_>, decoded: usize) -> usize {
    let span = string.span();
    if string.kind() != Kind::String {
        return span.start;
    }
    let (first, quote) = (span.start + 1, span.end.saturating_sub(1));
    if string.node().text_start == VERBATIM {
        return first.saturating_add(decoded).min(quote);
    }
    let inside = string.raw().get(1..).unwrap_or_default();
    first + walk(inside, decoded).min(quote - first)
}

/// How many bytes of `raw` are written before the character that holds the decoded byte at `decoded`, or
/// before that byte itself where it is written as it is.
fn walk(raw: &str, decoded: usize) -> usize {
    let (mut written, mut left) = (0, decoded);
    let mut rest = raw;
    loop {
        let plain = memchr::memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
        if left < plain {
            return written + left;
        }
        (written, left) = (written + plain, left - plain);
        let Some(escape) = rest.get(plain..).filter(|escape| !escape.is_empty()) else { return written };
        let (long, short) = lengths(escape);
        if left < short {
            return written;
        }
        (written, left) = (written + long, left - short);
        rest = escape.get(long..).unwrap_or_default();
    }
}

/// How long an escape is as written, and decoded. It was read before, so it is whole.
fn lengths(escape: &str) -> (usize, usize) {
    let unit = |from: usize| u32::from_str_radix(escape.get(from..from + 4)?, 16).ok();
    match escape.as_bytes().get(1) {
        Some(b'u') => match unit(2).unwrap_or_default() {
            0xD800..=0xDBFF => (12, 4),
            unit => (6, char::from_u32(unit).map_or(1, char::len_utf8)),
        },
        _ => (2, 1),
    }
}
