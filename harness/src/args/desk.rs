//! What can be typed about approvals from a terminal.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

pub(super) const PENDING_EXAMPLES: &str = "Examples:
  framegate pending
  framegate pending --standing
  framegate pending --json --store record.db

A call whose session is gone (its process was killed) says so; it cannot be answered any more.

Exit codes: 0 they were shown, or there are none; 74 there is no such record, or the file cannot be used";

pub(super) const APPROVE_EXAMPLES: &str = "Examples:
  framegate approve k7m2qx
  framegate approve k7m2qx --note 'asked ada' --for 10m

The call is shown on the terminal, and the passphrase is the yes. With --for the same call (the same tool and arguments,
and the same reasons) is let through until then, in any session with this record, server (as shown) and policy; with
--any-arguments too, where the policy says `remember: tool`, every call of the tool that only the same rules ask about.

Exit codes: 0 approved; 1 it was not: too late, answered already, no terminal, not the passphrase; 74 a file cannot be used";

pub(super) const DENY_EXAMPLES: &str = "Examples:
  framegate deny k7m2qx
  framegate deny k7m2qx --reason 'not on a Friday'

The reason is told to the model.

Exit codes: 0 denied; 1 it was not: too late, or answered already; 74 the file cannot be used";

pub(super) const APPROVER_EXAMPLES: &str = "Example:
  framegate approver init

Asks for a passphrase on the terminal and writes what proves it, for this user alone. Sessions that start from then on let
it approve calls of tools for which the policy says `approve: terminal`.

Exit codes: 0 it is set up; 1 it is not: no terminal, or no passphrase that will do; 74 the file is there already or cannot be written";

/// Which record's questions.
#[derive(Clone, Debug, Args)]
pub(crate) struct DeskArgs {
    /// The record beside which the questions lie [default: the one in the user's state directory]
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_STORE")]
    pub(crate) store: Option<PathBuf>,
}

/// `framegate pending`.
#[derive(Debug, Args)]
pub(crate) struct PendingArgs {
    #[command(flatten)]
    pub(crate) desk: DeskArgs,

    /// Show the standing approvals instead
    #[arg(long)]
    pub(crate) standing: bool,

    /// Print each as one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,

    /// By whose signature a standing approval counts [default: framegate/approver.json in the user's configuration
    /// directory]
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_APPROVER")]
    pub(crate) approver: Option<PathBuf>,
}

/// `framegate approve`.
#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// The call, as `framegate pending` names it
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// Something for the record
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) note: String,

    /// Let the same call through from now on, for so long (at most 24h)
    #[arg(long = "for", value_name = "TIME", value_parser = standing_time)]
    pub(crate) standing: Option<Duration>,

    /// With --for: any arguments, where the policy says `remember: tool`
    #[arg(long, requires = "standing")]
    pub(crate) any_arguments: bool,

    /// The file that `framegate approver init` made [default: framegate/approver.json in the user's configuration
    /// directory]
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_APPROVER")]
    pub(crate) approver: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) desk: DeskArgs,
}

/// `framegate deny`.
#[derive(Debug, Args)]
pub(crate) struct DenyArgs {
    /// The call, as `framegate pending` names it
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// Why, for the model and the record
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) reason: String,

    #[command(flatten)]
    pub(crate) desk: DeskArgs,
}

/// `framegate revoke`.
#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// The standing approval, as `framegate pending --standing` names it
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) desk: DeskArgs,
}

/// `framegate approver`.
#[derive(Debug, Args)]
pub(crate) struct ApproverArgs {
    #[command(subcommand)]
    pub(crate) command: ApproverCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApproverCommand {
    /// Ask for a passphrase and write what proves it
    Init {
        /// Write to FILE [default: framegate/approver.json in the user's configuration directory]
        #[arg(long, value_name = "FILE", env = "FRAMEGATE_APPROVER")]
        approver: Option<PathBuf>,
    },
}

/// Longest time for which a yes can be given in advance.
const STANDING_MAX: Duration = Duration::from_secs(24 * 3600);

fn standing_time(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text).map_err(|_| "expected a time such as `10m`".to_owned())?;
    match time {
        Duration::ZERO => Err("expected a time such as `10m`, more than none".to_owned()),
        time if time > STANDING_MAX => Err("at most 24h".to_owned()),
        time => Ok(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standing_approval_has_an_end() {
        for (text, fine) in [("0s", false), ("1ms", true), ("24h", true), ("24h 1ms", false), ("10", false)] {
            assert_eq!(standing_time(text).is_ok(), fine, "{text}");
        }
    }
}
