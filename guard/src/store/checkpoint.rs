//! Works the WAL into the file, on a connection of its own: a commit never waits for that, and the WAL of a long
//! session does not grow without bound.
//!
//! A passive checkpoint waits for nobody; when it has copied all, the next writer begins the WAL anew. Under
//! steady load a writer is always a little ahead of it, so from [`WAL_BYTES_MAX`] on the rest is copied while
//! writers wait: the rest is what came in during one passive checkpoint. A reader that stays in one snapshot
//! (`framegate verify`) keeps the WAL from being begun anew until it is done.
//!
//! A writer that begins its next step as soon as the last one is committed leaves no moment for that: so from
//! [`WAL_BYTES_HELD`] on it makes one now and then, in which whoever waits gets in.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::error::StoreError;
use super::sqlite::{connect, format};
use super::wal::{self, Salts};

/// A smaller WAL is left alone: copying a page that is written again soon is work for nothing.
pub const WAL_BYTES_MIN: u64 = 1024 * 1024;
/// A larger one is begun anew, even if writers have to wait for a moment.
pub const WAL_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// From here on writers make room for a checkpoint.
pub const WAL_BYTES_HELD: u64 = 4 * WAL_BYTES_MAX;
/// How often a writer looks at the WAL.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How long it stays out of the way then: at most a tenth of its time, and of a hundred steps less than one waits.
const ROOM: Duration = Duration::from_millis(1);
/// How often a checkpoint looks whether a writer has made room.
const POLL: Duration = Duration::from_micros(200);
/// How long it waits for the writers' turn, where no reader is known to stand in the way: writers that are always
/// a little ahead would otherwise make the WAL grow for ever.
const WRITERS_WAIT: Duration = Duration::from_millis(100);
/// How long writers may wait for readers to leave the WAL; a longer one is tried again the next time.
const READERS_WAIT: Duration = Duration::from_millis(2);

/// What a checkpoint did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkpointed {
    /// Nothing: the WAL is small.
    Small,
    /// The WAL, or some of it, is in the file; somebody still needs it as it is.
    Some,
    /// All is in the file, and the WAL begins anew.
    All,
}

/// Works the WAL into the file whenever it is told to, in a thread of the caller's choice.
#[derive(Debug)]
pub struct Checkpointer {
    connection: Connection,
    wal: PathBuf,
    /// The salts of a WAL that was worked in to its end: the next writer begins it anew, with others.
    over: Option<Salts>,
}

impl Checkpointer {
    /// For the store in this file, which is there.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open(path: &Path) -> Result<Checkpointer, StoreError> {
        let connection = connect(path)?;
        format(&connection)?;
        // The pages must be in the file before the WAL is begun anew.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        Ok(Checkpointer { connection, wal: wal_of(path), over: None })
    }

    /// How much of the WAL counts now; its file may be longer.
    #[must_use]
    pub fn wal_bytes(&self) -> u64 {
        let (salts, bytes) = wal::used(&self.wal);
        if self.over == Some(salts) { 0 } else { bytes }
    }

    /// Looks at the WAL once, and does what is due. To be called a few times a second while there is writing;
    /// it costs a few looks into a file when there is nothing to do.
    ///
    /// # Errors
    /// [`StoreError`]; the store can still be written, as long as there is room.
    pub fn run_once(&mut self) -> Result<Checkpointed, StoreError> {
        if self.wal_bytes() < WAL_BYTES_MIN {
            return Ok(Checkpointed::Small);
        }
        let before = self.wal_bytes();
        let mut is_all = self.checkpoint("PASSIVE")?;
        if self.wal_bytes() >= before.saturating_add(WAL_BYTES_MIN) {
            // What came in meanwhile is much; so that little is left for which writers have to wait.
            is_all = self.checkpoint("PASSIVE")?;
        }
        if self.wal_bytes() < WAL_BYTES_MAX {
            return Ok(if is_all { Checkpointed::All } else { Checkpointed::Some });
        }
        // What a reader still sees is not copied over: who is in the way has shown already.
        self.connection.busy_handler(Some(if is_all { wait_for_writers } else { wait_for_readers }))?;
        // Looked at before: a writer may begin it anew at once, and what it writes then counts.
        let (salts, _) = wal::used(&self.wal);
        // Not cut: the next frames are written over those that are there.
        let is_all = self.checkpoint("RESTART")?;
        self.over = is_all.then_some(salts);
        Ok(if is_all { Checkpointed::All } else { Checkpointed::Some })
    }

    /// Works in everything at once; for the end of a session.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn finish(&mut self) -> Result<Checkpointed, StoreError> {
        self.connection.busy_handler(Some(wait_for_writers))?;
        let is_all = self.checkpoint("TRUNCATE")?;
        Ok(if is_all { Checkpointed::All } else { Checkpointed::Some })
    }

    /// Whether all of the WAL is in the file.
    fn checkpoint(&self, mode: &str) -> Result<bool, StoreError> {
        let mut run = self.connection.prepare_cached(&format!("PRAGMA wal_checkpoint({mode})"))?;
        let (is_busy, frames, done): (bool, i64, i64) =
            run.query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(!is_busy && frames == done)
    }
}

/// Makes room for a checkpoint, before a writer's step.
#[derive(Debug)]
pub(super) struct Turn {
    wal: PathBuf,
    looked: Instant,
}

impl Turn {
    pub(super) fn of(path: &Path) -> Turn {
        Turn { wal: wal_of(path), looked: Instant::now() }
    }

    pub(super) fn give(&mut self) {
        if self.looked.elapsed() < LOOK_EVERY {
            return;
        }
        if bytes_of(&self.wal) > WAL_BYTES_HELD {
            std::thread::sleep(ROOM);
        }
        self.looked = Instant::now();
    }
}

fn wal_of(path: &Path) -> PathBuf {
    let mut wal = OsString::from(path);
    wal.push("-wal");
    wal.into()
}

fn bytes_of(wal: &Path) -> u64 {
    std::fs::metadata(wal).map_or(0, |found| found.len())
}

/// SQLite's own waiting looks ever more seldom, and misses the moment.
fn wait_for_writers(tries: i32) -> bool {
    wait_up_to(WRITERS_WAIT, tries)
}

fn wait_for_readers(tries: i32) -> bool {
    wait_up_to(READERS_WAIT, tries)
}

fn wait_up_to(most: Duration, tries: i32) -> bool {
    thread_local! {
        /// When this thread's waiting began.
        static BEGUN: Cell<Option<Instant>> = const { Cell::new(None) };
    }
    if tries == 0 {
        BEGUN.set(Some(Instant::now()));
    }
    std::thread::sleep(POLL);
    BEGUN.get().is_some_and(|begun| begun.elapsed() < most)
}
