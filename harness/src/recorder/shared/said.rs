//! What one process of a session heard, told to the others: their checks depend on it as on their own servers' words.
//!
//! An output is in the file before the client has it, so whoever decides a call that a model made after reading it
//! finds it there. Small ones are written where they are heard, the others by the keeper, while the answer waits.
//! Each process makes ready for itself what it reads. What the record would not keep whole is not kept here either:
//! the others learn that there was something, and what depends on it asks.

use std::collections::VecDeque;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use framegate_guard::ledger::{LedgerFailure, Overheard, Shared};
use framegate_guard::session::{Origin, OutputKind};
use framegate_guard::store::keep::Keep;
use rusqlite::{Connection, Transaction, params};
use tokio::sync::Notify;

use super::core::Core;
use super::file::{Failed, begin, connect};
use super::{HELD_WAIT, MOMENT, SharedPast};

/// Larger ones are written by the keeper.
const ON_THREAD_BYTES_MAX: usize = 64 * 1024;
/// Outputs that are kept of one session, and their bytes. Beyond that the oldest go: who has not read them by then
/// knows only that there were some.
pub(super) const KEPT_MAX: i64 = 4096;
pub(super) const KEPT_BYTES_MAX: i64 = 32 * 1024 * 1024;
/// Outputs between two looks at that.
const LOOK_EVERY: u64 = 64;

/// An output.
#[derive(Debug)]
pub(super) struct Said {
    kind: &'static str,
    name: String,
    read_only: Option<bool>,
    arguments: Option<Bytes>,
    text: Option<String>,
}

impl Said {
    fn bytes(&self) -> usize {
        let arguments = self.arguments.as_ref().map_or(0, Bytes::len);
        self.text.as_ref().map_or(0, String::len) + arguments + self.name.len()
    }
}

/// What this process tells.
#[derive(Debug)]
pub(super) struct Telling {
    keep: Keep,
    count: AtomicU64,
    waiting: Mutex<VecDeque<Said>>,
    told: Arc<Notify>,
    /// What is to be written before an answer goes on: outputs, ends of calls.
    left: Arc<AtomicU64>,
}

impl Telling {
    pub(super) fn new(keep: Keep) -> Telling {
        let (told, left) = (Arc::default(), Arc::default());
        Telling { keep, count: AtomicU64::new(0), waiting: Mutex::default(), told, left }
    }

    /// Something more is about to be written that others must know first.
    pub(super) fn is_due(&self) {
        self.left.fetch_add(1, Ordering::AcqRel);
    }

    /// It is written, or cannot be; `was_due`: whether anybody waits for it.
    pub(super) fn is_told(&self, was_due: bool) {
        if was_due {
            self.left.fetch_sub(1, Ordering::AcqRel);
            self.told.notify_waiters();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Said>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn said(&self, of: Shared<'_>) -> Said {
        let is_hidden = |text: &str| match self.keep {
            Keep::Full => false,
            Keep::None => true,
            Keep::Redacted(redact) => redact.redact(text.as_bytes()).is_some(),
        };
        let Origin { name, kind, read_only, arguments } = of.origin.clone();
        let is_told = |arguments: &Bytes| !is_hidden(&String::from_utf8_lossy(arguments));
        // Without the arguments nobody could tell what of the text only says them back.
        let whole = arguments.as_ref().is_none_or(is_told);
        let text = of.text.filter(|text| whole && !is_hidden(text)).map(str::to_owned);
        let arguments = arguments.filter(|_| text.is_some());
        Said { kind: kind.name(), name: (*name).to_owned(), read_only, arguments, text }
    }
}

impl SharedPast {
    /// Tells the others.
    pub(crate) fn tell(&self, of: Shared<'_>) {
        let (core, telling) = (&*self.core, &self.core.telling);
        let said = telling.said(of);
        let is_small = said.bytes() <= ON_THREAD_BYTES_MAX && telling.waiting().is_empty();
        let at_once = || {
            let mut held = core.try_held()?;
            core.turn(&mut held, MOMENT, |turn| {
                turn.writes = true;
                insert(&turn.step, core, &said)
            })
            .ok()
        };
        if is_small && at_once().is_some() {
            if telling.count.fetch_add(1, Ordering::Relaxed) % LOOK_EVERY == LOOK_EVERY - 1 {
                self.wake();
            }
            return;
        }
        telling.is_due();
        telling.waiting().push_back(said);
        self.wake();
    }

    /// Something to wait for while what was told is not written. It ends in any case: the answer is its client's.
    pub(crate) fn telling(&self) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        let telling = &self.core.telling;
        if telling.left.load(Ordering::Acquire) == 0 {
            return None;
        }
        let (told, left) = (Arc::clone(&telling.told), Arc::clone(&telling.left));
        let all = async move {
            loop {
                let mut next = std::pin::pin!(told.notified());
                // Enabled before the look, so that no wake-up falls between the two.
                next.as_mut().enable();
                if left.load(Ordering::Acquire) == 0 {
                    return;
                }
                next.await;
            }
        };
        Some(Box::pin(async move {
            let _ = tokio::time::timeout(HELD_WAIT, all).await;
        }))
    }

    /// What the others told since the last time.
    ///
    /// # Errors
    /// [`LedgerFailure`].
    pub(crate) fn overheard(&self) -> Result<Vec<Overheard>, LedgerFailure> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader.read(&self.core).map_err(|why| self.core.failure(why))
    }
}

