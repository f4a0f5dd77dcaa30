//! Foreign text made one visible line.

use unicode_general_category::{GeneralCategory, get_general_category};

/// What stands at the end of a text that was cut.
const CUT: char = '…';

/// The text as one line of at most `max` code points: runs of white space are one space, everything that shows
/// nothing, moves a cursor or turns the direction of writing becomes `\u{1b}`, and a cut shows.
///
/// Terminals obey escape sequences, and models read what people cannot see.
pub(crate) fn line(text: &str, max: usize) -> String {
    let mut out = String::new();
    let mut left = max;
    let mut space = false;
    for c in text.chars() {
        if c.is_whitespace() {
            space = !out.is_empty();
            continue;
        }
        let written = if shows(c) { c.to_string() } else { c.escape_unicode().to_string() };
        let needed = written.chars().count() + usize::from(space);
        if needed > left {
            return cut(out, left);
        }
        if space {
            out.push(' ');
        }
        out.push_str(&written);
        left -= needed;
        space = false;
    }
    out
}

fn cut(mut line: String, left: usize) -> String {
    if left == 0 {
        line.pop();
    }
    line.push(CUT);
    line
}

fn shows(c: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, Surrogate};
    let blank_letter = matches!(
        c,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}'
    );
    // Variation selectors carry arbitrary bytes behind any visible character.
    let selector = matches!(c, '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    let category = get_general_category(c);
    let silent =
        [Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, Surrogate].contains(&category);
    !(blank_letter || selector || silent)
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        for (text, shown) in [
            ("a\u{1b}[31mb", r"a\u{1b}[31mb"),
            ("a\u{200b}b\u{202e}c", r"a\u{200b}b\u{202e}c"),
            ("\u{feff}a\u{e0041}", r"\u{feff}a\u{e0041}"),
            ("a\u{fe01}", r"a\u{fe01}"),
            ("  a \t\r\n\u{2028} b  ", "a b"),
            ("a\0", r"a\u{0}"),
            ("Grüße, 世界 🙂", "Grüße, 世界 🙂"),
        ] {
            assert_eq!(line(text, 100), shown, "{text:?}");
        }
    }

    #[test]
    fn a_text_at_the_limit_stays_whole() {
        assert_eq!(line("12345", 6), "12345");
        assert_eq!(line("12345", 5), "12345");
        assert_eq!(line("12345", 4), "123…");
        assert_eq!(line("ab\u{200b}c", 9), "ab…");
        assert_eq!(line("a  b", 3), "a b");
        assert_eq!(line("a  b", 2), "a…");
        assert_eq!(line("ab", 1), "…");
    }
}
