//! What a solver prints: an answer, and values as S-expressions. Its output is a program's like any other; nothing in
//! it is believed further than it can be read, and nesting, length and count are bounded by what was asked.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero as _;

use super::model::Model;
use super::smt::Query;
use super::term::{Sort, Value};

/// Nested brackets in a solver's answer. A value of ours needs five: the list, a pair, `-`, `/`, `-`.
const DEPTH_MAX: usize = 16;

/// What a solver said to a [`Query`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The question can be satisfied, and by what.
    Sat(Vec<Moment>),
    /// It did not come to an answer, in its own words.
    Unknown(String),
    /// It cannot be satisfied.
    Unsat,
}

/// One moment of a sequence: a state, and what happens then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// The variables, as the model has them.
    pub state: Vec<Value>,
    /// The event by its place and the inputs; `None` at the end.
    pub event: Option<(usize, Vec<Value>)>,
}

/// An output that is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the solver's answer cannot be read: {0}")]
pub struct Unreadable(String);

fn unreadable<T>(why: impl Into<String>) -> Result<T, Unreadable> {
    Err(Unreadable(why.into()))
}

impl Query {
    /// Reads what a solver printed for this question.
    ///
    /// # Errors
    /// It is no answer to it.
    pub fn read(&self, model: &Model, output: &str) -> Result<Answer, Unreadable> {
        let output = output.trim();
        let (word, rest) = output.split_once(char::is_whitespace).unwrap_or((output, ""));
        match word {
            // What follows complains that there is no model to show.
            "unsat" => Ok(Answer::Unsat),
            "unknown" => Ok(Answer::Unknown("z3 says `unknown`".to_owned())),
            "timeout" => Ok(Answer::Unknown("z3 ran out of time".to_owned())),
            "(error" if rest.contains("out of memory") => {
                Ok(Answer::Unknown("z3 ran out of memory".to_owned()))
            }
            "sat" => Ok(Answer::Sat(match self.steps {
                Some(steps) => moments(model, steps, rest)?,
                None => Vec::new(),
            })),
            _ => unreadable(format!("`{}`", shortened(output))),
        }
    }
}

fn moments(model: &Model, steps: usize, text: &str) -> Result<Vec<Moment>, Unreadable> {
    // Nothing is asked for where there is nothing but the question.
    if steps == 0 && model.variables.is_empty() {
        return Ok(vec![Moment { state: Vec::new(), event: None }]);
    }
    let Expr::List(pairs) = parse(text)? else { return unreadable("no list of values") };
    let mut values = pairs.iter().map(|pair| match pair {
        Expr::List(pair) => pair.get(1),
        _ => None,
    });
    let mut next = |sort: Sort| match values.next().flatten() {
        Some(expression) => value(expression, sort),
        None => unreadable("a value is missing"),
    };
    let mut moments = Vec::with_capacity(steps + 1);
    for step in 0..=steps {
        let state = model.variables.iter().map(|variable| next(variable.sort));
        let state = state.collect::<Result<_, _>>()?;
        let mut event = None;
        if step < steps {
            let Value::Int(number) = next(Sort::Int)? else { return unreadable("an event is no number") };
            let number = usize::try_from(&number).ok().filter(|number| *number < model.events.len());
            let Some(number) = number else { return unreadable("there is no such event") };
            let inputs = model.inputs.iter().map(|input| next(input.sort));
            event = Some((number, inputs.collect::<Result<_, _>>()?));
        }
        moments.push(Moment { state, event });
    }
    Ok(moments)
}

fn shortened(text: &str) -> String {
    const CHARS: usize = 200;
    text.chars().take(CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[derive(Debug, PartialEq)]
enum Expr {
    Atom(String),
    List(Vec<Expr>),
    Text(String),
}

/// One expression, and nothing behind it.
fn parse(text: &str) -> Result<Expr, Unreadable> {
    let mut open: Vec<Vec<Expr>> = vec![Vec::new()];
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let mut done = None;
        match first {
            '(' if open.len() > DEPTH_MAX => return unreadable("nested too deep"),
            '(' => {
                open.push(Vec::new());
                rest = rest.get(1..).unwrap_or_default();
            }
            ')' => {
                rest = rest.get(1..).unwrap_or_default();
                done = open.pop().map(Expr::List);
                if open.is_empty() {
                    return unreadable("a bracket too many");
                }
            }
            '"' => {
                let (text, taken) = string(rest)?;
                done = Some(Expr::Text(text));
                rest = rest.get(taken..).unwrap_or_default();
            }
            _ => {
                let end = rest.find(|c: char| c.is_whitespace() || "()\"".contains(c)).unwrap_or(rest.len());
                done = rest.get(..end).map(|atom| Expr::Atom(atom.to_owned()));
                rest = rest.get(end..).unwrap_or_default();
            }
        }
        if let (Some(done), Some(inside)) = (done, open.last_mut()) {
            inside.push(done);
        }
        rest = rest.trim_start();
    }
    let mut whole = open.pop().filter(|_| open.is_empty()).unwrap_or_default();
    match (whole.pop(), whole.is_empty()) {
        (Some(only), true) => Ok(only),
        _ => unreadable("it is not one whole expression"),
    }
}

/// A string at the beginning of a text, and its bytes there.
fn string(text: &str) -> Result<(String, usize), Unreadable> {
    let mut out = String::new();
    let mut at = 1;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let Some(c) = rest.chars().next() else { return unreadable("a text without an end") };
        if rest.starts_with("\"\"") {
            out.push('"');
            at += 2;
        } else if c == '"' {
            return Ok((out, at + 1));
        } else if let Some((c, taken)) = escape(rest) {
            out.push(c);
            at += taken;
        } else {
            out.push(c);
            at += c.len_utf8();
        }
    }
}

