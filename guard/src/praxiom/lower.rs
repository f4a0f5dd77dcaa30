//! From the syntax tree to a [`Program`]: names, types, and what a policy may not use. Parts are looked at in the
//! original's order, so that the first thing wrong is the same.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::AhoCorasick;

use super::Dialect;
use super::ast::{Binary, Compare, Id, Node, Tree, Unary};
use super::parse::parse;
use super::program::{Program, Slot, Step};
use super::python::repr;
use super::solver;
use super::token::Fault;
use super::value::Sort;

/// Bytes of one expression.
pub const SOURCE_BYTES_MAX: usize = 64 * 1024;

const FUNCTIONS: [&str; 7] = ["implies", "ite", "startswith", "endswith", "contains", "matches", "member"];

/// What an expression may name.
#[derive(Debug, Clone)]
pub(crate) struct Scope<'p> {
    pub(crate) variables: &'p [(String, Sort)],
    pub(crate) arguments: &'p [(String, Sort)],
    /// `payload`, `tool` and `upstream`; an invariant sees the state alone.
    pub(crate) context: bool,
    pub(crate) result: bool,
    pub(crate) patterns: &'p BTreeMap<String, List>,
    pub(crate) dialect: Dialect,
}

/// Texts to look for, made ready once however often they are named.
#[derive(Debug, Clone)]
pub(crate) struct List {
    /// Of one that the file names.
    pub(crate) name: Option<Arc<str>>,
    pub(crate) items: Arc<[String]>,
    pub(crate) within: Arc<AhoCorasick>,
}

impl List {
    /// # Errors
    /// More than the search can hold.
    pub(crate) fn new<'t>(items: impl Iterator<Item = &'t str>, dialect: Dialect) -> Result<List, String> {
        let items: Arc<[String]> = items.map(|item| dialect.text(item).into_owned()).collect();
        let within = AhoCorasick::new(items.iter()).map_err(|why| why.to_string())?;
        Ok(List { name: None, items, within: Arc::new(within) })
    }

    pub(crate) fn named(self, name: &str) -> List {
        List { name: Some(name.into()), ..self }
    }
}

/// Reads and checks a source.
pub(crate) fn compile(source: &str, scope: &Scope<'_>) -> Result<(Program, Sort), Fault> {
    if source.trim().is_empty() {
        return Err(Fault::new("expression must be a non-empty string", 0..source.len()));
    }
    if source.len() > SOURCE_BYTES_MAX {
        let message = format!("expression is longer than {SOURCE_BYTES_MAX} bytes");
        return Err(Fault::new(message, 0..source.len()));
    }
    let (tree, root) = parse(source).map_err(|fault| Fault {
        message: format!("cannot parse {}: {}", repr(source), fault.message),
        ..fault
    })?;
    let mut lower = Lower { source, scope, tree: &tree, program: Program::default() };
    let (_, sort) = lower.node(root)?;
    Ok((lower.program, sort))
}

struct Lower<'p> {
    source: &'p str,
    scope: &'p Scope<'p>,
    tree: &'p Tree,
    program: Program,
}

type Lowered = Result<(Slot, Sort), Fault>;

