//! The rounds of a call in the stateless revision (2026-07-28): our question as a result, and the client's retry.
//!
//! ```text
//! call ─ asks ─► input_required { ours: question, requestState: sealed }
//! retry ─┬ our state, good, and a yes ─► decided anew; what is ours is cut out, what was the server's is put back
//!        ├ our state, good, and a no ──► refused
//!        ├ our state, of another process with our key: the same, with what the state carries (`--state-key`)
//!        ├ our state, forged, expired, used, for another call ─► what is ours is cut out, judged as if it were new
//!        └ the server's own ─► a round of an approved call is not asked about again; everything passes as it is
//! ```

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use framegate_guard::decision::Approval;
use framegate_guard::json::{Document, Limits, Value};
use framegate_guard::proposal::CallKey;
use framegate_guard::store::event::{Event, FrameRecord, FrameSent, How, Peer};
use framegate_pump::{Frame, Hold, HoldKind, Request, Verdict};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::answers::Answer;
use super::asking::{Asked, Basis, Said, question};
use super::calls::ON_THREAD_BYTES_MAX;
use super::cuts::{RESPONSES, STATE, cuts, others};
use super::form_frame::as_sent;
use super::programs::Known;
use super::reach::CLIENT_USER;
use super::shared::Inner;
use crate::approve::{Carried, Claim, FormAnswer, Going, Kept, Mark, Question, Reply, Waiting};
use crate::calls::Level;
use crate::desk::now_ms;
use crate::history::call::REPLY;
use crate::mcp;
use crate::wire::{Call, ClientFrame};

/// What a call that may be a retry comes to.
pub(super) enum Settling {
    /// It is judged, with this beside it.
    Judge(Arc<Basis>),
    /// It is settled: a person said no.
    Settled(Verdict),
}

/// The same, at once or once it is known whether another process had the same state.
pub(super) enum Retried {
    Now(Settling),
    Later(Pin<Box<dyn Future<Output = Settling> + Send>>),
}

impl From<Basis> for Settling {
    fn from(basis: Basis) -> Settling {
        Settling::Judge(Arc::new(basis))
    }
}

/// A question that a state of ours belongs to.
enum Opened {
    /// It was asked here, and of what another process was asked this is all that is there.
    Here(Box<Waiting>),
    Elsewhere(Carried),
}

/// What a good state says; with a shared key it may have been used elsewhere.
enum Sealed {
    Mine(Opened),
    Shared { opened: Option<Opened>, nonce: [u8; 16], until_ms: u64 },
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
        let fill = basis.filling.fill;
        let Some(call) = read.call() else {
            return self.internal(&request, "a call without a name was read");
        };
        let (now, seal) = (Instant::now(), &self.asking.seal);
        // A time that no clock has is over at once.
        let until = now.checked_add(self.asking.settings.state_timeout).unwrap_or(now);
        // By value they are the same where nothing was repaired; a large one is not hashed again.
        let is_as_sent = receipt.decision.edits.is_empty();
        let key = match &fill {
            Some(fill) => fill.call,
            None if is_as_sent => receipt.decision.call,
            None => as_sent(&call),
        };
        let mut nonce = [0; 16];
        if let Err(why) = crate::recorder::entropy(&mut nonce) {
            let text = format!(
                "{}\n(Nobody was asked: {why}, so the call was not made.)",
                guard.message(&receipt.decision)
            );
            return self.refusal_of(&request, &text, &receipt, Some("not now"));
        }
        let mut claim = Claim::new(nonce, ms(until), &key, &receipt.decision.approval_key);
        if self.asking.settings.state_key.is_some() {
            let carried = Carried::of(&receipt.decision, basis.asked + 1, now_ms(), &basis.kept);
            claim.carried = carried.unwrap_or_default();
        }
        let state = seal.seal(&claim);
        let step = receipt.sequence;
        let reasons = receipt.decision.failed().collect::<Vec<_>>().join(", ");
        let waiting = Waiting {
            receipt: receipt.clone(),
            guard: Arc::clone(&guard),
            since: now,
            until,
            asked: basis.asked + 1,
            kept: basis.kept,
            form: None,
            fill: fill.map(|fill| Arc::clone(&fill.answer)),
        };
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
    pub(super) fn retried(self: &Arc<Self>, request: &Request, read: &Arc<ClientFrame>) -> Retried {
        let nothing = || Retried::Now(Settling::Judge(Arc::clone(&self.asking.nothing)));
        let Some(call) = read.call() else { return nothing() };
        let (state, responses) = (call.params.get(STATE), call.params.get(RESPONSES));
        if state.is_none() && responses.is_none() {
            return nothing();
        }
        let seal = &self.asking.seal;
        let ours = state.and_then(Value::as_str).filter(|state| seal.is_ours(state));
        let reply = responses.and_then(|responses| responses.get(seal.key()));
        if ours.is_none() && reply.is_none() {
            let (basis, fill) = self.servers_round(request, &call);
            return Retried::Now(self.refilled((request, read), fill, basis.into()));
        }
        match self.sealed(ours, &as_sent(&call)) {
            Ok(Sealed::Mine(opened)) => Retried::Now(self.opened((request, read), &call, Ok(opened))),
            Ok(Sealed::Shared { opened, nonce, until_ms }) => {
                let (inner, request, read) = (Arc::clone(self), request.clone(), Arc::clone(read));
                Retried::Later(Box::pin(async move {
                    let opened = inner.unspent(opened, nonce, until_ms).await;
                    match read.call() {
                        Some(call) => inner.opened((&request, &read), &call, opened),
                        None => Settling::Judge(Arc::clone(&inner.asking.nothing)),
                    }
                }))
            }
            Err(bad) => Retried::Now(self.opened((request, read), &call, Err(bad))),
        }
    }

