//! What a record keeps, for how long, and who vouches for it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use framegate_tests::Stored;
use framegate_tests::guarded::Start;
use serde_json::{Value, json};

const POLICY: &str = "framegate: 1\ntools: { touch: {} }\n";

fn framegate(arguments: &[&str], file: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    command.args(arguments).arg(file).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// One session with one call.
fn session(file: &Path, options: &[&str], between: impl FnOnce()) -> Stored {
    let shown = file.display().to_string();
    let options = [&["--store", &shown], options].concat();
    let wrapper = framegate_tests::wrapper!();
    let tools = json!([{ "name": "touch", "inputSchema": { "type": "object" } }]).to_string();
    let script: Value = json!([{ "tools": tools }]);
    let mut guarded =
        Start { wrapper: &wrapper, policy: Some(POLICY), options: &options, script, files: &[] }.now();
    guarded.open();
    guarded.call("1", "touch", r#"{"m":1}"#);
    between();
    guarded.end();
    Stored::read(file).unwrap()
}

#[test]
fn a_session_is_signed_at_its_end_and_another_key_is_not_taken_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let (file, key, other) =
        (folder.path().join("r.db"), folder.path().join("key"), folder.path().join("other"));
    let public = |key: &Path| {
        text(&framegate(&["verify", "--new-key"], key)).split_whitespace().last().unwrap().to_owned()
    };
    let (ours, theirs) = (public(&key), public(&other));
    let stored = session(&file, &["--sign-key", &key.display().to_string()], || {});
    let kinds: Vec<&str> =
        stored.records.iter().rev().take(2).map(|record| record["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["checkpoint", "close"], "nothing of the session comes after the signature");
    let verified = framegate(&["verify", "--key", &ours], &file);
    assert_eq!(verified.status.code(), Some(0), "{}", text(&verified));
    let verified = framegate(&["verify", "--key", &theirs], &file);
    assert_eq!(verified.status.code(), Some(1), "{}", text(&verified));
}

#[test]
fn what_is_too_old_is_deleted_and_the_chain_stays_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.db");
    let old = session(&file, &[], || {});
    let call = old.of("call").next().unwrap().clone();
    assert!(old.content(&call, "arguments").is_some());
    let is_removed = || Stored::read(&file).unwrap().of("removed").next().is_some();
    let stored = session(&file, &["--store-age", "1us"], || {
        let until = Instant::now() + Duration::from_secs(20);
        while !is_removed() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let removed = stored.of("removed").next().unwrap();
    assert_eq!(removed["why"], "age");
    assert!(stored.content(&call, "arguments").is_none(), "its arguments are gone");
    let policy = stored.records.iter().find(|record| record["what"] == "policy").unwrap();
    assert!(stored.content(policy, "text").is_some(), "what later decisions refer to stays");
    let verified = framegate(&["verify"], &file);
    assert_eq!(verified.status.code(), Some(0), "{}", text(&verified));
    let replayed = framegate(&["replay"], &file);
    assert!(text(&replayed).contains("removed"), "{}", text(&replayed));
}
