//! Tool calls: decided in one ledger step, then sent or refused.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use framegate_guard::Outcome;
use framegate_guard::decision::Decision;
use framegate_guard::json::{Document, Value};
use framegate_guard::ledger::{LedgerFailure, Receipt, Snapshot, Step, Stepped};
use framegate_guard::schema::Edit;
use framegate_guard::session::Session;
use framegate_guard::store::event::{self, CallRecord};
use framegate_guard::world::Gathering;
use framegate_guard::{Call, Guard};
use framegate_pump::{Edits, Hold, HoldKind, Request, Ticket, Verdict};

use super::asking::{Asked, Basis};
use super::ends::{Reserved, micros};
use super::reach::CLIENT_USER;
use super::retry::{Retried, Settling};
use super::shared::{Bridge, Inner, Sent};
use super::turn::{Standing, Turn, Waits};
use crate::clip::clip;
use crate::wire::{self, ClientFrame};

/// Larger calls are read and decided off the pump's thread.
pub(super) const ON_THREAD_BYTES_MAX: usize = 64 * 1024;
/// How long a decision off the pump's thread may take before the call is refused.
pub(super) const DECISION_WAIT: Duration = Duration::from_secs(1);
/// JSON-RPC error code of a refusal that cannot be a tool result. Outside of what JSON-RPC and MCP reserve.
pub(super) const REFUSED: i64 = -31_901;

impl Bridge {
    /// Judges a call, now or as soon as it can be.
    pub(super) fn call(&self, request: &Request, read: ClientFrame) -> Verdict {
        let guard = self.guard();
        if !guard.is_listed() && !self.inner.opening().is_listing() {
            // The listing failed before: it may go well now.
            self.inner.list();
        }
        let read = Arc::new(read);
        match self.inner.retried(request, &read) {
            Retried::Now(settling) => self.settle_or_judge(request, read, settling),
            Retried::Later(later) => {
                let (bridge, request) = (Bridge { inner: Arc::clone(&self.inner) }, request.clone());
                Hold::verdict(HoldKind::Machine, async move {
                    let settling = later.await;
                    bridge.settle_or_judge(&request, read, settling)
                })
            }
        }
    }

    fn settle_or_judge(&self, request: &Request, read: Arc<ClientFrame>, settling: Settling) -> Verdict {
        let basis = match settling {
            Settling::Judge(basis) => basis,
            Settling::Settled(verdict) => return verdict,
        };
        let name = read.call().map(|call| call.name.to_owned()).unwrap_or_default();
        let guard = self.guard();
        if guard.is_listed() && !self.waits_for_listing(&guard, &name) {
            return self.inner.judge(request, &read, &basis);
        }
        let (inner, request) = (Arc::clone(&self.inner), request.clone());
        Hold::verdict(HoldKind::Machine, async move {
            let seen = inner.listed.subscribe();
            if let Err(why) = inner.wait_listed(seen).await {
                return inner.unlisted(&request, &read, &name, why).await;
            }
            // The schema is known now, and another call's decision may have begun meanwhile.
            inner.judge(&request, &read, &basis)
        })
    }

    /// A large frame that may be a call is read off the pump's thread, then judged like any other.
    pub(super) fn large_call(self: &Bridge, request: &Request) -> Verdict {
        let (bridge, request) = (Bridge { inner: Arc::clone(&self.inner) }, request.clone());
        Hold::verdict(HoldKind::Machine, async move {
            let (limits, of) = (bridge.limits(), request.clone());
            match tokio::task::spawn_blocking(move || read(&of, &limits)).await {
                Ok(frame) => bridge.read_request(&request, frame),
                Err(panicked) => bridge.inner.internal(&request, &panicked.to_string()),
            }
        })
    }

    /// A tool that is not in the listing may be in the one that is on its way.
    fn waits_for_listing(&self, guard: &Guard, tool: &str) -> bool {
        !guard.lists(tool) && self.inner.opening().is_listing()
    }
}

/// Whether a call can be decided on the pump's thread.
fn fits_the_thread(guard: &Guard, request: &Request, read: &ClientFrame) -> bool {
    let is_expensive = || {
        let arguments = read.call().and_then(|call| Some((call.name, call.arguments?)));
        arguments.is_some_and(|(tool, arguments)| guard.is_expensive(&Call { tool, id: None, arguments }))
    };
    request.frame().len() <= ON_THREAD_BYTES_MAX && !is_expensive()
}

