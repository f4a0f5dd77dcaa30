//! A step under way: what is read, settled and written within one transaction.

use std::path::Path;

use framegate_guard::decision::Decision;
use framegate_guard::ledger::{Ended, OpenCall, Settled, StateNote};
use rusqlite::Transaction;

use super::file::Failed;
use super::lease;
use super::mirror::{About, Mirror, STEP_BITS};
use super::now_ms;

/// A step under way.
pub(super) struct Turn<'t> {
    pub(super) step: Transaction<'t>,
    pub(super) mirror: &'t mut Mirror,
    pub(super) about: &'t About,
    /// The session is another version from here on.
    pub(super) is_changed: bool,
    /// There is something to commit.
    pub(super) writes: bool,
}

impl<'t> Turn<'t> {
    /// What is written from here on is another version of the session.
    pub(super) fn change(&mut self) -> Result<(), Failed> {
        self.writes = true;
        if !std::mem::replace(&mut self.is_changed, true) {
            self.mirror.next(&self.step, self.about, now_ms())?;
        }
        Ok(())
    }

    pub(super) fn sent(&mut self, number: u64, decision: &Decision) -> Result<(), Failed> {
        self.change()?;
        self.mirror.past.sent(number, decision);
        self.mirror.opened(&self.step, self.about, number)
    }

    pub(super) fn settle(&mut self, number: u64, ended: &Ended<'_>) -> Result<Option<StateNote>, Failed> {
        let open = self.mirror.past.open().get(&number).cloned();
        let Some(OpenCall { call, transition }) = open else { return Ok(None) };
        self.change()?;
        let note = self.mirror.past.settle(number, ended);
        let parts = transition
            .map_or_else(Vec::new, |transition| self.mirror.past.settled_parts(&transition, ended.how));
        // Only of what failed there is one less.
        let call = (ended.how == Settled::Failed).then_some(&call);
        self.mirror.ended(&self.step, self.about, (number, call, &parts))?;
        Ok(note)
    }

    pub(super) fn undo(&mut self, number: u64) -> Result<(), Failed> {
        let open = self.mirror.past.open().get(&number).cloned();
        let Some(OpenCall { call, transition }) = open else { return Ok(()) };
        self.change()?;
        self.mirror.past.undo(number);
        let parts = transition.map_or_else(Vec::new, |transition| self.mirror.past.parts(&transition));
        self.mirror.ended(&self.step, self.about, (number, Some(&call), &parts))
    }

    /// Calls of processes that are gone: nobody knows whether they ran, so they did.
    pub(super) fn settle_gone(&mut self, state: &Path) -> Result<(), Failed> {
        let lease_of = |number: &u64| number >> STEP_BITS;
        let (mut last, mut gone) = (self.about.lease, Vec::new());
        let mut is_gone = false;
        for number in self.mirror.past.open().keys() {
            let lease = lease_of(number);
            if lease == self.about.lease {
                continue;
            }
            // In order, so that each is looked at once.
            if lease != last {
                (last, is_gone) = (lease, lease::is_gone(state, lease));
            }
            if is_gone {
                gone.push(*number);
            }
        }
        for number in gone {
            self.change()?;
            let parts = self.mirror.past.lose(number);
            self.mirror.gone(&self.step, self.about, number, &parts)?;
        }
        Ok(())
    }

    pub(super) fn commit(self) -> Result<&'t mut Mirror, Failed> {
        if self.writes {
            self.step.commit()?;
        }
        Ok(self.mirror)
    }
}
