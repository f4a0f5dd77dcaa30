//! `properties`: what `framegate prove` is to show of the policy. They decide nothing.

use std::collections::BTreeSet;

use super::check::Checker;
use super::locate::Cel;
use super::problem::{PolicyErrors, Source, sort};
use super::raw::ENTRIES_MAX;
use super::read::{At, Fields, Keys, Reader};
use super::tree::{self, Node};
use crate::cel::Scope;

const FILE: Keys = Keys::known("a file of properties", &["properties"]);
const PROPERTY: Keys = Keys::known("a property", &["name", "never", "after"]);

/// What is to hold for every sequence of allowed calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Its name, unique among the properties.
    pub name: String,
    /// What may be true of no allowed call.
    pub never: String,
    /// It counts once this was true of an allowed call.
    pub after: Option<String>,
}

#[derive(Debug)]
pub(crate) struct RawProperty {
    name: At<String>,
    never: Cel,
    after: Option<Cel>,
}

/// Properties in a file of their own, for a policy of any kind. What their expressions say is read with the policy.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read_properties(name: &str, text: &[u8]) -> Result<Vec<Property>, PolicyErrors> {
    let source = Source::read(name, text).map_err(|problem| PolicyErrors::new(vec![*problem]))?;
    let (root, problems) = tree::read(&source);
    let Some(root) = root else { return Err(PolicyErrors::new(problems)) };
    let mut reader = Reader { source: &source, problems };
    let mut raw = Vec::new();
    if let Some(fields) = reader.fields(&root, &FILE)
        && reader.required(&fields, "properties").is_some()
    {
        raw = reader.properties(&fields);
    }
    let mut names = BTreeSet::new();
    for property in &raw {
        reader.named_once(&property.name, &mut names);
    }
    let Reader { mut problems, .. } = reader;
    if !problems.is_empty() {
        sort(&mut problems);
        return Err(PolicyErrors::new(problems));
    }
    let property = |RawProperty { name, never, after }| Property {
        name: name.value,
        never: never.text,
        after: after.map(|after| after.text),
    };
    Ok(raw.into_iter().map(property).collect())
}

impl Reader<'_> {
    fn named_once(&mut self, name: &At<String>, names: &mut BTreeSet<String>) {
        if !names.insert(name.value.clone()) {
            let message = format!("a second property with the name `{}`", name.value);
            self.error(&name.span, message);
        }
    }

    pub(crate) fn properties(&mut self, fields: &Fields<'_>) -> Vec<RawProperty> {
        let Some(node) = fields.get("properties") else { return Vec::new() };
        let nodes = self.list(node, "a list of properties").unwrap_or_default();
        self.few(&node.span, "properties", nodes.len());
        nodes.iter().take(ENTRIES_MAX).filter_map(|node| self.property(node)).collect()
    }

    fn property(&mut self, node: &Node) -> Option<RawProperty> {
        let fields = self.fields(node, &PROPERTY)?;
        let name = self.required(&fields, "name").and_then(|node| self.rule_name(node));
        let never = self.required(&fields, "never").and_then(|node| self.cel(node));
        let after = match fields.get("after") {
            Some(node) => Some(self.cel(node)?),
            None => None,
        };
        Some(RawProperty { name: name?, never: never?, after })
    }
}

impl Checker<'_, '_> {
    /// They may use what a rule may.
    pub(super) fn properties(&mut self, raw: Vec<RawProperty>, call: &Scope) -> Vec<Property> {
        let mut names = BTreeSet::new();
        let mut properties = Vec::with_capacity(raw.len());
        for RawProperty { name, never, after } in raw {
            self.reader.named_once(&name, &mut names);
            let after = after.map(|after| self.condition(after, call));
            let (Some(never), Some(after)) =
                (self.condition(never, call), after.map_or(Some(None), |after| after.map(Some)))
            else {
                continue;
            };
            let source = |condition: super::Condition| condition.expression.source().to_owned();
            properties.push(Property { name: name.value, never: source(never), after: after.map(source) });
        }
        properties
    }
}
