//! What a mismatch says.

use super::*;

#[test]
fn a_mismatch_says_where_what_and_what_came() {
    let text = r#"{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"array",
        "items":{"type":"integer"}}}},"unit":{"enum":["km","mi"]},"n":{"minimum":1,"maximum":5},
        "s":{"type":["string","null"],"maxLength":3,"pattern":"^x"}},"required":["c"],"additionalProperties":false}"#;
    let value = r#"{"a":{"b":[1,"x"]},"unit":"m","n":7.50,"s":"yyyy","zz":true}"#;
    let mut found = messages(text, value);
    found.sort();
    assert_eq!(
        found,
        [
            "`a.b[1]`: expected integer, got string \"x\"",
            "`c`: expected a value: it is required, got nothing",
            "`n`: expected at most 5, got number 7.50",
            "`s`: expected at most 3 characters, got string \"yyyy\"",
            "`s`: expected text that matches ^x, got string \"yyyy\"",
            "`unit`: expected one of \"km\", \"mi\", got string \"m\"",
            "`zz`: expected no argument of this name (there are: a, unit, n, s), got boolean true",
        ]
    );
    let found = schema(text).check(document(value).root());
    let item = found.iter().find(|found| found.path == "a.b[1]").unwrap();
    assert_eq!((item.pointer.as_str(), item.expected.as_str()), ("/a/b/1", "integer"));
}