impl Core {
    /// Writes what waits to be told, on the keeper's connection.
    pub(super) fn tell_waiting(&self, connection: &Connection) -> Result<(), Failed> {
        let telling = &self.telling;
        loop {
            // Only the keeper takes from the front.
            let Some(said) = telling.waiting().pop_front() else { break };
            let told = begin(connection, HELD_WAIT).and_then(|step| {
                insert(&step, self, &said)?;
                Ok(step.commit()?)
            });
            if let Err(why) = told {
                telling.waiting().push_front(said);
                return Err(why);
            }
            telling.count.fetch_add(1, Ordering::Relaxed);
            telling.is_told(true);
        }
        if telling.count.load(Ordering::Relaxed) >= LOOK_EVERY {
            telling.count.store(0, Ordering::Relaxed);
            let step = begin(connection, HELD_WAIT)?;
            drop_oldest(&step, self.about.session)?;
            step.commit()?;
        }
        Ok(())
    }
}

fn insert(step: &Transaction<'_>, core: &Core, said: &Said) -> Result<(), Failed> {
    let insert = "INSERT INTO said (session, lease, bytes, server, kind, name, read_only, arguments, text) \
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let (about, bytes) = (&core.about, said.bytes());
    let row = params![
        about.session,
        about.lease,
        bytes,
        about.server,
        said.kind,
        said.name,
        said.read_only,
        said.arguments.as_deref(),
        said.text,
    ];
    step.prepare_cached(insert)?.execute(row)?;
    Ok(())
}

/// Keeps the last ones.
pub(super) fn drop_oldest(step: &Transaction<'_>, session: i64) -> Result<(), Failed> {
    let newest_first = "SELECT number, bytes FROM said WHERE session = ?1 ORDER BY number DESC";
    let (mut count, mut bytes, mut last) = (0, 0, None);
    {
        let mut select = step.prepare_cached(newest_first)?;
        let mut rows = select.query([session])?;
        while let Some(row) = rows.next()? {
            count += 1;
            bytes += row.get::<_, i64>(1)?;
            if count > KEPT_MAX || bytes > KEPT_BYTES_MAX {
                last = Some(row.get::<_, i64>(0)?);
                break;
            }
        }
    }
    let Some(last) = last else { return Ok(()) };
    step.execute("DELETE FROM said WHERE session = ?1 AND number <= ?2", [session, last])?;
    step.execute("UPDATE sessions SET lost = ?2 WHERE number = ?1", [session, last])?;
    Ok(())
}

/// Reads what the others tell, on a connection of its own: a step that is being made is in nobody's way.
#[derive(Debug)]
pub(super) struct Reader {
    connection: Connection,
    /// The last one that was read.
    last: i64,
    /// Changes with each commit of somebody else's.
    seen: Option<i64>,
}

impl Reader {
    pub(super) fn open(path: &Path) -> rusqlite::Result<Reader> {
        Ok(Reader { connection: connect(path)?, last: 0, seen: None })
    }

    fn read(&mut self, core: &Core) -> Result<Vec<Overheard>, Failed> {
        let version =
            |it: &Connection| it.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0));
        let seen: i64 = version(&self.connection)?;
        if self.seen == Some(seen) {
            return Ok(Vec::new());
        }
        let step = self.connection.unchecked_transaction()?;
        let about = &core.about;
        let lost: i64 = step
            .prepare_cached("SELECT lost FROM sessions WHERE number = ?1")?
            .query_row([about.session], |row| row.get(0))?;
        let mut all = Vec::new();
        if lost > self.last {
            all.push(Overheard {
                origin: Origin::new(OutputKind::Server, "the session, early on"),
                text: None,
            });
        }
        let mut last = self.last.max(lost);
        {
            let mut select = step.prepare_cached(
                "SELECT number, server, kind, name, read_only, arguments, text FROM said \
                 WHERE session = ?1 AND number > ?2 AND lease <> ?3 ORDER BY number",
            )?;
            let mut rows = select.query(params![about.session, self.last, about.lease])?;
            while let Some(row) = rows.next()? {
                last = last.max(row.get(0)?);
                let (server, name): (String, String) = (row.get(1)?, row.get(3)?);
                let kind = OutputKind::named(&row.get::<_, String>(2)?);
                let origin = Origin::new(kind.unwrap_or_default(), &format!("{server}/{name}"));
                let arguments: Option<Vec<u8>> = row.get(5)?;
                let origin = Origin { arguments: arguments.map(Bytes::from), ..origin };
                all.push(Overheard { origin: origin.read_only(row.get(4)?), text: row.get(6)? });
            }
        }
        drop(step);
        (self.last, self.seen) = (last, Some(seen));
        Ok(all)
    }
}
