//! The file: an SQLite database beside the record, shared by every `run` with that record.
//!
//! It is not the record's own file. A step is decided on the pump's thread and takes tens of microseconds; in the
//! record's file it would wait for whoever writes there: our own recorder with a group of records, or its fsync. And
//! what is kept here changes and goes, which nothing in the record's file does: its chain is evidence, this is not.

use std::cell::Cell;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::super::thread::Place;
use crate::store_path::with_suffix;

/// "Frms"
const APPLICATION_ID: i32 = 0x4672_6d73;
const FORMAT: i32 = 2;
/// How long the start of a session waits for others.
const START_WAIT: Duration = Duration::from_secs(5);
/// How long is slept before it is tried again: another's step takes microseconds.
const PAUSE: Duration = Duration::from_micros(100);
/// What to do with a file that nobody can use.
const REMOVE: &str = "when no session runs, remove it (what they remember goes with it)";
/// Statements kept prepared.
const STATEMENTS: usize = 32;

const SCHEMA: &str = "
CREATE TABLE clock (version INTEGER NOT NULL) STRICT;
INSERT INTO clock (version) VALUES (1);
CREATE TABLE leases (number INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, server TEXT NOT NULL,
  pid INTEGER NOT NULL) STRICT;
CREATE TABLE sessions (number INTEGER PRIMARY KEY, principal TEXT NOT NULL, name TEXT NOT NULL,
  used_ms INTEGER NOT NULL, lost INTEGER NOT NULL DEFAULT 0, UNIQUE (principal, name)) STRICT;
CREATE TABLE made (session INTEGER NOT NULL, server TEXT NOT NULL, call BLOB NOT NULL, count INTEGER NOT NULL,
  version INTEGER NOT NULL, PRIMARY KEY (session, server, call)) STRICT, WITHOUT ROWID;
CREATE INDEX made_version ON made (session, server, version);
CREATE TABLE open (step INTEGER PRIMARY KEY, session INTEGER NOT NULL, lease INTEGER NOT NULL, server TEXT NOT NULL,
  call BLOB NOT NULL, flight TEXT) STRICT;
CREATE INDEX open_session ON open (session);
CREATE TABLE said (number INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, lease INTEGER NOT NULL,
  bytes INTEGER NOT NULL, server TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, read_only INTEGER,
  arguments BLOB, text TEXT) STRICT;
CREATE INDEX said_session ON said (session, number);
CREATE TABLE remembered (principal TEXT NOT NULL, session INTEGER NOT NULL, name TEXT NOT NULL, value TEXT,
  version INTEGER NOT NULL, PRIMARY KEY (principal, session, name)) STRICT, WITHOUT ROWID;
CREATE TABLE declared (principal TEXT NOT NULL, session INTEGER NOT NULL, name TEXT NOT NULL, lease INTEGER NOT NULL,
  says TEXT NOT NULL, policy TEXT NOT NULL, PRIMARY KEY (principal, session, name, lease)) STRICT, WITHOUT ROWID;
";

/// What the first format has not. Its windows stand in `remembered` as a whole: they are read there, and become rows with
/// their next change.
const ENTRIES: &str = "
CREATE TABLE entries (session INTEGER NOT NULL, principal TEXT NOT NULL, name TEXT NOT NULL, number INTEGER NOT NULL,
  entry TEXT NOT NULL, PRIMARY KEY (session, principal, name, number)) STRICT, WITHOUT ROWID;
";

/// Why a step was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failed {
    /// Another process held the file for as long as it was waited.
    Held,
    /// For people.
    Other(String),
}

impl From<rusqlite::Error> for Failed {
    fn from(why: rusqlite::Error) -> Failed {
        match why.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Failed::Held,
            _ => Failed::Other(why.to_string()),
        }
    }
}

/// The open file.
#[derive(Debug)]
pub(super) struct StateFile {
    connection: Connection,
    pub(super) path: PathBuf,
    place: Place,
    /// What is reserved is to survive a power cut.
    is_full: bool,
    /// The next commit does.
    lasts: Cell<bool>,
}

/// Where what sessions with this record remember lies.
pub(super) fn beside(record: &Path) -> PathBuf {
    with_suffix(record, "-state")
}

