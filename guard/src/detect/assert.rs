//! What must hold for any text, as one function for the fuzzer; also run over a corpus as an ordinary test.

use super::{Explained, Looking, PASSAGES_MAX, Scan, WORK_BASE, WORK_PER_BYTE, explain, scan};

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

/// Clean text before and behind it takes no finding away.
fn assert_clean_hides_nothing(text: &str, looking: Looking, before: &Scan) {
    let surrounded = format!("{CLEAN}{text}\n\n{CLEAN}");
    let after = scan(&surrounded, looking);
    assert!(!before.carries() || after.carries(), "clean text hides {before:?}");
}
