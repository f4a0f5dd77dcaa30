//! Where a byte of a CEL text stands in the YAML file.

use std::ops::Range;
use std::sync::Arc;

use granit_parser::ScalarStyle;

use super::problem::{Problem, Source};
use super::tree::Scalar;
use crate::cel;

/// A CEL text with its place.
#[derive(Debug, Clone)]
pub(crate) struct Cel {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
    /// Stretches that the file holds as they are: (offset in the text, offset in the file, bytes). Ascending,
    /// without overlap. What lies between them (folded line ends, escapes) has no place of its own.
    pieces: Vec<(usize, usize, usize)>,
}

impl Cel {
    pub(crate) fn new(source: &Source, scalar: &Scalar, span: Range<usize>) -> Cel {
        let pieces = pieces(source, scalar, &span);
        Cel { text: scalar.text.clone(), span, pieces }
    }

    /// One that was made of what stands there.
    pub(crate) fn made(text: String, span: Range<usize>) -> Cel {
        Cel { text, span, pieces: Vec::new() }
    }

    /// The file's bytes for bytes of the text; where that cannot be said, the whole scalar's first line.
    pub(crate) fn place(&self, range: &Range<usize>) -> Range<usize> {
        let Some(start) = self.offset(range.start) else { return self.span.clone() };
        let end = self.offset(range.end).filter(|end| *end >= start).unwrap_or(start);
        start..end
    }

    fn offset(&self, at: usize) -> Option<usize> {
        let (text, file, bytes) = self.pieces.iter().rev().find(|(text, _, _)| *text <= at)?;
        let into = at - text;
        (into <= *bytes).then_some(file + into)
    }

    /// A problem of the expression as one of the file.
    pub(crate) fn problem(&self, source: &Arc<Source>, problem: cel::Problem) -> Problem {
        Problem::error(source, self.place(&problem.span), problem.message).hint_maybe(problem.hint)
    }
}

/// Finds each written line in the text, one after the other. A line that is not there (an escape, a doubled
/// quote) ends the search: what follows has no certain place.
fn pieces(source: &Source, scalar: &Scalar, span: &Range<usize>) -> Vec<(usize, usize, usize)> {
    let written = source.text().get(span.clone()).unwrap_or_default();
    let (mut at, body) = match scalar.style {
        ScalarStyle::Literal | ScalarStyle::Folded if written.starts_with(['|', '>']) => {
            let header = written.find('\n').map_or(written.len(), |at| at + 1);
            (span.start + header, written.get(header..).unwrap_or_default())
        }
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
            (span.start + 1, written.get(1..written.len().saturating_sub(1)).unwrap_or_default())
        }
        _ => (span.start, written),
    };
    let mut pieces = Vec::new();
    let mut cursor = 0;
    for line in body.split_inclusive('\n') {
        let found = line.trim();
        let rest = scalar.text.get(cursor..).unwrap_or_default();
        let skipped = rest.len() - rest.trim_start().len();
        if !rest.trim_start().starts_with(found) {
            break;
        }
        if !found.is_empty() {
            let indent = line.len() - line.trim_start().len();
            pieces.push((cursor + skipped, at + indent, found.len()));
            cursor += skipped + found.len();
        }
        at += line.len();
    }
    pieces
}
