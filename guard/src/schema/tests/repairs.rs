//! Coercion touches the bytes of single values, and only when all fits afterwards.

use super::*;
use crate::json::Limits;

fn repaired(schema_text: &str, value: &str) -> Option<String> {
    let value = document(value);
    let coerced = coerce(&schema(schema_text), value.root());
    assert_eq!(coerced.edits.len(), coerced.changes.len());
    if coerced.edits.is_empty() {
        return None;
    }
    Some(coerced.apply(value.root()).unwrap().root().raw().to_owned())
}

#[test]
fn every_other_byte_stays() {
    let text = r#"{"properties":{"n":{"type":"integer"},"x":{"type":"number"},"b":{"type":"boolean"},"s":{"type":"string"},
        "l":{"type":"array","items":{"type":"integer"}}}}"#;
    assert_eq!(
        repaired(text, r#"{ "n" : " 2 ", "s":"2" ,"x":1.50,"\u0062":"No","l":["1", 2.0, "3"],"other":"4"}"#)
            .unwrap(),
        r#"{ "n" : 2, "s":"2" ,"x":1.50,"\u0062":false,"l":[1, 2.0, 3],"other":"4"}"#
    );
    let value = document(r#"{"n":"2"}"#);
    let coerced = coerce(&schema(text), value.root());
    assert_eq!(coerced.edits, [Edit { range: 5..8, bytes: Bytes::from_static(b"2") }]);
    let change = Change { path: "n".into(), pointer: "/n".into(), from: "\"2\"".into(), to: "2".into() };
    assert_eq!(coerced.changes, [change]);
}

#[test]
fn ranges_are_those_of_the_whole_document() {
    let frame = document(r#"{"params":{"arguments":{"n":"2"}}}"#);
    let arguments = frame.root().get("params").unwrap().get("arguments").unwrap();
    let coerced = coerce(&schema(r#"{"properties":{"n":{"type":"integer"}}}"#), arguments);
    assert_eq!(&frame.source()[coerced.edits[0].range.clone()], b"\"2\"");
    assert_eq!(coerced.apply(arguments).unwrap().root().raw(), r#"{"n":2}"#);
}

#[test]
fn a_repair_that_does_not_make_all_fit_is_none() {
    let text = r#"{"properties":{"n":{"type":"integer","maximum":5},"b":{"type":"boolean"}}}"#;
    assert_eq!(repaired(text, r#"{"n":"9"}"#), None);
    assert_eq!(repaired(text, r#"{"n":"3","b":"maybe"}"#), None);
    assert_eq!(repaired(text, r#"{"n":"3","b":"yes"}"#).unwrap(), r#"{"n":3,"b":true}"#);
    assert_eq!(repaired(text, r#"{"n":3}"#), None);
}

#[test]
fn exactly_what_was_written_is_sent() {
    let number = r#"{"properties":{"n":{"type":"number"}}}"#;
    for (from, to) in [
        ("9007199254740993", "9007199254740993"),
        ("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"),
        ("1_000.5", "1000.5"),
        (".5", "0.5"),
        ("1.", "1"),
        ("+1e3", "1e3"),
        ("-007", "-7"),
        ("-0", "0"),
        ("1E-05", "1e-5"),
    ] {
        assert_eq!(repaired(number, &format!(r#"{{"n":"{from}"}}"#)).unwrap(), format!(r#"{{"n":{to}}}"#));
    }
    for from in ["nan", "inf", "0x10", "1,5", "", " ", "1e", "e5", ".", "_1", "1__0", "1e99999999", "١"] {
        assert_eq!(repaired(number, &format!(r#"{{"n":"{from}"}}"#)), None, "{from}");
    }
}

#[test]
fn listed_values_and_fitting_alternatives_are_left_alone() {
    assert_eq!(repaired(r#"{"properties":{"n":{"type":"integer","enum":[1,2]}}}"#, r#"{"n":"1"}"#), None);
    assert_eq!(
        repaired(r#"{"properties":{"n":{"type":["string","integer"],"minLength":3}}}"#, r#"{"n":"1"}"#),
        None
    );
    assert_eq!(
        repaired(r#"{"properties":{"n":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}"#, r#"{"n":"1"}"#)
            .unwrap(),
        r#"{"n":1}"#
    );
}

#[test]
fn many_changes_are_no_repair() {
    let text = r#"{"items":{"type":"integer"}}"#;
    let list = |count: usize| format!("[{}]", vec!["\"1\""; count].join(","));
    assert!(repaired(text, &list(1023)).is_some() && repaired(text, &list(1024)).is_some());
    assert!(repaired(text, &list(1025)).is_none());
}

proptest::proptest! {
    #[test]
    fn a_repaired_value_fits_and_keeps_its_shape(values in proptest::collection::vec("[-+_.0-9eE tfyn\u{660}]{0,8}", 1..6)) {
        let types = ["integer", "number", "boolean"];
        let named = |i: usize| format!(r#""a{i}":{{"type":"{}"}}"#, types[i % 3]);
        let properties: Vec<String> = (0..values.len()).map(named).collect();
        let schema = schema(&format!(r#"{{"properties":{{{}}}}}"#, properties.join(",")));
        let members: Vec<String> =
            values.iter().enumerate().map(|(i, text)| format!("\"a{i}\": {}", serde_json::Value::from(text.as_str()))).collect();
        let value = Document::read(format!("{{{}}}", members.join(", ")).into(), &Limits::default()).unwrap();
        let coerced = coerce(&schema, value.root());
        if !coerced.edits.is_empty() {
            let fixed = coerced.apply(value.root()).unwrap();
            proptest::prop_assert!(schema.check(fixed.root()).is_empty());
            proptest::prop_assert_eq!(coerced.edits.len(), values.len());
        }
    }
}
