//! A call as one line of text, and as a key.
//!
//! The text is the form that records of earlier systems and prompts use: `pay({"amount": 1.0, "to": "a"})`, keys
//! sorted, `", "` and `": "` between, nothing but what JSON demands escaped, floats as Python writes them. It is
//! for reading. Whether two calls are the same call is asked of [`CallKey`]: `1` and `1.0` differ as text.

use sha2::{Digest as _, Sha256};

use crate::json::{Kind, Nulls, Value};
use crate::schema::Schema;

/// The call as text.
///
/// ```
/// # use framegate_guard::{json::{Document, Limits}, proposal::proposal};
/// let arguments = Document::read(r#"{"to":"a","amount":1e22}"#.into(), &Limits::default())?;
/// assert_eq!(proposal("pay", arguments.root()), r#"pay({"amount": 1e+22, "to": "a"})"#);
/// # Ok::<(), framegate_guard::json::Fault>(())
/// ```
#[must_use]
pub fn proposal(tool: &str, arguments: Value<'_>) -> String {
    let mut out = String::with_capacity(tool.len() + arguments.raw().len() + 2);
    out.push_str(tool);
    out.push('(');
    push(arguments, KeyOrder::Sorted, &mut out);
    out.push(')');
    out
}

/// Identity of a call: the tool and its arguments by value. Rewriting `1` as `1.0`, or the order of keys, makes
/// no other call of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallKey([u8; 32]);

impl CallKey {
    /// The key of that call.
    #[must_use]
    pub fn of(tool: &str, arguments: Value<'_>) -> CallKey {
        CallKey::hashed(tool, arguments, Nulls::Written)
    }

    /// The key of what the call does: with the schema's defaults filled in, and without members that are `null`, so
    /// that a call is the same one whether it spells out what is understood or not. `None` where filling in is more
    /// work than [`crate::schema::DEFAULTS_WORK_MAX`]: then it is not known which call this is.
    ///
    /// ```
    /// # use framegate_guard::{json::{Document, Limits}, proposal::CallKey, schema::Schema};
    /// let read = |text: &'static str| Document::read(text.into(), &Limits::default()).unwrap();
    /// let schema = read(r#"{"properties":{"to":{},"copies":{"default":1},"note":{}}}"#);
    /// let schema = Schema::compile(schema.root()).unwrap();
    /// let key = |text| CallKey::filled("print", read(text).root(), &schema);
    /// assert_eq!(key(r#"{"to":"a"}"#), key(r#"{"copies":1.0,"to":"a","note":null}"#));
    /// assert_ne!(key(r#"{"to":"a"}"#), key(r#"{"to":"a","copies":2}"#));
    /// ```
    #[must_use]
    pub fn filled(tool: &str, arguments: Value<'_>, schema: &Schema) -> Option<CallKey> {
        let filled = schema.with_defaults(arguments)?;
        Some(CallKey::hashed(tool, filled.root(), Nulls::Dropped))
    }

