//! What a test expects of a decision, held against what was decided.

use framegate_guard::json::{Document, Kind, Limits, Value};

use super::Decided;
use super::event::{listed, shown};

/// Keys that must be equal, by value: `1.0` and `1` are one number.
const EQUAL: [&str; 9] =
    ["outcome", "would", "tool", "id", "failed", "evidence", "sent", "policy_only", "missing"];
/// Texts that must contain what is expected.
const CONTAINED: [&str; 2] = ["message", "advice"];
/// Each text expected must be contained in one of those that came; an empty list expects none.
const REASONS: &str = "reasons";
/// What is expected of the state must be so; what is not spoken of may be anything.
const STATE: &str = "state";
/// The arguments sent, as text.
const SENT_TEXT: &str = "sent_text";

/// One thing that is not as expected.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) key: String,
    pub(crate) expected: String,
    pub(crate) got: String,
}

/// Everything that is not as expected.
///
/// # Errors
/// An expectation that no decision could meet or miss: an unknown key, a wrong type.
pub(crate) fn differences(expect: Value<'_>, decided: &Decided) -> Result<Vec<Difference>, String> {
    let limits = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
    let got = Document::read(decided.json().into(), &limits).map_err(|fault| fault.to_string())?;
    let mut different = Vec::new();
    for (key, expected) in expect.members() {
        let sent = decided.sent.as_deref().unwrap_or_default();
        let got = got.root().get(key);
        let is_met = match (key, got) {
            (SENT_TEXT, _) => text(key, expected)? == sent,
            (STATE, Some(got)) => is_within(expected, got),
            (REASONS, Some(got)) => are_contained(texts(key, expected)?, got),
            (_, Some(got)) if EQUAL.contains(&key) => expected == got,
            (_, Some(got)) if CONTAINED.contains(&key) => {
                let part = text(key, expected)?;
                got.as_str().is_some_and(|got| got.contains(part))
            }
            _ => return Err(unknown(key)),
        };
        if !is_met {
            let got =
                got.map_or_else(|| serde_json::Value::from(sent).to_string(), |got| got.raw().to_owned());
            different.push(Difference { key: key.to_owned(), expected: expected.raw().to_owned(), got });
        }
    }
    Ok(different)
}

/// The depth of a document bounds the recursion.
fn is_within(expected: Value<'_>, got: Value<'_>) -> bool {
    if expected.kind() != Kind::Object || got.kind() != Kind::Object {
        return expected == got;
    }
    expected.members().all(|(key, expected)| got.get(key).is_some_and(|got| is_within(expected, got)))
}

fn are_contained(expected: Vec<&str>, got: Value<'_>) -> bool {
    if expected.is_empty() {
        return got.is_empty();
    }
    expected.iter().all(|part| got.items().filter_map(Value::as_str).any(|reason| reason.contains(part)))
}

fn text<'a>(key: &str, expected: Value<'a>) -> Result<&'a str, String> {
    expected.as_str().ok_or_else(|| format!("`expect.{key}` is a string, not {}", shown(expected.raw())))
}

fn texts<'a>(key: &str, expected: Value<'a>) -> Result<Vec<&'a str>, String> {
    let wrong = || format!("`expect.{key}` is a list of strings, not {}", shown(expected.raw()));
    if expected.kind() != Kind::Array {
        return Err(wrong());
    }
    expected.items().map(|item| item.as_str().ok_or_else(wrong)).collect()
}

fn unknown(key: &str) -> String {
    let known: Vec<&str> = EQUAL.into_iter().chain(CONTAINED).chain([REASONS, STATE, SENT_TEXT]).collect();
    format!("unknown key `expect.{key}`; known are {}", listed(&known))
}
