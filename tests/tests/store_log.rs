//! The record, read: `framegate log`, `show` and `replay` over what `run` wrote.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use framegate_tests::Guarded;
use framegate_tests::guarded::Start;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Reads the world, a fact, the conversation; coerces; has a rule on trial, and one that is for no tool by name.
const POLICY: &str = "framegate: 1
facts: { limit: { type: number, default: 5 } }
tools: { look: { arguments: coerce }, wipe: {}, fetch: {}, other: {} }
rules:
  - { name: inside, tools: [look], that: 'within(args.path, \"/tmp\")', because: Only /tmp. }
  - { name: few, tools: [look], that: 'args.count <= facts.limit', when: has(args.count), otherwise: ask, because: Ask first. }
  - { name: unheard, tools: [wipe], that: '!conversation.contains(\"ran look\")', because: Not after looking. }
  - { name: tried, tools: [fetch], that: 'host(args.url) == \"a.example\"', mode: monitor, because: On trial. }
  - { name: by_argument, that: '!args.command.contains(\"rm\")', because: No rm. }
";

struct Session {
    guarded: Guarded,
    folder: TempDir,
}

fn start(policy: Option<&str>, options: &[&str]) -> Session {
    let folder = tempfile::tempdir().unwrap();
    let guarded = started(&folder, policy, options);
    Session { guarded, folder }
}

fn started(folder: &TempDir, policy: Option<&str>, options: &[&str]) -> Guarded {
    let file = folder.path().join("record.db").display().to_string();
    let options = [&["--store", &file], options].concat();
    let wrapper = framegate_tests::wrapper!();
    let script = json!([tools()]);
    let mut guarded = Start { wrapper: &wrapper, policy, options: &options, script, files: &[] }.now();
    guarded.open();
    guarded
}

fn tools() -> Value {
    let schema = |properties: Value| json!({ "type": "object", "properties": properties });
    let look = schema(
        json!({ "path": { "type": "string" }, "count": { "type": "integer" }, "mode": { "type": "string" } }),
    );
    let tools = json!([
        { "name": "look", "inputSchema": look },
        { "name": "wipe", "inputSchema": schema(json!({})) },
        { "name": "fetch", "inputSchema": schema(json!({ "url": { "type": "string" }, "token": { "type": "string" } })) },
        { "name": "other", "inputSchema": schema(json!({ "command": { "type": "string" } })) },
    ]);
    json!({ "tools": tools.to_string() })
}

