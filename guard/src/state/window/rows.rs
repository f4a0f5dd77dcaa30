//! A window as rows, for a store that several processes share: a step writes what it added and removes what it forgot, and
//! who reads it has the rows from before.
//!
//! ```text
//!   numbers   0 1 2 3 4 5 6 7
//!             └ forgot ┘   │ └ next: rows from here on are new to who read it before
//!                   first  └ taken off: told by its number, the last ones; who is further behind reads all
//! ```

use std::collections::VecDeque;

use serde_json::{Value as Json, json};

use super::super::spell::{read_entry, spelled_entry};
use super::Window;
use crate::ledger::Rows;

/// Entries taken off of which others are told by number.
pub(super) const TOLD_MAX: usize = 16;

/// All of a window but its entries.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct Head {
    /// Entries before this one are forgotten.
    first: u64,
    next: u64,
    count: usize,
    taken: u64,
    last_taken: VecDeque<u64>,
}

/// What the rows of a window are by now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) struct Filed {
    first: u64,
    next: u64,
    taken: u64,
}

impl Window {
    pub(in super::super) fn head(&self) -> Head {
        let (count, last_taken) = (self.entries.len(), self.last_taken.clone());
        Head { first: self.first(), next: self.next, count, taken: self.taken, last_taken }
    }

    fn first(&self) -> u64 {
        self.entries.front().map_or(self.next, |entry| entry.number)
    }

    pub(in super::super) fn filed(&self) -> Filed {
        Filed { first: self.first(), next: self.next, taken: self.taken }
    }

    /// What becomes of the rows that were like this. Nothing: there were none.
    pub(in super::super) fn rows(&self, filed: Option<Filed>) -> Rows {
        let from = |number: u64| {
            let first = self.entries.partition_point(|entry| entry.number < number);
            let new = self.entries.iter().skip(first);
            new.map(|entry| (entry.number, spelled_entry(entry).to_string())).collect()
        };
        let known = filed.and_then(|filed| Some((filed, taken_since(self.taken, &self.last_taken, filed)?)));
        match known {
            Some((filed, gone)) => Rows::Changed { below: self.first(), gone, added: from(filed.next) },
            None => Rows::All(from(0)),
        }
    }

    /// The same window as somebody else has left it. `rows`: those from [`Head::from`] on.
    pub(in super::super) fn follow(
        &mut self,
        head: &Head,
        is_new: bool,
        rows: &[(u64, String)],
    ) -> Option<()> {
        let gone = if is_new { None } else { taken_since(head.taken, &head.last_taken, self.filed()) };
        match gone {
            Some(gone) => gone.into_iter().for_each(|number| self.take_off_number(number)),
            None => *self = Window::default(),
        }
        let old = self.entries.partition_point(|entry| entry.number < head.first);
        self.entries.drain(..old);
        for (number, text) in rows {
            self.add_row(*number, text)?;
        }
        self.forget_unclear();
        (self.next, self.taken, self.last_taken) = (head.next, head.taken, head.last_taken.clone());
        // A row is missing, or one too many is there.
        (self.entries.len() == head.count).then_some(())
    }

    fn add_row(&mut self, number: u64, text: &str) -> Option<()> {
        if self.entries.back().is_some_and(|last| last.number >= number) {
            return None;
        }
        self.next = number;
        let entry: Json = serde_json::from_str(text).ok()?;
        read_entry(self, &entry)
    }
}

impl Head {
    /// The first row to be read by who knows the rows as they were then.
    pub(in super::super) fn from(&self, known: Option<Filed>) -> u64 {
        let behind = known.filter(|filed| taken_since(self.taken, &self.last_taken, *filed).is_some());
        behind.filter(|filed| filed.next <= self.next).map_or(0, |filed| filed.next)
    }

    pub(in super::super) fn spelled(&self) -> Json {
        let Head { first, next, count, taken, last_taken } = self;
        json!({ "first": first, "next": next, "count": count, "taken": taken, "last": last_taken })
    }

    pub(in super::super) fn read(text: &Json) -> Option<Head> {
        let number = |key: &str| text.get(key)?.as_u64();
        let last = text.get("last")?.as_array().filter(|last| last.len() <= TOLD_MAX)?;
        Some(Head {
            first: number("first")?,
            next: number("next")?,
            count: usize::try_from(number("count")?).ok()?,
            taken: number("taken")?,
            last_taken: last.iter().map(Json::as_u64).collect::<Option<_>>()?,
        })
    }
}

