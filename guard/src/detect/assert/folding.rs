//! Whatever a text is read as, each character of the reading stands for the place of the original that it came from.

use std::ops::Range;

use unicode_general_category::{GeneralCategory, get_general_category};

use super::super::fold::{Known, Letters, fold};
use super::super::mapped::Mapped;
use super::super::{Reading, cipher, hidden, spaced, unwrap};
use crate::text::{self, Normalized};

/// A tag, the longest mark that stands for something else.
const MARK_BYTES_MAX: usize = 400;
/// Bytes of what is composed into one character.
const CLUSTER_BYTES_MAX: usize = 256 + 8;

/// Reads the bytes as a text, in all ways that keep where a character came from, and asserts what must hold of it.
///
/// # Panics
/// When something does not hold.
#[doc(hidden)]
pub fn fuzz_folding(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for letters in [Letters::Latin, Letters::LatinI, Letters::Own] {
        let folded = fold(&text, letters, &mut Known::default()).mapped;
        assert_eq!(characters(&folded), one_by_one(&text, letters), "{letters:?}: {text:?}");
    }
    for reading in [text::Reading::FOLDED, text::Reading::PLAIN, text::Reading::LATIN] {
        assert_normalized(&text, reading);
    }
    assert_unwrapped(&text);
    assert_taken_from(&text);
}

/// Each character of a reading, and the place that it stands for.
pub(super) fn characters(mapped: &Mapped) -> Vec<(char, Range<usize>)> {
    let place = |(at, c): (usize, char)| (c, mapped.original(at..at + c.len_utf8()));
    mapped.text().char_indices().map(place).collect()
}

/// The same by a naive reader: each character of the text folded by itself, marks left out behind what is Latin.
fn one_by_one(text: &str, letters: Letters) -> Vec<(char, Range<usize>)> {
    let mut all: Vec<(char, Range<usize>)> = Vec::new();
    for (at, character) in text.char_indices() {
        let category = get_general_category(character);
        let is_mark = matches!(category, GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark);
        if is_mark && all.last().is_some_and(|(last, _)| last.is_ascii_graphic() || *last == ' ') {
            continue;
        }
        let alone = fold(character.encode_utf8(&mut [0; 4]), letters, &mut Known::default()).mapped;
        all.extend(alone.text().chars().map(|c| (c, at..at + character.len_utf8())));
    }
    all
}

/// What is compared by everybody else: a character comes from the letters that normalise to it, and nothing before or
/// behind them.
fn assert_normalized(text: &str, reading: text::Reading) {
    let normalized = Normalized::of(text, reading);
    let mut last = 0..0;
    for (at, character) in normalized.text().char_indices() {
        let place = normalized.original(at..at + character.len_utf8());
        assert!(place == last || place.start >= last.end, "{place:?} after {last:?}: {text:?}");
        assert!(text.get(place.clone()).is_some(), "{place:?} is no piece of {text:?}");
        let piece = text.get(place.clone()).unwrap_or_default();
        let again = Normalized::of(piece, reading);
        assert!(again.text().contains(character), "{character:?} is not from {piece:?} of {text:?}");
        let shown = piece.chars().filter(|c| get_general_category(*c) != GeneralCategory::Format);
        let shown: usize = shown.map(char::len_utf8).sum();
        assert!(shown <= CLUSTER_BYTES_MAX, "{character:?} stands for {shown} bytes");
        last = place;
    }
}

/// A character of what was unwrapped is itself, or stands for a mark: an escape, a tag, an entity, emphasis.
fn assert_unwrapped(text: &str) {
    let Some(bare) = unwrap::unwrap(text, std::slice::from_ref(&(0..text.len()))) else { return };
    let mut last = 0;
    for (character, place) in characters(&bare) {
        assert!(place.start >= last, "{place:?} begins before {last}: {text:?}");
        last = place.start;
        let piece = text.get(place.clone()).unwrap_or_default();
        let is_itself = piece.chars().eq([character]);
        let is_run = piece.starts_with(['%', '=']);
        let is_mark = piece.starts_with(['&', '\\', '<']) && piece.len() <= MARK_BYTES_MAX + 1;
        let is_between = place.is_empty() && character == '\n';
        assert!(
            is_itself || is_run || is_mark || is_between,
            "{character:?} stands for {piece:?} at {place:?} of {text:?}"
        );
    }
}

/// Letters that stood apart, ran the other way, were ciphered or could not be seen.
fn assert_taken_from(text: &str) {
    let whole = 0..text.len();
    let joined = spaced::join(text, std::slice::from_ref(&whole));
    for (character, place) in joined.iter().flat_map(characters) {
        let piece = text.get(place.clone()).unwrap_or_default();
        let is_gap = character.is_whitespace() && piece.chars().count() <= 1;
        assert!(is_gap || piece.chars().eq([character]), "{character:?} is not {piece:?} of {text:?}");
    }
    for found in hidden::find(text) {
        for (character, place) in characters(&found.text) {
            let piece = text.get(place.clone()).unwrap_or_default();
            let is_itself = piece.chars().eq([character]) || place.is_empty() && character == '\n';
            let is_hidden = found.is_invisible && piece.chars().count() == character.len_utf8();
            assert!(is_itself || is_hidden, "{character:?} is not {piece:?} of {text:?}");
            assert!(place.start >= found.at.start && place.end <= found.at.end, "{place:?} of {text:?}");
        }
    }
    for reading in [Reading::Rot13, Reading::Leet] {
        let plain = cipher::decipher(text, whole.clone(), reading);
        let places = characters(&plain).into_iter().map(|(_, place)| place);
        assert!(places.eq(text.char_indices().map(|(at, c)| at..at + c.len_utf8())), "{reading:?}: {text:?}");
    }
}
