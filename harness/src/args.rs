//! What can be typed. Help, completions and the man page are made from these definitions.

mod context;
mod desk;
mod examples;
mod prove;
mod records;
mod run;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::BoolishValueParser;
use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

pub(crate) use self::context::ContextArgs;
pub(crate) use self::desk::{
    ApproveArgs, ApproverArgs, ApproverCommand, DenyArgs, DeskArgs, PendingArgs, RevokeArgs,
};
use self::examples::{
    CALIBRATE_EXAMPLES, CHECK_EXAMPLES, EXPLAIN_EXAMPLES, INIT_EXAMPLES, LOG_EXAMPLES, PRAXIOM_EXAMPLES,
    PROXY_EXAMPLES, REPLAY_EXAMPLES, RUN_EXAMPLES, SCAN_EXAMPLES, SHOW_EXAMPLES, TEST_EXAMPLES, TRY_EXAMPLES,
    VERIFY_EXAMPLES,
};
pub(crate) use self::prove::{AsksArg, ProveArgs};
pub(crate) use self::records::{ChoiceArgs, ChosenOutcome, LogArgs, ReplayArgs, ShowArgs, VerifyArgs};
pub(crate) use self::run::{Ask, GivenStore, RunArgs, StoreArgs};
use framegate_guard::praxiom::Dialect;

use crate::calls::LogArguments;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Puts a byte-faithful pump between an MCP client and its server.
///
/// In the client's configuration, `command: X, args: [Y]` becomes
/// `command: framegate, args: [run, --, X, Y]`. Nothing else changes, except that each tool call
/// is seen: one line a call on stderr.
#[derive(Debug, Parser)]
#[command(name = "framegate", version, styles = STYLES, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "Examples:\n  framegate try\n  framegate run -- npx -y @modelcontextprotocol/server-filesystem .\n  claude mcp add files -- framegate run -- npx -y @modelcontextprotocol/server-filesystem ."
)]
pub(crate) struct Cli {
    /// When to use colour. NO_COLOR turns it off too.
    #[arg(long, global = true, env = "FRAMEGATE_COLOR", value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorWhen,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    Always,
    Auto,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Wrap an MCP server: every frame goes through byte for byte
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<RunArgs>),
    /// Play an MCP client for one session through the real wrapper
    #[command(after_help = TRY_EXAMPLES)]
    Try(TryArgs),
    /// Be a small MCP server: read, write and search in a temporary folder
    #[command(after_help = "Example:\n  framegate run -- framegate demo-server")]
    DemoServer,
    /// Print a policy to start from; with a server's command, one that names the tools it really lists
    #[command(after_help = INIT_EXAMPLES)]
    Init(InitArgs),
    /// Write the policy that says what another tool's configuration said
    Import(ImportArgs),
    /// Check a policy file; with a server's command, against the tools it really lists
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Say what a policy decides on the calls of a session, without a server
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// Play sessions with expectations and print what differs
    #[command(after_help = TEST_EXAMPLES)]
    Test(TestArgs),
    /// Prove what holds for every sequence of allowed calls, or show a shortest one that breaks it
    #[command(after_help = prove::PROVE_EXAMPLES)]
    Prove(ProveArgs),
    /// Show what in a text reads like an instruction to a model, and by which rule
    #[command(after_help = SCAN_EXAMPLES)]
    Scan(ScanArgs),
    /// Set the authorizer's threshold from calls whose right answer is known
    #[command(after_help = CALIBRATE_EXAMPLES)]
    Calibrate(CalibrateArgs),
    /// Show the recorded calls, the last ones last
    #[command(after_help = LOG_EXAMPLES)]
    Log(LogArgs),
    /// Show one recorded decision in full
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowArgs),
    /// Make recorded decisions again, under the policy of then or another one
    #[command(after_help = REPLAY_EXAMPLES)]
    Replay(ReplayArgs),
    /// Say whether a record is whole: every hash, every commitment, nothing missing
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(VerifyArgs),
    /// Show the calls that wait for an approval from a terminal
    #[command(after_help = desk::PENDING_EXAMPLES)]
    Pending(PendingArgs),
    /// Approve a call that waits; needs a terminal and the approver's passphrase
    #[command(after_help = desk::APPROVE_EXAMPLES)]
    Approve(ApproveArgs),
    /// Deny a call that waits
    #[command(after_help = desk::DENY_EXAMPLES)]
    Deny(DenyArgs),
    /// End a standing approval
    #[command(
        after_help = "Example:\n  framegate revoke k7m2qx\n\nExit codes: 0 it is ended; 1 there is no such one; 74 the file cannot be used"
    )]
    Revoke(RevokeArgs),
    /// Set up who approves from a terminal
    #[command(after_help = desk::APPROVER_EXAMPLES)]
    Approver(ApproverArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  framegate completions bash > /etc/bash_completion.d/framegate")]
    Completions {
        /// For which shell.
        shell: clap_complete::Shell,
    },
    /// Print the man page, of `framegate` or of one subcommand (`man run`, `man approver init`)
    #[command(
        after_help = "Examples:\n  framegate man > /usr/local/share/man/man1/framegate.1\n  framegate man run > /usr/local/share/man/man1/framegate-run.1"
    )]
    Man {
        /// Which subcommand's.
        subcommand: Vec<String>,
    },
}

