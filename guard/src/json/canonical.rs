//! One way of writing a value: for hashing and comparing only.

use sha2::{Digest as _, Sha256};

use super::{Kind, Value};

/// See [`Value::canonical`].
pub(super) fn write(value: Value<'_>) -> String {
    let mut out = String::with_capacity(value.span().len());
    push(value, Nulls::Written, &mut out);
    out
}

/// Adds the value to a hash without writing it anywhere: a large one would stand in memory once more.
pub(super) fn hash(value: Value<'_>, nulls: Nulls, into: &mut Sha256) {
    let mut out = Hashed { waiting: String::new(), into };
    push(value, nulls, &mut out);
    out.flush();
}

/// What becomes of members whose value is `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// As if they were not there.
    Dropped,
    Written,
}

/// Where canonical text goes.
trait Out {
    fn push_str(&mut self, text: &str);
}

impl Out for String {
    fn push_str(&mut self, text: &str) {
        self.push_str(text);
    }
}

/// Hashing piece by piece costs more than the pieces, so short ones are gathered.
struct Hashed<'a> {
    waiting: String,
    into: &'a mut Sha256,
}

impl Out for Hashed<'_> {
    fn push_str(&mut self, text: &str) {
        const GATHERED_BYTES_MAX: usize = 4096;
        if self.waiting.len() + text.len() > GATHERED_BYTES_MAX {
            self.flush();
        }
        if text.len() > GATHERED_BYTES_MAX {
            self.into.update(text);
        } else {
            self.waiting.push_str(text);
        }
    }
}

impl Hashed<'_> {
    fn flush(&mut self) {
        self.into.update(&self.waiting);
        self.waiting.clear();
    }
}

// The depth is bounded by `Limits::DEPTH_MAX`.
fn push(value: Value<'_>, nulls: Nulls, out: &mut impl Out) {
    match value.kind() {
        Kind::Null | Kind::Bool => out.push_str(value.raw()),
        Kind::Number => number(value.raw(), out),
        Kind::String => string(value.as_str().unwrap_or_default(), out),
        Kind::Array => array(value, nulls, out),
        Kind::Object => object(value, nulls, out),
    }
}

fn array(value: Value<'_>, nulls: Nulls, out: &mut impl Out) {
    out.push_str("[");
    for (position, item) in value.items().enumerate() {
        if position > 0 {
            out.push_str(",");
        }
        push(item, nulls, out);
    }
    out.push_str("]");
}

fn object(value: Value<'_>, nulls: Nulls, out: &mut impl Out) {
    let stays = |member: &Value<'_>| nulls == Nulls::Written || !member.is_null();
    let mut members: Vec<_> = value.members().filter(|(_, member)| stays(member)).collect();
    members.sort_unstable_by_key(|(key, _)| *key);
    out.push_str("{");
    for (position, (key, member)) in members.into_iter().enumerate() {
        if position > 0 {
            out.push_str(",");
        }
        string(key, out);
        out.push_str(":");
        push(member, nulls, out);
    }
    out.push_str("}");
}

/// Escapes exactly what RFC 8259 demands, each in one way.
fn string(text: &str, out: &mut impl Out) {
    out.push_str("\"");
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte < b' ' || matches!(byte, b'"' | b'\\')) {
        let (plain, special) = rest.split_at(at);
        // It is ASCII, so one byte.
        let (special, behind) = special.split_at(1);
        out.push_str(plain);
        match special {
            "\"" => out.push_str("\\\""),
            "\\" => out.push_str("\\\\"),
            "\u{8}" => out.push_str("\\b"),
            "\t" => out.push_str("\\t"),
            "\n" => out.push_str("\\n"),
            "\u{c}" => out.push_str("\\f"),
            "\r" => out.push_str("\\r"),
            control => {
                let code = control.bytes().next().unwrap_or_default();
                out.push_str(&format!("\\u{code:04x}"));
            }
        }
        rest = behind;
    }
    out.push_str(rest);
    out.push_str("\"");
}

/// `-12.50e3` → `-125e2`; every zero is `0`.
fn number(text: &str, out: &mut impl Out) {
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
        out.push_str("0");
        return;
    }
    // Within the reader's limits every term is small.
    let written: i64 = exponent.trim_start_matches('+').parse().unwrap_or(0);
    let dropped = significant.len() - coefficient.len();
    let exponent = written + i64::try_from(dropped).unwrap_or(0) - i64::try_from(fraction.len()).unwrap_or(0);
    if negative {
        out.push_str("-");
    }
    out.push_str(coefficient);
    if exponent != 0 {
        out.push_str("e");
        out.push_str(&exponent.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Document, Limits};
    use super::*;

    fn read(text: String) -> Document {
        Document::read(text.into(), &Limits::default()).unwrap()
    }

    #[test]
    fn strings_are_escaped_as_serde_json_does_it() {
        for code in (0..=0x2ff).chain([0x2028, 0xffff, 0x10ffff]).filter_map(char::from_u32) {
            for text in [format!("{code}"), format!("a{code}{code}é"), format!("\\{code}\"")] {
                let mut out = String::new();
                string(&text, &mut out);
                assert_eq!(out, serde_json::Value::from(text).to_string());
            }
        }
    }

    #[test]
    fn the_hash_is_that_of_the_text_whatever_its_size() {
        for size in [0, 1, 4093, 4094, 4095, 4096, 4097, 10_000] {
            let text = "x".repeat(size);
            for text in [
                format!(r#"["{text}"]"#),
                format!(r#"{{"b":"{text}","a":[1.50,"{text}\n{text}",true,null]}}"#),
                format!("[{}7]", "1.0,\"ab\",".repeat(size / 4)),
            ] {
                let document = read(text);
                let value = document.root();
                let digest: [u8; 32] = Sha256::digest(value.canonical()).into();
                assert_eq!(value.digest(), digest);
            }
        }
    }
}
