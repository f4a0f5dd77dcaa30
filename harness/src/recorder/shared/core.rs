//! What all parts of a shared past have: the file, this process's lease, and what waits to be written.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use framegate_guard::decision::Decision;
use framegate_guard::ledger::{LedgerFailure, SessionKey, Snapshot, Step};

use super::HELD_WAIT;
use super::file::{Failed, StateFile};
use super::lease::Lease;
use super::mirror::{About, Mirror};
use super::said::Telling;
use super::turn::Turn;

#[derive(Debug)]
pub(super) struct Core {
    pub(super) key: SessionKey,
    pub(super) about: About,
    /// Nobody else comes into the session; it ends with this process.
    pub(super) is_private: bool,
    /// The last step's.
    pub(super) number: AtomicU64,
    pub(super) held: Mutex<Held>,
    pub(super) later: Mutex<Vec<Later>>,
    /// Ends of calls that are about to be written.
    pub(super) due: Mutex<BTreeSet<u64>>,
    pub(super) telling: Telling,
}

#[derive(Debug)]
pub(super) struct Held {
    pub(super) file: StateFile,
    pub(super) mirror: Mirror,
    pub(super) lease: Option<Lease>,
}

/// What is to be done at the next step, of whatever.
#[derive(Debug, Clone)]
pub(super) enum Later {
    /// A call that was sent without waiting for a decision that was being made.
    Sent(u64, Arc<Decision>),
    /// A call that was not sent after all, while somebody else held the file.
    Undo(u64),
}

impl Core {
    /// Makes a step on what is there now. `held`: this process's turn.
    pub(super) fn turn<T>(
        &self,
        held: &mut Held,
        wait: Duration,
        run: impl FnOnce(&mut Turn<'_>) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        let Held { file, mirror, .. } = held;
        let done = file.begin(wait).and_then(|step| {
            let (mirror, about) = (&mut *mirror, &self.about);
            let mut turn = Turn { step, mirror, about, is_changed: false, writes: false };
            turn.mirror.refresh(&turn.step, turn.about)?;
            // A decision may panic: what the mirror shows by then may never be committed.
            let seen = turn.mirror.doubt();
            let later = self.do_later(&mut turn)?;
            turn.settle_gone(&file.path)?;
            let done = run(&mut turn)?;
            let mirror = turn.commit()?;
            mirror.trust(seen);
            self.later().drain(..later);
            Ok(done)
        });
        // Only what is reserved is to survive a power cut.
        let _ = file.set_lasting(false);
        done
    }

    /// Does what waits; how much that is.
    fn do_later(&self, turn: &mut Turn<'_>) -> Result<usize, Failed> {
        let count = self.later().len();
        for at in 0..count {
            match self.later().get(at).cloned() {
                Some(Later::Sent(number, decision)) => turn.sent(number, &decision)?,
                Some(Later::Undo(number)) => turn.undo(number)?,
                None => {}
            }
        }
        Ok(count)
    }

    /// What waits is done, if anything does.
    pub(super) fn catch_up(&self) -> Result<(), Failed> {
        if self.later().is_empty() {
            return Ok(());
        }
        self.turn(&mut self.held(), HELD_WAIT, |_| Ok(()))
    }

    pub(super) fn next(&self) -> u64 {
        self.number.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn try_held(&self) -> Option<MutexGuard<'_, Held>> {
        match self.held.try_lock() {
            Ok(held) => Some(held),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    pub(super) fn due(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn later(&self) -> MutexGuard<'_, Vec<Later>> {
        self.later.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn failure(&self, why: Failed) -> LedgerFailure {
        let name = &self.key.name;
        LedgerFailure(match why {
            Failed::Held => format!(
                "another process has held what the session `{name}` remembers for more than {} ms; try again, or end it",
                HELD_WAIT.as_millis()
            ),
            Failed::Other(why) => format!("what the session `{name}` remembers cannot be used: {why}"),
        })
    }

    /// Decides with the file held.
    pub(super) fn decide(
        &self,
        held: &mut Held,
        wait: Duration,
        decide: &mut dyn FnMut(&Snapshot<'_>) -> Step,
    ) -> Result<(u64, Step), Failed> {
        held.file.set_lasting(true)?;
        self.turn(held, wait, |turn| {
            let step = decide(&Snapshot::of(&turn.mirror.past));
            self.make(turn, step)
        })
    }

    pub(super) fn make(&self, turn: &mut Turn<'_>, step: Step) -> Result<(u64, Step), Failed> {
        let number = self.next();
        if step.is_sent {
            turn.sent(number, &step.decision)?;
        }
        Ok((number, step))
    }
}
