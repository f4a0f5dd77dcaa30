//! How a text is parted into words.
//!
//! Letters and digits are words, everything else parts them. Case, compatibility forms (full width), marks on
//! letters, look-alikes and characters that show nothing make no difference, so that neither a message that is
//! written oddly nor a call that writes it otherwise parts a value from where it came. In scripts without
//! spaces each character is a word.

use std::ops::Range;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization as _;

use crate::text::{Known, Normalized, Reading};

/// The words of a short text.
pub(super) fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_word(text, |word, _| words.push(word.to_owned()));
    words
}

/// The words of a text as one, nothing between them: the same however a value is grouped or split.
pub(crate) fn squeezed(text: &str) -> String {
    let mut all = String::new();
    each_word(text, |word, _| all.push_str(word));
    all
}

/// Gives each word as it is compared, and its bytes in the text.
pub(super) fn each_word(text: &str, mut found: impl FnMut(&str, Range<usize>)) {
    if text.is_ascii() {
        return each_run(text, found);
    }
    let normalized = Normalized::of(text, Reading::LATIN);
    let mut places = normalized.places();
    each_run(normalized.text(), |word, span| {
        let start = places.place(span.start).start;
        found(word, start..places.place(span.end - 1).end.max(start));
    });
}

fn each_run(text: &str, mut found: impl FnMut(&str, Range<usize>)) {
    let (mut word, mut start, mut end) = (String::new(), 0, 0);
    let mut known: Option<Known<Letter>> = None;
    let (bytes, mut at, between) = (text.as_bytes(), 0, Letter::default());
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii_alphanumeric() {
            if word.is_empty() {
                start = at;
            }
            let letters = bytes.get(at..).unwrap_or_default().iter();
            end = at + letters.take_while(|byte| byte.is_ascii_alphanumeric()).count();
            let from = word.len();
            word.push_str(text.get(at..end).unwrap_or_default());
            word.get_mut(from..).unwrap_or_default().make_ascii_lowercase();
            at = end;
            continue;
        }
        let is_ascii = byte.is_ascii();
        let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
        let after = at + character.len_utf8();
        let letter = if is_ascii {
            &between
        } else {
            known.get_or_insert_default().of(character, || Letter::of(character))
        };
        if !word.is_empty() && matches!(letter.part, Part::Alone | Part::Between) {
            found(&word, start..end);
            word.clear();
        }
        match letter.part {
            Part::Alone => found(&letter.text, at..after),
            Part::Mark | Part::Between => {}
            Part::Within => {
                if word.is_empty() {
                    start = at;
                }
                end = after;
                word.push_str(&letter.text);
            }
        }
        // A line break as two characters, as programs print it, is no letter of the next word.
        let is_escape = character == '\\' && matches!(bytes.get(after), Some(b'n' | b'r' | b't'));
        at = after + usize::from(is_escape);
    }
    if !word.is_empty() {
        found(&word, start..end);
    }
}

/// A character that is not ASCII.
#[derive(Debug)]
struct Letter {
    part: Part,
    /// As it is compared.
    text: String,
}

impl Default for Letter {
    fn default() -> Letter {
        Letter { part: Part::Between, text: String::new() }
    }
}

impl Letter {
    fn of(character: char) -> Letter {
        let part = part(character);
        let text = match part {
            Part::Alone => character.into(),
            Part::Within => bare(character),
            Part::Mark | Part::Between => String::new(),
        };
        Letter { part, text }
    }
}

/// What a character is to the words around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A word by itself.
    Alone,
    /// Parts words.
    Between,
    /// Belongs to the letter before it, and makes no difference.
    Mark,
    /// A letter or digit.
    Within,
}

fn part(character: char) -> Part {
    match character {
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}'
            if character.is_alphabetic() =>
        {
            Part::Alone
        }
        '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}' => Part::Alone,
        _ => match get_general_category(character) {
            GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark | GeneralCategory::Format => {
                Part::Mark
            }
            _ if character.is_alphanumeric() => Part::Within,
            _ => Part::Between,
        },
    }
}

/// A letter without marks, in lower case: é and e with an accent after it are one.
fn bare(character: char) -> String {
    let is_mark = |part: &char| get_general_category(*part) == GeneralCategory::NonspacingMark;
    let parts = std::iter::once(character).nfd().filter(|part| !is_mark(part));
    parts.flat_map(char::to_lowercase).collect()
}
