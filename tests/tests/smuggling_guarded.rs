//! Frames that two parsers may read differently, under a policy: what is not certain is refused and nothing of
//! it reaches the server, what is certain is judged as what every reader sees.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use base64::{Engine, engine::general_purpose::STANDARD};
use framegate_tests::{
    Guarded, Wrapper, data,
    guarded::{INITIALIZED, WITHIN, decision, ping, tools},
    scan,
};
use serde_json::{Value, json};

const ONLY_SAFE: &str = "framegate: 1\ntools: { safe: {} }\n";
const ALL: &str = "framegate: 1\ndefault: allow\n";

/// Where the file leaves a choice, or says less than the issue that came after it: what is right, and why.
const RULED: &[(&str, &str)] = &[
    // Missing and null arguments are `{}`: SDK servers run such calls.
    ("arguments_null", "decide"),
    // The limit is 64.
    ("depth_100", "refuse"),
    ("batch_2025_03", "refuse"),
    ("batch_empty", "refuse"),
    ("batch_nested", "refuse"),
    ("batch_ping_first", "refuse"),
    ("struct_as_array", "refuse"),
    // Another method for every reader but one that trims.
    ("method_space", "refuse"),
    ("id_long", "refuse"),
    ("blank_lines", "decide"),
    ("no_final_newline_eof", "decide"),
    // C-string readers cut the name there, so it is as good as another one.
    ("name_nul_split", "deny-unknown-tool"),
];

struct Row {
    name: String,
    version: String,
    frame: Vec<u8>,
    right: String,
}

fn rows() -> Vec<Row> {
    let text = fs::read_to_string(data("smuggling.jsonl")).unwrap();
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let word = |key: &str| row[key].as_str().unwrap().to_owned();
        let name = word("name");
        let ruled = RULED.iter().find(|(ruled, _)| *ruled == name).map(|(_, right)| (*right).to_owned());
        let right = ruled.unwrap_or_else(|| word("guard_should"));
        Row {
            version: word("protocol_version"),
            frame: STANDARD.decode(word("bytes_base64")).unwrap(),
            name,
            right,
        }
    };
    let rows: Vec<Row> = text.lines().map(row).collect();
    assert_eq!(rows.len(), 110);
    rows
}

/// What a session under a policy made of a row.
struct Seen {
    /// What reached the server of the row and of the ping behind it.
    to_server: Vec<u8>,
    /// The answers behind the opening exchange, without the ping's.
    answers: Vec<Vec<u8>>,
}

fn play(wrapper: &Wrapper, policy: &str, row: &Row) -> Seen {
    let any = r#"{"type":"object"}"#;
    let mut guarded = Guarded::start(wrapper, policy, json!([tools(&[("safe", any), ("danger", any)])]));
    let opening = format!(
        r#"{{"jsonrpc":"2.0","id":"open","method":"initialize","params":{{"protocolVersion":"{}","capabilities":{{}},"clientInfo":{{"name":"case","version":"1"}}}}}}"#,
        row.version
    );
    guarded.ask(&opening, "\"open\"");
    guarded.send(INITIALIZED);
    guarded.wait_server_got("tools/list", 1);
    guarded.wait_quiet();
    let before = guarded.session.record.server_got().len();
    let heard = guarded.session.client.received().len();
    guarded.session.client.send(row.frame.clone(), WITHIN).unwrap();
    // Without a line feed the frame is whole at end of file only: nothing can follow it.
    if row.frame.contains(&b'\n') {
        if !row.frame.ends_with(b"\n") {
            // UTF-16: the line feed's second half would begin the next line.
            guarded.session.client.send(b"\n".to_vec(), WITHIN).unwrap();
        }
        guarded.ask(&ping("\"alive\""), "\"alive\"");
    }
    guarded.end();
    let received = guarded.session.client.received().split_off(heard);
    let lines = received.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let answers = lines.filter(|line| !scan::has(line, b"\"alive\"")).map(<[u8]>::to_vec).collect();
    Seen { to_server: guarded.session.record.server_got().split_off(before), answers }
}

/// What the server gets behind the row.
fn rest(row: &Row) -> Vec<u8> {
    let ping = if row.frame.contains(&b'\n') { ping("\"alive\"") + "\n" } else { String::new() };
    ping.into_bytes()
}

/// The ids of the answers to a refused row; `7` unless it stands here. `null` where no reader could tell which
/// request this was; nothing for a notification and an answer.
const ANSWERED_UNDER: &[(&str, &[&str])] = &[
    ("batch_empty", NOBODY),
    ("batch_nested", NOBODY),
    ("batch_ping_first", &["6", "7"]),
    ("comment_line", NOBODY),
    ("concat_nosep", NOBODY),
    ("concat_space", NOBODY),
    // The header is a line of its own, and the body another: a call, which is judged.
    ("content_length", &["null", "7"]),
    ("cr_nested_notification", &[]),
    ("cr_nested_ping", &["6"]),
    ("cr_split_response", &[]),
    ("dup_id_null_last", NOBODY),
    ("id_big", &["18446744073709551616"]),
    ("id_bool", NOBODY),
    ("id_exp", &["7e0"]),
    ("id_float", &["7.0"]),
    ("id_frac", &["7.5"]),
    ("id_obj", NOBODY),
    ("leading_nbsp", NOBODY),
    ("leading_vt_ff", NOBODY),
    ("nul_prefix", NOBODY),
    ("nul_suffix", NOBODY),
    ("pretty_multiline", &["null", "null", "null", "null"]),
    ("proto_frame", NOBODY),
    ("sep_u2028", NOBODY),
    ("struct_as_array", NOBODY),
    ("trailing_brace", NOBODY),
    ("unquoted_keys", NOBODY),
    ("utf16le", &["null", "null"]),
];
const NOBODY: &[&str] = &["null"];

