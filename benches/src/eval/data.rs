//! The data as they lie on disk (`benches/data/eval/README.md`).

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A tool of a suite.
#[derive(Debug, Clone, Deserialize)]
pub struct Tool {
    /// `banking`
    pub suite: String,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its arguments.
    #[serde(rename = "inputSchema")]
    pub schema: Value,
    /// By the verb its name begins with.
    pub read_only: bool,
}

/// A call that was made.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Step {
    /// The tool.
    pub name: String,
    /// What it was called with.
    #[serde(default)]
    pub arguments: Value,
    /// What came back: an id of an output.
    #[serde(default)]
    pub output: Option<String>,
    /// An instruction of the attacker is in the output.
    #[serde(default)]
    pub injected: bool,
    /// The task fails without it.
    #[serde(default)]
    pub needed: bool,
    /// The attack fails without it; `dup`: unless all of these are stopped.
    #[serde(default)]
    pub critical: Critical,
}

/// Whether an attack needs a call.
#[derive(Debug, Clone, Default, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub enum Critical {
    /// By itself.
    Alone(bool),
    /// The same harm is done more than once.
    Together(String),
    /// Not said.
    #[default]
    Unknown,
}

/// An honest task, solved.
#[derive(Debug, Clone, Deserialize)]
pub struct Task {
    /// Its suite.
    pub suite: String,
    /// Its name in the suite.
    pub user_task: String,
    /// What the user says.
    pub prompt: String,
    /// The calls that solve it.
    pub calls: Vec<Step>,
}

/// A task with an attack in it.
#[derive(Debug, Clone, Deserialize)]
pub struct Attack {
    /// Its suite.
    pub suite: String,
    /// The honest task.
    pub user_task: String,
    /// The attacker's goal.
    pub injection_task: String,
    /// How the goal is put.
    pub attack: String,
    /// The goal is reached when all calls are allowed.
    pub security_ok: bool,
    /// The output of this call is the first with the attack in it.
    pub injected_at: usize,
    /// The honest task's calls.
    pub user_calls: Vec<Step>,
    /// The attack's calls.
    pub attack_calls: Vec<Step>,
}

/// What a real model did.
#[derive(Debug, Clone, Deserialize)]
pub struct Run {
    /// The model.
    pub model: String,
    /// The suite.
    pub suite: String,
    /// The attacker's goal.
    #[serde(default)]
    pub injection_task: Option<String>,
    /// How it was put; `none`.
    pub attack: String,
    /// The task was solved.
    pub utility: bool,
    /// The attack succeeded.
    #[serde(default)]
    pub attack_succeeded: bool,
    /// True when running the calls again reached the goal again.
    #[serde(default)]
    pub confirmed: Value,
    /// What the user said.
    pub prompt: String,
    /// The calls.
    pub calls: Vec<Step>,
}

/// A text of a set.
#[derive(Debug, Clone, Deserialize)]
pub struct Sample {
    /// The set.
    pub set: String,
    /// `injection`, `jailbreak` or `benign`.
    pub label: String,
    /// What it is.
    #[serde(default)]
    pub kind: String,
    /// Where from; for disguises, which.
    #[serde(default)]
    pub src: String,
    /// Which text a disguise hides.
    #[serde(default)]
    pub base: Option<u64>,
    /// The text.
    pub text: String,
}

#[derive(Deserialize)]
struct Output {
    id: String,
    text: String,
}

/// All rows of a file of JSON lines: `NAME.jsonl.gz` or `NAME.jsonl` of a folder; none where there is neither.
pub fn rows<T: DeserializeOwned>(folder: &Path, name: &str) -> io::Result<Vec<T>> {
    let (packed, plain) = (folder.join(format!("{name}.jsonl.gz")), folder.join(format!("{name}.jsonl")));
    let reader: Box<dyn Read> = if packed.exists() {
        Box::new(GzDecoder::new(File::open(&packed)?))
    } else if plain.exists() {
        Box::new(File::open(&plain)?)
    } else {
        return Ok(Vec::new());
    };
    let row = |(number, line): (usize, io::Result<String>)| {
        serde_json::from_str(&line?)
            .map_err(|why| io::Error::other(format!("{name}, row {}: {why}", number + 1)))
    };
    BufReader::new(reader).lines().enumerate().map(row).collect()
}

/// The texts of outputs by their ids.
pub fn outputs(folder: &Path, name: &str) -> io::Result<HashMap<String, String>> {
    Ok(rows::<Output>(folder, name)?.into_iter().map(|output| (output.id, output.text)).collect())
}
