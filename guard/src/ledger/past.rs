//! What is remembered of a session between its calls.

mod kept;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{Ended, Settled, StateNote};
use crate::decision::Decision;
use crate::proposal::CallKey;
use crate::state::{Effects, Kept, Noted};

pub use kept::Part;

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
}

/// What a call does to what is remembered: at once when it is sent, and when its answer is in. The ledger applies it.
#[derive(Debug)]
pub enum Transition {
    /// Of a policy with state.
    Native(Arc<Effects>),
}

impl Transition {
    /// Whether it depends on what the call's answer says.
    #[must_use]
    pub fn reads_answer(&self) -> bool {
        match self {
            Transition::Native(effects) => !effects.after.is_empty(),
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
    fn apply(&mut self, sequence: u64, transition: &Transition) {
        if matches!(self, Remembered::Nothing) {
            *self = match transition {
                Transition::Native(_) => Remembered::Native(Kept::default()),
            };
        }
        if let (Remembered::Native(kept), Transition::Native(effects)) = (self, transition) {
            kept.sent(sequence, effects);
        }
    }

    fn settle(&mut self, sequence: u64, transition: &Transition, ended: &Ended<'_>) -> Option<StateNote> {
        match (self, transition) {
            (Remembered::Native(kept), Transition::Native(_)) => kept.settle(sequence, ended),
            _ => None,
        }
    }

    fn undo(&mut self, sequence: u64, transition: &Transition) {
        if let (Remembered::Native(kept), Transition::Native(_)) = (self, transition) {
            kept.undo(sequence);
        }
    }
}
