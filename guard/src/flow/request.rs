//! Where a text asks its reader to do something: a verb in the place where it gives an order, up to the end of
//! its sentence.
//!
//! Many honest texts ask (a mail, a list of things to do), so that a request alone means nothing. It counts when a
//! call does what it asks.

use std::borrow::Cow;
use std::ops::Range;

use super::sentences::{Sentences, ends};
use super::verbs::{Class, Families, forms, mark};
use super::words::{Index, Word};

/// A request ends there at the latest.
pub(super) const REQUEST_BYTES_MAX: usize = 400;

/// After these a verb gives an order.
const LEADS: &[char] = &[
    '.', '!', '?', ':', ';', '"', '\'', '“', '‘', '>', '*', '-', '–', '—', '•', ']', '|', ')', '。', '！',
    '？', '：', '；', '、', '，', '«', '„',
];
/// A sentence, or what is left of it from the verb on, that asks for something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    /// Bytes of the text.
    pub(super) span: Range<usize>,
    /// What is asked for; 0: the verb is not known.
    pub(super) families: Families,
    /// No order, but something that is to be done: `it must be sent`, `she will send`, `next: sending`.
    pub(super) is_plan: bool,
}

/// All requests of a text, in the order of their verbs.
pub(super) fn find(text: &str, index: &Index) -> Vec<Request> {
    let mut sentences = None;
    let asks = |(at, word): (usize, &Word)| {
        let class = index.class(*word);
        // Most words are none of these.
        if !class.may_ask() {
            return None;
        }
        let is_order = class.families != 0 && is_order(text, index, at);
        let (families, is_plan) = if is_order {
            (class.families, false)
        } else if is_polite(text, index, at) {
            (0, false)
        } else {
            (planned(text, index, at)?, true)
        };
        let sentences = sentences.get_or_insert_with(|| Sentences::of(text, index));
        let start = if is_plan { sentences.start(index, at) } else { word.start };
        Some(Request { span: start..sentences.end(index, at), families, is_plan })
    };
    index.words().iter().enumerate().filter_map(asks).collect()
}

/// Requests by a verb that no table has: a word of the tool's own name.
pub(super) fn by_word(text: &str, index: &Index, word: &str) -> Vec<Request> {
    let places = index.id(word).map_or(&[][..], |id| index.places(id, &(0..index.words().len())));
    let orders = places.iter().map(|at| *at as usize).filter(|at| is_order(text, index, *at));
    let request = |at| Request { span: sentence(text, index, at), families: Families::MAX, is_plan: false };
    orders.map(request).collect()
}

/// What the word at this position says is to be done.
fn planned(text: &str, index: &Index, at: usize) -> Option<Families> {
    let class = index.class(index.word(at)?);
    if class.families | class.done | class.doing == 0 || is_label(text, index, at) {
        return None;
    }
    let gap = gap_before(text, index, at);
    let before = at.checked_sub(1).and_then(|before| index.word(before)).map(|word| index.class(word));
    let before = before.filter(|_| gap.trim().is_empty()).unwrap_or_default();
    // `should also send`
    let earlier =
        || at.checked_sub(2).and_then(|at| index.word(at)).map(|word| index.class(word)).unwrap_or_default();
    let is_to_come = |class: super::verbs::Class| class.is(mark::MODAL) || class.is(mark::TO);
    if class.families != 0 && (is_to_come(before) || before.is(mark::LEAD) && is_to_come(earlier())) {
        return Some(class.families);
    }
    if class.done != 0 && before.is(mark::BE) {
        return Some(class.done);
    }
    let starts = before.is(mark::STEP) || gap.trim_end().ends_with(LEADS);
    (class.doing != 0 && starts).then_some(class.doing)
}

/// Whether any word with that stem stands at these positions.
pub(super) fn mentions(index: &Index, stem: &str, within: &Range<usize>) -> bool {
    forms(stem).iter().any(|form| index.has(form, within))
}

/// How much is read of what stands between two words: it may be a megabyte of dashes.
const GAP_CHARS: usize = 64;

/// The end of what stands before a word, line breaks that are written as two characters made plain.
fn gap_before<'a>(text: &'a str, index: &Index, at: usize) -> Cow<'a, str> {
    let start = at.checked_sub(1).and_then(|before| index.word(before)).map_or(0, |before| before.end);
    let end = index.word(at).map_or(text.len(), |word| word.start);
    let gap = text.get(start..end).unwrap_or_default();
    // No longer in bytes, no longer in characters.
    let is_short = gap.len() <= GAP_CHARS;
    let cut = if is_short { None } else { gap.char_indices().rev().nth(GAP_CHARS - 1) };
    plain(gap.get(cut.map_or(0, |(at, _)| at)..).unwrap_or_default())
}

