//! An expression of praxiom as CEL, for `framegate import praxiom`.
//!
//! A pure function of the checked expression. Two functions that CEL has not are used where Python has `//` and
//! `%`: `div_euclid` and `mod_euclid` (remainder never negative, an error for a zero divisor); `payload` is
//! `dumps(args)`. What the two
//! languages share means the same: numbers are exact in both, strings are ordered by code point in both.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Dialect;
use super::ast::Compare;
use super::lower::{List, Scope, compile};
use super::program::{Slot, Step};
use super::value::Sort;

/// What an expression may name.
#[derive(Debug, Clone, Copy)]
pub struct Names<'n> {
    /// State variables.
    pub variables: &'n [(String, Sort)],
    /// The action's declared arguments; none for an invariant.
    pub arguments: &'n [(String, Sort)],
    /// Pattern lists.
    pub lists: &'n BTreeMap<String, Vec<String>>,
    /// `payload`, `tool`, `upstream` are in scope: not in an invariant.
    pub context: bool,
    /// `result` is in scope: in an `on_result` only.
    pub result: bool,
}

/// Bytes of the CEL text: a chain of comparisons names its inner terms twice, and chains may nest.
pub const CEL_BYTES_MAX: usize = 64 * 1024;

/// Translates an expression.
///
/// # Errors
/// What is wrong with the expression, or that it becomes too long.
pub fn translate(source: &str, names: &Names<'_>) -> Result<String, String> {
    let mut patterns = BTreeMap::new();
    for (name, items) in names.lists {
        let list = List::new(items.iter().map(String::as_str), Dialect::Safe)?;
        patterns.insert(name.clone(), list.named(name));
    }
    let scope = Scope {
        variables: names.variables,
        arguments: names.arguments,
        context: names.context,
        result: names.result,
        patterns: &patterns,
        dialect: Dialect::Safe,
    };
    let (program, _) = compile(source, &scope).map_err(|fault| fault.message)?;
    let mut texts: Vec<String> = Vec::with_capacity(program.steps().len());
    for step in program.steps() {
        let text = text(step, &texts, names);
        if text.len() > CEL_BYTES_MAX {
            return Err(format!("the CEL text is longer than {CEL_BYTES_MAX} bytes"));
        }
        texts.push(text);
    }
    let whole = texts.pop().unwrap_or_default();
    Ok(unwrapped(&whole).to_owned())
}

/// Without the brackets around all of it.
fn unwrapped(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else { return text };
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for c in inner.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted && depth == 0 => return text,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
    }
    inner
}

fn text(step: &Step, texts: &[String], names: &Names<'_>) -> String {
    let at = |slot: &Slot| texts.get(*slot).map_or("", String::as_str);
    let infix = |op: &str, left: &Slot, right: &Slot| format!("({} {op} {})", at(left), at(right));
    let call = |name: &str, left: &Slot, right: &Slot| format!("{name}({}, {})", at(left), at(right));
    let method =
        |name: &str, left: &Slot, right: &Slot| format!("{}.{name}({})", at(left), unwrapped(at(right)));
    let joined = |all: &[Slot], op: &str| format!("({})", all.iter().map(at).collect::<Vec<_>>().join(op));
    match step {
        Step::Bool(value) => value.to_string(),
        Step::Int(value) => value.to_string(),
        Step::Str(text) => quoted(text),
        Step::Variable(at) => member("state", names.variables.get(*at)),
        Step::Argument(at) => member("args", names.arguments.get(*at)),
        Step::Payload => "dumps(args)".to_owned(),
        // There a tool is called by its server's name too.
        Step::Tool => r#"(server + "__" + tool)"#.to_owned(),
        Step::Upstream => "server".to_owned(),
        Step::Result => "result.text".to_owned(),
        Step::All(all) => joined(all, " && "),
        Step::Any(all) => joined(all, " || "),
        Step::Not(value) => format!("!{}", at(value)),
        Step::Neg(value) => format!("(-{})", at(value)),
        Step::AsInt(value) => format!("({} ? 1 : 0)", at(value)),
        Step::If(condition, then, otherwise) => {
            format!("({} ? {} : {})", at(condition), at(then), at(otherwise))
        }
        Step::Implies(left, right) => format!("(!{} || {})", at(left), at(right)),
        Step::Compare(op, left, right) => infix(op.symbol(), left, right),
        Step::Add(left, right) | Step::Concat(left, right) => infix("+", left, right),
        Step::Sub(left, right) => infix("-", left, right),
        Step::Mul(left, right) => infix("*", left, right),
        Step::Div(left, right) => call("div_euclid", left, right),
        Step::Mod(left, right) => call("mod_euclid", left, right),
        Step::StartsWith(left, right) => method("startsWith", left, right),
        Step::EndsWith(left, right) => method("endsWith", left, right),
        Step::Contains(left, right) => method("contains", left, right),
        // CEL's own does not take an empty text, which stands in every text.
        Step::Matches(_, list) if list.items.iter().any(String::is_empty) => "true".to_owned(),
        Step::Matches(text, list) => format!("contains_any({}, {})", at(text), listed(list)),
        Step::Member(text, list) => format!("({} in {})", at(text), listed(list)),
    }
}

fn member(of: &str, named: Option<&(String, Sort)>) -> String {
    let name = named.map_or("", |(name, _)| name.as_str());
    let word = |c: char| c == '_' || c.is_ascii_alphanumeric();
    if name.chars().all(word)
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !crate::cel::is_reserved(name)
    {
        return format!("{of}.{name}");
    }
    format!("{of}[{}]", quoted(name))
}

fn listed(list: &List) -> String {
    match &list.name {
        Some(name) => member("lists", Some(&(name.to_string(), Sort::Str))),
        None => format!("[{}]", list.items.iter().map(|item| quoted(item)).collect::<Vec<_>>().join(", ")),
    }
}

pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

impl Compare {
    fn symbol(self) -> &'static str {
        match self {
            Compare::Eq => "==",
            Compare::Ge => ">=",
            Compare::Gt => ">",
            Compare::Le => "<=",
            Compare::Lt => "<",
            Compare::Ne | Compare::Other(_) => "!=",
        }
    }
}
