//! Framegate wraps an MCP server: `framegate run -- SERVER` stands where the server's command
//! stood, and every frame goes through byte for byte.
//!
//! This crate is the only one that knows both the pump ([`framegate_pump`]) and what surrounds
//! it: the child process, the standard streams, the log, the command line.
//!
//! * [`Session`] runs one wrapped session over any client streams and any [`Upstream`]; a child
//!   process ([`ServerCommand`]) is the first kind of upstream.
//! * [`CallLog`] is the observer that turns frames into one line a call.
//! * [`Recorder`] is the observer behind `--record`.
//!
//! ```no_run
//! # async fn f() -> Result<(), Box<dyn std::error::Error>> {
//! use framegate::{ServerCommand, Session, Settings};
//!
//! let upstream = ServerCommand::new("npx", ["-y", "@modelcontextprotocol/server-memory"]).start()?;
//! let outcome = Session::new(upstream, Settings::default())
//!     .run(tokio::io::stdin(), tokio::io::stdout())
//!     .await;
//! println!("{}", outcome.exit());
//! # Ok(()) }
//! ```
//!
//! # The child
//!
//! A server is started through a *warden*: this binary again (`framegate __warden`), leader of a
//! new process group. It is signalled by the kernel when Framegate dies, even by SIGKILL, and
//! ends the group. A server or grandchild that calls `setsid` leaves the group and is out of reach.
//! (A library user gets no warden: it is a hidden subcommand of the binary.)
//!
//! ```text
//! client ends → stdin of the server closed → answers still due: wait (--drain)
//!     → nothing due and nothing moves for --grace → SIGTERM → 0.9 s → SIGKILL to the group
//! SIGTERM (SIGINT, SIGHUP) to us → stdin of the server closed → 0.7 s → the same signal → 0.9 s → SIGKILL
//! a client that reads no more → SIGTERM → 0.9 s → SIGKILL to the group
//! server ends → its output read to the end, or 100 ms of silence → open requests answered
//!     with an error that carries its last lines of stderr → its exit code
//! ```

mod approve;
mod args;
mod bridge;
mod calls;
mod child;
mod client;
mod clip;
mod cmd;
mod context;
mod desk;
mod exit;
mod explain;
mod foreign;
mod history;
mod mcp;
mod noise;
mod policy_file;
mod program;
mod record;
mod recorder;
mod redact;
mod resolve;
mod secret_file;
mod session;
mod sign_key;
mod stderr;
mod stdio;
mod store_path;
mod tty;
mod variables;
mod warden;
pub mod wire;

pub use approve::{
    ASK_TIMEOUT, Answered, AskSettings, Asker, Asking, Carrier, Filled, Filling, FormQuestion, Question,
    Reply, STATE_TIMEOUT, StateKey,
};
pub use bridge::{Bridge, BridgeSettings};
pub use calls::{CallLog, Level, LogArguments, LogFormat};
pub use child::{ServerCommand, ServerName, StartError, Upstream};
pub use context::{ContextFile, ContextSettings};
pub use desk::Desk;
pub use exit::Exit;
pub use framegate_guard as guard;
pub use framegate_pump as pump;
pub use program::{Launch, ProgramError, Programs, Say};
pub use record::Recorder;
pub use session::{EndedFor, Outcome, Session, Settings, Stop};
pub use stderr::Stderr;

/// Runs the command line; the process's exit code is one of [`Exit`].
pub fn main() -> std::process::ExitCode {
    wait_for_children();
    let mut typed = std::env::args_os().skip(1);
    if typed.next().is_some_and(|first| first == warden::NAME) {
        return warden::main(typed).code();
    }
    cmd::main().code()
}

/// A parent that ignores SIGCHLD passes that on, and then nobody can wait for a child: the kernel
/// reaps it at once, with its exit code. A handler, of whatever kind, undoes it for us, and what we
/// start begins with the default again.
fn wait_for_children() {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    // Without a handler all is as it was; only an inherited ignore would then cost the exit code.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGCHLD, Arc::<AtomicBool>::default());
}
