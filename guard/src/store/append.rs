//! A step: records that are appended together, or not at all.

use rusqlite::{OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

use super::FORMAT;
use super::chain::{Entropy, Salt, hex, link};
use super::entry::{Content, Entry, Keep};
use super::error::StoreError;
use super::spelling::Body;
use super::sqlite::{Head, head};
use crate::world::Instant;

/// Records that are appended together. Dropped, it leaves nothing.
#[derive(Debug)]
pub struct Transaction<'s> {
    pub(super) inner: rusqlite::Transaction<'s>,
    head: Head,
    entropy: Entropy,
    /// Why an append failed: half a record must not be committed by a caller who did not look.
    failed: Option<StoreError>,
}

impl<'s> Transaction<'s> {
    pub(super) fn new(
        inner: rusqlite::Transaction<'s>,
        entropy: Entropy,
    ) -> Result<Transaction<'s>, StoreError> {
        let head = head(&inner)?;
        Ok(Transaction { inner, head, entropy, failed: None })
    }

    /// Appends a record and gives its number. Before the first one stands the store's own.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction cannot be committed then.
    pub fn append(&mut self, entry: &Entry, time: Instant) -> Result<u64, StoreError> {
        let done = self.begun(time).and_then(|()| self.insert(entry, time));
        if let Err(why) = &done {
            self.failed.get_or_insert_with(|| why.clone());
        }
        done
    }

    /// Appends a checkpoint: this key has seen all that stands before it. Gives its number.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction cannot be committed then.
    #[cfg(feature = "sign")]
    pub fn checkpoint(&mut self, key: &ed25519_dalek::SigningKey, time: Instant) -> Result<u64, StoreError> {
        if let Err(why) = self.begun(time) {
            self.failed.get_or_insert_with(|| why.clone());
            return Err(why);
        }
        let entry = super::sign::entry(key, &self.head);
        self.append(&entry, time)
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
        if let Some(why) = self.failed {
            return Err(why);
        }
        self.inner.commit()?;
        Ok(self.head)
    }

    /// The first record says what the file is; its random id tells two stores apart.
    fn begun(&mut self, time: Instant) -> Result<(), StoreError> {
        if self.head.sequence > 0 {
            return Ok(());
        }
        let mut id: Salt = [0; 16];
        (self.entropy)(&mut id)?;
        let by = concat!("framegate ", env!("CARGO_PKG_VERSION"));
        let entry = Entry::new("store").number("format", FORMAT).text("id", &hex(&id)).text("by", by);
        self.insert(&entry, time).map(|_| ())
    }

    fn insert(&mut self, entry: &Entry, time: Instant) -> Result<u64, StoreError> {
        let sequence = self.head.sequence.saturating_add(1);
        let mut salts: Vec<Salt> = vec![[0; 16]; entry.contents().len()];
        salts.iter_mut().try_for_each(|salt| (self.entropy)(salt))?;
        let body = entry.body(sequence, time.0, &salts);
        Body::read(&body).map_err(|why| StoreError::Spelling(why.to_string()))?;
        let hash = link(&self.head.hash, &body);
        let count = self
            .inner
            .prepare_cached("INSERT INTO records (seq, body, hash) VALUES (?1, ?2, ?3)")?
            .execute(params![sequence, body, hash.0])?;
        one("records", count)?;
        for (content, salt) in entry.contents().iter().zip(&salts) {
            self.keep(sequence, content, salt)?;
        }
        self.head = Head { sequence, hash };
        Ok(sequence)
    }

    fn keep(&mut self, sequence: u64, content: &Content, salt: &Salt) -> Result<(), StoreError> {
        let (bytes, text) = match content.keep {
            Keep::Not => return Ok(()),
            Keep::Own => (Some(content.bytes.as_ref()), None),
            Keep::Shared => (None, Some(self.text(&content.bytes)?)),
        };
        let count = self
            .inner
            .prepare_cached(
                "INSERT INTO contents (seq, field, salt, bytes, text) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![sequence, content.field, salt, bytes, text])?;
        one("contents", count)
    }

    /// The number of a text, which is kept from now on if it was not.
    fn text(&mut self, bytes: &[u8]) -> Result<i64, StoreError> {
        let hash: [u8; 32] = Sha256::digest(bytes).into();
        let mut known = self.inner.prepare_cached("SELECT id FROM texts WHERE hash = ?1")?;
        if let Some(id) = known.query_row([hash], |row| row.get(0)).optional()? {
            return Ok(id);
        }
        let mut insert = self.inner.prepare_cached("INSERT INTO texts (hash, bytes) VALUES (?1, ?2)")?;
        Ok(insert.insert(params![hash, bytes])?)
    }
}

/// What SQLite did not write was not recorded: something in the file may swallow a row without an error.
fn one(table: &str, count: usize) -> Result<(), StoreError> {
    if count == 1 {
        return Ok(());
    }
    Err(StoreError::Corrupt(format!("{count} rows were written to `{table}` where one was to be")))
}