impl Inner {
    /// Judges a call where there is room for it. A decision off the pump's thread holds the ledger: the pump must
    /// not wait for it.
    pub(super) fn judge(
        self: &Arc<Self>,
        request: &Request,
        read: &Arc<ClientFrame>,
        basis: &Arc<Basis>,
    ) -> Verdict {
        // This one to the end: another policy that comes while its record is written is for the calls after it.
        let guard = self.guard();
        self.hear_user(&guard);
        if let Err(why) = self.hear_others(&guard)
            && !guard.is_monitoring()
        {
            return self.unrecorded(request, &why);
        }
        let is_quick = self.is_ready(&guard) && fits_the_thread(&guard, request, read) && !self.is_deciding();
        let judging =
            Judging { request: request.clone(), read: Arc::clone(read), guard, basis: Arc::clone(basis) };
        // Where another process is in the way, it is waited for elsewhere.
        let at_once = is_quick.then(|| self.decide(judging.clone(), Arc::default(), Waiting::No)).flatten();
        at_once.unwrap_or_else(|| self.off_thread(judging))
    }

    fn off_thread(self: &Arc<Self>, of: Judging) -> Verdict {
        let inner = Arc::clone(self);
        Hold::verdict(HoldKind::Machine, async move {
            let (on_thread, turn) = (Arc::clone(&inner), Arc::<Turn>::default());
            let Judging { request, read, guard, .. } = of.clone();
            let waits = Waits::on(&turn);
            inner.deciding.fetch_add(1, Ordering::Relaxed);
            let by = Arc::clone(&turn);
            let mut deciding = inner.writing.spawn_blocking(move || {
                let of_request = of.request.clone();
                let verdict = on_thread.decide(of, by, Waiting::Some);
                let verdict = verdict
                    .unwrap_or_else(|| on_thread.internal(&of_request, "a step that may wait was not made"));
                on_thread.deciding.fetch_sub(1, Ordering::Relaxed);
                verdict
            });
            let decided = match tokio::time::timeout(DECISION_WAIT, &mut deciding).await {
                Ok(decided) => decided,
                Err(_) if turn.is_late() => {
                    waits.over();
                    return inner.undecided(&request, &read, guard).await;
                }
                // Made in this very moment: it is being handed over to be written.
                Err(_) => deciding.await,
            };
            // It was in time; what it still waits for is its record.
            waits.over();
            decided.unwrap_or_else(|panicked| inner.broken(&request, &read, guard, &panicked.to_string()))
        })
    }

    /// Decides, records, and says what becomes of the frame. A panic inside is a refusal, never the session's
    /// end.
    ///
    /// `turn`: the call may have been answered or cancelled meanwhile, so it is not sent whatever is decided.
    /// Nothing where it would have to wait for another process, and may not.
    pub(super) fn decide(
        self: &Arc<Self>,
        of: Judging,
        turn: Arc<Turn>,
        waiting: Waiting,
    ) -> Option<Verdict> {
        let Judging { request, read, guard, .. } = of.clone();
        let deciding = std::panic::AssertUnwindSafe(|| self.decide_now(of, turn, waiting));
        std::panic::catch_unwind(deciding)
            .unwrap_or_else(|_| Some(self.broken(&request, &read, guard, "deciding on a call panicked")))
    }