impl StateFile {
    /// Opens the file, and makes it where it is not.
    ///
    /// # Errors
    /// What to tell a person.
    pub(super) fn make(path: &Path, is_full: bool) -> Result<StateFile, String> {
        let cannot = |why: &dyn std::fmt::Display| cannot(path, why);
        let of_sqlite = |why: rusqlite::Error| match why.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => cannot(&format!("{why}; {REMOVE}")),
            _ => cannot(&why),
        };
        // Made here: a file that SQLite makes is readable by all for a moment.
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Ok(_) => {}
            Err(why) if why.kind() == ErrorKind::AlreadyExists => {}
            Err(why) => return Err(cannot(&why)),
        }
        let connection = connect(path).map_err(of_sqlite)?;
        connection.busy_timeout(START_WAIT).map_err(of_sqlite)?;
        patiently(|| make_tables(&connection)).map_err(of_sqlite)?;
        match format(&connection).map_err(of_sqlite)? {
            Some(FORMAT) => {}
            Some(other) if other > FORMAT => {
                return Err(cannot(&format!(
                    "a newer version wrote it (format {other}, and this one knows {FORMAT}): use that one; or {REMOVE}"
                )));
            }
            _ => return Err(cannot(&format!("it is none of this program's; {REMOVE}"))),
        }
        connection.busy_timeout(Duration::ZERO).map_err(of_sqlite)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let place = Place::of(path).map_err(|why| cannot(&why))?;
        Ok(StateFile { connection, path: path.to_owned(), place, is_full, lasts: Cell::new(false) })
    }

    /// Whether a commit of what is reserved waits for the disk.
    pub(super) fn is_slow(&self) -> bool {
        self.is_full
    }

    /// Says whether the next commits are of what is reserved: only those are to survive a power cut. A call whose end
    /// was lost with the power counts as under way, which is safe.
    pub(super) fn set_lasting(&self, lasts: bool) -> rusqlite::Result<()> {
        let lasts = lasts && self.is_full;
        if self.lasts.replace(lasts) != lasts {
            self.connection.pragma_update(None, "synchronous", if lasts { "FULL" } else { "NORMAL" })?;
        }
        Ok(())
    }

    /// Begins a step: until it is committed or dropped nobody else makes one.
    ///
    /// # Errors
    /// [`Failed`].
    pub(super) fn begin(&self, wait: Duration) -> Result<Transaction<'_>, Failed> {
        // SQLite goes on with a file that was deleted, and who comes after would have another.
        self.place.check().map_err(|why| Failed::Other(why.to_string()))?;
        begin(&self.connection, wait)
    }
}

/// Begins a step on a connection that waits for nobody by itself.
///
/// # Errors
/// [`Failed`].
pub(super) fn begin(connection: &Connection, wait: Duration) -> Result<Transaction<'_>, Failed> {
    let begun = Instant::now();
    loop {
        match Transaction::new_unchecked(connection, TransactionBehavior::Immediate) {
            Ok(step) => return Ok(step),
            Err(why) => match Failed::from(why) {
                Failed::Held if begun.elapsed() < wait => std::thread::sleep(PAUSE),
                failed => return Err(failed),
            },
        }
    }
}

/// Works the WAL into the file, on a connection of its own, so that no step waits for it.
pub(super) fn work_in(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

/// A connection to the file.
///
/// # Errors
/// Of SQLite.
pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    // Nothing that the file brings along is run.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // What a session remembered is to be gone when it is over.
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.busy_timeout(Duration::ZERO)?;
    // A checkpoint inside a step would be a step that takes milliseconds.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    Ok(connection)
}

/// Two processes that both turn a new file into one with a WAL: SQLite gives up at once, where waiting might never end.
fn patiently<T>(mut step: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let begun = Instant::now();
    loop {
        match step() {
            Err(why)
                if why.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && begun.elapsed() < START_WAIT =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            done => return done,
        }
    }
}

/// The format of the file; nothing where it is somebody else's.
fn format(connection: &Connection) -> rusqlite::Result<Option<i32>> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    Ok((number("application_id")? == APPLICATION_ID).then_some(number("user_version")?))
}

fn make_tables(connection: &Connection) -> rusqlite::Result<()> {
    let is_empty = |connection: &Connection| {
        connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get::<_, bool>(0))
    };
    if !is_empty(connection)? && !matches!(format(connection)?, Some(1 | FORMAT)) {
        // Somebody else's, or a newer one: nothing of it is changed.
        return Ok(());
    }
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    let step = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    if is_empty(&step)? {
        step.execute_batch(SCHEMA)?;
        step.execute_batch(ENTRIES)?;
        step.pragma_update(None, "application_id", APPLICATION_ID)?;
        step.pragma_update(None, "user_version", FORMAT)?;
    } else if format(&step)? == Some(1) {
        step.execute_batch(ENTRIES)?;
        step.pragma_update(None, "user_version", FORMAT)?;
    }
    step.commit()
}

fn cannot(path: &Path, why: &dyn std::fmt::Display) -> String {
    format!("what sessions remember cannot be kept in `{}`: {why}", path.display())
}
