//! A ledger that remembers in memory and records in a store.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use framegate_guard::ledger::{
    Declared, Ended, Ledger, LedgerFailure, MemoryLedger, Noting, Overheard, Receipt, SessionKey, Shared,
    Snapshot, StateNote, Step, Stepped,
};
use framegate_guard::store::event::{CloseRecord, Event};
use framegate_guard::store::sqlite::{self, Store};
use framegate_guard::store::writer::{SessionRecord, Writer};
use framegate_guard::world::Instant;

use super::checkpoints::Checkpoints;
use super::entropy::entropy;
use super::queue::{Queue, Slot, Waiting, What};
use super::remembers::Remembers;
use super::settings::{Durability, OnFailure, StoreSettings};
use super::shared::{Joining, SharedPast};
use super::signer::Signer;
use super::thread::{Place, Scribe};
use crate::calls::{CallLog, Level};
use crate::store_path;

/// How long what waits at the end of a session may take to be written.
const CLOSE_WAIT: Duration = Duration::from_secs(3);

/// Why a call that comes while too much waits has no record.
const FULL: &str = "too much waits to be written already";

/// What of a session is kept where other processes find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Nothing.
    Nothing,
    /// All of it.
    Session,
    /// What the policy remembers for the store.
    State,
}

/// The ledger behind `--store`. The past of a session is that of this process alone and lives in memory, unless
/// processes share it ([`SharedPast`]): so a step decides at once, and only its commit is waited for.
#[derive(Debug)]
pub(crate) struct StoreLedger {
    past: Arc<Remembers>,
    queue: Arc<Queue>,
    durability: Durability,
    on_failure: OnFailure,
    log: Arc<CallLog>,
    thread: Mutex<Option<JoinHandle<Checkpoints>>>,
}

impl StoreLedger {
    /// Opens the store and starts the thread that writes to it.
    ///
    /// # Errors
    /// Why it cannot be opened, for people.
    pub(crate) fn open(
        settings: &StoreSettings,
        mut about: SessionRecord,
        sharing: Sharing,
        log: &Arc<CallLog>,
    ) -> Result<StoreLedger, String> {
        let shown = settings.file.display();
        let failed = |why: &dyn std::fmt::Display| {
            format!(
                "the record `{shown}` cannot be opened: {why}. Give another --store FILE, or --store none to go without a record"
            )
        };
        store_path::make_folder(&settings.file).map_err(|why| failed(&why))?;
        let durability = match settings.durability {
            Durability::Full => sqlite::Durability::Full,
            Durability::Bounded | Durability::Normal => sqlite::Durability::Normal,
        };
        let store = Store::open(&settings.file, durability, entropy).map_err(|why| failed(&why))?;
        entropy(&mut about.flow_salt).map_err(|why| failed(&why))?;
        let queue = Arc::<Queue>::default();
        let (salt, key) =
            (about.flow_salt, SessionKey { principal: about.principal.clone(), name: about.name.clone() });
        let past = Arc::new(if sharing != Sharing::Nothing {
            let is_full = settings.durability == Durability::Full;
            let (record, server) = (settings.file.as_path(), about.server.as_str());
            let (key, keep) = (key.clone(), settings.keep);
            Remembers::Shared(SharedPast::join(Joining {
                record,
                key,
                server,
                is_full,
                keep,
                is_private: sharing == Sharing::State,
            })?)
        } else {
            Remembers::Alone(MemoryLedger::default())
        });
        queue.lock().flow.begin(salt, settings.keep);
        let scribe = Scribe {
            store,
            file: Place::of(&settings.file).map_err(|why| failed(&why))?,
            checkpoints: Checkpoints::start(&settings.file, settings.limits, log)
                .map_err(|why| failed(&why))?,
            signer: settings.key.clone().map(Signer::new),
            writer: Writer::new(about, settings.keep),
            queue: Arc::clone(&queue),
            past: Arc::clone(&past),
            key,
            lets_through: settings.on_failure == OnFailure::Allow,
            is_bounded: settings.durability == Durability::Bounded,
            log: Arc::clone(log),
            failing: false,
        };
        let thread = std::thread::Builder::new().name("recorder".into()).spawn(move || scribe.run());
        let thread = thread.map_err(|why| failed(&why))?;
        Ok(StoreLedger {
            past,
            queue,
            durability: settings.durability,
            on_failure: settings.on_failure,
            log: Arc::clone(log),
            thread: Mutex::new(Some(thread)),
        })
    }

