//! Every limit one below, at, and above; nothing recursive or quadratic in what comes from outside.

use super::*;
use crate::praxiom::{Because, SOURCE_BYTES_MAX, TEXT_BYTES_MAX};

fn guard(source: &str) -> String {
    let quoted = source.replace('\'', "''");
    format!("actions: [{{ name: a, match: '*', args: {{ n: int, s: str }}, requires: '{quoted}' }}]")
}

#[test]
fn integers_have_at_most_4300_digits() {
    let policy = load(
        "state: { x: { type: int, init: 0 } }\nactions:\n  - { name: set, match: t__set, args: { n: int }, effect: { x: n } }\n  - \
         { name: up, match: t__up, effect: { x: x * 10 } }\n  - { name: pass, match: t__pass, requires: \"true\" }\n  - { name: \
         see, match: t__see, requires: \"payload != ''\" }\n",
    );
    let of = |digits: usize| format!("{{\"n\":{}}}", "9".repeat(digits));
    let start = policy.initial();
    allowed(decide(&policy, &start, "t__set", &of(4299), &[]));
    let most = allowed(decide(&policy, &start, "t__set", &of(4300), &[]));
    let refused = denied(decide(&policy, &start, "t__set", &of(4301), &[]));
    assert_eq!(refused.reason, "argument 'n' has more than 4300 digits");
    // A state does not outgrow it either.
    assert_eq!(denied(decide(&policy, &most, "t__up", "{}", &[])).because, Because::Undecided);
    // A long integer that no rule reads passes; one that a rule searches does not.
    allowed(decide(&policy, &start, "t__pass", &of(4301), &[]));
    allowed(decide(&policy, &start, "t__see", &of(4300), &[]));
    assert_eq!(denied(decide(&policy, &start, "t__see", &of(4301), &[])).because, Because::Undecided);
    // In the file.
    for (digits, fits) in [(4299, true), (4300, true), (4301, false)] {
        let text = guard(&format!("n < {}", "9".repeat(digits)));
        assert_eq!(Praxiom::load("p", text.as_bytes(), Dialect::Safe).is_ok(), fits, "{digits}");
    }
}

#[test]
fn strings_have_at_most_16_mib() {
    let policy = load(&guard("contains(s + s, 'b')").replace("n: int, ", ""));
    let of = |bytes: usize| format!("{{\"s\":\"{}b\"}}", "a".repeat(bytes - 1));
    let start = policy.initial();
    allowed(decide(&policy, &start, "t", &of(TEXT_BYTES_MAX / 2 - 1), &[]));
    allowed(decide(&policy, &start, "t", &of(TEXT_BYTES_MAX / 2), &[]));
    let refused = denied(decide(&policy, &start, "t", &of(TEXT_BYTES_MAX / 2 + 1), &[]));
    assert_eq!(refused.reason, "cannot decide guard 'a': a value is too long [state: <no state>]");
}

#[test]
fn expressions_have_limits() {
    let fits = |source: &str| Praxiom::load("p", guard(source).as_bytes(), Dialect::Safe).is_ok();
    for (open, good) in [(99, true), (100, true), (101, false)] {
        assert_eq!(fits(&format!("{}true{}", "(".repeat(open), ")".repeat(open))), good, "{open}");
    }
    // Levels: the name is one, the comparison another.
    for (signs, good) in [(125, true), (126, true), (127, false)] {
        assert_eq!(fits(&format!("{}n > 0", "-".repeat(signs))), good, "{signs}");
    }
    for (terms, good) in [(126, true), (127, true), (128, false)] {
        assert_eq!(fits(&format!("n{} > 0", " + n".repeat(terms - 1))), good, "{terms}");
    }
    // A row of `and` is one level however long it is.
    assert!(fits(&format!("true{}", " and true".repeat(5000))));
    let padded = |bytes: usize| format!("true{}#", " ".repeat(bytes - 5));
    for (bytes, good) in
        [(SOURCE_BYTES_MAX - 1, true), (SOURCE_BYTES_MAX, true), (SOURCE_BYTES_MAX + 1, false)]
    {
        assert_eq!(fits(&padded(bytes)), good, "{bytes}");
    }
}

#[test]
fn deep_and_long_sources_end() {
    // Half of a thread's usual stack: whatever is nested, nothing may run off it.
    let deep = std::thread::Builder::new().stack_size(1024 * 1024).spawn(|| {
        let rows = [
            "(", "[", "{", "-", "not ", "lambda: ", "a if ", "await ", "a.", "a[", "f(", "f(x, ", "~", "2**",
            "'",
        ];
        for row in rows {
            let source = row.repeat(SOURCE_BYTES_MAX / row.len());
            assert!(!errors(&guard(&source)).is_empty(), "{row}");
        }
        let nested = format!("{}1{}", "(1 or 1 and not 1 == 1 + 1 * -".repeat(100), ")".repeat(100));
        assert!(!errors(&guard(&nested)).is_empty());
        let nested = format!("{}n{}", "ite(true, -n, 1 + ".repeat(60), ")".repeat(60));
        assert!(Praxiom::load("p", guard(&format!("{nested} > 0")).as_bytes(), Dialect::Safe).is_ok());
    });
    deep.unwrap().join().unwrap();
}

#[test]
fn a_megabyte_is_searched_once() {
    // Naive searches of these are quadratic: minutes, not milliseconds.
    let policy = load(
        "patterns: { p: ['aaaaaaaaaaaaaaaab', 'ab', 'ba'] }\nactions: [{ name: a, match: '*', args: { s: str }, requires: [\"not \
         contains(payload, s + 'b')\", 'not matches(payload, p)', 'contains(payload, s)', 'not s + s == s'] }]",
    );
    let arguments = format!("{{\"s\":\"{}\",\"t\":\"{}\"}}", "a".repeat(500_000), "a".repeat(500_000));
    allowed(decide(&policy, &policy.initial(), "t", &arguments, &[]));
}