/// The beginning of what stands after a word.
pub(super) fn gap_after<'a>(text: &'a str, index: &Index, at: usize) -> Cow<'a, str> {
    let start = index.word(at).map_or(text.len(), |word| word.end);
    let end = index.word(at + 1).map_or(text.len(), |next| next.start);
    let gap = text.get(start..end).unwrap_or_default();
    let is_short = gap.len() <= GAP_CHARS;
    let cut = if is_short { None } else { gap.char_indices().nth(GAP_CHARS) };
    plain(gap.get(..cut.map_or(gap.len(), |(at, _)| at)).unwrap_or_default())
}

fn plain(gap: &str) -> Cow<'_, str> {
    // Most are one space.
    let has_escapes = gap.len() > 1 && gap.contains('\\');
    let plain = || gap.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "");
    if has_escapes { plain().into() } else { gap.into() }
}

/// Whether the word at this position gives an order.
fn is_order(text: &str, index: &Index, at: usize) -> bool {
    let next = index.word(at + 1);
    if next.is_some_and(|next| index.class(next).is(mark::NOUN_BEFORE)) || is_label(text, index, at) {
        return false;
    }
    let gap = gap_before(text, index, at);
    let Some(before) = at.checked_sub(1).and_then(|before| index.word(before)) else { return true };
    if joins(&gap, text, index.word(at)) {
        return false;
    }
    let shown = gap.trim_end_matches(|c: char| c.is_whitespace() || c == '\\');
    if gap.matches('\n').count() > 1 || shown.ends_with(LEADS) {
        return true;
    }
    let has_object = || next.is_some_and(|next| index.class(next).is(mark::DETERMINER));
    match shown {
        "" => is_led(index, at, before),
        "," => is_led(index, at, before) || has_object(),
        _ => shown.ends_with([',', '(']) && has_object(),
    }
}

/// Whether the word before says that an order follows.
fn is_led(index: &Index, at: usize, before: Word) -> bool {
    let class = index.class(before);
    let duty = || {
        at.checked_sub(2).and_then(|at| index.word(at)).is_some_and(|word| index.class(word).is(mark::DUTY))
    };
    class.is(mark::LEAD) || class.is(mark::TO) && duty()
}

/// `re-send`, `file_delete`, `www.open.com`: part of a longer name. A new sentence needs no space, but a capital.
fn joins(gap: &str, text: &str, word: Option<Word>) -> bool {
    let first = || text.get(word?.start..)?.chars().next();
    match gap {
        "-" | "/" | "@" => true,
        "." | "_" => !first().is_some_and(char::is_uppercase),
        _ => false,
    }
}

/// `email: …`, `"message": …`: the name of a field, or part of a longer name.
fn is_label(text: &str, index: &Index, at: usize) -> bool {
    let gap = gap_after(text, index, at);
    gap.starts_with(['-', '_', '/', ':', '=']) || gap.starts_with("\":") || gap.starts_with("':")
}

/// Whether `please`, `could you` or `you must` stands here: whatever verb follows, something is asked.
fn is_polite(text: &str, index: &Index, at: usize) -> bool {
    let class = |at| index.word(at).map(|word| index.class(word)).unwrap_or_default();
    let (first, second) = (class(at), class(at + 1));
    let third = || class(at + 2).is(mark::TO);
    let asks = first.is(mark::PLEASE)
        || first.is(mark::CAN) && second.is(mark::YOU)
        || first.is(mark::YOU) && (second.is(mark::MUST) || second.is(mark::HAVE) && third())
        || first.is(mark::WANT) && second.is(mark::YOU) && third();
    asks && !is_label(text, index, at)
}

/// From the word at this position to the end of its sentence.
fn sentence(text: &str, index: &Index, at: usize) -> Range<usize> {
    let Some(first) = index.word(at) else { return 0..0 };
    let last = first.start.saturating_add(REQUEST_BYTES_MAX);
    let (mut end, mut at) = (first.end, at);
    while let Some(word) = index.word(at).filter(|word| word.end <= last) {
        end = word.end;
        if ends(&gap_after(text, index, at), index.word(at + 1).is_none()) {
            break;
        }
        at += 1;
    }
    first.start..end
}

/// What is asked for at these positions, in whatever form.
pub(super) fn families_within(index: &Index, within: &Range<usize>) -> Families {
    let words = index.words().get(within.clone()).unwrap_or_default();
    words.iter().map(|word| index.class(*word)).fold(0, |all, class: Class| all | class.families)
}
