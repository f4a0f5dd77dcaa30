//! Strings. Positions count characters (code points), never bytes.

use super::{Call, Function, Gives, Style, Want};
use crate::cel::{Failure, Value};

use std::borrow::Cow;

const S: Want = Want::STRING;

const fn method(
    name: &'static str,
    gives: Gives,
    body: for<'a> fn(&mut Call<'_, 'a>) -> Result<Value<'a>, Failure>,
) -> Function {
    Function::new(name, Style::Method, gives, body)
}

pub(super) const TABLE: &[Function] = &[
    method("startsWith", Gives::Bool, starts_with).takes(&[S, S]).doc(
        "string.startsWith(prefix) → bool",
        "Whether it begins so. For paths use within().",
        "\"abc\".startsWith(\"ab\")",
    ),
    method("endsWith", Gives::Bool, ends_with).takes(&[S, S]).doc(
        "string.endsWith(suffix) → bool",
        "Whether it ends so.",
        "\"abc\".endsWith(\"bc\")",
    ),
    method("contains", Gives::Bool, contains).takes(&[S, S]).doc(
        "string.contains(part) → bool",
        "Whether the part stands in it.",
        "\"abc\".contains(\"b\")",
    ),
    method("lowerAscii", Gives::String, lower_ascii).takes(&[S]).doc(
        "string.lowerAscii() → string",
        "A to Z in lower case.",
        "\"AbÖ\".lowerAscii() == \"abÖ\"",
    ),
    method("upperAscii", Gives::String, upper_ascii).takes(&[S]).doc(
        "string.upperAscii() → string",
        "a to z in upper case.",
        "\"abö\".upperAscii() == \"ABö\"",
    ),
    method("trim", Gives::String, trim).takes(&[S]).doc(
        "string.trim() → string",
        "Without white space at its ends.",
        "\" a b \".trim() == \"a b\"",
    ),
    method("split", Gives::Strings, split).takes(&[S, S, Want::NUMBER]).optional(1).doc(
        "string.split(separator, limit) → list(string)",
        "Its pieces; with a limit the last one keeps the rest.",
        "\"a,b,c\".split(\",\") == [\"a\", \"b\", \"c\"] && \"a,b,c\".split(\",\", 2) == [\"a\", \"b,c\"]",
    ),
    method("replace", Gives::String, replace).takes(&[S, S, S, Want::NUMBER]).optional(1).doc(
        "string.replace(old, new, limit) → string",
        "Every (or the first so many) old part replaced.",
        "\"banana\".replace(\"a\", \"o\") == \"bonono\"",
    ),
    method("substring", Gives::String, substring).takes(&[S, Want::NUMBER, Want::NUMBER]).optional(1).doc(
        "string.substring(start, end) → string",
        "The characters from start up to end (or to the last).",
        "\"tacocat\".substring(1, 4) == \"aco\" && \"añb\".substring(2) == \"b\"",
    ),
    method("indexOf", Gives::Number, index_of).takes(&[S, S, Want::NUMBER]).optional(1).doc(
        "string.indexOf(part, start) → number",
        "Where the part first stands; -1 if it does not.",
        "\"añb\".indexOf(\"b\") == 2 && \"a\".indexOf(\"z\") == -1",
    ),
    method("lastIndexOf", Gives::Number, last_index_of).takes(&[S, S]).doc(
        "string.lastIndexOf(part) → number",
        "Where the part last stands; -1 if it does not.",
        "\"abab\".lastIndexOf(\"ab\") == 2",
    ),
    method("charAt", Gives::String, char_at).takes(&[S, Want::NUMBER]).doc(
        "string.charAt(position) → string",
        "The character there; empty at the end.",
        "\"añb\".charAt(1) == \"ñ\" && \"a\".charAt(1) == \"\"",
    ),
];

fn pair<'a>(call: &mut Call<'_, 'a>) -> Result<(Cow<'a, str>, Cow<'a, str>), Failure> {
    let (text, part) = (call.text(0)?, call.text(1)?);
    call.budget.spend_read(text.len())?;
    Ok((text, part))
}

fn starts_with<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let (text, part) = pair(call)?;
    Ok(Value::Bool(text.starts_with(&*part)))
}

fn ends_with<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let (text, part) = pair(call)?;
    Ok(Value::Bool(text.ends_with(&*part)))
}

fn contains<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let (text, part) = pair(call)?;
    Ok(Value::Bool(text.contains(&*part)))
}

fn lower_ascii<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let text = call.text(0)?;
    call.budget.spend_built(text.len())?;
    Ok(Value::from(text.to_ascii_lowercase()))
}

fn upper_ascii<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let text = call.text(0)?;
    call.budget.spend_built(text.len())?;
    Ok(Value::from(text.to_ascii_uppercase()))
}

