//! The keywords that look at a number's value, judged on the text as written.
//!
//! The validator keeps limits as `f64` or `serde_json` numbers; so before it sees a schema, [`super::compile`]
//! writes each of these keywords under a name of ours with its raw text as value.

use super::adapter::{Exact, Item};
use crate::decimal::Decimal;
use crate::json::{Document, Kind, Limits, Value};
use jsonschema::json::Node as _;
use jsonschema::{Keyword, ValidationError, ValidationOptions};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

/// Before a keyword's name; no schema of the world uses it.
pub(super) const PREFIX: &str = "framegate:";

/// The keywords taken over whose value is a number.
pub(super) const NUMERIC: [&str; 5] =
    ["exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"];

type Retriever = Arc<dyn jsonschema::Retrieve>;

/// Options that know all of our keywords.
pub(super) fn register<'i>(
    options: ValidationOptions<'i, Retriever, Exact>,
) -> ValidationOptions<'i, Retriever, Exact> {
    let mut options = options;
    for name in NUMERIC {
        options = options.with_keyword(format!("{PREFIX}{name}"), move |_, value, _| {
            let text = value.as_str().unwrap_or_default();
            let invalid = || ValidationError::schema(format!("`{name}` is out of range"));
            let limit = Decimal::parse(text).ok_or_else(invalid)?;
            if name == "multipleOf" && (limit.is_negative() || limit.is_zero()) {
                return Err(ValidationError::schema("`multipleOf` must be above zero"));
            }
            let test = match name {
                "minimum" => Test::AtLeast,
                "maximum" => Test::AtMost,
                "exclusiveMinimum" => Test::Above,
                "exclusiveMaximum" => Test::Below,
                _ => Test::MultipleOf,
            };
            Ok(Box::new(Bound { test, limit, text: text.to_owned() }) as Box<dyn for<'k> Keyword<'k, Exact>>)
        });
    }
    options
        .with_keyword(format!("{PREFIX}const"), |_, value, _| {
            OneOf::new(&format!("[{}]", value.as_str().unwrap_or_default()))
        })
        .with_keyword(format!("{PREFIX}enum"), |_, value, _| OneOf::new(value.as_str().unwrap_or_default()))
}

enum Test {
    Above,
    AtLeast,
    AtMost,
    Below,
    MultipleOf,
}

struct Bound {
    test: Test,
    limit: Decimal,
    text: String,
}

impl Bound {
    fn expected(&self) -> String {
        let phrase = match self.test {
            Test::Above => "more than",
            Test::AtLeast => "at least",
            Test::AtMost => "at most",
            Test::Below => "less than",
            Test::MultipleOf => "a multiple of",
        };
        format!("{phrase} {}", super::mismatch::clip(&self.text))
    }

    /// A number that cannot be computed with is no number within bounds.
    fn holds(&self, number: &str) -> bool {
        let Some(number) = Decimal::parse(number) else { return false };
        let order = number.cmp(&self.limit);
        match self.test {
            Test::Above => order == Ordering::Greater,
            Test::AtLeast => order != Ordering::Less,
            Test::AtMost => order != Ordering::Greater,
            Test::Below => order == Ordering::Less,
            Test::MultipleOf => number.rem(&self.limit).is_ok_and(|rest| rest.is_zero()),
        }
    }
}

impl<'i> Keyword<'i, Exact> for Bound {
    fn validate(&self, instance: Item<'i>) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) { Ok(()) } else { Err(ValidationError::custom(self.expected())) }
    }

    fn is_valid(&self, instance: Item<'i>) -> bool {
        match instance {
            Item::Text(_) => true,
            Item::Value(value) | Item::Whole(value) => value.number().is_none_or(|number| self.holds(number)),
        }
    }
}

/// `enum`, and `const` as an `enum` of one.
struct OneOf {
    strings: HashSet<String>,
    /// Everything else, in the one way of writing it.
    others: HashSet<String>,
    expected: String,
}

/// Values that a mismatch names before it says how many there are.
const SHOWN_VALUES_MAX: usize = 12;

impl OneOf {
    #[expect(clippy::new_ret_no_self, reason = "what the validator registers is the boxed keyword")]
    fn new<'a>(list: &str) -> Result<Box<dyn for<'k> Keyword<'k, Exact>>, ValidationError<'a>> {
        let list = Document::read(list.to_owned().into(), &Limits { depth: 128, ..Limits::default() })
            .map_err(|fault| ValidationError::schema(fault.to_string()))?;
        let (strings, others): (Vec<Value<'_>>, Vec<Value<'_>>) =
            list.root().items().partition(|value| value.kind() == Kind::String);
        let expected = match list.root().len() {
            1 => list.root().item(0).map(|only| super::mismatch::clip(only.raw())).unwrap_or_default(),
            _ => format!("one of {}", shown(list.root())),
        };
        Ok(Box::new(OneOf {
            strings: strings.iter().filter_map(|value| value.as_str()).map(str::to_owned).collect(),
            others: others.iter().map(|value| value.canonical()).collect(),
            expected,
        }))
    }
}

fn shown(list: Value<'_>) -> String {
    let mut shown: Vec<String> =
        list.items().take(SHOWN_VALUES_MAX).map(|value| super::mismatch::clip(value.raw())).collect();
    let hidden = list.len().saturating_sub(shown.len());
    if hidden > 0 {
        shown.push(format!("… ({hidden} more)"));
    }
    shown.join(", ")
}

impl<'i> Keyword<'i, Exact> for OneOf {
    fn validate(&self, instance: Item<'i>) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) { Ok(()) } else { Err(ValidationError::custom(self.expected.clone())) }
    }

    fn is_valid(&self, instance: Item<'i>) -> bool {
        match (instance.as_string(), instance) {
            (Some(text), _) => self.strings.contains(text.as_ref()),
            (None, Item::Value(value) | Item::Whole(value)) => {
                !self.others.is_empty() && self.others.contains(&value.canonical())
            }
            (None, Item::Text(_)) => false,
        }
    }
}
