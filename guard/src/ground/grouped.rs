//! An identifier however it is grouped: `DE89 3704 0044` names `DE8937040044`, and `4111-1111` names `41111111`.
//!
//! Only as a whole: groups with a digit beside it, parted as its own are, would be more of the same identifier.

use std::ops::{ControlFlow, Range};

use memchr::memmem::Finder;

use super::border::{after, before};
use super::class;

/// Letters and digits of an identifier that is looked for in groups: shorter ones stand in many texts by chance.
const LETTERS_MIN: usize = 6;
/// Longer ones are text.
const LETTERS_MAX: usize = 64;

/// What parts groups, one at a time.
fn parts(c: char) -> bool {
    matches!(c, ' ' | '-' | '.' | '/')
}

/// An identifier with a digit in it, without case.
#[derive(Debug, Clone)]
pub(super) struct Grouped {
    /// Letters and digits; `LETTERS_MIN..=LETTERS_MAX` of them.
    letters: Box<[char]>,
    first: Finder<'static>,
}

impl Grouped {
    /// `None` for what is looked for as a word: names without a digit, short ones, texts. `value` is folded.
    pub(super) fn new(value: &str) -> Option<Grouped> {
        let letters: Vec<char> = value.chars().filter(|c| !parts(*c)).collect();
        let is_one = (LETTERS_MIN..=LETTERS_MAX).contains(&letters.len())
            && letters.iter().all(|c| class::is_alphanumeric(*c))
            && letters.iter().any(|c| class::is_decimal(*c));
        let first = letters.first().filter(|_| is_one)?;
        let first = Finder::new(first.encode_utf8(&mut [0; 4])).into_owned();
        Some(Grouped { letters: letters.into(), first })
    }

    /// Calls `found` with each place in a folded text.
    pub(super) fn each(
        &self,
        text: &str,
        mut found: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut from = 0;
        while let Some(start) = text.as_bytes().get(from..).and_then(|rest| self.first.find(rest)) {
            let start = from + start;
            match self.end(text, start).filter(|end| stands_alone(text, start..*end)) {
                Some(end) => {
                    found(start..end)?;
                    from = end;
                }
                None => from = start + 1,
            }
        }
        ControlFlow::Continue(())
    }

    /// Where it ends, if it stands there. Looks at no more than twice its letters.
    fn end(&self, text: &str, start: usize) -> Option<usize> {
        let mut rest = text.get(start..)?.char_indices().peekable();
        let mut end = start;
        for (nth, letter) in self.letters.iter().enumerate() {
            if nth > 0 {
                rest.next_if(|(_, c)| parts(*c));
            }
            let (at, c) = rest.next()?;
            if c != *letter {
                return None;
            }
            end = start + at + c.len_utf8();
        }
        Some(end)
    }
}

/// Whether no word goes on at its ends, and where it is in groups no group with a digit does.
fn stands_alone(text: &str, span: Range<usize>) -> bool {
    let is_grouped = text.get(span.clone()).is_some_and(|it| it.chars().any(parts));
    let ends = |outwards: &mut dyn Iterator<Item = char>| match outwards.next() {
        Some(c) if class::is_word(c) => false,
        Some(c) if is_grouped && parts(c) => {
            !outwards.take(LETTERS_MAX).take_while(|c| class::is_word(*c)).any(class::is_decimal)
        }
        _ => true,
    };
    ends(&mut before(text, span.start)) && ends(&mut after(text, span.end))
}

#[cfg(test)]
mod tests {
    use crate::ground::{Match, Matcher, Prepared, Sought};

    fn found(text: &str, value: &str) -> Vec<String> {
        let text = Prepared::new(text);
        let places = Sought::text(&Matcher::from(Match::Grouped), value).find_in(&text);
        places.into_iter().map(|place| text.text().get(place).unwrap().to_owned()).collect()
    }

    #[test]
    fn an_identifier_is_named_however_it_is_grouped_and_only_as_a_whole() {
        let iban = "DE89370400440532013000";
        for text in [
            "DE89 3704 0044 0532 0130 00",
            "de89-3704-0044-0532-0130-00",
            iban,
            "DE89\u{a0}3704\u{2009}00440532 013000",
        ] {
            assert_eq!(found(&format!("Pay to {text}, please."), iban), [text]);
            assert_eq!(found(iban, text), [iban], "and the other way round");
        }
        for text in [
            "DE89 3704 0044 0532 0130",
            "XDE89 3704 0044 0532 0130 00",
            "DE89 3704 0044 0532 0130 001",
            "DE89  3704 0044 0532 0130 00",
            "DE89 3704 0044 0532 0130 00 12",
            "7-DE89 3704 0044 0532 0130 00",
            "DE89,3704,0044,0532,0130,00",
        ] {
            assert_eq!(found(text, iban), [""; 0], "{text}");
        }
        assert_eq!(found("account 4111 1111 1111 1111.", "4111111111111111"), ["4111 1111 1111 1111"]);
        assert_eq!(found("1234 4111 1111", "41111111"), [""; 0], "part of a longer one");
        assert_eq!(found("12 41111111 3", "41111111"), ["41111111"], "by itself");
    }

    #[test]
    fn what_is_short_or_a_text_is_a_word() {
        assert_eq!(found("no 12-34-5", "12345"), [""; 0]);
        assert_eq!(found("no 12-34-56", "123456"), ["12-34-56"]);
        assert_eq!(found("of kim lee.", "Kim Lee"), ["kim lee"]);
        assert_eq!(found("k i m l e e", "kimlee"), [""; 0], "without a digit");
        let long = |count: usize| "7".repeat(count);
        let grouped = |count: usize| format!("7 {}", long(count - 1));
        assert_eq!(found(&grouped(64), &long(64)).len(), 1);
        assert_eq!(found(&grouped(65), &long(65)).len(), 0);
        assert_eq!(found(&long(65), &long(65)).len(), 1);
    }
}
