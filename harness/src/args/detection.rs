//! What can be typed for `framegate scan` and `framegate calibrate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

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