    fn hashed(tool: &str, arguments: Value<'_>, nulls: Nulls) -> CallKey {
        let mut hash = Sha256::new();
        // The name's length first: no name can borrow its end from the arguments.
        hash.update(u64::try_from(tool.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(tool);
        arguments.hash_into(nulls, &mut hash);
        CallKey(hash.finalize().into())
    }

    /// A key as a record, or whoever else kept it, has it.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> CallKey {
        CallKey(bytes)
    }

    /// Its bytes, for a record.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// In which order an object's members are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyOrder {
    AsWritten,
    Sorted,
}

/// Writes a value as Python's `json.dumps(ensure_ascii=False)` does. The depth is bounded by the reader's limit.
pub(crate) fn push(value: Value<'_>, order: KeyOrder, out: &mut String) {
    match value.kind() {
        Kind::Null | Kind::Bool => out.push_str(value.raw()),
        Kind::Number => out.push_str(&number(value)),
        Kind::String => push_string(value.as_str().unwrap_or_default(), out),
        Kind::Array => {
            out.push('[');
            for (position, item) in value.items().enumerate() {
                out.push_str(if position > 0 { ", " } else { "" });
                push(item, order, out);
            }
            out.push(']');
        }
        Kind::Object => push_object(value, order, out),
    }
}

fn push_object(value: Value<'_>, order: KeyOrder, out: &mut String) {
    let mut members: Vec<_> = value.members().collect();
    if order == KeyOrder::Sorted {
        members.sort_unstable_by_key(|(key, _)| *key);
    }
    out.push('{');
    for (position, (key, member)) in members.into_iter().enumerate() {
        out.push_str(if position > 0 { ", " } else { "" });
        push_string(key, out);
        out.push_str(": ");
        push(member, order, out);
    }
    out.push('}');
}

/// serde_json and Python escape the same characters in the same way.
fn push_string(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

/// A number as Python's `repr` writes it, but of the number itself, not of the float next to it.
pub(crate) fn number(value: Value<'_>) -> String {
    let raw = value.raw();
    if !raw.contains(['.', 'e', 'E']) {
        return if raw == "-0" { "0".to_owned() } else { raw.to_owned() };
    }
    let canonical = value.canonical();
    let sign = if raw.starts_with('-') { "-" } else { "" };
    let (digits, scale) = canonical.split_once('e').unwrap_or((&canonical, "0"));
    let digits = digits.trim_start_matches('-');
    // Within the reader's limits both terms are small.
    let scale: i32 = scale.parse().unwrap_or(0);
    let behind = i32::try_from(digits.len()).unwrap_or(0) - 1;
    format!("{sign}{}", python_float(digits, scale.saturating_add(behind)))
}

/// Python's `repr` of `d.ddd × 10^exponent`.
fn python_float(digits: &str, exponent: i32) -> String {
    let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, ""));
    if !(-4..16).contains(&exponent) {
        let point = if rest.is_empty() { "" } else { "." };
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{first}{point}{rest}e{sign}{:02}", exponent.unsigned_abs());
    }
    if exponent < 0 {
        let zeros = usize::try_from(-exponent - 1).unwrap_or(0);
        return format!("0.{}{digits}", "0".repeat(zeros));
    }
    let whole = usize::try_from(exponent).unwrap_or(0) + 1;
    match digits.split_at_checked(whole) {
        Some((whole, "")) => format!("{whole}.0"),
        Some((whole, fraction)) => format!("{whole}.{fraction}"),
        None => format!("{digits}{}.0", "0".repeat(whole - digits.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::{CallKey, number, proposal};
    use crate::json::{Document, Limits};

    fn read(text: &str) -> Document {
        Document::read(text.to_owned().into(), &Limits::default()).unwrap()
    }

    #[test]
    fn floats_are_written_as_python_writes_them() {
        for (json, python) in [
            ("0.1", "0.1"),
            ("1.10", "1.1"),
            ("1.0", "1.0"),
            ("100.0", "100.0"),
            ("123456.75", "123456.75"),
            ("1e15", "1000000000000000.0"),
            ("1e16", "1e+16"),
            ("1.5E300", "1.5e+300"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("0.00012", "0.00012"),
            ("-2.5e-7", "-2.5e-07"),
            ("-0.0", "-0.0"),
            ("0e5", "0.0"),
            ("-0", "0"),
            ("120e1", "1200.0"),
        ] {
            assert_eq!(number(read(json).root()), python, "{json}");
        }
    }

    #[test]
    fn a_number_is_never_rounded() {
        assert_eq!(number(read("9007199254740993").root()), "9007199254740993");
        assert_eq!(number(read("9007199254740993.0").root()), "9007199254740993.0");
        assert_eq!(number(read("0.10000000000000000001").root()), "0.10000000000000000001");
        assert_eq!(number(read("1e-400").root()), "1e-400");
        assert_eq!(number(read("-1e400").root()), "-1e+400");
    }

    #[test]
    fn a_key_is_the_call_by_value() {
        let key = |tool: &str, text: &str| CallKey::of(tool, read(text).root());
        assert_eq!(key("f", r#"{"a":1,"b":2}"#), key("f", r#"{ "b":2.0,"a":1e0}"#));
        assert_ne!(key("f", r#"{"a":1}"#), key("g", r#"{"a":1}"#));
        assert_ne!(key("f", r#"{"a":1}"#), key("f", r#"{"a":"1"}"#));
        assert_ne!(proposal("f", read(r#"{"a":1}"#).root()), proposal("f", read(r#"{"a":1.0}"#).root()));
    }
}
