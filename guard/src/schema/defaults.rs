//! Defaults that the schema gives for members that were not sent.

use super::shape::{self, Follow};
use crate::json::{Document, Kind, Limits, Value};
use bytes::Bytes;
use std::collections::{HashMap, HashSet};

/// What filling defaults in may cost: members of the schema that are looked at, and bytes that are added. A schema
/// that refers to itself adds all its defaults to each object of the arguments.
pub const DEFAULTS_WORK_MAX: usize = 2_000_000;

/// See [`super::Schema::with_defaults`].
pub(super) fn with_defaults(schema: Value<'_>, arguments: Value<'_>) -> Option<Document> {
    let source = arguments.raw();
    let mut filler = Filler {
        root: schema,
        base: arguments.span().start,
        inserts: Vec::new(),
        look: look(schema),
        left: DEFAULTS_WORK_MAX,
        known: HashMap::new(),
    };
    filler.fill(&[schema], arguments)?;
    let mut text = String::with_capacity(source.len());
    let mut copied = 0;
    filler.inserts.sort_by_key(|(at, _)| *at);
    for (at, members) in &filler.inserts {
        text.push_str(source.get(copied..*at).unwrap_or_default());
        text.push_str(members);
        copied = *at;
    }
    text.push_str(source.get(copied..).unwrap_or_default());
    // A default may be deeper than the arguments; what was read before can be read again.
    let limits = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
    Document::read(Bytes::from(text), &limits).ok()
}

/// What a look at one subschema costs: an anchor is searched for in all of the schema.
fn look(schema: Value<'_>) -> usize {
    let all = || schema.document().all();
    let is_anchor = |value: &Value<'_>| {
        value
            .get("$ref")
            .and_then(Value::as_str)
            .is_some_and(|to| to.starts_with('#') && !to.starts_with("#/"))
    };
    if all().any(|value| is_anchor(&value)) { all().count() } else { 1 }
}

struct Filler<'s> {
    root: Value<'s>,
    base: usize,
    /// Text to put before the byte at that position of the arguments.
    inserts: Vec<(usize, String)>,
    /// What a look at one subschema costs.
    look: usize,
    /// Work that may still be done.
    left: usize,
    /// Defaults of subschemas, by their place in the schema.
    known: HashMap<u32, Option<Value<'s>>>,
}

impl<'s> Filler<'s> {
    /// `None` when it is too much work. The arguments' depth bounds the recursion.
    fn fill(&mut self, schemas: &[Value<'s>], object: Value<'_>) -> Option<()> {
        if object.kind() != Kind::Object {
            return Some(());
        }
        let mut views = Vec::new();
        for schema in schemas {
            views.extend(shape::in_place(self.root, *schema, Follow::Certain));
        }
        self.spend(object.len() + (1 + views.len()) * self.look)?;
        let mut present: HashSet<&str> = object.members().map(|(name, _)| name).collect();
        let mut missing = String::new();
        let declared = views.iter().filter_map(|view| view.get("properties")).flat_map(Value::members);
        for (name, schema) in declared {
            self.spend(1)?;
            if present.contains(name) {
                continue;
            }
            let Some(default) = self.default_of(schema)? else { continue };
            present.insert(name);
            if !object.is_empty() || !missing.is_empty() {
                missing.push(',');
            }
            missing.push_str(&serde_json::Value::from(name).to_string());
            missing.push(':');
            missing.push_str(default.raw());
            self.spend(name.len() + default.raw().len())?;
        }
        if !missing.is_empty() {
            self.inserts.push((object.span().end.saturating_sub(self.base + 1), missing));
        }
        for (name, member) in object.members().filter(|(_, member)| member.kind() == Kind::Object) {
            // Each is looked up by name among the members of each view.
            let members: usize = views.iter().filter_map(|view| view.get("properties")).map(Value::len).sum();
            self.spend(members)?;
            self.fill(&shape::member(&views, name), member)?;
        }
        Some(())
    }

    fn default_of(&mut self, schema: Value<'s>) -> Option<Option<Value<'s>>> {
        if let Some(known) = self.known.get(&schema.ordinal()) {
            return Some(*known);
        }
        let views = shape::in_place(self.root, schema, Follow::Certain);
        self.spend(views.len() * self.look)?;
        let default = views.iter().find_map(|view| view.get("default")).filter(|default| !default.is_null());
        self.known.insert(schema.ordinal(), default);
        Some(default)
    }

    fn spend(&mut self, work: usize) -> Option<()> {
        self.left = self.left.checked_sub(work)?;
        Some(())
    }
}
