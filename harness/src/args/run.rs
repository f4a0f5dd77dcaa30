//! What can be typed for `framegate run`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::builder::BoolishValueParser;
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Args};

use super::{
    ContextArgs, LogLevel, Mode, Noise, PolicyArgs, ShownArguments, StoreContent, StoreFailure,
    TypedDurability, TypedFormat, key_value, seconds, some_seconds,
};
use crate::approve::{AskSettings, Carrier};
use crate::calls::{Level, LogFormat};
use crate::desk::Desk;

/// `framegate run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,

    #[command(flatten)]
    pub(crate) context: ContextArgs,

    /// Decide and log, but change nothing: nothing is hidden, refused or asked
    #[arg(long, value_name = "MODE", env = "FRAMEGATE_MODE")]
    pub(crate) mode: Option<Mode>,

    /// Refuse to start without a policy
    #[arg(long, env = "FRAMEGATE_REQUIRE_POLICY", action = ArgAction::SetTrue, value_parser = BoolishValueParser::new())]
    pub(crate) require_policy: bool,

    /// Set a variable for the server (repeatable)
    #[arg(long, value_name = "KEY=VALUE", env = "FRAMEGATE_ENV", value_parser = key_value, action = ArgAction::Append)]
    pub(crate) env: Vec<(String, String)>,

    /// Start the server in this folder
    #[arg(long, value_name = "DIR", env = "FRAMEGATE_CWD")]
    pub(crate) cwd: Option<PathBuf>,

    /// Write the raw frames of both directions with time stamps to FILE, as JSON lines
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_RECORD")]
    pub(crate) record: Option<PathBuf>,

    /// Say only what a person should know of: the same as --log warn
    #[arg(long, env = "FRAMEGATE_QUIET", action = ArgAction::SetTrue, value_parser = BoolishValueParser::new())]
    pub(crate) quiet: bool,

    /// How much to say on stderr
    #[arg(long, value_name = "LEVEL", env = "FRAMEGATE_LOG", default_value = "info")]
    pub(crate) log: LogLevel,

    /// How to say it
    #[arg(long, value_name = "FORMAT", env = "FRAMEGATE_LOG_FORMAT", default_value = "text")]
    pub(crate) log_format: TypedFormat,

    /// What a call's line shows of its arguments: nothing, all but what looks like a credential, or all
    #[arg(long, value_name = "WHAT", env = "FRAMEGATE_LOG_ARGUMENTS", default_value = "redacted")]
    pub(crate) log_arguments: ShownArguments,

    /// Lines of the server's stdout that are not JSON: pass them on, or divert them to stderr
    #[arg(long, value_name = "WHERE", env = "FRAMEGATE_NOISE", default_value = "pass")]
    pub(crate) noise: Noise,

    /// Who is asked about a call that a person decides on, the first that can be reached: the client's user, where the
    /// client can ask; the approver at a terminal, where the policy says `approve: terminal`; or `none`
    #[arg(long, value_name = "WHOM", env = "FRAMEGATE_ASK", default_value = "client,terminal", value_parser = ask_order)]
    pub(crate) ask: AskOrder,

    /// Seconds after which a question that is not answered refuses its call. SDK clients give a call up after 60
    #[arg(long, value_name = "SECONDS", env = "FRAMEGATE_ASK_TIMEOUT", default_value = "50", value_parser = some_seconds)]
    pub(crate) ask_timeout: Duration,

    /// The same for a question at a terminal [default: that of --ask-timeout]
    #[arg(long, value_name = "SECONDS", env = "FRAMEGATE_TERMINAL_TIMEOUT", value_parser = some_seconds)]
    pub(crate) terminal_timeout: Option<Duration>,

    /// Whose approvals from a terminal count: the file that `framegate approver init` made [default:
    /// framegate/approver.json in the user's configuration directory]
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_APPROVER", overrides_with = "approver")]
    pub(crate) approver: Option<PathBuf>,

    /// Seal questions that the client carries (2026-07-28) with the key in FILE, 32 bytes or more, so that another
    /// process with the same key and the same --store can get the answer
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_STATE_KEY")]
    pub(crate) state_key: Option<PathBuf>,

    /// After the client's end, with nothing due: seconds of silence before SIGTERM
    #[arg(long, value_name = "SECONDS", env = "FRAMEGATE_GRACE", default_value = "1", value_parser = seconds)]
    pub(crate) grace: Duration,

    /// After the client's end, with answers due: seconds of silence before SIGTERM
    #[arg(long, value_name = "SECONDS", env = "FRAMEGATE_DRAIN", default_value = "30", value_parser = seconds)]
    pub(crate) drain: Duration,

    /// What to call the server in logs and to the policy; one of praxiom needs it [default: its command's file name and a
    /// short hash]
    #[arg(long, value_name = "NAME", env = "FRAMEGATE_NAME")]
    pub(crate) name: Option<String>,

    /// Share one session with all `run`s of this name and the same --store: what was called, what is in flight, and the
    /// state of the policy. It is kept for an hour after the last of them has ended
    #[arg(long, value_name = "NAME", env = "FRAMEGATE_SESSION")]
    pub(crate) session: Option<String>,

    #[command(flatten)]
    pub(crate) store: StoreArgs,

    /// The server's command and its arguments; the `--` before it may be left out
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// The record of decisions.
#[derive(Clone, Debug, Args)]
pub(crate) struct StoreArgs {
    /// Keep the record of decisions in FILE, or none [default: with a policy framegate/record.db in the user's
    /// state directory, otherwise none]
    #[arg(long, value_name = "FILE|none", env = "FRAMEGATE_STORE", overrides_with = "store")]
    pub(crate) store: Option<PathBuf>,

