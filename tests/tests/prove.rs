//! `framegate prove` as a user meets it: with the solver, without one, and with programs called z3 that are none.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

const POLICY: &str = r#"patterns: { secrets: ["/.ssh", "/.env"] }
state: { tainted: { type: bool, init: false }, sent: { type: int, init: 0 } }
invariants:
  - { name: budget, expr: "sent <= 3" }
actions:
  - { name: read, match: "fs__read*", effect: { tainted: "tainted or matches(payload, secrets)" } }
  - { name: send, match: "mail__send", requires: "not tainted", effect: { sent: "sent + 1" } }
"#;

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.yaml"), POLICY).unwrap();
    folder
}

fn prove(folder: &Path, path: Option<&str>, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    command.current_dir(folder).env_remove("FRAMEGATE_NAME").args(["prove", "p.yaml"]).args(arguments);
    path.map(|path| command.env("PATH", path));
    command.output().unwrap()
}

fn said(output: &Output) -> (Option<i32>, String) {
    let text = [output.stdout.as_slice(), &output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

/// A program called z3.
fn solver(folder: &Path, script: &str) -> String {
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).unwrap();
    let program = bin.join("z3");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", bin.display())
}

#[test]
fn what_holds_is_proved() {
    let folder = folder();
    let (code, text) = said(&prove(folder.path(), None, &["--never", "tool == 'mail__send' and tainted"]));
    assert!(text.starts_with("proved       never 1: never `tool == 'mail__send' and tainted`\n"), "{text}");
    assert!(text.ends_with("1 proved, 0 broken, 0 not decided\n"), "{text}");
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn what_does_not_hold_is_broken_by_a_shortest_sequence_of_calls() {
    let folder = folder();
    let (code, text) = said(&prove(folder.path(), None, &["--never", "sent > 2"]));
    let expected = "broken       never 1: never `sent > 2`
   1. call   mail__send {}
             state: tainted=False, sent=1
   2. call   mail__send {}
             state: tainted=False, sent=2
   3. call   mail__send {}
             state: tainted=False, sent=3
      the guard decides so: each call above was played to it
";
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(code, Some(1), "{text}");
}

#[test]
fn a_program_reads_it_as_json() {
    let folder = folder();
    let output =
        prove(folder.path(), None, &["--json", "--coverage", "--never", "tainted", "--never", "sent > 3"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["properties"][0]["outcome"], "broken");
    assert_eq!(report["properties"][0]["confirmed"], true);
    assert_eq!(report["properties"][0]["steps"][0]["state"], "tainted=True, sent=0");
    assert_eq!(report["properties"][1]["outcome"], "proved");
    let sends = json!({ "tool": "mail__send", "rules": ["send", "budget"] });
    assert!(report["coverage"].as_array().unwrap().contains(&sends), "{report}");
}

#[test]
fn without_a_solver_it_says_what_to_install() {
    let folder = folder();
    let (code, text) = said(&prove(folder.path(), Some("/nowhere"), &["--never", "tainted"]));
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("command `z3` was not found; searched PATH `/nowhere`"), "{text}");
    assert!(text.contains("Debian's package `z3`, or `pip install z3-solver`"), "{text}");
    let (code, text) = said(&prove(folder.path(), Some("/nowhere"), &["--no-solver", "--coverage"]));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("note         once `tainted` is true, nothing makes it false again"), "{text}");
    assert!(text.contains("  mail__send  1 2"), "{text}");
}

#[test]
fn a_solver_that_hangs_is_ended_and_the_rest_is_asked() {
    let folder = folder();
    // It leaves another process behind, which holds its output open.
    let path = solver(folder.path(), "echo $$ >> pids; sleep 600 & echo $! >> pids; wait");
    let arguments = ["--timeout", "1", "--never", "tainted", "--never", "sent > 3"];
    let output = prove(folder.path(), Some(&path), &arguments);
    let (code, text) = said(&output);
    assert_eq!(code, Some(3), "{text}");
    assert_eq!(text.matches("z3 took longer than 1 s (--timeout)").count(), 2, "{text}");
    for pid in fs::read_to_string(folder.path().join("pids")).unwrap().lines() {
        let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(state.is_empty() || state.contains(") Z "), "{pid}: {state}");
    }
}

#[test]
fn a_solver_that_prints_rubbish_is_an_error_and_never_a_proof() {
    for (script, wanted) in [
        ("echo hello", "the solver's answer cannot be read: `hello`"),
        ("exit 3", "the solver's answer cannot be read: ``"),
        ("printf 'sat\\n((x '", "the solver's answer cannot be read: it is not one whole expression"),
        ("printf 'sat\\n((a 1))'", "is no value of that kind"),
        ("head -c 100000 /dev/zero | tr '\\0' '('", "the solver's answer cannot be read"),
        ("printf '(error \"no\")'", "cannot be read: `(error \"no\")`"),
    ] {
        let folder = folder();
        let path = solver(folder.path(), script);
        let (code, text) = said(&prove(folder.path(), Some(&path), &["--never", "tainted"]));
        assert_eq!(code, Some(2), "{script}: {text}");
        assert!(text.contains(wanted), "{script}: {text}");
    }
}

#[test]
fn a_sequence_that_is_none_is_not_believed() {
    let folder = folder();
    // It answers every question by the same values: nothing happens, and yet something is broken.
    let path = solver(
        folder.path(),
        "cat > q; echo sat; echo '('; tail -n 1 q | tr -d '()' | tr ' ' '\\n' | tail -n +2 | while read n; do \
         case $(grep -o \"(declare-const $n [A-Za-z]*\" q | cut -d' ' -f3) in Bool) v=false;; Int) v=0;; *) v='\"\"';; esac; \
         echo \"($n $v)\"; done; echo ')'",
    );
    let (code, text) = said(&prove(folder.path(), Some(&path), &["--never", "tainted"]));
    assert!(text.contains("the solver's sequence is none: it breaks nothing"), "{text}");
    assert_eq!(code, Some(3), "{text}");
}

#[test]
fn a_solver_that_does_not_know_leaves_it_undecided() {
    let folder = folder();
    let path = solver(folder.path(), "echo unknown; echo '(error \"model is not available\")'");
    let (code, text) = said(&prove(folder.path(), Some(&path), &["--never", "tainted"]));
    assert!(text.contains("not decided  never 1: never `tainted`"), "{text}");
    assert!(text.contains("z3 says `unknown`"), "{text}");
    assert_eq!(code, Some(3), "{text}");
}

/// The README's policy is the file that its command names, and what it prints is what the command prints.
#[test]
fn the_readme_prints_what_its_example_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let command = "$ framegate prove tests/data/prove/push.yaml\n";
    let (before, printed) = readme.split_once(command).unwrap();
    let printed = printed.split("```").next().unwrap();
    let shown = before.rsplit("```yaml\n").next().unwrap().split("```").next().unwrap();
    let policy = std::fs::read_to_string(root.join("tests/data/prove/push.yaml")).unwrap();
    let own: Vec<&str> = policy.lines().collect();
    let missing: Vec<&str> = shown.lines().filter(|line| !own.contains(line)).collect();
    assert_eq!(missing, [""; 0], "not in the file");
    let mut run = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    run.current_dir(root).env_remove("FRAMEGATE_NAME").args(["prove", "tests/data/prove/push.yaml"]);
    let output = run.output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), printed);
    assert_eq!(output.status.code(), Some(1));
}

