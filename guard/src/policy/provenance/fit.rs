//! What the options cannot mean: for a tool's schema, or beside each other.

use std::ops::Range;
use std::sync::Arc;

use super::super::bind::schema_has;
use super::super::merge::Entries;
use super::super::problem::{Problem, Source, nearest};
use super::super::{BoundTool, Inner};
use super::read::OTHERS;
use super::{Instructions, Place, Provenance, ToolValues, arguments};
use crate::ground::Match;
use crate::json::Value;

/// Arguments that a tool's options name and its schema does not have, where the entry names this one tool: what
/// is misspelt there would never be looked at.
pub(in crate::policy) fn misfits(
    (source, entries): (&Arc<Source>, &Entries),
    (server, tool): (&str, &str),
    options: &Provenance,
    schema: Value<'_>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (key, name) in arguments(options) {
        if has(schema, name) {
            continue;
        }
        let Some(place) = entries.place(server, tool, key).filter(|place| place.is_exact) else {
            continue;
        };
        let message = format!("`{tool}` has no argument `{name}`, which `{key}` names");
        let problem = Problem::error(source, within(source, place.span, name), message).about_tool(tool);
        problems.push(problem.hint_maybe(did_you_mean(name, [schema])));
    }
    problems
}

/// The same for entries that are patterns, where none of the tools that they match has the argument.
pub(in crate::policy) fn unfitting_patterns<'s>(
    (inner, server): (&Inner, &str),
    tools: &'s [Arc<BoundTool>],
    schema_of: impl Fn(&'s BoundTool) -> Option<Value<'s>>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for entry in inner.tools.all().iter().filter(|entry| entry.glob.exact_tool().is_none()) {
        let matched = tools.iter().filter(|tool| entry.glob.matches(server, &tool.name));
        let Some(schemas) = matched.map(|tool| schema_of(tool)).collect::<Option<Vec<_>>>() else { continue };
        if schemas.is_empty() {
            continue;
        }
        let options = entry.provenance();
        for (key, name) in arguments(&options) {
            if schemas.iter().any(|schema| has(*schema, name)) {
                continue;
            }
            let Some(place) = entry.setting(key) else { continue };
            let span = within(&inner.source, &place.span, name);
            let message = format!("no tool that `{}` matches has an argument `{name}`", entry.glob);
            let problem = Problem::warning(&inner.source, span, message);
            problems.push(problem.hint_maybe(did_you_mean(name, schemas.iter().copied())));
        }
    }
    problems
}

/// Options of one entry, or of the defaults, that say nothing beside each other.
pub(in crate::policy) fn contradictions(inner: &Inner) -> Vec<Problem> {
    let mut problems = Vec::new();
    for entry in inner.tools.all() {
        let own = entry.provenance();
        let set = |key: &str| entry.setting(key).map(|setting| &setting.span);
        let warn = |span: &Range<usize>, message: &str, hint: &str| {
            Problem::warning(&inner.source, span.clone(), message).hint(hint)
        };
        let defaults = &inner.tools.defaults().provenance;
        // Another entry may bring what this one lacks.
        let others =
            inner.tools.all().iter().filter(|other| other.glob.literalness() != entry.glob.literalness());
        let is_grounded = !own.ground.is_empty()
            || !defaults.ground.is_empty()
            || others.into_iter().any(|other| other.setting("ground").is_some());
        if let Some(span) = set("instructions").filter(|_| own.instructions == Some(Instructions::Grounded))
            && !is_grounded
        {
            let hint = "name arguments under `ground`, or write `instructions: any`";
            problems.push(warn(
                span,
                "`grounded` is about the arguments of `ground`, and there are none",
                hint,
            ));
        }
        if let Some(span) = set("acts").filter(|_| !inner.tools.needs().follows) {
            let hint = "write `instructions: flow`, for this tool or under `defaults`";
            problems.push(warn(span, "`acts` is read by `instructions: flow`, and no tool has that", hint));
        }
        if let Some(span) = set("scan_user").filter(|_| own.scan_user && !is_grounded) {
            let hint = "name arguments under `ground`";
            problems.push(warn(
                span,
                "`scan_user` is about the arguments of `ground`, and there are none",
                hint,
            ));
        }
        let Some(span) = set("ground") else { continue };
        problems.extend(contradictory_ground(&inner.source, span, &own));
        let lets_tools = own.ground.all().all(|ground| ground.from.tool);
        if let Some(at) = set("tool_values").filter(|_| own.tool_values == ToolValues::Ask && lets_tools) {
            let hint = "leave `tool` out of `from`, `from: [user]`, or leave `tool_values` out";
            problems.push(warn(at, "tools may support every argument of `ground`: nobody is asked", hint));
        }
    }
    problems
}

fn contradictory_ground(source: &Arc<Source>, span: &Range<usize>, own: &Provenance) -> Vec<Problem> {
    let mut problems = Vec::new();
    let others = own.ground.others.iter().map(|ground| (OTHERS, ground));
    let named = own.ground.named.iter().map(|(name, ground)| (name.as_str(), ground));
    for (name, ground) in named.chain(others) {
        let mut warn = |message: String, hint: &str| {
            let problem = Problem::warning(source, within(source, span, name), message);
            problems.push(problem.hint(hint));
        };
        if ground.last.is_some() && !ground.from.user {
            let message = format!("`last` counts the user's messages, and `{name}` is not from the user");
            warn(message, "add `user` to `from`, or leave `last` out");
        }
        if ground.matcher.locale.is_some() && matches!(ground.matcher.how, Match::Url | Match::UrlPrefix) {
            let message = format!("`locale` is about numbers, and `{name}` is an address");
            warn(message, "leave `locale` out");
        }
    }
    problems
}

/// Whether a schema has an argument, or that into which the path leads. One that says nothing of its arguments may
/// have any.
fn has(schema: Value<'_>, name: &str) -> bool {
    let says = schema.get("properties").is_some_and(|names| !names.is_empty());
    let first = || name.split_once('.').map(|(first, _)| first);
    !says || schema_has(schema, name) || first().is_some_and(|first| schema_has(schema, first))
}

fn did_you_mean<'a>(name: &str, schemas: impl IntoIterator<Item = Value<'a>>) -> Option<String> {
    let names = schemas.into_iter().filter_map(|schema| schema.get("properties")).flat_map(Value::members);
    nearest(name, names.map(|(name, _)| name)).map(|near| format!("did you mean `{near}`?"))
}

/// The name inside the option's text, where it can be seen there.
fn within(source: &Source, span: &Range<usize>, name: &str) -> Range<usize> {
    let written = source.text().get(span.clone()).unwrap_or_default();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_whole = |at: &usize| {
        let before = written.get(..*at).and_then(|text| text.chars().next_back());
        let after = written.get(at + name.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    };
    let found = written.match_indices(name).map(|(at, _)| at).find(is_whole);
    match found {
        Some(at) => span.start + at..span.start + at + name.len(),
        None => span.start..span.start,
    }
}

impl Entries {
    /// Where the setting in force for a tool stands.
    fn place(&self, server: &str, tool: &str, key: &str) -> Option<Place<'_>> {
        let entry = self
            .all()
            .iter()
            .find(|entry| entry.glob.matches(server, tool) && entry.setting(key).is_some())?;
        let is_exact = entry.glob.exact_tool().is_some();
        entry.setting(key).map(|setting| Place { span: &setting.span, is_exact })
    }
}
