//! The rounds of one logical call (2026-07-28).
//!
//! ```text
//! call ─ asks ─► Waiting ─ the retry says yes ─► sent ─ the server asks for input ─► Going ─ its retry ─► sent …
//! ```
//!
//! Each entry is taken out by whoever uses it: a yes is used once, however often its state is sent.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use framegate_guard::Guard;
use framegate_guard::decision::Approval;
use framegate_guard::ledger::Receipt;
use framegate_guard::proposal::CallKey;

use super::form::{AskedForm, FormAnswer};

/// How long an approved call may take between two of the server's rounds.
const ROUND_WAIT: Duration = Duration::from_secs(600);
/// Approved calls that the server asks more about. The oldest is forgotten: its next round is asked about anew.
const GOING_MAX: usize = 256;
/// Bytes of arguments, servers' states and clients' answers that wait with our questions.
const KEPT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What a server asked for before we did, and what it was answered: it gets both when our question is answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// `requestState`, as JSON text.
    pub(crate) state: Option<Bytes>,
    /// `inputResponses`, as JSON text.
    pub(crate) responses: Option<Bytes>,
}

impl Kept {
    fn len(&self) -> usize {
        [&self.state, &self.responses].into_iter().flatten().map(Bytes::len).sum()
    }
}

/// A question that the client carries.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    /// The decision that asked.
    pub(crate) receipt: Receipt,
    /// Who decided so: another policy that comes meanwhile has other words for it.
    pub(crate) guard: Arc<Guard>,
    /// When it was asked.
    pub(crate) since: Instant,
    /// From then on nobody can answer it.
    pub(crate) until: Instant,
    /// How often this call was asked about, this time included.
    pub(crate) asked: u32,
    /// What is the server's.
    pub(crate) kept: Kept,
    /// It asks for what the call lacks, not for a yes.
    pub(crate) form: Option<AskedForm>,
    /// What the call lacked, given before.
    pub(crate) fill: Option<Arc<FormAnswer>>,
}

impl Waiting {
    fn len(&self) -> usize {
        let form = self.form.as_ref().map_or(0, |form| form.question.schema.len());
        let fill = self.fill.as_ref().map_or(0, |fill| fill.len());
        self.kept.len() + self.receipt.decision.arguments.len() + form + fill
    }
}

/// By what a retry is known to belong to what the server asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Its state, unescaped.
    State(String),
    /// Without one: the keys of its questions.
    Keys(BTreeSet<String>),
}

/// An approved or completed call that the server asks more about.
#[derive(Debug, Clone)]
pub(crate) struct Going {
    /// Tool and arguments as the client sends them.
    pub(crate) call: CallKey,
    /// What the server gave.
    pub(crate) mark: Mark,
    /// The yes that it goes by.
    pub(crate) approval: Option<Approval>,
    /// What the client does not send, and the server gets: a person gave it.
    pub(crate) fill: Option<Arc<FormAnswer>>,
    /// Since when it waits for its next round.
    pub(crate) since: Instant,
}

/// All of one session.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    waiting: HashMap<[u8; 16], Waiting>,
    going: VecDeque<Going>,
}

impl Rounds {
    /// A question goes out.
    ///
    /// # Errors
    /// Why it cannot.
    pub(crate) fn wait(&mut self, nonce: [u8; 16], waiting: Waiting, now: Instant) -> Result<(), String> {
        self.waiting.retain(|_, other| now < other.until);
        let kept: usize = self.waiting.values().map(Waiting::len).sum();
        if kept + waiting.len() > KEPT_BYTES_MAX {
            return Err(format!("over {KEPT_BYTES_MAX} bytes of calls wait for an answer already"));
        }
        self.waiting.insert(nonce, waiting);
        Ok(())
    }

    /// Its retry has come: nobody else gets it.
    pub(crate) fn answered(&mut self, nonce: &[u8; 16]) -> Option<Waiting> {
        self.waiting.remove(nonce)
    }

