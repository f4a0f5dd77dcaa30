//! How a process joins a session, and leaves it.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use framegate_guard::ledger::{Ended, SessionKey, Settled};
use framegate_guard::store::keep::Keep;
use rusqlite::{OptionalExtension as _, Transaction, params};

use super::core::{Core, Held};
use super::file::{Failed, StateFile, beside};
use super::keeper::Keeper;
use super::lease::{self, Lease};
use super::mirror::{About, Mirror, STEP_BITS};
use super::said::{Reader, Telling};
use super::{HELD_WAIT, SharedPast, now_ms};

/// How long a session is kept that no process is in. A server that is started anew, or a client, goes on with it.
const KEPT_MS: i64 = 3_600_000;
/// How long a join waits for other processes.
const JOIN_WAIT: Duration = Duration::from_secs(5);
/// Leases that a file can give: steps of them all have numbers of their own.
const LEASES_MAX: u64 = (1 << (63 - STEP_BITS)) - 1;
/// Characters of a session's name.
const NAME_CHARS_MAX: usize = 64;

/// The name of a session, fit for a command line, a table and a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionName(String);

impl SessionName {
    /// What was typed, if it can be one.
    ///
    /// # Errors
    /// Why it cannot.
    pub(crate) fn of(text: &str) -> Result<SessionName, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let wrong = if text.is_empty() {
            "it is empty".to_owned()
        } else if text.chars().count() > NAME_CHARS_MAX {
            format!("it has more than {NAME_CHARS_MAX} characters")
        } else if let Some(other) = text.chars().find(|c| !is_plain(*c)) {
            // Two that look alike would be two sessions, each with a budget of its own.
            format!("it has {} in it; letters, digits, `-`, `_` and `.` can be used", shown(other))
        } else if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            "it does not begin with a letter or a digit".to_owned()
        } else {
            return Ok(SessionName(text.to_owned()));
        };
        Err(wrong)
    }

    /// The name.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

fn shown(c: char) -> String {
    if c == ' ' { "a space".to_owned() } else { format!("`{}`", c.escape_debug()) }
}

/// Who joins what.
pub(crate) struct Joining<'j> {
    /// The record, beside which it lies.
    pub(crate) record: &'j Path,
    pub(crate) key: SessionKey,
    /// The server that is wrapped.
    pub(crate) server: &'j str,
    /// What is reserved is to survive a power cut.
    pub(crate) is_full: bool,
    /// What of texts is kept.
    pub(crate) keep: Keep,
    /// Nobody else comes into it: only what is the store's is shared.
    pub(crate) is_private: bool,
}

impl SharedPast {
    /// Joins a session, and begins it where it is not there.
    ///
    /// # Errors
    /// What to tell a person.
    pub(crate) fn join(of: Joining<'_>) -> Result<SharedPast, String> {
        let Joining { record, key, server, is_full, keep, is_private } = of;
        let file = StateFile::make(&beside(record), is_full)?;
        let cannot = |why: Failed| {
            let why = match why {
                Failed::Held => format!("another process has held it for {} s", JOIN_WAIT.as_secs()),
                Failed::Other(why) => why,
            };
            format!("the session `{}` cannot be joined (`{}`): {why}", key.name, file.path.display())
        };
        let (session, lease) = enter(&file, &key, (server, is_private)).map_err(cannot)?;
        let (principal, server) = (key.principal.clone(), server.to_owned());
        let about = About { principal, session, server, lease: lease.number };
        let (number, path) = (AtomicU64::new(lease.number << STEP_BITS), file.path.clone());
        let held = Mutex::new(Held { file, mirror: Mirror::default(), lease: Some(lease) });
        let reader = Reader::open(&path).map_err(|why| why.to_string())?;
        let telling = Telling::new(keep);
        let (later, due) = (Mutex::default(), Mutex::default());
        let core = Core { key, about, is_private, number, held, later, due, telling };
        let core = Arc::new(core);
        let keeper = Keeper::start(&core, &path)?;
        Ok(SharedPast {
            core,
            steps: AtomicU64::new(0),
            reader: Mutex::new(reader),
            keeper: Mutex::new(Some(keeper)),
        })
    }
}

