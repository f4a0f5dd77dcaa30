//! A call whose decision asks: a person is asked, the call waits alone, and a yes has it decided anew.
//!
//! ```text
//! ask ─┬ nobody can be asked, or may be now ─────────────────────► refused, with the reason
//!      ├ Asker (legacy client, another harness): Person hold ─┬ yes ─► decided anew, with the approval as an input
//!      │                                                      ├ no, dismissed, late ─► refused
//!      │                                                      └ cancelled, client gone ─► withdrawn, nothing is sent
//!      └ client of 2026-07-28: an `input_required` result ─► its retry (`retry`)
//! ```
//!
//! The state may have changed while the person read: what is sent is what the decision of *now* allows, and that
//! counts the yes only where everything that stands against the call is among what was shown.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use framegate_guard::Guard;
use framegate_guard::decision::Approval;
use framegate_guard::json::Value;
use framegate_guard::ledger::{Receipt, SessionKey};
use framegate_guard::schema::Edit;
use framegate_guard::store::event::{ApprovalRecord, EndRecord, Event, How};
use framegate_pump::{Frame, Hold, HoldKind, Injector, Request, Verdict};
use serde::Deserialize;

use super::answers::Answer;
use super::calls::ON_THREAD_BYTES_MAX;
use super::ends::micros;
use super::shared::Inner;
use crate::approve::{
    AskSettings, Asker, Asking, Carrier, Kept, Limit, Limits, Question, Reply, Rounds, Seal,
};
use crate::mcp;
use crate::wire::{self, ClientFrame};

/// How often one call is asked about: once more where, after a yes, something else stands against it.
const QUESTIONS_OF_ONE_CALL_MAX: u32 = 2;
/// The deadline that the client's answer is waited for ends after that of the question, which withdraws it.
const LATER: Duration = Duration::from_secs(1);

/// The revisions with a handshake in which a server may ask the client's user.
const ASKS_SINCE: &str = "2025-06-18";

/// Who can be asked, and what is under way.
pub(super) struct AskState {
    pub(super) settings: AskSettings,
    pub(super) seal: Seal,
    /// The clock of the seals.
    pub(super) since: Instant,
    limit: Mutex<Limit>,
    rounds: Mutex<Rounds>,
    /// What the handshake said; nothing while there was none.
    client: Mutex<Option<ClientCan>>,
}

/// What a client with a handshake can do.
#[derive(Debug, Clone, Copy)]
struct ClientCan {
    ask: bool,
    /// It declared it, and the revision has no such thing.
    too_old: bool,
}

impl AskState {
    pub(super) fn new(settings: AskSettings, session: &SessionKey) -> AskState {
        let mut secret = [0; 32];
        crate::recorder::entropy(&mut secret);
        AskState {
            settings,
            seal: Seal::new(&secret, session),
            since: Instant::now(),
            limit: Mutex::default(),
            rounds: Mutex::default(),
            client: Mutex::default(),
        }
    }

