//! A call that lacks required arguments, with a client that has a handshake: it waits alone while its user is asked
//! for them by a form, and goes on with the answer in it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fs, thread, time::Duration};

use framegate_tests::asked::YES;
use framegate_tests::guarded::{Start, call, decision, ping, text, tools};
use framegate_tests::{Guarded, Stored};
use serde_json::{Value, json};
use tempfile::TempDir;

const FORECAST: &str = r#"{"type":"object","properties":{"city":{"type":"string","minLength":2,"description":"Where?"},"days":{"type":"integer","minimum":1,"maximum":9},"unit":{"enum":["C","F"],"default":"C"},"note":{"type":"string"}},"required":["city","days"]}"#;
const LOGIN: &str = r#"{"type":"object","properties":{"user":{"type":"string"},"password":{"type":"string"}},"required":["user","password"]}"#;
const NESTED: &str = r#"{"type":"object","properties":{"where":{"type":"object"},"tags":{"type":"array","items":{"type":"string"}}},"required":["where","tags"]}"#;
const POLICY: &str = "framegate: 1\ndefault: allow\nlimits: { asks_per_minute: 50 }\n";
const DECLINE: &str = r#"{"action":"decline"}"#;

struct Session {
    guarded: Guarded,
    folder: TempDir,
}

