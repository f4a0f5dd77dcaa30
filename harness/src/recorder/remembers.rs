//! Where the past of a session is: with this process, or in a file that several share.

use framegate_guard::ledger::{
    Ended, Ledger as _, LedgerFailure, MemoryLedger, SessionKey, Snapshot, StateNote, Step,
};

use super::shared::SharedPast;

/// Who remembers.
#[derive(Debug)]
pub(super) enum Remembers {
    /// This process, for as long as it lives.
    Alone(MemoryLedger),
    /// All processes of one session.
    Shared(SharedPast),
}

impl Remembers {
    /// A step, and while no other can come between: what its caller makes of it.
    pub(super) fn step_with<T>(
        &self,
        key: &SessionKey,
        decide: &mut dyn FnMut(&Snapshot<'_>) -> Step,
        then: impl FnOnce(u64, Step) -> T,
    ) -> Result<T, LedgerFailure> {
        match self {
            Remembers::Alone(memory) => Ok(memory.step_with(key, decide, then)),
            Remembers::Shared(past) => past.step_with(decide, then),
        }
    }

    /// The same without waiting for another process; nothing where one is in the way.
    pub(super) fn try_step_with<T>(
        &self,
        key: &SessionKey,
        decide: &mut dyn FnMut(&Snapshot<'_>) -> Step,
        then: impl FnOnce(u64, Step) -> T,
    ) -> Option<Result<T, LedgerFailure>> {
        match self {
            Remembers::Alone(memory) => Some(Ok(memory.step_with(key, decide, then))),
            Remembers::Shared(past) => past.try_step_with(decide, then),
        }
    }

    /// A step that nobody else sees, by what was known last, where it could not be shared.
    pub(super) fn step_unshared(&self, decide: &mut dyn FnMut(&Snapshot<'_>) -> Step) -> Option<(u64, Step)> {
        match self {
            Remembers::Alone(_) => None,
            Remembers::Shared(past) => Some(past.step_unshared(decide)),
        }
    }

    /// The number of a step that reads nothing of the past.
    pub(super) fn reserve_apart(&self, key: &SessionKey, step: &Step) -> u64 {
        match self {
            Remembers::Alone(memory) => memory.reserve_apart(key, step),
            Remembers::Shared(past) => past.reserve_apart(step),
        }
    }

    /// A sent call ended.
    pub(super) fn settle(
        &self,
        key: &SessionKey,
        sequence: u64,
        ended: &Ended<'_>,
    ) -> Result<Option<StateNote>, LedgerFailure> {
        match self {
            Remembers::Alone(memory) => memory.settle(key, sequence, ended),
            Remembers::Shared(past) => past.settle(sequence, ended),
        }
    }

    /// The same without waiting for another process; nothing where one is in the way.
    pub(super) fn try_settle(
        &self,
        key: &SessionKey,
        sequence: u64,
        ended: &Ended<'_>,
    ) -> Option<Result<Option<StateNote>, LedgerFailure>> {
        match self {
            Remembers::Alone(memory) => Some(memory.settle(key, sequence, ended)),
            Remembers::Shared(past) => past.try_settle(sequence, ended),
        }
    }

    /// A call that was to be sent was not.
    pub(super) fn undo(&self, key: &SessionKey, sequence: u64) {
        match self {
            Remembers::Alone(memory) => memory.undo(key, sequence),
            Remembers::Shared(past) => past.undo(sequence),
        }
    }

    /// The session is over for this process.
    pub(super) fn finish(&self) {
        if let Remembers::Shared(past) = self {
            past.finish();
        }
    }
}
