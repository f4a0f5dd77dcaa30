//! Searching what a call says: in one text, in a list, or in every key and string of a value.

use super::{Call, Function, Gives, Prepared, Style, Want};
use crate::cel::{Budget, Failure, Value};
use crate::text;

use aho_corasick::AhoCorasick;
use regex::{Regex, RegexBuilder};
use std::borrow::Cow;

const ONE_OR_MORE: Want = Want::STRING.or(Want::STRINGS);

/// What may hold texts. A number holds none, so that searching one is a mistake.
const SEARCHED: Want = Want::STRING.or(Want::LIST).or(Want::MAP);

/// The largest compiled pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

pub(super) const TABLE: &[Function] = &[
    Function::new("contains_any", Style::Plain, Gives::Bool, contains_any)
        .takes(&[SEARCHED, ONE_OR_MORE])
        .prepare(needles)
        .doc(
            "contains_any(x, parts) → bool",
            "Whether one of the parts stands in the text, in one of the list, or in any key or string of the value.",
            "contains_any([\"cat /home/me/.ssh/id_rsa\"], [\"/.ssh\", \"/.env\"])",
        ),
    Function::new("contains_any_nocase", Style::Plain, Gives::Bool, contains_any_nocase)
        .takes(&[SEARCHED, ONE_OR_MORE])
        .prepare(folded_needles)
        .doc(
            "contains_any_nocase(x, parts) → bool",
            "The same, both sides as normalize() makes them: case, width and invisible characters do not hide a part.",
            "contains_any_nocase(\"My ＰＡＳＳWORD\", [\"password\"])",
        ),
    Function::new("glob", Style::Plain, Gives::Bool, glob).takes(&[ONE_OR_MORE, ONE_OR_MORE]).doc(
        "glob(x, patterns) → bool",
        "Whether the text, or one of the list, is one of the patterns: `*` is anything, `?` one character.",
        "glob(\"/work/a/b.txt\", \"/work/*.txt\") && !glob(\"ab\", [\"?\", \"a\"])",
    ),
    Function::new("matches", Style::Both, Gives::Bool, matches)
        .takes(&[Want::STRING, Want::STRING])
        .prepare(pattern)
        .doc(
            "matches(text, pattern) → bool",
            "Whether the regular expression (RE2 syntax, linear time) is found in the text; ^ and $ hold its ends.",
            "matches(\"INV-2026-17\", \"^INV-[0-9]{4}-[0-9]+$\") && \"abc\".matches(\"b\")",
        ),
    Function::new("normalize", Style::Both, Gives::String, normalize).takes(&[Want::STRING]).doc(
        "normalize(text) → string",
        "As it is read: Unicode NFKC, lower case, without invisible format characters.",
        "normalize(\"Ｉgno\\u200bRE ﬁles\") == \"ignore files\"",
    ),
    Function::new("texts", Style::Plain, Gives::Strings, texts).takes(&[SEARCHED]).doc(
        "texts(x) → list(string)",
        "Every key and string of the value, decoded. The variable `texts` is texts(args).",
        "\"/work/notes.txt\" in texts(args) && \"path\" in texts(args)",
    ),
];

type Visit<'v> = dyn FnMut(&str, &mut Budget) -> Result<bool, Failure> + 'v;

/// Shows every key and string of a value, until one is found.
fn any_text(value: &Value<'_>, budget: &mut Budget, visit: &mut Visit<'_>) -> Result<bool, Failure> {
    budget.spend(1)?;
    match value.clone().fetched()? {
        Value::String(text) => {
            budget.spend_read(text.len())?;
            visit(&text, budget)
        }
        other => budget.deeper(|budget| any_text_inside(&other, budget, visit)),
    }
}

