//! The readings of a text.

use crate::text::{self, Normalized};

use super::Reading;
use super::search::{Scripts, Search};

/// Searches every reading that may differ from another.
pub(super) fn each(text: &str, search: &mut Search) {
    if text.is_ascii() {
        search.read(text, Reading::Written, Scripts::All, &|span| span);
        return;
    }
    let latin = Normalized::of(text, text::Reading::LATIN);
    let reading =
        |folded: &Normalized| if folded.text() == text { Reading::Written } else { Reading::Folded };
    search.read(latin.text(), reading(&latin), Scripts::Latin, &|span| latin.original(span));
    let plain = Normalized::of(text, text::Reading::PLAIN);
    search.read(plain.text(), reading(&plain), Scripts::Others, &|span| plain.original(span));
}
