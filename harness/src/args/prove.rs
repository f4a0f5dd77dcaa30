//! What can be typed for `framegate prove`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::seconds;

pub(crate) const PROVE_EXAMPLES: &str = r#"Examples:
  framegate prove framegate.yaml
  framegate prove framegate.yaml -- npx -y @modelcontextprotocol/server-filesystem /work
  framegate prove praxiom.yaml --never 'tool == "mail__send" and tainted'
  framegate prove praxiom.yaml --properties properties.yaml
  framegate prove framegate.yaml --coverage --no-solver

A property is `never`, a condition over the state and an allowed call that is to hold of none, whatever was called before;
with `after` of none once `after` was true of an allowed call. A counter-example is a shortest one, and was played to the
code that decides in earnest. What the solver knows nothing about (patterns, paths, what a file system says) may be
anything to it; such conditions are named.

The solver is the program z3: Debian's package z3, or pip install z3-solver.

Exit codes: 0 all is proved; 1 there is a counter-example; 2 z3 is missing, or its answer cannot be read; 3 something is
not decided; 74 a file cannot be read; 78 the policy or a property cannot be used"#;

/// What becomes of calls that ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AsksArg {
    /// A person may say yes
    Possible,
    /// Nobody does
    Refuse,
}

/// `framegate prove`.
#[derive(Debug, Args)]
pub(crate) struct ProveArgs {
    /// The policy file, with `properties:`; or one of praxiom
    #[arg(value_name = "POLICY")]
    pub(crate) policy: PathBuf,

    /// Prove the `properties:` of this file too: of a policy of praxiom in its own language
    #[arg(long, value_name = "FILE")]
    pub(crate) properties: Option<PathBuf>,

    /// Prove this too: the condition holds of no allowed call. Written in the policy's language
    #[arg(long, value_name = "EXPRESSION")]
    pub(crate) never: Vec<String>,

    /// With one --never: it counts once this was true of an allowed call
    #[arg(long, value_name = "EXPRESSION", requires = "never")]
    pub(crate) after: Option<String>,

    /// Calls and answers of the longest sequence to look at
    #[arg(long, value_name = "EVENTS", default_value = "20", value_parser = clap::value_parser!(u16).range(1..=200))]
    pub(crate) depth: u16,

    /// Seconds that each question to the solver, and each answer of the server's, may take
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) timeout: Duration,

    /// What becomes of calls that ask a person
    #[arg(long, value_name = "WHAT", default_value = "possible")]
    pub(crate) asks: AsksArg,

    /// Print which rules each tool's calls are held to
    #[arg(long)]
    pub(crate) coverage: bool,

    /// Say only what can be said without a solver; properties are not looked at
    #[arg(long, conflicts_with_all = ["never", "after", "properties"])]
    pub(crate) no_solver: bool,

    /// Say it as one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// What the server is called, for `server/tool` patterns and the prefix of praxiom's tool names
    #[arg(long, value_name = "NAME", env = "FRAMEGATE_NAME")]
    pub(crate) name: Option<String>,

    /// Start the server in this folder
    #[arg(long, value_name = "DIR", env = "FRAMEGATE_CWD")]
    pub(crate) cwd: Option<PathBuf>,

    /// The server's command and its arguments: its tools are what is looked at, instead of all names a policy can tell apart
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
