//! What can be typed for the commands that read a record: `verify`, `log`, `show`, `replay`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{DialectArgs, FactArgs, ShownArguments};

/// `framegate verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// A store, or JSON lines of one; `-` is stdin [default: FRAMEGATE_STORE, else the one in the user's state folder]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// A head that was printed before: it must still be in the chain
    #[arg(long, value_name = "[SEQ:]HASH", value_parser = crate::cmd::verify::known_head)]
    pub(crate) head: Option<framegate_guard::store::verify::KnownHead>,

    /// The public key of --sign-key: only its signatures count, and there must be one
    #[arg(long, value_name = "PUBLIC", value_parser = crate::cmd::verify::public_key)]
    pub(crate) key: Option<framegate_guard::store::chain::Hash>,

    /// Say of each frame that did not go on as it came what was sent instead, and by which rule
    #[arg(long)]
    pub(crate) fidelity: bool,

    /// Say it as JSON; with --fidelity, a line for each frame first
    #[arg(long)]
    pub(crate) json: bool,

    /// Make a key for --sign-key in FILE, unless it is there, and print its public key
    #[arg(long, value_name = "FILE", exclusive = true)]
    pub(crate) new_key: Option<PathBuf>,
}

/// Which recorded calls.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ChoiceArgs {
    /// Only calls of tools that this pattern matches (`*`, `?`, `server/tool`)
    #[arg(long, value_name = "PATTERN")]
    pub(crate) tool: Option<String>,

    /// Only calls with this outcome, decided or (in monitor mode) to be decided
    #[arg(long, value_name = "OUTCOME")]
    pub(crate) outcome: Option<ChosenOutcome>,

    /// Only calls that this rule or check decided, or would have (in monitor mode, on trial)
    #[arg(long, value_name = "NAME")]
    pub(crate) rule: Option<String>,

    /// Only calls since then: 90s, 2h, 7d ago, a day like 2026-01-31, or a time: 2026-01-31T12:00:00Z, or without the
    /// zone as the log shows it
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,

    /// Only calls until then; of a day, all of it
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,

    /// Only calls of the session with this number, or of all sessions of this name (`run --session NAME`)
    #[arg(long, value_name = "N|NAME")]
    pub(crate) session: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChosenOutcome {
    Allow,
    Ask,
    Deny,
}

/// `framegate log`.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,

    /// How many calls, from the last one back; 0 is all
    #[arg(short = 'n', long = "count", value_name = "N", default_value_t = 50)]
    pub(crate) count: usize,

    /// Go on, and print each call when it ends
    #[arg(short, long, conflicts_with = "until")]
    pub(crate) follow: bool,

    /// Print each call as one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,

    /// With --json: every record of any kind, with its contents as they are kept
    #[arg(long, requires = "json", conflicts_with_all = ["tool", "outcome", "rule", "since", "until", "session", "follow", "count"])]
    pub(crate) all: bool,

    /// What of the arguments is shown: nothing, all but what looks like a credential, or all
    #[arg(long, value_name = "WHAT", default_value = "redacted")]
    pub(crate) arguments: ShownArguments,

    /// The record [default: FRAMEGATE_STORE, else the one in the user's state folder]; JSON lines too, `-` from stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

fn record_number(text: &str) -> Result<u64, String> {
    let why = "the record's number comes first, as `framegate log` shows it, and then the file: framegate show 4711 record.db";
    text.parse().map_err(|_| why.to_owned())
}

/// `framegate show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The record's number
    #[arg(value_name = "ID", value_parser = record_number)]
    pub(crate) id: u64,

    /// Print it as one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// What is shown of arguments, of results and of what was said of them: nothing, all but what looks like a
    /// credential, or all
    #[arg(long, value_name = "WHAT", default_value = "redacted")]
    pub(crate) arguments: ShownArguments,

    /// The record [default: FRAMEGATE_STORE, else the one in the user's state folder]; JSON lines too
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// `framegate replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Decide by this policy, and say what differs from what was decided
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) dialect: DialectArgs,

    #[command(flatten)]
    pub(crate) facts: FactArgs,

    /// With --policy: where a path leads of which the record says nothing, and all under it: /srv/data, /srv/link=/etc,
    /// .=/work for where the server was started; repeatable
    #[arg(long = "path", value_name = "PATH[=REAL]", requires = "policy")]
    pub(crate) paths: Vec<String>,

    /// With --policy: look up on today's disk where paths lead of which neither the record nor --path says it
    #[arg(long, requires = "policy")]
    pub(crate) disk: bool,

    /// Print a draft of a policy that allows what was allowed and little more
    #[arg(long, conflicts_with_all = ["policy", "json"])]
    pub(crate) learn: bool,

    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,

    /// Say it as one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// The record [default: FRAMEGATE_STORE, else the one in the user's state folder]; JSON lines too, `-` from stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}
