//! `arguments_valid`: the arguments fit the tool's schema, and hold nothing that cannot be seen.

use crate::finding::{Effect, Finding, NextStep};
use crate::form::{Lack, missing, only_missing};
use crate::json::{Document, Kind, Value};
use crate::policy::{Arguments, Invisible, Missing, ToolOptions, Undeclared};
use crate::refusal::{NAME_CHARS_MAX, plain};
use crate::schema::{Coerced, MISMATCHES_MAX, Mismatch, Schema, invisible_except, rewrite};

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
    /// Required arguments that are not there, where nothing else is wrong with them: a person can complete the call.
    pub(crate) missing: Vec<String>,
}

/// Judges the arguments by the options.
pub(crate) fn check(options: &ToolOptions, schema: Result<&Schema, &str>, arguments: Value<'_>) -> Checked {
    let mut findings = Vec::new();
    if arguments.kind() != Kind::Object {
        let reason = format!("the arguments are not a JSON object but {}", a(arguments.kind()));
        findings.push(deny(reason));
        return Checked { findings, coerced: None, are_valid: false, missing: Vec::new() };
    }
    let Fit { wrong, coerced, missing } = Fit::of(options, schema.ok(), arguments);
    unseen(options, arguments, &mut findings);
    let of_schema = wrong.len();
    findings.extend(wrong.into_iter().map(deny));
    match schema {
        Err(why) if needs_schema(options) => {
            let reason = format!("the tool's schema cannot be used: {why}");
            findings.push(Finding::new(SCHEMA, Effect::Ask, NextStep::TellUser, reason));
        }
        Err(_) => {}
        Ok(schema) => {
            let named = coerced.as_ref().map_or(arguments, |(_, document): &(_, Document)| document.root());
            extra(options, schema, named, &mut findings);
        }
    }
    let found = findings.iter().filter(|finding| finding.check == NAME).count();
    let missing = if found > of_schema { Vec::new() } else { missing };
    Checked { coerced: coerced.filter(|_| found == 0), are_valid: found == 0, missing, findings }
}

/// Whether the options ask for anything that only a schema can tell.
pub(crate) fn needs_schema(options: &ToolOptions) -> bool {
    options.arguments != Arguments::Unchecked || options.undeclared == Undeclared::Refuse
}

/// How the arguments fit the schema, and what the policy requires besides.
#[derive(Default)]
struct Fit {
    /// What does not, in words.
    wrong: Vec<String>,
    /// What was rewritten so that the rest fits.
    coerced: Option<(Coerced, Document)>,
    /// What is missing, where that is all that is wrong.
    missing: Vec<String>,
}

impl Fit {
    fn of(options: &ToolOptions, schema: Option<&Schema>, arguments: Value<'_>) -> Fit {
        let checked = schema.filter(|_| options.arguments != Arguments::Unchecked);
        let mut wrong = checked.map_or_else(Vec::new, |schema| schema.check(arguments));
        let requires = options.missing() != Missing::Pass
            && (checked.is_none() || options.ask.empty_is_missing || !options.ask.required.is_empty());
        if wrong.is_empty() && !requires {
            return Fit::default();
        }
        let repaired = checked
            .filter(|_| options.arguments == Arguments::Coerce && !wrong.is_empty())
            .and_then(|schema| repaired(schema, arguments));
        let (mut read, mut coerced) = (arguments, None);
        if let Some((_, document, left)) = &repaired
            && only_missing(left, &missing(schema, &options.ask, Some(document.root())))
        {
            // Rewritten only where that leaves nothing wrong: a half-mended call is refused as it came.
            (read, wrong) = (document.root(), left.clone());
            coerced = repaired.as_ref().map(|(coerced, document, _)| (coerced.clone(), document.clone()));
        }
        let lacks = missing(schema, &options.ask, Some(read));
        let are_all = only_missing(&wrong, &lacks);
        if options.missing() == Missing::Pass {
            let wrong = if are_all { Vec::new() } else { in_words(wrong, &[]) };
            return Fit { wrong, coerced, missing: Vec::new() };
        }
        let missing = lacks.iter().filter(|_| are_all).map(|lack| lack.name.clone()).collect();
        let coerced = coerced.filter(|_| lacks.is_empty());
        Fit { wrong: in_words(wrong, &lacks), coerced, missing }
    }
}

/// The arguments as they are after repairs, and what is wrong with them still.
fn repaired(schema: &Schema, arguments: Value<'_>) -> Option<(Coerced, Document, Vec<Mismatch>)> {
    let coerced = rewrite(schema, arguments);
    let document = coerced.apply(arguments).filter(|_| !coerced.edits.is_empty())?;
    let left = schema.check(document.root());
    Some((coerced, document, left))
}

/// The schema's own words, and the policy's about what the schema does not ask for.
fn in_words(wrong: Vec<Mismatch>, lacks: &[Lack]) -> Vec<String> {
    let own: Vec<String> =
        lacks.iter().filter(|lack| !wrong.iter().any(|wrong| lack.is_meant(wrong))).map(required).collect();
    wrong.into_iter().map(|mismatch| mismatch.message).chain(own).collect()
}

fn required(lack: &Lack) -> String {
    let name = plain::line(&lack.name, NAME_CHARS_MAX);
    format!("`{name}`: expected a value: it is required, got {}", lack.lacking)
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