#[test]
fn the_closest_alternative_speaks() {
    let shape = r#"{"anyOf":[{"type":"null"},
        {"type":"object","properties":{"kind":{"const":"circle"},"r":{"type":"number"}},"required":["kind","r"]},
        {"type":"object","properties":{"kind":{"const":"box"},"w":{"type":"number"}},"required":["kind","w"]}]}"#;
    let named = format!(r#"{{"properties":{{"shape":{shape}}}}}"#);
    assert_eq!(
        messages(&named, r#"{"shape":{"kind":"box","w":"3"}}"#),
        ["`shape.w`: expected number, got string \"3\""]
    );
    assert_eq!(
        messages(&named, r#"{"shape":{"kind":"circle"}}"#),
        ["`shape.r`: expected a value: it is required, got nothing"]
    );
    assert_eq!(messages(&named, r#"{"shape":7}"#), ["`shape`: expected null or object, got number 7"]);
    assert_eq!(
        messages(r#"{"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}"#, r#"{"a":"x"}"#),
        ["`a`: expected integer or null, got string \"x\""]
    );
    assert_eq!(
        messages(
            r#"{"properties":{"a":{"anyOf":[{"type":"integer","minimum":3},{"type":"null"}]}}}"#,
            r#"{"a":1}"#
        ),
        ["`a`: expected at least 3, got number 1"]
    );
    assert_eq!(
        messages(r#"{"oneOf":[{"minimum":1},{"minimum":2}]}"#, "3"),
        ["the value: expected exactly one of the alternatives to fit, several do, got number 3"]
    );
}

#[test]
fn foreign_text_is_short_and_visible() {
    let hostile = format!("\u{1b}[2J\u{202e}{}", "x".repeat(5000));
    let quoted = serde_json::Value::from(hostile.as_str()).to_string();
    let text = format!(r#"{{"properties":{{{quoted}:{{"enum":[{quoted},1]}}}}}}"#);
    for found in schema(&text).check(document(&format!("{{{quoted}:2}}")).root()) {
        for shown in [&found.path, &found.expected, &found.got, &found.message] {
            assert!(shown.chars().count() < 1000);
            assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
        }
    }
    let many: Vec<String> = (0..100).map(|i| i.to_string()).collect();
    let listed = messages(&format!(r#"{{"enum":[{}]}}"#, many.join(",")), "\"x\"");
    assert_eq!(
        listed,
        ["the value: expected one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … (88 more), got string \"x\""]
    );
}

#[test]
fn as_many_mismatches_as_the_limit_and_no_more() {
    let wrong = |count: usize| format!("[{}]", vec!["\"x\""; count].join(","));
    let count = |items| schema(r#"{"items":{"type":"integer"}}"#).check(document(&wrong(items)).root()).len();
    assert_eq!(count(MISMATCHES_MAX - 1), MISMATCHES_MAX - 1);
    assert_eq!(count(MISMATCHES_MAX), MISMATCHES_MAX);
    assert_eq!(count(MISMATCHES_MAX + 1), MISMATCHES_MAX);
}

#[test]
fn text_that_cannot_be_read_is_a_mismatch() {
    let schema = schema(r#"{"type":"object"}"#);
    assert!(schema.check_text(Bytes::from_static(b"{}")).is_empty());
    let found = schema.check_text(Bytes::from_static(br#"{"a":1,"a":2}"#));
    assert_eq!(found[0].got, "duplicate key `a` at byte 7");
}

#[test]
fn names_of_arguments() {
    let text = r##"{"$defs":{"base":{"properties":{"b":{},"c":{}},"required":["b"]}},
        "allOf":[{"$ref":"#/$defs/base"}],"properties":{"a":{}},"required":["a"],
        "patternProperties":{"^x-":{}},"anyOf":[{"properties":{"d":{}}}]}"##;
    let adopted = schema(text);
    assert_eq!(adopted.property_names(), ["a", "b", "c", "d"]);
    assert_eq!(adopted.required_names(), ["a", "b"]);
    assert!(adopted.allows_undeclared());
    let arguments = document(r#"{"a":1,"x-y":1,"d":1,"e":1,"A":1}"#);
    assert_eq!(adopted.undeclared(arguments.root()), ["e", "A"]);
    assert!(!schema(r#"{"additionalProperties":false}"#).allows_undeclared());
}

#[test]
fn defaults_fill_what_was_not_sent() {
    let text = r##"{"$defs":{"n":{"default":1.10}},"properties":{"a":{"default":"x"},"n":{"$ref":"#/$defs/n"},
        "nothing":{"default":null},"o":{"properties":{"p":{"default":[1]},"q":{}}},
        "absent":{"properties":{"r":{"default":2}}}}}"##;
    let filled = |arguments: &str| {
        let arguments = document(arguments);
        String::from_utf8(schema(text).with_defaults(arguments.root()).unwrap().source().to_vec()).unwrap()
    };
    assert_eq!(filled("{}"), r#"{"a":"x","n":1.10}"#);
    assert_eq!(filled(r#"{ "a": null, "o":{ } }"#), r#"{ "a": null, "o":{ "p":[1]} ,"n":1.10}"#);
    assert_eq!(filled(r#"{"n":2,"o":{"q":1}}"#), r#"{"n":2,"o":{"q":1,"p":[1]},"a":"x"}"#);
    let inside = document(r#"{"params":{"arguments":{"a":1}}}"#);
    let arguments = inside.root().get("params").unwrap().get("arguments").unwrap();
    assert_eq!(schema(text).with_defaults(arguments).unwrap().root().raw(), r#"{"a":1,"n":1.10}"#);
}

#[test]
fn defaults_within_the_limit_and_no_more() {
    use crate::schema::DEFAULTS_WORK_MAX;
    // An object and the view of it, its property, the view of that, its name; and its value.
    let filled = |bytes: usize| {
        let text = "x".repeat(bytes - 2);
        let document = document(&format!(r#"{{"properties":{{"a":{{"default":"{text}"}}}}}}"#));
        super::super::defaults::with_defaults(document.root(), Document::empty_object().root()).is_some()
    };
    let most = DEFAULTS_WORK_MAX - (2 + 1 + 1 + 1);
    assert!(filled(most - 1) && filled(most) && !filled(most + 1));
}

#[test]
fn a_schema_that_refers_to_itself_fills_in_bounded_time() {
    // Each of 10,000 objects would get each of 2,000 defaults.
    let properties: Vec<String> = (0..2000).map(|n| format!(r#""p{n}":{{"default":"x"}}"#)).collect();
    let text =
        format!(r##"{{"properties":{{{}}},"additionalProperties":{{"$ref":"#"}}}}"##, properties.join(","));
    let members: Vec<String> = (0..10_000).map(|n| format!(r#""m{n}":{{}}"#)).collect();
    let arguments = document(&format!("{{{}}}", members.join(",")));
    assert!(schema(&text).with_defaults(arguments.root()).is_none());
}
