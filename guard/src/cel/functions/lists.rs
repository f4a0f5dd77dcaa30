//! Lists, maps and the call's arguments.

use super::{Call, Function, Gives, Style, Want};
use crate::cel::{Failure, Value};

const SIZED: Want = Want::STRING.or(Want::LIST).or(Want::MAP);

pub(super) const TABLE: &[Function] = &[
    Function::new("size", Style::Both, Gives::Number, size).takes(&[SIZED]).doc(
        "size(x) → number",
        "Characters of a string, items of a list, members of a map.",
        "size(\"añb\") == 3 && [1, 2].size() == 2",
    ),
    Function::new("with_defaults", Style::Plain, Gives::Same, with_defaults).takes(&[Want::MAP]).doc(
        "with_defaults(args) → args",
        "The arguments with the defaults of the tool's schema filled in.",
        "with_defaults(args).limit == 10",
    ),
    Function::new("join", Style::Method, Gives::String, join)
        .takes(&[Want::STRINGS, Want::STRING])
        .optional(1)
        .doc("list.join(separator) → string", "The texts in one.", "[\"a\", \"b\"].join(\"-\") == \"a-b\""),
];

fn size<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let value = call.take(0);
    let size = match &value {
        Value::String(text) => {
            call.budget.spend_read(text.len())?;
            text.chars().count()
        }
        other => other.len().ok_or_else(|| call.unfit(0, "a string, a list or a map", other))?,
    };
    Ok(Value::from(i64::try_from(size).unwrap_or(i64::MAX)))
}

fn with_defaults<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let arguments = call.take(0);
    if let Value::Json(json) = &arguments {
        call.budget.spend_built(json.raw().len())?;
    }
    call.env.with_defaults(arguments)
}

fn join<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let separator = if call.has(1) { call.text(1)? } else { "".into() };
    let value = call.take(0);
    if !matches!(&value, Value::List(_) | Value::Json(_)) {
        return Err(call.unfit(0, "a list of strings", &value));
    }
    call.args.insert(0, value);
    let texts = call.texts(0)?;
    let bytes: usize = texts.iter().map(|text| text.len() + separator.len()).sum();
    call.budget.spend_built(bytes)?;
    Ok(Value::from(texts.join(&*separator)))
}
