//! One program while it runs, and the next one after it.
//!
//! ```text
//! Running ─┬ a question ───────► written when the one before is out; under its id until it is answered
//!          ├ a line ───────────► its question's answer, or no answer: then all that wait are told so
//!          └ end, endless line ► all that wait are told so; Down for a while, twice as long each time
//! Down ────┬ the time is over ─► Running, if it can be started
//!          └ a question ───────► waits for that, or is told so where it is far off
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use framegate_guard::program::{Answer, read_answer};
use framegate_guard::world::Unknown;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::lines::LineCutter;
use super::{Job, Say};
use crate::child::{Launched, ServerCommand, StartError};
use crate::exit::how_it_ended;

/// Questions that a program has at a time; further ones wait.
pub(super) const IN_FLIGHT_MAX: usize = 16;
/// How long a program that ended stays down the first time, and the longest.
const BACK_OFF: Duration = Duration::from_millis(100);
const BACK_OFF_MAX: Duration = Duration::from_secs(10);
/// A question waits for a program that is down no longer than this.
const DOWN_MAX: Duration = Duration::from_secs(1);
/// How often it is looked whether somebody still waits, where all places are taken.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// For the exit code of one that closed its stdout.
const EXIT_WAIT: Duration = Duration::from_millis(200);
/// Characters of a bad line that are shown.
const SHOWN_CHARS: usize = 80;

/// Who keeps one program running.
pub(super) struct Keeper {
    name: String,
    command: ServerCommand,
    say: Say,
    /// By id. `waiting.len() <= IN_FLIGHT_MAX`
    waiting: BTreeMap<u64, oneshot::Sender<Result<Answer, Unknown>>>,
    /// The last one asked under.
    id: u64,
    back_off: Duration,
}

/// A running program.
struct Running {
    launched: Launched,
    cutter: LineCutter,
    /// Of the question that is being written, what is not out.
    unwritten: Vec<u8>,
    /// It answered once.
    answers: bool,
}

enum State {
    Down { until: Instant, why: String },
    Running(Box<Running>),
}

/// What came next.
enum Next {
    Job(Option<Job>),
    Look,
    Read(std::io::Result<Vec<u8>>),
    Start,
    Written(std::io::Result<usize>),
}

impl Keeper {
    pub(super) fn new(name: String, command: ServerCommand, say: Say) -> Keeper {
        Keeper { name, command, say, waiting: BTreeMap::new(), id: 0, back_off: BACK_OFF }
    }

    /// Until nobody can ask any more.
    pub(super) async fn run(mut self, first: Launched, mut jobs: mpsc::Receiver<Job>) {
        let mut state = State::running(first);
        let mut chunk = vec![0; 16 * 1024];
        loop {
            state = match (self.next(&mut state, &mut jobs, &mut chunk).await, state) {
                (Next::Job(None), _) => return,
                (Next::Job(Some(job)), State::Running(running)) => self.asks(job, running),
                (Next::Job(Some(job)), State::Down { until, why }) => {
                    let _ = job.reply.send(Err(Unknown(why.clone())));
                    State::Down { until, why }
                }
                (Next::Look, State::Running(running)) => self.looked(running),
                (Next::Read(read), State::Running(running)) => self.read(read, running).await,
                (Next::Written(Ok(count)), State::Running(mut running)) => {
                    running.unwritten.drain(..count);
                    State::Running(running)
                }
                (Next::Written(Err(_)), State::Running(running)) => self.ended(running).await,
                (Next::Start, State::Down { .. }) => self.starts(),
                (_, state) => state,
            };
        }
    }

    /// Each branch may be dropped half way: what is read or written counts only where it is returned.
    async fn next(&mut self, state: &mut State, jobs: &mut mpsc::Receiver<Job>, chunk: &mut [u8]) -> Next {
        match state {
            State::Down { until, .. } => {
                if *until <= Instant::now() + DOWN_MAX {
                    // Questions stay where they are meanwhile.
                    tokio::time::sleep_until(*until).await;
                    return if jobs.is_closed() && jobs.is_empty() { Next::Job(None) } else { Next::Start };
                }
                tokio::select! {
                    biased;
                    job = jobs.recv() => Next::Job(job),
                    () = tokio::time::sleep_until(*until) => Next::Start,
                }
            }
            State::Running(running) => {
                let Running { launched, unwritten, .. } = &mut **running;
                let is_full = self.waiting.len() >= IN_FLIGHT_MAX;
                tokio::select! {
                    biased;
                    read = launched.from.read(chunk) => {
                        Next::Read(read.map(|count| chunk.get(..count).unwrap_or_default().to_vec()))
                    }
                    count = launched.to.write(unwritten), if !unwritten.is_empty() => Next::Written(count),
                    job = jobs.recv(), if unwritten.is_empty() && !is_full => Next::Job(job),
                    () = tokio::time::sleep(LOOK_EVERY), if is_full => Next::Look,
                }
            }
        }
    }

