//! A yes that speaks of another value than the call has: "yes, cancel B" to "shall I cancel A or B?".

use std::sync::LazyLock;

use regex::Regex;

use super::confirm::Wanted;
use super::read::{compile, read};
use crate::ground::{Prepared, Sought};

/// Letters that all are capitals are a code from this length on.
const CAPITALS_MIN: usize = 4;

/// Digits alone are one from this length on.
const DIGITS_MIN: usize = 4;

static MONEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(r"[$€£¥₹]\s*\d|\d\s*(?:[$€£¥₹]|(?:usd|eur|gbp|dollars?|euros?|pounds?|bucks)\b)")
});

/// What the sentence that says yes speaks of.
pub(super) struct Speaks {
    /// Codes in it: order numbers, dates. Small letters.
    codes: Vec<String>,
    /// The sentence, where it speaks of money.
    money: Option<Prepared>,
}

impl Speaks {
    /// `sentence`: of `said`, as the tables read it.
    pub(super) fn of(sentence: &str, said: &str) -> Speaks {
        let capitals: Vec<String> = tokens(said).filter(|token| is_in_capitals(token)).map(read).collect();
        let is_code = |token: &&str| is_code(token) || capitals.iter().any(|other| other == token);
        let money = MONEY.as_ref().is_some_and(|money| money.is_match(sentence));
        Speaks {
            codes: tokens(sentence).filter(is_code).map(str::to_owned).collect(),
            money: money.then(|| Prepared::new(sentence)),
        }
    }

    /// Whether it speaks of one that is no value of the call, where it could have named this one.
    ///
    /// A code is another one when it has the same length, an amount when it is money.
    pub(super) fn of_another(&self, at: usize, all: &[Wanted<'_>], ways: &[Vec<Sought>]) -> bool {
        let Some(wanted) = all.get(at) else { return false };
        match wanted.value.as_str() {
            Some(text) => self.of_another_code(text, all),
            None => self.money.as_ref().is_some_and(|sentence| {
                let numbers = all.iter().zip(ways).filter(|(wanted, _)| wanted.value.as_str().is_none());
                !numbers.flat_map(|(_, ways)| ways).any(|way| way.is_in(sentence))
            }),
        }
    }

    fn of_another_code(&self, text: &str, all: &[Wanted<'_>]) -> bool {
        let text = text.trim_start_matches('#');
        if self.codes.is_empty() || !(is_code(text) || is_in_capitals(text)) {
            return false;
        }
        let own = read(text);
        if self.codes.contains(&own) {
            return false;
        }
        let is_sent = |code: &str| {
            let texts = all.iter().filter_map(|wanted| wanted.value.as_str());
            texts.map(|text| read(text.trim_start_matches('#'))).any(|text| text == code)
        };
        self.codes.iter().any(|code| code.len() == own.len() && !is_sent(code))
    }
}

/// Runs of letters, digits, `-` and `_`.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let is_in = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.split(move |c| !is_in(c))
        .map(|token| token.trim_matches(['-', '_']))
        .filter(|token| !token.is_empty())
}

fn is_code(token: &str) -> bool {
    let digits = token.chars().filter(char::is_ascii_digit).count();
    let is_one = tokens(token).next() == Some(token);
    is_one && digits > 0 && (digits >= DIGITS_MIN || token.chars().any(char::is_alphabetic))
}

fn is_in_capitals(token: &str) -> bool {
    token.len() >= CAPITALS_MIN && token.chars().all(|c| c.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_code_is() {
        for code in ["NQNU5R", "W-77", "2024-05-17", "7334", "a1"] {
            assert!(is_code(code), "{code}");
        }
        for other in ["yes", "733", "30", "a b1", "", "well-known"] {
            assert!(!is_code(other), "{other}");
        }
        assert!(is_in_capitals("IFOYYZ") && !is_in_capitals("USD") && !is_in_capitals("Kim"));
        assert!(MONEY.is_some());
    }
}
