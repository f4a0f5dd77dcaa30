//! Keys that some reader takes for another key.

use std::collections::HashSet;

use framegate_guard::json::{Kind, Value};
use framegate_guard::look::fold;

use super::refusal::{Reason, Refusal};

/// The members of a JSON-RPC message.
const ENVELOPE: [&str; 6] = ["error", "id", "jsonrpc", "method", "params", "result"];

/// Members of `params` that decide what is done, each with its fold.
const PARAMS: [(&str, &str); 9] = [
    ("_meta", "_meta"),
    ("arguments", "arguments"),
    ("cursor", "cursor"),
    ("inputResponses", "inputresponses"),
    ("name", "name"),
    ("requestId", "requestid"),
    ("requestState", "requeststate"),
    ("task", "task"),
    ("uri", "uri"),
];

/// Keys of the message itself. Go's reader matches keys without case and takes U+017F for `s`; C readers stop
/// at a NUL. No peer writes a key here that is not printable ASCII, so any other counts as well.
pub(super) fn of_envelope(message: Value<'_>) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    for (key, _) in message.members() {
        let is_printable = key.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        let resembles = ENVELOPE.iter().any(|known| key != *known && key.eq_ignore_ascii_case(known));
        if !is_printable || resembles || !seen.insert(key.to_ascii_lowercase()) {
            return Err(look_alike(key, "the message"));
        }
    }
    Ok(())
}

/// Keys of `params`: none that resembles one that matters, even alone (a Go server takes `Name` for `name`),
/// and no two that resemble each other.
pub(super) fn of_params(params: Value<'_>) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    for (key, _) in params.members() {
        let folded = fold(key);
        let resembles = PARAMS.iter().any(|(known, fold)| folded == *fold && key != *known);
        if resembles || key.chars().any(char::is_control) || !seen.insert(folded) {
            return Err(look_alike(key, "`params`"));
        }
    }
    Ok(())
}

/// What no object in a message may hold, at any depth: `__proto__`, as a JavaScript reader that copies members
/// one by one makes its value the object's prototype, and then finds members that nobody decided on; a key with
/// a NUL, where C readers stop. And numbers that readers turn into infinity (Python), null (JavaScript),
/// zero (Go) or an error.
pub(super) fn at_any_depth<'a>(
    values: impl Iterator<Item = Value<'a>>,
    huge_integers: bool,
) -> Result<(), Refusal> {
    for value in values {
        match value.kind() {
            Kind::Object => value.entries().try_for_each(|(key, _)| of_any_object(key))?,
            Kind::Number if huge_integers && is_integer(value) => {}
            Kind::Number => of_double_range(value)?,
            _ => {}
        }
    }
    Ok(())
}

fn of_any_object(key: Value<'_>) -> Result<(), Refusal> {
    let (text, at) = (key.as_str().unwrap_or_default(), key.span().start);
    if text == "__proto__" {
        let message =
            format!("a key `__proto__` at byte {at}: some servers read its members as the object's own");
        return Err(Refusal::new(Reason::Prototype, message));
    }
    if text.contains('\0') {
        let message = format!("a key with a NUL at byte {at}: some servers read it up to there");
        return Err(Refusal::new(Reason::LookAlike, message));
    }
    Ok(())
}

fn is_integer(number: Value<'_>) -> bool {
    !number.raw().contains(['.', 'e', 'E'])
}

fn of_double_range(number: Value<'_>) -> Result<(), Refusal> {
    // Fewer digits, and no exponent, cannot leave a double's range (1.8e308).
    const DIGITS_SAFE: usize = 308;
    let text = number.raw();
    let may_overflow = text.len() > DIGITS_SAFE || text.contains(['e', 'E']);
    if may_overflow && text.parse::<f64>().is_ok_and(f64::is_infinite) {
        let at = number.span().start;
        let message =
            format!("a number beyond the range of a double at byte {at}: servers read it differently");
        return Err(Refusal::new(Reason::NumberRange, message));
    }
    Ok(())
}

fn look_alike(key: &str, place: &str) -> Refusal {
    let key: String = key.chars().take(64).flat_map(char::escape_default).collect();
    let message = format!("the key `{key}` of {place} could be taken for another key");
    Refusal::new(Reason::LookAlike, message)
}
