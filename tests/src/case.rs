//! One reproduction case: what the client does, which server it meets, what is right.
//!
//! A file is read into checked types once. A key nobody knows is an error, so that a case with a
//! new kind of step fails loudly instead of passing without it.

use std::{fs, path::PathBuf, time::Duration};

use rustix::process::Signal;
use serde_json::Value;

use crate::{checks::Checks, payload};

/// A case as its file says.
#[derive(Debug)]
pub struct Case {
    /// The file's id, `C001`.
    pub id: String,
    /// One line.
    pub title: String,
    /// What is right, in words; printed with a failure.
    pub expect: String,
    /// The file, which the scripted server reads too.
    pub file: PathBuf,
    /// The client's side, in order.
    pub steps: Vec<Step>,
    /// Requests from the server that are answered whenever they come.
    pub replies: Vec<AutoReply>,
    /// What the wrapper starts.
    pub server: Server,
    /// Variables added to the wrapper's environment.
    pub env: Vec<(String, String)>,
    /// Nobody reads the wrapper's stderr.
    pub leave_stderr_unread: bool,
    /// What is compared.
    pub checks: Checks,
}

/// What the wrapper starts.
#[derive(Debug)]
pub enum Server {
    /// Exactly this command.
    Command(Vec<String>),
    /// The fake server in a mode, with extra arguments.
    Fake {
        /// A mode of `fake-server`.
        mode: String,
        /// Arguments after the record directory.
        more: Vec<String>,
    },
}

/// One thing the client does.
#[derive(Debug)]
pub enum Step {
    /// Fails if the wrapper used more than this share of a core since the mark.
    CheckCpuBelow(f64),
    /// Fails if the wrapper has an unreaped child.
    CheckNoZombie,
    /// The client's stderr end goes away.
    CloseStderr,
    /// EOF to the wrapper.
    CloseStdin,
    /// The client's read end goes away.
    CloseStdout,
    /// From here processor time is counted.
    MarkCpu,
    /// Bytes to the wrapper.
    Send {
        /// Exact bytes.
        bytes: Vec<u8>,
        /// Do not wait until the pipe has taken them.
        background: bool,
    },
    /// A signal to the wrapper alone.
    Signal(Signal),
    /// A signal to the wrapper's process group.
    SignalGroup(Signal),
    /// A pause.
    Sleep(Duration),
    /// Reads again.
    StartReading,
    /// Leaves stdout unread.
    StopReading,
    /// Waits for a whole answer with this raw id.
    WaitId {
        /// The id as it must be spelled.
        id: String,
        /// Longer is a failure.
        within: Duration,
    },
    /// Waits until the server has read this text.
    WaitServerGot {
        /// The text.
        text: String,
        /// Longer is a failure.
        within: Duration,
    },
}

/// An answer to each request of one method.
#[derive(Debug, Clone)]
pub struct AutoReply {
    /// The method.
    pub method: String,
    /// The answer; `$ID` is the request's raw id.
    pub with: String,
    /// How long the client takes.
    pub after: Duration,
    /// How many requests are answered.
    pub times: u64,
}

impl Case {
    /// Reads `data/cases/{name}.json`.
    pub fn load(name: &str) -> Result<Self, String> {
        let file = crate::data("cases").join(format!("{name}.json"));
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        Self::read(name, &text, file)
    }

    /// Reads a case's text; `file` is what the scripted server is given.
    pub(crate) fn read(name: &str, text: &str, file: PathBuf) -> Result<Self, String> {
        let case: Value = serde_json::from_str(text).map_err(|error| format!("{name}: {error}"))?;
        let word = |key: &str| case[key].as_str().unwrap_or_default().to_owned();
        let (mut steps, mut replies) = (Vec::new(), Vec::new());
        for item in case["client_frames"].as_array().into_iter().flatten() {
            if item.get("auto_reply").is_some() {
                replies.push(AutoReply::read(item));
            } else {
                steps.push(Step::read(item).map_err(|error| format!("{name}: {error}"))?);
            }
        }
        let env = case["env"].as_object().into_iter().flatten();
        Ok(Self {
            id: word("id"),
            title: word("title"),
            expect: word("expect"),
            file,
            steps,
            replies,
            server: Server::read(&case),
            env: env.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().into())).collect(),
            leave_stderr_unread: case["leave_stderr_unread"].as_bool().unwrap_or_default(),
            checks: Checks::read(&case["checks"]).map_err(|error| format!("{name}: {error}"))?,
        })
    }
}

// === impl Server ===

impl Server {
    fn read(case: &Value) -> Self {
        if let Some(command) = case.get("server_command") {
            return Self::Command(texts(command));
        }
        // The cases were written for small scripts, `S_chatty.py`; the fake server has them as modes.
        let script = case["server_script"].as_str().unwrap_or("S_scripted.py");
        let mode = script.trim_start_matches("S_").trim_end_matches(".py").to_owned();
        Self::Fake { mode, more: texts(&case["server_argv"]) }
    }
}

// === impl Step ===

impl Step {
    fn read(item: &Value) -> Result<Self, String> {
        if let Some(bytes) = payload::bytes(item)? {
            let background = item["background"].as_bool().unwrap_or_default();
            return Ok(Self::Send { bytes, background });
        }
        let members = item.as_object().ok_or_else(|| format!("`{item}` is no step"))?;
        let within = |default| millis(item.get("timeout_ms")).unwrap_or(Duration::from_millis(default));
        let named = members.iter().find(|(key, _)| key.as_str() != "timeout_ms");
        let (key, value) = named.ok_or_else(|| format!("`{item}` is no step"))?;
        let text = || value.as_str().map(str::to_owned).ok_or_else(|| format!("`{key}`: a text is due"));
        Ok(match key.as_str() {
            "check_cpu_below" => Self::CheckCpuBelow(value.as_f64().unwrap_or_default()),
            "check_no_zombie" => Self::CheckNoZombie,
            "close_stderr" => Self::CloseStderr,
            "close_stdin" => Self::CloseStdin,
            "close_stdout" => Self::CloseStdout,
            "mark_cpu" => Self::MarkCpu,
            "signal" => Self::Signal(signal(&text()?)?),
            "signal_group" => Self::SignalGroup(signal(&text()?)?),
            "sleep_ms" => Self::Sleep(millis(Some(value)).unwrap_or_default()),
            "start_reading" => Self::StartReading,
            "stop_reading" => Self::StopReading,
            "wait_id" => Self::WaitId { id: text()?, within: within(10_000) },
            "wait_server_got" => Self::WaitServerGot { text: text()?, within: within(5_000) },
            key => return Err(format!("unknown step `{key}`")),
        })
    }
}

// === impl AutoReply ===

impl AutoReply {
    fn read(item: &Value) -> Self {
        let word = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
        Self {
            method: word("auto_reply"),
            with: word("with"),
            after: millis(item.get("after_ms")).unwrap_or_default(),
            times: item["times"].as_u64().unwrap_or(u64::MAX),
        }
    }
}

pub(crate) fn millis(value: Option<&Value>) -> Option<Duration> {
    value?.as_u64().map(Duration::from_millis)
}

pub(crate) fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn signal(name: &str) -> Result<Signal, String> {
    match name {
        "HUP" => Ok(Signal::HUP),
        "INT" => Ok(Signal::INT),
        "KILL" => Ok(Signal::KILL),
        "TERM" => Ok(Signal::TERM),
        name => Err(format!("unknown signal `{name}`")),
    }
}
