//! What a call does to the state: at once, and when its answer is in.

use std::sync::Arc;

use super::{AfterCall, Belief, Change, Kind, Machine, Refused, Value, Variable};
use crate::cel::Expression;
use crate::world::Instant;

/// All that one call does to the state.
#[derive(Debug)]
pub struct Effects {
    /// The variables of the policy that decided.
    pub machine: Arc<Machine>,
    /// The tool that is called.
    pub tool: Arc<str>,
    /// What it changes when it is sent, each variable once, a window once an amount.
    pub changed: Vec<Changed>,
    /// What it changes when its answer is in.
    pub after: Vec<After>,
    /// What these read of the call.
    pub(crate) call: Option<AfterCall>,
}

/// One variable that a call changes.
#[derive(Debug, Clone)]
pub struct Changed {
    /// The variable.
    pub variable: Arc<Variable>,
    /// How.
    pub change: Change,
    /// `on_error: undo`: a call that failed takes it back.
    pub is_undone: bool,
}

/// What one rule makes of an answer.
#[derive(Debug, Clone)]
pub struct After {
    /// The rule.
    pub rule: Arc<str>,
    /// The variable.
    pub variable: Arc<Variable>,
    /// What it is to hold.
    pub expression: Arc<Expression>,
    /// What it holds where no answer comes.
    pub lost: Option<Value>,
    /// It is certain that its rule is for this call.
    pub is_certain: bool,
}

impl Effects {
    /// Nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.after.is_empty()
    }
}

impl Changed {
    /// What its variable holds after it.
    pub(crate) fn apply(&self, before: Belief) -> Result<Belief, Refused> {
        self.change.apply(&self.variable, before)
    }

    /// An effect gives this to a variable, at that time.
    pub(crate) fn of(
        variable: &Arc<Variable>,
        belief: Belief,
        now: Option<Instant>,
        is_undone: bool,
    ) -> Changed {
        let change = match (variable.kind, belief, now) {
            (Kind::Window { .. }, Belief::Known(Value::Decimal(amount)), Some(at)) => {
                Change::Entry { at, amount }
            }
            (Kind::Window { .. }, Belief::Unknown(why), Some(at)) => Change::Unclear { at, why },
            (Kind::Window { .. }, Belief::Known(_), _) => {
                Change::To(Belief::unknown("the time of a call was not known"))
            }
            (Kind::Window { .. }, belief, _) => Change::To(belief),
            (_, belief, _) if variable.combine.is_some() => Change::Join(vec![belief]),
            (_, belief, _) => Change::To(belief),
        };
        Changed { variable: Arc::clone(variable), change, is_undone }
    }
}
