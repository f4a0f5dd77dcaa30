//! A policy of our own as a [`Model`]: its rules, and what it remembers.
//!
//! Checks beside rules and invariants (schemas, grounding, confirmation, repeated calls) are left out: they only stop
//! more calls. A call that *asks* may be made, since a person may say yes, unless [`Asks::Refused`].

mod answers;
mod asked;
mod candidates;
mod cel;
mod clock;
mod effects;
mod events;
mod functions;
mod judged;
mod looked_at;
mod meaning;
mod names;
mod operators;
mod replay;
mod ruled;
mod spell;
mod tool_names;
mod under_way;
mod windows;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::model::{Model, Property};
use super::names::{Class, classes, shown};
use super::smt::is_writable;
use super::term::{Sort, Value};
use super::{Asked, ModelError};
use crate::cel::{Expression, Type};
use crate::json;
use crate::policy::{Bound, BoundTool, FactKind, Glob, Listed, Missing, Policy};
use crate::state::{Kind, Scope, Value as Held, Variable};

use names::{Slot, World};

pub use replay::replay;

/// What becomes of calls that ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Asks {
    /// A person may say yes to any of them.
    #[default]
    Granted,
    /// Nobody does.
    Refused,
}

/// A property, compiled without a tool's schema.
#[derive(Debug)]
struct Compiled {
    never: Arc<Expression>,
    after: Option<Arc<Expression>>,
    is_of_states: bool,
}

/// A tool, or all that the policy decides alike.
#[derive(Debug)]
struct Tool<'l> {
    bound: Arc<BoundTool>,
    /// What people are told of it.
    shown: String,
    schema: Option<json::Value<'l>>,
    /// Whatever is asked of the name, the answer is the same for all that are meant.
    is_known: bool,
}

