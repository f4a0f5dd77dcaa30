//! What is recorded of a form: what a person was asked for, and what they gave, credentials taken out.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use framegate_guard::Guard;
use framegate_guard::form::Form;
use framegate_guard::json::{Document, Kind, Limits, Value};
use framegate_guard::messages::Role;
use framegate_guard::session::OutputKind;
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
        let shown = shown(guard, tool, &answer.content)
            .0
            .and_then(|text| Document::read(text, &Limits::default()).ok());
        let form = Document::read(answer.form.text().to_owned().into(), &Limits::default()).ok();
        let (Some(shown), Some(form)) = (shown, form) else { return };
        let text = typed(&shown, &form, guard.tool_definition(tool).map(|definition| definition.root()));
        if text.is_empty() {
            return;
        }
        let mut session = self.session();
        self.to_hear(&mut session).filled_in(tool, text.clone());
        let (number, origin) = (session.heard(), Some((OutputKind::Form, tool.to_owned())));
        self.ledger.note(Event::Heard(HeardRecord {
            number,
            role: Some(Role::User),
            origin,
            text: text.into(),
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

/// Where a schema offers values.
const OFFERS: [&str; 4] = ["const", "default", "enum", "examples"];
/// Where it offers a choice.
const CHOICES: [&str; 4] = ["anyOf", "const", "enum", "oneOf"];
/// Characters of a word of a default that is too long to be typed by chance.
const WORD_CHARS_MIN: usize = 4;

/// What a person typed into a form, value by value. Whoever wrote the tool chose the names, the choices and the
/// defaults: to accept them says nothing of what the person knows.
fn typed(answer: &Document, form: &Document, definition: Option<Value<'_>>) -> String {
    let offered = definition.map(offered).unwrap_or_default();
    let fields = form.root().get("properties");
    let is_typed = |(name, value): &(&str, Value<'_>)| {
        let Some(field) = fields.and_then(|fields| fields.get(name)) else { return false };
        let is_plain = matches!(value.kind(), Kind::Number | Kind::String);
        let is_choice = CHOICES.iter().any(|choice| field.get(choice).is_some());
        let text = written(*value);
        is_plain && !is_choice && text != MARK && !offered.contains(text) && !keeps_of(field, text)
    };
    let typed = answer.root().members().filter(is_typed).map(|(_, value)| written(value));
    typed.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Whether a text has words of what stood in the field before anybody typed.
fn keeps_of(field: Value<'_>, text: &str) -> bool {
    let Some(default) = field.get("default") else { return false };
    let long = |word: &&str| word.chars().nth(WORD_CHARS_MIN - 1).is_some();
    written(default) == text
        || written(default).split_whitespace().filter(long).any(|word| text.contains(word))
}

fn written(value: Value<'_>) -> &str {
    value.as_str().unwrap_or(value.raw()).trim()
}

/// Every value that a definition offers.
fn offered(definition: Value<'_>) -> HashSet<&str> {
    let (mut offered, mut rest) = (HashSet::new(), vec![(definition, false)]);
    while let Some((value, is_offered)) = rest.pop() {
        match value.kind() {
            Kind::Object => rest
                .extend(value.members().map(|(name, member)| (member, is_offered || OFFERS.contains(&name)))),
            Kind::Array => rest.extend(value.items().map(|item| (item, is_offered))),
            _ if is_offered => drop(offered.insert(written(value))),
            _ => {}
        }
    }
    offered
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tool_names_offers_or_presets_is_not_what_a_person_typed() {
        let read = |text: &str| Document::read(text.to_owned().into(), &Limits::default()).unwrap();
        let heard = |field: &str, schema: &str, value: &str| {
            let form = read(&format!(r#"{{"properties":{{"DE89":{field}}}}}"#));
            let definition = read(&format!(r#"{{"inputSchema":{{"properties":{{"DE89":{schema}}}}}}}"#));
            typed(&read(&format!(r#"{{"DE89":{value}}}"#)), &form, Some(definition.root()))
        };
        let own = |field: &str, value: &str| heard(field, field, value);
        assert_eq!(own(r#"{"type":"string"}"#, r#""Ann\tLee ""#), "Ann\tLee");
        assert_eq!(own(r#"{"type":"integer"}"#, "17"), "17");
        assert_eq!(own(r#"{"type":"boolean"}"#, "true"), "");
        assert_eq!(own(r#"{"oneOf":[{"const":"X-1","title":"English"}]}"#, r#""X-1""#), "");
        assert_eq!(own(r#"{"type":"string","enum":["yes","no"]}"#, r#""yes""#), "");
        assert_eq!(own(r#"{"type":"array","items":{"enum":["yes"]}}"#, r#"["yes"]"#), "");
        let preset = r#"{"type":"string","default":"hello X-123"}"#;
        assert_eq!(own(preset, r#"" hello X-123""#), "");
        assert_eq!(own(preset, r#""dear X-123.""#), "", "edited a little");
        assert_eq!(own(preset, r#""Ann""#), "Ann");
        assert_eq!(own(r#"{"type":"integer","default":5}"#, "5"), "");
        // What the form does not say, and the tool does.
        let plain = r#"{"type":"string"}"#;
        assert_eq!(heard(plain, r#"{"examples":["X-1"]}"#, r#""X-1""#), "");
        assert_eq!(heard(plain, r#"{"allOf":[{"enum":["X-1"]}]}"#, r#""X-1""#), "");
        assert_eq!(heard(plain, r#"{"description":"X-1"}"#, r#""X-2""#), "X-2");
        // Not asked for.
        assert_eq!(typed(&read(r#"{"b":"x"}"#), &read(r#"{"properties":{"a":{}}}"#), None), "");
        assert_eq!(own(plain, &serde_json::Value::from(MARK).to_string()), "");
    }
}
