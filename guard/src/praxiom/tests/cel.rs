//! Translated to CEL an expression says the same.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::random::{TEXTS, bools, source};
use super::twin::{names, ours};
use crate::cel::{Budget, Env, Expression, Scope, Type, Value};
use crate::praxiom::program::Truth;
use crate::praxiom::to_cel::{Names, translate};
use crate::praxiom::value::Kept;
use crate::world::{NoWorld, World};

struct Call(BTreeMap<&'static str, Value<'static>>);

impl Env for Call {
    fn variable(&self, name: &str) -> Option<Value<'_>> {
        self.0.get(name).cloned()
    }

    fn world(&self) -> &dyn World {
        &NoWorld
    }
}

fn scope() -> Scope {
    let state = [("x", Type::Number), ("b", Type::Bool), ("s", Type::String)];
    Scope::new()
        .with("state", Type::object(state))
        .with("args", Type::object([("n", Type::Number), ("t", Type::String)]))
        .with("payload", Type::String)
        .with("tool", Type::String)
}

fn cel(source: &str) -> Result<String, String> {
    let (variables, arguments) = names();
    let lists = BTreeMap::from([("odd-name".to_owned(), vec!["a".to_owned()])]);
    translate(
        source,
        &Names { variables: &variables, arguments: &arguments, lists: &lists, context: true, result: true },
    )
}

#[test]
fn expressions_look_like_cel() {
    let cases = [
        ("0 < x <= n", "(0 < state.x) && (state.x <= args.n)"),
        ("not b and implies(b, x == 1)", "!state.b && (!state.b || (state.x == 1))"),
        ("b + x > 2", "((state.b ? 1 : 0) + state.x) > 2"),
        ("x // n == -7 % 2", "div_euclid(state.x, args.n) == mod_euclid((-7), 2)"),
        (
            "startswith(t, 'a\\n\"') or member(s, {'x', 'y'})",
            "args.t.startsWith(\"a\\n\\\"\") || (state.s in [\"x\", \"y\"])",
        ),
        ("ite(b, s, t) == result + upstream", "(state.b ? state.s : args.t) == (result.text + server)"),
        ("b", "state.b"),
    ];
    for (source, text) in cases {
        assert_eq!(cel(source).unwrap(), text);
    }
    let (variables, lists) = (Vec::new(), BTreeMap::from([("odd name".to_owned(), vec!["a".to_owned()])]));
    let arguments = vec![
        ("日本".to_owned(), crate::praxiom::Sort::Str),
        ("package".to_owned(), crate::praxiom::Sort::Str),
    ];
    let names =
        Names { variables: &variables, arguments: &arguments, lists: &lists, context: true, result: false };
    assert_eq!(translate("日本 == package", &names).unwrap(), "args[\"日本\"] == args[\"package\"]");
}

#[test]
fn what_is_wrong_or_too_long_is_not_translated() {
    assert_eq!(
        cel("x + 'a' == s").unwrap_err(),
        "ill-typed expression \"x + 'a' == s\": sort mismatch (Int and String)"
    );
    // Each chain names its middle twice.
    let chain = (0..20).fold("b".to_owned(), |inner, _| format!("(true == ({inner}) == true)"));
    assert_eq!(cel(&chain).unwrap_err(), "the CEL text is longer than 65536 bytes");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cel_says_the_same(
        expr in bools(2, false),
        x in -3_i64..4,
        n in -3_i64..4,
        b: bool,
        s in prop::sample::select(TEXTS.to_vec()),
        t in prop::sample::select(TEXTS.to_vec()),
    ) {
        let source = source(&expr, 0);
        let state = [Kept::Int(x.into()), Kept::Bool(b), Kept::Str(s.into())];
        let ours = ours(&source, &state, &[Kept::Int(n.into()), Kept::Str(t.into())]);
        // The twin has its payload by itself.
        let text = cel(&source).unwrap().replace("dumps(args)", "payload");
        let text = text.replace(r#"server + "__" + tool"#, "tool");
        let state = [("x", Value::from(x)), ("b", Value::Bool(b)), ("s", Value::text(s))];
        let call = Call(BTreeMap::from([
            ("state", Value::map(state)),
            ("args", Value::map([("n", Value::from(n)), ("t", Value::text(t))])),
            ("payload", Value::text("{\"s\": \"a\"}")),
            ("tool", Value::text("t__ab")),
        ]));
        let expression = Expression::compile(&text, &scope());
        let expression = expression.unwrap_or_else(|problems| panic!("{source}\n{text}\n{problems:?}"));
        let value = expression.evaluate(&call, &mut Budget::default()).map(|value| value.as_bool());
        prop_assert_eq!(value, Ok(Some(ours == Truth::True)), "{}\n{}", source, text);
    }
}
