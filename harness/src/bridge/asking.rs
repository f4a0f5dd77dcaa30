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

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use framegate_guard::Guard;
use framegate_guard::decision::Approval;
use framegate_guard::ledger::{Receipt, SessionKey};
use framegate_guard::schema::Edit;
use framegate_guard::store::StoreError;
use framegate_guard::store::event::{ApprovalRecord, Event, How};
use framegate_pump::{Hold, HoldKind, Request, Verdict};

use super::calls::ON_THREAD_BYTES_MAX;
use super::ends::micros;
use super::form::Filling;
use super::programs::Known;
use super::reach::{ClientCan, Reach, Way};
use super::shared::Inner;
use crate::approve::{Answered, AskSettings, Kept, Limit, Limits, Question, Reply, Rounds, Seal};
use crate::wire::ClientFrame;

/// How often one call is asked about: once more where, after a yes, something else stands against it.
pub(super) const QUESTIONS_OF_ONE_CALL_MAX: u32 = 2;

/// Who can be asked, and what is under way.
pub(super) struct AskState {
    pub(super) settings: AskSettings,
    pub(super) seal: Seal,
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
        let secret = settings.state_key.as_ref().map_or(secret, |key| key.secret);
        Ok(AskState {
            settings,
            seal: Seal::new(&secret, session),
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
    /// What was replied to another process that asked about it, and when that asked.
    pub(super) elsewhere: Option<(Reply, Instant)>,
    /// What it lacked, as far as a person was asked for it.
    pub(super) filling: Filling,
    /// What programs said to it.
    pub(super) programs: Known,
}

impl Basis {
    /// A person said no to it, at another process.
    pub(super) fn is_declined(&self) -> bool {
        matches!(&self.elsewhere, Some((Reply::No | Reply::Cancelled, _)))
    }
}

/// A call to ask about.
pub(super) struct Asked {
    pub(super) request: Request,
    pub(super) read: Arc<ClientFrame>,
    pub(super) guard: Arc<Guard>,
    pub(super) receipt: Receipt,
    pub(super) basis: Basis,
}

/// What came of asking, for whoever made the call.
pub(super) struct Said<'a> {
    pub(super) reply: &'a Reply,
    pub(super) by: &'a str,
    pub(super) note: &'a str,
    /// How long there was for it.
    pub(super) limit: Duration,
}

impl Inner {
    /// The verdict on a call that a person decides on.
    pub(super) fn ask(self: &Arc<Self>, asked: Asked) -> Verdict {
        match self.desk_of(&asked) {
            Some(desk) => self.stand_or_ask(asked, desk),
            None => self.ask_somebody(asked),
        }
    }

    pub(super) fn ask_somebody(self: &Arc<Self>, asked: Asked) -> Verdict {
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
                    Way::Asker(reach) => self.ask_and_hold(asked, reach),
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
        self.take_question(&asked.guard)
    }

    /// Counts a question of any kind.
    pub(super) fn take_question(&self, guard: &Guard) -> Result<(), String> {
        let limits = guard.policy().limits();
        let limits = Limits { minute: limits.asks_per_minute, session: limits.asks_per_session };
        self.asking.limit.lock().unwrap_or_else(PoisonError::into_inner).take(Instant::now(), limits)
    }

    fn ask_and_hold(self: &Arc<Self>, asked: Asked, reach: Reach) -> Verdict {
        let Reach { asker, how, limit } = reach;
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
                    Ok(question) => {
                        let panicked = |why| Reply::Unavailable(why).into();
                        unpanicked(asker.ask(question), panicked).await
                    }
                    Err(why) => Reply::Unavailable(why).into(),
                }
            };
            let progress = Arc::clone(&open.inner).progress(Arc::clone(&asked.read));
            let answered = tokio::select! {
                biased;
                answered = tokio::time::timeout(limit, asking) => answered.unwrap_or(Reply::TimedOut.into()),
                () = progress => Reply::TimedOut.into(),
            };
            open.replied(&answered);
            let (inner, by) = (Arc::clone(&open.inner), asker.who());
            match &answered.reply {
                Reply::Yes => inner.approved(asked, answered.by.as_deref().unwrap_or(by), "asked, approved"),
                reply => {
                    let said = Said { reply, by, note: &answered.note, limit };
                    inner.unapproved(&asked.request, &asked.guard, &asked.receipt, said)
                }
            }
        })
    }

    /// Decides anew, on the state of now.
    pub(super) fn approved(self: &Arc<Self>, asked: Asked, by: &str, said: &'static str) -> Verdict {
        let Asked { request, read, receipt, basis, .. } = asked;
        let basis = Basis {
            approval: Some(Approval::of(&receipt.decision, by)),
            said: Some(said),
            again: Some(receipt.sequence),
            asked: basis.asked + 1,
            bad: None,
            elsewhere: None,
            programs: Known::of(&receipt.decision),
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
        said: Said<'_>,
    ) -> Verdict {
        let Said { reply, by, note, limit } = said;
        self.log.decided(request.head().ticket, format!("refused (asked, {})", reply.name()));
        let decision = &receipt.decision;
        let and = match reply {
            Reply::No => {
                return self.refusal_of(
                    request,
                    &guard.message(&decision.as_ref().clone().declined(by, note)),
                    receipt,
                    Some(reply.name()),
                );
            }
            Reply::Cancelled => "dismissed the question".to_owned(),
            Reply::TimedOut => {
                format!("did not answer within {} s", limit.as_secs_f64())
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
    pub(super) fn note_reply(
        &self,
        step: u64,
        (how, by): (&'static str, &str),
        answered: &Answered,
        since: Instant,
    ) {
        let note = if let Reply::Unavailable(why) = &answered.reply { why } else { &answered.note };
        let by = answered.by.as_deref().unwrap_or(by);
        self.note_approval(step, (how, by), (answered.reply.name(), note), since);
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
        self.ledger.note(Event::Approval(ApprovalRecord {
            step,
            how,
            by,
            outcome,
            after_ms,
            note,
            form: None,
        }));
    }
}

/// What somebody else's code says; a panic in it is no yes, and not the session's end.
pub(super) async fn unpanicked<T>(
    mut asking: Pin<Box<dyn Future<Output = T> + Send>>,
    panicked: fn(String) -> T,
) -> T {
    std::future::poll_fn(move |context| {
        let polled = std::panic::AssertUnwindSafe(|| asking.as_mut().poll(context));
        std::panic::catch_unwind(polled).unwrap_or_else(|_| Poll::Ready(panicked("asking panicked".into())))
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
    fn replied(&mut self, answered: &Answered) {
        self.is_over = true;
        self.inner.note_reply(self.step, (self.how, &self.by), answered, self.since);
        if answered.reply == Reply::Yes {
            // It goes on as another call; of this one nothing more is to come.
            self.inner.note_unanswered(self.step, How::Asked, self.since);
        }
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let note = "the call was cancelled, or the client left";
        self.inner.note_approval(self.step, (self.how, &self.by), ("withdrawn", note), self.since);
        self.inner.note_unanswered(self.step, How::Cancelled, self.since);
    }
}
