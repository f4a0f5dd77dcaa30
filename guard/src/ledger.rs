//! The ledger: a decision and its record are one step.
//!
//! A check that depends on what happened before (made already, budget spent, approval used) must read, decide
//! and reserve as one transaction, or two calls that come together slip past each other. So nothing decides
//! outside [`Ledger::step`], and a verdict is released only after the step's commit.
//!
//! A ledger that writes to a disk decides and reserves at once, and commits a moment later, many steps together:
//! what it gives then is a receipt to wait for ([`Stepped::Waiting`]). A reservation whose commit fails, or whose
//! call goes out after all no more, is undone.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use crate::decision::Decision;
use crate::proposal::CallKey;
use crate::session::Origin;
use crate::state::Kept;
use crate::store::chain::Hash;
use crate::store::event::{CallRecord, Event};

mod ended;
mod past;

pub use ended::{Ended, Said, Settled, StateNote};
pub use past::{OpenCall, Part, Past, Remembered, Rows, Transition, parted};

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
    /// What a record says of the call that is decided again.
    was_made: bool,
}

impl Snapshot<'_> {
    /// No past.
    #[must_use]
    pub fn nothing() -> Snapshot<'static> {
        Snapshot { past: None, was_made: false }
    }

    /// What a ledger keeps elsewhere, as it is now.
    #[must_use]
    pub fn of(past: &Past) -> Snapshot<'_> {
        Snapshot { past: Some(past), was_made: false }
    }

    /// A past of which a record says only this: the state that an engine met, and whether the call that is decided again
    /// was made before.
    #[must_use]
    pub(crate) fn replayed(past: &Past, was_made: bool) -> Snapshot<'_> {
        Snapshot { past: Some(past), was_made }
    }

    /// Whether this very call ([`Decision::made_as`]) was sent before and is not known to have failed.
    #[must_use]
    pub fn is_made(&self, call: &CallKey) -> bool {
        self.was_made || self.past.is_some_and(|past| past.is_made(call))
    }

    /// The state of a policy, where anything is kept of it.
    pub(crate) fn kept(&self) -> Option<&Kept> {
        match self.remembered() {
            Remembered::Native(kept) => Some(kept),
            Remembered::Praxiom(_) | Remembered::Nothing => None,
        }
    }

    /// What an engine remembers of this session.
    #[must_use]
    pub fn remembered(&self) -> &Remembered {
        self.past.map_or(&Remembered::Nothing, Past::remembered)
    }
}

/// What a step adds.
#[derive(Debug, Clone)]
pub struct Step {
    /// The decision.
    pub decision: Arc<Decision>,
    /// The call goes out once the step is committed.
    pub is_sent: bool,
    /// All that a record says of it. A ledger in memory needs none.
    pub record: Option<Box<CallRecord>>,
}

/// Where a step stands in the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// The record's number.
    pub sequence: u64,
    /// Its hash.
    pub hash: Hash,
}

/// A committed step.
#[derive(Debug, Clone)]
pub struct Receipt {
    /// Position in the ledger, from 1.
    pub sequence: u64,
    /// What was decided.
    pub decision: Arc<Decision>,
    /// Where it is recorded; nothing in a ledger that keeps no record, or while its record is still to be written.
    pub recorded: Option<Recorded>,
}

/// What a step comes to.
pub enum Stepped {
    /// It is committed.
    Committed(Receipt),
    /// It is decided and reserved, and not committed yet.
    Waiting {
        /// [`Receipt::sequence`].
        sequence: u64,
        /// The commit.
        commit: Commit,
    },
}

/// A commit to wait for.
pub type Commit = Pin<Box<dyn Future<Output = Result<Receipt, LedgerFailure>> + Send>>;

/// A record to wait for that is no step's.
pub type Noting = Pin<Box<dyn Future<Output = Result<(), LedgerFailure>> + Send>>;

