//! What expressions mean: true, false and failing ones.

use super::{evaluate, fails, is_false, is_true};

#[test]
fn true_expressions() {
    for source in TRUE {
        is_true(source);
    }
}

const TRUE: &[&str] = &[
    // Numbers are exact and of one kind.
    "1 == 1.0 && 1u == 1 && 0x10 == 16 && 0xFFu == 255",
    "0.1 + 0.2 == 0.3",
    "args.big == 9007199254740993 && args.big != 9007199254740992",
    "args.big + 1 == 9007199254740994",
    "args.n + 1 <= 10 && 1 + args.n <= 10 && -args.n == -9 && - 9 == -args.n",
    "args.n - 10 == -1 && args.n -10 == -1 && 10 -9 == 1",
    "123456789012345678901234567890 > 123456789012345678901234567889",
    "1e400 > 1e399 && 1e-400 > 0 && .5 == 0.5 && 1.5E+2 == 150",
    "5 / 2 == 2.5 && 7 % 3 == 1 && -7 % 3 == -1 && 2 * 3 + 4 == 10 && 2 + 3 * 4 == 14",
    "--5 == 5 && !!true",
    "args.price == 1.1 && args.price * 10 == 11",
    // Texts.
    r#"'a' + "b" == 'ab' && r'a\n' == "a\\n" && "\u00e9" == 'é' && '''a'b''' == "a'b""#,
    r#"args.text == "a/b é" && size(args.text) == 5 && args.text.size() == 5"#,
    "'a' < 'b' && 'B' < 'a' && 'ab' > 'a'",
    // Lists and maps.
    "[1, 2][0] == 1 && [1, 'a', null][2] == null && 2 in [1, 2] && !(3 in [1, 2])",
    "[1] + [2, 3] == [1, 2, 3] && [] == [] && [[1]] == [[1.0]]",
    "{'a': 1, 'b': [2]}.b == [2] && {'a': 1}['a'] == 1 && 'a' in {'a': 1}",
    "{'a': 1, 'b': 2} == {'b': 2, 'a': 1.0}",
    "args.nested.deep.x == [1, 2, 3] && args.nested == {'deep': {'x': [1, 2, 3]}}",
    "args['nested']['deep'].x[2] == 3 && args.items[1].name == 'b'",
    "args.nothing_here == null && has(args.nothing_here)",
    // has() asks one member.
    "has(args.path) && !has(args.other) && has(args.nested.deep) && !has(args.nested.other)",
    "!has(facts.rate) && has(facts.role) && has(lists.secret)",
    // Macros.
    "args.items.all(i, i.n > 0) && args.items.exists(i, i.name == 'b') && [].all(x, false)",
    "![].exists(x, true) && [1, 2, 3].exists_one(x, x == 2) && ![2, 2].existsOne(x, x == 2)",
    "[1, 2, 3].map(x, x * x) == [1, 4, 9] && [1, 2, 3].map(x, x > 1, x * 10) == [20, 30]",
    "[1, 2, 3].filter(x, x % 2 == 1) == [1, 3]",
    "args.nested.all(key, key == 'deep') && {'a': 1}.map(k, k) == ['a']",
    "[[1, 2], [3]].all(l, l.exists(x, x > 1 && l.size() > 0))",
    "[1, 2].all(x, [3, 4].all(y, x < y)) && [1].map(x, [2].map(y, x + y)) == [[3]]",
    "[1, 2].filter(x, [x].exists(x, x == 2)) == [2]",
    // An item shadows a variable.
    "[{'n': 1}].all(args, args.n == 1)",
    // One side that decides makes up for an error of the other.
    "true || 1 / 0 == 1",
    "1 / 0 == 1 || true",
    "!(false && 1 / 0 == 1) && !(1 / 0 == 1 && false)",
    "[1, 0].exists(x, 1 / x == 1) && [0, 1].exists(x, 1 / x == 1)",
    "![0, 1].all(x, 1 / x != 1)",
    "true || facts.rate > 1",
    "true ? true : 1 / 0 == 1",
    "false ? 1 / 0 == 1 : true ? true : false",
    "args.n > 5 ? args.flag : false",
    // Heterogeneous comparison is false, where types are not known before.
    "args.path != args.n && !(args.path == args.n) && !(args.n in args.paths)",
    // Time.
    "timestamp('2026-01-01T00:00:00Z') + duration('24h') == timestamp('2026-01-02T00:00:00Z')",
    "timestamp('2026-01-01T02:00:00+02:00') == timestamp('2026-01-01T00:00:00Z')",
    "timestamp('2026-01-02T00:00:00Z') - timestamp('2026-01-01T00:00:00Z') == duration('1440m')",
    "now.getHours('Europe/Berlin') == 10 && now.getHours() == 8 && now.getHours('-03:30') == 4",
    "between(now, '08:00', '18:00', 'Europe/Berlin') && between(now, '08:00', '08:00:01')",
    "!between(now, '08:01', '18:00') && !between(now, '00:00', '08:00') && between(now, '22:00', '09:00')",
    "string(duration('90s')) == '90s' && string(now) == '2026-07-01T08:00:00Z'",
    "duration('-1.5h') == duration('-90m') && -duration('1s') == duration('-1s') && duration('90m').getHours() == 1",
    // Conversions.
    "int('5') + 1 == 6 && int(5.9) == 5 && int('-7') == -7 && double('1e-3') == 0.001 && string(12.50) == '12.5'",
    "int(timestamp('1970-01-01T00:01:00Z')) == 60 && bool('false') == false && string('x') == 'x'",
    // Strings.
    "'a,b,,c'.split(',') == ['a', 'b', '', 'c'] && 'abc'.split('') == ['a', 'b', 'c'] && 'a,b'.split(',', 1) == ['a,b']",
    "'abc'.split('', 2) == ['a', 'bc'] && 'a'.split(',', 0) == [] && ' a b '.trim().split(' ').join('+') == 'a+b'",
    "'aaa'.replace('a', 'b', 2) == 'bba' && 'abc'.replace('', '-') == '-a-b-c-' && 'é1'.indexOf('1') == 1",
    "'abc'.substring(1) == 'bc' && 'abc'.substring(3) == '' && 'abc'.charAt(3) == ''",
    // Functions of policies.
    "within(args.path, '/work') && args.paths.all(p, within(p, '/work')) && within(args.path, '/tmp', '/work')",
    "within(args.path, lists.roots) && within(args.path, ['/tmp', '/work']) && within('notes.txt', '/work/')",
    "contains_any(texts, ['/work']) && !contains_any(texts, lists.secret) && contains_any(args, 'deep')",
    "contains_any(args.nested, ['x', 'y']) && contains_any('abc', args.items.map(i, i.name))",
    "contains_any_nocase('PASS\u{ad}WORD', 'password') && contains_any_nocase('Straße', ['STRASSE'])",
    "glob('/work/notes.txt', ['*.md', '*.txt']) && glob(args.paths, '*c') && glob('', '*') && !glob('a', '')",
    "args.path.matches('^/work/[a-z]+\\\\.txt$') && matches(args.path, args.items[0].name) == false",
    "with_defaults(args).limit == 10 && has(with_defaults(args).limit) && !has(args.limit)",
    "defs.double_n == 18 && facts.role in ['admin', 'root']",
    "has(lists.secret) && lists.secret[0] == '/.ssh' && lists.secret.exists(s, s == '/.env')",
    // Comments and lines.
    "true // not false\n && true",
];

