//! What a form can say of one argument, read off its own schema and what the policy says of it.

use super::why::{CHOICES_MAX, Why};
use crate::json::{Kind, Value};
use crate::policy::AskField;
use crate::refusal::plain;
use crate::schema::{Follow, in_place, is_integer, member};

/// Alternatives within alternatives that are looked into.
const DEPTH_MAX: usize = 8;

/// Characters of a title, the server's or the policy's: both are shown to a person as the server's words.
const TITLE_CHARS_MAX: usize = 200;
/// Characters of a description.
const DESCRIPTION_CHARS_MAX: usize = 1000;
/// Characters of a note on what the form cannot check.
const NOTE_CHARS_MAX: usize = 200;

/// What kind of field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    Boolean,
    Integer,
    /// Any number of the choices.
    Many,
    Number,
    /// One of the choices.
    One,
    Text,
}

/// One value to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) value: String,
    pub(super) title: Option<String>,
}

/// One field, whatever the revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Property {
    pub(super) control: Control,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) choices: Vec<Choice>,
    /// Format and bounds that every revision knows for the control: keyword and value as JSON.
    pub(super) bounds: Vec<(&'static str, String)>,
    /// As JSON.
    pub(super) default: Option<String>,
    /// What the answer will be held to and the form cannot say.
    pub(super) notes: Vec<String>,
}

const FORMATS: &[&str] = &["email", "uri", "date", "date-time"];

/// The subschemas that hold for an argument, references and `[X, null]` resolved; for looking at its texts.
pub(super) fn own_views<'a>(root: Value<'a>, name: &str) -> Vec<Value<'a>> {
    let views = in_place(root, root, Follow::Certain);
    let mut found = Vec::new();
    for own in member(&views, name) {
        found.extend(in_place(root, own, Follow::Possible));
    }
    found
}

/// The texts of a keyword.
pub(super) fn own_text<'a>(views: &[Value<'a>], keyword: &str) -> Vec<&'a str> {
    views.iter().filter_map(|view| view.get(keyword)?.as_str()).collect()
}

impl Property {
    /// An argument nobody describes is asked for as text.
    pub(super) fn read(root: Value<'_>, name: &str, field: Option<&AskField>) -> Result<Property, Why> {
        let given = field.map(|field| field.document().root());
        let declared = member(&in_place(root, root, Follow::Certain), name);
        let own = match declared.as_slice() {
            [] => Ok(Vec::new()),
            [one] => flat(root, *one, DEPTH_MAX),
            _ => Err(Why::Combined),
        };
        let has_type = given.and_then(|given| given.get("type")).is_some();
        match own {
            Ok(own) => Keywords { given, own }.property(false),
            // The policy says what the schema does not: its words are kept, nothing else of it.
            Err(_) if has_type => Keywords { given, own: declared }.property(true),
            Err(why) => Err(why),
        }
    }
}

/// The schema and what it refers to or is put together from, as long as that is one thing.
fn flat<'a>(root: Value<'a>, schema: Value<'a>, depth: usize) -> Result<Vec<Value<'a>>, Why> {
    let depth = depth.checked_sub(1).ok_or(Why::Unresolved)?;
    let mut views = in_place(root, schema, Follow::Certain);
    if views.iter().any(|view| view.get("allOf").is_some_and(|all| all.len() > 1)) {
        return Err(Why::Combined);
    }
    let references = views
        .iter()
        .filter(|view| view.get("$ref").is_some() || view.get("allOf").is_some_and(|all| !all.is_empty()))
        .count();
    // Each of them leads to one schema more.
    if references >= views.len() && references > 0 {
        return Err(Why::Unresolved);
    }
    let alternatives = views.iter().find_map(|view| alternatives(*view));
    if let Some(all) = alternatives {
        match all.as_slice() {
            [one] => views.extend(flat(root, *one, depth)?),
            several if several.iter().all(|one| one.get("const").is_some()) => {}
            _ => return Err(Why::Alternatives),
        }
    }
    Ok(views)
}

/// The members of `anyOf` or `oneOf` but `null`.
fn alternatives(view: Value<'_>) -> Option<Vec<Value<'_>>> {
    let all = view.get("anyOf").or(view.get("oneOf"))?;
    let is_null = |one: &Value<'_>| {
        one.get("type").and_then(Value::as_str) == Some("null")
            || one.get("const").is_some_and(Value::is_null)
    };
    Some(all.items().filter(|one| !is_null(one)).collect())
}

