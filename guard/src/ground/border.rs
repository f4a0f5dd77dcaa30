//! Where a value ends: what must not stand beside it.

use std::ops::Range;

use super::class::{is_alphanumeric, is_digit, is_letter, is_space, is_word};

/// Between two words these make one name of them: `ann.b`, `ann@x.io`, `key-ring`, `a/b`, `10:30`.
const JOINTS: &[char] = &['.', '@', '-', '/', ':', '_'];

/// What surrounds a whole value, besides the text's ends.
const SURROUNDS: &[char] =
    &[' ', '\t', '\r', '\n', '"', '\'', '`', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', ':', '!', '?'];

/// What is taken off both ends of a word.
const WRAPS: &[char] = &['"', '\'', '`', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', ':', '!', '?'];

/// How a value must stand in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Border {
    /// Anywhere.
    None,
    /// Not inside a longer name.
    Token,
    /// The same, but `home/address` names both words.
    TokenOrPair,
    /// Between blanks, quotes, brackets or punctuation.
    Whole,
}

/// What of a value decides how it must stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edges {
    starts_with_word: bool,
    ends_with_word: bool,
    all_digits: bool,
}

impl Edges {
    pub(super) fn of(value: &str) -> Edges {
        Edges {
            starts_with_word: value.chars().next().is_some_and(is_word),
            ends_with_word: value.chars().next_back().is_some_and(is_word),
            all_digits: value.chars().all(is_digit),
        }
    }
}

/// Whether the value at that place ends where the value ends.
pub(super) fn holds(border: Border, text: &str, span: &Range<usize>, edges: Edges) -> bool {
    match border {
        Border::None => true,
        Border::Token => is_token(text, span, edges, false),
        Border::TokenOrPair => is_token(text, span, edges, true),
        Border::Whole => is_whole(text, span),
    }
}

fn is_token(text: &str, span: &Range<usize>, edges: Edges, pairs: bool) -> bool {
    let (mut before, mut after) = (before(text, span.start), after(text, span.end));
    let (left, right) = (before.next(), after.next());
    if edges.starts_with_word && left.is_some_and(is_word)
        || edges.ends_with_word && right.is_some_and(is_word)
    {
        return false;
    }
    let is_joint = |joint: Option<char>, beyond: Option<char>| {
        joint.is_some_and(|c| JOINTS.contains(&c)) && beyond.is_some_and(is_word)
    };
    let pair = |joint: Option<char>, slash: usize| pairs && joint == Some('/') && is_pair(text, slash);
    if is_joint(left, before.next()) && !pair(left, span.start.saturating_sub(1))
        || is_joint(right, after.next()) && !pair(right, span.end)
    {
        return false;
    }
    !(edges.all_digits && is_glued(text, span))
}

fn is_whole(text: &str, span: &Range<usize>) -> bool {
    let surrounds = |c: char| SURROUNDS.contains(&c);
    let mut after = after(text, span.end);
    before(text, span.start).next().is_none_or(surrounds)
        && match after.next() {
            None => true,
            Some('.') => after.next().is_none_or(is_space),
            Some(c) => surrounds(c),
        }
}

/// Whether digits go on beside these: joined to a name (`7-B`), or in groups (`4111 1111`).
pub(super) fn is_glued(text: &str, span: &Range<usize>) -> bool {
    goes_on(before(text, span.start)) || goes_on(after(text, span.end))
}

fn goes_on(mut beside: impl Iterator<Item = char>) -> bool {
    match beside.next() {
        Some(' ') => beside.take_while(|c| is_alphanumeric(*c)).any(is_digit),
        Some(c) => JOINTS.contains(&c) && beside.next().is_some_and(is_alphanumeric),
        None => false,
    }
}

/// Whether the slash stands between two words of letters, and nothing else is in that piece of the text.
fn is_pair(text: &str, slash: usize) -> bool {
    let left = before(text, slash);
    let right = after(text, slash + 1);
    ends_word(left, false) && ends_word(right, true)
}

/// Letters with inner hyphens, then quotes and brackets, a dot among them at the end, up to a blank.
fn ends_word(outwards: impl Iterator<Item = char>, dot: bool) -> bool {
    let mut outwards = outwards.peekable();
    let mut letter = false;
    while let Some(c) = outwards.next_if(|c| is_letter(*c) || letter && *c == '-') {
        letter = c != '-';
    }
    if !letter {
        return false;
    }
    let mut dots = usize::from(dot);
    for c in outwards {
        match c {
            '.' if dots > 0 => dots -= 1,
            _ if is_space(c) => return true,
            _ if !WRAPS.contains(&c) => return false,
            _ => {}
        }
    }
    true
}

/// The characters before a place, the nearest first.
pub(super) fn before(text: &str, at: usize) -> impl Iterator<Item = char> {
    text.get(..at).unwrap_or_default().chars().rev()
}

/// The characters from a place on.
pub(super) fn after(text: &str, at: usize) -> impl Iterator<Item = char> {
    text.get(at..).unwrap_or_default().chars()
}
