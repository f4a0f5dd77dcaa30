//! Defaults that the schema gives for members that were not sent.

use super::shape::{self, Follow};
use crate::json::{Document, Kind, Limits, Value};
use bytes::Bytes;

/// See [`super::Schema::with_defaults`].
pub(super) fn with_defaults(schema: Value<'_>, arguments: Value<'_>) -> Document {
    let source = arguments.raw();
    let mut filler = Filler { root: schema, base: arguments.span().start, inserts: Vec::new() };
    filler.fill(&[schema], arguments);
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
    Document::read(Bytes::from(text), &limits)
        .or_else(|_| Document::read(Bytes::copy_from_slice(source.as_bytes()), &limits))
        .unwrap_or_else(|_| Document::empty_object())
}

struct Filler<'s> {
    root: Value<'s>,
    base: usize,
    /// Text to put before the byte at that position of the arguments.
    inserts: Vec<(usize, String)>,
}

impl<'s> Filler<'s> {
    // The arguments' depth bounds the recursion.
    fn fill(&mut self, schemas: &[Value<'s>], object: Value<'_>) {
        if object.kind() != Kind::Object {
            return;
        }
        let mut views = Vec::new();
        for schema in schemas {
            views.extend(shape::in_place(self.root, *schema, Follow::Certain));
        }
        let mut missing = String::new();
        let mut filled: Vec<&str> = Vec::new();
        let declared = views.iter().filter_map(|view| view.get("properties")).flat_map(Value::members);
        for (name, schema) in declared {
            if filled.contains(&name) || object.get(name).is_some() {
                continue;
            }
            let Some(default) = self.default_of(schema) else { continue };
            filled.push(name);
            if !object.is_empty() || !missing.is_empty() {
                missing.push(',');
            }
            missing.push_str(&serde_json::Value::from(name).to_string());
            missing.push(':');
            missing.push_str(default.raw());
        }
        if !missing.is_empty() {
            self.inserts.push((object.span().end.saturating_sub(self.base + 1), missing));
        }
        for (name, member) in object.members().filter(|(_, member)| member.kind() == Kind::Object) {
            self.fill(&shape::member(&views, name), member);
        }
    }

    fn default_of(&self, schema: Value<'s>) -> Option<Value<'s>> {
        let views = shape::in_place(self.root, schema, Follow::Certain);
        views.iter().find_map(|view| view.get("default")).filter(|default| !default.is_null())
    }
}