impl std::fmt::Debug for Stepped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stepped::Committed(receipt) => f.debug_tuple("Committed").field(receipt).finish(),
            Stepped::Waiting { sequence, .. } => f.debug_tuple("Waiting").field(sequence).finish(),
        }
    }
}

impl Stepped {
    /// The receipt, for callers that have a thread to wait on.
    ///
    /// # Errors
    /// [`LedgerFailure`].
    pub fn wait(self) -> Result<Receipt, LedgerFailure> {
        let mut commit = match self {
            Stepped::Committed(receipt) => return Ok(receipt),
            Stepped::Waiting { commit, .. } => commit,
        };
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        loop {
            match commit.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(receipt) => return receipt,
                // A wake-up that came before this returns at once; one for nothing only polls again.
                Poll::Pending => std::thread::park(),
            }
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The step could not be committed; the call is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the record could not be written: {0}")]
pub struct LedgerFailure(pub String);

/// What a process heard, for the others of its session.
#[derive(Debug, Clone, Copy)]
pub struct Shared<'a> {
    /// By which way, and of what.
    pub origin: &'a Origin,
    /// What was said; nothing where it is too much to be told.
    pub text: Option<&'a str>,
}

/// What another process of the session heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overheard {
    /// By which way, and of what: `server/tool`.
    pub origin: Origin,
    /// What was said; nothing where that process does not tell.
    pub text: Option<String>,
}

/// How a policy declares a variable of its state, for policies that share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// It outlives sessions.
    pub is_stores: bool,
    /// All that must be alike, in words: its type, what it holds at first, how long it is kept.
    pub says: String,
}

/// Decides and records as one transaction.
pub trait Ledger: Send + Sync {
    /// Reads the past of `key`, lets `decide` make a step of it, commits the step.
    ///
    /// # Errors
    /// [`LedgerFailure`] when it could not be committed, here or when it is waited for: nothing may be sent then.
    fn step(
        &self,
        key: &SessionKey,
        decide: &mut dyn FnMut(&Snapshot<'_>) -> Step,
    ) -> Result<Stepped, LedgerFailure>;

    /// A step that reads nothing of the past, so that it waits for no decision that is being made.
    ///
    /// # Errors
    /// As [`Ledger::step`].
    fn step_apart(&self, key: &SessionKey, step: Step) -> Result<Stepped, LedgerFailure> {
        self.step(key, &mut |_| step.clone())
    }

    /// [`Ledger::step`] without waiting for other processes; nothing where one is in the way, and nothing was decided
    /// then. For a thread that must not wait.
    ///
    /// # Errors
    /// As [`Ledger::step`].
    fn try_step(
        &self,
        key: &SessionKey,
        decide: &mut dyn FnMut(&Snapshot<'_>) -> Step,
    ) -> Option<Result<Stepped, LedgerFailure>> {
        Some(self.step(key, decide))
    }

    /// [`Ledger::settle`] without waiting for other processes; nothing where one is in the way.
    ///
    /// # Errors
    /// As [`Ledger::settle`].
    fn try_settle(
        &self,
        key: &SessionKey,
        sequence: u64,
        ended: &Ended<'_>,
    ) -> Option<Result<Option<StateNote>, LedgerFailure>> {
        Some(self.settle(key, sequence, ended))
    }

    /// A sent call ended. What it gives is what the record of that end says of the state.
    ///
    /// # Errors
    /// [`LedgerFailure`].
    fn settle(
        &self,
        key: &SessionKey,
        sequence: u64,
        ended: &Ended<'_>,
    ) -> Result<Option<StateNote>, LedgerFailure>;

    /// A call that was to be sent was not: it does not count as made.
    fn undo(&self, key: &SessionKey, sequence: u64);

    /// Says which variables the policy declares that decides from now on.
    ///
    /// # Errors
    /// For people: what is remembered cannot be kept as it says.
    fn declare(&self, _policy: &str, variables: &[Declared]) -> Result<(), String> {
        match variables.iter().find(|variable| variable.is_stores) {
            None => Ok(()),
            Some(variable) => Err(format!(
                "the state variable `{}` is to outlive its session (`scope: store`), and there is nothing here that keeps it: start `run` anew, with a record (--store FILE)",
                variable.name
            )),
        }
    }

    /// Lets the other processes of the session know what this one heard; where there are none nobody needs it.
    fn share(&self, _said: Shared<'_>) {}

    /// Whether there may be others: what is heard is to be shared then, whatever the policy here reads of it.
    fn is_shared(&self) -> bool {
        false
    }

    /// Something to wait for before what was shared is passed on, where the others cannot know it yet.
    fn sharing(&self) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        None
    }

    /// What the other processes of the session have heard since this was asked last, in order.
    ///
    /// # Errors
    /// [`LedgerFailure`]: then nobody knows, and nothing may be decided.
    fn overheard(&self) -> Result<Vec<Overheard>, LedgerFailure> {
        Ok(Vec::new())
    }

    /// What happened beside the decisions, for the record, in order.
    fn note(&self, _event: Event) {}

    /// Notes what is acted upon only once it is recorded. Nothing to wait for where it need not be.
    ///
    /// # Errors
    /// [`LedgerFailure`], here or when it is waited for: it must not be acted upon.
    fn note_and_wait(&self, event: Event) -> Result<Option<Noting>, LedgerFailure> {
        self.note(event);
        Ok(None)
    }

    /// Something to wait for before more is noted, when much waits for the record already.
    fn room(&self) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        None
    }
}

/// A ledger that lives as long as the process.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    /// The last step's.
    sequence: AtomicU64,
    inner: Mutex<Inner>,
    /// Steps that were not to wait for a decision which has `inner`: they count from the next one on.
    apart: Mutex<Vec<(SessionKey, u64, Arc<Decision>)>>,
}

