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