/// `\u{e9}`, `\u00e9`, and older solvers' `\x0a`. Half of a surrogate pair, which no text of ours has, is a mark that
/// stands for nothing; the model is checked afterwards.
fn escape(rest: &str) -> Option<(char, usize)> {
    let (digits, taken) = if let Some(braced) = rest.strip_prefix("\\u{") {
        let end = braced.find('}')?;
        (braced.get(..end)?, end + 4)
    } else if let Some(four) = rest.strip_prefix("\\u") {
        (four.get(..4)?, 6)
    } else {
        (rest.strip_prefix("\\x")?.get(..2)?, 4)
    };
    let code = u32::from_str_radix(digits, 16).ok()?;
    Some((char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), taken))
}

fn value(expression: &Expr, sort: Sort) -> Result<Value, Unreadable> {
    let found = match (sort, expression) {
        (Sort::Bool, Expr::Atom(word)) if word == "true" || word == "false" => {
            Some(Value::Bool(word == "true"))
        }
        (Sort::Text, Expr::Text(text)) => Some(Value::Text(text.as_str().into())),
        (Sort::Int, expression) => number(expression, DEPTH_MAX)
            .filter(BigRational::is_integer)
            .map(|value| Value::Int(value.to_integer())),
        (Sort::Real, expression) => number(expression, DEPTH_MAX).map(Value::Real),
        _ => None,
    };
    found.ok_or_else(|| Unreadable(format!("`{expression:?}` is no value of that kind")))
}

fn number(expression: &Expr, depth: usize) -> Option<BigRational> {
    let depth = depth.checked_sub(1)?;
    match expression {
        Expr::Atom(digits) => decimal(digits),
        Expr::List(parts) => match parts.as_slice() {
            [Expr::Atom(minus), inner] if minus == "-" => number(inner, depth).map(|value| -value),
            [Expr::Atom(over), left, right] if over == "/" => {
                let (left, right) = (number(left, depth)?, number(right, depth)?);
                (!right.is_zero()).then(|| left / right)
            }
            _ => None,
        },
        Expr::Text(_) => None,
    }
}

fn decimal(digits: &str) -> Option<BigRational> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let over = BigInt::parse_bytes(format!("{whole}{fraction}").as_bytes(), 10)?;
    let under = BigInt::from(10).pow(u32::try_from(fraction.len()).ok()?);
    Some(BigRational::new(over, under))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, sort: Sort) -> Option<Value> {
        parse(text).and_then(|expression| value(&expression, sort)).ok()
    }

    #[test]
    fn values_are_read_as_z3_prints_them() {
        let real = |over: i64, under: i64| Some(Value::Real(BigRational::new(over.into(), under.into())));
        assert_eq!(read("(- (/ 1.0 3.0))", Sort::Real), real(-1, 3));
        assert_eq!(read("0.25", Sort::Real), real(1, 4));
        assert_eq!(read("(- 6)", Sort::Int), Some(Value::Int((-6).into())));
        assert_eq!(read("true", Sort::Bool), Some(Value::Bool(true)));
        let text = read(r#""a""b\u{e9}\u00e9\x41 \y""#, Sort::Text);
        assert_eq!(text, Some(Value::Text("a\"béé\u{41} \\y".into())));
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for (text, sort) in [
            ("(- (/ 1.0 0.0))", Sort::Real),
            ("0.5", Sort::Int),
            ("(_ bv3 4)", Sort::Int),
            ("\"open", Sort::Text),
            ("1 2", Sort::Int),
            (")", Sort::Int),
            ("(", Sort::Int),
            ("", Sort::Int),
            ("yes", Sort::Bool),
            ("é", Sort::Int),
            ("(root-obj (+ (^ x 2) (- 2)) 2)", Sort::Real),
        ] {
            assert_eq!(read(text, sort), None, "{text}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
        assert!(parse(&nested(DEPTH_MAX)).is_ok());
        assert_eq!(parse(&nested(DEPTH_MAX + 1)), unreadable("nested too deep"));
        assert!(parse(&"(".repeat(1_000_000)).is_err());
    }
}
