//! Request ids as (type, exact value), and the namespace our own ids come from.

use std::sync::Arc;

/// A request id as its sender wrote it.
///
/// Equality is by type and exact value: `"a"` equals `"\u0061"`, `1` does not equal `"1"` nor
/// `1.0`. An answer that came back in another spelling is found by [`Id::number`].
#[derive(Clone)]
pub struct Id(Text);

/// Longest id text that needs no allocation: every integer a peer counts with.
const SHORT_BYTES: usize = 22;

#[derive(Clone)]
enum Text {
    /// Written with escapes.
    Escaped(Arc<Escaped>),
    Long(Arc<str>),
    /// INVARIANT: `bytes[..len]` is UTF-8, all after it is zero.
    Short {
        len: u8,
        bytes: [u8; SHORT_BYTES],
    },
}

struct Escaped {
    /// As received.
    text: Box<str>,
    /// The unescaped value between quotes: what an id without escapes has as its text.
    plain: Box<str>,
}

impl Id {
    /// Reads the JSON text of an id. `None` for anything but a string or a number: such an id
    /// (null, a boolean, an object) cannot be answered for certain.
    pub fn from_json(text: &str) -> Option<Self> {
        match text.as_bytes() {
            [b'-' | b'0'..=b'9', ..] => Some(Self::unescaped(text)),
            [b'"', inner @ .., b'"'] if memchr::memchr(b'\\', inner).is_none() => Some(Self::unescaped(text)),
            [b'"', ..] => {
                let value = serde_json::from_str::<String>(text).ok()?;
                let plain = format!("\"{value}\"").into();
                Some(Self(Text::Escaped(Arc::new(Escaped { text: text.into(), plain }))))
            }
            _ => None,
        }
    }

    /// An id whose text is its own plain form.
    fn unescaped(text: &str) -> Self {
        let mut bytes = [0; SHORT_BYTES];
        Self(match (bytes.get_mut(..text.len()), u8::try_from(text.len())) {
            (Some(place), Ok(len)) => {
                place.copy_from_slice(text.as_bytes());
                Text::Short { len, bytes }
            }
            _ => Text::Long(text.into()),
        })
    }

    /// The JSON text as its sender wrote it.
    pub fn json(&self) -> &str {
        match &self.0 {
            Text::Escaped(escaped) => &escaped.text,
            _ => std::str::from_utf8(self.plain()).unwrap_or_default(),
        }
    }

    /// Whether the id is a JSON string.
    pub fn is_string(&self) -> bool {
        self.plain().first() == Some(&b'"')
    }

    /// The number's text, or the string's value.
    pub fn value(&self) -> &str {
        let plain = std::str::from_utf8(self.plain()).unwrap_or_default();
        plain.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(plain)
    }

    /// The id read as a number the way lenient clients do: `"5"`, `5.0`, `" 5 "`, `0x5` and `""`
    /// (zero) all count. Clients accept such answers, so they must not escape observation.
    pub fn number(&self) -> Option<Decimal> {
        Decimal::parse(self.value())
    }

    /// One byte string for each (type, exact value): a string's starts with a quote, a number's
    /// does not. UTF-8.
    fn plain(&self) -> &[u8] {
        match &self.0 {
            Text::Escaped(escaped) => escaped.plain.as_bytes(),
            Text::Long(text) => text.as_bytes(),
            Text::Short { len, bytes } => bytes.get(..usize::from(*len)).unwrap_or_default(),
        }
    }
}

// === impl traits of Id ===

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Text::Short { bytes, .. }, Text::Short { bytes: others, .. }) => bytes == others,
            _ => self.plain() == other.plain(),
        }
    }
}

impl Eq for Id {}

impl std::hash::Hash for Id {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        // Once: each write costs as much as eight bytes. The table's keys are ids and nothing else.
        state.write(self.plain());
    }
}

impl std::fmt::Debug for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Id({})", self.json())
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.json())
    }
}

/// A decimal number in one form for each value: `50`, `5e1` and `50.0` are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    /// Without leading or trailing zeros; empty for zero.
    digits: String,
    exponent: i64,
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            let value = u64::from_str_radix(hex, 16).ok()?;
            return Self::parse(&value.to_string());
        }
        let (negative, rest) = match text.as_bytes() {
            [b'-', ..] => (true, text.strip_prefix('-')?),
            [b'+', ..] => (false, text.strip_prefix('+')?),
            _ => (false, text),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, fraction].concat();
        if !all.bytes().all(|b| b.is_ascii_digit()) || (all.is_empty() && !rest.is_empty()) {
            return None;
        }
        Some(Self::normal(negative, &all, exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?))
    }

    fn normal(negative: bool, all: &str, exponent: i64) -> Self {
        let significant = all.trim_start_matches('0');
        let digits = significant.trim_end_matches('0');
        if digits.is_empty() {
            return Self { negative: false, digits: String::new(), exponent: 0 };
        }
        let dropped = significant.len() - digits.len();
        Self {
            negative,
            digits: digits.to_owned(),
            exponent: exponent.saturating_add(i64::try_from(dropped).unwrap_or(i64::MAX)),
        }
    }
}