fn trim<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    match call.text(0)? {
        Cow::Borrowed(text) => Ok(Value::text(text.trim())),
        Cow::Owned(text) => {
            call.budget.spend_built(text.len())?;
            Ok(Value::from(text.trim().to_owned()))
        }
    }
}

/// A limit, absent or negative for none.
fn limit(call: &mut Call<'_, '_>, at: usize) -> Result<Option<usize>, Failure> {
    if !call.has(at) || call.args.get(at).and_then(Value::as_number).is_some_and(|n| n.is_negative()) {
        return Ok(None);
    }
    call.position(at).map(Some)
}

fn split<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let (text, separator) = pair(call)?;
    let limit = limit(call, 2)?;
    if separator.is_empty() {
        let pieces: Vec<Value<'a>> = match limit {
            Some(0) => Vec::new(),
            _ => split_characters(&text, limit).map(|piece| Value::from(piece.to_owned())).collect(),
        };
        call.budget.spend_items(pieces.len())?;
        return Ok(Value::list(pieces));
    }
    // Paid before it is built: a separator of one byte makes as many pieces as there are bytes.
    call.budget.spend_items(text.matches(&*separator).count())?;
    call.budget.spend_built(text.len())?;
    let owned = |piece: &str| Value::from(piece.to_owned());
    Ok(match (&text, limit) {
        (_, Some(0)) => Value::list([]),
        (Cow::Borrowed(text), limit) => {
            Value::list(text.splitn(limit.unwrap_or(usize::MAX), &*separator).map(Value::text))
        }
        (Cow::Owned(text), limit) => {
            Value::list(text.splitn(limit.unwrap_or(usize::MAX), &*separator).map(owned))
        }
    })
}

fn split_characters(text: &str, limit: Option<usize>) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let mut left = limit.unwrap_or(usize::MAX);
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        left = left.saturating_sub(1);
        let (piece, after) = if left == 0 { (rest, "") } else { rest.split_at(first.len_utf8()) };
        rest = after;
        Some(piece)
    })
}

fn replace<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let (text, old) = pair(call)?;
    let new = call.text(2)?;
    let limit = limit(call, 3)?.unwrap_or(usize::MAX);
    let found = text.matches(&*old).take(limit).count();
    // Paid before it is built: an empty part stands everywhere.
    call.budget.spend_items(found)?;
    call.budget.spend_built(text.len().saturating_add(found.saturating_mul(new.len())))?;
    Ok(Value::from(text.replacen(&*old, &new, limit)))
}

fn substring<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let text = call.text(0)?;
    let start = call.position(1)?;
    call.budget.spend_read(text.len())?;
    let from = byte_of(&text, start);
    let to = if call.has(2) { byte_of(&text, call.position(2)?) } else { Some(text.len()) };
    match (from, to) {
        (Some(from), Some(to)) if from <= to => slice(call, text, from, to),
        _ => Err(Failure::error("the substring lies outside of the string")),
    }
}

fn char_at<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let text = call.text(0)?;
    let position = call.position(1)?;
    call.budget.spend_read(text.len())?;
    let Some(from) = byte_of(&text, position) else {
        return Err(Failure::error(format!("the string has no character at {position}")));
    };
    let width = text.get(from..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    slice(call, text, from, from + width)
}

fn slice<'a>(
    call: &mut Call<'_, 'a>,
    text: Cow<'a, str>,
    from: usize,
    to: usize,
) -> Result<Value<'a>, Failure> {
    match text {
        Cow::Borrowed(text) => Ok(Value::text(text.get(from..to).unwrap_or_default())),
        Cow::Owned(text) => {
            call.budget.spend_built(to - from)?;
            Ok(Value::from(text.get(from..to).unwrap_or_default().to_owned()))
        }
    }
}

/// Where that character starts; the length for the position after the last one.
fn byte_of(text: &str, position: usize) -> Option<usize> {
    let ends = std::iter::once(text.len());
    text.char_indices().map(|(at, _)| at).chain(ends).nth(position)
}

fn position_of<'a>(text: &str, byte: Option<usize>) -> Value<'a> {
    let position = byte.and_then(|byte| text.get(..byte)).map(|before| before.chars().count());
    Value::from(position.and_then(|position| i64::try_from(position).ok()).unwrap_or(-1))
}

fn index_of<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let (text, part) = pair(call)?;
    let start = if call.has(2) { call.position(2)? } else { 0 };
    let Some(from) = byte_of(&text, start) else {
        return Err(Failure::error(format!("the string has no character at {start}")));
    };
    let found = text.get(from..).and_then(|rest| rest.find(&*part)).map(|at| from + at);
    Ok(position_of(&text, found))
}

fn last_index_of<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let (text, part) = pair(call)?;
    Ok(position_of(&text, text.rfind(&*part)))
}
