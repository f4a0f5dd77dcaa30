use super::*;
use crate::json::{Document, Limits};

fn loaded(text: &str) -> Loaded {
    Policy::load("p.yaml", text.as_bytes(), &mut |_| Err("no files".into())).unwrap_or_else(|e| panic!("{e}"))
}

fn refused(text: &str) -> Vec<String> {
    let errors = Policy::load("p.yaml", text.as_bytes(), &mut |_| Err("no files".into())).unwrap_err();
    errors.problems().iter().map(|problem| problem.message().to_owned()).collect()
}

fn document(text: &str) -> Document {
    Document::read(text.to_owned().into(), &Limits::default()).unwrap()
}

/// Binds to tools given as name and schema.
fn bound(policy: &str, tools: &[(&str, &str)]) -> (Bound, Vec<String>) {
    let schemas: Vec<(&str, Document)> =
        tools.iter().map(|(name, schema)| (*name, document(schema))).collect();
    let listed = schemas.iter().map(|(name, schema)| Listed { name, schema: Some(schema.root()) });
    let (bound, problems) = loaded(policy).policy.bind("files", &Listing::of(listed.collect()));
    (bound, problems.iter().map(|p| format!("{}:{} {}", p.line(), p.column(), p.title())).collect())
}

fn rules_of(bound: &Bound, tool: &str) -> Vec<String> {
    bound.tool(tool).unwrap().rules.iter().map(|rule| rule.rule.name.clone()).collect()
}

const PATH: &str = r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#;
const AMOUNT: &str =
    r#"{"type":"object","properties":{"amount":{"type":"number"}},"additionalProperties":false}"#;

#[test]
fn a_policy_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<Policy>();
    shared::<Bound>();
}

#[test]
fn unnamed_tools_have_no_options() {
    let policy = loaded("framegate: 1\ntools: { 'read_*': {} }").policy;
    assert!(policy.tool("files", "read_file").is_some());
    assert!(policy.tool("files", "Read_file").is_none());
    let policy = loaded("framegate: 1\ndefault: allow\ndefaults: { undeclared: refuse }").policy;
    assert_eq!(policy.tool("files", "any").unwrap().undeclared, Undeclared::Refuse);
}

#[test]
fn the_more_literal_entry_wins_option_by_option() {
    let policy = loaded(
        "framegate: 1\narguments: coerce\nmode: monitor\ntools:\n  '*': { hidden: true, mode: enforce }\n  \
         'read_*': { hidden: false, undeclared: refuse }\n  read_file: { arguments: strict }\n  \
         'other/*': { arguments: unchecked }",
    )
    .policy;
    let options = policy.tool("files", "read_file").unwrap();
    assert_eq!(
        *options,
        ToolOptions { undeclared: Undeclared::Refuse, mode: Mode::Enforce, ..ToolOptions::default() }
    );
    assert!(policy.tool("files", "x").unwrap().hidden);
    assert_eq!(policy.tool("other", "x").unwrap().arguments, Arguments::Unchecked);
    assert_eq!(policy.tool("files", "x").unwrap().arguments, Arguments::Coerce);
}

#[test]
fn a_conflict_that_the_file_could_not_show_is_one_of_the_tool() {
    let text = "framegate: 1\ntools:\n  'a*': { arguments: coerce }\n  '*b': {}\n  'ab': { arguments: strict }\n  \
                '*c': { arguments: strict }\n  'ac': { arguments: strict }";
    let (bound, problems) = bound(text, &[("a_c", PATH), ("ab", PATH), ("ac", PATH), ("b", PATH)]);
    assert_eq!(
        problems,
        [
            "6:22 `a*` and `*c` are equally literal, both match `a_c`, and set `arguments` differently (tool `a_c`)"
        ]
    );
    assert_eq!(bound.tool("a_c").unwrap().problems.len(), 1);
    assert!(bound.tool("ac").unwrap().problems.is_empty());
}

