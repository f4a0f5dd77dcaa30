//! The evaluator against a naive one that walks the random tree itself, undecided values included.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_traits::{Signed as _, Zero as _};
use proptest::prelude::*;

use super::random::{Expr, TEXTS, bools, source};
use crate::praxiom::Dialect;
use crate::praxiom::lower::{Scope, compile};
use crate::praxiom::program::{Env, Truth};
use crate::praxiom::value::{Kept, Sort, Text, Value, Why};

/// `None` is undecided.
#[derive(Debug, Clone, PartialEq)]
enum Naive {
    Bool(Option<bool>),
    Int(Option<BigInt>),
    Str(Option<String>),
}

struct Call {
    x: i64,
    n: i64,
    b: bool,
    s: String,
    t: String,
}

const PAYLOAD: &str = "{\"s\": \"a\"}";
const TOOL: &str = "t__ab";

impl Call {
    fn value(&self, expr: &Expr) -> Naive {
        match expr {
            Expr::Bool(value) => Naive::Bool(Some(*value)),
            Expr::Int(value) => Naive::Int(Some((*value).into())),
            Expr::Str(text) => Naive::Str(Some((*text).to_owned())),
            Expr::Name("x") => Naive::Int(Some(self.x.into())),
            Expr::Name("n") => Naive::Int(Some(self.n.into())),
            Expr::Name("b") => Naive::Bool(Some(self.b)),
            Expr::Name("s") => Naive::Str(Some(self.s.clone())),
            Expr::Name("t") => Naive::Str(Some(self.t.clone())),
            Expr::Name("payload") => Naive::Str(Some(PAYLOAD.to_owned())),
            Expr::Name(_) => Naive::Str(Some(TOOL.to_owned())),
            Expr::Not(a) => Naive::Bool(self.truth(a).map(|a| !a)),
            Expr::Neg(a) => Naive::Int(self.number(a).map(|a| -a)),
            Expr::And(all) => Naive::Bool(every(all.iter().map(|a| self.truth(a)))),
            Expr::Or(all) => {
                let none = every(all.iter().map(|a| self.truth(a).map(|a| !a)));
                Naive::Bool(none.map(|none| !none))
            }
            Expr::Arith(op, a, b) => self.arith(op, a, b),
            Expr::Compare(first, rest) => self.chain(first, rest),
            Expr::Call("ite", all) => self.choose(&all[0], &all[1], &all[2]),
            Expr::Call("implies", all) => {
                let broken = and(self.truth(&all[0]), self.truth(&all[1]).map(|b| !b));
                Naive::Bool(broken.map(|broken| !broken))
            }
            Expr::Call(name, all) => {
                let (a, b) = (self.text(&all[0]), self.text(&all[1]));
                let test = |(a, b): (String, String)| match *name {
                    "startswith" => a.starts_with(&b),
                    "endswith" => a.ends_with(&b),
                    _ => a.contains(&b),
                };
                Naive::Bool(a.zip(b).map(test))
            }
            Expr::List(name, a, list) => Naive::Bool(self.text(a).map(|a| match *name {
                "member" => list.contains(&a.as_str()),
                _ => list.iter().any(|text| a.contains(text)),
            })),
        }
    }

    fn truth(&self, expr: &Expr) -> Option<bool> {
        match self.value(expr) {
            Naive::Bool(value) => value,
            other => panic!("{other:?}"),
        }
    }

    fn number(&self, expr: &Expr) -> Option<BigInt> {
        match self.value(expr) {
            Naive::Bool(value) => value.map(|value| i64::from(value).into()),
            Naive::Int(value) => value,
            Naive::Str(_) => panic!("a text"),
        }
    }

    fn text(&self, expr: &Expr) -> Option<String> {
        match self.value(expr) {
            Naive::Str(value) => value,
            other => panic!("{other:?}"),
        }
    }

