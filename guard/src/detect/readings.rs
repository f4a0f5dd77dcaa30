//! The readings of a text: what it says to whoever decodes, unwraps or looks at it.

use std::ops::Range;

use super::fold::{Letters, fold};
use super::search::{Scripts, Search};
use super::{Kind, Reading, cipher, encoded, hidden, spaced, unwrap};

/// A decoded text is read again, so that an encoding may stand in another.
const DEPTH_MAX: usize = 2;

type Original<'a> = &'a dyn Fn(Range<usize>) -> Range<usize>;

/// Searches every reading that may differ from another.
pub(super) fn each(text: &str, search: &mut Search) {
    level(text, Reading::Written, &|span| span, 0, search);
}

fn level(text: &str, reading: Reading, original: Original<'_>, depth: usize, search: &mut Search) {
    if depth < DEPTH_MAX {
        for piece in hidden::find(text) {
            let inner = if piece.is_invisible { Reading::Hidden } else { Reading::Reversed };
            if piece.is_invisible {
                search.add(piece.rule, Kind::Hidden, original(piece.at.clone()), inner);
            }
            level(piece.text.text(), inner, &|span| original(piece.text.original(span)), depth + 1, search);
        }
        for piece in encoded::find(text) {
            level(&piece.text, piece.reading, &|_| original(piece.at.clone()), depth + 1, search);
        }
    }
    let ciphered = letters(text, reading, original, search);
    for (at, inner) in ciphered {
        let plain = cipher::decipher(text, at, inner);
        letters(plain.text(), inner, &|span| original(plain.original(span)), search);
    }
}

/// Reads the text with its characters folded, then unwrapped, then with letters put together. Gives the
/// sentences that seem to be ciphered.
fn letters(
    text: &str,
    reading: Reading,
    original: Original<'_>,
    search: &mut Search,
) -> Vec<(Range<usize>, Reading)> {
    let Some(folded) = fold(text, Letters::Latin) else {
        search.read(text, reading, Scripts::All, original);
        let ciphered = search.take_ciphered();
        wrapped(text, reading, original, search);
        return ciphered;
    };
    let latin = folded.mapped.text();
    let place = |span: Range<usize>| original(folded.mapped.original(span));
    search.read(latin, reading.or(Reading::Folded), Scripts::Latin, &place);
    // Ciphers are ASCII; what is folded is not.
    search.take_ciphered();
    wrapped(latin, reading, &place, search);
    for (letters, scripts, wanted) in
        [(Letters::LatinI, Scripts::Latin, folded.has_l), (Letters::Own, Scripts::Others, folded.has_other)]
    {
        if let Some(folded) = fold(text, letters).filter(|_| wanted) {
            let place = |span: Range<usize>| original(folded.mapped.original(span));
            search.read(folded.mapped.text(), reading.or(Reading::Folded), scripts, &place);
        }
    }
    search.take_ciphered();
    Vec::new()
}

fn wrapped(text: &str, reading: Reading, original: Original<'_>, search: &mut Search) {
    if let Some(bare) = unwrap::unwrap(text) {
        let place = |span: Range<usize>| original(bare.original(span));
        let reading = reading.or(Reading::Unwrapped);
        match fold(bare.text(), Letters::Latin) {
            None => search.read(bare.text(), reading, Scripts::All, &place),
            Some(folded) => {
                let place = |span: Range<usize>| place(folded.mapped.original(span));
                search.read(folded.mapped.text(), reading, Scripts::Latin, &place);
            }
        }
    }
    if let Some(joined) = spaced::join(text) {
        let place = |span: Range<usize>| original(joined.original(span));
        search.read(joined.text(), reading.or(Reading::Spaced), Scripts::All, &place);
    }
}

impl Reading {
    /// How a reading of a reading is called: by the outer one, which says more.
    fn or(self, inner: Reading) -> Reading {
        if self == Reading::Written { inner } else { self }
    }
}
