//! The readings of a text: what it says to whoever decodes, unwraps or looks at it.

use std::ops::Range;

use super::fold::{Letters, fold};
use super::search::{Leads, Scripts, Search, View};
use super::{Kind, Reading, cipher, encoded, hidden, spaced, unwrap};

/// A decoded text is read again, so that an encoding may stand in another.
const DEPTH_MAX: usize = 2;

type Original<'a> = &'a dyn Fn(Range<usize>) -> Range<usize>;

/// Searches every reading that may differ from another.
pub(super) fn each(text: &str, search: &mut Search) {
    level(text, Reading::Written, &|span| span, 0, search);
}

/// A text that somebody may see or decode.
fn level(text: &str, reading: Reading, original: Original<'_>, depth: usize, search: &mut Search) {
    if !text.is_ascii() && depth < DEPTH_MAX {
        for piece in hidden::find(text) {
            let inner = if piece.is_invisible { Reading::Hidden } else { Reading::Reversed };
            if piece.is_invisible {
                search.add(piece.rule, Kind::Hidden, original(piece.at.clone()), inner);
            }
            level(piece.text.text(), inner, &|span| original(piece.text.original(span)), depth + 1, search);
        }
    }
    let Some(folded) = fold(text, Letters::Latin) else {
        let leads = search.read(&View { text, reading, scripts: Scripts::All, original });
        return follow(text, &leads, reading, original, depth, search);
    };
    let place = |span: Range<usize>| original(folded.mapped.original(span));
    let latin = folded.mapped.text();
    let shown = reading.or(if latin == text { Reading::Written } else { Reading::Folded });
    let leads = search.read(&View { text: latin, reading: shown, scripts: Scripts::Latin, original: &place });
    follow(latin, &leads, reading, &place, depth, search);
    for (letters, scripts, wanted) in
        [(Letters::LatinI, Scripts::Latin, folded.has_l), (Letters::Own, Scripts::Others, folded.has_other)]
    {
        if let Some(folded) = fold(text, letters).filter(|_| wanted) {
            let place = |span: Range<usize>| original(folded.mapped.original(span));
            let shown =
                reading.or(if folded.mapped.text() == text { Reading::Written } else { Reading::Folded });
            search.read(&View { text: folded.mapped.text(), reading: shown, scripts, original: &place });
        }
    }
}

/// Reads what the pass over the words gave reason to.
fn follow(
    text: &str,
    leads: &Leads,
    reading: Reading,
    original: Original<'_>,
    depth: usize,
    search: &mut Search,
) {
    for (at, inner) in &leads.ciphered {
        let plain = cipher::decipher(text, at.clone(), *inner);
        search.read(&View {
            text: plain.text(),
            reading: *inner,
            scripts: Scripts::Latin,
            original: &|span| original(plain.original(span)),
        });
    }
    if let Some(bare) = unwrap::unwrap(text, &leads.wrapped) {
        let place = |span: Range<usize>| original(bare.original(span));
        inner(bare.text(), reading.or(Reading::Unwrapped), &place, depth, search);
    }
    if let Some(joined) = spaced::join(text, &leads.spaced) {
        let place = |span: Range<usize>| original(joined.original(span));
        inner(joined.text(), reading.or(Reading::Spaced), &place, depth, search);
    }
    if depth < DEPTH_MAX {
        for piece in encoded::find(text, &leads.encoded) {
            level(&piece.text, piece.reading, &|_| original(piece.at.clone()), depth + 1, search);
        }
    }
}

/// A text that was taken out of its wrapping: its characters are folded again, and codes in it are decoded.
fn inner(text: &str, reading: Reading, original: Original<'_>, depth: usize, search: &mut Search) {
    let folded = fold(text, Letters::Latin);
    let mapped = folded.as_ref().map(|folded| &folded.mapped);
    let latin = mapped.map_or(text, |mapped| mapped.text());
    let place =
        |span: Range<usize>| original(mapped.map_or(span.clone(), |mapped| mapped.original(span.clone())));
    let scripts = if mapped.is_some() { Scripts::Latin } else { Scripts::All };
    let leads = search.read(&View { text: latin, reading, scripts, original: &place });
    if depth < DEPTH_MAX && reading == Reading::Unwrapped {
        for piece in encoded::find(latin, &leads.encoded) {
            level(&piece.text, piece.reading, &|_| place(piece.at.clone()), depth + 1, search);
        }
    }
    if let Some(folded) = fold(text, Letters::Own).filter(|folded| folded.has_other) {
        let place = |span: Range<usize>| original(folded.mapped.original(span));
        search.read(&View {
            text: folded.mapped.text(),
            reading,
            scripts: Scripts::Others,
            original: &place,
        });
    }
}

impl Reading {
    /// How a reading of a reading is called: by the outer one, which says more.
    fn or(self, inner: Reading) -> Reading {
        if self == Reading::Written { inner } else { self }
    }
}
