//! Conditions of a policy as terms. What has no exact counterpart is a free value, the same one wherever the same is
//! written about one call, so that a rule and a property that ask the same are about the same.

use super::super::model::Model;
use super::super::smt::is_writable;
use super::super::term::{Id, Sort, Two, Value as Known};
use super::functions::rational;
use super::meaning::{Meaning, both, either, equal, not, test, truth};
use super::names::{Names, is_of_state};
use super::spell::spelled;
use crate::cel::tree::{Kind, Node};
use crate::cel::{Expression, Type, Value};
use crate::decimal::Decimal;

/// Translates within one event.
pub(super) struct Lower<'l, 'n> {
    pub(super) model: &'l mut Model,
    pub(super) names: &'l mut Names<'n>,
    pub(super) locals: Vec<Meaning>,
}

impl Lower<'_, '_> {
    /// Certainly true, and certainly false.
    pub(super) fn condition(&mut self, expression: &Expression) -> (Id, Id) {
        self.bool(expression.root())
    }

    /// An effect's value as a variable of that sort holds it, and whether it has one.
    pub(super) fn value(&mut self, expression: &Expression, sort: Sort) -> (Id, Id) {
        if sort == Sort::Bool {
            let (yes, no) = self.bool(expression.root());
            return (yes, self.model.terms.any([yes, no]));
        }
        let meaning = self.node(expression.root());
        match sort {
            Sort::Bool => self.model_never(),
            Sort::Text => self.as_text(&meaning),
            Sort::Real => {
                let (value, ok) = self.as_number(&meaning);
                (self.model.terms.to_real(value), ok)
            }
            Sort::Int => {
                let (value, ok) = self.as_number(&meaning);
                let whole = self.model.terms.to_int(value);
                let is_whole = equal(&mut self.model.terms, whole, value);
                (whole, self.model.terms.all([ok, is_whole]))
            }
        }
    }

    /// The tree's depth is bounded when it is compiled, and with it this recursion.
    pub(super) fn node(&mut self, node: &Node) -> Meaning {
        match &node.kind {
            Kind::Literal(value) | Kind::Constant(value, _) => Meaning::Constant(value.clone()),
            Kind::Local(at) => self.locals.get(*at).cloned().unwrap_or_else(|| self.unknown(node, Type::Dyn)),
            Kind::Variable(name) => match self.names.variable(self.model, name) {
                Some(meaning) => meaning,
                None => self.unknown(node, Type::Dyn),
            },
            Kind::Select { operand, field } => self.select(node, operand, field),
            Kind::Index { operand, index } => match index.constant().and_then(Value::as_str) {
                Some(field) => self.select(node, operand, field),
                None => self.unknown(node, Type::Dyn),
            },
            Kind::Has { operand, field } => self.has(node, operand, field),
            Kind::Not(operand) => {
                let condition = self.bool(operand);
                not(condition)
            }
            Kind::And(left, right) => {
                let parts = [self.bool(left), self.bool(right)];
                both(&mut self.model.terms, &parts)
            }
            Kind::Or(left, right) => {
                let parts = [self.bool(left), self.bool(right)];
                either(&mut self.model.terms, &parts)
            }
            Kind::Negate(operand) => {
                let meaning = self.node(operand);
                let (value, ok) = self.as_number(&meaning);
                let zero = self.zero(value);
                Meaning::Number { value: self.model.terms.two(Two::Sub, zero, value), ok }
            }
            Kind::Conditional(parts) => self.conditional(node, parts),
            Kind::Binary(operator, operands) => self.binary(node, *operator, operands),
            Kind::Each(each) => self.each(node, each),
            Kind::Call { function, args, .. } => self.call(node, function.name, args),
            Kind::List(_) | Kind::Map(_) | Kind::Invalid => self.unknown(node, Type::Dyn),
        }
    }

    fn model_never(&mut self) -> (Id, Id) {
        let never = self.model.terms.bool(false);
        (never, never)
    }

