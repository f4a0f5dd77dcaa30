//! The solver's process. One question, one process: what hangs is ended, and leaves nothing behind for the next.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use framegate_guard::prove::{Answer, Model, Query};
use rustix::process::{Pid, Signal, kill_process_group};

use super::super::out::Failure;
use crate::exit::Exit;
use crate::resolve::resolve;

/// The program looked for.
const PROGRAM: &str = "z3";
/// Bytes of an answer that are read: a model of the longest sequence takes a few hundred KiB.
const OUTPUT_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// MiB that the solver may take.
const MEMORY_MIB: usize = 2048;
/// What it is given beyond its own time limit before it is ended.
const GRACE: Duration = Duration::from_secs(2);

/// A solver that was found.
#[derive(Debug)]
pub(super) struct Solver {
    program: PathBuf,
    limit: Duration,
}

fn failure(text: String) -> Failure {
    Failure { exit: Exit::Usage, text }
}

impl Solver {
    pub(super) fn find(limit: Duration) -> Result<Solver, Failure> {
        let path = std::env::var_os("PATH");
        let program = resolve(PROGRAM.as_ref(), path.as_deref(), None).map_err(|why| {
            failure(format!(
                "{why}\nA proof needs the solver z3: install Debian's package `z3`, or `pip install z3-solver` \
                 (and put it on PATH). What can be said without it: --no-solver"
            ))
        })?;
        Ok(Solver { program, limit })
    }

    /// Asks, and waits for the answer as long as the limit says.
    pub(super) fn ask(&self, model: &Model, query: &Query) -> Result<Answer, Failure> {
        let Some(output) = self.run(&query.script)? else {
            return Ok(Answer::Unknown(format!(
                "z3 took longer than {} s (--timeout)",
                self.limit.as_secs()
            )));
        };
        let program = self.program.display();
        query.read(model, &output).map_err(|why| failure(format!("`{program}`: {why}")))
    }

    /// What it printed; `None` where it was ended for taking too long.
    fn run(&self, script: &str) -> Result<Option<String>, Failure> {
        let program = self.program.display().to_string();
        let failed = |why: io::Error| failure(format!("`{program}` cannot be used: {why}"));
        let limit = self.limit.as_secs().max(1);
        let mut child = Command::new(&self.program)
            .args(["-in", "-smt2", &format!("-T:{limit}"), &format!("-memory:{MEMORY_MIB}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // A script called z3 may start others, and all of them end together.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let output = talk(&mut child, script.to_owned(), self.limit.max(Duration::from_secs(1)) + GRACE);
        // It has answered, or will not: either way nothing of it is to go on.
        end(&child);
        child.wait().map_err(failed)?;
        match output {
            Some(bytes) => {
                let bytes = bytes.map_err(failed)?;
                Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
            }
            None => Ok(None),
        }
    }
}

fn end(child: &Child) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // Nothing is to be done where it has gone already.
    let _ = pid.map(|pid| kill_process_group(pid, Signal::KILL));
}

/// Writes the question and reads the answer, each on a thread: a solver that answers early may never read to the end.
fn talk(child: &mut Child, script: String, patience: Duration) -> Option<io::Result<Vec<u8>>> {
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    thread::spawn(move || {
        // One that has closed its input has answered, or will be found to have said nothing.
        stdin.map(|mut stdin| stdin.write_all(script.as_bytes()))
    });
    let (told, answer) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.map_or(Ok(0), |stdout| stdout.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes));
        // Nobody waits any more where it took too long.
        let _ = told.send(read.map(|_| bytes));
    });
    answer.recv_timeout(patience).ok()
}
