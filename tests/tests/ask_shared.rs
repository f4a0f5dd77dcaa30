//! Two processes with one state key and one record: a question of one is answered at the other, once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use framegate_tests::asked::{YES, answered, modern, question};
use framegate_tests::guarded::{Start, decision, text};
use framegate_tests::{Guarded, Stored};
use serde_json::{Value, json};
use tempfile::TempDir;

const POLICY: &str = "framegate: 1\ndefault: allow\nlimits: { asks_per_minute: 1000, asks_per_session: 1000 }\nrules:\n  - { name: ask_first, tools: [touch], that: 'false', otherwise: ask, because: Touching needs a yes. }\n";
const FORM: &str = r#"{"elicitation":{"form":{}}}"#;

fn key(folder: &TempDir, name: &str, byte: u8, mode: u32) -> String {
    let path = folder.path().join(name);
    fs::write(&path, [byte; 32]).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path.display().to_string()
}

fn start(store: &Path, key: &str, policy: &str) -> Guarded {
    let (wrapper, script) = (framegate_tests::wrapper!(), Guarded::script_of_touch(&[]));
    let store = store.display().to_string();
    let options = ["--store", &store, "--state-key", key, "--name", "both"];
    Start { wrapper: &wrapper, policy: Some(policy), options: &options, script, files: &[] }.now()
}