    /// Where a condition is wanted: of anything else there is no value.
    pub(super) fn bool(&mut self, node: &Node) -> (Id, Id) {
        let Kind::Conditional(parts) = &node.kind else {
            let meaning = self.node(node);
            return self.as_bool(&meaning);
        };
        let [condition, yes, no] = &**parts;
        let (is, is_not) = self.bool(condition);
        let (then, otherwise) = (self.bool(yes), self.bool(no));
        let terms = &mut self.model.terms;
        let mut either = |first: Id, second: Id| {
            let (first, second) = (terms.all([is, first]), terms.all([is_not, second]));
            terms.any([first, second])
        };
        (either(then.0, otherwise.0), either(then.1, otherwise.1))
    }

    /// Something of which only its spelling is known, and not whether it has a value.
    pub(super) fn unknown(&mut self, node: &Node, kind: Type) -> Meaning {
        let key = spelled(node, &self.locals);
        let ok = self.has_value(node, &key);
        Meaning::Opaque { key, argument: None, ok, kind }
    }

    /// Searching texts never fails; of all else nobody knows.
    fn has_value(&mut self, node: &Node, key: &str) -> Id {
        let is_whole = |node: &Node| matches!(&node.kind, Kind::Variable(name) if matches!(name.as_str(), "args" | "payload" | "texts"));
        if let Kind::Call { function, args, .. } = &node.kind
            && matches!(function.name, "contains_any" | "contains_any_nocase")
            && let [searched, parts] = args.as_slice()
            && is_whole(searched)
            && parts.constant().is_some()
        {
            return self.model.terms.bool(true);
        }
        // A value of the state is one of the model's own only before the call.
        match is_of_state(key) {
            true => self.names.free(self.model, &format!("{key} has a value"), Sort::Bool),
            false => self.names.own(self.model, &format!("{key} has a value"), Sort::Bool),
        }
    }

    fn zero(&mut self, like: Id) -> Id {
        let sort = self.model.terms.sort(like);
        self.model.terms.value(Known::zero(sort))
    }

    fn select(&mut self, node: &Node, operand: &Node, field: &str) -> Meaning {
        if let Kind::Variable(variable) = &operand.kind {
            if variable == "defs"
                && let Some(definition) = self.names.definition(field)
            {
                let locals = std::mem::take(&mut self.locals);
                let meaning = self.node(definition.root());
                self.locals = locals;
                return meaning;
            }
            if let Some(meaning) = self.names.member(self.model, variable, field) {
                return meaning;
            }
        }
        self.unknown(node, Type::Dyn)
    }

    fn has(&mut self, node: &Node, operand: &Node, field: &str) -> Meaning {
        if let Kind::Variable(variable) = &operand.kind
            && let Some(given) = self.names.given(self.model, variable, field)
        {
            let ok = self.model.terms.bool(true);
            return test(&mut self.model.terms, given, ok);
        }
        self.unknown(node, Type::Bool)
    }

    // === what a meaning is as a value of some kind; of another kind it has none ===

    pub(super) fn as_bool(&mut self, meaning: &Meaning) -> (Id, Id) {
        let never = self.model.terms.bool(false);
        match meaning {
            Meaning::Bool { yes, no } => (*yes, *no),
            Meaning::Constant(value) => match value.as_bool() {
                Some(value) => (self.model.terms.bool(value), self.model.terms.bool(!value)),
                None => (never, never),
            },
            Meaning::Opaque { .. } => {
                let (value, ok) = self.of_opaque(meaning, Sort::Bool);
                let Meaning::Bool { yes, no } = test(&mut self.model.terms, value, ok) else {
                    return (never, never);
                };
                (yes, no)
            }
            Meaning::Number { .. } | Meaning::Text { .. } => (never, never),
        }
    }

