//! The ready policies in `guard/examples`: each holds what its session says, and fits the real server it is for.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::cache::peers;
use crate::support::programs::node_server;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../guard/examples")
}

fn framegate(args: &[String]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    command.args(args).current_dir(folder()).output().unwrap()
}

/// The example files that end so, without that end.
fn named(end: &str) -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap();
    let mut names: Vec<String> = files
        .filter_map(|file| Some(file.unwrap().file_name().to_str()?.strip_suffix(end)?.to_owned()))
        .collect();
    names.sort();
    names
}

#[test]
fn every_example_holds_what_its_session_says() {
    let sessions: Vec<String> = named(".jsonl").iter().map(|name| format!("{name}.jsonl")).collect();
    assert!(sessions.len() >= 6, "{sessions:?}");
    let ran = framegate(&[vec!["test".to_owned()], sessions].concat());
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn every_example_has_a_session() {
    assert_eq!(named(".yaml"), named(".jsonl"));
}

/// The policies that the cookbook shows, each with the line where it begins.
fn shown() -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(folder().join("../COOKBOOK.md")).unwrap();
    let mut all = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (at, line) in text.lines().enumerate() {
        match (&mut open, line) {
            (None, "```yaml") => open = Some((at + 2, String::new())),
            (Some(_), "```") => all.extend(open.take()),
            (Some((_, block)), line) => *block += &format!("{line}\n"),
            (None, _) => {}
        }
    }
    all
}

#[test]
fn every_policy_that_the_cookbook_shows_can_be_used() {
    let place = tempfile::tempdir().unwrap();
    let all = shown();
    assert!(all.len() >= 7, "{}", all.len());
    for (line, policy) in all {
        let file = place.path().join(format!("line-{line}.yaml"));
        std::fs::write(&file, policy).unwrap();
        let ran = framegate(&["check".to_owned(), file.display().to_string()]);
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success(), "COOKBOOK.md:{line}: {said}{}", String::from_utf8_lossy(&ran.stderr));
    }
}

#[test]
fn examples_fit_the_real_servers() {
    let Some(peers) = peers() else { return };
    let place = tempfile::tempdir().unwrap();
    let work = place.path().display().to_string();
    for (name, server) in [
        ("filesystem", [node_server(peers, "FILESYSTEM"), vec![work]].concat()),
        ("memory", node_server(peers, "MEMORY")),
        ("everything", node_server(peers, "EVERYTHING")),
    ] {
        let args = ["check", &format!("{name}.yaml"), "--"].map(str::to_owned);
        let ran = framegate(&[args.to_vec(), server].concat());
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
        assert!(said.contains(" lists "), "it was held against the server: {said}");
    }
}
