//! Which rows of solvi 1.3.0 are taken over: all of a kind, or each row that is not stands in
//! `data/oracle/solvi_not_taken.jsonl` with the reason.

#![expect(clippy::unwrap_used, reason = "the data is the project's own")]

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// The kinds of rows, how many the original's file has of each, and the file here.
const KINDS: [(&str, usize, &str); 15] = [
    ("accepted_proposals", 39, "solvi_accepted_proposals"),
    ("accepts", 180, "solvi_accepts"),
    ("coerce", 262, "solvi_coerce"),
    ("guard", 322, "solvi_guard"),
    ("injection_spans", 335, "injection_spans"),
    ("instruction_rule", 355, "instruction_rule"),
    ("intent", 117, "solvi_intent"),
    ("matcher", 1095, "solvi_matcher"),
    ("messages", 26, "messages"),
    ("normalize", 24, "normalize"),
    ("parse_call", 15, "parse_call"),
    ("proposal", 5, "proposal"),
    ("same_url", 271, "same_url"),
    ("session", 18, "session"),
    ("url_parts", 59, "url_parts"),
];
/// Rows of the original's file.
const ROWS: usize = 3146;

fn rows(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/oracle/{file}.jsonl"));
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_row_is_taken_over_or_has_a_reason() {
    let mut count = 0;
    for (kind, rows_of_kind, file) in KINDS {
        assert_eq!(rows(file).len(), rows_of_kind, "{kind}");
        count += rows_of_kind;
    }
    let (mut left, mut lines) = (BTreeMap::<String, usize>::new(), Vec::new());
    for row in rows("solvi_not_taken") {
        assert!(row["reason"].as_str().is_some_and(|reason| reason.len() > 20), "{row}");
        *left.entry(row["kind"].as_str().unwrap().to_owned()).or_default() += 1;
        lines.push(row["line"].as_u64().unwrap());
        count += 1;
    }
    assert!(lines.is_sorted_by(|one, next| one < next), "a row is listed twice: {lines:?}");
    let left: Vec<(&str, usize)> = left.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
    assert_eq!(left, [("meta", 1), ("proxy", 15), ("vhash", 7)]);
    assert_eq!(count, ROWS);
}
