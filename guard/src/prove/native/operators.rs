//! Operators as terms.

use super::super::term::{Id, Sort, Two};
use super::cel::Lower;
use super::meaning::{Meaning, alike, equal, not, ordered, test};
use crate::cel::tree::{Kind, Node, Operator};
use crate::cel::{Type, Value};

impl Lower<'_, '_> {
    pub(super) fn conditional(&mut self, node: &Node, parts: &[Node; 3]) -> Meaning {
        let [condition, yes, no] = parts;
        let (is, is_not) = self.bool(condition);
        let (then, otherwise) = (self.node(yes), self.node(no));
        let (Some((a, a_ok)), Some((b, b_ok))) = (self.plain(&then), self.plain(&otherwise)) else {
            return self.unknown(node, Type::Dyn);
        };
        let terms = &mut self.model.terms;
        let ok = {
            let (first, second) = (terms.all([is, a_ok]), terms.all([is_not, b_ok]));
            terms.any([first, second])
        };
        let (a, b) = match (terms.sort(a), terms.sort(b)) {
            (Sort::Int | Sort::Real, Sort::Int | Sort::Real) => alike(terms, a, b),
            (one, other) if one == other => (a, b),
            _ => return self.unknown(node, Type::Dyn),
        };
        let terms = &mut self.model.terms;
        let value = terms.choose(is, a, b);
        match terms.sort(value) {
            Sort::Bool => test(terms, value, ok),
            Sort::Text => Meaning::Text { value, ok },
            Sort::Int | Sort::Real => Meaning::Number { value, ok },
        }
    }

    pub(super) fn binary(&mut self, node: &Node, operator: Operator, operands: &[Node; 2]) -> Meaning {
        let [left, right] = operands;
        let (a, b) = (self.node(left), self.node(right));
        match operator {
            Operator::Equal => self.equality(node, &a, &b),
            Operator::NotEqual => {
                // One spelling for both, so that `!=` is the contrary of `==` where neither is known.
                let equal = Node {
                    kind: Kind::Binary(Operator::Equal, Box::new(operands.clone())),
                    span: node.span.clone(),
                };
                let meaning = self.equality(&equal, &a, &b);
                let condition = self.as_bool(&meaning);
                not(condition)
            }
            Operator::Less => self.order(node, &a, &b, false),
            Operator::LessOrEqual => self.order(node, &a, &b, true),
            Operator::Greater => self.order(node, &b, &a, false),
            Operator::GreaterOrEqual => self.order(node, &b, &a, true),
            Operator::In => self.membership(node, &a, &b),
            Operator::Add => self.sum(node, &a, &b),
            Operator::Subtract => self.arithmetic(node, Two::Sub, &a, &b),
            Operator::Multiply => self.arithmetic(node, Two::Mul, &a, &b),
            Operator::Divide => self.quotient(node, &a, &b),
            Operator::Remainder => self.unknown(node, Type::Number),
        }
    }

    pub(super) fn equality(&mut self, node: &Node, a: &Meaning, b: &Meaning) -> Meaning {
        // What is compared with a text is looked at as one, and is not equal if it is none.
        let pair = match (self.plain(a), self.plain(b)) {
            (Some(a), Some(b)) => Some((a, b, None)),
            (Some(known), None) => self.as_kind_of(known.0, b).map(|(other, is)| (known, other, Some(is))),
            (None, Some(known)) => self.as_kind_of(known.0, a).map(|(other, is)| (known, other, Some(is))),
            (None, None) => None,
        };
        let Some(((a, a_ok), (b, b_ok), is_kind)) = pair else { return self.unknown(node, Type::Bool) };
        let terms = &mut self.model.terms;
        let same = equal(terms, a, b);
        let same = terms.all(std::iter::once(same).chain(is_kind));
        let ok = terms.all([a_ok, b_ok]);
        test(terms, same, ok)
    }

