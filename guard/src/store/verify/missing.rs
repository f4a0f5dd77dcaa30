//! Content that is not there, until it is known whether a `removed` record says so.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

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
    pub(super) fields: BTreeSet<String>,
    /// Kinds of records that kept theirs.
    pub(super) except: BTreeSet<String>,
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
        let index = Index::of(&self.removed, &self.by_field);
        let mut on_purpose = 0;
        let mut lost = Vec::new();
        for ((kind, field), numbers) in &self.by_field {
            for number in numbers.iter() {
                if index.covers(number, kind, field) {
                    on_purpose += 1;
                } else {
                    lost.push(Place::Content(i64::try_from(number).unwrap_or(i64::MAX), field.clone()));
                }
            }
        }
        lost.sort();
        (on_purpose, lost)
    }
}

/// How many of some ranges a number lies in, without a look at each.
#[derive(Debug, Default)]
struct Ranges {
    from: Vec<u64>,
    to: Vec<u64>,
}

impl Ranges {
    fn add(&mut self, removed: &Removed) {
        self.from.push(removed.from);
        self.to.push(removed.to);
    }

    fn sort(&mut self) {
        self.from.sort_unstable();
        self.to.sort_unstable();
    }

    fn count(&self, number: u64) -> usize {
        let begun = self.from.partition_point(|from| *from <= number);
        begun.saturating_sub(self.to.partition_point(|to| *to < number))
    }
}

/// What `removed` records say, by what is asked: a file may have as many of them as it has fields, kinds and
/// numbers, and each of these times each of the others would take hours. So ranges are counted: those that mean a
/// field, less those of them that except a kind.
#[derive(Debug, Default)]
struct Index<'m> {
    all: Ranges,
    all_but: HashMap<&'m str, Ranges>,
    named: HashMap<&'m str, Ranges>,
    /// By kind and field, of those that are missing.
    named_but: HashMap<(&'m str, &'m str), Ranges>,
}

impl<'m> Index<'m> {
    fn of(removed: &'m [Removed], missing: &BTreeMap<(String, String), Numbers>) -> Index<'m> {
        let asked: HashSet<(&str, &str)> =
            missing.keys().map(|(kind, field)| (kind.as_str(), field.as_str())).collect();
        let mut index = Index::default();
        for removed in removed {
            if removed.fields.is_empty() {
                index.all.add(removed);
                for kind in &removed.except {
                    index.all_but.entry(kind).or_default().add(removed);
                }
            }
            for field in &removed.fields {
                index.named.entry(field).or_default().add(removed);
                for kind in &removed.except {
                    if asked.contains(&(kind.as_str(), field.as_str())) {
                        index.named_but.entry((kind, field)).or_default().add(removed);
                    }
                }
            }
        }
        let Index { all, all_but, named, named_but } = &mut index;
        let some = all_but.values_mut().chain(named.values_mut()).chain(named_but.values_mut());
        some.chain(std::iter::once(all)).for_each(Ranges::sort);
        index
    }

    fn covers(&self, number: u64, kind: &str, field: &str) -> bool {
        let count = |ranges: Option<&Ranges>| ranges.map_or(0, |ranges| ranges.count(number));
        self.all.count(number) > count(self.all_but.get(kind))
            || count(self.named.get(field)) > count(self.named_but.get(&(kind, field)))
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
            except: BTreeSet::from(["text".to_owned()]),
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

    #[test]
    fn many_fields_and_many_removals_take_no_product_of_both() {
        let mut missing = Missing::default();
        for number in 1..=40_000_u64 {
            missing.content(number, &format!("kind {number}"), &format!("field {}", number % 7000));
            let name = |text: &str| BTreeSet::from([format!("{text} {}", number % 7000)]);
            let fields = if number % 2 == 0 { BTreeSet::new() } else { name("field") };
            missing.removed(Removed { from: number, to: number + 5, fields, except: name("kind") });
        }
        let begun = std::time::Instant::now();
        let (on_purpose, lost) = missing.settle();
        // The first two are excepted by the only ones that reach them.
        assert_eq!((on_purpose, lost.len()), (39_998, 2), "{:?}", lost.first());
        assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
    }
}
