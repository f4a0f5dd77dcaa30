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
use std::time::Instant;

use framegate_guard::Guard;
use framegate_guard::decision::Approval;
use framegate_guard::ledger::{Receipt, SessionKey};
use framegate_guard::schema::Edit;
use framegate_guard::store::StoreError;
use framegate_guard::store::event::{ApprovalRecord, EndRecord, Event, How};
use framegate_pump::{Hold, HoldKind, Request, Verdict};

use super::calls::ON_THREAD_BYTES_MAX;
use super::ends::micros;
use super::reach::{ClientCan, Way};
use super::shared::Inner;
use crate::approve::{AskSettings, Asker, Asking, Kept, Limit, Limits, Question, Reply, Rounds, Seal};
use crate::wire::ClientFrame;

/// How often one call is asked about: once more where, after a yes, something else stands against it.
const QUESTIONS_OF_ONE_CALL_MAX: u32 = 2;

/// Who can be asked, and what is under way.
pub(super) struct AskState {
    pub(super) settings: AskSettings,
    pub(super) seal: Seal,
    /// The clock of the seals.
    pub(super) since: Instant,
    /// Nothing was said of a call before: most calls.
    pub(super) nothing: Arc<Basis>,
    limit: Mutex<Limit>,
    rounds: Mutex<Rounds>,
    /// What the handshake said; nothing while there was none.
    client: Mutex<Option<ClientCan>>,
}

impl AskState {
    pub(super) fn new(settings: AskSettings, session: &SessionKey) -> Result<AskState, StoreError> {
        let mut secret = [0; 32];
        crate::recorder::entropy(&mut secret)?;
        Ok(AskState {
            settings,
            seal: Seal::new(&secret, session),
            since: Instant::now(),
            nothing: Arc::default(),
            limit: Mutex::default(),
            rounds: Mutex::default(),
            client: Mutex::default(),
        })
    }

    pub(super) fn rounds(&self) -> MutexGuard<'_, Rounds> {
        self.rounds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn client(&self) -> MutexGuard<'_, Option<ClientCan>> {
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
        if *reply == Reply::Yes {
            // It goes on as another call; of this one nothing more is to come.
            self.end(How::Asked, false);
        }
    }

    fn end(&self, how: How, is_unsent: bool) {
        self.inner.ledger.note(Event::End(EndRecord {
            step: self.step,
            how,
            frame: None,
            out: None,
            latency_us: micros(self.since),
            is_unsent,
            heard: None,
        }));
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let note = "the call was cancelled, or the client left";
        self.inner.note_approval(self.step, (self.how, &self.by), ("withdrawn", note), self.since);
        self.end(How::Cancelled, true);
    }
}