#[test]
fn denying_rules_come_first_otherwise_the_file_decides() {
    let rule = |name: &str, otherwise: &str| {
        format!("  - {{ name: {name}, that: 'tool == \"x\"', because: Why., otherwise: {otherwise} }}\n")
    };
    let text = format!(
        "framegate: 1\ndefault: allow\nrules:\n{}{}{}{}",
        rule("a", "ask"),
        rule("b", "deny"),
        rule("c", "ask"),
        rule("d", "deny")
    );
    let (bound, _) = bound(&text, &[("x", PATH)]);
    assert_eq!(rules_of(&bound, "x"), ["b", "d", "a", "c"]);
}

#[test]
fn a_rule_without_tools_is_for_tools_with_its_arguments() {
    let text = "framegate: 1\ndefault: allow\ndefine: { cents: args.amount * 100 }\nrules:\n  \
        - { name: path, that: 'within(args.path, \"/w\")', because: Why. }\n  \
        - { name: sum, that: 'defs.cents < 500', because: Why. }\n  \
        - { name: optional, that: '!has(args.path) || args.path != \"x\"', because: Why. }\n  \
        - { name: every, that: '!contains_any(texts, [\"x\"])', because: Why. }";
    let (bound, problems) = bound(text, &[("read", PATH), ("pay", AMOUNT), ("ping", r#"{"type":"object"}"#)]);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(rules_of(&bound, "read"), ["path", "optional", "every"]);
    assert_eq!(rules_of(&bound, "pay"), ["sum", "every"]);
    assert_eq!(rules_of(&bound, "ping"), ["every"]);
    assert_eq!(bound.tool("pay").unwrap().definitions.len(), 1);
    assert!(bound.tool("read").unwrap().definitions.is_empty());
    assert!(bound.tool("other").is_none());
}

#[test]
fn a_schema_put_together_from_parts_has_the_arguments_of_its_parts() {
    let text = "framegate: 1\ndefault: allow\nrules:\n  \
        - { name: path, that: 'within(args.path, \"/w\")', because: Why. }";
    for schema in [
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"path":{"type":"string"}}}}}"##,
        r#"{"allOf":[{"properties":{"path":{}}}]}"#,
        r#"{"patternProperties":{"^p":{}}}"#,
        r#"{"additionalProperties":{"type":"string"}}"#,
    ] {
        assert_eq!(rules_of(&bound(text, &[("t", schema)]).0, "t"), ["path"], "{schema}");
    }
}

#[test]
fn a_rule_that_does_not_fit_a_tool_is_an_error_of_that_tool() {
    let text = "framegate: 1\ndefault: allow\nrules:\n  - name: small\n    tools: [pay, read, send]\n    \
        that: args.amount < 5\n    because: Why.\n";
    let word = r#"{"type":"object","properties":{"amount":{"type":"string"}}}"#;
    let (bound, problems) = bound(text, &[("pay", AMOUNT), ("read", word), ("send", word)]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].starts_with("6:11 ") && problems[0].ends_with("(tools `read`, `send`)"),
        "{problems:?}"
    );
    assert!(bound.tool("pay").unwrap().problems.is_empty());
    assert_eq!(bound.tool("read").unwrap().problems.len(), 1);
    assert!(bound.tool("read").unwrap().rules.is_empty());
}

