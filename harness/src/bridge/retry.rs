//! The rounds of a call in the stateless revision (2026-07-28): our question as a result, and the client's retry.
//!
//! ```text
//! call ─ asks ─► input_required { ours: question, requestState: sealed }
//! retry ─┬ our state, good, and a yes ─► decided anew; what is ours is cut out, what was the server's is put back
//!        ├ our state, good, and a no ──► refused
//!        ├ our state, forged, expired, used, for another call ─► what is ours is cut out, judged as if it were new
//!        └ the server's own ─► a round of an approved call is not asked about again; everything passes as it is
//! ```

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use framegate_guard::decision::Approval;
use framegate_guard::json::{Document, Limits, Value};
use framegate_guard::proposal::CallKey;
use framegate_guard::store::event::How;
use framegate_pump::{Frame, Hold, HoldKind, Request, Verdict};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::answers::Answer;
use super::asking::{Asked, Basis, question};
use super::calls::ON_THREAD_BYTES_MAX;
use super::cuts::{RESPONSES, STATE, cuts, others};
use super::reach::CLIENT_USER;
use super::shared::Inner;
use crate::approve::{Claim, Going, Kept, Mark, Question, Reply, Waiting};
use crate::mcp;
use crate::wire::{Call, ClientFrame};

/// What a call that may be a retry comes to.
pub(super) enum Retried {
    /// It is judged, with this beside it.
    Judge(Arc<Basis>),
    /// It is settled: a person said no.
    Settled(Verdict),
}

impl From<Basis> for Retried {
    fn from(basis: Basis) -> Retried {
        Retried::Judge(Arc::new(basis))
    }
}

impl Inner {
    /// Answers a call by our question.
    pub(super) fn ask_by_result(self: &Arc<Self>, asked: Asked) -> Verdict {
        if asked.receipt.decision.arguments.len() <= ON_THREAD_BYTES_MAX {
            let question = Question::of(asked.guard.server(), &asked.receipt.decision);
            return self.send_question(asked, &question);
        }
        let inner = Arc::clone(self);
        Hold::verdict(HoldKind::Machine, async move {
            match question(&asked).await {
                Ok(question) => inner.send_question(asked, &question),
                Err(why) => inner.internal(&asked.request, &why),
            }
        })
    }

    fn send_question(&self, asked: Asked, question: &Question) -> Verdict {
        let Asked { request, read, guard, receipt, basis } = asked;
        let Some(call) = read.call() else {
            return self.internal(&request, "a call without a name was read");
        };
        let (now, seal) = (Instant::now(), &self.asking.seal);
        // A time that no clock has is over at once.
        let until = now.checked_add(self.asking.settings.state_timeout).unwrap_or(now);
        // By value they are the same where nothing was repaired; a large one is not hashed again.
        let is_as_sent = receipt.decision.edits.is_empty();
        let key = if is_as_sent { receipt.decision.call } else { as_sent(&call) };
        let mut nonce = [0; 16];
        if let Err(why) = crate::recorder::entropy(&mut nonce) {
            let text = format!(
                "{}\n(Nobody was asked: {why}, so the call was not made.)",
                guard.message(&receipt.decision)
            );
            return self.refusal_of(&request, &text, &receipt, Some("not now"));
        }
        let claim = Claim::new(nonce, self.ms(until), &key, &receipt.decision.approval_key);
        let state = seal.seal(&claim);
        let step = receipt.sequence;
        let reasons = receipt.decision.failed().collect::<Vec<_>>().join(", ");
        let waiting =
            Waiting { receipt: receipt.clone(), since: now, until, asked: basis.asked + 1, kept: basis.kept };
        let waits = self.asking.rounds().wait(nonce, waiting, now);
        if let Err(why) = waits {
            let text = format!(
                "{}\n(Nobody was asked: {why}, so the call was not made.)",
                guard.message(&receipt.decision)
            );
            return self.refusal_of(&request, &text, &receipt, Some("not now"));
        }
        let form = mcp::approval_form(&question.text(), Some("form"));
        let frame = request.answer(&mcp::input_required(seal.key(), &form, &state).to_string());
        self.log.decided(request.head().ticket, format!("asked ({reasons})"));
        self.answered_here(step, How::Asked, frame)
    }

    /// What a call brings along from earlier rounds.
    pub(super) fn retried(&self, request: &Request, read: &ClientFrame) -> Retried {
        let nothing = || Retried::Judge(Arc::clone(&self.asking.nothing));
        let Some(call) = read.call() else { return nothing() };
        let (state, responses) = (call.params.get(STATE), call.params.get(RESPONSES));
        if state.is_none() && responses.is_none() {
            return nothing();
        }
        let seal = &self.asking.seal;
        let ours = state.and_then(Value::as_str).filter(|state| seal.is_ours(state));
        let reply = responses.and_then(|responses| responses.get(seal.key()));
        if ours.is_none() && reply.is_none() {
            return Retried::from(self.servers_round(request, &call));
        }
        let key = as_sent(&call);
        let mut kept = Kept {
            state: state.filter(|_| ours.is_none()).map(text),
            responses: responses.and_then(|responses| others(responses, seal.key())),
        };
        let waiting = match self.sealed(ours, &key) {
            Ok(waiting) => waiting,
            Err(bad) => {
                let cuts = cuts(call.params, ours.is_some(), seal.key(), &kept);
                return Retried::from(Basis { bad: Some(bad), cuts, kept, ..Basis::default() });
            }
        };
        kept.responses = kept.responses.or(waiting.kept.responses.clone());
        kept.state = waiting.kept.state.clone();
        let cuts = cuts(call.params, true, seal.key(), &kept);
        self.replied(request, waiting, reply, Basis { cuts, kept, ..Basis::default() })
    }

