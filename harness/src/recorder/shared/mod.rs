//! The past of a session that several processes share: `run --session NAME`.
//!
//! ```text
//! wrapper A                        RECORD-state                      wrapper B
//! ─────────                        ────────────                      ─────────
//! Ledger::step ── BEGIN IMMEDIATE ─► what others changed is read
//!                 (their dead: settled as lost)
//!                 decides            what is reserved is written      waits, a moment: else the call is
//!                 COMMIT ──────────► the record's own transaction     decided off its pump's thread
//!                 verdict ◄───────── committed
//! ```
//!
//! * The state is committed before the record. Whoever dies between the two leaves a reservation that counts as made:
//!   a call too many is counted, never one too few.
//! * A process lives as long as it holds its lease ([`lease`]). What one that died had open is settled as lost by
//!   whoever steps next.
//! * The pump's thread waits for nobody for longer than [`MOMENT`]: a step that another process is in the way of is
//!   made on another thread, which waits up to [`HELD_WAIT`]; then the call is refused with that reason. A decision
//!   that may take long is made before the file is held, and made again where something changed meanwhile.
//! * What one hears is told to the others before its client has it ([`said`]).
//! * A session ends when nobody has used it for as long as it is kept; who comes then begins a new one.

mod core;
mod declare;
mod entries;
mod file;
mod join;
mod keeper;
mod lease;
mod mirror;
mod said;
#[cfg(test)]
mod tests;
mod turn;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use framegate_guard::ledger::{Ended, LedgerFailure, Snapshot, StateNote, Step};

use self::core::{Core, Later};
use self::file::Failed;
use self::keeper::Keeper;
use self::said::Reader;
use crate::desk::now_ms;

pub(super) use self::join::Joining;
pub(crate) use self::join::SessionName;

/// How long the pump's thread waits for another process: its step takes tens of microseconds.
const MOMENT: Duration = Duration::from_millis(1);
/// How long other threads wait. Less than a decision may take in all, so that the reason is told.
const HELD_WAIT: Duration = Duration::from_millis(750);
/// How often a long decision is made again because something changed meanwhile. Then it is made with the file held.
const AGAIN_MAX: usize = 2;
/// Steps between two looks at the WAL, of some pages each.
const STEPS_BETWEEN: u64 = 64;

/// The past of one session, as one process shares it.
#[derive(Debug)]
pub(crate) struct SharedPast {
    core: Arc<Core>,
    steps: AtomicU64,
    reader: Mutex<Reader>,
    keeper: Mutex<Option<Keeper>>,
}

impl SharedPast {
    /// A step, and while no other can come between: what its caller makes of it.
    pub(super) fn step_with<T>(
        &self,
        decide: &mut dyn FnMut(&Snapshot<'_>) -> Step,
        then: impl FnOnce(u64, Step) -> T,
    ) -> Result<T, LedgerFailure> {
        let core = &*self.core;
        let mut held = core.held();
        for _ in 0..AGAIN_MAX {
            // The file is let go while it is decided: other processes do not wait for a long decision.
            core.turn(&mut held, HELD_WAIT, |_| Ok(())).map_err(|why| core.failure(why))?;
            let (before, step) = (held.mirror.changes(), decide(&Snapshot::of(&held.mirror.past)));
            held.file.set_lasting(true).map_err(|why| core.failure(why.into()))?;
            let made = core.turn(&mut held, HELD_WAIT, |turn| {
                if turn.mirror.changes() != before {
                    return Ok(None);
                }
                core.make(turn, step).map(Some)
            });
            if let Some((number, step)) = made.map_err(|why| core.failure(why))? {
                return Ok(self.stepped(then(number, step)));
            }
        }
        let made = core.decide(&mut held, HELD_WAIT, decide);
        made.map(|(number, step)| then(number, step)).map_err(|why| core.failure(why))
    }

    /// The same on the pump's thread; nothing where somebody is in the way, or where all that it waits for is.
    pub(super) fn try_step_with<T>(
        &self,
        decide: &mut dyn FnMut(&Snapshot<'_>) -> Step,
        then: impl FnOnce(u64, Step) -> T,
    ) -> Option<Result<T, LedgerFailure>> {
        let core = &*self.core;
        let mut held = core.try_held()?;
        if held.file.is_slow() {
            return None;
        }
        match core.decide(&mut held, MOMENT, decide) {
            Err(Failed::Held) => None,
            Err(why) => Some(Err(core.failure(why))),
            Ok((number, step)) => Some(Ok(self.stepped(then(number, step)))),
        }
    }

    /// A step that reads nothing, and waits for no decision: its number. It counts from the next step on.
    pub(super) fn reserve_apart(&self, step: &Step) -> u64 {
        let number = self.core.next();
        if step.is_sent {
            self.core.later().push(Later::Sent(number, Arc::clone(&step.decision)));
            self.wake();
        }
        number
    }

    /// A sent call ended.
    ///
    /// # Errors
    /// [`LedgerFailure`]: it counts as open for as long as this process lives, and as lost from then on.
    pub(super) fn settle(&self, number: u64, ended: &Ended<'_>) -> Result<Option<StateNote>, LedgerFailure> {
        let core = &*self.core;
        let settled = core.turn(&mut core.held(), HELD_WAIT, |turn| turn.settle(number, ended));
        core.telling.is_told(core.due().remove(&number));
        settled.map_err(|why| core.failure(why))
    }

    /// The same on the pump's thread; nothing where somebody is in the way. Then it is due ([`SharedPast::settle`]), and
    /// the answer waits for it: a model that has the answer may call through another process at once.
    pub(super) fn try_settle(
        &self,
        number: u64,
        ended: &Ended<'_>,
    ) -> Option<Result<Option<StateNote>, LedgerFailure>> {
        let core = &*self.core;
        let tried =
            core.try_held().map(|mut held| core.turn(&mut held, MOMENT, |turn| turn.settle(number, ended)));
        match tried {
            None | Some(Err(Failed::Held)) => {
                if core.due().insert(number) {
                    core.telling.is_due();
                }
                None
            }
            Some(settled) => Some(settled.map_err(|why| core.failure(why))),
        }
    }

    /// A call that was to be sent was not. Where that cannot be written at once it is later: until then it counts.
    pub(super) fn undo(&self, number: u64) {
        let core = &*self.core;
        let undone = core.try_held().map(|mut held| core.turn(&mut held, MOMENT, |turn| turn.undo(number)));
        if !matches!(undone, Some(Ok(()))) {
            core.later().push(Later::Undo(number));
            self.wake();
        }
    }

    fn wake(&self) {
        if let Some(keeper) = &*self.keeper.lock().unwrap_or_else(PoisonError::into_inner) {
            keeper.wake();
        }
    }

    /// Whether other processes may be in the session.
    pub(super) fn is_named(&self) -> bool {
        !self.core.is_private
    }

    /// What was written is worked in now and then.
    fn stepped<T>(&self, done: T) -> T {
        if self.steps.fetch_add(1, Ordering::Relaxed).is_multiple_of(STEPS_BETWEEN) {
            self.wake();
        }
        done
    }

    /// Decides by what is known, and shares nothing of it: for where nothing follows from a decision anyhow.
    pub(super) fn step_unshared(&self, decide: &mut dyn FnMut(&Snapshot<'_>) -> Step) -> (u64, Step) {
        let step = decide(&Snapshot::of(&self.core.held().mirror.past));
        (self.core.next(), step)
    }

    /// Leaves the session.
    pub(super) fn finish(&self) {
        let keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(keeper) = keeper {
            keeper.finish();
        }
        self.core.leave();
    }
}