#[test]
fn within_takes_no_trick() {
    for path in ["/work/../etc/passwd", "/workshop/a", "/work/out/passwd", "out/passwd", "../etc"] {
        is_false(&format!("within(\"{path}\", \"/work\")"));
    }
    // Not false: `!within(..)` would be true of them.
    for path in [
        "",
        "~",
        "~/x",
        "/work/%2e%2e/etc",
        "/work/%2E%2e/etc",
        "/work/a%2fb",
        "/work/%252e%252e/x",
        "/work/%25252Fx",
        "/work/a%5cb",
        "/work/a%00",
        "/work/..\\etc",
        "/work/a\\b",
        "/work/a\0",
        "file:///work/a",
        "FILE:/work/a",
        "file:work",
        "https://x/work",
        " file:///work/a",
    ] {
        let quoted = path.replace('\\', "\\\\").replace('\0', "\\x00");
        for not in ["", "!"] {
            let failure = evaluate(&format!("{not}within(\"{quoted}\", \"/work\")")).unwrap_err();
            assert!(failure.message.contains("names another place"), "{path}: {failure}");
        }
    }
    for path in [
        "/work",
        "/work/",
        "/work/.",
        "/work/a b",
        "/work/a%20b",
        "/work/100%",
        "/work/a:b",
        "./x",
        "/work/é",
    ] {
        is_true(&format!("within(\"{path}\", \"/work\")"));
    }
    is_true("within('/etc', '/')");
    let failure = fails("within('/locked', '/work')", "`/locked` cannot be looked at");
    assert!(failure.unknown);
    fails("within('/work/a', '')", "`` is not a folder's path");
}

