use super::*;
use crate::json::Limits;

fn document(text: &str) -> Document {
    Document::read(text.to_owned().into(), &Limits::default()).unwrap()
}

fn schema(text: &str) -> Schema {
    Schema::compile(document(text).root()).unwrap()
}

fn messages(schema_text: &str, value: &str) -> Vec<String> {
    schema(schema_text).check(document(value).root()).into_iter().map(|found| found.message).collect()
}

#[test]
fn says_where_what_and_what_came() {
    let text = r#"{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"array","items":{"type":"integer"}}}}},"required":["c"]}"#;
    assert_eq!(
        messages(text, r#"{"a":{"b":[1,"x"]}}"#),
        [
            "`a.b[1]`: expected integer, got string \"x\"",
            "`c`: expected a value: it is required, got nothing"
        ]
    );
}
