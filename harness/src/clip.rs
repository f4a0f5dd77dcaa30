//! Foreign strings in what is sent on in our name: cut at a named limit, and said to be cut.

use std::borrow::Cow;

/// Characters of a foreign string (a tool's name, a method) that an answer or a line of ours repeats. A call may be
/// of 16 MiB, and nearly all of it its tool's name.
pub(crate) const FOREIGN_CHARS_MAX: usize = 200;

/// The string, or its beginning with a note of how long it was.
pub(crate) fn clip(text: &str) -> Cow<'_, str> {
    clip_to(text, FOREIGN_CHARS_MAX)
}

/// The same at another limit.
pub(crate) fn clip_to(text: &str, chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(chars) {
        None => Cow::Borrowed(text),
        Some((at, _)) => {
            let kept = text.get(..at).unwrap_or_default();
            Cow::Owned(format!("{kept}… (cut: {} bytes in all)", text.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_at_the_limit_is_whole_and_one_above_is_cut_with_a_note() {
        for length in [0, FOREIGN_CHARS_MAX - 1, FOREIGN_CHARS_MAX] {
            let text = "ö".repeat(length);
            assert_eq!(clip(&text), text);
        }
        let text = "ö".repeat(FOREIGN_CHARS_MAX + 1);
        assert_eq!(clip(&text), format!("{}… (cut: 402 bytes in all)", "ö".repeat(FOREIGN_CHARS_MAX)));
    }
}
