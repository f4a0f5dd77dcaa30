//! Retention: contents are deleted, records never. The chain stays whole, and says what is gone and why.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use rusqlite::{OptionalExtension as _, params};

use super::append::Transaction;
use super::entry::Entry;
use super::error::StoreError;
use super::spelling::REMOVED_NAMES_MAX;
use super::sqlite::Store;
use crate::world::Instant;

/// Contents that are deleted in one step: a step of millions would keep other sessions from writing for longer
/// than they wait.
pub const STEP_CONTENTS_MAX: u64 = 10_000;
/// Pages that are given back in one step.
const STEP_PAGES_MAX: u32 = 1_000;
/// What later decisions refer to stays: a policy, a definition, facts. They are few, and kept once.
pub const EXCEPT: [&str; 2] = ["context", "text"];

/// What is to be removed.
#[derive(Debug, Clone, Copy)]
pub struct Removal<'a> {
    /// Number of the first record whose contents go.
    pub from: u64,
    /// Number of the last one.
    pub to: u64,
    /// Which contents; none given: all.
    pub fields: &'a [&'a str],
    /// Kinds of records that keep theirs.
    pub except: &'a [&'a str],
    /// `age`, `size` or `redact`.
    pub why: &'a str,
}

/// What a store keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Contents of older records go.
    pub age: Option<Duration>,
    /// The oldest contents go, until so many bytes of contents are left.
    pub bytes: Option<u64>,
}

