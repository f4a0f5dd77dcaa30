//! What a tool's arguments must look like: JSON Schema, compiled once, judged exactly.
//!
//! A [`Schema`] is made from a server's `inputSchema` (2020-12, or an older draft by `$schema`). A server is not
//! trusted: no reference is ever fetched, a schema that would take too long is refused when it is adopted
//! ([`SchemaError::Explodes`]), and patterns are bounded. Values are read where they lie: numbers are compared
//! as they were written, never rounded.
//!
//! ```
//! use framegate_guard::json::{Document, Limits};
//! use framegate_guard::schema::Schema;
//! let read = |text: &'static str| Document::read(text.into(), &Limits::default());
//! let schema = Schema::compile(
//!     read(r#"{"properties":{"amount":{"type":"number","maximum":9007199254740992}}}"#)?.root(),
//! )?;
//! assert!(schema.check(read(r#"{"amount":9007199254740992}"#)?.root()).is_empty());
//! let wrong = schema.check(read(r#"{"amount":9007199254740993}"#)?.root());
//! assert_eq!(wrong[0].message, "`amount`: expected at most 9007199254740992, got number 9007199254740993");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adapter;
mod coerce;
mod compile;
mod defaults;
mod expansion;
mod explain;
mod fuzz;
mod graph;
mod invisible;
mod keywords;
mod mismatch;
mod scalar;
mod shape;

pub(crate) use coerce::rewrite;
pub use coerce::{Change, Coerced, Edit, coerce};
pub use defaults::DEFAULTS_WORK_MAX;
pub use expansion::{
    CHAIN_MAX, DEPTH_ADOPTED, DEPTH_MAX, EXPANSION_MAX, GRAPH_MAX, WORK_MAX, WORK_ON_THREAD_MAX,
    WORK_REPAIRED_MAX,
};
pub(crate) use invisible::invisible_except;
pub use invisible::{Invisible, invisible};
pub use mismatch::{MISMATCHES_MAX, Mismatch, SHOWN_CHARS_MAX};
pub(crate) use shape::{Follow, in_place, member};

#[doc(hidden)]
pub use fuzz::fuzz;

use crate::json::{self, Document};
pub(crate) use adapter::is_integer;
use adapter::{Exact, Item};
use bytes::Bytes;
use jsonschema::Validator;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// The longest schema that is compiled.
pub const SCHEMA_BYTES_MAX: usize = 1 << 20;

/// A compiled schema. Shared between threads as it is.
pub struct Schema {
    source: Document,
    validator: Validator<Exact>,
    /// Whether an argument name fits one of the `patternProperties`.
    name_patterns: Option<Validator<Exact>>,
    /// How much work an instance is, by its depth.
    cost: expansion::Cost,
    /// A pattern with look-around or a back reference: bounded for one string, but not linear.
    backtracks: bool,
    names: shape::Names,
    /// Names under `properties` anywhere in it, put together when the first one is asked for: a call of ten thousand
    /// names must not walk the schema for each.
    anywhere: OnceLock<BTreeSet<String>>,
}

