//! Faults people reported about other guards, one test each, named for the fault.
//!
//! The files in `data/cases` say what client and server do, what the policy is in neutral words, and what is
//! right; `framegate_tests::adapter` makes a policy file of them. `cases.rs` plays the others.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use framegate_tests::{
    adapter::{BECAUSE, GuardCase},
    scan,
};
use serde_json::{Value, json};

use crate::support::guard_cases::GUARD_CASES;

macro_rules! cases {
    ($($fault:ident: $file:literal,)+) => {
        $(
            #[test]
            fn $fault() {
                GuardCase::load($file).unwrap().play(&framegate_tests::wrapper!()).assert_ok();
            }
        )+

        const TESTED: &[&str] = &[$($file),+];
    };
}

// In the order of the topics: smuggling, batch, robustness, policy bypass, path policy, fail closed, refusal,
// tool list, rug pull, schema, elicitation, approval, taint, false positive, repeat.
cases! {
    call_hides_behind_a_lone_carriage_return: "C065",
    same_key_twice_is_read_in_two_ways: "C066",
    keys_that_differ_by_case_or_nul_are_read_in_two_ways: "C067",
    call_without_an_id_passes: "C073",
    batch_of_the_servers_is_trusted: "C072",
    deep_nesting_ends_the_session: "C070",
    hidden_tool_can_be_called_by_name: "C077",
    link_leads_out_of_the_root: "C079",
    policy_that_breaks_lets_the_call_pass: "C081",
    refusals_fill_memory_while_the_client_does_not_read: "C084",
    first_of_two_tools_with_one_name_counts: "C088",
    changed_tool_is_trusted_like_before: "C089",
    new_tools_stay_unknown_after_list_changed: "C091",
    unreadable_schema_costs_the_other_tools: "C092",
    references_are_fetched_or_skipped: "C093",
    patterns_of_another_dialect_stop_the_session: "C094",
    whole_number_floats_are_refused: "C096",
    client_that_cannot_ask_is_asked: "C097",
    approval_dead_locks_its_call: "C099",
    traffic_waits_while_a_person_decides: "C100",
    question_that_nobody_answers_holds_its_call_for_ever: "C102",
    questions_of_guard_and_server_are_mixed_up: "C103",
    form_is_asked_of_a_client_with_urls_only: "C104",
    arguments_rewrite_the_question_about_them: "C105",
    approval_covers_the_next_calls_too: "C106",
    instruction_outside_of_text_blocks_is_not_seen: "C107",
    instruction_cut_over_two_blocks_is_not_seen: "C108",
    harmless_text_holds_up_tools_that_it_does_not_concern: "C109",
    lost_answer_lets_the_call_be_made_twice: "C110",
}

const BY_HAND: &[&str] = &["C069", "C071", "C075", "C076", "C078", "C082", "C098"];

#[test]
fn every_guard_case_has_a_test() {
    let mut tested = [TESTED, BY_HAND].concat();
    tested.sort_unstable();
    assert_eq!(tested, GUARD_CASES);
}

/// C107, C108. Other places, and other letters, of the same text.
#[test]
fn instruction_is_seen_in_every_place_of_an_output() {
    let variants = ["C107", "C108"].iter().flat_map(|case| GuardCase::load_variants(case).unwrap());
    let mut count = 0;
    for case in variants {
        let outcome = case.play(&framegate_tests::wrapper!());
        outcome.assert_ok();
        let received = String::from_utf8_lossy(&outcome.received).into_owned();
        assert!(received.contains("the output of `fetch` (message 1) says"), "{received}");
        count += 1;
    }
    assert_eq!(count, 4);
}

/// The answers the client got, by their ids as JSON; other frames are left out.
fn answers(case: &str) -> BTreeMap<String, Value> {
    let outcome = GuardCase::load(case).unwrap().play(&framegate_tests::wrapper!());
    outcome.assert_ok();
    assert!(outcome.received.ends_with(b"\n"));
    let lines = outcome.received.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let answers = lines.map(|line| serde_json::from_slice::<Value>(line).expect("one frame a line"));
    answers.filter(|answer| answer.get("method").is_none()).map(|one| (one["id"].to_string(), one)).collect()
}