impl Lower<'_> {
    fn fault(&self, id: Id, message: impl Into<String>) -> Fault {
        Fault::new(message, self.tree.span(id))
    }

    fn refused(&self, id: Id, what: &str) -> Fault {
        self.fault(id, format!("{what} is not allowed in policy expressions"))
    }

    fn ill_typed(&self, span: Range<usize>, why: impl std::fmt::Display) -> Fault {
        Fault::new(format!("ill-typed expression {}: {why}", repr(self.source)), span)
    }

    fn mismatch(&self, id: Id, left: Sort, right: Sort) -> Fault {
        let why = format!("sort mismatch ({} and {})", left.name(), right.name());
        self.ill_typed(self.tree.span(id), why)
    }

    fn push(&mut self, step: Step, sort: Sort) -> (Slot, Sort) {
        (self.program.push(step), sort)
    }

    /// Recursion is as deep as the tree: at most [`super::ast::DEPTH_MAX`].
    fn node(&mut self, id: Id) -> Lowered {
        let tree = self.tree;
        match tree.node(id) {
            Node::Bool(value) => Ok(self.push(Step::Bool(*value), Sort::Bool)),
            Node::Int(value) => Ok(self.push(Step::Int(value.clone()), Sort::Int)),
            Node::Str(text) => {
                let text = self.scope.dialect.text(text).into_owned();
                Ok(self.push(Step::Str(text), Sort::Str))
            }
            Node::Name(name) => self.name(id, name),
            Node::Literal(kind) => Err(self.refused(id, &format!("literal of type {kind}"))),
            Node::Foreign(name) | Node::List(name, _) => Err(self.refused(id, name)),
            Node::And(all) => self.junction(all, Step::All),
            Node::Or(all) => self.junction(all, Step::Any),
            Node::Unary(op, inner) => self.unary(id, *op, *inner),
            Node::Binary(Binary::Other(name), ..) => Err(self.refused(id, &format!("operator {name}"))),
            Node::Binary(op, left, right) => self.binary(id, *op, *left, *right),
            Node::Compare(first, rest) => self.comparison(*first, rest),
            Node::Call { function, arguments, keywords } => self.call(id, *function, arguments, *keywords),
        }
    }

    fn name(&mut self, id: Id, name: &str) -> Lowered {
        let scope = self.scope;
        let position = |of: &[(String, Sort)]| of.iter().position(|(known, _)| known == name);
        let sort = |of: &[(String, Sort)], at: usize| of.get(at).map_or(Sort::Bool, |(_, sort)| *sort);
        let (step, sort) = match name {
            "true" | "false" => (Step::Bool(name == "true"), Sort::Bool),
            "payload" if scope.context => (Step::Payload, Sort::Str),
            "tool" if scope.context => (Step::Tool, Sort::Str),
            "upstream" if scope.context => (Step::Upstream, Sort::Str),
            "result" if scope.result => (Step::Result, Sort::Str),
            _ => match (position(scope.variables), position(scope.arguments)) {
                (Some(at), _) => (Step::Variable(at), sort(scope.variables, at)),
                (None, Some(at)) => (Step::Argument(at), sort(scope.arguments, at)),
                (None, None) => return Err(self.unknown(id, name)),
            },
        };
        Ok(self.push(step, sort))
    }

    fn unknown(&self, id: Id, name: &str) -> Fault {
        let scope = self.scope;
        let mut known: BTreeSet<&str> =
            scope.variables.iter().chain(scope.arguments).map(|(name, _)| name.as_str()).collect();
        if scope.context {
            known.extend(["payload", "tool", "upstream"]);
        }
        if scope.result {
            known.insert("result");
        }
        let known = listed(known, "<nothing>");
        self.fault(id, format!("unknown name {}; in scope: {known}", repr(name)))
    }

    fn junction(&mut self, all: &[Id], step: fn(Vec<Slot>) -> Step) -> Lowered {
        let mut terms = Vec::with_capacity(all.len());
        for id in all {
            terms.push(self.node(*id)?);
        }
        for (id, (_, sort)) in all.iter().zip(&terms) {
            if *sort != Sort::Bool {
                return Err(self.mismatch(*id, Sort::Bool, *sort));
            }
        }
        let slots = terms.into_iter().map(|(slot, _)| slot).collect();
        Ok(self.push(step(slots), Sort::Bool))
    }

    fn unary(&mut self, id: Id, op: Unary, inner: Id) -> Lowered {
        let (slot, sort) = self.node(inner)?;
        match (op, sort) {
            (Unary::Invert, _) => Err(self.refused(id, "Invert")),
            (Unary::Pos, sort) => Ok((slot, sort)),
            (Unary::Not, Sort::Bool) => Ok(self.push(Step::Not(slot), Sort::Bool)),
            (Unary::Not, _) => {
                Err(self.ill_typed(self.tree.span(inner), "`not` takes a condition, not a value"))
            }
            (Unary::Neg, Sort::Int) => Ok(self.push(Step::Neg(slot), Sort::Int)),
            (Unary::Neg, sort) => {
                Err(self
                    .ill_typed(self.tree.span(inner), format!("bad operand for unary -: {}", sort.name())))
            }
        }
    }

    /// A boolean beside an integer is 1 or 0.
    fn numbers(&mut self, left: (Slot, Sort), right: (Slot, Sort)) -> Option<(Slot, Slot)> {
        if left.1 == Sort::Str || right.1 == Sort::Str {
            return None;
        }
        let mut number = |(slot, sort): (Slot, Sort)| match sort {
            Sort::Bool => self.program.push(Step::AsInt(slot)),
            _ => slot,
        };
        Some((number(left), number(right)))
    }

    fn binary(&mut self, id: Id, op: Binary, left: Id, right: Id) -> Lowered {
        let (left, right) = (self.node(left)?, self.node(right)?);
        let sorts = (left.1, right.1);
        if matches!((op, sorts), (Binary::Add, (Sort::Str, Sort::Str))) {
            return Ok(self.push(Step::Concat(left.0, right.0), Sort::Str));
        }
        let logical = sorts == (Sort::Bool, Sort::Bool) && !matches!(op, Binary::Add | Binary::Mul);
        let numbers = if logical { None } else { self.numbers(left, right) };
        let Some((left, right)) = numbers else { return Err(self.mismatch(id, sorts.0, sorts.1)) };
        let step = match op {
            Binary::Add => Step::Add(left, right),
            Binary::Sub => Step::Sub(left, right),
            Binary::Mul => Step::Mul(left, right),
            Binary::Div => Step::Div(left, right),
            Binary::Mod => Step::Mod(left, right),
            Binary::Other(name) => return Err(self.refused(id, name)),
        };
        Ok(self.push(step, Sort::Int))
    }

    fn comparison(&mut self, first: Id, rest: &[(Compare, Id)]) -> Lowered {
        let mut terms = vec![(first, self.node(first)?)];
        for (_, id) in rest {
            terms.push((*id, self.node(*id)?));
        }
        let mut parts = Vec::with_capacity(rest.len());
        for ((op, _), pair) in rest.iter().zip(terms.windows(2)) {
            let [left, right] = pair else { continue };
            parts.push(self.compare(*op, *left, *right)?);
        }
        match parts.as_slice() {
            [only] => Ok((*only, Sort::Bool)),
            _ => Ok(self.push(Step::All(parts), Sort::Bool)),
        }
    }

    fn compare(
        &mut self,
        op: Compare,
        left: (Id, (Slot, Sort)),
        right: (Id, (Slot, Sort)),
    ) -> Result<Slot, Fault> {
        let span = self.tree.span(left.0).start..self.tree.span(right.0).end;
        if let Compare::Other(name) = op {
            let message = format!("comparison {name} is not allowed in policy expressions");
            return Err(Fault::new(message, span));
        }
        let (left, right) = (left.1, right.1);
        let ordered = !matches!(op, Compare::Eq | Compare::Ne);
        let (a, b) = match (left.1, right.1) {
            (Sort::Bool, Sort::Bool) if ordered => {
                return Err(self.ill_typed(span, "two conditions have no order"));
            }
            (a, b) if a == b => (left.0, right.0),
            (a, b) => {
                let why = format!("sort mismatch ({} and {})", a.name(), b.name());
                self.numbers(left, right).ok_or_else(|| self.ill_typed(span, why))?
            }
        };
        Ok(self.program.push(Step::Compare(op, a, b)))
    }

    fn call(&mut self, id: Id, function: Id, arguments: &[Id], keywords: bool) -> Lowered {
        let tree = self.tree;
        let name = match tree.node(function) {
            Node::Name(name) => name.as_str(),
            _ => "<expression>",
        };
        if !FUNCTIONS.contains(&name) {
            let message = format!("unknown function {}; available: {}", repr(name), FUNCTIONS.join(", "));
            return Err(self.fault(function, message));
        }
        if keywords {
            return Err(self.refused(id, "keyword arguments"));
        }
        match (name, arguments) {
            ("matches" | "member", [subject, list]) => self.list_call(name, *subject, *list),
            ("ite", [condition, then, otherwise]) => self.ite(id, *condition, *then, *otherwise),
            ("ite" | "matches" | "member", _) => Err(self.arity(id, name, arguments.len())),
            _ => self.two(id, name, arguments),
        }
    }

    fn arity(&self, id: Id, name: &str, got: usize) -> Fault {
        let wanted = if name == "ite" { 3 } else { 2 };
        self.fault(id, format!("{name}() takes exactly {wanted} arguments, got {got}"))
    }

    fn two(&mut self, id: Id, name: &str, arguments: &[Id]) -> Lowered {
        let mut terms = Vec::with_capacity(arguments.len());
        for argument in arguments {
            terms.push(self.node(*argument)?);
        }
        let [left, right] = terms.as_slice() else { return Err(self.arity(id, name, arguments.len())) };
        let wanted = if name == "implies" { Sort::Bool } else { Sort::Str };
        for (argument, (_, sort)) in arguments.iter().zip([left, right]) {
            if *sort != wanted {
                return Err(self.mismatch(*argument, wanted, *sort));
            }
        }
        let (left, right) = (left.0, right.0);
        let step = match name {
            "implies" => Step::Implies(left, right),
            "startswith" => Step::StartsWith(left, right),
            "endswith" => Step::EndsWith(left, right),
            _ => Step::Contains(left, right),
        };
        Ok(self.push(step, Sort::Bool))
    }

    fn ite(&mut self, id: Id, condition: Id, then: Id, otherwise: Id) -> Lowered {
        let (test, sort) = self.node(condition)?;
        let (then, otherwise) = (self.node(then)?, self.node(otherwise)?);
        if sort != Sort::Bool {
            return Err(self.fault(condition, "the first argument of ite() must be a condition"));
        }
        if then.1 == otherwise.1 {
            return Ok(self.push(Step::If(test, then.0, otherwise.0), then.1));
        }
        let Some((left, right)) = self.numbers(then, otherwise) else {
            return Err(self.mismatch(id, then.1, otherwise.1));
        };
        Ok(self.push(Step::If(test, left, right), Sort::Int))
    }

    fn list_call(&mut self, name: &str, subject: Id, list: Id) -> Lowered {
        let (slot, sort) = self.node(subject)?;
        let list = self.list(name, list)?;
        if sort != Sort::Str {
            return Err(self.mismatch(subject, sort, Sort::Str));
        }
        let step = match name {
            "member" => Step::Member(slot, list),
            _ => Step::Matches(slot, list),
        };
        Ok(self.push(step, Sort::Bool))
    }

    /// A named pattern list, or one written here.
    fn list(&self, name: &str, id: Id) -> Result<List, Fault> {
        let patterns = self.scope.patterns;
        let items = match self.tree.node(id) {
            Node::Name(list) => {
                return patterns.get(list).cloned().ok_or_else(|| {
                    let known = listed(patterns.keys().map(String::as_str), "<none defined>");
                    self.fault(id, format!("unknown pattern list {}; defined: {known}", repr(list)))
                });
            }
            Node::List(_, items) => items,
            _ => {
                return Err(self.fault(id, format!("{name}() needs a pattern list name or a literal list")));
            }
        };
        let text = |item: &Id| match self.tree.node(*item) {
            Node::Str(text) => Ok(text.as_str()),
            _ => Err(self.fault(*item, format!("{name}() list must hold string literals"))),
        };
        let texts = items.iter().map(text).collect::<Result<Vec<_>, _>>()?;
        if texts.is_empty() {
            return Err(self.fault(id, format!("{name}() needs a non-empty list")));
        }
        List::new(texts.into_iter(), self.scope.dialect).map_err(|why| self.fault(id, why))
    }
}

/// Names for a message.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>, none: &str) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    if names.is_empty() { none.to_owned() } else { names.join(", ") }
}

impl Dialect {
    /// A text as the policy is to read it.
    pub(crate) fn text(self, text: &str) -> std::borrow::Cow<'_, str> {
        // What holds no backslash and nothing beyond U+2FFFF is read as it is.
        if self == Dialect::Safe || !text.bytes().any(|b| b == b'\\' || b >= 0xf0) {
            return std::borrow::Cow::Borrowed(text);
        }
        std::borrow::Cow::Owned(solver::misread(text))
    }
}
