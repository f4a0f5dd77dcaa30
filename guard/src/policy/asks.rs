//! `missing`, `ask` and `secrets`: what a call lacks, and how a person is asked for it.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::merge::{Set, Setting};
use super::options::{AskField, Missing};
use super::raw::ENTRIES_MAX;
use super::read::{At, Fields, Keys, Reader, quoted};
use super::tree::{Key, Node, Value, number};
use crate::decimal::Decimal;
use crate::form::{CHOICES_MAX, FIELDS_MAX, MARKER_CHARS_MAX, Secrets};
use crate::json::{Document, Limits};
use crate::schema::Schema;

/// Options of a tool that are read here.
pub(crate) const OPTIONS: [&str; 2] = ["missing", "ask"];

const ASK: Keys = Keys::known("`ask`", &["message", "required", "empty", "fields"]);
const SECRETS: Keys = Keys::known("`secrets`", &["ask", "names", "texts"]);
const FIELD: Keys = Keys::known(
    "a field of a form",
    &[
        "type",
        "title",
        "description",
        "enum",
        "default",
        "format",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
    ],
);

/// Names or phrases in one list of `secrets`.
pub(crate) const MARKERS_MAX: usize = 200;

const MISSING: &[(&str, Missing)] =
    &[("ask", Missing::Ask), ("refuse", Missing::Refuse), ("pass", Missing::Pass)];
const TYPES: &[(&str, &str)] =
    &[("string", "string"), ("integer", "integer"), ("number", "number"), ("boolean", "boolean")];
const FORMATS: &[(&str, &str)] =
    &[("email", "email"), ("uri", "uri"), ("date", "date"), ("date-time", "date-time")];

/// Keywords that only one type of field has.
const OF_TEXT: &[&str] = &["format", "minLength", "maxLength"];
const OF_NUMBERS: &[&str] = &["minimum", "maximum"];

