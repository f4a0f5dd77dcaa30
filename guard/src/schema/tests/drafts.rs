//! Drafts, references and patterns.

use super::*;
use std::time::{Duration, Instant};

#[test]
fn the_draft_is_what_the_schema_says() {
    for named in [
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2020-12/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-07/schema",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-04/schema",
    ] {
        let text =
            format!(r#"{{"$schema":"{named}","type":"object","properties":{{"a":{{"type":"integer"}}}}}}"#);
        assert!(fits(&text, r#"{"a":1}"#), "{named}");
        assert!(!fits(&text, r#"{"a":"1"}"#), "{named}");
    }
    let draft4 =
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}"#;
    assert!(!fits(draft4, "1") && fits(draft4, "1.5"));
    let draft7 = r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}"#;
    assert!(fits(draft7, r#"["a"]"#) && !fits(draft7, r#"["a",1]"#));
    assert!(fits(r#"{"prefixItems":[{"type":"string"}],"items":false}"#, r#"["a"]"#));
}

#[test]
fn an_unknown_draft_is_an_error_value() {
    for named in ["https://example.com/meta", "http://json-schema.org/draft-03/schema#", ""] {
        let error = refused(&format!(r#"{{"$schema":"{named}"}}"#));
        assert_eq!(error, SchemaError::UnknownDraft(named.into()));
    }
    assert!(matches!(refused(r#"{"$schema":7}"#), SchemaError::UnknownDraft(_)));
}

#[test]
fn a_missing_schema_accepts_any_object() {
    let schema = Schema::adopt(None).unwrap();
    assert!(schema.check(document(r#"{"a":1}"#).root()).is_empty());
    assert!(!schema.check(document("[]").root()).is_empty());
    assert!(schema.allows_undeclared());
}

#[test]
fn no_reference_is_fetched() {
    let folder = std::env::temp_dir().join(format!("framegate-schema-{}", std::process::id()));
    std::fs::write(&folder, r#"{"type":"string"}"#).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let path = folder.display();
    for reference in [
        format!("http://{address}/s.json"),
        format!("file://{path}"),
        path.to_string(),
        "other.json#/a".into(),
    ] {
        for text in [
            format!(r#"{{"properties":{{"a":{{"$ref":"{reference}"}}}}}}"#),
            format!(r#"{{"$id":"{reference}","properties":{{"a":{{"$ref":"x.json"}}}}}}"#),
            format!(r#"{{"unknown":{{"$ref":"{reference}"}},"$ref":"{reference}"}}"#),
        ] {
            assert!(matches!(refused(&text), SchemaError::Unresolved(_)), "{text}");
        }
    }
    assert!(listener.accept().is_err(), "somebody called");
    std::fs::remove_file(folder).unwrap();
}

#[test]
fn references_within_the_schema_are_followed() {
    let tree = r##"{"$defs":{"node":{"type":"object","properties":{"value":{"type":"integer"},
        "children":{"type":"array","items":{"$ref":"#/$defs/node"}}}}},"$ref":"#/$defs/node"}"##;
    assert!(fits(tree, r#"{"value":1,"children":[{"children":[{"value":2}]}]}"#));
    assert!(!fits(tree, r#"{"value":1,"children":[{"children":[{"value":"2"}]}]}"#));
    let named = r##"{"$defs":{"a":{"$anchor":"here","type":"string"},"b/c":{"type":"null"}},
        "anyOf":[{"$ref":"#here"},{"$ref":"#/$defs/b~1c"},{"$ref":"#/%24defs/b~1c"}]}"##;
    assert!(fits(named, r#""x""#) && fits(named, "null") && !fits(named, "1"));
    let resource = r#"{"$id":"https://example.com/root","$defs":{"a":{"$id":"a.json","type":"string"}},
        "properties":{"x":{"$ref":"a.json"}}}"#;
    assert!(fits(resource, r#"{"x":"y"}"#) && !fits(resource, r#"{"x":1}"#));
    let meta = r#"{"$ref":"https://json-schema.org/draft/2020-12/schema"}"#;
    assert!(fits(meta, r#"{"type":"string"}"#) && !fits(meta, r#"{"type":"text"}"#));
}

#[test]
fn invalid_schemas_are_refused_with_their_place() {
    let error = refused(r#"{"properties":{"a":{"type":"text"}}}"#);
    assert!(matches!(&error, SchemaError::Invalid { pointer, .. } if pointer.starts_with("/properties/a")));
    for wrong in
        ["1", "[]", r#"{"properties":[]}"#, r#"{"pattern":"("}"#, r#"{"enum":7}"#, r#"{"minLength":1e400}"#]
    {
        assert!(matches!(refused(wrong), SchemaError::Invalid { .. }), "{wrong}: {:?}", refused(wrong));
    }
}

#[test]
fn patterns_are_those_of_ecma_262() {
    for (pattern, text, expected) in [
        (r"^\\d+$", "12", true),
        (r"^\\d+$", "\u{663}", false),
        (r"^(?!x)", "y", true),
        (r"^(?!x)", "x", false),
        (r"^\\p{L}+$", "é", true),
        (r"^\\w$", "é", false),
        (r"b", "abc", true),
        (r"^[^\\s]+$", "a\u{feff}", false),
    ] {
        let schema = format!(r#"{{"pattern":"{pattern}"}}"#);
        assert_eq!(fits(&schema, &format!("\"{text}\"")), expected, "{pattern} {text}");
    }
}

#[test]
fn a_catastrophic_pattern_ends_and_never_passes() {
    let long = format!("\"{}!\"", "a".repeat(50_000));
    let start = Instant::now();
    for pattern in
        ["(a+)+$", "^(a+)+$", r"^(a|aa)+\\1$", r"^(?=(a+)+$)", r"(a*)*\\1b", r"^(([a-z])+.)+[A-Z]([a-z])+$"]
    {
        assert!(!fits(&format!(r#"{{"pattern":"{pattern}"}}"#), &long), "{pattern}");
    }
    // What cannot be decided must not pass by being negated either.
    let not = r#"{"not":{"pattern":"^(a|aa)+\\1$"}}"#;
    assert!(!fits(not, &long));
    // Many strings at once, each of them undecided.
    let strings: Vec<String> = (30..80).map(|count| format!("\"{}!\"", "a".repeat(count))).collect();
    let many = format!("[{}]", strings.join(","));
    assert!(!fits(r#"{"items":{"pattern":"^(a|aa)+\\1$"}}"#, &many));
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}
