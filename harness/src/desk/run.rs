//! The desk of one `run`: its handle on the thread that keeps the file.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ed25519_dalek::VerifyingKey;
use framegate_guard::decision::Decision;
use framegate_guard::ledger::SessionKey;
use framegate_guard::policy::Remember;
use tokio::sync::oneshot;

use super::approver::{self, Approver};
use super::body::Body;
use super::file::beside;
use super::row::State;
use super::thread::Keeper;
use crate::approve::Answered;
use crate::calls::CallLog;

/// How long the end of a session may wait until its questions are withdrawn.
const FINISH_WAIT: Duration = Duration::from_secs(1);

/// What the thread is told.
pub(super) enum Message {
    Ask(Box<Question>),
    /// No answer is waited for any more.
    Close(u64, State),
    Standing(Box<Wanted>, oneshot::Sender<Option<(String, String)>>),
    Spend([u8; 16], i64, oneshot::Sender<Result<bool, String>>),
    End,
}

/// A question for the desk.
pub(super) struct Question {
    pub(super) number: u64,
    pub(super) body: Body,
    /// How long it may take, for the line that says so.
    pub(super) limit: Duration,
    pub(super) answer: oneshot::Sender<Answered>,
}

/// A decision that a standing approval may cover.
pub(crate) struct Wanted {
    pub(crate) key: SessionKey,
    pub(crate) decision: Arc<Decision>,
    pub(crate) remember: Remember,
}

/// Where questions lie for whoever answers from a terminal, in a file beside a record. Nothing is made before it is
/// needed.
pub struct Desk {
    file: PathBuf,
    /// Whose signature counts; or why nobody's does.
    approver: Result<VerifyingKey, String>,
    log: Arc<CallLog>,
    thread: Mutex<Thread>,
}

#[derive(Default)]
struct Thread {
    /// Messages there were.
    count: u64,
    started: Option<(Sender<Message>, JoinHandle<()>)>,
    is_over: bool,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Desk {
    /// The desk beside this record. `approver`: the file with the approver's public key; by default that of this user.
    /// It is read now: one that is made or changed later counts for the next session.
    pub fn beside(record: &Path, approver: Option<&Path>, log: Arc<CallLog>) -> Arc<Desk> {
        let read = |path: PathBuf| Approver::read(&path)?.ok_or_else(|| none_at(&path));
        let approver = approver::path(approver).and_then(read).map(|approver| *approver.public());
        Arc::new(Desk { file: beside(record), approver, log, thread: Mutex::default() })
    }

    /// Why nobody's approval counts here, for people; nothing where somebody's does.
    pub fn without_approver(&self) -> Option<&str> {
        self.approver.as_ref().err().map(String::as_str)
    }

    /// Puts a question there; its number here.
    pub(super) fn ask(&self, body: Body, limit: Duration) -> (u64, oneshot::Receiver<Answered>) {
        let (answer, answered) = oneshot::channel();
        let number = self.next();
        self.tell(Message::Ask(Box::new(Question { number, body, limit, answer })));
        (number, answered)
    }

    pub(super) fn close(&self, number: u64, state: State) {
        self.tell(Message::Close(number, state));
    }

    /// The standing approval that covers this, if there is one: who gave it, and how it is called.
    pub(crate) async fn standing(&self, wanted: Wanted) -> Option<(String, String)> {
        let (found, finding) = oneshot::channel();
        self.tell(Message::Standing(Box::new(wanted), found));
        finding.await.ok().flatten()
    }

    /// Uses up a sealed state; whether nobody did before.
    ///
    /// # Errors
    /// Why that is not known.
    pub(crate) async fn spend(&self, nonce: [u8; 16], until_ms: i64) -> Result<bool, String> {
        let (spent, spending) = oneshot::channel();
        self.tell(Message::Spend(nonce, until_ms, spent));
        spending.await.unwrap_or_else(|_| Err("the session ends".into()))
    }

    /// Takes what is still there off the desk.
    pub(crate) fn finish(&self) {
        let started = {
            let mut thread = self.lock();
            thread.is_over = true;
            thread.started.take()
        };
        let Some((messages, thread)) = started else { return };
        // A thread that has ended has withdrawn what there was.
        let _ = messages.send(Message::End);
        let since = Instant::now();
        while !thread.is_finished() && since.elapsed() < FINISH_WAIT {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn next(&self) -> u64 {
        let mut thread = self.lock();
        thread.count += 1;
        thread.count
    }

    /// What cannot be told is not answered: whoever waits sees that its sender is gone.
    fn tell(&self, message: Message) {
        let mut thread = self.lock();
        if thread.is_over {
            return;
        }
        if thread.started.is_none() {
            let (messages, told) = channel();
            thread.started = self.start(told).map(|handle| (messages, handle));
        }
        if let Some((messages, _)) = &thread.started {
            let _ = messages.send(message);
        }
    }

    fn start(&self, told: Receiver<Message>) -> Option<JoinHandle<()>> {
        let keeper =
            Keeper::new(self.file.clone(), self.approver.as_ref().ok().copied(), Arc::clone(&self.log));
        std::thread::Builder::new().name("desk".into()).spawn(move || keeper.run(&told)).ok()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Thread> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn none_at(path: &Path) -> String {
    format!("there is no approver's file `{}`; `framegate approver init` makes one", path.display())
}