fn script() -> Vec<Value> {
    vec![tools(&[
        ("forecast", FORECAST),
        ("login", LOGIN),
        ("nested", NESTED),
        ("free", r#"{"type":"object"}"#),
    ])]
}

fn start(policy: &str, options: &[&str], script: Vec<Value>) -> Session {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db").display().to_string();
    let options = [&["--store", &file], options].concat();
    let wrapper = framegate_tests::wrapper!();
    let script = json!(script);
    let guarded =
        Start { wrapper: &wrapper, policy: Some(policy), options: &options, script, files: &[] }.now();
    Session { guarded, folder }
}

fn opened_with(policy: &str, options: &[&str], script: Vec<Value>) -> Session {
    let mut session = start(policy, options, script);
    session.guarded.open_asking("2025-11-25", r#"{"form":{}}"#);
    session
}

fn opened(policy: &str) -> Session {
    opened_with(policy, &[], script())
}

impl Session {
    fn end(mut self) -> Stored {
        self.guarded.end();
        Stored::read(&self.folder.path().join("record.db")).unwrap()
    }

    fn sent(&self) -> Vec<String> {
        self.guarded
            .server_got()
            .into_iter()
            .filter(|line| line.contains("tools"))
            .filter(|line| !line.contains("tools/list"))
            .collect()
    }
}

fn content(content: &str) -> String {
    format!(r#"{{"action":"accept","content":{content}}}"#)
}

/// The refusal's JSON: once for the model, once for programs, the same.
fn lacks(answer: &Value) -> Value {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let said: Value = serde_json::from_str(text(answer)).unwrap();
    assert_eq!(answer["result"]["_meta"]["dev.framegate/missing"], said);
    assert_eq!(answer["result"]["structuredContent"], said);
    assert_eq!(decision(answer)["executed"], false);
    said
}

fn outcomes(stored: &Stored) -> Vec<String> {
    stored.of("approval").map(|approval| approval["outcome"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_answer_goes_into_the_call_and_every_other_byte_stays() {
    let mut session = opened(POLICY);
    let guarded = &mut session.guarded;
    let frame = |days: &str| {
        format!(
            r#"{{"jsonrpc":"2.0", "id":1,"method":"tools\/call","params":{{"arguments":{{"note":"\u0061", "city":"Turin" {days}}},"name":"forecast" }} }}"#
        )
    };
    guarded.send(&frame(""));
    let question = guarded.question(0);
    assert_eq!(guarded.server_got_count("forecast"), 0, "nothing is sent before the answer");
    assert_eq!(
        question["params"],
        json!({
            "message": "Input for tool 'forecast' is incomplete. Please provide the missing fields.",
            "requestedSchema": {"type":"object","properties":{"days":{"type":"integer","minimum":1,"maximum":9}},"required":["days"]},
        })
    );
    guarded.reply(&question, &content(r#"{"days": 3, "city":"not asked for"}"#));
    assert_eq!(text(&guarded.wait("1")), "ran forecast");
    let sent = frame("").replace(r#""Turin" "#, r#""Turin","days":3 "#);
    assert_eq!(session.sent(), [sent], "the answer, and nothing that nobody asked for");
    session.guarded.wait_stderr("asked, completed");
    let stored = session.end();
    let [asked, filled] = stored.of("call").collect::<Vec<_>>()[..] else { panic!("{stored:#?}") };
    assert_eq!(
        (&asked["outcome"], &asked["sent"], &asked["missing"]),
        (&json!("deny"), &json!("no"), &json!(["days"]))
    );
    assert_eq!(
        (&filled["outcome"], &filled["sent"], &filled["again"]),
        (&json!("allow"), &json!("edited"), &asked["seq"])
    );
    assert_eq!(filled["filled"], json!(["days"]));
    assert_eq!(
        stored.content(filled, "arguments").unwrap(),
        r#"{"note":"\u0061", "city":"Turin","days":3 }"#
    );
    let [form] = stored.of("approval").collect::<Vec<_>>()[..] else { panic!("{stored:#?}") };
    assert_eq!(
        (&form["call"], &form["how"], &form["outcome"]),
        (&asked["seq"], &json!("client"), &json!("filled in"))
    );
    assert_eq!((&form["missing"], &form["by"]), (&json!(["days"]), &json!("the user")));
    assert!(stored.content(form, "question").unwrap().contains(r#""requestedSchema":{"type":"object""#));
    assert_eq!(stored.content(form, "answer").unwrap(), r#"{"days": 3, "city":"not asked for"}"#);
    assert!(form["seq"].as_u64() < filled["seq"].as_u64(), "recorded before the effect");
    assert_eq!(stored.end_of(asked).unwrap()["how"], "asked");
    assert_eq!(stored.end_of(filled).unwrap()["how"], "done");
}

#[test]
fn a_complete_call_is_asked_about_nothing() {
    let mut session = opened(POLICY);
    let frame = call("1", "forecast", r#"{"days":1 ,"city":"Bari"}"#);
    session.guarded.ask(&frame, "1");
    assert!(session.guarded.client_asked("elicitation/create").is_empty());
    assert_eq!(session.sent(), [frame]);
    session.end();
}

#[test]
fn what_is_no_answer_leaves_the_call_unmade_and_says_why() {
    let mut session = opened(POLICY);
    let guarded = &mut session.guarded;
    for (nth, (reply, reason, message)) in [
        (DECLINE, "elicitation_declined", "The user declined to give these values: city, days. Do not guess them; ask what to do instead."),
        (r#"{"action":"cancel"}"#, "elicitation_cancelled", "The user closed the question without an answer. Call the tool again with values for: city, days."),
        (r#"{"action":"accept"}"#, "elicitation_failed", "The user could not be asked: the client's answer was none. Call the tool again with values for: city, days."),
        (r#"{"action":"accept","content":[1]}"#, "elicitation_failed", ""),
        ("7", "elicitation_failed", ""),
    ].into_iter().enumerate() {
        let id = (nth + 1).to_string();
        guarded.send(&call(&id, "forecast", "{}"));
        guarded.reply(&guarded.question(nth), reply);
        let answer = guarded.wait(&id);
        let said = lacks(&answer);
        let members: Vec<&String> = said.as_object().unwrap().keys().collect();
        assert_eq!(members.len(), 6);
        let order = ["error", "tool", "status", "reason", "missing_or_ambiguous", "message"];
        let places: Vec<_> = order.iter().map(|name| text(&answer).find(&format!("\"{name}\":")).unwrap()).collect();
        assert!(places.is_sorted(), "{answer}");
        assert_eq!(
            (&said["error"], &said["tool"], &said["status"], &said["reason"], &said["missing_or_ambiguous"]),
            (&json!("elicitation_required"), &json!("forecast"), &json!("needs_elicitation"), &json!(reason), &json!(["city", "days"]))
        );
        assert!(said["message"].as_str().unwrap().contains(message), "{said}");
    }
    guarded.send(&call("90", "forecast", "{}"));
    let question = guarded.question(5);
    guarded.send(&format!(
        r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-32601,"message":"nobody here"}}}}"#,
        question["id"]
    ));
    assert_eq!(lacks(&guarded.wait("90"))["reason"], "elicitation_failed");
    assert_eq!(guarded.server_got_count("forecast"), 0);
    assert_eq!(guarded.server_got_count("elicitation/create"), 0, "the server sees no question");
    let stored = session.end();
    assert_eq!(
        outcomes(&stored),
        ["declined", "dismissed", "unavailable", "unavailable", "unavailable", "unavailable"]
    );
    for call in stored.of("call") {
        assert_eq!(stored.end_of(call).unwrap()["how"], "refused");
    }
    assert!(stored.of("approval").last().unwrap()["note"].as_str().unwrap().contains("nobody here"));
}

#[test]
fn an_answer_that_does_not_fit_is_asked_for_once_more_and_then_refused() {
    let mut session = opened(POLICY);
    let guarded = &mut session.guarded;
    guarded.send(&call("1", "forecast", r#"{"city":"Rome"}"#));
    guarded.reply(&guarded.question(0), &content(r#"{"days":"three"}"#));
    let again = guarded.question(1);
    let message = again["params"]["message"].as_str().unwrap();
    assert!(message.contains("The last answer did not fit: `days`: expected integer"), "{message}");
    guarded.reply(&again, &content(r#"{"days":3}"#));
    assert_eq!(text(&guarded.wait("1")), "ran forecast");
    guarded.send(&call("2", "forecast", r#"{"city":"Rome"}"#));
    guarded.reply(&guarded.question(2), &content(r#"{"days":0}"#));
    guarded.reply(&guarded.question(3), &content("{}"));
    let said = lacks(&guarded.wait("2"));
    assert_eq!(
        (&said["error"], &said["reason"]),
        (&json!("tool_call_blocked"), &json!("required_fields_missing_or_empty"))
    );
    assert!(
        said["message"]
            .as_str()
            .unwrap()
            .starts_with("Tool call requires additional input for: days. The answer did not fit: "),
        "{said}"
    );
    assert_eq!(guarded.client_asked("elicitation/create").len(), 4, "and not a third time");
    assert_eq!(guarded.server_got_count("forecast"), 1);
    assert_eq!(outcomes(&session.end()), ["did not fit", "filled in", "did not fit", "did not fit"]);
}

#[test]
fn credentials_are_in_no_form_unless_the_policy_says_so() {
    let mut session = opened(POLICY);
    let refused = session.guarded.call("1", "login", "{}");
    let said = lacks(&refused);
    assert_eq!(
        (&said["error"], &said["status"], &said["reason"]),
        (&json!("tool_call_blocked"), &json!("reject"), &json!("sensitive_required_field"))
    );
    assert_eq!(said["missing_or_ambiguous"], json!(["password"]), "only these");
    assert_eq!(
        said["message"],
        "Tool call blocked because form-mode elicitation cannot request sensitive required field 'password'."
    );
    assert!(session.guarded.client_asked("elicitation/create").is_empty());
    // What is there is no question.
    session.guarded.send(&call("2", "login", r#"{"password":"hunter2hunter2"}"#));
    session.guarded.reply(&session.guarded.question(0), &content(r#"{"user":"ada"}"#));
    assert_eq!(text(&session.guarded.wait("2")), "ran login");
    session.end();
    // Asked for all the same: what is given is in no record of the question.
    let mut session = opened(&format!("{POLICY}secrets: {{ ask: true }}\n"));
    session.guarded.wait_stderr("forms will ask for passwords, tokens and the like");
    session.guarded.send(&call("1", "login", r#"{"user":"ada"}"#));
    session.guarded.reply(&session.guarded.question(0), &content(r#"{"password":7}"#));
    session.guarded.reply(&session.guarded.question(1), &content(r#"{"password":"correct horse"}"#));
    assert_eq!(text(&session.guarded.wait("1")), "ran login");
    assert!(session.sent()[0].contains("correct horse"));
    let stderr = session.guarded.stderr();
    assert!(!stderr.contains("correct horse"), "{stderr}");
    let stored = session.end();
    let forms: Vec<&Value> = stored.of("approval").collect();
    assert_eq!(stored.content(forms[1], "answer").unwrap(), r#"{"password":"***"}"#);
    assert_eq!(stored.content(forms[0], "answer").unwrap(), r#"{"password":"***"}"#);
}

#[test]
fn what_no_form_can_ask_for_is_refused_with_the_reason() {
    let mut session = opened(POLICY);
    let said = lacks(&session.guarded.call("1", "nested", "{}"));
    assert_eq!(
        (&said["error"], &said["reason"]),
        (&json!("tool_call_blocked"), &json!("fields_not_askable"))
    );
    let message = said["message"].as_str().unwrap();
    assert!(
        message.contains("`where`: it is an object, and forms are flat")
            && message.contains("`tags`: it is a list"),
        "{message}"
    );
    session.end();
}

#[test]
fn a_client_that_cannot_ask_gets_the_reason() {
    for (version, elicitation, can) in [
        ("2025-06-18", r#"{"url":{}}"#, false),
        ("2025-11-25", "null", false),
        ("2025-03-26", "{}", false),
        ("2025-06-18", "{}", true),
    ] {
        let mut session = start(POLICY, &[], script());
        session.guarded.open_asking(version, elicitation);
        session.guarded.send(&call("1", "forecast", r#"{"city":"Oslo"}"#));
        if can {
            let form = session.guarded.question(0)["params"]["requestedSchema"]["properties"]["days"].clone();
            assert_eq!(form, json!({"type":"integer","minimum":1,"maximum":9}));
            session.guarded.reply(&session.guarded.question(0), &content(r#"{"days":1}"#));
            assert_eq!(text(&session.guarded.wait("1")), "ran forecast");
        } else {
            let said = lacks(&session.guarded.wait("1"));
            assert_eq!(
                (&said["reason"], &said["message"]),
                (
                    &json!("elicitation_unsupported"),
                    &json!("The client cannot ask its user. Call the tool again with values for: days.")
                )
            );
        }
        session.end();
    }
    let mut session = opened_with(POLICY, &["--ask", "none"], script());
    let said = lacks(&session.guarded.call("1", "forecast", "{}"));
    assert_eq!(
        (&said["reason"], &said["message"]),
        (
            &json!("elicitation_disabled"),
            &json!("The call lacks required arguments. Call the tool again with values for: city, days.")
        ),
        "the client could have been asked"
    );
    session.end();
}

#[test]
fn the_policy_says_whether_and_how_it_is_asked() {
    let policy = format!(
        "{POLICY}tools:\n  forecast:\n    ask: {{ message: Which seat?, required: [seat], fields: {{ seat: {{ enum: {{ w: Window, a: Aisle }}, default: a }} }} }}\n  login: {{ missing: refuse, ask: {{ required: [] }} }}\n  nested: {{ missing: pass }}\n"
    );
    let mut session = opened(&policy);
    let guarded = &mut session.guarded;
    guarded.send(&call("1", "forecast", r#"{"city":"Bari","days":1,"seat":" "}"#));
    let question = guarded.question(0);
    assert_eq!(question["params"]["message"], "Which seat?");
    assert_eq!(
        question["params"]["requestedSchema"]["properties"],
        json!({"seat":{"type":"string","oneOf":[{"const":"w","title":"Window"},{"const":"a","title":"Aisle"}],"default":"a"}})
    );
    guarded.reply(&question, &content(r#"{"seat":"w"}"#));
    guarded.wait("1");
    assert!(guarded.server_got().contains(&call("1", "forecast", r#"{"city":"Bari","days":1,"seat":"w"}"#)));
    let said = lacks(&guarded.call("2", "login", r#"{"password":"x"}"#));
    assert_eq!(
        (&said["reason"], &said["message"]),
        (
            &json!("elicitation_disabled"),
            &json!("The call lacks required arguments. Call the tool again with values for: user.")
        )
    );
    let passed = call("3", "nested", r#"{"tags":[]}"#);
    assert_eq!(text(&guarded.ask(&passed, "3")), "ran nested");
    assert!(guarded.server_got().contains(&passed), "sent on as it is");
    assert_eq!(guarded.client_asked("elicitation/create").len(), 1);
    session.end();
}

#[test]
fn a_completed_call_may_need_a_yes_then_and_both_are_one_call() {
    let policy = format!(
        "{POLICY}rules:\n  - {{ name: far, tools: [forecast], that: args.days <= 3, otherwise: ask, because: That is far ahead. }}\n  - {{ name: near, tools: [forecast], that: args.city != 'Hell', because: Not there. }}\n"
    );
    let mut session = opened(&policy);
    let guarded = &mut session.guarded;
    guarded.send(&call("1", "forecast", r#"{"city":"Bari"}"#));
    guarded.reply(&guarded.question(0), &content(r#"{"days":7}"#));
    let asks = guarded.question(1);
    let message = asks["params"]["message"].as_str().unwrap();
    assert!(message.contains("  days: 7\n") && message.contains("- That is far ahead.\n"), "{message}");
    assert_eq!(guarded.server_got_count("forecast"), 0);
    guarded.reply(&asks, YES);
    assert_eq!(text(&guarded.wait("1")), "ran forecast");
    assert!(guarded.server_got().contains(&call("1", "forecast", r#"{"city":"Bari","days":7}"#)));
    // A no to the second question.
    guarded.send(&call("2", "forecast", r#"{"city":"Bari"}"#));
    guarded.reply(&guarded.question(2), &content(r#"{"days":8}"#));
    guarded.reply(&guarded.question(3), DECLINE);
    assert_eq!(decision(&guarded.wait("2"))["asked"], "declined");
    // What was filled in is judged like anything else.
    guarded.send(&call("3", "forecast", r#"{"days":1}"#));
    guarded.reply(&guarded.question(4), &content(r#"{"city":"Hell"}"#));
    assert_eq!(decision(&guarded.wait("3"))["failed"], json!(["near"]));
    assert_eq!(guarded.server_got_count("forecast"), 1);
    let stored = session.end();
    assert_eq!(outcomes(&stored), ["filled in", "approved", "filled in", "declined", "filled in"]);
    let calls: Vec<&Value> = stored.of("call").take(3).collect();
    assert_eq!((&calls[1]["again"], &calls[2]["again"]), (&calls[0]["seq"], &calls[1]["seq"]));
    assert_eq!((&calls[2]["filled"], &calls[2]["sent"]), (&json!(["days"]), &json!("edited")));
}

#[test]
fn nobody_is_asked_about_a_call_that_is_refused_for_another_reason() {
    let policy =
        format!("{POLICY}rules:\n  - {{ name: never, tools: [login], that: 'false', because: Never. }}\n");
    let mut session = opened(&policy);
    let guarded = &mut session.guarded;
    assert_eq!(decision(&guarded.call("1", "login", "{}"))["failed"], json!(["arguments_valid", "never"]));
    let wrong = guarded.call("2", "forecast", r#"{"days":"x"}"#);
    assert!(text(&wrong).contains("`days`: expected integer"), "{wrong}");
    assert!(guarded.client_asked("elicitation/create").is_empty());
    session.end();
}

#[test]
fn what_is_repaired_and_what_is_filled_in_go_together() {
    let policy = POLICY.replace("default: allow", "default: allow\ndefaults: { arguments: coerce }");
    let mut session = opened(&policy);
    let guarded = &mut session.guarded;
    guarded.send(&call("1", "forecast", r#"{"days":"2"}"#));
    guarded.reply(&guarded.question(0), &content(r#"{"city":"Bonn"}"#));
    assert_eq!(text(&guarded.wait("1")), "ran forecast");
    let sent = call("1", "forecast", r#"{"days":2,"city":"Bonn"}"#);
    assert!(guarded.server_got().contains(&sent), "{:?}", guarded.server_got());
    let file = session.folder.path().join("record.db");
    session.guarded.end();
    let stored = Stored::read(&file).unwrap();
    let seq = stored.of("call").last().unwrap()["seq"].as_u64().unwrap();
    let kept = framegate_guard::store::sqlite::Store::open_read(&file).unwrap().contents(seq).unwrap();
    let out = kept.iter().find(|content| content.field == "out").unwrap();
    assert_eq!(out.bytes[..], framegate_guard::store::entries::hash(format!("{sent}\n").as_bytes()).0[..]);
}

#[test]
fn what_a_person_fills_in_is_theirs_and_what_nobody_asked_for_is_not() {
    let policy = format!("{POLICY}tools: {{ forecast: {{ ground: {{ city: {{ from: [user] }} }} }} }}\n");
    let mut session = opened(&policy);
    let guarded = &mut session.guarded;
    guarded.send(&call("1", "forecast", r#"{"days":2}"#));
    guarded.reply(&guarded.question(0), &content(r#"{"city":"Bonn","note":"Turin"}"#));
    assert_eq!(text(&guarded.wait("1")), "ran forecast");
    guarded.send(&call("2", "forecast", r#"{"days":3,"city":"Bonn"}"#));
    assert_eq!(text(&guarded.wait("2")), "ran forecast", "also in another call");
    // What else was said nobody knows, so it is for a person.
    guarded.send(&call("3", "forecast", r#"{"days":3,"city":"Turin"}"#));
    let question = guarded.question(1);
    assert!(
        question["params"]["message"].as_str().unwrap().contains("nobody told what the user said"),
        "{question}"
    );
    guarded.reply(&question, DECLINE);
    guarded.wait("3");
    let file = session.folder.path().join("record.db");
    session.guarded.end();
    let said = std::process::Command::new(env!("CARGO_BIN_EXE_framegate-under-test"))
        .arg("replay")
        .arg(file)
        .output()
        .unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("4 decisions: 4 as recorded"), "{said}");
}

#[test]
fn a_held_call_waits_alone_and_a_cancelled_one_withdraws_its_form() {
    let mut session = opened(POLICY);
    let guarded = &mut session.guarded;
    let cancel = |id: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    };
    guarded.send(&call("1", "forecast", "{}"));
    let question = guarded.question(0);
    assert_eq!(text(&guarded.call("2", "free", "{}")), "ran free", "everything else flows");
    // The id is taken while the call is held.
    guarded.send(&call("1", "free", "{}"));
    guarded.ask(&ping("3"), "3");
    assert_eq!(guarded.server_got_count("\"free\""), 1);
    guarded.send(&cancel("1"));
    guarded.ask(&ping("4"), "4");
    let withdrawn = guarded.client_asked("notifications/cancelled");
    assert_eq!(withdrawn[0]["params"]["requestId"], question["id"]);
    guarded.reply(&question, &content(r#"{"city":"Rom","days":1}"#));
    guarded.ask(&ping("5"), "5");
    assert_eq!(guarded.server_got_count("forecast"), 0);
    // The id is free again, and its call another one.
    guarded.send(&call("1", "forecast", r#"{"city":"Bern"}"#));
    let next = guarded.question(1);
    guarded.reply(&question, &content(r#"{"days":9}"#));
    guarded.ask(&ping("6"), "6");
    assert_eq!(guarded.server_got_count("forecast"), 0, "an old answer is nobody's");
    guarded.reply(&next, &content(r#"{"days":1}"#));
    guarded.wait_server_got("Bern", 1);
    // The client's end is no answer.
    guarded.send(&call("7", "forecast", "{}"));
    let _ = guarded.question(2);
    let stored = session.end();
    assert_eq!(outcomes(&stored), ["withdrawn", "filled in", "withdrawn"]);
    let first = stored.of("call").next().unwrap();
    assert_eq!(
        (&stored.end_of(first).unwrap()["how"], &stored.end_of(first).unwrap()["sent"]),
        (&json!("cancelled"), &json!("no"))
    );
}

#[test]
fn an_answer_after_the_time_limit_counts_for_nothing() {
    let mut session = opened_with(POLICY, &["--ask-timeout", "0.3"], script());
    let guarded = &mut session.guarded;
    guarded.send(&call("1", "forecast", "{}"));
    let question = guarded.question(0);
    let said = lacks(&guarded.wait("1"));
    assert_eq!(said["reason"], "elicitation_timed_out");
    let withdrawn = guarded.client_asked("notifications/cancelled");
    assert_eq!(withdrawn[0]["params"]["requestId"], question["id"]);
    guarded.reply(&question, &content(r#"{"city":"Rom","days":1}"#));
    guarded.ask(&ping("2"), "2");
    assert_eq!(guarded.server_got_count("forecast"), 0);
    assert_eq!(outcomes(&session.end()), ["timed out"]);
}

#[test]
fn forms_count_as_questions_and_the_refusal_says_so() {
    let mut session = opened(&POLICY.replace("50", "1"));
    let guarded = &mut session.guarded;
    guarded.send(&call("1", "forecast", "{}"));
    guarded.reply(&guarded.question(0), DECLINE);
    guarded.wait("1");
    let said = lacks(&guarded.call("2", "forecast", "{}"));
    assert_eq!(said["reason"], "elicitation_limited");
    assert!(said["message"].as_str().unwrap().contains("1 questions were asked within a minute"), "{said}");
    assert_eq!(guarded.client_asked("elicitation/create").len(), 1);
    session.end();
}

#[test]
fn a_policy_that_changes_meanwhile_judges_the_completed_call() {
    let denies = format!(
        "{POLICY}rules:\n  - {{ name: never, tools: [forecast], that: 'false', because: Not any more. }}\n"
    );
    let mut session = opened(POLICY);
    let guarded = &mut session.guarded;
    guarded.send(&call("1", "forecast", r#"{"days":1}"#));
    let question = guarded.question(0);
    fs::write(guarded.policy_file(), denies).unwrap();
    guarded.wait_stderr("was read anew and is in force");
    guarded.reply(&question, &content(r#"{"city":"Rome"}"#));
    assert_eq!(decision(&guarded.wait("1"))["failed"], json!(["never"]));
    assert_eq!(guarded.server_got_count("forecast"), 0);
    session.end();
}

#[test]
fn monitor_mode_asks_nobody_and_says_what_it_would_ask_for() {
    let mut session = opened_with(POLICY, &["--mode", "monitor"], script());
    let frame = call("1", "forecast", r#"{"city" :"Ulm"}"#);
    assert_eq!(text(&session.guarded.ask(&frame, "1")), "ran forecast");
    assert_eq!(session.sent(), [frame], "no byte is changed");
    assert!(session.guarded.client_asked("elicitation/create").is_empty());
    session.guarded.wait_stderr("would ask for days");
    let stored = session.end();
    let call = stored.of("call").next().unwrap();
    assert_eq!(
        (&call["outcome"], &call["missing"], &call["sent"]),
        (&json!("allow"), &json!(["days"]), &json!("verbatim"))
    );
}

#[test]
fn a_tool_that_says_what_its_results_are_gets_no_structured_content() {
    let listing = format!(
        r#"[{{"name":"forecast","inputSchema":{FORECAST},"outputSchema":{{"type":"object","required":["t"]}}}}]"#
    );
    let mut session = opened_with(POLICY, &[], vec![json!({ "tools": listing })]);
    session.guarded.send(&call("1", "forecast", "{}"));
    session.guarded.reply(&session.guarded.question(0), DECLINE);
    let answer = session.guarded.wait("1");
    assert!(answer["result"].get("structuredContent").is_none(), "{answer}");
    let said: Value = serde_json::from_str(text(&answer)).unwrap();
    assert_eq!(answer["result"]["_meta"]["dev.framegate/missing"], said);
    session.end();
}

#[test]
fn the_servers_own_questions_go_their_own_way_meanwhile() {
    let own = json!({ "on": "tools/call", "name": "free", "emit": [
        r#"{"jsonrpc":"2.0","id":"framegate-forged","method":"elicitation/create","params":{"message":"mine"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"its"}}"#,
    ] });
    let mut session = opened_with(POLICY, &[], [vec![own], script()].concat());
    let guarded = &mut session.guarded;
    guarded.send(&call("1", "forecast", r#"{"city":"Nice"}"#));
    let ours = guarded.question(0);
    guarded.send(&call("2", "free", "{}"));
    for its in [guarded.question(1), guarded.question(2)] {
        guarded.reply(&its, &content(r#"{"days":1}"#));
    }
    guarded.wait_server_got("\"action\":\"accept\"", 2);
    assert_eq!(
        guarded.server_got_count("forecast"),
        0,
        "an answer to the server's question completes nothing"
    );
    guarded.reply(&ours, &content(r#"{"days":2}"#));
    assert_eq!(text(&guarded.wait("1")), "ran forecast");
    assert_eq!(guarded.server_got_count("\"action\":\"accept\""), 2, "ours stays here");
    session.end();
}

#[test]
fn twenty_forms_are_answered_in_any_order() {
    let mut session = opened(POLICY);
    let guarded = &mut session.guarded;
    for id in 1..=20 {
        guarded.send(&call(&id.to_string(), "forecast", &format!(r#"{{"note":"n{id}"}}"#)));
    }
    let questions: Vec<Value> = (0..20).map(|nth| guarded.question(nth)).collect();
    for step in 0..20 {
        // 7 and 20 have no common divisor: each once, in no order.
        let nth = (step * 7 + 3) % 20;
        guarded.reply(&questions[nth], &content(&format!(r#"{{"city":"c{nth}","days":1}}"#)));
        guarded.ask(&ping(&(600 + step).to_string()), &(600 + step).to_string());
    }
    for id in 1..=20 {
        assert_eq!(text(&guarded.wait(&id.to_string())), "ran forecast");
        // Asked in the order of the calls.
        let sent = call(
            &id.to_string(),
            "forecast",
            &format!(r#"{{"note":"n{id}","city":"c{}","days":1}}"#, id - 1),
        );
        assert!(guarded.server_got().contains(&sent), "{sent}");
    }
    session.end();
}

#[test]
fn a_large_call_is_completed_like_any_other() {
    let mut session = opened(POLICY);
    let guarded = &mut session.guarded;
    let note = "x".repeat(2_000_000);
    guarded.send(&call("1", "forecast", &format!(r#"{{"note":"{note}"}}"#)));
    guarded.reply(&guarded.question(0), &content(r#"{"city":"Nîmes","days":1}"#));
    assert_eq!(text(&guarded.wait("1")), "ran forecast");
    assert!(guarded.server_got().contains(&call(
        "1",
        "forecast",
        &format!(r#"{{"note":"{note}","city":"Nîmes","days":1}}"#)
    )));
    session.end();
}

#[test]
fn a_session_that_ends_at_once_leaves_nobody_waiting() {
    let session = opened(POLICY);
    session.guarded.send(&call("1", "forecast", "{}"));
    thread::sleep(Duration::from_millis(20));
    let got = session.guarded.server_got_count("forecast");
    let stored = session.end();
    assert_eq!((got, outcomes(&stored)), (0, vec!["withdrawn".to_owned()]));
}
