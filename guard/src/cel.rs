//! Conditions of a policy: CEL, with exact numbers and a budget.
//!
//! The grammar and the syntax tree are those of the crate `cel`; the type check and the evaluation are ours.
//! An [`Expression`] is checked once against a [`Scope`] (every problem is reported, with its place) and then
//! evaluated as often as one likes against an [`Env`]. Evaluation borrows from the call's arguments, asks
//! nothing but the [`Env`], and ends: it has a [`Budget`] of steps.
//!
//! Where it differs from the CEL specification, it does so on purpose:
//! - There is one kind of number, exact ([`crate::decimal`]): `1 == 1.0`, `0.1 + 0.2 == 0.3`, `5 / 2 == 2.5`.
//! - Maps have string keys. There are no bytes, messages and optional values.
//! - Comparing two types that can never be equal is a problem at compile time (and `false` at run time).
//!
//! ```
//! use framegate_guard::cel::{Budget, Env, Expression, Scope, Type, Value};
//! use framegate_guard::world::{NoWorld, World};
//!
//! struct Call;
//! impl Env for Call {
//!     fn variable(&self, name: &str) -> Option<Value<'_>> {
//!         (name == "amount").then(|| Value::from(40))
//!     }
//!     fn world(&self) -> &dyn World {
//!         &NoWorld
//!     }
//! }
//!
//! let scope = Scope::new().with("amount", Type::Number);
//! let rule = Expression::compile("amount * 1.1 <= 44", &scope).unwrap();
//! assert_eq!(rule.evaluate(&Call, &mut Budget::default()).unwrap().as_bool(), Some(true));
//!
//! let problems = Expression::compile("amuont > '40'", &scope).unwrap_err();
//! assert_eq!(problems[0].message, "unknown variable `amuont`");
//! assert_eq!(problems[0].hint.as_deref(), Some("did you mean `amount`?"));
//! ```

mod budget;
mod check;
mod eval;
mod functions;
mod fuzz;
mod lower;
mod memo;
mod operators;
mod reads;
mod scan;
pub(crate) mod tree;
mod types;
mod value;

use crate::world::World;
use std::fmt;
use std::ops::Range;

pub use budget::Budget;
pub use functions::{Function, GROUPS, functions};
#[doc(hidden)]
pub use fuzz::fuzz;
pub(crate) use memo::Memo;
pub use reads::Reads;
pub use types::{Field, Object, Scope, Type};
pub use value::Value;

/// The longest source of one expression, in bytes.
pub const SOURCE_BYTES_MAX: usize = 8 * 1024;

/// The deepest nesting of an expression: brackets, and operators that stand in each other.
pub const DEPTH_MAX: usize = 64;

/// Words that are no names: the grammar keeps them for itself (CEL specification, *Syntax*, `RESERVED` and literals).
const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// Whether a word cannot be a name in an expression.
#[must_use]
pub fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Something wrong with an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What.
    pub message: String,
    /// What may have been meant.
    pub hint: Option<String>,
    /// Where: bytes of the source.
    pub span: Range<usize>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

/// Why an evaluation has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What happened.
    pub message: String,
    /// Where: bytes of the source; empty when the place is not known.
    pub span: Range<usize>,
    /// Something was not given or could not be learned, as opposed to an error of the expression.
    pub unknown: bool,
}

impl Failure {
    /// An error; its place is filled in by the evaluation.
    #[must_use]
    pub fn error(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), span: 0..0, unknown: false }
    }

    /// Something that was not given; its place is filled in by the evaluation.
    #[must_use]
    pub fn unknown(message: impl Into<String>) -> Failure {
        Failure { unknown: true, ..Failure::error(message) }
    }

    fn at(mut self, span: &Range<usize>) -> Failure {
        if self.span.is_empty() {
            self.span = span.clone();
        }
        self
    }
}

/// What an evaluation reads: the variables of one call.
pub trait Env {
    /// The variable of that name. [`Value::missing`] stands for one that was declared but not given.
    fn variable(&self, name: &str) -> Option<Value<'_>>;

    /// The member `name` of a variable, for variables that are not built whole: `facts.role`, `defs.amount`.
    /// `None` sends the evaluation to [`Env::variable`].
    fn member(&self, variable: &str, name: &str) -> Option<Value<'_>> {
        let _ = (variable, name);
        None
    }

    /// The expression that a member of a variable stands for, where it is one: `defs.amount`. Asked before
    /// [`Env::member`]; it is evaluated within the budget of whoever reads it.
    fn expression(&self, variable: &str, name: &str) -> Option<&Expression> {
        let _ = (variable, name);
        None
    }

    /// The world this decision may ask.
    fn world(&self) -> &dyn World;

    /// The arguments with the schema's defaults filled in, for `with_defaults(args)`.
    ///
    /// # Errors
    /// [`Failure`] when there is no schema.
    fn with_defaults<'a>(&'a self, arguments: Value<'a>) -> Result<Value<'a>, Failure> {
        let _ = arguments;
        Err(Failure::unknown("the tool's schema is not known, so its defaults are not"))
    }

    /// What a long-lived program says of the call.
    ///
    /// # Errors
    /// [`Failure`] where it says nothing that counts.
    fn ask_program(&self, name: &str) -> Result<bool, Failure> {
        Err(Failure::unknown(format!("no program can be asked here, so what `{name}` says is not known")))
    }
}

/// A checked expression.
#[derive(Debug, Clone)]
pub struct Expression {
    source: String,
    root: tree::Node,
    result: Type,
    reads: Reads,
}

impl Expression {
    /// Reads and checks an expression.
    ///
    /// # Errors
    /// All problems that were found, in the order of their places.
    pub fn compile(source: &str, scope: &Scope) -> Result<Expression, Vec<Problem>> {
        let lowered = lower::lower(source, scope)?;
        let mut problems = lowered.problems;
        let result = check::check(&lowered.root, scope, &mut problems);
        if problems.is_empty() {
            let reads = reads::reads(&lowered.root, &lowered.constants);
            return Ok(Expression { source: source.to_owned(), root: lowered.root, result, reads });
        }
        problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
        Err(problems)
    }

    /// Its tree, for those that read it otherwise than by its value.
    pub(crate) fn root(&self) -> &tree::Node {
        &self.root
    }

    /// As it was written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The type of its value, as far as it is known.
    #[must_use]
    pub fn result(&self) -> &Type {
        &self.result
    }

    /// What it reads.
    #[must_use]
    pub fn reads(&self) -> &Reads {
        &self.reads
    }

    /// Its value.
    ///
    /// # Errors
    /// [`Failure`]: an error of the expression, something unknown, or an exhausted budget.
    pub fn evaluate<'a>(&'a self, env: &'a dyn Env, budget: &mut Budget) -> Result<Value<'a>, Failure> {
        self.evaluate_knowing(env, budget, &mut Memo::default())
    }

    /// Its value, where definitions may have been evaluated before, in the same `env`.
    pub(crate) fn evaluate_knowing<'a>(
        &'a self,
        env: &'a dyn Env,
        budget: &mut Budget,
        memo: &mut Memo<'a>,
    ) -> Result<Value<'a>, Failure> {
        eval::evaluate(self, env, budget, memo)
    }
}

#[cfg(test)]
mod tests;
