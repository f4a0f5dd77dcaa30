//! What a call gets that is not sent: each refusal says why, and where it is recorded.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use framegate_guard::decision::Decision;
use framegate_guard::json::Document;
use framegate_guard::ledger::{LedgerFailure, Receipt, Stepped};
use framegate_guard::refusal::REASON_CHARS_MAX;
use framegate_guard::store::event::{self, EndRecord, Event};
use framegate_pump::{Frame, Request, RpcError, Verdict};
use serde_json::json;

use super::asking::{Asked, Basis};
use super::calls::{DECISION_WAIT, Heard, REFUSED};
use super::incident::incident;
use super::shared::Inner;
use crate::calls::Level;
use crate::clip::{clip, clip_to};
use crate::mcp;
use crate::redact;
use crate::wire::ClientFrame;

/// The check that there is a listing to judge a call by.
const LISTING: &str = "listing";

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
        let said = |why: &str| clip_to(&redact::without(why, &secrets), REASON_CHARS_MAX).into_owned();
        let mut machine = json!({
            "outcome": decision.outcome.to_string(),
            "tool": clip(&decision.tool),
            "failed": decision.failed().collect::<Vec<_>>(),
            "reasons": decision.reasons().map(said).collect::<Vec<_>>(),
            "approvalKey": decision.approval_key,
            "executed": false,
        });
        if let (Some(members), Some(asked)) = (machine.as_object_mut(), asked) {
            members.insert("asked".into(), asked.into());
        }
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

    pub(super) fn undecided(&self, request: &Request) -> Verdict {
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
    pub(super) async fn unlisted(
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
        let again = Arc::clone(&read);
        // Off the pump's thread: another decision may have the ledger.
        let stepping = tokio::task::spawn_blocking(move || inner.step_unjudged(&of, &read, LISTING, &why));
        match stepping.await {
            Err(panicked) => self.internal(request, &panicked.to_string()),
            Ok(stepped) => {
                self.when_committed(request, stepped, Arc::default(), move |inner, request, receipt| {
                    let guard = inner.guard();
                    if guard.is_monitoring() {
                        let (request, basis) = (request.clone(), Basis::default());
                        return inner.carry_out(Asked { request, read: again, guard, receipt, basis });
                    }
                    inner.log.decided(request.head().ticket, "denied (no listing)".into());
                    inner.refusal_of(request, &text, &receipt, None)
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
        let basis = Basis::default();
        let heard = Heard { guard: &guard, session: &session, arguments: call.arguments, basis: &basis };
        self.step(request, &heard, &AtomicBool::new(false), &mut |_| {
            let decision = Decision::refused(call.name, id, arguments, check, why);
            if guard.is_monitoring() { decision.observed() } else { decision }
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