#[test]
fn failures_say_what_and_where() {
    let failure = fails("args.n > 5 && args.missing == 1", "`args.missing` was not given");
    assert_eq!(failure.span, 14..26);
    assert!(!failure.unknown);
    let failure = fails("facts.rate * 2 > 1", "the fact `rate` was not given");
    assert_eq!(failure.span, 0..10);
    assert!(failure.unknown);
    fails("1 / (args.n - 9) == 1", "division by zero");
    fails("args.path > args.n", "a string has no order with a number");
    fails("args.path + args.n == ''", "`+` does not go with a string and a number");
    fails("args.paths[7] == ''", "the list has no item 7");
    fails("args.paths[-1] == ''", "the list has no item -1");
    fails("args.path.name == ''", "a string has no member `name`");
    fails("args.n ? true : false", "this must be a bool, not a number");
    fails("args.n && false || args.n", "this must be a bool, not a number");
    fails("defs.broken == 1", "division by zero");
    fails("has(defs.broken)", "division by zero");
    fails("int('5.5') == 5", "`5.5` is not a whole number");
    fails("'abc'.substring(2, 1) == ''", "the substring lies outside of the string");
    fails("'abc'.substring(args.n) == ''", "the substring lies outside of the string");
    fails("args.n.startsWith('a')", "`startsWith` is for a string, not a number");
    fails("within(args.n, '/work')", "`within` takes as argument 1 a string, not a number");
    fails("matches('a', args.text + '(')", "the pattern is not a regular expression: unclosed group");
    fails("{args.path: 1, '/work/notes.txt': 2}.x == 1", "the key `/work/notes.txt` stands twice");
}

#[test]
fn an_unknown_outlives_an_error() {
    assert!(evaluate("1 / 0 == 1 || facts.rate > 1").unwrap_err().unknown);
    assert!(evaluate("facts.rate > 1 || 1 / 0 == 1").unwrap_err().unknown);
    assert!(!evaluate("1 / 0 == 1 || args.missing").unwrap_err().unknown);
}

#[test]
fn an_unreadable_url_is_not_outside_of_anything() {
    for url in ["http://0xa9fea9fe/", "http://user@169.254.169.254/", "file:///etc/passwd", "http://a\\\\@b/"]
    {
        let failure = evaluate(&format!("!url_within(\"{url}\", \"http://169.254.169.254\")")).unwrap_err();
        assert!(failure.message.contains("no URL that every reader reads alike"), "{url}: {failure}");
        assert!(evaluate(&format!("!same_url(\"{url}\", \"http://169.254.169.254\")")).is_err(), "{url}");
    }
}
