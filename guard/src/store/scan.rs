//! All of a store's file, in order, for verification.

use std::path::Path;
use std::thread::{Scope, ScopedJoinHandle};

use bytes::Bytes;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row, Rows, Transaction, TransactionBehavior};

use super::chain::Hash;
use super::error::StoreError;
use super::reader::Reader;
use super::schema::foreign;
use super::source::{Item, RawContent, RawRow, Source, TextRow};
use super::spelling::Body;
use super::sqlite::Store;
use super::verify::{Options, Report, Watch, verify};

const RECORDS: &str = "SELECT seq, body, hash FROM records ORDER BY seq";
const CONTENTS: &str = "SELECT contents.seq, field, salt, contents.bytes, text, texts.hash, texts.bytes
    FROM contents LEFT JOIN texts ON texts.id = contents.text ORDER BY contents.seq, field";
const TEXTS: &str = "SELECT id, hash, bytes FROM texts ORDER BY id";
/// Findings of SQLite's that are kept.
const FINDINGS_MAX: u32 = 3;

impl Reader {
    /// Verifies the whole store as it is now, whoever writes meanwhile. The file itself is looked over too: SQLite
    /// compares its pages, indexes and free lists in a thread beside.
    ///
    /// # Errors
    /// [`StoreError`] when the verification cannot begin; what is wrong in the store stands in the report.
    pub fn verify(&self, options: Options, watch: &mut (dyn Watch + Send)) -> Result<Report, StoreError> {
        let step = Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)?;
        let mut records = step.prepare(RECORDS)?;
        let mut contents = step.prepare(CONTENTS)?;
        std::thread::scope(|scope| {
            let mut scan = Scan {
                connection: &step,
                records: records.query([])?,
                contents: Contents { rows: contents.query([])?, next: None, is_begun: false },
                ahead: None,
                looking: Some(look_over(scope, &self.path)),
                format: self.format(),
                is_newer: self.is_newer(),
            };
            Ok(verify(&mut scan, options, watch))
        })
    }
}

/// A second connection: its snapshot may be a later one, which makes no difference to pages being whole.
fn look_over<'scope>(
    scope: &'scope Scope<'scope, '_>,
    path: &'scope Path,
) -> ScopedJoinHandle<'scope, Result<Vec<String>, StoreError>> {
    scope.spawn(|| {
        let reader = Store::open_read(path)?;
        let mut look = reader.connection.prepare(&format!("PRAGMA integrity_check({FINDINGS_MAX})"))?;
        let found = look.query_map([], |row| row.get::<_, String>(0))?;
        let found: Vec<String> = found.collect::<Result<_, _>>()?;
        Ok(found.into_iter().filter(|finding| finding != "ok").collect())
    })
}

struct Scan<'s> {
    connection: &'s Connection,
    records: Rows<'s>,
    contents: Contents<'s>,
    /// A record whose contents, or what lies before it, are still to come.
    ahead: Option<RawRow>,
    looking: Option<ScopedJoinHandle<'s, Result<Vec<String>, StoreError>>>,
    /// As the header says.
    format: u32,
    is_newer: bool,
}

struct Contents<'s> {
    rows: Rows<'s>,
    next: Option<(i64, RawContent)>,
    is_begun: bool,
}

impl Contents<'_> {
    fn advance(&mut self) -> Result<(), StoreError> {
        self.is_begun = true;
        self.next = match self.rows.next()? {
            None => None,
            Some(row) => Some((row.get(0)?, content(row)?)),
        };
        Ok(())
    }

    fn seq(&mut self) -> Result<Option<i64>, StoreError> {
        if !self.is_begun {
            self.advance()?;
        }
        Ok(self.next.as_ref().map(|(seq, _)| *seq))
    }

    fn take(&mut self) -> Result<Option<RawContent>, StoreError> {
        let taken = self.next.take();
        self.advance()?;
        Ok(taken.map(|(_, content)| content))
    }
}

