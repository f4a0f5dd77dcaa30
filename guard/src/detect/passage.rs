//! Where a sentence fits a rule, and what is quoted of it.

use std::ops::Range;

use super::tables::Ready;

/// Where the sentence fits the rule.
pub(super) fn found(ready: &Ready, sentence: &str) -> Option<Range<usize>> {
    /// Places in one sentence that are tried when the word before one says that it is none.
    const TRIES_MAX: usize = 4;
    let fits = ready
        .pattern()?
        .find_iter(sentence)
        .take(TRIES_MAX)
        .find(|found| !follows(sentence, found.start(), ready.rule.not_after))?;
    (!ready.is_other(sentence.as_bytes())).then(|| fits.range())
}

/// Whether one of the words stands right before the byte at `at`.
fn follows(sentence: &str, at: usize, words: &[&str]) -> bool {
    if words.is_empty() {
        return false;
    }
    let Some(before) = sentence.get(..at).map(str::trim_end) else { return false };
    let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '\'').map_or(0, |at| at + 1);
    before.get(start..).is_some_and(|word| words.iter().any(|other| word.eq_ignore_ascii_case(other)))
}

/// What is quoted of a sentence when this part of it fits a rule: from there when several words stand before it,
/// else all of it; what stands in quotation marks for itself.
pub(super) fn quote(sentence: &str, found: Range<usize>) -> Range<usize> {
    if let Some(quoted) = quoted(sentence, &found) {
        return quoted;
    }
    let (before, rest) = sentence.split_at_checked(found.start).unwrap_or(("", sentence));
    let start = if before.split_whitespace().nth(2).is_some() { before.len() } else { 0 };
    let lead = sentence.get(start..).map_or(0, |part| part.len() - part.trim_start().len());
    let end = before.len() + rest.trim_end().len();
    (start + lead).min(end)..end
}

/// The inside of the quotation marks around the found part.
fn quoted(sentence: &str, found: &Range<usize>) -> Option<Range<usize>> {
    let before = sentence.get(..found.start)?;
    let after = sentence.get(found.end..)?;
    [('"', '"'), ('“', '”'), ('«', '»')].into_iter().find_map(|(open, close)| {
        let inside = before.rfind(open)? + open.len_utf8();
        // A line of a quoted text is a text of its own.
        let line = before.rfind('\n').map_or(inside, |end| inside.max(end + 1));
        // An even number of the same mark before it: the last one closed.
        let is_closed = if open == close {
            before.matches(open).count().is_multiple_of(2)
        } else {
            before.get(inside..)?.contains(close)
        };
        let end = found.end + after.find(close)?.min(after.find('\n').unwrap_or(after.len()));
        (!is_closed).then_some(line..end)
    })
}
