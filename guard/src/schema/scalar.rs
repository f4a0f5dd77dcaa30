//! Text that means a number or a truth value: what pydantic's lax mode reads, and nothing else.

use crate::decimal::Decimal;
use crate::json::{Kind, Value};

/// A type that a value can be rewritten to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Boolean,
    Integer,
    Number,
}

impl Target {
    pub(super) fn of(name: &str) -> Option<Target> {
        match name {
            "boolean" => Some(Target::Boolean),
            "integer" => Some(Target::Integer),
            "number" => Some(Target::Number),
            _ => None,
        }
    }

    /// The JSON text that stands for `value` in this type.
    pub(super) fn rewrite(self, value: Value<'_>) -> Option<String> {
        match (self, value.kind()) {
            (Target::Boolean, Kind::String) => boolean(value.as_str()?).map(str::to_owned),
            (Target::Boolean, Kind::Number) => bit(value.raw()).map(str::to_owned),
            (Target::Integer, Kind::String) => integer(trim(value.as_str()?)),
            (Target::Number, Kind::String) => number(trim(value.as_str()?)),
            (Target::Integer | Target::Number, Kind::Bool) => {
                Some(if value.as_bool()? { "1" } else { "0" }.to_owned())
            }
            _ => None,
        }
    }
}

/// White space as Python's `str.strip` takes it: Unicode's, and the four separators U+001C to U+001F.
fn trim(text: &str) -> &str {
    text.trim_matches(|character: char| {
        character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
    })
}

/// Not trimmed: ` yes` is not a yes.
fn boolean(text: &str) -> Option<&'static str> {
    let lower = text.to_ascii_lowercase();
    match lower.as_str() {
        "1" | "on" | "t" | "true" | "y" | "yes" => Some("true"),
        "0" | "f" | "false" | "n" | "no" | "off" => Some("false"),
        _ => None,
    }
}

fn bit(number: &str) -> Option<&'static str> {
    let number = Decimal::parse(number)?;
    match number.to_i64() {
        Some(0) => Some("false"),
        Some(1) => Some("true"),
        _ => None,
    }
}

/// Sign, digits with single underscores between them, and a fraction of zeros: `+1_000.0`.
fn integer(text: &str) -> Option<String> {
    let (minus, unsigned) = sign(text);
    let (whole, zeros) =
        unsigned.split_once('.').map_or((unsigned, None), |(whole, rest)| (whole, Some(rest)));
    if zeros.is_some_and(|zeros| zeros.is_empty() || zeros.bytes().any(|byte| byte != b'0')) {
        return None;
    }
    Some(join(minus, &digits(whole)?, None))
}

/// Decimal notation with or without an exponent: `1.`, `.5`, `1e3`, `1_000`. Not `nan`, `inf`, `0x10`.
fn number(text: &str) -> Option<String> {
    let (minus, unsigned) = sign(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let part = |text: &str| if text.is_empty() { Some(String::new()) } else { digits(text) };
    let fraction = part(fraction)?;
    let mut out = join(minus, &part(whole)?, Some(fraction).filter(|fraction| !fraction.is_empty()));
    if let Some(exponent) = exponent {
        let (minus, unsigned) = sign(exponent);
        out.push('e');
        out.push_str(&join(minus, &digits(unsigned)?, None));
    }
    Some(out)
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// ASCII digits, single underscores between them taken out.
fn digits(text: &str) -> Option<String> {
    let well_placed = !text.starts_with('_') && !text.ends_with('_') && !text.contains("__");
    let all = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    (!text.is_empty() && all && well_placed).then(|| text.replace('_', ""))
}

fn join(minus: bool, whole: &str, fraction: Option<String>) -> String {
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let zero =
        whole == "0" && fraction.as_ref().is_none_or(|fraction| fraction.bytes().all(|byte| byte == b'0'));
    let minus = if minus && !zero { "-" } else { "" };
    match fraction {
        Some(fraction) => format!("{minus}{whole}.{fraction}"),
        None => format!("{minus}{whole}"),
    }
}
