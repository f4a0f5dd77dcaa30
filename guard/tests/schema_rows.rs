//! Schemas and values that others have judged (`data/eval/README.md` says who).

#![expect(clippy::unwrap_used, reason = "the data is the project's own")]

use flate2::read::GzDecoder;
use framegate_guard::json::{Document, Limits, Value};
use framegate_guard::schema::{Schema, WORK_ON_THREAD_MAX};
use std::collections::HashMap;
use std::io::Read as _;

fn rows(name: &str) -> Vec<Document> {
    let path = format!("{}/tests/data/eval/{name}", env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let limits = Limits { depth: 128, ..Limits::default() };
    let read = |line: &str| Document::read(line.to_owned().into(), &limits).unwrap();
    text.lines().map(read).collect()
}

fn text<'a>(row: Value<'a>, name: &str) -> &'a str {
    row.get(name).and_then(Value::as_str).unwrap()
}

fn flag(row: Value<'_>, name: &str) -> bool {
    row.get(name).and_then(Value::as_bool).unwrap()
}

#[test]
fn every_valid_call_is_accepted_and_every_invalid_one_refused() {
    let listed = rows("bfcl_schemas.jsonl.gz");
    let compile = |row: &Document| {
        (text(row.root(), "id").to_owned(), Schema::adopt(row.root().get("inputSchema")).unwrap())
    };
    let schemas: HashMap<String, Schema> = listed.iter().map(compile).collect();
    let mut wrong = Vec::new();
    let mut counts = [0, 0];
    for row in rows("bfcl_schema.jsonl.gz") {
        let valid = flag(row.root(), "valid");
        counts[usize::from(valid)] += 1;
        let found = schemas[text(row.root(), "schema")].check(row.root().get("arguments").unwrap());
        if found.is_empty() != valid {
            wrong.push((text(row.root(), "id").to_owned(), found));
        }
    }
    assert!(wrong.is_empty(), "{} of {counts:?}: {:?}", wrong.len(), wrong.first());
    assert!(counts[0] > 1000 && counts[1] > 1000, "{counts:?}");
    let costs = schemas.values().map(Schema::estimate);
    assert!(costs.max().unwrap() < WORK_ON_THREAD_MAX / 1000, "an ordinary schema counts as expensive");
}

#[test]
fn the_official_suite_agrees() {
    let (mut wrong, mut judged) = (Vec::new(), 0);
    for group in rows("json_schema_test_suite.jsonl.gz") {
        let group = group.root();
        let of = format!("{} {}: {}", text(group, "draft"), text(group, "file"), text(group, "description"));
        let compiled = Schema::compile(group.get("schema").unwrap());
        if compiled.is_ok() != flag(group, "adopted") {
            wrong.push(format!("{of}: {:?}", compiled.err()));
            continue;
        }
        let Ok(schema) = compiled else { continue };
        for test in group.get("tests").unwrap().items() {
            judged += 1;
            if schema.check(test.get("data").unwrap()).is_empty() != flag(test, "valid") {
                wrong.push(format!("{of}: {}", text(test, "description")));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {judged}: {wrong:#?}", wrong.len());
    assert!(judged > 5_000, "{judged}");
}
