//! Why something did not happen.

use crate::decision::Outcome;
use crate::function::CallError;
use crate::ledger::{LedgerFailure, Receipt};

/// Why a call has no result. Its text is for the model, except that of [`Refused::Record`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// It was decided so.
    #[error("{message}")]
    Decided {
        /// The decision; an ask can be resolved by it.
        receipt: Receipt,
        /// What failed and what to do next.
        message: String,
    },
    /// The function has no result.
    #[error(transparent)]
    Function(#[from] CallError),
    /// The call is allowed, and there is nothing here that runs it.
    #[error("`{0}` has no function here")]
    NoFunction(String),
    /// Nothing may happen, or what happened could not be written down.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// This decision was used up, is not one that sends, or is another agent's.
    #[error("this decision allows no further call")]
    Used,
}

impl From<LedgerFailure> for Refused {
    fn from(failure: LedgerFailure) -> Refused {
        Refused::Record(RecordError::Ledger(failure))
    }
}

/// Why the end of a call is not recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Recorded before, forgotten, or another agent's.
    #[error("no call is open under this receipt")]
    Ended,
    /// The ledger could not commit.
    #[error(transparent)]
    Ledger(#[from] LedgerFailure),
    /// It was not to be made.
    #[error("the decision is {0}: there is no call to record")]
    NotAllowed(Outcome),
}

/// Why an answer to an ask is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// Answered before, forgotten, or another agent's.
    #[error("no answer is awaited under this receipt")]
    Answered,
    /// The ledger could not commit.
    #[error(transparent)]
    Ledger(#[from] LedgerFailure),
    /// There was nothing to ask.
    #[error("the decision is {0}, not an ask")]
    NotAsked(Outcome),
}
