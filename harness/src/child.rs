//! The server as a child process, and what a session needs of any upstream.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use framegate_pump::Port;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::unix::pipe;
use tokio::sync::watch;

use crate::resolve::{ResolveError, resolve};
use crate::stderr::Stderr;
use crate::stdio::Growing;
use crate::warden;

/// Lines of the server's stderr that are kept for error messages.
const TAIL_LINES: usize = 12;
/// Longest kept line, in bytes; the pass-through is not clipped.
const TAIL_LINE_BYTES: usize = 400;
/// How long the start of a line waits for the rest.
const UNFINISHED_LINE: Duration = Duration::from_millis(50);
/// Longest piece of the server's stderr that waits for its LF.
const STDERR_LINE_BYTES: usize = 64 * 1024;

/// What a server is called in logs, records and policies: never what it says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerName(Arc<str>);

impl ServerName {
    /// A name given by the user.
    pub fn given(name: &str) -> Self {
        Self(name.into())
    }

    /// The command's file name and a short hash of the whole command line.
    pub fn of_command(program: &OsStr, args: &[OsString]) -> Self {
        let mut hash = Sha256::new();
        for part in std::iter::once(program).chain(args.iter().map(OsString::as_os_str)) {
            hash.update(part.as_encoded_bytes());
            hash.update([0]);
        }
        let short: String = hash.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        let file = PathBuf::from(program);
        let file = file.file_name().unwrap_or(program).to_string_lossy().into_owned();
        Self(format!("{file}-{short}").into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ServerName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a server was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its command cannot be found or run.
    #[error(transparent)]
    Command(#[from] ResolveError),
    /// The folder it is to start in is none.
    #[error("the server cannot be started in `{0}`: that is no folder")]
    Folder(PathBuf),
    /// The system refused.
    #[error("the server's process cannot be started: {0}")]
    System(#[from] io::Error),
}

/// A server's command line and surroundings.
#[derive(Clone, Debug)]
pub struct ServerCommand {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    cwd: Option<PathBuf>,
    warden: bool,
    stderr: Option<Stderr>,
}

impl ServerCommand {
    /// A command, looked up in PATH.
    pub fn new(program: impl Into<OsString>, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: Vec::new(),
            cwd: None,
            warden: false,
            stderr: None,
        }
    }

    /// Sets a variable for the server.
    #[must_use]
    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((key.into(), value.into()));
        self
    }

    /// Starts the server in this folder.
    #[must_use]
    pub fn cwd(mut self, cwd: Option<PathBuf>) -> Self {
        self.cwd = cwd;
        self
    }

    /// Starts it through a warden. Only where the running program is `framegate` itself: the
    /// warden is a hidden subcommand of it. Without one the group is ended all the same, except
    /// when this process is killed by SIGKILL.
    #[must_use]
    pub(crate) fn with_warden(mut self) -> Self {
        self.warden = true;
        self
    }

    /// Passes the server's stderr on; without this it is only kept for error messages.
    #[must_use]
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = Some(stderr);
        self
    }

    /// What the server is called unless somebody gave it a name.
    pub fn name(&self) -> ServerName {
        ServerName::of_command(&self.program, &self.args)
    }

    /// Starts the server. Call it on a thread that lives as long as the session: the kernel's
    /// parent-death signal is tied to it.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start(self) -> Result<Upstream, StartError> {
        let Launched { from, to, process } = self.launch()?;
        Ok(Upstream { port: Port::bytes(Growing::new(from), to), process: Some(process) })
    }

    /// The program's file.
    ///
    /// # Errors
    /// [`StartError`]: it would not be started.
    pub(crate) fn find(&self) -> Result<PathBuf, StartError> {
        let path = self.env.iter().rev().find(|(key, _)| key == "PATH").map(|(_, value)| value.clone());
        let path = path.or_else(|| std::env::var_os("PATH"));
        let program = resolve(&self.program, path.as_deref(), self.cwd.as_deref())?;
        if let Some(cwd) = self.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
            return Err(StartError::Folder(cwd.clone()));
        }
        Ok(program)
    }

    /// The same as [`ServerCommand::start`] with its streams as they are.
    pub(crate) fn launch(self) -> Result<Launched, StartError> {
        let program = self.find()?;
        let (their_in, our_in) = io::pipe()?;
        let (our_out, their_out) = io::pipe()?;
        let (our_err, their_err) = io::pipe()?;
        let mut command = self.command(&program);
        command.stdin(their_in).stdout(their_out).stderr(Stdio::from(their_err)).process_group(0);
        let child = command.spawn()?;
        drop(command);
        let pid = Pid::from_child(&child);
        let exited = watch_exit(pid)?;
        let tail = Tail::default();
        let errors = pipe::Receiver::from_owned_fd(OwnedFd::from(our_err))?;
        let errors_read = tokio::spawn(pass_stderr(errors, self.stderr.clone(), tail.clone()));
        Ok(Launched {
            from: pipe::Receiver::from_owned_fd(OwnedFd::from(our_out))?,
            to: pipe::Sender::from_owned_fd(OwnedFd::from(our_in))?,
            process: Process {
                child,
                group: pid,
                exited,
                signalled: AtomicBool::new(false),
                tail,
                errors_read: Some(errors_read),
            },
        })
    }

    fn command(&self, program: &std::path::Path) -> Command {
        let mut command = if self.warden {
            // The path of a binary that was replaced while it runs is gone; this one is not.
            let mut command = Command::new("/proc/self/exe");
            command.arg0("framegate").arg(warden::NAME).arg(std::process::id().to_string());
            command.arg(program).arg(&self.program);
            command
        } else {
            let mut command = Command::new(program);
            command.arg0(&self.program);
            command
        };
        command.args(&self.args);
        for (key, _) in std::env::vars_os() {
            // Our settings are not the server's business.
            if key.as_encoded_bytes().starts_with(b"FRAMEGATE_") {
                command.env_remove(key);
            }
        }
        command.envs(self.env.iter().map(|(key, value)| (key, value)));
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        command
    }
}

