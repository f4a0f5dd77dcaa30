//! What can be typed for `framegate try`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, ValueEnum};

use super::seconds;

/// `framegate try`.
#[derive(Debug, Args)]
pub(crate) struct TryArgs {
    /// List the tools (the default when nothing else is asked for)
    #[arg(long)]
    pub(crate) list: bool,

    /// Call a tool with JSON arguments (repeatable)
    #[arg(long, num_args = 2, value_names = ["TOOL", "ARGUMENTS"], action = ArgAction::Append)]
    pub(crate) call: Vec<String>,

    /// Decide each call by this policy file
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_POLICY")]
    pub(crate) policy: Option<PathBuf>,

    /// Which protocol to speak: legacy (initialize), modern (2026-07-28), or modern if the server knows it
    #[arg(long, value_name = "ERA", default_value = "auto")]
    pub(crate) era: Era,

    /// Seconds to wait for each answer
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(crate) timeout: Duration,

    /// The server's command and its arguments [default: the built-in demo server]
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Era {
    Auto,
    Legacy,
    Modern,
}