#[test]
fn what_means_nothing_for_this_server_is_said() {
    let text = "framegate: 1\ntools:\n  read_fiel: {}\n  'write_*': {}\n  read_file: {}\n  other/x: {}\n  a/b: {}\n\
        rules:\n  - { name: none, that: 'args.pth == \"\"', because: Why. }\n  \
        - { name: typo, tools: [read_file], that: 'args.pth == \"\"', because: Why. }\n  \
        - { name: path, tools: [read_file], that: 'within(args.path, \"/w\")', because: Why. }";
    let schema = document(PATH);
    let tools = ["read_file", "a/b"].map(|name| Listed { name, schema: Some(schema.root()) });
    let listing = Listing { tools: Some(tools.to_vec()), resources: true };
    let (_, problems) = loaded(text).policy.bind("files", &listing);
    let shown: Vec<String> =
        problems.iter().map(|p| format!("{}:{} {}", p.line(), p.column(), p.message())).collect();
    assert_eq!(
        shown,
        [
            "3:3 `files` has no tool `read_fiel`",
            "4:3 `write_*` matches no tool of `files`",
            "7:3 `a/b` is a tool of `files`, but here it means a server and its tool",
            "9:13 the rule `none` applies to no tool of `files`",
            "10:46 no tool of the rule `typo` has an argument `pth`",
            "11:13 `files` also offers resources, which the rule `path` does not see",
        ]
    );
    assert_eq!(problems[0].advice(), Some("did you mean `read_file`?"));
    assert_eq!(problems[1].advice(), Some("it lists `read_file` and `a/b`"));
    assert_eq!(problems[3].severity(), Severity::Error);
    assert_eq!(problems[3].advice(), Some("did you mean `args.path` instead of `args.pth`?"));
    assert_eq!(problems[4].advice(), Some("did you mean `args.path`?"));
}

#[test]
fn of_many_tools_the_first_are_named_and_the_others_counted() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let advice = |count: usize| {
        let tools = names.map(|name| Listed { name, schema: None });
        let listing = Listing { tools: Some(tools[..count].to_vec()), resources: false };
        let (_, problems) = loaded("framegate: 1\ntools: { xyzzy: }\n").policy.bind("files", &listing);
        problems[0].advice().unwrap().to_owned()
    };
    assert!(advice(8).ends_with("`g` and `h`"), "{}", advice(8));
    assert!(advice(9).ends_with("`g`, `h` and 1 more"), "{}", advice(9));
}

#[test]
fn a_misspelt_pattern_is_told_the_nearest_one() {
    let near = |pattern: &str| {
        let names = ["read_file", "read_text_file", "write_file", "größe_lesen"];
        Glob::parse(pattern).unwrap().nearest(names.into_iter())
    };
    assert_eq!(near("raed_*").as_deref(), Some("read_*"));
    assert_eq!(near("files/raed_*").as_deref(), Some("files/read_*"));
    assert_eq!(near("*_flie").as_deref(), Some("*_file"));
    assert_eq!(near("raed_*_fiel").as_deref(), Some("read_*_file"));
    assert_eq!(near("größe_*").as_deref(), Some("größe_*"));
    assert_eq!(near("delete_*"), None);
    assert_eq!(near("*"), Some("*".into()));
    assert_eq!(near(&"?".repeat(PATTERN_BYTES_MAX)), None);
}

#[test]
fn a_rule_over_hidden_tools_only_is_out_of_reach() {
    let text = "framegate: 1\ntools: { 'r*': { hidden: true }, x: {} }\nrules:\n  \
        - { name: path, that: 'args.path == \"\"', because: Why. }";
    let (_, problems) = bound(text, &[("read", PATH), ("x", AMOUNT)]);
    assert_eq!(problems, ["4:13 all tools of the rule `path` are hidden: nobody can reach it"]);
}

