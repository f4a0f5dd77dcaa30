//! By topic; what they share stands here.

use super::*;
use crate::json::Limits;

mod drafts;
mod hidden;
mod limits;
mod numbers;
mod repairs;
mod words;

fn document(text: &str) -> Document {
    Document::read(text.to_owned().into(), &Limits::default()).unwrap()
}

fn schema(text: &str) -> Schema {
    Schema::compile(document(text).root()).unwrap()
}

fn refused(text: &str) -> SchemaError {
    Schema::compile(document(text).root()).unwrap_err()
}

fn fits(schema_text: &str, value: &str) -> bool {
    schema(schema_text).check(document(value).root()).is_empty()
}

fn messages(schema_text: &str, value: &str) -> Vec<String> {
    schema(schema_text).check(document(value).root()).into_iter().map(|found| found.message).collect()
}

#[test]
fn the_fuzz_function_holds_on_a_corpus() {
    for bytes in [
        &b"{\"properties\":{\"a\":{\"type\":\"integer\"}}}\n{\"a\":\"2\"}"[..],
        b"{\"$ref\":\"#\"}\n{}",
        b"true\n[1]",
        b"\xff\n\xff",
        b"",
        b"{\"items\":{\"$ref\":\"#\"},\"type\":\"array\"}\n[[[[\"x\"]]]]",
        b"{\"properties\":{\"a\":{\"default\":{\"b\":[1]}}}}\n{ }",
        b"{\"pattern\":\"(a+)+\\\\1$\"}\n\"aaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"",
    ] {
        fuzz(bytes);
    }
}
