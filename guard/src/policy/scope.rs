//! The names an expression of the file may use.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::facts::Fact;
use crate::cel::{Field, Object, Scope, Type, Value};
use crate::json::Document;
use crate::state::{Machine, result_type};

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
        .with("now", Type::Timestamp)
}

/// What was said so far: for what is decided before anything is sent.
fn said(scope: &Scope) -> Scope {
    scope.clone().with("conversation", Type::Dyn).with("user_request", Type::String)
}

/// What a rule may use.
pub(crate) fn of_call(common: &Scope, arguments: Type, definitions: &BTreeMap<String, Type>) -> Scope {
    let field = |(name, kind): (&String, &Type)| (name.clone(), Field { kind: kind.clone(), required: true });
    let definitions = Object { fields: definitions.iter().map(field).collect(), open: false };
    said(common)
        .with("args", arguments)
        .with("defs", Type::Object(Arc::new(definitions)))
        .with("payload", Type::String)
        .with("texts", Type::list(Type::String))
        .with("tool", Type::String)
}

/// `state`, as these variables are.
pub(crate) fn with_state(scope: Scope, machine: &Machine) -> Scope {
    let fields = machine.variables().iter().map(|variable| (variable.name.to_string(), variable.kind.cel()));
    scope.with("state", Type::object(fields))
}

/// What an `after` effect may use: the call, its answer, and the state as it is then. What was said before the call
/// is another question than what its answer makes of the state.
pub(crate) fn of_answer(stated: &Scope, arguments: Type) -> Scope {
    stated.clone().with("args", arguments).with("tool", Type::String).with("result", result_type())
}

/// What an invariant may use: the state, and no call.
pub(crate) fn of_state(stated: &Scope) -> Scope {
    stated.clone().with("tool", Type::String)
}

/// What a ruling over another request may use.
pub(crate) fn of_request(common: &Scope) -> Scope {
    said(common).with("params", Type::map(Type::Dyn)).with("method", Type::String)
}
