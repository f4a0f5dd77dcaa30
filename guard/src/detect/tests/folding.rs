//! Folding never moves a span: told without asking the folding itself what a character is folded to.

use std::ops::Range;

use proptest::prelude::*;

use super::super::assert::fuzz_folding;
use super::super::fold::{Known, Letters, fold};
use super::any_text;

/// A letter, written so that it looks like that letter.
#[derive(Debug, Clone, Copy)]
enum Dress {
    Plain,
    FullWidth,
    Bold,
    Circled,
    LookAlike,
    Accent,
    Struck,
    ZeroWidth,
    SoftHyphen,
    Selector,
    Composed,
}

const DRESSES: [Dress; 11] = [
    Dress::Plain,
    Dress::FullWidth,
    Dress::Bold,
    Dress::Circled,
    Dress::LookAlike,
    Dress::Accent,
    Dress::Struck,
    Dress::ZeroWidth,
    Dress::SoftHyphen,
    Dress::Selector,
    Dress::Composed,
];

/// What the letter is written as, and what stands behind it and shows nothing of its own.
fn dressed(letter: char, dress: Dress) -> (char, &'static str) {
    let shifted = |from: u32| char::from_u32(u32::from(letter) - u32::from('a') + from).unwrap_or(letter);
    match dress {
        Dress::Plain => (letter, ""),
        Dress::FullWidth => (shifted(0xff41), ""),
        Dress::Bold => (shifted(0x1d41a), ""),
        Dress::Circled => (shifted(0x24d0), ""),
        Dress::LookAlike => {
            let known = "aаeеoоpрcсxхyуiіjјsѕ";
            let mut pairs = known.chars().skip_while(|c| *c != letter);
            (pairs.nth(1).unwrap_or(letter), "")
        }
        Dress::Accent => (letter, "\u{301}"),
        Dress::Struck => (letter, "\u{336}\u{20dd}"),
        Dress::ZeroWidth => (letter, "\u{200b}\u{2060}"),
        Dress::SoftHyphen => (letter, "\u{ad}"),
        Dress::Selector => (letter, "\u{fe0f}"),
        Dress::Composed => {
            let known = "aàeéiîoõuüyýcçnñzž";
            let mut pairs = known.chars().skip_while(|c| *c != letter);
            (pairs.nth(1).unwrap_or(letter), "")
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn each_letter_is_read_where_it_stands(
        letters in proptest::collection::vec(("[a-z]", proptest::sample::select(&DRESSES[..])), 1..40),
        lead in "[a-z .,]{0,20}",
    ) {
        let (mut text, mut plain) = (lead.clone(), lead.clone());
        let mut places: Vec<Range<usize>> = lead.char_indices().map(|(at, _)| at..at + 1).collect();
        for (letter, dress) in letters {
            let letter = letter.chars().next().unwrap_or('a');
            let (seen, behind) = dressed(letter, dress);
            places.push(text.len()..text.len() + seen.len_utf8());
            plain.push(letter);
            text.push(seen);
            text.push_str(behind);
        }
        let folded = fold(&text, Letters::Latin, &mut Known::default()).mapped;
        prop_assert_eq!(folded.text(), &plain, "{:?}", text);
        for (at, place) in places.into_iter().enumerate() {
            prop_assert_eq!(folded.original(at..at + 1), place, "{} of {:?}", at, text);
        }
    }

    #[test]
    fn each_reading_keeps_where_its_characters_came_from(text in any_text()) {
        fuzz_folding(text.as_bytes());
    }
}

#[test]
fn the_corpus_of_the_fuzzer_holds() {
    super::each_of_corpus("folding", 20, fuzz_folding);
}
