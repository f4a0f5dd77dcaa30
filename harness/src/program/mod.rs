//! Long-lived programs that a policy asks: its authorizer, and those under `programs`.
//!
//! ```text
//! a decision ─ what it wants to know ─► Programs::ask_all ─┬► Program ─ task ─ stdin/stdout of the command
//!                                                           └► …       (one line asks, one line answers, by id)
//! ```
//!
//! Nothing here decides: what is no answer in time is an [`Unknown`] with its reason, and what is unknown asks a person.

mod lines;
mod running;
mod sync;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use framegate_guard::policy::{Policy, Program as Settings};
use framegate_guard::program::{AUTHORIZER, Answer, Open};
use framegate_guard::world::{ProgramAnswers, Unknown};
use tokio::sync::{mpsc, oneshot};

use crate::child::{ServerCommand, StartError};
use crate::stderr::Stderr;

pub(crate) use sync::Asking;

/// Questions that wait for a place, of one program. Beyond it a question is not asked.
const QUEUE_MAX: usize = 64;

/// Says something about a program to a person.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// How the commands of a policy are started.
#[derive(Clone)]
pub struct Launch {
    /// The policy's folder: commands start there, and are looked for there where they are relative paths.
    pub folder: PathBuf,
    /// Where their stderr goes.
    pub stderr: Stderr,
    /// Where it is told that one ended.
    pub say: Say,
    /// Each through a warden, so that none outlives us. Only where the running program is `framegate` itself.
    pub(crate) warden: bool,
}

impl std::fmt::Debug for Launch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Launch").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Launch {
    /// Without a warden: a library user has none.
    #[must_use]
    pub fn new(folder: &Path, stderr: Stderr, say: Say) -> Launch {
        Launch { folder: folder.to_owned(), stderr, say, warden: false }
    }

    /// With one.
    #[must_use]
    pub(crate) fn with_warden(self) -> Launch {
        Launch { warden: true, ..self }
    }

    fn command(&self, settings: &Settings) -> ServerCommand {
        let command = command(&self.folder, settings).stderr(self.stderr.clone());
        if self.warden { command.with_warden() } else { command }
    }
}

fn command(folder: &Path, settings: &Settings) -> ServerCommand {
    let mut words = settings.command.iter().map(OsString::from);
    let program = words.next().unwrap_or_default();
    let folder = Some(folder).filter(|folder| !folder.as_os_str().is_empty());
    let program = match folder {
        Some(folder) if program.as_encoded_bytes().contains(&b'/') => folder.join(program).into(),
        _ => program,
    };
    ServerCommand::new(program, words).cwd(folder.map(Path::to_owned))
}

/// Why a policy's programs cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The policy names nobody.
    #[error(
        "`authorizer` of the policy has no `command`, so nobody can be asked: add `command: [PROGRAM, ARGUMENT]`"
    )]
    NoCommand,
    /// It cannot be started.
    #[error("the program `{name}` of the policy cannot be started: {why}")]
    Start {
        /// Its name, or `authorizer`.
        name: String,
        /// What is wrong.
        why: StartError,
    },
}

/// One running program.
#[derive(Debug)]
struct Program {
    settings: Settings,
    to: mpsc::Sender<Job>,
}

/// One question under way. Whoever gives it up drops its end of `reply`.
#[derive(Debug)]
struct Job {
    question: Open,
    reply: oneshot::Sender<Result<Answer, Unknown>>,
}

/// The programs of one policy, started. Cheap to clone; they end with the last clone.
#[derive(Clone, Default)]
pub struct Programs {
    launch: Option<Launch>,
    by_name: BTreeMap<String, Arc<Program>>,
}

impl std::fmt::Debug for Programs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.by_name.keys()).finish()
    }
}

/// The programs that a policy asks, by name.
pub(crate) fn asked_by(policy: &Policy) -> Result<Vec<(&str, &Settings)>, ProgramError> {
    let mut all: Vec<(&str, &Settings)> =
        policy.programs().iter().map(|(name, it)| (name.as_str(), it)).collect();
    if let Some(authorizing) = policy.authorizer() {
        // Whether a tool has it asked or not: half an entry is a mistake.
        if authorizing.program.command.is_empty() {
            return Err(ProgramError::NoCommand);
        }
        if policy.authorizes() {
            all.push((AUTHORIZER, &authorizing.program));
        }
    }
    Ok(all)
}

/// What is wrong with the commands of a policy, without starting one.
pub(crate) fn check(policy: &Policy, folder: &Path) -> Result<(), ProgramError> {
    for (name, settings) in asked_by(policy)? {
        command(folder, settings).find().map_err(|why| ProgramError::Start { name: name.to_owned(), why })?;
    }
    Ok(())
}

