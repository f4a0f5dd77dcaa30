//! The least that any proxy can do: two threads that copy bytes.
//!
//! `copy-floor -- CMD ARGS...` runs CMD with pipes and exits with its code.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::{Command, ExitCode, Stdio};
use std::thread;

const BUFFER_BYTES: usize = 64 * 1024;

fn main() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let _ = writeln!(io::stderr(), "copy-floor: {error}");
            ExitCode::from(127)
        }
    }
}

fn run() -> io::Result<u8> {
    let mut args = std::env::args_os().skip(1).peekable();
    if args.peek().is_some_and(|word| word == "--") {
        args.next();
    }
    let program = args.next().ok_or_else(|| io::Error::other("usage: copy-floor -- CMD ARGS..."))?;
    let mut child = Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("no pipes"));
    };
    // Not joined: when the child is gone it may still sit in a read of our stdin.
    thread::spawn(move || copy(bare(io::stdin())?, stdin));
    // A client that has left is no failure of the child.
    let _ = copy(stdout, bare(io::stdout())?);
    let code = child.wait()?.code().unwrap_or(1);
    Ok(u8::try_from(code).unwrap_or(1))
}

/// `io::Stdin` and `io::Stdout` buffer and lock, so that a floor over them would lie too high.
fn bare(standard: impl AsFd) -> io::Result<File> {
    standard.as_fd().try_clone_to_owned().map(File::from)
}

fn copy(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        to.write_all(buffer.get(..count).unwrap_or_default())?;
    }
}
