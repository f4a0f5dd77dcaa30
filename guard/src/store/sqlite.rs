//! The store as an SQLite file (WAL) that several processes share.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, TransactionBehavior, params};

use super::chain::{Hash, Salt, link};
use super::entry::Entry;
use super::error::StoreError;
use crate::world::Instant;

/// How long another process may hold the file before a step fails.
pub const BUSY_WAIT: Duration = Duration::from_secs(5);

/// The file's `application_id`: "Frmg".
pub const APPLICATION_ID: i32 = 0x4672_6d67;

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS records (
  seq INTEGER PRIMARY KEY,
  body TEXT NOT NULL,
  hash BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS texts (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  bytes BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS contents (
  seq INTEGER NOT NULL,
  field TEXT NOT NULL,
  salt BLOB NOT NULL,
  bytes BLOB,
  text INTEGER,
  PRIMARY KEY (seq, field)
) STRICT, WITHOUT ROWID;
";

/// How a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A commit survives the death of the process (`synchronous=NORMAL`).
    Normal,
    /// A commit survives a power cut (`synchronous=FULL`).
    Full,
}

/// The end of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// Number of the last record; 0 when there is none.
    pub sequence: u64,
    /// Its hash.
    pub hash: Hash,
}

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    /// Gives salts.
    entropy: fn(&mut [u8]),
}

impl Store {
    /// Opens the file for appending; makes it, with mode 0600, where it is not.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open(path: &Path, durability: Durability, entropy: fn(&mut [u8])) -> Result<Store, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_WAIT)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(
            None,
            "synchronous",
            if durability == Durability::Full { "FULL" } else { "NORMAL" },
        )?;
        connection.execute_batch(SCHEMA)?;
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.pragma_update(None, "user_version", super::FORMAT)?;
        Ok(Store { connection, entropy })
    }

    /// Begins a step: until it is committed or dropped nobody else appends.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        let entropy = self.entropy;
        let inner = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let head = head(&inner)?;
        Ok(Transaction { inner, head, entropy })
    }

    /// The end of the chain.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn head(&self) -> Result<Head, StoreError> {
        head(&self.connection)
    }
}

pub(super) fn head(connection: &Connection) -> Result<Head, StoreError> {
    let mut last = connection.prepare_cached("SELECT seq, hash FROM records ORDER BY seq DESC LIMIT 1")?;
    let found =
        last.query_row([], |row| Ok((row.get::<_, u64>(0)?, row.get::<_, [u8; 32]>(1)?))).optional()?;
    Ok(found.map_or_else(Head::default, |(sequence, hash)| Head { sequence, hash: Hash(hash) }))
}

/// Records that are appended together.
#[derive(Debug)]
pub struct Transaction<'s> {
    inner: rusqlite::Transaction<'s>,
    head: Head,
    entropy: fn(&mut [u8]),
}

impl Transaction<'_> {
    /// Appends a record and gives its number.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction is to be dropped then.
    pub fn append(&mut self, entry: &Entry, time: Instant) -> Result<u64, StoreError> {
        let sequence = self.head.sequence.saturating_add(1);
        let mut salts: Vec<Salt> = vec![[0; 16]; entry.contents().len()];
        salts.iter_mut().for_each(|salt| (self.entropy)(salt));
        let body = entry.body(sequence, time.0, &salts);
        let hash = link(&self.head.hash, &body);
        let mut insert =
            self.inner.prepare_cached("INSERT INTO records (seq, body, hash) VALUES (?1, ?2, ?3)")?;
        insert.execute(params![sequence, body, hash.0])?;
        for (content, salt) in entry.contents().iter().zip(&salts).filter(|(content, _)| !content.is_dropped)
        {
            let mut insert = self
                .inner
                .prepare_cached("INSERT INTO contents (seq, field, salt, bytes) VALUES (?1, ?2, ?3, ?4)")?;
            insert.execute(params![sequence, content.field, salt, content.bytes.as_ref()])?;
        }
        self.head = Head { sequence, hash };
        Ok(sequence)
    }

    /// The end of the chain as it will be.
    #[must_use]
    pub fn head(&self) -> Head {
        self.head
    }

    /// Makes them last.
    ///
    /// # Errors
    /// [`StoreError`]: nothing was appended.
    pub fn commit(self) -> Result<Head, StoreError> {
        let head = self.head;
        self.inner.commit()?;
        Ok(head)
    }
}
