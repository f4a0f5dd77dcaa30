//! The readings of a text: what it says to whoever decodes, unwraps or looks at it.

use std::ops::Range;

use super::fold::{Letters, fold};
use super::search::{Leads, Scripts, Search, View};
use super::{Kind, Reading, cipher, encoded, hidden, spaced, unwrap};

/// A decoded text is read again, so that an encoding may stand in another.
const DEPTH_MAX: usize = 3;

type Original<'a> = &'a dyn Fn(Range<usize>) -> Range<usize>;

/// Searches every reading that may differ from another.
pub(super) fn each(text: &str, search: &mut Search) {
    level(text, Reading::Written, &|span| span, 0, search);
}

/// A text that somebody may see or decode.
fn level(text: &str, reading: Reading, original: Original<'_>, depth: usize, search: &mut Search) {
    let leads = search.read(&View { text, reading, scripts: Scripts::All, original });
    follow(text, &leads, reading, original, depth, search);
    for piece in &leads.foreign {
        let Some(text) = text.get(piece.clone()) else { continue };
        let place = |span: Range<usize>| original(piece.start + span.start..piece.start + span.end);
        hidden_text(text, &place, depth, search);
        foreign(text, reading, &place, depth, search);
    }
}

fn hidden_text(text: &str, original: Original<'_>, depth: usize, search: &mut Search) {
    if depth >= DEPTH_MAX {
        return;
    }
    for piece in hidden::find(text) {
        let inner = if piece.is_invisible { Reading::Hidden } else { Reading::Reversed };
        if piece.is_invisible {
            search.add(piece.rule, Kind::Hidden, original(piece.at.clone()), inner);
        }
        level(piece.text.text(), inner, &|span| original(piece.text.original(span)), depth + 1, search);
    }
}

/// Sentences with characters outside ASCII, folded.
fn foreign(text: &str, reading: Reading, original: Original<'_>, depth: usize, search: &mut Search) {
    let latin = fold(text, Letters::Latin, search.known(Letters::Latin));
    let place = |span: Range<usize>| original(latin.mapped.original(span));
    let shown = reading.or(if latin.mapped.text() == text { Reading::Written } else { Reading::Folded });
    let view = View { text: latin.mapped.text(), reading: shown, scripts: Scripts::Latin, original: &place };
    let leads = search.read(&view);
    follow(latin.mapped.text(), &leads, reading, &place, depth, search);
    for (letters, scripts, wanted) in
        [(Letters::LatinI, Scripts::Latin, latin.has_l), (Letters::Own, Scripts::Others, latin.has_other)]
    {
        if wanted {
            let folded = fold(text, letters, search.known(letters));
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

/// A text that was taken out of its wrapping: its characters are folded, and codes in it are decoded.
fn inner(text: &str, reading: Reading, original: Original<'_>, depth: usize, search: &mut Search) {
    if depth < DEPTH_MAX {
        level(text, reading, original, depth + 1, search);
    }
}

impl Reading {
    /// How a reading of a reading is called: by the outer one, which says more.
    fn or(self, inner: Reading) -> Reading {
        if self == Reading::Written { inner } else { self }
    }
}