/// The session's number, and a lease in it.
fn enter(
    file: &StateFile,
    key: &SessionKey,
    (server, is_private): (&str, bool),
) -> Result<(i64, Lease), Failed> {
    let step = file.begin(JOIN_WAIT)?;
    tidy(&step, &file.path)?;
    // No session that is shared can be called so.
    let private = || format!("\n{}-{}", std::process::id(), now_ms());
    let name = if is_private { private() } else { key.name.clone() };
    let find = "SELECT number FROM sessions WHERE principal = ?1 AND name = ?2";
    let known: Option<i64> =
        step.query_row(find, params![key.principal, name], |row| row.get(0)).optional()?;
    let session = match known {
        Some(session) => session,
        None => {
            let insert = "INSERT INTO sessions (principal, name, used_ms) VALUES (?1, ?2, ?3)";
            step.execute(insert, params![key.principal, name, now_ms()])?;
            step.last_insert_rowid()
        }
    };
    step.execute("UPDATE sessions SET used_ms = ?2 WHERE number = ?1", params![session, now_ms()])?;
    let insert = "INSERT INTO leases (session, server, pid) VALUES (?1, ?2, ?3)";
    step.execute(insert, params![session, server, std::process::id()])?;
    let number = u64::try_from(step.last_insert_rowid()).ok().filter(|number| *number <= LEASES_MAX);
    let number = number.ok_or_else(|| {
        Failed::Other("it has served too many processes; when no session runs, remove it".to_owned())
    })?;
    // Before anybody can see its number: or they would take us for dead.
    let lease = Lease::take(&file.path, number);
    let lease = lease.map_err(|why| Failed::Other(format!("no lease can be taken beside it: {why}")))?;
    step.commit()?;
    Ok((session, lease))
}

/// Removes what processes have left that are gone, and sessions that are over.
fn tidy(step: &Transaction<'_>, state: &Path) -> Result<(), Failed> {
    // Into a private session nobody comes: what was open there is settled for what is the store's, and that is all.
    let mut select = step.prepare(
        "SELECT number, session, EXISTS (SELECT 1 FROM open JOIN sessions ON sessions.number = open.session \
         WHERE lease = leases.number AND (unicode(sessions.name) <> 10 OR instr(flight, '\"is_stores\":true'))) \
         FROM leases",
    )?;
    let row =
        |row: &rusqlite::Row<'_>| Ok((row.get::<_, u64>(0)?, row.get::<_, i64>(1)?, row.get::<_, bool>(2)?));
    let leases: Vec<(u64, i64, bool)> = select.query_map([], row)?.collect::<Result<_, _>>()?;
    for (number, session, has_open) in leases {
        if !lease::is_gone(state, number) {
            continue;
        }
        step.execute("DELETE FROM declared WHERE lease = ?1", [number])?;
        if has_open {
            // Whoever steps next settles them; then it goes.
            continue;
        }
        step.execute("DELETE FROM open WHERE lease = ?1", [number])?;
        step.execute("DELETE FROM leases WHERE number = ?1", [number])?;
        // It was killed, nobody knows when: its session was used until now.
        step.execute("UPDATE sessions SET used_ms = ?2 WHERE number = ?1", params![session, now_ms()])?;
        lease::remove(state, number);
    }
    let over = "SELECT number FROM sessions WHERE used_ms < ?1 \
                AND NOT EXISTS (SELECT 1 FROM leases WHERE session = sessions.number)";
    let mut select = step.prepare(over)?;
    let over: Vec<i64> =
        select.query_map([now_ms() - KEPT_MS], |row| row.get(0))?.collect::<Result<_, _>>()?;
    over.into_iter().try_for_each(|session| end(step, session))
}

/// Nothing is left of it.
fn end(step: &Transaction<'_>, session: i64) -> Result<(), Failed> {
    for table in ["made", "open", "said", "remembered", "entries", "declared"] {
        step.execute(&format!("DELETE FROM {table} WHERE session = ?1"), [session])?;
    }
    step.execute("DELETE FROM sessions WHERE number = ?1", [session])?;
    Ok(())
}

impl Core {
    /// Leaves the session. What fails here is done by whoever comes next.
    pub(super) fn leave(&self) {
        let mut held = self.held();
        let Some(lease) = held.lease.take() else { return };
        let number = lease.number;
        let left = self.turn(&mut held, HELD_WAIT, |turn| {
            let open: Vec<u64> = turn.mirror.past.open().keys().copied().collect();
            for own in open.into_iter().filter(|step| step >> STEP_BITS == number) {
                turn.settle(own, &Ended::without_answer(Settled::Lost))?;
            }
            turn.change()?;
            turn.step.execute("DELETE FROM declared WHERE lease = ?1", [number])?;
            turn.step.execute("DELETE FROM leases WHERE number = ?1", [number])?;
            if self.is_private { end(&turn.step, self.about.session) } else { Ok(()) }
        });
        if left.is_ok() {
            lease.give_back();
        }
    }
}