/// An answer to a refused row is an error, or the refusal of a call.
fn is_refusal(answer: &[u8]) -> bool {
    let answer: Value = serde_json::from_slice(answer).unwrap();
    answer["error"]["code"].is_i64() || is_denied(&answer)
}

fn is_denied(answer: &Value) -> bool {
    answer["result"]["isError"] == true && decision(answer)["failed"] == json!(["known_tool"])
}

#[test]
fn nothing_uncertain_reaches_the_server_and_the_rest_is_judged() {
    let wrapper = framegate_tests::wrapper!();
    let mut failures = Vec::new();
    for row in &rows() {
        let seen = play(&wrapper, ONLY_SAFE, row);
        let mut fail = |what: String| {
            let answers: Vec<_> = seen.answers.iter().map(|line| String::from_utf8_lossy(line)).collect();
            failures.push(format!("{} ({}): {what}\n    answers: {answers:?}", row.name, row.right));
        };
        if seen.to_server != rest(row) {
            fail(format!("the server got {}", seen.to_server.escape_ascii()));
        }
        if row.right != "refuse" {
            let answers = seen.answers.iter().map(|line| serde_json::from_slice::<Value>(line).unwrap());
            if answers.map(|answer| is_denied(&answer)).collect::<Vec<_>>() != [true] {
                fail("not denied as a tool that is not offered".to_owned());
            }
            continue;
        }
        let wanted = ANSWERED_UNDER.iter().find(|(name, _)| *name == row.name);
        let long = scan::id(&row.frame).filter(|_| row.name == "id_long").unwrap_or(b"7");
        let long = String::from_utf8_lossy(long).into_owned();
        let wanted = wanted.map_or_else(|| vec![long.as_str()], |(_, ids)| ids.to_vec());
        let ids = seen.answers.iter().filter_map(|answer| scan::id(answer));
        let ids: Vec<_> = ids.map(String::from_utf8_lossy).collect();
        if ids != wanted || !seen.answers.iter().all(|answer| is_refusal(answer)) {
            fail(format!("not refused under {wanted:?}"));
        }
    }
    assert!(failures.is_empty(), "{} rows:\n  - {}", failures.len(), failures.join("\n  - "));
}

#[test]
fn what_is_judged_arrives_byte_for_byte_when_it_is_allowed() {
    let wrapper = framegate_tests::wrapper!();
    let mut failures = Vec::new();
    for row in rows().iter().filter(|row| row.right != "refuse") {
        let seen = play(&wrapper, ALL, row);
        // Blank lines are dropped; everything else of the row arrives.
        let row_frame = row.frame.split_inclusive(|byte| *byte == b'\n');
        let kept: Vec<u8> =
            row_frame.filter(|line| !line.trim_ascii().is_empty()).flatten().copied().collect();
        // A tool that the server does not list cannot be judged, whatever the policy's default.
        let wanted = if row.right == "deny-unknown-tool" { rest(row) } else { [kept, rest(row)].concat() };
        if seen.to_server != wanted {
            failures.push(format!("{}: the server got {}", row.name, seen.to_server.escape_ascii()));
        }
    }
    assert!(failures.is_empty(), "{} rows:\n  - {}", failures.len(), failures.join("\n  - "));
}

/// The number as it was written decides, not what a float makes of it.
#[test]
fn exact_numbers_decide() {
    let wrapper = framegate_tests::wrapper!();
    let exact: Vec<Row> = rows().into_iter().filter(|row| row.right == "decide-exact").collect();
    assert!(exact.len() >= 4);
    for row in &exact {
        let number = scan::scalars(&row.frame, "m");
        let number = std::str::from_utf8(number.first().unwrap()).unwrap();
        for (that, is_allowed) in [
            (format!("args.m == {number}"), true),
            (format!("args.m != {number}"), false),
            (format!("args.m > {number}"), false),
            (format!("args.m + 1.0 > {number}"), true),
        ] {
            let policy = format!(
                "framegate: 1\ndefault: allow\nrules:\n  - {{ name: exact, tools: [danger], that: '{that}', because: No. }}\n"
            );
            let seen = play(&wrapper, &policy, row);
            let wanted = if is_allowed { [row.frame.clone(), rest(row)].concat() } else { rest(row) };
            assert!(seen.to_server == wanted, "{}: {that}: {:?}", row.name, seen.answers);
        }
    }
}