/// The policy with one property of each kind.
#[test]
fn the_example_is_proved_and_broken_as_its_words_say() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/prove");
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    command.current_dir(data).env_remove("FRAMEGATE_NAME").args(["prove", "agent.yaml"]);
    let (code, text) = said(&command.output().unwrap());
    let results: Vec<&str> =
        text.lines().filter(|line| line.contains(": ") && !line.starts_with(' ')).collect();
    let words: Vec<&str> = results.iter().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(
        words,
        [
            "proved       no_leak",
            "proved       a_secret_ends_mail",
            "proved       inside_work",
            "proved       three_reads",
            "proved       untested_push",
            "broken       push_after_edit",
            "proved       admins_wipe",
            "broken       large_payment",
        ],
        "{text}"
    );
    assert!(text.contains("   3. answer run_tests text \"\"\n"), "{text}");
    assert_eq!(code, Some(1));
}

#[test]
fn time_passes_between_the_calls_of_a_limit() {
    let folder = folder();
    let policy = "framegate: 1
state: { calls: int }
tools: { delete: { limit: 2 per hour } }
rules: [ { name: calls, tools: [delete], set: { calls: state.calls + 1 } } ]
";
    fs::write(folder.path().join("p.yaml"), policy).unwrap();
    let asked = ["--never", "state.limit_delete > 2", "--never", "state.calls > 2"];
    let (code, text) = said(&prove(folder.path(), None, &asked));
    let expected = "proved       never 1: never `state.limit_delete > 2`
broken       never 2: never `state.calls > 2`
   1. call   delete {}
             state: calls=1, limit_delete=1
   2. call   delete {}";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("\n   3. call   delete {} (1 hour later)\n             state: calls=3"), "{text}");
    assert!(text.contains("\ntaken for granted: the clock can be read and is never set back\n"), "{text}");
    assert_eq!(code, Some(1), "{text}");
    let output = prove(folder.path(), None, &[&["--json"], asked.as_slice()].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["properties"][1]["steps"][2]["later"], "1 hour");
    assert_eq!(report["assumed"], json!(["the clock can be read and is never set back"]));
}

