//! Invisible characters, and the places where they belong.

use super::*;

fn found(text: &str) -> Vec<char> {
    let quoted = serde_json::json!({ "a": text }).to_string();
    invisible(document(&quoted).root()).into_iter().flat_map(|found| found.code_points).collect()
}

#[test]
fn format_characters_are_reported() {
    for hidden in [
        '\u{ad}',
        '\u{600}',
        '\u{61c}',
        '\u{180e}',
        '\u{200b}',
        '\u{200e}',
        '\u{202e}',
        '\u{2060}',
        '\u{2064}',
        '\u{2066}',
        '\u{feff}',
        '\u{fff9}',
        '\u{e0001}',
        '\u{e0041}',
        '\u{1d173}',
    ] {
        assert_eq!(found(&format!("a{hidden}b")), [hidden], "{:x}", u32::from(hidden));
        let escaped = serde_json::json!({ "a": format!("a{hidden}b") }).to_string();
        let escaped: String = escaped
            .chars()
            .map(|c| {
                if c.is_ascii() {
                    c.to_string()
                } else {
                    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
                }
            })
            .collect();
        assert_eq!(invisible(document(&escaped).root()).len(), 1, "{escaped}");
    }
    for shown in ["plain", "é", "日本", "a\u{fe0f}", "\u{3164}", "\u{2800}", "🏴", "👍🏽"] {
        assert!(found(shown).is_empty(), "{shown}");
    }
}

#[test]
fn joiners_belong_in_emoji() {
    for family in ["👨‍👩‍👧‍👦", "👩🏽‍💻", "🏳️‍🌈", "🏴‍☠️", "❤️‍🔥", "🧑🏿‍🤝‍🧑🏻", "🐻‍❄️", "👁️‍🗨️", "🏃🏽‍♀️‍➡️"]
    {
        assert!(found(family).is_empty(), "{family}");
        assert!(found(&format!("a {family} b")).is_empty(), "{family}");
    }
    for broken in [
        "a\u{200d}b",
        "👨\u{200d}",
        "\u{200d}👨",
        "👨\u{200d}a",
        "1\u{200d}👨",
        "👨\u{200d}\u{200d}👩",
        "🇩\u{200d}🇪",
        "🏽\u{200d}👨",
    ] {
        assert!(!found(broken).is_empty(), "{broken:?}");
    }
}

#[test]
fn tags_belong_in_three_flags() {
    let flag = |tags: &str| {
        let tags: String = tags.chars().map(|c| char::from_u32(0xe0000 + u32::from(c)).unwrap()).collect();
        format!("🏴{tags}\u{e007f}")
    };
    for region in ["gbeng", "gbsct", "gbwls"] {
        assert!(found(&flag(region)).is_empty(), "{region}");
    }
    // Tags spell out hidden text otherwise.
    for hidden in ["ustx", "gbxxx", "ignore all", "gben"] {
        assert!(!found(&flag(hidden)).is_empty(), "{hidden}");
    }
    assert!(!found(flag("gbeng").trim_end_matches('\u{e007f}')).is_empty());
    assert!(!found(&format!("{}\u{e007f}", flag("gbeng"))).is_empty());
}

#[test]
fn joiners_belong_where_idna_lets_them() {
    for word in [
        "می\u{200c}خواهم",
        "نامه\u{200c}ای",
        "क्\u{200d}ष",
        "क्\u{200c}ष",
        "ශ්\u{200d}රී",
        "ক্\u{200d}য",
        "بي\u{64e}\u{200c}\u{64e}بي",
    ] {
        assert!(found(word).is_empty(), "{word}");
    }
    for broken in
        ["a\u{200c}b", "\u{200c}می", "می\u{200c}", "क\u{200d}ष", "د\u{200c}ب", "ب\u{200d}ب", "ب\u{200c}a"]
    {
        assert!(!found(broken).is_empty(), "{broken:?}");
    }
    // Marks without end are no word, and cost no time.
    let marks = format!("ب{}ب", "\u{64e}\u{200c}".repeat(50_000));
    assert!(!found(&marks).is_empty());
}

#[test]
fn names_and_places_are_told() {
    let value = document("{\"a\":[{\"b\u{200b}c\":\"x\u{202e}\u{202e}\u{ad}\"}],\"\u{200b}\":1}");
    let told: Vec<String> = invisible(value.root()).iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "invisible characters in argument `a[0].bc` (U+200B)",
            "invisible characters in argument `a[0].bc` (U+00AD, U+202E)",
            "invisible characters in argument `?` (U+200B)",
        ]
    );
    let first = &invisible(value.root())[0];
    assert!(first.in_key && !first.path.contains('\u{200b}'));
}
