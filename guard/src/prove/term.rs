//! Terms over one step: the state it starts from and what the solver may choose. They stand in an arena, equal ones
//! once, so that what a rule and a property both ask is one thing, and a term is as large as its source.
//!
//! The constructors fold what is constant: what comes to `true` or `false` here needs no solver.

use std::collections::HashMap;

use num_bigint::BigInt;
use num_rational::BigRational;

pub(super) use super::value::{Sort, Value};

/// A term of a [`Terms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub(super) u32);

/// Operators of two numbers or texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Two {
    Add,
    AtMost,
    Concat,
    Contains,
    /// Euclid's, as SMT-LIB and praxiom have it; the divisor is not zero where the value counts.
    Div,
    EndsWith,
    Equal,
    Less,
    Mod,
    Mul,
    StartsWith,
    Sub,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    All(Vec<Id>),
    Any(Vec<Id>),
    Constant(Value),
    If(Id, Id, Id),
    /// What the solver may choose, by its place in the model.
    Input(usize),
    Length(Id),
    Not(Id),
    /// A state variable before the step.
    State(usize),
    /// The whole number below or at a number.
    ToInt(Id),
    ToReal(Id),
    Two(Two, Id, Id),
}

/// All terms of a model. Invariant: a term's parts stand before it.
#[derive(Debug, Default, Clone)]
pub struct Terms {
    nodes: Vec<(Node, Sort)>,
    known: HashMap<Node, Id>,
    /// Negations already made: a part that many share is negated once.
    negated: HashMap<Id, Id>,
}

impl Terms {
    pub(crate) fn node(&self, id: Id) -> &Node {
        const NOTHING: &Node = &Node::Constant(Value::Bool(false));
        self.nodes.get(id.0 as usize).map_or(NOTHING, |(node, _)| node)
    }

    /// The sort of a term.
    #[must_use]
    pub fn sort(&self, id: Id) -> Sort {
        self.nodes.get(id.0 as usize).map_or(Sort::Bool, |(_, sort)| *sort)
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// All numbers that stand in terms.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = BigRational> {
        self.nodes.iter().filter_map(|(node, _)| match node {
            Node::Constant(Value::Int(value)) => Some(BigRational::from_integer(value.clone())),
            Node::Constant(Value::Real(value)) => Some(value.clone()),
            _ => None,
        })
    }