    fn decide_now(self: &Arc<Self>, of: Judging, turn: Arc<Turn>, waiting: Waiting) -> Option<Verdict> {
        let Judging { request, read, guard, basis } = of;
        let Some(call) = read.call() else {
            return Some(self.internal(&request, "a call without a name was read"));
        };
        let mut open = Vec::new();
        let none = Document::empty_object();
        let arguments = call.arguments.unwrap_or_else(|| none.root());
        let judged = Call { tool: call.name, id: request.id().map(framegate_pump::Id::json), arguments };
        let session = self.session_for(&guard);
        let heard = Heard { guard: &guard, session: &session, arguments: call.arguments, basis: &basis };
        let known = basis.programs.under(guard.policy());
        let mut decide = |past: &Snapshot<'_>| {
            let since = Instant::now();
            let world = Gathering::new(&*self.world, known.answers());
            let decision = guard.decide(&judged, &session, past, &world);
            open = world.into_open();
            if decision.would != Outcome::Deny && !open.is_empty() && known.may_ask() {
                return Step { decision: Arc::new(decision), is_sent: false, record: None };
            }
            open.clear();
            let decision = match &basis.approval {
                Some(approval) => decision.with_approval(approval.clone()),
                // Here nothing stands against it, and yet a person was asked and said no.
                None if basis.is_declined() && decision.outcome == Outcome::Allow => {
                    decision.declined(CLIENT_USER, "")
                }
                None => decision,
            };
            self.step_of(&request, &heard, &turn, decision, since)
        };
        let stepped = match waiting {
            Waiting::No => self.ledger.try_step(&self.key, &mut decide)?,
            Waiting::Some => self.ledger.step(&self.key, &mut decide),
        };
        if turn.was_late() {
            // Another step stands for it, and its verdict has gone out.
            return Some(Verdict::Drop { to_client: Vec::new() });
        }
        if !open.is_empty() {
            // That was no step yet: without a record nothing of it counts.
            return Some(self.ask_programs(Judging { request, read, guard, basis }, open));
        }
        Some(self.when_committed(&request, stepped, turn, move |inner, request, receipt| {
            let basis = Arc::unwrap_or_clone(basis);
            inner.carry_out(Asked { request: request.clone(), read, guard, receipt, basis })
        }))
    }

    /// What a decision adds to the ledger, with all that is recorded of it.
    pub(super) fn step_of(
        &self,
        request: &Request,
        heard: &Heard<'_>,
        turn: &Turn,
        decision: Decision,
        since: Instant,
    ) -> Step {
        let decision = Arc::new(if self.without_policy { decision.by_no_policy() } else { decision });
        let is_let = decision.outcome == Outcome::Allow || heard.guard.is_monitoring();
        let is_sent = match turn.decided() {
            Standing::Decided => is_let,
            Standing::Left => false,
            Standing::Late => return Step { decision, is_sent: false, record: None },
        };
        let record = heard.record(request, &decision, is_sent, self.without_policy, micros(since));
        Step { decision, is_sent, record: Some(Box::new(record)) }
    }

    /// Goes on with a step once it is committed.
    pub(super) fn when_committed(
        self: &Arc<Self>,
        request: &Request,
        stepped: Result<Stepped, LedgerFailure>,
        turn: Arc<Turn>,
        then: impl FnOnce(&Arc<Inner>, &Request, Receipt) -> Verdict + Send + 'static,
    ) -> Verdict {
        let reserved =
            |sequence| Reserved { inner: Arc::clone(self), sequence, since: Instant::now(), is_over: false };
        match stepped {
            Err(why) => self.unrecorded(request, &why),
            Ok(Stepped::Committed(receipt)) if turn.has_left() => {
                drop(reserved(receipt.sequence));
                Verdict::Drop { to_client: Vec::new() }
            }
            Ok(Stepped::Committed(receipt)) => then(self, request, receipt),
            Ok(Stepped::Waiting { sequence, commit }) => {
                let (inner, request) = (Arc::clone(self), request.clone());
                let reserved = reserved(sequence);
                Hold::verdict(HoldKind::Machine, async move {
                    let committed = commit.await;
                    reserved.over();
                    match committed {
                        Ok(receipt) => then(&inner, &request, receipt),
                        Err(why) => inner.unrecorded(&request, &why),
                    }
                })
            }
        }
    }

    /// What a committed decision leads to.
    pub(super) fn carry_out(self: &Arc<Self>, of: Asked) -> Verdict {
        let (ticket, decision) = (of.request.head().ticket, Arc::clone(&of.receipt.decision));
        if let Some(bad) = of.basis.bad {
            let by = ("client", CLIENT_USER);
            self.note_approval(of.receipt.sequence, by, (bad, "the call was judged anew"), Instant::now());
        }
        if let Some((reply, since)) = &of.basis.elsewhere {
            let (by, note) = (("client", CLIENT_USER), "another process asked");
            self.note_approval(of.receipt.sequence, by, (reply.name(), note), *since);
        }
        if !self.without_policy {
            self.log.judged(ticket, &decision);
        }
        self.audited(ticket, &of.guard, &decision, of.read.call().and_then(|call| call.arguments));
        self.say_decided(ticket, &decision, of.guard.is_monitoring());
        if !of.guard.is_monitoring() {
            match decision.outcome {
                Outcome::Allow => {}
                Outcome::Ask if of.basis.is_declined() => return self.declined_elsewhere(of),
                Outcome::Ask => return self.ask(of),
                Outcome::Deny if !decision.missing.is_empty() => return self.ask_for_missing(of),
                Outcome::Deny => return self.refuse(&of),
            }
        }
        if let Some(said) = of.basis.said {
            self.log.remarked(ticket, said.into());
        }
        let (sequence, tool) = (of.receipt.sequence, decision.tool.clone());
        let fill = of.basis.filling.fill;
        let sent = Sent {
            sequence,
            tool,
            since: Instant::now(),
            is_out: false,
            receipt: Some(of.receipt),
            fill: fill.as_ref().map(|fill| Arc::clone(&fill.answer)),
        };
        self.open().insert(ticket, sent);
        // Coercion never touches absent arguments: `{}` is valid or it is not.
        let has_arguments = of.read.call().is_some_and(|call| call.arguments.is_some());
        let coerces = !of.guard.is_monitoring() && has_arguments;
        let coerced = decision.edits.iter().filter(|_| coerces);
        if let Some(fill) = fill {
            let coerced: Vec<Edit> = coerced.cloned().collect();
            return replaced(fill.edits_of(of.request.frame(), &coerced));
        }
        let mut edits = Edits::new();
        for edit in coerced.chain(&of.basis.cuts) {
            edits.push(edit.range.clone(), edit.bytes.clone());
        }
        replaced(edits)
    }

    fn say_decided(&self, ticket: Ticket, decision: &Decision, monitors: bool) {
        let of = |outcome: Outcome| match outcome {
            Outcome::Allow => "allowed",
            Outcome::Ask => "refused, a person would be asked",
            Outcome::Deny => "denied",
        };
        let by = || decision.deciding().map(|finding| finding.check.as_str()).collect::<Vec<_>>().join(", ");
        if decision.outcome != Outcome::Allow && !monitors {
            self.log.decided(ticket, format!("{} ({})", of(decision.outcome), by()));
        } else if decision.would != Outcome::Allow {
            let would = match decision.would {
                Outcome::Deny if !decision.missing.is_empty() => {
                    format!("would ask for {}", clip(&decision.missing.join(", ")))
                }
                Outcome::Ask => format!("would ask: {}", by()),
                _ => format!("would deny: {}", by()),
            };
            self.log.remarked(ticket, would);
        } else if !decision.edits.is_empty() {
            let paths: Vec<&str> = decision.changes.iter().map(|change| change.path.as_str()).collect();
            self.log.remarked(ticket, format!("coerced {}", paths.join(", ")));
        }
    }
}

