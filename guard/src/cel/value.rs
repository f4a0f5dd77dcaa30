//! Values: borrowed from the call where they can be.

use super::{Budget, Failure};
use crate::decimal::Decimal;
use crate::json;
use crate::world::Instant;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A value of an expression.
#[derive(Debug, Clone)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, exact.
    Number(Decimal),
    /// Text.
    String(Cow<'a, str>),
    /// A list that was built.
    List(Arc<[Value<'a>]>),
    /// A map that was built.
    Map(Arc<BTreeMap<Cow<'a, str>, Value<'a>>>),
    /// A value of a document, read when it is looked at.
    Json(json::Value<'a>),
    /// An instant.
    Timestamp(Instant),
    /// A span of time in microseconds.
    Duration(i64),
    /// Declared, but without a value: whoever reads it fails with this.
    Missing(Arc<Failure>),
}

impl<'a> Value<'a> {
    /// Something declared that was not given; reading it is an unknown, `has()` of it is false.
    #[must_use]
    pub fn missing(reason: impl Into<String>) -> Value<'a> {
        Value::Missing(Arc::new(Failure::unknown(reason)))
    }

    /// Something whose own evaluation failed.
    #[must_use]
    pub fn failed(failure: Failure) -> Value<'a> {
        Value::Missing(Arc::new(Failure { span: 0..0, ..failure }))
    }

    /// Text.
    #[must_use]
    pub fn text(text: impl Into<Cow<'a, str>>) -> Value<'a> {
        Value::String(text.into())
    }

    /// A list.
    pub fn list(items: impl IntoIterator<Item = Value<'a>>) -> Value<'a> {
        Value::List(items.into_iter().collect())
    }

    /// A map.
    pub fn map<K: Into<Cow<'a, str>>>(entries: impl IntoIterator<Item = (K, Value<'a>)>) -> Value<'a> {
        Value::Map(Arc::new(entries.into_iter().map(|(key, value)| (key.into(), value)).collect()))
    }

    /// A document's value that borrows nothing from it.
    #[must_use]
    pub fn owned(value: json::Value<'_>) -> Value<'static> {
        match value.kind() {
            json::Kind::Array => Value::list(value.items().map(Value::owned)),
            json::Kind::Object => {
                Value::map(value.members().map(|(key, value)| (key.to_owned(), Value::owned(value))))
            }
            _ => Value::Json(value).scalar().into_static(),
        }
    }

    /// A boolean's value.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            Value::Json(json) => json.as_bool(),
            _ => None,
        }
    }

    /// What a condition's value says.
    ///
    /// # Errors
    /// [`Failure`] when it is neither true nor false.
    pub fn condition(&self) -> Result<bool, Failure> {
        self.as_bool()
            .ok_or_else(|| Failure::error(format!("the condition is {}, not true or false", self.kind())))
    }

    /// A text's value.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            Value::Json(json) => json.as_str(),
            _ => None,
        }
    }

    /// A number's value.
    #[must_use]
    pub fn as_number(&self) -> Option<Decimal> {
        match self {
            Value::Number(number) => Some(number.clone()),
            Value::Json(json) => json.number().and_then(Decimal::parse),
            _ => None,
        }
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Json(json) => json.is_null(),
            _ => false,
        }
    }

    /// What it is, for people.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a bool",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
            Value::Json(json) => match json.kind() {
                json::Kind::Null => "null",
                json::Kind::Bool => "a bool",
                json::Kind::Number => "a number",
                json::Kind::String => "a string",
                json::Kind::Array => "a list",
                json::Kind::Object => "a map",
            },
            Value::Timestamp(_) => "a timestamp",
            Value::Duration(_) => "a duration",
            Value::Missing(_) => "nothing",
        }
    }

    /// Text of its own.
    #[must_use]
    pub fn into_static(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Bool(value) => Value::Bool(value),
            Value::Number(number) => Value::Number(number),
            Value::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Value::List(items) => Value::list(items.iter().cloned().map(Value::into_static)),
            Value::Map(map) => Value::map(
                map.iter().map(|(key, value)| (key.clone().into_owned(), value.clone().into_static())),
            ),
            Value::Json(json) => Value::owned(json),
            Value::Timestamp(instant) => Value::Timestamp(instant),
            Value::Duration(span) => Value::Duration(span),
            Value::Missing(failure) => Value::Missing(failure),
        }
    }

    /// The same value without a copy of its text.
    pub(super) fn borrowed(&'a self) -> Value<'a> {
        match self {
            Value::String(text) => Value::String(Cow::Borrowed(text)),
            other => other.clone(),
        }
    }

    /// A document's scalar in the form of a value that was built: afterwards [`Value::Json`] is a list or map.
    pub(super) fn scalar(self) -> Value<'a> {
        let Value::Json(json) = self else { return self };
        match json.kind() {
            json::Kind::Null => Value::Null,
            json::Kind::Bool => Value::Bool(json.as_bool() == Some(true)),
            json::Kind::Number => match json.number().and_then(Decimal::parse) {
                Some(number) => Value::Number(number),
                None => Value::failed(Failure::error("a number is too large to be compared")),
            },
            json::Kind::String => Value::String(Cow::Borrowed(json.as_str().unwrap_or_default())),
            json::Kind::Array | json::Kind::Object => Value::Json(json),
        }
    }

    /// The value that was read, or the reason why there is none.
    pub(super) fn fetched(self) -> Result<Value<'a>, Failure> {
        match self.scalar() {
            Value::Missing(failure) => Err((*failure).clone()),
            value => Ok(value),
        }
    }

    /// The items of a list of strings; `None` for anything else.
    pub(crate) fn texts(&self) -> Option<Vec<String>> {
        self.items()?.map(|item| item.as_str().map(str::to_owned)).collect()
    }

    /// Items of a list; `None` for anything else.
    pub(crate) fn items(&self) -> Option<Items<'a>> {
        match self {
            Value::List(items) => Some(Items::Built(Arc::clone(items), 0)),
            Value::Json(json) if json.kind() == json::Kind::Array => {
                Some(Items::Read(Box::new(json.items()), json.len()))
            }
            _ => None,
        }
    }

    /// Members of a map; `None` for anything else.
    pub(super) fn entries(&self) -> Option<Vec<(Cow<'a, str>, Value<'a>)>> {
        match self {
            Value::Map(map) => Some(map.iter().map(|(key, value)| (key.clone(), value.clone())).collect()),
            Value::Json(json) if json.kind() == json::Kind::Object => {
                Some(json.members().map(|(key, value)| (Cow::Borrowed(key), Value::Json(value))).collect())
            }
            _ => None,
        }
    }

    /// How many items or members it has; `None` for scalars.
    pub(super) fn len(&self) -> Option<usize> {
        match self {
            Value::List(items) => Some(items.len()),
            Value::Map(map) => Some(map.len()),
            Value::Json(json) if matches!(json.kind(), json::Kind::Array | json::Kind::Object) => {
                Some(json.len())
            }
            _ => None,
        }
    }

    /// The member of that name; `None` when it is absent or this is no map.
    pub(super) fn member(&self, name: &str) -> Option<Value<'a>> {
        match self {
            Value::Map(map) => map.get(name).cloned(),
            Value::Json(json) => json.get(name).map(Value::Json),
            _ => None,
        }
    }

    /// Whether it is a map.
    pub(super) fn is_map(&self) -> bool {
        match self {
            Value::Map(_) => true,
            Value::Json(json) => json.kind() == json::Kind::Object,
            _ => false,
        }
    }
}

