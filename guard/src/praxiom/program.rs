//! A checked expression, flat: each step reads earlier ones, so that evaluation is one loop and each step costs
//! what its operands are long.
//!
//! Undecided values ([`Why`]) go through as in Kleene's logic: `d == 0 or n // d <= 10` is true for a zero `d`,
//! whichever side stands first. All steps are evaluated, since none can fail or do anything.

use std::borrow::Cow;
use std::cmp::Ordering;

use num_bigint::BigInt;
use num_traits::{Euclid as _, Zero as _};

use super::ast::Compare;
use super::lower::List;
use super::value::{Kept, TEXT_BYTES_MAX, Text, Value, Why};

/// An earlier step.
pub(crate) type Slot = usize;

#[derive(Debug)]
pub(crate) enum Step {
    Add(Slot, Slot),
    All(Vec<Slot>),
    Any(Vec<Slot>),
    /// The covering action's argument at that position.
    Argument(usize),
    /// A boolean as 1 or 0.
    AsInt(Slot),
    Bool(bool),
    Compare(Compare, Slot, Slot),
    Concat(Slot, Slot),
    Contains(Slot, Slot),
    Div(Slot, Slot),
    EndsWith(Slot, Slot),
    If(Slot, Slot, Slot),
    Implies(Slot, Slot),
    Int(BigInt),
    Matches(Slot, List),
    Member(Slot, List),
    Mod(Slot, Slot),
    Mul(Slot, Slot),
    Neg(Slot),
    Not(Slot),
    Payload,
    Result,
    StartsWith(Slot, Slot),
    Str(String),
    Sub(Slot, Slot),
    Tool,
    Upstream,
    Variable(usize),
}

/// Invariant: a step reads only steps before it; the last one is the result.
#[derive(Debug, Default)]
pub(crate) struct Program {
    steps: Vec<Step>,
    /// The variables it reads, each once.
    variables: Vec<usize>,
    payload: bool,
}

/// What a condition comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    False,
    True,
    Undecided(Why),
}

/// What a program reads.
#[derive(Debug)]
pub(crate) struct Env<'e> {
    pub(crate) state: &'e [Kept],
    /// Variables that a call in flight may change; empty for none.
    pub(crate) in_flight: &'e [bool],
    pub(crate) arguments: &'e [Kept],
    pub(crate) payload: Value<'e>,
    pub(crate) tool: &'e str,
    pub(crate) upstream: &'e str,
    pub(crate) result: Value<'e>,
}

impl Step {
    /// The earlier steps that it reads.
    pub(crate) fn reads(&self) -> Vec<Slot> {
        match self {
            Step::All(slots) | Step::Any(slots) => slots.clone(),
            Step::AsInt(a) | Step::Neg(a) | Step::Not(a) | Step::Matches(a, _) | Step::Member(a, _) => {
                vec![*a]
            }
            Step::Add(a, b)
            | Step::Compare(_, a, b)
            | Step::Concat(a, b)
            | Step::Contains(a, b)
            | Step::Div(a, b)
            | Step::EndsWith(a, b)
            | Step::Implies(a, b)
            | Step::Mod(a, b)
            | Step::Mul(a, b)
            | Step::StartsWith(a, b)
            | Step::Sub(a, b) => vec![*a, *b],
            Step::If(a, b, c) => vec![*a, *b, *c],
            Step::Argument(_)
            | Step::Bool(_)
            | Step::Int(_)
            | Step::Payload
            | Step::Result
            | Step::Str(_)
            | Step::Tool
            | Step::Upstream
            | Step::Variable(_) => Vec::new(),
        }
    }
}

