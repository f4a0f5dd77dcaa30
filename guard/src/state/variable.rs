//! The variables a policy declares.

use std::fmt;
use std::sync::Arc;

use super::Value;
use crate::cel::Type;

/// What a variable holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`
    Bool,
    /// An exact number.
    Decimal,
    /// A whole number of 64 bits.
    Int,
    /// Strings in their order, at most so many.
    List {
        /// How many.
        max: usize,
    },
    /// Strings, each once, at most so many.
    Set {
        /// How many.
        max: usize,
    },
    /// Text.
    String,
    /// An instant.
    Timestamp,
    /// Amounts with their times; an expression reads the sum of those that are not older than this.
    Window {
        /// Microseconds.
        per_us: i64,
    },
}

impl Kind {
    /// Its type in expressions.
    #[must_use]
    pub fn cel(self) -> Type {
        match self {
            Kind::Bool => Type::Bool,
            Kind::Decimal | Kind::Int | Kind::Window { .. } => Type::Number,
            Kind::List { .. } | Kind::Set { .. } => Type::list(Type::String),
            Kind::String => Type::String,
            Kind::Timestamp => Type::Timestamp,
        }
    }

    /// As a policy writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Bool => "bool",
            Kind::Decimal => "decimal",
            Kind::Int => "int",
            Kind::List { .. } => "list",
            Kind::Set { .. } => "set",
            Kind::String => "string",
            Kind::Timestamp => "timestamp",
            Kind::Window { .. } => "window",
        }
    }
}

impl Kind {
    /// With the article, for sentences.
    #[must_use]
    pub fn with_article(self) -> String {
        let article = if self == Kind::Int { "an" } else { "a" };
        format!("{article} {}", self.name())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::List { max } | Kind::Set { max } => write!(f, "{} of at most {max}", self.name()),
            Kind::Window { per_us } => write!(f, "window of {}", span(*per_us)),
            _ => f.write_str(self.name()),
        }
    }
}

/// A span of time as people write it.
#[must_use]
pub(crate) fn span(micros: i64) -> String {
    const UNITS: [(&str, i64); 4] = [("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)];
    let seconds = micros / 1_000_000;
    for (name, size) in UNITS {
        if seconds >= size && seconds % size == 0 {
            let count = seconds / size;
            return if count == 1 { format!("1 {name}") } else { format!("{count} {name}s") };
        }
    }
    format!("{seconds} seconds")
}

/// How long a variable keeps its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// As long as its session.
    #[default]
    Session,
    /// As long as the store.
    Store,
}

/// What comes of several effects on one variable, and of what it holds already. A variable with one only ever moves
/// one way: calls that are under way at once cannot undo each other's effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// The sum.
    Add,
    /// True where all are.
    And,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// True where any is.
    Or,
    /// All items.
    Union,
}

impl Combine {
    /// All of them.
    pub(crate) const ALL: [Combine; 6] =
        [Combine::Add, Combine::And, Combine::Max, Combine::Min, Combine::Or, Combine::Union];

    /// As a policy writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Combine::Add => "add",
            Combine::And => "and",
            Combine::Max => "max",
            Combine::Min => "min",
            Combine::Or => "or",
            Combine::Union => "union",
        }
    }

    /// Whether it makes sense for such a variable.
    #[must_use]
    pub fn fits(self, kind: Kind) -> bool {
        match self {
            Combine::Add => matches!(kind, Kind::Int | Kind::Decimal | Kind::Window { .. }),
            Combine::And | Combine::Or => kind == Kind::Bool,
            Combine::Max | Combine::Min => matches!(kind, Kind::Int | Kind::Decimal | Kind::Timestamp),
            Combine::Union => matches!(kind, Kind::Set { .. }),
        }
    }
}

/// One entry of `state:`.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Its name: `state.NAME`.
    pub name: Arc<str>,
    /// What it holds.
    pub kind: Kind,
    /// What it holds at first.
    pub init: Value,
    /// How long it keeps that.
    pub scope: Scope,
    /// See [`Combine`]; a window adds.
    pub combine: Option<Combine>,
}

/// All variables of a policy, by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Machine(Vec<Arc<Variable>>);

impl Machine {
    /// These; of two with one name the first.
    #[must_use]
    pub fn new(mut variables: Vec<Variable>) -> Machine {
        variables.sort_by(|a, b| a.name.cmp(&b.name));
        variables.dedup_by(|a, b| a.name == b.name);
        Machine(variables.into_iter().map(Arc::new).collect())
    }

    /// All, by name.
    #[must_use]
    pub fn variables(&self) -> &[Arc<Variable>] {
        &self.0
    }

    /// One of them.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&Arc<Variable>> {
        self.0.get(self.place(name)?)
    }

    /// Its place among all.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.0.binary_search_by(|variable| (*variable.name).cmp(name)).ok()
    }

    /// Whether any of them depends on the time.
    #[must_use]
    pub fn reads_time(&self) -> bool {
        self.0.iter().any(|variable| matches!(variable.kind, Kind::Window { .. }))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