    pub(super) fn as_number(&mut self, meaning: &Meaning) -> (Id, Id) {
        let terms = &mut self.model.terms;
        let none = (terms.int(0), terms.bool(false));
        match meaning {
            Meaning::Number { value, ok } => (*value, *ok),
            Meaning::Constant(value) => match value.as_number().and_then(|number| self.number(&number)) {
                Some(id) => (id, self.model.terms.bool(true)),
                None => none,
            },
            Meaning::Opaque { .. } => self.of_opaque(meaning, Sort::Real),
            Meaning::Bool { .. } | Meaning::Text { .. } => none,
        }
    }

    pub(super) fn as_text(&mut self, meaning: &Meaning) -> (Id, Id) {
        let none = (self.model.terms.text(""), self.model.terms.bool(false));
        match meaning {
            Meaning::Text { value, ok } => (*value, *ok),
            Meaning::Constant(value) => match value.as_str() {
                Some(text) => (self.text(text), self.model.terms.bool(true)),
                None => none,
            },
            Meaning::Opaque { .. } => self.of_opaque(meaning, Sort::Text),
            Meaning::Bool { .. } | Meaning::Number { .. } => none,
        }
    }

    /// A text that no solver can write is some text.
    pub(super) fn text(&mut self, text: &str) -> Id {
        if is_writable(text) {
            return self.model.terms.text(text);
        }
        self.names.free(self.model, &serde_json::Value::from(text).to_string(), Sort::Text)
    }

    fn number(&mut self, number: &Decimal) -> Option<Id> {
        let value = rational(number)?;
        let value = if value.is_integer() { Known::Int(value.to_integer()) } else { Known::Real(value) };
        Some(self.model.terms.value(value))
    }

    fn of_opaque(&mut self, meaning: &Meaning, sort: Sort) -> (Id, Id) {
        let Meaning::Opaque { key, argument, ok, kind } = meaning else {
            let never = self.model.terms.bool(false);
            return (never, never);
        };
        let wanted = match sort {
            Sort::Bool => Type::Bool,
            Sort::Text => Type::String,
            Sort::Int | Sort::Real => Type::Number,
        };
        let value = self.names.read(self.model, key, argument.as_deref(), sort);
        if *kind == wanted {
            return (value, *ok);
        }
        if *kind != Type::Dyn {
            return (value, self.model.terms.bool(false));
        }
        let is = self.names.own(self.model, &format!("{key} is a {wanted}"), Sort::Bool);
        (value, self.model.terms.all([*ok, is]))
    }

    /// A meaning whose kind is known, as one term.
    pub(super) fn plain(&mut self, meaning: &Meaning) -> Option<(Id, Id)> {
        match meaning {
            Meaning::Bool { yes, no } => Some((*yes, self.model.terms.any([*yes, *no]))),
            Meaning::Number { value, ok } | Meaning::Text { value, ok } => Some((*value, *ok)),
            Meaning::Constant(value) if value.as_bool().is_some() => {
                let (yes, no) = self.as_bool(meaning);
                Some((yes, self.model.terms.any([yes, no])))
            }
            Meaning::Constant(value) if value.as_str().is_some() => Some(self.as_text(meaning)),
            Meaning::Constant(value) if value.as_number().is_some() => Some(self.as_number(meaning)),
            Meaning::Opaque { kind: Type::Bool, .. } => {
                let (yes, no) = self.as_bool(meaning);
                Some((yes, self.model.terms.any([yes, no])))
            }
            Meaning::Opaque { kind: Type::String, .. } => Some(self.as_text(meaning)),
            Meaning::Opaque { kind: Type::Number, .. } => Some(self.as_number(meaning)),
            Meaning::Constant(_) | Meaning::Opaque { .. } => None,
        }
    }
}

/// What no condition says anything about.
pub(super) fn always(model: &mut Model) -> (Id, Id) {
    let Meaning::Bool { yes, no } = truth(&mut model.terms, true) else {
        let yes = model.terms.bool(true);
        return (yes, yes);
    };
    (yes, no)
}
