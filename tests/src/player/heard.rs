//! The client's stdout side: every byte that came, and the ids of the answers among them.

use std::{
    collections::HashSet,
    os::fd::AsFd,
    process::ChildStdout,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

use super::writer::Writer;
use crate::{case::AutoReply, cutter::Cutter, scan};

/// Ids are searched in this much of both ends of a line: TypeScript peers put them last.
const ENDS_BYTES: usize = 8192;

/// What was heard so far; shared by the reading thread and whoever waits.
#[derive(Debug, Default)]
pub(super) struct Heard {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    bytes: Vec<u8>,
    answered: HashSet<Vec<u8>>,
    reading: bool,
    /// The thread shall close its end.
    leave: bool,
    ended: bool,
}

impl Default for State {
    fn default() -> Self {
        let (bytes, answered) = (Vec::new(), HashSet::new());
        Self { bytes, answered, reading: true, leave: false, ended: false }
    }
}

impl Heard {
    pub(super) fn start(stdout: ChildStdout, replies: Vec<AutoReply>, writer: Writer) -> Arc<Self> {
        let heard = Arc::new(Self::default());
        let reader = Reader { replies, writer, cutter: Cutter::default(), heard: Arc::clone(&heard) };
        thread::spawn(move || reader.run(&stdout));
        heard
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.state().bytes.clone()
    }

    pub(super) fn read_on(&self, reading: bool) {
        self.state().reading = reading;
        self.changed.notify_all();
    }

    /// Closes the client's read end.
    pub(super) fn leave(&self) {
        self.state().leave = true;
        self.changed.notify_all();
        self.wait_end(Duration::from_secs(1));
    }

    pub(super) fn wait_end(&self, within: Duration) -> bool {
        self.wait(within, |state| state.ended)
    }

    pub(super) fn wait_id(&self, id: &str, within: Duration) -> bool {
        self.wait(within, |state| state.answered.contains(id.as_bytes()))
    }

    pub(super) fn wait_length(&self, length: usize, within: Duration) {
        self.wait(within, |state| state.bytes.len() >= length || state.ended);
    }

    fn wait(&self, within: Duration, done: impl Fn(&State) -> bool) -> bool {
        let state = self.state();
        let waited = self.changed.wait_timeout_while(state, within, |state| !done(state));
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        done(&state)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Reader {
    replies: Vec<AutoReply>,
    writer: Writer,
    cutter: Cutter,
    heard: Arc<Heard>,
}

impl Reader {
    /// Reads to EOF or until told to leave; the pipe is closed by dropping it when this is over.
    fn run(mut self, stdout: &ChildStdout) {
        let mut buffer = vec![0; 1 << 16];
        while self.wait_turn() {
            if !readable(stdout) {
                continue;
            }
            match rustix::io::read(stdout.as_fd(), &mut buffer) {
                Err(Errno::INTR) => {}
                Ok(0) | Err(_) => break,
                Ok(length) => self.take(&buffer[..length]),
            }
        }
        self.heard.state().ended = true;
        self.heard.changed.notify_all();
    }

    /// Blocks while the client does not read; false when it leaves.
    fn wait_turn(&self) -> bool {
        let paused = |state: &mut State| !state.reading && !state.leave;
        let state = self.heard.changed.wait_while(self.heard.state(), paused);
        !state.unwrap_or_else(PoisonError::into_inner).leave
    }

    fn take(&mut self, bytes: &[u8]) {
        let mut lines = Vec::new();
        self.cutter.push(bytes, |line| lines.push(line));
        for line in &lines {
            self.reply(line);
        }
        let mut state = self.heard.state();
        state.bytes.extend_from_slice(bytes);
        for line in &lines {
            let head = &line[..line.len().min(ENDS_BYTES)];
            let tail = &line[line.len().saturating_sub(ENDS_BYTES)..];
            if !scan::has(head, b"\"method\"") {
                let ids = scan::scalars(head, "id").into_iter().chain(scan::scalars(tail, "id"));
                state.answered.extend(ids.map(<[u8]>::to_vec));
            }
        }
        drop(state);
        self.heard.changed.notify_all();
    }

    fn reply(&mut self, line: &[u8]) {
        let methods = if self.replies.is_empty() { Vec::new() } else { scan::strings(line, "method") };
        let asked = |reply: &&mut AutoReply| reply.times > 0 && methods.contains(&reply.method.as_bytes());
        let Some(reply) = self.replies.iter_mut().find(asked) else { return };
        reply.times -= 1;
        let id = scan::id(line).unwrap_or(b"null");
        let mut answer = scan::replace(reply.with.as_bytes(), b"$ID", id);
        answer.push(b'\n');
        let (after, writer) = (reply.after, self.writer.clone());
        thread::spawn(move || {
            thread::sleep(after);
            writer.send_later(answer);
        });
    }
}

/// Waits a moment for bytes or EOF, so that the reader notices when it is told to leave.
fn readable(stdout: &ChildStdout) -> bool {
    let moment = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    let mut polled = [PollFd::new(stdout, PollFlags::IN)];
    poll(&mut polled, Some(&moment)).is_ok_and(|ready| ready > 0)
}

/// How long `done` may stay false.
pub(super) fn until(within: Duration, mut done: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + within;
    while !done() {
        if Instant::now() > deadline {
            return false;
        }
        thread::sleep(Duration::from_millis(3));
    }
    true
}
