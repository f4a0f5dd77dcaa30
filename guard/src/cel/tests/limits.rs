//! Every limit: below, at, above; and inputs that mean harm.

use super::*;

#[track_caller]
fn refused(source: &str, message: &str) {
    let problems = Expression::compile(source, &scope()).expect_err("compiled");
    assert_eq!(problems[0].message, message);
}

fn accepted(source: &str) {
    if let Err(problems) = Expression::compile(source, &scope()) {
        panic!("{problems:?}");
    }
}

const TOO_DEEP: &str = "the expression is nested deeper than 64 levels";

#[test]
fn source_length() {
    let source = |bytes: usize| format!("true{}", " ".repeat(bytes - 4));
    accepted(&source(SOURCE_BYTES_MAX - 1));
    accepted(&source(SOURCE_BYTES_MAX));
    refused(&source(SOURCE_BYTES_MAX + 1), "the expression is longer than 8192 bytes");
}

/// An expression with that many levels.
type Make<'m> = &'m dyn Fn(usize) -> String;

#[test]
fn nesting() {
    let parens = |n: usize| format!("{}true{}", "(".repeat(n), ")".repeat(n));
    let chain = |n: usize| format!("args{} == 1", ".a".repeat(n - 1));
    let sum = |n: usize| format!("1{} == 1", " + 1".repeat(n - 1));
    let lists = |n: usize| format!("{}1{} == []", "[".repeat(n), "]".repeat(n));
    let choice = |n: usize| format!("{}true", "args.a ? true : ".repeat(n));
    let not = |n: usize| format!("{}true", "!".repeat(n));
    let all = |n: usize| (0..n).fold("true".to_owned(), |inner, _| format!("[1].all(x,{inner})"));
    let made: [(&str, Make<'_>, usize); 7] = [
        ("parens", &parens, 63),
        ("chain", &chain, 64),
        ("sum", &sum, 64),
        ("lists", &lists, 62),
        ("choice", &choice, 63),
        ("not", &not, 64),
        ("all", &all, 21),
    ];
    for (name, make, at) in made {
        for n in [at - 1, at] {
            if let Err(problems) = Expression::compile(&make(n), &scope()) {
                panic!("{name} {n}: {problems:?}");
            }
        }
        refused(&make(at + 1), TOO_DEEP);
    }
}

#[test]
fn ten_thousand_of_anything_end_no_stack() {
    for hostile in [
        "(",
        "[",
        "{",
        "!",
        "-",
        "a.",
        "a?",
        "a?b:",
        "a(",
        "f(",
        "1+",
        "[1].all(x,",
        "{'a':",
        "a&&(",
        "''+",
        "a[",
        "//",
    ] {
        for n in [100, 1000, 10_000] {
            let source = hostile.repeat(n);
            assert!(Expression::compile(&source, &scope()).is_err(), "{hostile}");
            assert!(Expression::compile(&format!("{source}1"), &scope()).is_err(), "{hostile}");
        }
    }
}

#[test]
fn many_operands_beside_each_other_are_not_deep() {
    let many = |part: &str, with: &str, n: usize| vec![part; n].join(with);
    accepted(&many("true", " && ", 500));
    accepted(&many("args.n == 1", " || ", 300));
    accepted(&format!("args.n in [{}]", many("1", ", ", 2000)));
}

#[test]
fn every_step_counts() {
    let expression = Expression::compile("args.n + 1 == 10", &scope()).unwrap();
    let sample = Sample::default();
    let mut full = Budget::default();
    expression.evaluate(&sample, &mut full).unwrap();
    let needed = Budget::STEPS - full.left();
    for (steps, enough) in [(needed - 1, false), (needed, true), (needed + 1, true)] {
        assert_eq!(expression.evaluate(&sample, &mut Budget::new(steps)).is_ok(), enough, "{steps}");
    }
}

#[test]
fn an_exhausted_budget_is_final() {
    let expensive = "[0,1,2,3,4,5,6,7,8,9].all(a,[0,1,2,3,4,5,6,7,8,9].all(b,[0,1,2,3,4,5,6,7,8,9].all(c,\
                     [0,1,2,3,4,5,6,7,8,9].all(d,[0,1,2,3,4,5,6,7,8,9].all(e,[1,2].exists(f, f > 0))))))";
    for source in
        [expensive.to_owned(), format!("{expensive} || true"), format!("[1].exists(x, {expensive}) || true")]
    {
        let failure = evaluate(&source).expect_err("ended");
        assert_eq!(failure.message, "the expression took more steps than it may");
        assert!(!failure.unknown);
    }
}

#[test]
fn what_grows_is_paid_for() {
    let repeated = |start: &str, step: &str, n: usize| format!("{start}{} == []", step.repeat(n));
    for source in [
        repeated("['abcdefghijklmnopqrstuvwxyz']", ".map(x, x + x)", 25),
        repeated("[[1, 2, 3]]", ".map(x, x + x)", 25),
        repeated("[args.big]", ".map(x, x * x)", 20),
        repeated("[1 / 3]", ".map(x, x * x)", 20),
        repeated("['aaaaaaaaaaaaaaaa']", ".map(x, x.replace('', x))", 9),
        repeated("[['aaaa', 'b']]", ".map(x, [x.join('aaa'), x.join('b')])", 25),
        format!("[[[1, 1]]{}].all(x, x == x)", ".map(x, [x, x])".repeat(20)),
        format!("[[1, 1]]{}.map(x, texts(x)) == []", ".map(x, [x, x])".repeat(20)),
        format!("[[1, 1]]{}.map(x, contains_any(x, ['a'])) == []", ".map(x, [x, x])".repeat(20)),
    ] {
        let started = std::time::Instant::now();
        let failure = evaluate(&source).expect_err(&source);
        let expected = ["the expression took more steps than it may", "the number is too large"];
        assert!(expected.contains(&failure.message.as_str()), "{source}: {failure}");
        assert!(started.elapsed().as_secs() < 5, "{source}");
    }
}

#[test]
fn hostile_globs_and_patterns_end() {
    let text = "a".repeat(4000);
    for source in [
        format!("glob('{text}', '{}b')", "*a".repeat(60)),
        format!("glob('{text}', '{}')", "*a?".repeat(40)),
        format!("matches('{text}', '(a*)*(a*)*(a|a)*b')"),
    ] {
        let started = std::time::Instant::now();
        let outcome = evaluate(&source);
        assert!(started.elapsed().as_secs() < 5, "{source}");
        if let Err(failure) = outcome {
            assert_eq!(failure.message, "the expression took more steps than it may", "{source}");
        }
    }
}

#[test]
fn numbers_at_the_readers_limit_are_paid_for() {
    let seven = "7".repeat(1000);
    let source = format!("{seven}e5000 * {seven}e-5000 + {seven}e5000 > {seven}e-5000 && 1e10000 > 1e-10000");
    is_true(&source);
}

/// Lists in each other, deeper than a document can be.
struct Deep(usize);

impl Env for Deep {
    fn variable(&self, _: &str) -> Option<Value<'_>> {
        Some((0..self.0).fold(Value::from("x"), |inner, _| Value::list([inner])))
    }

    fn world(&self) -> &dyn World {
        &crate::world::NoWorld
    }
}

