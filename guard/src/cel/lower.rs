//! From the parser's syntax tree to ours.

use super::functions::{self, Prepared};
use super::scan::{Scan, problem, scan};
use super::tree::{Each, Kind, Node, Operator, Quantifier};
use super::{Problem, Scope, Type, Value};
use crate::decimal::Decimal;

use ::cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, MapExpr, SourceInfo, operators};
use std::ops::Range;

mod syntax;

/// For those who write `not`. Unquoted, a `!` at the start would be a tag of YAML.
const NOT: &str = "write `!(…)` for not, the whole expression in quotes";

pub(super) struct Lowered {
    pub(super) root: Node,
    pub(super) problems: Vec<Problem>,
    /// Paths into constants of the scope that were looked up.
    pub(super) constants: Vec<Vec<String>>,
}

/// Reads the source.
///
/// # Errors
/// Where it is not CEL at all.
pub(super) fn lower(source: &str, scope: &Scope) -> Result<Lowered, Vec<Problem>> {
    let scan = scan(source)?;
    let (tree, info) = syntax::parse(&scan, source)?;
    let mut lower =
        Lower { source, scan: &scan, info: &info, scope, locals: Vec::new(), out: Out::default() };
    let root = lower.node(&tree);
    Ok(Lowered { root, problems: lower.out.problems, constants: lower.out.constants })
}

#[derive(Default)]
struct Out {
    problems: Vec<Problem>,
    constants: Vec<Vec<String>>,
}

struct Lower<'s> {
    source: &'s str,
    scan: &'s Scan,
    info: &'s SourceInfo,
    scope: &'s Scope,
    /// Variables of the enclosing macros.
    locals: Vec<String>,
    out: Out,
}

