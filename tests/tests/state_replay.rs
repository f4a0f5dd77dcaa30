//! What an answer made of the state, made again from the record: `framegate replay`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use framegate_guard::store::chain::{Hash, Salt, commit, link};
use framegate_tests::guarded::{Start, call, text, tools};
use framegate_tests::{Guarded, decided_again};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tempfile::TempDir;

const ANY: &str = r#"{"type":"object"}"#;
const POLICY: &str = r#"framegate: 1
default: allow
defaults: { arguments: unchecked }
state:
  tainted: bool
  said: { type: window, per: hour }
  last: string
  spent: { type: int, combine: add }
  turn: int
rules:
  - name: reads
    tools: [read]
    set: { spent: 5, turn: 7, said: 100 }
    on_error: undo
    after: { tainted: 'state.tainted || result.text.contains("SECRET")', said: size(result.text), last: 'string(args.n)' }
  - { name: hangs, tools: [hang], after: { said: 1, tainted: result.is_error } }
  - { name: late, tools: [late], set: { spent: 1 }, after: { last: 'state.last + "late"' } }
"#;
const PRAXIOM: &str = r#"
patterns: { keys: ["AKIA"] }
state: { tainted: { type: bool, init: false }, reads: { type: int, init: 0 } }
invariants: [{ name: few, expr: reads <= 9 }]
actions:
  - { name: read, match: "*__read", effect: { reads: reads + 1 }, on_result: { tainted: "tainted or matches(result, keys)" } }
  - { name: hang, match: "*__hang", on_result: { tainted: "matches(result, keys)" } }
"#;

