//! A call that asks, with a client that has a handshake: it waits alone while its user is asked by elicitation.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fs, thread, time::Duration};

use framegate_tests::asked::YES;
use framegate_tests::guarded::{Start, call, decision, ping, text};
use framegate_tests::{Guarded, Stored};
use serde_json::{Value, json};
use tempfile::TempDir;

const POLICY: &str = "framegate: 1\ndefault: allow\nlimits: { asks_per_minute: 50 }\nrules:\n  - { name: ask_first, tools: [touch], that: 'false', otherwise: ask, because: Touching needs a yes. }\n";
const NO: &str = r#"{"action":"decline"}"#;

struct Session {
    guarded: Guarded,
    folder: TempDir,
}

fn start(options: &[&str], more: &[Value]) -> Session {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db").display().to_string();
    let options = [&["--store", &file], options].concat();
    let wrapper = framegate_tests::wrapper!();
    let script = Guarded::script_of_touch(more);
    let guarded =
        Start { wrapper: &wrapper, policy: Some(POLICY), options: &options, script, files: &[] }.now();
    Session { guarded, folder }
}

fn opened(options: &[&str], more: &[Value]) -> Session {
    let mut session = start(options, more);
    session.guarded.open_asking("2025-11-25", r#"{"form":{},"url":{}}"#);
    session
}

impl Session {
    fn end(mut self) -> Stored {
        self.guarded.end();
        Stored::read(&self.folder.path().join("record.db")).unwrap()
    }
}

fn outcomes(stored: &Stored) -> Vec<String> {
    stored.of("approval").map(|approval| approval["outcome"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_yes_sends_the_very_bytes_and_a_no_sends_none() {
    let mut session = opened(&[], &[]);
    let guarded = &mut session.guarded;
    let frame = r#"{"jsonrpc":"2.0", "id":1,"method":"tools\/call","params":{"arguments":{"n":1.50,"s":"\u0061"},"name":"touch" } }"#;
    guarded.send(frame);
    let question = guarded.question(0);
    assert_eq!(guarded.server_got_count("touch"), 0, "nothing is sent before the yes");
    let shown = question["params"]["message"].as_str().unwrap();
    for part in ["tool: touch\n", "  n: 1.50\n", "  s: \"a\"\n", "- Touching needs a yes.\n"] {
        assert!(shown.contains(part), "{shown}");
    }
    assert_eq!(question["params"]["requestedSchema"]["required"], json!(["approve"]));
    guarded.reply(&question, YES);
    assert_eq!(text(&guarded.wait("1")), "ran touch");
    assert!(guarded.server_got().contains(&frame.to_owned()), "byte for byte");
    guarded.send(&call("2", "touch", "{}"));
    guarded.reply(&guarded.question(1), NO);
    let refused = guarded.wait("2");
    assert_eq!(
        (&decision(&refused)["asked"], &decision(&refused)["executed"]),
        (&json!("declined"), &json!(false))
    );
    assert!(text(&refused).contains("declined the call"), "{refused}");
    assert_eq!(guarded.server_got_count("elicitation/create"), 0, "the server sees no question");
    assert_eq!(guarded.server_got_count("approve"), 0, "and no answer to one");
    assert_eq!(guarded.server_got_count("touch"), 1);
    guarded.wait_stderr("asked, approved");
    guarded.wait_stderr("refused (asked, declined)");
    let stored = session.end();
    let [asked, sent, declined] = stored.of("call").collect::<Vec<_>>()[..] else { panic!("{stored:#?}") };
    assert_eq!((&asked["outcome"], &asked["sent"]), (&json!("ask"), &json!("no")));
    assert_eq!(
        (&sent["outcome"], &sent["would"], &sent["sent"]),
        (&json!("allow"), &json!("ask"), &json!("verbatim"))
    );
    assert_eq!(sent["again"], asked["seq"]);
    assert!(stored.content(sent, "approval").unwrap().contains("Touching needs a yes"));
    let [yes, no] = stored.of("approval").collect::<Vec<_>>()[..] else { panic!("{stored:#?}") };
    assert_eq!(
        (&yes["call"], &yes["how"], &yes["outcome"]),
        (&asked["seq"], &json!("client"), &json!("approved"))
    );
    assert!(yes["seq"].as_u64() < sent["seq"].as_u64(), "recorded before the effect");
    assert_eq!((&no["call"], &no["outcome"]), (&declined["seq"], &json!("declined")));
    assert_eq!(stored.end_of(asked).unwrap()["how"], "asked");
    assert_eq!(stored.end_of(sent).unwrap()["how"], "done");
    assert_eq!(stored.end_of(declined).unwrap()["how"], "refused");
}

#[test]
fn what_is_not_exactly_a_yes_is_none() {
    let mut session = opened(&[], &[]);
    let guarded = &mut session.guarded;
    let replies = [
        r#"{"action":"accept","content":{"approve":"true"}}"#,
        r#"{"action":"accept","content":{"approve":1}}"#,
        r#"{"action":"accept","content":{"approve":false}}"#,
        r#"{"action":"accept"}"#,
        r#"{"action":"cancel"}"#,
        r#"{"action":"accept","content":{"approve":true,"approve":true}}"#,
        r#"{"approve":true}"#,
        "true",
    ];
    for (nth, reply) in replies.iter().enumerate() {
        let id = (nth + 1).to_string();
        guarded.send(&call(&id, "touch", "{}"));
        guarded.reply(&guarded.question(nth), reply);
        assert_eq!(guarded.wait(&id)["result"]["isError"], true, "{reply}");
    }
    guarded.send(&call("90", "touch", "{}"));
    let question = guarded.question(replies.len());
    guarded.send(&format!(
        r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-32601,"message":"nobody here"}}}}"#,
        question["id"]
    ));
    let refused = guarded.wait("90");
    assert!(text(&refused).contains("nobody here"), "{refused}");
    assert_eq!(guarded.server_got_count("touch"), 0);
    let found = outcomes(&session.end());
    let no = ["declined"; 4];
    assert_eq!(found, [&no[..], &["dismissed"], &["unavailable"; 4]].concat());
}

