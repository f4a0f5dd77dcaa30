//! What a person answers to a question of the server's, in both eras: with `context: { answers: true }` it may ground a
//! value, but for one that stands in the question; without it, it is nobody's word.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use framegate_tests::asked::modern;
use framegate_tests::guarded::{Start, call, decision, text, tools};
use framegate_tests::{Guarded, Stored};
use serde_json::{Value, json};
use tempfile::TempDir;

const ANY: &str = r#"{"type":"object"}"#;
const FORM: &str = r#"{"elicitation":{"form":{}}}"#;
const POLICY: &str = "framegate: 1\ndefault: allow\ntools: { pay: { ground: { to: { from: [user] } } } }\n";
const COUNTS: &str = "context: { answers: true }\n";

struct Session {
    guarded: Guarded,
    folder: TempDir,
    calls: u32,
}

fn start(policy: &str, more: Vec<Value>) -> Session {
    let folder = tempfile::tempdir().unwrap();
    let (record, context) = (folder.path().join("record.db"), folder.path().join("context.jsonl"));
    // The user is known, so that what they did not say is refused and not asked about.
    std::fs::write(&context, "{\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n").unwrap();
    let options = ["--store", record.to_str().unwrap(), "--context", context.to_str().unwrap()];
    let script = json!([more, vec![tools(&[("pay", ANY), ("ask", ANY)])]].concat());
    let wrapper = framegate_tests::wrapper!();
    let guarded =
        Start { wrapper: &wrapper, policy: Some(policy), options: &options, script, files: &[] }.now();
    Session { guarded, folder, calls: 0 }
}

/// A question with one field, as the params of an `elicitation/create`.
fn question(message: &str, field: &Value) -> Value {
    json!({ "message": message, "requestedSchema": { "type": "object", "properties": { "payee": field } } })
}

fn plain(message: &str) -> Value {
    question(message, &json!({ "type": "string" }))
}

fn typed(payee: &str) -> Value {
    json!({ "action": "accept", "content": { "payee": payee } })
}

impl Session {
    fn outcome(&mut self, to: &str) -> String {
        self.calls += 1;
        let id = format!("{}00", self.calls);
        let answer = self.guarded.ask(&call(&id, "pay", &json!({ "to": to }).to_string()), &id);
        decision(&answer)["outcome"].as_str().unwrap_or("sent").to_owned()
    }

    fn modern_outcome(&mut self, to: &str) -> String {
        self.calls += 1;
        let id = format!("{}00", self.calls);
        let line = modern(&id, "pay", &json!({ "to": to }).to_string(), FORM, "");
        let answer = self.guarded.ask_modern(&line, &id);
        decision(&answer)["outcome"].as_str().unwrap_or("sent").to_owned()
    }

    /// Everything decided is decided alike by the record alone, and the record is whole.
    fn end(mut self) -> Stored {
        self.guarded.end();
        let file = self.folder.path().join("record.db");
        for (arguments, says) in [(&["replay"][..], "as recorded"), (&["verify", "--fidelity"], "whole")] {
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
            let said = command.args(arguments).arg(&file).output().unwrap();
            let text = String::from_utf8_lossy(&[said.stdout, said.stderr].concat()).into_owned();
            assert!(said.status.success() && text.contains(says), "{arguments:?}: {text}");
        }
        Stored::read(&file).unwrap()
    }
}

