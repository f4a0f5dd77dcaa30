//! Which lists a word stands in, at the speed of reading.
//!
//! A word is known by its first eight bytes and its length, a stem by its first five (eight outside ASCII); what is
//! more alike than that is told apart by the rules. So a look-up may say too much, never too little.

use super::phrase::Phrase;
use super::tables::Words;

/// Bytes of a stem that count, where it begins with an ASCII letter.
pub(super) const STEM_BYTES: usize = 5;
/// Bytes of a word that count, and of a stem outside ASCII.
const WORD_BYTES: usize = 8;
const FILTER_WORDS: usize = 1024;
const EACH: u64 = 0x0101_0101_0101_0101;

/// The words of all lists.
#[derive(Debug)]
pub(super) struct Vocabulary {
    /// A bit for each beginning of four bytes: most words are in no list, and leave here.
    beginnings: Box<[u64; FILTER_WORDS]>,
    /// A bit for each key's hash: where most of the others leave.
    filter: Box<[u64; FILTER_WORDS]>,
    /// Open addressing; a power of two, at most half full.
    slots: Vec<(u64, Words)>,
    /// What stands at each slot, in full.
    phrases: Vec<Vec<Phrase>>,
}

/// A word of a list.
#[derive(Debug)]
pub(super) struct Entry {
    /// By which it is known.
    pub(super) part: String,
    pub(super) is_stem: bool,
    pub(super) lists: Words,
    pub(super) phrase: Phrase,
}

/// The first eight bytes of a word, lower case, and how long it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    head: u64,
    pub(super) length: usize,
}

impl Word {
    /// The word of that many bytes that begins with those of the first eight that `mask` has.
    #[inline]
    pub(super) fn of(eight: u64, mask: u64, length: usize) -> Word {
        Word { head: (eight | (0x20 * EACH)) & mask, length }
    }

    /// The word that begins at `at`: letters, digits, and everything outside ASCII. Of length 0: there is none.
    #[inline]
    pub(super) fn at(text: &[u8], at: usize) -> Word {
        let eight = match text.get(at..at + WORD_BYTES) {
            Some(eight) => eight.try_into().map_or(0, u64::from_le_bytes),
            None => short(text.get(at..).unwrap_or_default()),
        };
        let length = (!in_word(eight) & (0x80 * EACH)).trailing_zeros() as usize / 8;
        let head = eight | (0x20 * EACH);
        if length < WORD_BYTES {
            let head = head & ((1 << (length * 8)) - 1);
            return Word { head, length };
        }
        Word::long(text, at, head)
    }

    fn long(text: &[u8], at: usize, head: u64) -> Word {
        let mut end = at + WORD_BYTES;
        // Eight at a time: a blob is one word.
        while let Some(eight) = text.get(end..end + WORD_BYTES) {
            let eight = eight.try_into().map_or(0, u64::from_le_bytes);
            if in_word(eight) & (0x80 * EACH) != 0x80 * EACH {
                break;
            }
            end += WORD_BYTES;
        }
        let rest = text.get(end..).unwrap_or_default().iter();
        end += rest.take_while(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).count();
        Word { head, length: end - at }
    }

    #[inline]
    fn whole(self) -> u64 {
        mix(self.head, self.length.min(255) as u64)
    }

    /// The first four bytes, mixed: a word has them in common with its stem.
    #[inline]
    fn beginning(self) -> u64 {
        (self.head & 0xffff_ffff).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48
    }

    #[inline]
    fn stem(self) -> Option<u64> {
        let bytes = if self.head & 0x80 == 0 { STEM_BYTES } else { WORD_BYTES };
        (self.length >= bytes)
            .then(|| mix(if bytes == 8 { self.head } else { self.head & 0xff_ffff_ffff }, 256))
    }
}

