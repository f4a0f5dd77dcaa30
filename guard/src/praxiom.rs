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
//! # How each construct looks in a policy of our own
//!
//! What `framegate import praxiom` writes; [`to_cel`] does the expressions.
//!
//! | praxiom | native |
//! |---|---|
//! | `default: allow / deny` | `default:` the same; with `deny`, tools that an action covers are named under `tools:` |
//! | `patterns: { p: [..] }` | `lists: { p: [..] }`; the only place that reads them is `matches`, `member` |
//! | `state: { x: { type: int / bool / str, init } }` | `state: { x: { type: int / bool / string, init } }`; an `int` there has 64 bits, so what may grow further (it is multiplied, or taken from a call) is a `decimal` |
//! | `invariants: [{ name, expr }]` | `invariants: [{ name, that }]` |
//! | `match: [globs]` | `tools: [server/pattern, ..]`: what is left of a glob once the server's name is taken off; `[seq]` and `[!seq]` are `?` there, and `when:` says the rest |
//! | `args: { n: int }` | a rule `json_type(args, "n") == "int"` of its own: absent or ill-typed is a denial also where no guard reads it |
//! | `requires: [a, b]` | one rule each, named `action` or `action.1`, `action.2` |
//! | `effect: { x: e }` | `set: { x: e' }`; where several actions that may cover one tool assign `x`, one rule says for which tools which assignment wins: effects on one variable must be identical |
//! | `on_result: { x: e }` | `after: { x: e' }`, with `result.text` for `result` |
//! | commit, never rolled back | `on_error: keep`, which is the default |
//! | `payload`, `tool`, `upstream` | `dumps(args)`, `server + "__" + tool`, `server` |
//! | `//`, `%` | `div_euclid(a, b)`, `mod_euclid(a, b)`: CEL's `/` is exact here, and its `%` has the dividend's sign |
//! | a condition beside a number | `(c ? 1 : 0)` |
//! | chained comparisons | a conjunction of neighbours |
//! | a zero divisor | an error of the rule, which never allows |
//! | `ite(c, a, b)`, `implies(a, b)` | `c ? a : b`, `!a \|\| b` |
//! | `startswith`, `endswith`, `contains` | `startsWith`, `endsWith`, `contains` |
//! | `matches(s, p)`, `member(s, p)` | `contains_any(s, lists.p)`, `s in lists.p` |

#![doc = include_str!("../PRAXIOM.md")]

mod answer;
pub(crate) mod ast;
pub mod audit;
mod deny;
mod fuzz;
pub(crate) mod glob;
mod kept;
mod literal;
mod load;
pub(crate) mod lower;
pub(crate) mod machine;
mod native;
mod parse;
mod past;
pub(crate) mod payload;
pub(crate) mod program;
mod python;
mod shape;
mod solver;
mod state;
pub mod to_cel;
mod token;
pub(crate) mod value;
pub(crate) mod yaml11;

use std::ops::Range;
use std::sync::Arc;

pub use answer::Observed;
pub use deny::refusal;
#[doc(hidden)]
pub use fuzz::fuzz;
pub use lower::SOURCE_BYTES_MAX;
pub use machine::{Allowed, Because, Call, Denied, Verdict};
pub(crate) use native::import;
pub use past::{Past, Step, Transition};
pub use state::{State, StateError};
pub use value::{Sort, TEXT_BYTES_MAX};
pub use yaml11::INT_DIGITS_MAX;

/// Whether the original's mistakes are made too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// The same verdicts, except where the original is wrong or unsafe.
    #[default]
    Safe,
    /// The original's verdicts wherever they are defined (`--compat`).
    Original,
}

/// Arguments as the original's rules read them; nothing where a number in them is longer than it reads.
pub(crate) fn payload(arguments: crate::json::Value<'_>) -> Option<String> {
    payload::write(arguments, payload::PAYLOAD)
}

impl Dialect {
    pub(crate) fn named(name: &str) -> Option<Dialect> {
        [Dialect::Safe, Dialect::Original].into_iter().find(|dialect| dialect.name() == name)
    }

    /// Its name in a record.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Safe => "safe",
            Dialect::Original => "original",
        }
    }
}

/// A policy of praxiom, checked wholly when it was read; never changes.
#[derive(Debug)]
pub struct Praxiom {
    pub(crate) dialect: Dialect,
    /// The default is deny.
    pub(crate) deny: bool,
    pub(crate) variables: Arc<[(String, Sort)]>,
    pub(crate) initial: State,
    pub(crate) invariants: Vec<machine::Invariant>,
    pub(crate) actions: Vec<machine::Action>,
    /// By name.
    pub(crate) patterns: std::collections::BTreeMap<String, lower::List>,
    /// Positions of variables `x` and `x_next` of one type.
    collisions: Vec<(usize, usize)>,
}

impl Praxiom {
    /// In which dialect it decides.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Whether a text is a policy of this format, by its top-level keys.
    #[must_use]
    pub fn looks_like(text: &str) -> bool {
        load::looks_like(text)
    }

    /// The variables, in the order declared.
    pub fn variables(&self) -> impl Iterator<Item = (&str, Sort)> {
        self.variables.iter().map(|(name, sort)| (name.as_str(), *sort))
    }

    /// How this format names a tool: the server's name, two underscores, the tool's own.
    #[must_use]
    pub fn prefixed(server: &str, tool: &str) -> String {
        format!("{server}__{tool}")
    }

    /// Names of servers that its globs begin with, in the order of the file; none where they begin with a wildcard.
    #[must_use]
    pub fn servers(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for glob in self.actions.iter().flat_map(|action| &action.globs) {
            let server = glob.text().split_once("__").map(|(server, _)| server);
            let is_name = |name: &&str| !name.is_empty() && !name.contains(['*', '?', '[']);
            if let Some(server) = server.filter(is_name)
                && !names.iter().any(|name| name == server)
            {
                names.push(server.to_owned());
            }
        }
        names
    }

    /// Whether an action could cover a tool whose name begins so.
    #[must_use]
    pub fn may_cover(&self, prefix: &str) -> bool {
        self.actions.iter().flat_map(|action| &action.globs).any(|glob| glob.may_match_after(prefix))
    }

    /// The actions that cover none of these tools, each with the place of its globs in the file.
    pub(crate) fn idle<'p>(&'p self, tools: &'p [String]) -> impl Iterator<Item = (&'p str, Range<usize>)> {
        let covers = |action: &machine::Action| tools.iter().any(|tool| action.covers(tool));
        let idle = self.actions.iter().filter(move |action| !covers(action));
        idle.map(|action| (action.name.as_str(), action.span.clone()))
    }

    /// Each action with its globs, in the order declared: for a report of globs that match no tool.
    pub fn globs(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = &str>)> {
        self.actions.iter().map(|action| (action.name.as_str(), action.globs.iter().map(glob::Glob::text)))
    }
}

#[cfg(test)]
mod tests;
