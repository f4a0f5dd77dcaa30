//! Content that is not there, until it is known whether a `removed` record says so.

use std::collections::BTreeMap;

use super::Place;

/// Numbers, a bit each: retention may have removed the contents of millions of records.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers(BTreeMap<u64, u64>);

impl Numbers {
    pub(super) fn insert(&mut self, number: u64) {
        *self.0.entry(number / 64).or_default() |= 1 << (number % 64);
    }

    pub(super) fn contains(&self, number: u64) -> bool {
        self.0.get(&(number / 64)).is_some_and(|bits| bits & (1 << (number % 64)) != 0)
    }

    fn iter(&self) -> impl Iterator<Item = u64> {
        self.0.iter().flat_map(|(chunk, bits)| {
            (0..64).filter(move |bit| bits & (1 << bit) != 0).map(move |bit| chunk * 64 + bit)
        })
    }
}

/// What a `removed` record says.
#[derive(Debug, Clone)]
pub(super) struct Removed {
    pub(super) from: u64,
    pub(super) to: u64,
    /// None: all.
    pub(super) fields: Vec<String>,
    /// Kinds of records that kept theirs.
    pub(super) except: Vec<String>,
}

/// All that is missing.
#[derive(Debug, Clone, Default)]
pub(super) struct Missing {
    /// By kind of record and name.
    by_field: BTreeMap<(String, String), Numbers>,
    removed: Vec<Removed>,
}

impl Missing {
    pub(super) fn content(&mut self, seq: u64, kind: &str, field: &str) {
        self.by_field.entry((kind.to_owned(), field.to_owned())).or_default().insert(seq);
    }

    pub(super) fn removed(&mut self, removed: Removed) {
        self.removed.push(removed);
    }

    /// How many were removed on purpose; and the others, in order.
    pub(super) fn settle(&self) -> (u64, Vec<Place>) {
        let mut on_purpose = 0;
        let mut lost = Vec::new();
        for ((kind, field), numbers) in &self.by_field {
            let ranges = self.ranges(kind, field);
            let mut ranges = ranges.iter().peekable();
            for number in numbers.iter() {
                while ranges.next_if(|(_, to)| *to < number).is_some() {}
                if ranges.peek().is_some_and(|(from, _)| *from <= number) {
                    on_purpose += 1;
                } else {
                    lost.push(Place::Content(i64::try_from(number).unwrap_or(i64::MAX), field.clone()));
                }
            }
        }
        lost.sort();
        (on_purpose, lost)
    }

    /// The ranges in which this field of such records was removed, in order and apart.
    fn ranges(&self, kind: &str, field: &str) -> Vec<(u64, u64)> {
        let is_meant = |removed: &&Removed| {
            (removed.fields.is_empty() || removed.fields.iter().any(|meant| meant == field))
                && !removed.except.iter().any(|except| except == kind)
        };
        let mut found: Vec<(u64, u64)> =
            self.removed.iter().filter(is_meant).map(|removed| (removed.from, removed.to)).collect();
        found.sort_unstable();
        let mut apart: Vec<(u64, u64)> = Vec::new();
        for (from, to) in found {
            match apart.last_mut() {
                Some((_, last)) if from <= *last => *last = to.max(*last),
                _ => apart.push((from, to)),
            }
        }
        apart
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_removed_record_covers_is_no_loss() {
        let mut missing = Missing::default();
        for number in [1, 63, 64, 65, 200, 1_000_000] {
            missing.content(number, "call", "a");
            missing.content(number, if number == 1 { "text" } else { "end" }, "b");
        }
        let removed = |from, to, fields: &[&str]| Removed {
            from,
            to,
            fields: fields.iter().map(|field| (*field).to_owned()).collect(),
            except: vec!["text".to_owned()],
        };
        missing.removed(removed(64, 300, &["a"]));
        missing.removed(removed(1, 10, &[]));
        missing.removed(removed(5, 63, &["a", "b"]));
        missing.removed(removed(64, 64, &["b"]));
        let (on_purpose, lost) = missing.settle();
        assert_eq!(on_purpose, 5 + 2);
        let content = |number, field: &str| Place::Content(number, field.to_owned());
        assert_eq!(
            lost,
            [
                content(1, "b"),
                content(65, "b"),
                content(200, "b"),
                content(1_000_000, "a"),
                content(1_000_000, "b")
            ]
        );
    }
}
