//! A call that lacks required arguments in the stateless revision (2026-07-28): the form is a result, the client
//! retries the call as it was with the answer and our sealed state, and the server gets the completed call.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use framegate_tests::asked::{YES, answered, modern, question};
use framegate_tests::guarded::{Start, decision, text, tools};
use framegate_tests::{Guarded, Stored};
use serde_json::{Value, json};
use tempfile::TempDir;

const SCHEMA: &str = r#"{"type":"object","properties":{"city":{"type":"string","minLength":2},"days":{"type":"integer","minimum":1,"maximum":9},"tags":{"type":"array","items":{"enum":["a","b"]}}},"required":["city","days"]}"#;
const POLICY: &str =
    "framegate: 1\ndefault: allow\nlimits: { asks_per_minute: 10000, asks_per_session: 10000 }\n";
const ASKS: &str = "rules:\n  - { name: far, tools: [forecast], that: args.days <= 3, otherwise: ask, because: That is far ahead. }\n";
const FORM: &str = r#"{"elicitation":{"form":{}}}"#;
const SENT: &str = r#"{"city":"Pau" }"#;

struct Session {
    guarded: Guarded,
    folder: TempDir,
}

fn start(policy: &str, more: &[Value]) -> Session {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db").display().to_string();
    let mut script = more.to_vec();
    script.push(tools(&[("forecast", SCHEMA), ("free", r#"{"type":"object"}"#)]));
    let (wrapper, options) = (framegate_tests::wrapper!(), ["--store", file.as_str()]);
    let script = json!(script);
    let guarded =
        Start { wrapper: &wrapper, policy: Some(policy), options: &options, script, files: &[] }.now();
    Session { guarded, folder }
}

fn content(content: &str) -> String {
    format!(r#"{{"action":"accept","content":{content}}}"#)
}

impl Session {
    fn forecast(&self, id: u32, arguments: &str, more: &str) -> Value {
        let id = id.to_string();
        self.guarded.ask_modern(&modern(&id, "forecast", arguments, FORM, more), &id)
    }

    fn end(mut self) -> Stored {
        self.guarded.end();
        Stored::read(&self.folder.path().join("record.db")).unwrap()
    }

    fn sent(&self) -> Vec<String> {
        self.guarded.server_got().into_iter().filter(|line| line.contains("tools/call")).collect()
    }
}

fn form(asks: &Value) -> &Value {
    &asks["result"]["inputRequests"][question(asks).0]["params"]
}

fn lacks(answer: &Value) -> Value {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete");
    let said: Value = serde_json::from_str(text(answer)).unwrap();
    assert_eq!(answer["result"]["_meta"]["dev.framegate/missing"], said);
    said
}

fn outcomes(stored: &Stored) -> Vec<String> {
    stored.of("approval").map(|approval| approval["outcome"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_retry_goes_on_with_the_answer_in_it_and_without_what_is_ours() {
    let session = start(POLICY, &[]);
    let asks = session.forecast(1, SENT, "");
    let (key, state) = question(&asks);
    assert_eq!(
        form(&asks),
        &json!({
            "mode": "form",
            "message": "Input for tool 'forecast' is incomplete. Please provide the missing fields.",
            "requestedSchema": {"type":"object","properties":{"days":{"type":"integer","minimum":1,"maximum":9}},"required":["days"]},
        })
    );
    assert!(key.starts_with("dev.framegate/") && !state.contains("Pau"));
    assert_eq!(session.sent().len(), 0);
    let sent = session.forecast(2, SENT, &answered(&asks, &content(r#"{"days":2}"#)));
    assert_eq!(text(&sent), "ran forecast");
    assert_eq!(
        session.sent(),
        [modern("2", "forecast", r#"{"city":"Pau","days":2 }"#, FORM, "")],
        "every other byte stays"
    );
    session.guarded.wait_stderr("asked for days");
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
    let approval = stored.of("approval").next().unwrap();
    assert_eq!((&approval["call"], &approval["outcome"]), (&asked["seq"], &json!("filled in")));
    assert_eq!(stored.content(approval, "answer").unwrap(), r#"{"days":2}"#);
    assert_eq!(stored.end_of(asked).unwrap()["how"], "asked");
    assert_eq!(stored.end_of(filled).unwrap()["how"], "done");
}

#[test]
fn a_call_without_arguments_gets_some_and_a_form_may_hold_lists_of_choices() {
    let policy = format!("{POLICY}tools: {{ forecast: {{ ask: {{ required: [tags] }} }}, free: {{}} }}\n");
    let session = start(&policy, &[]);
    let frame = |id: &str, more: &str, arguments: &str| {
        modern(id, "forecast", "ARGUMENTS", FORM, more).replace(r#","arguments":ARGUMENTS"#, arguments)
    };
    let asks = session.guarded.ask_modern(&frame("1", "", ""), "1");
    assert_eq!(form(&asks)["requestedSchema"]["required"], json!(["city", "days", "tags"]));
    let answer = answered(&asks, &content(r#"{"tags":["b"],"city":"Pau","days":1}"#));
    let sent = session.guarded.ask_modern(&frame("2", &answer, ""), "2");
    assert_eq!(text(&sent), "ran forecast");
    assert_eq!(session.sent(), [frame("2", "", r#","arguments":{"city":"Pau","days":1,"tags":["b"]}"#)]);
    session.end();
}

#[test]
fn a_no_refuses_a_wrong_answer_is_asked_for_once_more_and_a_state_is_good_once() {
    let session = start(POLICY, &[]);
    for (id, reply, reason) in [
        (10, r#"{"action":"decline"}"#, "elicitation_declined"),
        (20, r#"{"action":"cancel"}"#, "elicitation_cancelled"),
        (30, r#"{"action":"accept"}"#, "elicitation_failed"),
        (40, "7", "elicitation_failed"),
    ] {
        let asks = session.forecast(id, SENT, "");
        let refused = session.forecast(id + 1, SENT, &answered(&asks, reply));
        assert_eq!(lacks(&refused)["reason"], reason, "{reply}");
        // A no is not taken back: the state is used, and the form is another one.
        let _ = question(&session.forecast(id + 2, SENT, &answered(&asks, &content(r#"{"days":1}"#))));
    }
    let asks = session.forecast(50, SENT, "");
    let again = session.forecast(51, SENT, &answered(&asks, &content(r#"{"days":10}"#)));
    let message = form(&again)["message"].as_str().unwrap();
    assert!(message.contains("The last answer did not fit: `days`: expected at most 9"), "{message}");
    let refused = session.forecast(52, SENT, &answered(&again, &content(r#"{"days":"x"}"#)));
    assert_eq!(lacks(&refused)["reason"], "required_fields_missing_or_empty");
    let asks = session.forecast(60, SENT, "");
    let again = session.forecast(61, SENT, &answered(&asks, &content(r#"{"days":10}"#)));
    assert_eq!(
        text(&session.forecast(62, SENT, &answered(&again, &content(r#"{"days":9}"#)))),
        "ran forecast"
    );
    // Replayed: the first state, and the second.
    for (id, used) in [(63, &asks), (64, &again)] {
        let _ = question(&session.forecast(id, SENT, &answered(used, &content(r#"{"days":9}"#))));
    }
    assert_eq!(session.sent().len(), 1);
    let found = outcomes(&session.end());
    assert_eq!(found[..2], ["declined", "used before"]);
    assert_eq!(
        found[8..],
        ["did not fit", "did not fit", "did not fit", "filled in", "used before", "used before"]
    );
}

#[test]
fn a_state_is_for_its_own_call_and_not_a_byte_of_it_can_be_another() {
    let session = start(POLICY, &[]);
    let asks = session.forecast(1, SENT, "");
    let (key, state) = question(&asks);
    let yes = content(r#"{"days":1}"#);
    let mut id = 100;
    for arguments in [r#"{"city":"Po"}"#, r#"{"city":"Pau","tags":[]}"#, "{}"] {
        id += 1;
        let other = session.forecast(id, arguments, &answered(&asks, &yes));
        assert!(form(&other)["requestedSchema"]["properties"].get("days").is_some());
    }
    for at in (0..state.len()).step_by(3) {
        id += 1;
        let mut other = state.clone().into_bytes();
        other[at] = if other[at] == b'A' { b'B' } else { b'A' };
        let other = String::from_utf8(other).unwrap();
        let more = format!(r#","inputResponses":{{"{key}":{yes}}},"requestState":"{other}""#);
        let _ = question(&session.forecast(id, SENT, &more));
    }
    id += 1;
    let _ = question(&session.forecast(id, SENT, &format!(r#","inputResponses":{{"{key}":{yes}}}"#)));
    // Arguments that are all there need no answer, and what is ours goes.
    id += 1;
    let whole = r#"{"city":"Pau","days":5}"#;
    assert_eq!(text(&session.forecast(id, whole, &answered(&asks, &yes))), "ran forecast");
    assert_eq!(session.sent(), [modern(&id.to_string(), "forecast", whole, FORM, "")]);
    let found = outcomes(&session.end());
    for bad in ["forged", "for another call", "without its state"] {
        assert!(found.iter().any(|outcome| outcome == bad), "{bad}: {found:?}");
    }
    assert!(!found.iter().any(|outcome| outcome == "filled in"), "{found:?}");
}

#[test]
fn a_retry_without_an_answer_is_asked_again_and_then_refused() {
    let session = start(POLICY, &[]);
    let asks = session.forecast(1, SENT, "");
    let state = |asks: &Value| format!(r#","requestState":"{}""#, question(asks).1);
    let again = session.forecast(2, SENT, &state(&asks));
    let refused = session.forecast(3, SENT, &state(&again));
    assert_eq!(lacks(&refused)["reason"], "elicitation_failed");
    assert_eq!(outcomes(&session.end()), ["unavailable", "unavailable"]);
}

#[test]
fn only_a_client_that_says_so_is_asked() {
    let session = start(POLICY, &[]);
    for (id, capabilities) in [("1", "{}"), ("2", r#"{"elicitation":{"url":{}}}"#)] {
        let refused = session.guarded.ask_modern(&modern(id, "forecast", SENT, capabilities, ""), id);
        assert_eq!(lacks(&refused)["reason"], "elicitation_unsupported");
    }
    assert_eq!(session.sent().len(), 0);
    session.end();
}

#[test]
fn a_form_then_a_yes_are_rounds_of_one_call() {
    let session = start(&format!("{POLICY}{ASKS}"), &[]);
    let asks = session.forecast(1, SENT, "");
    let sure = session.forecast(2, SENT, &answered(&asks, &content(r#"{"days":7}"#)));
    let message = form(&sure)["message"].as_str().unwrap();
    assert!(message.contains("  days: 7\n") && message.contains("- That is far ahead.\n"), "{message}");
    assert_eq!(session.sent().len(), 0);
    let done = session.forecast(3, SENT, &answered(&sure, YES));
    assert_eq!(text(&done), "ran forecast");
    assert_eq!(session.sent(), [modern("3", "forecast", r#"{"city":"Pau","days":7 }"#, FORM, "")]);
    // The yes is used, and what was filled in with it.
    let again = session.forecast(4, SENT, &answered(&sure, YES));
    assert_eq!(form(&again)["requestedSchema"]["required"], json!(["days"]));
    // A no to the yes.
    let sure = session.forecast(5, SENT, &answered(&again, &content(r#"{"days":8}"#)));
    let refused = session.forecast(6, SENT, &answered(&sure, r#"{"action":"decline"}"#));
    assert_eq!(decision(&refused)["asked"], "declined");
    let stored = session.end();
    assert_eq!(outcomes(&stored), ["filled in", "approved", "used before", "filled in", "declined"]);
    let calls: Vec<&Value> = stored.of("call").take(3).collect();
    assert_eq!((&calls[1]["again"], &calls[2]["again"]), (&calls[0]["seq"], &calls[1]["seq"]));
    assert_eq!(calls[2]["filled"], json!(["days"]));
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
fn what_was_filled_in_stays_through_the_servers_own_rounds() {
    for (policy, days) in [(POLICY.to_owned(), 2), (format!("{POLICY}{ASKS}"), 7)] {
        for states in [["s\\u0031", "s2"], ["", ""]] {
            let session = start(&policy, &asks_more(&states));
            let mut asks = session.forecast(1, SENT, "");
            let mut reply = content(&format!(r#"{{"days":{days}}}"#));
            if days > 3 {
                asks = session.forecast(2, SENT, &answered(&asks, &reply));
                YES.clone_into(&mut reply);
            }
            let its = session.forecast(3, SENT, &answered(&asks, &reply));
            let round = |asks: &Value| {
                assert!(asks["result"]["inputRequests"].get("its").is_some(), "{asks}");
                let own = r#"{"its" :{"action":"accept","content":{ }}}"#;
                match asks["result"]["requestState"].as_str() {
                    Some(state) => format!(r#","requestState":"{state}", "inputResponses":{own}"#),
                    None => format!(r#","inputResponses":{own}"#),
                }
            };
            let its_second = session.forecast(4, SENT, &round(&its));
            let done = session.forecast(5, SENT, &round(&its_second));
            assert_eq!(text(&done), "ran forecast", "{done}");
            let whole = format!(r#"{{"city":"Pau","days":{days} }}"#);
            let rounds = [
                modern("3", "forecast", &whole, FORM, ""),
                modern("4", "forecast", &whole, FORM, &round(&its)),
                modern("5", "forecast", &whole, FORM, &round(&its_second)),
            ];
            assert_eq!(session.sent(), rounds, "what is the server's passes byte for byte");
            // The same round once more is not of this call any more: it lacks what it lacks.
            let again = session.forecast(6, SENT, &round(&its_second));
            assert_eq!(form(&again)["requestedSchema"]["required"], json!(["days"]));
            let found = outcomes(&session.end());
            assert_eq!(found.len(), if days > 3 { 2 } else { 1 }, "{found:?}");
        }
    }
}

#[test]
fn what_is_the_servers_comes_back_when_ours_is_answered() {
    let session = start(POLICY, &[]);
    let own = r#","inputResponses":{"its":{"action": "accept"}},"requestState":"th\u0065irs""#;
    // A round that we do not know: what it lacks is asked for, and it goes on whole.
    let asks = session.forecast(1, SENT, own);
    let sent = session.forecast(2, SENT, &answered(&asks, &content(r#"{"days":4}"#)));
    assert_eq!(text(&sent), "ran forecast");
    assert_eq!(session.sent(), [modern("2", "forecast", r#"{"city":"Pau","days":4 }"#, FORM, own)]);
    // A client that sends all the answers it ever gave.
    let asks = session.forecast(3, SENT, "");
    let (key, state) = question(&asks);
    let both = format!(
        r#","requestState":"{state}","inputResponses":{{"its":1, "{key}":{}}}"#,
        content(r#"{"days":5}"#)
    );
    assert_eq!(text(&session.forecast(4, SENT, &both)), "ran forecast");
    assert_eq!(
        session.sent()[1],
        modern("4", "forecast", r#"{"city":"Pau","days":5 }"#, FORM, r#","inputResponses":{"its":1}"#)
    );
    session.end();
}

#[test]
fn what_is_repaired_and_what_is_filled_in_go_together() {
    let policy = POLICY.replace("default: allow", "default: allow\ndefaults: { arguments: coerce }");
    let session = start(&format!("{policy}{ASKS}"), &[]);
    let sent = r#"{"days":"7"}"#;
    let asks = session.forecast(1, sent, "");
    let sure = session.forecast(2, sent, &answered(&asks, &content(r#"{"city":"Bonn"}"#)));
    assert!(form(&sure)["message"].as_str().unwrap().contains("  days: 7\n"), "{sure}");
    assert_eq!(text(&session.forecast(3, sent, &answered(&sure, YES))), "ran forecast");
    assert_eq!(session.sent(), [modern("3", "forecast", r#"{"days":7,"city":"Bonn"}"#, FORM, "")]);
    session.end();
}

#[test]
fn a_large_call_is_completed_like_any_other() {
    let session = start(&format!("{POLICY}{ASKS}"), &[]);
    let sent = format!(r#"{{"city":"{}"}}"#, "x".repeat(1_000_000));
    let asks = session.forecast(1, &sent, "");
    let sure = session.forecast(2, &sent, &answered(&asks, &content(r#"{"days":9}"#)));
    assert_eq!(text(&session.forecast(3, &sent, &answered(&sure, YES))), "ran forecast");
    let whole = sent.replace('}', r#","days":9}"#);
    assert_eq!(session.sent(), [modern("3", "forecast", &whole, FORM, "")]);
    session.end();
}
