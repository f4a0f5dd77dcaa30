//! Types, and the names an expression may use.

use super::Value;
use crate::json;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// What is known of a value before it is there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Type {
    /// Anything.
    #[default]
    Dyn,
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// Text.
    String,
    /// An instant.
    Timestamp,
    /// A span of time.
    Duration,
    /// A list of such items.
    List(Box<Type>),
    /// A map from strings to such values.
    Map(Box<Type>),
    /// A map with known members.
    Object(Arc<Object>),
}

/// A map with known members.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Object {
    /// The known members.
    pub fields: BTreeMap<String, Field>,
    /// Whether others may exist, of any type.
    pub open: bool,
}

/// A known member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its type.
    pub kind: Type,
    /// Whether it is always there.
    pub required: bool,
}

impl Type {
    /// A list of such items.
    #[must_use]
    pub fn list(items: Type) -> Type {
        Type::List(Box::new(items))
    }

    /// A map from strings to such values.
    #[must_use]
    pub fn map(values: Type) -> Type {
        Type::Map(Box::new(values))
    }

    /// A map with exactly these members, all of them always there.
    pub fn object<K: Into<String>>(fields: impl IntoIterator<Item = (K, Type)>) -> Type {
        let field = |(name, kind): (K, Type)| (name.into(), Field { kind, required: true });
        Type::Object(Arc::new(Object { fields: fields.into_iter().map(field).collect(), open: false }))
    }

    /// The type of the arguments that a JSON Schema describes: what is not certain is [`Type::Dyn`].
    #[must_use]
    pub fn of_schema(schema: json::Value<'_>) -> Type {
        // Arguments are always an object, so at the top a schema without `type` means one.
        match schema.get("type") {
            None if schema.kind() == json::Kind::Object => object_of_schema(schema),
            _ => of_schema(schema),
        }
    }

    /// The type of a value that is there.
    #[must_use]
    pub fn of_value(value: &Value<'_>) -> Type {
        match value.clone().scalar() {
            Value::Null => Type::Null,
            Value::Bool(_) => Type::Bool,
            Value::Number(_) => Type::Number,
            Value::String(_) => Type::String,
            Value::Timestamp(_) => Type::Timestamp,
            Value::Duration(_) => Type::Duration,
            Value::Missing(_) => Type::Dyn,
            other => match (other.items(), other.entries()) {
                (Some(items), _) => Type::list(join(items.map(|item| Type::of_value(&item)))),
                (_, Some(entries)) => Type::object(
                    entries.into_iter().map(|(key, value)| (key.into_owned(), Type::of_value(&value))),
                ),
                _ => Type::Dyn,
            },
        }
    }

    /// Whether a value can be of both types.
    pub(crate) fn meets(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Dyn, _) | (_, Type::Dyn) => true,
            (Type::List(a), Type::List(b)) => a.meets(b),
            (Type::Map(_) | Type::Object(_), Type::Map(_) | Type::Object(_)) => true,
            _ => self == other,
        }
    }

    /// With the article, for sentences: "a string".
    pub(super) fn with_article(&self) -> String {
        match self {
            Type::Dyn => "anything".into(),
            Type::Null => "null".into(),
            Type::Object(_) => "an object".into(),
            other => format!("a {other}"),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Dyn => f.write_str("anything"),
            Type::Null => f.write_str("null"),
            Type::Bool => f.write_str("bool"),
            Type::Number => f.write_str("number"),
            Type::String => f.write_str("string"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::Duration => f.write_str("duration"),
            Type::List(items) if **items == Type::Dyn => f.write_str("list"),
            Type::List(items) => write!(f, "list({items})"),
            Type::Map(values) if **values == Type::Dyn => f.write_str("map"),
            Type::Map(values) => write!(f, "map({values})"),
            Type::Object(_) => f.write_str("object"),
        }
    }
}

/// The type that all of them have, else [`Type::Dyn`].
pub(super) fn join(types: impl IntoIterator<Item = Type>) -> Type {
    let mut types = types.into_iter();
    let first = types.next().unwrap_or_default();
    if types.all(|other| other == first) { first } else { Type::Dyn }
}

/// The depth of the document bounds the recursion.
fn of_schema(schema: json::Value<'_>) -> Type {
    match schema.get("type").and_then(json::Value::as_str) {
        Some("null") => Type::Null,
        Some("boolean") => Type::Bool,
        Some("number" | "integer") => Type::Number,
        Some("string") => Type::String,
        Some("array") => Type::list(items_of_schema(schema)),
        Some("object") => object_of_schema(schema),
        _ => Type::Dyn,
    }
}

fn items_of_schema(schema: json::Value<'_>) -> Type {
    // Before 2020-12 `items` could be a list, and `prefixItems` describes single places: any item then.
    match (schema.get("items"), schema.get("prefixItems")) {
        (Some(items), None) if items.kind() == json::Kind::Object => of_schema(items),
        _ => Type::Dyn,
    }
}

fn object_of_schema(schema: json::Value<'_>) -> Type {
    let closed = schema.get("additionalProperties").and_then(json::Value::as_bool) == Some(false);
    let patterns = schema.get("patternProperties").is_some_and(|patterns| !patterns.is_empty());
    let properties = schema.get("properties").filter(|properties| properties.kind() == json::Kind::Object);
    if let (None, Some(values), false) = (properties, schema.get("additionalProperties"), patterns)
        && values.kind() == json::Kind::Object
    {
        return Type::map(of_schema(values));
    }
    let required: BTreeSet<&str> = schema
        .get("required")
        .into_iter()
        .flat_map(json::Value::items)
        .filter_map(json::Value::as_str)
        .collect();
    let field = |(name, schema): (&str, json::Value<'_>)| {
        let required = required.contains(name);
        (name.to_owned(), Field { kind: of_schema(schema), required })
    };
    let fields = properties.into_iter().flat_map(json::Value::members).map(field).collect();
    Type::Object(Arc::new(Object { fields, open: !closed || patterns }))
}

/// The names an expression may use.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    variables: BTreeMap<String, Type>,
    constants: BTreeMap<String, Value<'static>>,
}

impl Scope {
    /// No names.
    #[must_use]
    pub fn new() -> Scope {
        Scope::default()
    }

    /// With a variable of that type.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, kind: Type) -> Scope {
        self.define(name, kind);
        self
    }

    /// With a variable whose value is known now: it is looked up when an expression is compiled, so that
    /// patterns and lists of needles in it are prepared once. The [`super::Env`] is not asked for it.
    #[must_use]
    pub fn with_constant(mut self, name: impl Into<String>, value: Value<'static>) -> Scope {
        let name = name.into();
        self.define(name.clone(), Type::of_value(&value));
        self.constants.insert(name, value);
        self
    }

    /// Adds a variable, or gives it another type.
    pub fn define(&mut self, name: impl Into<String>, kind: Type) {
        let name = name.into();
        self.constants.remove(&name);
        self.variables.insert(name, kind);
    }

    /// The type of a variable.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&Type> {
        self.variables.get(name)
    }

    pub(super) fn constant(&self, name: &str) -> Option<&Value<'static>> {
        self.constants.get(name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }
}
