//! Figures, not assertions: `cargo test --release -p framegate-guard --test all schema_speed -- --ignored --nocapture`.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "measures, decides nothing")]

use framegate_guard::json::{Document, Limits};
use framegate_guard::schema::{Schema, coerce, invisible};
use std::hint::black_box;
use std::time::Instant;

const SCHEMA: &str = r#"{"type":"object","properties":{
  "path":{"type":"string","minLength":1,"maxLength":4096},"mode":{"enum":["read","write","append"]},
  "offset":{"type":"integer","minimum":0},"limit":{"type":"integer","minimum":1,"maximum":100000},
  "ratio":{"type":"number","minimum":0,"maximum":1},"tags":{"type":"array","items":{"type":"string"},"maxItems":20},
  "recursive":{"type":"boolean"},"owner":{"type":"object","properties":{"name":{"type":"string"},"id":{"type":"integer"}},
  "required":["name"]},"content":{"type":"string"},"note":{"anyOf":[{"type":"string"},{"type":"null"}]}},
  "required":["path","mode"],"additionalProperties":false}"#;

fn time(what: &str, times: u32, mut run: impl FnMut()) {
    let best = (0..5).map(|_| {
        let start = Instant::now();
        (0..times).for_each(|_| run());
        start.elapsed() / times
    });
    println!("{what}: {:?}", best.min().unwrap());
}

#[test]
#[ignore = "measures"]
fn a_call_of_one_kibibyte_against_ten_properties() {
    let read = |text: &str| Document::read(text.to_owned().into(), &Limits::default()).unwrap();
    let value = read(&format!(
        r#"{{"path":"/work/a/b.txt","mode":"write","offset":12,"limit":500,"ratio":0.25,"tags":["a","b","c"],
           "recursive":false,"owner":{{"name":"x","id":7}},"content":"{}","note":null}}"#,
        "lorem ipsum ".repeat(70)
    ));
    let source = read(SCHEMA);
    let schema = Schema::compile(source.root()).unwrap();
    println!("bytes of the call: {}, estimate: {}", value.source().len(), schema.estimate());
    assert!(schema.check(value.root()).is_empty());
    let broken = read(&value.root().raw().replace("\"offset\":12", "\"offset\":\"12\""));
    time("compile", 200, || drop(black_box(Schema::compile(source.root()))));
    time("check, valid", 20_000, || drop(black_box(schema.check(value.root()))));
    time("check, one mismatch", 5_000, || drop(black_box(schema.check(broken.root()))));
    time("coerce, one value", 5_000, || drop(black_box(coerce(&schema, broken.root()))));
    time("coerce, nothing to do", 20_000, || drop(black_box(coerce(&schema, value.root()))));
    time("invisible", 20_000, || drop(black_box(invisible(value.root()))));
    time("undeclared", 20_000, || drop(black_box(schema.undeclared(value.root()))));
}

#[test]
#[ignore = "measures"]
fn the_worst_that_is_adopted() {
    let read = |text: &str| Document::read(text.to_owned().into(), &Limits::default()).unwrap();
    let strings: Vec<String> = (30..1_030).map(|count| format!("\"{}!\"", "a".repeat(count))).collect();
    let many = read(&format!("[{}]", strings.join(",")));
    let schema = Schema::compile(read(r#"{"items":{"pattern":"^(a|aa)+\\1$"}}"#).root()).unwrap();
    time("1,000 strings that a pattern cannot be decided on", 1, || {
        drop(black_box(schema.check(many.root())))
    });
    let next = |i: usize| format!(r##"{{"$ref":"#/$defs/d{}"}}"##, i + 1);
    let links: String =
        (0..13).map(|i| format!(r#""d{i}":{{"anyOf":[{},{}]}},"#, next(i), next(i))).collect();
    let text = format!(r##"{{"$defs":{{{links}"d13":{{"type":"string"}}}},"$ref":"#/$defs/d0"}}"##);
    let doubling = Schema::compile(read(&text).root()).unwrap();
    println!("estimate: {}", doubling.estimate());
    let number = read("1");
    time("doubling branches, one value", 5, || drop(black_box(doubling.check(number.root()))));
}
