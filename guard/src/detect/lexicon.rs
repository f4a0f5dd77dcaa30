//! How a language is written down: lists of words, and rules that name the lists.
//!
//! A rule is a regular expression in which `<list>` stands for any word of a list of the same language, and a
//! sentence is shown to the rule only when it holds a word of each list named so. `<?list>` is the same without
//! that condition, and `<!list>` is the condition alone. A space is any white space; `~3` is a gap of at most three words within the sentence.
//!
//! A word ends in `*` when any ending may follow, in `:` when a colon must. Case does not matter, nor do marks on
//! Latin letters (`é` is written `e`).

use unicode_normalization::UnicodeNormalization as _;

use super::Kind;

/// One language.
pub(super) struct Language {
    /// For people: `en`.
    pub(super) code: &'static str,
    /// How its words are told apart.
    pub(super) script: Script,
    /// The lists, their words separated by commas.
    pub(super) lists: &'static [(&'static str, &'static str)],
    /// Pieces of expressions that several rules share, named like lists.
    pub(super) parts: &'static [(&'static str, &'static str)],
    /// In order of importance: the first that fits a sentence names it.
    pub(super) rules: &'static [Rule],
}

/// How words are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Latin letters: read after look-alikes became Latin.
    Latin,
    /// Another alphabet with words: read as it is.
    Alphabet,
    /// Written without spaces.
    Unspaced,
}

/// One rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// `override.en`.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// In which texts it counts.
    pub(super) texts: Texts,
    pub(super) pattern: &'static str,
    /// A sentence that fits this too is none.
    pub(super) unless: Option<&'static str>,
    /// Words after which the found part is none: `to ignore`, `not send`.
    pub(super) not_after: &'static [&'static str],
}

impl Rule {
    pub(super) const fn new(name: &'static str, kind: Kind, texts: Texts, pattern: &'static str) -> Rule {
        Rule { name, kind, texts, pattern, unless: None, not_after: &[] }
    }

    pub(super) const fn unless(mut self, pattern: &'static str) -> Rule {
        self.unless = Some(pattern);
        self
    }

    pub(super) const fn not_after(mut self, words: &'static [&'static str]) -> Rule {
        self.not_after = words;
        self
    }
}

/// In which texts a rule counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Texts {
    /// Tool outputs, descriptions, and the user's own words.
    All,
    /// Tool outputs and descriptions.
    Foreign,
    /// Tool outputs.
    Outputs,
}

/// The expression that a pattern stands for.
pub(super) fn expand(language: &Language, pattern: &str) -> Result<String, String> {
    let mut expansion = Expansion::new(language, pattern);
    expansion.add(pattern, 0)?;
    Ok(expansion.out)
}

/// The lists that must be present.
pub(super) fn needs(language: &Language, pattern: &str) -> Result<Vec<&'static str>, String> {
    let mut expansion = Expansion { named: Some(0), ..Expansion::new(language, pattern) };
    expansion.add(pattern, 0)?;
    Ok(expansion.needs)
}

/// The same expression for whoever reads bytes: white space, words and gaps are what they are to ASCII, and a gap
/// between characters is one between any.
pub(super) fn expand_bytes(language: &Language, pattern: &str) -> Result<String, String> {
    let mut expansion = Expansion { is_bytes: true, ..Expansion::new(language, pattern) };
    expansion.add(pattern, 0)?;
    Ok(expansion.out)
}

/// Between the name of a list and a number in the name of its group.
pub(super) const NUMBER: &str = "__";

/// The pattern with each list a group of its name.
pub(super) fn expand_named(language: &Language, pattern: &str) -> Result<String, String> {
    let mut expansion = Expansion { named: Some(0), ..Expansion::new(language, pattern) };
    expansion.add(pattern, 0)?;
    Ok(expansion.out)
}

struct Expansion<'a> {
    language: &'a Language,
    out: String,
    needs: Vec<&'static str>,
    /// Lists are groups of their names; how many there were.
    named: Option<usize>,
    /// No class may name a character outside ASCII.
    is_bytes: bool,
}