/// The ids that are ours: strings with a prefix that is random for each session.
///
/// Nobody can hold such an id by accident. A peer that has seen one can use it on purpose; its
/// request is then renamed, and an answer nobody waits for is dropped by its prefix.
#[derive(Clone, Debug)]
pub struct Namespace {
    prefix: Arc<str>,
}

impl Namespace {
    /// The namespace `framegate-TAG-`. `tag` should be random, of letters and digits.
    pub fn new(tag: &str) -> Self {
        Self { prefix: format!("framegate-{tag}-").into() }
    }

    /// A namespace with a random tag.
    ///
    /// The randomness is that of the standard library's hash maps: seeded by the system, and a
    /// SipHash output does not tell its key. It saves the pump a dependency.
    pub fn random() -> Self {
        use std::hash::{BuildHasher, Hasher};
        let draw = || std::hash::RandomState::new().build_hasher().finish();
        Self::new(&format!("{:016x}{:016x}", draw(), draw()))
    }

    /// The id of our own request with this number.
    pub fn question(&self, number: u64) -> Id {
        Id::unescaped(&format!("\"{}q{number}\"", self.prefix))
    }

    /// The id that a trespasser's request is sent on under.
    pub fn alias(&self, number: u64) -> Id {
        Id::unescaped(&format!("\"{}r{number}\"", self.prefix))
    }

    /// Whether `id` lies in the namespace.
    pub fn holds(&self, id: &Id) -> bool {
        id.plain().strip_prefix(b"\"").is_some_and(|value| value.starts_with(self.prefix.as_bytes()))
    }

    /// The reserved prefix.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Id {
        Id::from_json(text).unwrap()
    }

    #[test]
    fn ids_are_equal_by_type_and_exact_value() {
        assert_eq!(id(r#""a""#), id(r#""\u0061""#));
        assert_ne!(id("1"), id(r#""1""#));
        assert_ne!(id("1"), id("1.0"));
        assert_eq!(id(r#""\u0061""#).json(), r#""\u0061""#);
        assert_eq!(id(r#""a\"b""#), id(r#""a\u0022b""#));
        // Short texts and long ones, on both sides of the border.
        for len in [SHORT_BYTES - 3, SHORT_BYTES - 2, SHORT_BYTES - 1] {
            let (plain, escaped) = ("x".repeat(len), format!("\\u0078{}", "x".repeat(len - 1)));
            let [plain, escaped] = [plain, escaped].map(|text| id(&format!("\"{text}\"")));
            assert_eq!((&plain, plain.json().len()), (&escaped, len + 2));
            assert_ne!(plain, id(&format!("\"{}y\"", "x".repeat(len - 1))));
        }
    }

    #[test]
    fn what_cannot_be_answered_is_no_id() {
        for text in ["null", "true", "{}", "[1]", r#""\ud800""#] {
            assert!(Id::from_json(text).is_none(), "{text}");
        }
    }

    #[test]
    fn lenient_spellings_of_a_number_are_one_number() {
        for (a, b) in [
            ("5", r#""5""#),
            ("5", "5.0"),
            ("5", r#"" 5 ""#),
            ("5", r#""0x5""#),
            ("50", "5e1"),
            ("0", r#""""#),
            ("0", "-0"),
            ("9007199254740993", r#""9007199254740993""#),
        ] {
            assert_eq!(id(a).number(), id(b).number(), "{a} and {b}");
            assert!(id(a).number().is_some());
        }
        assert_ne!(id("9007199254740993").number(), id("9007199254740992").number());
        assert_eq!(id(r#""listen-1""#).number(), None);
        assert_eq!(id(r#"".""#).number(), None);
        assert!(id(&format!("1e{}", i64::MAX)).number().is_some());
    }

    #[test]
    fn the_namespace_holds_its_own_ids_in_any_spelling() {
        let space = Namespace::new("t");
        let mine = space.question(7);
        assert_eq!(mine.json(), r#""framegate-t-q7""#);
        assert!(space.holds(&mine));
        assert!(space.holds(&id(r#""\u0066ramegate-t-q7""#)));
        assert!(!space.holds(&id(r#""framegate-u-7""#)));
        assert_ne!(Namespace::random().prefix(), Namespace::random().prefix());
    }
}
