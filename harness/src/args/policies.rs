//! What can be typed for the commands about a policy file: which one, its facts, and what is done with it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::BoolishValueParser;
use clap::{ArgAction, Args};
use framegate_guard::praxiom::Dialect;

use super::{key_value, seconds};

/// Which policy, and the facts it decides by.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    /// Decide each call by this policy file
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_POLICY")]
    pub(crate) policy: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) dialect: DialectArgs,

    #[command(flatten)]
    pub(crate) facts: FactArgs,
}

/// How a policy of another format decides.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct DialectArgs {
    /// Let a policy of praxiom decide as praxiom does where that is less safe
    #[arg(long, env = "FRAMEGATE_COMPAT", action = ArgAction::SetTrue, value_parser = BoolishValueParser::new())]
    pub(crate) compat: bool,
}

impl DialectArgs {
    pub(crate) fn dialect(self) -> Dialect {
        if self.compat { Dialect::Original } else { Dialect::Safe }
    }
}

/// Facts that the policy declares.
#[derive(Clone, Debug, Args)]
pub(crate) struct FactArgs {
    /// Give a fact that the policy declares (repeatable)
    #[arg(long = "fact", value_name = "NAME=VALUE", env = "FRAMEGATE_FACT", value_parser = key_value, action = ArgAction::Append)]
    pub(crate) fact: Vec<(String, String)>,

    /// Give facts as a JSON object, or as a file that holds one
    #[arg(long, value_name = "FILE|JSON", env = "FRAMEGATE_FACTS")]
    pub(crate) facts: Option<String>,
}

/// `framegate init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Write to FILE, which must not be there yet; `-` is stdout, as without it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Start the server in this folder
    #[arg(long, value_name = "DIR", env = "FRAMEGATE_CWD")]
    pub(crate) cwd: Option<PathBuf>,

    /// Seconds to wait for each answer of the server's
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) timeout: Duration,

    /// The server's command and its arguments: it is started once and asked for its tools
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// `framegate check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The policy file; `-` is stdin
    #[arg(value_name = "POLICY")]
    pub(crate) policy: PathBuf,

    #[command(flatten)]
    pub(crate) dialect: DialectArgs,

    #[command(flatten)]
    pub(crate) facts: FactArgs,

    /// Start the server in this folder
    #[arg(long, value_name = "DIR", env = "FRAMEGATE_CWD")]
    pub(crate) cwd: Option<PathBuf>,

    /// What to call the server, for `server/tool` patterns and policies of praxiom
    #[arg(long, value_name = "NAME", env = "FRAMEGATE_NAME")]
    pub(crate) name: Option<String>,

    /// Seconds to wait for each answer of the server's
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) timeout: Duration,

    /// The file that will tell `run` what the user says: what needs their words is no warning then
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_CONTEXT")]
    pub(crate) context: Option<PathBuf>,

    /// Show the options in force for each tool that is offered
    #[arg(long)]
    pub(crate) tools: bool,

    /// Let warnings fail too
    #[arg(long)]
    pub(crate) strict: bool,

    /// Say it as one JSON object, also where the check fails: errors, warnings, tools
    #[arg(long)]
    pub(crate) json: bool,

    /// The server's command and its arguments: it is started once and asked for its tools
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// `framegate explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,

    /// What the server is called, for `server/tool` patterns
    #[arg(long, value_name = "NAME", env = "FRAMEGATE_NAME", default_value = "server")]
    pub(crate) name: String,

    /// Print each decision as one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,

    /// Print the effective options of each tool that the session lists
    #[arg(long)]
    pub(crate) options: bool,

    /// Run the programs that the policy asks; without it only what the session states of them is known
    #[arg(long)]
    pub(crate) run_programs: bool,

    /// The session, as JSON lines; `-` is stdin, and each decision is written before the next line is read
    #[arg(value_name = "EVENTS", default_value = "-")]
    pub(crate) events: PathBuf,
}

/// `framegate test`.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Sessions with expectations
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}
