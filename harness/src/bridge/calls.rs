//! Tool calls: decided in one ledger step, then sent or refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use framegate_guard::Outcome;
use framegate_guard::decision::Decision;
use framegate_guard::json::{Document, Value};
use framegate_guard::ledger::{Settled, Step};
use framegate_guard::refusal::REASON_CHARS_MAX;
use framegate_guard::{Call, Guard};
use framegate_pump::{Edits, Ended, Hold, HoldKind, Request, RpcError, Ticket, Verdict};
use serde_json::json;

use super::incident::incident;
use super::shared::{Bridge, Inner, Sent};
use crate::calls::Level;
use crate::clip::{clip, clip_to};
use crate::mcp;
use crate::wire::{self, ClientFrame};

/// Larger calls are read and decided off the pump's thread.
pub(super) const ON_THREAD_BYTES_MAX: usize = 64 * 1024;
/// How long a decision off the pump's thread may take before the call is refused.
const DECISION_WAIT: Duration = Duration::from_secs(1);
/// JSON-RPC error code of a refusal that cannot be a tool result. Outside of what JSON-RPC and MCP reserve.
pub(super) const REFUSED: i64 = -31_901;

/// Nobody gives up a decision on the pump's own thread.
static KEPT: AtomicBool = AtomicBool::new(false);

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
        if guard.is_listed() && !self.waits_for_listing(&guard, &name) {
            return if is_small && !self.inner.is_deciding() {
                self.inner.decide(request, &read, &KEPT)
            } else {
                off_thread(&self.inner, request, read)
            };
        }
        let (inner, request) = (Arc::clone(&self.inner), request.clone());
        Hold::verdict(HoldKind::Machine, async move {
            let seen = inner.listed.subscribe();
            if let Err(why) = inner.wait_listed(seen).await {
                return inner.unlisted(&request, &name, &why);
            }
            // Asked again: the schema is known now, and another call's decision may have begun meanwhile.
            if fits_the_thread(&inner.guard(), &request, &read) && !inner.is_deciding() {
                inner.decide(&request, &read, &KEPT)
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
            let how = if how == Ended::TooLong { Settled::Done } else { Settled::Lost };
            self.inner.settle(request.head().ticket, how);
        }
    }
}

/// Says, when it goes, that nobody waits for the decision: it took too long, or the call was cancelled.
#[derive(Default)]
struct GivenUp(Arc<AtomicBool>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
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

fn off_thread(inner: &Arc<Inner>, request: &Request, read: ClientFrame) -> Verdict {
    let (inner, request) = (Arc::clone(inner), request.clone());
    Hold::verdict(HoldKind::Machine, async move {
        let (on_thread, of) = (Arc::clone(&inner), request.clone());
        let given_up = GivenUp::default();
        let seen = Arc::clone(&given_up.0);
        inner.deciding.fetch_add(1, Ordering::Relaxed);
        let deciding = tokio::task::spawn_blocking(move || {
            let verdict = on_thread.decide(&of, &read, &seen);
            on_thread.deciding.fetch_sub(1, Ordering::Relaxed);
            verdict
        });
        match tokio::time::timeout(DECISION_WAIT, deciding).await {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(panicked)) => inner.internal(&request, &panicked.to_string()),
            Err(_) => {
                drop(given_up);
                inner.undecided(&request)
            }
        }
    })
}

impl Inner {
    /// Decides, records, and says what becomes of the frame. A panic inside is a refusal, never the session's
    /// end.
    ///
    /// `given_up`: the call was answered meanwhile, so it is not sent whatever is decided.
    pub(super) fn decide(&self, request: &Request, read: &ClientFrame, given_up: &AtomicBool) -> Verdict {
        let deciding = std::panic::AssertUnwindSafe(|| self.decide_now(request, read, given_up));
        std::panic::catch_unwind(deciding)
            .unwrap_or_else(|_| self.internal(request, "deciding on a call panicked"))
    }

    fn decide_now(&self, request: &Request, read: &ClientFrame, given_up: &AtomicBool) -> Verdict {
        let Some(call) = read.call() else { return self.internal(request, "a call without a name was read") };
        let guard = self.guard();
        let none = Document::empty_object();
        let arguments = call.arguments.unwrap_or_else(|| none.root());
        let is_absent = call.arguments.is_none();
        let (decision, sequence) = match self.step(&guard, request, call.name, arguments, given_up) {
            Ok(step) => step,
            Err(why) => return self.unrecorded(request, &why),
        };
        if given_up.load(Ordering::Relaxed) {
            return Verdict::Drop { to_client: Vec::new() };
        }
        let ticket = request.head().ticket;
        self.log.judged(ticket, &decision);
        self.say_decided(ticket, &decision);
        if decision.outcome == Outcome::Allow || guard.is_monitoring() {
            self.open().insert(ticket, Sent { sequence, tool: call.name.to_owned() });
            // Coercion never touches absent arguments: `{}` is valid or it is not.
            if decision.edits.is_empty() || is_absent || guard.is_monitoring() {
                return Verdict::Forward;
            }
            let mut edits = Edits::new();
            for edit in &decision.edits {
                edits.push(edit.range.clone(), edit.bytes.clone());
            }
            return Verdict::Replace(edits);
        }
        self.refuse(request, &guard, &decision)
    }