impl Program {
    pub(crate) fn push(&mut self, step: Step) -> Slot {
        if let Step::Variable(index) = step
            && !self.variables.contains(&index)
        {
            self.variables.push(index);
        }
        self.payload |= matches!(step, Step::Payload);
        self.steps.push(step);
        self.steps.len() - 1
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub(crate) fn reads_payload(&self) -> bool {
        self.payload
    }

    pub(crate) fn reads_any(&self, variables: &[bool]) -> bool {
        self.variables.iter().any(|index| variables.get(*index) == Some(&true))
    }

    pub(crate) fn truth(&self, env: &Env<'_>) -> Truth {
        match self.run(env) {
            Value::Bool(true) => Truth::True,
            Value::Bool(false) => Truth::False,
            Value::Unknown(why) => Truth::Undecided(why),
            // A condition is a boolean by its type.
            _ => Truth::Undecided(Why::TooLong),
        }
    }

    pub(crate) fn run<'v>(&'v self, env: &Env<'v>) -> Value<'v> {
        let mut slots: Vec<Value<'v>> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let value = evaluate(step, &slots, env);
            slots.push(value);
        }
        slots.pop().unwrap_or(Value::Unknown(Why::TooLong))
    }
}

/// A slot that was never filled cannot be read; were it, it would be undecided.
fn at<'s, 'v>(slots: &'s [Value<'v>], slot: Slot) -> &'s Value<'v> {
    const NONE: &Value<'_> = &Value::Unknown(Why::TooLong);
    slots.get(slot).unwrap_or(NONE)
}

fn evaluate<'v>(step: &'v Step, slots: &[Value<'v>], env: &Env<'v>) -> Value<'v> {
    match step {
        Step::Bool(value) => Value::Bool(*value),
        Step::Int(value) => Value::Int(Cow::Borrowed(value)),
        Step::Str(text) => Value::Str(Text::Borrowed(text)),
        Step::Variable(index) if env.in_flight.get(*index) == Some(&true) => {
            Value::Unknown(Why::InFlight(*index))
        }
        Step::Variable(index) => env.state.get(*index).map_or(Value::Unknown(Why::TooLong), Kept::read),
        Step::Argument(index) => env.arguments.get(*index).map_or(Value::Unknown(Why::TooLong), Kept::read),
        Step::Payload => env.payload.clone(),
        Step::Result => env.result.clone(),
        Step::Tool => Value::Str(Text::Borrowed(env.tool)),
        Step::Upstream => Value::Str(Text::Borrowed(env.upstream)),
        Step::All(all) => every(all, slots, false),
        Step::Any(all) => every(all, slots, true),
        Step::If(condition, then, otherwise) => {
            choose(at(slots, *condition), at(slots, *then), at(slots, *otherwise))
        }
        Step::Implies(left, right) => implies(at(slots, *left), at(slots, *right)),
        Step::AsInt(value) | Step::Neg(value) | Step::Not(value) => one(step, at(slots, *value)),
        Step::Matches(text, list) => within(at(slots, *text), |text| list.within.is_match(text)),
        Step::Member(text, list) => {
            within(at(slots, *text), |text| list.items.iter().any(|item| item == text))
        }
        Step::Compare(_, left, right)
        | Step::Concat(left, right)
        | Step::Contains(left, right)
        | Step::EndsWith(left, right)
        | Step::StartsWith(left, right)
        | Step::Add(left, right)
        | Step::Sub(left, right)
        | Step::Mul(left, right)
        | Step::Div(left, right)
        | Step::Mod(left, right) => two(step, at(slots, *left), at(slots, *right)),
    }
}

/// A conjunction, or with `wins` a disjunction: one operand that is `wins` decides it.
fn every<'v>(all: &[Slot], slots: &[Value<'v>], wins: bool) -> Value<'v> {
    let mut undecided = None;
    for slot in all {
        match at(slots, *slot) {
            Value::Bool(value) if *value == wins => return Value::Bool(wins),
            Value::Unknown(why) => undecided = undecided.or(Some(*why)),
            _ => {}
        }
    }
    undecided.map_or(Value::Bool(!wins), Value::Unknown)
}

