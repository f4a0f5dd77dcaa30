//! The store's housekeeping, by a thread of its own, so that no commit waits for it: the WAL is worked into the file,
//! and what is beyond the limits of age and size is deleted.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use framegate_guard::store::StoreError;
use framegate_guard::store::checkpoint::Checkpointer;
use framegate_guard::store::retain::Limits;
use framegate_guard::store::sqlite::{Durability, Store};

use super::entropy::entropy;
use super::ledger::now;
use crate::calls::{CallLog, Level};

/// How often the WAL is looked at while there is writing.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often what is too old or too much is deleted, while there is writing; first at the start.
const RETAIN_EVERY: Duration = Duration::from_secs(3600);

/// How long the end of a session waits until all is in the file, where other processes or a slow disk stand in the
/// way; nothing is lost without that, but a copy of the file alone lacks what is in the WAL.
const FINISH_WAIT: Duration = Duration::from_secs(1);

/// The writer's end: ends the thread when it goes.
#[derive(Debug)]
pub(super) struct Checkpoints {
    tell: SyncSender<()>,
    thread: JoinHandle<()>,
    told: Option<Instant>,
}

impl Checkpoints {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(super) fn start(file: &Path, limits: Limits, log: &Arc<CallLog>) -> Result<Checkpoints, StoreError> {
        let mut checkpointer = Checkpointer::open(file)?;
        let is_limited = limits != Limits::default();
        let retains = is_limited.then(|| Store::open(file, Durability::Normal, entropy)).transpose()?;
        let retention = retains.map(|store| Retention { store, limits, last: None });
        let (tell, told) = sync_channel(1);
        let log = Arc::clone(log);
        let run = move || work_in(&mut checkpointer, retention, &told, &log);
        let thread = std::thread::Builder::new().name("checkpoints".into()).spawn(run);
        let thread = thread.map_err(|why| StoreError::Os(why.to_string()))?;
        Ok(Checkpoints { tell, thread, told: None })
    }

    /// Works in what is left, once nobody writes any more: after the last commit, and with the writer's connection
    /// closed, so that ours is the last one and takes the WAL with it.
    pub(super) fn finish(self) {
        drop(self.tell);
        let since = Instant::now();
        while !self.thread.is_finished() && since.elapsed() < FINISH_WAIT {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Something was written.
    pub(super) fn written(&mut self) {
        if self.told.is_none_or(|told| told.elapsed() >= LOOK_EVERY) {
            self.told = Some(Instant::now());
            // Full: it is about to look anyway.
            let _ = self.tell.try_send(());
        }
    }
}

/// Deletes what is beyond the limits.
struct Retention {
    /// A connection of its own: its steps stand between those of the sessions.
    store: Store,
    limits: Limits,
    last: Option<Instant>,
}

impl Retention {
    fn run(&mut self) -> Result<(), StoreError> {
        if self.last.is_none_or(|last| last.elapsed() >= RETAIN_EVERY) {
            self.last = Some(Instant::now());
            self.store.retain(&self.limits, now())?;
        }
        Ok(())
    }
}

fn work_in(
    checkpointer: &mut Checkpointer,
    mut retention: Option<Retention>,
    told: &Receiver<()>,
    log: &CallLog,
) {
    let mut is_said = false;
    let mut say = |what: &str, why: &StoreError| {
        // Nothing is lost by it: the next one does more.
        if !std::mem::replace(&mut is_said, true) {
            log.say(Level::Warn, &format!("{what}: {why}"));
        }
    };
    while told.recv().is_ok() {
        if let Some(Err(why)) = retention.as_mut().map(Retention::run) {
            say("what the record should not keep any longer cannot be deleted", &why);
        }
        if let Err(why) = checkpointer.run_once() {
            say("the record's write-ahead log cannot be worked in and grows", &why);
        }
    }
    // Others may use the file, or the disk may be full: then what is left stays in the WAL, where it is as safe.
    let _ = checkpointer.finish();
}