    fn asks(&mut self, job: Job, mut running: Box<Running>) -> State {
        // Whoever asked may have given up while it waited.
        if !job.reply.is_closed() {
            self.id += 1;
            running.unwritten = job.question.line(self.id).into_bytes();
            running.unwritten.push(b'\n');
            self.waiting.insert(self.id, job.reply);
        }
        State::Running(running)
    }

    /// All places are taken: those of questions that nobody waits for are free, unless it answers none at all.
    fn looked(&mut self, running: Box<Running>) -> State {
        if self.waiting.values().all(oneshot::Sender::is_closed) {
            let why = format!("it left {IN_FLIGHT_MAX} questions unanswered");
            return self.down(why, running);
        }
        State::Running(running)
    }

    async fn read(&mut self, read: std::io::Result<Vec<u8>>, mut running: Box<Running>) -> State {
        let read = read.unwrap_or_default();
        if read.is_empty() {
            return self.ended(running).await;
        }
        match running.cutter.take(&read) {
            Ok(lines) => {
                for line in lines.iter().filter(|line| !line.is_empty()) {
                    running.answers |= self.line(line);
                }
                if running.answers {
                    self.back_off = BACK_OFF;
                }
                State::Running(running)
            }
            Err(_) => self.down("it wrote a line that is too long for an answer".into(), running),
        }
    }

    /// Whether it is an answer.
    fn line(&mut self, line: &[u8]) -> bool {
        match read_answer(line) {
            Ok((id, answer)) => match self.waiting.remove(&id) {
                Some(reply) => {
                    // Nobody may wait for it any more.
                    let _ = reply.send(answer);
                    true
                }
                // Of a question that was given up, or answered before.
                None if (1..=self.id).contains(&id) => true,
                None => {
                    self.fail(&format!("it answered under the id {id}, under which nothing was asked"));
                    false
                }
            },
            Err(why) => {
                let shown: String = String::from_utf8_lossy(line).chars().take(SHOWN_CHARS).collect();
                self.fail(&format!("it wrote a line that is no answer: {why}: `{shown}`"));
                false
            }
        }
    }

    /// Which question a bad line was meant for is not known: so it answers none that waits.
    fn fail(&mut self, why: &str) {
        (self.say)(&format!("the program `{}`: {why}", self.name));
        for (_, reply) in std::mem::take(&mut self.waiting) {
            let _ = reply.send(Err(Unknown(why.to_owned())));
        }
    }

    /// It closed its end.
    async fn ended(&mut self, running: Box<Running>) -> State {
        let exit = tokio::time::timeout(EXIT_WAIT, running.launched.process.exit_code()).await;
        let why = exit.map_or_else(|_| "closed its stdout".to_owned(), how_it_ended);
        self.down(format!("it {why}"), running)
    }

    /// Dropped with `running`, what is left of it is killed.
    fn down(&mut self, why: String, running: Box<Running>) -> State {
        drop(running);
        self.stays_down(why)
    }

    fn stays_down(&mut self, why: String) -> State {
        let wait = self.back_off;
        self.back_off = (wait * 2).min(BACK_OFF_MAX);
        self.fail(&format!("{why}; it is started again in {} s", wait.as_secs_f64()));
        State::Down { until: Instant::now() + wait, why }
    }

    fn starts(&mut self) -> State {
        let started: Result<Launched, StartError> = self.command.clone().launch();
        match started {
            Ok(launched) => State::running(launched),
            Err(why) => self.stays_down(format!("it cannot be started: {why}")),
        }
    }
}

impl State {
    fn running(launched: Launched) -> State {
        let running =
            Running { launched, cutter: LineCutter::default(), unwritten: Vec::new(), answers: false };
        State::Running(Box::new(running))
    }
}
