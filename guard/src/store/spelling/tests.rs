use super::*;

fn of(value: &str) -> Result<(), Misspelled> {
    Body::read(&format!("{{\"seq\":1,\"time\":-2,\"kind\":\"k\",\"v\":{value}}}")).map(|_| ())
}

#[test]
fn what_serde_prints_is_the_one_spelling() {
    for value in [
        serde_json::json!("\u{0}\u{1}\u{7}\u{8}\t\n\u{b}\u{c}\r\u{e}\u{1f}\"\\/\u{7f}é\u{2028}😀"),
        serde_json::json!([1, -1, 0, i64::MIN, u64::MAX, true, false, null, [], {}]),
        serde_json::json!({"a": {"b": [{"a": ""}]}, "b": {}}),
    ] {
        assert_eq!(of(&value.to_string()), Ok(()));
    }
}

#[test]
fn other_spellings_are_refused() {
    for value in [
        "1.0",
        "1e3",
        "-0",
        "01",
        "+1",
        "18446744073709551616",
        "-9223372036854775809",
        "NaN",
        " 1",
        "1 ",
        "\"\\/\"",
        "\"\\u0041\"",
        "\"\\u001F\"",
        "\"\\u000a\"",
        "\"\\ud800\"",
        "\"\u{1}\"",
        "\"\\u007f\"",
        "\"a",
        "[1, 2]",
        "[1,]",
        "[,1]",
        "{\"a\":1,\"a\":1}",
        "{\"a\" :1}",
        "{,}",
        "{\"a\":1,}",
        "tru",
        "",
        "1,2",
        "-",
    ] {
        assert!(of(value).is_err(), "{value}");
    }
    let many: Vec<String> = (0..20).chain([3]).map(|number| format!("\"{number}\":1")).collect();
    assert!(of(&format!("{{{}}}", many.join(","))).is_err(), "equal keys among many");
}

#[test]
fn depth_ends_at_its_limit() {
    let deep = |levels: usize| of(&format!("{}{}", "[".repeat(levels), "]".repeat(levels)));
    assert!(deep(DEPTH_MAX - 2).is_ok());
    assert!(deep(DEPTH_MAX - 1).is_ok(), "the body is the first level");
    assert!(deep(DEPTH_MAX).is_err());
}

#[test]
fn commitments_are_last_and_hashes() {
    let hash = "0".repeat(64);
    let read =
        |rest: &str| Body::read(&format!("{{\"seq\":1,\"time\":0,\"kind\":\"k\",{rest}}}")).map(|_| ());
    assert!(read(&format!("\"dropped\":[\"b\"],\"x\":{{\"a\":\"{hash}\",\"b\":\"{hash}\"}}")).is_ok());
    for wrong in [
        format!("\"x\":{{\"a\":\"{hash}\"}},\"y\":1"),
        format!("\"x\":{{\"a\":\"{}\"}}", "A".repeat(64)),
        format!("\"dropped\":[\"b\"],\"x\":{{\"a\":\"{hash}\"}}"),
        format!("\"dropped\":[\"a\",\"a\"],\"x\":{{\"a\":\"{hash}\"}}"),
        format!("\"dropped\":[],\"x\":{{\"a\":\"{hash}\"}}"),
        "\"x\":{}".to_owned(),
        "\"x\":1".to_owned(),
        "\"dropped\":[\"a\"]".to_owned(),
    ] {
        assert!(read(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_body_begins_with_number_time_and_kind() {
    for body in [
        "{}",
        "[]",
        "{\"time\":1,\"seq\":1,\"kind\":\"k\"}",
        "{\"seq\":-1,\"time\":1,\"kind\":\"k\"}",
        "{\"seq\":1,\"time\":\"1\",\"kind\":\"k\"}",
        "{\"seq\":1,\"time\":1,\"kind\":2}",
    ] {
        assert!(Body::read(body).is_err(), "{body}");
    }
    assert!(Body::read("{\"seq\":1,\"time\":1,\"kind\":\"k\"}").is_ok());
}

/// The stupid twin: what is printed again with the same bytes, in some order, is in the one spelling. (The order
/// of keys is free, and printed as it likes; equal keys are printed once.)
fn twin(text: &str) -> bool {
    fn is_plain(value: &serde_json::Value, depth: usize) -> bool {
        match value {
            serde_json::Value::Number(number) => !number.is_f64(),
            serde_json::Value::Array(list) => {
                depth <= DEPTH_MAX && list.iter().all(|value| is_plain(value, depth + 1))
            }
            serde_json::Value::Object(members) => {
                depth <= DEPTH_MAX && members.values().all(|value| is_plain(value, depth + 1))
            }
            _ => true,
        }
    }
    let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else { return false };
    let sorted = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.sort_unstable();
        bytes
    };
    value.is_object() && is_plain(&value, 1) && sorted(&value.to_string()) == sorted(text)
}

const WORDS: [&str; 40] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    ",",
    ":",
    "\"a\"",
    "\"b\":",
    "\"a\":1",
    "0",
    "1",
    "-",
    "-0",
    "12",
    "1.5",
    "1e3",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "true",
    "false",
    "null",
    " ",
    "\n",
    "\\n",
    "\\u000a",
    "\\u0001",
    "\\u001F",
    "\\u001f",
    "\\\"",
    "\\\\",
    "\\/",
    "\u{7f}",
    "é",
    "😀",
    "{}",
    "[]",
    "\\u0041",
    "\\ud800",
];

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(3000))]

    #[test]
    fn the_spelling_is_what_its_twin_says(
        start in 0..4_usize,
        changes in proptest::collection::vec((0..60_usize, 0..4_usize, 0..WORDS.len()), 0..4),
    ) {
        let mut text = [
            "{\"a\":1,\"b\":[1,-2,{\"c\":\"x\\ny\"}],\"d\":{\"e\":null}}",
            "{\"seq\":1,\"time\":2,\"kind\":\"k\",\"x\":{\"a\":\"0\"}}",
            "{\"é\":\"😀\\u0001\",\"b\":true,\"c\":[[],{}]}",
            "{}",
        ][start].to_owned();
        for (at, taken, word) in changes {
            let places: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
            let from = at % places.len();
            let to = (from + taken).min(places.len() - 1);
            text.replace_range(places[from]..places[to], WORDS[word]);
        }
        proptest::prop_assert_eq!(members(&text, DEPTH_MAX).is_ok(), twin(&text), "{}", text);
    }
}
