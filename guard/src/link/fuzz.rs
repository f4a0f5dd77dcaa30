//! One function for the fuzzer; also run over a corpus as an ordinary test.

use super::{PathRule, host, is_below, parts, same_url};

/// Takes two addresses with a line feed between them; asserts what must hold.
///
/// # Panics
/// When something does not hold.
pub fn fuzz(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (value, written) = text.split_once('\n').unwrap_or((&text, &text));
    for rule in [PathRule::Exact, PathRule::Prefix] {
        assert_eq!(same_url(value, value, rule), parts(value).is_some());
    }
    // What is the same place is below it too.
    if same_url(value, written, PathRule::Exact) {
        assert!(same_url(value, written, PathRule::Prefix) && is_below(value, written));
    }
    let Some(found) = parts(value) else { return };
    assert!(found.host.bytes().all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase()));
    assert!(!found.host.contains(['/', '?', '#', '@', '\\', '%']));
    assert!(!found.path.split('/').any(|segment| segment == ".."));
    // The web's own reader may refuse more, but takes it for no other host. (ß and numbers are read in more than
    // one way on purpose.)
    let is_number = |label: &str| label.starts_with(|c: char| c.is_ascii_digit());
    let odd = value.contains(['ß', 'ẞ', 'ς', '[']) || found.host.rsplit('.').next().is_some_and(is_number);
    if let (false, Ok(host)) = (odd, host(value)) {
        assert_eq!(host.trim_start_matches("www."), found.host.trim_start_matches("www."));
    }
}