fn says(tool: &str, result: &str) -> Value {
    json!({ "on": "tools/call", "name": tool, "times": 1,
            "reply": format!(r#"{{"jsonrpc":"2.0","id":$ID,{result}}}"#) })
}

fn content(text: &str, more: &str) -> String {
    format!(r#""result":{{"content":[{{"type":"text","text":"{text}"}}]{more}}}"#)
}

struct Desk(TempDir);

impl Desk {
    fn new() -> Desk {
        Desk(tempfile::tempdir().unwrap())
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("record.db")
    }

    fn start(&self, policy: &str, more: &[Value], options: &[&str]) -> Guarded {
        let file = self.file().display().to_string();
        let mut script = vec![tools(&[("read", ANY), ("hang", ANY), ("late", ANY)])];
        script.extend(more.iter().cloned());
        script.push(json!({ "on": "tools/call", "name": "hang", "emit": [{ "stderr": "got it\n" }] }));
        let options = [&["--store", &file, "--name", "s"], options].concat();
        let wrapper = framegate_tests::wrapper!();
        let script = script.into();
        let start = Start { wrapper: &wrapper, policy: Some(policy), options: &options, script, files: &[] };
        let mut guarded = start.now();
        guarded.open();
        guarded
    }

    /// A call that is cancelled while it is under way.
    fn hang(guarded: &Guarded, id: &str) {
        guarded.send(&call(id, "hang", "{}"));
        guarded.wait_server_got(r#""name":"hang""#, 1);
        guarded.send(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        ));
        guarded.wait_server_got("notifications/cancelled", 1);
    }
}

fn framegate(words: &[&str], file: &Path) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    let output = command.args(words).arg(file).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// All ways in which a call ends.
fn played(options: &[&str]) -> Desk {
    let desk = Desk::new();
    let answers = [
        says("read", &content("the SECRET", "")),
        says("read", &content("no", r#","isError":true"#)),
        says("read", r#""error":{"code":-32000,"message":"no such SECRET"}"#),
        says("read", &content("in between", r#","a":1,"isError":true,"structuredContent":{"a":1}"#)),
    ];
    let mut guarded = desk.start(POLICY, &answers, options);
    for id in ["1", "2", "3", "4", "5"] {
        guarded.call(id, "read", &format!(r#"{{"n":{id}}}"#));
    }
    assert_eq!(text(&guarded.call("6", "late", "{}")), "ran late");
    Desk::hang(&guarded, "7");
    guarded.call("8", "read", r#"{"n":8}"#);
    guarded.end();
    desk
}

#[test]
fn what_every_end_made_of_the_state_comes_out_again() {
    for options in [&[][..], &["--session", "x"]] {
        let desk = played(options);
        let said = decided_again(env!("CARGO_BIN_EXE_framegate-under-test"), &desk.file());
        assert!(said.contains("8 decisions: 8 as recorded\n"), "{said}");
        assert!(said.contains("8 ends of calls that changed the state: 8 as recorded\n"), "{said}");
        // Under another policy the state was another one.
        let policy = desk.0.path().join("other.yaml");
        std::fs::write(&policy, POLICY).unwrap();
        let (code, said) = framegate(&["replay", "--policy", &policy.display().to_string()], &desk.file());
        assert!(code == Some(0) && !said.contains("ends of calls"), "{said}");
    }
}

#[test]
fn what_answers_made_of_the_state_of_praxiom_comes_out_again() {
    for options in [&[][..], &["--compat"], &["--session", "x"]] {
        let desk = Desk::new();
        let answers = [
            says("read", &content("nothing", "")),
            says("read", r#""error":{"code":-32000,"message":"AKIA"}"#),
            says("read", &content("AKIA", r#","isError":true"#)),
        ];
        let mut guarded = desk.start(PRAXIOM, &answers, options);
        for id in ["1", "2", "3"] {
            guarded.call(id, "read", "{}");
        }
        Desk::hang(&guarded, "4");
        guarded.call("5", "read", "{}");
        guarded.end();
        let said = decided_again(env!("CARGO_BIN_EXE_framegate-under-test"), &desk.file());
        assert!(said.contains("5 decisions: 5 as recorded\n"), "{said}");
        // The original makes nothing of an error.
        let ends = if options == ["--compat"] { 4 } else { 5 };
        assert!(
            said.contains(&format!("{ends} ends of calls that changed the state: {ends} as recorded\n")),
            "{said}"
        );
        let changed =
            rebuilt(&desk, &mut |_, state| state.replace(r#""tainted":false"#, r#""tainted":true"#));
        let (code, said) = framegate(&["replay"], &changed);
        assert!(code == Some(1) && said.contains("state after the answer: then {\"praxiom\""), "{said}");
    }
}

/// The record as lines, the state of its ends edited, and the chain right again: what somebody makes who may write the file.
fn rebuilt(desk: &Desk, edit: &mut dyn FnMut(u64, &str) -> String) -> PathBuf {
    let (_, lines) = framegate(&["log", "--json", "--all"], &desk.file());
    let (mut head, mut all) = (Hash::default(), String::new());
    for line in lines.lines() {
        let parts: BTreeMap<&str, &RawValue> = serde_json::from_str(line).unwrap();
        let seq: u64 = parts["seq"].get().parse().unwrap();
        let mut contents = parts.get("contents").map_or("", |text| text.get()).to_owned();
        let mut body = parts["body"].get().to_owned();
        let read: Value = serde_json::from_str(&body).unwrap();
        let beside: Value = serde_json::from_str(&contents).unwrap_or_default();
        if let (Some("end" | "state"), Some(state)) = (read["kind"].as_str(), beside.get("state")) {
            let edited = edit(seq, state["text"].as_str().unwrap());
            let mut salt: Salt = [0; 16];
            let digits = state["salt"].as_str().unwrap();
            for (at, byte) in salt.iter_mut().enumerate() {
                *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap();
            }
            let then = read["x"]["state"].as_str().unwrap();
            body = body.replace(then, &commit(&salt, "state", edited.as_bytes()).to_string());
            contents = contents.replace(&state["text"].to_string(), &Value::from(edited).to_string());
        }
        head = link(&head, &body);
        let beside = if contents.is_empty() { String::new() } else { format!(r#","contents":{contents}"#) };
        all += &format!(r#"{{"seq":{seq},"hash":"{head}","body":{body}{beside}}}"#);
        all.push('\n');
    }
    let file = desk.0.path().join("rebuilt.jsonl");
    std::fs::write(&file, all).unwrap();
    let (code, said) = framegate(&["verify"], &file);
    assert_eq!(code, Some(0), "{said}");
    file
}

#[test]
fn an_end_whose_state_was_changed_is_found_out_though_the_chain_is_right() {
    let desk = played(&[]);
    let (code, said) = framegate(&["replay"], &rebuilt(&desk, &mut |_, state| state.to_owned()));
    assert!(
        code == Some(0) && said.contains("8 ends of calls that changed the state: 8 as recorded"),
        "{said}"
    );
    for (which, from, to, told) in [
        (
            0,
            r#""after":{"last":"1""#,
            r#""after":{"last":"9""#,
            "state `last` after the answer: then \"9\", now \"1\"",
        ),
        (
            0,
            r#""tainted":true"#,
            r#""tainted":false"#,
            "state `tainted` after the answer: then false, now true",
        ),
        // An answer that was none, a failure that was none, and what a failure took back.
        (0, r#""how":"done""#, r#""how":"lost""#, "end: then lost, now done"),
        (
            1,
            r#""undone":{"said":{"count":2"#,
            r#""undone":{"said":{"count":1"#,
            "taken back of state `said` after the answer",
        ),
        (
            1,
            r#""spent":5,"turn":7}}"#,
            r#""spent":4,"turn":7}}"#,
            "taken back of state `spent` after the answer: then 4, now 5",
        ),
        (
            1,
            r#""spent":5,"turn":7}}"#,
            r#""spent":5,"turn":0}}"#,
            "taken back of state `turn` after the answer: then 0, now 7",
        ),
        (
            6,
            r#""said":{"unknown":"#,
            r#""said":{"unknown":"x"},"more":{"unknown":"#,
            "a call of `hang` got no answer",
        ),
    ] {
        let mut place = 0;
        let mut is_edited = false;
        let file = rebuilt(&desk, &mut |_, state| {
            place += 1;
            if place - 1 != which {
                return state.to_owned();
            }
            let edited = match state.rfind(from) {
                Some(at) => format!("{}{to}{}", &state[..at], &state[at + from.len()..]),
                None => panic!("{from}: {state}"),
            };
            is_edited = true;
            edited
        });
        let (code, said) = framegate(&["replay"], &file);
        assert!(is_edited && code == Some(1) && said.contains(told), "{told}: {said}");
        let (_, json) = framegate(&["replay", "--json"], &file);
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(
            (&json["ends"]["count"], json["ends"]["faults"].as_array().unwrap().len()),
            (&8.into(), 1)
        );
    }
}

#[test]
fn an_end_is_never_guessed_at() {
    // Nothing of it was kept: nor were the calls.
    let desk = played(&["--store-content", "none"]);
    let (code, said) = framegate(&["replay"], &desk.file());
    assert!(code == Some(0) && !said.contains("ends of calls"), "{said}");
    // It was too long to be kept, and is not needed where nothing reads it.
    let desk = Desk::new();
    let long = "x".repeat(1024 * 1024 + 1);
    let answers = [says("read", &content(&long, "")), says("late", &content(&long, ""))];
    let mut guarded = desk.start(POLICY, &answers, &[]);
    guarded.call("1", "read", r#"{"n":1}"#);
    guarded.call("2", "late", "{}");
    guarded.end();
    let (code, said) = framegate(&["replay"], &desk.file());
    assert_eq!(code, Some(0), "{said}");
    let told = "2 ends of calls that changed the state: 1 as recorded, 1 not recomputable\n  not recomputable: content was never kept (`result`): 1 call (#";
    assert!(said.contains(told), "{said}");
    // What it made of the state is not told.
    let file = rebuilt(&desk, &mut |_, _| "{}".to_owned());
    let (code, said) = framegate(&["replay"], &file);
    assert!(
        code == Some(0) && said.contains("not recomputable: its `state` cannot be read: 2 calls"),
        "{said}"
    );
}
