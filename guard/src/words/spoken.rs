//! How a person would write a value that a program writes otherwise.

use super::language::ALL;
use crate::json::Value;

/// Other words for a value, besides itself: none for most.
pub(super) fn other_words(value: Value<'_>) -> Vec<String> {
    match (value.as_str(), value.number()) {
        (Some(text), _) => date(text).unwrap_or_else(|| without_underscores(text)),
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
    use crate::json::{Document, Limits};

    fn words(json: &str) -> Vec<String> {
        other_words(Document::read(json.to_owned().into(), &Limits::default()).unwrap().root())
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
