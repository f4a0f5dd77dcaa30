//! The warden: a small process between Framegate and the server.
//!
//! The kernel's parent-death signal reaches only a direct child, and is cleared for what that
//! child executes. So the child that gets it must be ours: it leads the server's process group
//! and, when Framegate dies (even by SIGKILL), ends the group. It sets the signal on itself,
//! which needs no `pre_exec`.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpgrp, getppid, kill_process_group, set_parent_process_death_signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR2};

use crate::exit::Exit;

/// The hidden subcommand: `__warden PARENT_PID PROGRAM ARG0 [ARGS…]`.
pub(crate) const NAME: &str = "__warden";
/// Sent by the kernel when Framegate is gone. Not SIGTERM: that one Framegate sends to the whole
/// group, and the warden has to outlive it to pass the server's exit code on.
const PARENT_DIED: Signal = Signal::USR2;
/// From the parent's death to SIGKILL.
const LAST_GRACE: Duration = Duration::from_millis(500);
/// The group is being ended. A server that goes at the first signal must not take the warden with
/// it: somebody else in the group may need the second.
static ENDING: AtomicBool = AtomicBool::new(false);

pub(crate) fn main(mut args: impl Iterator<Item = OsString>) -> Exit {
    let parent = args.next().and_then(|arg| arg.to_str()?.parse::<i32>().ok()).and_then(Pid::from_raw);
    let (Some(parent), Some(program), Some(arg0)) = (parent, args.next(), args.next()) else {
        return Exit::Usage;
    };
    if watch_signals().is_err() || set_parent_process_death_signal(Some(PARENT_DIED)).is_err() {
        return fail("the warden cannot watch its parent", Exit::CannotRun);
    }
    if getppid() != Some(parent) {
        // It died before the signal was set.
        end_group();
    }
    let mut command = Command::new(&program);
    command.arg0(arg0).args(args);
    match run(command) {
        Ok(exit) => exit,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => {
            // The file was there a moment ago: what is missing is its interpreter.
            fail(
                &format!("command `{}` cannot be run: {why} (is its interpreter there?)", program.display()),
                Exit::NotFound,
            )
        }
        Err(why) => fail(&format!("command `{}` cannot be run: {why}", program.display()), Exit::CannotRun),
    }
}

fn run(mut command: Command) -> std::io::Result<Exit> {
    let stdin = std::io::stdin().as_fd().try_clone_to_owned()?;
    let stdout = std::io::stdout().as_fd().try_clone_to_owned()?;
    command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout));
    let mut server = command.spawn()?;
    drop(command);
    // Holding the pipes would hide from Framegate that the server closed its own ends.
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    let status = server.wait()?;
    while ENDING.load(Ordering::Acquire) {
        // The rest of the group gets its SIGKILL from the other thread, and we with it.
        std::thread::park();
    }
    Ok(match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Server(u8::try_from(code & 0xff).unwrap_or(u8::MAX)),
        (None, signal) => Exit::Server(u8::try_from(128 + signal.unwrap_or(0)).unwrap_or(u8::MAX)),
    })
}

/// Signals to the group are for the server; the warden lets them pass and stays.
fn watch_signals() -> std::io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM, SIGUSR2])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if signal == SIGUSR2 {
                ENDING.store(true, Ordering::Release);
                end_group();
            }
        }
    });
    Ok(())
}

fn end_group() {
    let group = getpgrp();
    // Its members may be gone; then there is nothing to end.
    let _ = kill_process_group(group, Signal::TERM);
    std::thread::sleep(LAST_GRACE);
    let _ = kill_process_group(group, Signal::KILL);
}

fn fail(text: &str, exit: Exit) -> Exit {
    use std::io::Write;
    // Nobody is left to tell if stderr is gone.
    let _ = writeln!(std::io::stderr(), "framegate: {text}");
    exit
}