    /// What the record keeps of arguments and results: all, without what looks like a secret, or only hashes
    #[arg(long, value_name = "CONTENT", env = "FRAMEGATE_STORE_CONTENT", default_value = "full")]
    pub(crate) store_content: StoreContent,

    /// A call whose record cannot be written: refuse it, or let it through and count it [default: refuse; in
    /// monitor mode, which refuses nothing, allow]
    #[arg(long, value_name = "THEN", env = "FRAMEGATE_STORE_FAILURE")]
    pub(crate) store_failure: Option<StoreFailure>,

    /// What a call waits for: that its record survives our death, a power cut too, or only a bounded queue
    #[arg(long, value_name = "HOW", env = "FRAMEGATE_DURABILITY", default_value = "normal")]
    pub(crate) durability: TypedDurability,

    /// Delete contents (arguments, results) from the record that are older, as `90d`; the chain stays whole
    #[arg(long, value_name = "AGE", env = "FRAMEGATE_STORE_AGE", value_parser = humantime::parse_duration)]
    pub(crate) store_age: Option<Duration>,

    /// Delete the oldest contents from the record until this many MiB of contents are left
    #[arg(long, value_name = "MIB", env = "FRAMEGATE_STORE_SIZE")]
    pub(crate) store_size: Option<u64>,

    /// Sign the record with the key in FILE (made by `framegate verify --new-key FILE`): every 1,000 records and
    /// at the end
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_SIGN_KEY")]
    pub(crate) sign_key: Option<PathBuf>,

    /// Say in each call's result (`_meta`) where it is recorded
    #[arg(long, env = "FRAMEGATE_ANNOTATE", action = ArgAction::SetTrue, value_parser = BoolishValueParser::new())]
    pub(crate) annotate: bool,

    /// Which of these were given, so that none of them is without effect in silence.
    #[arg(skip)]
    pub(crate) given: GivenStore,
}

/// Options of the record beside `--store` that were given.
#[derive(Clone, Debug, Default)]
pub(crate) struct GivenStore {
    /// On the command line, as `--sign-key`.
    pub(crate) typed: Vec<String>,
    /// By a variable, as `FRAMEGATE_SIGN_KEY`.
    pub(crate) variables: Vec<String>,
}