    /// A state that several processes know is good in the first that uses it up.
    async fn unspent(
        &self,
        opened: Option<Opened>,
        nonce: [u8; 16],
        until_ms: u64,
    ) -> Result<Opened, &'static str> {
        let opened = opened.ok_or("too long for another process")?;
        let Some(key) = &self.asking.settings.state_key else { return Err("for another process") };
        match key.desk.spend(nonce, i64::try_from(until_ms).unwrap_or(i64::MAX)).await {
            Ok(true) => Ok(opened),
            Ok(false) => Err("used before"),
            Err(why) => {
                self.log.say(Level::Error, &why);
                Err("perhaps used before")
            }
        }
    }

    /// What is ours is cut out, and what was the server's before is put back; then the reply counts, if there is one.
    fn opened(
        self: &Arc<Self>,
        (request, read): (&Request, &Arc<ClientFrame>),
        call: &Call<'_>,
        opened: Result<Opened, &'static str>,
    ) -> Settling {
        let (state, responses) = (call.params.get(STATE), call.params.get(RESPONSES));
        let seal = &self.asking.seal;
        let is_ours = state.and_then(Value::as_str).is_some_and(|state| seal.is_ours(state));
        let reply = responses.and_then(|responses| responses.get(seal.key()));
        let mut kept = Kept {
            state: state.filter(|_| !is_ours).map(text),
            responses: responses.and_then(|responses| others(responses, seal.key())),
        };
        let opened = match opened {
            Ok(opened) => opened,
            Err(bad) => {
                let cuts = cuts(call.params, is_ours, seal.key(), &kept);
                return Basis { bad: Some(bad), cuts, kept, ..Basis::default() }.into();
            }
        };
        let before = match &opened {
            Opened::Here(waiting) => waiting.kept.clone(),
            Opened::Elsewhere(carried) => carried.kept(),
        };
        kept.responses = kept.responses.or(before.responses);
        kept.state = before.state;
        let cuts = cuts(call.params, true, seal.key(), &kept);
        let basis = Basis { cuts, kept, ..Basis::default() };
        if let Opened::Here(waiting) = &opened
            && let Some(form) = &waiting.form
        {
            return self.form_replied((request, read), waiting, form, reply, basis);
        }
        let none = || Reply::Unavailable("the retry brings no answer to the question".into());
        let reply = reply.map_or_else(none, Reply::of_result);
        match opened {
            Opened::Here(waiting) => {
                let fill = waiting.fill.clone();
                self.refilled((request, read), fill, self.replied(request, *waiting, reply, basis))
            }
            Opened::Elsewhere(carried) => replied_elsewhere(request, &carried, reply, basis),
        }
    }

    fn replied(&self, request: &Request, waiting: Waiting, reply: Reply, basis: Basis) -> Settling {
        let Waiting { receipt, guard, since, asked, .. } = waiting;
        self.note_reply(receipt.sequence, ("client", CLIENT_USER), &reply.clone().into(), since);
        let basis = Basis { asked, again: Some(receipt.sequence), ..basis };
        match reply {
            Reply::Yes => {
                let approval = rebound(Approval::of(&receipt.decision, CLIENT_USER), request);
                let programs = Known::of(&receipt.decision);
                Basis { approval: Some(approval), said: Some("asked, approved"), programs, ..basis }.into()
            }
            Reply::Unavailable(_) => basis.into(),
            reply => {
                self.note_retry(request);
                let limit = self.asking.settings.state_timeout;
                let said = Said { reply: &reply, by: CLIENT_USER, note: "", limit };
                Settling::Settled(self.unapproved(request, &guard, &receipt, said))
            }
        }
    }

    /// A retry that only brings an answer: the call that it is about is recorded already, and was refused once.
    pub(super) fn note_retry(&self, request: &Request) {
        self.ledger.note(Event::Frame(FrameRecord {
            method: request.method().to_owned(),
            frame: Some(request.frame().bytes().clone()),
            ..FrameRecord::new(Peer::Client, REPLY, FrameSent::No)
        }));
    }

    /// A call that was asked about at another process, and declined.
    pub(super) fn declined_elsewhere(&self, of: Asked) -> Verdict {
        let (reply, limit) = match &of.basis.elsewhere {
            Some((reply, _)) => (reply, self.asking.settings.state_timeout),
            None => return self.refuse(&of),
        };
        let said = Said { reply, by: CLIENT_USER, note: "", limit };
        self.unapproved(&of.request, &of.guard, &of.receipt, said)
    }

    /// A retry that is between the client and the server. If the call was approved, it still is; what a person gave
    /// that it lacked, it lacks again.
    fn servers_round(&self, request: &Request, call: &Call<'_>) -> (Basis, Option<Arc<FormAnswer>>) {
        let (state, responses) = (call.params.get(STATE), call.params.get(RESPONSES));
        let mark = match state {
            Some(state) => state.as_str().map(|state| Mark::State(state.to_owned())),
            None => responses
                .map(|responses| Mark::Keys(responses.members().map(|(key, _)| key.to_owned()).collect())),
        };
        let going = mark
            .filter(|_| self.asking.rounds().has_going())
            .and_then(|mark| self.asking.rounds().next_round(&as_sent(call), &mark, Instant::now()));
        let (approval, fill) = going.map_or((None, None), |going| (going.approval, going.fill));
        let said = match (&approval, &fill) {
            (Some(_), _) => Some("approved in an earlier round"),
            (None, Some(_)) => Some("completed in an earlier round"),
            (None, None) => None,
        };
        let approval = approval.map(|approval| rebound(approval, request));
        let kept = Kept { state: state.map(text), responses: responses.map(text) };
        (Basis { said, approval, kept, ..Basis::default() }, fill)
    }

    /// The question that a state of ours belongs to. It is taken: no state is good twice.
    fn sealed(&self, state: Option<&str>, key: &CallKey) -> Result<Sealed, &'static str> {
        let claim = self.asking.seal.open(state.ok_or("without its state")?).ok_or("forged")?;
        let now = Instant::now();
        if ms(now) >= claim.until_ms {
            self.asking.rounds().answered(&claim.nonce);
            return Err("expired");
        }
        if !claim.is_of(key) {
            return Err("for another call");
        }
        let waiting = self.asking.rounds().answered(&claim.nonce);
        let opened = match waiting {
            // The clock of the day may have been set back.
            Some(waiting) if now >= waiting.until => return Err("expired"),
            Some(waiting) if !claim.is_about(&waiting.receipt.decision.approval_key) => {
                return Err("for other reasons");
            }
            Some(waiting) => Some(Opened::Here(Box::new(waiting))),
            None => Carried::read(&claim.carried).map(Opened::Elsewhere),
        };
        let Claim { nonce, until_ms, .. } = claim;
        match (&self.asking.settings.state_key, opened) {
            (Some(_), opened) => Ok(Sealed::Shared { opened, nonce, until_ms }),
            (None, Some(opened)) => Ok(Sealed::Mine(opened)),
            (None, None) => Err("used before"),
        }
    }

    /// The server asks more about a call that was approved or completed: its next round is not asked about. Whether
    /// it does.
    pub(super) fn goes_on(
        &self,
        request: &Request,
        frame: &Frame,
        approval: Option<Approval>,
        fill: Option<Arc<FormAnswer>>,
    ) -> bool {
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
        self.asking.rounds().goes_on(Going { call, mark, approval, fill, since: Instant::now() });
        true
    }
}