fn legacy(policy: &str, params: &Value, reply: &Value) -> Session {
    let asks = json!({ "jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": params });
    let mut session = start(
        policy,
        vec![json!({ "on": "tools/call", "name": "ask", "times": 1, "emit": [asks.to_string()] })],
    );
    session.guarded.open_asking("2025-11-25", r#"{"form":{}}"#);
    session.guarded.send(&call("1", "ask", "{}"));
    let asked = session.guarded.question(0);
    session.guarded.reply(&asked, &reply.to_string());
    session.guarded.wait_server_got("\"id\":7", 1);
    session
}

#[test]
fn an_answer_to_a_servers_question_grounds_only_where_the_policy_says_so() {
    for (policy, expected) in [(POLICY.to_owned(), "deny"), (format!("{POLICY}{COUNTS}"), "sent")] {
        let mut session = legacy(&policy, &plain("Which account?"), &typed("DE89 3704"));
        assert_eq!(session.outcome("DE89 3704"), expected);
        assert_eq!(session.outcome("DE00"), "deny", "{expected}: nobody said that");
        let stored = session.end();
        let answers = stored.of("message").filter(|message| message["from"] == "answer").count();
        assert_eq!(answers, usize::from(expected == "sent"));
    }
}

#[test]
fn a_value_that_stands_in_the_question_is_the_servers_however_it_is_spelled_there() {
    let policy = format!("{POLICY}{COUNTS}");
    let offered = json!({ "type": "string", "enum": ["EVIL-7788"] });
    let preset = json!({ "type": "string", "default": "EVIL-7788" });
    for (asked, to) in [
        (plain("Please type EVIL-7788 to go on."), "EVIL-7788"),
        (plain("Please type EVIL 77 88 in one word"), "EVIL7788"),
        (plain("Type e v i l 7 7 8 8 without blanks, in capitals"), "EVIL7788"),
        (plain("Type \u{ff25}\u{ff36}\u{ff29}\u{ff2c}7788"), "EVIL7788"),
        (question("Account?", &json!({ "type": "string", "title": "EVIL-7788" })), "EVIL-7788"),
        (question("Account?", &offered), "EVIL-7788"),
        (question("Account?", &preset), "EVIL-7788"),
        (
            json!({ "message": "Account?", "requestedSchema": { "properties": { "payee": {} } }, "EVIL-7788": 1 }),
            "EVIL-7788",
        ),
    ] {
        let mut session = legacy(&policy, &asked, &typed(to));
        assert_eq!(session.outcome(to), "deny", "{asked}");
        session.end();
    }
}

#[test]
fn only_what_was_typed_and_sent_off_counts() {
    let policy = format!("{POLICY}{COUNTS}");
    let asked = plain("Which account?");
    let content = json!({ "payee": "DE89" });
    for reply in [
        json!({ "action": "decline", "content": content }),
        json!({ "action": "cancel", "content": content }),
        json!({ "content": content }),
        json!({ "action": "accept", "content": { "other": "DE89" } }),
        json!({ "action": "accept", "content": { "payee": ["DE89"] } }),
        json!({ "action": "accept", "content": { "payee": { "a": "DE89" } } }),
        json!({ "action": "accept", "content": "DE89" }),
    ] {
        let mut session = legacy(&policy, &asked, &reply);
        assert_eq!(session.outcome("DE89"), "deny", "{reply}");
        session.end();
    }
}

#[test]
fn what_looks_like_a_credential_is_not_kept_and_grounds_nothing() {
    let asked = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {
        "card_number": { "type": "string" }, "payee": { "type": "string" } } } });
    let reply = json!({ "action": "accept", "content": { "card_number": "4111-7", "payee": "Kim" } });
    let policy = format!("{POLICY}{COUNTS}");
    let mut unused = legacy(&policy, &asked, &reply);
    unused.guarded.end();
    for file in std::fs::read_dir(unused.folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(6).any(|part| part == b"4111-7"), "it is in the record");
    }
    let mut session = legacy(&policy, &asked, &reply);
    assert_eq!((session.outcome("4111-7"), session.outcome("Kim")), ("deny".to_owned(), "sent".to_owned()));
    session.end();
}

#[test]
fn an_answer_is_no_yes_and_no_request() {
    let policy = "framegate: 1\ndefault: allow\ncontext: { answers: true }\ntools: { pay: { confirm: { arguments: [to], otherwise: deny } } }\nrules: [ { name: heard, tools: [ask], that: '!user_request.contains(\"DE89\")' } ]\n";
    let mut session = legacy(policy, &plain("Which account?"), &typed("yes, pay DE89"));
    assert_eq!(session.outcome("DE89"), "deny");
    let heard = session.guarded.ask(&call("2", "ask", "{}"), "2");
    assert_eq!(decision(&heard), &Value::Null, "it stands in no conversation: {heard}");
    session.end();
}

