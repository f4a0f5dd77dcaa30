//! What holds for **every** sequence of allowed calls, before one is made.
//!
//! A policy becomes a [`Model`]: variables, and events that change them. [`Lemmas`] finds what holds in every state; a
//! [`Search`] asks, depth by depth, whether a sequence breaks a property, and whether, if none so long does, a longer
//! one could. Its questions are SMT-LIB 2 text
//! and its answers what a solver prints; who runs the solver is none of this crate's business.
//!
//! Where the model is not exact it allows *more* than the guard: a value it knows nothing about is any value. So a
//! proof holds in the guard, while a counter-example may be one of the model alone; [`replay`](praxiom::replay) plays
//! it to the code that decides in earnest, and says so. That cuts both ways: where the model says that a variable is not known
//! the guard has to know it no better, or what it decides by its value is missing here. Each place that was wrong about
//! that is a test in `tests/prove_sound.rs`.
//!
//! What a proof takes for granted: the policy and the listing are not exchanged meanwhile, a call that is allowed is sent,
//! sessions on one store follow each other, the record is not edited, and numbers and texts stay within the guard's
//! limits on their length (beyond which it refuses or asks).
//!
//! ```
//! use framegate_guard::praxiom::{Dialect, Praxiom};
//! use framegate_guard::prove::{Asked, Next, Search, praxiom};
//!
//! let text = r#"
//! state: { tainted: { type: bool, init: false } }
//! actions:
//!   - { name: read, match: "fs__read*", effect: { tainted: "true" } }
//!   - { name: send, match: "mail__send", requires: "not tainted" }
//! "#;
//! let policy = Praxiom::load("policy.yaml", text.as_bytes(), Dialect::Safe)?;
//! let asked = Asked { name: "no leak".into(), never: "tool == 'mail__send' and tainted".into(), after: None };
//! let model = praxiom::model(&policy, None, None, &[asked])?;
//! let search = Search::new(&model, 0, 10);
//! let Next::Ask(query) = search.next() else { panic!() };
//! assert!(query.script.contains("(check-sat)")); // for `z3 -in`; its output goes to `Query::read`
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod counter;
mod evaluate;
mod findings;
mod leaves;
mod lemmas;
mod model;
mod names;
pub mod native;
mod open;
pub mod praxiom;
mod search;
mod smt;
mod term;
mod told;
mod value;

pub use counter::{Answer, Moment, Unreadable};
pub use findings::{Coverage, Suspicion, coverage, findings, suspicions};
pub use lemmas::{Lemmas, guesses};
pub use model::{Event, EventKind, Input, InputKind, Model, Property, Rule, Variable, Watch};
pub(crate) use names::Piece;
pub use search::{Next, Outcome, Search};
pub use smt::Query;
pub use term::{Id, Terms};
pub use told::told;
pub use value::{Sort, Value};

/// What stands for the state of a policy that has no variables.
pub const NO_STATE: &str = "<no state>";

/// A property as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Its name.
    pub name: String,
    /// What may never be true of an allowed call and the state it meets; of an expression that reads the state alone,
    /// of any state.
    pub never: String,
    /// From when on: once this was true of an allowed call.
    pub after: Option<String>,
}

/// Why there is nothing to prove.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ModelError(pub(crate) String);

impl ModelError {
    fn too_many_patterns() -> ModelError {
        let states = names::STATES_MAX;
        ModelError(format!(
            "the patterns of tool names cut names into more parts than can be told apart ({states}); give the \
             server's command, so that its real tools are looked at"
        ))
    }
}

/// What a sequence was when the guard itself decided it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Played {
    /// The events up to the one that went otherwise.
    pub steps: Vec<Step>,
    /// What went otherwise: then the sequence is one of the model alone.
    pub differs: Option<String>,
}

/// An event that was played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its place in the model.
    pub event: usize,
    /// How long after the one before, where that is told.
    pub later: Option<String>,
    /// A call's arguments as JSON; an answer's text.
    pub with: String,
    /// The state after it.
    pub state: String,
}
