//! The crate's interpreter as the twin: where CEL means one thing, both give it.
//!
//! Left out are the differences on purpose: division, and numbers beyond small whole ones.

use super::*;
use proptest::prelude::*;

/// What both can see.
struct Shared;

impl Env for Shared {
    fn variable(&self, name: &str) -> Option<Value<'_>> {
        match name {
            "n" => Some(Value::from(3)),
            "s" => Some(Value::from("ab")),
            "b" => Some(Value::from(true)),
            "l" => Some(Value::list([Value::from(1), Value::from(2), Value::from(3)])),
            "m" => Some(Value::map([("x", Value::from(1)), ("y", Value::from(2))])),
            _ => None,
        }
    }

    fn world(&self) -> &dyn World {
        &crate::world::NoWorld
    }
}

fn ours(source: &str) -> Option<String> {
    // Unknown types: what can never be equal is a problem otherwise.
    let scope =
        ["n", "s", "b", "l", "m"].iter().fold(Scope::new(), |scope, name| scope.with(*name, Type::Dyn));
    let expression =
        Expression::compile(source, &scope).unwrap_or_else(|problems| panic!("{source}: {problems:?}"));
    expression.evaluate(&Shared, &mut Budget::default()).ok().map(|value| shown(&value))
}

fn shown(value: &Value<'_>) -> String {
    match value {
        Value::List(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(",")),
        Value::String(text) => format!("{text:?}"),
        Value::Number(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        other => format!("{other:?}"),
    }
}

fn theirs(source: &str) -> Option<String> {
    let mut context = ::cel::Context::default();
    let _ = context.add_variable("n", 3_i64);
    let _ = context.add_variable("s", "ab");
    let _ = context.add_variable("b", true);
    let _ = context.add_variable("l", vec![1_i64, 2, 3]);
    let _ = context.add_variable("m", std::collections::HashMap::from([("x", 1_i64), ("y", 2)]));
    let program = ::cel::Program::compile(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    program.execute(&context).ok().map(|value| shown_theirs(&value))
}

fn shown_theirs(value: &::cel::Value) -> String {
    match value {
        ::cel::Value::List(items) => {
            format!("[{}]", items.iter().map(shown_theirs).collect::<Vec<_>>().join(","))
        }
        ::cel::Value::String(text) => format!("{text:?}"),
        ::cel::Value::Int(number) => number.to_string(),
        ::cel::Value::UInt(number) => number.to_string(),
        ::cel::Value::Bool(value) => value.to_string(),
        other => format!("{other:?}"),
    }
}

#[derive(Debug, Clone)]
enum Kind {
    Bool,
    Int,
    Text,
    List,
}

/// An expression of a kind, in full brackets now and then; some fail when they are evaluated.
fn expression(kind: Kind, depth: u32) -> BoxedStrategy<String> {
    let leaf = match kind {
        Kind::Bool => {
            prop::sample::select(vec!["true", "false", "b", "has(m.x)", "has(m.z)", "1 % 0 == 1", "m.z == 1"])
        }
        Kind::Int => prop::sample::select(vec![
            "0", "1", "2", "7", "-1", "-3", "n", "m.x", "m['y']", "l[0]", "l[3]", "size(s)",
        ]),
        Kind::Text => prop::sample::select(vec!["''", "'a'", "\"b\"", "'ab'", "'é'", "s", "r'\\d'"]),
        Kind::List => prop::sample::select(vec!["[]", "[1]", "l", "[3, 2]", "[n, 0]"]),
    };
    let leaf = leaf.prop_map(str::to_owned).boxed();
    if depth == 0 {
        return leaf;
    }
    let sub = move |kind: Kind| expression(kind, depth - 1);
    let grown = match kind {
        Kind::Bool => prop_oneof![
            (sub(Kind::Bool), prop::sample::select(vec!["&&", "||", "==", "!="]), sub(Kind::Bool))
                .prop_map(|(a, op, b)| format!("({a}) {op} ({b})")),
            (sub(Kind::Bool), sub(Kind::Bool), sub(Kind::Bool))
                .prop_map(|(a, b, c)| format!("{a} && {b} || {c}")),
            (sub(Kind::Int), prop::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]), sub(Kind::Int))
                .prop_map(|(a, op, b)| format!("({a}) {op} ({b})")),
            (sub(Kind::Text), prop::sample::select(vec!["<", ">=", "==", "!="]), sub(Kind::Text))
                .prop_map(|(a, op, b)| format!("({a}) {op} ({b})")),
            sub(Kind::Bool).prop_map(|a| format!("!({a})")),
            (sub(Kind::Int), sub(Kind::List)).prop_map(|(a, b)| format!("({a}) in ({b})")),
            (sub(Kind::List), sub(Kind::List)).prop_map(|(a, b)| format!("({a}) == ({b})")),
            (sub(Kind::List), sub(Kind::Int)).prop_map(|(a, b)| format!("({a}).exists(v, v > ({b}))")),
            (sub(Kind::List), sub(Kind::Int)).prop_map(|(a, b)| format!("({a}).all(v, 6 % v != ({b}))")),
            (sub(Kind::List), sub(Kind::Int)).prop_map(|(a, b)| format!("({a}).exists_one(v, v == ({b}))")),
            (sub(Kind::Text), sub(Kind::Text)).prop_map(|(a, b)| format!("({a}).contains({b})")),
            (sub(Kind::Text), sub(Kind::Text)).prop_map(|(a, b)| format!("({a}).startsWith({b})")),
        ]
        .boxed(),
        Kind::Int => prop_oneof![
            (sub(Kind::Int), prop::sample::select(vec!["+", "-", "*", "%"]), sub(Kind::Int))
                .prop_map(|(a, op, b)| format!("({a}) {op} ({b})")),
            // Without brackets, so that precedence is met; of leaves only, to keep the kinds.
            (expression(Kind::Int, 0), expression(Kind::Int, 0), expression(Kind::Int, 0))
                .prop_map(|(a, b, c)| format!("{a} - {b} * {c}")),
            sub(Kind::Int).prop_map(|a| format!("-({a})")),
            (sub(Kind::Bool), sub(Kind::Int), sub(Kind::Int))
                .prop_map(|(a, b, c)| format!("({a}) ? ({b}) : ({c})")),
            sub(Kind::List).prop_map(|a| format!("size({a})")),
            (sub(Kind::List), sub(Kind::Int)).prop_map(|(a, b)| format!("({a})[{b}]")),
        ]
        .boxed(),
        Kind::Text => prop_oneof![
            (sub(Kind::Text), sub(Kind::Text)).prop_map(|(a, b)| format!("({a}) + ({b})")),
            (sub(Kind::Bool), sub(Kind::Text), sub(Kind::Text))
                .prop_map(|(a, b, c)| format!("({a}) ? ({b}) : ({c})")),
        ]
        .boxed(),
        Kind::List => prop_oneof![
            (sub(Kind::List), sub(Kind::List)).prop_map(|(a, b)| format!("({a}) + ({b})")),
            (sub(Kind::List), sub(Kind::Int)).prop_map(|(a, b)| format!("({a}).map(v, v + ({b}))")),
            (sub(Kind::List), sub(Kind::Int)).prop_map(|(a, b)| format!("({a}).filter(v, v != ({b}))")),
            (sub(Kind::Int), sub(Kind::Int)).prop_map(|(a, b)| format!("[{a}, {b}]")),
        ]
        .boxed(),
    };
    prop_oneof![1 => leaf, 3 => grown].boxed()
}

fn any_expression() -> BoxedStrategy<String> {
    prop_oneof![
        4 => expression(Kind::Bool, 3),
        1 => expression(Kind::Int, 3),
        1 => expression(Kind::Text, 3),
        1 => expression(Kind::List, 3),
    ]
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn both_interpreters_agree(source in any_expression()) {
        prop_assert_eq!(ours(&source), theirs(&source), "{}", source);
    }
}
