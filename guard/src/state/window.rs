//! A window: amounts with their times, of which the young ones count.

use std::collections::VecDeque;

use super::{ENTRIES_MAX, Refused};
use crate::decimal::{Decimal, NumberError};
use crate::world::Instant;

/// Amounts with their times, oldest first. A clock that is set back makes no entry younger than the one before it:
/// it counts longer then, never shorter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Window {
    /// `entries.len() <= ENTRIES_MAX`; `entries[i].at <= entries[i + 1].at`
    entries: VecDeque<Entry>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) at: Instant,
    pub(super) amount: Decimal,
    /// All amounts up to this one, so that no sum is made of ten thousand entries within a decision.
    total: Decimal,
    /// The step that made it; 0 for one of an earlier process.
    pub(super) step: u64,
}

/// What a decision sees of a window: that what is too old is gone by then.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// What counts.
    pub sum: Decimal,
    /// How many entries that are.
    pub count: usize,
    /// When the first of them counts no more.
    pub until: Option<Instant>,
    /// How long each of them counts.
    pub per_us: i64,
}

impl Window {
    /// What counts now.
    #[must_use]
    pub fn summary(&self, per_us: i64, now: Instant) -> Summary {
        let first = self.first_young(per_us, now);
        let sum = self.total_from(first);
        let until = self.entries.get(first).map(|entry| Instant(entry.at.0.saturating_add(per_us)));
        Summary { sum, count: self.entries.len() - first, until, per_us }
    }

    /// The sum of all entries, old ones too.
    pub(super) fn total(&self) -> Decimal {
        self.total_from(0)
    }

    /// The sum from that entry on. Totals go on counting when old entries are forgotten, so none of them is the sum.
    fn total_from(&self, first: usize) -> Decimal {
        let Some(entry) = self.entries.get(first) else { return Decimal::ZERO };
        let before = entry.total.sub(&entry.amount).unwrap_or(Decimal::ZERO);
        self.total_of_all().sub(&before).unwrap_or_else(|_| self.total_of_all())
    }

    /// Whether another amount may come.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn takes(summary: &Summary, amount: &Decimal) -> Result<(), Refused> {
        if amount.is_negative() {
            return Err(Refused::Unfit(format!("{amount} is below zero, and a window only adds")));
        }
        if summary.count >= ENTRIES_MAX {
            return Err(Refused::Overflow(format!("a window counts at most {ENTRIES_MAX} calls at once")));
        }
        summary.sum.add(amount).map(drop).map_err(|_| too_large())
    }

    /// Adds an amount; what is too old by then is forgotten.
    ///
    /// # Errors
    /// [`Refused`].
    pub(super) fn push(
        &mut self,
        per_us: i64,
        at: Instant,
        amount: Decimal,
        step: u64,
    ) -> Result<(), Refused> {
        let old = self.first_young(per_us, at);
        self.entries.drain(..old);
        let summary = Summary { sum: Decimal::ZERO, count: self.entries.len(), until: None, per_us };
        Window::takes(&summary, &amount)?;
        let at = self.entries.back().map_or(at, |last| last.at.max(at));
        let total = self.total_of_all().add(&amount).map_err(|_: NumberError| too_large())?;
        self.entries.push_back(Entry { at, amount, total, step });
        Ok(())
    }

    /// Takes off what a step added.
    pub(super) fn take_off(&mut self, step: u64) {
        let Some(found) = self.entries.iter().position(|entry| entry.step == step) else { return };
        self.entries.retain(|entry| entry.step != step);
        // Of the first one left any start will do: sums are differences.
        let before = found.checked_sub(1).and_then(|at| self.entries.get(at));
        let mut total = before.map_or(Decimal::ZERO, |entry| entry.total.clone());
        for entry in self.entries.iter_mut().skip(found) {
            // Less than what was there already.
            total = total.add(&entry.amount).unwrap_or(total);
            entry.total.clone_from(&total);
        }
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    fn total_of_all(&self) -> Decimal {
        self.entries.back().map_or(Decimal::ZERO, |entry| entry.total.clone())
    }

    /// The place of the first entry that counts at that time.
    fn first_young(&self, per_us: i64, now: Instant) -> usize {
        let oldest = now.0.saturating_sub(per_us);
        self.entries.partition_point(|entry| entry.at.0 <= oldest)
    }
}

