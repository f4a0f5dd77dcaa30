//! The file: an SQLite database beside the record, shared by every `run` with that record and whoever answers.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use framegate_guard::store::chain::Hash;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use super::row::{Answer, Row, Stands, State};
use super::signed::Signed;
use super::tables::{Kind, cannot, connect, kind, make_tables};
use crate::store_path::with_suffix;

/// How long it is remembered what came of a question.
const KEPT_MS: i64 = 3_600_000;
/// Letters of a question's name: none that is taken for another.
const LETTERS: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz023456789";
const ID_LETTERS: usize = 6;

/// The open file.
#[derive(Debug)]
pub(crate) struct DeskFile {
    connection: Connection,
    /// Random; a statement that was signed for another file is none here.
    pub(crate) id: String,
}

/// Where the questions of sessions with this record lie.
pub(crate) fn beside(record: &Path) -> PathBuf {
    with_suffix(record, "-asks")
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A name that a person can type.
///
/// # Errors
/// What to tell a person, where the system gives no random bytes.
pub(crate) fn short_id() -> Result<String, String> {
    let mut random = [0; ID_LETTERS];
    crate::recorder::entropy(&mut random).map_err(|why| why.to_string())?;
    let letter = |byte: &u8| LETTERS.get(usize::from(byte % 32)).copied().map_or('a', char::from);
    Ok(random.iter().map(letter).collect())
}

impl DeskFile {
    /// Opens the file, and makes it where it is not.
    ///
    /// # Errors
    /// What to tell a person.
    pub(crate) fn make(path: &Path) -> Result<DeskFile, String> {
        crate::store_path::make_folder(path).map_err(|why| cannot(path, &why))?;
        // Made here: a file that SQLite makes is readable by all for a moment.
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Ok(_) => {}
            Err(why) if why.kind() == ErrorKind::AlreadyExists => {}
            Err(why) => return Err(cannot(path, &why)),
        }
        let mut connection = connect(path).map_err(|why| cannot(path, &why))?;
        let mut id = Hash::default();
        crate::recorder::entropy(&mut id.0).map_err(|why| cannot(path, &why))?;
        make_tables(&mut connection, id).map_err(|why| cannot(path, &why))?;
        Self::of(path, connection)?.ok_or_else(|| cannot(path, &"its tables are gone"))
    }

    /// Opens a file that is there; nothing where it is not, or where whoever makes it has not come to its tables.
    ///
    /// # Errors
    /// What to tell a person.
    pub(crate) fn open(path: &Path) -> Result<Option<DeskFile>, String> {
        if !path.exists() {
            return Ok(None);
        }
        let connection = connect(path).map_err(|why| cannot(path, &why))?;
        Self::of(path, connection)
    }

    /// Nothing where nothing is in it.
    fn of(path: &Path, mut connection: Connection) -> Result<Option<DeskFile>, String> {
        match kind(&mut connection).map_err(|why| cannot(path, &why))? {
            Kind::Empty => Ok(None),
            Kind::Other => {
                Err(format!("`{}` is no file of questions of this version; remove it", path.display()))
            }
            Kind::Desk(id) => Ok(Some(DeskFile { connection, id })),
        }
    }

    /// Changes with each commit of somebody else's.
    pub(crate) fn version(&self) -> Result<i64, String> {
        let mut version = self.connection.prepare_cached("PRAGMA data_version").map_err(failed)?;
        version.query_row([], |row| row.get(0)).map_err(failed)
    }

    /// Puts a question there, under a name that no other has; what is long over goes.
    pub(crate) fn ask(&mut self, body: &str, until_ms: i64) -> Result<String, String> {
        let now = now_ms();
        let step =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        step.execute("DELETE FROM questions WHERE until_ms < ?1", params![now - KEPT_MS]).map_err(failed)?;
        step.execute("DELETE FROM standing WHERE until_ms < ?1", params![now]).map_err(failed)?;
        let insert = "INSERT INTO questions (id, body, pid, asked_ms, until_ms, state) \
                      VALUES (?1, ?2, ?3, ?4, ?5, 'open') ON CONFLICT DO NOTHING";
        for _ in 0..8 {
            let id = short_id()?;
            let row = params![id, body, std::process::id(), now, until_ms];
            if step.execute(insert, row).map_err(failed)? == 1 {
                step.commit().map_err(failed)?;
                return Ok(id);
            }
        }
        Err("there are too many questions".into())
    }

    /// A question, by its name.
    pub(crate) fn question(&self, id: &str) -> Result<Option<Row>, String> {
        let mut select =
            self.connection.prepare_cached(&format!("{SELECT} WHERE id = ?1")).map_err(failed)?;
        select.query_row(params![id], row_of).optional().map_err(failed)
    }

    /// Those that can be answered now, the oldest first.
    pub(crate) fn open_questions(&self) -> Result<Vec<Row>, String> {
        let sql = format!("{SELECT} WHERE state = 'open' AND until_ms > ?1 ORDER BY asked_ms, id");
        let mut select = self.connection.prepare_cached(&sql).map_err(failed)?;
        let rows = select.query_map(params![now_ms()], row_of).map_err(failed)?;
        rows.collect::<Result<_, _>>().map_err(failed)
    }

    /// Answers a question that is open, and with it gives a standing approval; whether it was still open.
    pub(crate) fn answer(
        &mut self,
        id: &str,
        answer: &Answer,
        stands: Option<&Stands>,
    ) -> Result<bool, String> {
        let step =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let (statement, signature) = parts(answer.signed.as_ref());
        let update = "UPDATE questions SET state = ?2, who = ?3, note = ?4, at_ms = ?5, statement = ?6, signature = ?7 \
                      WHERE id = ?1 AND state = 'open' AND until_ms > ?8";
        let row = params![
            id,
            answer.state.name(),
            answer.who,
            answer.note,
            answer.at_ms,
            statement,
            signature,
            now_ms()
        ];
        if step.execute(update, row).map_err(failed)? == 0 {
            return Ok(false);
        }
        if let Some(stands) = stands {
            let insert =
                "INSERT INTO standing (id, tool, until_ms, statement, signature) VALUES (?1, ?2, ?3, ?4, ?5)";
            let row = params![
                stands.id,
                stands.tool,
                stands.until_ms,
                stands.signed.text,
                stands.signed.signature.as_slice()
            ];
            step.execute(insert, row).map_err(failed)?;
        }
        step.commit().map_err(failed)?;
        Ok(true)
    }

    /// Takes a question off the desk: nobody can answer it any more. What was asked goes.
    pub(crate) fn close(&mut self, id: &str, state: State) -> Result<(), String> {
        let update = "UPDATE questions SET state = ?2, at_ms = ?3, body = '', statement = NULL WHERE id = ?1 AND taken = 0";
        self.connection.execute(update, params![id, state.name(), now_ms()]).map_err(failed)?;
        Ok(())
    }

    /// Its answer is taken. What was asked goes.
    pub(crate) fn take(&mut self, id: &str) -> Result<(), String> {
        let update = "UPDATE questions SET taken = 1, body = '', statement = NULL WHERE id = ?1";
        self.connection.execute(update, params![id]).map_err(failed)?;
        Ok(())
    }

    /// An answer that counts for nothing is taken away again.
    pub(crate) fn reopen(&mut self, id: &str) -> Result<(), String> {
        let update = "UPDATE questions SET state = 'open', who = '', note = '', statement = NULL WHERE id = ?1 AND taken = 0";
        self.connection.execute(update, params![id]).map_err(failed)?;
        Ok(())
    }

    /// Standing approvals whose time is not over: of one tool, or all.
    pub(crate) fn standing(&self, tool: Option<&str>) -> Result<Vec<Stands>, String> {
        let sql = "SELECT id, tool, until_ms, statement, signature FROM standing \
                   WHERE until_ms > ?1 AND (?2 IS NULL OR tool = ?2) ORDER BY until_ms, id";
        let mut select = self.connection.prepare_cached(sql).map_err(failed)?;
        let rows = select.query_map(params![now_ms(), tool], |row| {
            let signed = Signed { text: row.get(3)?, signature: row.get(4)? };
            Ok(Stands { id: row.get(0)?, tool: row.get(1)?, until_ms: row.get(2)?, signed })
        });
        rows.map_err(failed)?.collect::<Result<_, _>>().map_err(failed)
    }

    /// Ends a standing approval; whether there was one.
    pub(crate) fn revoke(&mut self, id: &str) -> Result<bool, String> {
        let deleted = self.connection.execute("DELETE FROM standing WHERE id = ?1", params![id]);
        Ok(deleted.map_err(failed)? > 0)
    }

    /// Uses up a sealed state; whether nobody did before.
    pub(crate) fn spend(&mut self, nonce: &[u8; 16], until_ms: i64) -> Result<bool, String> {
        let step =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        step.execute("DELETE FROM spent WHERE until_ms < ?1", params![now_ms() - KEPT_MS]).map_err(failed)?;
        let insert = "INSERT INTO spent (nonce, until_ms) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        let is_first = step.execute(insert, params![nonce.as_slice(), until_ms]).map_err(failed)? == 1;
        step.commit().map_err(failed)?;
        Ok(is_first)
    }
}