/// The transition system of a policy beside a server. `listed` are its tools; without them every name that the policy
/// can tell apart from others stands for all like it.
///
/// # Errors
/// A property that cannot be read, or patterns that are too many to tell apart.
pub fn model(
    bound: &Bound,
    listed: Option<&[Listed<'_>]>,
    asks: Asks,
    asked: &[Asked],
) -> Result<Model, ModelError> {
    let policy = bound.policy();
    let compiled = asked.iter().map(|asked| compiled(bound, asked)).collect::<Result<Vec<_>, _>>()?;
    let mut model = Model::default();
    let world = world(&mut model, bound);
    for asked in asked {
        let property = Property {
            name: asked.name.clone(),
            never: asked.never.clone(),
            after: asked.after.clone(),
            state: None,
        };
        model.properties.push(property);
    }
    let tools = match listed {
        Some(listed) => listed
            .iter()
            .filter_map(|tool| {
                let (bound, shown) = (bound.tool(tool.name)?, tool.name.to_owned());
                Some(Tool { bound, shown, schema: tool.schema, is_known: true })
            })
            .collect(),
        None => told_apart(bound, &compiled)?,
    };
    let mut build = events::Build::new(&mut model, policy, &world, asks, &compiled);
    build.events(&tools);
    if policy.machine().variables().iter().any(|variable| variable.scope == Scope::Store) {
        build.restart();
    }
    if policy.names_others(bound.server()) {
        build.elsewhere(bound.server());
    }
    build.age();
    build.havoc();
    Ok(model)
}

fn compiled(bound: &Bound, asked: &Asked) -> Result<Compiled, ModelError> {
    let scope = bound.policy().property_scope();
    let condition = |key: &str, source: &str| {
        let wrong = |why: String| ModelError(format!("property `{}`, `{key}`: {why}", asked.name));
        let expression = Expression::compile(source, &scope).map_err(|problems| {
            wrong(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        })?;
        match expression.result() {
            Type::Bool | Type::Dyn => Ok(Arc::new(expression)),
            other => Err(wrong(format!("expected a condition, `{source}` is a {other}"))),
        }
    };
    let never = condition("never", &asked.never)?;
    let after = asked.after.as_deref().map(|source| condition("after", source)).transpose()?;
    let mut reads = never.reads().variables.iter();
    let is_of_states =
        after.is_none() && reads.all(|name| matches!(name.as_str(), "state" | "facts" | "lists"));
    Ok(Compiled { never, after, is_of_states })
}

fn world(model: &mut Model, bound: &Bound) -> World {
    let policy = bound.policy();
    let mut world = World::default();
    for variable in policy.machine().variables() {
        let slot = slot(model, policy, variable);
        world.slots.extend(slot.map(|slot| (variable.name.to_string(), slot)));
    }
    for (name, fact) in policy.facts() {
        let sort = match fact.kind {
            FactKind::Bool => Sort::Bool,
            FactKind::Int => Sort::Int,
            FactKind::Number => Sort::Real,
            FactKind::String => Sort::Text,
            FactKind::List | FactKind::Map => continue,
        };
        let at = model.any_variable(format!("facts.{name}"), sort);
        let given = fact.default.is_none().then(|| {
            let given = model.any_variable(format!("facts.{name} is given"), Sort::Bool);
            if let Some(variable) = model.variables.get_mut(given) {
                variable.is_own = true;
            }
            given
        });
        world.facts.insert(name.clone(), (at, given));
    }
    world
}

/// A variable of the policy, where a solver knows such values.
fn slot(model: &mut Model, policy: &Policy, variable: &Variable) -> Option<Slot> {
    let is_window = windows::is_window(variable);
    let initial = if is_window { Some(windows::empty(policy, variable)) } else { held(&variable.init) };
    let Some(initial) = initial else {
        let (name, kind) = (&variable.name, variable.kind.name());
        model.note(format!("`state.{name}` is a {kind}: any value is taken for possible"));
        return None;
    };
    let sort = initial.sort();
    let at = model.variable(&*variable.name, initial);
    if let Some(made) = model.variables.get_mut(at) {
        made.range = (variable.kind == Kind::Int).then(|| (i64::MIN.into(), i64::MAX.into()));
        made.is_window = is_window;
    }
    let mut own = |what: &str| model.own_variable(format!("{what} {}", variable.name), Value::Bool(false));
    let unknown = own("unknown");
    let either = (sort == Sort::Bool).then(|| own("either"));
    Some(Slot { at, sort, unknown, either, is_window })
}

/// The value of a variable, if a solver knows such values.
pub(super) fn held(value: &Held) -> Option<Value> {
    match value {
        Held::Bool(value) => Some(Value::Bool(*value)),
        Held::Int(value) => Some(Value::Int((*value).into())),
        Held::Decimal(value) => functions::rational(value).map(Value::Real),
        Held::String(text) if is_writable(text) => Some(Value::Text(Arc::clone(text))),
        _ => None,
    }
}

/// What expressions ask of a tool's name tells names apart as well.
fn told_apart(bound: &Bound, properties: &[Compiled]) -> Result<Vec<Tool<'static>>, ModelError> {
    let policy = bound.policy();
    let globs: Vec<&Glob> = policy.tool_patterns(bound.server()).collect();
    let mut patterns: Vec<_> = globs.iter().map(|glob| glob.pieces()).collect();
    let mut is_exact = true;
    for rule in policy.rules() {
        for condition in rule.conditions() {
            is_exact &= tool_names::patterns(condition.expression.root(), &mut patterns);
        }
    }
    let invariants = policy.invariants().iter().map(|invariant| &invariant.that.expression);
    let definitions = policy.definitions().iter().map(|definition| &definition.value.expression);
    let properties = properties.iter().flat_map(|one| std::iter::once(&one.never).chain(&one.after));
    for expression in invariants.chain(definitions).chain(properties) {
        is_exact &= tool_names::patterns(expression.root(), &mut patterns);
    }
    let found = classes(&patterns).ok_or_else(ModelError::too_many_patterns)?;
    let spelled: Vec<&str> = globs.iter().map(|glob| glob.as_str()).collect();
    let shown = shown(&found, &spelled);
    let tool = |(Class { name, is_one, .. }, shown): (Class, String)| {
        Some(Tool { bound: bound.tool(&name)?, shown, schema: None, is_known: is_one || is_exact })
    };
    Ok(found.into_iter().zip(shown).filter_map(tool).collect())
}

/// Arguments as a schema has them; only where it is enforced is it believed.
fn arguments(schema: Option<json::Value<'_>>, missing: Missing) -> (BTreeMap<String, names::Argument>, bool) {
    // What stands beside a reference counts for nothing in the older drafts.
    let is_plain = |schema: &json::Value<'_>| schema.get("$ref").is_none();
    let Some(schema) = schema.filter(is_plain) else { return (BTreeMap::new(), false) };
    let Type::Object(object) = Type::of_schema(schema) else { return (BTreeMap::new(), false) };
    let argument = |(name, field): (&String, &crate::cel::Field)| {
        let property = schema.get("properties").and_then(|properties| properties.get(name)).filter(is_plain);
        let is_whole = property.and_then(|property| property.get("type")).and_then(json::Value::as_str)
            == Some("integer");
        let kind = if property.is_some() { field.kind.clone() } else { Type::Dyn };
        // One that is required and not there, or null, is sent on as it is.
        let argument = match field.required && missing == Missing::Pass {
            true => names::Argument { kind: Type::Dyn, is_whole: false, is_required: false },
            false => names::Argument { kind, is_whole, is_required: field.required },
        };
        (name.clone(), argument)
    };
    (object.fields.iter().map(argument).collect(), !object.open)
}
