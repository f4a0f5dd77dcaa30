use super::*;

/// Message, hint, and the text it points at.
fn found(source: &str) -> Vec<(String, Option<String>, String)> {
    let shown =
        |problem: Problem| (problem.message, problem.hint, source.get(problem.span).unwrap().to_owned());
    problems(source).into_iter().map(shown).collect()
}

#[track_caller]
fn one(source: &str, message: &str, hint: Option<&str>, at: &str) {
    let expected = vec![(message.to_owned(), hint.map(str::to_owned), at.to_owned())];
    assert_eq!(found(source), expected, "{source}");
}

#[test]
fn all_are_found_with_place_and_hint() {
    let found = found("argss.x == 1 && facts.roel == 'a' && wihtin(args.path, '/w') && 'a' > 1");
    let messages: Vec<&str> = found.iter().map(|(message, _, _)| message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "unknown variable `argss`",
            "there is no `roel`",
            "unknown function `wihtin`",
            "`>` does not go with a string and a number"
        ]
    );
    let places: Vec<&str> = found.iter().map(|(_, _, place)| place.as_str()).collect();
    assert_eq!(places, ["argss", "facts.roel", "wihtin", "'a' > 1"]);
    assert_eq!(found[0].1.as_deref(), Some("did you mean `args`?"));
    assert_eq!(found[1].1.as_deref(), Some("did you mean `role`?"));
    assert_eq!(found[2].1.as_deref(), Some("did you mean `within`?"));
}

#[test]
fn types_that_do_not_fit() {
    one(
        "facts.role == 1",
        "a string never equals a number",
        Some("convert with string(x) or double(x)"),
        "facts.role == 1",
    );
    one(
        "facts.role != null",
        "a string never equals null",
        Some("ask with has(x.y) whether it was given"),
        "facts.role != null",
    );
    one("1 in ['a']", "a number is never in a list of string", None, "1 in ['a']");
    one(
        "'a' in 'abc'",
        "`in` takes a list or a map, not a string",
        Some("write text.contains(part)"),
        "'a' in 'abc'",
    );
    one("!1", "`!` takes a bool, not a number", None, "1");
    one("-'a'", "`-` takes a number, not a string", None, "'a'");
    one("'a' && true", "`&&` takes a bool, not a string", None, "'a'");
    one("1 ? true : false", "`?` takes a bool, not a number", None, "1");
    one("[1].all(x, x)", "this takes a bool, not a number", None, "x");
    one("1.all(x, x > 1)", "a number has no items", None, "1");
    one("{1: 2}", "a map's keys must be strings, not a number", None, "1");
    one("texts['a'] == ''", "a list(string) is looked up by a number, not by a string", None, "'a'");
    one(
        "texts.a == ''",
        "a list(string) has no member `a`",
        Some("use list[0], or list.exists(x, x.…)"),
        "texts.a",
    );
    one("[1] < [2]", "`<` does not go with a list(number) and a list(number)", None, "[1] < [2]");
    one("now + 1 == now", "`+` does not go with a timestamp and a number", None, "now + 1");
}

#[test]
fn calls_that_do_not_fit() {
    one(
        "within(args.path)",
        "too few arguments for `within`",
        Some("it is written within(path, root, …) → bool"),
        "within(args.path)",
    );
    one(
        "'a'.trim(1) == ''",
        "too many arguments for `trim`",
        Some("it is written string.trim() → string"),
        "'a'.trim(1)",
    );
    one(
        "within(1, '/w')",
        "`within` takes a string here, not a number",
        Some("it is written within(path, root, …) → bool"),
        "1",
    );
    one(
        "within(texts, '/w')",
        "`within` takes a string here, not a list(string)",
        Some("for every item: list.all(x, within(x, …)) or list.exists(…)"),
        "texts",
    );
    one(
        "startsWith('a', 'b')",
        "`startsWith` is not a function",
        Some("it is written string.startsWith(prefix) → bool"),
        "startsWith",
    );
    one(
        "'a'.within('b')",
        "`within` is not a method",
        Some("it is written within(path, root, …) → bool"),
        "within",
    );
    one("uint(1) == 1", "unknown function `uint`", Some("did you mean `int`?"), "uint");
    one(
        "'a'.toLowerCase() == 'a'",
        "unknown function `toLowerCase`",
        Some("use lowerAscii() or normalize()"),
        "toLowerCase",
    );
    one("[1].all(x > 1)", "all() takes a name and a condition: list.all(x, x > 0)", None, "(x > 1)");
    one("has(args)", "has() takes one member: has(args.path)", None, "has(args)");
    one("all(1)", "`all` is not a function", Some("it is written list.all(x, condition) → bool"), "all");
}