#[derive(Debug, Default)]
struct Inner {
    past: HashMap<SessionKey, Past>,
}

impl Inner {
    fn sent(&mut self, key: &SessionKey, sequence: u64, decision: &Decision) {
        self.past.entry(key.clone()).or_default().sent(sequence, decision);
    }
}

impl MemoryLedger {
    /// A step, and while no other can come between: what its caller makes of it.
    pub fn step_with<T>(
        &self,
        key: &SessionKey,
        decide: &mut dyn FnMut(&Snapshot<'_>) -> Step,
        then: impl FnOnce(u64, Step) -> T,
    ) -> T {
        let mut inner = self.lock();
        let step = decide(&Snapshot { past: inner.past.get(key), was_made: false });
        let sequence = self.next();
        if step.is_sent {
            inner.sent(key, sequence, &step.decision);
        }
        then(sequence, step)
    }

    /// [`Ledger::step_apart`]: its number, once it counts for what is decided from now on.
    pub fn reserve_apart(&self, key: &SessionKey, step: &Step) -> u64 {
        let sequence = self.next();
        if step.is_sent {
            self.apart().push((key.clone(), sequence, Arc::clone(&step.decision)));
        }
        sequence
    }

    fn next(&self) -> u64 {
        self.sequence.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn apart(&self) -> MutexGuard<'_, Vec<(SessionKey, u64, Arc<Decision>)>> {
        self.apart.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, sequence, decision) in self.apart().drain(..) {
            inner.sent(&key, sequence, &decision);
        }
        inner
    }
}

