//! A policy of praxiom as a [`Model`].
//!
//! What the guard knows of calls in flight is in it: an answer is an event of its own, which may come at any time
//! after its call or never, and until then what depends on the variables it may change is refused.

mod answers;
mod events;
mod lower;
mod replay;
mod tool_names;
mod uncertain;

use std::collections::BTreeMap;

use super::model::{Model, Property};
use super::names::{self, Class};
use super::term::Value;
use super::{Asked, ModelError};
use crate::praxiom::lower::{Scope, compile};
use crate::praxiom::program::{Program, Step};
use crate::praxiom::value::Kept;
use crate::praxiom::{Praxiom, Sort};

pub use replay::replay;

/// A property, compiled.
#[derive(Debug)]
struct Compiled {
    never: Program,
    after: Option<Program>,
    /// It reads nothing but the state.
    is_of_states: bool,
}

/// What every expression of a property may name beside the state: the arguments that actions declare.
type Arguments = Vec<(String, Sort)>;

/// The transition system of a policy. `tools` are the names listed, prefixed as the policy knows them; without them
/// every name that the policy can tell apart from others stands for all like it.
///
/// # Errors
/// A property that cannot be read, or patterns that are too many to tell apart.
pub fn model(
    policy: &Praxiom,
    upstream: Option<&str>,
    tools: Option<&[String]>,
    properties: &[Asked],
) -> Result<Model, ModelError> {
    let arguments = arguments(policy)?;
    let compiled = properties.iter().map(|asked| compiled(policy, asked, &arguments));
    let compiled = compiled.collect::<Result<Vec<_>, _>>()?;
    let mut model = Model::default();
    for ((name, _), value) in policy.variables.iter().zip(policy.initial.values.iter()) {
        model.variable(name, initial(value));
    }
    for (asked, compiled) in properties.iter().zip(&compiled) {
        let property = Property {
            name: asked.name.clone(),
            never: asked.never.clone(),
            after: asked.after.clone(),
            state: compiled.is_of_states.then(|| events::of_states(&mut model, &compiled.never)),
        };
        model.properties.push(property);
    }
    let classes = match tools {
        Some(tools) => tools.iter().map(|name| listed(policy, name)).collect(),
        None => told_apart(policy, &compiled)?,
    };
    events::Build::new(&mut model, policy, upstream, &arguments, &compiled).events(&classes);
    Ok(model)
}

fn initial(value: &Kept) -> Value {
    match value {
        Kept::Bool(value) => Value::Bool(*value),
        Kept::Int(value) => Value::Int(value.clone()),
        Kept::Str(text) => Value::Text(text.clone()),
        // No file can say so.
        Kept::Unknown(_) => Value::Bool(false),
    }
}

/// All declared arguments; one that two actions declare differently can be named by no property.
fn arguments(policy: &Praxiom) -> Result<Arguments, ModelError> {
    let mut arguments: BTreeMap<&str, Option<Sort>> = BTreeMap::new();
    for (name, sort) in policy.actions.iter().flat_map(|action| &action.arguments) {
        let known = arguments.entry(name).or_insert(Some(*sort));
        if *known != Some(*sort) {
            *known = None;
        }
    }
    Ok(arguments.into_iter().filter_map(|(name, sort)| Some((name.to_owned(), sort?))).collect())
}

fn compiled(policy: &Praxiom, asked: &Asked, arguments: &Arguments) -> Result<Compiled, ModelError> {
    let scope = Scope {
        variables: &policy.variables,
        arguments,
        context: true,
        result: false,
        patterns: &policy.patterns,
        dialect: policy.dialect,
    };
    let condition = |key: &str, source: &str| {
        let wrong = |why: String| ModelError(format!("property `{}`, `{key}`: {why}", asked.name));
        match compile(source, &scope) {
            Ok((program, Sort::Bool)) => Ok(program),
            Ok(_) => Err(wrong(format!("expected a condition, got `{source}`"))),
            Err(fault) => Err(wrong(fault.message)),
        }
    };
    let never = condition("never", &asked.never)?;
    let after = asked.after.as_deref().map(|source| condition("after", source)).transpose()?;
    let reads_call = |step: &Step| {
        matches!(step, Step::Argument(_) | Step::Payload | Step::Tool | Step::Upstream | Step::Result)
    };
    let is_of_states = after.is_none() && !never.steps().iter().any(reads_call);
    Ok(Compiled { never, after, is_of_states })
}

/// A tool, or all that the policy decides alike.
#[derive(Debug)]
struct Tool {
    name: String,
    /// What people are told of it.
    shown: String,
    /// Whatever is asked of the name, the answer is the same for all that are meant.
    is_known: bool,
    /// The actions that cover it, by place.
    actions: Vec<usize>,
}

fn listed(policy: &Praxiom, name: &str) -> Tool {
    let actions = policy.actions.iter().enumerate().filter(|(_, action)| action.covers(name));
    let actions = actions.map(|(at, _)| at).collect();
    Tool { name: name.to_owned(), shown: name.to_owned(), is_known: true, actions }
}

/// What expressions ask of a tool's name tells names apart as well.
fn told_apart(policy: &Praxiom, properties: &[Compiled]) -> Result<Vec<Tool>, ModelError> {
    let globs: Vec<_> = policy.actions.iter().flat_map(|action| &action.globs).collect();
    let mut patterns: Vec<_> = globs.iter().map(|glob| glob.pieces()).collect();
    let mut is_exact = true;
    for program in tool_names::programs(policy, properties) {
        is_exact &= tool_names::patterns(program, &mut patterns);
    }
    let classes = names::classes(&patterns).ok_or_else(ModelError::too_many_patterns)?;
    let spelled: Vec<&str> = globs.iter().map(|glob| glob.text()).collect();
    let shown = names::shown(&classes, &spelled);
    let tool = |(Class { name, is_one, .. }, shown): (Class, String)| {
        let is_known = is_one || is_exact;
        Tool { is_known, shown, ..listed(policy, &name) }
    };
    Ok(classes.into_iter().zip(shown).map(tool).collect())
}
