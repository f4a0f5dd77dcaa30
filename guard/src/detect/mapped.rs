//! A text made from another, and where every piece of it came from.

use std::ops::Range;

use crate::text::Runs;

/// A text, and for each byte of it a range of the original.
#[derive(Debug, Default)]
pub(super) struct Mapped {
    text: String,
    runs: Runs,
}

impl Mapped {
    pub(super) fn with_capacity(bytes: usize) -> Mapped {
        Mapped { text: String::with_capacity(bytes), runs: Runs::default() }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Appends a piece of the original, which starts there at `from`.
    pub(super) fn copy(&mut self, piece: &str, from: usize) {
        if piece.is_empty() {
            return;
        }
        self.runs.push(self.text.len(), from..from + piece.len(), true);
        self.text.push_str(piece);
    }

    /// Appends what stands for a range of the original.
    pub(super) fn put(&mut self, piece: &str, original: Range<usize>) {
        if piece.is_empty() {
            return;
        }
        self.runs.push(self.text.len(), original, false);
        self.text.push_str(piece);
    }

    pub(super) fn put_char(&mut self, character: char, original: Range<usize>) {
        self.put(character.encode_utf8(&mut [0; 4]), original);
    }

    /// The bytes of the original from which these bytes came; text that was turned round maps to what lies
    /// between its ends.
    pub(super) fn original(&self, found: Range<usize>) -> Range<usize> {
        let first = self.runs.place(found.start);
        if found.is_empty() {
            return first.start..first.start;
        }
        let last = self.runs.place(found.end - 1);
        first.start.min(last.start)..last.end.max(first.end)
    }
}
