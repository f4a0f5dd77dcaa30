//! From a server's text to a validator.

use super::adapter::Exact;
use super::keywords::{NUMERIC, PREFIX, register};
use super::{SCHEMA_BYTES_MAX, Schema, SchemaError, expansion, graph, shape};
use crate::json::{Document, Kind, Limits, Value};
use bytes::Bytes;
use jsonschema::{Draft, PatternOptions, Retrieve, Uri, ValidationOptions, Validator};
use serde_json::Map;
use std::sync::{Arc, OnceLock};

/// Steps back that one pattern may take on one string before it counts as not matching. A pattern without
/// look-around or back references takes none: it runs in linear time.
const BACKTRACKS_MAX: usize = 20_000;

/// Bytes of one compiled pattern: repetition within repetition multiplies.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// See [`Schema::compile`].
pub(super) fn compile(source: Value<'_>) -> Result<Schema, SchemaError> {
    if source.raw().len() > SCHEMA_BYTES_MAX {
        return Err(SchemaError::TooLarge(format!("more than {SCHEMA_BYTES_MAX} bytes")));
    }
    let limits = Limits { depth: expansion::DEPTH_MAX, ..Limits::default() };
    let source = Document::read(Bytes::copy_from_slice(source.raw().as_bytes()), &limits)
        .map_err(|fault| SchemaError::TooLarge(fault.to_string()))?;
    let draft = draft_of(source.root())?;
    let cost = expansion::measure(&graph::Graph::build(source.root(), draft)?)?;
    let validator = build(&rewrite(source.root(), draft), draft)?;
    let names = shape::Names::of(source.root());
    let name_patterns = match &names.patterns[..] {
        [] => None,
        patterns => {
            let any = patterns.iter().map(|pattern| serde_json::json!({ "pattern": pattern }));
            Some(build(&serde_json::json!({ "anyOf": any.collect::<Vec<_>>() }), draft)?)
        }
    };
    let backtracks = source.root().document().all().any(has_backtracking_pattern);
    Ok(Schema { source, validator, name_patterns, cost, backtracks, names, anywhere: OnceLock::new() })
}

fn has_backtracking_pattern(value: Value<'_>) -> bool {
    let backtracks = |pattern: &str| {
        let ahead = ["(?=", "(?!", "(?<=", "(?<!", "\\k<"].iter().any(|mark| pattern.contains(mark));
        let mut pairs = pattern.bytes().zip(pattern.bytes().skip(1));
        ahead || pairs.any(|(mark, digit)| mark == b'\\' && matches!(digit, b'1'..=b'9'))
    };
    let own = value.get("pattern").and_then(Value::as_str).is_some_and(backtracks);
    own || value
        .get("patternProperties")
        .is_some_and(|all| all.members().any(|(pattern, _)| backtracks(pattern)))
}

fn draft_of(schema: Value<'_>) -> Result<Draft, SchemaError> {
    let Some(named) = schema.get("$schema") else { return Ok(Draft::Draft202012) };
    let name = named.as_str().unwrap_or_else(|| named.raw());
    match Draft::from_schema_uri(name) {
        Draft::Unknown => Err(SchemaError::UnknownDraft(super::mismatch::clip(name))),
        known => Ok(known),
    }
}

fn build(schema: &serde_json::Value, draft: Draft) -> Result<Validator<Exact>, SchemaError> {
    let options: ValidationOptions<'_, Arc<dyn Retrieve>, Exact> = jsonschema::options_for::<Exact>();
    register(options)
        .with_draft(draft)
        .with_retriever(Nowhere)
        // `format` says what a string is meant to be; validators disagree about nearly every one of them.
        .should_validate_formats(false)
        .with_pattern_options(
            PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS_MAX).size_limit(PATTERN_BYTES_MAX),
        )
        .build(schema)
        .map_err(|error| match error.kind() {
            jsonschema::error::ValidationErrorKind::Referencing(reference) => {
                SchemaError::Unresolved(super::mismatch::clip_long(&reference.to_string()))
            }
            _ => SchemaError::Invalid {
                pointer: super::mismatch::clip_long(error.instance_path().as_str()),
                reason: super::mismatch::clip_long(&error.masked_with("it").to_string()),
            },
        })
}

/// Refuses every reference that leads out of the schema.
struct Nowhere;

impl Retrieve for Nowhere {
    fn retrieve(
        &self,
        _: &Uri<String>,
    ) -> Result<serde_json::Value, Box<dyn std::error::Error + Send + Sync>> {
        Err("references are never fetched".into())
    }
}

/// Keywords that say nothing about a value; they may be long, and a number in them may be anything.
fn is_annotation(name: &str, value: Value<'_>) -> bool {
    match name {
        "default" | "example" | "examples" => true,
        "$comment" | "description" | "title" => value.kind() == Kind::String,
        _ => false,
    }
}

/// Keywords whose members are names, not keywords.
pub(super) const NAME_MAPS: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// The schema for the validator: keywords that compare numbers under our names (see [`super::keywords`]).
// The reader's limit bounds the recursion.
fn rewrite(schema: Value<'_>, draft: Draft) -> serde_json::Value {
    match schema.kind() {
        Kind::Object => serde_json::Value::Object(keywords(schema, draft)),
        Kind::Array => schema.items().map(|item| rewrite(item, draft)).collect(),
        // A number beyond `f64` where none belongs stays text, and is refused for it.
        Kind::Number => {
            serde_json::from_str(schema.raw()).unwrap_or_else(|_| serde_json::Value::from(schema.raw()))
        }
        _ => schema.to_serde(),
    }
}

fn keywords(schema: Value<'_>, draft: Draft) -> Map<String, serde_json::Value> {
    let mut out = Map::new();
    for (name, value) in schema.members() {
        if is_annotation(name, value) || name.starts_with(PREFIX) {
            continue;
        }
        let (name, value) = match (name, value.kind()) {
            ("const", _) if draft != Draft::Draft4 => ours(name, value),
            ("enum", Kind::Array) => ours(name, value),
            // Draft 4 writes an exclusive bound as a flag beside the bound: here it goes into the name.
            ("minimum", Kind::Number) if exclusive(schema, draft, "exclusiveMinimum") == Some(true) => {
                ours("exclusiveMinimum", value)
            }
            ("maximum", Kind::Number) if exclusive(schema, draft, "exclusiveMaximum") == Some(true) => {
                ours("exclusiveMaximum", value)
            }
            ("exclusiveMinimum" | "exclusiveMaximum", _) if draft == Draft::Draft4 => {
                let bound = if name == "exclusiveMinimum" { "minimum" } else { "maximum" };
                if value.kind() == Kind::Bool && schema.get(bound).is_some() {
                    continue;
                }
                (name.to_owned(), rewrite(value, draft))
            }
            (_, Kind::Number) if NUMERIC.contains(&name) => ours(name, value),
            (_, Kind::Object) if NAME_MAPS.contains(&name) => (name.to_owned(), named(value, draft)),
            _ => (name.to_owned(), rewrite(value, draft)),
        };
        out.insert(name, value);
    }
    out
}

fn exclusive(schema: Value<'_>, draft: Draft, flag: &str) -> Option<bool> {
    if draft == Draft::Draft4 { schema.get(flag).and_then(Value::as_bool) } else { None }
}

fn ours(name: &str, value: Value<'_>) -> (String, serde_json::Value) {
    (format!("{PREFIX}{name}"), value.raw().into())
}

fn named(map: Value<'_>, draft: Draft) -> serde_json::Value {
    map.members().map(|(name, schema)| (name.to_owned(), rewrite(schema, draft))).collect()
}
