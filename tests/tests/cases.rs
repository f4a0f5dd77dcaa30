//! Faults people reported about other proxies, one test each, named for the fault.
//!
//! The files in `data/cases` say what client and server do and what is right; this file gives them
//! names. Where a file cannot say it all, the test is written by hand below.

use std::{collections::BTreeMap, fs, time::Duration};

use framegate_tests::{
    Wrapper,
    case::{Case, Step},
    data, play,
    player::Session,
    process, scan,
};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::guard_cases::GUARD_CASES;

macro_rules! cases {
    ($($fault:ident: $file:literal,)+) => {
        $(
            #[test]
            fn $fault() {
                play(&Case::load($file).unwrap(), &framegate_tests::wrapper!()).assert_ok();
            }
        )+

        const FROM_FILES: &[&str] = &[$($file),+];
    };
}

// In the order of the topics: framing, fidelity, stdout noise, stderr, life cycle, back-pressure,
// ids, cancellation, pagination, negotiation, ping, performance.
cases! {
    crlf_becomes_lf: "C001",
    byte_order_mark_ends_the_session: "C003",
    unicode_line_separator_cuts_a_frame: "C004",
    split_character_becomes_replacement_character: "C006",
    invalid_utf8_from_the_server_ends_the_session: "C007",
    invalid_utf8_from_the_client_ends_the_session: "C008",
    lone_surrogate_escape_is_lost: "C009",
    nul_byte_cuts_a_line: "C010",
    blank_line_is_taken_for_a_message: "C011",
    last_line_without_line_feed_is_lost: "C012",
    line_of_64_kib_does_not_fit: "C014",
    frame_of_12_mib_closes_the_connection: "C015",
    large_request_to_a_slow_reader_wedges: "C016",
    frame_of_exactly_the_cap_is_refused: "C018",
    frames_of_one_write_are_lost: "C020",
    numbers_blanks_and_key_order_are_respelled: "C021",
    integer_of_64_bits_is_rounded: "C022",
    string_escapes_are_respelled: "C023",
    banner_on_stdout_ends_the_session: "C024",
    foreign_json_on_stdout_is_taken_for_an_answer: "C025",
    noise_for_each_line_starts_a_storm: "C026",
    pretty_printed_json_is_taken_for_frames: "C027",
    full_stderr_blocks_the_answer: "C029",
    closed_stderr_ends_the_session: "C031",
    eof_is_not_passed_on: "C032",
    server_that_ignores_eof_and_sigterm_stays: "C033",
    grandchild_behind_npx_stays: "C034",
    killed_client_leaves_an_orphan: "C036",
    killed_wrapper_leaves_its_child: "C037",
    sigterm_loses_the_last_output: "C038",
    server_exit_inside_a_request_goes_unseen: "C040",
    eof_loses_the_answers_still_due: "C041",
    closed_stdout_of_a_live_server_hangs: "C042",
    exited_server_stays_a_zombie: "C044",
    stalled_reader_blocks_the_other_direction: "C048",
    request_ids_are_respelled: "C050",
    long_or_odd_id_is_not_matched: "C051",
    same_id_in_both_directions_is_confused: "C053",
    client_id_in_a_reserved_name_space_comes_back_changed: "C054",
    forged_answer_with_a_reserved_id_breaks_the_session: "C055",
    odd_answers_break_the_session: "C056",
    late_answer_after_cancellation_is_fatal: "C057",
    unknown_fields_are_dropped: "C058",
    empty_cursor_is_lost: "C059",
    request_before_initialized_is_held_back: "C060",
    legacy_server_behind_a_modern_probe_is_given_up: "C062",
    ping_waits_behind_a_slow_call: "C063",
    slow_start_of_the_server_times_out: "C117",
    ten_thousand_calls_grow_memory: "C118",
}

const BY_HAND: &[&str] = &["C017", "C039", "C045", "C046", "C064"];

#[test]
fn every_case_file_has_a_test() {
    let mut tests = BTreeMap::new();
    for name in FROM_FILES.iter().chain(BY_HAND).chain(GUARD_CASES) {
        *tests.entry((*name).to_owned()).or_insert(0) += 1;
    }
    let files = fs::read_dir(data("cases")).unwrap();
    let stem = |entry: fs::DirEntry| entry.path().file_stem().unwrap().to_str().unwrap().to_owned();
    let files: BTreeMap<_, _> = files.map(|entry| (stem(entry.unwrap()), 1)).collect();
    assert_eq!(tests, files, "left: tests for each case, right: case files");
}

/// C017. What the file cannot say: no part of the endless line reaches the client.
#[test]
fn endless_line_fills_memory() {
    let outcome = play(&Case::load("C017").unwrap(), &framegate_tests::wrapper!());
    outcome.assert_ok();
    assert!(!scan::has(&outcome.received, b"\"text\":\"AAAA"), "a part of the frame was handed on");
    assert!(!outcome.stderr.is_empty(), "nothing on stderr says why the session ended");
}

