//! The languages' tables, made ready once.

use std::ops::RangeInclusive;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use memchr::{memchr, memchr2, memchr3};
use regex_automata::meta::Regex;

use super::expression::Expression;
use super::firm::Firm;
use super::glance::Glance;
use super::languages::LANGUAGES;
use super::lexicon::{self, Language, Rule, Script, Texts};
use super::phrase::Phrase;
use super::vocabulary::{Entry, STEM_BYTES, Vocabulary};
use super::{Looking, cipher};

/// Which lists have a word in a sentence: a bit each.
pub(super) type Words = u128;
/// The bit of sentences with a word in rot13.
pub(super) const ROT13: Words = 1 << 127;
/// The bit of sentences with a word that has digits for letters.
pub(super) const LEET: Words = 1 << 126;
/// Lists that rules require: a bit each, but for the two of the ciphers and those of the languages.
const LISTS_MAX: usize = 96;
/// Languages: a bit each, so that a word that two of them share shows a sentence to both and to no third.
const LANGUAGES_MAX: usize = 30;
/// Rules of all languages: a bit each.
const RULES_MAX: usize = 256;

/// Ready to search.
pub(super) struct Tables {
    /// The words of languages that are written with spaces.
    pub(super) vocabulary: Vocabulary,
    /// The words of the others, and which lists each stands in.
    unspaced: OnceLock<Option<AhoCorasick>>,
    unspaced_words: Vec<String>,
    pub(super) unspaced_lists: Vec<Words>,
    /// A text has such a byte where it has a word of these languages; else it is not searched for them.
    pub(super) unspaced_bytes: RangeInclusive<u8>,
    rules: Vec<Ready>,
    /// For each list the rules that are looked at where it has a word: each rule at the rarest list that it needs. Most
    /// sentences are done with here.
    by_list: Vec<RuleSet>,
}

/// A bit for each rule.
type RuleSet = [u64; RULES_MAX / 64];

impl Tables {
    /// Finds the words of languages without spaces. `None`: could not be built; then a text in such a language counts as
    /// not read.
    pub(super) fn unspaced(&self) -> Option<&AhoCorasick> {
        self.unspaced.get_or_init(|| AhoCorasick::new(&self.unspaced_words).ok()).as_ref()
    }

    /// The rules whose lists all have a word in the sentence, in their order.
    #[inline]
    pub(super) fn candidates(&self, words: Words) -> impl Iterator<Item = &Ready> {
        let mut set: RuleSet = [0; RULES_MAX / 64];
        let mut lists = words;
        while lists != 0 {
            let list = lists.trailing_zeros() as usize;
            lists &= lists - 1;
            for (all, of_list) in set.iter_mut().zip(self.by_list.get(list).into_iter().flatten()) {
                *all |= of_list;
            }
        }
        let numbers = set.into_iter().enumerate().flat_map(|(part, mut bits)| {
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
                bits &= bits - 1;
                Some(part * 64 + bit)
            })
        });
        numbers.filter_map(|rule| self.rules.get(rule)).filter(move |ready| ready.needs & !words == 0)
    }
}

/// Each rule under the list that the fewest rules need.
fn by_list(rules: &[Ready]) -> Vec<RuleSet> {
    let bits = |needs: Words| (0..Words::BITS).filter(move |bit| needs >> bit & 1 == 1);
    let mut counts = [0_usize; Words::BITS as usize];
    for bit in rules.iter().flat_map(|ready| bits(ready.needs)) {
        if let Some(count) = counts.get_mut(bit as usize) {
            *count += 1;
        }
    }
    let mut by_list = vec![[0; RULES_MAX / 64]; Words::BITS as usize];
    for (number, ready) in rules.iter().enumerate() {
        let rarest = bits(ready.needs).min_by_key(|bit| counts.get(*bit as usize));
        let part = rarest.and_then(|bit| by_list.get_mut(bit as usize)?.get_mut(number / 64));
        if let Some(part) = part {
            *part |= 1 << (number % 64);
        }
    }
    by_list
}