fn implies<'v>(left: &Value<'v>, right: &Value<'v>) -> Value<'v> {
    match (left, right) {
        (Value::Bool(false), _) | (_, Value::Bool(true)) => Value::Bool(true),
        (Value::Unknown(why), _) | (_, Value::Unknown(why)) => Value::Unknown(*why),
        _ => Value::Bool(false),
    }
}

fn choose<'v>(condition: &Value<'v>, then: &Value<'v>, otherwise: &Value<'v>) -> Value<'v> {
    match condition {
        Value::Bool(true) => then.clone(),
        Value::Bool(false) => otherwise.clone(),
        // Whatever the condition is, the value is the same.
        _ if then.compare(otherwise) == Some(Ordering::Equal) => then.clone(),
        Value::Unknown(why) => Value::Unknown(*why),
        _ => Value::Unknown(Why::TooLong),
    }
}

fn one<'v>(step: &Step, value: &Value<'v>) -> Value<'v> {
    match (step, value) {
        (_, Value::Unknown(why)) => Value::Unknown(*why),
        (Step::AsInt(_), Value::Bool(value)) => Value::int(BigInt::from(u8::from(*value))),
        (Step::Neg(_), Value::Int(value)) => Value::int(-value.as_ref()),
        (Step::Not(_), Value::Bool(value)) => Value::Bool(!value),
        _ => Value::Unknown(Why::TooLong),
    }
}

fn within<'v>(value: &Value<'v>, test: impl FnOnce(&str) -> bool) -> Value<'v> {
    match value {
        Value::Str(text) => Value::Bool(test(text.as_str())),
        Value::Unknown(why) => Value::Unknown(*why),
        _ => Value::Unknown(Why::TooLong),
    }
}

fn two<'v>(step: &Step, left: &Value<'v>, right: &Value<'v>) -> Value<'v> {
    match (step, left, right) {
        (_, Value::Unknown(why), _) | (_, _, Value::Unknown(why)) => Value::Unknown(*why),
        (Step::Compare(op, ..), left, right) => match left.compare(right) {
            Some(order) => Value::Bool(op.holds(order)),
            None => Value::Unknown(Why::TooLong),
        },
        (_, Value::Int(left), Value::Int(right)) => arithmetic(step, left, right),
        (_, Value::Str(left), Value::Str(right)) => strings(step, left.as_str(), right.as_str()),
        _ => Value::Unknown(Why::TooLong),
    }
}

/// Division and remainder are Euclid's: the remainder is never negative.
fn arithmetic<'v>(step: &Step, left: &BigInt, right: &BigInt) -> Value<'v> {
    match step {
        Step::Add(..) => Value::int(left + right),
        Step::Sub(..) => Value::int(left - right),
        Step::Mul(..) => Value::int(left * right),
        Step::Div(..) | Step::Mod(..) if right.is_zero() => Value::Unknown(Why::Divisor),
        Step::Div(..) => Value::int(left.div_euclid(right)),
        _ => Value::int(left.rem_euclid(right)),
    }
}

fn strings<'v>(step: &Step, left: &str, right: &str) -> Value<'v> {
    match step {
        Step::Concat(..) if left.len() + right.len() > TEXT_BYTES_MAX => Value::Unknown(Why::TooLong),
        Step::Concat(..) => Value::Str(Text::Shared([left, right].concat().into())),
        Step::StartsWith(..) => Value::Bool(left.starts_with(right)),
        Step::EndsWith(..) => Value::Bool(left.ends_with(right)),
        // In time linear in both, unlike a naive search.
        _ => Value::Bool(memchr::memmem::find(left.as_bytes(), right.as_bytes()).is_some()),
    }
}

impl Compare {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Compare::Eq => order.is_eq(),
            Compare::Ge => order.is_ge(),
            Compare::Gt => order.is_gt(),
            Compare::Le => order.is_le(),
            Compare::Lt => order.is_lt(),
            Compare::Ne => order.is_ne(),
            // Refused when the file was read.
            Compare::Other(_) => false,
        }
    }
}