    pub(super) fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// Whether what comes now can be recorded; if not, it goes through all the same.
    fn takes(&self, is_full: bool) -> Result<bool, LedgerFailure> {
        match self.on_failure {
            _ if !is_full || self.durability == Durability::Bounded => Ok(true),
            OnFailure::Refuse => Err(LedgerFailure(FULL.into())),
            OnFailure::Allow => Ok(false),
        }
    }

    /// Hands a step over to be written. Of one without a record: its number.
    fn record(&self, sequence: u64, step: Step, is_full: bool) -> Result<Stepped, u64> {
        let Some(mut record) = step.record else { return Err(sequence) };
        let decision = step.decision;
        record.is_waived = self.durability == Durability::Bounded;
        let slot = Arc::<Slot>::default();
        self.queue.push(What::Call { step: sequence, record, slot: Arc::clone(&slot) }, now());
        if self.durability == Durability::Bounded && !is_full {
            return Ok(Stepped::Committed(Receipt { sequence, decision, recorded: None }));
        }
        let commit = Box::pin(Waiting { slot, sequence, decision });
        Ok(Stepped::Waiting { sequence, commit })
    }

    fn nothing_to_record(&self, key: &SessionKey, sequence: u64) -> LedgerFailure {
        self.undo(key, sequence);
        LedgerFailure("a decision came without anything to record".into())
    }

    /// Writes what still waits, and the session's end.
    pub(crate) fn finish(&self, how: &str) {
        self.queue.push(What::Event(Event::Close(CloseRecord { how: how.to_owned() })), now());
        self.queue.close();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return self.past.finish() };
        let since = std::time::Instant::now();
        while !thread.is_finished() && since.elapsed() < CLOSE_WAIT {
            std::thread::sleep(Duration::from_millis(1));
        }
        if !thread.is_finished() {
            let (count, seconds) = (self.queue.len(), CLOSE_WAIT.as_secs());
            let text = format!(
                "the record is incomplete: the end of this session ({count} records or more) was not written within {seconds} s"
            );
            self.log.say(Level::Error, &text);
        } else if let Ok(checkpoints) = thread.join() {
            checkpoints.finish();
        }
        self.past.finish();
    }

    /// Where nothing follows from a decision, a past that cannot be had refuses nothing either.
    fn unshared(
        &self,
        decide: &mut dyn FnMut(&Snapshot<'_>) -> Step,
        why: LedgerFailure,
        takes: (bool, bool),
    ) -> Result<Result<Stepped, u64>, LedgerFailure> {
        if self.on_failure == OnFailure::Refuse {
            return Err(why);
        }
        let Some((sequence, step)) = self.past.step_unshared(decide) else { return Err(why) };
        let is_monitoring = step.record.as_ref().is_some_and(|record| record.guard.is_monitoring());
        if !is_monitoring {
            return Err(why);
        }
        self.log.say(Level::Warn, &format!("{}; this call is decided by what was known before", why.0));
        Ok(self.take(sequence, step, takes))
    }

    /// A step that is to be recorded, or is let through unrecorded.
    fn take(&self, sequence: u64, step: Step, (is_taken, is_full): (bool, bool)) -> Result<Stepped, u64> {
        if is_taken {
            return self.record(sequence, step, is_full);
        }
        // A decision that came too late is no call: another step stands for it.
        if step.record.is_some() {
            self.queue.miss(now(), FULL);
        }
        Ok(Stepped::Committed(unwritten(sequence, step)))
    }
}

/// A step that nothing will be written of.
fn unwritten(sequence: u64, step: Step) -> Receipt {
    Receipt { sequence, decision: step.decision, recorded: None }
}