impl Lower<'_> {
    /// The scan bounds the depth of the tree, and with it this recursion.
    fn node(&mut self, tree: &IdedExpr) -> Node {
        let own = self.own_span(tree);
        match &tree.expr {
            Expr::Literal(literal) => self.literal(literal, own),
            Expr::Ident(name) => self.ident(name, own),
            Expr::Select(select) => {
                let operand = self.node(&select.operand);
                self.select(operand, &select.field, own)
            }
            Expr::Call(call) => self.call(call, own),
            Expr::List(list) if !list.optional_indices.is_empty() => self.optional(own),
            Expr::List(list) => {
                let items: Vec<Node> = list.elements.iter().map(|item| self.node(item)).collect();
                list_node(items, own)
            }
            Expr::Map(map) => self.map(map, own),
            Expr::Struct(_) => {
                self.invalid("messages are not supported", Some("write a map: {\"key\": value}"), own)
            }
            Expr::Comprehension(_) | Expr::Unspecified => self.invalid("this cannot be read", None, own),
        }
    }

    /// The node's own token, up to the partner for a bracket.
    fn own_span(&self, tree: &IdedExpr) -> Range<usize> {
        let Some((start, _)) = self.info.offset_for(tree.id) else { return 0..self.source.len() };
        let start = start as usize;
        match self.scan.token_at(start).and_then(|at| self.scan.tokens.get(at)) {
            Some(token) => start..token.closed,
            None => start..self.source.len(),
        }
    }

    fn invalid(&mut self, message: impl Into<String>, hint: Option<&str>, span: Range<usize>) -> Node {
        let hint = hint.map(str::to_owned);
        self.out.problems.push(Problem { message: message.into(), hint, span: span.clone() });
        Node { kind: Kind::Invalid, span }
    }

    fn optional(&mut self, span: Range<usize>) -> Node {
        self.invalid("optional values are not supported", Some("use has(x.y) ? x.y : other"), span)
    }

    fn literal(&mut self, literal: &LiteralValue, span: Range<usize>) -> Node {
        let value = match literal {
            LiteralValue::Null => Value::Null,
            LiteralValue::Boolean(value) => Value::Bool(*value.inner()),
            LiteralValue::String(text) => Value::String(text.inner().to_owned().into()),
            LiteralValue::Bytes(_) => return self.invalid("bytes are not supported", None, span),
            LiteralValue::Int(stand_in) => return self.number(*stand_in.inner() < 0, span),
            LiteralValue::UInt(_) | LiteralValue::Double(_) => return self.number(false, span),
        };
        Node { kind: Kind::Literal(value), span }
    }

    /// The parser saw a `1`, with the sign where it takes one; the digits are in the source.
    fn number(&mut self, negative: bool, span: Range<usize>) -> Node {
        let text = self.source.get(span.clone()).unwrap_or_default();
        let digits = text.trim_end_matches(['u', 'U']);
        let number = match digits.strip_prefix("0x") {
            Some(hex) => Decimal::parse_hex(hex),
            None => Decimal::parse(digits),
        };
        let Some(number) = number else {
            return self.invalid(format!("`{text}` is not a number"), None, span);
        };
        let value = Value::Number(if negative { number.neg() } else { number });
        let start = if negative {
            self.token_before(span.start).map_or(span.start, |span| span.start)
        } else {
            span.start
        };
        Node { kind: Kind::Literal(value), span: start..span.end }
    }

    fn token_before(&self, start: usize) -> Option<Range<usize>> {
        let before = self.scan.token_at(start)?.checked_sub(1)?;
        self.scan.tokens.get(before).map(|token| token.span.clone())
    }

    fn ident(&mut self, name: &str, span: Range<usize>) -> Node {
        if let Some(local) = self.locals.iter().rposition(|local| local == name) {
            return Node { kind: Kind::Local(local), span };
        }
        if let Some(value) = self.scope.constant(name) {
            self.out.constants.push(vec![name.to_owned()]);
            let kind = self.scope.variable(name).cloned().unwrap_or_default();
            return Node { kind: Kind::Constant(value.clone(), kind), span };
        }
        Node { kind: Kind::Variable(name.to_owned()), span }
    }

    /// `dot` is the place of the `.`.
    fn select(&mut self, operand: Node, field: &str, dot: Range<usize>) -> Node {
        let end = self.scan.token_at(dot.start).and_then(|at| self.scan.tokens.get(at + 1));
        let span = operand.span.start..end.map_or(dot.end, |token| token.span.end);
        if let Kind::Constant(value, Type::Object(object)) = &operand.kind
            && let (Some(member), Some(known)) = (value.member(field), object.fields.get(field))
        {
            let path = self.out.constants.last_mut();
            if let Some(path) = path {
                path.push(field.to_owned());
            }
            return Node { kind: Kind::Constant(member, known.kind.clone()), span };
        }
        Node { kind: Kind::Select { operand: Box::new(operand), field: field.to_owned() }, span }
    }

    fn map(&mut self, map: &MapExpr, span: Range<usize>) -> Node {
        let mut entries = Vec::with_capacity(map.entries.len());
        for entry in &map.entries {
            match &entry.expr {
                EntryExpr::MapEntry(entry) if !entry.optional => {
                    entries.push((self.node(&entry.key), self.node(&entry.value)));
                }
                _ => return self.optional(span),
            }
        }
        Node { kind: Kind::Map(entries), span }
    }

    /// `own` is the operator, or the bracket of a call.
    fn call(&mut self, call: &CallExpr, own: Range<usize>) -> Node {
        let name = call.func_name.as_str();
        if name == operators::OPT_INDEX || name == operators::OPT_SELECT {
            return self.optional(own);
        }
        if self.source.get(own.clone()).is_some_and(|text| text.starts_with('(')) {
            let name_span = self.token_before(own.start).unwrap_or(own.clone());
            return self.function(call, name_span, own);
        }
        let mut args: Vec<Node> = call.args.iter().map(|arg| self.node(arg)).collect();
        let span = args.iter().fold(own, |all, arg| join(&all, &arg.span));
        let kind = match (name, args.len()) {
            (operators::LOGICAL_NOT, 1) => args.pop().map(|arg| Kind::Not(Box::new(arg))),
            (operators::NEGATE, 1) => args.pop().map(|arg| Kind::Negate(Box::new(arg))),
            (operators::CONDITIONAL, 3) => {
                <[Node; 3]>::try_from(args).ok().map(|args| Kind::Conditional(Box::new(args)))
            }
            (_, 2) => <[Node; 2]>::try_from(args).ok().and_then(|args| binary(name, args)),
            _ => None,
        };
        match kind {
            Some(kind) => Node { kind, span },
            None => self.invalid(format!("the operator `{name}` is not supported"), None, span),
        }
    }

    fn function(&mut self, call: &CallExpr, name_span: Range<usize>, brackets: Range<usize>) -> Node {
        let target = call.target.as_deref();
        let start = name_span.start;
        match (call.func_name.as_str(), target, call.args.as_slice()) {
            ("has", None, args) => return self.has(args, start..brackets.end),
            (name, Some(target), args) => {
                if let Some(quantifier) = quantifier(name) {
                    return self.each(quantifier, name, target, args, brackets);
                }
            }
            _ => {}
        }
        let name = call.func_name.as_str();
        let mut args: Vec<Node> = target.into_iter().map(|target| self.node(target)).collect();
        let start = args.first().map_or(start, |target| target.span.start.min(start));
        args.extend(call.args.iter().map(|arg| self.node(arg)));
        let span = start..brackets.end;
        let Some(function) = functions::find(name) else {
            let not = name.eq_ignore_ascii_case("not").then(|| NOT.to_owned());
            let hint = not.or_else(|| functions::nearest(name)).or_else(|| functions::elsewhere(name));
            return self.invalid(format!("unknown function `{name}`"), hint.as_deref(), name_span);
        };
        if let Err(hint) = function.written_as(target.is_some()) {
            let how = if target.is_some() { "method" } else { "function" };
            return self.invalid(format!("`{name}` is not a {how}"), Some(&hint), name_span);
        }
        let prepared = self.prepare(function, &args);
        Node { kind: Kind::Call { function, args, prepared: Box::new(prepared) }, span }
    }

    fn prepare(&mut self, function: &'static functions::Function, args: &[Node]) -> Prepared {
        let constants: Vec<Option<&Value<'static>>> = args.iter().map(Node::constant).collect();
        match function.prepared(&constants) {
            Ok(prepared) => prepared,
            Err((at, message)) => {
                let span = args.get(at).map_or(0..0, |arg| arg.span.clone());
                self.out.problems.push(problem(message, span));
                Prepared::Nothing
            }
        }
    }

    fn has(&mut self, args: &[IdedExpr], span: Range<usize>) -> Node {
        if let [IdedExpr { expr: Expr::Select(select), .. }] = args {
            // Never folded: what is tested may be a constant, its presence is still a question of the text.
            let operand = Box::new(self.node(&select.operand));
            return Node { kind: Kind::Has { operand, field: select.field.clone() }, span };
        }
        self.invalid("has() takes one member: has(args.path)", None, span)
    }

    fn each(
        &mut self,
        quantifier: Quantifier,
        name: &str,
        target: &IdedExpr,
        args: &[IdedExpr],
        brackets: Range<usize>,
    ) -> Node {
        let range = self.node(target);
        let span = range.span.start..brackets.end;
        let (variable, bodies) = match args {
            [IdedExpr { expr: Expr::Ident(variable), .. }, bodies @ ..] => (variable.as_str(), bodies),
            _ => ("", args),
        };
        let fits = bodies.len() == 1 || (bodies.len() == 2 && quantifier == Quantifier::Map);
        if variable.is_empty() || !fits {
            let message = format!("{name}() takes a name and a condition: list.{name}(x, x > 0)");
            return self.invalid(message, None, brackets);
        }
        let local = self.locals.len();
        self.locals.push(variable.to_owned());
        let mut bodies: Vec<Node> = bodies.iter().map(|body| self.node(body)).collect();
        self.locals.pop();
        let last = bodies.pop();
        let (test, transform) = match quantifier {
            Quantifier::Map => (bodies.pop(), last),
            _ => (last, None),
        };
        let each = Each { quantifier, range, local, test, transform };
        Node { kind: Kind::Each(Box::new(each)), span }
    }
}

