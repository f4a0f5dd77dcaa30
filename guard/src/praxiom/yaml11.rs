//! What a plain scalar meant to the reader these files were written for: YAML 1.1 as PyYAML's safe loader reads
//! it. `no` is false, `010` is 8, `1:30` is 90, a date is a date.

use std::sync::LazyLock;

use num_bigint::BigInt;
use num_traits::Zero as _;
use regex::Regex;

use super::python;
use crate::policy::tree::Scalar;

/// A scalar, resolved.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Read {
    Null,
    Bool(bool),
    Int(BigInt),
    Float(f64),
    Text(String),
    /// A date, or anything else these files cannot hold.
    Other,
}

/// Digits of an integer: what Python converts without being asked twice.
pub const INT_DIGITS_MAX: usize = 4300;

const BOOL: &str = r"^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$";
const FLOAT: &str = r"(?x)^(?:
    [-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?
    |\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?
    |[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*
    |[-+]?\.(?:inf|Inf|INF)
    |\.(?:nan|NaN|NAN))$";
const INT: &str = r"(?x)^(?:
    [-+]?0b[0-1_]+
    |[-+]?0[0-7_]+
    |[-+]?(?:0|[1-9][0-9_]*)
    |[-+]?0x[0-9a-fA-F_]+
    |[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$";
const TIMESTAMP: &str = r"(?x)^(?:
    [0-9]{4}-[0-9]{2}-[0-9]{2}
    |[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[\ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?
     (?:[\ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?)$";

struct Patterns {
    bool: Regex,
    float: Regex,
    int: Regex,
    timestamp: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    Some(Patterns {
        bool: Regex::new(BOOL).ok()?,
        float: Regex::new(FLOAT).ok()?,
        int: Regex::new(INT).ok()?,
        timestamp: Regex::new(TIMESTAMP).ok()?,
    })
});

/// What the scalar is.
pub(crate) fn read(scalar: &Scalar) -> Read {
    let text = scalar.text.as_str();
    let Some(patterns) = PATTERNS.as_ref() else { return Read::Other };
    if !scalar.is_plain() {
        return Read::Text(text.to_owned());
    }
    if scalar.is_null() {
        return Read::Null;
    }
    if patterns.bool.is_match(text) {
        return Read::Bool(matches!(text.to_ascii_lowercase().as_str(), "yes" | "true" | "on"));
    }
    if patterns.float.is_match(text) {
        return float(text);
    }
    if patterns.int.is_match(text) {
        return int(text);
    }
    if patterns.timestamp.is_match(text) || text == "=" {
        return Read::Other;
    }
    Read::Text(text.to_owned())
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn int(text: &str) -> Read {
    let text = text.replace('_', "");
    let (negative, digits) = sign(&text);
    if digits.len() > INT_DIGITS_MAX {
        return Read::Other;
    }
    let value = if let Some(binary) = digits.strip_prefix("0b") {
        BigInt::parse_bytes(binary.as_bytes(), 2)
    } else if let Some(hex) = digits.strip_prefix("0x") {
        BigInt::parse_bytes(hex.as_bytes(), 16)
    } else if digits.contains(':') {
        sixties(digits)
    } else if digits.starts_with('0') {
        BigInt::parse_bytes(digits.as_bytes(), 8)
    } else {
        BigInt::parse_bytes(digits.as_bytes(), 10)
    };
    match value {
        Some(value) => Read::Int(if negative { -value } else { value }),
        None => Read::Other,
    }
}

/// `1:30` is 90.
fn sixties(digits: &str) -> Option<BigInt> {
    // Each step multiplies: without a limit a long row would be quadratic work.
    const PLACES_MAX: usize = 64;
    let mut value = BigInt::zero();
    for (place, part) in digits.split(':').enumerate() {
        if place == PLACES_MAX {
            return None;
        }
        value = value * 60 + BigInt::parse_bytes(part.as_bytes(), 10)?;
    }
    Some(value)
}

fn float(text: &str) -> Read {
    let text = text.replace('_', "").to_ascii_lowercase();
    let (negative, digits) = sign(&text);
    let value = match digits {
        ".inf" => Some(f64::INFINITY),
        ".nan" => Some(f64::NAN),
        _ if digits.contains(':') => digits
            .split(':')
            .try_fold(0.0, |value, part| part.parse::<f64>().ok().map(|part| value * 60.0 + part)),
        _ => digits.parse().ok(),
    };
    value.map_or(Read::Other, |value| Read::Float(if negative { -value } else { value }))
}

impl Read {
    /// A text field takes the scalars YAML makes of what was meant as text; `None` for what it does not take.
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Read::Null | Read::Other => None,
            Read::Bool(value) => Some(value.to_string()),
            Read::Int(value) => Some(value.to_string()),
            Read::Float(value) => Some(python::float(*value)),
            Read::Text(text) => Some(text.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use granit_parser::ScalarStyle;

    use super::*;

    fn plain(text: &str) -> Read {
        read(&Scalar { text: text.to_owned(), style: ScalarStyle::Plain })
    }

    #[test]
    fn scalars_are_read_as_yaml_1_1() {
        for (text, value) in [
            ("010", 8),
            ("0x1F", 31),
            ("0b11", 3),
            ("1_000", 1000),
            ("1:30", 90),
            ("-1:30", -90),
            ("-0", 0),
            ("+5", 5),
            ("0", 0),
        ] {
            assert_eq!(plain(text), Read::Int(value.into()), "{text}");
        }
        for (text, value) in [("no", false), ("On", true), ("YES", true), ("off", false)] {
            assert_eq!(plain(text), Read::Bool(value));
        }
        for text in ["y", "oN", "0o17", "1e5", "089", "=x", "1.2.3", "0.0.0.0"] {
            assert_eq!(plain(text), Read::Text(text.to_owned()));
        }
        for text in ["2024-01-01", "2024-1-1 1:02:03", "=", "0x_"] {
            assert_eq!(plain(text), Read::Other, "{text}");
        }
        assert_eq!(plain("~"), Read::Null);
        assert_eq!(plain("2.50").text().as_deref(), Some("2.5"));
        assert_eq!(plain("1.e+3").text().as_deref(), Some("1000.0"));
        let quoted = Scalar { text: "no".to_owned(), style: ScalarStyle::SingleQuoted };
        assert_eq!(read(&quoted), Read::Text("no".to_owned()));
    }

    #[test]
    fn integers_have_at_most_4300_digits() {
        let digits = |count: usize| plain(&"9".repeat(count));
        assert!(matches!(digits(INT_DIGITS_MAX - 1), Read::Int(_)));
        assert!(matches!(digits(INT_DIGITS_MAX), Read::Int(_)));
        assert_eq!(digits(INT_DIGITS_MAX + 1), Read::Other);
    }
}
