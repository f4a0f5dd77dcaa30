//! Policies of praxiom (0.1 and 0.2), run as they are.
//!
//! A policy is a transition system over a few variables: an *action* covers tools by globs, its `requires` are
//! guards over the state before the call, its `effect` assigns the state after it, *invariants* must hold in that
//! state, and `on_result` assigns once more when the answer is there. The original asks an SMT solver whether a
//! call's formula can be satisfied; since every value is known, evaluating it says the same, in microseconds, and in
//! time linear in the arguments.
//!
//! Everything here is a function of its arguments: no file, no clock, no lock. A decision is
//! [`Praxiom::decide`]`(state, call) -> verdict`, with the next state in the verdict; whoever owns the state makes
//! the step atomic.
//!
//! ```
//! use framegate_guard::praxiom::{Call, Dialect, Praxiom, Verdict};
//!
//! let text = r#"
//! patterns: { secrets: ["/.ssh", "/.env"] }
//! state: { tainted: { type: bool, init: false } }
//! actions:
//!   - { name: read, match: "fs__read*", effect: { tainted: "tainted or matches(payload, secrets)" } }
//!   - { name: send, match: "*__send*", requires: "not tainted" }
//! "#;
//! let policy = Praxiom::load("policy.yaml", text.as_bytes(), Dialect::Safe)?;
//! let arguments = framegate_guard::json::Document::read(r#"{"path":"/work/.env"}"#.into(), &Default::default()).unwrap();
//! let read = Call { tool: "fs__read_file", upstream: "fs", arguments: Some(arguments.root()) };
//! let Verdict::Allow(allowed) = policy.decide(&policy.initial(), &read, &[]) else { panic!() };
//! let send = Call { tool: "mail__send", upstream: "mail", arguments: None };
//! let Verdict::Deny(denied) = policy.decide(&allowed.next, &send, &[]) else { panic!() };
//! assert_eq!(denied.text, "praxiom blocked 'mail__send': fails guard 'send' [state: tainted=True]");
//! # Ok::<(), framegate_guard::policy::PolicyErrors>(())
//! ```
//!
//! # Where it differs from the original
//!
//! Where the original is wrong or unsafe, [`Dialect::Safe`] is the default and [`Dialect::Original`] (`--compat`)
//! gives the original's answer where that is defined.
//!
//! | case | praxiom | here | `--compat` |
//! |---|---|---|---|
//! | zero divisor | any value the solver likes: guards become true, effects commit invented numbers, or it never ends | decided where the value does not matter (`d == 0 or n // d < 5`), else refused with its own reason | the same: there is no answer to give |
//! | `\u{61}` or `\u0061` inside of a value | read as `a`, also on an allow-list | the six characters they are | as praxiom |
//! | characters beyond U+2FFFF | become the text `\u{e0041}` | are characters | as praxiom |
//! | a call whose `on_result` is still due | others do not see it: two calls slip past each other | what depends on the variables it may change is refused until the answer is in | as praxiom |
//! | a cancelled or lost call | its `on_result` is skipped | what it may have changed is unknown, and what reads it refused, until assigned again | as praxiom |
//! | a result's text | the first 65,536 characters | all of it | as praxiom |
//! | blocks that are no text | a Python object's `repr` | JSON | JSON |
//! | variables `x` and `x_next` of one type | one constant: never satisfiable, or wrong | the file is refused | as praxiom |
//! | two guards of one label | an exception at every call | the file is refused | the file is refused |
//! | two failing rules | the solver names one | the first one in order, guards first | the same |
//! | integers of more than 4,300 digits | an exception | refused, wherever a rule reads one or makes one, in between too | the same |
//! | strings of more than 16 MiB | memory runs out far earlier | refused, like zero divisors | the same |
//! | conditions in arithmetic that Python has no operator for (`a < b`, `a - b`, `-a` of conditions) | a traceback | a message | the same |
//! | solver time-outs and memory | quadratic in the arguments, no limit | none | none |
//! | nesting of an expression | 200 brackets, about 480 levels (an exception) | 100 brackets, 128 levels | the same |
//! | an expression, a glob | no limit | 64 KiB, 1,024 characters | the same |
//! | `\N{NAME}` and halves of surrogate pairs in string literals | read | a message | the same |
//! | explicit YAML tags (`!!str 5`) | read | a message | the same |
//! | control characters in the audit line (a server's message) | obeyed: lines can be forged | shown as escapes | the same |
//! | expression and reference errors of a file | the first one | all, each with its place | the same |
//!
//! # Limits
//!
//! | limit | value |
//! |---|---|
//! | a file, its values and nesting | as every policy file: 1 MiB, 100,000, 48 |
//! | an expression | 64 KiB, 100 open brackets, 128 levels |
//! | a glob | 1,024 characters |
//! | an integer | 4,300 digits |
//! | a string that is kept or put together | 16 MiB |
//!
//! # How each construct would look in a native policy file
//!
//! For `framegate import praxiom`; [`to_cel`] does the expressions.
//!
//! | praxiom | native |
//! |---|---|
//! | `default: allow / deny` | `default:` the same |
//! | `patterns: { p: [..] }` | `lists: { p: [..] }`; the only place that reads them is `matches`, `member` |
//! | `state: { x: { type: int / bool / str, init } }` | `state: { x: { type: int / bool / string, init } }`; an `int` there has 64 bits: a policy whose numbers may grow further has to say `decimal` |
//! | `invariants: [{ name, expr }]` | `invariants: [{ name, that }]` |
//! | `match: [globs]` | `tools: [..]`; `[seq]` and `[!seq]` have no native form and are spelled out over the listed tools |
//! | `args: { n: int }` | a rule `has(args.n) && is_int(args.n)` of its own that denies, before the others: absent or ill-typed is a denial also where no guard reads it |
//! | `requires: [a, b]` | one rule each, named `action` or `action#1`, `action#2` |
//! | `effect: { x: e }` | `set: { x: e' }`; where several actions that cover one tool assign `x`, only the last one's assignment is written for that tool: native effects on one variable must be identical |
//! | `on_result: { x: e }` | `after: { x: e' }`, with `result.text` for `result` |
//! | commit, never rolled back | `on_error: keep` |
//! | `payload`, `tool`, `upstream` | `payload`, `tool`, `server` |
//! | `//`, `%` | `div_euclid(a, b)`, `mod_euclid(a, b)`: CEL's `/` is exact here, and its `%` has the dividend's sign |
//! | a condition beside a number | `(c ? 1 : 0)` |
//! | chained comparisons | a conjunction of neighbours |
//! | a zero divisor | an error of the rule, which never allows |
//! | `ite(c, a, b)`, `implies(a, b)` | `c ? a : b`, `!a \|\| b` |
//! | `startswith`, `endswith`, `contains` | `startsWith`, `endsWith`, `contains` |
//! | `matches(s, p)`, `member(s, p)` | `contains_any(s, lists.p)`, `s in lists.p` |