fn ran(answer: &Value, tool: &str) -> bool {
    answer["result"]["content"][0]["text"] == format!("ran {tool}")
}

/// C069. What the file cannot say: the id, where it can be read, gets an error.
#[test]
fn frames_the_guard_cannot_parse_pass() {
    let answers = answers("C069");
    for id in ["1", "2", "4", "5"] {
        assert!(answers.get(id).is_some_and(|answer| answer["error"]["code"].is_i64()), "{id}: {answers:#?}");
    }
    assert!(ran(&answers["6"], "touch"));
}

/// C071. What the file cannot say: one error for each request in the batch, -32600.
#[test]
fn batch_hides_a_forbidden_call() {
    let answers = answers("C071");
    for id in ["1", "2", "3", "null"] {
        let code = answers.get(id).map(|answer| &answer["error"]["code"]);
        assert_eq!(code, Some(&json!(-32600)), "{id}: {answers:#?}");
    }
}

/// C075. What the file cannot say: who is refused how, and that missing and null arguments are `{}`.
#[test]
fn wrong_types_crash_the_guard() {
    let answers = answers("C075");
    for id in ["1", "2", "3", "4", "5"] {
        assert!(answers.get(id).is_some_and(|answer| answer["error"]["code"].is_i64()), "{id}: {answers:#?}");
    }
    assert!(ran(&answers["6"], "touch") && ran(&answers["7"], "touch"), "{answers:#?}");
}

/// C076. What the file cannot say: the text says how the name differs, and shows what cannot be seen.
#[test]
fn names_that_look_alike_pass() {
    let answers = answers("C076");
    let differs = [
        ("1", "case only"),
        ("2", "case only"),
        ("3", "cannot be seen"),
        ("4", "\\u{200b}"),
        ("5", "another alphabet"),
        ("6", "another form of the same characters"),
        ("7", "\\u{0}"),
    ];
    for (id, how) in differs {
        let answer = &answers[id];
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(how) && text.contains("`touch`"), "{how}: {text}");
        assert!(!text.contains('\u{200b}') && !text.contains('\0'), "{text}");
    }
    assert!(ran(&answers["20"], "touch"));
}

/// C078. What the file cannot say: what is inside is allowed.
#[test]
fn folder_with_the_same_beginning_counts_as_inside() {
    let answers = answers("C078");
    for id in ["1", "2", "6"] {
        assert_eq!(answers[id]["result"]["isError"], true, "{id}: {answers:#?}");
    }
    for id in ["3", "4", "5"] {
        assert!(ran(&answers[id], "read_file"), "{id}: {answers:#?}");
    }
}

/// C098. One of many answers each time, and none is a yes.
#[test]
fn anything_but_a_no_approves() {
    GuardCase::load("C098").unwrap().play(&framegate_tests::wrapper!()).assert_ok();
    let variants = GuardCase::load_variants("C098").unwrap();
    assert_eq!(variants.len(), 9);
    for variant in variants {
        variant.play(&framegate_tests::wrapper!()).assert_ok();
    }
}

/// C082. What the file cannot say: the members, and the ids as they were spelled.
#[test]
fn refusal_has_another_shape_than_a_result() {
    let outcome = GuardCase::load("C082").unwrap().play(&framegate_tests::wrapper!());
    outcome.assert_ok();
    for id in ["0", r#""1""#, r#""a\"\u0041""#] {
        let is_answer = |line: &&[u8]| scan::id(line) == Some(id.as_bytes());
        let line = outcome.received.split(|byte| *byte == b'\n').find(is_answer).expect(id);
        let answer: Value = serde_json::from_slice(line).unwrap();
        let members: Vec<&str> = answer.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, ["id", "jsonrpc", "result"], "{answer}");
        let result = answer["result"].as_object().unwrap();
        let members: Vec<&str> = result.keys().map(String::as_str).collect();
        assert_eq!(members, ["_meta", "content", "isError", "resultType"], "{answer}");
        assert!(result["content"][0]["text"].as_str().unwrap().contains(BECAUSE), "{answer}");
    }
}
