//! A sentence, as far as it was read.

use super::{BLOCK_BYTES, Sentence};
use crate::detect::tables::Words;

/// A word of that length is no word. A power of two.
pub(super) const LONG_BYTES: usize = 16;

/// A sentence, as far as it was read.
#[derive(Debug, Default)]
pub(super) struct Open {
    pub(super) start: usize,
    pub(super) words: Words,
    pub(super) has_marks: bool,
    pub(super) has_escapes: bool,
    pub(super) is_foreign: bool,
    /// The bits of all lengths: at least as much as the longest word has, and less than its next power of two.
    pub(super) lengths: usize,
    pub(super) rows: Rows,
}

/// Words of one letter in a row, and words of two or eight characters: each a half.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Rows {
    now: u64,
    /// The highest bit of a half: there was a row of [`Rows::MIN`].
    ever: u64,
}

impl Rows {
    /// Words in a row.
    pub(super) const MIN: u64 = 6;
    const BOTH: u64 = 1 << 32 | 1;
    const SINGLES: u64 = 0xffff_ffff;
    const GROUPS: u64 = !Rows::SINGLES;

    /// What a word of that length leaves of the rows.
    pub(super) const fn kept(length: usize) -> u64 {
        match length {
            1 => Rows::SINGLES,
            2 | 8 => Rows::GROUPS,
            _ => 0,
        }
    }

    #[inline]
    pub(super) fn word(&mut self, kept: u64) {
        // A sentence has fewer words than a half can count.
        self.now = self.now.wrapping_add(Rows::BOTH) & kept;
        self.ever |= self.now.wrapping_add(((1 << 31) - Rows::MIN) * Rows::BOTH);
    }

    pub(super) fn had_singles(self) -> bool {
        self.ever >> 31 & 1 == 1
    }

    pub(super) fn had_groups(self) -> bool {
        self.ever >> 63 == 1
    }
}

/// What depends on the length of a word that ends within a block.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Length {
    /// Those of its first eight bytes that it has.
    pub(super) head: u64,
    pub(super) rows: u64,
}

pub(super) const LENGTHS: [Length; BLOCK_BYTES] = {
    let (mut lengths, mut length) = ([Length { head: u64::MAX, rows: 0 }; BLOCK_BYTES], 0);
    while length < BLOCK_BYTES {
        #[expect(clippy::indexing_slicing, reason = "checked by the compiler")]
        {
            lengths[length].rows = Rows::kept(length);
            if length < 8 {
                lengths[length].head = (1 << (8 * length)) - 1;
            }
        }
        length += 1;
    }
    lengths
};

impl Open {
    pub(super) fn at(start: usize) -> Open {
        Open { start, ..Open::default() }
    }

    pub(super) fn close(self, end: usize) -> Sentence {
        Sentence {
            at: self.start..end,
            words: self.words,
            has_marks: self.has_marks,
            has_escapes: self.has_escapes,
            is_long: self.lengths >= LONG_BYTES,
            is_foreign: self.is_foreign,
            has_singles: self.rows.had_singles(),
            has_groups: self.rows.had_groups(),
        }
    }
}