    pub(super) fn rounds(&self) -> MutexGuard<'_, Rounds> {
        self.rounds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn client(&self) -> MutexGuard<'_, Option<ClientCan>> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a call is judged with beside its bytes: what a person said of it before.
#[derive(Debug, Clone, Default)]
pub(super) struct Basis {
    /// A person's yes.
    pub(super) approval: Option<Approval>,
    /// What the log says of it.
    pub(super) said: Option<&'static str>,
    /// The step that asked.
    pub(super) again: Option<u64>,
    /// How often a person was asked about this call.
    pub(super) asked: u32,
    /// What carried the reply is taken out of the frame.
    pub(super) cuts: Vec<Edit>,
    /// What is the server's, should the call be asked about again.
    pub(super) kept: Kept,
    /// It came with a reply that counts for nothing, and why.
    pub(super) bad: Option<&'static str>,
}

/// A call to ask about.
pub(super) struct Asked {
    pub(super) request: Request,
    pub(super) read: Arc<ClientFrame>,
    pub(super) guard: Arc<Guard>,
    pub(super) receipt: Receipt,
    pub(super) basis: Basis,
}

/// How a person is reached.
enum Way {
    Asker(Arc<dyn Asker>, &'static str),
    Result,
}

impl Inner {
    /// The verdict on a call that a person decides on.
    pub(super) fn ask(self: &Arc<Self>, asked: Asked) -> Verdict {
        match self.way(&asked) {
            Err(why) => {
                let text = format!("Nobody can be asked in this session: {why}, so the call was not made.");
                self.refuse_asked(&asked, &text, "nobody")
            }
            Ok(way) => match self.may_ask(&asked) {
                Err(why) => {
                    let text = format!("Nobody was asked: {why}, so the call was not made.");
                    self.log.decided(asked.request.head().ticket, "refused (too many questions)".into());
                    self.refuse_asked(&asked, &text, "not now")
                }
                Ok(()) => match way {
                    Way::Asker(asker, how) => self.ask_and_hold(asked, asker, how),
                    Way::Result => self.ask_by_result(asked),
                },
            },
        }
    }

    /// How a person is reached, for this call.
    fn way(&self, asked: &Asked) -> Result<Way, &'static str> {
        match &self.asking.settings.carrier {
            Carrier::Nobody => Err("asking is turned off (--ask none)"),
            Carrier::Library(asker) => Ok(Way::Asker(Arc::clone(asker), "library")),
            Carrier::Client => self.way_of_client(asked),
        }
    }

    fn way_of_client(&self, asked: &Asked) -> Result<Way, &'static str> {
        let cannot = "this client cannot ask its user (it does not declare elicitation in form mode)";
        let client = *self.asking.client();
        if let Some(client) = client {
            let injector = self.injector.get().filter(|_| client.ask);
            let old =
                "this client cannot ask its user (the protocol revision of this session has no elicitation)";
            let injector = injector.ok_or(if client.too_old { old } else { cannot })?;
            let asker = ClientAsker {
                injector: injector.clone(),
                deadline: self.asking.settings.timeout + LATER,
                limits: self.limits(),
            };
            return Ok(Way::Asker(Arc::new(asker), "client"));
        }
        // Stateless: each request says what its client can.
        let meta = asked.read.params().and_then(|params| params.get("_meta"));
        let version = meta.and_then(|meta| meta.get(mcp::VERSION_KEY)).and_then(Value::as_str);
        let elicitation = meta
            .and_then(|meta| meta.get(mcp::CAPABILITIES_KEY))
            .and_then(|capabilities| capabilities.get("elicitation"))
            .map(Value::to_serde);
        let can = version.is_some_and(|version| version >= mcp::MODERN) && has_form(elicitation.as_ref());
        can.then_some(Way::Result).ok_or(cannot)
    }

    /// Counts the question.
    fn may_ask(&self, asked: &Asked) -> Result<(), String> {
        if asked.basis.asked >= QUESTIONS_OF_ONE_CALL_MAX {
            return Err("the call was approved, and each time something else stood against it by then".into());
        }
        let limits = asked.guard.policy().limits();
        let limits = Limits { minute: limits.asks_per_minute, session: limits.asks_per_session };
        self.asking.limit.lock().unwrap_or_else(PoisonError::into_inner).take(Instant::now(), limits)
    }

    fn ask_and_hold(self: &Arc<Self>, asked: Asked, asker: Arc<dyn Asker>, how: &'static str) -> Verdict {
        self.log.decided(asked.request.head().ticket, "asked, not answered".into());
        let mut open = OpenQuestion {
            inner: Arc::clone(self),
            step: asked.receipt.sequence,
            since: Instant::now(),
            how,
            by: asker.who().to_owned(),
            is_over: false,
        };
        Hold::verdict(HoldKind::Person, async move {
            let asking = async {
                match question(&asked).await {
                    Ok(question) => unpanicked(asker.ask(question)).await,
                    Err(why) => Reply::Unavailable(why),
                }
            };
            let timeout = open.inner.asking.settings.timeout;
            let reply = tokio::time::timeout(timeout, asking).await.unwrap_or(Reply::TimedOut);
            open.replied(&reply);
            let (inner, by) = (Arc::clone(&open.inner), asker.who());
            match reply {
                Reply::Yes => inner.approved(asked, by),
                reply => inner.unapproved(&asked.request, &asked.guard, &asked.receipt, &reply, by),
            }
        })
    }

