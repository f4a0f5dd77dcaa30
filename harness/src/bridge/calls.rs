//! Tool calls: decided in one ledger step, then sent or refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use framegate_guard::Outcome;
use framegate_guard::decision::Decision;
use framegate_guard::json::{Document, Value};
use framegate_guard::ledger::{LedgerFailure, Receipt, Settled, Snapshot, Step, Stepped};
use framegate_guard::refusal::REASON_CHARS_MAX;
use framegate_guard::session::Session;
use framegate_guard::store::event::{self, CallRecord, EndRecord, Event};
use framegate_guard::{Call, Guard};
use framegate_pump::{Edits, Ended, Frame, Hold, HoldKind, Request, RpcError, Ticket, Verdict};
use serde_json::json;

use super::incident::incident;
use super::shared::{Bridge, Inner, Sent};
use crate::calls::Level;
use crate::clip::{clip, clip_to};
use crate::mcp;
use crate::redact;
use crate::wire::{self, ClientFrame};

/// Larger calls are read and decided off the pump's thread.
pub(super) const ON_THREAD_BYTES_MAX: usize = 64 * 1024;
/// How long a decision off the pump's thread may take before the call is refused.
const DECISION_WAIT: Duration = Duration::from_secs(1);
/// JSON-RPC error code of a refusal that cannot be a tool result. Outside of what JSON-RPC and MCP reserve.
pub(super) const REFUSED: i64 = -31_901;

/// The check that there is a listing to judge a call by.
const LISTING: &str = "listing";