/// A reply to what another process asked. The call is judged here, and what came of it recorded here.
fn replied_elsewhere(request: &Request, carried: &Carried, reply: Reply, basis: Basis) -> Settling {
    let approval = carried.approval(CLIENT_USER).filter(|_| reply == Reply::Yes);
    let said = approval.is_some().then_some("asked, approved");
    let approval = approval.map(|approval| rebound(approval, request));
    let ago = Duration::from_millis(u64::try_from(now_ms() - carried.since_ms).unwrap_or(0));
    let now = Instant::now();
    let elsewhere = Some((reply, now.checked_sub(ago).unwrap_or(now)));
    Basis { asked: carried.asked, approval, said, elsewhere, ..basis }.into()
}

/// A time by the clock of the day, which other processes know too.
pub(super) fn ms(at: Instant) -> u64 {
    let to_come = at.saturating_duration_since(Instant::now());
    let to_come = i64::try_from(to_come.as_millis()).unwrap_or(i64::MAX);
    u64::try_from(now_ms().saturating_add(to_come)).unwrap_or(0)
}

/// The same yes for the request that the call goes on as: in this revision no id stays.
fn rebound(approval: Approval, request: &Request) -> Approval {
    Approval { call_id: request.id().map(|id| id.json().to_owned()), ..approval }
}

fn text(value: Value<'_>) -> Bytes {
    value.document().source().slice(value.span())
}