impl<'a> Expansion<'a> {
    fn new(language: &'a Language, pattern: &str) -> Expansion<'a> {
        let out = String::with_capacity(pattern.len() * 8);
        Expansion { language, out, needs: Vec::new(), named: None, is_bytes: false }
    }

    fn add(&mut self, pattern: &str, depth: usize) -> Result<(), String> {
        /// Parts may name parts.
        const DEPTH_MAX: usize = 3;
        if depth > DEPTH_MAX {
            return Err("parts that name each other".into());
        }
        let mut rest = pattern;
        while let Some(at) = rest.find(['<', ' ', '~']) {
            let (before, from) = rest.split_at(at);
            self.out.push_str(before);
            let after = from.get(1..).unwrap_or_default();
            rest = if from.starts_with(' ') {
                self.out.push_str(r"\s+");
                after
            } else if from.starts_with('~') {
                let digits = after.bytes().take_while(u8::is_ascii_digit).count();
                let (count, then) = after.split_at(digits);
                self.gap(count);
                then
            } else if let Some((name, then)) = name(after) {
                self.named(name, depth)?;
                then
            } else {
                self.out.push('<');
                after
            };
        }
        self.out.push_str(rest);
        Ok(())
    }

    fn gap(&mut self, words: &str) {
        self.out.push_str(&match self.language.script {
            // Two characters are about a word.
            Script::Unspaced if self.is_bytes => format!(r"(?:[^\n]{{2}}){{0,{words}}}?[^\n]?"),
            Script::Unspaced => format!(r"(?:[^。！？\n]{{2}}){{0,{words}}}?[^。！？\n]?"),
            Script::Latin | Script::Alphabet => {
                format!(r"(?:[^\w.!?{{}}|;=]+\w+){{0,{words}}}?[^\w.!?{{}}|;=]+")
            }
        });
    }

    fn named(&mut self, name: &str, depth: usize) -> Result<(), String> {
        let (is_optional, is_silent) = (name.starts_with('?'), name.starts_with('!'));
        let name = name.trim_start_matches(['?', '!']);
        if let Some((_, part)) = self.language.parts.iter().find(|(part, _)| *part == name) {
            self.out.push_str("(?:");
            self.add(part, depth + 1)?;
            self.out.push(')');
            return Ok(());
        }
        let list = self.language.lists.iter().find(|(list, _)| *list == name);
        let (name, words) = list.ok_or_else(|| format!("no list `{name}`"))?;
        if !is_optional {
            self.needs.push(*name);
        }
        if is_silent {
            return Ok(());
        }
        if let Some(count) = &mut self.named {
            *count += 1;
            self.out.push_str(&format!("(?P<{name}{NUMBER}{count}>x)"));
            return Ok(());
        }
        self.out.push_str(&alternation(self.language.script, words)?);
        Ok(())
    }
}

/// The name in `name>…`; `None` when this is an ordinary `<`, as in a tag.
fn name(after: &str) -> Option<(&str, &str)> {
    let (name, then) = after.split_once('>')?;
    let is_name =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'_' | b'?' | b'!'));
    is_name.then_some((name, then))
}

fn alternation(script: Script, list: &str) -> Result<String, String> {
    let words: Vec<String> = words(list).map(|word| expression(script, &word)).collect();
    if words.iter().any(String::is_empty) {
        return Err(format!("an empty word in `{list}`"));
    }
    let (open, close) = if script == Script::Latin { (r"\b(?:", ")") } else { ("(?:", ")") };
    Ok(format!("{open}{}{close}", words.join("|")))
}

/// The words of a list, normalised as a text is.
pub(super) fn words(list: &str) -> impl Iterator<Item = String> {
    list.split(',').map(|word| word.trim().nfkc().collect())
}

fn expression(script: Script, word: &str) -> String {
    let stem = word.trim_end_matches([':', '*']);
    let any = |part: &str| match part.strip_suffix('*') {
        Some(stem) => format!(r"{}\w*", regex::escape(stem)),
        None => regex::escape(part),
    };
    let parts: Vec<String> = stem.split(' ').map(any).collect();
    let ending = match script {
        _ if word.ends_with(':') => r"\s{0,3}:",
        Script::Unspaced => "",
        _ if word.ends_with('*') => r"\w*",
        Script::Latin | Script::Alphabet => r"\b",
    };
    format!("{}{ending}", parts.join(r"\s+"))
}

/// Words that nearly every sentence holds: by them none is known.
const COMMON: [&str; 8] = ["from", "this", "that", "with", "your", "what", "have", "will"];

fn parts(word: &str) -> impl Iterator<Item = &str> {
    word.split(|c: char| !c.is_alphanumeric() && c != '*')
}

/// Where the part begins by which a word is known; for words in ASCII.
pub(super) fn known_at(word: &str) -> usize {
    let mut at = 0;
    let places = parts(word).map(|part| {
        let start = at;
        at += part.len() + 1;
        (start, part)
    });
    places.max_by_key(|(_, part)| weight(part)).map_or(0, |(start, _)| start)
}

fn weight(part: &str) -> (bool, usize) {
    (!COMMON.contains(&part), part.trim_end_matches('*').len())
}

/// The part of a word by which a sentence that may hold it is known, in lower case, and whether it is only a stem.
pub(super) fn part(word: &str) -> (String, bool) {
    let part = parts(word).max_by_key(|part| weight(part)).unwrap_or(word);
    (part.trim_end_matches('*').to_lowercase(), part.ends_with('*'))
}
