//! Words in names and texts, compared however they are cut: `api_key`, `apiKey`, `APIKEY`.

use crate::text::{Normalized, Reading, fold};

/// Characters of a foreign text that are looked at.
pub(super) const TEXT_CHARS_MAX: usize = 4096;

/// From this length on a marker is also found at the end of a longer word: `dbpassword`.
const SUFFIX_CHARS_MIN: usize = 6;

/// The words as they are written, and with Cyrillic and Greek look-alikes as Latin letters.
pub(super) fn readings(text: &str) -> Vec<Vec<String>> {
    let text: String = text.chars().take(TEXT_CHARS_MAX).collect();
    if text.is_ascii() {
        return vec![words(&text)];
    }
    let latin = words(Normalized::of(&text, Reading::LATIN).text());
    vec![words(&text), latin]
}

/// Folded words: split where letters or digits end, where digits begin or end, and in camelCase.
pub(super) fn words(text: &str) -> Vec<String> {
    // Compatibility forms, marks and invisible characters first, so that they split nothing; case is still needed.
    let plain = Normalized::of(text, Reading { compose: true, ..Reading::PLAIN });
    let chars: Vec<char> = plain.text().chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| chars.get(at));
        if before.is_some_and(|before| is_border(*before, *c, chars.get(at + 1))) || !c.is_alphanumeric() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.push(*c);
        }
    }
    words.push(word);
    words.iter().filter(|word| !word.is_empty()).map(|word| fold(word)).collect()
}

/// `aB`, `ABc` (before the B), `a1`, `1a`.
fn is_border(before: char, c: char, after: Option<&char>) -> bool {
    let camel = before.is_lowercase() && c.is_uppercase();
    let acronym =
        before.is_uppercase() && c.is_uppercase() && after.is_some_and(|after| after.is_lowercase());
    camel || acronym || before.is_numeric() != c.is_numeric()
}

pub(super) fn hit(words: &[String], markers: &[Vec<String>]) -> bool {
    markers
        .iter()
        .any(|marker| (0..words.len()).any(|at| run(words.get(at..).unwrap_or_default(), marker).is_some()))
}

/// How many of the first words are the marker, however either is cut: `api key` is `apikey`, and `API`, `Key`.
pub(super) fn run(words: &[String], marker: &[String]) -> Option<usize> {
    let wanted = marker.concat();
    let first = words.first()?;
    if marker.len() == 1 && (is_within(first, &wanted) || is_suffix(first, &wanted)) {
        return Some(1);
    }
    let mut rest = wanted.as_str();
    for (count, word) in words.iter().enumerate() {
        rest = rest.strip_prefix(word.as_str())?;
        if rest.is_empty() {
            return Some(count + 1);
        }
    }
    None
}

fn is_suffix(word: &str, marker: &str) -> bool {
    marker.chars().count() >= SUFFIX_CHARS_MIN && word.ends_with(marker)
}

/// Scripts without case write words without borders.
fn is_within(word: &str, marker: &str) -> bool {
    let has_case = |c: char| c.is_ascii() || c.is_lowercase() || c.is_uppercase();
    !marker.is_empty() && !marker.chars().any(has_case) && word.contains(marker)
}

/// The words that are left when each of the runs is taken out.
pub(super) fn without(words: &[String], runs: &[Vec<String>]) -> Vec<String> {
    let mut left = Vec::new();
    let mut at = 0;
    while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
        match runs.iter().filter_map(|one| run(rest, one)).max() {
            Some(count) => at += count,
            None => {
                left.extend(rest.first().cloned());
                at += 1;
            }
        }
    }
    left
}
