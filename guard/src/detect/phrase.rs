//! Whether a word of a list stands in a sentence in full.
//!
//! The pass over a text knows a word by its beginning, and a phrase by the longest of its words: `now` may be `from now
//! on`, `instr` may be `instruction`. That is enough to say which rules a sentence is read by, and too little to run
//! their expressions: most of such a sentence's words turn out to be others. So the phrase is compared where its word
//! was seen, by the same letters as the expression would.

use super::lexicon::{self, Script};
use super::tables::Words;
use super::vocabulary::{Vocabulary, Word};

/// A word of a list, or several.
#[derive(Debug)]
pub(super) struct Phrase {
    lists: Words,
    /// `None`: it is not compared, and counts as standing wherever its word does.
    literal: Option<Literal>,
}

/// Those of the wanted lists of which a phrase stands in the sentence, whose words were seen at these places. Of a
/// sentence that is all ASCII: elsewhere a letter that is not is no letter to a Latin expression, and a word may begin
/// behind it.
pub(super) fn standing(
    vocabulary: &Vocabulary,
    wanted: Words,
    sentence: &[u8],
    seen: impl Iterator<Item = usize>,
) -> Words {
    let mut lists = 0;
    for at in seen {
        let missing = wanted & !lists;
        if missing == 0 {
            break;
        }
        for phrase in vocabulary.phrases(Word::at(sentence, at), missing) {
            if phrase.lists & missing != 0 && phrase.stands(sentence, at) {
                lists |= phrase.lists;
            }
        }
    }
    lists
}

/// A phrase as its expression has it: `\b`, the text with white space for a space, and the ending.
#[derive(Debug)]
struct Literal {
    text: String,
    /// Where the word begins by which it is known.
    known_at: usize,
    ending: Ending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Any,
    Colon,
    Word,
}

impl Phrase {
    pub(super) fn new(script: Script, word: &str, lists: Words) -> Phrase {
        Phrase { lists, literal: Some(word).filter(|_| script == Script::Latin).and_then(Literal::new) }
    }

    fn stands(&self, sentence: &[u8], at: usize) -> bool {
        self.literal.as_ref().is_none_or(|literal| literal.stands(sentence, at))
    }
}

impl Literal {
    fn new(word: &str) -> Option<Literal> {
        let text = word.trim_end_matches([':', '*']);
        let ending = match word.get(text.len()..)? {
            "" => Ending::Word,
            "*" => Ending::Any,
            ":" => Ending::Colon,
            _ => return None,
        };
        let is_plain = text.is_ascii() && !text.contains(['*', ':']) && !text.contains("  ");
        let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
        if !is_plain || !is_word(text.as_bytes().first()) || !is_word(text.as_bytes().last()) {
            return None;
        }
        Some(Literal { text: text.to_owned(), known_at: lexicon::known_at(word), ending })
    }

    /// Whether it stands in the sentence, the word by which it is known at `at`.
    fn stands(&self, sentence: &[u8], at: usize) -> bool {
        let Some((before, from)) = self.text.as_bytes().split_at_checked(self.known_at) else { return true };
        let Some(rest) = sentence.get(at..).and_then(|rest| skip(rest.iter(), from.iter())) else {
            return false;
        };
        let lead = sentence.get(..at).unwrap_or_default();
        let Some(lead) = skip(lead.iter().rev(), before.iter().rev()) else { return false };
        let is_word =
            |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        !is_word(lead.clone().next()) && ends(rest.as_slice(), self.ending, is_word)
    }
}

fn ends(rest: &[u8], ending: Ending, is_word: impl Fn(Option<&u8>) -> bool) -> bool {
    /// White space before a colon, as `lexicon` has it.
    const SPACES_MAX: usize = 3;
    match ending {
        Ending::Any => true,
        Ending::Word => !is_word(rest.first()),
        Ending::Colon => {
            let spaces = rest.iter().take(SPACES_MAX).take_while(|byte| is_space(byte)).count();
            rest.get(spaces) == Some(&b':')
        }
    }
}

/// What is left of the text behind the piece, one byte of which is white space for a space.
fn skip<'a, T>(mut text: T, piece: impl Iterator<Item = &'a u8>) -> Option<T>
where
    T: Iterator<Item = &'a u8> + Clone,
{
    for expected in piece {
        let byte = text.next()?;
        if *expected != b' ' {
            if !byte.eq_ignore_ascii_case(expected) {
                return None;
            }
            continue;
        }
        if !is_space(byte) {
            return None;
        }
        let mut ahead = text.clone();
        while ahead.next().is_some_and(is_space) {
            text.next();
        }
    }
    Some(text)
}

/// What `\s` is to an expression over bytes.
fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}
