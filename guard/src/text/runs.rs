//! Where every piece of a text that was made from another one came from.

use std::ops::Range;

/// Pieces in the order of the text made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Runs(Vec<Run>);

/// A piece of the text that came from one place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Run {
    /// Where it starts in the text made.
    start: usize,
    /// Where it was in the original.
    original: Range<usize>,
    /// Byte for byte from there, so that one run can hold a megabyte.
    verbatim: bool,
}

impl Runs {
    /// The text goes on at `start` with a piece of the original; one that follows what it followed there joins it.
    pub(crate) fn push(&mut self, start: usize, original: Range<usize>, verbatim: bool) {
        match self.0.last_mut() {
            Some(last) if verbatim && last.verbatim && last.original.end == original.start => {
                last.original.end = original.end;
            }
            _ => self.0.push(Run { start, original, verbatim }),
        }
    }

    /// Where one byte of the text came from.
    pub(crate) fn place(&self, at: usize) -> Range<usize> {
        let after = self.0.partition_point(|run| run.start <= at);
        match after.checked_sub(1).and_then(|before| self.0.get(before)) {
            Some(run) if run.verbatim => {
                let at = (run.original.start + (at - run.start)).min(run.original.end);
                at..(at + 1).min(run.original.end)
            }
            Some(run) => run.original.clone(),
            None => 0..0,
        }
    }
}