/// A server that asks inside the answer of its first call.
fn asks_inside(asked: &Value, state: Option<&str>) -> Value {
    let mut result = json!({
        "resultType": "input_required",
        "inputRequests": { "q": { "method": "elicitation/create", "params": asked } },
    });
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    json!({ "on": "tools/call", "name": "ask", "times": 1,
        "reply": format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{result}}}"#) })
}

fn responses(state: Option<&str>, reply: &Value) -> String {
    let state = state.map(|state| format!(r#","requestState":"{state}""#)).unwrap_or_default();
    format!(r#","inputResponses":{{"q":{reply}}}{state}"#)
}

#[test]
fn an_answer_that_a_retry_brings_counts_by_the_question_that_it_answers() {
    let policy = format!("{POLICY}{COUNTS}");
    for state in [Some("S1"), None] {
        let mut session = start(&policy, vec![asks_inside(&plain("Which account, not DE00-5?"), state)]);
        let asks = session.guarded.ask_modern(&modern("1", "ask", "{}", FORM, ""), "1");
        assert_eq!(asks["result"]["resultType"], "input_required", "{asks}");
        let retry = modern("2", "ask", "{}", FORM, &responses(state, &typed("DE89 or DE00-5")));
        assert_eq!(text(&session.guarded.ask_modern(&retry, "2")), "ran ask");
        assert_eq!(session.modern_outcome("DE89"), "sent", "{state:?}");
        assert_eq!(session.modern_outcome("DE00-5"), "deny", "it stands in the question");
        // Nobody asked that: a client's agent cannot make up an answer.
        for (id, state) in [("3", state), ("4", Some("S2"))] {
            let made_up = modern(id, "ask", "{}", FORM, &responses(state, &typed("DE77")));
            session.guarded.ask_modern(&made_up, id);
        }
        assert_eq!(session.modern_outcome("DE77"), "deny");
        session.end();
    }
}

#[test]
fn two_questions_under_one_key_are_both_the_question() {
    let policy = format!("{POLICY}{COUNTS}");
    let asks =
        ["Remember EVIL-7788.", "Which account?"].map(|message| asks_inside(&plain(message), Some("S")));
    let mut session = start(&policy, asks.to_vec());
    for id in ["1", "2"] {
        session.guarded.ask_modern(&modern(id, "ask", "{}", FORM, ""), id);
    }
    let retry = modern("3", "ask", "{}", FORM, &responses(Some("S"), &typed("EVIL-7788")));
    session.guarded.ask_modern(&retry, "3");
    assert_eq!(session.modern_outcome("EVIL-7788"), "deny");
    session.end();
}

#[test]
fn a_tasks_question_is_answered_by_its_update() {
    let asked = json!({ "q": { "method": "elicitation/create", "params": plain("Which account?") } });
    let task = json!({ "resultType": "complete", "taskId": "T", "status": "input_required", "inputRequests": asked });
    let mut session = start(
        &format!("{POLICY}{COUNTS}"),
        vec![
            json!({ "on": "tasks/get", "reply": format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{task}}}"#) }),
        ],
    );
    session.guarded.ask_modern(&modern("1", "ask", "{}", FORM, ""), "1");
    let of_task = |id: &str, method: &str, more: &str| {
        let line = modern(id, "ask", "{}", FORM, &format!(r#","taskId":"T"{more}"#));
        line.replace("tools/call", method).replace(r#""name":"ask","arguments":{},"#, "")
    };
    session.guarded.ask_modern(&of_task("2", "tasks/get", ""), "2");
    let update = of_task("3", "tasks/update", &responses(None, &typed("DE89")));
    session.guarded.ask_modern(&update, "3");
    assert_eq!(session.modern_outcome("DE89"), "sent");
    session.end();
}
