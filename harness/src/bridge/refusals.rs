//! What a call gets that is not sent: each refusal says why, and where it is recorded.

use std::sync::Arc;
use std::time::Instant;

use framegate_guard::Guard;
use framegate_guard::decision::Decision;
use framegate_guard::json::Document;
use framegate_guard::ledger::{LedgerFailure, Receipt};
use framegate_guard::refusal::REASON_CHARS_MAX;
use framegate_guard::store::event::{self, EndRecord, Event};
use framegate_pump::{Frame, Request, RpcError, Verdict};
use serde_json::json;

use super::asking::{Asked, Basis};
use super::calls::{DECISION_WAIT, Heard, REFUSED};
use super::incident::incident;
use super::shared::Inner;
use super::turn::{Turn, Waits};
use crate::calls::Level;
use crate::clip::{clip, clip_to};
use crate::mcp;
use crate::redact;
use crate::wire::ClientFrame;

/// The check that there is a listing to judge a call by.
const LISTING: &str = "listing";
/// The check that a call is judged in time.
const DECISION_TIME: &str = "decision_time";
/// What stands in the record of a call whose judging failed.
const INTERNAL: &str = "internal";

impl Inner {
    /// The refusal that a decision leads to.
    pub(super) fn refuse(&self, of: &Asked) -> Verdict {
        self.refusal_of(&of.request, &of.guard.message(&of.receipt.decision), &of.receipt, None)
    }

    /// A refusal of a step: it says where it is recorded, and the record says what the client was sent.
    /// `asked`: what came of asking a person.
    pub(super) fn refusal_of(
        &self,
        request: &Request,
        text: &str,
        receipt: &Receipt,
        asked: Option<&str>,
    ) -> Verdict {
        let decision = &*receipt.decision;
        // What the model reads may be kept in a transcript: it learns what is wrong, not the secret again.
        let secrets = redact::secrets(&decision.arguments);
        let text = redact::without(text, &secrets);
        let machine = machine(receipt, asked, &secrets);
        let frame = refusal_frame(request, &text, &machine);
        self.answered_here(receipt.sequence, event::How::Refused, frame)
    }

    /// Answers a call in the server's stead; the record says with what.
    pub(super) fn answered_here(&self, step: u64, how: event::How, frame: Option<Frame>) -> Verdict {
        self.ledger.note(Event::End(EndRecord {
            frame: frame.as_ref().map(|frame| frame.bytes().clone()),
            is_unsent: true,
            ..EndRecord::new(step, how, 0)
        }));
        answer(frame)
    }

    /// Judging a call took too long.
    pub(super) async fn undecided(
        self: &Arc<Self>,
        request: &Request,
        read: &Arc<ClientFrame>,
        guard: Arc<Guard>,
    ) -> Verdict {
        let seconds = DECISION_WAIT.as_secs();
        self.unjudged(Unjudged {
            request: request.clone(),
            read: Arc::clone(read),
            guard,
            check: DECISION_TIME,
            why: format!("it could not be judged within {seconds} s"),
            text: format!("The call was not made: it could not be judged within {seconds} s."),
            said: "refused (judging it took too long)".into(),
        })
        .await
    }

    /// There is no listing to judge a call by. That is a decision too, and recorded as one.
    pub(super) async fn unlisted(
        self: &Arc<Self>,
        request: &Request,
        read: &Arc<ClientFrame>,
        tool: &str,
        why: String,
    ) -> Verdict {
        let text = format!(
            "{} was not called: {why}, so the call could not be checked against the tool's schema. Try again later, or tell the user.",
            clip(tool)
        );
        self.unjudged(Unjudged {
            request: request.clone(),
            read: Arc::clone(read),
            guard: self.guard(),
            check: LISTING,
            why,
            text,
            said: "denied (no listing)".into(),
        })
        .await
    }

    /// Off the pump's thread: the arguments may be large.
    async fn unjudged(self: &Arc<Self>, of: Unjudged) -> Verdict {
        let (inner, request, turn) = (Arc::clone(self), of.request.clone(), Arc::<Turn>::default());
        let waits = Waits::on(&turn);
        let verdict = self.writing.spawn_blocking(move || inner.unjudged_now(of, turn)).await;
        waits.over();
        verdict.unwrap_or_else(|panicked| self.internal(&request, &panicked.to_string()))
    }

