//! The past of one session as one server's wrapper sees it: read once, then only what others changed.
//!
//! `made` is kept for each server: the same tool with the same arguments is another call elsewhere. What is open, and
//! what policies remember, is the session's; of the latter some is the store's.

use std::collections::{BTreeMap, BTreeSet};

use framegate_guard::ledger::{OpenCall, Part, Past, Rows, Transition, parted};
use framegate_guard::proposal::CallKey;
use rusqlite::{Transaction, params};

use super::entries;
use super::file::Failed;

/// Bits of a step's number that count the steps of one process; those before it are its lease's number.
pub(super) const STEP_BITS: u32 = 40;
/// Stands for the session of what is the store's.
pub(super) const STORE: i64 = 0;

/// Whose past.
#[derive(Debug)]
pub(super) struct About {
    pub(super) principal: String,
    pub(super) session: i64,
    pub(super) server: String,
    pub(super) lease: u64,
}

/// What is known of it.
#[derive(Debug, Default)]
pub(super) struct Mirror {
    pub(super) past: Past,
    /// The clock's, as of when all of it was read.
    version: i64,
    /// `PRAGMA data_version`: changes with each commit of somebody else's. Nothing where all is to be read anew.
    seen: Option<i64>,
    /// How often something was found changed, or changed.
    changes: u64,
    /// Variables that are the store's, as the policy here declares them.
    stores: BTreeSet<String>,
    /// Calls of this process that have not ended: what they do to the state is nowhere else.
    own: BTreeMap<u64, OpenCall>,
    /// Calls of other sessions that may change what is the store's.
    elsewhere: BTreeSet<u64>,
}

impl Mirror {
    /// What is done to it from here on may not be committed; then all is read anew.
    pub(super) fn doubt(&mut self) -> Option<i64> {
        self.seen.take()
    }

    /// It was committed.
    pub(super) fn trust(&mut self, seen: Option<i64>) {
        self.seen = seen;
    }

    /// The policy says anew which variables are the store's.
    pub(super) fn set_stores(&mut self, stores: BTreeSet<String>) {
        if stores != self.stores {
            self.stores = stores;
            self.seen = None;
        }
    }

    /// Another number whenever anything has changed.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Reads what others changed.
    pub(super) fn refresh(&mut self, step: &Transaction<'_>, about: &About) -> Result<(), Failed> {
        let one = |sql| step.prepare_cached(sql)?.query_row([], |row| row.get::<_, i64>(0));
        let seen = one("PRAGMA data_version")?;
        if self.seen == Some(seen) {
            return Ok(());
        }
        if self.seen.is_none() {
            self.start_anew();
        }
        let version = one("SELECT version FROM clock")?;
        if version != self.version {
            let changed =
                self.read_made(step, about)? | self.read_parts(step, about)? | self.read_open(step, about)?;
            self.changes += u64::from(changed);
            self.version = version;
        }
        self.seen = Some(seen);
        Ok(())
    }

    /// Everything is read again, and what this process has under way stands on top of it.
    fn start_anew(&mut self) {
        (self.past, self.version) = (Past::default(), 0);
        self.elsewhere.clear();
        self.changes += 1;
    }

    fn read_made(&mut self, step: &Transaction<'_>, about: &About) -> Result<bool, Failed> {
        let mut select = step.prepare_cached(
            "SELECT call, count FROM made WHERE session = ?1 AND server = ?2 AND version > ?3",
        )?;
        let mut rows = select.query(params![about.session, about.server, self.version])?;
        let mut changed = false;
        while let Some(row) = rows.next()? {
            self.past.set_made(CallKey::from_bytes(row.get(0)?), row.get(1)?);
            changed = true;
        }
        Ok(changed)
    }

