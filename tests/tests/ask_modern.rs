//! A call that asks in the stateless revision (2026-07-28): our question is a result, the client retries with the
//! answer and our sealed state.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use framegate_tests::asked::{YES, answered, modern, question};
use framegate_tests::guarded::{Start, decision, text};
use framegate_tests::{Guarded, Stored};
use serde_json::{Value, json};
use tempfile::TempDir;

const POLICY: &str = "framegate: 1\ndefault: allow\nlimits: { asks_per_minute: 10000, asks_per_session: 10000 }\nrules:\n  - { name: ask_first, tools: [touch], that: 'false', otherwise: ask, because: Touching needs a yes. }\n";
const FORM: &str = r#"{"elicitation":{"form":{}}}"#;
const ARGUMENTS: &str = r#"{"n":1.50}"#;

struct Session {
    guarded: Guarded,
    folder: TempDir,
}

fn start(more: &[Value]) -> Session {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db").display().to_string();
    let (wrapper, script) = (framegate_tests::wrapper!(), Guarded::script_of_touch(more));
    let options = ["--store", &file];
    let guarded =
        Start { wrapper: &wrapper, policy: Some(POLICY), options: &options, script, files: &[] }.now();
    Session { guarded, folder }
}

impl Session {
    /// `touch`, as the client sends it.
    fn touch(&self, id: u32, more: &str) -> Value {
        let id = id.to_string();
        self.guarded.ask_modern(&modern(&id, "touch", ARGUMENTS, FORM, more), &id)
    }

    fn end(mut self) -> Stored {
        self.guarded.end();
        Stored::read(&self.folder.path().join("record.db")).unwrap()
    }

    fn sent(&self) -> Vec<String> {
        self.guarded.server_got().into_iter().filter(|line| line.contains("tools/call")).collect()
    }
}

