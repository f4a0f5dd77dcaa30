//! Text as a reader sees it: compatibility forms, case and invisible characters made one.
//!
//! [`Normalized`] keeps where every character came from, so that what is found in the normalised text is
//! quoted from the original.

mod confusables;
mod known;
mod runs;

pub(crate) use confusables::latin;
pub(crate) use known::Known;
pub(crate) use runs::{Places, Runs};

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::{canonical_combining_class, compose, decompose_compatible};

use std::ops::Range;

/// How a text is normalised. Format characters (Unicode Cf: zero-width and direction characters, tags, the
/// soft hyphen) always go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Whether marks join the letter before them (NFKC of the whole text); else each character is normalised
    /// by itself.
    pub compose: bool,
    /// Whether case is folded.
    pub fold_case: bool,
    /// Whether Cyrillic, Greek and phonetic look-alikes become Latin letters.
    pub confusables: bool,
}

impl Reading {
    /// NFKC, case folded: for comparing.
    pub const FOLDED: Reading = Reading { compose: true, fold_case: true, confusables: false };
    /// Each character by itself, case kept: for patterns with offsets.
    pub const PLAIN: Reading = Reading { compose: false, fold_case: false, confusables: false };
    /// The same with look-alikes as Latin letters.
    pub const LATIN: Reading = Reading { compose: false, fold_case: false, confusables: true };
}

/// A normalised text and where it came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Normalized {
    text: String,
    /// Their places in the original grow as well.
    runs: Runs,
}

impl Normalized {
    /// Normalises a text.
    #[must_use]
    pub fn of(original: &str, reading: Reading) -> Normalized {
        let mut out = Normalized { text: String::with_capacity(original.len()), runs: Runs::default() };
        if !reading.compose && !reading.fold_case {
            out.each_by_itself(original, reading);
            return out;
        }
        let mut cluster = Cluster::default();
        for (at, character) in original.char_indices() {
            if character.is_ascii() && (cluster.text.is_empty() || cluster.ends_in_ascii()) {
                cluster.finish(&mut out, reading);
                cluster.start(character, at);
                continue;
            }
            if get_general_category(character) == GeneralCategory::Format {
                continue;
            }
            if !(reading.compose && cluster.takes(character)) {
                cluster.finish(&mut out, reading);
            }
            cluster.start(character, at);
        }
        cluster.finish(&mut out, reading);
        out
    }

    /// Each character is read by itself, and looked up once: a text has few that are not ASCII, however many of each.
    fn each_by_itself(&mut self, original: &str, reading: Reading) {
        let mut known: Known<String> = Known::default();
        let mut at = 0;
        while let Some(rest) = original.get(at..).filter(|rest| !rest.is_empty()) {
            let ascii = rest.bytes().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
            if let Some(piece) = rest.get(..ascii).filter(|piece| !piece.is_empty()) {
                self.runs.push(self.text.len(), at..at + ascii, true);
                self.text.push_str(piece);
            }
            at += ascii;
            let Some(character) = rest.get(ascii..).and_then(|rest| rest.chars().next()) else { break };
            let span = at..at + character.len_utf8();
            at = span.end;
            let read = known.of(character, || {
                let parts = std::iter::once(character).nfkc();
                match get_general_category(character) {
                    GeneralCategory::Format => String::new(),
                    _ if reading.confusables => parts.map(confusables::latin).collect(),
                    _ => parts.collect(),
                }
            });
            if !read.is_empty() {
                self.runs.push(self.text.len(), span, false);
                self.text.push_str(read);
            }
        }
    }

    /// Where bytes of it came from that are asked for in their order.
    pub(crate) fn places(&self) -> Places<'_> {
        self.runs.places()
    }

    /// The normalised text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the original from which these bytes of the normalised text came.
    #[must_use]
    pub fn original(&self, found: Range<usize>) -> Range<usize> {
        let start = self.runs.place(found.start).start;
        if found.is_empty() {
            return start..start;
        }
        start..self.runs.place(found.end.saturating_sub(1)).end.max(start)
    }
}

/// As [`Reading::FOLDED`] reads it.
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    Normalized::of(text, Reading::FOLDED).text
}

/// Characters that normalise together.
#[derive(Default)]
struct Cluster {
    text: String,
    span: Range<usize>,
}

impl Cluster {
    fn ends_in_ascii(&self) -> bool {
        self.text.bytes().last().is_some_and(|byte| byte.is_ascii())
    }

    fn start(&mut self, character: char, at: usize) {
        if self.text.is_empty() {
            self.span.start = at;
        }
        self.span.end = at + character.len_utf8();
        self.text.push(character);
    }

    /// Whether the character may join or reorder with what is here: it is a mark, or it composes.
    fn takes(&self, character: char) -> bool {
        /// Longer stacks of marks are cut, so that one cluster never holds a megabyte of them.
        const CLUSTER_BYTES_MAX: usize = 256;
        if self.text.is_empty() || self.text.len() > CLUSTER_BYTES_MAX {
            return false;
        }
        let mut first = None;
        decompose_compatible(character, |part| first = first.or(Some(part)));
        let Some(first) = first else { return false };
        if canonical_combining_class(first) != 0 {
            return true;
        }
        self.text.nfkc().last().is_some_and(|last| compose(last, first).is_some())
    }

    fn finish(&mut self, out: &mut Normalized, reading: Reading) {
        if self.text.is_empty() {
            return;
        }
        let start = out.text.len();
        if self.text.is_ascii() {
            let folded =
                self.text.chars().map(|c| if reading.fold_case { c.to_ascii_lowercase() } else { c });
            out.text.extend(folded);
        } else if reading.fold_case {
            let folded: String = self.text.nfkc().flat_map(folded).collect();
            // Folding may leave what composes again.
            out.text.extend(folded.nfkc().filter(|c| get_general_category(*c) != GeneralCategory::Format));
        } else if reading.confusables {
            out.text.extend(self.text.nfkc().map(confusables::latin));
        } else {
            out.text.extend(self.text.nfkc());
        }
        if out.text.len() > start {
            out.runs.push(start, self.span.clone(), self.text.is_ascii());
        }
        self.text.clear();
    }
}

/// Lower, upper, lower: brings the pairs together that one step leaves apart (ß and ẞ, ς and σ, ſ and s).
fn folded(character: char) -> impl Iterator<Item = char> {
    character.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

/// Whether the pattern (`*` is any text, `?` one character) is the whole text; `None` after that many steps.
/// In practice it takes a step a character; the worst case is length × length of the pattern.
#[must_use]
pub fn glob(text: &str, pattern: &str, steps: &mut usize) -> Option<bool> {
    let (mut rest, mut wanted) = (text.chars(), pattern.chars());
    // Where the last star stood, and the text it has to be tried on next.
    let mut star: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        *steps = steps.checked_sub(1)?;
        let before = rest.clone();
        match (wanted.next(), rest.next()) {
            (None, None) => return Some(true),
            (Some('*'), _) => {
                rest = before.clone();
                star = Some((wanted.clone(), before));
                continue;
            }
            (Some('?'), Some(_)) => continue,
            (Some(want), Some(seen)) if seen == want => continue,
            _ => {}
        }
        // No match here: the last star takes one character more.
        let Some((after, from)) = &mut star else { return Some(false) };
        if from.next().is_none() {
            return Some(false);
        }
        (rest, wanted) = (from.clone(), after.clone());
    }
}

/// The border of a character at or before a byte.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
