//! Where a text names a value.
//!
//! An argument of a call is *grounded* when somebody who may say it said it. A [`Matcher`] decides what counts as
//! saying it: the word by itself ([`Match::Token`]), an address however it is written ([`Match::Url`]), a number
//! with its separators ([`Locale`]). Comparing is exact beyond that: no normal form is applied, so that a
//! look-alike is never taken for a value.
//!
//! A message is made ready once, when it arrives ([`Prepared`]), a value once for all messages ([`Sought`]).
//! What is found are byte ranges of the message's own text.
//!
//! ```
//! use framegate_guard::ground::{Match, Matcher, Prepared, Sought};
//! use framegate_guard::json::{Document, Limits};
//!
//! let said = Prepared::new("Pay 1,250.50 EUR to ann@x.io.");
//! let call = Document::read(r#"{"to":"ann@x.io","amount":1250.5,"cc":"n@x.io"}"#.into(), &Limits::default())?;
//! let argument = |name| call.root().get(name).unwrap();
//! let token = Matcher::from(Match::Token);
//! assert_eq!(said.find(&token, argument("to")), [20..28]);
//! assert_eq!(&said.text()[Sought::new(&token, argument("amount")).find_in(&said)[0].clone()], "1,250.50");
//! assert!(!said.names(&token, argument("cc")));
//! # Ok::<(), framegate_guard::json::Fault>(())
//! ```
//!
//! # What costs what
//!
//! Both are linear whatever the text and the value are. Making ready: at most 1 µs for 100 bytes. Looking for a
//! value in 100 messages of 1 kB each: at most 100 µs. The first address that is looked for in a text which is not
//! ASCII reads all its addresses once.
//!
//! | limit | value | beyond it |
//! |---|---|---|
//! | a text | 4 GiB ([`TEXT_BYTES_MAX`]) | names nothing |
//! | an address, its host | 16 KiB, 1 KiB ([`crate::link::URL_BYTES_MAX`], [`crate::link::HOST_BYTES_MAX`]) | is none |
//! | places of a number before and after the point | 11,000 | is found nowhere |

mod border;
pub(crate) mod class;
mod fuzz;
mod grouped;
mod leaves;
mod number;
mod occurrences;
mod prepared;
mod sought;
mod view;
mod web;

use std::fmt;
use std::str::FromStr;

#[doc(hidden)]
pub use fuzz::fuzz;
pub use leaves::{Leaf, VALUES_MAX, leaves};
pub use prepared::{Prepared, TEXT_BYTES_MAX};
pub use sought::Sought;

/// When a text names a value. Numbers are compared as numbers under all of them but the two for addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Match {
    /// The value by itself, not inside a longer word, name, path or row of digits. Case counts.
    #[default]
    Token,
    /// Between blanks, brackets, straight quotes or punctuation.
    Whole,
    /// As token; numbers may have spaces between groups of three: `1 250`.
    Spaced,
    /// As token without case, curly quotes and long dashes as plain ones; `home/address` names both words.
    Nocase,
    /// As nocase without that exception; `#T90` may be written `T90`.
    Id,
    /// As nocase; an identifier of letters and digits however it is grouped: `DE89 3704` for `DE893704`.
    Grouped,
    /// The same place on the web: see [`crate::link::same_url`].
    Url,
    /// The same place, or one below it.
    UrlPrefix,
    /// Anywhere, inside other words too.
    Substring,
}

impl Match {
    const ALL: [(Match, &'static str); 9] = [
        (Match::Token, "token"),
        (Match::Whole, "whole"),
        (Match::Spaced, "spaced"),
        (Match::Nocase, "nocase"),
        (Match::Id, "id"),
        (Match::Grouped, "grouped"),
        (Match::Url, "url"),
        (Match::UrlPrefix, "url_prefix"),
        (Match::Substring, "substring"),
    ];

    /// All of them, as a policy spells them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Match::ALL.into_iter().map(|(_, name)| name)
    }
}

/// No such spelling.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is none of {known}")]
pub struct UnknownName {
    given: String,
    known: String,
}

fn named<T: Copy>(given: &str, all: &[(T, &str)]) -> Result<T, UnknownName> {
    let known = || all.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ");
    let found = all.iter().find(|(_, name)| *name == given);
    found.map(|(one, _)| *one).ok_or_else(|| UnknownName { given: given.to_owned(), known: known() })
}

impl FromStr for Match {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Match, UnknownName> {
        named(text, &Match::ALL)
    }
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Match::ALL.into_iter().find(|(how, _)| how == self);
        f.write_str(name.map_or("", |(_, name)| name))
    }
}

/// How numbers are written: what groups thousands, what marks decimals. The apostrophe groups everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Locale {
    /// `1'250.50`
    Ch,
    /// `1.250,50`
    De,
    /// `1,250.50`
    En,
    /// `1250,50`; with [`Match::Spaced`] `1 250,50`
    Fr,
}

impl Locale {
    const ALL: [(Locale, &'static str); 4] =
        [(Locale::Ch, "ch"), (Locale::De, "de"), (Locale::En, "en"), (Locale::Fr, "fr")];

    /// All of them, as a policy spells them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Locale::ALL.into_iter().map(|(_, name)| name)
    }
}

impl FromStr for Locale {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Locale, UnknownName> {
        named(text, &Locale::ALL)
    }
}

impl fmt::Display for Locale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Locale::ALL.into_iter().find(|(locale, _)| locale == self);
        f.write_str(name.map_or("", |(_, name)| name))
    }
}

/// How a value must be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Matcher {
    /// When a text names it.
    pub how: Match,
    /// How numbers are written. `None`: as in English, and a number that may be meant either way (`1,250`) is
    /// none.
    pub locale: Option<Locale>,
}

impl From<Match> for Matcher {
    fn from(how: Match) -> Matcher {
        Matcher { how, locale: None }
    }
}

/// Whether a value names the place on the web that was written, or one below it: [`crate::link::same_url`].
#[must_use]
pub fn same_url(value: &str, written: &str, prefix: bool) -> bool {
    use crate::link::PathRule;
    crate::link::same_url(value, written, if prefix { PathRule::Prefix } else { PathRule::Exact })
}