/// What the policy says before what the schema says.
struct Keywords<'a> {
    given: Option<Value<'a>>,
    own: Vec<Value<'a>>,
}

impl<'a> Keywords<'a> {
    fn property(mut self, words_alone: bool) -> Result<Property, Why> {
        let (title, description) =
            (self.text("title", TITLE_CHARS_MAX), self.text("description", DESCRIPTION_CHARS_MAX));
        if words_alone || self.is_replaced() {
            self.own.clear();
        }
        let control = self.control()?;
        let choices = self.choices(control)?;
        let mut property = Property {
            control,
            title,
            description,
            choices,
            bounds: Vec::new(),
            default: None,
            notes: Vec::new(),
        };
        self.bounds(&mut property);
        self.notes(&mut property);
        property.default = self.default(&property);
        Ok(property)
    }

    fn get(&self, keyword: &str) -> Option<Value<'a>> {
        let own = || self.own.iter().find_map(|view| view.get(keyword));
        self.given.and_then(|given| given.get(keyword)).or_else(own)
    }

    fn text(&self, keyword: &str, max: usize) -> Option<String> {
        let text = plain::line(self.get(keyword)?.as_str()?, max);
        (!text.is_empty()).then_some(text)
    }

    /// Another type, or other choices, than the schema's: its bounds and choices speak of something else.
    fn is_replaced(&self) -> bool {
        let Some(given) = self.given else { return false };
        let own = Keywords { given: None, own: self.own.clone() }.named_type();
        let wanted = given.get("type").and_then(Value::as_str);
        let is_other = wanted.is_some() && !matches!(own, Ok(None)) && own.ok().flatten() != wanted;
        is_other || given.get("enum").is_some() || given.get("oneOf").is_some()
    }

    fn control(&self) -> Result<Control, Why> {
        let named = self.named_type()?;
        let is_listed = self.get("enum").is_some() || !self.values().is_empty();
        match named {
            Some("array") => Ok(Control::Many),
            Some("boolean") => Ok(Control::Boolean),
            Some("integer") => Ok(Control::Integer),
            Some("number") => Ok(Control::Number),
            Some("object") => Err(Why::Nested),
            Some("string") if is_listed => Ok(Control::One),
            Some("string") => Ok(Control::Text),
            Some(other) => Err(Why::Type(plain::line(other, NOTE_CHARS_MAX))),
            None if self.get("properties").is_some() => Err(Why::Nested),
            None if self.get("items").is_some() => Ok(Control::Many),
            None if !is_listed => Ok(Control::Text),
            None => Ok(self.control_of_values()),
        }
    }

    /// `[T, "null"]` is T, `["integer", "number"]` a number.
    fn named_type(&self) -> Result<Option<&'a str>, Why> {
        let Some(kind) = self.get("type") else { return Ok(None) };
        if let Some(name) = kind.as_str() {
            return Ok(Some(name));
        }
        let mut names: Vec<&str> =
            kind.items().filter_map(Value::as_str).filter(|name| *name != "null").collect();
        if names.contains(&"number") {
            names.retain(|name| *name != "integer");
        }
        match names.as_slice() {
            [] => Ok(Some("null")),
            [one] => Ok(Some(one)),
            _ => Err(Why::Alternatives),
        }
    }

    fn control_of_values(&self) -> Control {
        let all = self.values();
        match all.iter().all(|value| value.kind() == Kind::Number) && !all.is_empty() {
            true => Control::Number,
            false => Control::One,
        }
    }

    /// What `enum`, `const` and alternatives of `const` list, but `null`.
    fn values(&self) -> Vec<Value<'a>> {
        let constants =
            |keyword| self.get(keyword).into_iter().flat_map(Value::items).filter_map(|one| one.get("const"));
        let listed: Vec<Value<'a>> = match (self.get("const"), self.get("enum")) {
            (Some(only), _) => vec![only],
            (None, Some(all)) => all.items().collect(),
            (None, None) => constants("oneOf").chain(constants("anyOf")).collect(),
        };
        listed.into_iter().filter(|value| !value.is_null()).collect()
    }

    fn choices(&self, control: Control) -> Result<Vec<Choice>, Why> {
        let choices = match control {
            Control::One => self.listed()?,
            Control::Many => {
                let items =
                    self.get("items").filter(|items| items.kind() == Kind::Object).ok_or(Why::List)?;
                let inner = Keywords { given: None, own: vec![items] };
                match inner.control() {
                    Ok(Control::One) => inner.listed()?,
                    _ => return Err(Why::List),
                }
            }
            _ => Vec::new(),
        };
        if choices.len() > CHOICES_MAX {
            return Err(Why::TooManyChoices(choices.len()));
        }
        Ok(choices)
    }

    fn listed(&self) -> Result<Vec<Choice>, Why> {
        let values = self.values();
        let titles = self.titles(values.len());
        let mut choices = Vec::new();
        for (position, value) in values.iter().enumerate() {
            let value = value.as_str().ok_or(Why::Choices)?.to_owned();
            let title = titles.get(position).cloned().flatten();
            choices.push(Choice { value, title });
        }
        if choices.is_empty() { Err(Why::Choices) } else { Ok(choices) }
    }

    /// Titles of the values, beside `const` or as a list of names.
    fn titles(&self, count: usize) -> Vec<Option<String>> {
        let shown = |text: &str| Some(plain::line(text, TITLE_CHARS_MAX)).filter(|text| !text.is_empty());
        let names = self.get("enumNames").or(self.get("x-enumNames")).filter(|names| names.len() == count);
        if let Some(names) = names {
            return names.items().map(|name| shown(name.as_str()?)).collect();
        }
        let all =
            ["oneOf", "anyOf"].into_iter().filter_map(|keyword| self.get(keyword)).flat_map(Value::items);
        let constants = all.filter(|one| one.get("const").is_some_and(|value| !value.is_null()));
        constants.map(|one| shown(one.get("title")?.as_str()?)).collect()
    }

    fn bounds(&self, property: &mut Property) {
        let keywords: &[&'static str] = match property.control {
            Control::Text => &["minLength", "maxLength"],
            Control::Integer | Control::Number => &["minimum", "maximum"],
            Control::Many => &["minItems", "maxItems"],
            Control::Boolean | Control::One => &[],
        };
        let number = |keyword: &&'static str| Some((*keyword, self.get(keyword)?.number()?.to_owned()));
        if property.control == Control::Text
            && let Some(format) = self.get("format").and_then(Value::as_str)
            && FORMATS.contains(&format)
        {
            property.bounds.push(("format", format!("\"{format}\"")));
        }
        property.bounds.extend(keywords.iter().filter_map(number));
    }

    /// What a form cannot say is said in words, so that nobody has to find it out by being asked again.
    fn notes(&self, property: &mut Property) {
        let mut add = |words: &str, keyword: &str| {
            let Some(value) = self.get(keyword) else { return };
            // A bound of draft 4 is a boolean beside another one.
            let Some(value) = value.as_str().or(value.number()) else { return };
            property.notes.push(format!("{words} `{}`", plain::line(value, NOTE_CHARS_MAX)));
        };
        match property.control {
            Control::Text => {
                add("pattern", "pattern");
                if self.get("format").and_then(Value::as_str).is_some_and(|format| !FORMATS.contains(&format))
                {
                    add("format", "format");
                }
            }
            Control::Integer | Control::Number => {
                add("more than", "exclusiveMinimum");
                add("less than", "exclusiveMaximum");
                add("a multiple of", "multipleOf");
                let listed: Vec<&str> = self.values().iter().map(|value| value.raw()).collect();
                if !listed.is_empty() {
                    property
                        .notes
                        .push(format!("one of {}", plain::line(&listed.join(", "), NOTE_CHARS_MAX)));
                }
            }
            Control::Boolean | Control::Many | Control::One => {}
        }
    }

    /// The default where it is one: what a client shows before anybody typed must be what the field can hold.
    fn default(&self, property: &Property) -> Option<String> {
        let default = self.get("default")?;
        let is_choice = |value: Value<'_>| {
            value.as_str().is_some_and(|text| property.choices.iter().any(|choice| choice.value == text))
        };
        let fits = match property.control {
            Control::Boolean => default.kind() == Kind::Bool,
            Control::Integer => default.number().is_some_and(is_integer),
            Control::Number => default.kind() == Kind::Number,
            Control::Text => default.kind() == Kind::String,
            Control::One => is_choice(default),
            Control::Many => default.kind() == Kind::Array && default.items().all(is_choice),
        };
        fits.then(|| super::answer::compact(default))
    }
}