impl Ledger for MemoryLedger {
    fn step(
        &self,
        key: &SessionKey,
        decide: &mut dyn FnMut(&Snapshot<'_>) -> Step,
    ) -> Result<Stepped, LedgerFailure> {
        let receipt = |sequence, step: Step| Receipt { sequence, decision: step.decision, recorded: None };
        Ok(Stepped::Committed(self.step_with(key, decide, receipt)))
    }

    fn step_apart(&self, key: &SessionKey, step: Step) -> Result<Stepped, LedgerFailure> {
        let sequence = self.reserve_apart(key, &step);
        Ok(Stepped::Committed(Receipt { sequence, decision: step.decision, recorded: None }))
    }

    fn settle(
        &self,
        key: &SessionKey,
        sequence: u64,
        ended: &Ended<'_>,
    ) -> Result<Option<StateNote>, LedgerFailure> {
        let mut inner = self.lock();
        Ok(inner.past.get_mut(key).and_then(|past| past.settle(sequence, ended)))
    }

    fn undo(&self, key: &SessionKey, sequence: u64) {
        if let Some(past) = self.lock().past.get_mut(key) {
            past.undo(sequence);
        }
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
                Step { decision: Arc::clone(&decision), is_sent, record: None }
            });
            (before, receipt.unwrap().wait().unwrap().sequence)
        };
        assert_eq!(step(&key, false), (false, 1));
        assert_eq!(step(&key, true), (false, 2));
        let (made, second) = step(&key, true);
        assert!(made, "in flight counts");
        ledger.settle(&key, second, &Ended::without_answer(Settled::Failed)).unwrap();
        ledger.settle(&key, second, &Ended::without_answer(Settled::Failed)).unwrap();
        assert!(step(&key, false).0, "the first one is still on its way");
        ledger.settle(&key, 2, &Ended::without_answer(Settled::Lost)).unwrap();
        assert!(step(&key, false).0, "a lost answer proves nothing");
        let other = SessionKey { principal: "p".into(), name: "t".into() };
        assert!(!step(&other, false).0);
        let (_, unsent) = step(&other, true);
        ledger.undo(&other, unsent);
        assert!(!step(&other, false).0, "what was not sent was not made");
    }

    #[test]
    fn a_step_apart_waits_for_no_decision_and_counts_from_the_next_one_on() {
        let (ledger, key) = (MemoryLedger::default(), SessionKey { principal: "p".into(), name: "s".into() });
        let decision = Arc::new(Decision::conclude("pay", None, Document::empty_object().root(), Vec::new()));
        let step = Step { decision: Arc::clone(&decision), is_sent: true, record: None };
        let mut apart = 0;
        let during = &mut |past: &Snapshot<'_>| {
            assert!(!past.is_made(&decision.call));
            apart = ledger.step_apart(&key, step.clone()).unwrap().wait().unwrap().sequence;
            Step { is_sent: false, ..step.clone() }
        };
        assert_eq!(ledger.step(&key, during).unwrap().wait().unwrap().sequence, 2);
        assert_eq!(apart, 1);
        let is_made = || {
            let mut is_made = false;
            let look = &mut |past: &Snapshot<'_>| {
                is_made = past.is_made(&decision.call);
                Step { is_sent: false, ..step.clone() }
            };
            ledger.step(&key, look).unwrap();
            is_made
        };
        assert!(is_made());
        ledger.settle(&key, apart, &Ended::without_answer(Settled::Failed)).unwrap();
        assert!(!is_made());
    }

    #[test]
    fn a_commit_may_come_from_another_thread() {
        let decision = Arc::new(Decision::conclude("pay", None, Document::empty_object().root(), Vec::new()));
        let (sender, commits) = std::sync::mpsc::channel::<Waker>();
        let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let is_done = Arc::clone(&done);
        let commit = Box::pin(std::future::poll_fn(move |context: &mut Context<'_>| {
            if is_done.load(std::sync::atomic::Ordering::Acquire) {
                let decision = Arc::clone(&decision);
                return Poll::Ready(Ok(Receipt { sequence: 7, decision, recorded: None }));
            }
            sender.send(context.waker().clone()).unwrap();
            Poll::Pending
        }));
        let waiting = Stepped::Waiting { sequence: 7, commit };
        let committing = std::thread::spawn(move || {
            let waker = commits.recv().unwrap();
            done.store(true, std::sync::atomic::Ordering::Release);
            waker.wake();
        });
        assert_eq!(waiting.wait().unwrap().sequence, 7);
        committing.join().unwrap();
    }
}