    /// A server asks more about an approved call.
    pub(crate) fn goes_on(&mut self, going: Going) {
        if self.going.len() >= GOING_MAX {
            self.going.pop_front();
        }
        self.going.push_back(going);
    }

    /// Whether any approved call waits for its next round.
    pub(crate) fn has_going(&self) -> bool {
        !self.going.is_empty()
    }

    /// What a retry of the server's goes on by, if it belongs to such a call.
    pub(crate) fn next_round(&mut self, call: &CallKey, mark: &Mark, now: Instant) -> Option<Going> {
        self.going.retain(|going| now.saturating_duration_since(going.since) < ROUND_WAIT);
        let at = self.going.iter().position(|going| going.call == *call && going.mark == *mark)?;
        self.going.remove(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_guard::json::Document;
    use framegate_guard::policy::Policy;
    use framegate_guard::{Decision, Facts};

    fn approval(tool: &str) -> Approval {
        let call = CallKey::of(tool, Document::empty_object().root());
        Approval { by: "u".into(), key: "k".into(), call, call_id: None, findings: Vec::new() }
    }

    fn waiting(bytes: usize, since: Instant) -> Waiting {
        let decision = Decision::refused("t", None, Document::empty_object().root(), "c", "no");
        let kept = Kept { state: Some(vec![0; bytes - decision.arguments.len()].into()), responses: None };
        let receipt = Receipt { sequence: 1, decision: Arc::new(decision), recorded: None };
        let policy = Policy::load("p", b"framegate: 1\n", &mut |_| Err(String::new())).unwrap().policy;
        let guard = Arc::new(Guard::new(policy, "s", Facts::default()));
        Waiting { receipt, guard, since, until: since + ROUND_WAIT, asked: 1, kept, form: None, fill: None }
    }

    fn going(tool: &str, mark: &Mark, since: Instant) -> Going {
        let approval = approval(tool);
        Going { call: approval.call, mark: mark.clone(), approval: Some(approval), fill: None, since }
    }

    #[test]
    fn a_question_is_answered_once_and_in_time() {
        let (mut rounds, now) = (Rounds::default(), Instant::now());
        rounds.wait([1; 16], waiting(2, now), now).unwrap();
        assert!(rounds.answered(&[2; 16]).is_none());
        assert!(rounds.answered(&[1; 16]).is_some());
        assert!(rounds.answered(&[1; 16]).is_none());
        rounds.wait([1; 16], waiting(KEPT_BYTES_MAX - 2, now), now).unwrap();
        rounds.wait([2; 16], waiting(2, now), now).unwrap();
        assert!(rounds.wait([3; 16], waiting(2, now), now).is_err(), "one above the limit");
        rounds.wait([3; 16], waiting(2, now), now + ROUND_WAIT).unwrap();
        assert!(rounds.answered(&[1; 16]).is_none(), "nobody can answer it any more");
    }

    #[test]
    fn a_round_belongs_to_its_call_by_state_or_keys_and_is_taken_once() {
        let (mut rounds, now) = (Rounds::default(), Instant::now());
        let (state, keys) = (Mark::State("s".into()), Mark::Keys(BTreeSet::from(["a".to_owned()])));
        let (pay, other) = (approval("pay").call, approval("other").call);
        rounds.goes_on(going("pay", &state, now));
        rounds.goes_on(going("pay", &keys, now));
        for (call, mark) in [
            (&other, &state),
            (&pay, &Mark::State("s ".into())),
            (&pay, &Mark::Keys(BTreeSet::new())),
            (&pay, &Mark::Keys(["a", "b"].map(str::to_owned).into())),
        ] {
            assert!(rounds.next_round(call, mark, now).is_none(), "{mark:?}");
        }
        assert!(rounds.next_round(&pay, &keys, now).is_some());
        assert!(rounds.next_round(&pay, &keys, now).is_none());
        assert!(rounds.next_round(&pay, &state, now + ROUND_WAIT).is_none());
        for _ in 0..=GOING_MAX {
            rounds.goes_on(going("pay", &state, now));
        }
        assert_eq!(rounds.going.len(), GOING_MAX);
    }
}
