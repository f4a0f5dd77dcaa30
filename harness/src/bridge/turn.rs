//! Who records a call that takes long to judge: its decision, or the clock. Whoever is first, and nobody else.
//!
//! ```text
//! Open ─┬ the decision is made ──────────► Decided ─┬► its step
//!       ├ it took too long ──────────────► Late     │  a step that says so; the decision writes nothing
//!       └ cancelled, or the client left ─► Left ◄───┘  a step that says that nothing is sent
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const OPEN: u8 = 0;
const DECIDED: u8 = 1;
const LATE: u8 = 2;
const LEFT: u8 = 3;

/// Whose turn it is.
#[derive(Debug, Default)]
pub(super) struct Turn(AtomicU8);

/// What a decision finds when it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It counts.
    Decided,
    /// It took too long, and that is recorded in its place.
    Late,
    /// Nobody waits any more: it is recorded, and nothing is sent.
    Left,
}

impl Turn {
    /// One for which nobody waits.
    pub(super) fn left() -> Arc<Turn> {
        Arc::new(Turn(AtomicU8::new(LEFT)))
    }

    /// The decision is made.
    pub(super) fn decided(&self) -> Standing {
        match self.0.compare_exchange(OPEN, DECIDED, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) | Err(DECIDED) => Standing::Decided,
            Err(LATE) => Standing::Late,
            Err(_) => Standing::Left,
        }
    }

    /// It took too long. Not so where it was made in this very moment.
    pub(super) fn is_late(&self) -> bool {
        self.0.compare_exchange(OPEN, LATE, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Nobody waits for it any more.
    fn leave(&self) {
        let left = |now: u8| (now != LATE).then_some(LEFT);
        // Late already: what is recorded in its place has a turn of its own.
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, left);
    }

    pub(super) fn has_left(&self) -> bool {
        self.0.load(Ordering::Acquire) == LEFT
    }

    pub(super) fn was_late(&self) -> bool {
        self.0.load(Ordering::Acquire) == LATE
    }
}

/// Says, when it goes, that nobody waits for the verdict: the call was cancelled, or the client left.
#[derive(Debug)]
pub(super) struct Waits {
    turn: Arc<Turn>,
    is_over: bool,
}

impl Waits {
    pub(super) fn on(turn: &Arc<Turn>) -> Waits {
        Waits { turn: Arc::clone(turn), is_over: false }
    }

    /// The verdict has come.
    pub(super) fn over(mut self) {
        self.is_over = true;
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        if !self.is_over {
            self.turn.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_recorded_by_its_decision_or_by_the_clock_and_never_by_both() {
        let late = Turn::default();
        assert!(late.is_late());
        assert_eq!(late.decided(), Standing::Late);
        late.leave();
        assert_eq!(late.decided(), Standing::Late);
        let decided = Arc::<Turn>::default();
        assert_eq!(decided.decided(), Standing::Decided);
        assert!(!decided.is_late());
        drop(Waits::on(&decided));
        assert!(decided.has_left(), "nobody sends what was decided");
        let left = Arc::<Turn>::default();
        Waits::on(&left).over();
        assert!(!left.has_left());
        drop(Waits::on(&left));
        assert_eq!((left.decided(), left.is_late()), (Standing::Left, false));
    }
}
