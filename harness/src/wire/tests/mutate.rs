//! Mutated frames: whatever a byte is put in, doubled, or taken out, a frame is refused or read as every
//! reader reads it.

use proptest::prelude::*;

use super::super::assert_reads_strictly;
use super::*;

const FRAMES: [&str; 4] = [
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"n":[1.50,"a\u0062"],"x":null}}}"#,
    r#"{"params":{"_meta":{"progressToken":1},"arguments":{},"name":"echo"},"method":"tools\/call","id":"a-1","jsonrpc":"2.0"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"x"}}"#,
    r#"{"result":{"action":"accept","content":{"ok":true}},"jsonrpc":"2.0","id":"q1"}"#,
];

/// Every control byte, and what some reader trims, skips or ends a line at.
fn odd() -> Vec<String> {
    let bytes = (0..0x21_u8).chain([0x7f]).map(|byte| char::from(byte).to_string());
    let spaces = [0x85, 0xA0, 0xAD, 0x1680, 0x180E, 0x2003, 0x200B, 0x200D, 0x2028, 0x2029, 0x3000, 0xFEFF];
    bytes.chain(spaces.into_iter().filter_map(char::from_u32).map(String::from)).collect()
}

fn insert(text: &str, at: usize, what: &str) -> String {
    let (before, behind) = text.split_at(at);
    [before, what, behind].concat()
}

#[test]
fn an_odd_character_between_tokens_is_refused_or_changes_nothing() {
    for text in FRAMES {
        let original = accepted(text);
        let mut inside = false;
        let mut escaped = false;
        for at in 0..=text.len() {
            for odd in odd() {
                let mutated = insert(text, at, &odd);
                assert_reads_strictly(mutated.as_bytes());
                // The pump cuts at a line feed: what is before it and behind it are two frames.
                let lines: Vec<&str> = mutated.split_inclusive('\n').collect();
                let mut reads = lines.into_iter().filter_map(|line| read(line).ok().flatten());
                let Some(read) = reads.next() else { continue };
                assert!(reads.next().is_none());
                if inside {
                    assert!(!odd.bytes().any(|byte| byte < 0x20), "{mutated:?}");
                    continue;
                }
                let is_end = (at == text.len() || at == 0) && odd == "\n";
                assert!(is_end || matches!(odd.as_str(), " " | "\t"), "{mutated:?}");
                assert_eq!(read.document().root(), original.document().root(), "{mutated:?}");
            }
            match text.as_bytes().get(at) {
                _ if escaped => escaped = false,
                Some(b'\\') => escaped = inside,
                Some(b'"') => inside = !inside,
                _ => {}
            }
        }
    }
}

#[test]
fn any_byte_in_place_of_another_is_refused_or_read_alike() {
    for text in FRAMES {
        for at in 0..text.len() {
            for byte in 0..=255_u8 {
                let mut mutated = text.as_bytes().to_vec();
                mutated[at] = byte;
                assert_reads_strictly(&mutated);
            }
        }
    }
}

#[test]
fn no_carriage_return_passes_anywhere_but_before_the_line_feed() {
    for text in FRAMES {
        for at in 0..=text.len() {
            for end in ["", "\n", "\r\n"] {
                let mutated = insert(text, at, "\r") + end;
                let is_ending = at == text.len() && end == "\n";
                assert_eq!(read(&mutated).is_ok(), is_ending, "{mutated:?}");
            }
        }
    }
}

#[test]
fn every_member_twice_is_refused_however_it_is_spelled() {
    let text = FRAMES[0];
    let document = accepted(text);
    for object in
        document.document().all().filter(|value| value.kind() == framegate_guard::json::Kind::Object)
    {
        for (key, value) in object.entries() {
            let escaped: String =
                key.as_str().unwrap().encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            for spelling in [key.as_str().unwrap().to_owned(), escaped] {
                let twice = format!(r#","{spelling}":{}"#, value.raw());
                let mut mutated = text.to_owned();
                mutated.insert_str(object.span().end - 1, &twice);
                let refusal = refused(&mutated);
                assert_eq!(refusal.reason, Reason::DuplicateKey, "{mutated}");
                let is_id = key.as_str() == Some("id");
                assert_eq!(told(&refusal), [if is_id { "null" } else { "7" }], "{mutated}");
            }
        }
    }
}

#[test]
fn a_second_frame_behind_or_inside_the_first_is_refused() {
    let call = FRAMES[0];
    for join in ["", " ", "\t", "\r", "\u{2028}", "\u{85}", "\0", "\u{b}", "\u{c}", ",", ";", "\u{1e}"] {
        for first in FRAMES {
            assert!(read(format!("{first}{join}{call}")).is_err(), "{join:?}");
            assert_reads_strictly(format!("{first}{join}{call}").as_bytes());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shuffled_frames_are_refused_or_read_alike(
        frame in 0_usize..4,
        edits in prop::collection::vec((any::<usize>(), 0_u8..4, any::<u8>()), 1..6),
    ) {
        let mut bytes = FRAMES[frame].as_bytes().to_vec();
        for (at, what, byte) in edits {
            let at = at % (bytes.len() + 1);
            match what {
                0 => bytes.insert(at, byte),
                1 if at < bytes.len() => drop(bytes.remove(at)),
                2 => { let tail = bytes[at..].to_vec(); bytes.extend(tail); }
                _ => bytes.truncate(at.max(20)),
            }
        }
        assert_reads_strictly(&bytes);
    }

    #[test]
    fn any_bytes_as_params_are_refused_or_read_alike(params in prop::collection::vec(any::<u8>(), 0..60)) {
        let (open, close) = (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":"#, "}");
        assert_reads_strictly(&[open.as_bytes(), &params, close.as_bytes()].concat());
    }
}
