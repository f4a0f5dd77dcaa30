//! The ledger: a decision and its record are one step.
//!
//! A check that depends on what happened before (made already, budget spent, approval used) must read, decide
//! and reserve as one transaction, or two calls that come together slip past each other. So nothing decides
//! outside [`Ledger::step`], and a verdict is released only after the step's commit.

use crate::decision::Decision;
use crate::proposal::CallKey;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Whose history a call belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey {
    /// Who: a user, or the one user of a stdio wrapper.
    pub principal: String,
    /// Which session of theirs.
    pub name: String,
}

/// What a decision may read of the past of its session.
#[derive(Debug)]
pub struct Snapshot<'a> {
    past: Option<&'a Past>,
}

impl Snapshot<'_> {
    /// No past.
    #[must_use]
    pub fn nothing() -> Snapshot<'static> {
        Snapshot { past: None }
    }

    /// Whether this very call was sent before and is not known to have failed.
    #[must_use]
    pub fn is_made(&self, call: &CallKey) -> bool {
        self.past.is_some_and(|past| past.made.contains_key(call))
    }
}

#[derive(Debug, Default)]
struct Past {
    /// How many calls with this key were sent and did not fail; never 0.
    made: HashMap<CallKey, u32>,
    /// Calls that have not ended, by the step that sent them.
    open: HashMap<u64, CallKey>,
}

/// What a step adds.
#[derive(Debug, Clone)]
pub struct Step {
    /// The decision.
    pub decision: Arc<Decision>,
    /// The call goes out once the step is committed.
    pub is_sent: bool,
}

/// A committed step.
#[derive(Debug, Clone)]
pub struct Receipt {
    /// Position in the ledger, from 1.
    pub sequence: u64,
    /// What was decided.
    pub decision: Arc<Decision>,
}

/// How a call that was sent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Settled {
    /// A result that is no error.
    Done,
    /// A JSON-RPC error, or a result with `isError`.
    Failed,
    /// Cancelled, or the server left: nobody knows whether it ran.
    Lost,
}

/// The step could not be committed; the call is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the record could not be written: {0}")]
pub struct LedgerFailure(pub String);

/// Decides and records as one transaction.
pub trait Ledger: Send + Sync {
    /// Reads the past of `key`, lets `decide` make a step of it, commits the step.
    ///
    /// # Errors
    /// [`LedgerFailure`] when it could not be committed: nothing may be sent then.
    fn step(
        &self,
        key: &SessionKey,
        decide: &mut dyn FnMut(&Snapshot<'_>) -> Step,
    ) -> Result<Receipt, LedgerFailure>;

    /// A sent call ended.
    ///
    /// # Errors
    /// [`LedgerFailure`].
    fn settle(&self, key: &SessionKey, sequence: u64, how: Settled) -> Result<(), LedgerFailure>;
}

/// A ledger that lives as long as the process.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    sequence: u64,
    past: HashMap<SessionKey, Past>,
}

impl Ledger for MemoryLedger {
    fn step(
        &self,
        key: &SessionKey,
        decide: &mut dyn FnMut(&Snapshot<'_>) -> Step,
    ) -> Result<Receipt, LedgerFailure> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let Step { decision, is_sent } = decide(&Snapshot { past: inner.past.get(key) });
        inner.sequence += 1;
        let sequence = inner.sequence;
        if is_sent {
            let call = decision.call;
            let past = inner.past.entry(key.clone()).or_default();
            *past.made.entry(call).or_default() += 1;
            past.open.insert(sequence, call);
        }
        Ok(Receipt { sequence, decision })
    }

    fn settle(&self, key: &SessionKey, sequence: u64, how: Settled) -> Result<(), LedgerFailure> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(past) = inner.past.get_mut(key) else { return Ok(()) };
        let Some(call) = past.open.remove(&sequence) else { return Ok(()) };
        if how == Settled::Failed
            && let Some(count) = past.made.get_mut(&call)
        {
            *count -= 1;
            if *count == 0 {
                past.made.remove(&call);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    #[test]
    fn a_sent_call_counts_as_made_until_it_is_known_to_have_failed() {
        let ledger = MemoryLedger::default();
        let key = SessionKey { principal: "p".into(), name: "s".into() };
        let decision = Arc::new(Decision::conclude("pay", None, Document::empty_object().root(), Vec::new()));
        let call = CallKey::of("pay", Document::empty_object().root());
        let step = |key: &SessionKey, is_sent| {
            let mut before = false;
            let receipt = ledger.step(key, &mut |past| {
                before = past.is_made(&call);
                Step { decision: Arc::clone(&decision), is_sent }
            });
            (before, receipt.unwrap().sequence)
        };
        assert_eq!(step(&key, false), (false, 1));
        assert_eq!(step(&key, true), (false, 2));
        let (made, second) = step(&key, true);
        assert!(made, "in flight counts");
        ledger.settle(&key, second, Settled::Failed).unwrap();
        ledger.settle(&key, second, Settled::Failed).unwrap();
        assert!(step(&key, false).0, "the first one is still on its way");
        ledger.settle(&key, 2, Settled::Lost).unwrap();
        assert!(step(&key, false).0, "a lost answer proves nothing");
        let other = SessionKey { principal: "p".into(), name: "t".into() };
        assert!(!step(&other, false).0);
    }
}
