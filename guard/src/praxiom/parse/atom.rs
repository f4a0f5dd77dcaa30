//! The tightest parts of an expression: names, literals, calls, and what stands in brackets.

use super::{Parsed, Parser};
use crate::praxiom::ast::{Id, Node};
use crate::praxiom::token::{Fault, Kind};

impl Parser {
    pub(super) fn postfix(&mut self) -> Parsed {
        let mut value = self.atom()?;
        let start = self.span_from(value);
        loop {
            value = match self.op() {
                "(" => self.call(value, start)?,
                "[" => {
                    self.skip_brackets();
                    self.add(Node::Foreign("Subscript"), start)?
                }
                "." => {
                    self.at += 1;
                    if !matches!(self.peek(), Kind::Name(_)) {
                        return Err(self.unexpected());
                    }
                    self.at += 1;
                    self.add(Node::Foreign("Attribute"), start)?
                }
                _ => return Ok(value),
            };
        }
    }

    fn call(&mut self, function: Id, start: usize) -> Parsed {
        self.at += 1;
        let (mut arguments, mut keywords) = (Vec::new(), false);
        while self.op() != ")" {
            let named = matches!(self.peek(), Kind::Name(_));
            if self.op() == "**" {
                self.at += 1;
                keywords = true;
                self.expression()?;
            } else if named && self.assigns() {
                self.at += 2;
                keywords = true;
                self.expression()?;
            } else {
                let from = self.start();
                let mut argument = self.expression()?;
                if matches!(self.keyword(), "for" | "async") {
                    self.skip_to(")")?;
                    argument = self.add(Node::Foreign("GeneratorExp"), from)?;
                }
                arguments.push(argument);
            }
            match self.op() {
                "," => self.at += 1,
                ")" => {}
                _ => return Err(self.unexpected()),
            }
        }
        self.at += 1;
        self.add(Node::Call { function, arguments, keywords }, start)
    }

    /// Whether a `=` follows the name that stands here.
    fn assigns(&self) -> bool {
        matches!(self.tokens.get(self.at + 1).map(|token| &token.kind), Some(Kind::Op("=")))
    }

    fn atom(&mut self) -> Parsed {
        let start = self.start();
        let node = match self.peek().clone() {
            Kind::Name(name) => Node::Name(name),
            Kind::Int(value) => Node::Int(value),
            Kind::Literal("bytes") | Kind::Str(_) | Kind::Formatted => return self.strings(),
            Kind::Literal(kind) => Node::Literal(kind),
            Kind::Keyword("True") => Node::Bool(true),
            Kind::Keyword("False") => Node::Bool(false),
            Kind::Keyword("None") => Node::Literal("NoneType"),
            Kind::Op("...") => Node::Literal("ellipsis"),
            Kind::Op("(") => return self.group(),
            Kind::Op("[") => return self.list(),
            Kind::Op("{") => return self.set(),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        self.add(node, start)
    }

    /// Neighbours are one string.
    fn strings(&mut self) -> Parsed {
        let start = self.start();
        let (mut text, mut bytes, mut formatted, mut plain) = (String::new(), false, false, false);
        loop {
            match self.peek() {
                Kind::Str(part) => {
                    text.push_str(part);
                    plain = true;
                }
                Kind::Literal("bytes") => bytes = true,
                Kind::Formatted => formatted = true,
                _ => break,
            }
            self.at += 1;
        }
        if bytes && (plain || formatted) {
            return Err(Fault::new("cannot mix bytes and nonbytes literals", start..self.end()));
        }
        let node = match (bytes, formatted) {
            (true, _) => Node::Literal("bytes"),
            (_, true) => Node::Foreign("JoinedStr"),
            _ => Node::Str(text),
        };
        self.add(node, start)
    }

    fn group(&mut self) -> Parsed {
        let start = self.start();
        self.at += 1;
        if self.op() == ")" {
            self.at += 1;
            return self.add(Node::List("Tuple", Vec::new()), start);
        }
        if self.keyword() == "yield" {
            self.skip_to(")")?;
            self.at += 1;
            return self.add(Node::Foreign("Yield"), start);
        }
        let value = self.tuple_or_expression()?;
        if matches!(self.keyword(), "for" | "async") {
            self.skip_to(")")?;
            self.at += 1;
            return self.add(Node::Foreign("GeneratorExp"), start);
        }
        self.expect(")")?;
        Ok(value)
    }

    fn list(&mut self) -> Parsed {
        self.sequence("]", "List", "ListComp")
    }

    fn set(&mut self) -> Parsed {
        let start = self.start();
        let next = self.tokens.get(self.at + 1).map(|token| &token.kind);
        if matches!(next, Some(Kind::Op("}" | "**"))) {
            self.skip_brackets();
            return self.add(Node::Foreign("Dict"), start);
        }
        self.sequence("}", "Set", "SetComp")
    }

    fn sequence(&mut self, close: &'static str, name: &'static str, comprehension: &'static str) -> Parsed {
        let start = self.start();
        self.at += 1;
        let mut all = Vec::new();
        while self.op() != close {
            all.push(self.expression()?);
            let foreign = match (self.op(), self.keyword()) {
                (":", _) if name == "Set" && all.len() == 1 => Some("Dict"),
                (_, "for" | "async") if all.len() == 1 => Some(comprehension),
                _ => None,
            };
            if let Some(foreign) = foreign {
                self.skip_to(close)?;
                self.at += 1;
                return self.add(Node::Foreign(foreign), start);
            }
            match self.op() {
                "," => self.at += 1,
                op if op == close => {}
                _ => return Err(self.unexpected()),
            }
        }
        self.at += 1;
        self.add(Node::List(name, all), start)
    }
}