#[test]
fn a_client_that_cannot_ask_gets_the_reason() {
    let no_form = "it does not declare elicitation in form mode";
    let old = "the protocol revision of this session has no elicitation";
    for (version, elicitation, why) in [
        ("2025-06-18", r#"{"url":{}}"#, Some(no_form)),
        ("2025-11-25", "null", Some(no_form)),
        ("2025-03-26", "{}", Some(old)),
        ("2024-11-05", r#"{"form":{}}"#, Some(old)),
        ("2025-06-18", "{}", None),
        ("2025-11-25", r#"{"form":{}}"#, None),
    ] {
        let mut session = start(&[], &[]);
        session.guarded.open_asking(version, elicitation);
        session.guarded.send(&call("1", "touch", "{}"));
        match why {
            Some(why) => {
                let refused = session.guarded.wait("1");
                assert!(text(&refused).contains(why), "{version} {elicitation}: {refused}");
                assert!(session.guarded.client_asked("elicitation/create").is_empty());
            }
            None => {
                session.guarded.reply(&session.guarded.question(0), YES);
                assert_eq!(text(&session.guarded.wait("1")), "ran touch", "{version} {elicitation}");
            }
        }
        session.end();
    }
    let mut session = opened(&["--ask", "none"], &[]);
    let refused = session.guarded.call("1", "touch", "{}");
    assert!(text(&refused).contains("--ask none"), "{refused}");
    session.end();
    let mut session = opened(&["--mode", "monitor"], &[]);
    assert_eq!(text(&session.guarded.call("1", "touch", "{}")), "ran touch");
    assert!(session.guarded.client_asked("elicitation/create").is_empty(), "monitor mode asks nobody");
    session.end();
}

#[test]
fn twenty_calls_wait_alone_while_everything_else_flows() {
    let big = json!({ "on": "tools/call", "name": "free", "reply": format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{{"content":[{{"type":"text","text":"{}"}}]}}}}"#, "0123456789".repeat(1_000_000)) });
    // What the server reports while its own call runs.
    let tick = |n: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"p","progress":{n}}}}}"#
        )
    };
    let mut emitted: Vec<Value> = (1..=20).map(|n| json!(tick(n))).collect();
    emitted.push(json!(r#"{"jsonrpc":"2.0","id":502,"result":{"content":[]}}"#));
    let reports = json!({ "on": "tools/call", "name": "reports", "emit": emitted });
    // A machine that is busy takes its time over 10 MB; no question is to end for that.
    let mut session = opened(&["--ask-timeout", "600"], &[big, reports]);
    let guarded = &mut session.guarded;
    for id in 1..=20 {
        guarded.send(&call(&id.to_string(), "touch", &format!(r#"{{"n":{id}}}"#)));
    }
    let questions: Vec<Value> = (0..20).map(|nth| guarded.question(nth)).collect();
    guarded.ask(&ping("500"), "500");
    guarded.send(
        &call("502", "reports", "{}")
            .replace(r#""arguments""#, r#""_meta":{"progressToken":"p"},"arguments""#),
    );
    guarded.wait("502");
    let progress = guarded.client_asked("notifications/progress");
    let values: Vec<u64> = progress.iter().map(|one| one["params"]["progress"].as_u64().unwrap()).collect();
    assert_eq!(values, (1..=20).collect::<Vec<_>>());
    let answer = guarded.call("501", "free", "{}");
    assert_eq!(text(&answer).len(), 10_000_000);
    // 7 and 20 have no common divisor: each once, in no order.
    for step in 0..20 {
        let nth = (step * 7 + 3) % 20;
        guarded.ask(&ping(&(600 + step).to_string()), &(600 + step).to_string());
        let is_yes = nth % 3 != 0;
        guarded.reply(&questions[nth], if is_yes { YES } else { NO });
        let id = questions[nth]["params"]["message"].as_str().unwrap();
        let id = (1..=20).find(|n| id.contains(&format!("  n: {n}\n"))).unwrap();
        let answered = guarded.wait(&id.to_string());
        assert_eq!(text(&answered) == "ran touch", is_yes, "{answered}");
    }
    assert_eq!(guarded.server_got_count("touch"), 13);
    session.end();
}

#[test]
fn a_cancelled_call_withdraws_its_question_and_is_never_sent() {
    let mut session = opened(&[], &[]);
    let guarded = &mut session.guarded;
    let cancel = |id: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    };
    guarded.send(&call("1", "touch", "{}"));
    let question = guarded.question(0);
    guarded.send(&cancel("1"));
    guarded.ask(&ping("2"), "2");
    let withdrawn = guarded.client_asked("notifications/cancelled");
    assert_eq!(withdrawn.len(), 1, "{withdrawn:?}");
    assert_eq!(withdrawn[0]["params"]["requestId"], question["id"]);
    // Too late.
    guarded.reply(&question, YES);
    guarded.ask(&ping("3"), "3");
    assert!(guarded.answer("1").is_none(), "a cancelled call gets no answer");
    assert_eq!(guarded.server_got_count("touch"), 0);
    assert_eq!(guarded.server_got_count("cancelled"), 0, "the server never heard of it");
    // After the yes it is a call like any other.
    guarded.send(&call("4", "touch", "{}"));
    guarded.reply(&guarded.question(1), YES);
    guarded.wait_server_got("touch", 1);
    guarded.send(&cancel("4"));
    guarded.ask(&ping("5"), "5");
    // Cancelled at once: asked or not, nothing is sent.
    guarded.send(&call("6", "touch", "{}"));
    guarded.send(&cancel("6"));
    guarded.ask(&ping("7"), "7");
    assert_eq!(guarded.server_got_count("touch"), 1);
    let found = outcomes(&session.end());
    // The last one may have been cancelled before there was a question.
    let withdrawn = found.iter().filter(|outcome| *outcome == "withdrawn").count();
    assert!((1..=2).contains(&withdrawn) && found.len() == withdrawn + 1, "{found:?}");
}

#[test]
fn the_end_of_the_client_is_no_yes() {
    let session = opened(&[], &[]);
    session.guarded.send(&call("1", "touch", "{}"));
    let _ = session.guarded.question(0);
    let got = session.guarded.server_got_count("touch");
    let stored = session.end();
    assert_eq!((got, outcomes(&stored)), (0, vec!["withdrawn".to_owned()]));
    assert_eq!(stored.of("call").count(), 1);
}

#[test]
fn an_answer_after_the_time_limit_counts_for_nothing() {
    let mut session = opened(&["--ask-timeout", "0.3"], &[]);
    let guarded = &mut session.guarded;
    guarded.send(&call("1", "touch", "{}"));
    let question = guarded.question(0);
    let refused = guarded.wait("1");
    assert!(text(&refused).contains("did not answer within 0.3 s"), "{refused}");
    let withdrawn = guarded.client_asked("notifications/cancelled");
    assert_eq!(withdrawn[0]["params"]["requestId"], question["id"]);
    guarded.reply(&question, YES);
    guarded.ask(&ping("2"), "2");
    assert_eq!(guarded.server_got_count("touch"), 0);
    assert_eq!(outcomes(&session.end()), ["timed out"]);
}

#[test]
fn a_yes_is_used_once_and_only_for_its_own_call() {
    let mut session = opened(&[], &[]);
    let guarded = &mut session.guarded;
    guarded.send(&call("1", "touch", r#"{"a":1}"#));
    guarded.reply(&guarded.question(0), YES);
    guarded.wait("1");
    // The same once more is another call.
    guarded.send(&call("2", "touch", r#"{"a":1}"#));
    let question = guarded.question(1);
    guarded.reply(&question, YES);
    guarded.reply(&question, YES);
    guarded.wait("2");
    guarded.ask(&ping("3"), "3");
    assert_eq!(guarded.server_got_count("touch"), 2);
    session.end();
}

#[test]
fn a_yes_given_before_the_policy_changed_is_judged_by_the_new_one() {
    let more = format!(
        "{POLICY}  - {{ name: another, tools: [touch], that: 'false', otherwise: ask, because: Also this. }}\n"
    );
    let denies =
        format!("{POLICY}  - {{ name: never, tools: [touch], that: 'false', because: Not any more. }}\n");
    let mut session = opened(&[], &[]);
    let guarded = &mut session.guarded;
    let change = |guarded: &Guarded, policy: &str, times: usize| {
        fs::write(guarded.policy_file(), policy).unwrap();
        let since = std::time::Instant::now();
        while guarded.stderr().matches("was read anew and is in force").count() < times {
            assert!(since.elapsed() < Duration::from_secs(15), "{}", guarded.stderr());
            thread::sleep(Duration::from_millis(10));
        }
    };
    // Something else stands against it now: asked once more, about all of it.
    guarded.send(&call("1", "touch", "{}"));
    let first = guarded.question(0);
    change(guarded, &more, 1);
    guarded.reply(&first, YES);
    let second = guarded.question(1);
    assert!(second["params"]["message"].as_str().unwrap().contains("- Also this.\n"), "{second}");
    assert_eq!(guarded.server_got_count("touch"), 0);
    guarded.reply(&second, YES);
    assert_eq!(text(&guarded.wait("1")), "ran touch");
    // A deny beats every yes.
    guarded.send(&call("2", "touch", "{}"));
    let third = guarded.question(2);
    change(guarded, &denies, 2);
    guarded.reply(&third, YES);
    let refused = guarded.wait("2");
    assert_eq!(decision(&refused)["failed"][0], "never", "{refused}");
    // Less stands against it: what was shown covers it.
    change(guarded, &more, 3);
    guarded.send(&call("3", "touch", "{}"));
    let fourth = guarded.question(3);
    change(guarded, POLICY, 4);
    guarded.reply(&fourth, YES);
    assert_eq!(text(&guarded.wait("3")), "ran touch");
    assert_eq!(guarded.server_got_count("touch"), 2);
    session.end();
}

#[test]
fn questions_have_a_limit_and_the_refusal_says_so() {
    let policy = POLICY.replace("50", "2");
    let wrapper = framegate_tests::wrapper!();
    let mut guarded = Start {
        wrapper: &wrapper,
        policy: Some(&policy),
        options: &["--store", "none"],
        script: Guarded::script_of_touch(&[]),
        files: &[],
    }
    .now();
    guarded.open_asking("2025-11-25", "{}");
    for id in ["1", "2"] {
        guarded.send(&call(id, "touch", "{}"));
        guarded.reply(&guarded.question(id.parse::<usize>().unwrap() - 1), NO);
        guarded.wait(id);
    }
    let refused = guarded.call("3", "touch", "{}");
    assert!(text(&refused).contains("2 questions were asked within a minute"), "{refused}");
    assert_eq!(guarded.client_asked("elicitation/create").len(), 2);
    guarded.end();
}

#[test]
fn the_servers_own_questions_go_their_own_way_meanwhile() {
    let asks = r#"{"jsonrpc":"2.0","id":"framegate-forged","method":"elicitation/create","params":{"message":"mine"}}"#;
    let own = json!({ "on": "tools/call", "name": "free", "emit": [asks, r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"its"}}"#] });
    let mut session = opened(&[], &[own]);
    let guarded = &mut session.guarded;
    guarded.send(&call("1", "touch", "{}"));
    let ours = guarded.question(0);
    guarded.send(&call("2", "free", "{}"));
    let all = [guarded.question(1), guarded.question(2)];
    for its in &all {
        guarded.reply(its, r#"{"action":"accept","content":{"approve":true}}"#);
    }
    guarded.wait_server_got("\"action\":\"accept\"", 2);
    assert_eq!(guarded.server_got_count("touch"), 0, "an answer to the server's question approves nothing");
    guarded.reply(&ours, YES);
    assert_eq!(text(&guarded.wait("1")), "ran touch");
    assert_eq!(guarded.server_got_count("\"action\":\"accept\""), 2, "ours stays here");
    session.end();
}

#[test]
fn a_large_call_waits_like_any_other_and_goes_on_byte_for_byte() {
    let mut session = opened(&[], &[]);
    let guarded = &mut session.guarded;
    let frame = call("1", "touch", &format!(r#"{{"content":"{}"}}"#, "x".repeat(2_000_000)));
    guarded.send(&frame);
    let question = guarded.question(0);
    guarded.ask(&ping("2"), "2");
    guarded.reply(&question, YES);
    assert_eq!(text(&guarded.wait("1")), "ran touch");
    assert!(guarded.server_got().contains(&frame));
    session.end();
}
