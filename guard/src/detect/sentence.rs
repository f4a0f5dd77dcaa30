//! Where sentences begin and end.
//!
//! A line break alone ends none: mails are wrapped, and an attacker may put one word on a line. An empty line
//! does, and a full stop, exclamation or question mark before white space.

use std::ops::Range;

use super::SENTENCE_BYTES_MAX;

/// The sentence around the byte at `at`, none of it before `floor`. Cost: its length, and how far `at` is from
/// `floor`.
pub(super) fn around(text: &[u8], at: usize, floor: usize) -> Range<usize> {
    let start = start(text, at, floor);
    start..end(text, at)
}

fn start(text: &[u8], at: usize, floor: usize) -> usize {
    let lowest = floor.max(at.saturating_sub(SENTENCE_BYTES_MAX));
    let mut start = at;
    while start > lowest {
        if ends_before(text, start) {
            return start;
        }
        start -= 1;
    }
    on_boundary(text, start)
}

fn end(text: &[u8], at: usize) -> usize {
    let limit = text.len().min(at.saturating_add(SENTENCE_BYTES_MAX));
    let mut end = at + 1;
    while end < limit {
        if ends_before(text, end) {
            return end;
        }
        end += 1;
    }
    on_boundary(text, end.min(text.len()))
}

/// Whether a sentence ends right before the byte at `at`.
#[inline]
pub(super) fn ends_before(text: &[u8], at: usize) -> bool {
    let byte = |back: usize| at.checked_sub(back).and_then(|at| text.get(at)).copied();
    match byte(1) {
        // A character that only white space follows.
        Some(b' ' | b'\t' | b'\r') => {
            matches!(byte(2), Some(b'.' | b'!' | b'?')) && !is_abbreviation(text, at - 2)
        }
        Some(b'\n') => matches!(byte(2), Some(b'.' | b'!' | b'?')) || is_blank_before(text, at - 1),
        // The full stops of Chinese and Japanese: U+3002, U+FF01, U+FF1F.
        Some(0x82) => (byte(3), byte(2)) == (Some(0xe3), Some(0x80)),
        Some(0x81 | 0x9f) => (byte(3), byte(2)) == (Some(0xef), Some(0xbc)),
        _ => false,
    }
}

/// Whether the full stop at `at` belongs to a short form such as `e.g.` or `No.`, or to a list's number.
fn is_abbreviation(text: &[u8], at: usize) -> bool {
    let before = text.get(at.saturating_sub(4)..at).unwrap_or_default();
    text.get(at) == Some(&b'.')
        && [&b"e.g"[..], b"i.e", b" no", b" vs", b" cf"].iter().any(|form| before.ends_with(form))
}

/// Whether the line that ends at `at` (a line feed) is empty but for white space.
fn is_blank_before(text: &[u8], at: usize) -> bool {
    let line = text.get(at.saturating_sub(8)..at).unwrap_or_default();
    let spaces = line.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    spaces < line.len() && line.get(line.len() - spaces - 1) == Some(&b'\n')
}

fn on_boundary(text: &[u8], mut at: usize) -> usize {
    while at > 0 && text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80) {
        at -= 1;
    }
    at
}
