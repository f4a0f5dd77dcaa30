//! What came of asking people, read from the record: `framegate log` and `show`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use framegate_tests::Guarded;
use framegate_tests::asked::{YES, answered, modern};
use framegate_tests::guarded::{Start, call};
use serde_json::{Value, json};
use tempfile::TempDir;

const POLICY: &str = "framegate: 1\ndefault: allow\nrules:\n  - { name: ask_first, tools: [touch], that: 'false', otherwise: ask, because: Touching needs a yes. }\n";
const NO: &str = r#"{"action":"decline"}"#;
const TOKEN: &str = r#"{"token":"S3CRET-0"}"#;

struct Session {
    guarded: Guarded,
    folder: TempDir,
}

fn start() -> Session {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db").display().to_string();
    let (wrapper, script) = (framegate_tests::wrapper!(), Guarded::script_of_touch(&[]));
    let options = ["--store", &file];
    let guarded =
        Start { wrapper: &wrapper, policy: Some(POLICY), options: &options, script, files: &[] }.now();
    Session { guarded, folder }
}

impl Session {
    /// A yes, a no, and a call that asks nobody.
    fn play(&mut self) {
        let guarded = &mut self.guarded;
        guarded.open_asking("2025-11-25", r#"{"form":{}}"#);
        for (id, reply, arguments) in [("1", YES, TOKEN), ("2", NO, "{}")] {
            guarded.send(&call(id, "touch", arguments));
            let nth = id.parse::<usize>().unwrap() - 1;
            guarded.reply(&guarded.question(nth), reply);
            guarded.wait(id);
        }
        guarded.call("3", "free", "{}");
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("record.db")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
        command.args(words).arg(self.file()).env("TZ", "UTC").stdin(Stdio::null());
        command
    }

    fn said(&self, words: &[&str]) -> String {
        let output = self.command(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, words: &[&str]) -> Vec<Value> {
        self.said(words).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[test]
fn the_log_says_what_people_said() {
    let mut session = start();
    session.play();
    session.guarded.end();
    let said = session.said(&["log"]);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].contains("  person  "), "{said}");
    let calls = session.json(&["log", "--json"]);
    let seq = |at: usize| calls[at]["seq"].as_u64().unwrap();
    for (at, person) in [
        (0, "approved (client)  ".to_owned()),
        (1, format!("approved (client), see {}  ", seq(0))),
        (2, "declined (client)  ".to_owned()),
    ] {
        assert!(lines[at + 1].contains(&person), "{person} in {said}");
    }
    assert!(!lines[4].contains("client"), "{said}");
    let [asked, anew, declined, free] = &calls[..] else { panic!("{calls:#?}") };
    let reply = &asked["approvals"][0];
    assert_eq!(
        (&reply["how"], &reply["outcome"], &reply["call"]),
        (&json!("client"), &json!("approved"), &asked["seq"])
    );
    assert!(reply["after_ms"].is_u64() && reply["by"].is_string(), "{reply}");
    assert_eq!((&asked["again"], &anew["again"]), (&Value::Null, &asked["seq"]));
    assert_eq!(anew["approvals"], asked["approvals"]);
    assert_eq!(declined["approvals"][0]["outcome"], "declined");
    assert_eq!(free["approvals"], json!([]));
    // A page that begins with the decision anew says it too, and where nobody was asked there is no column.
    let page = session.said(&["log", "-n", "3"]);
    assert!(page.lines().nth(1).unwrap().contains(&format!("approved (client), see {}", seq(0))), "{page}");
    assert!(!session.said(&["log", "-n", "1"]).contains("person"));
    let tools = |words: &[&str]| session.json(words).len();
    assert_eq!(tools(&["log", "--json", "--rule", "ask_first"]), 3);
    assert_eq!(tools(&["log", "--json", "--rule", "ask"]), 0);
    assert_eq!(tools(&["log", "--json", "--until", "1970-01-01"]), 0);
    assert_eq!(tools(&["log", "--json", "--until", "2199-01-01", "--since", "2001-01-01"]), 4);
}

#[test]
fn show_shows_a_decision_with_what_came_of_asking() {
    let mut session = start();
    session.play();
    session.guarded.end();
    let calls = session.json(&["log", "--json"]);
    let seq = |at: usize| calls[at]["seq"].to_string();
    let asked = session.said(&["show", &seq(0)]);
    for part in [
        "person     approved after 0.",
        "(client, ",
        &format!("then       decided anew as record {}: allow", seq(1)),
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    let anew = session.said(&["show", &seq(1)]);
    for part in [
        &format!("again      decided anew after record {}", seq(0)),
        "person     approved after 0.",
        "ended      done",
    ] {
        assert!(anew.contains(part), "{part}: {anew}");
    }
    assert!(session.said(&["show", &seq(2)]).contains("person     declined after 0."));
    assert!(!session.said(&["show", &seq(3)]).contains("person"));
    let one = |at: usize, more: &[&str]| {
        let seq = seq(at);
        let words = [&["show", "--json", &seq], more].concat();
        session.json(&words).remove(0)
    };
    let (asked, anew) = (one(0, &[]), one(1, &[]));
    assert_eq!(
        (&asked["kind"], &asked["body"]["outcome"], &asked["hash"]),
        (&json!("call"), &json!("ask"), &calls[0]["hash"])
    );
    assert_eq!(asked["then"], json!({ "seq": calls[1]["seq"], "outcome": "allow" }));
    assert_eq!(anew["again"], json!({ "seq": calls[0]["seq"], "outcome": "ask" }));
    assert_eq!(asked["approvals"], calls[0]["approvals"]);
    assert_eq!(anew["approvals"], calls[0]["approvals"]);
    assert_eq!(asked["contents"]["findings"][0]["check"], "ask_first");
    assert_eq!(asked["policy"]["rule_lines"]["ask_first"], 4);
    assert_eq!(anew["end"]["body"]["how"], "done");
    assert_eq!(anew["end"]["contents"]["result"]["content"][0]["text"], "ran touch");
    assert_eq!(asked["contents"]["arguments"]["token"], "***");
    assert_eq!(one(0, &["--arguments", "full"])["contents"]["arguments"]["token"], "S3CRET-0");
    assert!(!one(0, &["--arguments", "none"]).to_string().contains("token"));
    // Any record, not only a call's.
    assert_eq!(session.json(&["show", "--json", "1"])[0]["kind"], "store");
}

#[test]
fn a_reply_that_comes_with_a_later_request_belongs_to_the_call_it_is_about() {
    let mut session = start();
    let form = r#"{"elicitation":{"form":{}}}"#;
    let touch = |id: &str, more: &str| session.guarded.ask_modern(&modern(id, "touch", "{}", form, more), id);
    let asks = touch("1", "");
    touch("2", &answered(&asks, YES));
    let asks = touch("3", "");
    touch("4", &answered(&asks, NO));
    session.guarded.end();
    let calls = session.json(&["log", "--json"]);
    let told: Vec<_> = calls.iter().map(|call| &call["approvals"][0]["outcome"]).collect();
    // The request that brought the no is no row of its own: it is told with the call that it refuses.
    assert_eq!(told, ["approved", "approved", "declined"], "{calls:#?}");
    let shown = |at: usize| session.said(&["show", &calls[at]["seq"].to_string()]);
    assert!(shown(0).contains("person     approved") && shown(0).contains("then       decided anew"));
    assert!(shown(2).contains("person     declined") && !shown(2).contains("then "), "{}", shown(2));
}

#[test]
fn a_followed_log_says_what_people_said_of_calls_that_were_open_before() {
    let mut session = start();
    session.guarded.open_asking("2025-11-25", r#"{"form":{}}"#);
    session.guarded.send(&call("1", "touch", "{}"));
    let question = session.guarded.question(0);
    let mut follow = session.command(&["log", "--follow"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines().map(Result::unwrap);
    // So that the log has looked once before there is a reply.
    session.guarded.call("2", "free", "{}");
    assert!(lines.next().unwrap().contains("free"));
    session.guarded.reply(&question, YES);
    session.guarded.wait("1");
    let (asked, anew) = (lines.next().unwrap(), lines.next().unwrap());
    follow.kill().unwrap();
    follow.wait().unwrap();
    session.guarded.end();
    assert!(asked.contains("asked (ask_first) [approved (client)]"), "{asked}");
    assert!(anew.contains("[approved (client), see "), "{anew}");
}
