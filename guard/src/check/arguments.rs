//! `arguments_valid`: the arguments fit the tool's schema, and hold nothing that cannot be seen.

use crate::finding::{Effect, Finding, NextStep};
use crate::json::{Document, Kind, Value};
use crate::policy::{Arguments, Invisible, ToolOptions, Undeclared};
use crate::refusal::{NAME_CHARS_MAX, plain};
use crate::schema::{Coerced, MISMATCHES_MAX, Schema, coerce, invisible_except};

/// The check's name.
pub(crate) const NAME: &str = "arguments_valid";
/// Its sibling: the schema itself cannot be used.
pub(crate) const SCHEMA: &str = "schema_readable";

/// Declared names that a reason lists.
const DECLARED_SHOWN_MAX: usize = 24;

/// What became of the arguments.
pub(crate) struct Checked {
    /// Everything that does not fit.
    pub(crate) findings: Vec<Finding>,
    /// What was rewritten so that they fit, and the arguments after that.
    pub(crate) coerced: Option<(Coerced, Document)>,
    /// They can be read as what the schema says: checks that read arguments make sense.
    pub(crate) are_valid: bool,
}

/// Judges the arguments by the options.
pub(crate) fn check(options: &ToolOptions, schema: Result<&Schema, &str>, arguments: Value<'_>) -> Checked {
    let mut findings = Vec::new();
    if arguments.kind() != Kind::Object {
        let reason = format!("the arguments are not a JSON object but {}", a(arguments.kind()));
        findings.push(deny(reason));
        return Checked { findings, coerced: None, are_valid: false };
    }
    unseen(options, arguments, &mut findings);
    let mut coerced = None;
    match schema {
        Err(why) if needs_schema(options) => {
            let reason = format!("the tool's schema cannot be used: {why}");
            findings.push(Finding::new(SCHEMA, Effect::Ask, NextStep::TellUser, reason));
        }
        Err(_) => {}
        Ok(schema) => {
            if options.arguments != Arguments::Unchecked {
                coerced = fit(schema, options.arguments, arguments, &mut findings);
            }
            let named = coerced.as_ref().map_or(arguments, |(_, document): &(_, Document)| document.root());
            extra(options, schema, named, &mut findings);
        }
    }
    let are_valid = !findings.iter().any(|finding| finding.check == NAME);
    Checked { findings, coerced: coerced.filter(|_| are_valid), are_valid }
}

/// Whether the options ask for anything that only a schema can tell.
pub(crate) fn needs_schema(options: &ToolOptions) -> bool {
    options.arguments != Arguments::Unchecked || options.undeclared == Undeclared::Refuse
}

fn fit(
    schema: &Schema,
    mode: Arguments,
    arguments: Value<'_>,
    findings: &mut Vec<Finding>,
) -> Option<(Coerced, Document)> {
    let wrong = schema.check(arguments);
    if wrong.is_empty() {
        return None;
    }
    if mode == Arguments::Coerce {
        let coerced = coerce(schema, arguments);
        // Rewritten only when that makes the whole valid: a half-mended call is refused as it came.
        if let Some(document) = coerced.apply(arguments)
            && !coerced.edits.is_empty()
            && schema.check(document.root()).is_empty()
        {
            return Some((coerced, document));
        }
    }
    findings.extend(wrong.into_iter().map(|mismatch| deny(mismatch.message)));
    None
}

fn extra(options: &ToolOptions, schema: &Schema, arguments: Value<'_>, findings: &mut Vec<Finding>) {
    if options.undeclared == Undeclared::Schema {
        return;
    }
    let undeclared = schema.undeclared(arguments);
    if undeclared.is_empty() {
        return;
    }
    // Each list is bounded: a call with a thousand names must not write the schema's thousand names for each.
    let quoted = |name: &String| format!("`{}`", plain::line(name, NAME_CHARS_MAX));
    let mut declared: Vec<String> =
        schema.property_names().iter().take(DECLARED_SHOWN_MAX).map(quoted).collect();
    if schema.property_names().len() > DECLARED_SHOWN_MAX {
        declared.push("…".to_owned());
    }
    let known = if declared.is_empty() { "no arguments".to_owned() } else { declared.join(", ") };
    for name in undeclared.iter().take(MISMATCHES_MAX).map(quoted) {
        findings.push(deny(format!("{name}: the tool declares no such argument; it declares {known}")));
    }
}

fn unseen(options: &ToolOptions, arguments: Value<'_>, findings: &mut Vec<Finding>) {
    let is_free = |argument: &str| options.invisible.of(argument) == Invisible::Allow;
    for found in invisible_except(arguments, is_free) {
        let points: Vec<String> =
            found.code_points.iter().map(|c| format!("U+{:04X}", u32::from(*c))).collect();
        let place = if found.in_key { "in the name of argument" } else { "in argument" };
        findings.push(deny(format!("invisible characters {place} `{}` ({})", found.path, points.join(", "))));
    }
}

fn deny(reason: String) -> Finding {
    Finding::new(NAME, Effect::Deny, NextStep::FixArguments, reason)
}

fn a(kind: Kind) -> String {
    match kind {
        Kind::Null => "null".to_owned(),
        Kind::Array | Kind::Object => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}
