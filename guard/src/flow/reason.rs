//! What a person is told.

use std::ops::Range;

use super::follow::Part;
use super::value::Sought;
use super::{Flow, Link};
use crate::detect::Reading;

/// Characters of a quotation.
const QUOTE_CHARS_MAX: usize = 160;
/// Characters of a value.
const VALUE_CHARS_MAX: usize = 60;

pub(crate) fn lost() -> Flow {
    let reason = "the call could not be followed to where its values come from: there is too much to compare"
        .to_owned();
    Flow { link: Link::Lost, argument: None, reason, evidence: Vec::new() }
}

pub(super) fn named(part: &Part<'_>, value: &Sought, place: Range<usize>) -> Flow {
    // The sentence after an order often has its values; said to be in the order, it would be a lie.
    let core = &part.region.core;
    let is_inside = core.start <= place.start && place.end <= core.end;
    let how = if is_inside { "only" } else { "stands only in or beside" };
    let names = if is_inside { " names" } else { "" };
    let reason = format!(
        "{} is `{}`, which {how} {}{names}: {}",
        about(Some(value)),
        shown(&value.text, VALUE_CHARS_MAX),
        source(part),
        quote(part)
    );
    flow(Link::Named, part, Some(value), reason, Some(place))
}

pub(super) fn carried(part: &Part<'_>, value: Option<&Sought>, place: Range<usize>) -> Flow {
    let what = part.heard.text.get(place.clone()).unwrap_or_default();
    let what = shown(what, VALUE_CHARS_MAX);
    let reason =
        format!("{} holds `{what}`, which only {} names: {}", about(value), source(part), quote(part));
    flow(Link::Carried, part, value, reason, Some(place))
}

pub(super) fn copied(part: &Part<'_>, value: &Sought, place: Range<usize>) -> Flow {
    let words = shown(part.heard.text.get(place.clone()).unwrap_or_default(), VALUE_CHARS_MAX);
    let reason = format!("{} repeats `{words}` from {}: {}", about(Some(value)), source(part), quote(part));
    flow(Link::Copied, part, Some(value), reason, Some(place))
}

pub(super) fn asked(part: &Part<'_>, value: &Sought, place: Range<usize>) -> Flow {
    let what = shown(&value.text, VALUE_CHARS_MAX);
    let reason = format!(
        "{} asks for this very call, with `{what}` for {}: {}",
        source(part),
        about(Some(value)),
        quote(part)
    );
    flow(Link::Asked, part, Some(value), reason, Some(place))
}

pub(super) fn asked_openly(part: &Part<'_>) -> Flow {
    let reason = format!("{} asks for such a call: {}", source(part), quote(part));
    flow(Link::Asked, part, None, reason, None)
}

pub(super) fn concealed(part: &Part<'_>, reading: Reading) -> Flow {
    let how = match reading {
        Reading::Hidden => "in characters that nobody sees".to_owned(),
        Reading::Reversed => "turned round".to_owned(),
        Reading::Unwrapped => "in escapes".to_owned(),
        other => format!("as {other:?}").to_lowercase(),
    };
    let reason = format!("{} hides what it asks for ({how}): it may be this call", source(part));
    flow(Link::Concealed, part, None, reason, None)
}

fn flow(
    link: Link,
    part: &Part<'_>,
    value: Option<&Sought>,
    reason: String,
    place: Option<Range<usize>>,
) -> Flow {
    let passage = std::iter::once(part.region.core.clone());
    let evidence = passage.chain(place).map(|span| (part.message, span)).collect();
    Flow { link, argument: value.map(|value| value.path.clone()), reason, evidence }
}

fn about(value: Option<&Sought>) -> String {
    value.map_or_else(
        || "the arguments together".to_owned(),
        |value| format!("`{}`", shown(&value.path, VALUE_CHARS_MAX)),
    )
}

/// Which passage: `a passage of the output of … that reads like an instruction`.
fn source(part: &Part<'_>) -> String {
    let tool =
        part.heard.tool.map(|tool| format!(" of `{}`", shown(tool, VALUE_CHARS_MAX))).unwrap_or_default();
    match part.region.rule {
        Some(rule) => format!("a passage in an output{tool} that reads like an instruction ({rule})"),
        None => format!("a request in an output{tool}"),
    }
}

fn quote(part: &Part<'_>) -> String {
    format!("“{}”", shown(part.heard.text.get(part.region.core.clone()).unwrap_or_default(), QUOTE_CHARS_MAX))
}

/// A text of others on one line, cut, without what cannot be seen.
fn shown(text: &str, max: usize) -> String {
    let seen = |c: char| !crate::look::is_unseen(c);
    let words: Vec<String> =
        text.split_whitespace().map(|word| word.chars().filter(|c| seen(*c)).collect()).collect();
    let line = words.join(" ");
    let mut cut: String = line.chars().take(max).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    cut
}
