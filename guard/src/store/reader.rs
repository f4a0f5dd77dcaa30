//! A store's file, read: it is never changed, whoever writes it meanwhile.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::ops::{Bound, RangeBounds};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};

use super::FORMAT;
use super::chain::Hash;
use super::error::StoreError;
use super::read::{Kept, Row};
use super::sqlite::{BUSY_WAIT, Head, Store};

/// Rows that are read at once: what is read holds no lock between two pages.
const PAGE_ROWS: usize = 256;

/// A store that is only read.
#[derive(Debug)]
pub struct Reader {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    format: u32,
}

impl Store {
    /// Opens the file for reading. A file of a newer format is read too, as far as its tables are ours.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open_read(path: &Path) -> Result<Reader, StoreError> {
        super::sqlite::look_at_file(path)?;
        let (connection, format) = match connect(path, OpenFlags::empty()) {
            // Where nobody may write, the WAL's index cannot be made; without a WAL none is needed.
            Err(StoreError::Open(_) | StoreError::ReadOnly(_)) if !has_wal(path) => {
                connect(&unchanging(path), OpenFlags::SQLITE_OPEN_URI)?
            }
            done => done?,
        };
        Ok(Reader { connection, path: path.to_owned(), format })
    }
}

fn connect(path: &Path, more: OpenFlags) -> Result<(Connection, u32), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_WAIT)?;
    super::schema::distrust(&connection)?;
    let format = super::sqlite::format(&connection)?;
    Ok((connection, format))
}

fn has_wal(path: &Path) -> bool {
    let mut wal = OsString::from(path);
    wal.push("-wal");
    std::fs::metadata(wal).is_ok_and(|found| found.len() > 0)
}

/// The file's address for SQLite as one that nobody writes.
fn unchanging(path: &Path) -> PathBuf {
    let mut address = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                address.push(char::from(*byte));
            }
            _ => address.push_str(&format!("%{byte:02x}")),
        }
    }
    address.push_str("?immutable=1");
    PathBuf::from(address)
}

impl Reader {
    /// The file's format.
    #[must_use]
    pub fn format(&self) -> u32 {
        self.format
    }

    /// Whether a later version of this program made it.
    #[must_use]
    pub fn is_newer(&self) -> bool {
        self.format > FORMAT
    }

    /// The end of the chain.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn head(&self) -> Result<Head, StoreError> {
        super::sqlite::head(&self.connection)
    }

    /// One record.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn row(&self, seq: u64) -> Result<Option<Row>, StoreError> {
        let mut select =
            self.connection.prepare_cached("SELECT seq, body, hash FROM records WHERE seq = ?1")?;
        Ok(select.query_row([seq], row).optional()?)
    }

    /// The records with these numbers, in order. Others may append meanwhile; an open end sees that.
    pub fn rows(&self, numbers: impl RangeBounds<u64>) -> Rows<'_> {
        self.ordered(numbers, false)
    }

    /// The same from the last to the first.
    pub fn rows_back(&self, numbers: impl RangeBounds<u64>) -> Rows<'_> {
        self.ordered(numbers, true)
    }

    fn ordered(&self, numbers: impl RangeBounds<u64>, is_back: bool) -> Rows<'_> {
        let from = match numbers.start_bound() {
            Bound::Included(from) => Some(*from),
            Bound::Excluded(before) => before.checked_add(1),
            Bound::Unbounded => Some(0),
        };
        let to = match numbers.end_bound() {
            Bound::Included(to) => Some(*to),
            Bound::Excluded(after) => after.checked_sub(1),
            Bound::Unbounded => Some(u64::MAX),
        };
        // SQLite's integers end at 2^63 - 1.
        let most = i64::MAX.unsigned_abs();
        let left = from.zip(to).map(|(from, to)| (from, to.min(most))).filter(|(from, to)| from <= to);
        Rows { reader: self, page: VecDeque::new(), left, is_back }
    }

    /// The last records, in order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn last(&self, count: usize) -> Result<Vec<Row>, StoreError> {
        let mut rows: Vec<Row> = self.rows_back(..).take(count).collect::<Result<_, _>>()?;
        rows.reverse();
        Ok(rows)
    }

    /// What is still there of a record's contents, by name.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn contents(&self, seq: u64) -> Result<Vec<Kept>, StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT field, salt, coalesce(contents.bytes, texts.bytes) FROM contents
             LEFT JOIN texts ON texts.id = contents.text WHERE seq = ?1 ORDER BY field",
        )?;
        let kept = select.query_map([seq], |row| {
            let bytes: Vec<u8> = row.get(2)?;
            Ok(Kept { field: row.get(0)?, salt: row.get(1)?, bytes: Bytes::from(bytes) })
        })?;
        Ok(kept.collect::<Result<_, _>>()?)
    }

    /// One content of a record, if it is still there.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn content(&self, seq: u64, field: &str) -> Result<Option<Kept>, StoreError> {
        Ok(self.contents(seq)?.into_iter().find(|kept| kept.field == field))
    }
}

fn row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    Ok(Row { seq: row.get(0)?, body: row.get(1)?, hash: Hash(row.get(2)?) })
}

/// Records in order; see [`Reader::rows`].
#[derive(Debug)]
pub struct Rows<'r> {
    reader: &'r Reader,
    page: VecDeque<Row>,
    /// First and last number that may still come.
    left: Option<(u64, u64)>,
    is_back: bool,
}

impl Rows<'_> {
    fn fill(&mut self) -> Result<(), StoreError> {
        let Some((from, to)) = self.left else { return Ok(()) };
        let sql = if self.is_back {
            "SELECT seq, body, hash FROM records WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq DESC LIMIT ?3"
        } else {
            "SELECT seq, body, hash FROM records WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq LIMIT ?3"
        };
        let mut select = self.reader.connection.prepare_cached(sql)?;
        let rows = select.query_map(params![from, to, PAGE_ROWS], row)?;
        self.page = rows.collect::<Result<_, _>>()?;
        self.left = match self.page.back() {
            None => None,
            Some(last) if self.is_back => last.seq.checked_sub(1).map(|to| (from, to)),
            Some(last) => last.seq.checked_add(1).map(|from| (from, to)),
        };
        self.left = self.left.filter(|(from, to)| from <= to);
        Ok(())
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<Row, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.is_empty()
            && let Err(why) = self.fill()
        {
            self.left = None;
            return Some(Err(why));
        }
        self.page.pop_front().map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::Durability;

    #[test]
    fn a_file_that_nobody_writes_is_found_by_its_address() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b?c#d%e é\u{1}.db");
        drop(Store::open(&path, Durability::Normal, |_| Ok(())).unwrap());
        let (connection, format) = connect(&unchanging(&path), OpenFlags::SQLITE_OPEN_URI).unwrap();
        assert_eq!(format, FORMAT);
        assert!(connection.is_readonly("main").unwrap());
        assert!(!has_wal(&path));
    }
}
