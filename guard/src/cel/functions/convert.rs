//! Conversions. Numbers stay exact: `double("0.1")` is 0.1.

use super::{Call, Function, Gives, Style, Want};
use crate::cel::{Failure, Value};
use crate::decimal::Decimal;
use crate::world::Instant;

use jiff::{SignedDuration, Timestamp};

const ONE: Want = Want::STRING.or(Want::NUMBER);

pub(super) const TABLE: &[Function] = &[
    Function::new("int", Style::Plain, Gives::Number, int).takes(&[ONE.or(Want::TIMESTAMP)]).doc(
        "int(x) → number",
        "A whole number: of a string, of a number without its fraction, of a timestamp in seconds.",
        "int(\"5\") == 5 && int(-5.9) == -5",
    ),
    Function::new("double", Style::Plain, Gives::Number, double).takes(&[ONE]).doc(
        "double(x) → number",
        "A number, exactly as it is written.",
        "double(\"0.1\") + double(\"0.2\") == 0.3",
    ),
    Function::new("string", Style::Plain, Gives::String, string)
        .takes(&[ONE.or(Want::BOOL).or(Want::TIMESTAMP).or(Want::DURATION)])
        .doc(
            "string(x) → string",
            "The value as text.",
            "string(1.50) == \"1.5\" && string(true) == \"true\"",
        ),
    Function::new("bool", Style::Plain, Gives::Bool, boolean).takes(&[Want::STRING.or(Want::BOOL)]).doc(
        "bool(x) → bool",
        "Of the texts \"true\" and \"false\".",
        "bool(\"true\")",
    ),
    Function::new("timestamp", Style::Plain, Gives::Timestamp, timestamp)
        .takes(&[ONE.or(Want::TIMESTAMP)])
        .doc(
            "timestamp(x) → timestamp",
            "Of an RFC 3339 text or of seconds since 1970.",
            "timestamp(\"2026-01-02T03:04:05Z\") > timestamp(0)",
        ),
    Function::new("duration", Style::Plain, Gives::Duration, duration)
        .takes(&[Want::STRING.or(Want::DURATION)])
        .doc(
            "duration(x) → duration",
            "Of a text like \"1h30m\" or \"10s\".",
            "duration(\"1h30m\") == duration(\"90m\")",
        ),
];

fn int<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    match call.take(0) {
        Value::Number(number) => Ok(Value::Number(number.truncate())),
        Value::Timestamp(Instant(micros)) => Ok(Value::from(micros.div_euclid(MICROS_PER_SECOND))),
        Value::String(text) => match Decimal::parse(&text) {
            Some(number) if number.is_integer() && !text.contains(['.', 'e', 'E']) => {
                Ok(Value::Number(number))
            }
            _ => Err(not_a(&text, "whole number")),
        },
        other => Err(call.unfit(0, "a string or a number", &other)),
    }
}

fn double<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    match call.take(0) {
        Value::Number(number) => Ok(Value::Number(number)),
        Value::String(text) => Decimal::parse(&text).map(Value::Number).ok_or_else(|| not_a(&text, "number")),
        other => Err(call.unfit(0, "a string or a number", &other)),
    }
}

fn string<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let text = match call.take(0) {
        Value::String(text) => return Ok(Value::String(text)),
        Value::Number(number) => {
            call.budget.spend_built(number.digits() as usize)?;
            number.to_string()
        }
        Value::Bool(value) => value.to_string(),
        Value::Timestamp(instant) => jiff_timestamp(instant)?.to_string(),
        Value::Duration(micros) => duration_text(micros),
        other => return Err(call.unfit(0, "a scalar", &other)),
    };
    Ok(Value::from(text))
}

fn boolean<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    match call.take(0) {
        Value::Bool(value) => Ok(Value::Bool(value)),
        Value::String(text) if text == "true" => Ok(Value::Bool(true)),
        Value::String(text) if text == "false" => Ok(Value::Bool(false)),
        Value::String(text) => Err(not_a(&text, "bool")),
        other => Err(call.unfit(0, "a string or a bool", &other)),
    }
}

fn timestamp<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    let instant = match call.take(0) {
        Value::Timestamp(instant) => instant,
        Value::String(text) => {
            let parsed: Timestamp = text.parse().map_err(|_| not_a(&text, "timestamp"))?;
            Instant(parsed.as_microsecond())
        }
        Value::Number(number) => {
            let million = Decimal::from(MICROS_PER_SECOND);
            let micros = number.mul(&million).ok().and_then(|micros| micros.truncate().to_i64());
            Instant(micros.ok_or_else(|| not_a(&number.to_string(), "timestamp"))?)
        }
        other => return Err(call.unfit(0, "a string or a number", &other)),
    };
    jiff_timestamp(instant)?;
    Ok(Value::Timestamp(instant))
}

fn duration<'a>(call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
    match call.take(0) {
        Value::Duration(micros) => Ok(Value::Duration(micros)),
        Value::String(text) => {
            parse_duration(&text).map(Value::Duration).ok_or_else(|| not_a(&text, "duration"))
        }
        other => Err(call.unfit(0, "a string", &other)),
    }
}

pub(super) const MICROS_PER_SECOND: i64 = 1_000_000;

/// Units by name, in microseconds.
const UNITS: [(&str, i64); 6] = [
    ("ms", 1_000),
    ("us", 1),
    ("µs", 1),
    ("h", 3600 * MICROS_PER_SECOND),
    ("m", 60 * MICROS_PER_SECOND),
    ("s", MICROS_PER_SECOND),
];

/// `1h30m`, `1.5s`, `-2ms`: CEL's form, which is Go's. What is shorter than a microsecond is not one.
fn parse_duration(text: &str) -> Option<i64> {
    const BYTES_MAX: usize = 64;
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    if rest.is_empty() || text.len() > BYTES_MAX {
        return None;
    }
    let mut total = Decimal::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(digits);
        let (unit, micros) = UNITS.iter().find(|(unit, _)| after.starts_with(unit))?;
        let part = Decimal::parse(number)?.mul(&Decimal::from(*micros)).ok()?;
        total = total.add(&part).ok()?;
        rest = after.strip_prefix(unit)?;
    }
    total.to_i64().map(|micros| if negative { -micros } else { micros })
}

fn duration_text(micros: i64) -> String {
    let seconds = Decimal::from(micros).div(&Decimal::from(MICROS_PER_SECOND));
    seconds.map_or_else(|_| String::new(), |seconds| format!("{seconds}s"))
}

/// The library's form of an instant; it covers the years -9999 to 9999.
pub(super) fn jiff_timestamp(instant: Instant) -> Result<Timestamp, Failure> {
    Timestamp::UNIX_EPOCH
        .checked_add(SignedDuration::from_micros(instant.0))
        .map_err(|_| Failure::error("the timestamp is out of range"))
}

fn not_a(text: &str, what: &str) -> Failure {
    const SHOWN_CHARS: usize = 40;
    let shown: String = text.chars().take(SHOWN_CHARS).collect();
    Failure::error(format!("`{}` is not a {what}", shown.escape_debug()))
}
