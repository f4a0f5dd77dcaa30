//! What the operators do.

use super::tree::Operator;
use super::value::{compare, equal};
use super::{Budget, Failure, Value};
use crate::decimal::{Decimal, NumberError};
use crate::world::Instant;

use std::cmp::Ordering;

/// A binary operator on two values.
pub(super) fn binary<'a>(
    operator: Operator,
    left: Value<'a>,
    right: Value<'a>,
    budget: &mut Budget,
) -> Result<Value<'a>, Failure> {
    let ordered = |budget: &mut Budget, fits: fn(Ordering) -> bool| {
        compare(&left, &right, budget).map(|order| Value::Bool(fits(order)))
    };
    match operator {
        Operator::Equal => equal(&left, &right, budget).map(Value::Bool),
        Operator::NotEqual => equal(&left, &right, budget).map(|equal| Value::Bool(!equal)),
        Operator::Less => ordered(budget, Ordering::is_lt),
        Operator::LessOrEqual => ordered(budget, Ordering::is_le),
        Operator::Greater => ordered(budget, Ordering::is_gt),
        Operator::GreaterOrEqual => ordered(budget, Ordering::is_ge),
        Operator::In => is_in(&left, &right, budget).map(Value::Bool),
        Operator::Add => add(left, right, budget),
        Operator::Subtract => subtract(&left, &right, budget),
        Operator::Multiply | Operator::Divide | Operator::Remainder => match (&left, &right) {
            (Value::Number(a), Value::Number(b)) => number(operator, a, b, budget),
            _ => Err(unfit(operator, &left, &right)),
        },
    }
}

fn unfit(operator: Operator, left: &Value<'_>, right: &Value<'_>) -> Failure {
    let symbol = operator.symbol();
    Failure::error(format!("`{symbol}` does not go with {} and {}", left.kind(), right.kind()))
}

fn number<'a>(
    operator: Operator,
    left: &Decimal,
    right: &Decimal,
    budget: &mut Budget,
) -> Result<Value<'a>, Failure> {
    /// Digits of two operands for one step: a product or quotient of long ones grows with the square.
    const DIGITS_PER_STEP: usize = 16;
    let digits = left.digits().max(right.digits()) as usize / DIGITS_PER_STEP;
    budget.spend_items(digits.saturating_mul(1 + digits / 64))?;
    let result = match operator {
        Operator::Add => left.add(right),
        Operator::Subtract => left.sub(right),
        Operator::Multiply => left.mul(right),
        Operator::Divide => left.div(right),
        Operator::Remainder => left.rem(right),
        _ => Err(NumberError::TooLarge),
    };
    let value = result.map_err(|error| Failure::error(error.to_string()))?;
    // Numbers of very different size make a sum as long as the distance between them.
    budget.spend_items(value.digits() as usize / DIGITS_PER_STEP)?;
    Ok(Value::Number(value))
}

fn add<'a>(left: Value<'a>, right: Value<'a>, budget: &mut Budget) -> Result<Value<'a>, Failure> {
    match (&left, &right) {
        (Value::Number(a), Value::Number(b)) => number(Operator::Add, a, b, budget),
        (Value::String(a), Value::String(b)) => {
            budget.spend_built(a.len() + b.len())?;
            Ok(Value::from(format!("{a}{b}")))
        }
        (Value::Timestamp(Instant(a)), Value::Duration(b))
        | (Value::Duration(b), Value::Timestamp(Instant(a))) => {
            a.checked_add(*b).map(|sum| Value::Timestamp(Instant(sum))).ok_or_else(out_of_range)
        }
        (Value::Duration(a), Value::Duration(b)) => {
            a.checked_add(*b).map(Value::Duration).ok_or_else(out_of_range)
        }
        _ => match (left.items(), right.items()) {
            (Some(first), Some(second)) => {
                budget.spend_items(first.len().saturating_add(second.len()))?;
                Ok(Value::list(first.chain(second)))
            }
            _ => Err(unfit(Operator::Add, &left, &right)),
        },
    }
}

fn subtract<'a>(left: &Value<'a>, right: &Value<'a>, budget: &mut Budget) -> Result<Value<'a>, Failure> {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => number(Operator::Subtract, a, b, budget),
        (Value::Timestamp(Instant(a)), Value::Timestamp(Instant(b)))
        | (Value::Duration(a), Value::Duration(b)) => {
            a.checked_sub(*b).map(Value::Duration).ok_or_else(out_of_range)
        }
        (Value::Timestamp(Instant(a)), Value::Duration(b)) => {
            a.checked_sub(*b).map(|rest| Value::Timestamp(Instant(rest))).ok_or_else(out_of_range)
        }
        _ => Err(unfit(Operator::Subtract, left, right)),
    }
}

fn out_of_range() -> Failure {
    Failure::error("the time is out of range")
}

/// Membership; an item that cannot be read makes the answer unknown only if no other one is equal.
fn is_in(item: &Value<'_>, all: &Value<'_>, budget: &mut Budget) -> Result<bool, Failure> {
    if let Some(items) = all.items() {
        let mut failure = None;
        for other in items {
            match equal(item, &other, budget) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(error) if budget.left() == 0 => return Err(error),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        return failure.map_or(Ok(false), Err);
    }
    if !all.is_map() {
        return Err(unfit(Operator::In, item, all));
    }
    budget.spend_items(all.len().unwrap_or(0) / 16)?;
    match item {
        Value::String(name) => {
            Ok(matches!(all.member(name), Some(value) if !matches!(value, Value::Missing(_))))
        }
        _ => Ok(false),
    }
}
