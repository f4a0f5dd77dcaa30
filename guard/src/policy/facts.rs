//! What is given from outside: `--fact role=admin`.

use std::fmt;
use std::sync::Arc;

use crate::cel::Type;
use crate::json::{Document, Kind, Limits, Value};

/// The type of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactKind {
    /// `true` or `false`
    Bool,
    /// A whole number.
    Int,
    /// A list of strings.
    List,
    /// An object, of anything.
    Map,
    /// A number.
    Number,
    /// Text.
    String,
}

impl FactKind {
    pub(crate) const WORDS: [(&'static str, FactKind); 6] = [
        ("string", FactKind::String),
        ("bool", FactKind::Bool),
        ("int", FactKind::Int),
        ("number", FactKind::Number),
        ("list", FactKind::List),
        ("map", FactKind::Map),
    ];

    pub(crate) fn cel(self) -> Type {
        match self {
            FactKind::Bool => Type::Bool,
            FactKind::Int | FactKind::Number => Type::Number,
            FactKind::List => Type::list(Type::String),
            FactKind::Map => Type::map(Type::Dyn),
            FactKind::String => Type::String,
        }
    }

    fn holds(self, value: Value<'_>) -> bool {
        match self {
            FactKind::Bool => value.kind() == Kind::Bool,
            FactKind::Int => value.number().is_some_and(|text| !text.contains(['.', 'e', 'E'])),
            FactKind::List => {
                value.kind() == Kind::Array && value.items().all(|item| item.kind() == Kind::String)
            }
            FactKind::Map => value.kind() == Kind::Object,
            FactKind::Number => value.kind() == Kind::Number,
            FactKind::String => value.kind() == Kind::String,
        }
    }
}

impl fmt::Display for FactKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FactKind::Bool => "true or false",
            FactKind::Int => "a whole number",
            FactKind::List => "a list of strings",
            FactKind::Map => "an object",
            FactKind::Number => "a number",
            FactKind::String => "a string",
        })
    }
}

/// One entry of `facts:`.
#[derive(Debug, Clone)]
pub struct Fact {
    /// Its type.
    pub kind: FactKind,
    /// Its value when none is given; without one it is unknown, and what reads it asks.
    pub default: Option<Arc<Document>>,
    /// The only values it may have; empty: any.
    pub one_of: Vec<Arc<Document>>,
}

impl Fact {
    /// Whether a value fits.
    ///
    /// # Errors
    /// What it should be and what came.
    pub fn check(&self, value: Value<'_>) -> Result<(), String> {
        if !self.kind.holds(value) {
            return Err(format!("expected {}, found `{}`", self.kind, short(value.raw())));
        }
        if self.one_of.is_empty() || self.one_of.iter().any(|allowed| allowed.root() == value) {
            return Ok(());
        }
        let allowed: Vec<String> =
            self.one_of.iter().map(|one| format!("`{}`", short(one.root().raw()))).collect();
        Err(format!("expected one of {}, found `{}`", allowed.join(", "), short(value.raw())))
    }

    /// A value typed on a command line: text as it is, the others as in JSON; a list also as `a,b`.
    ///
    /// # Errors
    /// What it should be and what came.
    pub fn parse(&self, text: &str) -> Result<Document, String> {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let json = match self.kind {
            FactKind::String => quoted(text),
            FactKind::List if !text.trim_start().starts_with('[') => {
                let items: Vec<String> =
                    text.split(',').filter(|item| !item.is_empty()).map(quoted).collect();
                format!("[{}]", items.join(","))
            }
            _ => text.trim().to_owned(),
        };
        let document = Document::read(json.into(), &Limits::default())
            .map_err(|_| format!("expected {}, found `{}`", self.kind, short(text)))?;
        self.check(document.root())?;
        Ok(document)
    }
}

fn short(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
