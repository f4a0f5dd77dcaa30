//! What can be typed for `framegate import`.

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand};

use super::examples::{PRAXIOM_EXAMPLES, PROXY_EXAMPLES};

/// `framegate import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    #[command(subcommand)]
    pub(crate) from: ImportFrom,
}

/// What can be imported.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportFrom {
    /// Of mcp-elicitation-proxy 0.1: asking for missing arguments
    #[command(after_help = PROXY_EXAMPLES)]
    ElicitationProxy(ProxyArgs),
    /// Of praxiom 0.1 and 0.2: a policy. `run --policy` takes it as it is, too
    #[command(after_help = PRAXIOM_EXAMPLES)]
    Praxiom(PraxiomArgs),
}

/// `framegate import praxiom`.
#[derive(Debug, Args)]
pub(crate) struct PraxiomArgs {
    /// Its policy file
    #[arg(value_name = "POLICY")]
    pub(crate) policy: PathBuf,

    /// What a server is called there, and will be by `run --name` (repeatable) [default: those that its globs begin with]
    #[arg(long, value_name = "NAME", action = ArgAction::Append)]
    pub(crate) name: Vec<String>,

    /// Write the policy to FILE, which must not be there yet; `-` is stdout, as without it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// `framegate import elicitation-proxy`.
#[derive(Debug, Args)]
pub(crate) struct ProxyArgs {
    /// Its configuration file
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,

    /// Write the policy to FILE, which must not be there yet; `-` is stdout, as without it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
