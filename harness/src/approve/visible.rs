//! Foreign text as a person should see it: every character that shows nothing, or looks like another one, is
//! written out.
//!
//! What is approved is what is shown, so nothing in a value may hide a part of it, pass for the end of it, or for a
//! line of the question's own. Quotes and backslashes are escaped as in JSON; the brackets by which a cut is told
//! ([`CUT_OPEN`]) are escaped where a value has them.

use std::borrow::Cow;

use framegate_guard::look::is_unseen;
use framegate_guard::text::{Normalized, Reading};

/// What stands around a note of ours inside a value.
pub(super) const CUT_OPEN: char = '⟦';
/// Its end.
pub(super) const CUT_CLOSE: char = '⟧';
/// Marks on one letter: more of them climb over other lines.
const MARKS_MAX: usize = 2;

/// A string in quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    escape(text, true, &mut out);
    out.push('"');
    out
}

/// Text without quotes: a name, or JSON as it is written.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(text, false, &mut out);
    out
}

/// One line of at most `max` characters: white space is one space.
pub(crate) fn line(text: &str, max: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    middle(&plain(&words.join(" ")), max).into_owned()
}

/// The text, or its beginning and its end with a note of how much is left out between.
pub(super) fn middle(text: &str, max: usize) -> Cow<'_, str> {
    let chars = text.chars().count();
    if chars <= max {
        return Cow::Borrowed(text);
    }
    let (head, tail) = (max * 2 / 3, max / 3);
    let left_out = chars - head - tail;
    let at = |nth: usize| text.char_indices().nth(nth).map_or(text.len(), |(at, _)| at);
    let (start, end) =
        (text.get(..at(head)).unwrap_or_default(), text.get(at(chars - tail)..).unwrap_or_default());
    Cow::Owned(format!("{start}{CUT_OPEN}{left_out} of {chars} characters not shown{CUT_CLOSE}{end}"))
}

fn escape(text: &str, is_quoted: bool, out: &mut String) {
    let twins = Twins::of(text);
    let mut marks = 0;
    for (at, c) in text.char_indices() {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        match c {
            ' ' => out.push(' '),
            '"' | '\\' if is_quoted => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_ascii_graphic() => out.push(c),
            CUT_OPEN | CUT_CLOSE => out.extend(c.escape_unicode()),
            c if is_unseen(c) || is_private(c) || marks > MARKS_MAX || twins.deceives(at, c) => {
                out.extend(c.escape_unicode());
            }
            c => out.push(c),
        }
    }
}

/// Combining marks of the blocks in use for them.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

fn is_private(c: char) -> bool {
    matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}

/// Which characters of a text pass for Latin ones.
///
/// Russian is written in letters many of which look Latin, and is no deceit. So a letter counts in a word that has
/// Latin letters too, or that is all look-alikes in a text where no letter shows that another script is meant.
struct Twins {
    /// The words, as byte ranges, whose look-alike letters deceive.
    words: Vec<std::ops::Range<usize>>,
}

#[derive(Default)]
struct Word {
    start: usize,
    end: usize,
    has_latin: bool,
    has_twin: bool,
    has_other: bool,
}

impl Twins {
    fn of(text: &str) -> Twins {
        if text.is_ascii() {
            return Twins { words: Vec::new() };
        }
        let mut words = Vec::new();
        let mut word = Word::default();
        for (at, c) in text.char_indices() {
            if !c.is_alphanumeric() {
                words.push(std::mem::take(&mut word));
                continue;
            }
            if word.start == word.end {
                word.start = at;
            }
            word.end = at + c.len_utf8();
            match c {
                c if c.is_ascii_alphabetic() => word.has_latin = true,
                c if twin(c).is_some() => word.has_twin = true,
                c if c.is_alphabetic() && u32::from(c) > LATIN_LAST => word.has_other = true,
                _ => {}
            }
        }
        words.push(word);
        let is_foreign = words.iter().any(|word| word.has_other);
        words.retain(|word| word.has_twin && (word.has_latin || !is_foreign));
        Twins { words: words.into_iter().map(|word| word.start..word.end).collect() }
    }

    fn deceives(&self, at: usize, c: char) -> bool {
        let Some(twin) = twin(c) else { return false };
        // Full-width and mathematical forms are no language's letters.
        let is_form = u32::from(c) >= FORMS_FIRST || !twin.is_ascii_alphabetic();
        is_form || self.words.iter().any(|word| word.contains(&at))
    }
}

/// The last letter of Latin Extended-B.
const LATIN_LAST: u32 = 0x24f;
/// Beyond the alphabets that are in use for a language: forms of letters.
const FORMS_FIRST: u32 = 0x2100;

/// The ASCII character that another one looks like.
fn twin(c: char) -> Option<char> {
    // Superscripts and the like of Latin-1 are usual.
    if u32::from(c) < 0x100 {
        return None;
    }
    let mut buffer = [0; 4];
    let read = Normalized::of(c.encode_utf8(&mut buffer), Reading::LATIN);
    let mut chars = read.text().chars();
    chars.next().filter(|twin| chars.next().is_none() && twin.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_nothing_is_written_out() {
        for (text, shown) in [
            ("a\u{200b}b\u{202e}c", r#""a\u{200b}b\u{202e}c""#),
            ("a\u{1b}[31m", r#""a\u{1b}[31m""#),
            ("a\nb\tc\r", r#""a\nb\tc\r""#),
            ("a\u{a0}b\u{2028}", r#""a\u{a0}b\u{2028}""#),
            (r#"say "no" \ "#, r#""say \"no\" \\ ""#),
            ("\u{e000}\u{e0041}", r#""\u{e000}\u{e0041}""#),
            ("⟦7 of 9 characters not shown⟧", r#""\u{27e6}7 of 9 characters not shown\u{27e7}""#),
            ("e\u{301}\u{301}\u{301}\u{301}", "\"e\u{301}\u{301}\\u{301}\\u{301}\""),
            ("Grüße, 世界 🙂 m²", "\"Grüße, 世界 🙂 m²\""),
        ] {
            assert_eq!(quoted(text), shown, "{text:?}");
        }
    }

    #[test]
    fn look_alikes_are_written_out_and_languages_are_not() {
        for (text, shown) in [
            ("p\u{430}ypal.com", r"p\u{430}ypal.com"),
            ("\u{430}\u{440}\u{440}.com", r"\u{430}\u{440}\u{440}.com"),
            ("/etc\u{ff0f}passwd", r"/etc\u{ff0f}passwd"),
            ("\u{ff52}m", r"\u{ff52}m"),
            ("\u{1d41a}bc", r"\u{1d41a}bc"),
            ("оса летит", "оса летит"),
            ("Файл readme", "Файл readme"),
            ("Ελλάδα", "Ελλάδα"),
            ("naïve café Łódź", "naïve café Łódź"),
        ] {
            assert_eq!(plain(text), shown, "{text:?}");
        }
    }

    #[test]
    fn a_long_text_is_cut_in_the_middle_and_says_so() {
        assert_eq!(middle("äbcdef", 6), "äbcdef");
        assert_eq!(middle("äbcdefg", 6), "äbcd⟦1 of 7 characters not shown⟧fg");
        assert_eq!(middle("", 0), "");
        assert_eq!(line(" a \n\n b ", 9), "a b");
    }
}
