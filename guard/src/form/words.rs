//! Words in names and texts, compared however they are cut: `api_key`, `apiKey`, `APIKEY`.

use crate::text::{Normalized, Reading, fold};

/// Characters of a foreign text that are looked at, runs of white space as one: more than a form shows of it.
pub(super) const TEXT_CHARS_MAX: usize = 4096;

/// From this length on a marker is also found at the end of a longer word: `dbpassword`.
const SUFFIX_CHARS_MIN: usize = 6;

/// The words as they are written, and with Cyrillic and Greek look-alikes as Latin letters.
pub(super) fn readings(text: &str) -> Vec<Vec<String>> {
    let text = narrow(text);
    if text.is_ascii() {
        return vec![words(&text)];
    }
    let latin = words(Normalized::of(&text, Reading::LATIN).text());
    vec![words(&text), latin]
}

/// A form shows a run of white space as one space: whoever looks must not stop inside it.
fn narrow(text: &str) -> String {
    let mut was_space = false;
    let kept = text.chars().filter(|c| {
        let repeats = was_space && c.is_whitespace();
        was_space = c.is_whitespace();
        !repeats
    });
    kept.take(TEXT_CHARS_MAX).collect()
}

/// Folded words: split where letters or digits end, where digits begin or end, and in camelCase.
fn words(text: &str) -> Vec<String> {
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

/// A word or phrase to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marker {
    /// Its words in one.
    joined: String,
    is_word: bool,
}

impl Marker {
    pub(super) fn of(text: &str) -> Marker {
        let words = words(text);
        Marker { joined: words.concat(), is_word: words.len() == 1 }
    }

    /// How many of the first words it is, however either is cut: `api key` is `apikey`, and `API`, `Key`.
    fn run(&self, words: &[String]) -> Option<usize> {
        let first = words.first()?;
        if self.is_word && (is_within(first, &self.joined) || is_suffix(first, &self.joined)) {
            return Some(1);
        }
        let mut rest = self.joined.as_str();
        for (count, word) in words.iter().enumerate() {
            rest = rest.strip_prefix(word.as_str())?;
            if rest.is_empty() {
                return Some(count + 1);
            }
        }
        None
    }
}

pub(super) fn hit(words: &[String], markers: &[Marker]) -> bool {
    (0..words.len()).any(|at| {
        let rest = words.get(at..).unwrap_or_default();
        markers.iter().any(|marker| marker.run(rest).is_some())
    })
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
pub(super) fn without(words: &[String], runs: &[Marker]) -> Vec<String> {
    let mut left = Vec::new();
    let mut at = 0;
    while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
        match runs.iter().filter_map(|one| one.run(rest)).max() {
            Some(count) => at += count,
            None => {
                left.extend(rest.first().cloned());
                at += 1;
            }
        }
    }
    left
}
