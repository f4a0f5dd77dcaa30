//! A message made ready once, when it arrives.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::view::View;
use super::{Matcher, Sought, number, web};
use crate::json::Value;

/// The longest text that is made ready, in bytes; in a longer one nothing is found. (No frame is that long.)
pub const TEXT_BYTES_MAX: usize = u32::MAX as usize;

/// A text and what is needed to look for values in it. Cheap to clone.
///
/// Making it takes at most a microsecond for 100 bytes, and memory for about one copy of the text.
#[derive(Clone)]
pub struct Prepared(Arc<Inner>);

struct Inner {
    text: Box<str>,
    plain: View,
    folded: View,
    /// Where digits begin in the plain view.
    digits: Box<[u32]>,
    /// Only texts in which an address is looked for need it, and it costs more than all the rest.
    odd: OnceLock<Box<[web::Odd]>>,
}

impl Prepared {
    /// Makes a text ready.
    #[must_use]
    pub fn new(text: &str) -> Prepared {
        Prepared::from(text.to_owned())
    }

    /// The text itself.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Where it names one scalar value: bytes of the text, on borders of characters, first to last. For the same
    /// value in several texts [`Sought`] is made once.
    #[must_use]
    pub fn find(&self, matcher: &Matcher, value: Value<'_>) -> Vec<Range<usize>> {
        Sought::new(matcher, value).find_in(self)
    }

    /// Whether it names one scalar value.
    #[must_use]
    pub fn names(&self, matcher: &Matcher, value: Value<'_>) -> bool {
        Sought::new(matcher, value).is_in(self)
    }

    pub(super) fn plain(&self) -> &str {
        self.0.plain.text(&self.0.text)
    }

    pub(super) fn folded(&self) -> &str {
        self.0.folded.text(&self.0.text)
    }

    pub(super) fn digits(&self) -> &[u32] {
        &self.0.digits
    }

    pub(super) fn odd(&self) -> &[web::Odd] {
        self.0.odd.get_or_init(|| web::odd(self.plain()))
    }

    pub(super) fn plain_span(&self, span: Range<usize>) -> Range<usize> {
        self.0.plain.original(&self.0.text, span)
    }

    pub(super) fn folded_span(&self, span: Range<usize>) -> Range<usize> {
        self.0.folded.original(&self.0.text, span)
    }

    pub(super) fn folded_to_plain(&self, at: usize) -> usize {
        self.0.plain.place_of(self.0.folded.place(at))
    }
}

impl From<String> for Prepared {
    fn from(text: String) -> Prepared {
        let readable = if text.len() > TEXT_BYTES_MAX { "" } else { text.as_str() };
        let plain = View::plain(readable);
        let folded = View::folded(readable);
        let digits = number::runs(plain.text(readable));
        let odd = OnceLock::new();
        if readable.len() == text.len() {
            return Prepared(Arc::new(Inner { text: text.into(), plain, folded, digits, odd }));
        }
        let nothing = || View::nothing();
        Prepared(Arc::new(Inner { text: text.into(), plain: nothing(), folded: nothing(), digits, odd }))
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Prepared").field(&self.text()).finish()
    }
}

impl PartialEq for Prepared {
    fn eq(&self, other: &Prepared) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Prepared {}
