//! Evaluation: a walk over the tree.

use super::functions::Call;
use super::memo::{DEPTH_MAX, Memo};
use super::operators::binary;
use super::tree::{Each, Kind, Node, Quantifier};
use super::{Budget, Env, Expression, Failure, Value};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

pub(super) fn evaluate<'a>(
    expression: &'a Expression,
    env: &'a dyn Env,
    budget: &mut Budget,
    memo: &mut Memo<'a>,
) -> Result<Value<'a>, Failure> {
    Run { source: &expression.source, env, budget, memo, locals: Vec::new() }.node(&expression.root)
}

struct Run<'r, 'a> {
    source: &'a str,
    env: &'a dyn Env,
    budget: &'r mut Budget,
    memo: &'r mut Memo<'a>,
    /// Values of the enclosing macros' variables.
    locals: Vec<Value<'a>>,
}

type Outcome<'a> = Result<Value<'a>, Failure>;

impl<'a> Run<'_, 'a> {
    /// The tree's depth is bounded when it is compiled, and with it this recursion.
    fn node(&mut self, node: &'a Node) -> Outcome<'a> {
        self.budget.spend(1).and_then(|()| self.kind(node)).map_err(|failure| failure.at(&node.span))
    }

    fn kind(&mut self, node: &'a Node) -> Outcome<'a> {
        match &node.kind {
            Kind::Literal(value) | Kind::Constant(value, _) => value.borrowed().fetched(),
            Kind::Variable(name) => self.variable(name),
            Kind::Local(at) => self.locals.get(*at).cloned().unwrap_or(Value::Null).fetched(),
            Kind::Select { operand, field } => self.select(operand, field, node),
            Kind::Has { operand, field } => self.has(operand, field),
            Kind::Index { operand, index } => self.index(operand, index),
            Kind::List(items) => {
                let items: Result<Vec<_>, _> = items.iter().map(|item| self.node(item)).collect();
                items.map(Value::list)
            }
            Kind::Map(entries) => self.map(entries),
            Kind::Not(operand) => Ok(Value::Bool(!self.bool(operand)?)),
            Kind::Negate(operand) => match self.node(operand)? {
                Value::Number(number) => Ok(Value::Number(number.neg())),
                Value::Duration(micros) => Ok(Value::Duration(micros.saturating_neg())),
                other => Err(Failure::error(format!("`-` does not go with {}", other.kind()))),
            },
            Kind::And(left, right) => self.logic(left, right, false),
            Kind::Or(left, right) => self.logic(left, right, true),
            Kind::Conditional(parts) => {
                let [condition, yes, no] = &**parts;
                if self.bool(condition)? { self.node(yes) } else { self.node(no) }
            }
            Kind::Binary(operator, operands) => {
                let [left, right] = &**operands;
                let (left, right) = (self.node(left)?, self.node(right)?);
                binary(*operator, left, right, self.budget)
            }
            Kind::Each(each) => self.each(each),
            Kind::Call { function, args, prepared } => {
                let args: Result<Vec<_>, _> = args.iter().map(|arg| self.node(arg)).collect();
                let (env, budget) = (self.env, &mut *self.budget);
                function.run(&mut Call { function, env, budget, args: args?, prepared })?.fetched()
            }
            Kind::Invalid => Err(Failure::error("the expression has a problem")),
        }
    }

    fn bool(&mut self, node: &'a Node) -> Result<bool, Failure> {
        match self.node(node)? {
            Value::Bool(value) => Ok(value),
            other => Err(Failure::error(format!("this must be a bool, not {}", other.kind())).at(&node.span)),
        }
    }

    fn variable(&mut self, name: &str) -> Outcome<'a> {
        match self.env.variable(name) {
            Some(value) => {
                self.pay_built(&value)?;
                value.fetched()
            }
            // The clock is asked only when an expression does.
            None if name == "now" => self
                .env
                .world()
                .now()
                .map(Value::Timestamp)
                .map_err(|unknown| Failure::unknown(unknown.to_string())),
            None => Err(Failure::error(format!("`{name}` has no value here"))),
        }
    }

    /// A variable that is put together to be read (`facts`, `texts`) costs what it holds.
    fn pay_built(&mut self, value: &Value<'_>) -> Result<(), Failure> {
        match value {
            Value::List(items) => self.budget.spend_items(items.len() / 16),
            Value::Map(map) => self.budget.spend_items(map.len()),
            _ => Ok(()),
        }
    }

    /// A definition's value, evaluated once; what failed fails again where it is read.
    fn definition(&mut self, name: (&'a str, &'a str), expression: &'a Expression) -> Value<'a> {
        if let Some(value) = self.memo.known.get(&name) {
            return value.clone();
        }
        if self.memo.depth >= DEPTH_MAX {
            return Value::failed(Failure::error("definitions are nested too deep"));
        }
        self.memo.depth += 1;
        let value = evaluate(expression, self.env, self.budget, self.memo);
        self.memo.depth -= 1;
        let is_final = value.is_ok() || self.budget.left() > 0;
        let value = value.unwrap_or_else(|failure| {
            let message = format!("`{}.{}`: {}", name.0, name.1, failure.message);
            Value::failed(Failure { message, ..failure })
        });
        // One that its reader could not afford is another reader's to try.
        if is_final {
            self.memo.known.insert(name, value.clone());
        }
        value
    }

    /// The member, if it is there; what is declared but was not given is [`Value::Missing`].
    fn member(&mut self, operand: &'a Node, field: &'a str) -> Result<Option<Value<'a>>, Failure> {
        if let Kind::Variable(variable) = &operand.kind {
            if let Some(expression) = self.env.expression(variable, field) {
                return Ok(Some(self.definition((variable, field), expression).scalar()));
            }
            if let Some(value) = self.env.member(variable, field) {
                return Ok(Some(value.scalar()));
            }
        }
        let map = self.node(operand)?;
        if !map.is_map() {
            let kind = map.kind();
            return Err(Failure::error(format!("{kind} has no member `{field}`")).at(&operand.span));
        }
        // A document's members are searched one by one.
        self.budget.spend_items(map.len().unwrap_or(0) / 16)?;
        Ok(map.member(field).map(Value::scalar))
    }

    fn select(&mut self, operand: &'a Node, field: &'a str, node: &Node) -> Outcome<'a> {
        match self.member(operand, field)? {
            Some(value) => value.fetched(),
            None => {
                let name = self.source.get(node.span.clone()).unwrap_or(field);
                Err(Failure::error(format!("`{name}` was not given")))
            }
        }
    }

    fn has(&mut self, operand: &'a Node, field: &'a str) -> Outcome<'a> {
        let member = self.member(operand, field)?;
        // What was computed and failed is there, its error must not read as absence.
        match member {
            Some(Value::Missing(failure)) if !failure.unknown => Err((*failure).clone()),
            Some(Value::Missing(_)) | None => Ok(Value::Bool(false)),
            Some(_) => Ok(Value::Bool(true)),
        }
    }

    fn index(&mut self, operand: &'a Node, index: &'a Node) -> Outcome<'a> {
        let all = self.node(operand)?;
        let at = self.node(index)?;
        match (&at, all.items()) {
            (Value::Number(number), Some(mut items)) => {
                let position = number.to_i64().and_then(|position| usize::try_from(position).ok());
                let fits = position.filter(|position| *position < items.len());
                // A document's items are counted from the first one.
                self.budget.spend_items(fits.unwrap_or(0) / 16)?;
                match fits.and_then(|position| items.nth(position)) {
                    Some(item) => item.fetched(),
                    None => Err(Failure::error(format!("the list has no item {number}"))),
                }
            }
            (Value::String(name), None) if all.is_map() => {
                self.budget.spend_items(all.len().unwrap_or(0) / 16)?;
                match all.member(name) {
                    Some(value) => value.fetched(),
                    None => Err(Failure::error(format!("`{}` was not given", name.escape_debug()))),
                }
            }
            _ => Err(Failure::error(format!("{} cannot be looked up by {}", all.kind(), at.kind()))),
        }
    }

    fn map(&mut self, entries: &'a [(Node, Node)]) -> Outcome<'a> {
        let mut map: BTreeMap<Cow<'a, str>, Value<'a>> = BTreeMap::new();
        for (key, value) in entries {
            let Value::String(name) = self.node(key)? else {
                return Err(Failure::error("a map's keys must be strings").at(&key.span));
            };
            let value = self.node(value)?;
            match map.entry(name) {
                Entry::Vacant(entry) => entry.insert(value),
                Entry::Occupied(entry) => {
                    let message = format!("the key `{}` stands twice", entry.key().escape_debug());
                    return Err(Failure::error(message).at(&key.span));
                }
            };
        }
        Ok(Value::Map(Arc::new(map)))
    }

    /// `&&` (decided by false) and `||` (decided by true): one side that decides makes up for an error of the
    /// other, whichever comes first.
    fn logic(&mut self, left: &'a Node, right: &'a Node, decides: bool) -> Outcome<'a> {
        let first = self.bool(left);
        if first.as_ref().is_ok_and(|value| *value == decides) || self.exhausted(&first) {
            return first.map(Value::Bool);
        }
        let second = self.bool(right);
        both(first, second, decides).map(Value::Bool)
    }

    /// An exhausted budget is final: no other operand makes up for it.
    fn exhausted<T>(&self, outcome: &Result<T, Failure>) -> bool {
        outcome.is_err() && self.budget.left() == 0
    }

    fn each(&mut self, each: &'a Each) -> Outcome<'a> {
        let range = self.node(&each.range)?;
        self.budget.spend_items(range.len().unwrap_or(0) / 8)?;
        let keys = || range.entries().map(|entries| entries.into_iter().map(|(key, _)| Value::String(key)));
        match range.items() {
            Some(items) => self.each_of(each, items),
            None => match keys() {
                Some(keys) => self.each_of(each, keys),
                None => Err(Failure::error(format!("{} has no items", range.kind())).at(&each.range.span)),
            },
        }
    }

    fn each_of(&mut self, each: &'a Each, items: impl Iterator<Item = Value<'a>>) -> Outcome<'a> {
        match each.quantifier {
            Quantifier::All => self.quantify(each, items, false),
            Quantifier::Exists => self.quantify(each, items, true),
            Quantifier::ExistsOne => {
                let mut found = 0_usize;
                for item in items {
                    found += usize::from(self.test(each, item)?.0);
                }
                Ok(Value::Bool(found == 1))
            }
            Quantifier::Filter | Quantifier::Map => {
                let mut kept = Vec::new();
                for item in items {
                    let (passes, item) = self.test(each, item)?;
                    if passes {
                        kept.push(self.transform(each, item)?);
                    }
                }
                Ok(Value::list(kept))
            }
        }
    }

    fn quantify(
        &mut self,
        each: &'a Each,
        items: impl Iterator<Item = Value<'a>>,
        decides: bool,
    ) -> Outcome<'a> {
        let mut all = Ok(!decides);
        for item in items {
            let one = self.test(each, item).map(|(passes, _)| passes);
            if one.as_ref().is_ok_and(|value| *value == decides) || self.exhausted(&one) {
                return one.map(Value::Bool);
            }
            all = both(all, one, decides);
        }
        all.map(Value::Bool)
    }

    /// Evaluates with the macro's variable bound to the item.
    fn bound<T>(
        &mut self,
        each: &'a Each,
        item: Value<'a>,
        go: impl FnOnce(&mut Self) -> T,
    ) -> (T, Value<'a>) {
        // Nothing of an enclosing macro lies above, and an inner one takes its own away again.
        self.locals.truncate(each.local);
        self.locals.push(item);
        let outcome = go(self);
        let item = self.locals.pop().unwrap_or(Value::Null);
        (outcome, item)
    }

    fn test(&mut self, each: &'a Each, item: Value<'a>) -> Result<(bool, Value<'a>), Failure> {
        self.budget.spend(1)?;
        let Some(test) = &each.test else { return Ok((true, item)) };
        let (passes, item) = self.bound(each, item, |run| run.bool(test));
        Ok((passes?, item))
    }

    fn transform(&mut self, each: &'a Each, item: Value<'a>) -> Outcome<'a> {
        match &each.transform {
            Some(transform) => self.bound(each, item, |run| run.node(transform)).0,
            None => item.fetched(),
        }
    }
}

/// Neither side decided by itself, unless the second does. Of two failures an unknown one is kept: what was not
/// given may be given later, and then the other one is met.
fn both(first: Result<bool, Failure>, second: Result<bool, Failure>, decides: bool) -> Result<bool, Failure> {
    match (first, second) {
        (_, Ok(second)) if second == decides => Ok(decides),
        (Ok(_), second) => second,
        (Err(first), Err(second)) if second.unknown && !first.unknown => Err(second),
        (Err(first), _) => Err(first),
    }
}
