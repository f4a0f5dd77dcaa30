//! How calls end: what counts as made, and what the session keeps of it.

use std::sync::Arc;

use super::{Agent, RecordError, Stage};
use crate::decision::Outcome;
use crate::ledger::{Receipt, Settled, Step};
use crate::messages::Message;
use crate::proposal::CallKey;

impl Agent {
    /// Something was said.
    pub fn hear(&mut self, message: Message) {
        self.session.add(message);
    }

    /// What a call that was made elsewhere gave: its output, or its error as text. Once, and only for a call that
    /// was allowed. A call that failed may be made again.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn record(&mut self, receipt: &Receipt, output: Result<&str, &str>) -> Result<(), RecordError> {
        let how = if output.is_ok() { Settled::Done } else { Settled::Failed };
        self.settle(receipt, how)?;
        self.session.tool_output(&receipt.decision.tool, output.unwrap_or_else(|error| error));
        Ok(())
    }

    /// How a call that was made elsewhere ended, where there is nothing to keep of it.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn settle(&mut self, receipt: &Receipt, how: Settled) -> Result<(), RecordError> {
        if receipt.decision.outcome != Outcome::Allow {
            return Err(RecordError::NotAllowed(receipt.decision.outcome));
        }
        let is_checked =
            self.open.get(&receipt.sequence).is_some_and(|open| matches!(open.stage, Stage::Checked));
        if !is_checked {
            return self.end(receipt, how);
        }
        self.take(receipt, |_| true).ok_or(RecordError::Ended)?;
        // It was made without a step of its own: it gets one now.
        let decision = &receipt.decision;
        let made = self.ledger.step(&self.key, &mut |_| Step {
            decision: Arc::clone(decision),
            is_sent: true,
            record: None,
        })?;
        let made = made.wait()?;
        self.count(decision.call);
        self.ended(decision.call, how);
        Ok(self.ledger.settle(&self.key, made.sequence, how)?)
    }

    pub(super) fn end(&mut self, receipt: &Receipt, how: Settled) -> Result<(), RecordError> {
        self.take(receipt, |stage| matches!(stage, Stage::Sent(_))).ok_or(RecordError::Ended)?;
        self.ended(receipt.decision.call, how);
        Ok(self.ledger.settle(&self.key, receipt.sequence, how)?)
    }

    fn ended(&mut self, call: CallKey, how: Settled) {
        if how != Settled::Failed {
            return;
        }
        let left = self.sent.get(&call).map_or(0, |count| count.saturating_sub(1));
        self.sent.insert(call, left);
        if left == 0 {
            self.sent.remove(&call);
            self.session.forget_made(&call);
        }
    }
}
