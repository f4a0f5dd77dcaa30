//! Where records come from when they are verified: as they are kept, believed in nothing.

use bytes::Bytes;

use super::chain::{Hash, Salt};
use super::error::StoreError;

/// Rows of a store in their order. Whatever a column holds comes as it is, so that what is wrong can be named.
pub trait Source {
    /// The next record, or what lies before it and belongs to none.
    ///
    /// # Errors
    /// [`StoreError`] when there is more that cannot be read.
    fn next(&mut self) -> Result<Option<Item>, StoreError>;

    /// All texts that are kept once, in the order of their numbers. After the last record.
    ///
    /// # Errors
    /// [`StoreError`].
    fn texts(&mut self, each: &mut dyn FnMut(TextRow)) -> Result<(), StoreError>;

    /// What is wrong with the file itself, in no row. Last.
    fn file(&mut self) -> Vec<String>;
}

/// What a source gives next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A record with its contents.
    Record(RawRow),
    /// A content whose record is not there.
    Stray(i64),
}

impl Item {
    /// What it takes in memory, about.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Item::Stray(_) => 0,
            Item::Record(row) => {
                let content = |content: &RawContent| {
                    content.field.len()
                        + content.bytes.as_ref().map_or(0, Bytes::len)
                        + size_of::<RawContent>()
                };
                row.body.len() + row.contents.iter().map(content).sum::<usize>()
            }
        }
    }
}

/// A record as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawRow {
    /// Its number.
    pub seq: i64,
    /// Its body; perhaps no UTF-8.
    pub body: Vec<u8>,
    /// Its hash; `None` where it has another length.
    pub hash: Option<Hash>,
    /// Its contents, by name.
    pub contents: Vec<RawContent>,
}

/// A content as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawContent {
    /// Its name under `x`.
    pub field: String,
    /// Its salt; `None` where it has another length.
    pub salt: Option<Salt>,
    /// Its bytes, in its own row or that of a text; `None` where neither is there.
    pub bytes: Option<Bytes>,
    /// The text that it points to, and the hash that stands beside it.
    pub text: Option<(i64, Option<Hash>)>,
    /// Both has bytes of its own and points to a text.
    pub is_double: bool,
}

/// A text as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRow {
    /// Its number.
    pub id: i64,
    /// The hash that stands beside it; `None` where it has another length.
    pub hash: Option<Hash>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}
