//! The parts of a message that values are followed from.
//!
//! Two kinds. What the detector found is *firm*: it reads like an instruction whoever asks. A sentence that asks
//! for what the call in question does is a *request*: ordinary in itself, telling beside that call. Each has a
//! core, the passage itself, and what stands around it: an instruction often names its values in the next sentence.

use std::ops::Range;

use super::request::{self, Request};
use super::verbs::{Class, Deed};
use super::words::Index;
use crate::detect::{Passage, Reading};

/// Passages of the detector with no more than that between them are one.
const GAP_BYTES_MAX: usize = 150;
/// How much before a passage belongs to it.
pub(super) const BEFORE_BYTES: usize = 100;
/// How much after a passage belongs to it.
pub(super) const AFTER_BYTES: usize = 200;

/// One part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Region {
    /// The detector's rule; `None`: a request.
    pub(super) rule: Option<&'static str>,
    /// The passage: bytes of the text.
    pub(super) core: Range<usize>,
    /// The passage and what stands around it.
    pub(super) around: Range<usize>,
    /// A sentence that asks for what the tool does.
    pub(super) asks: bool,
    /// Sentences within it that ask are parts of their own.
    pub(super) has_requests: bool,
    /// It only says that something is to be done: values are followed from it, the act alone is not.
    pub(super) is_plan: bool,
    /// How it was hidden, where what it says cannot be compared with the call.
    pub(super) hidden: Option<Reading>,
}

impl Region {
    pub(super) fn is_firm(&self) -> bool {
        self.rule.is_some()
    }
}

/// The parts of one message for a call that does `deed`, and no more of them than `max`; `None`: there are more.
pub(super) fn regions(text: &str, index: &Index, deed: &Deed, max: usize) -> Option<Vec<Region>> {
    let mut found = passages(text, index);
    let passages = found.len();
    let own = deed.words.iter().filter(|word| is_telling(word, deed));
    let own = own.flat_map(|word| request::by_word(text, index, word));
    let asked = index.requests().iter().filter(|request| fits(index, request, deed)).cloned();
    for Request { span, is_plan, .. } in asked.chain(own) {
        if found.len() >= max {
            return None;
        }
        let mut around = around(text, &span);
        let firm = found.get_mut(..passages).unwrap_or_default();
        let first = firm.partition_point(|passage| passage.core.end <= span.start);
        let passage = firm.get_mut(first).filter(|passage| passage.core.start < span.end);
        let rule = passage.and_then(|passage| {
            passage.has_requests |= !is_plan;
            around = around.start.min(passage.around.start)..around.end.max(passage.around.end);
            passage.rule
        });
        found.push(Region {
            rule,
            core: span,
            around,
            asks: true,
            has_requests: false,
            is_plan,
            hidden: None,
        });
    }
    (found.len() <= max).then_some(found)
}

/// What the detector found, in the order of the text, no two with less than [`GAP_BYTES_MAX`] between them.
fn passages(text: &str, index: &Index) -> Vec<Region> {
    let firm = |rule, core: Range<usize>| {
        let around = around(text, &core);
        Region {
            rule: Some(rule),
            core,
            around,
            asks: false,
            has_requests: false,
            is_plan: false,
            hidden: None,
        }
    };
    if !index.is_complete() {
        // What the detector did not read may say anything.
        return vec![Region { asks: true, ..firm("unread", 0..text.len()) }];
    }
    let mut found: Vec<Region> = Vec::new();
    for passage in index.passages() {
        match found.last_mut() {
            Some(last) if passage.span.start <= last.core.end.saturating_add(GAP_BYTES_MAX) => {
                last.core.end = last.core.end.max(passage.span.end);
                last.around = around(text, &last.core);
            }
            _ => found.push(firm(passage.rule, passage.span.clone())),
        }
        if let Some(last) = found.last_mut() {
            last.hidden = last.hidden.or(is_hidden(text, passage).then_some(passage.reading));
        }
    }
    found
}

/// Whether the words of a passage are other ones than those that stand there: then its values cannot be found.
fn is_hidden(text: &str, passage: &Passage) -> bool {
    match passage.reading {
        Reading::Written | Reading::Folded | Reading::Spaced => false,
        // Marks and tags leave the words, escapes do not.
        Reading::Unwrapped => {
            let written = text.get(passage.span.clone()).unwrap_or_default();
            let escapes =
                written.matches("&#").count() + written.matches("\\u").count() + written.matches('%').count();
            escapes >= ESCAPES_MIN
        }
        _ => true,
    }
}

/// So many escapes in a passage hide words; fewer are punctuation.
const ESCAPES_MIN: usize = 4;

/// A passage and what stands around it.
pub(crate) fn around(text: &str, core: &Range<usize>) -> Range<usize> {
    core.start.saturating_sub(BEFORE_BYTES)..core.end.saturating_add(AFTER_BYTES).min(text.len())
}

/// Whether a word of a tool's name tells what it does: `disable`, not `user`.
fn is_telling(word: &str, deed: &Deed) -> bool {
    const COMMON: [&str; 21] = [
        "account",
        "check",
        "data",
        "file",
        "find",
        "from",
        "info",
        "information",
        "list",
        "manager",
        "name",
        "read",
        "search",
        "tool",
        "user",
        "view",
        "with",
        "item",
        "page",
        "system",
        "service",
    ];
    // A word of a family asks for what that family does, unless nobody knows what the tool does.
    let says_this = Class::of(word).families == 0 || deed.families == 0;
    word.len() > 3 && says_this && !COMMON.contains(&word)
}

/// Whether a request is one for what the tool does: by its verb, or, after `please`, by what it is done to.
fn fits(index: &Index, request: &Request, deed: &Deed) -> bool {
    if request.families != 0 {
        return request.families & deed.families != 0;
    }
    let within = index.within(&request.span);
    let is_verb = deed.families == 0 || request::families_within(index, &within) & deed.families != 0;
    is_verb && deed.nouns.iter().any(|noun| request::mentions(index, noun, &within))
}
