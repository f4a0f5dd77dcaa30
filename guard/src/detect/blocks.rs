//! What the bytes of a text are, sixty-four at a time: a bit each.

#[cfg(any(test, not(target_arch = "x86_64")))]
use super::class::Class;

pub(super) const BLOCK_BYTES: usize = 64;

/// The bytes of one block, the first at the lowest bit.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// They belong to words.
    pub(super) word: u64,
    /// They are not ASCII.
    pub(super) foreign: u64,
    /// White space.
    pub(super) white: u64,
    /// Line feeds.
    pub(super) line: u64,
    /// `.`, `!` and `?`.
    pub(super) stop: u64,
    /// Emphasis.
    pub(super) emphasis: u64,
    /// `*` alone.
    pub(super) star: u64,
    /// Bytes with which a tag, an entity or an escape may begin.
    pub(super) escape: u64,
}

impl Block {
    /// The block that begins at `at`; what is behind the end of the text means nothing.
    #[inline]
    pub(super) fn at(text: &[u8], at: usize) -> Block {
        match text.get(at..at + BLOCK_BYTES).and_then(|block| block.first_chunk()) {
            Some(block) => Block::of(block),
            None => Block::last(text.get(at..).unwrap_or_default()),
        }
    }

    #[cold]
    fn last(rest: &[u8]) -> Block {
        let mut block = [0; BLOCK_BYTES];
        block.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        Block::of(&block)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn of(block: &[u8; BLOCK_BYTES]) -> Block {
        lanes::block(block)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn of(block: &[u8; BLOCK_BYTES]) -> Block {
        Block::by_class(block)
    }

    /// One byte at a time: for other machines, and as the twin in tests.
    #[cfg(any(test, not(target_arch = "x86_64")))]
    fn by_class(block: &[u8; BLOCK_BYTES]) -> Block {
        let mut made = Block::default();
        for (at, byte) in block.iter().enumerate() {
            let bit = |is: bool| u64::from(is) << at;
            let class = Class::of(*byte);
            made.word |= bit(class == Class::Word);
            made.foreign |= bit(!byte.is_ascii());
            made.white |= bit(matches!(class, Class::Space | Class::Line));
            made.line |= bit(class == Class::Line);
            made.stop |= bit(matches!(byte, b'.' | b'!' | b'?'));
            made.emphasis |= bit(class == Class::Emphasis);
            made.star |= bit(*byte == b'*');
            made.escape |= bit(class == Class::Escape);
        }
        made
    }
}

/// The places of a text at which marks stand: emphasis, and bytes with which a tag, an entity or an escape may begin.
#[derive(Debug)]
pub(super) struct Marks<'a> {
    text: &'a [u8],
    /// Where the block begins whose bits these are.
    base: usize,
    bits: u64,
}

impl<'a> Marks<'a> {
    pub(super) fn new(text: &'a [u8]) -> Marks<'a> {
        let mut marks = Marks { text, base: 0, bits: 0 };
        marks.load(0);
        marks
    }

    fn load(&mut self, base: usize) {
        let block = Block::at(self.text, base);
        (self.base, self.bits) = (base, block.emphasis | block.escape);
    }

    /// The first that is not before `from`, which never goes back.
    pub(super) fn next(&mut self, from: usize) -> Option<usize> {
        if from >= self.base + BLOCK_BYTES {
            self.load(from);
        }
        self.bits &= u64::MAX << from.saturating_sub(self.base);
        while self.bits == 0 {
            if self.base + BLOCK_BYTES >= self.text.len() {
                return None;
            }
            self.load(self.base + BLOCK_BYTES);
        }
        Some(self.base + self.bits.trailing_zeros() as usize)
    }
}

/// Sixteen bytes at a time: SSE2 is part of every x86-64.
#[cfg(target_arch = "x86_64")]
mod lanes {
    use safe_arch::{
        cmp_eq_mask_i8_m128i, load_unaligned_m128i, m128i, min_u8_m128i, move_mask_i8_m128i,
        set_splat_i8_m128i, sub_i8_m128i,
    };

    use super::{BLOCK_BYTES, Block};

    #[inline]
    fn all(byte: u8) -> m128i {
        set_splat_i8_m128i(byte.cast_signed())
    }

    #[inline]
    fn bits(lanes: m128i) -> u64 {
        u64::from(move_mask_i8_m128i(lanes).cast_unsigned() & 0xffff)
    }

    #[inline]
    fn equal(lanes: m128i, byte: u8) -> m128i {
        cmp_eq_mask_i8_m128i(lanes, all(byte))
    }

    /// `first` and the `count` bytes after it.
    #[inline]
    fn between(lanes: m128i, first: u8, count: u8) -> m128i {
        let offset = sub_i8_m128i(lanes, all(first));
        cmp_eq_mask_i8_m128i(min_u8_m128i(offset, all(count)), offset)
    }

    #[inline]
    pub(super) fn block(block: &[u8; BLOCK_BYTES]) -> Block {
        let mut made = Block::default();
        let (lanes, _) = block.as_chunks::<16>();
        for (at, lane) in lanes.iter().enumerate() {
            let (bytes, shift) = (load_unaligned_m128i(lane), at * 16);
            let word = between(bytes | all(0x20), b'a', 25) | between(bytes, b'0', 9) | bytes;
            let (line, star) = (equal(bytes, b'\n'), equal(bytes, b'*'));
            let white = line | equal(bytes, b' ') | equal(bytes, b'\t') | equal(bytes, b'\r');
            let stop = equal(bytes, b'.') | equal(bytes, b'!') | equal(bytes, b'?');
            let emphasis = star | equal(bytes, b'_') | equal(bytes, b'~') | equal(bytes, b'`');
            // `%` and `&`, `<` and `=` follow each other.
            let escape = between(bytes, b'%', 1) | between(bytes, b'<', 1) | equal(bytes, b'\\');
            made.word |= bits(word) << shift;
            made.foreign |= bits(bytes) << shift;
            made.white |= bits(white) << shift;
            made.line |= bits(line) << shift;
            made.stop |= bits(stop) << shift;
            made.emphasis |= bits(emphasis) << shift;
            made.star |= bits(star) << shift;
            made.escape |= bits(escape) << shift;
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BLOCK_BYTES, Block, Marks};
    use crate::detect::class::Class;

    #[test]
    fn every_byte_means_in_a_block_what_its_class_says() {
        for byte in 0..=u8::MAX {
            let block = [byte; BLOCK_BYTES];
            assert_eq!(Block::of(&block), Block::by_class(&block), "{byte}");
        }
    }

    proptest! {
        #[test]
        fn every_mark_is_come_by(text in "[a*&\u{e9}]{0,200}", steps in proptest::collection::vec(0_usize..90, 1..9)) {
            let is_mark = |byte: &u8| matches!(Class::of(*byte), Class::Emphasis | Class::Escape);
            let (mut marks, mut from) = (Marks::new(text.as_bytes()), 0);
            for step in steps {
                from += step;
                let rest = text.as_bytes().get(from..).unwrap_or_default();
                prop_assert_eq!(marks.next(from), rest.iter().position(is_mark).map(|at| from + at));
            }
        }

        #[test]
        fn a_block_is_what_its_bytes_are(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let mut block = [0; BLOCK_BYTES];
            block.iter_mut().zip(&bytes).for_each(|(to, from)| *to = *from);
            prop_assert_eq!(Block::at(&bytes, 0), Block::by_class(&block));
        }
    }
}
