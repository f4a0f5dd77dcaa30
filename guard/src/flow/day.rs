//! Days: `2024-05-01` in a call is what a text calls `the 1st of May`.

use std::ops::Range;

use super::words::Index;

/// Names and short names of the months, folded as words are.
const MONTHS: [&str; 12] = [
    "january jan januar janvier enero января",
    "february feb februar fevrier febrero февраля",
    "march mar marz mars marzo марта",
    "april apr avril abril апреля",
    "may mai mayo мая",
    "june jun juni juin junio июня",
    "july jul juli juillet julio июля",
    "august aug aout agosto августа",
    "september sep sept septembre septiembre сентября",
    "october oct oktober octobre octubre октября",
    "november nov novembre noviembre ноября",
    "december dec dezember decembre diciembre декабря",
];

/// A day of a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Day {
    year: u16,
    month: u8,
    day: u8,
}

impl Day {
    /// The first day that a text names as `2024-05-01`, alone or with a time after it.
    pub(super) fn of(text: &str) -> Option<Day> {
        let bytes = text.as_bytes();
        bytes.windows(10).take(DAY_WITHIN_BYTES).enumerate().find_map(|(at, window)| {
            let is_digit =
                |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
            if is_digit(at.checked_sub(1)) || is_digit(Some(at + 10)) {
                return None;
            }
            let [y1, y2, y3, y4, b'-' | b'/', m1, m2, b'-' | b'/', d1, d2] = *window else { return None };
            let number = |digits: &[u8]| -> Option<u16> {
                digits.iter().try_fold(0, |sum, digit| {
                    Some(sum * 10 + u16::from(digit.checked_sub(b'0').filter(|d| *d < 10)?))
                })
            };
            let (month, day) = (number(&[m1, m2])?, number(&[d1, d2])?);
            let is_day = (1..=12).contains(&month) && (1..=31).contains(&day);
            let day = Day {
                year: number(&[y1, y2, y3, y4])?,
                month: u8::try_from(month).ok()?,
                day: u8::try_from(day).ok()?,
            };
            is_day.then_some(day)
        })
    }

    /// Whether the text names it at these positions: in figures, or the month by name and the day by number.
    pub(super) fn is_named(self, index: &Index, within: &Range<usize>) -> bool {
        let has = |word: &str| index.has(word, within);
        let two = |n: u8| format!("{n:02}");
        if has(&self.year.to_string()) && has(&two(self.month)) && has(&two(self.day)) {
            return true;
        }
        let names = MONTHS.get(usize::from(self.month.saturating_sub(1))).copied().unwrap_or_default();
        let endings = ["", "st", "nd", "rd", "th", "er"];
        let day = |ending: &str| has(&format!("{}{ending}", self.day));
        names.split_whitespace().any(has) && (has(&two(self.day)) || endings.iter().any(|ending| day(ending)))
    }
}

/// A day is looked for at the beginning of a value only: a long text is no date.
const DAY_WITHIN_BYTES: usize = 32;

#[cfg(test)]
mod tests {
    use super::Day;
    use crate::detect::{Looking, scan};
    use crate::flow::words::Index;

    #[test]
    fn a_day_is_the_same_in_figures_and_words() {
        let day = Day::of("2024-05-01 10:00").unwrap();
        let named = |text: &str| {
            let index = Index::new(text, &scan(text, Looking::Output));
            day.is_named(&index, &(0..index.words().len()))
        };
        for text in
            ["from the 1st to the 5th of May", "May 1, 2024", "on 2024-05-01", "1. Mai", "el 1 de mayo"]
        {
            assert!(named(text), "{text}");
        }
        for text in ["the 2nd of May", "1 April", "2024-05-02", "may I", ""] {
            assert!(!named(text), "{text}");
        }
    }

    #[test]
    fn other_numbers_are_no_day() {
        for text in ["2024-13-01", "2024-05-32", "12024-05-01", "2024-05-011", "2024-5-1", "20240501", ""] {
            assert_eq!(Day::of(text), None, "{text}");
        }
    }
}
