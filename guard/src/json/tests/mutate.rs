//! Every control byte and odd space at every place of a text: refused, or the same value.

use super::*;

const TEXTS: [&str; 4] = [
    r#"{"a":[1,-2.5e+3,true,false,null,"x\n\u0041"],"b":{},"c":[],"d":{"e":{"f":""}}}"#,
    r#"[[],{},[[0]],"é😀","\ud83d\ude00",10E-2]"#,
    "12.5e3",
    r#""key""#,
];

/// Every byte that shows nothing, and what readers trim or take for white space or a line's end.
fn odd() -> Vec<String> {
    let bytes = (0..0x20_u8).chain([b' ', 0x7f]).map(|byte| char::from(byte).to_string());
    let spaces = [
        0x85, 0xA0, 0xAD, 0x1680, 0x180E, 0x2000, 0x2003, 0x200B, 0x200D, 0x2028, 0x2029, 0x202F, 0x205F,
        0x2060, 0x3000, 0xFEFF,
    ];
    bytes.chain(spaces.into_iter().filter_map(char::from_u32).map(|c| c.to_string())).collect()
}

/// Whether the byte at `at` lies inside a string (its closing quote does, its opening one does not).
fn is_inside_string(text: &str, at: usize) -> bool {
    let mut inside = false;
    let mut escaped = false;
    for byte in text.bytes().take(at) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = inside,
            b'"' => inside = !inside,
            _ => {}
        }
    }
    inside
}

#[test]
fn an_odd_byte_between_tokens_is_refused_or_changes_nothing() {
    let mut passed = 0;
    for text in TEXTS {
        let original = read(text).unwrap();
        for at in (0..=text.len()).filter(|&at| text.is_char_boundary(at)) {
            for odd in odd() {
                let mutated = format!("{}{odd}{}", text.get(..at).unwrap(), text.get(at..).unwrap());
                let Ok(document) = read(&mutated) else { continue };
                if is_inside_string(text, at) {
                    assert!(!odd.bytes().any(|byte| byte < 0x20), "{mutated:?}");
                    continue;
                }
                assert_eq!(document.root(), original.root(), "{mutated:?}");
                assert!(matches!(odd.as_str(), " " | "\t" | "\n" | "\r"), "{mutated:?}");
                passed += 1;
            }
        }
    }
    assert!(passed > 200, "the four kinds of white space pass between tokens: {passed}");
}

#[test]
fn an_odd_byte_in_place_of_another_agrees_with_serde_json() {
    for text in TEXTS {
        for at in 0..text.len() {
            for byte in 0..=255_u8 {
                let mut mutated = text.as_bytes().to_vec();
                *mutated.get_mut(at).unwrap() = byte;
                fuzz(&mutated);
            }
        }
    }
}

#[test]
fn a_text_that_is_cut_or_doubled_is_never_read() {
    for text in TEXTS.iter().filter(|text| text.starts_with(['{', '['])) {
        for at in 0..text.len() {
            assert!(
                Document::read(
                    Bytes::copy_from_slice(text.as_bytes().get(..at).unwrap()),
                    &Limits::default()
                )
                .is_err()
            );
        }
        assert!(read(&format!("{text}{text}")).is_err());
    }
}
