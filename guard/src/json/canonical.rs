//! One way of writing a value: for hashing and comparing only.

use super::{Kind, Value};

/// See [`Value::canonical`].
pub(super) fn write(value: Value<'_>) -> String {
    let mut out = String::with_capacity(value.span().len());
    push(value, &mut out);
    out
}

// The depth is bounded by `Limits::DEPTH_MAX`.
fn push(value: Value<'_>, out: &mut String) {
    match value.kind() {
        Kind::Null | Kind::Bool => out.push_str(value.raw()),
        Kind::Number => number(value.raw(), out),
        Kind::String => string(value.as_str().unwrap_or_default(), out),
        Kind::Array => array(value, out),
        Kind::Object => object(value, out),
    }
}

fn array(value: Value<'_>, out: &mut String) {
    out.push('[');
    for (position, item) in value.items().enumerate() {
        if position > 0 {
            out.push(',');
        }
        push(item, out);
    }
    out.push(']');
}

fn object(value: Value<'_>, out: &mut String) {
    let mut members: Vec<_> = value.members().collect();
    members.sort_unstable_by_key(|(key, _)| *key);
    out.push('{');
    for (position, (key, member)) in members.into_iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        string(key, out);
        out.push(':');
        push(member, out);
    }
    out.push('}');
}

fn string(text: &str, out: &mut String) {
    // serde_json escapes exactly what RFC 8259 demands, each in one way.
    out.push_str(&serde_json::Value::from(text).to_string());
}

/// `-12.50e3` → `-125e2`; every zero is `0`.
fn number(text: &str, out: &mut String) {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    let coefficient = significant.trim_end_matches('0');
    if coefficient.is_empty() {
        out.push('0');
        return;
    }
    // Within the reader's limits every term is small.
    let written: i64 = exponent.trim_start_matches('+').parse().unwrap_or(0);
    let dropped = significant.len() - coefficient.len();
    let exponent = written + i64::try_from(dropped).unwrap_or(0) - i64::try_from(fraction.len()).unwrap_or(0);
    if negative {
        out.push('-');
    }
    out.push_str(coefficient);
    if exponent != 0 {
        out.push('e');
        out.push_str(&exponent.to_string());
    }
}