/// The numbers of the entries taken off since then, as far as they are told.
fn taken_since(taken: u64, last: &VecDeque<u64>, filed: Filed) -> Option<Vec<u64>> {
    let since = usize::try_from(taken.checked_sub(filed.taken)?).ok()?;
    let first = last.len().checked_sub(since)?;
    Some(last.iter().skip(first).copied().collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use crate::decimal::Decimal;
    use crate::world::Instant;

    const HOUR: i64 = 3_600_000_000;

    /// A store, and who reads it.
    #[derive(Default)]
    struct File {
        rows: BTreeMap<u64, String>,
        head: Option<String>,
    }

    impl File {
        fn write(&mut self, window: &Window, filed: Option<Filed>) {
            let added = match window.rows(filed) {
                Rows::None => Vec::new(),
                Rows::All(rows) => {
                    self.rows.clear();
                    rows
                }
                Rows::Changed { below, gone, added } => {
                    self.rows.retain(|number, _| *number >= below && !gone.contains(number));
                    added
                }
            };
            let none_twice = added.into_iter().all(|(number, text)| self.rows.insert(number, text).is_none());
            assert!(none_twice);
            self.head = Some(window.head().spelled().to_string());
        }

        /// How many rows were read.
        fn read(&self, window: &mut Window, filed: Option<Filed>) -> Option<usize> {
            let head = Head::read(&serde_json::from_str(self.head.as_deref()?).ok()?)?;
            let from = head.from(filed);
            let rows: Vec<(u64, String)> =
                self.rows.range(from..).map(|(number, text)| (*number, text.clone())).collect();
            window.follow(&head, from == 0, &rows)?;
            Some(rows.len())
        }
    }

    fn spelled(window: &Window) -> Vec<String> {
        window.entries().map(|entry| spelled_entry(entry).to_string()).collect()
    }

    #[test]
    fn whoever_follows_has_the_same_window_however_far_behind() {
        let mut random = 7_u64;
        let mut below = |end: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % end
        };
        let (mut file, mut windows, mut now) = (File::default(), [const { None }; 3], 0);
        for step in 10..4_000 {
            let at = below(3) as usize;
            // Whoever steps has read what the others wrote.
            let (mut window, filed): (Window, Option<Filed>) = windows[at].take().unwrap_or_default();
            if file.head.is_some() {
                file.read(&mut window, filed).unwrap();
            }
            let filed = file.head.is_some().then(|| window.filed());
            now += i64::try_from(below(4)).unwrap() * HOUR / 50;
            for _ in 0..=below(40) / 37 * below(20) {
                match below(10) {
                    0..6 => window.push(HOUR, Instant(now), Decimal::from(1), step).unwrap(),
                    6 => window.push_unclear(HOUR, Instant(now), &Arc::from("why"), step),
                    _ => drop(window.take_off(step - below(9))),
                }
            }
            file.write(&window, filed);
            let filed = Some(window.filed());
            let seen = window.seen(HOUR, Instant(now));
            let mut fresh = Window::default();
            file.read(&mut fresh, None).unwrap();
            assert_eq!(spelled(&fresh), spelled(&window));
            assert_eq!(fresh.seen(HOUR, Instant(now)), seen);
            windows[at] = Some((window, filed));
        }
        let lens: Vec<usize> = windows.iter().flatten().map(|(window, _)| window.entries.len()).collect();
        assert!(lens.iter().all(|len| *len > 5), "{lens:?}");
    }

    #[test]
    fn what_is_read_is_what_is_new_and_a_row_that_is_missing_is_told() {
        let (mut file, mut window) = (File::default(), Window::default());
        for step in 1..=100 {
            window.push(HOUR, Instant(5), Decimal::from(1), step).unwrap();
        }
        file.write(&window, None);
        let mut other = Window::default();
        assert_eq!(file.read(&mut other, None), Some(100));
        let (mut step, mut oldest) = (100, 0);
        // More than are told by their numbers: all of it is read, once.
        for (taken, read) in [(0, 1), (1, 1), (TOLD_MAX, 1), (TOLD_MAX + 1, 100 + 4 - 2 * TOLD_MAX - 2)] {
            let (before, known) = (window.filed(), other.filed());
            for _ in 0..taken {
                oldest += 1;
                assert!(window.take_off(oldest));
            }
            step += 1;
            window.push(HOUR, Instant(6), Decimal::from(1), step).unwrap();
            file.write(&window, Some(before));
            assert_eq!(file.read(&mut other, Some(known)), Some(read), "{taken} taken off");
            assert_eq!(spelled(&other), spelled(&window));
        }
        file.rows.remove(&90).unwrap();
        assert_eq!(file.read(&mut Window::default(), None), None);
    }
}
