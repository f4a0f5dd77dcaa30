//! Credentials stay out of what others read: stderr at every level, and the refusals that a model gets. (Reported of
//! other proxies: keys in debug logs through arguments and addresses, dozens of times a minute, although one line
//! masked them.)

use framegate_tests::{
    Guarded,
    guarded::{Start, decision, tools},
};
use serde_json::{Value, json};

const ARGUMENTS: &str = r#"{"api_key":"sk-MARK-SECRET-1","h":{"Authorization":"Bearer MARK-SECRET-2"},"d":{"Password":"MARK-SECRET-3"},"path":"/work/a b"}"#;
const ANY: &str = r#"{"type":"object"}"#;

fn start(policy: Option<&str>, options: &[&str], script: Value) -> Guarded {
    let wrapper = framegate_tests::wrapper!();
    Start { wrapper: &wrapper, policy, options, script, files: &[] }.now()
}

#[test]
fn secrets_stay_out_of_stderr_at_every_level_and_in_every_format() {
    for level in ["error", "warn", "info", "debug"] {
        for format in ["text", "json"] {
            let options = ["--log", level, "--log-format", format, "--env", "UPSTREAM_TOKEN=MARK-SECRET-4"];
            let policy = "framegate: 1\ntools: { touch: {} }\n";
            let noise = json!({ "on": "ping", "times": 1, "emit": [
                { "raw": "token=MARK-SECRET-5 is not JSON\n" }, r#"{"jsonrpc":"2.0","id":$ID,"result":{}}"#,
            ] });
            let mut guarded = start(Some(policy), &options, json!([tools(&[("touch", ANY)]), noise]));
            guarded.open();
            guarded.call("1", "touch", ARGUMENTS);
            guarded.call("2", "other", ARGUMENTS);
            guarded.ask(&framegate_tests::guarded::ping("3"), "3");
            guarded.end();
            let said = guarded.stderr();
            assert!(!said.contains("MARK-SECRET"), "{level} {format}: {said}");
            if level == "info" {
                assert_eq!(said.matches("/work/a b").count(), 2, "{said}");
                assert!(said.contains("***"), "{said}");
            }
        }
    }
}

#[test]
fn arguments_are_shown_as_far_as_the_option_says() {
    for (option, shows_path, shows_secret) in
        [("none", false, false), ("redacted", true, false), ("full", true, true)]
    {
        for policy in [None, Some("framegate: 1\ntools: { touch: {} }\n")] {
            let mut guarded = start(policy, &["--log-arguments", option], json!([tools(&[("touch", ANY)])]));
            guarded.send(framegate_tests::guarded::INITIALIZE);
            guarded.wait("\"open\"");
            guarded.call("1", "touch", ARGUMENTS);
            guarded.end();
            let said = guarded.stderr();
            assert_eq!(said.contains("/work/a b"), shows_path, "{option}: {said}");
            assert_eq!(said.contains("MARK-SECRET"), shows_secret, "{option}: {said}");
        }
    }
}

#[test]
fn a_refusal_does_not_repeat_a_secret() {
    let schema = r#"{"type":"object","properties":{"api_key":{"enum":["a"]},"n":{"type":"integer"}}}"#;
    let mut guarded =
        start(Some("framegate: 1\ntools: { touch: {} }\n"), &[], json!([tools(&[("touch", schema)])]));
    guarded.open();
    for arguments in [
        r#"{"api_key":"sk-MARK-SECRET-1"}"#,
        r#"{"n":"ghp_MARKSECRET0123456789"}"#,
        r#"{"n":{"pwd":"MARK-SECRET"}}"#,
    ] {
        let refused = guarded.call("1", "touch", arguments);
        assert_eq!(decision(&refused)["outcome"], "deny", "{refused}");
        let all = refused.to_string();
        assert!(!all.contains("MARK-SECRET") && !all.contains("MARKSECRET"), "{all}");
        assert!(all.contains("api_key") || all.contains("`n`"), "{all}");
    }
    guarded.end();
}

/// Each value is one that its refusal, a debug line or the record's findings quote: escaped, cut, within more.
const QUOTED: &[(&str, &str)] = &[
    ("schema", r#"{"password":"MARK-SECRET\"1\\x"}"#),
    (
        "schema",
        r#"{"password":"MARK-SECRETqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq"}"#,
    ),
    ("schema", r#"{"password":"MARK-SECRET\u00e9\n\u00e9\u00e9\u00e9"}"#),
    ("schema", r#"{"password":"\u004dARK-SECRET"}"#),
    ("rules", r#"{"password":"MARK-SECRET\"hun"}"#),
    ("rules", r#"{"password":["MARK-SECRET\"hun",{"v":"MARK-SECRET"}]}"#),
    ("rules", r#"{"headers":[["Authorization","MARK-SECRET\"hun"]]}"#),
    ("rules", r#"{"x":"{\"passwords\":[\"MARK-SECRET\"],\"credentials\":{\"value\":\"MARK-SECRET\"}} hun"}"#),
    ("rules", r#"{"password":["MARK-SECRET"],"a":1,"a":2}"#),
    ("rules", r#"{"password":{"v":"MARK-SECRET"},"a":1,"a":2}"#),
    ("rules", r#"{"password":"MARK-SECRET","x":"\ud800"}"#),
];

#[test]
fn a_secret_comes_out_nowhere_however_it_is_quoted() {
    const POLICY: &str = "framegate: 1\ndefault: allow\nrules:\n  - { name: seen, tools: [rules], that: '!contains_any(texts, [\"hun\"])', because: No. }\n  - { name: within, tools: [rules], when: has(args.password), that: 'within(args.password, \"/work\")' }\n  - { name: number, tools: [rules], when: has(args.password), that: int(args.password) == 5 }\n";
    let schema = r#"{"type":"object","properties":{"password":{"type":"string","enum":["a"]}}}"#;
    let folder = tempfile::tempdir().unwrap_or_else(|why| panic!("{why}"));
    let file = folder.path().join("record.db").display().to_string();
    let options = ["--log", "debug", "--store", &file, "--store-content", "redacted"];
    let mut guarded = start(Some(POLICY), &options, json!([tools(&[("schema", schema), ("rules", ANY)])]));
    guarded.open();
    for (number, (tool, arguments)) in QUOTED.iter().enumerate() {
        let refused = guarded.call(&(number + 1).to_string(), tool, arguments).to_string();
        assert!(refused.contains("not run") || refused.contains("\"error\""), "{refused}");
        assert!(!refused.contains("MARK") && !refused.contains("ARK-S"), "{arguments}: {refused}");
    }
    guarded.end();
    let said = guarded.stderr();
    assert!(!said.contains("MARK-S"), "{said}");
    for kept in std::fs::read_dir(folder.path()).into_iter().flatten().flatten() {
        let bytes = std::fs::read(kept.path()).unwrap_or_default();
        assert!(memchr_in(&bytes, b"ARK-SECRET").is_none(), "{:?}", kept.path());
    }
}

fn memchr_in(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|part| part == what)
}