    fn arith(&self, op: &str, a: &Expr, b: &Expr) -> Naive {
        if let (Naive::Str(a), Naive::Str(b)) = (self.value(a), self.value(b)) {
            return Naive::Str(a.zip(b).map(|(a, b)| a + &b));
        }
        let (Some(a), Some(b)) = (self.number(a), self.number(b)) else { return Naive::Int(None) };
        let remainder = |a: &BigInt, b: &BigInt| (a % b + b.abs()) % b.abs();
        Naive::Int(match op {
            "+" => Some(a + b),
            "-" => Some(a - b),
            "*" => Some(a * b),
            _ if b.is_zero() => None,
            "//" => Some((&a - remainder(&a, &b)) / &b),
            _ => Some(remainder(&a, &b)),
        })
    }

    fn chain(&self, first: &Expr, rest: &[(&str, Expr)]) -> Naive {
        let mut all = Some(true);
        let mut left = first;
        for (op, right) in rest {
            let order = match (self.value(left), self.value(right)) {
                (Naive::Str(a), Naive::Str(b)) => a.zip(b).map(|(a, b)| a.chars().cmp(b.chars())),
                (Naive::Bool(a), Naive::Bool(b)) => a.zip(b).map(|(a, b)| a.cmp(&b)),
                _ => self.number(left).zip(self.number(right)).map(|(a, b)| a.cmp(&b)),
            };
            let holds = order.map(|order| match *op {
                "<" => order.is_lt(),
                "<=" => order.is_le(),
                ">" => order.is_gt(),
                ">=" => order.is_ge(),
                "==" => order.is_eq(),
                _ => order.is_ne(),
            });
            all = and(all, holds);
            left = right;
        }
        Naive::Bool(all)
    }

    fn choose(&self, condition: &Expr, a: &Expr, b: &Expr) -> Naive {
        let (a, b) = (self.value(a), self.value(b));
        match self.truth(condition) {
            Some(true) => a,
            Some(false) => b,
            None => match a {
                Naive::Bool(value) => Naive::Bool(value.filter(|_| Naive::Bool(value) == b)),
                Naive::Int(value) if Naive::Int(value.clone()) == b => Naive::Int(value),
                Naive::Int(_) => Naive::Int(None),
                Naive::Str(value) if Naive::Str(value.clone()) == b => Naive::Str(value),
                Naive::Str(_) => Naive::Str(None),
            },
        }
    }
}

fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn every(all: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut so_far = Some(true);
    for one in all {
        so_far = and(so_far, one);
    }
    so_far
}

type Named = Vec<(String, Sort)>;

/// The variables and arguments of every random expression.
pub(super) fn names() -> (Named, Named) {
    let named = |name: &str, sort| (name.to_owned(), sort);
    let variables = vec![named("x", Sort::Int), named("b", Sort::Bool), named("s", Sort::Str)];
    (variables, vec![named("n", Sort::Int), named("t", Sort::Str)])
}

/// What our evaluator says.
pub(super) fn ours(source: &str, state: &[Kept], arguments: &[Kept]) -> Truth {
    let (variables, declared) = names();
    let scope = Scope {
        variables: &variables,
        arguments: &declared,
        context: true,
        result: false,
        patterns: &BTreeMap::new(),
        dialect: Dialect::Safe,
    };
    let (program, sort) = compile(source, &scope).unwrap_or_else(|fault| panic!("{source}: {fault:?}"));
    assert_eq!(sort, Sort::Bool, "{source}");
    program.truth(&Env {
        state,
        in_flight: &[],
        arguments,
        payload: Value::Str(Text::Borrowed(PAYLOAD)),
        tool: TOOL,
        upstream: "t",
        result: Value::Unknown(Why::TooLong),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_evaluator_agrees_with_a_naive_one(
        expr in bools(3, true),
        x in -3_i64..4,
        n in -3_i64..4,
        b: bool,
        s in prop::sample::select(TEXTS.to_vec()),
        t in prop::sample::select(TEXTS.to_vec()),
    ) {
        let source = source(&expr, 0);
        let call = Call { x, n, b, s: s.to_owned(), t: t.to_owned() };
        let state = [Kept::Int(x.into()), Kept::Bool(b), Kept::Str(s.into())];
        let ours = ours(&source, &state, &[Kept::Int(n.into()), Kept::Str(t.into())]);
        let naive = call.truth(&expr);
        let ours = match ours {
            Truth::True => Some(true),
            Truth::False => Some(false),
            Truth::Undecided(_) => None,
        };
        prop_assert_eq!(ours, naive, "{}", source);
    }
}
