//! What a tool does for which the word is also one of refusal: `cancel_reservation`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::accept::{HARMLESS, sentences};
use super::language::ALL;
use super::read::{any_of, compile, read};
use crate::flow::verb;

/// Such a deed, with the words for it in every language.
#[derive(Debug, Clone, Copy)]
pub struct Deed {
    verb: &'static str,
    words: &'static Regex,
}

static DEEDS: LazyLock<BTreeMap<&'static str, Regex>> = LazyLock::new(|| {
    let mut words: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (verb, patterns) in ALL.iter().flat_map(|language| language.deeds) {
        words.entry(verb).or_default().extend(*patterns);
    }
    let pattern = |(verb, words): (&'static str, Vec<&str>)| Some((verb, compile(&any_of(words))?));
    words.into_iter().filter_map(pattern).collect()
});

impl Deed {
    /// That of the tool, by the first verb of its name. Most tools do nothing of the kind.
    #[must_use]
    pub fn of(tool: &str) -> Option<Deed> {
        let verb = verb(tool, |word| DEEDS.contains_key(word))?;
        DEEDS.get_key_value(verb.as_str()).map(|(verb, words)| Deed { verb, words })
    }

    /// What it does: `cancel`.
    #[must_use]
    pub fn verb(self) -> &'static str {
        self.verb
    }

    /// Whether the text speaks of it.
    pub(super) fn is_named_in(self, text: &str) -> bool {
        self.words.is_match(&read(text))
    }

    /// A text as the tables read it, where the words for the deed refuse nothing. Twice in one sentence they may
    /// well: `cancel the cancellation`.
    pub(super) fn without(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        for sentence in sentences(text) {
            let Some(words) = text.get(sentence.clone()) else { continue };
            let mut found = self.words.find_iter(words);
            if let (Some(only), None) = (found.next(), found.next()) {
                out.push_str(text.get(copied..sentence.start + only.start()).unwrap_or_default());
                out.push_str(HARMLESS);
                copied = sentence.start + only.end();
            }
        }
        out.push_str(text.get(copied..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::accept::accepts_deed;
    use super::*;

    #[test]
    fn every_deed_has_words() {
        let verbs: Vec<&str> =
            ALL.iter().flat_map(|language| language.deeds).map(|(verb, _)| *verb).collect();
        assert!(!verbs.is_empty());
        for verb in verbs {
            assert!(Deed::of(&format!("{verb}_it")).is_some(), "{verb}");
        }
    }

    #[test]
    fn by_the_first_verb_of_the_name() {
        for tool in ["cancel_reservation", "cancelOrder", "order-cancel", "mcp.cancel", "stop_instance"] {
            assert!(Deed::of(tool).is_some(), "{tool}");
        }
        for tool in ["book_or_cancel", "get_cancel_policy", "update_cancelled", "pay", "", "cancellation"] {
            assert!(Deed::of(tool).is_none(), "{tool}");
        }
    }

    #[test]
    fn a_yes_to_a_tool_that_cancels() {
        let cancel = Deed::of("cancel_reservation").unwrap();
        for text in [
            "Yes, please proceed with the cancellation.",
            "yes, cancel it",
            "Yes, cancel it. Thank you!",
            "go ahead and cancel",
            "Yes, please cancel X1. The reason for cancellation is change of plan.",
            "Ja, bitte stornieren Sie das",
            "Oui, annulez-la",
            "Sí, cancélala",
            "Да, отмените",
        ] {
            assert!(accepts_deed(text, cancel), "{text}");
            assert!(!super::super::accepts(text), "{text}");
        }
        for text in [
            "cancel",
            "Don't cancel it",
            "yes, do not cancel",
            "no, cancel it",
            "Yes, cancel the cancellation",
            "Yes, stop the cancellation",
            "Yes, cancel it if it is free",
            "Yes, cancel it, but not today",
            "Should I cancel it?",
            "Yes, you may abort",
            "Never mind, cancel",
            "Actually, yes, cancel",
        ] {
            assert!(!accepts_deed(text, cancel), "{text}");
        }
    }

    #[test]
    fn the_words_of_another_deed_stay_refusals() {
        let stop = Deed::of("stop_instance").unwrap();
        assert!(accepts_deed("yes, stop it", stop) && accepts_deed("Yes, please stop the instance.", stop));
        assert!(!accepts_deed("yes, stop", stop), "that may well mean: no");
        assert!(!accepts_deed("yes, cancel it", stop));
    }
}