fn short(rest: &[u8]) -> u64 {
    rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// For each of eight bytes, whether it belongs to a word: its highest bit.
#[inline]
fn in_word(eight: u64) -> u64 {
    let seven = eight & (0x7f * EACH);
    let lower = seven | (0x20 * EACH);
    let letter = (lower + 0x1f * EACH) & !(lower + 0x05 * EACH);
    let digit = (seven + 0x50 * EACH) & !(seven + 0x46 * EACH);
    letter | digit | eight
}

#[inline]
fn mix(head: u64, length: u64) -> u64 {
    let mixed = (head ^ length.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 32)
}

impl Vocabulary {
    pub(super) fn new(words: Vec<Entry>) -> Vocabulary {
        let size = (words.len() * 2).next_power_of_two().max(2);
        let mut made = Vocabulary {
            beginnings: Box::new([0; FILTER_WORDS]),
            filter: Box::new([0; FILTER_WORDS]),
            slots: vec![(0, 0); size],
            phrases: Vec::new(),
        };
        made.phrases.resize_with(size, Vec::new);
        for Entry { part, is_stem, lists, phrase } in words {
            let word = Word::at(part.as_bytes(), 0);
            let beginning = word.beginning();
            if let Some(bits) = made.beginnings.get_mut(beginning as usize / 64 % FILTER_WORDS) {
                *bits |= 1 << (beginning % 64);
            }
            let key = if is_stem { word.stem().unwrap_or(word.whole()) } else { word.whole() };
            made.add(key, lists, phrase);
        }
        made
    }

    fn add(&mut self, key: u64, lists: Words, phrase: Phrase) {
        if let Some(bits) = self.filter.get_mut(key as usize / 64 % FILTER_WORDS) {
            *bits |= 1 << (key % 64);
        }
        let size = self.slots.len();
        for probe in 0..size {
            let place = (key as usize).wrapping_add(probe) & (size - 1);
            let slot = self.slots.get_mut(place).filter(|slot| slot.0 == key || slot.1 == 0);
            if let (Some(slot), Some(phrases)) = (slot, self.phrases.get_mut(place)) {
                *slot = (key, slot.1 | lists);
                phrases.push(phrase);
                return;
            }
        }
    }

    /// The lists in which the word may stand.
    #[inline]
    pub(super) fn lists(&self, word: Word) -> Words {
        let beginning = word.beginning();
        let bits = self.beginnings.get(beginning as usize / 64 % FILTER_WORDS).copied().unwrap_or(0);
        if bits >> (beginning % 64) & 1 == 0 { 0 } else { self.listed(word) }
    }

    fn listed(&self, word: Word) -> Words {
        let whole = self.find(word.whole());
        word.stem().map_or(whole, |stem| whole | self.find(stem))
    }

    /// What the word may be, in full, where that may be of one of the lists.
    pub(super) fn phrases(&self, word: Word, lists: Words) -> impl Iterator<Item = &Phrase> {
        let slots = [Some(word.whole()), word.stem()].into_iter().flatten().filter_map(|key| self.slot(key));
        let wanted = slots.filter(move |slot| self.slots.get(*slot).is_some_and(|slot| slot.1 & lists != 0));
        wanted.flat_map(|slot| self.phrases.get(slot).into_iter().flatten())
    }

    #[inline]
    fn find(&self, key: u64) -> Words {
        let bits = self.filter.get(key as usize / 64 % FILTER_WORDS).copied().unwrap_or(0);
        if bits >> (key % 64) & 1 == 0 { 0 } else { self.look(key) }
    }

    fn look(&self, key: u64) -> Words {
        self.slot(key).and_then(|slot| self.slots.get(slot)).map_or(0, |slot| slot.1)
    }

    #[inline]
    fn slot(&self, key: u64) -> Option<usize> {
        let size = self.slots.len();
        for probe in 0..size {
            let place = (key as usize).wrapping_add(probe) & (size - 1);
            match self.slots.get(place) {
                Some((known, _)) if *known == key => return Some(place),
                Some((_, 0)) | None => return None,
                Some(_) => {}
            }
        }
        None
    }
}
