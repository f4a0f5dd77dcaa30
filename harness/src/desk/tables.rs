//! The tables of the questions' file, and how it is told from any other file.

use std::path::Path;
use std::time::Duration;

use framegate_guard::store::chain::Hash;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};

/// "Frma"
const APPLICATION_ID: i32 = 0x4672_6d61;
const FORMAT: i32 = 1;
/// How long another process may hold it.
const BUSY_WAIT: Duration = Duration::from_secs(3);

const SCHEMA: &str = "
CREATE TABLE desk (id TEXT NOT NULL) STRICT;
CREATE TABLE questions (
  id TEXT PRIMARY KEY, body TEXT NOT NULL, pid INTEGER NOT NULL, asked_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL, state TEXT NOT NULL, who TEXT NOT NULL DEFAULT '',
  note TEXT NOT NULL DEFAULT '', at_ms INTEGER NOT NULL DEFAULT 0, statement TEXT, signature BLOB,
  taken INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE standing (id TEXT PRIMARY KEY, tool TEXT NOT NULL, until_ms INTEGER NOT NULL, statement TEXT NOT NULL,
  signature BLOB NOT NULL) STRICT;
CREATE TABLE spent (nonce BLOB PRIMARY KEY, until_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
";

pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_WAIT)?;
    // Nothing that the file brings along is run.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // What was asked is to be gone when it was answered; a state that was used, used after a power cut too.
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

/// What a database is.
pub(super) enum Kind {
    /// Nothing was ever put in.
    Empty,
    /// Questions, under this id.
    Desk(String),
    Other,
}

/// All is read at one moment: somebody may be making the tables.
pub(super) fn kind(connection: &mut Connection) -> rusqlite::Result<Kind> {
    let step = connection.transaction()?;
    let things: i64 = step.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let number = |name| step.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    match (things, number("application_id")?, number("user_version")?) {
        (0, 0, 0) => Ok(Kind::Empty),
        (_, APPLICATION_ID, FORMAT) => {
            step.query_row("SELECT id FROM desk", [], |row| row.get(0)).map(Kind::Desk)
        }
        _ => Ok(Kind::Other),
    }
}

pub(super) fn make_tables(connection: &mut Connection, id: Hash) -> rusqlite::Result<()> {
    let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let things: i64 = step.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if things == 0 {
        step.execute_batch(SCHEMA)?;
        step.execute("INSERT INTO desk (id) VALUES (?1)", params![id.to_string()])?;
        step.pragma_update(None, "application_id", APPLICATION_ID)?;
        step.pragma_update(None, "user_version", FORMAT)?;
    }
    step.commit()
}

pub(super) fn cannot(path: &Path, why: &dyn std::fmt::Display) -> String {
    format!("the questions' file `{}` cannot be used: {why}", path.display())
}

#[cfg(test)]
mod tests {
    use super::super::file::DeskFile;
    use super::*;

    #[test]
    fn a_file_whose_tables_are_still_being_made_has_no_questions_yet() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.db-asks");
        std::fs::write(&path, "").unwrap();
        assert!(DeskFile::open(&path).unwrap().is_none());
        // Somebody is at it: who looks sees nothing yet, who asks too waits for it.
        let mut connection = connect(&path).unwrap();
        let step = connection.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        step.execute_batch(SCHEMA).unwrap();
        assert!(DeskFile::open(&path).unwrap().is_none());
        let waits = std::thread::spawn({
            let path = path.clone();
            move || DeskFile::make(&path).map(|file| file.id)
        });
        step.execute("INSERT INTO desk (id) VALUES ('first')", []).unwrap();
        step.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        step.pragma_update(None, "user_version", FORMAT).unwrap();
        step.commit().unwrap();
        assert_eq!(waits.join().unwrap().unwrap(), "first");
        assert_eq!(DeskFile::open(&path).unwrap().unwrap().id, "first");
    }

    #[test]
    fn many_that_make_and_look_at_once_see_no_file_or_the_same() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("r.db-asks");
            let at_once = |makes: bool| {
                let path = path.clone();
                std::thread::spawn(move || {
                    if makes { DeskFile::make(&path).map(Some) } else { DeskFile::open(&path) }
                })
            };
            let all: Vec<_> = (0..8).map(|at| at_once(at % 2 == 0)).collect();
            let opened = all.into_iter().filter_map(|one| one.join().unwrap().unwrap().map(|file| file.id));
            let mut ids: Vec<String> = opened.collect();
            assert!(ids.len() >= 4, "each that makes it has it");
            ids.dedup();
            assert_eq!(ids.len(), 1);
        }
    }

    #[test]
    fn some_other_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, "no database, and longer than the first page of one would need to be").unwrap();
        assert!(DeskFile::make(&path).unwrap_err().contains("cannot be used"));
        let other = folder.path().join("y");
        Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
        assert!(DeskFile::make(&other).unwrap_err().contains("no file of questions"));
        assert!(DeskFile::open(&other).unwrap_err().contains("no file of questions"));
    }
}