/// C017 with two whole answers in the same write as the start of the endless line.
#[test]
fn answers_before_an_endless_line_are_lost() {
    let case = Case::load("C017").unwrap();
    let more = ["prefix".to_owned()];
    let mut session = Session::start(&framegate_tests::wrapper!(), "flood", "flood", &case.file, &more);
    session.open("2025-06-18").unwrap();
    session.ask("1", "tools/call", r#"{"name":"touch","arguments":{}}"#).unwrap();
    session.client.wait_id("2", Duration::from_secs(5)).unwrap();
    let code = session.client.wait_exit(Duration::from_secs(30));
    assert!(code.is_some_and(|code| code != 0), "exit code {code:?} after a frame over the cap");
    assert!(!scan::has(&session.client.received(), b"\"text\":\"AAAA"));
}

/// C039. The server is kept out of the terminal's group, or the session ends as a whole.
#[test]
fn ctrl_c_leaves_the_wrapper_up_with_a_dead_server() {
    let case = Case::load("C039").unwrap();
    let mut session = Session::start(&framegate_tests::wrapper!(), "C039", "scripted", &case.file, &[]);
    session.open("2025-06-18").unwrap();
    session.ask("1", "tools/call", r#"{"name":"touch","arguments":{}}"#).unwrap();
    // The client made the wrapper leader of its group, as a shell does with a job.
    process::signal_group(session.client.pid().cast_signed(), Signal::INT);
    if session.client.wait_exit(Duration::from_millis(700)).is_none() {
        let answered = session.ask("2", "tools/call", r#"{"name":"touch","arguments":{}}"#);
        let ended = session.client.wait_exit(Duration::from_secs(2)).is_some();
        assert!(answered.is_ok() || ended, "still up, and the call has no answer: {answered:?}");
    }
    session.end(Duration::from_secs(9)).unwrap();
}

/// C045. What the file cannot say: within 1 s; and on stdout, which belongs to the protocol,
/// nothing but an error that answers the client's request and names the command. (The report asks
/// for silence there; an answer shows in the client, where nobody reads a log.)
#[test]
fn missing_command_is_not_told_to_the_client() {
    let mut case = Case::load("C045").unwrap();
    case.checks.exit_within = Some(Duration::from_secs(1));
    let outcome = play(&case, &framegate_tests::wrapper!());
    outcome.assert_ok();
    let answer: Value = serde_json::from_slice(&outcome.received).unwrap();
    assert_eq!(answer["id"], "i");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("`no-such-mcp-server-7f3a` was not found"), "{message}");
}

/// C046. What the file cannot say: the server sees the same as without a wrapper.
#[test]
fn environment_or_directory_differs_behind_the_wrapper() {
    let case = Case::load("C046").unwrap();
    let seen = |wrapper: &Wrapper| {
        let outcome = play(&case, wrapper);
        outcome.assert_ok();
        let is_answer = |line: &&[u8]| scan::id(line) == Some(b"1");
        let answer = outcome.received.split(|byte| *byte == b'\n').find(is_answer).unwrap();
        let answer: Value = serde_json::from_slice(answer).unwrap();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        let mut seen: Value = serde_json::from_str(text).unwrap();
        // Each run has its own directory; its name is what both have in common.
        let cwd = seen["cwd"].take();
        assert!(cwd.as_str().unwrap().contains("framegate-C046-"), "started in {cwd}");
        // Ours, for finding the binary; whether the wrapper keeps it from the server is its choice.
        seen["names"].as_array_mut().unwrap().retain(|name| name != "FRAMEGATE_BIN");
        seen
    };
    let wrapper = framegate_tests::wrapper!();
    let (behind, without) = (seen(&wrapper), seen(&wrapper.without_wrapper()));
    assert_eq!(behind, without, "left: behind the wrapper, right: without it");
    assert_eq!(behind["CASE_TOKEN"].as_str(), case.env.first().map(|(_, value)| value.as_str()));
}

/// C064. A line-based pump cannot carry this framing; it must say so at once and must not hang.
#[test]
fn content_length_framing_hangs_silently() {
    let case = Case::load("C064").unwrap();
    let mut session = Session::start(&framegate_tests::wrapper!(), "C064", "content_length", &case.file, &[]);
    for step in &case.steps {
        if let Step::Send { bytes, .. } = step {
            session.client.send(bytes.clone(), Duration::from_secs(10)).unwrap();
        }
    }
    let told = session.client.wait_stderr("Content-Length", Duration::from_secs(1));
    session.end(Duration::from_secs(4)).unwrap();
    let stderr = session.client.stderr();
    assert!(told, "stderr did not name Content-Length within 1 s: {}", String::from_utf8_lossy(&stderr));
}
