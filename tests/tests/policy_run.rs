//! What `framegate run --policy` makes of a session: what is shown, what passes and how, what a refusal is.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    thread,
    time::{Duration, Instant},
};

use framegate_tests::{
    Guarded,
    guarded::{ENVELOPE, INITIALIZE, INITIALIZED, Start, WITHIN, call, decision, ping, text, tools},
    scan,
    transcript::difference,
};
use serde_json::{Value, json};

const ANY: &str = r#"{"type":"object"}"#;
const ONLY_SAFE: &str = "framegate: 1\ntools: { safe: {} }\n";

fn two_tools() -> Value {
    tools(&[("safe", ANY), ("danger", ANY)])
}

/// A session in which everything the client sent must have arrived but for the frames given.
fn assert_arrived_but(guarded: &Guarded, refused: &[&str]) {
    let sent = guarded.session.client.sent();
    let passes = |line: &&[u8]| !refused.iter().any(|refused| refused.as_bytes() == line.trim_ascii_end());
    let lines = sent.split_inclusive(|byte| *byte == b'\n').filter(passes);
    let (sent, got) = (lines.collect::<Vec<_>>().concat(), guarded.server_got_of_client());
    assert!(got == sent, "{}", difference(&got, &sent));
}

// === what is shown ===

#[test]
fn hidden_tools_are_gone_from_the_listing_and_refused_when_called() {
    let policy = "framegate: 1\ndefault: allow\ntools: { danger: { hidden: true } }\n";
    for policy in [ONLY_SAFE, policy] {
        let listed = r#"{"name":"danger","x":{"tools":[]}, "inputSchema":{"type":"object"}}"#;
        let odd = format!(r#"[ {listed} , {{"inputSchema":{ANY},"n":1.50,"name":"safe"}},{listed}]"#);
        let mut guarded = Guarded::start(&framegate_tests::wrapper!(), policy, json!([{ "tools": odd }]));
        guarded.open();
        guarded.ask(r#"{"jsonrpc":"2.0","id":"tl","method":"tools/list"}"#, "\"tl\"");
        let received = guarded.session.client.received();
        let listing = received.split(|byte| *byte == b'\n').find(|line| scan::id(line) == Some(b"\"tl\""));
        let listing = String::from_utf8_lossy(listing.unwrap()).into_owned();
        assert!(!listing.contains("danger"), "{listing}");
        assert!(listing.contains(r#"{"inputSchema":{"type":"object"},"n":1.50,"name":"safe"}"#), "{listing}");
        let refused = guarded.call("1", "danger", "{}");
        assert_eq!(decision(&refused)["outcome"], "deny", "{refused}");
        assert_eq!(text(&guarded.call("2", "safe", "{}")), "ran safe");
        guarded.end();
        assert_arrived_but(&guarded, &[&call("1", "danger", "{}")]);
    }
}

#[test]
fn descriptions_say_the_rules_where_the_policy_asks_for_it() {
    let policy = "framegate: 1\ndefaults: { show_rules: true }\ntools: { safe: {}, plain: { show_rules: false } }\nrules:\n  \
                  - { name: small, that: args.n < 5, because: At most four. }\n";
    let schema = r#"{"type":"object","properties":{"n":{"type":"number"}}}"#;
    let tool =
        |name: &str| format!(r#"{{"inputSchema":{schema}, "description":"Runs \u00e4.","name":"{name}"}}"#);
    let listed = format!("[{},{},{}]", tool("danger"), tool("safe"), tool("plain"));
    let mut guarded = Guarded::start(&framegate_tests::wrapper!(), policy, json!([{ "tools": listed }]));
    guarded.open();
    let answer = guarded.ask(r#"{"jsonrpc":"2.0","id":"tl","method":"tools/list"}"#, "\"tl\"");
    let said = answer["result"]["tools"][0]["description"].as_str().unwrap();
    assert!(said.starts_with("Runs ä.\n\n") && said.contains("At most four."), "{said}");
    assert_eq!(answer["result"]["tools"][1]["description"], "Runs ä.");
    assert_eq!(answer["result"]["tools"].as_array().unwrap().len(), 2);
    let received = guarded.session.client.received();
    assert!(scan::has(&received, &tool("plain").into_bytes()), "all else is byte for byte");
    guarded.end();
}

#[test]
fn a_listing_of_several_pages_is_read_to_its_end_and_shown_page_by_page() {
    let page = |tool: &str, cursor: &str| {
        json!({ "on": "tools/list", "times": 1, "reply": format!(
            r#"{{"jsonrpc":"2.0","id":$ID,"result":{{"tools":[{{"name":"{tool}","inputSchema":{ANY}}}]{cursor}}}}}"#
        ) })
    };
    // Twice: for the guard and for the client.
    let script = json!([
        page("safe", r#","nextCursor":"""#),
        page("danger", ""),
        page("safe", r#","nextCursor":"""#),
        page("danger", ""),
    ]);
    let policy = "framegate: 1\ntools: { danger: {} }\n";
    let mut guarded = Guarded::start(&framegate_tests::wrapper!(), policy, script);
    guarded.send(INITIALIZE);
    guarded.wait("\"open\"");
    guarded.send(INITIALIZED);
    guarded.wait_server_got("tools/list", 2);
    guarded.wait_quiet();
    assert!(guarded.server_got_of_ours()[1].contains(r#""cursor":"""#), "{:?}", guarded.server_got_of_ours());
    assert_eq!(text(&guarded.call("1", "danger", "{}")), "ran danger");
    let first = guarded.ask(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#, "2");
    assert_eq!(first["result"], json!({ "tools": [], "nextCursor": "" }));
    let second = guarded.ask(r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":""}}"#, "3");
    assert_eq!(second["result"]["tools"][0]["name"], "danger");
    guarded.end();
}

// === what passes ===

#[test]
fn allowed_calls_arrive_byte_for_byte() {
    let schema = r#"{"type":"object","properties":{"n":{"type":"number"},"t":{"type":"string"}}}"#;
    let mut guarded =
        Guarded::start(&framegate_tests::wrapper!(), ONLY_SAFE, json!([tools(&[("safe", schema)])]));
    guarded.open();
    let frames: [(&str, &str); 6] = [
        (
            "1",
            "{ \"jsonrpc\" : \"2.0\", \"id\" :1 ,\"method\":\"tools/call\",\"params\":{\"arguments\":{\"n\":1.10},\"name\":\"safe\"} } \r\n",
        ),
        (
            "\"\\u0032\"",
            "{\"id\":\"\\u0032\",\"jsonrpc\":\"2.0\",\"params\":{\"name\":\"s\\u0061fe\",\"arguments\":{\"t\":\"\\u00e4\\/\u{2028}\u{1f980}\"}},\"method\":\"tools\\/call\"}\n",
        ),
        (
            "3",
            "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"safe\",\"arguments\":{\"n\":12345678901234567890.0123456789e-3},\"_meta\":{\"progressToken\":1}}}\n",
        ),
        (
            "4",
            "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"safe\"},\"extra\":[null]}\n",
        ),
        (
            "5",
            "\t{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"safe\",\"arguments\":null}}\n",
        ),
        (
            "-6",
            "{\"jsonrpc\":\"2.0\",\"id\":-6,\"method\":\"tools/call\",\"params\":{\"name\":\"safe\",\"arguments\":{\"other\":{\"deep\":[[]]}}}}\n",
        ),
    ];
    for (id, frame) in frames {
        guarded.session.client.send(frame.as_bytes().to_vec(), WITHIN).unwrap();
        let answer = guarded.wait(id);
        assert!(answer["result"].get("isError").is_none(), "{answer}");
    }
    guarded.end();
    assert_arrived_but(&guarded, &[]);
    let (got, sent) = (guarded.session.client.received(), guarded.server_sent_to_client());
    assert!(got == sent, "{}", difference(&got, &sent));
}

#[test]
fn coercion_changes_the_values_bytes_alone() {
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"},"b":{"type":"boolean"},"t":{"type":"string"}}}"#;
    let policy = "framegate: 1\narguments: coerce\ntools: { safe: {} }\n";
    let mut guarded =
        Guarded::start(&framegate_tests::wrapper!(), policy, json!([tools(&[("safe", schema)])]));
    guarded.open();
    let frame = |n: &str, b: &str| {
        format!(
            r#"{{ "id":1,"params" : {{"arguments": {{ "t":"\u0061" , "n" :  {n},"b":{b} }},"name":"safe"}},"jsonrpc":"2.0","method":"tools/call"}}"#
        )
    };
    assert_eq!(text(&guarded.ask(&frame(r#""2""#, r#""no""#), "1")), "ran safe");
    let refused = guarded.call("2", "safe", r#"{"n":"two"}"#);
    assert_eq!(decision(&refused)["failed"], json!(["arguments_valid"]), "{refused}");
    guarded.end();
    let arrived = guarded.server_got();
    assert!(arrived.contains(&frame("2", "false")), "{arrived:#?}");
    assert_eq!(guarded.server_got_count("tools/call"), 1);
    assert!(guarded.stderr().contains("coerced"), "{}", guarded.stderr());
}

// === refusals ===

fn assert_refusal_shape(answer: &Value, because: &str) {
    let members: Vec<&str> = answer["result"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["_meta", "content", "isError", "resultType"], "{answer}");
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(answer["result"]["resultType"], "complete");
    assert!(text(answer).contains(because), "{answer}");
    let decision = decision(answer);
    assert_eq!(decision["executed"], false, "{answer}");
    assert!(decision["failed"].as_array().is_some_and(|failed| !failed.is_empty()), "{answer}");
    assert!(decision["reasons"].to_string().contains(because), "{answer}");
}

const RULES: &str = "framegate: 1
default: allow
rules:
  - { name: no_danger, tools: [danger], that: args.sure == 'x', because: Danger needs to be sure. }
  - { name: someone_looks, tools: [ask_*], that: 'false', otherwise: ask, because: A person looks at these. }
";

fn rules_script() -> Value {
    let output = r#"{"type":"object"},"outputSchema":{"type":"object","required":["n"]}"#;
    json!([tools(&[("safe", ANY), ("danger", output), ("ask_me", ANY)])])
}

#[test]
fn a_refusal_is_a_tool_result_in_both_eras() {
    let wrapper = framegate_tests::wrapper!();
    let mut legacy = Guarded::start(&wrapper, RULES, rules_script());
    legacy.open();
    let mut modern = Guarded::start(&wrapper, RULES, rules_script());
    for (guarded, meta) in [(&mut legacy, ""), (&mut modern, &*format!(r#","_meta":{ENVELOPE}"#))] {
        for (id, tool, because, outcome) in [
            ("1", "danger", "Danger needs to be sure.", "deny"),
            ("\"b\"", "ask_me", "A person looks at these.", "ask"),
        ] {
            let params = format!(r#"{{"name":"{tool}","arguments":{{"sure":"y"}}{meta}}}"#);
            let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
            let answer = guarded.ask(&frame, id);
            assert_refusal_shape(&answer, because);
            assert_eq!(decision(&answer)["outcome"], outcome, "{answer}");
            assert_eq!(decision(&answer)["tool"], tool, "{answer}");
        }
        guarded.end();
        assert_eq!(guarded.server_got_count("tools/call"), 0);
    }
}

#[test]
fn every_failure_is_named_denies_first() {
    let policy = "framegate: 1
tools: { safe: {} }
rules:
  - { name: asks, tools: [safe], that: 'false', otherwise: ask, because: Ask first. }
  - { name: denies, tools: [safe], that: 'false', because: Never. }
";
    let mut guarded = Guarded::start(&framegate_tests::wrapper!(), policy, json!([two_tools()]));
    guarded.open();
    let answer = guarded.call("1", "safe", "{}");
    assert_eq!(decision(&answer)["outcome"], "deny", "any deny beats every ask: {answer}");
    assert_eq!(decision(&answer)["failed"][0], "denies", "{answer}");
    assert_eq!(decision(&answer)["reasons"][0], "denies: Never.", "{answer}");
    guarded.end();
}

#[test]
fn a_task_augmented_call_is_refused_by_an_error() {
    let mut guarded = Guarded::start(&framegate_tests::wrapper!(), RULES, rules_script());
    guarded.open();
    let task = |id: &str, tool: &str| {
        let params = format!(r#"{{"name":"{tool}","arguments":{{}},"task":{{"ttl":60000}}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
    };
    let answer = guarded.ask(&task("1", "ask_me"), "1");
    assert!(answer.get("result").is_none(), "a result would be taken for a task: {answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("A person looks at these."), "{answer}");
    assert_eq!(answer["error"]["data"]["failed"], json!(["someone_looks"]), "{answer}");
    let hidden = guarded.ask(&task("2", "none"), "2");
    assert!(hidden["error"]["code"].is_i64(), "{hidden}");
    assert_eq!(text(&guarded.ask(&task("3", "safe"), "3")), "ran safe");
    guarded.end();
    assert_arrived_but(&guarded, &[&task("1", "ask_me"), &task("2", "none")]);
}

// === the guard's own listing ===

#[test]
fn a_modern_client_that_starts_with_a_call_waits_for_the_listing() {
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;
    let slow = json!({ "on": "tools/list", "emit": [
        { "sleep_ms": 700 },
        format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{{"tools":[{{"name":"safe","inputSchema":{schema}}}]}}}}"#),
    ] });
    let mut guarded = Guarded::start(&framegate_tests::wrapper!(), ONLY_SAFE, json!([slow]));
    let modern = |id: &str, n: &str| {
        let params = format!(r#"{{"name":"safe","arguments":{{"n":{n}}},"_meta":{ENVELOPE}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
    };
    guarded.send(&modern("1", "\"x\""));
    guarded.send(&modern("2", "5"));
    let refused = guarded.wait("1");
    assert_eq!(decision(&refused)["failed"], json!(["arguments_valid"]), "judged by the schema: {refused}");
    assert_eq!(text(&guarded.wait("2")), "ran safe");
    guarded.end();
    let ours = guarded.server_got_of_ours();
    let [listing] = ours.as_slice() else { panic!("one listing: {ours:?}") };
    let listing: Value = serde_json::from_str(listing).unwrap();
    assert_eq!(listing["method"], "tools/list");
    let meta = &listing["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28", "{listing}");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}), "{listing}");
    assert_arrived_but(&guarded, &[&modern("1", "\"x\"")]);
}

#[test]
fn nothing_is_asked_before_the_opening_exchange_is_over() {
    let mut guarded = Guarded::start(&framegate_tests::wrapper!(), ONLY_SAFE, json!([two_tools()]));
    let discover =
        format!(r#"{{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{{"_meta":{ENVELOPE}}}}}"#);
    guarded.ask(&discover, "\"d\"");
    guarded.ask(INITIALIZE, "\"open\"");
    guarded.ask(&ping("1"), "1");
    guarded.wait_quiet();
    assert_eq!(guarded.server_got_of_ours(), Vec::<String>::new());
    guarded.send(INITIALIZED);
    guarded.wait_server_got("tools/list", 1);
    assert!(!guarded.server_got_of_ours()[0].contains("_meta"), "a legacy session has no envelope");
    guarded.end();
    assert_arrived_but(&guarded, &[]);
}

#[test]
fn a_server_that_never_lists_costs_the_call_and_not_the_session() {
    let script = json!([{ "on": "tools/list", "emit": [] }]);
    let mut guarded = Guarded::start(&framegate_tests::wrapper!(), ONLY_SAFE, script);
    guarded.send(INITIALIZE);
    guarded.wait("\"open\"");
    guarded.send(INITIALIZED);
    let since = Instant::now();
    guarded.send(&call("1", "safe", "{}"));
    let task =
        r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"safe","arguments":{},"task":{}}}"#;
    guarded.send(task);
    guarded.send(&ping("2"));
    guarded.wait("2");
    assert!(since.elapsed() < Duration::from_secs(3), "the ping waited {:?}", since.elapsed());
    assert!(guarded.answer("1").is_none());
    let refused = guarded.wait("1");
    assert!((4..8).contains(&since.elapsed().as_secs()), "after {:?}", since.elapsed());
    assert_eq!(decision(&refused)["failed"], json!(["listing"]), "{refused}");
    let refused = guarded.wait("4");
    assert_eq!(
        refused["error"]["data"]["failed"],
        json!(["listing"]),
        "a task's caller gets an error: {refused}"
    );
    guarded.ask(&ping("3"), "3");
    guarded.end();
    assert_arrived_but(&guarded, &[&call("1", "safe", "{}"), task]);
}

#[test]
fn a_list_that_changed_is_listed_again() {
    let listing = |listed: &str| format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{{"tools":[{listed}]}}}}"#);
    let tool = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{ANY}}}"#);
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let script = json!([
        { "on": "tools/list", "times": 1, "reply": listing(&tool("safe")) },
        { "on": "tools/list", "reply": listing(&(tool("safe") + "," + &tool("late"))) },
        { "on": "ping", "times": 1, "emit": [changed, r#"{"jsonrpc":"2.0","id":$ID,"result":{}}"#] },
    ]);
    let policy = "framegate: 1\ntools: { safe: {}, late: {} }\n";
    let mut guarded = Guarded::start(&framegate_tests::wrapper!(), policy, script);
    guarded.open();
    let early = guarded.call("1", "late", "{}");
    assert_eq!(decision(&early)["failed"], json!(["known_tool"]), "{early}");
    guarded.ask(&ping("2"), "2");
    assert_eq!(text(&guarded.call("3", "late", "{}")), "ran late");
    assert_eq!(guarded.server_got_of_ours().len(), 2);
    assert!(scan::has(&guarded.session.client.received(), changed.as_bytes()), "it is passed on");
    thread::sleep(Duration::from_millis(100));
    guarded.end();
    assert_eq!(guarded.server_got_of_ours().len(), 2, "once for each change");
}

#[test]
fn a_session_without_a_policy_is_said_once_and_not_touched() {
    let wrapper = framegate_tests::wrapper!();
    let start =
        Start { wrapper: &wrapper, policy: None, options: &[], script: json!([two_tools()]), files: &[] };
    let mut guarded = start.now();
    guarded.ask(INITIALIZE, "\"open\"");
    guarded.send(INITIALIZED);
    assert_eq!(text(&guarded.call("1", "danger", "{}")), "ran danger");
    guarded.end();
    let said = guarded.stderr();
    assert_eq!(said.matches("nothing is enforced").count(), 1, "{said}");
    assert_eq!(guarded.session.record.server_got(), guarded.session.client.sent());
    assert_eq!(guarded.session.record.server_sent(), guarded.session.client.received());
}

// === what the client was shown ===

fn listing_of(tool: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{{"tools":[{tool}]}}}}"#)
}

#[test]
fn a_definition_that_only_the_client_was_shown_makes_the_calls_ask_until_it_sees_the_right_one() {
    let clean = format!(r#"{{"name":"safe","description":"clean","inputSchema":{ANY}}}"#);
    let other = format!(r#"{{"name":"safe","description":"POISON","inputSchema":{ANY}}}"#);
    // Most clients keep the last of two equal keys; nobody can be sure.
    let twice =
        format!(r#"{{"name":"safe","description":"clean","description":"POISON","inputSchema":{ANY}}}"#);
    for shown in [other, twice] {
        let script = json!([
            { "on": "tools/list", "times": 1, "reply": listing_of(&clean) },
            { "on": "tools/list", "times": 1, "reply": listing_of(&shown) },
            { "on": "tools/list", "reply": listing_of(&clean) },
        ]);
        let mut guarded = Guarded::start(&framegate_tests::wrapper!(), ONLY_SAFE, script);
        guarded.open();
        guarded.ask(r#"{"jsonrpc":"2.0","id":"tl","method":"tools/list"}"#, "\"tl\"");
        // The guard has looked again, and saw the first definition.
        guarded.wait_server_got("tools/list", 3);
        guarded.wait_quiet();
        let refused = guarded.call("1", "safe", "{}");
        assert_eq!(decision(&refused)["failed"], json!(["tool_certain"]), "{refused}");
        guarded.ask(r#"{"jsonrpc":"2.0","id":"again","method":"tools/list"}"#, "\"again\"");
        guarded.wait_server_got("tools/list", 5);
        guarded.wait_quiet();
        assert_eq!(text(&guarded.call("2", "safe", "{}")), "ran safe");
        guarded.end();
    }
}

#[test]
fn a_listing_that_only_some_readers_can_read_shows_nothing() {
    let tools =
        format!(r#""tools":[{{"name":"safe","inputSchema":{ANY}}},{{"name":"danger","inputSchema":{ANY}}}]"#);
    for odd in [
        // Python's reader takes it.
        format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{{{tools},"x":NaN}}}}"#),
        format!(r#"{{"id":0,"jsonrpc":"2.0","id":$ID,"result":{{{tools},"x":NaN}}}}"#),
        // Go's reader takes the last of these two.
        format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{{"tools":[],"T{}}}}}"#, &tools[2..]),
        format!(
            r#"{{"jsonrpc":"2.0","id":$ID,"result":{{"tools":[{{"name":"safe","Name":"danger","inputSchema":{ANY}}}]}}}}"#
        ),
    ] {
        let script = json!([
            { "on": "tools/list", "times": 1, "reply": listing_of(&format!(r#"{{"name":"safe","inputSchema":{ANY}}}"#)) },
            { "on": "tools/list", "reply": odd },
        ]);
        let mut guarded = Guarded::start(&framegate_tests::wrapper!(), ONLY_SAFE, script);
        guarded.open();
        guarded.send(r#"{"jsonrpc":"2.0","id":"tl","method":"tools/list"}"#);
        guarded.wait_server_got("tools/list", 2);
        guarded.ask(&ping("9"), "9");
        thread::sleep(Duration::from_millis(50));
        let received = String::from_utf8_lossy(&guarded.session.client.received()).into_owned();
        assert!(!received.contains("danger"), "{received}");
        guarded.end();
    }
}

#[test]
fn what_a_server_asks_for_inside_an_answer_is_ruled_on_like_its_own_requests() {
    let policy = "framegate: 1\ntools: { safe: {} }\nserver_requests: { sampling/createMessage: deny }\n";
    let asks = |key: &str, method: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":$ID,"result":{{"resultType":"input_required","{key}":{{"k":{{"method":"{method}","params":{{"maxTokens":1}}}}}},"requestState":"s"}}}}"#
        )
    };
    let script = json!([
        { "on": "tools/call", "times": 1, "reply": asks("inputRequests", "sampling/createMessage") },
        { "on": "tools/call", "times": 1, "reply": asks("\\u0069nputRequests", "sampling\\/createMessage") },
        { "on": "tools/call", "times": 1, "reply": asks("inputRequests", "roots/list").replace("maxTokens", "x") },
        { "tools": format!(r#"[{{"name":"safe","inputSchema":{ANY}}}]"#) },
    ]);
    let mut guarded = Guarded::start(&framegate_tests::wrapper!(), policy, script);
    let call = |id: u8| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"safe","_meta":{ENVELOPE}}}}}"#
        )
    };
    for id in 1..=2 {
        let refused = guarded.ask(&call(id), &id.to_string());
        assert_eq!(refused["error"]["code"], -31901, "{refused}");
    }
    guarded.send(&call(3));
    guarded.wait_server_got("tools/call", 3);
    guarded.ask(&ping("4"), "4");
    let received = String::from_utf8_lossy(&guarded.session.client.received()).into_owned();
    assert!(received.contains("roots/list") && !received.contains("maxTokens"), "{received}");
    guarded.end();
}

#[test]
fn what_a_tool_said_counts_also_where_it_cannot_be_read_for_certain() {
    let policy = "framegate: 1\ntools: { safe: {} }\nrules:\n  - { name: quiet, that: '!contains_any(conversation, [\"SECRET\"])' }\n";
    for result in [
        r#""content":[{"type":"text","text":"a SECRET","x":1,"x":2}]"#,
        r#""content":[{"type":"text","text":"a \u0053ECRET \ud800"}]"#,
        r#""content":[{"type":"text","text":"a SECRET"}],"isError":false,"isError":false"#,
        r#""content":[{"type":"text","text":"a SECRET"}],"task":{"taskId":"1"}"#,
        r#""content":[{"type":"text","text":"a \u0053ECRET"}],"x":NaN"#,
    ] {
        let odd = format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{{{result}}}}}"#);
        let script = json!([
            { "on": "tools/call", "times": 1, "reply": odd },
            { "tools": format!(r#"[{{"name":"safe","inputSchema":{ANY}}}]"#) },
        ]);
        let mut guarded = Guarded::start(&framegate_tests::wrapper!(), policy, script);
        guarded.open();
        guarded.send(&call("1", "safe", "{}"));
        guarded.wait_server_got("tools/call", 1);
        guarded.ask(&ping("2"), "2");
        let refused = guarded.call("3", "safe", "{}");
        assert_eq!(decision(&refused)["failed"], json!(["quiet"]), "{result}: {refused}");
        guarded.end();
    }
}

#[test]
fn an_answer_that_was_dropped_is_told_to_nobody_but_who_waits_for_it() {
    let listing = format!(r#"{{"tools":[{{"name":"safe","inputSchema":{ANY}}}]}}"#);
    let script = json!([
        { "on": "tools/list", "times": 1, "emit": [
            r#"[{"jsonrpc":"2.0","id":777,"result":{}},{"jsonrpc":"2.0","id":778,"result":{}}]"#,
            format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{listing},"result":{listing}}}"#),
        ] },
        { "tools": format!(r#"[{{"name":"safe","inputSchema":{ANY}}}]"#) },
    ]);
    let mut guarded = Guarded::start(&framegate_tests::wrapper!(), ONLY_SAFE, script);
    let since = Instant::now();
    guarded.open();
    // The guard's listing failed at once, and goes well with the next call.
    assert_eq!(text(&guarded.call("1", "safe", "{}")), "ran safe");
    assert!(since.elapsed() < Duration::from_secs(3), "{:?}", since.elapsed());
    let received = String::from_utf8_lossy(&guarded.session.client.received()).into_owned();
    assert_eq!(received.lines().count(), 2, "{received}");
    guarded.end();
}

/// Nobody reads what is in them, but only one that is an answer for certain may go on.
#[test]
fn a_large_answer_goes_on_unread_and_not_with_an_envelope_in_doubt() {
    let rows =
        |last: &str| format!(r#"{{"content":[],"rows":[{}{last}]}}"#, r#"{"n":1,"t":"\"]}"},"#.repeat(6000));
    let plain = rows("null");
    for (large, passes) in [
        (format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{plain}}}"#), true),
        (format!(r#"{{"result":{plain},"jsonrpc":"2.0","id":$ID}}"#), true),
        (format!(r#"{{"result":{},"jsonrpc":"2.0","id":$ID}}"#, rows("NaN")), true),
        (format!(r#"{{"result":{},"jsonrpc":"2.0","id":$ID}}"#, rows("\"\u{e9}\"")), true),
        (format!(r#"{{"id":9,"result":{plain},"jsonrpc":"2.0","id":$ID}}"#), false),
        (format!(r#"{{"result":{plain},"result":{plain},"jsonrpc":"2.0","id":$ID}}"#), false),
        (format!(r#"{{"result":{plain},"method":"ping","jsonrpc":"2.0","id":$ID}}"#), false),
        (format!(r#"{{"result":{},"jsonrpc":"2.0","id":$ID}}"#, rows("\r7")), false),
        (format!(r#"{{"result":{plain},"jsonrpc":"2.0","ID":9,"id":$ID}}"#), false),
    ] {
        let script = json!([
            { "on": "tools/call", "times": 1, "emit": [{ "raw": format!("{}\n", large.replace("$ID", "1")) }] },
            { "tools": format!(r#"[{{"name":"safe","inputSchema":{ANY}}}]"#) },
        ]);
        let mut guarded = Guarded::start(&framegate_tests::wrapper!(), ONLY_SAFE, script);
        guarded.open();
        guarded.send(&call("1", "safe", "{}"));
        guarded.wait_server_got("tools/call", 1);
        guarded.ask(&ping("2"), "2");
        let received = String::from_utf8_lossy(&guarded.session.client.received()).into_owned();
        let line = large.replace("$ID", "1");
        let head = large.get(..40).unwrap();
        assert_eq!(received.lines().any(|seen| seen == line), passes, "{head}");
        assert_eq!(received.contains("the server's answer was dropped"), !passes, "{head}");
        guarded.end();
    }
}
