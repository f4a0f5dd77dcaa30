//! Edits as byte ranges of a frame: every other byte stays as it was.

use std::borrow::Cow;
use std::ops::Range;

use bytes::{Bytes, BytesMut};
use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::frame::Frame;

/// A list of replacements on one frame. Ranges count from the frame's first byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    list: Vec<Edit>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Edit {
    range: Range<usize>,
    with: Bytes,
}

/// Why edits cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpliceError {
    /// The replacement would put a line feed into the frame.
    LineFeed,
    /// A range lies outside the frame's body.
    OutOfFrame,
    /// Two edits touch the same bytes.
    Overlap,
}

impl std::fmt::Display for SpliceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::LineFeed => "an edit would put a line feed into the frame",
            Self::OutOfFrame => "an edit lies outside the frame",
            Self::Overlap => "two edits touch the same bytes",
        })
    }
}

impl std::error::Error for SpliceError {}

impl Edits {
    /// No edits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a replacement of `range` by `with`. An empty range inserts.
    #[must_use]
    pub fn replace(mut self, range: Range<usize>, with: impl Into<Bytes>) -> Self {
        self.push(range, with);
        self
    }

    /// Adds a replacement in place.
    pub fn push(&mut self, range: Range<usize>, with: impl Into<Bytes>) {
        self.list.push(Edit { range, with: with.into() });
    }

    /// Adds all of `other`'s.
    pub fn extend(&mut self, other: Edits) {
        self.list.extend(other.list);
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The edited frame; its terminator stays.
    ///
    /// # Errors
    /// When two edits overlap, one lies outside the frame's body, or one brings a line feed.
    pub fn apply(&self, frame: &Frame) -> Result<Frame, SpliceError> {
        let mut list: Vec<&Edit> = self.list.iter().collect();
        list.sort_by_key(|edit| edit.range.start);
        let old = frame.bytes();
        let added: usize = list.iter().map(|edit| edit.with.len()).sum();
        let mut new = BytesMut::with_capacity(old.len() + added);
        let mut at = 0;
        for edit in list {
            let Range { start, end } = edit.range;
            if start < at {
                return Err(SpliceError::Overlap);
            }
            if end < start || end > frame.len() {
                return Err(SpliceError::OutOfFrame);
            }
            if memchr::memchr(b'\n', &edit.with).is_some() {
                return Err(SpliceError::LineFeed);
            }
            new.extend_from_slice(old.get(at..start).unwrap_or_default());
            new.extend_from_slice(&edit.with);
            at = end;
        }
        new.extend_from_slice(old.get(at..).unwrap_or_default());
        Ok(Frame::from_wire(new.freeze()))
    }
}

/// The members of a JSON object in order, doubles included, values as written.
/// `None` if `text` is not exactly one object.
pub(crate) fn entries(text: &str) -> Option<Vec<(Cow<'_, str>, &RawValue)>> {
    struct Entries;
    impl<'de> Visitor<'de> for Entries {
        type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a JSON object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            // A raw key, because a borrowed &str fails on an escaped one.
            while let Some(key) = map.next_key::<&RawValue>()? {
                let key = crate::envelope::unquote(key.get())
                    .ok_or_else(|| serde::de::Error::custom("a key with a lone surrogate"))?;
                all.push((key, map.next_value()?));
            }
            Ok(all)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let all = reader.deserialize_map(Entries).ok()?;
    reader.end().ok()?;
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: &'static str) -> Frame {
        Frame::from_wire(Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn every_byte_outside_the_ranges_stays() {
        let edits = Edits::new().replace(4..5, "Z").replace(0..1, "").replace(2..2, "++");
        assert_eq!(&edits.apply(&frame("abcdef\r\n")).unwrap().bytes()[..], b"b++cdZf\r\n");
        assert_eq!(Edits::new().apply(&frame("ab")).unwrap(), frame("ab"));
    }

    #[test]
    fn edits_that_cannot_be_made_are_errors() {
        let f = frame("abcdef\n");
        for (edits, why) in [
            (Edits::new().replace(0..3, "").replace(2..4, ""), SpliceError::Overlap),
            (Edits::new().replace(0..7, ""), SpliceError::OutOfFrame),
            (Edits::new().replace(6..6, "x\ny"), SpliceError::LineFeed),
        ] {
            assert_eq!(edits.apply(&f), Err(why));
        }
        assert!(Edits::new().replace(6..6, "x").apply(&f).is_ok());
    }

    #[test]
    fn entries_keep_doubles_and_unescape_keys() {
        let all = entries(r#"{"a":1,"\u0061": [2] }"#).unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!((&*all[1].0, all[1].1.get()), ("a", "[2]"));
        assert!(entries("[1]").is_none());
        assert!(entries("{} {}").is_none());
    }
}
