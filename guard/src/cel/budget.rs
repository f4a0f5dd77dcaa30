//! What an evaluation may cost.

use super::Failure;

/// Bytes of built text that count as one step.
const BUILT_BYTES_PER_STEP: usize = 64;

/// Bytes of text that are read for one step: a scan runs at gigabytes a second, building does not.
const READ_BYTES_PER_STEP: usize = 1024;

/// Steps left. Every node that is evaluated, every item that is visited and every piece of text that is built
/// or read costs some.
#[derive(Debug, Clone)]
pub struct Budget {
    left: u64,
    nesting: usize,
}

/// The deepest nesting of a value that is compared or searched, so that the process's stack is never at stake.
pub(super) const NESTING_MAX: usize = 256;

impl Default for Budget {
    fn default() -> Budget {
        Budget::new(Budget::STEPS)
    }
}

impl Budget {
    /// What one expression may take: one rule that runs away leaves something for the others.
    pub const STEPS: u64 = 100_000;

    /// What all rules of one decision may take together, definitions included: rules × definitions × the size of
    /// a call is otherwise a hostile caller's to choose, and the session stands still meanwhile.
    pub const DECISION_STEPS: u64 = 200_000;

    /// A budget of that many steps.
    #[must_use]
    pub fn new(steps: u64) -> Budget {
        Budget { left: steps, nesting: 0 }
    }

    /// Steps left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Takes steps out.
    ///
    /// # Errors
    /// [`Failure`] when there are not as many; then none are left.
    pub fn spend(&mut self, steps: u64) -> Result<(), Failure> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(Failure::error("the expression took more steps than it may"))
            }
        }
    }

    /// Goes one level into a value.
    pub(super) fn deeper<T>(
        &mut self,
        go: impl FnOnce(&mut Budget) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.nesting >= NESTING_MAX {
            return Err(Failure::error(format!("a value is nested deeper than {NESTING_MAX} levels")));
        }
        self.nesting += 1;
        let outcome = go(self);
        self.nesting -= 1;
        outcome
    }

    /// For text that is built.
    pub(super) fn spend_built(&mut self, bytes: usize) -> Result<(), Failure> {
        self.spend(steps(bytes / BUILT_BYTES_PER_STEP))
    }

    /// For text that is read.
    pub(super) fn spend_read(&mut self, bytes: usize) -> Result<(), Failure> {
        self.spend(steps(bytes / READ_BYTES_PER_STEP))
    }

    /// For items that are visited one by one.
    pub(super) fn spend_items(&mut self, items: usize) -> Result<(), Failure> {
        self.spend(steps(items))
    }
}

fn steps(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
