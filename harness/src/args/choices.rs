//! What `framegate run` lets one choose among.

use clap::ValueEnum;

use crate::calls::LogArguments;

/// What a policy does to the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// What the policy refuses is refused.
    Enforce,
    /// Nothing is changed; the log says what would be.
    Monitor,
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
