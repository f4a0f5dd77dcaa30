//! A text as the tables of words read it.

use std::borrow::Cow;

use regex::Regex;

use crate::ground::class::is_word;
use crate::text;

/// Stands for marks and other characters that are no part of a word here, but that `regex` takes for one.
const NO_WORD: char = '\u{b7}';

/// Signs that are words, as the tables have them.
const SIGNS: &[(char, &str)] =
    &[('\u{1f44d}', " thumbsup "), ('\u{1f44c}', " thumbsup "), ('\u{1f44e}', " thumbsdown ")];

/// Compatibility forms and case folded, dashes and quotation marks plain, invisible characters gone. What `\w`
/// and `\b` of a pattern take for a word is a word for [`is_word`] too.
pub(super) fn read(text: &str) -> String {
    let mut read = text::fold(text);
    if !read.is_ascii() {
        for (sign, word) in SIGNS {
            read = read.replace(*sign, word);
        }
        read = read.chars().map(plain).collect();
    }
    read
}

fn plain(c: char) -> char {
    match c {
        _ if c.is_ascii() => c,
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201b}' | '\u{2032}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' => '"',
        _ if is_word(c) => c,
        _ if c.is_whitespace() => c,
        _ => NO_WORD,
    }
}

/// Any of the patterns, as words of their own.
pub(super) fn any_of<'a>(patterns: impl IntoIterator<Item = &'a str>) -> String {
    let all: Vec<Cow<'_, str>> =
        patterns.into_iter().map(|pattern| Cow::Owned(pattern.replace(' ', r"\s+"))).collect();
    format!(r"\b(?:{})\b", all.join("|"))
}

/// A pattern of the tables. A table that is no pattern matches nothing; a test reads all of them.
pub(super) fn compile(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}
