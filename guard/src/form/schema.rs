//! The form itself: the restricted schema of each revision of the protocol.

use super::answer::write;
use super::property::{Choice, Control, Property};
use super::why::{Unaskable, Why};
use crate::json::{Document, Limits};
use crate::policy::Ask;
use crate::refusal::{NAME_CHARS_MAX, plain};
use crate::schema::Schema;

/// Bytes of one form: a server may list choices of any length, and a person has to look at them.
pub const FORM_BYTES_MAX: usize = 64 * 1024;

/// Fields of one form.
pub const FIELDS_MAX: usize = 32;

/// A revision of the protocol that knows forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Revision {
    /// Texts, numbers, booleans, choices with `enumNames`; a default for booleans only.
    V2025_06_18,
    /// Titled choices, lists of choices, defaults everywhere.
    V2025_11_25,
    /// The same forms, carried by results.
    V2026_07_28,
}

impl Revision {
    /// By its name in the protocol; nothing for one that has no forms, or that is not known.
    #[must_use]
    pub fn of(name: &str) -> Option<Revision> {
        match name {
            "2025-06-18" => Some(Revision::V2025_06_18),
            "2025-11-25" => Some(Revision::V2025_11_25),
            "2026-07-28" => Some(Revision::V2026_07_28),
            _ => None,
        }
    }

    fn is_rich(self) -> bool {
        self > Revision::V2025_06_18
    }
}

/// A form for a person: `requestedSchema`, and what its answers are held to.
#[derive(Debug)]
pub struct Form {
    pub(super) names: Vec<String>,
    /// The form is a schema as well.
    pub(super) schema: Schema,
}

impl Form {
    /// A form that asks for these arguments, all of them required, in this order.
    ///
    /// # Errors
    /// Each argument that no form can ask for, and why.
    pub fn build(
        schema: &Schema,
        names: &[String],
        ask: &Ask,
        revision: Revision,
    ) -> Result<Form, Vec<Unaskable>> {
        if names.len() > FIELDS_MAX {
            return Err(names.iter().map(|name| unaskable(name, Why::TooManyFields(names.len()))).collect());
        }
        let (mut fields, mut wrong) = (Vec::new(), Vec::new());
        for name in names {
            let property = Property::read(schema.source().root(), name, ask.fields.get(name));
            match property.and_then(|property| field(&property, revision)) {
                Ok(field) => fields.push((quoted(name), field)),
                Err(why) => wrong.push(unaskable(name, why)),
            }
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let required: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        let required = format!("[{}]", required.join(","));
        let text =
            object(&[("type", quoted("object")), ("properties", members(&fields)), ("required", required)]);
        let all = |why: Why| names.iter().map(|name| unaskable(name, why.clone())).collect::<Vec<_>>();
        if text.len() > FORM_BYTES_MAX {
            return Err(all(Why::TooLarge(text.len())));
        }
        let document = Document::read(text.into(), &Limits::default()).map_err(|_| all(Why::Bounds))?;
        let schema = Schema::compile(document.root()).map_err(|_| all(Why::Bounds))?;
        Ok(Form { names: names.to_vec(), schema })
    }

    /// The `requestedSchema`, one line of JSON.
    #[must_use]
    pub fn text(&self) -> &str {
        self.schema.source().root().raw()
    }

    /// What it asks for, in order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

fn unaskable(name: &str, why: Why) -> Unaskable {
    Unaskable { name: plain::line(name, NAME_CHARS_MAX), why }
}

/// One field's schema.
fn field(property: &Property, revision: Revision) -> Result<String, Why> {
    if property.control == Control::Many && !revision.is_rich() {
        return Err(Why::ListTooEarly);
    }
    let kind = match property.control {
        Control::Boolean => "boolean",
        Control::Integer => "integer",
        Control::Many => "array",
        Control::Number => "number",
        Control::One | Control::Text => "string",
    };
    let mut keywords = vec![("type", quoted(kind))];
    keywords.extend(property.title.as_deref().map(|title| ("title", quoted(title))));
    keywords.extend(description(property, revision).map(|text| ("description", quoted(&text))));
    keywords.extend(property.bounds.iter().cloned());
    match property.control {
        Control::One => keywords.extend(choices(&property.choices, revision, "oneOf")),
        Control::Many => {
            let mut items = vec![];
            if !is_titled(&property.choices) {
                items.push(("type", quoted("string")));
            }
            items.extend(choices(&property.choices, revision, "anyOf"));
            keywords.push(("items", object(&items)));
        }
        _ => {}
    }
    if has_default(property, revision) {
        keywords.extend(property.default.clone().map(|default| ("default", default)));
    }
    Ok(object(&keywords))
}

fn has_default(property: &Property, revision: Revision) -> bool {
    revision.is_rich() || property.control == Control::Boolean
}

/// The description, and what the form cannot say otherwise.
fn description(property: &Property, revision: Revision) -> Option<String> {
    let mut notes = property.notes.clone();
    if !has_default(property, revision) {
        notes.extend(
            property.default.iter().map(|default| format!("by default `{}`", plain::line(default, 100))),
        );
    }
    let notes = (!notes.is_empty()).then(|| format!("({})", notes.join("; ")));
    let parts: Vec<String> = property.description.clone().into_iter().chain(notes).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn is_titled(choices: &[Choice]) -> bool {
    choices.iter().any(|choice| choice.title.is_some())
}

fn title(choice: &Choice) -> String {
    quoted(choice.title.as_deref().unwrap_or(&choice.value))
}

fn choices(choices: &[Choice], revision: Revision, titled: &'static str) -> Vec<(&'static str, String)> {
    let list = |one: &dyn Fn(&Choice) -> String| {
        let all: Vec<String> = choices.iter().map(one).collect();
        format!("[{}]", all.join(","))
    };
    let values = ("enum", list(&|choice| quoted(&choice.value)));
    match (is_titled(choices), revision.is_rich()) {
        (false, _) => vec![values],
        (true, false) => vec![values, ("enumNames", list(&title))],
        (true, true) => {
            let one = |choice: &Choice| object(&[("const", quoted(&choice.value)), ("title", title(choice))]);
            vec![(titled, list(&one))]
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn object(keywords: &[(&str, String)]) -> String {
    let quoted: Vec<(String, String)> =
        keywords.iter().map(|(keyword, value)| (quoted(keyword), value.clone())).collect();
    members(&quoted)
}

fn members(fields: &[(String, String)]) -> String {
    let mut text = String::from("{");
    for (position, (name, value)) in fields.iter().enumerate() {
        write(&mut text, position == 0, name, value);
    }
    text.push('}');
    text
}
