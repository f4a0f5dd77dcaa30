//! The one pass over a text: its sentences, and what is in each of them.

mod open;

use std::ops::Range;

use super::blocks::{BLOCK_BYTES, Block};
use super::class::Class;
use super::tables::{TABLES, Words};
use super::vocabulary::{Vocabulary, Word};
use super::{SENTENCE_BYTES_MAX, sentence, unwrap};
use open::{LENGTHS, Open, Rows};

/// How much of a piece of a sentence is read again with the next one.
const OVERLAP_BYTES: usize = SENTENCE_BYTES_MAX / 4;

/// A sentence, and what is in it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    pub(super) at: Range<usize>,
    pub(super) words: Words,
    /// Marks at the edges of words, which leave the words as they are.
    pub(super) has_marks: bool,
    /// Marks and escapes within words.
    pub(super) has_escapes: bool,
    pub(super) is_long: bool,
    pub(super) is_foreign: bool,
    /// Words of one letter in a row.
    pub(super) has_singles: bool,
    /// Words of two or eight characters in a row.
    pub(super) has_groups: bool,
}

/// A block and what a word that begins at its end is known by.
const WINDOW_BYTES: usize = BLOCK_BYTES + 8;

/// The sentences of a text, in its order. What is longer than a sentence is cut, and each piece begins in the one
/// before it.
pub(super) struct Sentences<'a> {
    text: &'a [u8],
    vocabulary: &'a Vocabulary,
    block: Block,
    /// Where the block begins, and how many of its bytes were read.
    base: usize,
    read: usize,
    /// Of the byte before the block.
    before: Before,
    open: Open,
    /// Where the words of lists stand in the sentence.
    seen: Vec<usize>,
    is_done: bool,
}

#[derive(Debug, Default, Clone, Copy)]
struct Before {
    is_word: bool,
    is_white: bool,
    is_stop: bool,
}

/// How far a block was read.
enum Until {
    /// To its end.
    End,
    /// To where a sentence was cut.
    Cut(usize),
}

