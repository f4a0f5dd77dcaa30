//! A client around one wrapper process. Every wait has a limit, and dropping it ends everything
//! the wrapper has left behind.

use std::{
    ffi::OsString,
    io::Read,
    os::unix::process::{CommandExt, ExitStatusExt},
    path::PathBuf,
    process::{Child, ChildStderr, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use rustix::process::Signal;

use super::{
    heard::{Heard, until},
    writer::Writer,
};
use crate::{case::AutoReply, process, transcript::Chunking};

/// How much of the wrapper's stderr is kept.
const STDERR_BYTES_MAX: usize = 8 << 20;

/// What to start, and how.
#[derive(Debug)]
pub struct Setup {
    /// The whole command line.
    pub command: Vec<OsString>,
    /// The working directory; the command line names it, so that leftovers can be found.
    pub directory: PathBuf,
    /// Variables added to the environment.
    pub env: Vec<(String, String)>,
    /// Requests that are answered whenever they come.
    pub replies: Vec<AutoReply>,
    /// Nobody reads stderr.
    pub leave_stderr_unread: bool,
}

/// One running wrapper and the client's three pipes to it.
#[derive(Debug)]
pub struct Client {
    child: Child,
    directory: PathBuf,
    writer: Writer,
    heard: Arc<Heard>,
    stderr: Arc<Mutex<Vec<u8>>>,
    stderr_reader: Option<JoinHandle<()>>,
    unread_stderr: Option<ChildStderr>,
    peak_rss_mib: Arc<AtomicU64>,
}

impl Client {
    /// Starts the command as leader of a process group of its own, as a terminal's shell does.
    pub fn start(setup: Setup) -> Result<Self, String> {
        let (program, arguments) = setup.command.split_first().ok_or("no command to start")?;
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(&setup.directory)
            .envs(setup.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| format!("cannot start `{}`: {error}", program.display()))?;
        let stdin = child.stdin.take().ok_or("no stdin")?;
        let stdout = child.stdout.take().ok_or("no stdout")?;
        let mut unread_stderr = child.stderr.take();
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let mut stderr_reader = None;
        if !setup.leave_stderr_unread
            && let Some(pipe) = unread_stderr.take()
        {
            let kept = Arc::clone(&stderr);
            stderr_reader = Some(thread::spawn(move || collect(pipe, &kept)));
        }
        let writer = Writer::start(stdin);
        let heard = Heard::start(stdout, setup.replies, writer.clone());
        let (directory, peak_rss_mib) = (setup.directory, Arc::default());
        Ok(Self { child, directory, writer, heard, stderr, stderr_reader, unread_stderr, peak_rss_mib })
    }

    /// The wrapper's process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends bytes and waits until the pipe has taken them.
    pub fn send(&self, bytes: Vec<u8>, within: Duration) -> Result<(), String> {
        self.writer.send(bytes, Chunking::Prime(1 << 16), within)
    }

    /// Sends bytes in the writes a chunking asks for.
    pub fn send_cut(&self, bytes: Vec<u8>, chunking: Chunking, within: Duration) -> Result<(), String> {
        self.writer.send(bytes, chunking, within)
    }

    /// Sends bytes whenever the pipe takes them.
    pub fn send_later(&self, bytes: Vec<u8>) {
        self.writer.send_later(bytes);
    }

    /// EOF behind everything sent so far.
    pub fn close_stdin(&self) {
        self.writer.close();
    }

    /// The client's read end goes away; what came before is kept.
    pub fn close_stdout(&self) {
        self.heard.leave();
    }

    /// The client's stderr end goes away. Only where nobody reads it: a thread keeps the other kind.
    pub fn close_stderr(&mut self) {
        self.unread_stderr = None;
    }

    /// Reads stdout, or lets it fill up.
    pub fn read_on(&self, reading: bool) {
        self.heard.read_on(reading);
    }

    /// Waits for a whole answer with this raw id.
    pub fn wait_id(&mut self, id: &str, within: Duration) -> Result<(), String> {
        let slice = Duration::from_millis(100);
        let mut waited = Duration::ZERO;
        while !self.heard.wait_id(id, slice.min(within)) {
            waited += slice;
            if let Some(code) = self.exit_code() {
                // What it wrote last may still be in the pipe.
                self.heard.wait_end(Duration::from_millis(300));
                if self.heard.wait_id(id, Duration::ZERO) {
                    return Ok(());
                }
                return Err(format!("no reply with id {id} (the wrapper exited with {code})"));
            }
            if waited >= within {
                return Err(format!("no reply with id {id} in {} ms", within.as_millis()));
            }
        }
        Ok(())
    }

    /// Waits until at least so many bytes came, or none can come any more.
    pub fn wait_length(&self, length: usize, within: Duration) {
        self.heard.wait_length(length, within);
    }

    /// Waits for EOF on the wrapper's stdout and stderr.
    pub fn wait_output_end(&self, within: Duration) -> bool {
        let stderr_ended = || self.stderr_reader.as_ref().is_none_or(JoinHandle::is_finished);
        self.heard.wait_end(within) && until(within, stderr_ended)
    }

    /// Waits until stderr has a text.
    pub fn wait_stderr(&self, text: &str, within: Duration) -> bool {
        until(within, || crate::scan::has(&self.stderr(), text.as_bytes()))
    }

    /// The exit code if the wrapper has ended; minus the signal's number if one ended it.
    pub fn exit_code(&mut self) -> Option<i32> {
        let status = self.child.try_wait().ok().flatten()?;
        status.code().or_else(|| status.signal().map(|number| -number))
    }

    /// Waits for the wrapper's end.
    pub fn wait_exit(&mut self, within: Duration) -> Option<i32> {
        until(within, || self.exit_code().is_some());
        self.exit_code()
    }

    /// Starts looking at the wrapper's memory: `VmHWM` cannot be read once it has ended.
    pub fn watch_memory(&self) {
        let (pid, peak) = (self.pid(), Arc::clone(&self.peak_rss_mib));
        thread::spawn(move || {
            while let Some(now) = process::peak_rss_mib(pid) {
                peak.fetch_max(now, Relaxed);
                thread::sleep(Duration::from_millis(10));
            }
        });
    }

    /// The most memory seen since [`Client::watch_memory`].
    pub fn peak_rss_mib(&self) -> u64 {
        self.peak_rss_mib.load(Relaxed)
    }

    /// Every byte the client got.
    pub fn received(&self) -> Vec<u8> {
        self.heard.bytes()
    }

    /// Every byte the client sent, automatic answers included.
    pub fn sent(&self) -> Vec<u8> {
        self.writer.sent()
    }

    /// The first write that failed.
    pub fn write_fault(&self) -> Option<String> {
        self.writer.fault()
    }

    /// What the wrapper said on stderr.
    pub fn stderr(&self) -> Vec<u8> {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if self.exit_code().is_none() {
            // The group first, while its leader still holds the number.
            process::signal_group(self.pid().cast_signed(), Signal::KILL);
            let _gone = self.child.kill();
            let _reaped = self.child.wait();
        }
        process::kill_leftovers(&self.directory);
    }
}

fn collect(mut pipe: ChildStderr, kept: &Mutex<Vec<u8>>) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = pipe.read(&mut buffer) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let room = STDERR_BYTES_MAX.saturating_sub(kept.len());
        kept.extend_from_slice(&buffer[..length.min(room)]);
    }
}
