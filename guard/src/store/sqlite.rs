//! The store as an SQLite file (WAL) that several processes share: how it is made and opened.

use std::cell::Cell;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, TransactionBehavior};

pub use super::append::Transaction;
pub use super::chain::Head;
use super::chain::{Entropy, Hash};
use super::checkpoint::{Turn, WAL_BYTES_MAX};
use super::error::StoreError;
use super::schema;

/// How long another process may hold the file before a step fails.
pub const BUSY_WAIT: Duration = Duration::from_secs(5);
/// How long a first look at a file that is busy is waited for again: SQLite gives up at once where waiting
/// might never end (two processes that both turn a new file into one with a WAL).
const BUSY_PAUSE: Duration = Duration::from_millis(5);
/// The file's `application_id`: "Frmg".
pub const APPLICATION_ID: i32 = 0x4672_6d67;
/// The file of a WAL that is begun anew is cut to this: to what a WAL takes under steady load, so that it is written
/// over and not made longer again each time.
const WAL_BYTES_KEPT: u64 = WAL_BYTES_MAX;
/// Statements kept prepared.
const STATEMENTS: usize = 32;

/// How a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A commit survives the death of the process (`synchronous=NORMAL`).
    Normal,
    /// A commit survives a power cut (`synchronous=FULL`).
    Full,
}

/// An open store.
#[derive(Debug)]
pub struct Store {
    pub(super) connection: Connection,
    /// Gives salts.
    entropy: Entropy,
    /// The schema's version that was found to be ours.
    schema: i64,
    turn: Turn,
}

impl Store {
    /// Opens the file for appending; makes it, with mode 0600, where it is not. Its WAL grows until a
    /// [`super::checkpoint::Checkpointer`] works it in.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open(path: &Path, durability: Durability, entropy: Entropy) -> Result<Store, StoreError> {
        make_file(path)?;
        let connection = connect(path)?;
        patiently(|| make_tables(&connection))?;
        let level = if durability == Durability::Full { "FULL" } else { "NORMAL" };
        connection.pragma_update(None, "synchronous", level)?;
        // A checkpoint inside a commit would be a commit that takes milliseconds.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let schema = patiently(|| our_schema(&connection))?;
        Ok(Store { connection, entropy, schema, turn: Turn::of(path) })
    }

    /// Begins a step: until it is committed or dropped nobody else appends.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        self.turn.give();
        let inner = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Somebody may have changed the tables since; nobody can while this step lasts.
        let version = schema::version(&inner)?;
        if version != self.schema {
            schema::demand(&inner)?;
            self.schema = version;
        }
        Transaction::new(inner, self.entropy)
    }

    /// The end of the chain.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn head(&self) -> Result<Head, StoreError> {
        head(&self.connection)
    }
}

/// An empty file that nobody else may read: SQLite gives the mode to the WAL and its index too. Made by us,
/// since a file that SQLite makes is readable by all for a moment. Only its maker is here when it is made twice.
fn make_file(path: &Path) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(why) if why.kind() == ErrorKind::AlreadyExists => look_at_file(path),
        Err(why) => Err(cannot_open(path, &why)),
    }
}

/// A pipe or a device would be waited for, or spoilt.
pub(super) fn look_at_file(path: &Path) -> Result<(), StoreError> {
    let found = std::fs::metadata(path).map_err(|why| cannot_open(path, &why))?;
    if found.is_file() {
        return Ok(());
    }
    Err(StoreError::NotAStore(format!("`{}` is not a file", path.display())))
}

fn cannot_open(path: &Path, why: &std::io::Error) -> StoreError {
    let text = format!("`{}`: {why}", path.display());
    match why.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::Full,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly(text),
        _ => StoreError::Open(text),
    }
}

/// A connection that writes. SQLite itself makes no file: where a link leads nowhere, its mode would not be ours.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_handler(Some(wait))?;
    if connection.is_readonly("main")? {
        return Err(StoreError::ReadOnly(format!("`{}` may only be read", path.display())));
    }
    schema::distrust(&connection)?;
    connection.pragma_update(None, "journal_size_limit", WAL_BYTES_KEPT)?;
    // What is removed is to be gone. From the beginning: when a page is split, what moved stays readable behind.
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(connection)
}

/// Waits for whoever holds the file, as SQLite does, in smaller steps: a commit takes microseconds. The bound is
/// one in time: on a busy machine pauses take far longer than they say.
pub(super) fn wait(tries: i32) -> bool {
    /// So many short pauses come first.
    const SHORT: i32 = 20;
    thread_local! {
        /// When this thread's waiting began.
        static BEGUN: Cell<Option<Instant>> = const { Cell::new(None) };
    }
    if tries == 0 {
        BEGUN.set(Some(Instant::now()));
    }
    let pause = if tries < SHORT { Duration::from_micros(250) } else { Duration::from_millis(2) };
    std::thread::sleep(pause);
    BEGUN.get().is_some_and(|begun| begun.elapsed() < BUSY_WAIT)
}

/// Tries again while the file is busy, up to [`BUSY_WAIT`].
fn patiently<T>(mut step: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
    let begun = Instant::now();
    loop {
        match step() {
            Err(StoreError::Locked { .. }) if begun.elapsed() < BUSY_WAIT => std::thread::sleep(BUSY_PAUSE),
            done => return done,
        }
    }
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Empty,
    Ours,
}

/// The file's format, if it is ours.
pub(super) fn format(connection: &Connection) -> Result<u32, StoreError> {
    let id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if id != APPLICATION_ID {
        return Err(StoreError::NotAStore("it is some other program's database, or empty".into()));
    }
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

fn look(connection: &Connection) -> Result<Found, StoreError> {
    let things: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if things == 0 && id == 0 {
        return Ok(Found::Empty);
    }
    match format(connection)? {
        newer if newer > super::FORMAT => Err(StoreError::Newer(newer)),
        // Who sets it to 0 would have the tables pass for some older form of ours.
        super::FORMAT => Ok(Found::Ours),
        other => Err(StoreError::Altered(format!("its `user_version` is {other}, which no format has"))),
    }
}

/// Makes the tables in an empty file. All or nothing, whoever else is about to do the same.
fn make_tables(connection: &Connection) -> Result<(), StoreError> {
    if look(connection)? == Found::Empty {
        // Counts only before anything is written, and gives back what retention frees.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        return Err(StoreError::Open("this file system has no shared memory, which the store needs".into()));
    }
    if look(connection)? == Found::Ours {
        return Ok(());
    }
    let step = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    if look(&step)? == Found::Empty {
        for (_, sql) in schema::SCHEMA {
            step.execute_batch(sql)?;
        }
        step.pragma_update(None, "application_id", APPLICATION_ID)?;
        step.pragma_update(None, "user_version", super::FORMAT)?;
    }
    Ok(step.commit()?)
}

/// The version of a schema that is ours; both seen in one snapshot.
fn our_schema(connection: &Connection) -> Result<i64, StoreError> {
    let step = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    schema::demand(&step)?;
    schema::version(&step)
}

pub(super) fn head(connection: &Connection) -> Result<Head, StoreError> {
    let mut last = connection.prepare_cached("SELECT seq, hash FROM records ORDER BY seq DESC LIMIT 1")?;
    let found =
        last.query_row([], |row| Ok((row.get::<_, u64>(0)?, row.get::<_, [u8; 32]>(1)?))).optional()?;
    Ok(found.map_or_else(Head::default, |(sequence, hash)| Head { sequence, hash: Hash(hash) }))
}
