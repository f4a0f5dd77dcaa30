//! Random expressions of a type, written with as few brackets as Python's precedence allows.

use proptest::prelude::*;

#[derive(Debug, Clone)]
pub(super) enum Expr {
    And(Vec<Expr>),
    Arith(&'static str, Box<Expr>, Box<Expr>),
    Bool(bool),
    Call(&'static str, Vec<Expr>),
    Compare(Box<Expr>, Vec<(&'static str, Expr)>),
    Int(i64),
    List(&'static str, Box<Expr>, Vec<&'static str>),
    Name(&'static str),
    Neg(Box<Expr>),
    Not(Box<Expr>),
    Or(Vec<Expr>),
    Str(&'static str),
}

pub(super) const TEXTS: [&str; 6] = ["", "a", "ab", "é漢", "it's \"q\"\\", "b\n\u{1f600}"];

const ORDERS: [&str; 6] = ["<", "<=", ">", ">=", "==", "!="];

fn boxed(strategy: impl Strategy<Value = Expr> + 'static) -> BoxedStrategy<Expr> {
    strategy.boxed()
}

/// `divide`: also `//` and `%`. Conditions beside numbers occur.
pub(super) fn ints(depth: u32, divide: bool) -> BoxedStrategy<Expr> {
    let leaf = prop_oneof![
        (-9_i64..10).prop_map(|n| if n < 0 { Expr::Neg(Box::new(Expr::Int(-n))) } else { Expr::Int(n) }),
        prop::sample::select(vec!["x", "n"]).prop_map(Expr::Name)
    ];
    if depth == 0 {
        return boxed(leaf);
    }
    let ops: Vec<&'static str> = if divide { vec!["+", "-", "*", "//", "%"] } else { vec!["+", "-", "*"] };
    let arith = (prop::sample::select(ops), ints(depth - 1, divide), ints(depth - 1, divide));
    let mixed =
        (prop::sample::select(vec!["+", "*", "-"]), bools(depth - 1, divide), ints(depth - 1, divide));
    let choose = (bools(depth - 1, divide), ints(depth - 1, divide), ints(depth - 1, divide));
    boxed(prop_oneof![
        1 => leaf,
        3 => arith.prop_map(|(op, a, b)| Expr::Arith(op, Box::new(a), Box::new(b))),
        1 => mixed.prop_map(|(op, a, b)| Expr::Arith(op, Box::new(a), Box::new(b))),
        1 => ints(depth - 1, divide).prop_map(|a| Expr::Neg(Box::new(a))),
        1 => choose.prop_map(|(c, a, b)| Expr::Call("ite", vec![c, a, b])),
    ])
}

pub(super) fn strings(depth: u32, divide: bool) -> BoxedStrategy<Expr> {
    let leaf = prop_oneof![
        prop::sample::select(TEXTS.to_vec()).prop_map(Expr::Str),
        prop::sample::select(vec!["s", "t", "payload", "tool"]).prop_map(Expr::Name)
    ];
    if depth == 0 {
        return boxed(leaf);
    }
    let joined = (strings(depth - 1, divide), strings(depth - 1, divide));
    let choose = (bools(depth - 1, divide), strings(depth - 1, divide), strings(depth - 1, divide));
    boxed(prop_oneof![
        2 => leaf,
        2 => joined.prop_map(|(a, b)| Expr::Arith("+", Box::new(a), Box::new(b))),
        1 => choose.prop_map(|(c, a, b)| Expr::Call("ite", vec![c, a, b])),
    ])
}

pub(super) fn bools(depth: u32, divide: bool) -> BoxedStrategy<Expr> {
    let leaf = prop_oneof![any::<bool>().prop_map(Expr::Bool), Just(Expr::Name("b"))];
    if depth == 0 {
        return boxed(leaf);
    }
    let some = move || prop::collection::vec(bools(depth - 1, divide), 2..4);
    let chain = move |of: fn(u32, bool) -> BoxedStrategy<Expr>| {
        let rest =
            prop::collection::vec((prop::sample::select(ORDERS.to_vec()), of(depth - 1, divide)), 1..3);
        (of(depth - 1, divide), rest).prop_map(|(first, rest)| Expr::Compare(Box::new(first), rest))
    };
    let equal = (prop::sample::select(vec!["==", "!="]), bools(depth - 1, divide), bools(depth - 1, divide));
    let names = vec!["startswith", "endswith", "contains"];
    let search = (prop::sample::select(names), strings(depth - 1, divide), strings(depth - 1, divide));
    let listed = (
        prop::sample::select(vec!["matches", "member"]),
        strings(depth - 1, divide),
        prop::collection::vec(prop::sample::select(TEXTS.to_vec()), 1..4),
    );
    boxed(prop_oneof![
        1 => leaf,
        2 => some().prop_map(Expr::And),
        2 => some().prop_map(Expr::Or),
        1 => bools(depth - 1, divide).prop_map(|a| Expr::Not(Box::new(a))),
        2 => chain(ints),
        1 => chain(strings),
        1 => equal.prop_map(|(op, a, b)| Expr::Compare(Box::new(a), vec![(op, b)])),
        1 => search.prop_map(|(name, a, b)| Expr::Call(name, vec![a, b])),
        1 => listed.prop_map(|(name, a, list)| Expr::List(name, Box::new(a), list)),
        1 => some().prop_map(|all| Expr::Call("implies", all.into_iter().take(2).collect())),
    ])
}

/// How tightly it binds: or, and, not, comparison, sum, product, sign, atom.
fn level(expr: &Expr) -> u8 {
    match expr {
        Expr::Or(_) => 1,
        Expr::And(_) => 2,
        Expr::Not(_) => 3,
        Expr::Compare(..) => 4,
        Expr::Arith("+" | "-", ..) => 5,
        Expr::Arith(..) => 6,
        Expr::Neg(_) => 7,
        _ => 8,
    }
}

pub(super) fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n");
    format!("'{escaped}'")
}

/// The source, bracketed where it binds less tightly than `least`.
pub(super) fn source(expr: &Expr, least: u8) -> String {
    let text = match expr {
        Expr::And(all) => joined(all, " and ", 3),
        Expr::Or(all) => joined(all, " or ", 2),
        Expr::Arith(op, a, b) => {
            let own = level(expr);
            format!("{} {op} {}", source(a, own), source(b, own + 1))
        }
        Expr::Bool(value) => value.to_string(),
        Expr::Call(name, all) => format!("{name}({})", joined(all, ", ", 0)),
        Expr::Compare(first, rest) => {
            let rest: Vec<String> =
                rest.iter().map(|(op, expr)| format!(" {op} {}", source(expr, 5))).collect();
            source(first, 5) + &rest.concat()
        }
        Expr::Int(value) => value.to_string(),
        Expr::List(name, a, list) => {
            let list: Vec<String> = list.iter().map(|text| quoted(text)).collect();
            format!("{name}({}, [{}])", source(a, 0), list.join(", "))
        }
        Expr::Name(name) => (*name).to_owned(),
        Expr::Neg(a) => format!("-{}", source(a, 7)),
        Expr::Not(a) => format!("not {}", source(a, 3)),
        Expr::Str(text) => quoted(text),
    };
    if level(expr) < least { format!("({text})") } else { text }
}

fn joined(all: &[Expr], by: &str, least: u8) -> String {
    all.iter().map(|expr| source(expr, least)).collect::<Vec<_>>().join(by)
}
