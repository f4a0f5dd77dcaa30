//! The WAL is worked into the file by a thread of its own: no commit waits for that.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use framegate_guard::store::StoreError;
use framegate_guard::store::checkpoint::Checkpointer;

use crate::calls::{CallLog, Level};

/// How often the WAL is looked at while there is writing.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The writer's end: ends the thread when it goes.
#[derive(Debug)]
pub(super) struct Checkpoints {
    tell: SyncSender<()>,
    told: Option<Instant>,
}

impl Checkpoints {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(super) fn start(file: &Path, log: &Arc<CallLog>) -> Result<Checkpoints, StoreError> {
        let checkpointer = Checkpointer::open(file)?;
        let (tell, told) = sync_channel(1);
        let log = Arc::clone(log);
        let run = move || work_in(&checkpointer, &told, &log);
        let thread = std::thread::Builder::new().name("checkpoints".into()).spawn(run);
        thread.map_err(|why| StoreError::Os(why.to_string()))?;
        Ok(Checkpoints { tell, told: None })
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

fn work_in(checkpointer: &Checkpointer, told: &Receiver<()>, log: &CallLog) {
    let mut is_said = false;
    while told.recv().is_ok() {
        // Nothing is lost by it: the next one does more.
        if let Err(why) = checkpointer.run_once()
            && !std::mem::replace(&mut is_said, true)
        {
            log.say(
                Level::Warn,
                &format!("the record's write-ahead log cannot be worked in and grows: {why}"),
            );
        }
    }
}
