//! One program while it runs, and the next one after it.
//!
//! ```text
//! Running ─┬ a question ───────► written when the one before is out; under its id until it is answered
//!          ├ a line ───────────► its question's answer, or no answer: then all that wait are told so
//!          └ exit, endless line► all that wait are told so; Down for a while, twice as long each time
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
use crate::child::{Launched, Process, ServerCommand, StartError};
use crate::exit::how_it_ended;

/// Questions that a program has at a time; further ones wait.
pub(super) const IN_FLIGHT_MAX: usize = 16;
/// How long a program that ended stays down the first time, and the longest.
const BACK_OFF: Duration = Duration::from_millis(100);
const BACK_OFF_MAX: Duration = Duration::from_secs(10);
/// A question waits for a program that is down no longer than this.
const DOWN_MAX: Duration = Duration::from_secs(1);
/// Lines that answer nothing, one after the other: one that writes without end would keep us reading it. As many as may
/// be under way can still come after all that waited were told that there is no answer.
pub(super) const ASTRAY_MAX: usize = 4 * IN_FLIGHT_MAX;
/// How long a question may stay unwritten after nobody waits for an answer any more.
const UNREAD_MAX: Duration = Duration::from_secs(2);
/// How often it is looked whether somebody still waits, where all places are taken or a question is not out.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// For the exit code of one that closed its stdout.
const EXIT_WAIT: Duration = Duration::from_millis(200);
/// For what it wrote before it exited. No longer: what it started may hold its stdout open for ever.
const LAST_WORDS: Duration = Duration::from_millis(100);
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
    /// When some of it went out last.
    written: Instant,
    /// Lines since the last one that answered something that waits. `astray <= ASTRAY_MAX`
    astray: usize,
    /// Its process has exited; until then its last words are read.
    gone: Option<Instant>,
}

enum State {
    Down { until: Instant, why: String },
    Running(Box<Running>),
}

/// What came next.
enum Next {
    Exited,
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
                (Next::Exited, State::Running(running)) => self.exited(running).await,
                (Next::Look, State::Running(running)) => self.looked(running),
                (Next::Read(read), State::Running(running)) => self.read(read, running).await,
                (Next::Written(Ok(count)), State::Running(mut running)) => {
                    running.unwritten.drain(..count);
                    running.written = Instant::now();
                    State::Running(running)
                }
                (Next::Written(Err(_)), State::Running(running)) => {
                    self.ended("closed its stdin", running).await
                }
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
                let Running { launched, unwritten, gone, .. } = &mut **running;
                let is_full = self.waiting.len() >= IN_FLIGHT_MAX;
                let is_held_up = is_full || !unwritten.is_empty();
                tokio::select! {
                    biased;
                    read = launched.from.read(chunk) => {
                        Next::Read(read.map(|count| chunk.get(..count).unwrap_or_default().to_vec()))
                    }
                    count = launched.to.write(unwritten), if !unwritten.is_empty() => Next::Written(count),
                    () = exit(&launched.process, *gone) => Next::Exited,
                    job = jobs.recv(), if unwritten.is_empty() && !is_full && gone.is_none() => Next::Job(job),
                    () = tokio::time::sleep(LOOK_EVERY), if is_held_up => Next::Look,
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
            running.written = Instant::now();
            self.waiting.insert(self.id, job.reply);
        }
        State::Running(running)
    }

    /// All places are taken, or a question does not get out: once nobody waits any more, it is not waited for either.
    fn looked(&mut self, running: Box<Running>) -> State {
        if !self.waiting.values().all(oneshot::Sender::is_closed) {
            return State::Running(running);
        }
        if self.waiting.len() >= IN_FLIGHT_MAX {
            return self.down(format!("it left {IN_FLIGHT_MAX} questions unanswered"), running);
        }
        if !running.unwritten.is_empty() && running.written.elapsed() >= UNREAD_MAX {
            return self.down("it does not read what it is asked".to_owned(), running);
        }
        State::Running(running)
    }

    async fn read(&mut self, read: std::io::Result<Vec<u8>>, mut running: Box<Running>) -> State {
        let read = read.unwrap_or_default();
        if read.is_empty() {
            return self.ended("closed its stdout", running).await;
        }
        match running.cutter.take(&read) {
            Ok(lines) => {
                for line in &lines {
                    if !line.is_empty() && self.line(line) {
                        (running.astray, self.back_off) = (0, BACK_OFF);
                    } else if running.astray < ASTRAY_MAX {
                        running.astray += 1;
                    } else {
                        let why = format!("it wrote more than {ASTRAY_MAX} lines that answer nothing");
                        return self.down(why, running);
                    }
                }
                State::Running(running)
            }
            Err(_) => self.down("it wrote a line that is too long for an answer".into(), running),
        }
    }

    /// Whether it answers something that waited.
    fn line(&mut self, line: &[u8]) -> bool {
        match read_answer(line) {
            Ok((id, answer)) => match self.waiting.remove(&id) {
                Some(reply) => {
                    // Nobody may wait for it any more.
                    let _ = reply.send(answer);
                    true
                }
                // Of a question that was given up, or answered before.
                None if (1..=self.id).contains(&id) => false,
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

    /// Its process is no more. What it wrote before that is read first.
    async fn exited(&mut self, mut running: Box<Running>) -> State {
        if running.gone.is_some() {
            return self.ended("exited", running).await;
        }
        running.gone = Some(Instant::now() + LAST_WORDS);
        State::Running(running)
    }

    /// It closed one of its ends, or exited.
    async fn ended(&mut self, what: &str, running: Box<Running>) -> State {
        let exit = tokio::time::timeout(EXIT_WAIT, running.launched.process.exit_code()).await;
        let why = exit.map_or_else(|_| what.to_owned(), how_it_ended);
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

/// The end of a process by itself, whoever else holds its pipes; once that is known, the end of its last words.
async fn exit(process: &Process, gone: Option<Instant>) {
    match gone {
        None => drop(process.exit_code().await),
        Some(until) => tokio::time::sleep_until(until).await,
    }
}

impl State {
    fn running(launched: Launched) -> State {
        let (cutter, unwritten) = (LineCutter::default(), Vec::new());
        let running = Running { launched, cutter, unwritten, written: Instant::now(), astray: 0, gone: None };
        State::Running(Box::new(running))
    }
}