/// Items of a list, one after the other.
pub(crate) enum Items<'a> {
    Built(Arc<[Value<'a>]>, usize),
    Read(Box<dyn Iterator<Item = json::Value<'a>> + 'a>, usize),
}

impl Items<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Items::Built(items, at) => items.len().saturating_sub(*at),
            Items::Read(_, len) => *len,
        }
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        match self {
            Items::Built(items, at) => {
                let item = items.get(*at).cloned();
                *at += 1;
                item
            }
            Items::Read(items, _) => items.next().map(Value::Json),
        }
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Value::Number(value.into())
    }
}

impl From<Decimal> for Value<'_> {
    fn from(value: Decimal) -> Self {
        Value::Number(value)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Value::String(Cow::Borrowed(value))
    }
}

impl From<String> for Value<'_> {
    fn from(value: String) -> Self {
        Value::String(Cow::Owned(value))
    }
}

impl<'a> From<json::Value<'a>> for Value<'a> {
    fn from(value: json::Value<'a>) -> Self {
        Value::Json(value)
    }
}

/// Whether two values are equal; values of different types are not.
pub(super) fn equal(left: &Value<'_>, right: &Value<'_>, budget: &mut Budget) -> Result<bool, Failure> {
    budget.spend(1)?;
    let (left, right) = (left.clone().fetched()?, right.clone().fetched()?);
    Ok(match (&left, &right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a == b,
        (Value::String(a), Value::String(b)) => {
            budget.spend_read(a.len().min(b.len()))?;
            a == b
        }
        (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
        (Value::Duration(a), Value::Duration(b)) => a == b,
        _ => return budget.deeper(|budget| equal_many(&left, &right, budget)),
    })
}

fn equal_many(left: &Value<'_>, right: &Value<'_>, budget: &mut Budget) -> Result<bool, Failure> {
    if let (Some(left), Some(right)) = (left.items(), right.items()) {
        if left.len() != right.len() {
            return Ok(false);
        }
        for (left, right) in left.zip(right) {
            if !equal(&left, &right, budget)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    if left.len() != right.len() || !right.is_map() {
        return Ok(false);
    }
    budget.spend_items(left.len().unwrap_or(0) / 8)?;
    let Some(entries) = left.entries() else { return Ok(false) };
    for (key, value) in entries {
        // A document's members are searched one by one.
        budget.spend_items(right.len().unwrap_or(0) / 16)?;
        match right.member(&key) {
            Some(other) if equal(&value, &other, budget)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// The order of two values of one ordered type.
pub(super) fn compare(left: &Value<'_>, right: &Value<'_>, budget: &mut Budget) -> Result<Ordering, Failure> {
    Ok(match (left, right) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => {
            budget.spend_items((a.digits().max(b.digits()) / 64) as usize)?;
            a.cmp(b)
        }
        (Value::String(a), Value::String(b)) => {
            budget.spend_read(a.len().min(b.len()))?;
            a.cmp(b)
        }
        (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
        (Value::Duration(a), Value::Duration(b)) => a.cmp(b),
        _ => {
            return Err(Failure::error(format!("{} has no order with {}", left.kind(), right.kind())));
        }
    })
}