    /// An opaque value beside one of a known kind: it as that kind with whether it is there, and whether it is that kind.
    pub(super) fn as_kind_of(&mut self, known: Id, meaning: &Meaning) -> Option<((Id, Id), Id)> {
        let Meaning::Opaque { key, argument, ok, kind: Type::Dyn } = meaning else { return None };
        let sort = match self.model.terms.sort(known) {
            Sort::Int => Sort::Real,
            sort => sort,
        };
        let name = match sort {
            Sort::Bool => Type::Bool,
            Sort::Text => Type::String,
            Sort::Int | Sort::Real => Type::Number,
        };
        let value = self.names.read(self.model, key, argument.as_deref(), sort);
        let is = self.names.own(self.model, &format!("{key} is a {name}"), Sort::Bool);
        Some(((value, *ok), is))
    }

    pub(super) fn order(&mut self, node: &Node, a: &Meaning, b: &Meaning, or_equal: bool) -> Meaning {
        let is_text = |meaning: &Meaning| match meaning {
            Meaning::Text { .. } | Meaning::Opaque { kind: Type::String, .. } => true,
            Meaning::Constant(value) => value.as_str().is_some(),
            _ => false,
        };
        let is_time = |meaning: &Meaning| {
            matches!(meaning, Meaning::Opaque { kind: Type::Timestamp | Type::Duration, .. })
                || matches!(meaning, Meaning::Constant(Value::Timestamp(_) | Value::Duration(_)))
        };
        let is_bool = |meaning: &Meaning| match meaning {
            Meaning::Bool { .. } | Meaning::Opaque { kind: Type::Bool, .. } => true,
            Meaning::Constant(value) => value.as_bool().is_some(),
            _ => false,
        };
        if is_bool(a) || is_bool(b) {
            return self.order_of_bools(a, b, or_equal);
        }
        let is_known = |lower: &mut Self, meaning: &Meaning| lower.plain(meaning).is_some();
        if is_time(a) || is_time(b) || !(is_known(self, a) || is_known(self, b)) {
            return self.unknown(node, Type::Bool);
        }
        let ((a, a_ok), (b, b_ok)) = match is_text(a) || is_text(b) {
            true => (self.as_text(a), self.as_text(b)),
            false => (self.as_number(a), self.as_number(b)),
        };
        let terms = &mut self.model.terms;
        let ok = terms.all([a_ok, b_ok]);
        match ordered(terms, a, b, or_equal) {
            Some(holds) => test(terms, holds, ok),
            None => self.unknown(node, Type::Bool),
        }
    }

    /// `false` is less than `true`.
    fn order_of_bools(&mut self, a: &Meaning, b: &Meaning, or_equal: bool) -> Meaning {
        let (a, b) = (self.as_bool(a), self.as_bool(b));
        let terms = &mut self.model.terms;
        let has_values = [terms.any([a.0, a.1]), terms.any([b.0, b.1])];
        let ok = terms.all(has_values);
        let holds = if or_equal { terms.any([a.1, b.0]) } else { terms.all([a.1, b.0]) };
        test(terms, holds, ok)
    }

    pub(super) fn sum(&mut self, node: &Node, a: &Meaning, b: &Meaning) -> Meaning {
        if let (Some((left, a_ok)), Some((right, b_ok))) = (self.plain(a), self.plain(b)) {
            let terms = &mut self.model.terms;
            if terms.sort(left) == Sort::Text && terms.sort(right) == Sort::Text {
                let ok = terms.all([a_ok, b_ok]);
                return Meaning::Text { value: terms.two(Two::Concat, left, right), ok };
            }
        }
        self.arithmetic(node, Two::Add, a, b)
    }

    pub(super) fn arithmetic(&mut self, node: &Node, two: Two, a: &Meaning, b: &Meaning) -> Meaning {
        let is_number = |lower: &mut Self, meaning: &Meaning| {
            let plain = lower.plain(meaning);
            plain.is_some_and(|(value, _)| matches!(lower.model.terms.sort(value), Sort::Int | Sort::Real))
        };
        // Times and lists have sums too.
        if !is_number(self, a) && !is_number(self, b) {
            return self.unknown(node, Type::Dyn);
        }
        let ((a, a_ok), (b, b_ok)) = (self.as_number(a), self.as_number(b));
        let terms = &mut self.model.terms;
        let (a, b) = alike(terms, a, b);
        let ok = terms.all([a_ok, b_ok]);
        Meaning::Number { value: terms.two(two, a, b), ok }
    }
}