fn any_text_inside(value: &Value<'_>, budget: &mut Budget, visit: &mut Visit<'_>) -> Result<bool, Failure> {
    for item in value.items().into_iter().flatten() {
        if any_text(&item, budget, visit)? {
            return Ok(true);
        }
    }
    budget.spend_items(value.len().unwrap_or(0) / 8)?;
    for (key, item) in value.entries().into_iter().flatten() {
        budget.spend_read(key.len())?;
        if visit(&key, budget)? || any_text(&item, budget, visit)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn contains_any<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let value = call.take(0);
    let found = if let Prepared::Needles(automaton) = call.prepared {
        any_text(&value, call.budget, &mut |text, _| Ok(automaton.is_match(text)))?
    } else {
        let parts = call.texts(1)?;
        any_text(&value, call.budget, &mut |text, budget| any_part(text, &parts, budget))?
    };
    Ok(Value::Bool(found))
}

fn any_part(text: &str, parts: &[Cow<'_, str>], budget: &mut Budget) -> Result<bool, Failure> {
    for part in parts {
        budget.spend(1)?;
        budget.spend_read(text.len())?;
        if text.contains(&**part) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn contains_any_nocase<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let value = call.take(0);
    let found = if let Prepared::Needles(automaton) = call.prepared {
        any_text(&value, call.budget, &mut |text, budget| {
            budget.spend_built(text.len())?;
            Ok(automaton.is_match(&text::fold(text)))
        })?
    } else {
        let parts: Vec<Cow<'_, str>> =
            call.texts(1)?.iter().map(|part| Cow::Owned(text::fold(part))).collect();
        any_text(&value, call.budget, &mut |text, budget| {
            budget.spend_built(text.len())?;
            any_part(&text::fold(text), &parts, budget)
        })?
    };
    Ok(Value::Bool(found))
}

/// The constant texts at that place, if it is constant.
fn constants<'c>(
    constants: &[Option<&'c Value<'static>>],
    at: usize,
) -> Result<Option<Vec<&'c str>>, (usize, String)> {
    let Some(value) = constants.get(at).copied().flatten() else { return Ok(None) };
    let texts: Option<Vec<&str>> = match value {
        Value::List(items) => items.iter().map(Value::as_str).collect(),
        other => other.as_str().map(|text| vec![text]),
    };
    if texts.as_ref().is_some_and(Vec::is_empty) {
        return Err((at, "the list is empty, so nothing is ever found".to_owned()));
    }
    Ok(texts)
}

fn automaton(parts: &[String], at: usize) -> Result<Prepared, (usize, String)> {
    if parts.iter().any(String::is_empty) {
        return Err((at, "an empty text stands in every text".to_owned()));
    }
    AhoCorasick::new(parts).map(Prepared::Needles).map_err(|_| (at, "the list is too long".to_owned()))
}

fn needles(args: &[Option<&Value<'static>>]) -> Result<Prepared, (usize, String)> {
    let Some(parts) = constants(args, 1)? else { return Ok(Prepared::Nothing) };
    automaton(&parts.into_iter().map(str::to_owned).collect::<Vec<_>>(), 1)
}

fn folded_needles(args: &[Option<&Value<'static>>]) -> Result<Prepared, (usize, String)> {
    let Some(parts) = constants(args, 1)? else { return Ok(Prepared::Nothing) };
    automaton(&parts.into_iter().map(text::fold).collect::<Vec<_>>(), 1)
}

fn glob<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    const CHARS_PER_STEP: usize = 64;
    let (texts, patterns) = (call.texts(0)?, call.texts(1)?);
    for text in &texts {
        for pattern in &patterns {
            // Some patterns take text × pattern steps: paid for, not waited for.
            let most =
                usize::try_from(call.budget.left()).unwrap_or(usize::MAX).saturating_mul(CHARS_PER_STEP);
            let mut left = most;
            let found = text::glob(text, pattern, &mut left);
            call.budget.spend_items(1 + (most - left) / CHARS_PER_STEP)?;
            if found != Some(false) {
                call.budget.spend(u64::from(found.is_none()))?;
                return Ok(Value::Bool(true));
            }
        }
    }
    Ok(Value::Bool(false))
}

fn compile(pattern: &str) -> Result<Regex, String> {
    const PATTERN_SOURCE_BYTES_MAX: usize = 4096;
    if pattern.len() > PATTERN_SOURCE_BYTES_MAX {
        return Err(format!("the pattern is longer than {PATTERN_SOURCE_BYTES_MAX} bytes"));
    }
    let built = RegexBuilder::new(pattern).size_limit(PATTERN_BYTES_MAX).nest_limit(50).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "the pattern is too large".to_owned(),
        other => {
            let text = other.to_string();
            let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
            format!("the pattern is not a regular expression: {reason}")
        }
    })
}

fn pattern(args: &[Option<&Value<'static>>]) -> Result<Prepared, (usize, String)> {
    match args.get(1).copied().flatten().and_then(Value::as_str) {
        Some(text) => compile(text).map(Prepared::Pattern).map_err(|message| (1, message)),
        None => Ok(Prepared::Nothing),
    }
}

fn matches<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    /// Compiling is a thousand times dearer than a step.
    const STEPS_PER_PATTERN: u64 = 5000;
    let text = call.text(0)?;
    // An automaton that overflows its cache falls back to a slower one: paid like building.
    call.budget.spend_built(text.len())?;
    if let Prepared::Pattern(pattern) = call.prepared {
        return Ok(Value::Bool(pattern.is_match(&text)));
    }
    call.budget.spend(STEPS_PER_PATTERN)?;
    let pattern = compile(&call.text(1)?).map_err(Failure::error)?;
    Ok(Value::Bool(pattern.is_match(&text)))
}

fn normalize<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let text = call.text(0)?;
    call.budget.spend_built(text.len())?;
    Ok(Value::from(text::fold(&text)))
}

fn texts<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let value = call.take(0);
    let mut found = Vec::new();
    collect(&value, call.budget, &mut found)?;
    Ok(Value::list(found))
}

fn collect<'a>(value: &Value<'a>, budget: &mut Budget, found: &mut Vec<Value<'a>>) -> Result<(), Failure> {
    budget.spend(1)?;
    match value.clone().fetched()? {
        text @ Value::String(_) => {
            if let Value::String(Cow::Owned(text)) = &text {
                budget.spend_built(text.len())?;
            }
            found.push(text);
            Ok(())
        }
        other => budget.deeper(|budget| {
            for item in other.items().into_iter().flatten() {
                collect(&item, budget, found)?;
            }
            budget.spend_items(other.len().unwrap_or(0) / 8)?;
            for (key, item) in other.entries().into_iter().flatten() {
                found.push(Value::String(key));
                collect(&item, budget, found)?;
            }
            Ok(())
        }),
    }
}
