//! The one pass over a text: its sentences, and what is in each of them.

use std::ops::Range;

use super::blocks::{BLOCK_BYTES, Block};
use super::class::Class;
use super::tables::{TABLES, Words};
use super::vocabulary::{Vocabulary, Word};
use super::{SENTENCE_BYTES_MAX, sentence, unwrap};

/// How much of a piece of a sentence is read again with the next one.
const OVERLAP_BYTES: usize = SENTENCE_BYTES_MAX / 4;
/// A word of that length is no word.
const LONG_BYTES: usize = 16;
/// Letters or groups in a row.
const ROW_MIN: u32 = 6;

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

/// A sentence, as far as it was read.
#[derive(Debug, Default)]
struct Open {
    start: usize,
    words: Words,
    has_marks: bool,
    has_escapes: bool,
    is_long: bool,
    is_foreign: bool,
    singles: Row,
    groups: Row,
}

/// Words of a kind that follow each other.
#[derive(Debug, Default, Clone, Copy)]
struct Row {
    length: u32,
    most: u32,
}

impl Row {
    #[inline]
    fn word(&mut self, is_of_kind: bool) {
        self.length = (self.length + 1) & u32::from(is_of_kind).wrapping_neg();
        self.most = self.most.max(self.length);
    }
}

impl Open {
    fn at(start: usize) -> Open {
        Open { start, ..Open::default() }
    }

    #[inline]
    fn word(&mut self, word: Word, lists: Words) {
        self.words |= lists;
        self.is_long |= word.length >= LONG_BYTES;
        self.is_foreign |= !word.is_ascii;
        self.singles.word(word.length == 1);
        self.groups.word(word.length == 2 || word.length == 8);
    }

    fn close(self, end: usize) -> Sentence {
        Sentence {
            at: self.start..end,
            words: self.words,
            has_marks: self.has_marks,
            has_escapes: self.has_escapes,
            is_long: self.is_long,
            is_foreign: self.is_foreign,
            has_singles: self.singles.most >= ROW_MIN,
            has_groups: self.groups.most >= ROW_MIN,
        }
    }
}

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
        let mut starts = word & !(word << 1 | u64::from(self.before.is_word)) & self.unread(end);
        while starts != 0 {
            let start = starts.trailing_zeros();
            starts &= starts - 1;
            let (at, rest) = (self.base + start as usize, word >> start);
            let length = rest.trailing_ones();
            // It may go on in the next block.
            let found = if start + length == BLOCK_BYTES as u32 {
                Word::at(self.text, at)
            } else {
                Word::of(self.text, at, length as usize)
            };
            let lists = self.vocabulary.lists(found);
            self.open.word(found, lists);
            if lists != 0 {
                self.seen.push(at);
            }
            let until = at + found.length;
            if until - self.open.start > SENTENCE_BYTES_MAX {
                self.others((until - self.base).min(BLOCK_BYTES));
                return Until::Cut(until);
            }
        }
        self.others(end);
        Until::End
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
