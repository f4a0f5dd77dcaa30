//! A call that lacks required arguments, and nothing else stands against it: a person is asked for them, and what
//! they give is put into the call, which is then decided anew.
//!
//! ```text
//! lacks ─┬ credentials, `missing: refuse`, no form, nobody to ask, too many questions ─► refused, with the reason
//!        ├ Asker: Person hold ─┬ an answer that fits ─► put in ─► decided anew (it may need a yes then)
//!        │                     ├ one that does not ───► asked once more, with the reason; then refused
//!        │                     ├ no, dismissed, late ─► refused
//!        │                     └ cancelled, client gone ─► withdrawn, nothing is sent
//!        └ client of 2026-07-28: an `input_required` result ─► its retry ([`super::form_rounds`])
//! ```

use std::sync::Arc;
use std::time::Instant;

use framegate_guard::form::{Form, Outcome, Rejected};
use framegate_guard::json::Document;
use framegate_guard::{Guard, Incomplete};
use framegate_pump::{Hold, HoldKind, Request, Verdict};

use super::asking::{Asked, Basis, unpanicked};
use super::calls::ON_THREAD_BYTES_MAX;
use super::form_frame::{Fill, fill};
use super::form_record::{About, OpenForm};
use super::reach::{Reach, Way};
use super::shared::Inner;
use crate::approve::{Carrier, Filled, FormAnswer, FormQuestion};
use crate::wire::ClientFrame;

/// How often a person is asked for what one call lacks: once more where the answer did not fit.
const FORMS_OF_ONE_CALL_MAX: u32 = 2;

/// What a call lacked, as far as a person was asked for it.
#[derive(Debug, Clone, Default)]
pub(super) struct Filling {
    /// What they gave: the call is judged with it.
    pub(super) fill: Option<Arc<Fill>>,
    /// How often they were asked.
    pub(super) asked: u32,
    /// Why the last answer was none.
    pub(super) rejected: Option<Arc<Rejected>>,
    /// All that is asked for one held call is to be answered by then.
    pub(super) until: Option<Instant>,
}

/// An accepted answer to a form.
pub(super) struct Answered {
    pub(super) request: Request,
    pub(super) read: Arc<ClientFrame>,
    pub(super) guard: Arc<Guard>,
    pub(super) form: Arc<Form>,
    pub(super) content: Document,
    /// With the call's own step as the one that is done again.
    pub(super) basis: Basis,
    pub(super) about: About,
}

impl Inner {
    /// The verdict on a call that a person can complete.
    pub(super) fn ask_for_missing(self: &Arc<Self>, asked: Asked) -> Verdict {
        let way = self.way_to_fill(&asked);
        let revision = way.as_ref().ok().map(|way| self.revision(way));
        let form = match asked.guard.form(&asked.receipt.decision, revision) {
            Ok(form) => Arc::new(form),
            Err(why) => return self.incomplete(&asked, &self.as_chosen(why)),
        };
        let all = |outcome| Incomplete { outcome, names: form.names().to_vec() };
        let filling = &asked.basis.filling;
        if filling.fill.is_some() || filling.asked >= FORMS_OF_ONE_CALL_MAX {
            let outcome = match &filling.rejected {
                Some(rejected) => Outcome::StillMissing(rejected.reasons()),
                None if filling.fill.is_some() => Outcome::StillMissing(Vec::new()),
                None => Outcome::Failed,
            };
            return self.incomplete(&asked, &all(outcome));
        }
        if let Err(why) = self.take_question(&asked.guard) {
            return self.incomplete(&asked, &all(Outcome::Limited(why)));
        }
        match way {
            Ok(Way::Asker(reach)) => self.fill_and_hold(asked, form, reach),
            Ok(Way::Result) => self.form_by_result(asked, form),
            Err(_) => self.incomplete(&asked, &all(Outcome::Unsupported)),
        }
    }

    /// Where `--ask` names nobody with forms it is not the client that cannot show any.
    fn as_chosen(&self, why: Incomplete) -> Incomplete {
        let mut order = self.asking.settings.order.iter();
        let has_forms = order.any(|carrier| !matches!(carrier, Carrier::Terminal(_)));
        match why.outcome {
            Outcome::Unsupported if !has_forms => Incomplete { outcome: Outcome::Disabled, ..why },
            _ => why,
        }
    }