    fn replied(
        &self,
        request: &Request,
        waiting: Waiting,
        reply: Option<Value<'_>>,
        basis: Basis,
    ) -> Retried {
        let Waiting { receipt, since, asked, .. } = waiting;
        let none = || Reply::Unavailable("the retry brings no answer to the question".into());
        let reply = reply.map_or_else(none, Reply::of_result);
        self.note_reply(receipt.sequence, "client", CLIENT_USER, &reply, since);
        let basis = Basis { asked, again: Some(receipt.sequence), ..basis };
        match reply {
            Reply::Yes => {
                let approval = rebound(Approval::of(&receipt.decision, CLIENT_USER), request);
                Retried::from(Basis { approval: Some(approval), said: Some("asked, approved"), ..basis })
            }
            Reply::Unavailable(_) => Retried::from(basis),
            reply => Retried::Settled(self.unapproved(request, &self.guard(), &receipt, &reply, CLIENT_USER)),
        }
    }

    /// A retry that is between the client and the server. If the call was approved, it still is.
    fn servers_round(&self, request: &Request, call: &Call<'_>) -> Basis {
        let (state, responses) = (call.params.get(STATE), call.params.get(RESPONSES));
        let mark = match state {
            Some(state) => state.as_str().map(|state| Mark::State(state.to_owned())),
            None => responses
                .map(|responses| Mark::Keys(responses.members().map(|(key, _)| key.to_owned()).collect())),
        };
        let approval = mark
            .filter(|_| self.asking.rounds().has_going())
            .and_then(|mark| self.asking.rounds().next_round(&as_sent(call), &mark, Instant::now()));
        Basis {
            said: approval.is_some().then_some("approved in an earlier round"),
            approval: approval.map(|approval| rebound(approval, request)),
            kept: Kept { state: state.map(text), responses: responses.map(text) },
            ..Basis::default()
        }
    }

    /// The question that a state of ours belongs to. It is taken: no state is good twice.
    fn sealed(&self, state: Option<&str>, key: &CallKey) -> Result<Waiting, &'static str> {
        let claim = self.asking.seal.open(state.ok_or("without its state")?).ok_or("forged")?;
        if self.ms(Instant::now()) >= claim.until_ms {
            self.asking.rounds().answered(&claim.nonce);
            return Err("expired");
        }
        if !claim.is_of(key) {
            return Err("for another call");
        }
        let waiting = self.asking.rounds().answered(&claim.nonce).ok_or("used before")?;
        if claim.is_about(&waiting.receipt.decision.approval_key) {
            Ok(waiting)
        } else {
            Err("for other reasons")
        }
    }

    /// The server asks more about a call that was approved: its next round is not asked about. Whether it does.
    pub(super) fn goes_on(&self, request: &Request, frame: &Frame, approval: Approval) -> bool {
        #[derive(Deserialize)]
        struct Asks<'a> {
            #[serde(rename = "resultType")]
            kind: Option<String>,
            #[serde(rename = "requestState")]
            state: Option<String>,
            #[serde(borrow, rename = "inputRequests")]
            requests: Option<std::collections::BTreeMap<String, &'a RawValue>>,
        }
        let result = Answer::read(frame.body()).and_then(|answer| answer.result);
        let asks = result.and_then(|result| serde_json::from_str::<Asks<'_>>(result.get()).ok());
        let asks = asks.filter(|asks| asks.kind.as_deref() == Some("input_required"));
        let params = request.params().map(|params| Bytes::copy_from_slice(params.as_bytes()));
        let whole = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
        let params = params.and_then(|params| Document::read(params, &whole).ok());
        let (Some(asks), Some(params)) = (asks, params) else { return false };
        let Some(tool) = params.root().get("name").and_then(Value::as_str) else { return false };
        let none = Document::empty_object();
        let arguments = params.root().get("arguments").filter(|arguments| !arguments.is_null());
        let mark = match (asks.state, asks.requests) {
            (Some(state), _) => Mark::State(state),
            (None, Some(requests)) => Mark::Keys(requests.into_keys().collect()),
            (None, None) => return false,
        };
        let call = CallKey::of(tool, arguments.unwrap_or_else(|| none.root()));
        self.asking.rounds().goes_on(Going { call, mark, approval, since: Instant::now() });
        true
    }

    fn ms(&self, at: Instant) -> u64 {
        let since = at.saturating_duration_since(self.asking.since);
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// The call as the client sent it.
fn as_sent(call: &Call<'_>) -> CallKey {
    let none = Document::empty_object();
    CallKey::of(call.name, call.arguments.unwrap_or_else(|| none.root()))
}

/// The same yes for the request that the call goes on as: in this revision no id stays.
fn rebound(approval: Approval, request: &Request) -> Approval {
    Approval { call_id: request.id().map(|id| id.json().to_owned()), ..approval }
}

fn text(value: Value<'_>) -> Bytes {
    value.document().source().slice(value.span())
}