/// Time for a record.
pub(super) fn now() -> Instant {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Instant(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

impl Ledger for StoreLedger {
    fn step(
        &self,
        key: &SessionKey,
        decide: &mut dyn FnMut(&Snapshot<'_>) -> Step,
    ) -> Result<Stepped, LedgerFailure> {
        let is_full = self.queue.is_full();
        let is_taken = self.takes(is_full)?;
        // Still inside the step: records stand in the order of the decisions.
        let then = |sequence, step| self.take(sequence, step, (is_taken, is_full));
        let stepped = self.past.step_with(key, decide, then);
        let stepped = stepped.or_else(|why| self.unshared(decide, why, (is_taken, is_full)))?;
        stepped.map_err(|sequence| self.nothing_to_record(key, sequence))
    }

    fn try_step(
        &self,
        key: &SessionKey,
        decide: &mut dyn FnMut(&Snapshot<'_>) -> Step,
    ) -> Option<Result<Stepped, LedgerFailure>> {
        let is_full = self.queue.is_full();
        let is_taken = match self.takes(is_full) {
            Ok(is_taken) => is_taken,
            Err(why) => return Some(Err(why)),
        };
        let then = |sequence, step| self.take(sequence, step, (is_taken, is_full));
        let stepped = self.past.try_step_with(key, decide, then)?;
        let stepped = stepped.or_else(|why| self.unshared(decide, why, (is_taken, is_full)));
        Some(stepped.and_then(|stepped| stepped.map_err(|sequence| self.nothing_to_record(key, sequence))))
    }

    fn step_apart(&self, key: &SessionKey, step: Step) -> Result<Stepped, LedgerFailure> {
        let is_full = self.queue.is_full();
        let is_taken = self.takes(is_full)?;
        let sequence = self.past.reserve_apart(key, &step);
        if !is_taken {
            self.queue.miss(now(), FULL);
            return Ok(Stepped::Committed(unwritten(sequence, step)));
        }
        self.record(sequence, step, is_full).map_err(|sequence| self.nothing_to_record(key, sequence))
    }

    fn settle(
        &self,
        key: &SessionKey,
        sequence: u64,
        ended: &Ended<'_>,
    ) -> Result<Option<StateNote>, LedgerFailure> {
        self.past.settle(key, sequence, ended)
    }

    fn try_settle(
        &self,
        key: &SessionKey,
        sequence: u64,
        ended: &Ended<'_>,
    ) -> Option<Result<Option<StateNote>, LedgerFailure>> {
        self.past.try_settle(key, sequence, ended)
    }

    fn undo(&self, key: &SessionKey, sequence: u64) {
        self.past.undo(key, sequence);
    }

    fn declare(&self, policy: &str, variables: &[Declared]) -> Result<(), String> {
        match &*self.past {
            Remembers::Shared(past) => past.declare(policy, variables),
            Remembers::Alone(memory) => memory.declare(policy, variables),
        }
    }

    fn share(&self, said: Shared<'_>) {
        if let Remembers::Shared(past) = &*self.past {
            past.tell(said);
        }
    }

    fn is_shared(&self) -> bool {
        matches!(&*self.past, Remembers::Shared(past) if past.is_named())
    }

    fn sharing(&self) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        match &*self.past {
            Remembers::Shared(past) => past.telling(),
            Remembers::Alone(_) => None,
        }
    }

    fn overheard(&self) -> Result<Vec<Overheard>, LedgerFailure> {
        match &*self.past {
            Remembers::Shared(past) => past.overheard(),
            Remembers::Alone(_) => Ok(Vec::new()),
        }
    }

    fn note(&self, event: Event) {
        self.queue.push(What::Event(event), now());
    }

    fn note_and_wait(&self, event: Event) -> Result<Option<Noting>, LedgerFailure> {
        let is_full = self.queue.is_full();
        if self.durability == Durability::Bounded || !self.takes(is_full)? {
            self.note(event);
            return Ok(None);
        }
        let slot = Arc::<Slot>::default();
        self.queue.push(What::Held(event, Arc::clone(&slot)), now());
        Ok(Some(Box::pin(std::future::poll_fn(move |context| slot.poll(context).map_ok(drop)))))
    }

    fn room(&self) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        self.queue
            .holds_up()
            .then(|| -> Pin<Box<dyn Future<Output = ()> + Send>> { Box::pin(self.queue.room()) })
    }
}
