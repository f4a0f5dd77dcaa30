//! The pass over blocks against the one it was before: a byte at a time.

use proptest::prelude::*;

use super::open::{LONG_BYTES, Rows};
use super::{OVERLAP_BYTES, Sentence, Sentences, is_within_word, overlap};
use crate::detect::class::Class;
use crate::detect::tables::{TABLES, Words};
use crate::detect::vocabulary::Word;
use crate::detect::{SENTENCE_BYTES_MAX, sentence, unwrap};

/// A sentence of the twin, and its rows as they are now.
#[derive(Default)]
struct Open {
    sentence: Sentence,
    singles: u64,
    groups: u64,
}

impl Open {
    fn at(start: usize) -> Open {
        Open { sentence: Sentence { at: start..start, ..Sentence::default() }, ..Open::default() }
    }

    fn word(&mut self, text: &[u8], word: Word, at: usize) {
        let bytes = text.get(at..at + word.length).unwrap();
        let lists: Words = TABLES.vocabulary.lists(word);
        self.sentence.words |= lists;
        self.sentence.is_long |= word.length >= LONG_BYTES;
        self.sentence.is_foreign |= !bytes.is_ascii();
        self.singles = if word.length == 1 { self.singles + 1 } else { 0 };
        self.groups = if matches!(word.length, 2 | 8) { self.groups + 1 } else { 0 };
        self.sentence.has_singles |= self.singles >= Rows::MIN;
        self.sentence.has_groups |= self.groups >= Rows::MIN;
    }

    fn close(mut self, end: usize) -> Sentence {
        self.sentence.at.end = end;
        self.sentence
    }
}

fn one_byte_at_a_time(text: &str) -> Vec<Sentence> {
    let bytes = text.as_bytes();
    let (mut made, mut open, mut at) = (Vec::new(), Open::at(0), 0);
    while let Some(byte) = bytes.get(at).copied() {
        let class = Class::of(byte);
        if class == Class::Word {
            let word = Word::at(bytes, at);
            open.word(bytes, word, at);
            at += word.length;
            if at - open.sentence.at.start > SENTENCE_BYTES_MAX {
                made.push(std::mem::take(&mut open).close(at));
                at = overlap(bytes, at);
                open = Open::at(at);
            }
            continue;
        }
        open.sentence.has_marks |= matches!(class, Class::Emphasis | Class::Escape);
        open.sentence.has_escapes |= match class {
            Class::Emphasis => is_within_word(bytes, at),
            Class::Escape => unwrap::is_escape(bytes, at),
            _ => false,
        };
        at += 1;
        if matches!(class, Class::Space | Class::Line) && sentence::ends_before(bytes, at) {
            made.push(std::mem::take(&mut open).close(at));
            open = Open::at(at);
        }
    }
    made.push(open.close(bytes.len()));
    made
}

/// Words of all lengths, of lists and not, and everything between words that means something.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z0-9]{1,10} ?",
        2 => "(ignore|the|rules|instructions|system|previous|gur|7h3|send|я|忽略) ",
        2 => "[.!?] ?[ \t\r\n]{0,3}",
        2 => "[*_~`&%<=\\\\\"':;,(){}#-]{1,4}",
        1 => "\\PC{0,6}",
        1 => "([a-z] ){5,8}|([a-f0-9]{2} ){5,8}|([01]{8} ){5,8}",
        1 => "[a-z0-9é]{14,40}|a\\*\\*b|&#65;|%41|\\\\n|<b>c</b>|e\\.g\\. |no\\. ",
        1 => " {1,80}|\n{1,4}|\\*{1,70}",
        1 => (200_usize..1400).prop_map(|bytes| "word ".repeat(bytes / 5)),
        1 => (200_usize..2400).prop_map(|bytes| "x".repeat(bytes)),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn assert_same(text: &str) {
    assert_eq!(Sentences::new(text).collect::<Vec<_>>(), one_byte_at_a_time(text), "{text:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn sentences_are_what_they_were_a_byte_at_a_time(text in any_text()) {
        assert_same(&text);
    }

    #[test]
    fn the_words_of_lists_are_told_by_their_places(text in any_text()) {
        let mut sentences = Sentences::new(&text);
        while let Some(sentence) = sentences.next() {
            let lists = |at: usize| TABLES.vocabulary.lists(Word::at(text.as_bytes(), at));
            prop_assert_eq!(sentences.seen().iter().fold(0, |all, at| all | lists(*at)), sentence.words);
            prop_assert!(sentences.seen().iter().all(|at| sentence.at.contains(at) && lists(*at) != 0));
        }
    }
}

/// A cut, a block's end and the text's at each place of one another.
#[test]
fn a_cut_at_any_place_of_a_block_is_the_same() {
    for lead in 0..130 {
        for word in ["word ", "a*", "я ", "longerwords "] {
            let text = format!(
                "{}. {}",
                "x".repeat(lead),
                word.repeat((SENTENCE_BYTES_MAX + 2 * OVERLAP_BYTES) / word.len())
            );
            assert_same(&text);
        }
    }
    for bytes in [SENTENCE_BYTES_MAX - 1, SENTENCE_BYTES_MAX, SENTENCE_BYTES_MAX + 1, 3 * SENTENCE_BYTES_MAX]
    {
        assert_same(&"x".repeat(bytes));
        assert_same(&format!("{} *a", "x".repeat(bytes)));
        assert_same(&format!("{}*a", "x".repeat(bytes)));
    }
}
