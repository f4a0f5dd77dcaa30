//! An expression in one spelling, however it is laid out: what is spelled the same is the same free value.

use crate::cel::Value;
use crate::cel::tree::{Kind, Node, Quantifier};

use super::meaning::Meaning;

/// The spelling; a macro's variable with a known value is that value.
pub(super) fn spelled(node: &Node, locals: &[Meaning]) -> String {
    let one = |node: &Node| spelled(node, locals);
    let list = |nodes: &[Node]| nodes.iter().map(one).collect::<Vec<_>>().join(", ");
    match &node.kind {
        Kind::Literal(value) | Kind::Constant(value, _) => constant(value),
        Kind::Variable(name) => name.clone(),
        Kind::Local(at) => match locals.get(*at) {
            Some(Meaning::Constant(value)) => constant(value),
            Some(Meaning::Opaque { key, .. }) => key.clone(),
            _ => format!("x{at}"),
        },
        Kind::Select { operand, field } => format!("{}.{field}", one(operand)),
        Kind::Has { operand, field } => format!("has({}.{field})", one(operand)),
        Kind::Index { operand, index } => format!("{}[{}]", one(operand), one(index)),
        Kind::List(items) => format!("[{}]", list(items)),
        Kind::Map(entries) => {
            let entry = |(key, value): &(Node, Node)| format!("{}: {}", one(key), one(value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        Kind::Not(operand) => format!("!{}", one(operand)),
        Kind::Negate(operand) => format!("-{}", one(operand)),
        Kind::And(left, right) => format!("({} && {})", one(left), one(right)),
        Kind::Or(left, right) => format!("({} || {})", one(left), one(right)),
        Kind::Conditional(parts) => {
            let [condition, yes, no] = &**parts;
            format!("({} ? {} : {})", one(condition), one(yes), one(no))
        }
        Kind::Binary(operator, operands) => {
            let [left, right] = &**operands;
            format!("({} {} {})", one(left), operator.symbol(), one(right))
        }
        Kind::Each(each) => {
            let name = match each.quantifier {
                Quantifier::All => "all",
                Quantifier::Exists => "exists",
                Quantifier::ExistsOne => "exists_one",
                Quantifier::Filter => "filter",
                Quantifier::Map => "map",
            };
            // Inside of it the variable has no value yet.
            let inner: Vec<String> = each.test.iter().chain(&each.transform).map(one).collect();
            format!("{}.{name}(x{}, {})", one(&each.range), each.local, inner.join(", "))
        }
        Kind::Call { function, args, .. } => format!("{}({})", function.name, list(args)),
        Kind::Invalid => "?".to_owned(),
    }
}

/// A constant as JSON, a long one shortened by its hash.
fn constant(value: &Value<'_>) -> String {
    const CHARS_MAX: usize = 60;
    let text = match (value.as_str(), value.as_number(), value.as_bool(), value.items()) {
        (Some(text), ..) => serde_json::Value::from(text).to_string(),
        (_, Some(number), ..) => number.to_string(),
        (_, _, Some(value), _) => value.to_string(),
        (.., Some(items)) => {
            format!("[{}]", items.map(|item| constant(&item)).collect::<Vec<_>>().join(", "))
        }
        _ => format!("{value:?}"),
    };
    match text.char_indices().nth(CHARS_MAX) {
        None => text,
        Some((end, _)) => {
            use sha2::{Digest as _, Sha256};
            let hash: String =
                Sha256::digest(&text).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
            format!("{}…#{hash}", text.get(..end).unwrap_or_default())
        }
    }
}
