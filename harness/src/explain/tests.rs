//! What a player makes of lines.

use super::*;
use framegate_guard::world::NoWorld;

const FILES: &str = r#"{"tools":[{"name":"read","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}},{"name":"pay","inputSchema":{"type":"object","properties":{"amount":{"type":"number"}},"required":["amount"]}}]}"#;

fn player(policy: &str) -> Player {
    let loaded = Policy::load("p.yaml", policy.as_bytes(), &mut |_| Err("none".to_owned()))
        .unwrap_or_else(|why| panic!("{why}"));
    let facts = Facts::new(&loaded.policy, &BTreeMap::new()).unwrap();
    Player::new(loaded.policy, "server", facts, Arc::new(NoWorld))
}

/// The decisions on a session's calls, as they are printed.
fn play(policy: &str, lines: &[&str]) -> Vec<serde_json::Value> {
    let mut player = player(policy);
    let mut decisions = Vec::new();
    for line in lines {
        let event = event::read(line.as_bytes()).unwrap();
        if let Played::Decided(decided) = player.play(event).unwrap() {
            decisions.push(serde_json::from_str(&decided.json()).unwrap());
        }
    }
    decisions
}

fn outcomes(policy: &str, lines: &[&str]) -> Vec<String> {
    play(policy, lines).iter().map(|decision| decision["outcome"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_decision_says_what_the_interface_promises() {
    let policy = "framegate: 1\ntools: { pay: {} }\nrules:\n  - { name: small, that: args.amount <= 10, otherwise: ask, because: Only small sums., advice: Split it. }\n";
    let call = r#"{"call":{"id":"c1","name":"pay","arguments":{"amount": 10.50}}}"#;
    let mut player = player(policy);
    player.play(event::read(FILES.as_bytes()).unwrap()).unwrap();
    let Played::Decided(decided) = player.play(event::read(call.as_bytes()).unwrap()).unwrap() else {
        panic!()
    };
    let text = decided.json();
    assert!(text.ends_with(r#","sent":{"amount": 10.50}}"#), "the bytes of the arguments are kept: {text}");
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&json["outcome"], &json["would"]), (&"ask".into(), &"ask".into()));
    assert_eq!((&json["tool"], &json["id"]), (&"pay".into(), &"c1".into()));
    assert_eq!(json["failed"], serde_json::json!(["small"]));
    assert_eq!(json["reasons"], serde_json::json!(["small: Only small sums."]));
    assert_eq!((&json["evidence"], &json["state"]), (&serde_json::json!([]), &serde_json::json!({})));
    assert_eq!(json["policy_only"], true);
    assert_eq!(json["approval_key"].as_str().unwrap().len(), 32);
    let (message, advice) = (json["message"].as_str().unwrap(), json["advice"].as_str().unwrap());
    assert!(
        message.starts_with("pay was not run, a person would have to decide: Only small sums."),
        "{message}"
    );
    assert_eq!(advice, "- Split it.", "the author's own words are enough");
    assert!(message.ends_with(advice));
    let shown = decided.text("-:2");
    assert!(
        shown.starts_with(
            "-:2: pay {\"amount\": 10.50}\n  ask\n  why: small: Only small sums. [ask]\n  next: Split it."
        ),
        "{shown}"
    );
}

#[test]
fn only_what_was_made_adds_its_output() {
    let policy = "framegate: 1\ndefault: allow\nrules:\n  - { name: unseen, tools: [read], that: \"!conversation.contains('secret')\", because: Seen. }\n";
    let call = |rest: &str| format!(r#"{{"call":{{"name":"read","arguments":{{"path":"a"}}}}{rest}}}"#);
    let after = |rest: &str| outcomes(policy, &[FILES, &call(rest), &call("")]).pop().unwrap();
    assert_eq!(after(r#","output":"a secret""#), "deny");
    assert_eq!(after(r#","output":"a secret","is_error":true"#), "deny", "an error's text is seen too");
    assert_eq!(after(r#","output":"a secret","made":false"#), "allow");
    let hidden = policy.replace("default: allow", "tools: { read: {} }");
    let pay = r#"{"call":{"name":"pay","arguments":{"amount":1}},"output":"secret"}"#;
    assert_eq!(
        outcomes(&hidden, &[FILES, pay, &call("")]),
        ["deny", "allow"],
        "a refused call gives nothing"
    );
    let made = pay.replace("\"output\"", "\"made\":true,\"output\"");
    assert_eq!(outcomes(&hidden, &[FILES, &made, &call("")]), ["deny", "deny"], "it was made all the same");
    let said = r#"{"message":{"role":"user","content":"my secret"}}"#;
    assert_eq!(outcomes(policy, &[FILES, said, &call("")]), ["deny"]);
}

#[test]
fn what_run_could_not_read_is_refused() {
    let policy =
        "framegate: 1\ndefault: allow\narguments: unchecked\nlimits: { depth: 5, call_bytes: 1024 }\n";
    let reason = |call: &str| {
        let decision = play(policy, &[call]).pop().unwrap();
        assert_eq!(
            (&decision["outcome"], &decision["sent"]),
            (&"deny".into(), &serde_json::Value::Null),
            "{call}"
        );
        assert_eq!(decision["failed"], serde_json::json!(["arguments_valid"]));
        decision["reasons"][0].as_str().unwrap().to_owned()
    };
    let twice = reason(r#"{"call":{"function":{"name":"f","arguments":"{\"a\":1,\"a\":2}"}}}"#);
    assert_eq!(twice, "the call's arguments cannot be read for certain: duplicate key `a` at byte 7");
    // The frame, its params and the arguments are three levels.
    assert_eq!(outcomes(policy, &[r#"{"call":{"name":"f","arguments":{"a":[[1]]}}}"#]), ["allow"]);
    let deep = reason(r#"{"call":{"name":"f","arguments":{"a":[[[1]]]}}}"#);
    assert!(deep.starts_with("the call cannot be read for certain: nested deeper than 5 levels"), "{deep}");
    let long = format!(r#"{{"call":{{"name":"f","arguments":{{"a":"{}"}}}}}}"#, "x".repeat(1024));
    assert!(reason(&long).contains("over the limit of 1024"));
    assert!(reason(r#"{"call":{"name":"f","arguments":[1]}}"#).contains("arguments"));
    let lines = r#"{"call":{"function":{"name":"f","arguments":"{\n\"a\":\r\n1}"}}}"#;
    assert_eq!(play(policy, &[lines])[0]["sent"], serde_json::json!({"a": 1}), "line breaks between values");
}

#[test]
fn facts_time_and_paths_count_from_where_they_stand() {
    let policy = "framegate: 1\ndefault: allow\nfacts: { role: { type: string }, n: { type: int, default: 2 } }\nrules:\n  - { name: admin, that: facts.role == 'admin' && facts.n == 2, because: No. }\n  - { name: office, that: \"between(now, '09:00', '17:00', 'UTC')\", because: Late. }\n  - { name: inside, tools: [read], that: \"within(args.path, '/work')\", because: Out. }\n";
    let call = r#"{"call":{"name":"read","arguments":{"path":"x"}}}"#;
    let failed = |decision: &serde_json::Value| {
        let names = decision["failed"].as_array().unwrap().iter();
        names.map(|name| name.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let decisions = play(
        policy,
        &[
            call,
            r#"{"facts":{"role":"admin","n":1}}"#,
            r#"{"now":"2026-01-31T08:59:59Z"}"#,
            r#"{"paths":{".":"/work","/work/x":"/etc/x"}}"#,
            call,
            r#"{"facts":{"n":2}}"#,
            r#"{"now":"2026-01-31T09:00:00Z"}"#,
            r#"{"paths":{"/work/x":"/work/y"}}"#,
            call,
        ],
    );
    assert_eq!(
        (failed(&decisions[0]), &decisions[0]["outcome"]),
        (Vec::new(), &"ask".into()),
        "nothing is known"
    );
    assert_eq!(failed(&decisions[1]), ["admin", "office", "inside"]);
    assert_eq!((failed(&decisions[2]), &decisions[2]["outcome"]), (Vec::new(), &"allow".into()));
    let wrong = player(policy).play(event::read(br#"{"facts":{"rol":"x"}}"#).unwrap()).unwrap_err();
    assert_eq!(wrong, "fact `rol`: the policy does not declare it; it declares `n`, `role`");
}

#[test]
fn monitor_mode_changes_no_byte() {
    let policy = "framegate: 1\nmode: monitor\narguments: coerce\ntools: { pay: {} }\nrules:\n  - { name: small, that: args.amount <= 10, because: No. }\n";
    let call = r#"{"call":{"name":"pay","arguments":{"amount":"20"}}}"#;
    let decision = play(policy, &[FILES, call]).pop().unwrap();
    assert_eq!((&decision["outcome"], &decision["would"]), (&"allow".into(), &"deny".into()));
    assert_eq!(decision["sent"], serde_json::json!({"amount": "20"}));
    let decision = play(&policy.replace("mode: monitor\n", ""), &[FILES, call]).pop().unwrap();
    assert_eq!(decision["sent"], serde_json::json!({"amount": 20}));
}

#[test]
fn a_tool_that_changes_after_it_was_listed_asks() {
    let policy = "framegate: 1\ndefault: allow\n";
    let call = r#"{"call":{"name":"pay","arguments":{"amount":1}}}"#;
    let changed = FILES.replace("\"amount\":{\"type\":\"number\"}", "\"amount\":{}");
    assert_eq!(outcomes(policy, &[FILES, call, &changed, call]), ["allow", "ask"]);
}

#[test]
fn the_options_in_force_are_those_after_merging() {
    let policy = "framegate: 1\ndefaults: { undeclared: refuse }\ntools:\n  'p*': { arguments: coerce, missing: refuse, ask: { required: [to], fields: { to: { title: To } } }, invisible: { note: allow } }\nrules:\n  - { name: small, that: args.amount <= 10, otherwise: ask, because: Only small sums. }\n";
    let mut player = player(policy);
    player.play(event::read(FILES.as_bytes()).unwrap()).unwrap();
    let text: Vec<String> = options(player.guard()).map(|tool| tool.text()).collect();
    assert_eq!(
        text,
        [
            "pay: arguments coerce, missing refuse, undeclared refuse, invisible {\"*\":\"refuse\",\"note\":\"allow\"}, schema of the server, mode enforce\n  rule small (otherwise ask): Only small sums.",
            "read: not offered",
        ]
    );
    let json: Vec<serde_json::Value> =
        options(player.guard()).map(|tool| serde_json::from_str(&tool.json()).unwrap()).collect();
    assert_eq!(json[0]["options"]["arguments"], "coerce");
    assert_eq!(json[0]["options"]["missing"], "refuse");
    let ask = serde_json::json!({"message": null, "required": ["to"], "empty": "value", "fields": {"to": {"title": "To"}}});
    assert_eq!(json[0]["options"]["ask"], ask);
    assert_eq!(json[0]["rules"][0]["name"], "small");
    assert_eq!(json[1], serde_json::json!({"tool": "read", "offered": false}));
}

#[test]
fn a_call_that_a_person_would_complete_says_what_they_would_be_asked_for() {
    let tools = r#"{"tools":[{"name":"book","inputSchema":{"type":"object","properties":{"to":{"type":"string"},"n":{"type":"integer"},"pin":{"type":"string"},"o":{"type":"object"}},"required":["to","n"]}}]}"#;
    let said = |options: &str, arguments: &str| {
        let mut player = player(&format!("framegate: 1\ntools: {{ book: {options} }}\n"));
        player.play(event::read(tools.as_bytes()).unwrap()).unwrap();
        let call = format!(r#"{{"call":{{"name":"book","arguments":{arguments}}}}}"#);
        match player.play(event::read(call.as_bytes()).unwrap()).unwrap() {
            Played::Decided(decided) => (decided.decision.outcome, decided.text("x:1"), decided.json()),
            other => panic!("{other:?}"),
        }
    };
    let (outcome, text, json) = said("{}", r#"{"to":"x"}"#);
    assert_eq!(outcome, Outcome::Deny, "as long as nobody completes it");
    assert!(text.contains("\n  would ask for: n\n"), "{text}");
    assert!(json.contains(r#""missing":["n"]"#), "{json}");
    let text = said("{ ask: { required: [pin] } }", "{}").1;
    assert!(text.contains("\n  would not ask for pin: Tool call blocked because "), "{text}");
    let text = said("{ ask: { required: [o] } }", "{}").1;
    assert!(text.contains("\n  would not ask for to, n, o: The user cannot be asked for these in a form: `o`: it is an object"), "{text}");
    let text = said("{ missing: refuse }", "{}").1;
    assert!(text.contains("\n  would not ask for to, n: The call lacks required arguments."), "{text}");
    for complete in [r#"{"to":"x","n":1}"#, r#"{"to":7}"#] {
        let (_, text, json) = said("{}", complete);
        assert!(!text.contains("would ask") && json.contains(r#""missing":[]"#), "{text}");
    }
}
