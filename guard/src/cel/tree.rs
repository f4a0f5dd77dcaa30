//! The expression as it is checked and evaluated: names resolved, macros recognised, constants folded.

use super::functions::{Function, Prepared};
use super::{Type, Value};
use std::ops::Range;

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) span: Range<usize>,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Literal(Value<'static>),
    /// A constant of the scope, already looked up, with its declared type.
    Constant(Value<'static>, Type),
    Variable(String),
    /// The variable of an enclosing macro, counted from the outermost.
    Local(usize),
    Select {
        operand: Box<Node>,
        field: String,
    },
    Has {
        operand: Box<Node>,
        field: String,
    },
    Index {
        operand: Box<Node>,
        index: Box<Node>,
    },
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    Not(Box<Node>),
    Negate(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Conditional(Box<[Node; 3]>),
    Binary(Operator, Box<[Node; 2]>),
    Each(Box<Each>),
    Call {
        function: &'static Function,
        args: Vec<Node>,
        prepared: Box<Prepared>,
    },
    /// What could not be read; the problem is noted.
    Invalid,
}

/// A macro that visits the items of a list or the keys of a map.
#[derive(Debug, Clone)]
pub(crate) struct Each {
    pub(crate) quantifier: Quantifier,
    pub(crate) range: Node,
    pub(crate) local: usize,
    /// The condition; for `map` with two arguments there is none.
    pub(crate) test: Option<Node>,
    pub(crate) transform: Option<Node>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantifier {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Divide,
    Equal,
    Greater,
    GreaterOrEqual,
    In,
    Less,
    LessOrEqual,
    Multiply,
    NotEqual,
    Remainder,
    Subtract,
}

impl Operator {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Divide => "/",
            Operator::Equal => "==",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::In => "in",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Multiply => "*",
            Operator::NotEqual => "!=",
            Operator::Remainder => "%",
            Operator::Subtract => "-",
        }
    }
}

impl Node {
    /// The value, when it is known without evaluating.
    pub(crate) fn constant(&self) -> Option<&Value<'static>> {
        match &self.kind {
            Kind::Literal(value) | Kind::Constant(value, _) => Some(value),
            _ => None,
        }
    }
}

impl Node {
    /// Shows the nodes right below.
    pub(crate) fn each_child<'n>(&'n self, visit: &mut dyn FnMut(&'n Node)) {
        match &self.kind {
            Kind::Literal(_) | Kind::Constant(..) | Kind::Variable(_) | Kind::Local(_) | Kind::Invalid => {}
            Kind::Select { operand, .. } | Kind::Has { operand, .. } => visit(operand),
            Kind::Not(operand) | Kind::Negate(operand) => visit(operand),
            Kind::Index { operand: left, index: right } | Kind::And(left, right) | Kind::Or(left, right) => {
                visit(left);
                visit(right);
            }
            Kind::List(items) => items.iter().for_each(visit),
            Kind::Map(entries) => entries.iter().flat_map(|(key, value)| [key, value]).for_each(visit),
            Kind::Conditional(parts) => parts.iter().for_each(visit),
            Kind::Binary(_, operands) => operands.iter().for_each(visit),
            Kind::Each(each) => {
                visit(&each.range);
                each.test.iter().chain(&each.transform).for_each(visit);
            }
            Kind::Call { args, .. } => args.iter().for_each(visit),
        }
    }
}