#[test]
fn files_that_are_none_are_refused() {
    let whole = |bytes: &[u8]| Praxiom::load("policy.yaml", bytes, Dialect::Safe).unwrap_err().to_string();
    assert!(whole(&vec![b'#'; 1024 * 1024 + 1]).contains("larger than"));
    assert!(whole(b"default: \xff").contains("not UTF-8"));
    assert!(whole(b"a: [").contains("not valid YAML"));
    assert!(whole(b"a: !!str b").contains("not valid YAML"));
    assert!(whole(b"# nothing\n").contains("policy policy.yaml is empty"));
}

#[test]
fn files_are_known_by_their_keys() {
    for text in
        ["actions: []", "invariants: []\n", "patterns: {}", "state: {}", "{default: deny}", "actions: [\n"]
    {
        assert!(Praxiom::looks_like(text), "{text}");
    }
    for text in [
        "framegate: 1\nstate: {}\n",
        "servers: {}",
        "",
        "- actions",
        "rules: []",
        "default: deny\ntools: {}",
        "framegate: 1\nactions: [\n",
    ] {
        assert!(!Praxiom::looks_like(text), "{text}");
    }
}

#[test]
fn everything_wrong_is_found_with_its_place() {
    let text = "state: { x: { type: int, init: 0 }, tool: { type: int, init: 0 } }\nactions:\n  - name: a\n    match: '*'\n    args: { x: int }\n    requires: [x > y, \"x +\"]\n    effect: { z: 1, x: 'true' }\n  - { name: 'a#1', match: '*', requires: 'true' }\n";
    let errors = Praxiom::load("policy.yaml", text.as_bytes(), Dialect::Safe).unwrap_err();
    let places: Vec<(usize, usize, &str)> = errors
        .problems()
        .iter()
        .map(|problem| (problem.line(), problem.column(), problem.message()))
        .collect();
    let expected = [
        (1, 37, "policy policy.yaml: state.tool: 'tool' is a reserved name"),
        (5, 13, "policy policy.yaml, action 'a': argument 'x' shadows a state variable"),
        (
            6,
            20,
            "policy policy.yaml, action 'a', requires: unknown name 'y'; in scope: payload, tool, upstream, x",
        ),
        (6, 27, "policy policy.yaml, action 'a', requires: cannot parse 'x +': invalid syntax"),
        (7, 15, "policy policy.yaml, action 'a': effect on unknown state variable 'z'; declared: tool, x"),
        (7, 24, "policy policy.yaml, action 'a': effect on 'x' must produce int, got Bool from 'true'"),
        (
            8,
            13,
            "policy policy.yaml: two guards are called 'a#1': praxiom would fail at every call; rename an action",
        ),
    ];
    let expected = expected.map(|(line, column, message)| {
        // The scope lists each name once, whatever stands for it.
        (line, column, message)
    });
    assert_eq!(places, expected);
}

#[test]
fn an_initial_state_that_decides_nothing_is_refused() {
    let text = "state: { d: { type: int, init: 0 } }\ninvariants: [{ name: i, expr: 1 // d < 5 }]\n";
    assert_eq!(errors(text), "the initial state does not decide Φ_safe: i: a divisor is zero");
}

#[test]
fn merge_keys_and_duplicate_keys_are_read_as_the_original_does() {
    let policy = load(
        "actions:\n  - &base { name: a, match: 't__*', requires: 'false' }\n  - { <<: *base, name: b, requires: 'true', match: u__x }\n  - { <<: [*base], name: c, match: v__x, match: w__x }\n",
    );
    let globs: Vec<(String, Vec<String>)> =
        policy.globs().map(|(name, globs)| (name.to_owned(), globs.map(str::to_owned).collect())).collect();
    let expected = [("a", "t__*"), ("b", "u__x"), ("c", "w__x")];
    assert_eq!(globs, expected.map(|(name, glob)| (name.to_owned(), vec![glob.to_owned()])));
    assert!(policy.covers("u__x") && !policy.covers("v__x"));
    allowed(decide(&policy, &policy.initial(), "u__x", "{}", &[]));
}

#[test]
fn an_audit_line_cannot_be_forged() {
    use crate::praxiom::audit::{Arguments, Event, arguments, line};
    let forged = line(Event::Error, "t__a", "", "RuntimeError: x\nALLOW t__send  \u{1b}[32m");
    assert_eq!(forged, "ERROR t__a  RuntimeError: x\\nALLOW t__send  \\u{1b}[32m");
    let secret = document(
        r#"{"Api_Key":{"a":1},"list":[{"PASSWORD":"x"}],"tokens":["a"],"path":"/home/somebody/with/a/very/long/path/that/is/cut.txt","x":{"y":{}}}"#,
    );
    assert_eq!(
        arguments(Some(secret.root()), Arguments::Redacted),
        "\"Api_Key\"=\"***\", \"list\"=[{\"PASSWORD\"=\"***\"}], \"tokens\"=\"**……/that/is/cut.txt\", \"x\"={\"y\"="
    );
    assert_eq!(arguments(Some(secret.root()), Arguments::None), "");
    assert!(arguments(Some(secret.root()), Arguments::Full).starts_with("\"Api_Key\"={\"a\"=1}, "));
    assert_eq!(arguments(None, Arguments::Full), "");
}