    /// Decides anew, on the state of now.
    fn approved(self: &Arc<Self>, asked: Asked, by: &str) -> Verdict {
        let Asked { request, read, receipt, basis, .. } = asked;
        let basis = Basis {
            approval: Some(Approval::of(&receipt.decision, by)),
            said: Some("asked, approved"),
            again: Some(receipt.sequence),
            asked: basis.asked + 1,
            bad: None,
            ..basis
        };
        self.judge(&request, &read, &Arc::new(basis))
    }

    /// A person was asked, and there is no yes.
    pub(super) fn unapproved(
        &self,
        request: &Request,
        guard: &Guard,
        receipt: &Receipt,
        reply: &Reply,
        by: &str,
    ) -> Verdict {
        self.log.decided(request.head().ticket, format!("refused (asked, {})", reply.name()));
        let decision = &receipt.decision;
        let and = match reply {
            Reply::No => {
                return self.refusal_of(
                    request,
                    &guard.message(&decision.as_ref().clone().declined(by)),
                    receipt,
                    Some(reply.name()),
                );
            }
            Reply::Cancelled => "dismissed the question".to_owned(),
            Reply::TimedOut => {
                format!("did not answer within {} s", self.asking.settings.timeout.as_secs_f64())
            }
            Reply::Unavailable(why) => format!("gave no answer that can be used ({why})"),
            Reply::Yes => "approved it, and it could not go on".to_owned(),
        };
        let text =
            format!("{}\n({by} was asked and {and}, so the call was not made.)", guard.message(decision));
        self.refusal_of(request, &text, receipt, Some(reply.name()))
    }

    fn refuse_asked(&self, asked: &Asked, why: &str, word: &str) -> Verdict {
        let text = format!("{}\n({why})", asked.guard.message(&asked.receipt.decision));
        self.refusal_of(&asked.request, &text, &asked.receipt, Some(word))
    }

    /// A reply, for the record.
    pub(super) fn note_reply(&self, step: u64, how: &'static str, by: &str, reply: &Reply, since: Instant) {
        let note = if let Reply::Unavailable(why) = reply { why.as_str() } else { "" };
        self.note_approval(step, (how, by), (reply.name(), note), since);
    }

