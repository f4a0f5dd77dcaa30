//! Running a client to its end, within a time limit.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How a process ended and what it wrote.
pub(crate) struct Outcome {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `command` with no stdin; kills it and panics if it does not end within `limit`.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Outcome {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|err| panic!("cannot start {command:?}: {err}"));
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let Some(status) = wait(&mut child, limit) else {
        let _ = child.kill();
        let _ = child.wait();
        // The readers are left alone: a grandchild may still hold the pipes.
        panic!("{command:?} did not end within {limit:?}");
    };
    let text = |reader: thread::JoinHandle<Vec<u8>>| {
        String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned()
    };
    Outcome { status, stdout: text(stdout), stderr: text(stderr) }
}

fn collect(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        bytes
    })
}

fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let began = Instant::now();
    while began.elapsed() < limit {
        if let Some(status) = child.try_wait().expect("wait for the client") {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(10));
    }
    None
}
