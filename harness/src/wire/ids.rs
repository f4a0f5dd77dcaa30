//! Ids that every reader takes for the same.

use framegate_guard::json::{Kind, Value};

use super::Limits;
use super::refusal::{Reason, Refusal};

/// The largest integer that a double and every one below it holds exactly (`Number.MAX_SAFE_INTEGER`): an
/// answer under a larger one comes back from a JavaScript peer under another.
const INTEGER_MAX: u64 = (1 << 53) - 1;

/// A request's id: a string, or an integer as JSON's grammar spells it in one way only.
pub(super) fn of_request(id: Value<'_>, limits: &Limits) -> Result<(), Refusal> {
    let fault = match id.kind() {
        Kind::String => None,
        Kind::Number if id.raw().contains(['.', 'e', 'E']) => Some("is no integer"),
        Kind::Number if is_plain_integer(id.raw()) => None,
        Kind::Number => Some("is beyond the integers that every peer can hold (2^53 - 1)"),
        Kind::Null => Some("is null"),
        _ => Some("is neither a string nor an integer"),
    };
    match fault {
        Some(fault) => Err(Refusal::new(Reason::Id, format!("`id` {fault}"))),
        None => of_bounded_length(id, limits),
    }
}

/// An answer's id: whatever the server asked under, so any string or number; an error may have none.
pub(super) fn of_response(id: Option<Value<'_>>, is_error: bool, limits: &Limits) -> Result<(), Refusal> {
    match id {
        Some(id) if matches!(id.kind(), Kind::String | Kind::Number) => of_bounded_length(id, limits),
        None if is_error => Ok(()),
        Some(id) if is_error && id.is_null() => Ok(()),
        _ => Err(Refusal::new(Reason::Id, "an answer whose `id` is neither a string nor a number")),
    }
}

fn of_bounded_length(id: Value<'_>, limits: &Limits) -> Result<(), Refusal> {
    if id.raw().len() <= limits.id_bytes {
        return Ok(());
    }
    Err(Refusal::new(Reason::Id, format!("the `id` is over {} bytes", limits.id_bytes)))
}

/// `-0` is none: it comes back as `0`, and one SDK takes it for a fraction.
fn is_plain_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    text != "-0" && digits.parse::<u64>().is_ok_and(|magnitude| magnitude <= INTEGER_MAX)
}
