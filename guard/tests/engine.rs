//! What the guard itself decides, whatever the rules say: which tools there are, what their arguments may be, and
//! what becomes of a policy that does not fit. Each test is a way past the guard that is closed.

#![expect(clippy::unwrap_used, reason = "the data is the tests' own")]

use framegate_guard::finding::Effect;
use framegate_guard::json::{Document, Limits};
use framegate_guard::ledger::Snapshot;
use framegate_guard::policy::Policy;
use framegate_guard::session::Session;
use framegate_guard::world::NoWorld;
use framegate_guard::{Call, Decision, Facts, Guard, MethodCall, Outcome};

fn read(text: &str) -> Document {
    Document::read(text.to_owned().into(), &Limits::default()).unwrap()
}

fn policy(text: &str) -> Policy {
    let loaded =
        Policy::load("p.yaml", format!("framegate: 1\n{text}").as_bytes(), &mut |_| Err("none".into()));
    loaded.unwrap().policy
}

fn unlisted(text: &str) -> Guard {
    let policy = policy(text);
    let facts = Facts::new(&policy, &Default::default()).unwrap();
    Guard::new(policy, "s", facts)
}

fn tool(name: &str, schema: &str) -> (String, Result<Document, String>) {
    (name.to_owned(), Ok(read(&format!(r#"{{"name":"{name}","inputSchema":{schema}}}"#))))
}

const OPEN: &str = r#"{"type":"object"}"#;
const PAY: &str = r#"{"type":"object","properties":{"to":{"type":"string"},"amount":{"type":"number"}},
    "required":["to","amount"],"additionalProperties":false}"#;

/// A guard over `pay`, with its schema.
fn guard(text: &str) -> Guard {
    unlisted(text).adopt([tool("pay", PAY)]).0
}

fn decide(guard: &Guard, tool: &str, arguments: &str) -> Decision {
    let document = read(arguments);
    let call = Call { tool, id: None, arguments: document.root() };
    guard.decide(&call, &Session::default(), &Snapshot::nothing(), &NoWorld)
}

fn seen(decision: &Decision) -> (Outcome, Outcome, Vec<&str>) {
    let checks = decision.findings.iter().map(|finding| finding.check.as_str()).collect();
    (decision.outcome, decision.would, checks)
}

use Outcome::{Allow, Ask, Deny};

#[test]
fn only_what_the_server_lists_and_the_policy_offers_is_called() {
    let guard = guard("tools: { pay: {}, refund: {} }");
    assert_eq!(seen(&decide(&guard, "pay", r#"{"to":"A","amount":1}"#)), (Allow, Allow, vec![]));
    assert_eq!(seen(&decide(&guard, "refund", "{}")), (Deny, Deny, vec!["known_tool"]));
    let guard = guard.adopt([tool("pay", PAY), tool("wipe", OPEN)]).0;
    assert_eq!(seen(&decide(&guard, "wipe", "{}")), (Deny, Deny, vec!["known_tool"]));
    let hidden = self::guard("tools: { pay: { hidden: true } }");
    assert_eq!(seen(&decide(&hidden, "pay", r#"{"to":"A","amount":1}"#)), (Deny, Deny, vec!["known_tool"]));
    assert!(!hidden.offers("pay"));
}

#[test]
fn a_name_that_looks_like_a_listed_one_is_refused_and_told() {
    let guard = guard("default: allow");
    for name in ["Pay", "p\u{430}y", "pay\u{200b}", "ｐay", " pay"] {
        let decision = decide(&guard, name, "{}");
        assert_eq!(seen(&decision), (Deny, Deny, vec!["known_tool"]), "{name}");
        assert!(
            decision.reasons().next().unwrap().contains("taken for `pay`"),
            "{name}: {:?}",
            decision.findings
        );
    }
    assert!(!decide(&guard, "delete", "{}").reasons().next().unwrap().contains('`'));
}

#[test]
fn a_hidden_tool_is_not_given_away_by_a_look_alike() {
    let guard = guard("tools: { pay: { hidden: true }, other: {} }");
    assert_eq!(
        decide(&guard, "Pay", "{}").reasons().next().unwrap(),
        "the server lists no tool of this name"
    );
}

#[test]
fn a_changed_definition_asks_and_the_first_schema_counts() {
    let (changed, warnings) = guard("tools: { pay: {} }").adopt([tool("pay", OPEN)]);
    assert!(warnings.iter().any(|warning| warning.contains("inputSchema")), "{warnings:?}");
    assert_eq!(seen(&decide(&changed, "pay", r#"{"to":"A","amount":1}"#)), (Ask, Ask, vec!["tool_certain"]));
    let denied = decide(&changed, "pay", "{}");
    assert_eq!(denied.outcome, Deny, "{:?}", denied.findings);
    let other = policy("tools: { \"*\": {} }");
    let facts = Facts::new(&other, &Default::default()).unwrap();
    let (again, _) = changed.under(other, facts);
    assert_eq!(
        decide(&again, "pay", r#"{"to":"A","amount":1}"#).outcome,
        Ask,
        "a new policy does not undo it"
    );
    let (back, _) = changed.adopt([]);
    assert_eq!(decide(&back, "pay", r#"{"to":"A","amount":1}"#).outcome, Deny);
    let (back, _) = back.adopt([tool("pay", OPEN)]);
    assert_eq!(
        decide(&back, "pay", r#"{"to":"A","amount":1}"#).outcome,
        Ask,
        "leaving does not make it forgotten"
    );
}

#[test]
fn a_tool_listed_twice_differently_asks() {
    let guard = unlisted("tools: { pay: {} }");
    let (same, _) = guard.adopt([tool("pay", PAY), tool("pay", PAY)]);
    assert_eq!(decide(&same, "pay", r#"{"to":"A","amount":1}"#).outcome, Allow);
    let (twice, _) = guard.adopt([tool("pay", PAY), tool("pay", OPEN)]);
    assert_eq!(seen(&decide(&twice, "pay", r#"{"to":"A","amount":1}"#)), (Ask, Ask, vec!["tool_certain"]));
    let thrice = guard.adopt([tool("pay", PAY), tool("pay", OPEN), tool("pay", PAY)]).0;
    assert_eq!(decide(&thrice, "pay", r#"{"to":"A","amount":1}"#).outcome, Ask);
}

#[test]
fn a_schema_that_cannot_be_used_asks_unless_nothing_needs_it() {
    let broken = r#"{"type":"object","properties":{"a":{"pattern":"("}}}"#;
    let asks = |options: &str| {
        let guard = unlisted(&format!("tools: {{ pay: {options} }}")).adopt([tool("pay", broken)]).0;
        let decision = decide(&guard, "pay", r#"{"b":1}"#);
        (decision.outcome, decision.failed().next().map(str::to_owned))
    };
    let schema = Some("schema_readable".to_owned());
    assert_eq!(asks("{}"), (Ask, schema.clone()));
    assert_eq!(asks("{ arguments: coerce }"), (Ask, schema.clone()));
    assert_eq!(asks("{ arguments: unchecked }"), (Allow, None));
    assert_eq!(asks("{ arguments: unchecked, undeclared: refuse }"), (Ask, schema));
    let unread =
        unlisted("tools: { pay: {} }").adopt([("pay".to_owned(), Err("duplicate key".to_owned()))]).0;
    assert_eq!(seen(&decide(&unread, "pay", "{}")), (Ask, Ask, vec!["tool_certain"]));
}

#[test]
fn arguments_that_are_no_object_are_refused_in_every_mode() {
    for mode in ["strict", "coerce", "unchecked"] {
        let guard = guard(&format!("tools: {{ pay: {{ arguments: {mode} }} }}"));
        for arguments in ["[]", "\"{}\"", "null", "1"] {
            let decision = decide(&guard, "pay", arguments);
            assert_eq!(seen(&decision), (Deny, Deny, vec!["arguments_valid"]), "{mode} {arguments}");
        }
    }
}

#[test]
fn undeclared_arguments_are_refused_where_the_policy_says_so() {
    let open = r#"{"type":"object","properties":{"a":{}}}"#;
    for mode in ["strict", "coerce", "unchecked"] {
        let options = format!("tools: {{ pay: {{ arguments: {mode}, undeclared: refuse }} }}");
        let guard = unlisted(&options).adopt([tool("pay", open)]).0;
        assert_eq!(decide(&guard, "pay", r#"{"a":1}"#).outcome, Allow, "{mode}");
        assert_eq!(decide(&guard, "pay", r#"{"a":1,"b":1}"#).outcome, Deny, "{mode}");
        let nothing_known = decide(&unlisted(&options), "pay", r#"{"a":1}"#);
        assert_eq!(nothing_known.outcome, Ask, "{mode}: an unknown schema declares nothing for certain");
    }
}

#[test]
fn a_thousand_undeclared_names_are_told_briefly() {
    let names =
        |n: usize, of: &str| (0..n).map(|i| format!(r#""{of}{i}":{{}}"#)).collect::<Vec<_>>().join(",");
    let schema = format!(r#"{{"type":"object","properties":{{{}}}}}"#, names(1000, "d"));
    let guard = unlisted("tools: { pay: { undeclared: refuse } }").adopt([tool("pay", &schema)]).0;
    let decision = decide(&guard, "pay", &format!("{{{}}}", names(5000, "u")));
    assert_eq!((decision.outcome, decision.findings.len()), (Deny, 16));
    assert!(decision.findings.iter().all(|finding| finding.reason.len() < 1000));
}

#[test]
fn invisible_characters_in_a_free_argument_do_not_hide_those_in_another() {
    let guard = unlisted("tools: { pay: { invisible: { note: allow } } }").adopt([tool("pay", OPEN)]).0;
    let notes = vec![r#""a\u200bb""#; 40].join(",");
    assert_eq!(decide(&guard, "pay", &format!(r#"{{"note":[{notes}]}}"#)).outcome, Allow);
    let decision = decide(&guard, "pay", &format!(r#"{{"note":[{notes}],"path":"a\u200bb"}}"#));
    assert_eq!(decision.outcome, Deny);
    assert!(decision.reasons().next().unwrap().contains("`path` (U+200B)"), "{:?}", decision.findings);
    assert_eq!(decide(&guard, "pay", r#"{"note\u200b":"x"}"#).outcome, Deny);
}

#[test]
fn a_repair_is_a_splice_of_the_text_the_arguments_stand_in() {
    let guard = guard(
        "tools: { pay: { arguments: coerce } }\nrules: [{ because: B., name: cap, tools: [pay], that: args.amount <= 5 }]",
    );
    let frame = read(r#"{"params": {"arguments": {"to" : "A", "amount": "2"}}}"#);
    let arguments = frame.root().get("params").unwrap().get("arguments").unwrap();
    let call = Call { tool: "pay", id: None, arguments };
    let decision = guard.decide(&call, &Session::default(), &Snapshot::nothing(), &NoWorld);
    assert_eq!(decision.outcome, Allow, "{:?}", decision.findings);
    assert_eq!(decision.arguments, r#"{"to" : "A", "amount": 2}"#);
    let [edit] = &decision.edits[..] else { panic!("{:?}", decision.edits) };
    assert_eq!(&frame.source()[edit.range.clone()], br#""2""#);
    assert_eq!(edit.bytes, "2");
    let capped = decide(&guard, "pay", r#"{"to":"A","amount":"7"}"#);
    assert_eq!(seen(&capped), (Deny, Deny, vec!["cap"]), "rules read the repaired value");
    let unmended = decide(&guard, "pay", r#"{"to":5,"amount":"2"}"#);
    assert_eq!(
        (unmended.outcome, unmended.edits.len()),
        (Deny, 0),
        "a half-mended call is refused as it came"
    );
}

#[test]
fn rules_over_invalid_arguments_are_not_asked_the_others_are() {
    let guard = guard(
        "facts: { role: { type: string, default: viewer } }\ntools: { pay: {} }\nrules:\n  - { because: B., name: cap, tools: [pay], that: args.amount <= 5 }\n  - { because: B., name: admin, tools: [pay], that: 'facts.role == \"admin\"', otherwise: ask }",
    );
    assert_eq!(
        decide(&guard, "pay", r#"{"to":"A","amount":"x"}"#).failed().collect::<Vec<_>>(),
        ["arguments_valid", "admin"]
    );
    assert_eq!(
        decide(&guard, "pay", r#"{"to":"A","amount":9}"#).failed().collect::<Vec<_>>(),
        ["cap", "admin"]
    );
}

#[test]
fn a_rule_that_cannot_be_evaluated_asks_and_a_failure_beats_it() {
    let rules = |more: &str| {
        guard(&format!(
            "facts: {{ left: {{ type: number }} }}\ntools: {{ pay: {{}} }}\nrules:\n  - {{ because: B., name: budget, tools: [pay], that: args.amount <= facts.left }}\n  - {{ because: B., name: odd, tools: [pay], that: args.amount / 0 > 1 }}\n{more}"
        ))
    };
    let decision = decide(&rules(""), "pay", r#"{"to":"A","amount":9}"#);
    assert_eq!(seen(&decision), (Ask, Ask, vec!["budget", "odd"]));
    assert_eq!((decision.failed().count(), decision.reasons().count()), (0, 2));
    assert!(decision.findings.iter().all(|finding| finding.effect == Effect::Unevaluated));
    let soft = rules("  - { because: B., name: soft, tools: [pay], that: args.amount < 5, otherwise: ask }");
    let decision = decide(&soft, "pay", r#"{"to":"A","amount":9}"#);
    assert_eq!((decision.outcome, decision.reasons().count()), (Ask, 1));
}

#[test]
fn monitoring_decides_the_same_and_changes_no_byte() {
    let text = "tools: { pay: { arguments: coerce } }\nrules: [{ because: B., name: cap, tools: [pay], that: args.amount <= 5 }]";
    let guard = guard(text).monitoring(true);
    let call = r#"{"to":"A","amount":"7"}"#;
    let decision = decide(&guard, "pay", call);
    assert_eq!(seen(&decision), (Allow, Deny, vec!["cap"]));
    assert_eq!((decision.arguments.as_ref(), decision.edits.len()), (call.as_bytes(), 0));
    assert_eq!(decision.changes.len(), 1, "what would have been changed is told");
    assert_eq!(seen(&decide(&guard, "wipe", "{}")), (Allow, Deny, vec!["known_tool"]));
    let by_file = self::guard(&format!("mode: monitor\n{text}"));
    assert_eq!(seen(&decide(&by_file, "pay", call)), (Allow, Deny, vec!["cap"]));
}

#[test]
fn one_tool_or_one_rule_may_be_monitored() {
    let text = "tools: { pay: { mode: monitor }, send: {} }\nrules: [{ because: B., name: never, tools: [pay, send], that: 'false' }]";
    let guard = unlisted(text).adopt([tool("pay", OPEN), tool("send", OPEN)]).0;
    assert_eq!(seen(&decide(&guard, "pay", "{}")), (Allow, Deny, vec!["never"]));
    assert_eq!(seen(&decide(&guard, "send", "{}")), (Deny, Deny, vec!["never"]));
    let text = "tools: { pay: {} }\nfacts: { x: { type: bool } }\nrules:\n  - { name: seen, tools: [pay], that: 'false', mode: monitor, because: Only watched. }\n  - { because: B., name: real, tools: [pay], that: facts.x }";
    let guard = unlisted(text).adopt([tool("pay", OPEN)]).0;
    let decision = decide(&guard, "pay", "{}");
    assert_eq!((decision.outcome, decision.would), (Ask, Deny));
    let message = guard.message(&decision);
    assert!(message.contains("real") && !message.contains("Only watched"), "{message}");
}

#[test]
fn a_rule_that_does_not_fit_the_tools_schema_makes_its_calls_ask() {
    let text = "tools: { pay: {} }\nrules: [{ because: B., name: cap, tools: [pay], that: args.sum <= 5 }]";
    let (guard, warnings) = unlisted(text).adopt([tool("pay", PAY)]);
    assert!(!warnings.is_empty());
    assert_eq!(seen(&decide(&guard, "pay", r#"{"to":"A","amount":1}"#)), (Ask, Ask, vec!["policy_fits"]));
    let monitored = text.replace("that:", "mode: monitor, that:");
    let guard = unlisted(&monitored).adopt([tool("pay", PAY)]).0;
    assert_eq!(decide(&guard, "pay", r#"{"to":"A","amount":1}"#).outcome, Ask);
}

#[test]
fn without_a_listing_the_policy_still_decides() {
    let text = "tools: { pay: {}, own: { schema: { type: object, required: [a] } } }\nrules: [{ because: B., name: cap, tools: [pay], that: args.amount <= 5 }]";
    let guard = unlisted(text);
    assert_eq!(seen(&decide(&guard, "pay", r#"{"amount":9}"#)), (Deny, Deny, vec!["cap"]));
    assert_eq!(seen(&decide(&guard, "pay", r#"{"amount":1}"#)), (Allow, Allow, vec![]));
    assert_eq!(seen(&decide(&guard, "pay", "{}")), (Ask, Ask, vec!["cap"]));
    assert_eq!(seen(&decide(&guard, "other", "{}")), (Deny, Deny, vec!["known_tool"]));
    assert_eq!(decide(&guard, "own", "{}").outcome, Deny);
    assert_eq!(decide(&guard, "own", r#"{"a":1}"#).outcome, Allow);
}

#[test]
fn the_policys_own_schema_counts_instead_of_the_servers() {
    let guard = guard("tools: { pay: { schema: { type: object, required: [reason] } } }");
    assert_eq!(decide(&guard, "pay", r#"{"to":"A","amount":1}"#).outcome, Deny);
    assert_eq!(decide(&guard, "pay", r#"{"reason":"x"}"#).outcome, Allow);
}

#[test]
fn definitions_that_double_do_not_take_for_ever() {
    let mut define = "define:\n  d0: 'args.amount'\n".to_owned();
    for n in 1..30 {
        define.push_str(&format!("  d{n}: 'defs.d{0} + defs.d{0}'\n", n - 1));
    }
    let guard = guard(&format!(
        "{define}tools: {{ pay: {{}} }}\nrules: [{{ because: B., name: big, tools: [pay], that: defs.d29 > 0 }}]"
    ));
    assert_eq!(seen(&decide(&guard, "pay", r#"{"to":"A","amount":1}"#)), (Allow, Allow, vec![]));
}

#[test]
fn other_requests_are_ruled_on() {
    let text = "methods:\n  resources/read: { that: 'params.uri.startsWith(\"file:///work/\")', because: Only files under /work. }\n  prompts/get: deny\nserver_requests: { sampling/createMessage: { that: 'size(params) == 0', otherwise: ask, because: B. } }\ntools: { pay: {} }";
    let rule = |guard: &Guard, method: &str, params: Option<&str>, is_servers: bool| {
        let params = params.map(read);
        let params = params.as_ref().map(Document::root);
        let ruled = guard.method(&MethodCall { method, params, is_servers }, &Session::default(), &NoWorld);
        (ruled.outcome, ruled.would, ruled.text)
    };
    let guard = guard(text);
    let outcome = |method: &str, params: Option<&str>| rule(&guard, method, params, false).0;
    assert_eq!(outcome("resources/read", Some(r#"{"uri":"file:///work/a"}"#)), Allow);
    let (denied, _, text) = rule(&guard, "resources/read", Some(r#"{"uri":"file:///etc"}"#), false);
    assert_eq!(
        (denied, text.as_str()),
        (Deny, "`resources/read` was not passed on: Only files under /work.")
    );
    assert_eq!(outcome("resources/read", None), Ask, "an error asks");
    assert_eq!(outcome("resources/read", Some("[1]")), Ask);
    assert_eq!(outcome("prompts/get", None), Deny);
    assert_eq!(outcome("prompts/list", None), Allow);
    assert_eq!(
        outcome("sampling/createMessage", Some(r#"{"a":1}"#)),
        Allow,
        "the client's own are not the server's"
    );
    assert_eq!(rule(&guard, "sampling/createMessage", Some(r#"{"a":1}"#), true).0, Ask);
    let monitoring = guard.clone().monitoring(true);
    let (outcome, would, text) = rule(&monitoring, "prompts/get", None, false);
    assert_eq!((outcome, would), (Allow, Deny));
    assert!(text.contains("prompts/get"));
}

#[test]
fn a_rule_for_no_tool_is_not_lost_behind_another_rules_error() {
    // A guard that is misspelt beside a rule that does not fit another tool: what a server lists could bring that
    // about, and every call went through.
    let listed = || {
        let schema =
            |name: &str| format!(r#"{{"type":"object","properties":{{"{name}":{{"type":"string"}}}}}}"#);
        [tool("read", &schema("path")), tool("write", &schema("path"))]
    };
    let misspelt =
        "tools: { read: {}, write: {} }\nrules:\n  - { name: inside, that: 'within(args.pth, \"/w\")' }\n";
    let broken = format!("{misspelt}  - {{ name: other, tools: [write], that: 'args.path == 1' }}\n");
    for text in [misspelt, &broken] {
        let (guard, _) = unlisted(text).adopt(listed());
        assert!(guard.faults().iter().any(|fault| fault.contains("`inside` applies to no tool")), "{text}");
        assert_eq!(decide(&guard, "read", r#"{"path":"/etc/passwd"}"#).outcome, Ask, "{text}");
    }
    // A rule that is some tool's, and cannot be evaluated on it, is no such rule.
    let (guard, _) =
        unlisted("tools: { read: {}, write: {} }\nrules:\n  - { name: n, that: 'args.path == 1' }\n")
            .adopt(listed());
    assert!(guard.faults().is_empty(), "{:?}", guard.faults());
    assert_eq!(decide(&guard, "read", r#"{"path":"/w"}"#).outcome, Ask);
}
