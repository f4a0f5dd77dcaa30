use super::*;
use crate::json::{Document, Limits, Value};
use proptest::prelude::*;

#[test]
fn agrees_with_the_oracle_on_text_and_offsets() {
    for line in include_str!("../../tests/data/oracle/normalize.jsonl").lines() {
        let row = Document::read(line.to_owned().into(), &Limits::default()).unwrap();
        let input = row.root().get("input").unwrap();
        let original = input.get("text").and_then(Value::as_str).unwrap();
        let latin = input.get("confusables").and_then(Value::as_bool).unwrap();
        let output: Vec<Value<'_>> = row.root().get("output").unwrap().items().collect();
        let found = Normalized::of(original, if latin { Reading::LATIN } else { Reading::PLAIN });
        assert_eq!(Some(found.text()), output[0].as_str(), "{line}");
        // The oracle counts code points, one entry a character.
        let points = |byte: usize| original.get(..byte).unwrap().chars().count().to_string();
        let places = found.text().char_indices().map(|(at, c)| found.original(at..at + c.len_utf8()));
        let (starts, ends): (Vec<String>, Vec<String>) =
            places.map(|place| (points(place.start), points(place.end))).unzip();
        let expected = |value: Value<'_>| -> Vec<String> {
            value.items().map(|item| item.number().unwrap().to_owned()).collect()
        };
        assert_eq!(starts, expected(output[1]), "{line}");
        assert_eq!(ends, expected(output[2]), "{line}");
    }
}

#[test]
fn folds_what_reads_alike() {
    for (one, other) in [
        ("PASSWORD", "password"),
        ("ＰＡＳＳ", "pass"),
        ("pass\u{200b}wo\u{ad}rd", "password"),
        ("Straße", "STRASSE"),
        ("STRAẞE", "strasse"),
        ("ΟΔΟΣ", "οδος"),
        ("cafe\u{301}", "CAFÉ"),
        ("e\u{200d}\u{301}", "é"),
        ("ﬁle", "file"),
        ("\u{1100}\u{1161}\u{11a8}", "각"),
        ("q\u{323}\u{307}", "q\u{307}\u{323}"),
        ("\u{e0041}x", "x"),
        ("ſ", "s"),
        ("K", "k"),
    ] {
        assert_eq!(fold(one), fold(other), "{one} {other}");
    }
    assert_ne!(fold("а"), fold("a"), "a Cyrillic letter is another one unless look-alikes are asked for");
}

#[test]
fn places_point_into_the_original() {
    let original = "a\u{200b}B ﬁx cafe\u{301}!";
    let found = Normalized::of(original, Reading::FOLDED);
    assert_eq!(found.text(), "ab fix café!");
    let place = |part: &str| {
        let at = found.text().find(part).unwrap();
        original.get(found.original(at..at + part.len())).unwrap()
    };
    assert_eq!(place("ab"), "a\u{200b}B");
    assert_eq!(place("i"), "ﬁ");
    assert_eq!(place("fix"), "ﬁx");
    assert_eq!(place("é"), "e\u{301}");
    assert_eq!(place("!"), "!");
    assert_eq!(found.original(0..0), 0..0);
}

proptest! {
    #[test]
    fn folding_is_nfkc_and_stable(text in "\\PC{0,20}") {
        let once = fold(&text);
        prop_assert_eq!(once.nfkc().collect::<String>(), once.clone(), "{:?}", text);
        prop_assert_eq!(fold(&once), once);
    }

    #[test]
    fn composing_agrees_with_the_whole_text(text in "[a-zé\u{301}\u{323}\u{327}\u{1100}\u{1161}\u{11a8}각ﬁ½\u{915}\u{93c}\u{1e9b}]{0,16}") {
        let reading = Reading { compose: true, fold_case: false, confusables: false };
        let found = Normalized::of(&text, reading);
        prop_assert_eq!(found.text(), text.nfkc().collect::<String>());
    }

    #[test]
    fn what_was_looked_up_of_one_character_is_not_taken_for_another(
        text in "[a-z \u{400}-\u{5ff}\u{200b}\u{ad}\u{ff21}-\u{ff3a}\u{fdfa}]{0,24}", confusables: bool,
    ) {
        let reading = Reading { confusables, ..Reading::PLAIN };
        let found = Normalized::of(&text, reading);
        let (mut places, mut at) = (found.places(), 0);
        for (start, character) in text.char_indices() {
            // A text of one character holds nothing that was looked up before.
            let alone = Normalized::of(&character.to_string(), reading);
            let end = at + alone.text().len();
            prop_assert_eq!(found.text().get(at..end), Some(alone.text()));
            let span = start..start + character.len_utf8();
            if at < end {
                prop_assert_eq!(found.original(at..end), span.clone());
                prop_assert_eq!(places.place(at).start..places.place(end - 1).end, span);
            }
            at = end;
        }
        prop_assert_eq!(at, found.text().len());
    }

    #[test]
    fn places_are_in_order_and_at_characters(text in "\\PC{0,20}", latin: bool) {
        let found = Normalized::of(&text, if latin { Reading::LATIN } else { Reading::FOLDED });
        let mut last = 0;
        for (at, c) in found.text().char_indices() {
            let place = found.original(at..at + c.len_utf8());
            prop_assert!(text.get(place.clone()).is_some_and(|piece| !piece.is_empty()), "{:?}", place);
            prop_assert!(place.start >= last);
            last = place.start;
        }
    }

    #[test]
    fn globs_agree_with_the_naive_twin(text in "[ab]{0,10}", pattern in "[ab*?]{0,8}") {
        let (t, p): (Vec<char>, Vec<char>) = (text.chars().collect(), pattern.chars().collect());
        prop_assert_eq!(glob(&text, &pattern, &mut 10_000), Some(naive_glob(&t, &p)));
    }
}

fn naive_glob(text: &[char], pattern: &[char]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, seen) => seen.is_none(),
        (Some(('*', rest)), None) => naive_glob(text, rest),
        (Some(('*', rest)), Some((_, after))) => naive_glob(text, rest) || naive_glob(after, pattern),
        (Some((want, rest)), Some((seen, after))) => {
            (*want == '?' || want == seen) && naive_glob(after, rest)
        }
        (Some(_), None) => false,
    }
}

#[test]
fn a_glob_gives_up_when_its_steps_are_used() {
    assert_eq!(glob("aaa", "aab", &mut 2), None);
    assert_eq!(glob("aaa", "aab", &mut 3), Some(false));
}
