//! A text made from another, and where every piece of it came from.

use std::ops::Range;

/// A text, and for each byte of it a range of the original.
#[derive(Debug, Default)]
pub(super) struct Mapped {
    text: String,
    /// In the order of the text.
    runs: Vec<Run>,
}

#[derive(Debug)]
struct Run {
    /// Where it starts in the text.
    start: usize,
    original: Range<usize>,
    /// Byte for byte, so that one run can hold a megabyte.
    verbatim: bool,
}

impl Mapped {
    pub(super) fn with_capacity(bytes: usize) -> Mapped {
        Mapped { text: String::with_capacity(bytes), runs: Vec::new() }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Appends a piece of the original, which starts there at `from`.
    pub(super) fn copy(&mut self, piece: &str, from: usize) {
        if piece.is_empty() {
            return;
        }
        let start = self.text.len();
        self.text.push_str(piece);
        match self.runs.last_mut() {
            Some(last) if last.verbatim && last.original.end == from => {
                last.original.end = from + piece.len()
            }
            _ => self.runs.push(Run { start, original: from..from + piece.len(), verbatim: true }),
        }
    }

    /// Appends what stands for a range of the original.
    pub(super) fn put(&mut self, piece: &str, original: Range<usize>) {
        if piece.is_empty() {
            return;
        }
        self.runs.push(Run { start: self.text.len(), original, verbatim: false });
        self.text.push_str(piece);
    }

    pub(super) fn put_char(&mut self, character: char, original: Range<usize>) {
        self.put(character.encode_utf8(&mut [0; 4]), original);
    }

    /// The bytes of the original from which these bytes came; text that was turned round maps to what lies
    /// between its ends.
    pub(super) fn original(&self, found: Range<usize>) -> Range<usize> {
        let first = self.place(found.start);
        if found.is_empty() {
            return first.start..first.start;
        }
        let last = self.place(found.end - 1);
        first.start.min(last.start)..last.end.max(first.end)
    }

    fn place(&self, at: usize) -> Range<usize> {
        let after = self.runs.partition_point(|run| run.start <= at);
        match after.checked_sub(1).and_then(|before| self.runs.get(before)) {
            Some(run) if run.verbatim => {
                let at = (run.original.start + (at - run.start)).min(run.original.end);
                at..(at + 1).min(run.original.end)
            }
            Some(run) => run.original.clone(),
            None => 0..0,
        }
    }
}
