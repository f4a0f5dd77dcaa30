//! How calls end: what counts as made, and what the session keeps of it.

use std::sync::Arc;

use super::{Agent, RecordError, Stage};
use crate::decision::{Decision, Outcome};
use crate::form::typed;
use crate::guard::Call;
use crate::json::{Document, Limits, Value};
use crate::ledger::{Ended, Receipt, Said, Settled, Snapshot, Step};
use crate::messages::{self, Message, Role};
use crate::proposal::CallKey;
use crate::session::{Origin, OutputKind};

/// What a call gave: its output, or its error as text.
pub(super) struct Told<'a> {
    pub(super) is_error: bool,
    pub(super) text: &'a str,
}

impl Said for Told<'_> {
    fn is_error(&self) -> bool {
        self.is_error
    }

    fn text(&self) -> Arc<str> {
        self.text.into()
    }

    fn structured(&self) -> Option<Arc<Document>> {
        None
    }
}

fn ended<'a>(how: Settled, answer: Option<&'a Told<'a>>) -> Ended<'a> {
    Ended { how, answer: answer.map(|answer| answer as &dyn Said) }
}

impl Agent {
    /// Something was said.
    pub fn hear(&mut self, message: Message) {
        self.session.add(message);
    }

    /// The user said this.
    pub fn add_user(&mut self, text: &str) {
        self.session.push(Some(Role::User), text.to_owned());
    }

    /// A message in the shape of any model API ([`messages::read_one`]): what in it is whose is told apart, so a
    /// document that stands in a user's message is not the user's words.
    pub fn add_message(&mut self, message: Value<'_>) {
        messages::read_one(message).into_iter().for_each(|message| self.session.add(message));
    }

    /// The user answered a question that somebody else asked: `question` as MCP's `elicitation/create` has it (`message`,
    /// `requestedSchema`), `content` what was typed, by field. Where the policy says `context: { answers: true }`, a value
    /// typed there may be grounded by it, but none that stands in the question; without that it counts for nothing.
    pub fn add_answer(&mut self, question: Value<'_>, content: Value<'_>) {
        let form = question.get("requestedSchema");
        let text = form.map(|form| typed(content, form, Some(question), "")).unwrap_or_default();
        if !text.is_empty() {
            let asked = serde_json::Value::from(messages::result_text(None, Some(question)));
            self.session.answered("the user", text, asked.to_string().into());
        }
    }

    /// What came of a call, with the call's own arguments: what only comes back of them supports no value.
    pub(super) fn heard(&mut self, receipt: &Receipt, how: Settled, text: String) {
        let decision = &receipt.decision;
        let kind = if how == Settled::Failed { OutputKind::Error } else { OutputKind::Result };
        let origin = Origin::new(kind, &decision.tool).called_with(decision.arguments.clone());
        let origin = origin.read_only(self.guard.is_read_only(&decision.tool));
        self.session.output(origin, text);
    }

    /// What a call that was made elsewhere gave: its output, or its error as text. Once, and only for a call that
    /// was allowed. A call that failed may be made again.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn record(&mut self, receipt: &Receipt, output: Result<&str, &str>) -> Result<(), RecordError> {
        let how = if output.is_ok() { Settled::Done } else { Settled::Failed };
        let text = output.unwrap_or_else(|error| error);
        self.settled(receipt, how, Some(&Told { is_error: output.is_err(), text }))?;
        self.heard(receipt, how, text.to_owned());
        Ok(())
    }

    /// How a call that was made elsewhere ended, where there is nothing to keep of it.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn settle(&mut self, receipt: &Receipt, how: Settled) -> Result<(), RecordError> {
        self.settled(receipt, how, None)
    }

    fn settled(
        &mut self,
        receipt: &Receipt,
        how: Settled,
        answer: Option<&Told<'_>>,
    ) -> Result<(), RecordError> {
        if receipt.decision.outcome != Outcome::Allow {
            return Err(RecordError::NotAllowed(receipt.decision.outcome));
        }
        let is_checked =
            self.open.get(&receipt.sequence).is_some_and(|open| matches!(open.stage, Stage::Checked));
        if !is_checked {
            return self.end(receipt, how, answer);
        }
        self.take(receipt, |_| true).ok_or(RecordError::Ended)?;
        // It was made without a step of its own: it gets one now.
        let decision = &receipt.decision;
        let made = self.ledger.step(&self.key, &mut |past| Step {
            decision: self.made_now(decision, past),
            is_sent: true,
            record: None,
        })?;
        let made = made.wait()?;
        self.count(decision.call);
        self.ended(decision.call, how);
        self.ledger.settle(&self.key, made.sequence, &ended(how, answer))?;
        Ok(())
    }

    /// The same decision with what its call does to the state as it is by now: others may have changed that since it
    /// was decided, and what they did would be lost.
    fn made_now(&self, decision: &Arc<Decision>, past: &Snapshot<'_>) -> Arc<Decision> {
        let Decision { tool, call_id, arguments, .. } = &**decision;
        let again = || Document::read(arguments.clone(), &Limits::again()).ok();
        let read = decision.transition.as_ref().and_then(|_| again());
        let Some(read) = read else { return Arc::clone(decision) };
        let call = Call { tool, id: call_id.as_deref(), arguments: read.root() };
        let guard = self.guard.without_authorizer();
        let now = guard.decide(&call, &self.session, past, &decision.answers);
        let mut made = Decision::clone(decision);
        (made.transition, made.state) = (now.transition, now.state);
        Arc::new(made)
    }

    pub(super) fn end(
        &mut self,
        receipt: &Receipt,
        how: Settled,
        answer: Option<&Told<'_>>,
    ) -> Result<(), RecordError> {
        self.take(receipt, |stage| matches!(stage, Stage::Sent(_))).ok_or(RecordError::Ended)?;
        self.ended(receipt.decision.call, how);
        self.ledger.settle(&self.key, receipt.sequence, &ended(how, answer))?;
        Ok(())
    }

    fn ended(&mut self, call: CallKey, how: Settled) {
        if how != Settled::Failed {
            return;
        }
        let left = self.sent.get(&call).map_or(0, |count| count.saturating_sub(1));
        self.sent.insert(call, left);
        if left == 0 {
            self.sent.remove(&call);
            self.session.forget_made(&call);
        }
    }
}
