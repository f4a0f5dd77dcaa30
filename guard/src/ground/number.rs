//! Numbers as texts write them, compared exactly.
//!
//! `1,250.50` is 1250.5 where the comma groups and the point marks decimals, 1.2505 nowhere, and no number where
//! the comma marks decimals. Without a locale `1,250` may be either and names no number.

use std::ops::{ControlFlow, Range};

use super::Locale;
use super::border::{after, before, is_glued};
use super::class::{decimal_value, is_decimal, is_word};

/// Beyond this a number is written with an exponent, which no text is searched for.
pub(super) const PLACES_MAX: i64 = 11_000;

/// A number to look for: `digits` of the whole part without leading zeros, of the fraction without trailing ones.
#[derive(Debug, Clone)]
pub(super) struct Number {
    negative: bool,
    whole: Box<[u8]>,
    fraction: Box<[u8]>,
    marks: Marks,
}

/// Digits of a whole part and of a fraction.
type Placed = (Box<[u8]>, Box<[u8]>);

/// How numbers are written.
#[derive(Debug, Clone, Copy)]
struct Marks {
    /// Parts thousands, beside the apostrophe.
    group: Option<char>,
    /// So does a space.
    spaced: bool,
    decimal: char,
    /// Whether a number like `1,250` may be meant either way.
    certain: bool,
}

/// A number in a text.
struct Written {
    span: Range<usize>,
    whole: Range<usize>,
    fraction: Range<usize>,
    /// Groups of three, and the mark before them, when there is only one.
    single_group: bool,
}

impl Number {
    /// Takes a JSON number. `None` beyond [`PLACES_MAX`].
    pub(super) fn new(json: &str, locale: Option<Locale>, spaced: bool) -> Option<Number> {
        let (mantissa, exponent) = json.split_once(['e', 'E']).unwrap_or((json, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent: i64 = exponent.parse().ok()?;
        let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).filter(u8::is_ascii_digit).collect();
        let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
        let digits = digits.get(zeros..).unwrap_or_default();
        let point =
            i64::try_from(whole.trim_start_matches('-').len()).ok()? - i64::try_from(zeros).ok()? + exponent;
        let (whole, fraction) = if digits.is_empty() { Default::default() } else { place(digits, point)? };
        let negative = json.starts_with('-') && !digits.is_empty();
        Some(Number { negative, whole, fraction, marks: Marks::of(locale, spaced) })
    }

    /// Calls `found` with each place; `runs` are where digits begin in the text.
    pub(super) fn each(
        &self,
        text: &str,
        runs: &[u32],
        mut found: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        // All before `next` was looked at; `end` is where the last number of it ends.
        let (mut next, mut end) = (0, 0);
        for (position, start) in runs.iter().enumerate() {
            if position < next || !self.may_begin(text, *start as usize) {
                continue;
            }
            // An earlier number may reach to here: `1'250`.
            let mut first = position;
            while first > next
                && let Some(before) = first.checked_sub(1).and_then(|before| runs.get(before))
                && self.marks.links(text, *before as usize, runs.get(first).map_or(0, |at| *at as usize))
            {
                first -= 1;
            }
            for start in runs.get(first..=position).unwrap_or_default() {
                let start = *start as usize;
                if start < end {
                    continue;
                }
                let Some(written) = self.marks.read(text, start) else { continue };
                end = written.span.end;
                if self.is(text, &written) {
                    found(written.span)?;
                }
            }
            next = position + 1;
        }
        ControlFlow::Continue(())
    }

    /// Whether the digits there may be those of the number, whatever parts them: what most others fail by.
    fn may_begin(&self, text: &str, start: usize) -> bool {
        let mut wanted = self.whole.iter().peekable();
        let (mut zeros, mut apart) = (true, false);
        for byte in text.as_bytes().get(start..).unwrap_or_default() {
            match byte {
                b'0' if zeros => apart = false,
                b'0'..=b'9' => {
                    (zeros, apart) = (false, false);
                    if wanted.next() != Some(byte) {
                        return false;
                    }
                }
                // Decimals are only compared one by one, as digits of other scripts are.
                _ if wanted.peek().is_none() || !byte.is_ascii() => return true,
                b',' | b'.' | b'\'' | b' ' if !apart => apart = true,
                _ => return false,
            }
        }
        wanted.peek().is_none()
    }

    fn is(&self, text: &str, written: &Written) -> bool {
        let negative = text.as_bytes().get(written.span.start) == Some(&b'-');
        let whole = digits(text, &written.whole).skip_while(|digit| *digit == b'0');
        let mut fraction = digits(text, &written.fraction);
        let is_zero = self.whole.is_empty() && self.fraction.is_empty();
        (negative == self.negative || is_zero)
            && whole.eq(self.whole.iter().copied())
            && self.fraction.iter().all(|digit| fraction.next() == Some(*digit))
            && fraction.all(|digit| digit == b'0')
            && !(self.marks.certain_not() && written.may_be_either(text))
            && !is_glued(text, &written.span)
    }
}

/// Digits, the first of them not zero, with the point after the `point`th.
fn place(digits: &[u8], point: i64) -> Option<Placed> {
    if point.abs() > PLACES_MAX {
        return None;
    }
    let zeros = |n: i64| std::iter::repeat_n(b'0', usize::try_from(n).unwrap_or(0));
    let split = usize::try_from(point).unwrap_or(0).min(digits.len());
    let (whole, fraction) = digits.split_at_checked(split)?;
    let missing = point - i64::try_from(digits.len()).ok()?;
    let mut fraction: Vec<u8> = zeros(-point).chain(fraction.iter().copied()).collect();
    while fraction.last() == Some(&b'0') {
        fraction.pop();
    }
    Some((whole.iter().copied().chain(zeros(missing)).collect(), fraction.into()))
}

fn digits<'a>(text: &'a str, part: &Range<usize>) -> impl Iterator<Item = u8> + 'a {
    let values = text.get(part.clone()).unwrap_or_default().chars().filter_map(decimal_value);
    values.filter_map(|value| u8::try_from(value).ok()).map(|value| b'0' + value)
}