/// A rule, ready.
pub(super) struct Ready {
    pub(super) rule: &'static Rule,
    pub(super) script: Script,
    needs: Words,
    language: &'static Language,
    /// The lists that it needs, by name.
    lists: Vec<(&'static str, Words)>,
    holds: OnceLock<Holds>,
    glance: OnceLock<Option<Glance>>,
    pattern: Expression,
    unless: Option<Expression>,
}

/// What every sentence holds that fits a rule.
struct Holds {
    lists: Words,
    bytes: Vec<u8>,
}

impl Ready {
    /// The lists of which a word stands in every sentence that fits.
    pub(super) fn firm(&self) -> Words {
        self.holds().lists
    }

    /// Whether the sentence has one of the bytes without which none fits.
    pub(super) fn has_byte(&self, sentence: &[u8]) -> bool {
        match *self.holds().bytes.as_slice() {
            [one] => memchr(one, sentence).is_some(),
            [one, two] => memchr2(one, two, sentence).is_some(),
            [one, two, three] => memchr3(one, two, three, sentence).is_some(),
            _ => true,
        }
    }

    /// Whether the sentence, as it is shown, may fit: said of every sentence that does.
    pub(super) fn may_fit(&self, shown: &[u8]) -> bool {
        let glance = self.glance.get_or_init(|| Glance::new(self.language, self.rule.pattern));
        glance.as_ref().is_none_or(|glance| glance.may_fit(shown))
    }

    /// Found out when a sentence first asks.
    fn holds(&self) -> &Holds {
        self.holds.get_or_init(|| {
            let Firm { lists, bytes } = Firm::of(self.language, self.rule.pattern);
            let firm = self.lists.iter().filter(|(list, _)| lists.iter().any(|firm| firm == list));
            Holds { lists: firm.fold(0, |all, list| all | list.1), bytes }
        })
    }

    pub(super) fn counts(&self, looking: Looking) -> bool {
        match self.rule.texts {
            Texts::All => true,
            Texts::Foreign => looking != Looking::User,
            Texts::Outputs => looking == Looking::Output,
        }
    }

    /// `None`: the expression cannot be compiled, which a test forbids.
    pub(super) fn pattern(&self) -> Option<&Regex> {
        self.pattern.regex()
    }

    /// Whether the sentence is none although it fits.
    pub(super) fn is_other(&self, sentence: &[u8]) -> bool {
        self.unless.as_ref().and_then(Expression::regex).is_some_and(|unless| unless.is_match(sentence))
    }
}

/// Made on first use.
pub(super) static TABLES: LazyLock<Tables> = LazyLock::new(|| build().0);

/// The tables, and what is wrong with them: a test's business, since all of it is written in this crate.
pub(super) fn build() -> (Tables, Vec<String>) {
    let mut building = Building::default();
    for (number, language) in LANGUAGES.iter().enumerate() {
        building.language(language, bit_of(LISTS_MAX + number));
    }
    if LANGUAGES.len() > LANGUAGES_MAX {
        building.wrong.push(format!("{} languages, at most {LANGUAGES_MAX}", LANGUAGES.len()));
    }
    for (words, bit) in [(&cipher::ROT13[..], ROT13), (&cipher::LEET[..], LEET)] {
        words.iter().for_each(|word| building.word(Script::Latin, word, bit));
    }
    if building.lists.len() > LISTS_MAX {
        building.wrong.push(format!("{} lists, at most {LISTS_MAX}", building.lists.len()));
    }
    building.rules.sort_by_key(|ready| ready.rule.kind);
    let (unspaced_words, unspaced_lists): (Vec<String>, Vec<Words>) = building.unspaced.into_iter().unzip();
    let unspaced_bytes = leads(&unspaced_words);
    let vocabulary = Vocabulary::new(building.words);
    if building.rules.len() > RULES_MAX {
        building.wrong.push(format!("{} rules, at most {RULES_MAX}", building.rules.len()));
    }
    let by_list = by_list(&building.rules);
    (
        Tables {
            vocabulary,
            unspaced: OnceLock::new(),
            unspaced_words,
            unspaced_lists,
            unspaced_bytes,
            rules: building.rules,
            by_list,
        },
        building.wrong,
    )
}

/// Bytes of which every word has one: with which ideographs, kana and Hangul begin, as long as that is true.
fn leads(words: &[String]) -> RangeInclusive<u8> {
    const LEADS: RangeInclusive<u8> = 0xe3..=0xed;
    let has_one = |word: &String| word.bytes().any(|byte| LEADS.contains(&byte));
    if words.iter().all(has_one) { LEADS } else { 0..=u8::MAX }
}

#[derive(Default)]
struct Building {
    /// Their names; the place is the bit. Lists of the same name share it, in whatever language.
    lists: Vec<&'static str>,
    words: Vec<Entry>,
    unspaced: Vec<(String, Words)>,
    rules: Vec<Ready>,
    wrong: Vec<String>,
}

impl Building {
    fn language(&mut self, language: &'static Language, own: Words) {
        let is_latin = language.script == Script::Latin;
        let written = language.lists.iter().chain(language.parts).copied();
        let written = written.chain(language.rules.iter().map(|rule| (rule.name, rule.pattern)));
        for (name, text) in written.filter(|_| is_latin) {
            let odd: String = text.chars().filter(|c| c.is_alphabetic() && !c.is_ascii()).collect();
            if !odd.is_empty() {
                // It would never be found, and nothing would say so.
                let code = language.code;
                self.wrong.push(format!("{code}, {name}: write `{odd}` without marks: a text is read so"));
            }
        }
        for rule in language.rules {
            match self.rule(language, rule, own) {
                Ok(ready) => self.rules.push(ready),
                Err(problem) => self.wrong.push(format!("{}, {}: {problem}", language.code, rule.name)),
            }
        }
        for (name, words) in language.lists {
            // A list that no rule requires is no reason to look at a sentence.
            if let Some(bit) = self.lists.iter().position(|list| list == name) {
                lexicon::words(words).for_each(|word| self.word(language.script, &word, bit_of(bit) | own));
            }
        }
    }

