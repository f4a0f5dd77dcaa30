//! Forms in the stateless revision (2026-07-28): the form is a result, the client retries with the answer.
//!
//! The client sends the call without what the person gave in every later round too, for a yes and for the server's
//! own questions: it is put in again each time.

use std::sync::Arc;
use std::time::Instant;

use framegate_guard::Incomplete;
use framegate_guard::form::{Form, Outcome};
use framegate_guard::json::Value;
use framegate_guard::store::event::How;
use framegate_pump::{Request, Verdict};

use super::asking::{Asked, Basis};
use super::form::{Answered, Filling, question};
use super::form_frame::{as_sent, fill};
use super::form_record::About;
use super::reach::CLIENT_USER;
use super::retry::{Settling, ms};
use super::shared::Inner;
use crate::approve::{AskedForm, Claim, Filled, FormAnswer, Waiting};
use crate::mcp;
use crate::wire::ClientFrame;

impl Inner {
    /// Answers a call by a form.
    pub(super) fn form_by_result(&self, asked: Asked, form: Arc<Form>) -> Verdict {
        let question = question(&asked, &form);
        let Asked { request, read, guard, receipt, basis } = &asked;
        let Some(call) = read.call() else {
            return self.internal(request, "a call without a name was read");
        };
        let now = Instant::now();
        // A time that no clock has is over at once.
        let until = now.checked_add(self.asking.settings.state_timeout).unwrap_or(now);
        let mut nonce = [0; 16];
        if let Err(why) = crate::recorder::entropy(&mut nonce) {
            let outcome = Outcome::Limited(why.to_string());
            return self.incomplete(&asked, &Incomplete { outcome, names: form.names().to_vec() });
        }
        let claim = Claim::new(nonce, ms(until), &as_sent(&call), &receipt.decision.approval_key);
        let seal = &self.asking.seal;
        let state = seal.seal(&claim);
        let params = question.params(Some("form"));
        let (guard, again) = (Arc::clone(guard), basis.filling.asked + 1);
        let waiting = Waiting {
            receipt: receipt.clone(),
            guard: Arc::clone(&guard),
            since: now,
            until,
            asked: basis.asked,
            kept: basis.kept.clone(),
            form: Some(AskedForm { guard, form: Arc::clone(&form), question, asked: again }),
            fill: None,
        };
        if let Err(why) = self.asking.rounds().wait(nonce, waiting, now) {
            let why = Incomplete { outcome: Outcome::Limited(why), names: form.names().to_vec() };
            return self.incomplete(&asked, &why);
        }
        let frame = request.answer(&mcp::input_required_of(seal.key(), &params, &state));
        self.say_asked(request, &form, "asked for", "");
        self.answered_here(receipt.sequence, How::Asked, frame)
    }

    /// A retry that answers a form.
    pub(super) fn form_replied(
        self: &Arc<Self>,
        (request, read): (&Request, &Arc<ClientFrame>),
        waiting: &Waiting,
        asked: &AskedForm,
        reply: Option<Value<'_>>,
        basis: Basis,
    ) -> Settling {
        let AskedForm { guard, form, question, .. } = asked;
        let step = waiting.receipt.sequence;
        let about = About::new(step, ("client", CLIENT_USER), form, question).since(waiting.since);
        let basis = Basis { again: Some(step), asked: waiting.asked, ..basis };
        match reply.map(Filled::of_result) {
            None => {
                self.note_form(&about, ("unavailable", "the retry brings no answer to the question"), None);
                let filling = Filling { asked: asked.asked, ..Filling::default() };
                Basis { filling, ..basis }.into()
            }
            Some(Filled::Content(content)) => {
                let filling = Filling { asked: asked.asked - 1, ..Filling::default() };
                let (request, read) = (request.clone(), Arc::clone(read));
                let (guard, form, basis) = (Arc::clone(guard), Arc::clone(form), Basis { filling, ..basis });
                let of = Answered { request, read, guard, form, content, basis, about };
                Settling::Settled(self.form_answered(of))
            }
            Some(other) => {
                self.note_form(&about, (other.name(), other.note()), None);
                self.note_retry(request);
                let why = Incomplete { outcome: other.outcome(), names: form.names().to_vec() };
                let has_output = guard.has_output_schema(&waiting.receipt.decision.tool);
                Settling::Settled(self.incomplete_of(request, &waiting.receipt, &why, has_output))
            }
        }
    }

    /// A later round of a completed call: what the person gave is put in again.
    pub(super) fn refilled(
        self: &Arc<Self>,
        (request, read): (&Request, &Arc<ClientFrame>),
        answer: Option<Arc<FormAnswer>>,
        settling: Settling,
    ) -> Settling {
        let (Some(answer), Settling::Judge(basis)) = (answer, &settling) else { return settling };
        let (inner, of, read, basis) =
            (Arc::clone(self), request.clone(), Arc::clone(read), Arc::clone(basis));
        let work = move || match fill(&of, &read, &answer, &basis.cuts, &inner.limits()) {
            Ok((fill, filled)) => {
                let filling = Filling { fill: Some(fill), ..Filling::default() };
                let basis = Basis { filling, ..Basis::clone(&basis) };
                inner.judge(&of, &Arc::new(filled), &Arc::new(basis))
            }
            // What it is now it was not when it was answered: it lacks what it lacked, and is judged so.
            Err(_) => inner.judge(&of, &read, &basis),
        };
        Settling::Settled(self.where_there_is_room(request, work))
    }
}