    fn step(
        &self,
        guard: &Guard,
        request: &Request,
        tool: &str,
        arguments: Value<'_>,
        given_up: &AtomicBool,
    ) -> Result<(Arc<Decision>, u64), String> {
        let id = request.id().map(framegate_pump::Id::json);
        let session = Arc::clone(&self.session());
        let receipt = self.ledger.step(&self.key, &mut |past| {
            let call = Call { tool, id, arguments };
            let decision = guard.decide(&call, &session, past, &*self.world);
            let is_allowed = decision.outcome == Outcome::Allow && !given_up.load(Ordering::Relaxed);
            let is_sent = is_allowed || guard.is_monitoring();
            Step { decision: Arc::new(decision), is_sent }
        });
        receipt.map(|receipt| (receipt.decision, receipt.sequence)).map_err(|failure| failure.to_string())
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
    fn refuse(&self, request: &Request, guard: &Guard, decision: &Decision) -> Verdict {
        let mut text = guard.message(decision);
        if decision.outcome == Outcome::Ask {
            text.push_str("\n(Nobody can be asked in this session, so the call was not made.)");
        }
        let machine = json!({
            "outcome": decision.outcome.to_string(),
            "tool": clip(&decision.tool),
            "failed": decision.failed().collect::<Vec<_>>(),
            "reasons": decision.reasons().map(|reason| clip_to(reason, REASON_CHARS_MAX)).collect::<Vec<_>>(),
            "approvalKey": decision.approval_key,
            "executed": false,
        });
        self.refusal(request, &text, &machine)
    }

    pub(super) fn refusal(&self, request: &Request, text: &str, machine: &serde_json::Value) -> Verdict {
        if request.param("task").is_some() {
            // A tool result is no CreateTaskResult: the caller would see an internal error (2025-11-25).
            let error = RpcError { data: Some(machine.to_string()), ..RpcError::new(REFUSED, text) };
            return answer(request.refuse(&error));
        }
        answer(request.answer(&mcp::refusal_result(text, machine).to_string()))
    }

    fn undecided(&self, request: &Request) -> Verdict {
        if self.guard().is_monitoring() {
            self.log.remarked(request.head().ticket, "would deny: judging it took too long".into());
            return Verdict::Forward;
        }
        self.log.decided(request.head().ticket, "refused (judging it took too long)".into());
        let seconds = DECISION_WAIT.as_secs();
        let text = format!("The call was not made: it could not be judged within {seconds} s.");
        self.refusal(
            request,
            &text,
            &json!({ "outcome": "deny", "failed": ["decision_time"], "executed": false }),
        )
    }

    fn unlisted(&self, request: &Request, tool: &str, why: &str) -> Verdict {
        if self.guard().is_monitoring() {
            self.log.remarked(request.head().ticket, "would deny: no listing".into());
            return Verdict::Forward;
        }
        self.log.decided(request.head().ticket, "denied (no listing)".into());
        let text = format!(
            "{} was not called: {why}, so the call could not be checked against the tool's schema. Try again later, or tell the user.",
            clip(tool)
        );
        self.refusal(request, &text, &json!({ "outcome": "deny", "failed": ["listing"], "executed": false }))
    }

    fn unrecorded(&self, request: &Request, why: &str) -> Verdict {
        self.log.say(Level::Error, why);
        if self.guard().is_monitoring() {
            return Verdict::Forward;
        }
        self.log.decided(request.head().ticket, "refused (no record)".into());
        let text = "The call was not made: its record could not be written. Tell the user; repeating it will not help.";
        self.refusal(request, text, &json!({ "outcome": "deny", "failed": ["record"], "executed": false }))
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
}

/// A frame of ours for whoever sent the request; a notification has nobody.
pub(super) fn answer(frame: Option<framegate_pump::Frame>) -> Verdict {
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
                Step { decision: Arc::new(decision), is_sent: false }
            })
        });
        taken.recv().unwrap();
        inner.open().insert(Ticket(1), Sent { sequence: 1, tool: "t".into() });
        let since = std::time::Instant::now();
        assert!(inner.settle(Ticket(1), Settled::Done).is_some());
        assert!(since.elapsed() < Duration::from_secs(1));
        let_go.send(()).unwrap();
        deciding.join().unwrap().unwrap();
    }
}