impl Store {
    /// Removes contents and gives their number. Done in steps, each whole with its `removed` record; what was done
    /// before an error stays done.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn remove(&mut self, removal: &Removal<'_>, time: Instant) -> Result<u64, StoreError> {
        if removal.fields.len().max(removal.except.len()) > REMOVED_NAMES_MAX {
            return Err(StoreError::Spelling(format!("`removed` names more than {REMOVED_NAMES_MAX}")));
        }
        let to = removal.to.min(self.head()?.sequence);
        let mut from = removal.from.max(1);
        let mut removed = 0;
        while let Some(first) = self.first_content(from, to)? {
            let last = self.step_end(first, to)?;
            removed += self.remove_step(&Removal { from: first, to: last, ..*removal }, time)?;
            from = last.saturating_add(1);
        }
        if removed > 0 {
            self.give_back()?;
        }
        Ok(removed)
    }

    /// Removes what is beyond the limits and gives the number of contents removed. For the start of a session.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn retain(&mut self, limits: &Limits, now: Instant) -> Result<u64, StoreError> {
        let mut removed = 0;
        if let Some(age) = limits.age
            && let Some(to) = self.last_older(age, now)?
        {
            removed +=
                self.remove(&Removal { from: 1, to, fields: &[], except: &EXCEPT, why: "age" }, now)?;
        }
        if let Some(bytes) = limits.bytes
            && let Some(to) = self.last_beyond(bytes)?
        {
            removed +=
                self.remove(&Removal { from: 1, to, fields: &[], except: &EXCEPT, why: "size" }, now)?;
        }
        Ok(removed)
    }

    fn first_content(&self, from: u64, to: u64) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT seq FROM contents WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq LIMIT 1";
        Ok(self.connection.prepare_cached(sql)?.query_row([from, to], |row| row.get(0)).optional()?)
    }

    /// The last record of a step that begins with this one.
    fn step_end(&self, from: u64, to: u64) -> Result<u64, StoreError> {
        let sql = "SELECT seq FROM contents WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq LIMIT 1 OFFSET ?3";
        let mut select = self.connection.prepare_cached(sql)?;
        let next: Option<u64> =
            select.query_row([from, to, STEP_CONTENTS_MAX], |row| row.get(0)).optional()?;
        Ok(next.map_or(to, |next| next.saturating_sub(1).max(from)))
    }

    fn remove_step(&mut self, removal: &Removal<'_>, time: Instant) -> Result<u64, StoreError> {
        let mut step = self.begin()?;
        let removed = step.delete(removal)?;
        if removed == 0 {
            return Ok(0);
        }
        let entry = Entry::new("removed")
            .number("from", removal.from)
            .number("to", removal.to)
            .texts("fields", removal.fields.iter().copied())
            .texts("except", removal.except.iter().copied())
            .text("why", removal.why);
        step.append(&entry, time)?;
        step.commit()?;
        Ok(removed)
    }

    /// Free pages go back to the file system, a few at a time.
    fn give_back(&self) -> Result<(), StoreError> {
        let free = || self.connection.pragma_query_value(None, "freelist_count", |row| row.get::<_, u32>(0));
        let mut left = free()?;
        while left > 0 {
            let sql = format!("PRAGMA incremental_vacuum({STEP_PAGES_MAX})");
            let mut vacuum = self.connection.prepare(&sql)?;
            let mut rows = vacuum.query([])?;
            while rows.next()?.is_some() {}
            let now = free()?;
            // A file that somebody made without it has no such thing.
            if now >= left {
                break;
            }
            left = now;
        }
        Ok(())
    }

    /// The last record before the first one that is young enough. Clocks are set: what claims to come from the
    /// future says nothing, and one old record among young ones is no reason to go on.
    fn last_older(&self, age: Duration, now: Instant) -> Result<Option<u64>, StoreError> {
        let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
        let oldest = now.0.saturating_sub(age);
        let Some(first) = self.first_content(1, i64::MAX.unsigned_abs())? else { return Ok(None) };
        let sql = "SELECT seq FROM records WHERE seq >= ?1
            AND json_extract(body, '$.time') BETWEEN ?2 AND ?3 ORDER BY seq LIMIT 1";
        let mut select = self.connection.prepare_cached(sql)?;
        let young: Option<u64> =
            select.query_row(params![first, oldest, now.0], |row| row.get(0)).optional()?;
        let last = match young {
            Some(young) => young.saturating_sub(1),
            None => self.head()?.sequence,
        };
        Ok(Some(last).filter(|last| *last >= first))
    }

    /// The last record whose contents do not fit any more, counted from the newest. A text that several records
    /// share counts once, for the newest.
    fn last_beyond(&self, most: u64) -> Result<Option<u64>, StoreError> {
        if self.bytes_used()? <= most {
            return Ok(None);
        }
        let mut select = self.connection.prepare(
            "SELECT contents.seq, text, length(coalesce(contents.bytes, texts.bytes)) FROM contents
             LEFT JOIN texts ON texts.id = contents.text
             JOIN records ON records.seq = contents.seq
             WHERE json_extract(records.body, '$.kind') NOT IN (SELECT value FROM json_each(?1))
             ORDER BY contents.seq DESC",
        )?;
        let mut rows = select.query([list(&EXCEPT)])?;
        let mut seen = HashSet::new();
        let mut bytes = 0_u64;
        while let Some(row) = rows.next()? {
            let text: Option<i64> = row.get(1)?;
            if text.is_none_or(|text| seen.insert(text)) {
                bytes = bytes.saturating_add(row.get::<_, Option<u64>>(2)?.unwrap_or_default());
            }
            if bytes > most {
                return Ok(Some(row.get(0)?));
            }
        }
        Ok(None)
    }

    /// Bytes of the file that hold something; contents are fewer.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn bytes_used(&self) -> Result<u64, StoreError> {
        let value = |name| self.connection.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
        let pages = value("page_count")?.saturating_sub(value("freelist_count")?);
        Ok(pages.saturating_mul(value("page_size")?))
    }
}

impl Transaction<'_> {
    /// Deletes contents, and the texts that nobody points to any more.
    fn delete(&mut self, removal: &Removal<'_>) -> Result<u64, StoreError> {
        let mut delete = self.inner.prepare_cached(
            "DELETE FROM contents WHERE seq BETWEEN ?1 AND ?2
             AND (?3 = '[]' OR field IN (SELECT value FROM json_each(?3)))
             AND (?4 = '[]' OR seq NOT IN (SELECT seq FROM records WHERE seq BETWEEN ?1 AND ?2
                  AND json_extract(body, '$.kind') IN (SELECT value FROM json_each(?4))))
             RETURNING text",
        )?;
        let values = params![removal.from, removal.to, list(removal.fields), list(removal.except)];
        let mut count = 0;
        let mut texts = BTreeSet::new();
        for text in delete.query_map(values, |row| row.get::<_, Option<i64>>(0))? {
            count += 1;
            texts.extend(text?);
        }
        let mut drop = self.inner.prepare_cached(
            "DELETE FROM texts WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM contents WHERE text = ?1)",
        )?;
        for text in texts {
            drop.execute([text])?;
        }
        Ok(count)
    }
}

fn list(names: &[&str]) -> String {
    serde_json::Value::from(names.to_vec()).to_string()
}