#[test]
fn constants_are_checked_at_once() {
    one("matches(args.a, '(')", "the pattern is not a regular expression: unclosed group", None, "'('");
    one("matches(args.a, 'a{1000}{1000}')", "the pattern is too large", None, "'a{1000}{1000}'");
    one("now.getHours('Mars') == 1", "unknown time zone `Mars`", None, "'Mars'");
    one("between(now, '8:00', '18:00')", "`8:00` is not a time of day like 08:00", None, "'8:00'");
    one("contains_any(texts, [])", "the list is empty, so nothing is ever found", None, "[]");
    one("contains_any(texts, [''])", "an empty text stands in every text", None, "['']");
    one("contains_any_nocase(texts, '\\u200b')", "an empty text stands in every text", None, "'\\u200b'");
    one("lists.secrets == []", "there is no `secrets`", Some("did you mean `secret`?"), "lists.secrets");
}

#[test]
fn what_is_no_expression() {
    one("", "the expression is empty", None, "");
    one("a = 1", "`=` does not belong here", Some("write `==` to compare"), "=");
    one("a & b", "`&` does not belong here", Some("write `&&` for and"), "&");
    one("(1", "`(` is never closed", None, "(");
    one("1)", "`)` closes nothing", None, ")");
    one("[1)", "`)` closes a `[`", None, ")");
    one("'abc", "a text without an end", None, "'abc");
    one(
        "'a\\q' == ''",
        "an escape that does not exist",
        Some("write `\\\\` for a backslash, or r'…'"),
        "\\q",
    );
    one("'\\ud800' == ''", "the text holds an escape that does not exist", None, "'\\ud800'");
    one("1 2", "`2` does not belong here", None, "2");
    one("1 +", "the expression ends too early", None, "");
    one("5x", "a number ends in the middle of a word", None, "5x");
    one("1e == 1", "`1e` is not a number", None, "1e");
    one("args.a == b'a'", "bytes are not supported", Some("write a string"), "b'a'");
    one("args.?x == 1", "optional values are not supported", Some("use has(x.y) ? x.y : other"), ".");
    one("args[?0] == 1", "optional values are not supported", Some("use has(x.y) ? x.y : other"), "[?0]");
    one("if == 1", "`if` is a reserved word", None, "if");
    one("Msg{a: 1} == 1", "messages are not supported", Some("write a map: {\"key\": value}"), "{a: 1}");
    one("é == 1", "`é` does not belong here", None, "é");
}

#[test]
fn types_come_from_a_schema() {
    let schema = r#"{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer"},
        "tags":{"type":"array","items":{"type":"string"}},"any":{},"either":{"type":["string","null"]},
        "opts":{"type":"object","properties":{"deep":{"type":"boolean"}},"additionalProperties":false},
        "env":{"type":"object","additionalProperties":{"type":"string"}}},"required":["path"]}"#;
    let document = Document::read(schema.into(), &Limits::default()).unwrap();
    let scope = Scope::new().with("args", Type::of_schema(document.root()));
    let messages = |source: &str| -> Vec<String> {
        match Expression::compile(source, &scope) {
            Ok(_) => Vec::new(),
            Err(problems) => problems.into_iter().map(|problem| problem.message).collect(),
        }
    };
    for fine in [
        "args.path == 'a' && args.n > 1 && args.tags.exists(t, t == 'x') && args.any == 1 && args.either == null",
        "args.opts.deep && args.env.HOME == '/' && args.unknown_but_open == 1",
    ] {
        assert_eq!(messages(fine), Vec::<String>::new(), "{fine}");
    }
    assert_eq!(messages("args.path > 1"), ["`>` does not go with a string and a number"]);
    assert_eq!(messages("args.tags.exists(t, t == 1)"), ["a string never equals a number"]);
    assert_eq!(messages("args.opts.deeep"), ["there is no `deeep`"]);
    assert_eq!(messages("args.env.HOME == 1"), ["a string never equals a number"]);
    assert_eq!(Expression::compile("args.n", &scope).unwrap().result(), &Type::Number);
}

#[test]
fn what_is_read_is_known() {
    let source = "args.a.b == 1 && has(args.c.d) && args['e'] == with_defaults(args).f && args.list[args.i].x == 1 \
                  && lists.secret == [] && facts.role == '' && [1].all(x, x == args.g) && size(args) > 0";
    let expression = Expression::compile(source, &scope()).unwrap();
    let reads = expression.reads();
    let names = |paths: &std::collections::BTreeSet<Vec<String>>| -> Vec<String> {
        paths.iter().map(|path| path.join(".")).collect()
    };
    assert_eq!(reads.variables.iter().map(String::as_str).collect::<Vec<_>>(), ["args", "facts", "lists"]);
    assert_eq!(
        names(&reads.paths),
        [
            "args",
            "args.a.b",
            "args.e",
            "args.f",
            "args.g",
            "args.i",
            "args.list",
            "facts.role",
            "lists.secret"
        ]
    );
    assert_eq!(names(&reads.tested), ["args.c.d"]);
}
