//! What a person asks for.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::accept::{HARMLESS, sentences, words};
use super::language::ALL;
use super::read::{any_of, compile, read};
use crate::ground::class::is_word;

/// The most phrases of one intent.
pub const PHRASES_MAX: usize = 100;

/// The longest phrase, in bytes.
pub const PHRASE_BYTES_MAX: usize = 200;

/// A kind of thing that a person asks for: one that has a name, or phrases of your own.
#[derive(Debug, Clone)]
pub struct Intent {
    name: String,
    pattern: Arc<Regex>,
}

/// Why there is no such intent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PhraseError {
    /// A phrase with no word in it.
    #[error("a phrase needs at least one letter or digit, but `{0}` has none")]
    Empty(String),
    /// Longer than [`PHRASE_BYTES_MAX`].
    #[error("a phrase is at most {PHRASE_BYTES_MAX} bytes, but one has {0}")]
    TooLong(usize),
    /// More than [`PHRASES_MAX`], or none.
    #[error("an intent has 1 to {PHRASES_MAX} phrases, but this has {0}")]
    Phrases(usize),
}

/// Of patterns, and of nothing that people say: `\b`, `.*`, `(?:`, `[a-z]`, `s?$`, `^`, `a|b`, `(?:s|ed)`.
static LIKE_A_PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"^\\b|\\b$|[|(]\\b|\\[bBdDwWsSAzZ](?:[+*?{\\|)]|\b)|\\[.?*+()\[\]|^$]|\.[*+]|\(\?:?|\[\^?\w-\w[^\]]*\]|^\^|\w\$$|\w\|\w|\w\?\b",
    )
});

/// What is no word in a pattern.
static OF_PATTERNS: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r"\\[A-Za-z]|\[[^\]]*\]|[.*+?^$|():]"));

static NAMED: LazyLock<Vec<Intent>> = LazyLock::new(|| {
    let patterns = |name: &str| {
        let of = |language: &&'static super::language::Language| language.intents.iter();
        let all = ALL.iter().flat_map(of).filter(|(named, _)| *named == name);
        compile(&any_of(all.flat_map(|(_, patterns)| patterns.iter().copied())))
    };
    let intent = |name: &&str| Some(Intent { name: (*name).to_owned(), pattern: Arc::new(patterns(name)?) });
    Intent::NAMES.iter().filter_map(intent).collect()
});

impl Intent {
    /// Those that have a name.
    pub const NAMES: [&'static str; 9] =
        ["reserve", "event", "visit", "pay", "send", "delete", "invite", "post", "share"];

    /// The one of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Intent> {
        NAMED.iter().find(|intent| intent.name == name).cloned()
    }

