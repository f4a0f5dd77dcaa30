//! How a person would write a value that a program writes otherwise.

use std::sync::LazyLock;

use regex::Regex;

use super::language::ALL;
use super::read::compile;
use crate::ground::Sought;
use crate::json::Value;

/// Other words for a value, besides itself: none for most.
pub(super) fn other_words(path: &str, value: Value<'_>) -> Vec<String> {
    match (value.as_str(), value.number()) {
        (Some(text), _) => date(text).unwrap_or_else(|| without_underscores(text)),
        (None, Some("0")) => [count(0), none_of(path)].concat(),
        (None, Some(number)) => number.parse().map_or_else(|_| Vec::new(), count),
        (None, None) => Vec::new(),
    }
}

/// `one_way`: one way, one-way.
fn without_underscores(text: &str) -> Vec<String> {
    let is_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
    if !text.contains('_') || !text.chars().all(is_name) {
        return Vec::new();
    }
    [" ", "-"].iter().map(|between| text.replace('_', between)).collect()
}

/// `checked_bags: 0`: no bags, no checked bags, without bags.
fn none_of(path: &str) -> Vec<String> {
    let name = path.rsplit('.').next().unwrap_or_default();
    let name = name.split('[').next().unwrap_or_default().replace(['_', '-'], " ").to_lowercase();
    let last = name.rsplit(' ').next().unwrap_or_default();
    let one = |words: &str| words.strip_suffix('s').unwrap_or(words).to_owned();
    let mut names = vec![name.clone(), last.to_owned(), one(&name), one(last)];
    names.retain(|name| name.len() > 2);
    names.sort_unstable();
    names.dedup();
    names
        .iter()
        .flat_map(|name| ["no", "without", "without any"].map(|none| format!("{none} {name}")))
        .collect()
}

/// `1250`: $1,250; 1,250 USD; $1,250.00. Without a currency `1,250` may as well be a little more than one.
pub(super) fn price(number: &str) -> Option<Sought> {
    let (whole, part) = plain(number)?;
    if whole.len() <= GROUP {
        return None;
    }
    let is_it = move |written: &str| {
        plain(&written.replace(',', "")).is_some_and(|it| it == (whole.clone(), part.clone()))
    };
    Some(Sought::by(move |text| {
        let prices = PRICE.iter().flat_map(|price| price.captures_iter(text));
        let prices = prices.filter_map(|found| found.name("before").or_else(|| found.name("after")));
        prices
            .filter(|price| ends(text, price.end()) && is_it(price.as_str()))
            .map(|price| price.range())
            .collect()
    }))
}

/// Digits between two separators.
const GROUP: usize = 3;

static PRICE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    const NUMBER: &str = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?";
    compile(&format!(
        r"[$£]\s?(?<before>{NUMBER})|(?:^|[^\d.,])(?<after>{NUMBER})\s?(?:USD|GBP|dollars|pounds)\b"
    ))
});

/// A number without sign and exponent: what stands before its point, and behind it without the zeros at the end.
fn plain(number: &str) -> Option<(String, String)> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_plain.then(|| (whole.to_owned(), part.trim_end_matches('0').to_owned()))
}

/// Whether no more of a number follows.
fn ends(text: &str, at: usize) -> bool {
    let mut rest = text.get(at..).unwrap_or_default().chars();
    match rest.next() {
        Some(',' | '.') => !rest.next().is_some_and(|next| next.is_ascii_digit()),
        Some(next) => !next.is_ascii_digit(),
        None => true,
    }
}

/// `2`: two. One is left out: it is said of everything.
fn count(number: usize) -> Vec<String> {
    let words = ALL.iter().filter_map(|language| language.counts.get(number));
    words.flat_map(|words| words.iter().map(|word| (*word).to_owned())).collect()
}

/// `2024-05-17`: May 17, 2024; 17 May 2024. With the year: another year is another day.
fn date(text: &str) -> Option<Vec<String>> {
    let mut parts = text.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let digits = |part: &str, length: usize| part.len() == length && part.bytes().all(|b| b.is_ascii_digit());
    if !(digits(year, 4) && digits(month, 2) && digits(day, 2)) {
        return None;
    }
    let month: usize = month.parse().ok()?;
    let day = day.trim_start_matches('0');
    let months =
        ALL.iter().filter_map(|language| Some((language, language.months.get(month.checked_sub(1)?)?)));
    let words = months.flat_map(|(language, months)| {
        months.iter().flat_map(move |month| {
            let fill = move |form: &&str| form.replace('Y', year).replace('D', day).replace('M', month);
            language.dates.iter().map(fill)
        })
    });
    Some(words.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::Prepared;
    use crate::json::{Document, Limits};

    fn words(json: &str) -> Vec<String> {
        words_at("n", json)
    }

    fn words_at(path: &str, json: &str) -> Vec<String> {
        other_words(path, Document::read(json.to_owned().into(), &Limits::default()).unwrap().root())
    }

    #[test]
    fn nothing_of_a_kind() {
        let words = words_at("trip.bags[0].checked_bags", "0");
        for expected in ["zero", "none", "no bags", "without bags", "no checked bags", "no checked bag"] {
            assert!(words.contains(&expected.to_owned()), "{expected}: {words:?}");
        }
        assert!(!words_at("checked_bags", "1").iter().any(|word| word.starts_with("no ")));
    }

    #[test]
    fn a_price_in_groups() {
        let is_in =
            |number: &str, text: &str| price(number).is_some_and(|price| price.is_in(&Prepared::new(text)));
        for (number, text) in [
            ("1250", "$1,250"),
            ("1250.0", "US$ 1,250."),
            ("1250", "It is $1,250.00, all in"),
            ("1250.5", "1,250.50 USD"),
            ("1234567", "1,234,567 dollars"),
        ] {
            assert!(is_in(number, text), "{number} {text}");
        }
        for (number, text) in [
            ("1250", "1,250"),
            ("1250", "$1,250.50"),
            ("1250", "$1,250,000"),
            ("1250", "$1,2500"),
            ("1250", "$11,250"),
            ("1250", "11,250 USD"),
            ("250", "$1,250"),
            ("-1250", "$1,250"),
            ("1e4", "$10,000"),
        ] {
            assert!(!is_in(number, text), "{number} {text}");
        }
    }

    #[test]
    fn as_people_write_it() {
        assert_eq!(words("\"one_way\""), ["one way", "one-way"]);
        let date = words("\"2024-05-07\"");
        for expected in ["May 7, 2024", "7 May 2024", "May 7th, 2024", "7 мая 2024"] {
            assert!(date.contains(&expected.to_owned()), "{expected}: {date:?}");
        }
        assert!(words("0").contains(&"none".to_owned()));
        assert!(words("3").contains(&"three".to_owned()));
        for plain in
            ["\"red\"", "\"2024-13-01x\"", "\"2024-00-01\"", "\"a_b c\"", "1", "-2", "2.5", "99", "1e3"]
        {
            assert_eq!(words(plain), Vec::<String>::new(), "{plain}");
        }
    }
}