/// Why a schema cannot be used. Every call of its tool asks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// A schema that refers to itself without looking at any part of the value.
    #[error("the schema refers to itself without end at `{0}`")]
    Endless(String),
    /// Branches and references multiply to more evaluations than [`EXPANSION_MAX`].
    #[error("the schema would take {estimate} evaluations a value, the limit is {limit}")]
    Explodes {
        /// Evaluations of one value, in the worst case.
        estimate: u64,
        /// [`EXPANSION_MAX`].
        limit: u64,
    },
    /// Not a valid schema of its draft.
    #[error("the schema is not valid at `{pointer}`: {reason}")]
    Invalid {
        /// JSON Pointer into the schema.
        pointer: String,
        /// What is wrong there.
        reason: String,
    },
    /// More than [`SCHEMA_BYTES_MAX`] bytes or [`GRAPH_MAX`] subschemas, nested deeper than
    /// [`DEPTH_MAX`], or a chain longer than [`CHAIN_MAX`].
    #[error("the schema is too large: {0}")]
    TooLarge(String),
    /// A `$schema` that names no known draft.
    #[error("unknown draft `{0}`")]
    UnknownDraft(String),
    /// A reference to something that is not in the schema. Nothing is ever fetched.
    #[error("reference `{0}` does not lead into the schema; references are never fetched")]
    Unresolved(String),
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schema").field("source", &self.source.root()).finish_non_exhaustive()
    }
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// [`SchemaError`].
    pub fn compile(source: json::Value<'_>) -> Result<Schema, SchemaError> {
        compile::compile(source)
    }

    /// A tool's `inputSchema` or `outputSchema` as a listing gives it: a missing one accepts every object.
    ///
    /// # Errors
    /// [`SchemaError`].
    pub fn adopt(source: Option<json::Value<'_>>) -> Result<Schema, SchemaError> {
        match source {
            Some(source) => Schema::compile(source),
            None => Schema::any_object(),
        }
    }

    /// `{"type":"object"}`.
    ///
    /// # Errors
    /// None in practice.
    pub fn any_object() -> Result<Schema, SchemaError> {
        let source = Document::read(Bytes::from_static(br#"{"type":"object"}"#), &json::Limits::default())
            .map_err(|fault| SchemaError::TooLarge(fault.to_string()))?;
        Schema::compile(source.root())
    }

    /// The schema as it was given.
    #[must_use]
    pub fn source(&self) -> &Document {
        &self.source
    }

    /// All that does not fit, at most [`MISMATCHES_MAX`]; empty when the value is valid.
    #[must_use]
    pub fn check(&self, value: json::Value<'_>) -> Vec<Mismatch> {
        explain::check(self, value)
    }

    /// Whether nothing is wrong: [`Schema::check`] without the words.
    #[must_use]
    pub fn accepts(&self, value: json::Value<'_>) -> bool {
        explain::accepts(self, value)
    }

    /// The same as [`Schema::check`] for text that is still to be read, as a result's `structuredContent`. A text that cannot be
    /// read strictly is a mismatch of the whole. Runs anywhere: it holds no lock and asks nobody.
    #[must_use]
    pub fn check_text(&self, text: Bytes) -> Vec<Mismatch> {
        match Document::read(text, &json::Limits::default()) {
            Ok(document) => self.check(document.root()),
            Err(fault) => vec![Mismatch::unreadable(&fault)],
        }
    }

    /// Whether checking this value may take longer than a pump's thread should.
    #[must_use]
    pub fn is_expensive_for(&self, value: json::Value<'_>) -> bool {
        self.backtracks || self.work(value) > WORK_ON_THREAD_MAX
    }

    /// Evaluations that checking this value takes, in the worst case.
    #[must_use]
    pub fn work(&self, value: json::Value<'_>) -> u64 {
        explain::work(self, value)
    }

    /// Evaluations of one value in the worst case.
    #[must_use]
    pub fn estimate(&self) -> u64 {
        self.cost.estimate()
    }

    /// Whether a name stands under `properties`, at any depth.
    #[must_use]
    pub fn declares(&self, name: &str) -> bool {
        let names = || {
            let known = self.source.all().filter_map(|part| part.get("properties"));
            known.flat_map(|known| known.members().map(|(name, _)| name.to_owned())).collect()
        };
        self.anywhere.get_or_init(names).contains(name)
    }

    /// The argument names that the schema declares, as written.
    #[must_use]
    pub fn property_names(&self) -> &[String] {
        &self.names.declared
    }

    /// The argument names that must be there.
    #[must_use]
    pub fn required_names(&self) -> &[String] {
        &self.names.required
    }

    /// Whether the schema itself accepts arguments that it does not declare.
    #[must_use]
    pub fn allows_undeclared(&self) -> bool {
        self.names.open
    }

    /// Names of arguments that the schema does not declare, whether it accepts them or not.
    #[must_use]
    pub fn undeclared(&self, arguments: json::Value<'_>) -> Vec<String> {
        let known = |name: &str| {
            self.names.is_declared(name)
                || self.name_patterns.as_ref().is_some_and(|patterns| patterns.is_valid(Item::Text(name)))
        };
        arguments.members().map(|(name, _)| name).filter(|name| !known(name)).map(str::to_owned).collect()
    }

    /// The arguments with the schema's defaults filled in, at the top level and in objects that are there.
    /// A default of `null` is left out: rules test for absence. `None`: it is more work than
    /// [`DEFAULTS_WORK_MAX`].
    #[must_use]
    pub fn with_defaults(&self, arguments: json::Value<'_>) -> Option<Document> {
        defaults::with_defaults(self.source.root(), arguments)
    }
}

#[cfg(test)]
mod tests;