const CALLS: &[(&str, &str)] = &[
    ("wipe", "{}"),
    ("look", r#"{"path":"/tmp/a","count":"3","mode":"fast"}"#),
    ("look", r#"{"path":"/tmp/b/c","mode":"slow"}"#),
    ("look", r#"{"path":"/etc/passwd","mode":"fast"}"#),
    ("look", r#"{"path":"/tmp/a","count":9,"mode":"fast"}"#),
    ("wipe", "{}"),
    ("fetch", r#"{"url":"https://b.example/x","token":"S3CRET-0"}"#),
    ("fetch", r#"{"url":"https://a.example/x?y=1"}"#),
    ("other", r#"{"command":"rm -r"}"#),
    ("other", r#"{"command":"ls"}"#),
    ("raed", "{}"),
    ("look", r#"{"path":7}"#),
    ("look", r#"{"path":"/tmp/a","mode":"fast"}"#),
    ("look", r#"{"path":"/tmp/d","mode":"fast"}"#),
    ("look", r#"{"path":"/tmp/e","mode":"slow"}"#),
];

impl Session {
    fn play(&mut self) {
        for (at, (tool, arguments)) in CALLS.iter().enumerate() {
            self.guarded.call(&format!("\"c{at}\""), tool, arguments);
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("record.db")
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
        command.args(words).arg(self.file()).env("TZ", "UTC").stdin(Stdio::null()).output().unwrap()
    }

    /// What a command says, which must go well.
    fn said(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, words: &[&str]) -> Vec<Value> {
        self.said(words).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn played(options: &[&str]) -> Session {
    let mut session = start(Some(POLICY), options);
    session.play();
    session.guarded.end();
    session
}

#[test]
fn the_log_shows_calls_with_what_became_of_them() {
    let session = played(&[]);
    let before = std::fs::read(session.file()).unwrap();
    let said = session.said(&["log"]);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), CALLS.len() + 1, "{said}");
    assert!(lines[0].starts_with("  #") && lines[0].contains("latency"), "{said}");
    let has = |at: usize, parts: &[&str]| {
        assert!(parts.iter().all(|part| lines[at].contains(part)), "{parts:?} in {}", lines[at]);
    };
    has(1, &["allow", "wipe", "{}", "done", " ms"]);
    has(2, &["allow", r#"{"path":"/tmp/a","count":"3","mode":"fast"}"#, "done"]);
    has(4, &["deny", "look", "inside", "refused"]);
    has(5, &["ask", "few", "refused"]);
    has(7, &["allow", r#""token":"***""#, "would deny: tried"]);
    has(11, &["deny", "raed", "known_tool"]);
    assert!(!said.contains("S3CRET"), "{said}");
    assert!(session.said(&["log", "--arguments", "full"]).contains("S3CRET-0"));
    assert!(!session.said(&["log", "--arguments", "none"]).contains("/tmp/a"));

    let seqs = |words: &[&str]| -> Vec<String> {
        session.json(words).iter().map(|call| call["tool"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(seqs(&["log", "--json", "-n", "2"]), ["look", "look"], "the last ones");
    assert_eq!(seqs(&["log", "--json", "--tool", "w*"]), ["wipe", "wipe"]);
    assert_eq!(seqs(&["log", "--json", "--outcome", "ask"]), ["look"]);
    assert_eq!(
        seqs(&["log", "--json", "--outcome", "deny", "--tool", "fetch"]),
        ["fetch"],
        "would have been"
    );
    assert_eq!(seqs(&["log", "--json", "--since", "1h", "--session", "2", "-n", "0"]).len(), CALLS.len());
    assert_eq!(seqs(&["log", "--json", "--session", "3"]).len(), 0);
    assert_eq!(seqs(&["log", "--json", "--since", "2199-01-01T00:00:00Z"]).len(), 0);
    let calls = session.json(&["log", "--json"]);
    assert_eq!(calls[1]["arguments"]["count"], "3");
    assert_eq!((&calls[1]["sent"], &calls[1]["how"]), (&json!("edited"), &json!("done")));
    assert_eq!(std::fs::read(session.file()).unwrap(), before, "reading changes nothing");
}

#[test]
fn one_decision_is_shown_in_full() {
    let session = played(&[]);
    let calls = session.json(&["log", "--json"]);
    let shown = |at: usize| session.said(&["show", &calls[at]["seq"].to_string()]);
    let denied = shown(3);
    for part in
        ["deny (inside)", "Only /tmp.", "inside in line 5", "sent       nothing", "/etc/passwd", "refused"]
    {
        assert!(denied.contains(part), "{part}: {denied}");
    }
    assert!(denied.contains(calls[3]["hash"].as_str().unwrap()), "{denied}");
    let coerced = shown(1);
    assert!(coerced.contains("the call, edited") && coerced.contains("ran look"), "{coerced}");
    let fetched = shown(6);
    assert!(!fetched.contains("S3CRET") && fetched.contains("only monitored"), "{fetched}");
    assert!(session.said(&["show", "2"]).starts_with("session 2, "));
    let none = session.run(&["show", "9999"]);
    assert_eq!(none.status.code(), Some(65), "{none:?}");
}

/// A command of ours, with no record of this machine's user in its way.
fn plain(words: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    command.args(words).env("XDG_STATE_HOME", "/no/such").env_remove("FRAMEGATE_STORE").stdin(Stdio::null());
    let output = command.envs(variables.iter().copied()).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[test]
fn what_a_record_is_read_by_is_what_run_writes_by() {
    let session = played(&[]);
    let file = session.file().display().to_string();
    for words in [&["log"][..], &["show", "2"], &["verify"], &["replay"]] {
        let (code, said) = plain(words, &[("FRAMEGATE_STORE", &file)]);
        assert_eq!(code, Some(0), "{words:?}: {said}");
        for variables in [&[][..], &[("FRAMEGATE_STORE", "none")]] {
            let (code, said) = plain(words, variables);
            assert_eq!(code, Some(74), "{words:?}: {said}");
            let path = "there is no record yet at `/no/such/framegate/record.db`";
            assert!(said.contains(path) && said.matches("/no/such").count() == 1, "{words:?}: {said}");
        }
        let (_, said) = plain(&[words, &["/no/such.db"]].concat(), &[]);
        assert_eq!(said.matches("/no/such.db").count(), 1, "{words:?}: {said}");
    }
}

#[test]
fn show_shows_no_arguments_where_none_are_wanted() {
    let session = played(&[]);
    let calls = session.json(&["log", "--json"]);
    let seq = calls[3]["seq"].to_string();
    let said = session.said(&["show", &seq, "--arguments", "none"]);
    assert!(!said.contains("/etc/passwd") && said.contains("arguments  (not shown)"), "{said}");
    assert!(said.contains("deny (inside)"), "{said}");
}

#[test]
fn show_says_which_policy_and_shows_its_lines() {
    let session = played(&[]);
    let calls = session.json(&["log", "--json"]);
    let said = session.said(&["show", &calls[3]["seq"].to_string()]);
    let (_, rest) = said.split_once("SHA-256 ").unwrap();
    let (sha256, rest) = rest.split_once(", its text is record ").unwrap();
    assert_eq!(sha256.len(), 64, "{said}");
    let number = rest.lines().next().unwrap();
    let text = session.said(&["show", number]);
    assert!(text.contains("framegate: 1\n           facts: {") && !text.contains('\u{fffd}'), "{text}");
    let file = session.file().display().to_string();
    let (code, said) = plain(&["show", &file, number], &[]);
    assert!(code == Some(2) && said.contains("the record's number comes first"), "{said}");
}

#[test]
fn every_decision_comes_out_again_from_its_record() {
    let session = played(&["--fact", "limit=4"]);
    assert_eq!(session.said(&["replay"]).trim(), format!("{0} decisions: {0} as recorded", CALLS.len()));
    let lines = session.folder.path().join("record.jsonl");
    std::fs::write(&lines, session.said(&["log", "--json", "--all"])).unwrap();
    let over_lines = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
        command.args(words).arg(&lines).output().unwrap()
    };
    assert!(String::from_utf8(over_lines(&["replay"]).stdout).unwrap().contains("15 as recorded"));
    let from = |words: &[&str]| String::from_utf8(over_lines(words).stdout).unwrap();
    assert_eq!(from(&["log", "--json"]), session.said(&["log", "--json"]), "the same from either file");
    assert_eq!(from(&["log", "--json", "--all"]), session.said(&["log", "--json", "--all"]));
    // A record that says something else than was decided is found out.
    let forged =
        std::fs::read_to_string(&lines).unwrap().replacen(r#""outcome":"deny""#, r#""outcome":"ask""#, 1);
    std::fs::write(&lines, forged).unwrap();
    let fault = over_lines(&["replay"]);
    let said = String::from_utf8(fault.stdout).unwrap();
    assert_eq!(fault.status.code(), Some(1), "{said}");
    assert!(
        said.contains("14 as recorded, 1 not as recorded") && said.contains("outcome: then ask, now deny"),
        "{said}"
    );
}

#[test]
fn another_policy_is_told_by_what_it_would_change() {
    let session = played(&[]);
    let other = POLICY
        .replace("'within(args.path, \"/tmp\")'", "'args.path != \"/tmp/a\"'")
        .replace("fetch: {}, ", "")
        .replace("default: 5 }", "default: 5 }, role: { type: string }")
        + "  - { name: role, tools: [other], that: 'facts.role == \"admin\"', because: Only admins. }\n";
    let policy = session.folder.path().join("other.yaml");
    std::fs::write(&policy, other).unwrap();
    let policy = policy.to_str().unwrap();
    let report: Value = session.json(&["replay", "--json", "--policy", policy]).remove(0);
    let groups = |key: &str| -> Vec<(String, u64)> {
        let groups = report[key].as_array().unwrap().iter();
        groups
            .map(|group| (group["by"].as_str().unwrap().to_owned(), group["count"].as_u64().unwrap()))
            .collect()
    };
    let one = |by: &str, count: u64| (by.to_owned(), count);
    assert_eq!(groups("allowed"), [one("inside", 1)], "{report}");
    assert_eq!(groups("denied"), [one("inside", 2), one("inside, few", 1), one("known_tool", 2)], "{report}");
    assert_eq!(groups("unknown"), [one("role", 1)], "a fact that was not recorded: {report}");
    assert_eq!(groups("asked"), []);
    let said = session.said(&["replay", "--policy", policy, "--fact", "role=admin"]);
    assert!(said.contains("newly denied:") && !said.contains("unknown"), "{said}");
    assert!(said.contains(r#"look {"path":"/etc/passwd","mode":"fast"}  deny → allow"#), "{said}");
    assert!(!said.contains("S3CRET"), "{said}");
    // A record has no listing: a rule that is for no called tool decides nothing, and must not pass for a change.
    let misspelt = POLICY.replace("args.command.contains", "args.comand.contains");
    let file = session.folder.path().join("misspelt.yaml");
    std::fs::write(&file, misspelt).unwrap();
    let warned = session.run(&["replay", "--policy", file.to_str().unwrap()]);
    let warned = String::from_utf8_lossy(&warned.stderr).into_owned();
    assert!(warned.contains("`by_argument` is for none of the tools"), "{warned}");
    let wrong = session.run(&["replay", "--policy", policy, "--fact", "no=1"]);
    assert_eq!(wrong.status.code(), Some(78), "{wrong:?}");
}

#[test]
fn where_a_record_says_nothing_of_a_path_it_can_be_stated_or_looked_up() {
    let session = played(&[]);
    // A folder that no rule of then asked about, and a path that was asked about.
    let root = session.folder.path().canonicalize().unwrap();
    std::os::unix::fs::symlink("/tmp", root.join("link")).unwrap();
    let root = root.join("link").display().to_string();
    let policy = session.folder.path().join("other.yaml");
    std::fs::write(&policy, POLICY.replace("\"/tmp\"", &format!("\"{root}\""))).unwrap();
    let policy = policy.to_str().unwrap();
    let report =
        |more: &[&str]| session.json(&[&["replay", "--json", "--policy", policy], more].concat()).remove(0);
    let count = |report: &Value, key: &str| -> u64 {
        report[key].as_array().unwrap().iter().map(|group| group["count"].as_u64().unwrap()).sum()
    };
    let unknown = report(&[]);
    assert_eq!((count(&unknown, "unknown"), &unknown["notes"]), (6, &json!([])), "{unknown}");
    let stated = format!("{root}=/tmp");
    for (more, note) in
        [(&["--path", &stated][..], "lead where --path says"), (&["--disk"], "today (--disk)")]
    {
        let known = report(more);
        // All that was inside still is.
        assert_eq!((count(&known, "unknown"), &known["same"]), (0, &json!(CALLS.len())), "{known}");
        let notes = known["notes"].to_string();
        assert!(notes.contains(note) && notes.contains("1 of the paths"), "{known}");
        let said = session.said(&[&["replay", "--policy", policy], more].concat());
        assert!(said.lines().nth(1).unwrap().starts_with("note: 1 of the paths"), "{said}");
    }
    let elsewhere = report(&["--path", &root]);
    assert_eq!((count(&elsewhere, "unknown"), count(&elsewhere, "denied")), (0, 6), "{elsewhere}");
    // What was recorded is not stated away.
    let passwd = report(&["--path", &stated, "--path", "/etc=/tmp"]);
    assert_eq!(count(&passwd, "allowed"), 0, "{passwd}");
    for (more, why) in [(&["--path", "srv"][..], "states no path"), (&["--path", "/a=/.."], "states no path")]
    {
        let wrong = session.run(&[&["replay", "--policy", policy], more].concat());
        let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
        assert!(wrong.status.code() == Some(2) && said.contains(why), "{said}");
    }
    assert_eq!(
        session.run(&["replay", "--disk"]).status.code(),
        Some(2),
        "the record alone, without a policy"
    );
}

#[test]
fn a_rule_over_what_nobody_listened_to_is_unknown_and_not_over_nothing() {
    let deaf = "framegate: 1\ndefault: allow\n";
    let hears = format!(
        "{deaf}rules:\n  - {{ name: unheard, tools: [wipe], that: '!conversation.contains(\"ran look\")', because: Not after looking. }}\n"
    );
    let mut session = start(Some(deaf), &[]);
    let policy = session.folder.path().join("other.yaml");
    std::fs::write(&policy, &hears).unwrap();
    session.guarded.call("1", "look", "{}");
    session.guarded.call("2", "wipe", "{}");
    // From here on a rule listens, and has not heard what was said before.
    std::fs::write(session.guarded.policy_file(), hears.replace("after looking", "after a look")).unwrap();
    session.guarded.wait_stderr("was read anew and is in force");
    session.guarded.call("3", "wipe", "{}");
    session.guarded.call("4", "look", "{}");
    session.guarded.end();
    let report = session.json(&["replay", "--json", "--policy", policy.to_str().unwrap()]).remove(0);
    let unknown = &report["unknown"][0];
    assert_eq!(
        (&unknown["by"], &unknown["count"], &report["same"]),
        (&json!("unheard"), &json!(2), &json!(2))
    );
    assert!(
        unknown["calls"][0]["differences"][0].as_str().unwrap().contains("does not say what was said"),
        "{report}"
    );
    assert_eq!(session.said(&["replay"]).trim(), "4 decisions: 4 as recorded");
}

#[test]
fn a_learned_policy_allows_what_was_allowed() {
    let session = played(&[]);
    let draft = session.said(&["replay", "--learn"]);
    assert!(draft.starts_with("# DRAFT"), "{draft}");
    for part in [
        "default: deny",
        "'look': { arguments: coerce }",
        "within(args.path, \"/tmp\")",
        "host(args.url) in [\"a.example\"]",
        "args.mode in [\"fast\", \"slow\"]",
    ] {
        assert!(draft.contains(part), "{part}: {draft}");
    }
    assert!(!draft.contains("S3CRET") && !draft.contains("/etc"), "{draft}");
    let policy = session.folder.path().join("draft.yaml");
    std::fs::write(&policy, &draft).unwrap();
    let policy = policy.to_str().unwrap();
    let checked =
        Command::new(env!("CARGO_BIN_EXE_framegate-under-test")).args(["check", "--strict", policy]).output();
    assert!(checked.as_ref().unwrap().status.success(), "{checked:?}\n{draft}");
    let report: Value =
        session.json(&["replay", "--json", "--outcome", "allow", "--policy", policy]).remove(0);
    for key in ["denied", "asked", "unknown", "not_recomputable"] {
        let calls = report[key].as_array().unwrap();
        // Allowed only since a rule was on trial: that is no call to learn from, and no other is touched.
        let on_trial =
            |call: &Value| call["tool"] == "fetch" && call["arguments"].to_string().contains("b.example");
        assert!(
            calls.iter().all(|group| group["calls"].as_array().unwrap().iter().all(on_trial)),
            "{key}: {report}\n{draft}"
        );
    }
}

#[test]
fn a_draft_from_a_record_without_a_policy_is_no_wider_than_its_paths() {
    let mut session = start(None, &[]);
    session.guarded.call("1", "look", r#"{"path":"/tmp/x/work"}"#);
    session.guarded.call("2", "look", r#"{"path":"/tmp/x/work","count":3}"#);
    session.guarded.end();
    let draft = session.said(&["replay", "--learn"]);
    for part in [
        "within(args.path, \"/tmp/x/work\")",
        "is not proved",
        "An argument that has no rule below is not limited at all.",
        "# in 2 of 2 calls",
    ] {
        assert!(draft.contains(part), "{part}: {draft}");
    }
    assert!(!draft.contains("startsWith"), "links and `%2e%2e` would pass: {draft}");
}

#[test]
fn a_draft_leaves_out_tools_whose_arguments_nobody_saw() {
    let mut session = start(Some(POLICY), &["--store-content", "none", "--name", "files"]);
    session.guarded.call("1", "look", r#"{"path":"/tmp/a"}"#);
    session.guarded.end();
    let mut draft = session.said(&["replay", "--learn"]);
    assert!(draft.contains("\ntools: {}\n  # 'look': {}"), "{draft}");
    assert!(draft.contains("never kept") && !draft.contains("any more"), "{draft}");
    let policy = session.folder.path().join("draft.yaml");
    let checked = |draft: &str| {
        std::fs::write(&policy, draft).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
        command.arg("check").arg(&policy).output().unwrap()
    };
    assert!(checked(&draft).status.success(), "{draft}");

    let mut session = Session {
        guarded: started(&session.folder, Some(POLICY), &["--name", "files"]),
        folder: session.folder,
    };
    session.guarded.call("1", "look", r#"{"path":"/tmp/a"}"#);
    session.guarded.end();
    draft = session.said(&["replay", "--learn"]);
    assert!(draft.contains("'look': {}  # 2 calls, the arguments of 1 are not in the record"), "{draft}");
    assert!(draft.contains("# in 1 of 1 call") && !draft.contains("when: has(args.path)"), "{draft}");
    assert!(checked(&draft).status.success(), "{draft}");
}

#[test]
fn what_was_not_kept_is_not_recomputable_and_says_so() {
    let session = played(&["--store-content", "none"]);
    let said = session.said(&["replay"]);
    assert!(said.contains("15 not recomputable") && said.contains("content was never kept"), "{said}");
    assert!(session.said(&["log"]).contains("(not kept)"));
    let session = played(&["--store-content", "redacted"]);
    let said = session.said(&["replay"]);
    assert!(
        said.contains("14 as recorded, 1 not recomputable")
            && said.contains("content redacted (`arguments`)"),
        "{said}"
    );
}

#[test]
fn a_record_is_followed_while_a_session_writes_it() {
    let mut session = start(Some(POLICY), &[]);
    session.guarded.call("\"before\"", "wipe", "{}");
    let mut follow = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    let mut follow =
        follow.args(["log", "--follow"]).arg(session.file()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("wipe"));
    session.guarded.call("\"after\"", "look", r#"{"path":"/tmp/x"}"#);
    let line = lines.next().unwrap().unwrap();
    assert!(line.contains(r#"look  {"path":"/tmp/x"}  done"#), "{line}");
    follow.kill().unwrap();
    follow.wait().unwrap();
    assert_eq!(
        session.said(&["replay"]).trim(),
        "2 decisions: 2 as recorded",
        "also while it is being written"
    );
    session.guarded.end();
}

#[test]
fn files_that_are_no_record_are_named() {
    let session = played(&[]);
    let folder = session.folder.path();
    let run = |name: &str, text: &str| {
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
        let output = command.arg("log").arg(file).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run("a.txt", "hello\n");
    assert!(code == Some(65) && said.contains("not a store"), "{said}");
    let (code, said) = run("b.db", "SQLite format 3\0 and no more");
    assert!(matches!(code, Some(65 | 74)), "{code:?} {said}");
    assert_eq!(run("empty.jsonl", "").0, Some(0));
    let missing = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"))
        .args(["log", "/no/such.db"])
        .output()
        .unwrap();
    assert_eq!(missing.status.code(), Some(74));
}

#[test]
fn who_has_read_enough_is_told_nothing() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    command.args(["man", "run"]).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

/// Secrets that findings, asked paths, changes and differences quote without their names; and rules that cannot be
/// evaluated.
fn quoting() -> Session {
    let policy = "framegate: 1\ndefault: allow\ntools: { fetch: { arguments: coerce } }\nrules:\n  - { name: within, tools: [other], when: has(args.password), that: 'within(args.password, \"/work\")' }\n";
    let tool = |name: &str, properties: Value| json!({ "name": name, "inputSchema": { "type": "object", "properties": properties } });
    let tools =
        json!([tool("fetch", json!({ "otp": { "type": "integer" } })), tool("other", json!({}))]).to_string();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db").display().to_string();
    let wrapper = framegate_tests::wrapper!();
    let script = json!([{ "tools": tools }]);
    let options = ["--store", &file];
    let mut guarded =
        Start { wrapper: &wrapper, policy: Some(policy), options: &options, script, files: &[] }.now();
    guarded.open();
    guarded.call("1", "fetch", r#"{"otp":"7300177"}"#);
    guarded.call("2", "other", r#"{"password":"S3CRET\"x"}"#);
    guarded.call("3", "other", r#"{"password":"/S3CRET/x"}"#);
    let held = guarded.call("4", "other", r#"{"password":["S3CRET"]}"#);
    assert_eq!(framegate_tests::guarded::decision(&held)["unevaluated"], json!(["within"]), "{held}");
    guarded.end();
    Session { guarded, folder }
}

#[test]
fn a_secret_that_is_quoted_without_its_name_is_not_shown() {
    let session = quoting();
    let policy = session.folder.path().join("other.yaml");
    std::fs::write(
        &policy,
        "framegate: 1\ndefault: allow\nrules:\n  - { name: host, tools: [other], that: 'host(args.password) == \"x\"' }\n",
    )
    .unwrap();
    let policy = policy.to_str().unwrap();
    let mut full = String::new();
    for call in session.json(&["log", "--json"]) {
        let seq = call["seq"].to_string();
        let said = session.said(&["show", &seq]);
        assert!(!said.contains("S3CRET") && !said.contains("7300177"), "{said}");
        full += &session.said(&["show", "--arguments", "full", &seq]);
    }
    assert!(full.contains("/S3CRET/x") && full.matches("7300177").count() > 1, "{full}");
    for words in [&["replay", "--json", "--policy", policy][..], &["replay", "--policy", policy]] {
        let said = session.said(words);
        assert!(said.contains("other") && !said.contains("S3CRET"), "{said}");
    }
}

#[test]
fn a_call_that_is_held_since_a_rule_cannot_be_evaluated_names_the_rule() {
    let session = quoting();
    let calls = session.json(&["log", "--json"]);
    assert_eq!((&calls[3]["outcome"], &calls[3]["failed"]), (&json!("ask"), &json!(["within"])));
    assert_eq!(calls[0]["failed"], json!([]), "allowed");
    let line = session.said(&["log"]);
    assert_eq!(
        line.lines().filter(|line| line.contains("ask") && line.contains("within")).count(),
        1,
        "{line}"
    );
    assert!(session.said(&["replay"]).contains("4 decisions: 4 as recorded"));
}

#[test]
fn a_clock_that_was_set_back_hides_no_call_from_the_log() {
    let session = played(&[]);
    let all = session.said(&["log", "--json", "--all"]);
    let calls = session.json(&["log", "--json"]);
    let middle = calls[CALLS.len() / 2]["seq"].as_u64().unwrap();
    // The middle call, a day before those around it.
    let line = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let time = row["body"]["time"].as_u64().unwrap();
        let earlier = format!("\"time\":{}", time - 86_400_000_000);
        if row["seq"] == middle {
            line.replace(&format!("\"time\":{time}"), &earlier)
        } else {
            line.to_owned()
        }
    };
    let lines: Vec<String> = all.lines().map(line).collect();
    let file = session.folder.path().join("back.jsonl");
    std::fs::write(&file, lines.join("\n") + "\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    let output = command.args(["log", "--json", "--since", "1h", "-n", "0"]).arg(&file).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said.lines().count(), CALLS.len() - 1, "{said}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_learned_policy_loads_whatever_arguments_are_called_and_however_long_they_are() {
    let policy = "framegate: 1\ndefault: allow\n";
    let mut session = start(Some(policy), &[]);
    let names =
        ["in", "true", "null", "namespace", "9t", "_u", "\u{fc}", "a b", "q'\\\"q", "", "size", "args"];
    for round in 0..6 {
        let arguments = names.map(|name| format!("\"{name}\":\"w{}\"", round % 2)).join(",");
        session.guarded.call(&format!("\"n{round}\""), "other", &format!("{{{arguments}}}"));
        let long = format!(r#"{{"path":"/{round}{}/f{round}"}}"#, "x".repeat(1500));
        session.guarded.call(&format!("\"l{round}\""), "look", &long);
    }
    session.guarded.call("\"last\"", "other", "{}");
    session.guarded.end();
    let draft = session.said(&["replay", "--learn"]);
    for part in [r#"args["in"]"#, r#"'"true" in args'"#, "args.size", "left out, since it cannot be written"]
    {
        assert!(draft.contains(part), "{part}: {draft}");
    }
    let policy = session.folder.path().join("draft.yaml");
    std::fs::write(&policy, &draft).unwrap();
    let policy = policy.to_str().unwrap();
    let checked = Command::new(env!("CARGO_BIN_EXE_framegate-under-test")).args(["check", policy]).output();
    assert!(checked.as_ref().unwrap().status.success(), "{checked:?}\n{draft}");
    let said = session.said(&["replay", "--policy", policy]);
    assert!(said.contains(": 13 the same"), "{said}\n{draft}");
}
