//! The names an expression of the file may use.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::facts::Fact;
use crate::cel::{Field, Object, Scope, Type, Value};
use crate::json::Document;

/// Names of later versions: an expression that uses one is told so.
pub(crate) const LATER: [&str; 1] = ["state"];

/// What every expression may use.
pub(crate) fn common(facts: &BTreeMap<String, Fact>, lists: &Document) -> Scope {
    let fact = |(name, fact): (&String, &Fact)| {
        (name.clone(), Field { kind: fact.kind.cel(), required: fact.default.is_some() })
    };
    let facts = Object { fields: facts.iter().map(fact).collect(), open: false };
    Scope::new()
        .with("facts", Type::Object(Arc::new(facts)))
        .with_constant("lists", Value::owned(lists.root()))
        .with("server", Type::String)
        .with("conversation", Type::Dyn)
        .with("user_request", Type::String)
        .with("now", Type::Timestamp)
}

/// What a rule may use.
pub(crate) fn of_call(common: &Scope, arguments: Type, definitions: &BTreeMap<String, Type>) -> Scope {
    let field = |(name, kind): (&String, &Type)| (name.clone(), Field { kind: kind.clone(), required: true });
    let definitions = Object { fields: definitions.iter().map(field).collect(), open: false };
    common
        .clone()
        .with("args", arguments)
        .with("defs", Type::Object(Arc::new(definitions)))
        .with("payload", Type::String)
        .with("texts", Type::list(Type::String))
        .with("tool", Type::String)
}

/// What a ruling over another request may use.
pub(crate) fn of_request(common: &Scope) -> Scope {
    common.clone().with("params", Type::map(Type::Dyn)).with("method", Type::String)
}
