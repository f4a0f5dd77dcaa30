//! Whether a message is a yes.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::deed::Deed;
use super::language::{ALL, Language};
use super::read::{any_of, compile, read};

/// Whether the user says an explicit yes, and takes it back nowhere in the same message.
///
/// ```
/// use framegate_guard::words::accepts;
/// assert!(accepts("Yes, please go ahead.") && accepts("Ok, thanks!"));
/// assert!(!accepts("Yes, but not today") && !accepts("Do you confirm?") && !accepts("Ok, and the price?"));
/// ```
#[must_use]
pub fn accepts(text: &str) -> bool {
    yes(&read(text)).is_some()
}

/// The same where the tool does what a refusal would say otherwise: "yes, cancel it" to one that cancels. Only to a
/// message that proposes it: to any other the same words may stop what was proposed.
pub(super) fn accepts_deed(text: &str, deed: Deed) -> bool {
    let text = read(text);
    // "Yes, stop." may well mean: no.
    yes(&deed.without(&text)).is_some() && !RULES.as_ref().is_none_or(|rules| rules.takes_back(&text))
}

/// The sentence that says yes, of a text as the tables read it; all of it where it is nothing but a yes.
pub(super) fn yes(text: &str) -> Option<Range<usize>> {
    let rules = RULES.as_ref()?;
    if rules.refusal.is_match(text) || rules.retraction.is_match(text) || rules.second_thought.is_match(text)
    {
        return None;
    }
    if !text.contains('?') && rules.weak.is_match(text) {
        return Some(0..text.len());
    }
    let (sentence, found) =
        sentences(text).find_map(|sentence| Some((sentence.clone(), rules.decides(text, sentence)?)))?;
    let stays = found.is_yes && !rules.takes_back(text.get(found.after..).unwrap_or_default());
    stays.then_some(sentence)
}

/// Whether the user says no, takes back what they said before, or makes a condition. In doubt it is one: what was
/// agreed before then counts no more.
pub(super) fn refuses(text: &str) -> bool {
    if accepts(text) {
        return false;
    }
    let Some(rules) = &*RULES else { return true };
    let text = read(text);
    let text = rules.without_harmless(&text);
    [&rules.refusal, &rules.retraction, &rules.second_thought, &rules.denial, &rules.reservation, &rules.back]
        .iter()
        .any(|rule| rule.is_match(&text))
}

/// Stands for what denies nothing: no word, and no end of a sentence.
pub(super) const HARMLESS: &str = "\u{b7}";

/// What the first clear yes comes to.
struct Decided {
    is_yes: bool,
    /// Where it ends.
    after: usize,
}

/// The tables as patterns.
struct Rules {
    refusal: Regex,
    retraction: Regex,
    second_thought: Regex,
    weak: Regex,
    yes: Regex,
    denial: Regex,
    harmless: Regex,
    reservation: Regex,
    question: Regex,
    wish: Regex,
    back: Regex,
}

static RULES: LazyLock<Option<Rules>> = LazyLock::new(Rules::new);

/// Those of all languages.
pub(super) fn words(of: impl Fn(&Language) -> &'static [&'static str]) -> String {
    any_of(ALL.iter().flat_map(|language| of(language).iter().copied()))
}

