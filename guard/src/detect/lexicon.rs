//! How a language is written down: lists of words, and rules that name the lists.
//!
//! A rule is a regular expression in which `<list>` stands for any word of a list of the same language, and a
//! sentence is shown to the rule only when it holds a word of each list named so. `<?list>` is the same without
//! that condition. A space is any white space; `~3` is a gap of at most three words within the sentence.
//!
//! A word ends in `*` when any ending may follow, in `:` when a colon must. Case does not matter, nor do marks on
//! Latin letters (`é` is written `e`).

use super::Kind;

/// One language.
pub(super) struct Language {
    /// For people: `en`.
    pub(super) code: &'static str,
    /// How its words are told apart.
    pub(super) script: Script,
    /// The lists.
    pub(super) lists: &'static [(&'static str, &'static [&'static str])],
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
pub(super) struct Rule {
    /// `override.en`.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// In which texts it counts.
    pub(super) texts: Texts,
    pub(super) pattern: &'static str,
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
    /// The user's own words.
    Users,
}

/// The expression that a pattern stands for, and the lists that must be present.
pub(super) fn expand(language: &Language, pattern: &str) -> Result<(String, Vec<&'static str>), String> {
    let mut out = String::with_capacity(pattern.len() * 8);
    let mut needs = Vec::new();
    let mut rest = pattern;
    while let Some(at) = rest.find(['<', ' ', '~']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let after = from.get(1..).unwrap_or_default();
        if from.starts_with(' ') {
            out.push_str(r"\s+");
            rest = after;
        } else if from.starts_with('~') {
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let (count, then) = after.split_at(digits);
            out.push_str(&format!(r"(?:[^\w.!?]+\w+){{0,{count}}}?[^\w.!?]+"));
            rest = then;
        } else if let Some((name, then)) = list_name(after) {
            let optional = name.starts_with('?');
            let name = name.trim_start_matches('?');
            let (name, words) = language
                .lists
                .iter()
                .find(|(list, _)| *list == name)
                .ok_or_else(|| format!("{}: no list `{name}`", language.code))?;
            if !optional {
                needs.push(*name);
            }
            out.push_str(&alternation(language.script, words));
            rest = then;
        } else {
            out.push('<');
            rest = after;
        }
    }
    out.push_str(rest);
    Ok((out, needs))
}

/// The name in `name>…`; `None` when this is an ordinary `<`, as in `(?<x>` or a tag.
fn list_name(after: &str) -> Option<(&str, &str)> {
    let (name, then) = after.split_once('>')?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b == b'?');
    is_name.then_some((name, then))
}

fn alternation(script: Script, words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| expression(script, word)).collect();
    let (open, close) = if script == Script::Latin { (r"\b(?:", ")") } else { ("(?:", ")") };
    format!("{open}{}{close}", words.join("|"))
}

fn expression(script: Script, word: &str) -> String {
    let (stem, ending) = match script {
        _ if word.ends_with(':') => (word.trim_end_matches(':'), r"\s{0,3}:"),
        Script::Latin if word.ends_with('*') => (word.trim_end_matches('*'), r"\w*"),
        Script::Latin => (word, r"\b"),
        Script::Alphabet if word.ends_with('*') => (word.trim_end_matches('*'), r"\w*"),
        Script::Alphabet | Script::Unspaced => (word.trim_end_matches('*'), ""),
    };
    let parts: Vec<String> = stem.split(' ').map(regex::escape).collect();
    format!("{}{ending}", parts.join(r"\s+"))
}

/// The literals of which one must be in the text for the word to be there: lower case, the longest part of it.
pub(super) fn literal(word: &str) -> String {
    let stem = word.trim_end_matches(['*', ':']);
    stem.split(' ').max_by_key(|part| part.len()).unwrap_or(stem).to_lowercase()
}
