//! A value, made ready to be looked for in many texts.

use std::fmt;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use super::border::{self, Border, Edges};
use super::class;
use super::grouped::Grouped;
use super::number::Number;
use super::occurrences::Needle;
use super::prepared::Prepared;
use super::view;
use super::web::Address;
use super::{Match, Matcher};
use crate::json::{Kind, Value};
use crate::link::PathRule;

/// One scalar value as its matcher looks for it. What can stand nowhere (blank text, no address, a list) is found
/// nowhere.
#[derive(Debug, Clone)]
pub struct Sought(What);

#[derive(Debug, Clone)]
enum What {
    Nothing,
    Word(Word),
    Number(Number),
    Address(Address),
    Closure(Closure),
    Grouped(Grouped),
}

/// Finds a value in its own way.
#[derive(Clone)]
struct Closure(Arc<Find>);

type Find = dyn Fn(&str) -> Vec<Range<usize>> + Send + Sync;

impl fmt::Debug for Closure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closure")
    }
}

#[derive(Debug, Clone)]
struct Word {
    needle: Needle,
    edges: Edges,
    border: Border,
    folded: bool,
    /// For `#T90`, which may be written `T90` too: edges of the whole.
    numbered: Option<Edges>,
}

impl Sought {
    /// A value of a call: a string, a number, or a boolean. `null`, lists and objects are found nowhere:
    /// [`super::leaves`] gives what is in them.
    #[must_use]
    pub fn new(matcher: &Matcher, value: Value<'_>) -> Sought {
        match value.kind() {
            Kind::String => Sought::text(matcher, value.as_str().unwrap_or_default()),
            Kind::Number => Sought::number(matcher, value.raw()),
            // As the systems that wrote the rules spell them.
            Kind::Bool => Sought::text(matcher, if value.raw() == "true" { "True" } else { "False" }),
            Kind::Null | Kind::Array | Kind::Object => Sought(What::Nothing),
        }
    }

    /// A text.
    #[must_use]
    pub fn text(matcher: &Matcher, text: &str) -> Sought {
        let rule = match matcher.how {
            Match::Url => PathRule::Exact,
            Match::UrlPrefix => PathRule::Prefix,
            Match::Grouped if let Some(grouped) = Grouped::new(&view::folded_value(text)) => {
                return Sought(What::Grouped(grouped));
            }
            how => return Sought(Word::new(how, text).map_or(What::Nothing, What::Word)),
        };
        Sought(Address::new(text, rule).map_or(What::Nothing, What::Address))
    }

    /// What a closure finds in a text, as byte ranges of it; empty ones and those that cut a character do not count.
    ///
    /// ```
    /// use framegate_guard::ground::{Prepared, Sought};
    /// let initials = Sought::by(|text| text.match_indices("A. L.").map(|(at, it)| at..at + it.len()).collect());
    /// assert!(initials.is_in(&Prepared::new("ask A. L.")));
    /// ```
    #[must_use]
    pub fn by(find: impl Fn(&str) -> Vec<Range<usize>> + Send + Sync + 'static) -> Sought {
        Sought(What::Closure(Closure(Arc::new(find))))
    }

    fn number(matcher: &Matcher, json: &str) -> Sought {
        if matches!(matcher.how, Match::Url | Match::UrlPrefix) {
            return Sought(What::Nothing);
        }
        let number = Number::new(json, matcher.locale, matcher.how == Match::Spaced);
        Sought(number.map_or(What::Nothing, What::Number))
    }

    /// Whether nothing is looked for: no text can name the value.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        matches!(self.0, What::Nothing)
    }

    /// Where the text names it, first to last: bytes of the original text, on borders of characters.
    #[must_use]
    pub fn find_in(&self, text: &Prepared) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        let _ = self.each(text, |span| {
            spans.push(span);
            ControlFlow::Continue(())
        });
        // Addresses are found in two goes.
        spans.sort_unstable_by_key(|span| span.start);
        spans
    }

    /// Whether the text names it.
    #[must_use]
    pub fn is_in(&self, text: &Prepared) -> bool {
        self.each(text, |_| ControlFlow::Break(())).is_break()
    }

    fn each(
        &self,
        text: &Prepared,
        mut found: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match &self.0 {
            What::Nothing => ControlFlow::Continue(()),
            What::Word(word) => word.each(text, found),
            What::Number(number) => {
                number.each(text.plain(), text.digits(), |span| found(text.plain_span(span)))
            }
            What::Grouped(grouped) => grouped.each(text.folded(), |span| found(text.folded_span(span))),
            What::Address(address) => each_address(address, text, &mut found),
            What::Closure(closure) => (closure.0)(text.text()).into_iter().try_for_each(|span| {
                match text.text().get(span.clone()) {
                    Some(quote) if !quote.is_empty() => found(span),
                    _ => ControlFlow::Continue(()),
                }
            }),
        }
    }
}

fn each_address(
    address: &Address,
    text: &Prepared,
    found: &mut impl FnMut(Range<usize>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    // Several letters of one address may be the host's: `a.b/a.b`.
    let mut done = 0;
    address.each_host(text.folded(), |at| {
        let at = text.folded_to_plain(at);
        if at < done {
            return ControlFlow::Continue(());
        }
        let around = address.around(text.plain(), at);
        done = around.end;
        around.found.map_or(ControlFlow::Continue(()), |span| found(text.plain_span(span)))
    })?;
    address.each_odd(text.odd(), |span| found(text.plain_span(span)))
}

impl Word {
    fn new(how: Match, value: &str) -> Option<Word> {
        let (border, folded) = match how {
            Match::Substring => (Border::None, false),
            Match::Token | Match::Spaced => (Border::Token, false),
            Match::Whole => (Border::Whole, false),
            Match::Nocase | Match::Grouped => (Border::TokenOrPair, true),
            Match::Id => (Border::Token, true),
            Match::Url | Match::UrlPrefix => return None,
        };
        let value = if folded { view::folded_value(value).into() } else { view::plain_value(value) };
        if value.chars().all(class::is_space) {
            return None;
        }
        // Of signs alone there is no name behind the sign: `#` for `##` would be found twice at one place.
        let is_name = |bare: &str| bare.chars().any(|c| c != '#');
        let bare = value.strip_prefix('#').filter(|bare| how == Match::Id && is_name(bare));
        let numbered = bare.map(|_| Edges::of(&value));
        let value = bare.unwrap_or(&value);
        Some(Word { needle: Needle::new(value)?, edges: Edges::of(value), border, folded, numbered })
    }

    fn each(
        &self,
        prepared: &Prepared,
        mut found: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let text = if self.folded { prepared.folded() } else { prepared.plain() };
        self.needle.each(text, |start| {
            let Some(span) = self.holds(text, start) else { return ControlFlow::Continue(()) };
            found(if self.folded { prepared.folded_span(span) } else { prepared.plain_span(span) })
        })
    }

    fn holds(&self, text: &str, start: usize) -> Option<Range<usize>> {
        let span = start..start + self.needle.len();
        if let Some(edges) = self.numbered
            && text.get(..start).is_some_and(|before| before.ends_with('#'))
        {
            let numbered = start - 1..span.end;
            if border::holds(self.border, text, &numbered, edges) {
                return Some(numbered);
            }
        }
        border::holds(self.border, text, &span, self.edges).then_some(span)
    }
}