    fn rule(
        &mut self,
        language: &'static Language,
        rule: &'static Rule,
        own: Words,
    ) -> Result<Ready, String> {
        let (mut needs, mut named) = (0, Vec::new());
        for list in lexicon::needs(language, rule.pattern)? {
            let known = self.lists.iter().position(|known| *known == list);
            if known.is_none() {
                self.lists.push(list);
            }
            let bit = bit_of(known.unwrap_or(self.lists.len() - 1));
            named.push((list, bit));
            needs |= bit;
        }
        if needs == 0 {
            return Err("a rule without a list would read every sentence".into());
        }
        let expression = |pattern| Expression::new(language, pattern);
        Ok(Ready {
            rule,
            script: language.script,
            needs: needs | own,
            language,
            lists: named,
            holds: OnceLock::new(),
            glance: OnceLock::new(),
            pattern: expression(rule.pattern),
            unless: rule.unless.map(expression),
        })
    }

    fn word(&mut self, script: Script, word: &str, bit: Words) {
        let (part, is_stem) = lexicon::part(word);
        if script == Script::Unspaced {
            self.unspaced.push((part, bit));
            return;
        }
        let bytes = if part.is_ascii() { STEM_BYTES } else { 8 };
        if is_stem && part.len() < bytes {
            self.wrong.push(format!("`{word}`: a stem has at least {bytes} bytes"));
        }
        let phrase = Phrase::new(script, word, bit);
        self.words.push(Entry { part, is_stem, lists: bit, phrase });
    }
}

fn bit_of(list: usize) -> Words {
    1_u128.unbounded_shl(u32::try_from(list).unwrap_or(u32::MAX))
}

/// Compiles everything.
#[cfg(test)]
pub(super) fn problems() -> Vec<String> {
    let (tables, mut wrong) = build();
    if tables.unspaced().is_none() {
        wrong.push("the words of languages without spaces".into());
    }
    for ready in &tables.rules {
        if Glance::new(ready.language, ready.rule.pattern).is_none() {
            wrong.push(format!("{}: no sentence can be glanced at", ready.rule.name));
        }
    }
    let expressions = tables.rules.iter().flat_map(|ready| [Some(&ready.pattern), ready.unless.as_ref()]);
    for expression in expressions.flatten() {
        wrong.extend(expression.problem());
    }
    wrong
}

/// All words of all languages, as they are written in the tables.
#[cfg(test)]
pub(super) fn every_word() -> Vec<String> {
    let lists = LANGUAGES.iter().flat_map(|language| language.lists);
    lists.flat_map(|(_, words)| lexicon::words(words)).collect()
}
