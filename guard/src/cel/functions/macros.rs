//! What the reader of an expression recognises itself; here for the documentation and the hints.

use super::{Call, Function, Gives, Style};
use crate::cel::{Failure, Value};

const fn row(
    name: &'static str,
    signature: &'static str,
    doc: &'static str,
    example: &'static str,
) -> Function {
    Function::new(name, Style::Macro, Gives::Bool, never).doc(signature, doc, example)
}

pub(super) const TABLE: &[Function] = &[
    row("has", "has(x.name) → bool", "Whether the member was given.", "has(args.path) && !has(args.nothing)"),
    row("all", "list.all(x, condition) → bool", "Whether it holds for all items.", "[1, 2].all(x, x > 0)"),
    row(
        "exists",
        "list.exists(x, condition) → bool",
        "Whether it holds for one at least.",
        "[1, 2].exists(x, x > 1)",
    ),
    row(
        "exists_one",
        "list.exists_one(x, condition) → bool",
        "Whether it holds for exactly one.",
        "[1, 2].exists_one(x, x > 1)",
    ),
    row(
        "filter",
        "list.filter(x, condition) → list",
        "The items for which it holds.",
        "[1, 2].filter(x, x > 1) == [2]",
    ),
    row(
        "map",
        "list.map(x, value) or list.map(x, condition, value) → list",
        "A value for every item (for which the condition holds).",
        "[1, 2].map(x, x * 2) == [2, 4]",
    ),
];

fn never<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    Err(Failure::error(format!("`{}` is not a function", call.function.name)))
}