impl Cli {
    /// What was typed, and what of it.
    ///
    /// # Errors
    /// When it cannot be parsed; or help was asked for.
    pub(crate) fn typed(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
        let matches = Cli::command().try_get_matches_from(words)?;
        let mut cli = Cli::from_arg_matches(&matches)?;
        if let (Command::Run(run), Some((_, matches))) = (&mut cli.command, matches.subcommand()) {
            run.store.given = GivenStore::of(matches);
        }
        Ok(cli)
    }
}

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

/// What a policy does to the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// What the policy refuses is refused.
    Enforce,
    /// Nothing is changed; the log says what would be.
    Monitor,
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

/// `framegate calibrate`.
#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// The probability with which a call that is not authorized may pass, at most
    #[arg(long, value_name = "SHARE", default_value = "0.1")]
    pub(crate) max_risk: f64,

    /// How certain that must be
    #[arg(long, value_name = "SHARE", default_value = "0.95")]
    pub(crate) confidence: f64,

    /// The policy whose authorizer is asked about examples without a score
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_POLICY")]
    pub(crate) policy: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// The examples, as JSON lines; `-` is stdin
    #[arg(value_name = "EXAMPLES")]
    pub(crate) examples: PathBuf,
}

/// `framegate scan`.
#[derive(Debug, Args)]
pub(crate) struct ScanArgs {
    /// Print each passage as one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,

    /// Print what the text was read as, too
    #[arg(long)]
    pub(crate) explain: bool,

    /// What the text is: users and tool descriptions may say what a tool's output may not
    #[arg(long = "as", value_name = "WHAT", default_value = "output")]
    pub(crate) looking: ScannedAs,

    /// The text; `-` is stdin
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
}

/// What a scanned text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScannedAs {
    /// What a tool gave
    Output,
    /// What the user said
    User,
    /// A tool's description
    Description,
}

/// `framegate test`.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Sessions with expectations
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

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
pub(crate) enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TypedFormat {
    Text,
    Json,
}

/// What is shown of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShownArguments {
    Full,
    None,
    Redacted,
}

impl From<ShownArguments> for LogArguments {
    fn from(typed: ShownArguments) -> LogArguments {
        match typed {
            ShownArguments::Full => LogArguments::Full,
            ShownArguments::None => LogArguments::None,
            ShownArguments::Redacted => LogArguments::Redacted,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreContent {
    Full,
    None,
    Redacted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreFailure {
    Allow,
    Refuse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TypedDurability {
    Bounded,
    Full,
    Normal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Noise {
    Pass,
    Stderr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Era {
    Auto,
    Legacy,
    Modern,
}

impl ColorWhen {
    /// Whether to colour what goes to a stream that is, or is not, a terminal.
    pub(crate) fn on(self, is_terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            // https://no-color.org: set and not empty.
            Self::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        }
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|_| "expected a number of seconds, 0 or more".to_owned())
}

/// Time for an answer: with none, every question would refuse its call before anybody read it.
fn some_seconds(text: &str) -> Result<Duration, String> {
    let time = seconds(text)?;
    if time.is_zero() {
        Err("expected more than 0 seconds; --ask none asks nobody".to_owned())
    } else {
        Ok(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_needs_time_for_its_answer() {
        for option in ["--ask-timeout", "--terminal-timeout"] {
            let parse = |time: &str| Cli::try_parse_from(["framegate", "run", option, time, "--", "server"]);
            assert!(parse("0.5").is_ok(), "{option}");
            assert!(parse("0").unwrap_err().to_string().contains("--ask none asks nobody"), "{option}");
        }
    }

    #[test]
    fn the_definitions_are_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_lists_every_exit_code() {
        for (code, meaning) in crate::exit::Exit::TABLE {
            assert!(RUN_EXAMPLES.contains(&format!("  {code:<6} {meaning}")), "{code}");
        }
    }

    #[test]
    fn what_was_typed_becomes_what_is_meant() {
        let cli = Cli::try_parse_from([
            "framegate",
            "run",
            "--quiet",
            "--env",
            "A=b=c",
            "--grace",
            "0.5",
            "--",
            "x",
            "--y",
        ])
        .unwrap();
        let Command::Run(run) = cli.command else { panic!() };
        assert_eq!(run.level(), crate::calls::Level::Warn);
        assert_eq!(run.env, [("A".to_owned(), "b=c".to_owned())]);
        assert_eq!(run.grace, Duration::from_millis(500));
        assert_eq!(run.command, ["x", "--y"]);
        assert!(Cli::try_parse_from(["framegate", "run"]).is_err());
        let cli = Cli::try_parse_from(["framegate", "run", "--quiet", "npx", "-y", "--grace", "x"]).unwrap();
        let Command::Run(run) = cli.command else { panic!() };
        assert_eq!(run.command, ["npx", "-y", "--grace", "x"], "a forgotten -- is no reason to fail");
        assert!(Cli::try_parse_from(["framegate", "run", "--grace", "-1", "--", "x"]).is_err());
    }
}