    fn add(&mut self, node: Node, sort: Sort) -> Id {
        if let Some(id) = self.known.get(&node) {
            return *id;
        }
        let id = Id(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.known.insert(node.clone(), id);
        self.nodes.push((node, sort));
        id
    }

    /// A value.
    pub fn value(&mut self, value: Value) -> Id {
        let sort = value.sort();
        self.add(Node::Constant(value), sort)
    }

    /// `true` or `false`.
    pub fn bool(&mut self, value: bool) -> Id {
        self.value(Value::Bool(value))
    }

    /// A whole number.
    pub fn int(&mut self, value: impl Into<BigInt>) -> Id {
        self.value(Value::Int(value.into()))
    }

    /// A text.
    pub fn text(&mut self, text: &str) -> Id {
        self.value(Value::Text(text.into()))
    }

    /// The state variable at that place of the model.
    pub fn state(&mut self, at: usize, sort: Sort) -> Id {
        self.add(Node::State(at), sort)
    }

    pub(crate) fn input(&mut self, at: usize, sort: Sort) -> Id {
        self.add(Node::Input(at), sort)
    }

    /// The value of a term that depends on nothing.
    #[must_use]
    pub fn constant(&self, id: Id) -> Option<&Value> {
        match self.node(id) {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The truth of a condition that depends on nothing.
    #[must_use]
    pub fn truth(&self, id: Id) -> Option<bool> {
        match self.constant(id) {
            Some(Value::Bool(value)) => Some(*value),
            _ => None,
        }
    }

    /// Negation. It goes through conjunctions and disjunctions, so that what contradicts itself is seen to.
    pub fn not(&mut self, id: Id) -> Id {
        if let Some(known) = self.negated.get(&id) {
            return *known;
        }
        // As deep as expressions are nested, which their readers bound.
        let not = match self.node(id).clone() {
            Node::Constant(Value::Bool(value)) => self.bool(!value),
            Node::Not(inner) => inner,
            Node::All(parts) => {
                let parts: Vec<Id> = parts.into_iter().map(|part| self.not(part)).collect();
                self.any(parts)
            }
            Node::Any(parts) => {
                let parts: Vec<Id> = parts.into_iter().map(|part| self.not(part)).collect();
                self.all(parts)
            }
            _ => self.add(Node::Not(id), Sort::Bool),
        };
        self.negated.insert(id, not);
        not
    }

    /// Conjunction.
    pub fn all(&mut self, ids: impl IntoIterator<Item = Id>) -> Id {
        self.junction(ids, true)
    }

    /// Disjunction.
    pub fn any(&mut self, ids: impl IntoIterator<Item = Id>) -> Id {
        self.junction(ids, false)
    }

    fn junction(&mut self, ids: impl IntoIterator<Item = Id>, is_all: bool) -> Id {
        let mut parts: Vec<Id> = Vec::new();
        for id in ids {
            match self.node(id) {
                Node::Constant(Value::Bool(value)) if *value == is_all => {}
                Node::Constant(_) => return id,
                Node::All(inner) if is_all => parts.extend_from_slice(inner),
                Node::Any(inner) if !is_all => parts.extend_from_slice(inner),
                _ => parts.push(id),
            }
        }
        parts.sort_unstable();
        parts.dedup();
        let opposite = |id: &Id| match self.node(*id) {
            Node::Not(inner) => parts.binary_search(inner).is_ok(),
            _ => false,
        };
        if parts.iter().any(opposite) {
            return self.bool(!is_all);
        }
        match parts.as_slice() {
            [] => self.bool(is_all),
            [only] => *only,
            _ if is_all => self.add(Node::All(parts), Sort::Bool),
            _ => self.add(Node::Any(parts), Sort::Bool),
        }
    }

    /// `condition ? then : otherwise`; both have one sort.
    pub fn choose(&mut self, condition: Id, then: Id, otherwise: Id) -> Id {
        if then == otherwise {
            return then;
        }
        match (self.truth(condition), self.truth(then), self.truth(otherwise)) {
            (Some(true), ..) => return then,
            (Some(false), ..) => return otherwise,
            (_, Some(true), _) => return self.any([condition, otherwise]),
            (_, Some(false), _) => {
                let not = self.not(condition);
                return self.all([not, otherwise]);
            }
            (_, _, Some(true)) => {
                let not = self.not(condition);
                return self.any([not, then]);
            }
            (_, _, Some(false)) => return self.all([condition, then]),
            _ => {}
        }
        let sort = self.sort(then);
        self.add(Node::If(condition, then, otherwise), sort)
    }

    /// Equality of two terms of one sort.
    pub fn equal(&mut self, left: Id, right: Id) -> Id {
        if left == right {
            return self.bool(true);
        }
        match (self.truth(left), self.truth(right)) {
            (Some(true), _) => return right,
            (_, Some(true)) => return left,
            (Some(false), _) => return self.not(right),
            (_, Some(false)) => return self.not(left),
            _ => {}
        }
        self.two(Two::Equal, left.min(right), left.max(right))
    }

    /// A whole number as an exact one.
    pub fn to_real(&mut self, id: Id) -> Id {
        match self.node(id) {
            Node::Constant(Value::Int(value)) => {
                let value = Value::Real(BigRational::from_integer(value.clone()));
                self.value(value)
            }
            _ if self.sort(id) == Sort::Int => self.add(Node::ToReal(id), Sort::Real),
            _ => id,
        }
    }

    /// The whole number below or at a number.
    pub fn to_int(&mut self, id: Id) -> Id {
        match self.node(id) {
            Node::Constant(Value::Real(value)) => {
                let value = value.floor().to_integer();
                self.int(value)
            }
            Node::ToReal(inner) => *inner,
            _ if self.sort(id) == Sort::Real => self.add(Node::ToInt(id), Sort::Int),
            _ => id,
        }
    }

    /// Characters of a text.
    pub fn length(&mut self, id: Id) -> Id {
        match self.constant(id) {
            Some(Value::Text(text)) => {
                let count = text.chars().count();
                self.int(count)
            }
            _ => self.add(Node::Length(id), Sort::Int),
        }
    }

    pub(crate) fn two(&mut self, two: Two, left: Id, right: Id) -> Id {
        if let (Some(a), Some(b)) = (self.constant(left), self.constant(right))
            && let Some(value) = two.of(a, b)
        {
            return self.value(value);
        }
        let sort = match two {
            Two::Add | Two::Mul | Two::Sub => self.sort(left),
            Two::Div | Two::Mod => Sort::Int,
            Two::Concat => Sort::Text,
            _ => Sort::Bool,
        };
        self.add(Node::Two(two, left, right), sort)
    }

    pub(crate) fn less(&mut self, left: Id, right: Id) -> Id {
        self.two(Two::Less, left, right)
    }

    pub(crate) fn at_most(&mut self, left: Id, right: Id) -> Id {
        self.two(Two::AtMost, left, right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_constant_needs_no_solver() {
        let mut terms = Terms::default();
        let (x, yes) = (terms.input(0, Sort::Bool), terms.bool(true));
        let not = terms.not(x);
        let always = terms.any([x, not]);
        assert_eq!(terms.truth(always), Some(true));
        let never = terms.all([not, yes, x]);
        assert_eq!(terms.truth(never), Some(false));
        assert_eq!(terms.not(not), x);
        let (a, b) = (terms.text("a/.ssh"), terms.text(".ssh"));
        let found = terms.two(Two::Contains, a, b);
        assert_eq!(terms.truth(found), Some(true));
    }

    #[test]
    fn equal_terms_are_one() {
        let mut terms = Terms::default();
        let (n, five) = (terms.input(0, Sort::Int), terms.int(5));
        assert_eq!(terms.less(n, five), terms.less(n, five));
        assert_eq!(terms.equal(n, five), terms.equal(five, n));
    }
}
