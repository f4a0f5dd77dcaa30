//! What a call gets that lacks arguments and was not completed: JSON, for the model and for programs alike.

use framegate_guard::Incomplete;
use framegate_guard::form::Outcome;
use framegate_guard::ledger::Receipt;
use framegate_guard::store::event;
use framegate_pump::{Frame, Request, RpcError, Verdict};

use super::asking::Asked;
use super::calls::REFUSED;
use super::refusals::machine;
use super::shared::Inner;
use crate::mcp;
use crate::redact;

impl Inner {
    /// A call stays incomplete.
    pub(super) fn incomplete(&self, asked: &Asked, why: &Incomplete) -> Verdict {
        let has_output = asked.guard.has_output_schema(&asked.receipt.decision.tool);
        self.incomplete_of(&asked.request, &asked.receipt, why, has_output)
    }

    pub(super) fn incomplete_of(
        &self,
        request: &Request,
        receipt: &Receipt,
        why: &Incomplete,
        has_output: bool,
    ) -> Verdict {
        let Incomplete { outcome, names } = why;
        let said = crate::clip::clip(&names.join(", ")).into_owned();
        self.log.decided(request.head().ticket, format!("refused (lacks {said}: {})", word(outcome)));
        let decision = &*receipt.decision;
        // What did not fit is quoted: it may be what the call holds beside, or what a person typed.
        let secrets = redact::secrets(&decision.arguments);
        let text = redact::without(&outcome.json(&decision.tool, names), &secrets);
        let machine = machine(receipt, Some(word(outcome)), &secrets);
        let frame = frame(request, &text, &machine, has_output);
        self.answered_here(receipt.sequence, event::How::Refused, frame)
    }
}

/// What came of asking, as a refusal of another kind says it too.
fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Cancelled => "dismissed",
        Outcome::Declined => "declined",
        Outcome::Disabled => "nobody was asked",
        Outcome::Failed => "unavailable",
        Outcome::Limited(_) => "not now",
        Outcome::Sensitive => "credentials",
        Outcome::StillMissing(_) => "did not fit",
        Outcome::TimedOut => "timed out",
        Outcome::Unaskable(_) => "no form",
        Outcome::Unsupported => "nobody",
    }
}

/// `has_output`: clients hold `structuredContent` against the tool's `outputSchema`, which is not ours to meet.
fn frame(request: &Request, text: &str, machine: &serde_json::Value, has_output: bool) -> Option<Frame> {
    if request.param("task").is_some() {
        // A tool result is no CreateTaskResult: the caller would see an internal error (2025-11-25).
        let error = RpcError { data: Some(text.to_owned()), ..RpcError::new(REFUSED, text) };
        return request.refuse(&error);
    }
    request.answer(&mcp::incomplete_result(text, machine, has_output))
}