impl Source for Scan<'_> {
    fn next(&mut self) -> Result<Option<Item>, StoreError> {
        if self.ahead.is_none()
            && let Some(row) = self.records.next()?
        {
            let (body, hash) = (bytes(row, 1)?, array(row, 2)?.map(Hash));
            self.ahead = Some(RawRow { seq: row.get(0)?, body, hash, contents: Vec::new() });
        }
        let record = self.ahead.as_ref().map(|row| row.seq);
        if let Some(seq) = self.contents.seq()?
            && record.is_none_or(|record| seq < record)
        {
            self.contents.take()?;
            return Ok(Some(Item::Stray(seq)));
        }
        let Some(mut row) = self.ahead.take() else { return Ok(None) };
        while self.contents.seq()? == Some(row.seq) {
            row.contents.extend(self.contents.take()?);
        }
        Ok(Some(Item::Record(row)))
    }

    fn texts(&mut self, each: &mut dyn FnMut(TextRow)) -> Result<(), StoreError> {
        let mut select = self.connection.prepare(TEXTS)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            each(TextRow { id: row.get(0)?, hash: array(row, 1)?.map(Hash), bytes: bytes(row, 2)? });
        }
        Ok(())
    }

    fn file(&mut self) -> Vec<String> {
        let mut found = Vec::new();
        let differs = header(self.connection, self.format).unwrap_or_else(|why| Some(why.what()));
        if !self.is_newer || differs.is_some() {
            found.extend(foreign(self.connection).unwrap_or_else(|why| Some(why.what())));
        }
        found.extend(differs);
        match self.looking.take().map(ScopedJoinHandle::join) {
            Some(Ok(Ok(findings))) => found.extend(findings),
            Some(Ok(Err(why))) => found.push(why.what()),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => {}
        }
        found
    }
}

/// The format in the file's header, which says what tables there are, is not that of its first record, which the
/// chain covers: whoever set it higher would have the tables pass unseen.
fn header(connection: &Connection, format: u32) -> Result<Option<String>, StoreError> {
    let mut first = connection.prepare("SELECT body FROM records WHERE seq = 1")?;
    let text = first.query_row([], |row| Ok(row.get_ref(0)?.as_str().map(str::to_owned)));
    let Some(Ok(text)) = text.optional()? else { return Ok(None) };
    let body = Body::read(&text).ok();
    let recorded = body.and_then(|body| body.raw("format")?.parse::<u64>().ok());
    // What is no record is named there.
    let differs = recorded.filter(|recorded| *recorded != u64::from(format));
    Ok(differs.map(|recorded| {
        format!("its `user_version` is {format}, where its first record has the format {recorded}")
    }))
}

fn content(row: &Row<'_>) -> Result<RawContent, StoreError> {
    let text: Option<i64> = row.get(4)?;
    let own = optional_bytes(row, 3)?;
    let is_double = own.is_some() && text.is_some();
    let shared = if text.is_some() { optional_bytes(row, 6)? } else { None };
    let field = match row.get_ref(1)? {
        ValueRef::Blob(bytes) | ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    };
    let text = match text {
        Some(id) => Some((id, array(row, 5)?.map(Hash))),
        None => None,
    };
    Ok(RawContent { field, salt: array(row, 2)?, bytes: own.or(shared).map(Bytes::from), text, is_double })
}

fn array<const LENGTH: usize>(row: &Row<'_>, column: usize) -> Result<Option<[u8; LENGTH]>, StoreError> {
    match row.get_ref(column)? {
        ValueRef::Blob(bytes) | ValueRef::Text(bytes) => Ok(bytes.try_into().ok()),
        _ => Ok(None),
    }
}

fn bytes(row: &Row<'_>, column: usize) -> Result<Vec<u8>, StoreError> {
    Ok(optional_bytes(row, column)?.unwrap_or_default())
}

fn optional_bytes(row: &Row<'_>, column: usize) -> Result<Option<Vec<u8>>, StoreError> {
    match row.get_ref(column)? {
        ValueRef::Blob(bytes) | ValueRef::Text(bytes) => Ok(Some(bytes.to_vec())),
        _ => Ok(None),
    }
}