impl<'a> Sentences<'a> {
    pub(super) fn new(text: &'a str) -> Sentences<'a> {
        let text = text.as_bytes();
        Sentences {
            text,
            vocabulary: &TABLES.vocabulary,
            block: Block::at(text, 0),
            base: 0,
            read: 0,
            before: Before::default(),
            open: Open::default(),
            seen: Vec::new(),
            is_done: false,
        }
    }

    /// Where the words of lists stand in the sentence that was last given.
    pub(super) fn seen(&self) -> &[usize] {
        &self.seen
    }

    /// The places of this block that have not been read, as far as `end`.
    #[inline]
    fn unread(&self, end: usize) -> u64 {
        let below = |bit: usize| if bit < BLOCK_BYTES { (1_u64 << bit) - 1 } else { u64::MAX };
        below(end) & !below(self.read)
    }

    /// White space before which a sentence may end.
    #[inline]
    fn ends(&self) -> u64 {
        let stopped = self.block.stop << 1 | u64::from(self.before.is_stop);
        let spaced = self.block.white << 1 | u64::from(self.before.is_white);
        self.block.white & stopped | self.block.line & spaced
    }

    /// The place in this block behind which the sentence ends.
    #[inline]
    fn next_end(&self) -> Option<usize> {
        let mut ends = self.ends() & self.unread(BLOCK_BYTES);
        while ends != 0 {
            let place = ends.trailing_zeros() as usize + 1;
            if sentence::ends_before(self.text, self.base + place) {
                return Some(place);
            }
            ends &= ends - 1;
        }
        None
    }

    /// Reads the words of the block as far as `end`.
    #[inline]
    fn words(&mut self, end: usize) -> Until {
        let word = self.block.word;
        let starts = word & !(word << 1 | u64::from(self.before.is_word)) & self.unread(end);
        // The last one may go on in the next block.
        let within = starts & u64::MAX.unbounded_shr(word.leading_ones());
        let until = match self.whole_words(within) {
            Until::End if starts != within => self.last_word(starts ^ within),
            until => until,
        };
        self.others(match until {
            Until::Cut(at) => (at - self.base).min(BLOCK_BYTES),
            Until::End => end,
        });
        until
    }

    /// Words that end in the block, too.
    #[inline]
    fn whole_words(&mut self, mut starts: u64) -> Until {
        let rest = self.text.get(self.base..).unwrap_or_default();
        let mut padded = [0; WINDOW_BYTES];
        let window = rest.first_chunk::<WINDOW_BYTES>().unwrap_or_else(|| {
            padded.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            &padded
        });
        let (word, mut rows, mut lengths) = (self.block.word, self.open.rows, self.open.lengths);
        let room = (self.open.start + SENTENCE_BYTES_MAX).saturating_sub(self.base);
        let mut until = Until::End;
        while starts != 0 {
            let start = (starts.trailing_zeros() % 64) as usize;
            starts &= starts - 1;
            let length = ((word >> start).trailing_ones() % 64) as usize;
            let of_length = LENGTHS.get(length).copied().unwrap_or_default();
            rows.word(of_length.rows);
            lengths |= length;
            let eight = window.get(start..start + 8).and_then(|eight| eight.first_chunk());
            let head = eight.copied().map_or(0, u64::from_le_bytes);
            let found = Word::of(head, of_length.head, length);
            let lists = self.vocabulary.lists(found);
            if lists != 0 {
                self.open.words |= lists;
                self.seen.push(self.base + start);
            }
            if start + length > room {
                until = Until::Cut(self.base + start + length);
                break;
            }
        }
        (self.open.rows, self.open.lengths) = (rows, lengths);
        until
    }

    /// The word that may go on in the next block.
    #[inline]
    fn last_word(&mut self, start: u64) -> Until {
        let at = self.base + start.trailing_zeros() as usize;
        let found = Word::at(self.text, at);
        self.open.rows.word(Rows::kept(found.length));
        self.open.lengths |= found.length;
        let lists = self.vocabulary.lists(found);
        if lists != 0 {
            self.open.words |= lists;
            self.seen.push(at);
        }
        let end = at + found.length;
        if end <= self.open.start + SENTENCE_BYTES_MAX {
            return Until::End;
        }
        self.open.is_foreign |= !self.text.get(at..end).unwrap_or_default().is_ascii();
        Until::Cut(end)
    }

    /// Looks at what else is in the block as far as `end`.
    #[inline]
    fn others(&mut self, end: usize) {
        let unread = self.unread(end);
        self.open.is_foreign |= self.block.foreign & unread != 0;
        self.open.has_marks |= (self.block.emphasis | self.block.escape) & unread != 0;
        let stars = self.block.star & (self.block.word << 1 | u64::from(self.before.is_word));
        let mut places = (stars | self.block.escape) & unread;
        while places != 0 && !self.open.has_escapes {
            let at = self.base + places.trailing_zeros() as usize;
            places &= places - 1;
            self.open.has_escapes = unwrap::is_escape(self.text, at) || is_within_word(self.text, at);
        }
    }

    /// The sentence ends at `end`; the next one begins at `start`.
    #[inline]
    fn next_open(&mut self, end: usize, start: usize) -> Sentence {
        std::mem::replace(&mut self.open, Open::at(start)).close(end)
    }

    /// Goes on at a place of the text where no word begins or goes on.
    fn go_to(&mut self, at: usize) {
        let before = at.checked_sub(1).and_then(|at| self.text.get(at)).copied().unwrap_or_default();
        let class = Class::of(before);
        self.before = Before {
            is_word: class == Class::Word,
            is_white: matches!(class, Class::Space | Class::Line),
            is_stop: matches!(before, b'.' | b'!' | b'?'),
        };
        (self.base, self.read) = (at, 0);
        self.block = Block::at(self.text, at);
    }

    #[inline]
    fn next_block(&mut self) {
        let last = |bits: u64| bits >> (BLOCK_BYTES - 1) != 0;
        let Block { word, white, stop, .. } = self.block;
        self.before = Before { is_word: last(word), is_white: last(white), is_stop: last(stop) };
        (self.base, self.read) = (self.base + BLOCK_BYTES, 0);
        self.block = Block::at(self.text, self.base);
    }
}

impl Iterator for Sentences<'_> {
    type Item = Sentence;

    #[inline]
    fn next(&mut self) -> Option<Sentence> {
        self.seen.clear();
        while self.base < self.text.len() {
            let end = self.next_end();
            if let Until::Cut(at) = self.words(end.unwrap_or(BLOCK_BYTES)) {
                let start = overlap(self.text, at);
                let cut = self.next_open(at, start);
                self.go_to(start);
                return Some(cut);
            }
            if let Some(end) = end {
                self.read = end;
                return Some(self.next_open(self.base + end, self.base + end));
            }
            self.next_block();
        }
        if self.is_done {
            return None;
        }
        self.is_done = true;
        Some(self.next_open(self.text.len(), self.text.len()))
    }
}

/// Whether the emphasis that begins at `at` stands between two letters.
fn is_within_word(text: &[u8], at: usize) -> bool {
    let is_word = |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    let marks = text.get(at..).unwrap_or_default().iter().take(3);
    let length = marks.take_while(|byte| **byte == b'*').count();
    length > 0 && is_word(at.checked_sub(1)) && is_word(Some(at + length))
}

/// Where the next piece of a sentence begins that was cut at `at`: before it, at a word, so that what stands across
/// the cut is read whole.
fn overlap(text: &[u8], at: usize) -> usize {
    let back = at.saturating_sub(OVERLAP_BYTES);
    let rest = text.get(back..at).unwrap_or_default();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    rest.iter().position(|byte| !is_word(byte)).map_or(at, |gap| back + gap)
}

#[cfg(test)]
mod tests;
