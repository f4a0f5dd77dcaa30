//! Repairing a value that has the right meaning and the wrong type: `"2"` → `2`, `"no"` → `false`.
//!
//! Only the bytes of such a value change; everything around it stays as it was written. A value that any
//! alternative of its schema already accepts by type is left alone, and so is one that the schema gives by
//! `enum` or `const`. The repair counts only when the whole then fits the schema.

use super::mismatch::{Place, clip};
use super::scalar::Target;
use super::shape::{self, Follow};
use super::{Schema, WORK_REPAIRED_MAX};
use crate::json::{Document, Kind, Limits, Value};
use bytes::Bytes;
use std::ops::Range;

/// Bytes of a source that are replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Which, in the source of the document that the value belongs to.
    pub range: Range<usize>,
    /// By what.
    pub bytes: Bytes,
}

/// One value that was rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where, for people: `a.b[0]`.
    pub path: String,
    /// Where, as a JSON Pointer.
    pub pointer: String,
    /// As it was written, clipped.
    pub from: String,
    /// As it is sent.
    pub to: String,
}

/// What a repair does; nothing when none is needed or none helps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coerced {
    /// In the order of the source, without overlap.
    pub edits: Vec<Edit>,
    /// The same in words, one each.
    pub changes: Vec<Change>,
}

/// Values that one repair rewrites.
const CHANGES_MAX: usize = 1024;

/// Rewrites values to the types that the schema asks for, if the arguments fit the schema afterwards.
#[must_use]
pub fn coerce(schema: &Schema, arguments: Value<'_>) -> Coerced {
    let done = rewrite(schema, arguments);
    match done.apply(arguments).filter(|_| !done.edits.is_empty()) {
        Some(fixed) if schema.accepts(fixed.root()) => done,
        _ => Coerced::default(),
    }
}

/// The same rewriting, whether the arguments fit the schema afterwards or not.
pub(crate) fn rewrite(schema: &Schema, arguments: Value<'_>) -> Coerced {
    if schema.work(arguments) > WORK_REPAIRED_MAX || schema.accepts(arguments) {
        return Coerced::default();
    }
    let root = schema.source.root();
    let mut repair = Repair { root, done: Coerced::default() };
    repair.value(&[root], arguments, &Place::default());
    if repair.done.edits.is_empty() || repair.done.edits.len() > CHANGES_MAX {
        return Coerced::default();
    }
    repair.done
}

impl Coerced {
    /// The value after the edits, as a document of its own. `None` where it cannot be read (a number whose
    /// exponent is out of range).
    #[must_use]
    pub fn apply(&self, value: Value<'_>) -> Option<Document> {
        let (source, base) = (value.raw(), value.span().start);
        let mut text = String::with_capacity(source.len());
        let mut copied = 0;
        for edit in &self.edits {
            let start = edit.range.start.checked_sub(base)?;
            text.push_str(source.get(copied..start)?);
            text.push_str(std::str::from_utf8(&edit.bytes).ok()?);
            copied = edit.range.end.checked_sub(base)?;
        }
        text.push_str(source.get(copied..)?);
        Document::read(Bytes::from(text), &Limits::default()).ok()
    }
}

struct Repair<'s> {
    root: Value<'s>,
    done: Coerced,
}

impl<'s> Repair<'s> {
    // The arguments' depth bounds the recursion.
    fn value(&mut self, schemas: &[Value<'s>], value: Value<'_>, place: &Place) {
        if schemas.is_empty() || self.done.edits.len() > CHANGES_MAX {
            return;
        }
        let mut views = Vec::new();
        for schema in schemas {
            views.extend(shape::in_place(self.root, *schema, Follow::Possible));
        }
        match value.kind() {
            Kind::Object => {
                for (name, member) in value.members() {
                    self.value(&shape::member(&views, name), member, &place.member(name));
                }
            }
            Kind::Array => {
                for (position, item) in value.items().enumerate() {
                    self.value(&shape::item(&views, position), item, &place.item(position));
                }
            }
            Kind::Null => {}
            Kind::Bool | Kind::Number | Kind::String => self.scalar(&views, value, place),
        }
    }

    fn scalar(&mut self, views: &[Value<'s>], value: Value<'_>, place: &Place) {
        let typed: Vec<&Value<'s>> = views.iter().filter(|view| view.get("type").is_some()).collect();
        if typed.iter().any(|view| types(**view).any(|name| is_of(value, name))) {
            return;
        }
        // An enumeration says which values there are: guessing at them is not a repair.
        let listed = |view: &Value<'s>| view.get("enum").is_some() || view.get("const").is_some();
        if views.iter().any(|view| view.get("type").is_none() && listed(view)) {
            return;
        }
        let open = typed.into_iter().filter(|view| !listed(view));
        let targets = open.flat_map(|view| types(*view)).filter_map(Target::of);
        let Some(to) = targets.into_iter().find_map(|target| target.rewrite(value)) else { return };
        self.done.changes.push(Change {
            path: place.path.clone(),
            pointer: place.pointer.clone(),
            from: clip(value.raw()),
            to: clip(&to),
        });
        self.done.edits.push(Edit { range: value.span(), bytes: to.into() });
    }
}

/// The names in `type`, alone or in a list.
fn types(view: Value<'_>) -> impl Iterator<Item = &str> {
    let kind = view.get("type");
    let alone = kind.and_then(Value::as_str);
    alone.into_iter().chain(kind.into_iter().flat_map(Value::items).filter_map(Value::as_str))
}

fn is_of(value: Value<'_>, name: &str) -> bool {
    match value.kind() {
        Kind::String => name == "string",
        Kind::Bool => name == "boolean",
        Kind::Number if name == "integer" => super::adapter::is_integer(value.raw()),
        Kind::Number => name == "number",
        Kind::Null | Kind::Array | Kind::Object => true,
    }
}
