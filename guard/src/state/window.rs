//! A window: amounts with their times, of which the young ones count.

mod rows;

use std::collections::VecDeque;
use std::sync::Arc;

use super::spell::time;
use super::{Belief, ENTRIES_MAX, Refused, Value};
use crate::decimal::{Decimal, NumberError};
use crate::world::Instant;

/// Amounts with their times, oldest first. A clock that is set back makes no entry younger than the one before it:
/// it counts longer then, never shorter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Window {
    /// `entries.len() <= ENTRIES_MAX`; `entries[i].at <= entries[i + 1].at`
    entries: VecDeque<Entry>,
    /// The last entry of an amount that nobody knows: until it is too old nothing is known of the sum.
    unclear: Option<Unclear>,
    /// The number of the next entry. Numbers grow from the first entry to the last, and none comes again.
    next: u64,
    /// Entries that were taken off before they were too old.
    taken: u64,
    /// The numbers of the last of them.
    last_taken: VecDeque<u64>,
}

pub(super) use rows::{Filed, Head};

#[derive(Debug, Clone, PartialEq)]
struct Unclear {
    at: Instant,
    why: Arc<str>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) at: Instant,
    /// Zero where nobody knows it.
    pub(super) amount: Decimal,
    /// Why nobody knows it.
    pub(super) unclear: Option<Arc<str>>,
    /// All amounts up to this one, so that no sum is made of ten thousand entries within a decision.
    total: Decimal,
    /// The step that made it; 0 for one of an earlier process.
    pub(super) step: u64,
    number: u64,
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
    /// What is known now. What a call added that got no answer is not; it counts no longer than any other amount, so
    /// that is not known for as long and no longer.
    #[must_use]
    pub fn seen(&self, per_us: i64, now: Instant) -> Belief {
        let ends = |unclear: &Unclear| Instant(unclear.at.0.saturating_add(per_us));
        match self.unclear.as_ref().filter(|unclear| !is_old(per_us, unclear.at, now)) {
            Some(unclear) => {
                let why = format!("{}; known again from {} on", unclear.why, time(ends(unclear)));
                Belief::unknown(why)
            }
            None => Belief::Known(Value::Summary(self.summary(per_us, now))),
        }
    }

    /// Why the sum of all entries is not known.
    pub(super) fn unclear(&self) -> Option<&Arc<str>> {
        self.unclear.as_ref().map(|unclear| &unclear.why)
    }

    /// What counts now, those left aside whose amount nobody knows.
    #[must_use]
    pub(crate) fn summary(&self, per_us: i64, now: Instant) -> Summary {
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
        self.forget_old(per_us, at);
        let summary = Summary { sum: Decimal::ZERO, count: self.entries.len(), until: None, per_us };
        Window::takes(&summary, &amount)?;
        let at = self.not_before_last(at);
        let total = self.total_of_all().add(&amount).map_err(|_: NumberError| too_large())?;
        let number = self.number();
        self.entries.push_back(Entry { at, amount, unclear: None, total, step, number });
        Ok(())
    }

    /// Adds an amount that nobody knows. There is always room: where it is full, the last one is not known any more.
    pub(super) fn push_unclear(&mut self, per_us: i64, at: Instant, why: &Arc<str>, step: u64) {
        self.forget_old(per_us, at);
        let at = self.not_before_last(at);
        let is_full = self.entries.len() >= ENTRIES_MAX;
        if is_full && let Some(last) = self.entries.pop_back() {
            self.is_taken(last.number);
        }
        // It stands for two calls then, and none of them can take it back.
        let step = if is_full { 0 } else { step };
        let (amount, total, number) = (Decimal::ZERO, self.total_of_all(), self.number());
        self.entries.push_back(Entry { at, amount, unclear: Some(Arc::clone(why)), total, step, number });
        self.unclear = Some(Unclear { at, why: Arc::clone(why) });
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    fn is_taken(&mut self, number: u64) {
        self.taken += 1;
        self.last_taken.push_back(number);
        if self.last_taken.len() > rows::TOLD_MAX {
            self.last_taken.pop_front();
        }
    }

    fn forget_old(&mut self, per_us: i64, at: Instant) {
        let old = self.first_young(per_us, at);
        self.entries.drain(..old);
        self.forget_unclear();
    }

    /// What made it unknown may be forgotten.
    fn forget_unclear(&mut self) {
        if let Some(unclear) = &self.unclear
            && self.entries.front().is_none_or(|first| first.at > unclear.at)
        {
            self.unclear = None;
        }
    }

    fn not_before_last(&self, at: Instant) -> Instant {
        self.entries.back().map_or(at, |last| last.at.max(at))
    }

    /// Takes off what a step added, if that is there still.
    pub(super) fn take_off(&mut self, step: u64) -> bool {
        let of_it = self.entries.iter().filter(|entry| entry.step == step);
        let numbers: Vec<u64> = of_it.map(|entry| entry.number).collect();
        for number in &numbers {
            self.take_off_number(*number);
        }
        !numbers.is_empty()
    }

    fn take_off_number(&mut self, number: u64) {
        let found = self.entries.partition_point(|entry| entry.number < number);
        if self.entries.get(found).is_none_or(|entry| entry.number != number) {
            return;
        }
        self.entries.remove(found);
        self.is_taken(number);
        let unclear = self.entries.iter().rev().find_map(|entry| Some((entry.at, entry.unclear.clone()?)));
        self.unclear = unclear.map(|(at, why)| Unclear { at, why });
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
        self.entries.partition_point(|entry| is_old(per_us, entry.at, now))
    }
}