impl Marks {
    fn of(locale: Option<Locale>, spaced: bool) -> Marks {
        let (group, decimal) = match locale {
            None | Some(Locale::En) => (Some(','), '.'),
            Some(Locale::De) => (Some('.'), ','),
            Some(Locale::Fr) => (None, ','),
            Some(Locale::Ch) => (None, '.'),
        };
        Marks { group, spaced, decimal, certain: locale.is_some() }
    }

    fn certain_not(self) -> bool {
        !self.certain
    }

    fn groups(self, c: char) -> bool {
        c == '\'' || Some(c) == self.group || self.spaced && c == ' '
    }

    /// Whether nothing but an apostrophe or a space parts the digits that begin at these two places. (A comma or
    /// a point cannot stand before a number's first digit anyway.)
    fn links(self, text: &str, earlier: usize, later: usize) -> bool {
        let mut between = text.get(earlier..later).unwrap_or_default().chars().rev();
        let mark = between.next();
        (mark == Some('\'') || self.spaced && mark == Some(' ')) && between.next().is_some_and(is_decimal)
    }

    /// The number that begins with the digit there, if one does.
    fn read(self, text: &str, first: usize) -> Option<Written> {
        let free = |c: Option<char>| c.is_none_or(|c| !is_word(c) && c != '.' && c != ',');
        let mut left = before(text, first);
        let start = match left.next() {
            Some('-') if free(left.next()) => first - 1,
            c if free(c) => first,
            _ => return None,
        };
        let run = run_end(text, first);
        let (whole, fraction, single_group) = match self.grouped(text, first..run) {
            Some(grouped) => grouped,
            None => (first..run, self.ends(text, run)?, false),
        };
        let end = fraction.end;
        Some(Written { span: start..end, whole, fraction, single_group })
    }

    /// Groups of three digits after the first digits, as many as can be.
    fn grouped(self, text: &str, first: Range<usize>) -> Option<(Range<usize>, Range<usize>, bool)> {
        if text.get(first.clone())?.chars().count() > 3 {
            return None;
        }
        let (mut end, mut groups) = (first.end, 0);
        // Where it may end earlier, should what comes last not be a number's end.
        let mut earlier = None;
        while let Some(next) = self.group(text, end) {
            if groups > 0 && may_end(text, end) {
                earlier = Some((end, groups));
            }
            (end, groups) = (next, groups + 1);
        }
        if groups == 0 {
            return None;
        }
        if let Some(fraction) = self.ends(text, end) {
            let single = groups == 1 && fraction.is_empty();
            return Some((first.start..end, fraction, single));
        }
        earlier.map(|(end, groups)| (first.start..end, end..end, groups == 1))
    }

    /// The end of a mark and exactly three digits.
    fn group(self, text: &str, at: usize) -> Option<usize> {
        let mark = after(text, at).next().filter(|c| self.groups(*c))?;
        let digits = at + mark.len_utf8();
        let end = run_end(text, digits);
        (text.get(digits..end)?.chars().count() == 3).then_some(end)
    }

    /// Decimals, or none, up to where a number may end. The range holds the mark too.
    fn ends(self, text: &str, at: usize) -> Option<Range<usize>> {
        if after(text, at).next() == Some(self.decimal) {
            let end = run_end(text, at + 1);
            if end > at + 1 && may_end(text, end) {
                return Some(at..end);
            }
        }
        may_end(text, at).then_some(at..at)
    }
}

impl Written {
    /// `1,250` and `1.250`: a thousand, or one and a quarter.
    fn may_be_either(&self, text: &str) -> bool {
        let written = text.get(self.span.clone()).unwrap_or_default();
        let written = written.strip_prefix('-').unwrap_or(written);
        let Some((whole, rest)) = written.split_once([',', '.']) else { return false };
        let digits = |part: &str| part.chars().all(is_decimal);
        (1..=3).contains(&whole.chars().count())
            && digits(whole)
            && whole.chars().next().and_then(decimal_value) != Some(0)
            && rest.chars().count() == 3
            && digits(rest)
            && (self.single_group || !self.fraction.is_empty())
    }
}

fn run_end(text: &str, from: usize) -> usize {
    from + after(text, from).take_while(|c| is_decimal(*c)).map(char::len_utf8).sum::<usize>()
}

/// Neither a longer word, nor a share or a degree, nor more digits.
fn may_end(text: &str, at: usize) -> bool {
    let mut after = after(text, at);
    match after.next() {
        None => true,
        Some('.' | ',') => !after.next().is_some_and(is_decimal),
        Some(c) => !is_word(c) && !matches!(c, '%' | '‰' | '°'),
    }
}

/// Where digits begin.
pub(super) fn runs(text: &str) -> Box<[u32]> {
    let mut runs = Vec::new();
    let mut inside = false;
    let mut note = |at: usize, is_digit: bool| {
        if is_digit && !inside {
            runs.push(u32::try_from(at).unwrap_or(u32::MAX));
        }
        inside = is_digit;
    };
    if text.is_ascii() {
        text.bytes().enumerate().for_each(|(at, byte)| note(at, byte.is_ascii_digit()));
    } else {
        text.char_indices().for_each(|(at, c)| note(at, is_decimal(c)));
    }
    runs.into()
}
