//! A text as words: what is compared when values are followed.

use std::collections::HashMap;
use std::ops::Range;

use super::parting::each_word;
use super::request::{self, Request};
use super::verbs::Class;
use crate::detect::{Passage, Scan};

/// One word of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    /// Bytes of the original.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Equal for equal words of one index.
    pub(super) id: u32,
}

/// A message made ready to be followed: made once, when it arrives.
///
/// Invariants: `words` is in the order of the text, none overlaps another; the positions of the word `id` are
/// `positions[starts[id]..starts[id + 1]]`, ascending; so what it keeps is linear in the text.
#[derive(Debug, Clone, Default)]
pub struct Index {
    words: Vec<Word>,
    vocabulary: HashMap<Box<str>, u32>,
    /// By id.
    classes: Vec<Class>,
    starts: Vec<u32>,
    positions: Vec<u32>,
    requests: Vec<Request>,
    passages: Vec<Passage>,
    is_complete: bool,
}

impl Index {
    /// Reads a text once; `scan` is what the detector found in it.
    #[must_use]
    pub fn new(text: &str, scan: &Scan) -> Index {
        let mut index = Index { is_complete: scan.is_complete, ..Index::default() };
        index.passages.clone_from(&scan.passages);
        each_word(text, |word, span| {
            let id = index.id_of(word);
            index.words.push(Word { start: span.start, end: span.end, id });
        });
        index.sort();
        index.requests = request::find(text, &index);
        index
    }

    fn id_of(&mut self, word: &str) -> u32 {
        if let Some(id) = self.vocabulary.get(word) {
            return *id;
        }
        let id = u32::try_from(self.classes.len()).unwrap_or(u32::MAX);
        self.vocabulary.insert(word.into(), id);
        self.classes.push(Class::of(word));
        id
    }

    /// Sorts the positions by word, by counting.
    fn sort(&mut self) {
        let mut starts = vec![0_u32; self.classes.len() + 1];
        for word in &self.words {
            if let Some(count) = starts.get_mut(word.id as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut positions = vec![0; self.words.len()];
        for (position, word) in (0_u32..).zip(&self.words) {
            if let Some(at) = next.get_mut(word.id as usize) {
                if let Some(place) = positions.get_mut(*at as usize) {
                    *place = position;
                }
                *at += 1;
            }
        }
        (self.starts, self.positions) = (starts, positions);
    }

    pub(super) fn words(&self) -> &[Word] {
        &self.words
    }

    pub(super) fn word(&self, position: usize) -> Option<Word> {
        self.words.get(position).copied()
    }

    pub(super) fn class(&self, word: Word) -> Class {
        self.classes.get(word.id as usize).copied().unwrap_or_default()
    }

    /// Sentences that ask for something.
    pub(super) fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// Where a sentence asks for something.
    pub(crate) fn asking(&self) -> Vec<std::ops::Range<usize>> {
        self.requests().iter().map(|request| request.span.clone()).collect()
    }

    /// What the detector found.
    pub(super) fn passages(&self) -> &[Passage] {
        &self.passages
    }

    /// False: the detector did not read all of the text.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    pub(super) fn id(&self, word: &str) -> Option<u32> {
        self.vocabulary.get(word).copied()
    }

    /// The words as ids; `None`: one of them is nowhere in the text.
    pub(super) fn ids(&self, words: &[String]) -> Option<Vec<u32>> {
        words.iter().map(|word| self.id(word)).collect()
    }

    /// Positions (in `words`) of the words that lie wholly within these bytes.
    pub(super) fn within(&self, bytes: &Range<usize>) -> Range<usize> {
        let from = self.words.partition_point(|word| word.start < bytes.start);
        let to = self.words.partition_point(|word| word.end <= bytes.end);
        from..to.max(from)
    }

    /// The bytes from the first to the last word at these positions.
    pub(super) fn bytes(&self, within: &Range<usize>) -> Range<usize> {
        let words = self.words.get(within.clone()).unwrap_or_default();
        words.first().zip(words.last()).map_or(0..0, |(first, last)| first.start..last.end)
    }

    /// Where a word stands, within these positions.
    pub(super) fn places(&self, id: u32, within: &Range<usize>) -> &[u32] {
        let at = |id: usize| self.starts.get(id).map_or(0, |at| *at as usize);
        let all = self.positions.get(at(id as usize)..at(id as usize + 1)).unwrap_or_default();
        let from = all.partition_point(|at| (*at as usize) < within.start);
        let to = all.partition_point(|at| (*at as usize) < within.end);
        all.get(from..to).unwrap_or_default()
    }

    /// Whether a word stands within these positions.
    pub(super) fn has(&self, word: &str, within: &Range<usize>) -> bool {
        self.id(word).is_some_and(|id| !self.places(id, within).is_empty())
    }

    /// The bytes of each place where these words follow each other, within these positions; and how many words were
    /// compared.
    pub(super) fn find(&self, ids: &[u32], within: &Range<usize>) -> (Vec<Range<usize>>, usize) {
        let places = ids.first().map_or(&[][..], |first| self.places(*first, within));
        let matches = |at: &u32| {
            let end = *at as usize + ids.len();
            let words = self.words.get(*at as usize..end).filter(|_| end <= within.end)?;
            let is_same = words.iter().map(|word| word.id).eq(ids.iter().copied());
            is_same.then_some(words.first()?.start..words.last()?.end)
        };
        (places.iter().filter_map(matches).collect(), places.len() * ids.len() + 1)
    }

    /// All positions.
    pub(super) fn all(&self) -> Range<usize> {
        0..self.words.len()
    }
}
