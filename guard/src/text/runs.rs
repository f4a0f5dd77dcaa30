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
        self.place_before(self.0.partition_point(|run| run.start <= at), at)
    }

    /// The same for bytes that are asked for in their order.
    pub(crate) fn places(&self) -> Places<'_> {
        Places { runs: self, after: 0 }
    }

    /// Where a byte came from that stands before the run with this number.
    fn place_before(&self, after: usize, at: usize) -> Range<usize> {
        match after.checked_sub(1).and_then(|before| self.0.get(before)) {
            Some(run) if run.verbatim => {
                let at = (run.original.start + at.saturating_sub(run.start)).min(run.original.end);
                at..(at + 1).min(run.original.end)
            }
            Some(run) => run.original.clone(),
            None => 0..0,
        }
    }
}

/// Where bytes came from that are asked for in their order: without looking for each.
pub(crate) struct Places<'a> {
    runs: &'a Runs,
    /// The first run that starts behind the byte that was asked for last.
    after: usize,
}

impl Places<'_> {
    /// Where one byte of the text came from, which stands before none that was asked for.
    pub(crate) fn place(&mut self, at: usize) -> Range<usize> {
        while self.runs.0.get(self.after).is_some_and(|run| run.start <= at) {
            self.after += 1;
        }
        self.runs.place_before(self.after, at)
    }
}