#[test]
fn the_schema_of_the_policy_counts() {
    let text = "framegate: 1\ntools:\n  t:\n    schema: { type: object, properties: { n: { type: number, maximum: 1.10 } } }\n\
        rules:\n  - { name: n, that: 'args.n < 5', because: Why. }";
    let (bound, problems) = bound(text, &[("t", PATH)]);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(rules_of(&bound, "t"), ["n"]);
    let options = bound.tool("t").unwrap().options.clone().unwrap();
    let schema = options.schema.as_ref().unwrap().document();
    assert_eq!(schema.root().get("properties").unwrap().raw(), r#"{"n":{"type":"number","maximum":1.10}}"#);
}

#[test]
fn other_requests_pass_unless_ruled() {
    let policy = loaded(
        "framegate: 1\ndefault: allow\nmethods:\n  'resources/*': deny\n  resources/list: pass\n  \
         resources/read: { that: 'params.uri == \"a\"', because: Why., otherwise: ask }",
    )
    .policy;
    let methods = policy.methods();
    assert!(matches!(methods.of("resources/templates/list"), Passage::Deny));
    assert!(matches!(methods.of("resources/list"), Passage::Pass));
    assert!(matches!(methods.of("prompts/get"), Passage::Pass));
    assert!(
        matches!(methods.of("resources/read"), Passage::Ruled(ruling) if ruling.otherwise == Otherwise::Ask)
    );
    assert!(policy.server_requests().all_pass() && !methods.all_pass());
}

#[test]
fn the_digest_covers_the_file_and_its_schemas() {
    let text = "framegate: 1\ntools: { t: { schema: s.json } }";
    let digest = |text: &str, schema: &str| {
        Policy::load("p.yaml", text.as_bytes(), &mut |_| Ok(schema.to_owned())).unwrap().policy.digest()
    };
    let first = digest(text, "{}");
    assert_eq!(first, digest(text, "{}"));
    assert_ne!(first, digest(text, "{ }"));
    assert_ne!(first, digest(&format!("{text} # x"), "{}"));
}

#[test]
fn facts_are_given_as_declared() {
    let policy = loaded(
        "framegate: 1\ndefault: allow\nfacts: { n: { type: int, one_of: [1, 2] }, s: string, l: list, b: bool }",
    )
    .policy;
    let parse = |name: &str, text: &str| policy.facts()[name].parse(text).map(|d| d.root().raw().to_owned());
    assert_eq!(parse("n", "2"), Ok("2".into()));
    assert_eq!(parse("n", "3"), Err("expected one of `1`, `2`, found `3`".into()));
    assert_eq!(parse("n", "x"), Err("expected a whole number, found `x`".into()));
    assert_eq!(parse("s", "a\"b"), Ok(r#""a\"b""#.into()));
    assert_eq!(parse("l", "a,b"), Ok(r#"["a","b"]"#.into()));
    assert_eq!(parse("l", "[]"), Ok("[]".into()));
    assert_eq!(parse("b", "yes"), Err("expected true or false, found `yes`".into()));
}

#[test]
fn each_limit_below_at_and_above() {
    let file = |bytes: usize| format!("framegate: 1\ndefault: allow\n#{}", "x".repeat(bytes - 30));
    assert_eq!(file(100).len(), 100 - 30 + 29);
    loaded(&file(FILE_BYTES_MAX));
    loaded(&file(FILE_BYTES_MAX + 1));
    assert_eq!(refused(&file(FILE_BYTES_MAX + 2)), ["a policy file of more than 1048576 bytes"]);

    let nested = |levels: usize| {
        format!(
            "framegate: 1\ntools: {{ t: {{ schema: {{ a: {}{} }} }} }}",
            "[".repeat(levels),
            "]".repeat(levels)
        )
    };
    loaded(&nested(NESTING_MAX - 4));
    assert_eq!(refused(&nested(NESTING_MAX - 3)), ["nested deeper than 48 levels"]);

    let values =
        |count: usize| format!("framegate: 1\ndefault: allow\nlists: {{ a: [{}] }}", "x,".repeat(count));
    // The document, its four keys and values, the mapping of lists with its key, the list.
    loaded(&values(VALUES_MAX - 9));
    assert_eq!(refused(&values(VALUES_MAX - 8)), ["more than 100000 values, aliases followed"]);

    let tools = |count: usize| {
        let tools: String = (0..count).map(|n| format!("  t{n}: {{}}\n")).collect();
        format!("framegate: 1\ntools:\n{tools}")
    };
    loaded(&tools(ENTRIES_MAX));
    assert_eq!(refused(&tools(ENTRIES_MAX + 1)), ["more than 1000 entries under `tools`"]);

    let patterns = |count: usize| {
        let rule = |n: usize| {
            format!("  - {{ name: r{n}, because: Why., that: 'true', tools: [{}] }}\n", "x,".repeat(1000))
        };
        let rules: String = (0..10).map(rule).collect();
        let rest = "x,".repeat(count - 10_000);
        format!(
            "framegate: 1\ndefault: allow\nrules:\n{rules}  - {{ name: l, because: Why., that: 'true', tools: [y{rest}] }}\n"
        )
    };
    assert_eq!(
        refused(&patterns(RULE_PATTERNS_MAX)),
        ["more than 10000 patterns under the `tools` of all rules"]
    );
    loaded(&patterns(RULE_PATTERNS_MAX).replace(", tools: [y]", ""));

    let definitions = |count: usize| {
        let lines: String = (0..count).map(|n| format!("  d{n}: defs.d{} + 1\n", n + 1)).collect();
        format!("framegate: 1\ndefault: allow\ndefine:\n{lines}  d{count}: '1'\n")
    };
    loaded(&definitions(DEFINITIONS_MAX - 1));
    assert_eq!(refused(&definitions(DEFINITIONS_MAX)), ["more than 64 definitions"]);

    for (limit, fine) in [
        ("call_bytes: 1023", false),
        ("call_bytes: 1 KiB", true),
        ("call_bytes: 64 MiB", true),
        ("call_bytes: 67108865", false),
        ("depth: 3", false),
        ("depth: 4", true),
        ("depth: 512", true),
        ("depth: 513", false),
        ("asks_per_minute: 0", false),
        ("asks_per_minute: 1", true),
        ("asks_per_session: 10000", true),
        ("asks_per_session: 10001", false),
    ] {
        let text = format!("framegate: 1\ndefault: allow\nlimits: {{ {limit} }}");
        assert_eq!(Policy::load("p", text.as_bytes(), &mut |_| Err(String::new())).is_ok(), fine, "{limit}");
    }
}

#[test]
fn one_check_serves_tools_with_the_same_arguments_only() {
    let text = "framegate: 1\ndefault: allow\nrules:\n  \
        - { name: n, tools: ['*'], that: '!has(args.n) || args.n < 5', because: Why. }";
    let number = r#"{"type":"object","properties":{"n":{"type":"number"},"other":{"type":"string"}}}"#;
    let word = r#"{"type":"object","properties":{"n":{"type":"string"}}}"#;
    let other = r#"{"type":"object","properties":{"n":{"type":"number"}}}"#;
    let (bound, problems) = bound(text, &[("a", number), ("b", word), ("c", other), ("d", word)]);
    let that = |tool: &str| Arc::clone(&bound.tool(tool).unwrap().rules[0].that);
    assert!(Arc::ptr_eq(&that("a"), &that("c")));
    assert!(problems.len() == 1 && problems[0].ends_with("(tools `b`, `d`)"), "{problems:?}");
}

#[test]
fn who_may_say_yes_and_for_how_much_is_an_option_of_each_tool() {
    let text = "framegate: 1\napprove: terminal\ntools:\n  a: { remember: tool }\n  \
        b: { approve: client, remember: never }\n  'c*': {}\n";
    let policy = Policy::load("p", text.as_bytes(), &mut |_| Err(String::new())).unwrap().policy;
    let of = |tool: &str| {
        let options = policy.tool("s", tool).unwrap();
        (options.approve, options.remember)
    };
    assert_eq!(of("a"), (Approve::Terminal, Remember::Tool));
    assert_eq!(of("b"), (Approve::Client, Remember::Never));
    assert_eq!(of("cd"), (Approve::Terminal, Remember::Arguments));
    assert!(policy.approves_at_terminal());
    let by = |text: &str| {
        let text = format!("framegate: 1\ndefault: allow\n{text}");
        Policy::load("p", text.as_bytes(), &mut |_| Err(String::new())).unwrap().policy.approves_at_terminal()
    };
    assert!(by("tools: { a: { approve: terminal } }") && by("defaults: { approve: terminal }"));
    assert!(!by("tools: { a: { remember: tool } }"));
    assert_eq!(
        refused("framegate: 1\ntools: { a: { approve: shell } }\nremember: tool\n"),
        ["`shell` is not one of `client` or `terminal`", "unknown key `remember` in a policy"]
    );
}

#[test]
fn a_key_at_the_wrong_level_is_told_where_it_belongs() {
    let hint = |text: &str| {
        let text = format!("framegate: 1\n{text}");
        let errors = Policy::load("p", text.as_bytes(), &mut |_| Err(String::new())).unwrap_err();
        let hints = errors.problems().iter().filter_map(Problem::advice);
        hints.map(str::to_owned).collect::<Vec<_>>().join("; ")
    };
    for (text, wanted) in [
        ("ground: { iban: whole }", "`tools: { NAME: { ground: … } }`, or under `defaults` for every tool"),
        ("once: true", "an option of a tool"),
        (
            "budget: { of: args.a, max: 1, per: day }",
            "it is an option of a tool: `tools: { NAME: { budget: … } }`",
        ),
        ("limit: 5 per hour", "`tools: { NAME: { limit: … } }`"),
        ("default: allow\nrules: [{ name: r, that: 'true', confirm: true }]", "an option of a tool"),
        ("that: 'true'", "it belongs to a rule"),
        ("tools: { pay: { that: 'true' } }", "it belongs to a rule"),
        ("tools: { pay: { set: { a: 1 } } }", "it belongs to a rule"),
        ("tools: { pay: { from: [user] } }", "`ground: { ARGUMENT: { from: … } }`"),
        ("tools: { pay: { state: { a: bool } } }", "`state:` stands at the top of the file"),
        ("default: allow\nrules: [{ name: r, that: 'true', invariants: [] }]", "at the top of the file"),
        ("tools: { pay: { groud: [iban] } }", "did you mean `ground`?"),
        ("mode: monitoring", "did you mean `monitor`?"),
        ("state: { a: boolean }", "did you mean `bool`?"),
        ("tools: { pay: { confirm: { args: [a] } } }", "the keys are"),
    ] {
        let got = hint(text);
        assert!(got.contains(wanted), "{text}: {got}");
    }
    assert!(!hint("limit: 5 per hour").contains("defaults"), "it would count for no entry");
}

#[test]
fn how_an_argument_is_grounded_is_not_taken_for_one() {
    let load = |ground: &str| {
        let text = format!("framegate: 1\ntools: {{ pay: {{ ground: {ground} }} }}");
        Policy::load("p", text.as_bytes(), &mut |_| Err(String::new())).map(|_| ())
    };
    for wrong in ["{ from: [user] }", "{ last: 3 }", "{ match: whole, from: [user] }", "{ otherwise: ask }"] {
        let errors = load(wrong).unwrap_err();
        let [one] = errors.problems() else { panic!("{wrong}: {errors}") };
        assert!(one.message().contains("says how an argument is grounded, and not which"), "{wrong}: {one}");
        assert!(one.advice().unwrap().starts_with("name the arguments: `ground: { ARGUMENT: { "), "{one}");
    }
    for fine in
        ["{ from: whole }", "{ from: { from: [user] } }", "{ last: off, iban: whole }", "[from, last]"]
    {
        assert!(load(fine).is_ok(), "{fine}: an argument may be called so");
    }
}

#[test]
fn half_an_authorizer_says_what_is_missing_and_nothing_else() {
    let said = |authorizer: &str, tool: &str| {
        let text = format!("framegate: 1\n{authorizer}\ntools: {{ pay: {{ {tool} }} }}\n");
        match Policy::load("p", text.as_bytes(), &mut |_| Err(String::new())) {
            Ok(loaded) => loaded.warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
            Err(errors) => errors.to_string(),
        }
    };
    for authorizer in ["authorizer: {}", "authorizer:", "authorizer: { }"] {
        for tool in ["authorize: true", ""] {
            let said = said(authorizer, tool);
            assert!(said.contains("`authorizer` does not say who is asked"), "{said}");
            assert!(said.contains("add `command: [python3, judge.py]`"), "{said}");
            assert!(!said.contains("needs an authorizer"), "{said}");
        }
    }
    assert!(!said("authorizer: { command: [] }", "authorize: true").contains("needs an authorizer"));
    assert!(said("authorizer: { command: [cat] }", "").contains("nothing asks the authorizer"));
    assert!(said("", "authorize: true").contains("needs an authorizer"));
}