    /// The step of a call that could not be judged: without one it is not sent in any mode.
    fn unjudged_now(self: &Arc<Self>, of: Unjudged, turn: Arc<Turn>) -> Verdict {
        let Unjudged { request, read, guard, check, why, text, said } = of;
        let Some(call) = read.call() else {
            return self.internal(&request, "a call without a name was read");
        };
        let (since, session) = (Instant::now(), Arc::clone(&self.session()));
        let none = Document::empty_object();
        let arguments = call.arguments.unwrap_or_else(|| none.root());
        let id = request.id().map(framegate_pump::Id::json);
        let decision = Decision::refused(call.name, id, arguments, check, &why);
        let decision = if guard.is_monitoring() { decision.observed() } else { decision };
        let basis = Basis::default();
        let heard = Heard { guard: &guard, session: &session, arguments: call.arguments, basis: &basis };
        let step = self.step_of(&request, &heard, &turn, decision, since);
        let stepped = self.ledger.step_apart(&self.key, step);
        self.when_committed(&request, stepped, turn, move |inner, request, receipt| {
            if guard.is_monitoring() {
                return inner.carry_out(Asked { request: request.clone(), read, guard, receipt, basis });
            }
            inner.log.decided(request.head().ticket, said);
            inner.refusal_of(request, &text, &receipt, None)
        })
    }

    /// No record, no call.
    pub(super) fn unrecorded(&self, request: &Request, why: &LedgerFailure) -> Verdict {
        self.log.decided(request.head().ticket, "refused (no record)".into());
        let text = format!(
            "The call was not made: {why}, and no call is made without a record. Tell the user; the program that writes the record is framegate (its --store)."
        );
        let machine = json!({
            "outcome": "deny", "failed": ["record"], "reasons": [why.to_string()], "executed": false,
        });
        answer(refusal_frame(request, &text, &machine))
    }

    /// Something in Framegate itself went wrong while a call was judged. Where nothing is refused it goes on, but
    /// not without its record.
    pub(super) fn broken(
        self: &Arc<Self>,
        request: &Request,
        read: &Arc<ClientFrame>,
        guard: Arc<Guard>,
        why: &str,
    ) -> Verdict {
        let incident = incident();
        self.log.say(Level::Error, &format!("incident {incident}: {why}"));
        let of = Unjudged {
            request: request.clone(),
            read: Arc::clone(read),
            guard,
            check: INTERNAL,
            why: format!("incident {incident}"),
            text: broken_text(&incident),
            said: format!("refused (incident {incident})"),
        };
        let taking = std::panic::AssertUnwindSafe(|| self.unjudged_now(of, Arc::default()));
        std::panic::catch_unwind(taking)
            .unwrap_or_else(|_| self.internal(request, "recording what went wrong panicked"))
    }

    /// Something in Framegate itself went wrong, so that not even a record can be made: nothing is sent in any
    /// mode. The client gets a name for it, the log the reason.
    pub(super) fn internal(&self, request: &Request, why: &str) -> Verdict {
        let incident = incident();
        self.log.say(Level::Error, &format!("incident {incident}: {why}"));
        self.log.decided(request.head().ticket, format!("refused (incident {incident})"));
        answer(request.refuse(&RpcError::new(RpcError::INTERNAL, broken_text(&incident))))
    }
}

/// A call that could not be judged.
struct Unjudged {
    request: Request,
    read: Arc<ClientFrame>,
    /// What it was to be judged by.
    guard: Arc<Guard>,
    /// The check that stands for it in the record.
    check: &'static str,
    why: String,
    /// What the client is told where it is refused.
    text: String,
    /// What the log says then.
    said: String,
}

fn broken_text(incident: &str) -> String {
    format!(
        "Framegate could not judge this (incident {incident}; its log says why). Nothing was sent to the server."
    )
}

/// A refusal for programs.
pub(super) fn machine(receipt: &Receipt, asked: Option<&str>, secrets: &[String]) -> serde_json::Value {
    let decision = &*receipt.decision;
    let said = |why: &str| clip_to(&redact::without(why, secrets), REASON_CHARS_MAX).into_owned();
    let mut machine = json!({
        "outcome": decision.outcome.to_string(),
        "tool": clip(&decision.tool),
        "failed": decision.failed().collect::<Vec<_>>(),
        "reasons": decision.reasons().map(said).collect::<Vec<_>>(),
        "approvalKey": decision.approval_key,
        "executed": false,
    });
    if let (Some(members), None) = (machine.as_object_mut(), decision.failed().next()) {
        // Nothing failed: what the call is held for could not be evaluated.
        members.insert("unevaluated".into(), decision.held_by().collect());
    }
    if let (Some(members), Some(asked)) = (machine.as_object_mut(), asked) {
        members.insert("asked".into(), asked.into());
    }
    if let (Some(members), Some(recorded)) = (machine.as_object_mut(), &receipt.recorded) {
        members.insert("record".into(), recorded.sequence.into());
        members.insert("hash".into(), recorded.hash.to_string().into());
    }
    machine
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