/// By their names here.
const STORE_OPTIONS: [&str; 7] =
    ["store_content", "store_failure", "durability", "store_age", "store_size", "sign_key", "annotate"];

impl GivenStore {
    /// Of the matches of `run`.
    pub(super) fn of(matches: &ArgMatches) -> GivenStore {
        let mut given = GivenStore::default();
        for id in STORE_OPTIONS {
            match matches.value_source(id) {
                Some(ValueSource::CommandLine) => given.typed.push(format!("--{}", id.replace('_', "-"))),
                Some(ValueSource::EnvVariable) if id != "annotate" || matches.get_flag(id) => {
                    given.variables.push(format!("FRAMEGATE_{}", id.to_ascii_uppercase()));
                }
                _ => {}
            }
        }
        given
    }
}

/// One way to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// The user of the client, by elicitation.
    Client,
    /// Whoever sits at a terminal and knows the passphrase.
    Terminal,
}

/// Who is asked about a call that a person decides on, in this order; nobody where it is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AskOrder(pub(crate) Vec<Ask>);

fn ask_order(text: &str) -> Result<AskOrder, String> {
    let mut order = Vec::new();
    for word in text.split(',').map(str::trim) {
        let ask = match word {
            "client" => Ask::Client,
            "terminal" => Ask::Terminal,
            "none" if text.trim() == "none" => return Ok(AskOrder(Vec::new())),
            "none" => return Err("`none` stands alone".to_owned()),
            _ => return Err("expected `client`, `terminal`, both with a comma, or `none`".to_owned()),
        };
        if order.contains(&ask) {
            return Err(format!("`{word}` stands there twice"));
        }
        order.push(ask);
    }
    Ok(AskOrder(order))
}

impl RunArgs {
    /// Who is asked, and for how long. Without a desk nobody is at a terminal.
    pub(crate) fn asking(&self, desk: Option<&Arc<Desk>>) -> AskSettings {
        let carrier = |ask: &Ask| match ask {
            Ask::Client => Some(Carrier::Client),
            Ask::Terminal => desk.map(|desk| Carrier::Terminal(Arc::clone(desk))),
        };
        let terminal_timeout = self.terminal_timeout.unwrap_or(self.ask_timeout);
        AskSettings {
            order: self.ask.0.iter().filter_map(carrier).collect(),
            timeout: self.ask_timeout,
            terminal_timeout,
            ..AskSettings::default()
        }
    }

    /// The level that is meant.
    pub(crate) fn level(&self) -> Level {
        let level = match self.log {
            LogLevel::Off => Level::Off,
            LogLevel::Error => Level::Error,
            LogLevel::Warn => Level::Warn,
            LogLevel::Info => Level::Info,
            LogLevel::Debug => Level::Debug,
        };
        if self.quiet { level.min(Level::Warn) } else { level }
    }

    /// The format that is meant.
    pub(crate) fn format(&self, color: bool) -> LogFormat {
        match (self.log_format, color) {
            (TypedFormat::Json, _) => LogFormat::Json,
            (TypedFormat::Text, true) => LogFormat::Colored,
            (TypedFormat::Text, false) => LogFormat::Text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_asked_is_an_order() {
        let (client, terminal) = (Ask::Client, Ask::Terminal);
        for (text, order) in [
            ("client", vec![client]),
            ("terminal", vec![terminal]),
            ("terminal, client", vec![terminal, client]),
            ("none", vec![]),
        ] {
            assert_eq!(ask_order(text), Ok(AskOrder(order)), "{text}");
        }
        for (text, why) in
            [("client,none", "alone"), ("client,client", "twice"), ("", "expected"), ("Client", "expected")]
        {
            assert!(ask_order(text).unwrap_err().contains(why), "{text}");
        }
    }
}
