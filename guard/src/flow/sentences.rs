//! Where the sentences of a text begin and end, found for all of its words at once.
//!
//! A text may be all verbs: walking to the end of the sentence from each of them would read every word eighty times.

use super::request::{REQUEST_BYTES_MAX, gap_after};
use super::words::Index;

/// Where the sentence of each word begins and ends: positions of words.
pub(super) struct Sentences {
    first: Vec<u32>,
    last: Vec<u32>,
}

impl Sentences {
    pub(super) fn of(text: &str, index: &Index) -> Sentences {
        let words = index.words().len();
        let (mut first, mut last) = (Vec::with_capacity(words), Vec::with_capacity(words));
        let mut begin = 0;
        for (at, position) in (0_u32..).take(words).enumerate() {
            first.push(begin);
            if at + 1 == words || ends(&gap_after(text, index, at), false) {
                last.resize(words.min(at + 1), position);
                begin = position + 1;
            }
        }
        Sentences { first, last }
    }

    /// Where the sentence begins that the word at this position stands in, [`REQUEST_BYTES_MAX`] before the word at the
    /// earliest.
    pub(super) fn start(&self, index: &Index, at: usize) -> usize {
        let Some(word) = index.word(at) else { return 0 };
        let first = self.first.get(at).map_or(at, |first| *first as usize);
        let earliest = word.start.saturating_sub(REQUEST_BYTES_MAX);
        let within = index.words().get(first..at).unwrap_or_default();
        let skipped = within.partition_point(|word| word.start < earliest);
        index.word(first + skipped).unwrap_or(word).start
    }

    /// Where it ends, so many bytes behind where the word begins at the latest.
    pub(super) fn end(&self, index: &Index, at: usize) -> usize {
        let Some(word) = index.word(at) else { return 0 };
        let last = self.last.get(at).map_or(at, |last| *last as usize);
        let latest = word.start.saturating_add(REQUEST_BYTES_MAX);
        let within = index.words().get(at..=last).unwrap_or_default();
        let fitting = within.partition_point(|word| word.end <= latest);
        within.get(fitting.saturating_sub(1)).copied().unwrap_or(word).end
    }
}

/// Whether a sentence ends in what stands between two words.
pub(super) fn ends(gap: &str, is_last: bool) -> bool {
    if gap == " " {
        return false;
    }
    let mut after = gap.chars().skip(1).map(Some).chain([is_last.then_some(' ')]);
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\' | '<' | ')' | '”' | '’');
    let stops = gap.chars().any(|c| {
        let after = after.next().flatten();
        matches!(c, '。' | '！' | '？') || matches!(c, '.' | '!' | '?') && after.is_some_and(is_end)
    });
    stops || gap.matches('\n').count() > 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::request::{REQUEST_BYTES_MAX, gap_after};
    use super::{Sentences, ends};
    use crate::detect::{Looking, scan};
    use crate::flow::words::Index;

    /// From one word to the next, as it was once done from every verb.
    fn walked(text: &str, index: &Index, at: usize) -> (usize, usize) {
        let word = index.word(at).unwrap();
        let (mut start, mut end) = (word.start, word.end);
        for before in (0..at).rev() {
            let is_near = index.word(before).unwrap().start >= word.start.saturating_sub(REQUEST_BYTES_MAX);
            if !is_near || ends(&gap_after(text, index, before), false) {
                break;
            }
            start = index.word(before).unwrap().start;
        }
        for after in at..index.words().len() {
            if index.word(after).unwrap().end > word.start + REQUEST_BYTES_MAX {
                break;
            }
            end = index.word(after).unwrap().end;
            if ends(&gap_after(text, index, after), false) {
                break;
            }
        }
        (start, end)
    }

    proptest! {
        #[test]
        fn sentences_are_where_walking_finds_them(
            pieces in proptest::collection::vec(
                prop_oneof![
                    6 => "[a-zé]{1,12}",
                    4 => "[ ,.\n]{1,3}",
                    1 => "\\PC{0,4}|[.!?。]{1,2}[ \"')]|\\\\n|\n\n",
                    1 => "x{380,420}",
                    1 => "-{60,70}",
                ],
                0..60,
            ),
        ) {
            let text = pieces.concat();
            let index = Index::new(&text, &scan(&text, Looking::Output));
            let sentences = Sentences::of(&text, &index);
            for at in 0..index.words().len() {
                let found = (sentences.start(&index, at), sentences.end(&index, at));
                prop_assert_eq!(found, walked(&text, &index, at), "{:?} {}", text, at);
            }
        }
    }
}
