//! One function for the fuzzer; also run over a corpus as an ordinary test.

use super::{Locale, Match, Matcher, Prepared, Sought};
use crate::json::{Document, Limits};

/// Takes a byte that picks the matcher, a value (JSON, else a text), a line feed and a text; asserts what must hold.
///
/// # Panics
/// When something does not hold.
pub fn fuzz(bytes: &[u8]) {
    let Some((pick, rest)) = bytes.split_first() else { return };
    let split = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let (value, text) = rest.split_at(split);
    let (value, text) = (String::from_utf8_lossy(value), String::from_utf8_lossy(text));
    let pick = usize::from(*pick);
    let how = Match::ALL.into_iter().cycle().nth(pick % 8).map_or(Match::Token, |(how, _)| how);
    let locale =
        Locale::ALL.into_iter().map(|(locale, _)| Some(locale)).chain([None]).nth(pick / 8 % 5).flatten();
    let matcher = Matcher { how, locale };
    let sought = match Document::read(value.clone().into_owned().into(), &Limits::default()) {
        Ok(value) => Sought::new(&matcher, value.root()),
        Err(_) => Sought::text(&matcher, &value),
    };
    let prepared = Prepared::new(&text);
    let found = sought.find_in(&prepared);
    assert_eq!(sought.is_in(&prepared), !found.is_empty());
    assert!(found.is_empty() || !sought.is_nothing());
    assert!(found.windows(2).all(|pair| matches!(pair, [one, next] if one.start < next.start)));
    for span in found {
        let quote = text.get(span);
        assert!(
            quote.is_some_and(|quote| sought.is_in(&Prepared::new(quote))),
            "{quote:?} does not name {value:?}"
        );
    }
}