/// A process with its streams.
#[derive(Debug)]
pub(crate) struct Launched {
    pub(crate) from: pipe::Receiver,
    pub(crate) to: pipe::Sender,
    pub(crate) process: Process,
}

/// Something that answers: where its frames come from and go to, and how it is ended.
#[derive(Debug)]
pub struct Upstream {
    pub(crate) port: Port,
    pub(crate) process: Option<Process>,
}

impl Upstream {
    /// An upstream that is no process of ours: it ends when its stream does.
    pub fn streams(
        from: impl AsyncRead + Send + Unpin + 'static,
        to: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self::port(Port::bytes(from, to))
    }

    /// The same over frames that need no cutting.
    pub fn port(port: Port) -> Self {
        Self { port, process: None }
    }
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    group: Pid,
    exited: watch::Receiver<Option<u8>>,
    /// A signal was sent while it ran.
    signalled: AtomicBool,
    pub(crate) tail: Tail,
    errors_read: Option<tokio::task::JoinHandle<()>>,
}

impl Process {
    /// Waits for the direct child's exit.
    pub(crate) async fn exit_code(&self) -> u8 {
        let mut exited = self.exited.clone();
        // The watching thread sends before it ends.
        exited.wait_for(Option::is_some).await.ok().and_then(|code| *code).unwrap_or(1)
    }

    /// Sends a signal to the server and whatever it started.
    pub(crate) fn signal(&self, signal: Signal) {
        if self.exited.borrow().is_none() {
            self.signalled.store(true, Ordering::Relaxed);
        }
        // A group that is gone needs none.
        let _ = kill_process_group(self.group, signal);
    }

    /// Whether we ended it, rather than it itself.
    pub(crate) fn was_signalled(&self) -> bool {
        self.signalled.load(Ordering::Relaxed)
    }

    /// Waits until all of stderr is read, at most this long.
    pub(crate) async fn stderr_read(&mut self, at_most: Duration) {
        if let Some(reading) = &mut self.errors_read {
            // A grandchild may hold the pipe open.
            if tokio::time::timeout(at_most, reading).await.is_ok() {
                self.errors_read = None;
            }
        }
    }
}

/// Ends what is left of the group and reaps the child, however the session was left: a dropped
/// future must not leave a server behind.
impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        if let Some(reading) = self.errors_read.take() {
            reading.abort();
        }
        // It has exited or was just killed: this does not wait long.
        let _ = self.child.wait();
    }
}

/// Waits for the exit in a thread, and leaves the child unreaped: as long as it is a zombie its
/// group's number cannot become somebody else's.
fn watch_exit(pid: Pid) -> io::Result<watch::Receiver<Option<u8>>> {
    let (send, exited) = watch::channel(None);
    std::thread::Builder::new().name("exit".into()).stack_size(64 * 1024).spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let code = match waitid(WaitId::Pid(pid), options) {
            Ok(Some(status)) => {
                let signal = status.terminating_signal().map(|signal| 128 + signal);
                status.exit_status().or(signal).unwrap_or(1)
            }
            _ => 1,
        };
        send.send_replace(Some(u8::try_from(code & 0xff).unwrap_or(u8::MAX)));
    })?;
    Ok(exited)
}

/// The last lines of the server's stderr.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn add(&self, line: &[u8]) {
        let clipped = line.get(..TAIL_LINE_BYTES).unwrap_or(line);
        let text: String = String::from_utf8_lossy(clipped).trim_end().chars().map(printable).collect();
        if text.is_empty() {
            return;
        }
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == TAIL_LINES {
            lines.pop_front();
        }
        lines.push_back(text);
    }
}

fn printable(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

/// Reads the server's stderr in chunks, never lines of unknown length, and passes whole lines.
async fn pass_stderr(mut from: pipe::Receiver, to: Option<Stderr>, tail: Tail) {
    let mut waiting: Vec<u8> = Vec::new();
    let mut chunk = vec![0; 16 * 1024];
    loop {
        let patience = if waiting.is_empty() { Duration::MAX } else { UNFINISHED_LINE };
        let n = match tokio::time::timeout(patience, from.read(&mut chunk)).await {
            Ok(Ok(n @ 1..)) => n,
            Ok(_) => break,
            // A prompt, a progress bar, or last words without a line feed while a grandchild still
            // holds the pipe.
            Err(_) => {
                pass_on(std::mem::take(&mut waiting), to.as_ref(), &tail);
                continue;
            }
        };
        waiting.extend_from_slice(chunk.get(..n).unwrap_or_default());
        let whole = match memchr::memrchr(b'\n', &waiting) {
            Some(at) => at + 1,
            None if waiting.len() > STDERR_LINE_BYTES => waiting.len(),
            None => continue,
        };
        let rest = waiting.split_off(whole);
        let lines = std::mem::replace(&mut waiting, rest);
        pass_on(lines, to.as_ref(), &tail);
    }
    if !waiting.is_empty() {
        pass_on(waiting, to.as_ref(), &tail);
    }
}

fn pass_on(lines: Vec<u8>, to: Option<&Stderr>, tail: &Tail) {
    let last: Vec<&[u8]> = lines.split(|b| *b == b'\n').rev().take(TAIL_LINES + 1).collect();
    last.into_iter().rev().for_each(|line| tail.add(line));
    if let Some(to) = to {
        to.bytes(&lines);
    }
}