#[test]
fn deep_values_are_refused_not_recursed_into() {
    use super::super::budget::NESTING_MAX;
    for source in ["args == args", "texts(args) == ['x']", "contains_any(args, ['x'])"] {
        let expression = Expression::compile(source, &scope()).unwrap();
        for (depth, fits) in
            [(NESTING_MAX - 1, true), (NESTING_MAX, true), (NESTING_MAX + 1, false), (2000, false)]
        {
            let deep = Deep(depth);
            match expression.evaluate(&deep, &mut Budget::default()) {
                Ok(value) => assert!(fits && value.as_bool() == Some(true), "{source} {depth}"),
                Err(failure) => {
                    assert!(!fits, "{source} {depth}: {failure}");
                    assert_eq!(failure.message, "a value is nested deeper than 256 levels");
                }
            }
        }
    }
}

#[test]
fn a_megabyte_of_texts_can_be_searched() {
    let text = format!(r#"{{"text":"{}"}}"#, "lorem ipsum ".repeat(100_000));
    let arguments = Document::read(text.into(), &Limits::default()).unwrap();
    let sample = Sample { arguments, ..Sample::default() };
    for source in [
        "!contains_any(args, lists.secret)",
        "!contains_any(texts, lists.secret)",
        "!glob(args.text, '*.pem')",
    ] {
        let expression = Expression::compile(source, &scope()).unwrap();
        let value = expression.evaluate(&sample, &mut Budget::default()).unwrap();
        assert_eq!(value.as_bool(), Some(true), "{source}");
    }
}

#[test]
fn any_bytes_are_an_expression_or_a_problem() {
    for source in [
        "",
        "args",
        "args.path == 'x' && now > now",
        "[1,2].map(x, x + args.n)",
        "lists.names",
        "\u{0}",
        "'\\",
        "1e",
        "0x",
        "b'",
        "facts.x || true",
    ] {
        fuzz(source.as_bytes());
    }
    fuzz(&[0xff, 0xfe]);
}

mod random {
    use super::super::super::fuzz;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_never_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24)) {
            fuzz(pieces.concat().as_bytes());
        }

        #[test]
        fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            fuzz(&bytes);
        }
    }

    const PIECES: &[&str] = &[
        "args",
        ".path",
        ".n",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        " && ",
        " || ",
        "!",
        "-",
        "+",
        " ? ",
        " : ",
        "'a'",
        "1",
        "1.5",
        "0x1F",
        "5u",
        "1e3",
        ".5",
        " in ",
        ",",
        ".all(x, ",
        ".map(x, ",
        "x",
        "has(",
        "size(",
        "lists.names",
        "now",
        "facts.f",
        " == ",
        " < ",
        "r'",
        "\"",
        "'",
        "\\",
        "//",
        "\n",
        "é",
        "true",
        "null",
        "b'",
        "&",
        "?",
        ".",
        "within(",
        "string(",
        "'''",
    ];
}