impl Rules {
    fn new() -> Option<Rules> {
        let start = r"(?:^\W*|[.!?;:,-]\s*";
        let (second, joins) = (words(|l| l.second_thought.0), words(|l| l.second_thought.1));
        let (weak, hesitation, courtesy) =
            (words(|l| l.weak), words(|l| l.hesitation), words(|l| l.courtesy));
        let (before, act) = (words(|l| l.act_after.0), words(|l| l.act_after.1));
        let (yes, acts, wish) = (words(|l| l.yes), words(|l| l.act), words(|l| l.wish));
        let (reservation, later) = (words(|l| l.reservation), words(|l| l.later));
        let (no, and) = (words(|l| l.no), words(|l| l.and));
        Some(Rules {
            refusal: compile(&format!(r"^\W*{}", words(|l| l.refusal)))?,
            retraction: compile(&words(|l| l.retraction))?,
            second_thought: compile(&format!(r"{start}|{joins}\W+){second}"))?,
            weak: compile(&format!(r"^\W*(?:{hesitation}\W+)*{weak}(?:\W+{courtesy})*\W*$"))?,
            // `^` is a sentence's start.
            yes: compile(&format!(r"(?<yes>{yes})|(?<act>{acts})|{start}|{before}\W+)(?<after>{act})"))?,
            denial: compile(&words(|l| l.not))?,
            harmless: compile(&words(|l| l.harmless))?,
            reservation: compile(&reservation)?,
            question: compile(&format!(r"^\W*{}", words(|l| l.question)))?,
            wish: compile(&format!(r"^\W*(?:{yes}\W+)?{wish}\s*$"))?,
            back: compile(&format!(
                r"(?:^\W*{later}|(?:[.!?;:,\n-]\s*|{and}\s+)(?:{and}\s+)?{no}\s*(?:[.!?;:,\n-]|$)|[.!?;\n]\W*{reservation})"
            ))?,
        })
    }

    /// What the first clear yes of a sentence comes to, if there is one.
    fn decides(&self, text: &str, sentence: Range<usize>) -> Option<Decided> {
        let words = text.get(sentence.clone())?;
        let found = self.yes.captures(words)?;
        let yes = ["yes", "act", "after"].into_iter().find_map(|group| found.name(group))?;
        let asks = text.get(sentence.end..)?.starts_with('?') || self.question.is_match(words);
        let wishes = found.name("yes").is_none() && self.wish.is_match(words.get(..yes.start())?);
        // A question is no yes, but what follows it may be.
        if asks && !wishes {
            return None;
        }
        let is_reserved = self.reservation.is_match(&self.without_harmless(words));
        let is_yes = !is_reserved && !self.denies(text.get(sentence.start..)?);
        Some(Decided { is_yes, after: sentence.start + yes.end() })
    }

    fn denies(&self, text: &str) -> bool {
        self.denial.is_match(&self.without_harmless(text))
    }

    fn takes_back(&self, rest: &str) -> bool {
        self.back.is_match(&self.without_harmless(rest))
    }

    fn without_harmless<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.harmless.replace_all(text, HARMLESS)
    }
}

