//! Words whose letters stand apart: `I g n o r e   a l l`.

use std::ops::Range;

use super::count::looked;
use super::mapped::Mapped;

/// Letters in a row that stand apart.
const LETTERS_MIN: usize = 6;

/// The runs of letters that stand apart within the pieces, put together; `None` when there is none.
pub(super) fn join(text: &str, pieces: &[Range<usize>]) -> Option<Mapped> {
    let mut out = Mapped::default();
    for piece in pieces {
        let bytes = text.as_bytes().get(..piece.end).unwrap_or_default();
        let mut at = piece.start;
        looked(piece.len());
        while let Some(found) = next(bytes, at) {
            at = found;
            let (start, end) = run(bytes, at, piece.start);
            looked(end - start);
            if letters(bytes.get(start..end).unwrap_or_default()) >= LETTERS_MIN {
                out.put("\n\n", start..start);
                put(text, start, end, &mut out);
            }
            at = end.max(at + 1);
        }
    }
    (!out.text().is_empty()).then_some(out)
}

fn is_letter(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric())
}

fn is_gap(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| gap(*byte))
}

const fn gap(byte: u8) -> bool {
    matches!(byte, b' ' | b'.' | b'-' | b'_' | b'*' | b'|' | b'+' | b'/')
}

/// The next place from which letters and separators alternate, four of them.
fn next(bytes: &[u8], from: usize) -> Option<usize> {
    let (mut row, mut last) = (0, NEITHER);
    for (at, byte) in bytes.iter().enumerate().skip(from) {
        let kind = KINDS.get(usize::from(*byte)).copied().unwrap_or(NEITHER);
        row = if kind ^ last == LETTER | GAP { row + 1 } else { 1 };
        if row == 4 {
            return Some(at - 3);
        }
        last = kind;
    }
    None
}

/// What each byte is. The bits of a letter and a gap differ in all of these; none does from what is neither.
const KINDS: [u8; 256] = {
    let (mut kinds, mut at) = ([NEITHER; 256], 0);
    while at < 256 {
        #[expect(clippy::indexing_slicing, reason = "checked by the compiler")]
        match at as u8 {
            byte if byte.is_ascii_alphanumeric() => kinds[at] = LETTER,
            byte if gap(byte) => kinds[at] = GAP,
            _ => {}
        }
        at += 1;
    }
    kinds
};
const NEITHER: u8 = 4;
const LETTER: u8 = 1;
const GAP: u8 = 2;

/// How far the letters stand apart, both ways: between two of them there are one to four separators, or
/// punctuation.
fn run(bytes: &[u8], at: usize, floor: usize) -> (usize, usize) {
    let alone = |at: usize| {
        !is_letter(at.checked_sub(1).and_then(|at| bytes.get(at))) && !is_letter(bytes.get(at + 1))
    };
    let fits = |at: usize| match bytes.get(at) {
        Some(byte) if byte.is_ascii_alphanumeric() => alone(at),
        Some(b'\n') | None => false,
        Some(_) => true,
    };
    let mut start = at;
    while start > floor && fits(start - 1) {
        start -= 1;
    }
    let mut end = at;
    while fits(end) {
        end += 1;
    }
    (start, end)
}

fn letters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| byte.is_ascii_alphanumeric()).count()
}

/// Single separators go, longer ones are a space. So is one beside a character that is not ASCII: that is no letter of
/// the word, and joined to it would hide it.
fn put(text: &str, start: usize, end: usize, out: &mut Mapped) {
    let piece = text.get(start..end).unwrap_or_default();
    let (mut gap, mut last) = (0, ' ');
    for (at, character) in piece.char_indices() {
        let from = start + at..start + at + character.len_utf8();
        if character.is_ascii() && is_gap(Some(&(character as u8))) {
            gap += 1;
            if gap == 2 {
                out.put(" ", from);
            }
            continue;
        }
        if gap == 1 && !(last.is_ascii() && character.is_ascii()) {
            out.put(" ", from.start - 1..from.start);
        }
        (gap, last) = (0, character);
        out.put_char(character, from);
    }
}
