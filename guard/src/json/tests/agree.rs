//! Against `serde_json`, and against a slow twin that knows what a duplicate key is.

use proptest::prelude::*;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::*;

/// A value that refuses what must be refused: duplicate keys, and (as all strings are decoded) lone surrogates.
#[derive(Debug)]
struct Twin;

impl<'de> Deserialize<'de> for Twin {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Twin, D::Error> {
        reader.deserialize_any(Twin)
    }
}

impl<'de> Visitor<'de> for Twin {
    type Value = Twin;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Twin, E> {
        Ok(Twin)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Twin, E> {
        Ok(Twin)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Twin, E> {
        Ok(Twin)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Twin, E> {
        Ok(Twin)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Twin, E> {
        Ok(Twin)
    }

    fn visit_str<E>(self, _: &str) -> Result<Twin, E> {
        Ok(Twin)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Twin, A::Error> {
        while items.next_element::<Twin>()?.is_some() {}
        Ok(Twin)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Twin, A::Error> {
        let mut keys = std::collections::BTreeSet::new();
        while let Some((key, _)) = members.next_entry::<String, Twin>()? {
            if !keys.insert(key) {
                return Err(A::Error::custom("twice"));
            }
        }
        Ok(Twin)
    }
}

/// A character as JSON may write it.
fn character() -> impl Strategy<Value = String> {
    let plain = prop::sample::select(vec!['a', 'b', 'é', '漢', '🦀', '\u{2028}', '\u{7f}', '/', ' ']);
    let short = prop::sample::select(vec![r#"\""#, r"\\", r"\/", r"\b", r"\f", r"\n", r"\r", r"\t"]);
    prop_oneof![
        plain.prop_map(|c| c.to_string()),
        short.prop_map(str::to_owned),
        any::<char>().prop_map(|c| {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        }),
    ]
}

fn string() -> impl Strategy<Value = String> {
    prop::collection::vec(character(), 0..6).prop_map(|all| format!("\"{}\"", all.concat()))
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| format!("{n:e}")),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?",
    ]
}

/// Any JSON text, in any spelling; keys repeat now and then.
fn text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["null", "true", "false"]).prop_map(str::to_owned),
        number(),
        string(),
    ];
    leaf.prop_recursive(6, 48, 5, |inner| {
        let space = "[ \t\r\n]{0,2}";
        let item = (space, inner, space).prop_map(|(a, value, b)| format!("{a}{value}{b}"));
        let key = prop_oneof![
            string(),
            prop::sample::select(vec![r#""a""#, r#""\u0061""#]).prop_map(str::to_owned)
        ];
        let member =
            (space, key, space, item.clone()).prop_map(|(a, key, b, value)| format!("{a}{key}{b}:{value}"));
        prop_oneof![
            prop::collection::vec(item, 0..5).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(member, 0..5).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

/// Shuffles `text` a little: bytes taken out, doubled, or moved.
fn damage(text: &str, cuts: &[(usize, u8)]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (at, what) in cuts {
        let at = at % (bytes.len() + 1);
        match what % 4 {
            0 if at < bytes.len() => drop(bytes.remove(at)),
            1 => bytes.insert(at, *b"{}[],:\"\\ \n\0u1e-.".get(usize::from(*what) % 16).unwrap()),
            2 => bytes.truncate(at.max(1)),
            _ if at < bytes.len() => {
                let end = bytes.len() - 1;
                bytes.swap(at, end / 2);
            }
            _ => {}
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_a_careful_serde_reads_is_read_and_nothing_else(text in text()) {
        fuzz(text.as_bytes());
        let twin = serde_json::from_str::<Twin>(&text);
        prop_assert_eq!(read(&text).is_ok(), twin.is_ok(), "{}", text);
    }

    #[test]
    fn damaged_text_is_read_by_both_or_by_none(text in text(), cuts in prop::collection::vec(any::<(usize, u8)>(), 1..4)) {
        let bytes = damage(&text, &cuts);
        fuzz(&bytes);
        let twin = serde_json::from_slice::<Twin>(&bytes);
        let strict = Document::read(bytes.clone().into(), &Limits::default());
        if let Err(error) = &twin {
            // A number that no double holds is the reader's to keep.
            prop_assert!(strict.is_err() || error.to_string().contains("number out of range"), "{}", bytes.escape_ascii());
        }
        if let Err(fault) = &strict {
            let is_bound = matches!(fault.kind, FaultKind::NumberDigits(_) | FaultKind::NumberExponent(_));
            prop_assert!(twin.is_err() || is_bound, "{}: {}", bytes.escape_ascii(), fault);
        }
    }

    #[test]
    fn any_bytes_are_refused_or_read_alike(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        fuzz(&bytes);
    }

    #[test]
    fn the_first_special_byte_is_found_wherever_it_stands(plain in 0_usize..70, byte: u8, tail in 0_usize..20) {
        let text = [vec![b'x'; plain], vec![byte], vec![0xff; tail]].concat();
        let slow = text.iter().position(|byte| *byte < 0x20 || *byte == b'"' || *byte == b'\\');
        prop_assert_eq!(super::super::read::special(&text), slow);
    }

    #[test]
    fn any_two_bytes_in_a_word_are_told_apart(word: [u8; 8]) {
        let slow = word.iter().position(|byte| *byte < 0x20 || *byte == b'"' || *byte == b'\\');
        prop_assert_eq!(super::super::read::special(&word), slow);
    }
}
