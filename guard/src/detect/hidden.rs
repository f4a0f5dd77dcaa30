//! Characters that carry text and show nothing: Unicode tags, runs of variation selectors, and text turned round
//! by direction characters.

use std::ops::Range;

use memchr::memchr_iter;

use super::count::looked;
use super::mapped::Mapped;

/// Fewer hidden characters than that are no text: a selector or two belong to an emoji.
pub(super) const HIDDEN_CHARS_MIN: usize = 8;

/// A piece of hidden text.
pub(super) struct Hidden {
    pub(super) text: Mapped,
    /// Where it stands in the original.
    pub(super) at: Range<usize>,
    pub(super) rule: &'static str,
    /// Nobody can see it; else it only runs the other way.
    pub(super) is_invisible: bool,
}

/// All hidden text.
pub(super) fn find(text: &str) -> Vec<Hidden> {
    let bytes = text.as_bytes();
    looked(bytes.len());
    // Tags begin with F3 A0, selectors with that or EF B8: no such byte, no search.
    let holds = |first, second| memchr_iter(first, bytes).any(|at| bytes.get(at + 1) == Some(&second));
    let has_tags = holds(0xf3, 0xa0);
    let mut found = Vec::new();
    if has_tags {
        found.extend(runs(text, "hidden.tags", tag));
    }
    if has_tags || holds(0xef, 0xb8) {
        found.extend(runs(text, "hidden.selectors", selector));
    }
    found.extend(reversed(text));
    found
}

/// The character a tag stands for.
fn tag(character: char) -> Option<u8> {
    match u32::from(character) {
        code @ 0xe0020..=0xe007e => u8::try_from(code - 0xe0000).ok(),
        _ => None,
    }
}

/// The byte a variation selector stands for.
fn selector(character: char) -> Option<u8> {
    match u32::from(character) {
        code @ 0xfe00..=0xfe0f => u8::try_from(code - 0xfe00).ok(),
        code @ 0xe0100..=0xe01ef => u8::try_from(code - 0xe0100 + 16).ok(),
        _ => None,
    }
}

/// Runs of characters that stand for bytes.
fn runs(text: &str, rule: &'static str, byte: fn(char) -> Option<u8>) -> Vec<Hidden> {
    let mut found = Vec::new();
    let mut run: Vec<(u8, usize)> = Vec::new();
    let mut before = ' ';
    for (at, character) in text.char_indices().chain([(text.len(), ' ')]) {
        if let Some(byte) = byte(character) {
            // The flag of a country's part is written with tags.
            if run.is_empty() && before == '\u{1f3f4}' {
                continue;
            }
            run.push((byte, at));
            continue;
        }
        before = character;
        if run.len() >= HIDDEN_CHARS_MIN {
            found.extend(decoded(&run, at, rule));
        }
        run.clear();
    }
    found
}

fn decoded(run: &[(u8, usize)], end: usize, rule: &'static str) -> Option<Hidden> {
    let bytes: Vec<u8> = run.iter().map(|(byte, _)| *byte).collect();
    let text = String::from_utf8(bytes).ok()?;
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        return None;
    }
    let mut mapped = Mapped::with_capacity(text.len());
    for (index, character) in text.char_indices() {
        let place = |index: usize| run.get(index).map_or(end, |(_, at)| *at);
        mapped.put_char(character, place(index)..place(index + character.len_utf8()));
    }
    let start = run.first().map_or(end, |(_, at)| *at);
    Some(Hidden { text: mapped, at: start..end, rule, is_invisible: true })
}

/// Text after a right-to-left override, as it shows.
fn reversed(text: &str) -> Vec<Hidden> {
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some(at) = text.get(rest..).and_then(|part| part.find('\u{202e}')) {
        let start = rest + at + '\u{202e}'.len_utf8();
        let tail = text.get(start..).unwrap_or_default();
        let end = start + tail.find(['\u{202c}', '\u{202e}']).unwrap_or(tail.len());
        looked(end - start);
        let inside = text.get(start..end).unwrap_or_default();
        let mut mapped = Mapped::with_capacity(inside.len());
        // Each line turns by itself.
        let mut line_start = start;
        for line in inside.split_inclusive('\n') {
            for (at, character) in line.char_indices().rev().filter(|(_, c)| *c != '\n') {
                let at = line_start + at;
                mapped.put_char(character, at..at + character.len_utf8());
            }
            line_start += line.len();
            mapped.put("\n", line_start..line_start);
        }
        found.push(Hidden { text: mapped, at: start..end, rule: "hidden.bidi", is_invisible: false });
        rest = end;
    }
    found
}
