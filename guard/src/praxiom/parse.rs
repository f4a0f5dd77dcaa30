//! Python's expression grammar. What a policy may not use is read loosely, so that it can be named.
//!
//! Only brackets recurse, and they are counted ([`super::token::BRACKETS_MAX`]): rows of operators are loops.

mod atom;

use std::ops::Range;

use super::ast::{Binary, Compare, DEPTH_MAX, Id, Node, Tree, Unary};
use super::token::{Fault, Kind, Token, tokens};

/// Reads a source.
pub(crate) fn parse(source: &str) -> Result<(Tree, Id), Fault> {
    let mut parser = Parser { tokens: tokens(source)?, at: 0, tree: Tree::default() };
    let root = parser.tuple_or_expression()?;
    match parser.peek() {
        Kind::End => Ok((parser.tree, root)),
        _ => Err(parser.unexpected()),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    tree: Tree,
}

type Parsed = Result<Id, Fault>;

const END: &Token = &Token { kind: Kind::End, span: 0..0 };

impl Parser {
    fn token(&self) -> &Token {
        self.tokens.get(self.at).or(self.tokens.last()).unwrap_or(END)
    }

    fn peek(&self) -> &Kind {
        &self.token().kind
    }

    fn op(&self) -> &'static str {
        match self.peek() {
            Kind::Op(op) => op,
            _ => "",
        }
    }

    fn keyword(&self) -> &'static str {
        match self.peek() {
            Kind::Keyword(word) => word,
            _ => "",
        }
    }

    fn start(&self) -> usize {
        self.token().span.start
    }

    /// Where the token before ended.
    fn end(&self) -> usize {
        self.tokens.get(self.at.wrapping_sub(1)).map_or(0, |token| token.span.end)
    }

    fn unexpected(&self) -> Fault {
        Fault::new("invalid syntax", self.token().span.clone())
    }

    fn expect(&mut self, op: &str) -> Result<(), Fault> {
        if self.op() != op {
            return Err(self.unexpected());
        }
        self.at += 1;
        Ok(())
    }

    fn add(&mut self, node: Node, start: usize) -> Parsed {
        let span = start..self.end();
        self.add_at(node, span)
    }

    fn add_at(&mut self, node: Node, span: Range<usize>) -> Parsed {
        let deep = || Fault::new(format!("nested deeper than {DEPTH_MAX} levels"), span.clone());
        self.tree.add(node, span.clone()).ok_or_else(deep)
    }

    fn span_from(&self, id: Id) -> usize {
        self.tree.span(id).start
    }

    /// `a, b` is a tuple.
    fn tuple_or_expression(&mut self) -> Parsed {
        let start = self.start();
        let first = self.expression()?;
        if self.op() != "," {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.op() == "," {
            self.at += 1;
            if matches!(self.peek(), Kind::End) || self.op() == ")" {
                break;
            }
            all.push(self.expression()?);
        }
        self.add(Node::List("Tuple", all), start)
    }

    /// Everything but a tuple: lambdas and conditional expressions, whose parts nobody will look at.
    fn expression(&mut self) -> Parsed {
        let start = self.start();
        let mut foreign = None;
        loop {
            while self.keyword() == "lambda" {
                foreign = foreign.or(Some("Lambda"));
                self.skip_to(":")?;
                self.at += 1;
            }
            let star = matches!(self.op(), "*");
            if star {
                foreign = foreign.or(Some("Starred"));
                self.at += 1;
            }
            let value = self.or()?;
            if self.op() == ":=" && matches!(self.tree.node(value), Node::Name(_)) {
                foreign = foreign.or(Some("NamedExpr"));
                self.at += 1;
                continue;
            }
            if self.keyword() != "if" {
                return match foreign {
                    None => Ok(value),
                    Some(name) => self.add(Node::Foreign(name), start),
                };
            }
            foreign = foreign.or(Some("IfExp"));
            self.at += 1;
            self.or()?;
            if self.keyword() != "else" {
                let message = "expected 'else' after 'if' expression";
                return Err(Fault::new(message, self.token().span.clone()));
            }
            self.at += 1;
        }
    }

    fn or(&mut self) -> Parsed {
        let first = self.and()?;
        if self.keyword() != "or" {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.keyword() == "or" {
            self.at += 1;
            all.push(self.and()?);
        }
        let start = self.span_from(first);
        self.add(Node::Or(all), start)
    }

    fn and(&mut self) -> Parsed {
        let first = self.not()?;
        if self.keyword() != "and" {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.keyword() == "and" {
            self.at += 1;
            all.push(self.not()?);
        }
        let start = self.span_from(first);
        self.add(Node::And(all), start)
    }

    fn not(&mut self) -> Parsed {
        let mut starts = Vec::new();
        while self.keyword() == "not" {
            starts.push(self.start());
            self.at += 1;
        }
        let mut value = self.comparison()?;
        while let Some(start) = starts.pop() {
            value = self.add(Node::Unary(Unary::Not, value), start)?;
        }
        Ok(value)
    }

    fn comparison(&mut self) -> Parsed {
        let first = self.binary()?;
        let mut rest = Vec::new();
        while let Some(op) = self.comparator() {
            rest.push((op, self.binary()?));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        let start = self.span_from(first);
        self.add(Node::Compare(first, rest), start)
    }

    fn comparator(&mut self) -> Option<Compare> {
        let next_is = |word: &str| matches!(self.tokens.get(self.at + 1).map(|token| &token.kind), Some(Kind::Keyword(next)) if *next == word);
        let (op, taken) = match (self.op(), self.keyword()) {
            ("==", _) => (Compare::Eq, 1),
            (">=", _) => (Compare::Ge, 1),
            (">", _) => (Compare::Gt, 1),
            ("<=", _) => (Compare::Le, 1),
            ("<", _) => (Compare::Lt, 1),
            ("!=", _) => (Compare::Ne, 1),
            (_, "in") => (Compare::Other("In"), 1),
            (_, "is") if next_is("not") => (Compare::Other("IsNot"), 2),
            (_, "is") => (Compare::Other("Is"), 1),
            (_, "not") if next_is("in") => (Compare::Other("NotIn"), 2),
            _ => return None,
        };
        self.at += taken;
        Some(op)
    }

    /// Arithmetic by precedence, with its own stack.
    fn binary(&mut self) -> Parsed {
        let mut values = vec![self.unary()?];
        let mut pending: Vec<(u8, Binary)> = Vec::new();
        loop {
            let next = operator(self.op());
            let level = next.map_or(0, |(level, _)| level);
            while let Some((_, op)) = pending.pop_if(|(waiting, _)| *waiting >= level) {
                if let (Some(right), Some(left)) = (values.pop(), values.pop()) {
                    let span = self.span_from(left)..self.tree.span(right).end;
                    values.push(self.add_at(Node::Binary(op, left, right), span)?);
                }
            }
            let Some(next) = next else { break };
            self.at += 1;
            pending.push(next);
            values.push(self.unary()?);
        }
        values.pop().ok_or_else(|| self.unexpected())
    }

    fn unary(&mut self) -> Parsed {
        let mut signs = Vec::new();
        loop {
            let sign = match self.op() {
                "-" => Unary::Neg,
                "+" => Unary::Pos,
                "~" => Unary::Invert,
                _ => break,
            };
            signs.push((sign, self.start()));
            self.at += 1;
        }
        let mut value = self.power()?;
        while let Some((sign, start)) = signs.pop() {
            value = self.add(Node::Unary(sign, value), start)?;
        }
        Ok(value)
    }

    /// `a ** b`: refused whatever its operands are, so that they need no tree.
    fn power(&mut self) -> Parsed {
        let base = self.awaited()?;
        if self.op() != "**" {
            return Ok(base);
        }
        while self.op() == "**" {
            self.at += 1;
            while matches!(self.op(), "-" | "+" | "~") {
                self.at += 1;
            }
            self.awaited()?;
        }
        let start = self.span_from(base);
        self.add(Node::Binary(Binary::Other("Pow"), base, base), start)
    }

    fn awaited(&mut self) -> Parsed {
        if self.keyword() != "await" {
            return self.postfix();
        }
        let start = self.start();
        while self.keyword() == "await" {
            self.at += 1;
        }
        self.postfix()?;
        self.add(Node::Foreign("Await"), start)
    }

    /// Goes to the next `op` that stands in no further brackets.
    fn skip_to(&mut self, op: &str) -> Result<(), Fault> {
        let from = self.token().span.clone();
        loop {
            match self.op() {
                found if found == op => return Ok(()),
                "(" | "[" | "{" => self.skip_brackets(),
                ")" | "]" | "}" => return Err(Fault::new("invalid syntax", from)),
                _ if matches!(self.peek(), Kind::End) => return Err(Fault::new("invalid syntax", from)),
                _ => self.at += 1,
            }
        }
    }

    /// Goes behind the bracket that closes the one here; the tokens are balanced.
    fn skip_brackets(&mut self) {
        let mut open = 0_usize;
        while !matches!(self.peek(), Kind::End) {
            match self.op() {
                "(" | "[" | "{" => open += 1,
                ")" | "]" | "}" => open = open.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return;
            }
        }
    }
}

fn operator(op: &str) -> Option<(u8, Binary)> {
    Some(match op {
        "|" => (1, Binary::Other("BitOr")),
        "^" => (2, Binary::Other("BitXor")),
        "&" => (3, Binary::Other("BitAnd")),
        "<<" => (4, Binary::Other("LShift")),
        ">>" => (4, Binary::Other("RShift")),
        "+" => (5, Binary::Add),
        "-" => (5, Binary::Sub),
        "*" => (6, Binary::Mul),
        "/" => (6, Binary::Other("Div")),
        "//" => (6, Binary::Div),
        "%" => (6, Binary::Mod),
        "@" => (6, Binary::Other("MatMult")),
        _ => return None,
    })
}
