//! What was found out about characters: of a few, however often a text has them.

/// What was looked up last, by the last bits of the character: a text has few characters that are not ASCII, however
/// many of each, and decomposing one takes as long as reading a line.
#[derive(Debug)]
pub(crate) struct Known<T> {
    slots: Box<[(char, T); SIZE]>,
}

/// A power of two.
const SIZE: usize = 256;
/// Of no text: a character that is not ASCII is looked up.
const NONE: char = '\0';

impl<T: Default> Default for Known<T> {
    fn default() -> Known<T> {
        Known { slots: Box::new(std::array::from_fn(|_| (NONE, T::default()))) }
    }
}

impl<T> Known<T> {
    /// What is known of a character that is not ASCII, or is found out.
    pub(crate) fn of(&mut self, character: char, find_out: impl FnOnce() -> T) -> &T {
        #[expect(clippy::indexing_slicing, reason = "there are as many")]
        let slot = &mut self.slots[character as usize % SIZE];
        if slot.0 != character {
            *slot = (character, find_out());
        }
        &slot.1
    }
}
