mod agree;
mod limits;
mod mutate;

use super::*;

fn read(text: &str) -> Result<Document, Fault> {
    Document::read(Bytes::copy_from_slice(text.as_bytes()), &Limits::default())
}

#[test]
fn members_items_and_spans() {
    let text = r#" {"a":[1,{"b":"x\ny"}],"c":null, "d":{} } "#;
    let document = read(text).unwrap();
    let root = document.root();
    assert_eq!(root.len(), 3);
    let list = root.get("a").unwrap();
    assert_eq!(list.len(), 2);
    assert_eq!(list.item(1).unwrap().get("b").unwrap().as_str(), Some("x\ny"));
    assert_eq!(text.get(list.span()).unwrap(), r#"[1,{"b":"x\ny"}]"#);
    assert!(root.get("c").unwrap().is_null());
    assert!(root.get("d").unwrap().is_empty());
    assert_eq!(document.strings().collect::<Vec<_>>(), ["a", "b", "x\ny", "c", "d"]);
}

#[test]
fn a_duplicate_key_is_found_at_any_depth_and_spelling() {
    for text in [r#"{"a":1,"a":2}"#, r#"[{"x":{"a":1,"\u0061":2}}]"#] {
        assert_eq!(read(text).unwrap_err().kind, FaultKind::DuplicateKey("a".into()), "{text}");
    }
    let many: String = (0..40).map(|n| format!("\"k{n}\":[{n}],")).collect();
    assert!(read(&format!("{{{many}\"z\":0}}")).is_ok());
    for n in [0, 7, 8, 9, 39] {
        let twice = read(&format!("{{{many}\"k{n}\":0}}")).unwrap_err();
        assert_eq!(twice.kind, FaultKind::DuplicateKey(format!("k{n}")));
    }
}

#[test]
fn equal_values_have_one_digest() {
    let equal =
        [("1.50", "15e-1"), ("100", "1E+2"), ("-0.0", "0"), (r#"{"a":1,"b":2}"#, r#"{"b":2.0,"\u0061":1}"#)];
    for (left, right) in equal {
        assert_eq!(read(left).unwrap().digest(), read(right).unwrap().digest(), "{left} {right}");
    }
    assert_ne!(read("9007199254740993").unwrap().digest(), read("9007199254740992").unwrap().digest());
}

#[test]
fn every_fault_has_its_kind_and_place() {
    use FaultKind as K;
    for (text, kind, offset) in [
        ("", K::Empty, 0),
        (" \t", K::Empty, 2),
        ("\u{feff}{}", K::ByteOrderMark, 0),
        ("[1] x", K::Trailing, 4),
        ("{}{}", K::Trailing, 2),
        ("[1,]", K::Unexpected(b']'), 3),
        ("{\"a\":1,}", K::Unexpected(b'}'), 7),
        ("{a:1}", K::Unexpected(b'a'), 1),
        ("{\"a\" 1}", K::Unexpected(b'1'), 5),
        ("[1 2]", K::Unexpected(b'2'), 3),
        ("[01]", K::Unexpected(b'1'), 2),
        ("[+1]", K::Unexpected(b'+'), 1),
        ("[.5]", K::Unexpected(b'.'), 1),
        ("[5.]", K::Unexpected(b']'), 3),
        ("[1e]", K::Unexpected(b']'), 3),
        ("[-]", K::Unexpected(b']'), 2),
        ("[NaN]", K::Unexpected(b'N'), 1),
        ("[nul]", K::Unexpected(b']'), 4),
        ("[True]", K::Unexpected(b'T'), 1),
        ("['a']", K::Unexpected(b'\''), 1),
        ("[\u{a0}1]", K::Unexpected(0xc2), 1),
        ("[\u{c}1]", K::Unexpected(0x0c), 1),
        ("[", K::Unfinished, 1),
        ("\"a", K::Unfinished, 2),
        ("\"\\u12", K::Unfinished, 5),
        ("-", K::Unfinished, 1),
        ("\"a\tb\"", K::ControlByte(9), 2),
        ("\"\\n\0\"", K::ControlByte(0), 3),
        (r#""\x61""#, K::Escape, 1),
        (r#""a\u12g4""#, K::Escape, 2),
        (r#""\ud800""#, K::LoneSurrogate, 1),
        (r#""\udc00""#, K::LoneSurrogate, 1),
        (r#""\ud800\ud800""#, K::LoneSurrogate, 1),
        (r#""\ud800\n""#, K::LoneSurrogate, 1),
        (r#"{"a":1,"b":2,"\u0061":3}"#, K::DuplicateKey("a".into()), 13),
    ] {
        assert_eq!(read(text).unwrap_err(), Fault { kind, offset }, "{text:?}");
    }
    let bad = Document::read(Bytes::from_static(b"[\"\xff\"]"), &Limits::default());
    assert_eq!(bad.unwrap_err(), Fault { kind: FaultKind::Utf8, offset: 2 });
    let key = "k\u{7}".repeat(100);
    let twice = read(&format!(r#"{{"{key}":1}}"#)).unwrap_err();
    assert_eq!(twice.kind, FaultKind::ControlByte(7), "and nothing in a message moves a cursor");
}

#[test]
fn a_decoded_offset_leads_back_to_its_bytes() {
    let text = r#"{"k":"a\u00e9\ud83d\ude00é\n\/z"}"#;
    let document = read(text).unwrap();
    let string = document.root().get("k").unwrap();
    assert_eq!(string.as_str(), Some("aé😀é\n/z"));
    let start = string.span().start + 1;
    let raw: Vec<usize> = (0..=12).map(|at| string.raw_offset(at) - start).collect();
    //             a  \u00e9 \ud83d\ude00 é        \n  \/  z   "
    assert_eq!(raw, [0, 1, 1, 7, 7, 7, 7, 19, 20, 21, 23, 25, 26]);
    assert_eq!(document.root().raw_offset(3), 0, "no string");
    let plain = read(r#" "abc""#).unwrap();
    assert_eq!([0, 2, 3, 9].map(|at| plain.root().raw_offset(at)), [2, 4, 5, 5]);
}