fn too_large() -> Refused {
    Refused::Overflow("the sum is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000_000;

    fn number(value: i64) -> Decimal {
        Decimal::from(value)
    }

    fn filled(entries: &[(i64, i64)]) -> Window {
        let mut window = Window::default();
        for (step, (at, amount)) in (1..).zip(entries) {
            window.push(HOUR, Instant(*at), number(*amount), step).unwrap();
        }
        window
    }

    #[test]
    fn an_entry_counts_until_it_is_as_old_as_the_window() {
        let window = filled(&[(0, 3), (HOUR - 1, 4)]);
        let at = |now| window.summary(HOUR, Instant(now));
        assert_eq!((at(HOUR - 1).sum, at(HOUR - 1).until), (number(7), Some(Instant(HOUR))));
        assert_eq!((at(HOUR).sum, at(HOUR).count), (number(4), 1));
        assert_eq!(at(2 * HOUR - 2).sum, number(4));
        assert_eq!((at(2 * HOUR - 1).sum, at(2 * HOUR - 1).until), (number(0), None));
        assert_eq!(at(-5).sum, number(7), "a clock that was set back lets nothing expire");
    }

    #[test]
    fn a_clock_that_is_set_back_makes_no_entry_younger_than_those_before() {
        let window = filled(&[(HOUR, 1), (5, 1)]);
        assert_eq!(window.summary(HOUR, Instant(2 * HOUR - 1)).count, 2);
        assert_eq!(window.summary(HOUR, Instant(2 * HOUR)).count, 0);
    }

    #[test]
    fn what_a_step_added_is_taken_off_wherever_it_stands() {
        let mut window = filled(&[(0, 1), (1, 10), (2, 100)]);
        window.take_off(2);
        assert_eq!(window.summary(HOUR, Instant(2)).sum, number(101));
        window.take_off(1);
        window.take_off(1);
        assert_eq!((window.summary(HOUR, Instant(2)).sum, window.total()), (number(100), number(100)));
        window.push(HOUR, Instant(3), number(5), 9).unwrap();
        assert_eq!(window.summary(HOUR, Instant(3)).sum, number(105));
        assert_eq!(window.summary(HOUR, Instant(HOUR + 2)).sum, number(5));
    }

    #[test]
    fn a_full_window_refuses_and_forgets_nothing_that_counts() {
        let mut window = Window::default();
        for step in 0..ENTRIES_MAX as u64 {
            window.push(HOUR, Instant(7), number(1), step).unwrap();
        }
        let summary = window.summary(HOUR, Instant(8));
        assert!(matches!(Window::takes(&summary, &number(1)), Err(Refused::Overflow(_))));
        assert!(window.push(HOUR, Instant(8), number(1), 0).is_err());
        assert_eq!(window.summary(HOUR, Instant(8)).count, ENTRIES_MAX);
        assert!(window.push(HOUR, Instant(HOUR + 7), number(1), 0).is_ok());
        assert_eq!(window.summary(HOUR, Instant(HOUR + 7)).count, 1);
        assert_eq!(window.summary(HOUR, Instant(HOUR + 7)).sum, number(1), "what is forgotten is in no sum");
    }

    #[test]
    fn a_negative_amount_makes_no_room() {
        let summary = Summary { sum: number(5), count: 1, until: None, per_us: HOUR };
        assert!(matches!(Window::takes(&summary, &number(-1)), Err(Refused::Unfit(_))));
        assert!(Window::takes(&summary, &number(0)).is_ok());
    }
}