    fn read_parts(&mut self, step: &Transaction<'_>, about: &About) -> Result<bool, Failed> {
        let mut select = step.prepare_cached(
            "SELECT name, session, value FROM remembered \
             WHERE principal = ?1 AND session IN (?2, ?3) AND version > ?4",
        )?;
        let mut rows = select.query(params![about.principal, STORE, about.session, self.version])?;
        let mut changed = false;
        while let Some(row) = rows.next()? {
            let is_stores = row.get::<_, i64>(1)? == STORE;
            let (name, text): (String, Option<String>) = (row.get(0)?, row.get(2)?);
            // Another session may call its own like one of the store's.
            if self.stores.contains(&name) != is_stores {
                continue;
            }
            let cannot = |why: String| Failed::Other(format!("`{name}` cannot be read: {why}"));
            let rows = match self.past.rows_from((&name, is_stores), text.as_deref()).map_err(cannot)? {
                Some(from) => Rows::All(entries::read(step, about, (is_stores, &name), from)?),
                None => Rows::None,
            };
            let part = Part { name: name.clone(), is_stores, text, rows };
            self.past.set_part(&part).map_err(cannot)?;
            changed = true;
        }
        Ok(changed)
    }

    fn read_open(&mut self, step: &Transaction<'_>, about: &About) -> Result<bool, Failed> {
        let mut select = step.prepare_cached("SELECT step, call, flight FROM open WHERE session = ?1")?;
        let mut rows = select.query([about.session])?;
        let (mut there, mut changed) = (BTreeSet::new(), false);
        while let Some(row) = rows.next()? {
            let number: u64 = row.get(0)?;
            there.insert(number);
            if self.past.open().contains_key(&number) {
                continue;
            }
            let (call, flight): ([u8; 32], Option<String>) = (row.get(1)?, row.get(2)?);
            let own = self.own.contains_key(&number);
            // What of it is the store's, and not declared here, is for who declares it: what it holds is not known here.
            let flight = match flight.filter(|_| !own) {
                Some(flight) => match parted(&flight, &self.stores, true).map_err(unread)? {
                    [None, Some(_)] => continue,
                    [ours, _] => ours,
                },
                None => None,
            };
            let opened = match self.own.get(&number) {
                Some(own) => {
                    self.past.open_again(number, own);
                    Ok(())
                }
                None => self.past.open_elsewhere(number, CallKey::from_bytes(call), flight.as_deref()),
            };
            opened.map_err(unread)?;
            changed = true;
        }
        changed |= self.read_elsewhere(step, about, &mut there)?;
        let ended: Vec<u64> =
            self.past.open().keys().filter(|number| !there.contains(number)).copied().collect();
        for number in &ended {
            self.past.ended_elsewhere(*number);
            self.elsewhere.remove(number);
        }
        Ok(changed || !ended.is_empty())
    }