    fn fill_and_hold(self: &Arc<Self>, asked: Asked, form: Arc<Form>, reach: Reach) -> Verdict {
        let Reach { asker, how, limit } = reach;
        let question = question(&asked, &form);
        self.say_asked(&asked.request, &form, "asked for", ", not answered");
        let about = About::new(asked.receipt.sequence, (how, asker.who()), &form, &question).held();
        let inner = Arc::clone(self);
        let mut open = OpenForm::new(Arc::clone(self), about.clone());
        let now = Instant::now();
        let limit = now.checked_add(limit).unwrap_or(now);
        let until = asked.basis.filling.until.unwrap_or(limit);
        Hold::verdict(HoldKind::Person, async move {
            let left = until.saturating_duration_since(Instant::now());
            let asking = unpanicked(asker.fill(question), Filled::Failed);
            let progress = Arc::clone(&inner).progress(Arc::clone(&asked.read));
            let filled = tokio::select! {
                biased;
                filled = tokio::time::timeout(left, asking) => filled.unwrap_or(Filled::TimedOut),
                () = progress => Filled::TimedOut,
            };
            open.over(&filled);
            match filled {
                Filled::Content(content) => {
                    let Asked { request, read, guard, receipt, basis } = asked;
                    let filling = Filling { until: Some(until), ..basis.filling };
                    let basis = Basis { again: Some(receipt.sequence), bad: None, filling, ..basis };
                    let of = Answered { request, read, guard, form, content, basis, about };
                    inner.form_answered(of)
                }
                other => {
                    let names = form.names().to_vec();
                    inner.incomplete(&asked, &Incomplete { outcome: other.outcome(), names })
                }
            }
        })
    }

    /// Goes on with an answer: the call is decided anew with it, or asked about once more.
    pub(super) fn form_answered(self: &Arc<Self>, of: Answered) -> Verdict {
        let inner = Arc::clone(self);
        let request = of.request.clone();
        self.where_there_is_room(&request, move || inner.form_answered_now(of))
    }

    fn form_answered_now(self: &Arc<Self>, of: Answered) -> Verdict {
        let Answered { request, read, guard, form, content, basis, about } = of;
        let tool = read.call().map(|call| call.name.to_owned()).unwrap_or_default();
        let answer = Arc::new(FormAnswer { guard: Arc::clone(&guard), form, content });
        let filled = fill(&request, &read, &answer, &basis.cuts, &self.limits());
        let asked = basis.filling.asked + 1;
        let (outcome, note, read, filling) = match filled {
            Ok((fill, filled)) => {
                self.heard_form(&guard, &tool, &answer);
                let filling = Filling { fill: Some(fill), asked, ..Filling::default() };
                ("filled in", String::new(), Arc::new(filled), filling)
            }
            Err(why) => {
                let rejected = Arc::new(why);
                let note = rejected.reasons().join("; ");
                let filling = Filling { asked, rejected: Some(rejected), ..basis.filling };
                ("did not fit", note, read, filling)
            }
        };
        self.note_form(&about, (outcome, &note), Some((&guard, &tool, &answer.content)));
        self.form_over(&about);
        let said = filling.fill.is_some().then_some("asked, completed");
        let basis = Basis { said, filling, ..basis };
        self.judge(&request, &read, &Arc::new(basis))
    }

    /// A large call is not read and merged on the pump's thread.
    pub(super) fn where_there_is_room(
        self: &Arc<Self>,
        request: &Request,
        work: impl FnOnce() -> Verdict + Send + 'static,
    ) -> Verdict {
        if request.frame().len() <= ON_THREAD_BYTES_MAX {
            return work();
        }
        let (inner, request) = (Arc::clone(self), request.clone());
        Hold::verdict(HoldKind::Machine, async move {
            let worked = tokio::task::spawn_blocking(work).await;
            worked.unwrap_or_else(|panicked| inner.internal(&request, &panicked.to_string()))
        })
    }

    pub(super) fn say_asked(&self, request: &Request, form: &Form, before: &str, behind: &str) {
        let names = crate::clip::clip(&form.names().join(", ")).into_owned();
        self.log.decided(request.head().ticket, format!("{before} {names}{behind}"));
    }
}

/// What the person is shown.
pub(super) fn question(asked: &Asked, form: &Form) -> FormQuestion {
    let tool = &asked.receipt.decision.tool;
    let rejected = asked.basis.filling.rejected.as_deref();
    FormQuestion::new(&asked.guard, tool, asked.guard.form_question(tool, rejected), form)
}
