//! What is recorded of a form: what a person was asked for, and what they gave, credentials taken out.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use framegate_guard::Guard;
use framegate_guard::form::{Form, typed};
use framegate_guard::json::{Document, Limits};
use framegate_guard::messages::Role;
use framegate_guard::session::{Origin, OutputKind};
use framegate_guard::store::event::{ApprovalRecord, Event, FormRecord, HeardRecord, How};

use super::ends::micros;
use super::shared::Inner;
use crate::approve::{Filled, FormAnswer, FormQuestion};
use crate::redact::MARK;

/// A form, for the record.
#[derive(Debug, Clone)]
pub(super) struct About {
    step: u64,
    how: &'static str,
    by: String,
    since: Instant,
    names: Vec<String>,
    question: Bytes,
    /// Its call waits: when it is answered, nothing more is to come of it.
    is_held: bool,
}

impl About {
    pub(super) fn new(
        step: u64,
        (how, by): (&'static str, &str),
        form: &Form,
        question: &FormQuestion,
    ) -> About {
        About {
            step,
            how,
            by: by.to_owned(),
            since: Instant::now(),
            names: form.names().to_vec(),
            question: question.params(None).into(),
            is_held: false,
        }
    }

    pub(super) fn held(mut self) -> About {
        self.is_held = true;
        self
    }

    /// Asked then, not now.
    pub(super) fn since(mut self, since: Instant) -> About {
        self.since = since;
        self
    }
}

impl Inner {
    /// What came of a form. `given`: of which tool under which policy what was given.
    pub(super) fn note_form(
        &self,
        about: &About,
        (outcome, note): (&'static str, &str),
        given: Option<(&Guard, &str, &Document)>,
    ) {
        let (answer, secrets) = match given {
            Some((guard, tool, content)) => shown(guard, tool, content),
            None => (None, Vec::new()),
        };
        let About { step, how, by, since, names, question, .. } = about.clone();
        self.ledger.note(Event::Approval(ApprovalRecord {
            step,
            how,
            by,
            outcome,
            after_ms: micros(since) / 1000,
            // A reason may quote what did not fit.
            note: crate::redact::without(note, &secrets),
            form: Some(FormRecord { names, question, answer }),
        }));
    }

    /// What a person typed may ground a value from here on: the values alone, since names are the tool's words, and
    /// of them none that the tool itself offers. What looks like a credential is not kept.
    pub(super) fn heard_form(&self, guard: &Guard, tool: &str, answer: &FormAnswer) {
        if !guard.reads_conversation() {
            return;
        }
        let shown = without_credentials(guard, tool, &answer.content);
        let form = Document::read(answer.form.text().to_owned().into(), &Limits::default()).ok();
        let (Some(shown), Some(form)) = (shown, form) else { return };
        let definition = guard.tool_definition(tool);
        let text =
            typed(shown.root(), form.root(), definition.as_ref().map(|definition| definition.root()), MARK);
        if !text.is_empty() {
            self.hear_of_user(Origin::new(OutputKind::Form, tool), text);
        }
    }

    /// What the user wrote outside of the conversation, for the session and the record.
    pub(super) fn hear_of_user(&self, origin: Origin, text: String) {
        let Origin { kind, name, arguments: question, .. } = origin;
        let mut session = self.session();
        let kept = self.to_hear(&mut session);
        match &question {
            Some(question) => kept.answered(&name, text.clone(), question.clone()),
            None => kept.filled_in(&name, text.clone()),
        }
        self.ledger.note(Event::Heard(HeardRecord {
            number: session.heard(),
            role: Some(Role::User),
            origin: Some((kind, name.to_string())),
            text: text.into(),
            question,
        }));
    }

    /// An answer is in the record; the call goes on as another one.
    pub(super) fn form_over(&self, about: &About) {
        // In the stateless revision it ended with the question.
        if about.is_held {
            self.note_unanswered(about.step, How::Asked, about.since);
        }
    }
}

/// An answer without its credentials, to be read.
pub(super) fn without_credentials(guard: &Guard, tool: &str, content: &Document) -> Option<Document> {
    Document::read(shown(guard, tool, content).0?, &Limits::default()).ok()
}

/// An answer without its credentials, and what was taken out.
fn shown(guard: &Guard, tool: &str, content: &Document) -> (Option<Bytes>, Vec<String>) {
    let names: Vec<&str> = content.root().members().map(|(name, _)| name).collect();
    let secret = guard.credentials(tool, names);
    let (mut out, mut at, mut secrets) = (Vec::new(), 0, Vec::new());
    let source = content.source();
    for (name, value) in content.root().members() {
        if secret.contains(&name) {
            let Range { start, end } = value.span();
            out.extend_from_slice(source.get(at..start).unwrap_or_default());
            out.extend_from_slice(serde_json::Value::from(MARK).to_string().as_bytes());
            at = end;
            secrets.push(value.as_str().unwrap_or(value.raw()).to_owned());
        }
    }
    out.extend_from_slice(source.get(at..).unwrap_or_default());
    (Some(out.into()), secrets)
}

/// A form that is open. Dropped before there is an answer, it was withdrawn.
pub(super) struct OpenForm(Option<(Arc<Inner>, About)>);

impl OpenForm {
    pub(super) fn new(inner: Arc<Inner>, about: About) -> OpenForm {
        OpenForm(Some((inner, about)))
    }

    /// An answer came, or none came in time.
    pub(super) fn over(&mut self, filled: &Filled) {
        let Some((inner, about)) = self.0.take() else { return };
        // Whoever puts an answer in says how it fits.
        if !matches!(filled, Filled::Content(_)) {
            inner.note_form(&about, (filled.name(), filled.note()), None);
        }
    }
}

impl Drop for OpenForm {
    fn drop(&mut self) {
        if let Some((inner, about)) = self.0.take() {
            inner.note_form(&about, ("withdrawn", "the call was cancelled, or the client left"), None);
            inner.note_unanswered(about.step, How::Cancelled, about.since);
        }
    }
}
