//! What a term comes to where every value is known: constants are folded by it, and what a solver answers is checked
//! by it, so that no answer is believed for being printed.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_traits::{Euclid as _, Zero as _};

use super::term::{Id, Node, Terms, Two, Value};

impl Two {
    /// `None` where it has no value: another sort, a zero divisor.
    pub(super) fn of(self, left: &Value, right: &Value) -> Option<Value> {
        match (left, right) {
            _ if self == Two::Equal => Some(Value::Bool(left == right)),
            (Value::Int(a), Value::Int(b)) => self.of_ints(a, b),
            (Value::Real(a), Value::Real(b)) => Some(match self {
                Two::Add => Value::Real(a + b),
                Two::Sub => Value::Real(a - b),
                Two::Mul => Value::Real(a * b),
                _ => return self.ordered(a.cmp(b)),
            }),
            (Value::Text(a), Value::Text(b)) => Some(match self {
                Two::Concat => Value::Text([&**a, &**b].concat().into()),
                Two::Contains => Value::Bool(a.contains(&**b)),
                Two::EndsWith => Value::Bool(a.ends_with(&**b)),
                Two::StartsWith => Value::Bool(a.starts_with(&**b)),
                _ => return self.ordered(a.cmp(b)),
            }),
            _ => None,
        }
    }

    fn of_ints(self, a: &BigInt, b: &BigInt) -> Option<Value> {
        Some(match self {
            Two::Add => Value::Int(a + b),
            Two::Sub => Value::Int(a - b),
            Two::Mul => Value::Int(a * b),
            Two::Div | Two::Mod if b.is_zero() => return None,
            Two::Div => Value::Int(a.div_euclid(b)),
            Two::Mod => Value::Int(a.rem_euclid(b)),
            _ => return self.ordered(a.cmp(b)),
        })
    }

    fn ordered(self, order: Ordering) -> Option<Value> {
        match self {
            Two::Less => Some(Value::Bool(order.is_lt())),
            Two::AtMost => Some(Value::Bool(order.is_le())),
            _ => None,
        }
    }
}

/// The values of some terms at one step; `None` for one that has none (a zero divisor where it does not count).
pub(crate) fn evaluate(terms: &Terms, roots: &[Id], state: &[Value], inputs: &[Value]) -> Vec<Option<Value>> {
    let mut values: Vec<Option<Value>> = vec![None; terms.len()];
    let reached = terms.reached(roots.iter().copied());
    for id in &reached {
        let value = node(terms, *id, &values, state, inputs);
        if let Some(slot) = values.get_mut(id.0 as usize) {
            *slot = value;
        }
    }
    roots.iter().map(|id| values.get(id.0 as usize).cloned().flatten()).collect()
}

fn node(terms: &Terms, id: Id, values: &[Option<Value>], state: &[Value], inputs: &[Value]) -> Option<Value> {
    let at = |part: &Id| values.get(part.0 as usize).and_then(Option::as_ref);
    let is = |part: &Id| match at(part) {
        Some(Value::Bool(value)) => Some(*value),
        _ => None,
    };
    match terms.node(id) {
        Node::Constant(value) => Some(value.clone()),
        Node::State(variable) => state.get(*variable).cloned(),
        Node::Input(input) => inputs.get(*input).cloned(),
        Node::All(parts) => junction(parts.iter().map(is), true),
        Node::Any(parts) => junction(parts.iter().map(is), false),
        Node::If(condition, then, otherwise) => {
            let taken = if is(condition)? { then } else { otherwise };
            at(taken).cloned()
        }
        Node::Length(part) => match at(part)? {
            Value::Text(text) => Some(Value::Int(text.chars().count().into())),
            _ => None,
        },
        Node::Not(part) => is(part).map(|value| Value::Bool(!value)),
        Node::ToInt(part) => match at(part)? {
            Value::Real(value) => Some(Value::Int(value.floor().to_integer())),
            _ => None,
        },
        Node::ToReal(part) => match at(part)? {
            Value::Int(value) => Some(Value::Real(value.clone().into())),
            _ => None,
        },
        Node::Two(two, left, right) => two.of(at(left)?, at(right)?),
    }
}

/// One part that decides makes up for those without a value.
fn junction(parts: impl Iterator<Item = Option<bool>>, is_all: bool) -> Option<Value> {
    let mut whole = Some(Value::Bool(is_all));
    for part in parts {
        match part {
            Some(value) if value != is_all => return Some(Value::Bool(value)),
            Some(_) => {}
            None => whole = None,
        }
    }
    whole
}
