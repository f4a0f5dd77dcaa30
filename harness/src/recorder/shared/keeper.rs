//! The thread that does what no step should wait for: it works the WAL in, and writes what could not be written at
//! once.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::core::Core;
use super::file::{connect, work_in};
use crate::store_path::with_suffix;

/// How often the WAL is looked at while there is writing, and how soon what waits is tried again.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A smaller WAL is left alone.
const WAL_BYTES_MIN: u64 = 1024 * 1024;
/// How long the end of a session waits for what is to be written still.
const FINISH_WAIT: Duration = Duration::from_secs(1);

/// The other end of the thread: it ends when this goes.
#[derive(Debug)]
pub(super) struct Keeper {
    tell: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl Keeper {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the file cannot be opened once more, or no thread started.
    pub(super) fn start(core: &Arc<Core>, path: &Path) -> Result<Keeper, String> {
        let connection = connect(path).map_err(|why| why.to_string())?;
        let wal = with_suffix(path, "-wal");
        let (tell, told) = sync_channel(1);
        let core = Arc::clone(core);
        let thread = std::thread::Builder::new().name("session".into());
        let thread = thread.spawn(move || keep(&core, &connection, &wal, &told));
        Ok(Keeper { tell, thread: thread.map_err(|why| why.to_string())? })
    }

    pub(super) fn wake(&self) {
        // Full: it is about to look anyway.
        let _ = self.tell.try_send(());
    }

    pub(super) fn finish(self) {
        drop(self.tell);
        let since = Instant::now();
        while !self.thread.is_finished() && since.elapsed() < FINISH_WAIT {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn keep(core: &Core, connection: &Connection, wal: &Path, told: &Receiver<()>) {
    let mut waits = false;
    loop {
        let next = match waits {
            true => told.recv_timeout(LOOK_EVERY),
            false => told.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        // Until it can be written what waits counts as made, which is safe: so it is tried again, and not told.
        waits = core.catch_up().is_err() | core.tell_waiting(connection).is_err();
        if std::fs::metadata(wal).is_ok_and(|found| found.len() >= WAL_BYTES_MIN) {
            // Nothing is lost by it: the next one does more.
            let _ = work_in(connection);
        }
        if next == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}
