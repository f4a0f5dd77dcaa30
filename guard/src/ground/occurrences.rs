//! All places of a word in a text, those that overlap too, in linear time.
//!
//! Starting the search anew one character after each place would be quadratic for `aaaa` in `aaaaaaaa…`.

use memchr::memmem::Finder;
use std::ops::ControlFlow;

/// A word to look for.
#[derive(Debug, Clone)]
pub(super) struct Needle {
    finder: Finder<'static>,
    /// For each length of a head of the word, how long the longest proper head is that it ends with.
    borders: Box<[u32]>,
}

impl Needle {
    /// `None` for nothing, and for more than any text can hold.
    pub(super) fn new(word: &str) -> Option<Needle> {
        u32::try_from(word.len()).ok().filter(|length| *length > 0)?;
        Some(Needle { finder: Finder::new(word).into_owned(), borders: borders(word.as_bytes()) })
    }

    pub(super) fn len(&self) -> usize {
        self.finder.needle().len()
    }

    /// Calls `found` with the start of each place until it breaks.
    pub(super) fn each(
        &self,
        text: &str,
        mut found: impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (text, length) = (text.as_bytes(), self.len());
        let mut from = 0;
        while let Some(start) = text.get(from..).and_then(|rest| self.finder.find(rest)) {
            let mut end = from + start + length;
            found(end - length)?;
            // What may still overlap, byte for byte, while a head of the word lasts.
            let mut matched = self.border(length);
            while matched > 0 {
                let Some(byte) = text.get(end) else { return ControlFlow::Continue(()) };
                matched = self.step(matched, *byte);
                end += 1;
                if matched == length {
                    found(end - length)?;
                    matched = self.border(length);
                }
            }
            from = end;
        }
        ControlFlow::Continue(())
    }

    fn border(&self, length: usize) -> usize {
        length.checked_sub(1).and_then(|at| self.borders.get(at)).map_or(0, |border| *border as usize)
    }

    /// How much of the word is matched after one byte more.
    fn step(&self, mut matched: usize, byte: u8) -> usize {
        loop {
            if self.finder.needle().get(matched) == Some(&byte) {
                return matched + 1;
            }
            if matched == 0 {
                return 0;
            }
            matched = self.border(matched);
        }
    }
}

fn borders(word: &[u8]) -> Box<[u32]> {
    let mut borders: Vec<u32> = Vec::with_capacity(word.len());
    for byte in word {
        // The borders of the head before, from the longest on, until one goes on with this byte.
        let mut border = borders.last().copied();
        while let Some(length) = border {
            if word.get(length as usize) == Some(byte) {
                break;
            }
            border = (length as usize).checked_sub(1).and_then(|shorter| borders.get(shorter)).copied();
        }
        borders.push(border.map_or(0, |length| length + 1));
    }
    borders.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(word: &str, text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        let _ = Needle::new(word).unwrap().each(text, |at| {
            found.push(at);
            ControlFlow::Continue(())
        });
        found
    }

    proptest! {
        #[test]
        fn finds_what_looking_everywhere_finds(word in "[ab]{1,6}", text in "[ab]{0,40}") {
            let naive: Vec<usize> = (0..text.len()).filter(|at| text.get(*at..).unwrap().starts_with(&word)).collect();
            prop_assert_eq!(all(&word, &text), naive);
        }
    }

    #[test]
    fn overlaps_count() {
        assert_eq!(all("77 77", "77 77 77"), [0, 3]);
        assert_eq!(all("é", "éé"), [0, 2]);
        assert!(Needle::new("").is_none());
    }

    #[test]
    fn a_word_of_one_letter_repeated_takes_linear_time() {
        // 5 × 10¹⁰ comparisons if each place were looked at anew.
        let (word, text) = ("a".repeat(100_000), "a".repeat(600_000));
        assert_eq!(all(&word, &text).len(), 500_001);
    }
}