fn join(left: &Range<usize>, right: &Range<usize>) -> Range<usize> {
    left.start.min(right.start)..left.end.max(right.end)
}

fn list_node(items: Vec<Node>, span: Range<usize>) -> Node {
    let constants: Option<Vec<Value<'static>>> = items
        .iter()
        .map(|item| if let Kind::Literal(value) = &item.kind { Some(value.clone()) } else { None })
        .collect();
    let kind = match constants {
        Some(constants) => Kind::Literal(Value::list(constants)),
        None => Kind::List(items),
    };
    Node { kind, span }
}

fn quantifier(name: &str) -> Option<Quantifier> {
    Some(match name {
        "all" => Quantifier::All,
        "exists" => Quantifier::Exists,
        "exists_one" | "existsOne" => Quantifier::ExistsOne,
        "filter" => Quantifier::Filter,
        "map" => Quantifier::Map,
        _ => return None,
    })
}

fn binary(name: &str, args: [Node; 2]) -> Option<Kind> {
    let boxed = Box::new(args);
    let operator = match name {
        operators::LOGICAL_AND | operators::LOGICAL_OR | operators::INDEX => {
            let [left, right] = *boxed;
            let (left, right) = (Box::new(left), Box::new(right));
            return Some(match name {
                operators::LOGICAL_AND => Kind::And(left, right),
                operators::LOGICAL_OR => Kind::Or(left, right),
                _ => Kind::Index { operand: left, index: right },
            });
        }
        operators::ADD => Operator::Add,
        operators::DIVIDE => Operator::Divide,
        operators::EQUALS => Operator::Equal,
        operators::GREATER => Operator::Greater,
        operators::GREATER_EQUALS => Operator::GreaterOrEqual,
        operators::IN => Operator::In,
        operators::LESS => Operator::Less,
        operators::LESS_EQUALS => Operator::LessOrEqual,
        operators::MULTIPLY => Operator::Multiply,
        operators::NOT_EQUALS => Operator::NotEqual,
        operators::MODULO => Operator::Remainder,
        operators::SUBSTRACT => Operator::Subtract,
        _ => return None,
    };
    Some(Kind::Binary(operator, boxed))
}
