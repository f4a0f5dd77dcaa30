//! `tee FILE_PREFIX -- COMMAND ARGS...`: runs the command and passes its stdin and stdout
//! through, byte for byte, recording both.
//!
//! `FILE_PREFIX.c2s` gets what came from our stdin, `FILE_PREFIX.s2c` what the command wrote.
//! Every read is on disk before it is passed on, so a recording is never behind what a peer
//! has seen. Nothing here knows about lines or MCP.
//!
//! A client may run the same command line twice (the TypeScript 2.x SDK does: a probe, then
//! the session). The second run records to `FILE_PREFIX.2.c2s` and so on. The outermost tee
//! takes the number and hands it on in [`RUN`], so that an inner tee of the same run, with a
//! prefix of its own, uses the same number.
//!
//! Exit code: the command's; 128 + n if signal n ended it; 125 if the tee itself failed.
//! The command is started under `setpriv --pdeathsig`, so it gets SIGTERM when the tee dies,
//! whatever killed the tee: std cannot catch a signal, but the kernel can pass it on.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, Stdio};
use std::thread;

/// The environment variable that carries the run number to inner tees.
const RUN: &str = "TEE_RUN";
const READ_BYTES: usize = 64 * 1024;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [prefix, dashes, program, args @ ..] if dashes == "--" => {
            run(prefix, program, args).unwrap_or_else(|err| {
                eprintln!("tee: {err}");
                ExitCode::from(125)
            })
        }
        _ => {
            eprintln!("usage: tee FILE_PREFIX -- COMMAND ARGS...");
            ExitCode::from(125)
        }
    }
}

fn run(prefix: &str, program: &str, args: &[String]) -> io::Result<ExitCode> {
    let (run, c2s, s2c) = recordings(prefix)?;
    let mut child = Command::new("setpriv")
        .args(["--pdeathsig", "TERM", "--", program])
        .args(args)
        .env(RUN, run)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let to_child = child.stdin.take().ok_or_else(|| io::Error::other("no stdin"))?;
    let from_child = child.stdout.take().ok_or_else(|| io::Error::other("no stdout"))?;
    // Raw descriptors: std's own stdin and stdout buffer.
    let from_client = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let to_client = File::from(io::stdout().as_fd().try_clone_to_owned()?);

    // Not joined: it may sit in a read of a stdin that never ends, after the command is gone.
    thread::spawn(move || pump(from_client, c2s, to_child));
    // Everything the command wrote is passed on before its exit code is ours.
    pump(from_child, s2c, to_client)?;
    let status = child.wait()?;
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    Ok(ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(125)))
}

/// Copies until end of input, then drops `to`, which is how the other side sees the end.
fn pump(mut from: impl Read, mut record: File, to: impl Write) -> io::Result<()> {
    let mut buffer = vec![0; READ_BYTES];
    let mut to = Some(to);
    loop {
        let bytes = match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => buffer.get(..n).unwrap_or_default(),
            Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
            Err(err) => return Err(err),
        };
        record.write_all(bytes)?;
        // A reader that is gone does not end the recording, nor block the writer.
        if to.as_mut().is_some_and(|to| to.write_all(bytes).is_err()) {
            to = None;
        }
    }
}

/// The run number and the two files, opened for it.
fn recordings(prefix: &str) -> io::Result<(String, File, File)> {
    let name = |run: &str, direction| match run {
        "1" => format!("{prefix}.{direction}"),
        run => format!("{prefix}.{run}.{direction}"),
    };
    let create = |path| OpenOptions::new().write(true).create_new(true).open(path);
    if let Ok(run) = std::env::var(RUN) {
        let (c2s, s2c) = (create(name(&run, "c2s"))?, create(name(&run, "s2c"))?);
        return Ok((run, c2s, s2c));
    }
    for run in 1_u32.. {
        let run = run.to_string();
        match create(name(&run, "c2s")) {
            Ok(c2s) => {
                let s2c = create(name(&run, "s2c"))?;
                return Ok((run, c2s, s2c));
            }
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
            Err(err) => return Err(err),
        }
    }
    Err(io::Error::other("every run number is taken"))
}