fn touch(at: &Guarded, id: u32, more: &str) -> Value {
    let id = id.to_string();
    at.ask_modern(&modern(&id, "touch", r#"{"n":1.50}"#, FORM, more), &id)
}

fn outcomes(stored: &Stored) -> Vec<String> {
    stored.of("approval").map(|approval| approval["outcome"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_question_of_one_process_is_answered_at_another_and_once() {
    let folder = tempfile::tempdir().unwrap();
    let (store, key) = (folder.path().join("r.db"), key(&folder, "key", 7, 0o600));
    let (mut one, mut other) = (start(&store, &key, POLICY), start(&store, &key, POLICY));
    // Asked here, answered there; what is ours is cut out there.
    let asks = touch(&one, 1, "");
    assert_eq!(text(&touch(&other, 2, &answered(&asks, YES))), "ran touch");
    let call = modern("2", "touch", r#"{"n":1.50}"#, FORM, "");
    assert!(other.server_got().contains(&call), "{:?}", other.server_got());
    // The same state at both, once more: no yes any more.
    let _ = question(&touch(&other, 3, &answered(&asks, YES)));
    let _ = question(&touch(&one, 4, &answered(&asks, YES)));
    // Answered where it was asked: then not at the other.
    let asks = touch(&one, 5, "");
    assert_eq!(text(&touch(&one, 6, &answered(&asks, YES))), "ran touch");
    let _ = question(&touch(&other, 7, &answered(&asks, YES)));
    // A no is one there too, and is not taken back here.
    let asks = touch(&one, 8, "");
    let refused = touch(&other, 9, &answered(&asks, r#"{"action":"decline"}"#));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert_eq!(decision(&refused)["asked"], "declined", "{refused}");
    let _ = question(&touch(&one, 10, &answered(&asks, YES)));
    // For another call, or with a byte changed, it is none.
    let asks = touch(&one, 11, "");
    let other_call = modern("12", "touch", r#"{"n":2}"#, FORM, &answered(&asks, YES));
    let _ = question(&other.ask_modern(&other_call, "12"));
    let (_, state) = question(&asks);
    let mut id = 100;
    for at in (0..state.len()).step_by(3) {
        id += 1;
        let mut bytes = state.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let more = answered(&asks, YES).replace(&state, &String::from_utf8(bytes).unwrap());
        let _ = question(&touch(&other, id, &more));
    }
    assert_eq!((one.server_got_count("\"touch\""), other.server_got_count("\"touch\"")), (1, 1));
    one.end();
    other.end();
    let stored = Stored::read(&store).unwrap();
    let found = outcomes(&stored);
    let count = |outcome: &str| found.iter().filter(|other| *other == outcome).count();
    assert_eq!((count("approved"), count("declined"), count("used before")), (2, 1, 4), "{found:?}");
    let there = stored.of("approval").find(|approval| approval["note"] == "another process asked").unwrap();
    assert_eq!((&there["how"], &there["outcome"]), (&json!("client"), &json!("approved")));
    let sent = stored.of("call").find(|call| call["seq"] == there["call"]).unwrap();
    assert_eq!((&sent["outcome"], &sent["would"]), (&json!("allow"), &json!("ask")));
}

#[test]
fn a_used_yes_stays_used_where_the_file_is_emptied() {
    let folder = tempfile::tempdir().unwrap();
    let (store, key) = (folder.path().join("r.db"), key(&folder, "key", 7, 0o600));
    let mut one = start(&store, &key, POLICY);
    let asks = touch(&one, 1, "");
    assert_eq!(text(&touch(&one, 2, &answered(&asks, YES))), "ran touch");
    // An agent with a shell, in the same process and then without the file.
    let asks_file = folder.path().join("r.db-asks");
    let deleted = rusqlite::Connection::open(&asks_file).unwrap().execute("DELETE FROM spent", []).unwrap();
    assert_eq!(deleted, 1);
    let _ = question(&touch(&one, 3, &answered(&asks, YES)));
    fs::remove_file(&asks_file).unwrap();
    let _ = question(&touch(&one, 4, &answered(&asks, YES)));
    assert_eq!(one.server_got_count("\"touch\""), 1);
    one.end();
}

#[test]
fn an_answer_is_judged_by_the_policy_of_the_process_that_gets_it() {
    let folder = tempfile::tempdir().unwrap();
    let (store, key) = (folder.path().join("r.db"), key(&folder, "key", 7, 0o600));
    let more = format!(
        "{POLICY}  - {{ name: also, tools: [touch], that: 'false', otherwise: ask, because: This too. }}\n"
    );
    let none = POLICY.replace("otherwise: ask", "when: 'false', otherwise: ask");
    let never = format!("{POLICY}  - {{ name: never, tools: [touch], that: 'false', because: Not here. }}\n");
    let (mut one, mut asks_more, mut denies) =
        (start(&store, &key, POLICY), start(&store, &key, &more), start(&store, &key, &never));
    let mut lets = start(&store, &key, &none);
    let asks = touch(&one, 1, "");
    let again = touch(&asks_more, 2, &answered(&asks, YES));
    let (key, _) = question(&again);
    assert!(
        again["result"]["inputRequests"][key]["params"]["message"].as_str().unwrap().contains("This too.")
    );
    let asks = touch(&one, 3, "");
    assert_eq!(decision(&touch(&denies, 4, &answered(&asks, YES)))["failed"][0], "never");
    // Nothing stands against it there; a no is one all the same.
    let asks = touch(&one, 5, "");
    let refused = touch(&lets, 6, &answered(&asks, r#"{"action":"decline"}"#));
    assert_eq!(decision(&refused)["failed"][0], "approval", "{refused}");
    for session in [&mut one, &mut asks_more, &mut denies, &mut lets] {
        assert_eq!(session.server_got_count("\"touch\""), 0);
        session.end();
    }
    let replayed = std::process::Command::new(env!("CARGO_BIN_EXE_framegate-under-test"))
        .args(["replay", &store.display().to_string()])
        .output()
        .unwrap();
    assert!(replayed.status.success(), "{}", String::from_utf8_lossy(&replayed.stdout));
}

#[test]
fn another_key_is_another_seal_and_one_that_cannot_be_used_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("r.db");
    let (one, other) = (key(&folder, "one", 7, 0o600), key(&folder, "other", 8, 0o600));
    let (mut one, mut other) = (start(&store, &one, POLICY), start(&store, &other, POLICY));
    let asks = touch(&one, 1, "");
    let _ = question(&touch(&other, 2, &answered(&asks, YES)));
    assert_eq!(other.server_got_count("\"touch\""), 0);
    one.end();
    other.end();
    let wrapper = framegate_tests::wrapper!();
    let open = key(&folder, "open", 7, 0o644);
    let short = folder.path().join("short");
    fs::write(&short, "short").unwrap();
    fs::set_permissions(&short, fs::Permissions::from_mode(0o600)).unwrap();
    let short = short.display().to_string();
    let store = store.display().to_string();
    for (key, store, why) in [
        (open.as_str(), store.as_str(), "chmod 600"),
        (short.as_str(), store.as_str(), "must have 32 to 4096 bytes"),
        ("/none/key", store.as_str(), "cannot be read"),
        (open.as_str(), "none", "--store FILE"),
    ] {
        let options = ["--state-key", key, "--store", store];
        let script = Guarded::script_of_touch(&[]);
        let start = Start { wrapper: &wrapper, policy: Some(POLICY), options: &options, script, files: &[] };
        let mut session = start.now();
        session.wait_stderr(why);
        let answer = session.ask(framegate_tests::guarded::INITIALIZE, "\"open\"");
        assert!(answer["error"]["message"].as_str().unwrap().contains("did not start"), "{answer}");
    }
}