/// Up to each `.`, `!`, `?`, `;` or line end.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = 0;
    text.split(['.', '!', '?', ';', '\n', '\r', '\u{2028}', '\u{2029}', '\u{85}']).map(move |sentence| {
        let at = start..start + sentence.len();
        let next = text.get(at.end..).and_then(|rest| rest.chars().next());
        start = at.end + next.map_or(0, char::len_utf8);
        at
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_a_pattern() {
        assert!(RULES.is_some());
    }

    #[test]
    fn a_yes_as_it_is_typed() {
        for text in [
            "y",
            "Y.",
            "I agree",
            "i agree to that, thanks",
            "\u{1f44d}",
            "\u{1f44d}\u{1f3fd}",
            "\u{1f44d}\u{1f44d} thanks",
            "ok \u{1f44d}",
            "\u{1f44c}",
            "ok do it",
            "ok do it but hurry",
            "Yes, do it, but please make it quick",
        ] {
            assert!(accepts(text) && !refuses(text), "{text}");
        }
        for text in [
            "y not",
            "y?",
            "x or y",
            "I agree that it is late",
            "I agree, but not today",
            "I don't agree",
            "\u{1f44e}",
            "\u{1f44d}\u{1f44e}",
            "\u{1f44d}?",
            "\u{1f44d} to the first, no to the second",
            "ok do it but not yet",
            "ok do it but hurry to ask my boss first",
            "ok but hurry",
            "ok if you hurry",
        ] {
            assert!(!accepts(text), "{text}");
        }
        assert!(refuses("\u{1f44e}"));
    }

    #[test]
    fn a_question_is_no_yes() {
        for text in [
            "Do you confirm?",
            "Can you confirm the price",
            "Proceed?",
            "yes?",
            "that works?",
            "Is that correct",
            "Should I go ahead?",
            "Could you proceed without my passport?",
            "What if I say yes",
        ] {
            assert!(!accepts(text), "{text}");
        }
        for text in ["Is it late? Yes, go ahead.", "Could you please go ahead?", "Yes. Can you mail me too?"]
        {
            assert!(accepts(text), "{text}");
        }
    }

    #[test]
    fn a_yes_that_is_taken_back_is_none() {
        for text in [
            "yes and no",
            "yes, stop",
            "Yes\nbut\nno",
            "yes; but no",
            "yes: no",
            "yes... but not that",
            "yes, later",
            "Yes. Unless it costs more.",
            "Yes! No.",
            "Да. Но можно скидку?",
            "давай потом",
        ] {
            assert!(!accepts(text), "{text}");
        }
        for text in ["yes, no problem", "Yes, no changes needed", "Yes. Nothing else.", "Yes - see you later"]
        {
            assert!(accepts(text), "{text}");
        }
    }

    #[test]
    fn a_refusal_with_a_yes_in_it_is_none() {
        for text in [
            "please do not",
            "yes please don't",
            "yes please don\u{2019}t",
            "please do no such thing",
            "please do refrain",
            "confirm nothing",
            "I confirm that I do not want this",
            "go ahead and cancel",
            "yes abort",
            "yes, abort",
            "Sounds good, abort",
            "Yes, decline it",
            "Yes: reject",
            "yes no",
            "yes yes no",
            "do it never",
            "do that not",
            "да нет",
            "yes if it is 20",
            "If Bob says yes, then do it",
            "only if Bob says yes",
            "He said: yes",
            "yes I am still deciding",
            "Yes, that was the wrong account",
            "Don't. Yes.",
            "Please do not do it. Yes.",
            "Yes. I take it back, do not pay.",
            "Ja, brich ab",
            "Ja, wenn es 20 sind",
            "Oui, annule",
            "Sí, cancela",
            "Да, отмени",
        ] {
            assert!(!accepts(text), "{text}");
            assert!(refuses(text), "{text}");
        }
        for text in [
            "yes",
            "Yes, please go ahead",
            "ok, do it",
            "yes, no problem",
            "sure, thanks",
            "Yes, don't worry, go ahead",
            "Yes. Let me know when it is done.",
            "It's not a problem. Yes.",
            "Да, без проблем",
            "Oui, s'il vous plaît",
        ] {
            assert!(accepts(text) && !refuses(text), "{text}");
        }
        for text in ["thanks", "hm", "No problem", "What is the weather?"] {
            assert!(!accepts(text) && !refuses(text), "{text}");
        }
    }

    #[test]
    fn other_languages() {
        for text in [
            "Ja, bitte.",
            "Einverstanden!",
            "Klingt gut, machen Sie weiter.",
            "Das stimmt so.",
            "In Ordnung, danke",
            "Sí, adelante.",
            "Claro que sí",
            "Vale, gracias",
            "Confirmo la reserva.",
            "Oui, allez-y.",
            "D'accord.",
            "Je confirme",
            "Pouvez-vous s'il vous plaît procéder ? Oui.",
        ] {
            assert!(accepts(text), "{text}");
        }
        for text in [
            "Das ist ja teuer.",
            "Das stimmt nicht.",
            "Ja, aber erst morgen",
            "Ja oder nein?",
            "Nein",
            "Passt nicht",
            "Nicht einverstanden",
            "Ist das korrekt",
            "Bestätige bitte den Preis",
            "No, gracias",
            "Sí, pero mañana",
            "¿Sí?",
            "por sí mismo",
            "más adelante",
            "Si confirmo, ¿qué pasa?",
            "no estoy de acuerdo",
            "de acuerdo con la política",
            "Non.",
            "Oui, mais pas tout de suite",
            "Je ne suis pas d'accord",
            "Ça marche pas",
            "Est-ce que je confirme",
            "Oui, plus tard",
        ] {
            assert!(!accepts(text), "{text}");
        }
    }

    #[test]
    fn a_mark_is_no_letter() {
        // The regex crate would take the mark for a part of the word.
        assert!(accepts("yes\u{fe0f}!") && accepts("да\u{301}"));
    }
}