    /// Calls under way in other sessions, with what they may do to what is the store's. Without them a secret that
    /// taints the store would be none for the others until its answer is in, and for nobody where its process dies.
    fn read_elsewhere(
        &mut self,
        step: &Transaction<'_>,
        about: &About,
        there: &mut BTreeSet<u64>,
    ) -> Result<bool, Failed> {
        if self.stores.is_empty() {
            return Ok(false);
        }
        let mut select = step.prepare_cached(
            "SELECT step, call, flight FROM open WHERE session <> ?1 AND flight IS NOT NULL \
             AND session IN (SELECT number FROM sessions WHERE principal = ?2)",
        )?;
        let mut rows = select.query(params![about.session, about.principal])?;
        let mut changed = false;
        while let Some(row) = rows.next()? {
            let (number, call, flight): (u64, [u8; 32], String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            if self.elsewhere.contains(&number) {
                there.insert(number);
                continue;
            }
            let [ours, _] = parted(&flight, &self.stores, false).map_err(unread)?;
            let Some(flight) = ours else { continue };
            self.past.open_elsewhere(number, CallKey::from_bytes(call), Some(&flight)).map_err(unread)?;
            self.elsewhere.insert(number);
            there.insert(number);
            changed = true;
        }
        Ok(changed)
    }

    /// A call whose process is gone is there no more. Of one of another session that is so for what is the store's: the
    /// rest is for whoever is in that session. What is the store's and not declared here is for who declares it: it was once
    /// written over as if it had held nothing.
    pub(super) fn gone(
        &mut self,
        step: &Transaction<'_>,
        about: &About,
        number: u64,
        parts: &[Part],
    ) -> Result<(), Failed> {
        let is_sessions = !self.elsewhere.remove(&number);
        let select = "SELECT flight FROM open WHERE step = ?1";
        let flight: Option<String> = step.prepare_cached(select)?.query_row([number], |row| row.get(0))?;
        let theirs = match flight {
            Some(flight) => parted(&flight, &self.stores, is_sessions).map_err(unread)?[1].take(),
            None => None,
        };
        if is_sessions && theirs.is_none() {
            return self.ended(step, about, (number, None, parts));
        }
        step.prepare_cached("UPDATE open SET flight = ?2 WHERE step = ?1")?
            .execute(params![number, theirs])?;
        self.write_parts(step, about, parts)
    }

    /// Another version begins with this step.
    pub(super) fn next(&mut self, step: &Transaction<'_>, about: &About, now_ms: i64) -> Result<(), Failed> {
        let mut tick = step.prepare_cached("UPDATE clock SET version = version + 1 RETURNING version")?;
        self.version = tick.query_row([], |row| row.get(0))?;
        let mut use_it = step.prepare_cached("UPDATE sessions SET used_ms = ?2 WHERE number = ?1")?;
        if use_it.execute(params![about.session, now_ms])? != 1 {
            return Err(Failed::Other("the session is not in it any more".to_owned()));
        }
        self.changes += 1;
        Ok(())
    }

    /// A call that goes out is there from now on.
    pub(super) fn opened(
        &mut self,
        step: &Transaction<'_>,
        about: &About,
        number: u64,
    ) -> Result<(), Failed> {
        let Some(open) = self.past.open().get(&number).cloned() else { return Ok(()) };
        let insert =
            "INSERT INTO open (step, session, lease, server, call, flight) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let flight = open.transition.as_deref().and_then(Transition::flight);
        let call = open.call.as_bytes();
        let row = params![number, about.session, about.lease, about.server, call, flight.as_deref()];
        step.prepare_cached(insert)?.execute(row)?;
        self.write_made(step, about, &open.call)?;
        if let Some(transition) = &open.transition {
            let parts = self.past.parts(transition);
            self.write_parts(step, about, &parts)?;
        }
        self.own.insert(number, open);
        Ok(())
    }

    /// A call that has ended is there no more. `call`: one of this server's, of which there may be one less.
    pub(super) fn ended(
        &mut self,
        step: &Transaction<'_>,
        about: &About,
        (number, call, parts): (u64, Option<&CallKey>, &[Part]),
    ) -> Result<(), Failed> {
        step.prepare_cached("DELETE FROM open WHERE step = ?1")?.execute([number])?;
        if let Some(call) = call {
            self.write_made(step, about, call)?;
        }
        self.write_parts(step, about, parts)?;
        self.own.remove(&number);
        Ok(())
    }

    fn write_made(&self, step: &Transaction<'_>, about: &About, call: &CallKey) -> Result<(), Failed> {
        let upsert = "INSERT INTO made (session, server, call, count, version) VALUES (?1, ?2, ?3, ?4, ?5) \
                      ON CONFLICT DO UPDATE SET count = excluded.count, version = excluded.version";
        let count = self.past.made_count(call);
        let row = params![about.session, about.server, call.as_bytes(), count, self.version];
        step.prepare_cached(upsert)?.execute(row)?;
        Ok(())
    }

    fn write_parts(&self, step: &Transaction<'_>, about: &About, parts: &[Part]) -> Result<(), Failed> {
        let upsert = "INSERT INTO remembered (principal, session, name, value, version) VALUES (?1, ?2, ?3, ?4, ?5) \
                      ON CONFLICT DO UPDATE SET value = excluded.value, version = excluded.version";
        for part in parts {
            // Of a call that a policy decided before this one: what is known here by that name is the other scope's, and
            // would take the place of what it never read.
            if self.stores.contains(&part.name) != part.is_stores {
                continue;
            }
            let session = if part.is_stores { STORE } else { about.session };
            let row = params![about.principal, session, part.name, part.text, self.version];
            step.prepare_cached(upsert)?.execute(row)?;
            entries::write(step, about, part)?;
        }
        Ok(())
    }
}

fn unread(why: String) -> Failed {
    Failed::Other(format!("a call under way cannot be read: {why}"))
}