impl Reader<'_> {
    /// The settings that `missing` and `ask` are; each key of `ask` is merged by itself, as every option is.
    pub(crate) fn asking(&mut self, fields: &Fields<'_>) -> Vec<Setting> {
        let mut settings = Vec::new();
        if let Some(node) = fields.get("missing")
            && let Some(missing) = self.choice(node, MISSING)
        {
            settings.push(Setting { key: "missing", value: Set::Missing(missing.value), span: missing.span });
        }
        let Some(ask) = fields.get("ask").and_then(|node| self.fields(node, &ASK)) else { return settings };
        for (name, key) in [
            ("message", "ask.message"),
            ("required", "ask.required"),
            ("empty", "ask.empty"),
            ("fields", "ask.fields"),
        ] {
            let Some(node) = ask.get(name) else { continue };
            let value = match name {
                "message" => self.words(node, "a question for people").map(|at| Set::AskMessage(at.value)),
                "required" => self.required_names(node).map(Set::AskRequired),
                "empty" => {
                    let is_missing = self.choice(node, &[("value", false), ("missing", true)]);
                    is_missing.map(|at| Set::AskEmpty(at.value))
                }
                _ => Some(Set::AskFields(self.form_fields(node))),
            };
            settings.extend(value.map(|value| Setting { key, value, span: node.span.clone() }));
        }
        settings
    }

    fn required_names(&mut self, node: &Node) -> Option<Vec<String>> {
        let mut names: Vec<String> = Vec::new();
        for item in self.list(node, "a list of arguments")? {
            let Some(name) = self.text(item, "the name of an argument") else { continue };
            if names.contains(&name.value) {
                self.error(&name.span, format!("`{}` stands twice in `required`", name.value));
                continue;
            }
            names.push(name.value);
        }
        if names.len() > FIELDS_MAX {
            let at = node.span.start..node.span.start;
            self.error(&at, format!("more than {FIELDS_MAX} arguments: a form cannot ask for them all"));
        }
        Some(names)
    }

    fn form_fields(&mut self, node: &Node) -> BTreeMap<String, AskField> {
        let members = self.mapping(node, "a mapping of arguments").unwrap_or_default();
        if members.len() > ENTRIES_MAX {
            let at = node.span.start..node.span.start;
            self.error(&at, format!("more than {ENTRIES_MAX} entries under `fields`"));
        }
        let one = |(key, node): &(Key, Rc<Node>)| Some((key.text.clone(), self.form_field(node)?));
        members.iter().take(ENTRIES_MAX).filter_map(one).collect()
    }

    fn form_field(&mut self, node: &Node) -> Option<AskField> {
        let fields = self.fields(node, &FIELD)?;
        let kind = fields.get("type").map(|node| self.choice(node, TYPES));
        let kind = kind.map_or(Some(None), |given| given.map(|at| Some(at.value)))?;
        let mut keywords: Vec<(&str, String)> = kind.map(|kind| ("type", quoted(kind))).into_iter().collect();
        for name in ["title", "description"] {
            let text = fields.get(name).and_then(|node| self.words(node, "text for people"));
            keywords.extend(text.map(|text| (name, quoted(&text.value))));
        }
        let format = fields.get("format").and_then(|node| self.choice(node, FORMATS));
        keywords.extend(format.map(|format| ("format", quoted(format.value))));
        for name in ["minLength", "maxLength", "minimum", "maximum"] {
            let bound = fields.get(name).and_then(|node| self.bound(node));
            keywords.extend(bound.map(|bound| (name, bound)));
        }
        keywords.extend(fields.get("enum").and_then(|node| self.form_choices(node)));
        let choices = fields.get("enum").map(|_| "string");
        self.are_of_type(&fields, kind.or(choices))?;
        self.are_in_order(&fields, &keywords)?;
        let schema = self.field_schema(node, &keywords)?;
        if let Some(default) = fields.get("default") {
            let json = self.json(default)?;
            self.fits(&schema, &json, default)?;
            keywords.push(("default", json));
        }
        self.keywords(node, &keywords).map(|document| AskField(Arc::new(document)))
    }

    fn bound(&mut self, node: &Node) -> Option<String> {
        let json = self.json(node)?;
        if !number(&json) {
            self.expected("a number", node);
            return None;
        }
        Some(json)
    }

    /// A list of texts, or a mapping from texts to their titles.
    fn form_choices(&mut self, node: &Node) -> Option<(&'static str, String)> {
        let (keyword, all) = match &node.value {
            Value::Map(members) => ("oneOf", self.titled_choices(members)),
            _ => ("enum", self.plain_choices(node)?),
        };
        if all.is_empty() || all.len() > CHOICES_MAX {
            let at = node.span.start..node.span.start;
            self.error(&at, format!("expected 1 to {CHOICES_MAX} choices, found {}", all.len()));
            return None;
        }
        Some((keyword, format!("[{}]", all.join(","))))
    }

    fn plain_choices(&mut self, node: &Node) -> Option<Vec<String>> {
        let mut all: Vec<String> = Vec::new();
        for item in self.list(node, "a list of texts, or a mapping from texts to their titles")? {
            let Some(value) = self.json(item) else { continue };
            if !value.starts_with('"') {
                let hint = "put it in quotes";
                self.error_hint(&item.span, format!("a choice must be text, this is {}", item.what()), hint);
            } else if all.contains(&value) {
                self.error(&item.span, "a choice that stands twice");
            } else {
                all.push(value);
            }
        }
        Some(all)
    }

    fn titled_choices(&mut self, members: &[(Key, Rc<Node>)]) -> Vec<String> {
        let one = |(key, node): &(Key, Rc<Node>)| {
            let title = self.words(node, "a title for people")?;
            Some(format!(r#"{{"const":{},"title":{}}}"#, quoted(&key.text), quoted(&title.value)))
        };
        members.iter().filter_map(one).collect()
    }

    /// A bound of another type would bind nothing.
    fn are_of_type(&mut self, fields: &Fields<'_>, kind: Option<&str>) -> Option<()> {
        let Some(kind) = kind else { return Some(()) };
        let foreign: &[&[&str]] = match kind {
            "string" => &[OF_NUMBERS],
            "boolean" => &[OF_TEXT, OF_NUMBERS, &["enum"]],
            _ => &[OF_TEXT, &["enum"]],
        };
        let mut found = Some(());
        for name in foreign.iter().copied().flatten() {
            let Some((key, _)) = fields.member(name) else { continue };
            self.error(&key.span, format!("a field of type `{kind}` has no `{name}`"));
            found = None;
        }
        found
    }

    /// Nobody could ever answer.
    fn are_in_order(&mut self, fields: &Fields<'_>, keywords: &[(&str, String)]) -> Option<()> {
        let mut found = Some(());
        for (least, most) in [("minLength", "maxLength"), ("minimum", "maximum")] {
            let number =
                |name: &str| Decimal::parse(&keywords.iter().find(|(keyword, _)| *keyword == name)?.1);
            if let (Some(low), Some(high)) = (number(least), number(most))
                && low > high
            {
                let at = fields.get(least).map(|node| node.span.clone()).unwrap_or_default();
                self.error(&at, format!("`{least}` is more than `{most}`"));
                found = None;
            }
        }
        found
    }

    /// The keywords as a schema, for checking: a bound that is no number is none.
    fn field_schema(&mut self, node: &Node, keywords: &[(&str, String)]) -> Option<Schema> {
        let document = self.keywords(node, keywords)?;
        Schema::compile(document.root())
            .map_err(|error| self.error(&(node.span.start..node.span.start), error.to_string()))
            .ok()
    }

    fn keywords(&mut self, node: &Node, keywords: &[(&str, String)]) -> Option<Document> {
        let members: Vec<String> =
            keywords.iter().map(|(name, value)| format!("{}:{value}", quoted(name))).collect();
        let text = format!("{{{}}}", members.join(","));
        Document::read(text.into(), &Limits::default())
            .map_err(|fault| self.error(&node.span, format!("this field cannot be used: {}", fault.kind)))
            .ok()
    }

    fn fits(&mut self, schema: &Schema, json: &str, node: &Node) -> Option<()> {
        let document = Document::read(json.to_owned().into(), &Limits::default());
        let wrong = match document {
            Ok(document) => schema.check(document.root()).first().map(|wrong| wrong.message.clone()),
            Err(fault) => Some(fault.kind.to_string()),
        };
        let Some(wrong) = wrong else { return Some(()) };
        self.error(&node.span, format!("the default does not fit the field: {wrong}"));
        None
    }

    /// `secrets:`, and where `ask: true` stands.
    pub(crate) fn secrets(
        &mut self,
        fields: &Fields<'_>,
    ) -> Option<(Secrets, Option<std::ops::Range<usize>>)> {
        let fields = fields.get("secrets").and_then(|node| self.fields(node, &SECRETS))?;
        let ask = fields.get("ask").and_then(|node| self.boolean(node)).filter(|ask| ask.value);
        let mut markers = |name: &str| fields.get(name).and_then(|node| self.markers(node));
        let (names, texts) = (markers("names"), markers("texts"));
        let secrets = Secrets::new(ask.is_some(), names.as_deref(), texts.as_deref());
        Some((secrets, ask.map(|At { span, .. }| span)))
    }

    fn markers(&mut self, node: &Node) -> Option<Vec<String>> {
        let items = self.list(node, "a list of words or phrases")?;
        if items.is_empty() {
            let hint = "leave it out for the built-in one; `ask: true` asks for credentials too";
            self.error_hint(&node.span, "an empty list would tell nothing apart", hint);
            return None;
        }
        if items.len() > MARKERS_MAX {
            let at = node.span.start..node.span.start;
            self.error(&at, format!("more than {MARKERS_MAX} words or phrases"));
            return None;
        }
        let mut all = Vec::new();
        for item in items {
            let Some(text) = self.words(item, "a word or phrase") else { continue };
            if text.value.chars().count() > MARKER_CHARS_MAX {
                self.error(
                    &text.span,
                    format!("a word or phrase of more than {MARKER_CHARS_MAX} characters"),
                );
            } else if !text.value.chars().any(char::is_alphanumeric) {
                self.error(&text.span, format!("`{}` has no letter and no digit", text.value));
            } else {
                all.push(text.value);
            }
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests;
