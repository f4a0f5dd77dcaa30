//! The thread that keeps the desk's file for one session.
//!
//! While no question is open it sleeps. While one is, it asks SQLite now and then whether somebody else wrote
//! anything (`data_version`, no page is read for it), and looks only then.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use ed25519_dalek::VerifyingKey;
use tokio::sync::oneshot;

use super::file::{DeskFile, beside, now_ms};
use super::row::{Row, State};
use super::run::{Message, Question, Wanted};
use super::signed::{Approval, Asked, Standing};
use crate::approve::{Answered, Reply};
use crate::calls::{CallLog, Level};

/// How often it is looked for an answer.
const LOOK_EVERY: Duration = Duration::from_millis(150);
/// Approvals without a good signature that are told of one question.
const TOLD_MAX: u32 = 3;

/// States that this process remembers as used, until their time is over.
const SPENT_MAX: usize = 65_536;

/// What it knows.
pub(super) struct Keeper {
    path: PathBuf,
    approver: Option<VerifyingKey>,
    log: Arc<CallLog>,
    file: Option<DeskFile>,
    open: HashMap<u64, Open>,
    spent: Spent,
    /// The file as it was when it was last looked at.
    seen: Option<i64>,
}

/// A question that lies on the desk.
struct Open {
    id: String,
    body: String,
    answer: oneshot::Sender<Answered>,
    /// How many approvals counted for nothing.
    bad: u32,
}

impl Keeper {
    pub(super) fn new(path: PathBuf, approver: Option<VerifyingKey>, log: Arc<CallLog>) -> Keeper {
        Keeper { path, approver, log, file: None, open: HashMap::new(), spent: Spent::default(), seen: None }
    }

    pub(super) fn run(mut self, told: &Receiver<Message>) {
        loop {
            let next = if self.open.is_empty() {
                told.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                told.recv_timeout(LOOK_EVERY)
            };
            match next {
                Ok(Message::Ask(question)) => self.ask(*question),
                Ok(Message::Close(number, state)) => self.close(number, state),
                Ok(Message::Standing(wanted, found)) => drop(found.send(self.standing(&wanted))),
                Ok(Message::Spend(nonce, until_ms, spent)) => {
                    drop(spent.send(self.spend(nonce, until_ms)));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => break,
            }
            self.look();
        }
        let numbers: Vec<u64> = self.open.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.close(number, State::Withdrawn));
    }

    fn file(&mut self) -> Result<&mut DeskFile, String> {
        match self.file.take() {
            Some(file) => Ok(self.file.insert(file)),
            None => {
                let file = DeskFile::make(&self.path)?;
                Ok(self.file.insert(file))
            }
        }
    }

    fn spend(&mut self, nonce: [u8; 16], until_ms: i64) -> Result<bool, String> {
        Ok(self.spent.add(nonce, until_ms, now_ms())? && self.file()?.spend(&nonce, until_ms)?)
    }

    fn ask(&mut self, question: Question) {
        let Question { number, body, limit, answer } = question;
        let asked = body.text().and_then(|text| {
            let id = self.file()?.ask(&text, body.until_ms)?;
            Ok((id, text))
        });
        match asked {
            Ok((id, text)) => {
                let seconds = limit.as_secs_f64();
                let store = self.store_option();
                // People read this; no text for the model has the name, or the command.
                let line = format!(
                    "a call of `{}` waits {seconds} s for an approval: framegate approve {id}{store} (framegate pending{store} shows it)",
                    crate::clip::clip(&body.tool)
                );
                self.log.say(Level::Warn, &line);
                self.open.insert(number, Open { id, body: text, answer, bad: 0 });
            }
            Err(why) => {
                self.log.say(Level::Error, &why);
                // The model learns nothing of files.
                let why = "the question could not be put to the approver".to_owned();
                let _ = answer.send(Reply::Unavailable(why).into());
            }
        }
    }

    /// What whoever answers has to type beside, where the record is not the usual one.
    fn store_option(&self) -> String {
        let usual = crate::store_path::default_path().map(|record| beside(&record));
        // Whoever reads it is in another folder.
        let path = std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        let path = path.to_string_lossy();
        match path.strip_suffix("-asks") {
            Some(record) if usual.as_ref() != Some(&self.path) => format!(" --store {record}"),
            _ => String::new(),
        }
    }

    fn close(&mut self, number: u64, state: State) {
        let Some(open) = self.open.remove(&number) else { return };
        self.tried(|file| file.close(&open.id, state));
    }

    /// What fails here costs nobody anything but an answer: it is said.
    fn tried(&mut self, what: impl FnOnce(&mut DeskFile) -> Result<(), String>) {
        if let Err(why) = self.file().and_then(what) {
            self.log.say(Level::Error, &why);
        }
    }

    fn look(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let version = self.file().and_then(|file| file.version());
        match version {
            Ok(version) if self.seen == Some(version) => return,
            Ok(version) => self.seen = Some(version),
            Err(why) => return self.log.say(Level::Error, &why),
        }
        let numbers: Vec<(u64, String)> =
            self.open.iter().map(|(number, open)| (*number, open.id.clone())).collect();
        for (number, id) in numbers {
            match self.file().and_then(|file| file.question(&id)) {
                Ok(Some(row)) => self.answered(number, &row),
                // Somebody took it away: nobody can answer it, and its time will be over.
                Ok(None) => {}
                Err(why) => self.log.say(Level::Error, &why),
            }
        }
    }

