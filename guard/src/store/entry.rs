//! A record as it is put together: members of its body, in order, and contents beside it.

use std::fmt::Write as _;

use bytes::Bytes;

use super::chain::{Hash, Salt};

/// The member that names what the body commits to and what was never kept.
pub const DROPPED: &str = "dropped";

/// Shorter bytes cost less than the reference to them.
pub const SHARED_BYTES_MIN: usize = 256;

/// What a call's record takes.
const MEMBERS_BYTES: usize = 512;

/// A record that has no number, time or hash yet.
#[derive(Debug, Clone)]
pub struct Entry {
    /// `"key":value,` one after the other; starts with the kind.
    members: String,
    contents: Vec<Content>,
}

/// What the body commits to.
#[derive(Debug, Clone)]
pub struct Content {
    /// Its name under `x`.
    pub field: &'static str,
    /// The bytes; they need not be UTF-8.
    pub bytes: Bytes,
    /// What becomes of them.
    pub keep: Keep,
}

/// What becomes of a content's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Kept beside the chain.
    Own,
    /// Kept once for all records that have the same.
    Shared,
    /// Only committed to.
    Not,
}

impl Entry {
    /// Of this kind.
    #[must_use]
    pub fn new(kind: &str) -> Entry {
        Entry { members: String::with_capacity(MEMBERS_BYTES), contents: Vec::new() }.text("kind", kind)
    }

    /// A string.
    #[must_use]
    pub fn text(self, key: &str, value: &str) -> Entry {
        // Most strings are written as they are; building a value for each takes longer than the hash.
        if value.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
            return self.pieces(key, &["\"", value, "\""]);
        }
        let value = serde_json::Value::from(value);
        self.raw(key, &value.to_string())
    }

    /// An integer.
    #[must_use]
    pub fn number(self, key: &str, value: impl Into<i128>) -> Entry {
        self.raw(key, &value.into().to_string())
    }

    /// A hash.
    #[must_use]
    pub fn hash(self, key: &str, value: &Hash) -> Entry {
        self.pieces(key, &["\"", &value.to_string(), "\""])
    }

    /// True; what is false is left out.
    #[must_use]
    pub fn flag(self, key: &str, value: bool) -> Entry {
        if value { self.raw(key, "true") } else { self }
    }

    /// Strings.
    #[must_use]
    pub fn texts<'a>(self, key: &str, values: impl Iterator<Item = &'a str>) -> Entry {
        let list: Vec<serde_json::Value> = values.map(serde_json::Value::from).collect();
        self.raw(key, &serde_json::Value::from(list).to_string())
    }

    /// A value as JSON in the one spelling of bodies: no white space, strings escaped only where JSON demands it,
    /// integers only.
    #[must_use]
    pub fn raw(self, key: &str, json: &str) -> Entry {
        self.pieces(key, &[json])
    }

    fn pieces(mut self, key: &str, pieces: &[&str]) -> Entry {
        self.members.extend(["\"", key, "\":"]);
        self.members.extend(pieces.iter().copied());
        self.members.push(',');
        self
    }

    /// Bytes that are kept beside the chain.
    #[must_use]
    pub fn content(mut self, field: &'static str, bytes: Bytes) -> Entry {
        self.contents.push(Content { field, bytes, keep: Keep::Own });
        self
    }

    /// Bytes that other records may have too: kept once, where they are long enough for that.
    #[must_use]
    pub fn shared(mut self, field: &'static str, bytes: Bytes) -> Entry {
        let keep = if bytes.len() < SHARED_BYTES_MIN { Keep::Own } else { Keep::Shared };
        self.contents.push(Content { field, bytes, keep });
        self
    }

    /// Bytes that the body commits to, and that are not kept.
    #[must_use]
    pub fn committed(mut self, field: &'static str, bytes: Bytes) -> Entry {
        self.contents.push(Content { field, bytes, keep: Keep::Not });
        self
    }

    /// What it commits to.
    #[must_use]
    pub fn contents(&self) -> &[Content] {
        &self.contents
    }

    /// The body: number, time (µs since 1970-01-01T00:00:00Z), members in order, commitments last.
    #[must_use]
    pub fn body(&self, sequence: u64, time: i64, salts: &[Salt]) -> String {
        let mut body = String::with_capacity(self.members.len() + 64 + 100 * self.contents.len());
        let _ = write!(body, "{{\"seq\":{sequence},\"time\":{time},");
        body.push_str(&self.members);
        let mut dropped = self.contents.iter().filter(|content| content.keep == Keep::Not).peekable();
        if dropped.peek().is_some() {
            // Else content that is missing would look like content that somebody took away.
            let names: Vec<&str> = dropped.map(|content| content.field).collect();
            let _ = write!(body, "\"{DROPPED}\":{},", serde_json::Value::from(names));
        }
        if self.contents.is_empty() {
            body.pop();
        } else {
            body.push_str("\"x\":{");
            for (content, salt) in self.contents.iter().zip(salts) {
                let hash = super::chain::commit(salt, content.field, &content.bytes);
                body.extend(["\"", content.field, "\":\"", &hash.to_string(), "\","]);
            }
            body.pop();
            body.push('}');
        }
        body.push('}');
        body
    }
}