    /// Asked for by any of these phrases, as words of their own; case and white space do not count.
    ///
    /// # Errors
    /// [`PhraseError`].
    pub fn phrases<'a>(phrases: impl IntoIterator<Item = &'a str>) -> Result<Intent, PhraseError> {
        let phrases: Vec<&str> = phrases.into_iter().take(PHRASES_MAX + 1).collect();
        let patterns: Result<Vec<String>, PhraseError> =
            phrases.iter().map(|phrase| pattern(phrase)).collect();
        let compiled = compile(&patterns?.join("|")).filter(|_| (1..=PHRASES_MAX).contains(&phrases.len()));
        let pattern = compiled.ok_or(PhraseError::Phrases(phrases.len()))?;
        Ok(Intent { name: phrases.join(", "), pattern: Arc::new(pattern) })
    }

    /// What a phrase would be without its pattern characters, where it reads like a pattern: phrases are words, so
    /// `\badd\b` is looked for with its backslashes, and nobody says that.
    #[must_use]
    pub fn pattern_like(phrase: &str) -> Option<String> {
        if !LIKE_A_PATTERN.as_ref()?.is_match(phrase) {
            return None;
        }
        let plain = OF_PATTERNS.as_ref()?.replace_all(phrase, " ");
        let words = plain.split(|c: char| !(is_word(c) || matches!(c, '-' | '\'')));
        Some(words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
    }

    /// Its name, or its phrases.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Whether a text of the user's asks for it: names it in a sentence that does not deny it, ask about it or tell that
/// it was done.
///
/// What this reads is the topic, not consent: `the payment page is broken` names a payment too.
#[must_use]
pub fn asks_for(intent: &Intent, text: &str) -> bool {
    let Some(unasked) = &*UNASKED else { return false };
    let text = read(text);
    let mut sentences = sentences(&text);
    let mut sentence: Option<Range<usize>> = None;
    let mut is_asked = false;
    // Each sentence is judged once, however often it names it.
    intent.pattern.find_iter(&text).any(|found| {
        while sentence.as_ref().is_none_or(|sentence| sentence.end < found.start()) {
            let Some(next) = sentences.next() else { break };
            if next.end >= found.start() {
                is_asked = text.get(next.clone()).is_some_and(|next| !unasked.denies(next));
            }
            sentence = Some(next);
        }
        let start = sentence.as_ref().map_or(0, |sentence| sentence.start);
        is_asked && !text.get(start..found.start()).is_some_and(|before| unasked.tells(before))
    })
}

/// The bytes before what is named that may tell that it was done.
const TOLD_BYTES: usize = 60;

/// What names a thing without asking for it.
struct Unasked {
    denial: Regex,
    harmless: Regex,
    about: Regex,
    told: Regex,
}

static UNASKED: LazyLock<Option<Unasked>> = LazyLock::new(|| {
    Some(Unasked {
        denial: compile(&words(|l| l.unasked))?,
        harmless: compile(&words(|l| l.harmless))?,
        about: compile(&format!(r"^\W*{}", words(|l| l.about)))?,
        told: compile(&format!(r"{}\s+$", words(|l| l.told)))?,
    })
});

impl Unasked {
    fn denies(&self, sentence: &str) -> bool {
        self.about.is_match(sentence) || self.denial.is_match(&self.harmless.replace_all(sentence, HARMLESS))
    }

    fn tells(&self, before: &str) -> bool {
        let least = before.len().saturating_sub(TOLD_BYTES);
        let start = (least..before.len()).find(|at| before.is_char_boundary(*at)).unwrap_or(before.len());
        before.get(start..).is_some_and(|before| self.told.is_match(before))
    }
}

fn pattern(phrase: &str) -> Result<String, PhraseError> {
    if phrase.len() > PHRASE_BYTES_MAX {
        return Err(PhraseError::TooLong(phrase.len()));
    }
    let phrase = read(phrase);
    let words: Vec<String> = phrase.split_whitespace().map(regex::escape).collect();
    if !phrase.contains(is_word) {
        return Err(PhraseError::Empty(phrase));
    }
    let border = |c: Option<char>| if c.is_some_and(is_word) { r"\b" } else { "" };
    let phrase = phrase.trim();
    let (first, last) = (border(phrase.chars().next()), border(phrase.chars().next_back()));
    Ok(format!("{first}{}{last}", words.join(r"\s+")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_words_in_every_language() {
        for name in Intent::NAMES {
            assert!(Intent::named(name).is_some(), "{name}");
            for language in ALL {
                assert!(language.intents.iter().any(|(named, words)| *named == name && !words.is_empty()));
            }
        }
        assert!(Intent::named("steal").is_none());
    }

    #[test]
    fn other_languages() {
        for (name, text) in [
            ("pay", "Überweise 50 Euro an Kim"),
            ("delete", "Bitte storniere meine Buchung"),
            ("pay", "Paga la factura"),
            ("send", "Envíale un correo a Ana"),
            ("reserve", "Réservez une table"),
            ("share", "Partage ce dossier"),
        ] {
            assert!(asks_for(&Intent::named(name).unwrap(), text), "{name} {text}");
        }
        for (name, text) in
            [("event", "terminate the process"), ("reserve", "Buchstabe"), ("post", "a poster")]
        {
            assert!(!asks_for(&Intent::named(name).unwrap(), text), "{name} {text}");
        }
    }

    #[test]
    fn what_is_denied_told_or_asked_about_is_not_asked_for() {
        let pay = Intent::named("pay").unwrap();
        assert!(UNASKED.is_some());
        for text in [
            "Don't pay anything",
            "Please don\u{2019}t pay",
            "never pay",
            "Do not transfer money",
            "Hi.\nWe no longer pay Kim.",
            "I already paid it",
            "I've paid. We have just transferred it.",
            "How much did I pay last month?",
            "Who pays for this?",
            "What does pay mean?",
            "Bitte nicht bezahlen",
            "Ich habe es schon bezahlt",
            "Ne paye pas",
            "No pague",
            "Не плати",
            "Я уже оплатил",
        ] {
            assert!(!asks_for(&pay, text), "{text}");
        }
        for text in [
            "Pay Kim",
            "Do not wait. Pay Kim",
            "I already paid Bob, now pay Kim",
            "I want to pay Kim",
            "Can you pay Kim?",
            "Can we pay Kim?",
            "No problem, pay Kim",
            "How much is it? Pay it!",
            "Never mind Bob\npay Kim",
        ] {
            assert!(asks_for(&pay, text), "{text}");
        }
    }

    #[test]
    fn a_phrase_that_reads_like_a_pattern() {
        for (phrase, words) in [
            (r"\badd\b", "add"),
            ("order.*pizza", "order pizza"),
            ("^pay", "pay"),
            ("pay now$", "pay now"),
            ("(?:pay|wire)", "pay wire"),
            ("pay|wire", "pay wire"),
            ("[a-z]+ pizza", "pizza"),
            (r"pay\s+now", "pay now"),
            (r"\d\d euros", "euros"),
            ("colou?r", "colou r"),
        ] {
            assert_eq!(Intent::pattern_like(phrase).as_deref(), Some(words), "{phrase}");
        }
        for phrase in
            ["C++", "order (large)", "what now?", "a.b", "$5", "pay $", "pizza [large]", "größe", "and/or"]
        {
            assert_eq!(Intent::pattern_like(phrase), None, "{phrase}");
        }
    }

    #[test]
    fn own_phrases_are_words_of_their_own() {
        let intent = Intent::phrases(["Order  pizza", "C++", "größe"]).unwrap();
        for text in ["please ORDER\npizza!", "learn c++ now", "GRÖSSE 7", "order\u{200b} pizza"] {
            assert!(asks_for(&intent, text), "{text}");
        }
        for text in ["reorder pizza", "order pizzas", "order a pizza", "c+"] {
            assert!(!asks_for(&intent, text), "{text}");
        }
    }

    #[test]
    fn phrases_at_the_limits() {
        let phrase = |bytes: usize| Intent::phrases([&*"a".repeat(bytes)]).err();
        assert_eq!(phrase(PHRASE_BYTES_MAX - 1), None);
        assert_eq!(phrase(PHRASE_BYTES_MAX), None);
        assert_eq!(phrase(PHRASE_BYTES_MAX + 1), Some(PhraseError::TooLong(PHRASE_BYTES_MAX + 1)));
        let phrases = |count: usize| Intent::phrases(std::iter::repeat_n("a", count)).err();
        assert_eq!(phrases(PHRASES_MAX - 1), None);
        assert_eq!(phrases(PHRASES_MAX), None);
        assert_eq!(phrases(PHRASES_MAX + 1), Some(PhraseError::Phrases(PHRASES_MAX + 1)));
        assert_eq!(phrases(0), Some(PhraseError::Phrases(0)));
        assert_eq!(Intent::phrases([" - "]).err(), Some(PhraseError::Empty(" - ".into())));
        // The longest ones of other scripts fit too.
        let long = "я".repeat(PHRASE_BYTES_MAX / 2);
        assert!(Intent::phrases(std::iter::repeat_n(&*long, PHRASES_MAX)).is_ok());
    }
}
