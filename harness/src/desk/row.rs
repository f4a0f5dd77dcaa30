//! What lies on the desk, row by row.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::signed::Signed;

/// How it stands with a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Somebody said yes; whether that counts, its signature says.
    Approved,
    Denied,
    /// Its time was over.
    Late,
    Open,
    /// Its call was cancelled, or its session ended.
    Withdrawn,
}

impl State {
    const NAMES: [(&'static str, State); 5] = [
        ("approved", State::Approved),
        ("denied", State::Denied),
        ("late", State::Late),
        ("open", State::Open),
        ("withdrawn", State::Withdrawn),
    ];

    pub(crate) fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, state)| *state == self).map_or("", |(name, _)| name)
    }

    pub(super) fn of(name: &str) -> State {
        // Whatever else somebody wrote there: nobody waits for it.
        Self::NAMES.iter().find(|(other, _)| *other == name).map_or(State::Withdrawn, |(_, state)| *state)
    }
}

/// A question as it lies there.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) body: String,
    pub(crate) pid: u32,
    pub(crate) asked_ms: i64,
    pub(crate) until_ms: i64,
    pub(crate) state: State,
    pub(crate) who: String,
    pub(crate) note: String,
    /// When it was answered, or withdrawn.
    pub(crate) at_ms: i64,
    pub(crate) signed: Option<Signed>,
    /// Who asked has the answer.
    pub(crate) is_taken: bool,
}

impl Row {
    /// Who asked runs no more, so nobody takes an answer: it was killed, else it had withdrawn the question.
    pub(crate) fn is_gone(&self) -> bool {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        let is_dead = |pid| matches!(test_kill_process(pid), Err(Errno::SRCH)) || is_unreaped(pid);
        pid.is_none_or(is_dead)
    }
}

/// Ended, and not waited for by whoever started it: it has a number still.
fn is_unreaped(pid: Pid) -> bool {
    let about = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid()));
    // After the name, which may hold anything.
    let state =
        about.ok().and_then(|about| about.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()));
    matches!(state, Some('Z' | 'X'))
}

/// What a person answers.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) state: State,
    pub(crate) who: String,
    pub(crate) note: String,
    pub(crate) at_ms: i64,
    pub(crate) signed: Option<Signed>,
}

/// A standing approval as it lies there.
#[derive(Debug, Clone)]
pub(crate) struct Stands {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) until_ms: i64,
    pub(crate) signed: Signed,
}
