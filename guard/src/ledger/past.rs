//! What is remembered of a session between its calls.

mod kept;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{Ended, Settled, StateNote};
use crate::decision::Decision;
use crate::praxiom;
use crate::proposal::CallKey;
use crate::state::{Effects, Kept, Noted};

pub use kept::{Part, Rows, parted};

/// What is remembered of a session.
#[derive(Debug, Default)]
pub struct Past {
    /// How many calls with this key were sent and did not fail; never 0.
    made: HashMap<CallKey, u32>,
    /// Calls that have not ended, by the step that sent them.
    open: BTreeMap<u64, OpenCall>,
    remembered: Remembered,
}

/// A call that was sent and has not ended.
#[derive(Debug, Clone)]
pub struct OpenCall {
    /// [`Decision::made_as`].
    pub call: CallKey,
    /// What it does to the state.
    pub transition: Option<Arc<Transition>>,
}

/// What the engine that decides remembers besides.
#[derive(Debug, Default)]
pub enum Remembered {
    /// The state of a policy.
    Native(Kept),
    /// Nothing yet, or its policy has no state.
    #[default]
    Nothing,
    /// The state of a policy of praxiom.
    Praxiom(praxiom::Past),
}

/// What a call does to what is remembered: at once when it is sent, and when its answer is in. The ledger applies it.
#[derive(Debug)]
pub enum Transition {
    /// Of a policy with state.
    Native(Arc<Effects>),
    /// Under a policy of praxiom.
    Praxiom(Arc<praxiom::Transition>),
}

impl Transition {
    /// Whether it depends on what the call's answer says.
    #[must_use]
    pub fn reads_answer(&self) -> bool {
        match self {
            Transition::Native(effects) => !effects.after.is_empty(),
            Transition::Praxiom(transition) => transition.reads_answer(),
        }
    }

    /// Under a policy of praxiom.
    #[must_use]
    pub fn praxiom(&self) -> Option<&praxiom::Transition> {
        match self {
            Transition::Praxiom(transition) => Some(transition),
            Transition::Native(_) => None,
        }
    }
}

impl Past {
    /// What a record says of it: the state that a decision met. Where it says nothing, nothing is known of it.
    #[must_use]
    pub(crate) fn recorded(state: Option<&Noted>) -> Past {
        let seen = state.into_iter().flat_map(|noted| noted.before.iter().cloned());
        Past { remembered: Remembered::Native(Kept::recorded(seen)), ..Past::default() }
    }

    /// The same under a policy of praxiom.
    #[must_use]
    pub(crate) fn recorded_by_praxiom(past: praxiom::Past) -> Past {
        Past { remembered: Remembered::Praxiom(past), ..Past::default() }
    }

    /// Whether this very call was sent and is not known to have failed.
    #[must_use]
    pub fn is_made(&self, call: &CallKey) -> bool {
        self.made.contains_key(call)
    }

    /// What the engine remembers.
    #[must_use]
    pub fn remembered(&self) -> &Remembered {
        &self.remembered
    }

    /// A call goes out.
    pub fn sent(&mut self, sequence: u64, decision: &Decision) {
        *self.made.entry(decision.made_as).or_default() += 1;
        let transition = decision.transition.clone();
        if let Some(transition) = &transition {
            self.remembered.apply(sequence, transition);
        }
        self.open.insert(sequence, OpenCall { call: decision.made_as, transition });
    }

    /// A call ended. An end that was settled before settles nothing.
    pub fn settle(&mut self, sequence: u64, ended: &Ended<'_>) -> Option<StateNote> {
        let open = self.open.remove(&sequence)?;
        if ended.how == Settled::Failed {
            self.forget_made(&open.call);
        }
        self.remembered.settle(sequence, open.transition.as_deref()?, ended)
    }

    /// A call was not sent after all: what it did is taken back.
    pub fn undo(&mut self, sequence: u64) {
        let Some(open) = self.open.remove(&sequence) else { return };
        // What was never sent is known not to have run, as what failed.
        self.forget_made(&open.call);
        if let Some(transition) = &open.transition {
            self.remembered.undo(sequence, transition);
        }
    }

    fn forget_made(&mut self, call: &CallKey) {
        if let Some(count) = self.made.get_mut(call) {
            *count -= 1;
            if *count == 0 {
                self.made.remove(call);
            }
        }
    }
}

impl Remembered {
    /// What is remembered under a policy of praxiom.
    #[must_use]
    pub fn praxiom(&self) -> Option<&praxiom::Past> {
        match self {
            Remembered::Praxiom(past) => Some(past),
            Remembered::Native(_) | Remembered::Nothing => None,
        }
    }

    fn apply(&mut self, sequence: u64, transition: &Transition) {
        match (std::mem::take(self), transition) {
            (Remembered::Native(mut kept), Transition::Native(effects)) => {
                kept.sent(sequence, effects);
                *self = Remembered::Native(kept);
            }
            // A policy of another kind has come: what was remembered under the one before is gone.
            (_, Transition::Native(effects)) => {
                let mut kept = Kept::default();
                kept.sent(sequence, effects);
                *self = Remembered::Native(kept);
            }
            (Remembered::Praxiom(past), Transition::Praxiom(transition)) => {
                *self = Remembered::Praxiom(praxiom::Past::apply(Some(past), sequence, transition));
            }
            (_, Transition::Praxiom(transition)) => {
                *self = Remembered::Praxiom(praxiom::Past::apply(None, sequence, transition));
            }
        }
    }

    fn settle(&mut self, sequence: u64, transition: &Transition, ended: &Ended<'_>) -> Option<StateNote> {
        match (self, transition) {
            (Remembered::Native(kept), Transition::Native(_)) => kept.settle(sequence, ended),
            (Remembered::Praxiom(past), Transition::Praxiom(transition)) => {
                past.settle(sequence, transition, ended)
            }
            _ => None,
        }
    }

    fn undo(&mut self, sequence: u64, transition: &Transition) {
        match (self, transition) {
            (Remembered::Native(kept), Transition::Native(_)) => kept.undo(sequence),
            (Remembered::Praxiom(past), Transition::Praxiom(transition)) => past.undo(sequence, transition),
            _ => {}
        }
    }
}
