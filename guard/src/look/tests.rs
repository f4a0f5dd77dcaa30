use super::*;

#[test]
fn each_way_of_looking_alike_has_its_name() {
    for (sent, look) in [
        ("DANGER", Look::Case),
        ("\u{ff44}\u{ff41}\u{ff4e}\u{ff47}\u{ff45}\u{ff52}", Look::Form),
        ("\u{ff24}anger", Look::Form),
        ("danger\u{200b}", Look::Invisible),
        ("danger\n", Look::Invisible),
        ("safe\u{0}", Look::Invisible),
        ("\u{ff24}ang\u{200d}er", Look::Invisible),
        ("d\u{430}nger", Look::Alphabet),
        ("D\u{410}NG\u{415}R\u{feff}", Look::Alphabet),
    ] {
        let listed = if sent.starts_with("safe") { "safe" } else { "danger" };
        assert_eq!(look_alike(listed, sent), Some(look), "{sent:?}");
        assert_eq!(look_alike(sent, listed), Some(look), "{sent:?}");
    }
    assert_eq!(look_alike("task", "tas\u{212a}"), Some(Look::Case));
    assert_eq!(look_alike("params", "param\u{17f}"), Some(Look::Case));
}

#[test]
fn different_names_are_different() {
    for (a, b) in
        [("danger", "dangers"), ("a_b", "a-b"), ("", "x"), ("safe\u{0}danger", "danger"), ("é", "e")]
    {
        assert_eq!(look_alike(a, b), None, "{a:?} {b:?}");
    }
    assert_eq!(look_alike("", "\u{200b}"), Some(Look::Invisible), "an empty name can be resembled");
}

#[test]
fn the_ascii_way_folds_as_the_long_way() {
    for code in 0..128_u8 {
        let name = format!("x{}Y", char::from(code));
        let long: String = name.chars().filter(|&c| !is_unseen(c)).collect();
        assert_eq!(fold(&name), fold_form(&long), "{name:?}");
    }
}

#[test]
fn the_table_of_unseen_characters_is_made_of_ranges() {
    assert!(UNSEEN.iter().all(|(first, last)| first <= last));
    for seen in ['a', '_', 'é', '漢', '🦀', '\u{301}'] {
        assert!(!is_unseen(seen), "{seen:?}");
    }
}
