//! What is read back: a row as it is kept, the record in it, contents beside it.

use bytes::Bytes;
use serde_json::Value;

use super::chain::{Hash, Salt, commit};
use super::error::StoreError;
use crate::world::Instant;

/// One record as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its number.
    pub seq: u64,
    /// Its body, as text.
    pub body: String,
    /// Its hash.
    pub hash: Hash,
}

/// One content as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its name under `x`.
    pub field: String,
    /// What keeps its commitment from being guessed.
    pub salt: Salt,
    /// The bytes; they need not be UTF-8.
    pub bytes: Bytes,
}

impl Kept {
    /// What the body must say of it.
    #[must_use]
    pub fn commitment(&self) -> Hash {
        commit(&self.salt, &self.field, &self.bytes)
    }

    /// The bytes as text, where they are UTF-8.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }
}

impl Row {
    /// The body's members. Nothing is verified here: see [`super::verify`].
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the body is not a JSON object.
    pub fn record(&self) -> Result<Record, StoreError> {
        match serde_json::from_str(&self.body) {
            Ok(Value::Object(members)) => Ok(Record { members }),
            Ok(_) => Err(StoreError::Corrupt(format!("record {} is not an object", self.seq))),
            Err(why) => Err(StoreError::Corrupt(format!("record {} is not JSON: {why}", self.seq))),
        }
    }
}

/// The members of a body. One that is missing, or of another type, is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    members: serde_json::Map<String, Value>,
}

impl Record {
    /// The number that the body itself gives.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.value("seq").and_then(Value::as_u64).unwrap_or_default()
    }

    /// When it was written. Clocks can be set back: the order of records is that of their numbers.
    #[must_use]
    pub fn time(&self) -> Instant {
        Instant(self.number("time").unwrap_or_default())
    }

    /// What kind it is; empty when it has none.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.text("kind").unwrap_or_default()
    }

    /// A string.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.value(key)?.as_str()
    }

    /// An integer.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<i64> {
        self.value(key)?.as_i64()
    }

    /// An integer that counts something, or is another record's number: from 0 to 2^63-1.
    #[must_use]
    pub fn count(&self, key: &str) -> Option<u64> {
        self.number(key).and_then(|number| u64::try_from(number).ok())
    }

    /// Whether it is there and true.
    #[must_use]
    pub fn flag(&self, key: &str) -> bool {
        self.value(key).and_then(Value::as_bool).unwrap_or_default()
    }

    /// Strings; none when it is no list, and without what is no string.
    pub fn texts(&self, key: &str) -> impl Iterator<Item = &str> {
        self.value(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// A hash.
    #[must_use]
    pub fn hash(&self, key: &str) -> Option<Hash> {
        self.text(key)?.parse().ok()
    }

    /// All members, in their order.
    pub fn members(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.members.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Any member.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.members.get(key)
    }

    /// What the body says of a content.
    #[must_use]
    pub fn commitment(&self, field: &str) -> Option<Hash> {
        self.value("x")?.get(field)?.as_str()?.parse().ok()
    }

    /// The names of what it commits to.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.value("x").and_then(Value::as_object).into_iter().flatten().map(|(field, _)| field.as_str())
    }

    /// Whether a content was only committed to and never kept.
    #[must_use]
    pub fn was_dropped(&self, field: &str) -> bool {
        self.texts(super::entry::DROPPED).any(|dropped| dropped == field)
    }
}
