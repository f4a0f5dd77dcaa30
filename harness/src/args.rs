//! What can be typed. Help, completions and the man page are made from these definitions.

mod choices;
mod client;
mod context;
mod desk;
mod detection;
mod examples;
mod import;
mod policies;
mod prove;
mod records;
mod run;

use std::ffi::OsString;
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

pub(crate) use self::choices::{
    LogLevel, Mode, Noise, ShownArguments, StoreContent, StoreFailure, TypedDurability, TypedFormat,
};
pub(crate) use self::client::{Era, TryArgs};
pub(crate) use self::context::ContextArgs;
pub(crate) use self::desk::{
    ApproveArgs, ApproverArgs, ApproverCommand, DenyArgs, DeskArgs, PendingArgs, RevokeArgs,
};
pub(crate) use self::detection::{CalibrateArgs, ScanArgs, ScannedAs};
use self::examples::{
    CALIBRATE_EXAMPLES, CHECK_EXAMPLES, EXPLAIN_EXAMPLES, INIT_EXAMPLES, LOG_EXAMPLES, REPLAY_EXAMPLES,
    RUN_EXAMPLES, SCAN_EXAMPLES, SHOW_EXAMPLES, TEST_EXAMPLES, TRY_EXAMPLES, VERIFY_EXAMPLES,
};
pub(crate) use self::import::{ImportArgs, ImportFrom, PraxiomArgs, ProxyArgs};
pub(crate) use self::policies::{
    CheckArgs, DialectArgs, ExplainArgs, FactArgs, InitArgs, PolicyArgs, TestArgs,
};
pub(crate) use self::prove::{AsksArg, ProveArgs};
pub(crate) use self::records::{ChoiceArgs, ChosenOutcome, LogArgs, ReplayArgs, ShowArgs, VerifyArgs};
pub(crate) use self::run::{Ask, GivenStore, RunArgs, StoreArgs};

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