    pub(super) fn note_approval(
        &self,
        step: u64,
        (how, by): (&'static str, &str),
        (outcome, note): (&'static str, &str),
        since: Instant,
    ) {
        let after_ms = micros(since) / 1000;
        let (by, note) = (by.to_owned(), note.to_owned());
        self.ledger.note(Event::Approval(ApprovalRecord { step, how, by, outcome, after_ms, note }));
    }

    /// What the client can, by its handshake.
    pub(super) fn note_client(&self, request: &Request, frame: &Frame) {
        #[derive(Deserialize)]
        struct Agreed {
            #[serde(rename = "protocolVersion")]
            version: String,
        }
        #[derive(Deserialize)]
        struct Offered {
            #[serde(default)]
            capabilities: serde_json::Map<String, serde_json::Value>,
        }
        let result = Answer::read(frame.body()).and_then(|answer| answer.result);
        let agreed = result.and_then(|result| serde_json::from_str::<Agreed>(result.get()).ok());
        let Some(Agreed { version }) = agreed else { return };
        let offered = request.params().and_then(|params| serde_json::from_str::<Offered>(params).ok());
        let has_form = has_form(offered.as_ref().and_then(|offered| offered.capabilities.get("elicitation")));
        // A stateless revision has no requests of the server's, whatever a handshake agreed on.
        let has_requests = (ASKS_SINCE..mcp::MODERN).contains(&version.as_str());
        *self.asking.client() =
            Some(ClientCan { ask: has_form && has_requests, too_old: has_form && !has_requests });
    }
}

/// Whether an `elicitation` capability has the form mode: `{}` and `{"form":{}}` do, `{"url":{}}` does not.
fn has_form(elicitation: Option<&serde_json::Value>) -> bool {
    let Some(modes) = elicitation.and_then(serde_json::Value::as_object) else { return false };
    modes.get("form").map_or(!modes.contains_key("url"), serde_json::Value::is_object)
}

/// What somebody else's code says; a panic in it is no yes, and not the session's end.
async fn unpanicked(mut asking: Asking) -> Reply {
    std::future::poll_fn(move |context| {
        let polled = std::panic::AssertUnwindSafe(|| asking.as_mut().poll(context));
        std::panic::catch_unwind(polled)
            .unwrap_or_else(|_| Poll::Ready(Reply::Unavailable("asking panicked".into())))
    })
    .await
}

/// The question, off the pump's thread where much is to be read for it.
pub(super) async fn question(asked: &Asked) -> Result<Question, String> {
    let (guard, decision) = (Arc::clone(&asked.guard), Arc::clone(&asked.receipt.decision));
    if decision.arguments.len() <= ON_THREAD_BYTES_MAX {
        return Ok(Question::of(guard.server(), &decision));
    }
    let writing = tokio::task::spawn_blocking(move || Question::of(guard.server(), &decision));
    writing.await.map_err(|panicked| panicked.to_string())
}

/// A question that is under way. Dropped before there is a reply, it was withdrawn.
struct OpenQuestion {
    inner: Arc<Inner>,
    step: u64,
    since: Instant,
    how: &'static str,
    by: String,
    is_over: bool,
}

impl OpenQuestion {
    fn replied(&mut self, reply: &Reply) {
        self.is_over = true;
        self.inner.note_reply(self.step, self.how, &self.by, reply, self.since);
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let note = "the call was cancelled, or the client left";
        self.inner.note_approval(self.step, (self.how, &self.by), ("withdrawn", note), self.since);
        self.inner.ledger.note(Event::End(EndRecord {
            step: self.step,
            how: How::Cancelled,
            frame: None,
            out: None,
            latency_us: micros(self.since),
            is_unsent: true,
            heard: None,
        }));
    }
}

/// The user of a client with a handshake.
struct ClientAsker {
    injector: Injector,
    deadline: Duration,
    limits: wire::Limits,
}

impl Asker for ClientAsker {
    fn ask(&self, question: Question) -> Asking {
        let (injector, deadline, limits) = (self.injector.clone(), self.deadline, self.limits.clone());
        Box::pin(async move {
            let params = mcp::approval_form(&question.text(), None).to_string();
            let answer = injector.request_client("elicitation/create", Some(&params), deadline).await;
            Reply::of_answer(answer, &limits)
        })
    }

    fn who(&self) -> &str {
        CLIENT_USER
    }
}

/// Who replies through a client.
pub(super) const CLIENT_USER: &str = "the user";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn form_mode_is_what_an_empty_capability_or_form_says() {
        let has = |elicitation: serde_json::Value| has_form(Some(&elicitation));
        for yes in [json!({}), json!({"form":{}}), json!({"form":{},"url":{}}), json!({"applyDefaults":true})]
        {
            assert!(has(yes.clone()), "{yes}");
        }
        for no in [
            json!({"url":{}}),
            json!({"form":null}),
            json!({"form":true}),
            json!(null),
            json!(true),
            json!([]),
        ] {
            assert!(!has(no.clone()), "{no}");
        }
        assert!(!has_form(None));
    }
}
