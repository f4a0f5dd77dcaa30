//! One running column: spawned, greeted, called, ended.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::column::Column;
use crate::lines::{Line, Lines};
use crate::watchdog;

/// Python peers take seconds to import themselves on a busy machine.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(30);
/// A wrapper may give its server a second or two after EOF; no longer here.
const EXIT_LIMIT: Duration = Duration::from_secs(3);

const INITIALIZE: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\
\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\
\"clientInfo\":{\"name\":\"compare\",\"version\":\"0\"}}}\n";
const INITIALIZED: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
const LIST: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}\n";

/// A process tree that answers.
#[derive(Debug)]
pub struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    /// Its answers.
    pub lines: Lines<ChildStdout>,
    next_id: u64,
    /// From spawning to the answer to `initialize`.
    pub started_in: Duration,
}

impl Session {
    /// Spawns the column and goes through the handshake and one `tools/list`.
    ///
    /// Guards decide on listed tools only, hence the listing.
    pub fn start(column: &Column) -> io::Result<Self> {
        let began = Instant::now();
        let mut session = Self::spawn(column)?;
        session.send(INITIALIZE)?;
        session.lines.answer()?;
        session.started_in = began.elapsed();
        session.send(INITIALIZED)?;
        session.send(LIST)?;
        session.lines.answer()?;
        Ok(session)
    }

    fn spawn(column: &Column) -> io::Result<Self> {
        let (program, args) = column.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // A group of its own, so that the server can be ended with its wrapper.
            .process_group(0)
            .spawn()?;
        watchdog::allow(child.id(), HANDSHAKE_LIMIT);
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let lines = Lines::new(stdout);
        Ok(Self { child, stdin, lines, next_id: 2, started_in: Duration::ZERO })
    }

    /// The wrapper itself, or the server where there is none.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Everything up to the next call of this must be over within `limit`.
    pub fn allow(&self, limit: Duration) {
        watchdog::allow(self.pid(), limit);
    }

    /// Writes bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?.write_all(bytes)
    }

    /// Appends one `tools/call` frame under a fresh id.
    pub fn request(&mut self, arguments: &str, to: &mut Vec<u8>) -> io::Result<()> {
        let id = self.next_id;
        self.next_id += 1;
        writeln!(
            to,
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\
             \"params\":{{\"name\":\"echo\",\"arguments\":{arguments}}}}}"
        )
    }

    /// From writing the frame to having read the whole answer; making the frame is not counted.
    pub fn call(&mut self, arguments: &str, frame: &mut Vec<u8>) -> io::Result<(Duration, Line)> {
        frame.clear();
        self.request(arguments, frame)?;
        let began = Instant::now();
        self.send(frame)?;
        let line = self.lines.answer()?;
        let took = began.elapsed();
        if line.is_refusal() {
            return Err(io::Error::other("the call was refused"));
        }
        Ok((took, line))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let until = Instant::now() + EXIT_LIMIT;
        while Instant::now() < until && !exited(self.pid()) {
            thread::sleep(Duration::from_millis(1));
        }
        watchdog::end(self.pid());
        let _ = self.child.wait();
    }
}

/// Whether `pid` has ended without reaping it: its number must stay ours until its group is dead.
fn exited(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('Z'))
}