fn is_old(per_us: i64, at: Instant, now: Instant) -> bool {
    at.0 <= now.0.saturating_sub(per_us)
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
    fn an_amount_that_nobody_knows_hides_the_sum_until_it_is_too_old() {
        let known = |window: &Window, now| match window.seen(HOUR, Instant(now)) {
            Belief::Known(Value::Summary(summary)) => Some(summary.sum),
            _ => None,
        };
        let why: Arc<str> = "a call of `t` got no answer".into();
        let mut window = filled(&[(0, 3)]);
        window.push_unclear(HOUR, Instant(10), &why, 2);
        window.push(HOUR, Instant(20), number(4), 3).unwrap();
        assert_eq!(known(&window, 20), None);
        assert_eq!(
            window.seen(HOUR, Instant(20)),
            Belief::unknown(format!("{why}; known again from 1970-01-01T01:00:00Z on"))
        );
        assert_eq!((known(&window, HOUR + 9), known(&window, HOUR + 10)), (None, Some(number(4))));
        assert_eq!(known(&window, 5), None, "a clock that was set back ends nothing");
        let mut taken = window.clone();
        assert!(taken.take_off(2) && !taken.take_off(2));
        assert_eq!(known(&taken, 20), Some(number(7)));
        // The second of two ends last, and taking off that one leaves the first.
        window.push_unclear(HOUR, Instant(30), &"why".into(), 4);
        assert_eq!((known(&window, HOUR + 29), known(&window, HOUR + 30)), (None, Some(number(0))));
        assert!(window.take_off(4));
        assert_eq!((known(&window, HOUR + 9), known(&window, HOUR + 10)), (None, Some(number(4))));
        window.push(HOUR, Instant(HOUR + 10), number(1), 5).unwrap();
        assert_eq!((known(&window, HOUR + 10), window.unclear()), (Some(number(5)), None));
    }

    #[test]
    fn a_full_window_has_room_for_an_amount_that_nobody_knows_and_loses_none_by_it() {
        let mut window = Window::default();
        for step in 1..=ENTRIES_MAX as u64 {
            window.push(HOUR, Instant(7), number(1), step).unwrap();
        }
        window.push_unclear(HOUR, Instant(8), &"why".into(), 77_777);
        assert_eq!(window.entries.len(), ENTRIES_MAX);
        assert!(!window.take_off(77_777) && !window.take_off(ENTRIES_MAX as u64));
        assert!(matches!(window.seen(HOUR, Instant(HOUR + 7)), Belief::Unknown(_)));
        assert_eq!(window.summary(HOUR, Instant(HOUR + 8)).sum, number(0));
        assert!(matches!(window.seen(HOUR, Instant(HOUR + 8)), Belief::Known(_)));
    }

    #[test]
    fn a_negative_amount_makes_no_room() {
        let summary = Summary { sum: number(5), count: 1, until: None, per_us: HOUR };
        assert!(matches!(Window::takes(&summary, &number(-1)), Err(Refused::Unfit(_))));
        assert!(Window::takes(&summary, &number(0)).is_ok());
    }
}
