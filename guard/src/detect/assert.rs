//! What must hold for any text, as functions for the fuzzer; also run over a corpus as an ordinary test.

mod folding;
#[cfg(any(test, fuzzing))]
mod linear;

use super::{Explained, Looking, PASSAGES_MAX, Scan, WORK_BASE, WORK_PER_BYTE, explain, scan};

#[doc(hidden)]
pub use folding::fuzz_folding;
#[cfg(test)]
pub(super) use linear::{SLOPE_MAX, slope};

/// Clean text in two languages.
const CLEAN: &str = "The museum opens at nine.\n\nDas Museum ist bis f\u{fc}nf ge\u{f6}ffnet.\n\n";

/// Reads the bytes as a text, as far as they are one, and asserts what must hold.
///
/// # Panics
/// When something does not hold.
#[doc(hidden)]
pub fn fuzz(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for looking in [Looking::Output, Looking::User, Looking::Description] {
        let Explained { scan, bytes_read, .. } = explain(&text, looking);
        assert_quotes(&text, &scan);
        assert!(
            bytes_read <= WORK_BASE + WORK_PER_BYTE * text.len(),
            "{bytes_read} bytes read of {}",
            text.len()
        );
        assert_clean_hides_nothing(&text, looking, &scan);
    }
    #[cfg(any(test, fuzzing))]
    linear::assert_linear(&text);
}

/// Every passage is a piece of the text, they are in order, and none lies within another.
fn assert_quotes(text: &str, scan: &Scan) {
    assert!(scan.passages.len() <= PASSAGES_MAX);
    let mut last = 0;
    for passage in &scan.passages {
        let quote = text.get(passage.span.clone());
        assert!(quote.is_some_and(|quote| !quote.is_empty()), "{passage:?} is no piece of the text");
        assert!(passage.span.start >= last, "{passage:?} begins before {last}");
        last = passage.span.end;
    }
}

/// Clean text before and behind it takes no finding away: each of them is found where it stands now.
fn assert_clean_hides_nothing(text: &str, looking: Looking, before: &Scan) {
    let surrounded = format!("{CLEAN}{text}\n\n{CLEAN}");
    let after = scan(&surrounded, looking);
    assert!(!before.carries() || after.carries(), "clean text hides {before:?}");
    if before.is_complete && after.is_complete {
        assert_still_found(before, &after, |at| at + CLEAN.len(), &surrounded);
    }
}

/// Each byte of each passage is found again where `moved` says that it is now, but for gaps at its borders: what
/// is put between two sentences parts a passage that was both. What is one passage still is the same finding.
pub(super) fn assert_still_found(before: &Scan, after: &Scan, moved: impl Fn(usize) -> usize, text: &str) {
    for passage in &before.passages {
        let span = moved(passage.span.start)..moved(passage.span.end - 1) + 1;
        let same = after.passages.iter().find(|found| found.span == span);
        assert!(
            same.is_none_or(|found| (found.rule, found.kind) == (passage.rule, passage.kind)),
            "{passage:?} is another finding in {text:?}: {same:?}"
        );
        for at in passage.span.clone().map(&moved) {
            let byte = text.as_bytes().get(at);
            let is_gap = byte.is_some_and(|byte| byte.is_ascii_whitespace() || byte.is_ascii_punctuation());
            let is_found = after.passages.iter().any(|found| found.span.contains(&at));
            assert!(is_gap || is_found, "{passage:?} is gone at {at} of {text:?}: {:?}", after.passages);
        }
    }
}
