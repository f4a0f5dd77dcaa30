//! `properties`: what `framegate prove` is to show of the policy. They decide nothing.

use std::collections::BTreeSet;

use super::check::Checker;
use super::locate::Cel;
use super::raw::ENTRIES_MAX;
use super::read::{At, Fields, Keys, Reader};
use super::tree::Node;
use crate::cel::Scope;

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

impl Reader<'_> {
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
            if !names.insert(name.value.clone()) {
                let message = format!("a second property with the name `{}`", name.value);
                self.reader.error(&name.span, message);
            }
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
