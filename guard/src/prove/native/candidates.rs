//! Arguments and facts that are tried for what a solver chose.

use std::collections::{BTreeMap, BTreeSet};

use super::super::model::{InputKind, Model};
use super::super::term::{Sort, Value};
use super::Compiled;
use super::replay::Subject;
use crate::Facts;
use crate::cel::tree::{Kind, Node};
use crate::json::{Document, Limits};
use crate::policy::Policy;

/// Calls that are tried for one of the sequence.
const TRIES_MAX: usize = 500;
/// Texts of the policy that are tried for an argument.
const TEXTS_MAX: usize = 60;

impl Subject<'_> {
    /// The arguments that the solver chose, then others.
    pub(super) fn candidates(&self, event: usize, inputs: &[Value]) -> Vec<Document> {
        let chosen = self.chosen(event, inputs);
        let payload = match self.model.named(event, inputs, "payload") {
            Some(Value::Text(text)) if !text.is_empty() => Some(serde_json::Value::from(&**text).to_string()),
            _ => None,
        };
        let is_text = |name: &&String| chosen.get(*name).is_none_or(|value| value.starts_with('"'));
        let named: BTreeSet<&String> = chosen.keys().chain(&self.arguments).collect();
        let texts: Vec<&String> = named.into_iter().filter(is_text).collect();
        let mut all: Vec<BTreeMap<String, String>> = vec![chosen.clone()];
        // What only the whole payload, or `texts`, is to hold.
        for text in &self.texts {
            let extra = ("text".to_owned(), serde_json::Value::from(text.as_str()).to_string());
            all.push(chosen.clone().into_iter().chain([extra]).collect());
        }
        for name in texts {
            for before in all.clone() {
                for text in &self.texts {
                    let mut other = before.clone();
                    other.insert((*name).clone(), serde_json::Value::from(text.as_str()).to_string());
                    all.push(other);
                }
                if all.len() > TRIES_MAX {
                    break;
                }
            }
        }
        if let Some(payload) = payload {
            all.insert(1, chosen.into_iter().chain([("text".to_owned(), payload)]).collect());
        }
        let document = |members: &BTreeMap<String, String>| {
            let member = |(name, value): (&String, &String)| {
                format!("{}:{value}", serde_json::Value::from(name.as_str()))
            };
            let text = members.iter().map(member).collect::<Vec<_>>().join(",");
            Document::read(format!("{{{text}}}").into(), &Limits::default()).ok()
        };
        all.iter().take(TRIES_MAX).filter_map(document).collect()
    }

    /// By name: of an argument that is looked at as several kinds, that which the solver takes it for.
    pub(super) fn chosen(&self, event: usize, inputs: &[Value]) -> BTreeMap<String, String> {
        let of = self.model.events.get(event).map(|event| event.inputs.as_slice()).unwrap_or_default();
        let pairs: Vec<_> =
            of.iter().filter_map(|at| Some((self.model.inputs.get(*at)?, inputs.get(*at)?))).collect();
        let says = |kind: &dyn Fn(&InputKind) -> bool| {
            pairs.iter().find(|(input, _)| kind(&input.kind)).map(|(_, value)| **value == Value::Bool(true))
        };
        let mut chosen = BTreeMap::new();
        for (input, value) in &pairs {
            let InputKind::Argument(name) = &input.kind else { continue };
            let word = match input.sort {
                Sort::Bool => "bool",
                Sort::Text => "string",
                Sort::Int | Sort::Real => "number",
            };
            let is = format!("args.{name} is a {word}");
            let is_absent =
                says(&|kind| matches!(kind, InputKind::Given(given) if given == name)) == Some(false);
            let is_other =
                pairs.iter().any(|(input, value)| input.label == is && **value == Value::Bool(false));
            match written(value) {
                _ if is_absent => {}
                // It is there, and of no kind that anything asks for.
                _ if is_other => drop(chosen.entry(name.clone()).or_insert_with(|| "null".to_owned())),
                Some(text) => drop(chosen.insert(name.clone(), text)),
                None => {}
            }
        }
        chosen
    }
}