const SELECT: &str = "SELECT id, body, pid, asked_ms, until_ms, state, who, note, at_ms, statement, signature, taken \
                      FROM questions";

fn row_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let (text, signature): (Option<String>, Option<Vec<u8>>) = (row.get(9)?, row.get(10)?);
    let signed = text.zip(signature.and_then(|bytes| bytes.try_into().ok()));
    Ok(Row {
        id: row.get(0)?,
        body: row.get(1)?,
        pid: row.get(2)?,
        asked_ms: row.get(3)?,
        until_ms: row.get(4)?,
        state: State::of(&row.get::<_, String>(5)?),
        who: row.get(6)?,
        note: row.get(7)?,
        at_ms: row.get(8)?,
        signed: signed.map(|(text, signature)| Signed { text, signature }),
        is_taken: row.get(11)?,
    })
}

fn parts(signed: Option<&Signed>) -> (Option<&str>, Option<&[u8]>) {
    (signed.map(|signed| signed.text.as_str()), signed.map(|signed| signed.signature.as_slice()))
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
fn failed(why: rusqlite::Error) -> String {
    format!("the questions' file cannot be used: {why}")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn answer(state: State) -> Answer {
        Answer { state, who: "ada".into(), note: String::new(), at_ms: now_ms(), signed: None }
    }

    #[test]
    fn a_question_is_answered_once_and_by_whoever_is_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = beside(&folder.path().join("r.db"));
        assert!(DeskFile::open(&path).unwrap().is_none());
        let (mut asks, mut answers) = (DeskFile::make(&path).unwrap(), DeskFile::make(&path).unwrap());
        assert_eq!((asks.id.len(), &asks.id), (64, &answers.id));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let before = asks.version().unwrap();
        let id = asks.ask("body", now_ms() + 60_000).unwrap();
        assert_eq!((id.len(), asks.version().unwrap()), (ID_LETTERS, before), "our own changes are no news");
        assert_eq!(answers.open_questions().unwrap().len(), 1);
        assert!(answers.answer(&id, &answer(State::Denied), None).unwrap());
        assert_ne!(asks.version().unwrap(), before);
        assert!(!answers.answer(&id, &answer(State::Approved), None).unwrap(), "a second answer");
        let row = asks.question(&id).unwrap().unwrap();
        assert_eq!((row.state, row.who.as_str(), row.is_taken), (State::Denied, "ada", false));
        asks.take(&id).unwrap();
        let row = answers.question(&id).unwrap().unwrap();
        assert_eq!((row.body.as_str(), row.is_taken), ("", true), "what was asked is gone");
        let late = asks.ask("body", now_ms() - 1).unwrap();
        assert!(!answers.answer(&late, &answer(State::Approved), None).unwrap());
        assert!(answers.open_questions().unwrap().is_empty());
        let withdrawn = asks.ask("body", now_ms() + 60_000).unwrap();
        asks.close(&withdrawn, State::Withdrawn).unwrap();
        assert!(!answers.answer(&withdrawn, &answer(State::Approved), None).unwrap());
    }

    #[test]
    fn a_state_is_spent_once_by_whichever_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.db-asks");
        let (mut one, mut other) = (DeskFile::make(&path).unwrap(), DeskFile::make(&path).unwrap());
        let until = now_ms() + 1000;
        assert!(one.spend(&[1; 16], until).unwrap());
        assert!(!other.spend(&[1; 16], until).unwrap() && !one.spend(&[1; 16], until).unwrap());
        assert!(other.spend(&[2; 16], until).unwrap());
    }
}
