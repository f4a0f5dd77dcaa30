//! Numbers are judged as they are written.

use super::*;

#[test]
fn bounds_hold_beyond_what_a_double_can_tell() {
    for (schema, value, expected) in [
        (r#"{"maximum":9007199254740992}"#, "9007199254740993", false),
        (r#"{"maximum":9007199254740992.0}"#, "9007199254740992.5", false),
        (r#"{"maximum":9007199254740993}"#, "9007199254740993", true),
        (r#"{"exclusiveMinimum":0}"#, "1e-400", true),
        (r#"{"maximum":0}"#, "1e-400", false),
        (r#"{"minimum":1e400}"#, "1e399", false),
        (r#"{"minimum":1e400}"#, "1e400", true),
        (r#"{"exclusiveMaximum":1e-400}"#, "0", true),
        (r#"{"minimum":0.1}"#, "0.1000000000000000055511151231257827", true),
        (r#"{"exclusiveMinimum":0.1}"#, "0.1", false),
        (r#"{"maximum":-18446744073709551617}"#, "-18446744073709551616", false),
    ] {
        assert_eq!(fits(schema, value), expected, "{schema} {value}");
    }
}

#[test]
fn multiples_are_decimal() {
    for (schema, value, expected) in [
        (r#"{"multipleOf":0.01}"#, "0.1", true),
        (r#"{"multipleOf":0.01}"#, "19.99", true),
        (r#"{"multipleOf":0.01}"#, "0.015", false),
        (r#"{"multipleOf":2}"#, "9007199254740993", false),
        (r#"{"multipleOf":0.1}"#, "1070468.14", false),
        (r#"{"multipleOf":1e-300}"#, "3e-300", true),
        (r#"{"multipleOf":7}"#, "123456789012345678901234567890", true),
        (r#"{"multipleOf":7}"#, "123456789012345678901234567891", false),
    ] {
        assert_eq!(fits(schema, value), expected, "{schema} {value}");
    }
    for wrong in [r#"{"multipleOf":0}"#, r#"{"multipleOf":-2}"#] {
        assert!(matches!(refused(wrong), SchemaError::Invalid { .. }), "{wrong}");
    }
}

#[test]
fn an_integer_is_what_has_no_fraction() {
    for value in ["1", "1.0", "1e3", "10e-1", "-0", "123456789012345678901234567890", "1e400"] {
        assert!(fits(r#"{"type":"integer"}"#, value), "{value}");
    }
    for value in ["1.5", "1e-1", "9007199254740992.5", "1e-400", "true", "\"1\""] {
        assert!(!fits(r#"{"type":"integer"}"#, value), "{value}");
    }
}

#[test]
fn constants_and_lists_compare_by_value() {
    for (schema, value, expected) in [
        (r#"{"const":18446744073709551617}"#, "18446744073709551616", false),
        (r#"{"const":18446744073709551617}"#, "18446744073709551617", true),
        (r#"{"const":1}"#, "1.0", true),
        (r#"{"const":1}"#, "true", false),
        (r#"{"enum":[9007199254740993,"a"]}"#, "9007199254740992", false),
        (r#"{"enum":[{"x":[1,2]}]}"#, r#"{"x":[1.0,2e0]}"#, true),
        (r#"{"enum":["1"]}"#, "1", false),
        (r#"{"enum":[]}"#, "1", false),
        (r#"{"enum":[1e400]}"#, "1e400", true),
        (r#"{"const":{"minimum":1e400}}"#, r#"{"minimum":1e400}"#, true),
        (r#"{"uniqueItems":true}"#, "[9007199254740992,9007199254740993]", true),
        (r#"{"uniqueItems":true}"#, "[1,1.0]", false),
    ] {
        assert_eq!(fits(schema, value), expected, "{schema} {value}");
    }
}

#[test]
fn a_property_may_be_called_like_a_keyword() {
    let schema =
        r#"{"properties":{"minimum":{"type":"string"},"const":{"minimum":5},"default":{"enum":[1]}}}"#;
    assert!(fits(schema, r#"{"minimum":"x","const":5,"default":1}"#));
    assert!(!fits(schema, r#"{"const":4}"#));
    assert!(!fits(schema, r#"{"default":2}"#));
}