fn outcomes(stored: &Stored) -> Vec<String> {
    stored.of("approval").map(|approval| approval["outcome"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_yes_sends_the_retry_without_what_is_ours() {
    let session = start(&[]);
    let asks = session.touch(1, "");
    let (key, state) = question(&asks);
    let form = &asks["result"]["inputRequests"][&key]["params"];
    assert_eq!(form["mode"], "form");
    assert!(form["message"].as_str().unwrap().contains("  n: 1.50\n"), "{asks}");
    assert!(key.starts_with("dev.framegate/") && !state.contains("touch"));
    let sent = session.touch(2, &answered(&asks, YES));
    assert_eq!(text(&sent), "ran touch");
    assert_eq!(session.sent(), [modern("2", "touch", ARGUMENTS, FORM, "")], "every other byte stays");
    session.guarded.wait_stderr("asked (ask_first)");
    session.guarded.wait_stderr("asked, approved");
    let stored = session.end();
    let [asked, sent] = stored.of("call").collect::<Vec<_>>()[..] else { panic!("{stored:#?}") };
    assert_eq!((&asked["outcome"], &asked["sent"]), (&json!("ask"), &json!("no")));
    assert_eq!(
        (&sent["outcome"], &sent["sent"], &sent["again"]),
        (&json!("allow"), &json!("edited"), &asked["seq"])
    );
    let approval = stored.of("approval").next().unwrap();
    assert_eq!((&approval["call"], &approval["outcome"]), (&asked["seq"], &json!("approved")));
    assert_eq!(stored.end_of(asked).unwrap()["how"], "asked");
    assert_eq!(stored.end_of(sent).unwrap()["how"], "done");
}

#[test]
fn a_no_refuses_and_the_state_is_good_once() {
    let session = start(&[]);
    let asks = session.touch(1, "");
    let refused = session.touch(2, &answered(&asks, r#"{"action":"decline"}"#));
    assert_eq!(decision(&refused)["asked"], "declined", "{refused}");
    // The same state with a yes: a no is not taken back.
    let asks = session.touch(3, &answered(&asks, YES));
    let sent = session.touch(4, &answered(&asks, YES));
    assert_eq!(text(&sent), "ran touch");
    // The same state once more.
    let again = session.touch(5, &answered(&asks, YES));
    let _ = question(&again);
    assert_eq!(session.sent().len(), 1);
    for (id, reply) in [
        (10, r#"{"action":"accept","content":{"approve":"true"}}"#),
        (20, r#"{"action":"accept","content":{}}"#),
        (30, r#"{"action":"cancel"}"#),
    ] {
        let asks = session.touch(id, "");
        let refused = session.touch(id + 1, &answered(&asks, reply));
        assert_eq!(refused["result"]["isError"], true, "{reply}");
    }
    // No answer at all: asked once more, then refused.
    let asks = session.touch(40, "");
    let asks = session.touch(41, &answered(&asks, "7"));
    let refused = session.touch(42, &answered(&asks, "7"));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert_eq!(session.sent().len(), 1);
    let found = outcomes(&session.end());
    assert_eq!(found[..4], ["declined", "used before", "approved", "used before"]);
    assert_eq!(found[4..], ["declined", "declined", "dismissed", "unavailable", "unavailable"]);
}

/// The retry that brings a no was once a row of `framegate log`, with its whole frame for arguments.
#[test]
fn a_no_is_one_row_of_the_log() {
    let session = start(&[]);
    let asks = session.touch(1, "");
    session.touch(2, &answered(&asks, r#"{"action":"decline"}"#));
    let asks = session.touch(3, "");
    session.touch(4, &answered(&asks, r#"{"action":"cancel"}"#));
    let stored = session.end();
    let frames: Vec<_> = stored.of("frame").filter(|frame| frame["method"] == "tools/call").collect();
    assert_eq!(frames.len(), 2, "{frames:?}");
    for frame in frames {
        assert_eq!((&frame["reason"], &frame["sent"]), (&json!("reply"), &json!("no")), "{frame}");
    }
    assert_eq!(stored.of("call").count(), 2);
}

#[test]
fn a_state_is_for_its_own_call_and_not_a_byte_of_it_can_be_another() {
    let session = start(&[]);
    let asks = session.touch(1, "");
    let (key, state) = question(&asks);
    let mut id = 100;
    for (tool, arguments) in [("touch", r#"{"n":2}"#), ("touch", r#"{"n":1.50,"m":1}"#), ("touch", "{}")] {
        id += 1;
        let retry = modern(&id.to_string(), tool, arguments, FORM, &answered(&asks, YES));
        let _ = question(&session.guarded.ask_modern(&retry, &id.to_string()));
    }
    for at in 0..state.len() {
        id += 1;
        let mut other = state.clone().into_bytes();
        other[at] = if other[at] == b'A' { b'B' } else { b'A' };
        let other = String::from_utf8(other).unwrap();
        let more = format!(r#","inputResponses":{{"{key}":{YES}}},"requestState":"{other}""#);
        let _ = question(&session.touch(id, &more));
    }
    for more in [
        format!(r#","inputResponses":{{"{key}":{YES}}}"#),
        format!(r#","requestState":"{state}","inputResponses":{{"dev.framegate/approve":{YES}}}"#),
    ] {
        id += 1;
        let _ = question(&session.touch(id, &more));
    }
    assert_eq!(session.sent().len(), 0);
    let found = outcomes(&session.end());
    for bad in ["forged", "for another call", "without its state"] {
        assert!(found.iter().any(|outcome| outcome == bad), "{bad}: {found:?}");
    }
    assert!(!found.iter().any(|outcome| outcome == "approved"), "{found:?}");
}

#[test]
fn only_a_client_that_says_so_is_asked() {
    let session = start(&[]);
    for (id, capabilities) in [("1", "{}"), ("2", r#"{"elicitation":{"url":{}}}"#)] {
        let refused = session.guarded.ask_modern(&modern(id, "touch", "{}", capabilities, ""), id);
        assert!(text(&refused).contains("does not declare elicitation in form mode"), "{refused}");
    }
    for (id, capabilities) in
        [("3", r#"{"elicitation":{}}"#), ("4", r#"{"elicitation":{"form":{},"url":{}}}"#)]
    {
        let _ = question(&session.guarded.ask_modern(&modern(id, "touch", "{}", capabilities, ""), id));
    }
    assert_eq!(session.sent().len(), 0);
    session.end();
}

/// A server that asks for more itself: twice with a state, or by keys alone.
fn asks_more(state: &[&str]) -> Vec<Value> {
    let ask = |state: &&str| {
        let state = if state.is_empty() { String::new() } else { format!(r#","requestState":"{state}""#) };
        let result = format!(
            r#"{{"resultType":"input_required","inputRequests":{{"its":{{"method":"elicitation/create","params":{{"message":"m","requestedSchema":{{"type":"object"}}}}}}}}{state}}}"#
        );
        json!({ "on": "tools/call", "times": 1, "reply": format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{result}}}"#) })
    };
    state.iter().map(ask).collect()
}

#[test]
fn the_servers_own_rounds_of_an_approved_call_are_not_asked_about_again() {
    for states in [["s\\u0031", "s2"], ["", ""]] {
        let session = start(&asks_more(&states));
        let asks = session.touch(1, "");
        let its = session.touch(2, &answered(&asks, YES));
        assert!(its["result"]["inputRequests"].get("its").is_some(), "{its}");
        let round = |asks: &Value| {
            let own = r#"{"its" :{"action":"accept","content":{ }}}"#;
            match asks["result"]["requestState"].as_str() {
                Some(state) => format!(r#","requestState":"{state}", "inputResponses":{own}"#),
                None => format!(r#","inputResponses":{own}"#),
            }
        };
        let its_second = session.touch(3, &round(&its));
        assert!(its_second["result"]["inputRequests"].get("its").is_some(), "{its_second}");
        let done = session.touch(4, &round(&its_second));
        assert_eq!(text(&done), "ran touch", "{done}");
        let rounds = [
            modern("3", "touch", ARGUMENTS, FORM, &round(&its)),
            modern("4", "touch", ARGUMENTS, FORM, &round(&its_second)),
        ];
        assert_eq!(session.sent()[1..], rounds, "byte for byte");
        // The same round once more is not of this call any more.
        let _ = question(&session.touch(5, &round(&its_second)));
        let other = modern("6", "touch", r#"{"n":9}"#, FORM, &round(&its));
        let _ = question(&session.guarded.ask_modern(&other, "6"));
        let found = outcomes(&session.end());
        assert_eq!(found, ["approved"]);
    }
}

#[test]
fn what_is_the_servers_comes_back_when_ours_is_answered() {
    let session = start(&[]);
    let own = r#","inputResponses":{"its":{"action": "accept"}},"requestState":"th\u0065irs""#;
    // A round that we do not know: it is asked about, and goes on whole.
    let asks = session.touch(1, own);
    let sent = session.touch(2, &answered(&asks, YES));
    assert_eq!(text(&sent), "ran touch");
    assert_eq!(session.sent(), [modern("2", "touch", ARGUMENTS, FORM, own)]);
    // A client that sends all the answers it ever gave.
    let asks = session.touch(3, "");
    let (key, state) = question(&asks);
    let both = format!(r#","requestState":"{state}","inputResponses":{{"its":1, "{key}":{YES}}}"#);
    assert_eq!(text(&session.touch(4, &both)), "ran touch");
    assert_eq!(session.sent()[1], modern("4", "touch", ARGUMENTS, FORM, r#","inputResponses":{"its":1}"#));
    session.end();
}

#[test]
fn what_is_repaired_is_shown_as_it_is_sent_and_the_record_says_what_was_sent() {
    let policy = POLICY.replace("default: allow", "default: allow\ndefaults: { arguments: coerce }");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db");
    let store = file.display().to_string();
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;
    let script = json!([framegate_tests::guarded::tools(&[("touch", schema)])]);
    let (wrapper, options) = (framegate_tests::wrapper!(), ["--store", store.as_str()]);
    let mut guarded =
        Start { wrapper: &wrapper, policy: Some(&policy), options: &options, script, files: &[] }.now();
    let call = |id: &str, n: &str, more: &str| modern(id, "touch", &format!(r#"{{"n":{n}}}"#), FORM, more);
    let asks = guarded.ask_modern(&call("1", r#""2""#, ""), "1");
    let (key, _) = question(&asks);
    let form = &asks["result"]["inputRequests"][&key]["params"];
    assert!(form["message"].as_str().unwrap().contains("  n: 2\n"), "{form}");
    // Another spelling that comes to the same is another call for the seal, which knows what the client sent.
    let _ = question(&guarded.ask_modern(&call("2", "2", &answered(&asks, YES)), "2"));
    assert_eq!(text(&guarded.ask_modern(&call("3", r#""2""#, &answered(&asks, YES)), "3")), "ran touch");
    let sent = call("3", "2", "");
    assert!(guarded.server_got().contains(&sent), "{:?}", guarded.server_got());
    guarded.end();
    let stored = Stored::read(&file).unwrap();
    let seq = stored.of("call").last().unwrap()["seq"].as_u64().unwrap();
    let kept = framegate_guard::store::sqlite::Store::open_read(&file).unwrap().contents(seq).unwrap();
    let out = kept.iter().find(|content| content.field == "out").unwrap();
    assert_eq!(out.bytes[..], framegate_guard::store::entries::hash(format!("{sent}\n").as_bytes()).0[..]);
}

#[test]
fn a_large_call_is_asked_about_like_any_other() {
    let mut session = start(&[]);
    let arguments = format!(r#"{{"content":"{}","end":1}}"#, "x".repeat(1_000_000));
    let call = |id: &str, more: &str| modern(id, "touch", &arguments, FORM, more);
    let asks = session.guarded.ask_modern(&call("1", ""), "1");
    let message = asks["result"]["inputRequests"][question(&asks).0]["params"]["message"].as_str().unwrap();
    assert!(
        message.contains("of 1000000 characters not shown") && message.contains("  end: 1\n"),
        "{message}"
    );
    assert_eq!(text(&session.guarded.ask_modern(&call("2", &answered(&asks, YES)), "2")), "ran touch");
    assert_eq!(session.sent(), [call("2", "")]);
    session.guarded.end();
}
