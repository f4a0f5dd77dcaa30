//! One function for the fuzzer; also run over a corpus as an ordinary test.

use super::{Schema, coerce, invisible};
use crate::json::{Document, Kind, Limits, Value};
use bytes::Bytes;

/// Takes a schema, a line feed and an instance; asserts what must hold for any of them.
///
/// # Panics
/// When something does not hold.
pub fn fuzz(bytes: &[u8]) {
    let split = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (schema, instance) = bytes.split_at(split);
    let read = |bytes: &[u8]| Document::read(Bytes::copy_from_slice(bytes), &Limits::default()).ok();
    let instance = instance.get(1..).and_then(read).unwrap_or_else(Document::empty_object);
    let _ = invisible(instance.root());
    let Some(schema) = read(schema) else { return };
    let Ok(schema) = Schema::compile(schema.root()) else { return };
    let mismatches = schema.check(instance.root());
    assert!(mismatches.len() <= super::MISMATCHES_MAX);
    assert!(mismatches.iter().all(|mismatch| mismatch.message.len() < 16 * 1024));
    let _ = schema.undeclared(instance.root());
    let _ = schema.with_defaults(instance.root());
    let coerced = coerce(&schema, instance.root());
    if coerced.edits.is_empty() {
        return;
    }
    assert!(!mismatches.is_empty() || coerced.changes.len() == coerced.edits.len());
    let fixed = coerced.apply(instance.root());
    assert!(fixed.is_some_and(|fixed| {
        schema.check(fixed.root()).is_empty() && same_but_scalars(instance.root(), fixed.root())
    }));
}

/// The same arrays, objects and names; single values may differ.
fn same_but_scalars(left: Value<'_>, right: Value<'_>) -> bool {
    let container = |kind| matches!(kind, Kind::Array | Kind::Object);
    if !container(left.kind()) && !container(right.kind()) {
        return true;
    }
    left.kind() == right.kind()
        && left.len() == right.len()
        && left.items().zip(right.items()).all(|(left, right)| same_but_scalars(left, right))
        && left
            .members()
            .zip(right.members())
            .all(|(left, right)| left.0 == right.0 && same_but_scalars(left.1, right.1))
}
