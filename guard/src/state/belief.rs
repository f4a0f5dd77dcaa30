//! What is known of a variable.

use std::fmt;
use std::sync::Arc;

use super::{Value, Variable};

/// What is known of a variable.
#[derive(Debug, Clone, PartialEq)]
pub enum Belief {
    /// True or false, nobody knows which: a call that may have changed it got no answer.
    Either,
    /// This.
    Known(Value),
    /// Nothing, and why.
    Unknown(Arc<str>),
}

impl Belief {
    /// Nothing, and why.
    #[must_use]
    pub fn unknown(why: impl Into<Arc<str>>) -> Belief {
        Belief::Unknown(why.into())
    }

    /// A value that is there.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        match self {
            Belief::Known(value) => Some(value),
            _ => None,
        }
    }

    /// The same for a variable as it is declared now: a policy that is loaded anew may declare it otherwise.
    pub(super) fn fitted(&self, variable: &Variable) -> Belief {
        let fits = match self {
            Belief::Either => Value::Bool(false).fits(variable.kind),
            Belief::Known(value) => value.fits(variable.kind),
            Belief::Unknown(_) => true,
        };
        if fits {
            return self.clone();
        }
        Belief::unknown(format!(
            "what it holds was made for another type than {}",
            variable.kind.with_article()
        ))
    }
}

impl fmt::Display for Belief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&super::shown(self))
    }
}