    fn answered(&mut self, number: u64, row: &Row) {
        match row.state {
            State::Denied => self.give(number, Reply::No, row),
            State::Approved if self.counts(number, row) => self.give(number, Reply::Yes, row),
            State::Approved => self.reject(number, row),
            State::Late | State::Open | State::Withdrawn => {}
        }
    }

    fn counts(&mut self, number: u64, row: &Row) -> bool {
        let (Some(key), Ok(desk)) = (self.approver, self.file().map(|file| file.id.clone())) else {
            return false;
        };
        let Some(open) = self.open.get(&number) else { return false };
        let approval = row.signed.as_ref().and_then(|signed| Approval::read(signed, &key, &desk, &open.body));
        // Beside the signature they could be anybody's words.
        approval.is_some_and(|approval| approval.by == row.who && approval.note == row.note)
    }

    fn give(&mut self, number: u64, reply: Reply, row: &Row) {
        let Some(open) = self.open.remove(&number) else { return };
        let answered = Answered { reply, by: Some(row.who.clone()), note: row.note.clone() };
        if open.answer.send(answered).is_ok() {
            self.tried(|file| file.take(&open.id));
        } else {
            self.tried(|file| file.close(&open.id, State::Withdrawn));
        }
    }

    fn reject(&mut self, number: u64, row: &Row) {
        let Some(open) = self.open.get_mut(&number) else { return };
        open.bad += 1;
        if open.bad <= TOLD_MAX {
            let text = format!(
                "the question {} was marked as approved without the approver's signature on what was asked; it stays open (whoever can write `{}` can do that)",
                row.id,
                self.path.display()
            );
            self.log.say(Level::Warn, &text);
        }
        self.tried(|file| file.reopen(&row.id));
    }

    /// The standing approval that covers this: who gave it, and its name.
    fn standing(&mut self, wanted: &Wanted) -> Option<(String, String)> {
        let key = self.approver?;
        if !self.path.exists() {
            return None;
        }
        let file = self.file().map_err(|why| why.to_string());
        let found = file.and_then(|file| Ok((file.id.clone(), file.standing(Some(&wanted.decision.tool))?)));
        let (desk, all) = found.map_err(|why| self.log.say(Level::Error, &why)).ok()?;
        let asked = Asked {
            desk: &desk,
            principal: &wanted.key.principal,
            session: &wanted.key.name,
            decision: &wanted.decision,
            remember: wanted.remember,
        };
        let now = now_ms();
        let statements = all.iter().filter_map(|stands| Standing::read(&stands.signed, &key));
        let covers = statements.into_iter().find(|standing| standing.covers(&asked, now))?;
        Some((covers.by, covers.id))
    }
}

/// The states that this process has seen used, by their end. The file says what the others used; who can write it can
/// delete from it, and a yes was once good again that way in the very process that had taken it.
#[derive(Default)]
struct Spent(BTreeSet<(i64, [u8; 16])>);

impl Spent {
    /// Whether it is new.
    ///
    /// # Errors
    /// That there are too many to know.
    fn add(&mut self, nonce: [u8; 16], until_ms: i64, now_ms: i64) -> Result<bool, String> {
        // The end is sealed with the nonce: the same state has the same.
        if self.0.contains(&(until_ms, nonce)) {
            return Ok(false);
        }
        while self.0.len() >= SPENT_MAX && self.0.first().is_some_and(|(until, _)| *until < now_ms) {
            self.0.pop_first();
        }
        if self.0.len() >= SPENT_MAX {
            return Err(format!(
                "more than {SPENT_MAX} answers came in a short time; this one does not count"
            ));
        }
        Ok(self.0.insert((until_ms, nonce)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::LogFormat;
    use crate::child::ServerName;
    use crate::stderr::Stderr;

    #[test]
    fn a_state_used_here_stays_used_when_the_file_forgets_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = beside(&folder.path().join("r.db"));
        let log = CallLog::new(Stderr::start(), ServerName::given("s"), Level::Off, LogFormat::Text);
        let mut keeper = Keeper::new(path.clone(), None, Arc::new(log));
        let until = now_ms() + 60_000;
        assert!(keeper.spend([1; 16], until).unwrap());
        rusqlite::Connection::open(&path).unwrap().execute("DELETE FROM spent", []).unwrap();
        assert!(!keeper.spend([1; 16], until).unwrap());
        assert!(keeper.spend([2; 16], until).unwrap());
        // What another process used is remembered too.
        assert!(DeskFile::make(&path).unwrap().spend(&[3; 16], until).unwrap());
        assert!(!keeper.spend([3; 16], until).unwrap());
        rusqlite::Connection::open(&path).unwrap().execute("DELETE FROM spent", []).unwrap();
        assert!(!keeper.spend([3; 16], until).unwrap());
    }

    #[test]
    fn used_states_that_are_remembered_have_a_limit_and_those_that_are_over_make_room() {
        let mut spent = Spent::default();
        let nonce = |at: usize| (at as u128).to_be_bytes();
        for at in 0..SPENT_MAX {
            assert!(spent.add(nonce(at), 100, 50).unwrap(), "{at}");
        }
        assert!(spent.add(nonce(SPENT_MAX), 100, 100).is_err(), "one more than there may be");
        assert!(!spent.add(nonce(0), 100, 100).unwrap(), "what is known is known still");
        assert!(spent.add(nonce(SPENT_MAX), 200, 101).unwrap());
    }
}
