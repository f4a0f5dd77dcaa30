//! The languages' tables, made ready once.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};
use regex::bytes::{Regex, RegexBuilder};

use super::languages::LANGUAGES;
use super::lexicon::{self, Language, Rule, Script, Texts};
use super::{Kind, Looking, cipher};

/// Which lists have a word in a sentence: a bit each.
pub(super) type Words = u128;

/// The bit of sentences with a word in rot13.
pub(super) const ROT13: Words = 1 << 127;
/// The bit of sentences with a word that has digits for letters.
pub(super) const LEET: Words = 1 << 126;

/// Ready to search.
pub(super) struct Tables {
    /// `None`: it could not be built, and every text counts as carrying instructions.
    pub(super) prefilter: Option<AhoCorasick>,
    /// For each literal of `prefilter`: what it stands for.
    pub(super) literals: Vec<Literal>,
    pub(super) rules: Vec<Ready>,
}

/// What a literal stands for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Literal {
    /// Lists in which it stands as a whole word.
    pub(super) whole: Words,
    /// Lists in which it stands as the beginning of a word.
    pub(super) stem: Words,
    /// Lists in which it may stand anywhere.
    pub(super) anywhere: Words,
}

/// A rule, compiled.
pub(super) struct Ready {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    texts: Texts,
    pub(super) script: Script,
    pub(super) needs: Words,
    pub(super) pattern: Regex,
    pub(super) unless: Option<Regex>,
    pub(super) not_after: &'static [&'static str],
}

impl Ready {
    pub(super) fn counts(&self, looking: Looking) -> bool {
        match self.texts {
            Texts::All => true,
            Texts::Foreign => looking != Looking::User,
            Texts::Outputs => looking == Looking::Output,
        }
    }
}

/// Compiled on first use. A table that cannot be compiled is a mistake in this crate that a test finds; what is
/// left then still searches.
pub(super) static TABLES: LazyLock<Tables> = LazyLock::new(|| build().0);

/// Lists that rules require: a bit each, but for the two of the ciphers.
const LISTS_MAX: usize = 126;

/// The tables, and what is wrong with them.
pub(super) fn build() -> (Tables, Vec<String>) {
    let mut building = Building::default();
    for language in LANGUAGES {
        building.language(language);
    }
    for (words, bit) in [(&cipher::ROT13[..], ROT13), (&cipher::LEET[..], LEET)] {
        words.iter().for_each(|word| building.add(Script::Latin, word, bit));
    }
    if building.lists.len() > LISTS_MAX {
        building.wrong.push(format!("{} lists, at most {LISTS_MAX}", building.lists.len()));
    }
    building.rules.sort_by_key(|rule| rule.kind);
    let (texts, literals): (Vec<String>, Vec<Literal>) = building.literals.into_iter().unzip();
    let prefilter = AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::DFA))
        .build(&texts)
        .map_err(|error| building.wrong.push(error.to_string()))
        .ok();
    (Tables { prefilter, literals, rules: building.rules }, building.wrong)
}

#[derive(Default)]
struct Building {
    /// Language and name; the place is the bit.
    lists: Vec<(&'static str, &'static str)>,
    literals: Vec<(String, Literal)>,
    rules: Vec<Ready>,
    wrong: Vec<String>,
}

impl Building {
    fn language(&mut self, language: &'static Language) {
        for rule in language.rules {
            match self.compile(language, rule) {
                Ok(ready) => self.rules.push(ready),
                Err(problem) => self.wrong.push(format!("{}: {problem}", rule.name)),
            }
        }
        for (name, words) in language.lists {
            // A list that no rule requires is no reason to look at a sentence.
            if let Some(bit) = self.lists.iter().position(|list| *list == (language.code, *name)) {
                words
                    .iter()
                    .for_each(|word| self.add(language.script, word, 1_u128.unbounded_shl(bit as u32)));
            }
        }
    }

    fn compile(&mut self, language: &Language, rule: &'static Rule) -> Result<Ready, String> {
        let (pattern, lists) = lexicon::expand(language, rule.pattern)?;
        let mut needs = 0;
        for list in lists {
            let known = self.lists.iter().position(|known| *known == (language.code, list));
            let bit = known.unwrap_or(self.lists.len());
            if known.is_none() {
                self.lists.push((language.code, list));
            }
            needs |= 1_u128.unbounded_shl(bit as u32);
        }
        if needs == 0 {
            return Err("a rule without a list would read every sentence".into());
        }
        let pattern = regex(language.script, &pattern)?;
        let unless = rule.unless.map(|unless| lexicon::expand(language, unless)).transpose()?;
        let unless = unless.map(|(unless, _)| regex(language.script, &unless)).transpose()?;
        let Rule { name, kind, texts, not_after, .. } = *rule;
        Ok(Ready { name, kind, texts, script: language.script, needs, pattern, unless, not_after })
    }

    fn add(&mut self, script: Script, word: &str, bit: Words) {
        let literal = lexicon::literal(word);
        let spellings = match script {
            // The search ignores the case of ASCII only.
            Script::Alphabet => vec![literal.to_uppercase(), capitalised(&literal), literal],
            Script::Latin | Script::Unspaced => vec![literal],
        };
        for spelling in spellings {
            let at = self.literals.iter().position(|(text, _)| *text == spelling).unwrap_or_else(|| {
                self.literals.push((spelling, Literal::default()));
                self.literals.len() - 1
            });
            let Some((_, place)) = self.literals.get_mut(at) else { continue };
            match script {
                Script::Alphabet | Script::Unspaced => place.anywhere |= bit,
                Script::Latin if word.ends_with('*') => place.stem |= bit,
                Script::Latin => place.whole |= bit,
            }
        }
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn regex(script: Script, pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .case_insensitive(true)
        .multi_line(true)
        // Latin text is ASCII once it is folded; without Unicode tables the automata stay small and fast.
        .unicode(script != Script::Latin)
        .build()
        .map_err(|error| error.to_string())
}
