//! The syntax tree of an expression, Python's nodes by Python's names where a policy may not use them.

use std::ops::Range;

use num_bigint::BigInt;

/// Levels of an expression: what walks it may recurse. (The original fails beyond some 480, by an exception.)
pub(crate) const DEPTH_MAX: usize = 128;

/// A node of a [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Id(u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    /// Refused, by its name.
    Other(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compare {
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
    Ne,
    /// Refused, by its name.
    Other(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unary {
    Invert,
    Neg,
    Not,
    Pos,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    And(Vec<Id>),
    Binary(Binary, Id, Id),
    Bool(bool),
    Call {
        function: Id,
        arguments: Vec<Id>,
        keywords: bool,
    },
    Compare(Id, Vec<(Compare, Id)>),
    /// Not for a policy, by its name.
    Foreign(&'static str),
    Int(BigInt),
    /// `[a]`, `(a,)`, `{a}`, by its name.
    List(&'static str, Vec<Id>),
    /// A literal of a type that a policy does not know.
    Literal(&'static str),
    Name(String),
    Or(Vec<Id>),
    Str(String),
    Unary(Unary, Id),
}

#[derive(Debug)]
struct Placed {
    node: Node,
    span: Range<usize>,
    /// `depth <= DEPTH_MAX`
    depth: usize,
}

/// Invariant: a node's children stand before it.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Placed>,
}

impl Tree {
    /// `None` when it would be deeper than [`DEPTH_MAX`].
    pub(crate) fn add(&mut self, node: Node, span: Range<usize>) -> Option<Id> {
        let below = match &node {
            Node::And(all) | Node::Or(all) | Node::List(_, all) => self.deepest(all.iter()),
            Node::Binary(_, left, right) => self.deepest([left, right].into_iter()),
            Node::Call { function, arguments, .. } => {
                self.deepest(std::iter::once(function).chain(arguments))
            }
            Node::Compare(first, rest) => {
                self.deepest(std::iter::once(first).chain(rest.iter().map(|(_, id)| id)))
            }
            Node::Unary(_, inner) => self.deepest(std::iter::once(inner)),
            _ => 0,
        };
        if below >= DEPTH_MAX {
            return None;
        }
        let id = Id(u32::try_from(self.nodes.len()).ok()?);
        self.nodes.push(Placed { node, span, depth: below + 1 });
        Some(id)
    }

    fn deepest<'a>(&self, ids: impl Iterator<Item = &'a Id>) -> usize {
        ids.filter_map(|id| self.nodes.get(id.0 as usize))
            .map(|placed| placed.depth)
            .max()
            .unwrap_or_default()
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        const NOWHERE: &Node = &Node::Foreign("Nothing");
        self.nodes.get(id.0 as usize).map_or(NOWHERE, |placed| &placed.node)
    }

    pub(crate) fn span(&self, id: Id) -> Range<usize> {
        self.nodes.get(id.0 as usize).map(|placed| placed.span.clone()).unwrap_or_default()
    }
}
