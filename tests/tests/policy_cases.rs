//! Policy cases (`tests/data/policy_cases`, the documentation by example) and what `framegate explain`, `test`
//! and `check` promise: exact messages, exit codes, an answer before the next line is read.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/policy_cases")
}

/// Where no variable of this machine's says anything.
fn framegate(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    for name in ["FRAMEGATE_POLICY", "FRAMEGATE_FACTS", "FRAMEGATE_FACT", "FRAMEGATE_NAME", "FRAMEGATE_CWD"] {
        command.env_remove(name);
    }
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(folder: &Path, args: &[&str], input: &str) -> Output {
    let mut child = framegate(args).current_dir(folder).spawn().unwrap();
    // Who fails early does not read.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

const POLICY: &str = "framegate: 1
facts: { role: { type: string, default: viewer } }
tools:
  read_file: {}
rules:
  - name: inside_work
    tools: [read_file]
    that: within(args.path, \"/work\") || facts.role == \"admin\"
    because: Only files under /work may be read.
";

const BAD: &str = "framegate: 1
tools:
  read_file: { argumnets: strict }
rules:
  - name: inside_work
    tools: [read_file]
    that: wihtin(args.path, \"/work\")
    because: Only files under /work may be read.
";

/// Both errors at once, each with its place, a mark and a hint.
const BAD_SAID: &str = "p.yaml:3:16: error: unknown key `argumnets` in a tool's options
  |
3 |   read_file: { argumnets: strict }
  |                ^^^^^^^^^
  |
  = help: did you mean `arguments`?

p.yaml:7:11: error: unknown function `wihtin`
  |
7 |     that: wihtin(args.path, \"/work\")
  |           ^^^^^^
  |
  = help: did you mean `within`?
";

const CALL: &str = r#"{"call":{"name":"read_file","arguments":{"path":"/etc/passwd"}}}"#;

#[test]
fn every_policy_case_is_decided_as_it_says() {
    let mut files: Vec<String> = fs::read_dir(cases())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".jsonl"))
        .collect();
    files.sort();
    assert!(files.len() >= 15, "{files:?}");
    let args: Vec<&str> = ["test"].into_iter().chain(files.iter().map(String::as_str)).collect();
    let output = run(&cases(), &args, "");
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}{}", text(&output.stderr));
    assert_eq!(said.lines().filter(|line| line.starts_with("ok    ")).count(), files.len(), "{said}");
    assert!(said.ends_with(" passed, 0 failed\n"), "{said}");
}

#[test]
fn every_policy_case_explains_itself() {
    for entry in fs::read_dir(cases()).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        if !file.ends_with(".jsonl") {
            continue;
        }
        let output = run(&cases(), &["explain", "--json", &file], "");
        assert_eq!(output.status.code(), Some(0), "{file}: {}", text(&output.stderr));
        let case = fs::read_to_string(cases().join(&file)).unwrap();
        let calls = case.lines().filter(|line| line.starts_with(r#"{"call""#)).count();
        assert_eq!(text(&output.stdout).lines().count(), calls, "{file}: one decision a call");
    }
}

#[test]
fn a_failed_expectation_is_shown_and_exits_1() {
    let case = format!(
        "{{\"policy\":\"p.yaml\"}}\n{}\n",
        CALL.replace("}}}", r#"}},"expect":{"outcome":"allow"}}"#)
    );
    let folder = folder(&[("p.yaml", POLICY), ("case.jsonl", &case)]);
    let output = run(folder.path(), &["test", "case.jsonl", "none.jsonl"], "");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stdout),
        "FAIL  case.jsonl
case.jsonl:2: read_file {\"path\":\"/etc/passwd\"}
  ask
  why: inside_work: cannot be evaluated, `that` is unknown: no file system was given to resolve `/etc/passwd` [cannot be evaluated: ask]
  next: A rule could not be evaluated, so the call was not made: do not repeat it unchanged, tell the user.
  outcome
    expected  \"allow\"
    got       \"ask\"
FAIL  none.jsonl
`none.jsonl` cannot be read: No such file or directory (os error 2)
0 passed, 2 failed
"
    );
    let bad = folder.path().join("p.yaml");
    fs::write(bad, BAD).unwrap();
    let output = run(folder.path(), &["test", "case.jsonl"], "");
    assert_eq!(output.status.code(), Some(1));
    let said =
        format!("FAIL  case.jsonl\ncase.jsonl:1: the policy cannot be used\n{BAD_SAID}0 passed, 1 failed\n");
    assert_eq!(text(&output.stdout), said);
}

#[test]
fn a_policy_that_cannot_be_used_is_said_with_a_caret_and_exits_78() {
    let folder = folder(&[("p.yaml", BAD)]);
    let output = run(folder.path(), &["explain", "--policy", "p.yaml"], CALL);
    assert_eq!(output.status.code(), Some(78));
    assert_eq!(text(&output.stderr), format!("framegate: error: the policy cannot be used\n{BAD_SAID}"));
    assert_eq!(text(&output.stdout), "");
    let output = run(folder.path(), &["check", "p.yaml"], "");
    assert_eq!(output.status.code(), Some(78));
    assert_eq!(text(&output.stdout), format!("{BAD_SAID}\np.yaml: 2 errors, no warnings\n"));
    let output = run(folder.path(), &["check", "--json", "p.yaml"], "");
    assert_eq!(output.status.code(), Some(78));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["ok"], false);
    assert_eq!(
        report["errors"][1],
        json!({
            "file": "p.yaml", "line": 7, "column": 11, "tools": [],
            "message": "unknown function `wihtin`", "hint": "did you mean `within`?",
        })
    );
    let output = run(folder.path(), &["check", "none.yaml"], "");
    assert_eq!(output.status.code(), Some(78));
    assert!(text(&output.stderr).contains("the policy `none.yaml` cannot be read: No such file"));
    let output = run(folder.path(), &["explain"], CALL);
    assert_eq!(output.status.code(), Some(78));
    assert!(text(&output.stderr).contains("no policy: give --policy FILE"), "{}", text(&output.stderr));
}

#[test]
fn a_bad_line_is_named_and_those_before_it_are_answered() {
    let folder = folder(&[("p.yaml", POLICY)]);
    let input = format!("{{\"tools\":[{{\"name\":\"read_file\"}}]}}\n{CALL}\n\n{{\"call\":{{}}}}\n{CALL}\n");
    let output = run(folder.path(), &["explain", "--policy", "p.yaml", "--json", "-"], &input);
    assert_eq!(output.status.code(), Some(65));
    assert_eq!(text(&output.stdout).lines().count(), 1);
    assert_eq!(
        text(&output.stderr),
        "framegate: error: -:4: a tool call needs the tool's name, a string that is not empty\n"
    );
    let output = run(folder.path(), &["explain", "--policy", "p.yaml", "none.jsonl"], "");
    assert_eq!(output.status.code(), Some(74));
}

#[test]
fn each_line_is_answered_before_the_next_is_read() {
    let folder = folder(&[("p.yaml", POLICY)]);
    let args = ["explain", "--policy", "p.yaml", "--fact", "role=admin", "--json", "-"];
    let mut child = framegate(&args).current_dir(folder.path()).spawn().unwrap();
    let (mut to, mut from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    for role in ["admin", "viewer"] {
        if role == "viewer" {
            writeln!(to, r#"{{"facts":{{"role":"viewer"}}}}"#).unwrap();
        }
        writeln!(to, "{CALL}").unwrap();
        let mut answer = String::new();
        from.read_line(&mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["outcome"], if role == "admin" { "allow" } else { "deny" });
    }
    drop(to);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn without_made_up_paths_the_disk_counts() {
    let folder = folder(&[]);
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("work")).unwrap();
    std::os::unix::fs::symlink("/etc", root.join("work/link")).unwrap();
    let policy = POLICY.replace("\"/work\"", &format!("\"{}\"", root.join("work").display()));
    fs::write(root.join("p.yaml"), policy).unwrap();
    let call = |path: &str| format!(r#"{{"call":{{"name":"read_file","arguments":{{"path":"{path}"}}}}}}"#);
    let input = format!("{}\n{}\n{}\n", call("work/a"), call("work/link/passwd"), call("work/../a"));
    let output = run(&root, &["explain", "--policy", "p.yaml", "--json", "-"], &input);
    let outcomes: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["outcome"].clone())
        .collect();
    assert_eq!(outcomes, ["allow", "deny", "deny"]);
}

#[test]
fn options_are_those_in_force_after_merging() {
    let policy = "framegate: 1\ndefaults: { undeclared: refuse }\ntools:\n  'p*': { arguments: coerce, invisible: { note: allow } }\n";
    let folder = folder(&[("p.yaml", policy)]);
    let tools = r#"{"tools":[{"name":"pay"},{"name":"read"}]}"#;
    let output = run(folder.path(), &["explain", "--policy", "p.yaml", "--options"], tools);
    assert_eq!(
        text(&output.stdout),
        "pay: arguments coerce, missing ask, undeclared refuse, invisible {\"*\":\"refuse\",\"note\":\"allow\"}, schema of the server, mode enforce\nread: not offered\n"
    );
}

/// The demo server lists `write_file`, `read_file` and `search`.
fn checked(policy: &str, options: &[&str]) -> (Option<i32>, String) {
    let folder = folder(&[("p.yaml", policy)]);
    let own = env!("CARGO_BIN_EXE_framegate-under-test");
    let args = [&["check", "--name", "files"], options, &["p.yaml", "--", own, "demo-server"]].concat();
    let output = run(folder.path(), &args, "");
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

#[test]
fn a_policy_is_checked_against_the_tools_that_are_really_there() {
    let policy = "framegate: 1
tools:
  read_file:
    schema:
      type: object
      properties: { path: { type: string, maxLength: 100 }, mode: { type: string } }
      required: [path, mode]
      additionalProperties: false
  wirte_file: {}
  search: { hidden: true }
rules:
  - { name: mine, tools: [read_file], that: args.path != 'x', because: No. }
";
    let said = "p.yaml:9:3: warning: `files` has no tool `wirte_file`
  |
9 |   wirte_file: {}
  |   ^^^^^^^^^^
  |
  = help: did you mean `write_file`?

`files` lists 3 tools: 1 offered, 2 hidden
  offered  read_file (rules: mine)
    schema: `additionalProperties`: the policy has false, the server nothing
    schema: argument `mode`: only in the policy
    schema: argument `path`: the policy has {\"type\":\"string\",\"maxLength\":100}, the server {\"description\":\"file name inside the demo folder\",\"type\":\"string\"}
    schema: argument `mode`: required by the policy only
  hidden   search (the policy says `hidden`)
  hidden   write_file (nothing under `tools` names it, and `default` is `deny`)

p.yaml: no errors, 1 warning
";
    assert_eq!(checked(policy, &[]), (Some(0), said.to_owned()));
    assert_eq!(checked(policy, &["--strict"]).0, Some(78), "with --strict a warning fails");
    let grounded = "framegate: 1\ntools: { read_file: { ground: { path: whole }, once: true } }\n";
    let said = checked(grounded, &[]).1;
    assert!(said.contains("offered  read_file (checks: ground, instructions: grounded, once)\n"), "{said}");
    let (_, json) = checked(policy, &["--json"]);
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["server"], "files");
    assert_eq!(report["warnings"][0]["hint"], "did you mean `write_file`?");
    assert_eq!(
        report["tools"][0],
        json!({
            "name": "write_file", "named": false, "offered": false, "rules": [], "options": null,
            "checks": [], "schema_differences": [],
        })
    );
    let (_, said) = checked(policy, &["--tools"]);
    let options = "    arguments strict, missing ask, undeclared schema, invisible refuse, schema of the policy, mode enforce\n      rule mine (otherwise deny): No.\n";
    assert!(said.contains(options), "{said}");
    let asks = "framegate: 1\ntools: { read_file: { definitions: ask } }\n";
    let (_, said) = checked(asks, &["--tools"]);
    assert!(said.contains("      definitions ask\n"), "{said}");
}

#[test]
fn what_is_wrong_for_several_tools_is_told_once() {
    let policy = "framegate: 1
tools: { write_file: {}, read_file: {} }
rules:
  - { name: small, tools: ['*_file'], that: args.path < 5, because: No. }
";
    let (code, said) = checked(policy, &[]);
    assert_eq!(code, Some(78), "{said}");
    assert_eq!(said.matches("does not go with").count(), 1, "{said}");
    assert!(!said.contains('\u{fffd}'), "{said}");
}

#[test]
fn what_is_hardly_meant_is_said_beside_the_server() {
    let policy = "framegate: 1
facts: { role: string }
tools: { 'raed_*': {}, read_file: {}, github/search: {} }
rules:
  - { name: inside, tools: [read_file], that: 'within(args.path, \"/no/such/folder\") || facts.role == \"x\"' }
";
    let (code, said) = checked(policy, &[]);
    assert_eq!(code, Some(0), "{said}");
    for warning in [
        "p.yaml:2:10: warning: the fact `role` has no default and is not given",
        "p.yaml:3:10: warning: `raed_*` matches no tool of `files`",
        "help: did you mean `read_*`?",
        "p.yaml:3:39: warning: `github/search` is for a server called `github`, and this one is `files`",
        "warning: there is no `/no/such/folder` here",
    ] {
        assert!(said.contains(warning), "{warning}: {said}");
    }
    let slip = policy.replace("tools: [read_file]", "tools: [read_fiel]");
    let (_, said) = checked(&slip, &[]);
    assert_eq!(said.matches("`read_fiel`").count(), 1, "a slip is told once: {said}");
    let (code, said) = checked(policy, &["--fact", "role=x"]);
    assert!(code == Some(0) && !said.contains("the fact `role`"), "{said}");
}

#[test]
fn a_first_policy_is_written_once_and_passes_its_check() {
    let folder = folder(&[]);
    let own = env!("CARGO_BIN_EXE_framegate-under-test");
    let init = |options: &[&str]| {
        run(folder.path(), &[&["init"], options, &["--", own, "demo-server"]].concat(), "")
    };
    let printed = init(&[]);
    assert_eq!(printed.status.code(), Some(0), "{}", text(&printed.stderr));
    let written = init(&["-o", "p.yaml"]);
    assert!(text(&written.stdout).starts_with("wrote p.yaml; read it, then: framegate check p.yaml -- "));
    // It names the file that it is in.
    let named = text(&printed.stdout).replace("framegate.yaml", "p.yaml");
    assert_eq!(fs::read_to_string(folder.path().join("p.yaml")).unwrap(), named);
    assert!(text(&printed.stdout).contains("\n  read_file: {}"), "{}", text(&printed.stdout));
    assert!(text(&printed.stdout).contains("\n  # write_file: {}"), "{}", text(&printed.stdout));
    let again = init(&["-o", "p.yaml"]);
    assert_eq!(again.status.code(), Some(74));
    assert!(text(&again.stderr).contains("`p.yaml` is there already"), "{}", text(&again.stderr));
    let checked = run(folder.path(), &["check", "--strict", "p.yaml", "--", own, "demo-server"], "");
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
    let blank = run(folder.path(), &["init"], "");
    let checked = run(folder.path(), &["check", "-"], &text(&blank.stdout));
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
}

#[test]
fn a_check_with_json_prints_one_object_whatever_happens() {
    let folder = folder(&[("p.yaml", POLICY), ("bad.yaml", BAD)]);
    let own = env!("CARGO_BIN_EXE_framegate-under-test");
    let failures = [
        (&["bad.yaml"][..], 78, "unknown key `argumnets`"),
        (&["no-such.yaml"], 78, "No such file"),
        (&["p.yaml", "--fact", "role=1", "--fact", "rolle=1"], 78, "the policy does not declare it"),
        (&["p.yaml", "--", "/no/such/server"], 127, "the server's tools are not known"),
        (&["p.yaml", "--timeout", "0.2", "--", "sleep", "60"], 70, "--timeout 60"),
        (&["p.yaml", "--", own, "demo-server"], 0, ""),
    ];
    for (args, code, message) in failures {
        let output = run(folder.path(), &[&["check", "--json"], args].concat(), "");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{report}");
        let errors = report["errors"].as_array().unwrap();
        assert_eq!(report["ok"], json!(errors.is_empty()), "{report}");
        assert!(report["warnings"].is_array() && report.get("tools").is_some(), "{report}");
        let said = errors.iter().any(|error| error["message"].as_str().unwrap().contains(message));
        assert!(said || message.is_empty(), "{report}");
    }
}

#[test]
fn a_silent_server_is_given_up_and_a_policy_may_come_through_stdin() {
    let since = std::time::Instant::now();
    let folder = folder(&[]);
    let output = run(folder.path(), &["check", "--timeout", "0.2", "-", "--", "sleep", "60"], POLICY);
    assert_eq!(output.status.code(), Some(70));
    assert!(since.elapsed() < std::time::Duration::from_secs(8), "{:?}", since.elapsed());
    let said = text(&output.stderr);
    assert!(said.contains("no answer to `server/discover`"), "{said}");
    let output = run(folder.path(), &["check", "-"], BAD);
    assert_eq!(text(&output.stdout).matches("-:3:16: error: unknown key `argumnets`").count(), 1);
}

#[test]
fn a_rule_that_cannot_be_meant_for_the_server_is_an_error() {
    let policy =
        "framegate: 1\ndefault: allow\nrules:\n  - { name: nowhere, that: args.pth != 'x', because: No. }\n";
    let (code, said) = checked(policy, &[]);
    assert_eq!(code, Some(78), "{said}");
    assert!(said.contains("p.yaml:4:13: error: the rule `nowhere` applies to no tool of `files`"), "{said}");
    assert!(said.contains("did you mean `args.path` instead of `args.pth`?"), "{said}");
}

#[test]
fn a_server_that_does_not_start_is_said() {
    let folder = folder(&[("p.yaml", POLICY)]);
    let output = run(folder.path(), &["check", "p.yaml", "--", "/no/such/server"], "");
    assert_eq!(output.status.code(), Some(127));
    assert!(text(&output.stderr).contains("the server's tools are not known"), "{}", text(&output.stderr));
}

/// The text between two marks.
fn between<'a>(text: &'a str, open: &str, close: &str) -> &'a str {
    let (_, rest) = text.split_once(open).unwrap();
    rest.split_once(close).unwrap().0
}

#[test]
fn the_examples_of_the_readme_run() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md")).unwrap();
    let (_, section) = readme.split_once("### Before an agent uses it").unwrap();
    let folder = folder(&[("framegate.yaml", between(section, "<<'EOF'\n", "EOF\n"))]);
    let own = env!("CARGO_BIN_EXE_framegate-under-test");
    let checked = run(folder.path(), &["check", "framegate.yaml", "--", own, "demo-server"], "");
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
    let call = between(section, "echo '", "' | framegate explain");
    let output = run(folder.path(), &["explain", "--policy", "framegate.yaml"], call);
    assert_eq!(text(&output.stdout), between(section, "```\n\n```\n", "```\n"));
    let (_, section) = section.split_once("**`framegate test").unwrap();
    fs::write(folder.path().join("case.jsonl"), between(section, "```\n", "```\n")).unwrap();
    let output = run(folder.path(), &["test", "case.jsonl"], "");
    assert_eq!(text(&output.stdout), "ok    case.jsonl (1 call)\n1 passed, 0 failed\n");
}