impl Bridge {
    /// Judges a call, now or as soon as it can be.
    pub(super) fn call(&self, request: &Request, read: ClientFrame) -> Verdict {
        let guard = self.guard();
        if !guard.is_listed() && !self.inner.opening().is_listing() {
            // The listing failed before: it may go well now.
            self.inner.list();
        }
        let name = read.call().map(|call| call.name.to_owned()).unwrap_or_default();
        // A decision off the pump's thread holds the ledger: the pump must not wait for it.
        let is_small = fits_the_thread(&guard, request, &read);
        let read = Arc::new(read);
        if guard.is_listed() && !self.waits_for_listing(&guard, &name) {
            return if is_small && !self.inner.is_deciding() {
                self.inner.decide(request, &read, &Arc::default())
            } else {
                off_thread(&self.inner, request, read)
            };
        }
        let (inner, request) = (Arc::clone(&self.inner), request.clone());
        Hold::verdict(HoldKind::Machine, async move {
            let seen = inner.listed.subscribe();
            if let Err(why) = inner.wait_listed(seen).await {
                return inner.unlisted(&request, &read, &name, &why).await;
            }
            // Asked again: the schema is known now, and another call's decision may have begun meanwhile.
            if fits_the_thread(&inner.guard(), &request, &read) && !inner.is_deciding() {
                inner.decide(&request, &read, &Arc::default())
            } else {
                off_thread(&inner, &request, read)
            }
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

    /// A request that was sent, or was to be, gets no answer.
    pub(super) fn call_ended(&self, request: &Request, how: Ended) {
        if request.method() == "tools/call" {
            let settled = if how == Ended::TooLong { Settled::Done } else { Settled::Lost };
            if let Some(sent) = self.inner.settle(request.head().ticket, settled) {
                self.inner.note_end(&sent, how_ended(how), None, None);
            }
        }
    }
}

/// Says, when it goes, that nobody waits for the decision: it took too long, or the call was cancelled.
#[derive(Default)]
struct GivenUp {
    seen: Arc<AtomicBool>,
    is_decided: bool,
}

impl Drop for GivenUp {
    fn drop(&mut self) {
        if !self.is_decided {
            self.seen.store(true, Ordering::Relaxed);
        }
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

fn off_thread(inner: &Arc<Inner>, request: &Request, read: Arc<ClientFrame>) -> Verdict {
    let (inner, request) = (Arc::clone(inner), request.clone());
    Hold::verdict(HoldKind::Machine, async move {
        let (on_thread, of) = (Arc::clone(&inner), request.clone());
        let mut given_up = GivenUp::default();
        let seen = Arc::clone(&given_up.seen);
        inner.deciding.fetch_add(1, Ordering::Relaxed);
        let deciding = tokio::task::spawn_blocking(move || {
            let verdict = on_thread.decide(&of, &read, &seen);
            on_thread.deciding.fetch_sub(1, Ordering::Relaxed);
            verdict
        });
        match tokio::time::timeout(DECISION_WAIT, deciding).await {
            Ok(Ok(verdict)) => {
                // It was in time; what it still waits for is its record.
                given_up.is_decided = true;
                verdict
            }
            Ok(Err(panicked)) => inner.internal(&request, &panicked.to_string()),
            Err(_) => {
                drop(given_up);
                inner.undecided(&request)
            }
        }
    })
}

/// A step whose commit is waited for. When nobody waits any more, it was not sent: cancelled, or the client left.
struct Reserved {
    inner: Arc<Inner>,
    sequence: u64,
    since: Instant,
    given_up: Arc<AtomicBool>,
    is_over: bool,
}

impl Reserved {
    /// Its commit has come, or failed.
    fn over(mut self) {
        self.is_over = true;
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // What took too long to judge is passed on where nothing is refused.
        let is_passed_on = self.given_up.load(Ordering::Relaxed) && self.inner.guard().is_monitoring();
        if self.is_over || is_passed_on {
            return;
        }
        self.inner.undo(self.sequence);
        self.inner.ledger.note(Event::End(EndRecord {
            step: self.sequence,
            how: event::How::Cancelled,
            frame: None,
            out: None,
            latency_us: micros(self.since),
            is_unsent: true,
            heard: None,
        }));
    }
}

impl Inner {
    /// Decides, records, and says what becomes of the frame. A panic inside is a refusal, never the session's
    /// end.
    ///
    /// `given_up`: the call was answered meanwhile, so it is not sent whatever is decided.
    pub(super) fn decide(
        self: &Arc<Self>,
        request: &Request,
        read: &ClientFrame,
        given_up: &Arc<AtomicBool>,
    ) -> Verdict {
        let deciding = std::panic::AssertUnwindSafe(|| self.decide_now(request, read, given_up));
        std::panic::catch_unwind(deciding)
            .unwrap_or_else(|_| self.internal(request, "deciding on a call panicked"))
    }

    fn decide_now(
        self: &Arc<Self>,
        request: &Request,
        read: &ClientFrame,
        given_up: &Arc<AtomicBool>,
    ) -> Verdict {
        let Some(call) = read.call() else { return self.internal(request, "a call without a name was read") };
        let guard = self.guard();
        let none = Document::empty_object();
        let arguments = call.arguments.unwrap_or_else(|| none.root());
        let of = Call { tool: call.name, id: request.id().map(framegate_pump::Id::json), arguments };
        let session = Arc::clone(&self.session());
        let heard = Heard { guard: &guard, session: &session, arguments: call.arguments };
        let stepped =
            self.step(request, &heard, given_up, &mut |past| guard.decide(&of, &session, past, &*self.world));
        let (given_up, has_arguments) = (Arc::clone(given_up), call.arguments.is_some());
        self.when_committed(request, stepped, Arc::clone(&given_up), move |inner, request, receipt| {
            if given_up.load(Ordering::Relaxed) {
                return Verdict::Drop { to_client: Vec::new() };
            }
            inner.carry_out(request, &guard, receipt, has_arguments)
        })
    }

    /// One step of the ledger, with all that is recorded of it.
    fn step(
        &self,
        request: &Request,
        heard: &Heard<'_>,
        given_up: &AtomicBool,
        decide: &mut dyn FnMut(&Snapshot<'_>) -> Decision,
    ) -> Result<Stepped, LedgerFailure> {
        self.ledger.step(&self.key, &mut |past| {
            let since = Instant::now();
            let mut decision = decide(past);
            if self.without_policy {
                decision = decision.by_no_policy();
            }
            let is_allowed = decision.outcome == Outcome::Allow && !given_up.load(Ordering::Relaxed);
            let is_sent = is_allowed || heard.guard.is_monitoring();
            let decision = Arc::new(decision);
            let record = heard.record(request, &decision, is_sent, self.without_policy, micros(since));
            Step { decision, is_sent, record: Some(Box::new(record)) }
        })
    }

    /// Goes on with a step once it is committed.
    fn when_committed(
        self: &Arc<Self>,
        request: &Request,
        stepped: Result<Stepped, LedgerFailure>,
        given_up: Arc<AtomicBool>,
        then: impl FnOnce(&Arc<Inner>, &Request, Receipt) -> Verdict + Send + 'static,
    ) -> Verdict {
        match stepped {
            Err(why) => self.unrecorded(request, &why),
            Ok(Stepped::Committed(receipt)) => then(self, request, receipt),
            Ok(Stepped::Waiting { sequence, commit }) => {
                let (inner, request) = (Arc::clone(self), request.clone());
                let since = Instant::now();
                let reserved =
                    Reserved { inner: Arc::clone(self), sequence, since, given_up, is_over: false };
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
    fn carry_out(&self, request: &Request, guard: &Guard, receipt: Receipt, has_arguments: bool) -> Verdict {
        let (ticket, decision) = (request.head().ticket, Arc::clone(&receipt.decision));
        if !self.without_policy {
            self.log.judged(ticket, &decision);
        }
        self.say_decided(ticket, &decision);
        if decision.outcome != Outcome::Allow && !guard.is_monitoring() {
            return self.refuse(request, guard, &receipt);
        }
        let (sequence, tool) = (receipt.sequence, decision.tool.clone());
        let sent = Sent { sequence, tool, since: Instant::now(), is_out: false, receipt: Some(receipt) };
        self.open().insert(ticket, sent);
        // Coercion never touches absent arguments: `{}` is valid or it is not.
        if decision.edits.is_empty() || guard.is_monitoring() || !has_arguments {
            return Verdict::Forward;
        }
        let mut edits = Edits::new();
        for edit in &decision.edits {
            edits.push(edit.range.clone(), edit.bytes.clone());
        }
        Verdict::Replace(edits)
    }

    fn say_decided(&self, ticket: Ticket, decision: &Decision) {
        let of = |outcome: Outcome| match outcome {
            Outcome::Allow => "allowed",
            Outcome::Ask => "refused, a person would be asked",
            Outcome::Deny => "denied",
        };
        let by = || decision.deciding().map(|finding| finding.check.as_str()).collect::<Vec<_>>().join(", ");
        if decision.outcome != Outcome::Allow && !self.guard().is_monitoring() {
            self.log.decided(ticket, format!("{} ({})", of(decision.outcome), by()));
        } else if decision.would != Outcome::Allow {
            let would = if decision.would == Outcome::Ask { "would ask" } else { "would deny" };
            self.log.remarked(ticket, format!("{would}: {}", by()));
        } else if !decision.edits.is_empty() {
            let paths: Vec<&str> = decision.changes.iter().map(|change| change.path.as_str()).collect();
            self.log.remarked(ticket, format!("coerced {}", paths.join(", ")));
        }
    }

    /// The refusal that a decision leads to.
    fn refuse(&self, request: &Request, guard: &Guard, receipt: &Receipt) -> Verdict {
        let decision = &*receipt.decision;
        let mut text = guard.message(decision);
        if decision.outcome == Outcome::Ask {
            text.push_str("\n(Nobody can be asked in this session, so the call was not made.)");
        }
        self.refusal_of(request, &text, receipt)
    }

    /// A refusal of a step: it says where it is recorded, and the record says what the client was sent.
    fn refusal_of(&self, request: &Request, text: &str, receipt: &Receipt) -> Verdict {
        let decision = &*receipt.decision;
        // What the model reads may be kept in a transcript: it learns what is wrong, not the secret again.
        let secrets = redact::secrets(&decision.arguments);
        let text = redact::without(text, &secrets);
        let said = |why: &str| clip_to(&redact::without(why, &secrets), REASON_CHARS_MAX).into_owned();
        let mut machine = json!({
            "outcome": decision.outcome.to_string(),
            "tool": clip(&decision.tool),
            "failed": decision.failed().collect::<Vec<_>>(),
            "reasons": decision.reasons().map(said).collect::<Vec<_>>(),
            "approvalKey": decision.approval_key,
            "executed": false,
        });
        if let (Some(members), Some(recorded)) = (machine.as_object_mut(), &receipt.recorded) {
            members.insert("record".into(), recorded.sequence.into());
            members.insert("hash".into(), recorded.hash.to_string().into());
        }
        let frame = refusal_frame(request, &text, &machine);
        self.ledger.note(Event::End(EndRecord {
            step: receipt.sequence,
            how: event::How::Refused,
            frame: frame.as_ref().map(|frame| frame.bytes().clone()),
            out: None,
            latency_us: 0,
            is_unsent: true,
            heard: None,
        }));
        answer(frame)
    }

    fn undecided(&self, request: &Request) -> Verdict {
        if self.guard().is_monitoring() {
            self.log.remarked(request.head().ticket, "would deny: judging it took too long".into());
            return Verdict::Forward;
        }
        self.log.decided(request.head().ticket, "refused (judging it took too long)".into());
        let seconds = DECISION_WAIT.as_secs();
        let text = format!("The call was not made: it could not be judged within {seconds} s.");
        let machine = json!({ "outcome": "deny", "failed": ["decision_time"], "executed": false });
        answer(refusal_frame(request, &text, &machine))
    }

    /// There is no listing to judge a call by. That is a decision too, and recorded as one.
    async fn unlisted(
        self: &Arc<Self>,
        request: &Request,
        read: &Arc<ClientFrame>,
        tool: &str,
        why: &str,
    ) -> Verdict {
        let text = format!(
            "{} was not called: {why}, so the call could not be checked against the tool's schema. Try again later, or tell the user.",
            clip(tool)
        );
        let (inner, of, read, why) = (Arc::clone(self), request.clone(), Arc::clone(read), why.to_owned());
        // Off the pump's thread: another decision may have the ledger.
        let stepping = tokio::task::spawn_blocking(move || inner.step_unjudged(&of, &read, LISTING, &why));
        match stepping.await {
            Err(panicked) => self.internal(request, &panicked.to_string()),
            Ok(stepped) => {
                self.when_committed(request, stepped, Arc::default(), move |inner, request, receipt| {
                    if inner.guard().is_monitoring() {
                        let guard = inner.guard();
                        return inner.carry_out(request, &guard, receipt, false);
                    }
                    inner.log.decided(request.head().ticket, "denied (no listing)".into());
                    inner.refusal_of(request, &text, &receipt)
                })
            }
        }
    }

    /// The step of a call that could not be judged.
    fn step_unjudged(
        &self,
        request: &Request,
        read: &ClientFrame,
        check: &str,
        why: &str,
    ) -> Result<Stepped, LedgerFailure> {
        let Some(call) = read.call() else { return Err(LedgerFailure("a call has no name".into())) };
        let (guard, session) = (self.guard(), Arc::clone(&self.session()));
        let none = Document::empty_object();
        let arguments = call.arguments.unwrap_or_else(|| none.root());
        let id = request.id().map(framegate_pump::Id::json);
        let heard = Heard { guard: &guard, session: &session, arguments: call.arguments };
        self.step(request, &heard, &AtomicBool::new(false), &mut |_| {
            let decision = Decision::refused(call.name, id, arguments, check, why);
            if guard.is_monitoring() { decision.observed() } else { decision }
        })
    }

    /// No record, no call.
    fn unrecorded(&self, request: &Request, why: &LedgerFailure) -> Verdict {
        self.log.decided(request.head().ticket, "refused (no record)".into());
        let text = format!(
            "The call was not made: {why}, and no call is made without a record. Tell the user; the program that writes the record is framegate (its --store)."
        );
        let machine = json!({
            "outcome": "deny", "failed": ["record"], "reasons": [why.to_string()], "executed": false,
        });
        answer(refusal_frame(request, &text, &machine))
    }

    /// Something in Framegate itself went wrong: the client gets a name for it, the log the reason.
    pub(super) fn internal(&self, request: &Request, why: &str) -> Verdict {
        let incident = incident();
        self.log.say(Level::Error, &format!("incident {incident}: {why}"));
        if self.guard().is_monitoring() {
            return Verdict::Forward;
        }
        self.log.decided(request.head().ticket, format!("refused (incident {incident})"));
        let text = format!(
            "Framegate could not judge this (incident {incident}; its log says why). Nothing was sent to the server."
        );
        answer(request.refuse(&RpcError::new(RpcError::INTERNAL, text)))
    }

    /// Whether a decision off the pump's thread has the ledger, or is about to take it.
    fn is_deciding(&self) -> bool {
        self.deciding.load(Ordering::Relaxed) > 0
    }

    pub(super) fn settle(self: &Arc<Self>, ticket: Ticket, how: Settled) -> Option<Sent> {
        let sent = self.open().remove(&ticket)?;
        self.settle_step(sent.sequence, how);
        Some(sent)
    }

    /// The pump must not wait for a ledger that a decision holds.
    pub(super) fn settle_step(self: &Arc<Self>, sequence: u64, how: Settled) {
        if !self.is_deciding() {
            return self.settle_now(sequence, how);
        }
        let inner = Arc::clone(self);
        tokio::task::spawn_blocking(move || inner.settle_now(sequence, how));
    }

    fn settle_now(&self, sequence: u64, how: Settled) {
        if let Err(failure) = self.ledger.settle(&self.key, sequence, how) {
            self.log.say(Level::Error, &failure.to_string());
        }
    }

    /// A step that was to be sent was not.
    fn undo(self: &Arc<Self>, sequence: u64) {
        let inner = Arc::clone(self);
        // Dropped with its runtime there is nobody left to count for.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) if self.is_deciding() => {
                runtime.spawn_blocking(move || inner.ledger.undo(&inner.key, sequence));
            }
            _ => self.ledger.undo(&self.key, sequence),
        }
    }

    /// How a call that was to be sent ended. `answer`: as it came, and how it is edited on its way.
    pub(super) fn note_end(
        &self,
        sent: &Sent,
        how: event::How,
        answer: Option<(&Frame, Option<&Edits>)>,
        heard: Option<u64>,
    ) {
        let out = answer.and_then(|(frame, edits)| edits?.apply(frame).ok());
        self.ledger.note(Event::End(EndRecord {
            step: sent.sequence,
            how,
            frame: answer.map(|(frame, _)| frame.bytes().clone()),
            out: out.map(Frame::into_bytes),
            latency_us: micros(sent.since),
            is_unsent: how == event::How::Cancelled && !sent.is_out,
            heard,
        }));
    }
}

/// What a step was decided from.
struct Heard<'a> {
    guard: &'a Arc<Guard>,
    session: &'a Session,
    /// The arguments as they came.
    arguments: Option<Value<'a>>,
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
        let is_verbatim = decision.edits.is_empty() || self.guard.is_monitoring() || self.arguments.is_none();
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
            decision: Arc::clone(decision),
            arguments: self.arguments.map(|value| value.document().source().slice(value.span())),
            start: self.arguments.map_or(0, |value| value.span().start),
            frame: request.frame().bytes().clone(),
            sent,
            decided_us,
            is_waived: false,
        }
    }
}

fn how_ended(how: Ended) -> event::How {
    match how {
        Ended::Cancelled => event::How::Cancelled,
        Ended::SenderGone | Ended::PeerGone | Ended::Replaced => event::How::Lost,
        Ended::TooLong => event::How::TooLong,
        Ended::Unreadable => event::How::Unreadable,
    }
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// A refusal as the client's model is shown it.
pub(super) fn refusal_frame(request: &Request, text: &str, machine: &serde_json::Value) -> Option<Frame> {
    if request.param("task").is_some() {
        // A tool result is no CreateTaskResult: the caller would see an internal error (2025-11-25).
        let error = RpcError { data: Some(machine.to_string()), ..RpcError::new(REFUSED, text) };
        return request.refuse(&error);
    }
    request.answer(&mcp::refusal_result(text, machine).to_string())
}

/// A frame of ours for whoever sent the request; a notification has nobody.
pub(super) fn answer(frame: Option<Frame>) -> Verdict {
    frame.map_or(Verdict::Drop { to_client: Vec::new() }, Verdict::Answer)
}

/// Whether a frame of the client's can be sent on at all.
pub(super) fn read(
    request: &Request,
    limits: &wire::Limits,
) -> Result<Option<ClientFrame>, Box<wire::Refusal>> {
    wire::client_frame(request.frame(), limits).map_err(Box::new)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc;

    use framegate_guard::Facts;
    use framegate_guard::ledger::{Ledger as _, MemoryLedger, SessionKey, Snapshot};
    use framegate_guard::policy::Policy;
    use framegate_guard::session::Session;

    use super::*;
    use crate::bridge::{BridgeSettings, Disk};
    use crate::calls::{CallLog, LogFormat};
    use crate::child::ServerName;
    use crate::stderr::Stderr;

    fn bridge(ledger: &Arc<MemoryLedger>) -> Arc<Bridge> {
        let policy = Policy::load("p.yaml", b"framegate: 1\ndefault: allow\n", &mut |_| Err(String::new()));
        Bridge::new(BridgeSettings {
            guard: Guard::new(policy.unwrap().policy, "s", Facts::default()),
            ledger: Arc::<MemoryLedger>::clone(ledger),
            key: SessionKey { principal: "p".into(), name: "s".into() },
            world: Arc::new(Disk::new(Path::new("."))),
            log: Arc::new(CallLog::new(Stderr::start(), ServerName::given("s"), Level::Off, LogFormat::Text)),
            noise: None,
            without_policy: false,
            annotates: false,
        })
    }

    #[tokio::test]
    async fn an_answer_that_comes_while_a_decision_has_the_ledger_does_not_wait_for_it() {
        let ledger = Arc::new(MemoryLedger::default());
        let inner = Arc::clone(&bridge(&ledger).inner);
        let (let_go, held) = mpsc::channel::<()>();
        let (has_it, taken) = mpsc::channel();
        let (of, key, guard) = (Arc::clone(&ledger), inner.key.clone(), inner.guard());
        inner.deciding.fetch_add(1, Ordering::Relaxed);
        let deciding = std::thread::spawn(move || {
            of.step(&key, &mut |past: &Snapshot<'_>| {
                has_it.send(()).unwrap();
                held.recv().unwrap();
                let none = Document::empty_object();
                let call = Call { tool: "t", id: None, arguments: none.root() };
                let decision = guard.decide(&call, &Session::default(), past, &Disk::new(Path::new(".")));
                Step { decision: Arc::new(decision), is_sent: false, record: None }
            })
        });
        taken.recv().unwrap();
        let since = Instant::now();
        let sent = Sent { sequence: 1, tool: "t".into(), since, is_out: true, receipt: None };
        inner.open().insert(Ticket(1), sent);
        assert!(inner.settle(Ticket(1), Settled::Done).is_some());
        assert!(since.elapsed() < Duration::from_secs(1));
        let_go.send(()).unwrap();
        deciding.join().unwrap().unwrap();
    }
}
