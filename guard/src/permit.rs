//! Proof that a call was decided and may be made, once.

use std::sync::Arc;

use bytes::Bytes;

use crate::decision::{Decision, Outcome};
use crate::ledger::{Ledger, LedgerFailure, Receipt, SessionKey, Snapshot, Step};
use crate::proposal::CallKey;

/// Takes one step of the ledger; where that sends an allowed call, with the permit for it.
///
/// Nothing else makes permits: a decision may be copied, kept and read again, and is no proof that the call it
/// allows was recorded, or that nobody makes it a second time.
///
/// # Errors
/// [`LedgerFailure`] when the step was not committed: there is no permit then.
pub fn step(
    ledger: &dyn Ledger,
    key: &SessionKey,
    decide: &mut dyn FnMut(&Snapshot<'_>) -> Step,
) -> Result<(Receipt, Option<Permit>), LedgerFailure> {
    let mut sent: Option<Arc<Decision>> = None;
    let receipt = ledger.step(key, &mut |past| {
        let step = decide(past);
        // A ledger that has to try again decides again: the last one is what it commits.
        sent = step.is_sent.then(|| Arc::clone(&step.decision));
        step
    })?;
    let receipt = receipt.wait()?;
    let is_committed = |decision: &Arc<Decision>| {
        Arc::ptr_eq(decision, &receipt.decision) && decision.outcome == Outcome::Allow
    };
    let permit = sent.filter(is_committed).map(|decision| Permit::of(&decision));
    Ok((receipt, permit))
}

/// One allowed call: what was decided on, byte for byte.
///
/// Only a committed step makes one ([`step`]). Whoever runs the call takes the permit by value, so that one step
/// cannot be used for two calls, nor for other arguments than those it was decided on.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an allowed call that nobody makes still counts as raised"]
pub struct Permit {
    tool: String,
    id: Option<String>,
    arguments: Bytes,
    call: CallKey,
}

impl Permit {
    fn of(decision: &Decision) -> Permit {
        let Decision { tool, call_id, arguments, call, .. } = decision;
        Permit { tool: tool.clone(), id: call_id.clone(), arguments: arguments.clone(), call: *call }
    }

    /// As if a step had granted it.
    #[cfg(test)]
    pub(crate) fn untried(tool: &str, arguments: Bytes, call: CallKey) -> Permit {
        Permit { tool: tool.to_owned(), id: None, arguments, call }
    }

    /// The tool, as it was called.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The call's own id, when it came with one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The JSON text of the arguments that were decided on.
    #[must_use]
    pub fn arguments(&self) -> &Bytes {
        &self.arguments
    }

    /// Tool and arguments by value: equal for equal calls however they are written.
    #[must_use]
    pub fn call(&self) -> CallKey {
        self.call
    }

    /// Uses the permit up.
    #[must_use]
    pub fn into_arguments(self) -> Bytes {
        self.arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Effect, Finding, NextStep};
    use crate::json::Document;
    use crate::ledger::{Ended, MemoryLedger, StateNote, Stepped};

    fn decision(effect: Option<Effect>) -> Arc<Decision> {
        let findings = effect.map(|effect| Finding::new("c", effect, NextStep::TellUser, "no"));
        let arguments = Document::empty_object();
        Arc::new(Decision::conclude("pay", Some("7"), arguments.root(), findings.into_iter().collect()))
    }

    /// Says that it committed something else, or that it could not.
    struct Broken(Option<Arc<Decision>>);

    impl Ledger for Broken {
        fn step(
            &self,
            _: &SessionKey,
            decide: &mut dyn FnMut(&Snapshot<'_>) -> Step,
        ) -> Result<Stepped, LedgerFailure> {
            decide(&Snapshot::nothing());
            let decision = self.0.clone().ok_or_else(|| LedgerFailure("full".into()))?;
            Ok(Stepped::Committed(Receipt { sequence: 1, decision, recorded: None }))
        }

        fn settle(&self, _: &SessionKey, _: u64, _: &Ended<'_>) -> Result<Option<StateNote>, LedgerFailure> {
            Ok(None)
        }

        fn undo(&self, _: &SessionKey, _: u64) {}
    }

    #[test]
    fn only_a_committed_step_that_sends_an_allowed_call_grants_a_permit() {
        let key = SessionKey { principal: "p".into(), name: "s".into() };
        let take = |ledger: &dyn Ledger, decision: &Arc<Decision>, is_sent| {
            let decide =
                &mut |_: &Snapshot<'_>| Step { decision: Arc::clone(decision), is_sent, record: None };
            step(ledger, &key, decide)
        };
        let ledger = MemoryLedger::default();
        let (receipt, permit) = take(&ledger, &decision(None), true).unwrap();
        let permit = permit.unwrap();
        assert_eq!((permit.tool(), permit.id(), permit.call()), ("pay", Some("7"), receipt.decision.call));
        assert_eq!(permit.into_arguments(), "{}");
        // A copy of the receipt, or of its decision, is worth nothing: `permit` was the one.
        assert!(take(&ledger, &decision(None), false).unwrap().1.is_none(), "looked at, not sent");
        for effect in [Effect::Unevaluated, Effect::Ask, Effect::Deny] {
            // In monitor mode a call is sent that is not allowed: by nobody's permit.
            assert!(take(&ledger, &decision(Some(effect)), true).unwrap().1.is_none(), "{effect:?}");
        }
        assert!(take(&Broken(None), &decision(None), true).is_err());
        assert!(take(&Broken(Some(decision(None))), &decision(None), true).unwrap().1.is_none());
    }
}