impl Programs {
    /// Starts what a policy asks, on the runtime it is called in, and on a thread that lives as long as they do.
    ///
    /// # Errors
    /// [`ProgramError`]: one of them cannot be.
    pub fn start(launch: Launch, policy: &Policy) -> Result<Programs, ProgramError> {
        Programs { launch: Some(launch), by_name: BTreeMap::new() }.under(policy)
    }

    /// The authorizer alone, whether any tool has it asked or not.
    pub(crate) fn authorizer(launch: Launch, policy: &Policy) -> Result<Programs, ProgramError> {
        let authorizing = policy.authorizer().filter(|authorizing| !authorizing.program.command.is_empty());
        let settings = &authorizing.ok_or(ProgramError::NoCommand)?.program;
        let program = Arc::new(Program::start(&launch, AUTHORIZER, settings)?);
        Ok(Programs { launch: Some(launch), by_name: [(AUTHORIZER.to_owned(), program)].into() })
    }

    /// What is wrong with the commands of another policy, as far as that shows without starting one.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub(crate) fn check(&self, policy: &Policy) -> Result<(), ProgramError> {
        self.launch.as_ref().map_or(Ok(()), |launch| check(policy, &launch.folder))
    }

    /// Those of another policy: what both have goes on running.
    ///
    /// # Errors
    /// [`ProgramError`]; these go on as they are.
    pub fn under(&self, policy: &Policy) -> Result<Programs, ProgramError> {
        let Some(launch) = &self.launch else { return Ok(Programs::default()) };
        let mut by_name = BTreeMap::new();
        for (name, settings) in asked_by(policy)? {
            let before = self.by_name.get(name).filter(|program| program.settings == *settings);
            let program = match before {
                Some(program) => Arc::clone(program),
                None => Arc::new(Program::start(launch, name, settings)?),
            };
            by_name.insert(name.to_owned(), program);
        }
        Ok(Programs { launch: self.launch.clone(), by_name })
    }

    /// What is said to each question, all asked at once. Dropped before that, nobody waits for any of them.
    pub async fn ask_all(&self, questions: Vec<Open>) -> ProgramAnswers {
        let asking: Vec<_> =
            questions.into_iter().map(|question| (question.key.clone(), self.ask(question))).collect();
        // Each is under way from here on: `ask` hands its question over before the first is waited for.
        let mut answers = ProgramAnswers::new();
        for (key, answer) in asking {
            answers.insert(key, answer.await);
        }
        answers
    }

    /// Asks at once; what is given is the answer to wait for.
    fn ask(&self, question: Open) -> impl Future<Output = Result<Answer, Unknown>> + Send + use<> {
        let handed_over = match self.by_name.get(&question.key.program) {
            None => Err(Unknown(format!("there is no program `{}` to ask", question.key.program))),
            Some(program) => program.hand_over(question),
        };
        async move {
            let (answer, until) = handed_over?;
            match tokio::time::timeout_at(until.0, answer).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(_)) => Err(Unknown("it is not running any more".into())),
                Err(_) => Err(Unknown(format!("it gave no answer within {} s", until.1))),
            }
        }
    }
}

/// Until when, and how many seconds that are.
type Until = (tokio::time::Instant, f64);
type Waiting = (oneshot::Receiver<Result<Answer, Unknown>>, Until);

impl Program {
    fn start(launch: &Launch, name: &str, settings: &Settings) -> Result<Program, ProgramError> {
        let (to, jobs) = mpsc::channel(QUEUE_MAX);
        let command = launch.command(settings);
        let first = command.clone().launch();
        let first = first.map_err(|why| ProgramError::Start { name: name.to_owned(), why })?;
        let (say, name) = (Arc::clone(&launch.say), name.to_owned());
        tokio::spawn(running::Keeper::new(name, command, say).run(first, jobs));
        Ok(Program { settings: settings.clone(), to })
    }

    fn hand_over(&self, question: Open) -> Result<Waiting, Unknown> {
        let (reply, answer) = oneshot::channel();
        let timeout = self.settings.timeout;
        let until = (tokio::time::Instant::now() + timeout, timeout.as_secs_f64());
        self.to.try_send(Job { question, reply }).map_err(|_| {
            Unknown(format!(
                "more than {QUEUE_MAX} questions wait for it already, or it is not running any more"
            ))
        })?;
        Ok((answer, until))
    }
}

#[cfg(test)]
mod tests;