/// A value as JSON; nothing for a fraction that has no end.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::Real(number) => {
            let mut scale = num_bigint::BigInt::from(1);
            for digits in 0..40_usize {
                let over = number * num_rational::BigRational::from(scale.clone());
                if over.is_integer() {
                    return Some(decimal(&over.to_integer(), digits));
                }
                scale *= 10;
            }
            None
        }
        value => Some(value.to_string()),
    }
}

/// A number with so many digits behind the point.
fn decimal(number: &num_bigint::BigInt, digits: usize) -> String {
    let sign = if number.sign() == num_bigint::Sign::Minus { "-" } else { "" };
    let text = format!("{:0>width$}", number.magnitude().to_string(), width = digits + 1);
    match text.split_at_checked(text.len() - digits) {
        Some((whole, fraction)) if !fraction.is_empty() => format!("{sign}{whole}.{fraction}"),
        _ => format!("{sign}{text}"),
    }
}

/// The facts that the solver chose.
pub(super) fn facts(policy: &Policy, model: &Model, state: &[Value]) -> Result<Facts, String> {
    let value = |name: &str| {
        let at = model.variables.iter().position(|variable| variable.name == name)?;
        state.get(at)
    };
    let mut given = BTreeMap::new();
    for name in policy.facts().keys() {
        if value(&format!("facts.{name} is given")) == Some(&Value::Bool(false)) {
            continue;
        }
        let Some(text) = value(&format!("facts.{name}")).and_then(written) else { continue };
        let document = Document::read(text.into(), &Limits::default()).map_err(|why| why.to_string())?;
        given.insert(name.clone(), document);
    }
    Facts::new(policy, &given).map_err(|wrong| wrong.join("; "))
}

/// Arguments that the policy's conditions or the property read.
pub(super) fn read(policy: &Policy, property: &Compiled) -> BTreeSet<String> {
    let rules = policy.rules().iter().flat_map(|rule| rule.conditions());
    let definitions = policy.definitions().iter().map(|definition| &definition.value);
    let conditions = rules.chain(definitions).map(|condition| &*condition.expression);
    let asked = std::iter::once(&property.never).chain(&property.after).map(|expression| &**expression);
    let paths = conditions.chain(asked).flat_map(|expression| &expression.reads().paths);
    let name = |path: &Vec<String>| match path.as_slice() {
        [variable, name, ..] if variable == "args" => Some(name.clone()),
        _ => None,
    };
    paths.filter_map(name).collect()
}

/// Texts that stand in the policy's conditions, and such that begin or end by them.
pub(super) fn texts(policy: &Policy, property: &Compiled) -> Vec<String> {
    let mut found = BTreeSet::new();
    let rules = policy.rules().iter().flat_map(|rule| rule.conditions());
    let definitions = policy.definitions().iter().map(|definition| &definition.value);
    for condition in rules.chain(definitions) {
        collect(condition.expression.root(), &mut found);
    }
    for expression in std::iter::once(&property.never).chain(&property.after) {
        collect(expression.root(), &mut found);
    }
    let longer: Vec<String> =
        found.iter().filter(|text| text.starts_with('/')).map(|text| format!("{text}/x")).collect();
    found.extend(longer);
    found.insert("/nowhere/x".to_owned());
    found.insert("x".to_owned());
    found.into_iter().take(TEXTS_MAX).collect()
}

fn collect(node: &Node, found: &mut BTreeSet<String>) {
    if let Kind::Literal(value) | Kind::Constant(value, _) = &node.kind {
        found.extend(value.as_str().map(str::to_owned));
        for item in value.items().into_iter().flatten() {
            found.extend(item.as_str().map(str::to_owned));
        }
    }
    node.each_child(&mut |child| collect(child, found));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_people_write_them() {
        let real = |over: i64, under: i64| {
            written(&Value::Real(num_rational::BigRational::new(over.into(), under.into())))
        };
        assert_eq!(real(93, 2).as_deref(), Some("46.5"));
        assert_eq!(real(-1, 1000).as_deref(), Some("-0.001"));
        assert_eq!(real(-200, 1).as_deref(), Some("-200"));
        assert_eq!(real(1, 3), None);
    }
}
