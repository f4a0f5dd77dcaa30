//! The 110 frames that two parsers read differently: what each real server ran is in the file, and what is
//! right.

use base64::Engine as _;
use serde_json::Value;

use super::*;

struct Row {
    name: String,
    should: String,
    lines: Vec<Vec<u8>>,
}

fn rows() -> Vec<Row> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/smuggling.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Row> = text.lines().map(row).collect();
    assert_eq!(rows.len(), 110);
    rows
}

fn row(line: &str) -> Row {
    let row: Value = serde_json::from_str(line).unwrap();
    let text = |key: &str| row[key].as_str().unwrap().to_owned();
    let bytes = base64::engine::general_purpose::STANDARD.decode(text("bytes_base64")).unwrap();
    let lines = bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    Row { name: text("name"), should: text("guard_should"), lines }
}

/// Depth is a setting; row `depth_100` is about a guard that allows 128.
fn limits(row: &Row) -> Limits {
    let depth = if row.name == "depth_100" { 128 } else { Limits::default().depth };
    Limits { depth, ..Limits::default() }
}

/// Rows that were written before the issue decided otherwise: null arguments are the empty object.
const ACCEPTED_THOUGH_REFUSE: [&str; 1] = ["arguments_null"];

#[test]
fn every_row_is_refused_or_read_as_it_should_be() {
    for row in rows() {
        let outcomes: Vec<_> =
            row.lines.iter().map(|line| client_frame(&frame(line), &limits(&row))).collect();
        let reads = outcomes.iter().filter(|outcome| matches!(outcome, Ok(Some(_)))).count();
        let expected = match row.should.as_str() {
            // Framing rows: the header lines are refused, the call in the last line is judged.
            _ if row.name == "content_length" => 1,
            _ if ACCEPTED_THOUGH_REFUSE.contains(&row.name.as_str()) => 1,
            "refuse" | "refuse-or-decide-each-element" | "refuse-over-256-bytes" => 0,
            "refuse-unknown-method-or-forward" => 0,
            "decide" | "decide-exact" | "decide-and-forward-as-is" | "drop-blank-and-decide" => 1,
            "deny-unknown-tool" => 1,
            other => panic!("`{other}` in {}", row.name),
        };
        assert_eq!(reads, expected, "{}: {outcomes:?}", row.name);
    }
}

/// What a row's call must be read as: the file's record of a server that reads exactly.
fn expected_call(name: &str) -> (String, Value) {
    let tool = match name {
        "name_nul_split" => "safe\0danger",
        "name_lf_escape" => "danger\n",
        "name_case" => "DANGER",
        "name_zwsp" => "danger\u{200b}",
        "name_fullwidth" => "\u{ff44}\u{ff41}\u{ff4e}\u{ff47}\u{ff45}\u{ff52}",
        _ => "danger",
    };
    let arguments = match name {
        "baseline_danger" => serde_json::json!({"m": "b"}),
        "esc_name" | "arguments_absent" | "arguments_null" => serde_json::json!({}),
        "u2028_in_string" => serde_json::json!({"m": "a\u{2028}b"}),
        _ => serde_json::json!({"m": "x"}),
    };
    (tool.to_owned(), arguments)
}

#[test]
fn decided_rows_are_read_with_exact_name_and_arguments() {
    let mut decided = 0;
    for row in rows() {
        for line in &row.lines {
            let Ok(Some(read)) = client_frame(&frame(line), &limits(&row)) else { continue };
            decided += 1;
            let call = read.call().unwrap();
            let (tool, arguments) = expected_call(&row.name);
            assert_eq!(call.name, tool, "{}", row.name);
            let is_exact = row.should == "decide-exact" || row.name == "depth_100";
            if !is_exact {
                let read = call.arguments.map_or_else(|| serde_json::json!({}), |value| value.to_serde());
                assert_eq!(read, arguments, "{}", row.name);
            }
        }
    }
    assert_eq!(decided, 29);
}

#[test]
fn numbers_are_read_as_they_were_written() {
    for (name, exact) in
        [("val_num_2p53p1", "9007199254740993"), ("val_num_1_0", "1.0"), ("num_underflow", "1e-400")]
    {
        let row = rows().into_iter().find(|row| row.name == name).unwrap();
        let read = accepted(&row.lines[0]);
        assert_eq!(read.call().unwrap().arguments.unwrap().get("m").unwrap().number(), Some(exact), "{name}");
    }
    let long = rows().into_iter().find(|row| row.name == "num_long_fraction").unwrap();
    let read = accepted(&long.lines[0]);
    let number = read.call().unwrap().arguments.unwrap().get("m").unwrap().number().unwrap();
    assert_eq!(number, format!("0.{}", "1".repeat(number.len() - 2)));
    assert!(number.len() > 300);
}

#[test]
fn a_refusal_names_the_call_where_its_id_is_certain() {
    for row in rows() {
        let told_of: Vec<_> = row
            .lines
            .iter()
            .filter_map(|line| client_frame(&frame(line), &limits(&row)).err())
            .flat_map(|refusal| told(&refusal))
            .collect();
        let expected: &[&str] = match row.name.as_str() {
            name if ["decide", "decide-exact", "deny-unknown-tool", "decide-and-forward-as-is"]
                .contains(&row.should.as_str())
                || ["blank_lines", "arguments_null", "cr_split_response", "cr_nested_notification"]
                    .contains(&name) =>
            {
                &[]
            }
            // Two frames, or none.
            "concat_nosep" | "concat_space" | "sep_u2028" | "trailing_brace" | "comment_line" => &["null"],
            "leading_nbsp" | "leading_vt_ff" | "nul_prefix" | "nul_suffix" | "unquoted_keys" => &["null"],
            "pretty_multiline" => &["null", "null", "null", "null"],
            "content_length" => &["null"],
            "utf16le" => &["null", "null"],
            // No id, more than one, or none that anybody waits for.
            "dup_id_null_last" | "id_bool" | "id_obj" => &["null"],
            "batch_nested" | "batch_empty" | "struct_as_array" => &["null"],
            "batch_ping_first" => &["6", "7"],
            "cr_nested_ping" => &["6"],
            "id_float" => &["7.0"],
            "id_exp" => &["7.0"],
            "id_frac" => &["7.5"],
            "id_big" => &["1.8446744073709552e+19"],
            "id_long" => &[],
            // A key that is no method, and none other: nobody can tell.
            "proto_frame" => &["null"],
            _ => &["7"],
        };
        if row.name == "id_long" {
            assert!(told_of[0].len() > 5000);
        } else {
            assert_eq!(told_of, expected, "{}", row.name);
        }
    }
}