fn replaced(edits: Edits) -> Verdict {
    if edits.is_empty() { Verdict::Forward } else { Verdict::Replace(edits) }
}

/// Whether a step may wait for another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    No,
    Some,
}

/// A call that is judged.
#[derive(Clone)]
pub(super) struct Judging {
    pub(super) request: Request,
    pub(super) read: Arc<ClientFrame>,
    pub(super) guard: Arc<Guard>,
    pub(super) basis: Arc<Basis>,
}

/// What a step was decided from.
pub(super) struct Heard<'a> {
    pub(super) guard: &'a Arc<Guard>,
    pub(super) session: &'a Session,
    /// The arguments as they came.
    pub(super) arguments: Option<Value<'a>>,
    pub(super) basis: &'a Basis,
}

impl Heard<'_> {
    fn record(
        &self,
        request: &Request,
        decision: &Arc<Decision>,
        is_sent: bool,
        without_policy: bool,
        decided_us: u64,
    ) -> CallRecord {
        let coerces = !decision.edits.is_empty() && !self.guard.is_monitoring() && self.arguments.is_some();
        let fill = self.basis.filling.fill.as_ref();
        let is_verbatim = !coerces && self.basis.cuts.is_empty() && fill.is_none();
        let sent = match is_sent {
            false => event::Sent::No,
            true if is_verbatim => event::Sent::Verbatim,
            true => event::Sent::Edited,
        };
        CallRecord {
            guard: Arc::clone(self.guard),
            without_policy,
            window: self.session.window(),
            heard: self.session.heard(),
            knows_user: self.session.knows_user(),
            unheard: self.session.unheard().filter(|_| self.guard.reads_conversation()).map(str::to_owned),
            decision: Arc::clone(decision),
            arguments: self.arguments.map(|value| value.document().source().slice(value.span())),
            start: self.arguments.map_or(0, |value| value.span().start),
            frame: request.frame().bytes().clone(),
            sent,
            decided_us,
            is_waived: false,
            again: self.basis.again,
            cuts: self.basis.cuts.clone(),
            filled: fill.map(|fill| event::FilledRecord {
                names: fill.answer.form.names().to_vec(),
                frame: fill.frame.bytes().clone(),
            }),
        }
    }
}

/// Whether a frame of the client's can be sent on at all.
pub(super) fn read(
    request: &Request,
    limits: &wire::Limits,
) -> Result<Option<ClientFrame>, Box<wire::Refusal>> {
    wire::client_frame(request.frame(), limits).map_err(Box::new)
}