mod answer;
mod ast;
pub mod audit;
mod deny;
mod fuzz;
mod glob;
mod literal;
mod load;
mod lower;
mod machine;
mod parse;
mod payload;
mod program;
mod python;
mod shape;
mod solver;
mod state;
pub mod to_cel;
mod token;
mod value;
mod yaml11;

pub use answer::Observed;
#[doc(hidden)]
pub use fuzz::fuzz;
pub use lower::SOURCE_BYTES_MAX;
pub use machine::{Allowed, Because, Call, Denied, Verdict};
pub use state::{State, StateError};
pub use value::{Sort, TEXT_BYTES_MAX};

/// Whether the original's mistakes are made too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// The same verdicts, except where the original is wrong or unsafe.
    #[default]
    Safe,
    /// The original's verdicts wherever they are defined (`--compat`).
    Original,
}

/// A policy of praxiom, checked wholly when it was read; never changes.
#[derive(Debug)]
pub struct Praxiom {
    dialect: Dialect,
    /// The default is deny.
    deny: bool,
    variables: Vec<(String, Sort)>,
    initial: State,
    invariants: Vec<machine::Invariant>,
    actions: Vec<machine::Action>,
    /// Positions of variables `x` and `x_next` of one type.
    collisions: Vec<(usize, usize)>,
}

impl Praxiom {
    /// Whether a text is a policy of this format, by its top-level keys.
    #[must_use]
    pub fn looks_like(text: &str) -> bool {
        load::looks_like(text)
    }

    /// The variables, in the order declared.
    pub fn variables(&self) -> impl Iterator<Item = (&str, Sort)> {
        self.variables.iter().map(|(name, sort)| (name.as_str(), *sort))
    }

    /// Each action with its globs, in the order declared: for a report of globs that match no tool.
    pub fn globs(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = &str>)> {
        self.actions.iter().map(|action| (action.name.as_str(), action.globs.iter().map(glob::Glob::text)))
    }
}

#[cfg(test)]
mod tests;
