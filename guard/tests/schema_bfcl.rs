//! Calls of the Berkeley Function Calling Leaderboard, right ones and wrong ones, judged by their schemas.

use flate2::read::GzDecoder;
use framegate_guard::json::{Document, Limits, Value};
use framegate_guard::schema::{EXPENSIVE_MIN, Schema};
use std::collections::HashMap;
use std::io::Read as _;

fn rows(name: &str) -> Vec<Document> {
    let path = format!("{}/tests/data/eval/{name}", env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let read = |line: &str| Document::read(line.to_owned().into(), &Limits::default()).unwrap();
    text.lines().map(read).collect()
}

#[test]
fn every_valid_row_is_accepted_and_every_invalid_one_refused() {
    let listed = rows("bfcl_schemas.jsonl.gz");
    let text = |row: &Document, name: &str| row.root().get(name).and_then(Value::as_str).unwrap().to_owned();
    let compile = |row: &Document| {
        let schema = Schema::compile(row.root().get("inputSchema").unwrap()).unwrap();
        (text(row, "id"), schema)
    };
    let schemas: HashMap<String, Schema> = listed.iter().map(compile).collect();
    let mut wrong = Vec::new();
    let mut counts = [0, 0];
    for row in rows("bfcl_schema.jsonl.gz") {
        let valid = row.root().get("valid").and_then(Value::as_bool).unwrap();
        counts[usize::from(valid)] += 1;
        let found = schemas[&text(&row, "schema")].check(row.root().get("arguments").unwrap());
        if found.is_empty() != valid {
            wrong.push((text(&row, "id"), found));
        }
    }
    assert!(wrong.is_empty(), "{} of {counts:?}: {:?}", wrong.len(), wrong.first());
    assert!(counts[0] > 1000 && counts[1] > 1000, "{counts:?}");
    let costs = schemas.values().map(Schema::estimate);
    assert!(costs.max().unwrap() < EXPENSIVE_MIN, "an ordinary schema counts as expensive");
}