#[test]
fn properties_may_stand_in_a_file_of_their_own() {
    let folder = folder();
    let file = folder.path().join("properties.yaml");
    let given = |text: &str| {
        fs::write(&file, text).unwrap();
        said(&prove(folder.path(), None, &["--properties", "properties.yaml", "--never", "sent > 3"]))
    };
    let (code, text) = given(
        "properties:
  - { name: no_leak, never: \"tool == 'mail__send' and tainted\" }
  - { name: once, after: \"tool == 'mail__send'\", never: \"tool == 'mail__send'\" }
",
    );
    assert!(text.contains("proved       no_leak: never `tool == 'mail__send' and tainted`\n"), "{text}");
    assert!(text.contains("broken       once: after `tool == 'mail__send'`, never"), "{text}");
    assert!(text.ends_with("2 proved, 1 broken, 0 not decided\n"), "{text}");
    assert_eq!(code, Some(1), "{text}");
    for (wrong, wanted) in [
        (
            "properties: [ { name: a, never: x }, { name: a, never: y } ]",
            "a second property with the name `a`",
        ),
        ("propertys: []", "properties.yaml:1:1"),
        ("properties: [ { name: a } ]", "`never`"),
        ("[]", "properties.yaml:1:1"),
        ("properties: [ { name: a, never: tained } ]", "property `a`, `never`: unknown name 'tained'"),
    ] {
        let (code, text) = given(wrong);
        assert!(text.contains(wanted), "{wrong}: {text}");
        assert_eq!(code, Some(78), "{text}");
    }
    let policy = "framegate: 1\ntools: { f: {} }\nproperties: [ { name: a, never: 'tool == \"g\"' } ]\n";
    fs::write(folder.path().join("p.yaml"), policy).unwrap();
    fs::write(&file, "properties: [ { name: a, never: 'true' } ]").unwrap();
    let (code, text) = said(&prove(folder.path(), None, &["--properties", "properties.yaml"]));
    assert!(text.contains("the policy has a property `a` already"), "{text}");
    assert_eq!(code, Some(78), "{text}");
}

#[test]
fn what_is_asked_wrongly_is_said() {
    let folder = folder();
    let (code, text) = said(&prove(folder.path(), None, &["--never", "tained"]));
    assert_eq!(code, Some(78), "{text}");
    assert!(text.contains("property `never 1`, `never`: unknown name 'tained'"), "{text}");
    let (code, _) = said(&prove(folder.path(), None, &["--after", "tainted"]));
    assert_eq!(code, Some(2));
    let (code, text) = said(&prove(folder.path(), None, &["--depth", "0", "--never", "tainted"]));
    assert_eq!(code, Some(2), "{text}");
    fs::write(folder.path().join("p.yaml"), "state: {").unwrap();
    let (code, text) = said(&prove(folder.path(), None, &[]));
    assert_eq!(code, Some(78), "{text}");
}
