//! A rule's own expression, written out and compiled when a sentence first needs it: when a wider one fits it.

use std::sync::OnceLock;

use regex_automata::meta::{Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::syntax;

use super::lexicon::{self, Language, Script};

pub(super) struct Expression {
    language: &'static Language,
    pattern: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Expression {
    pub(super) fn new(language: &'static Language, pattern: &'static str) -> Expression {
        Expression { language, pattern, compiled: OnceLock::new() }
    }

    /// `None`: it cannot be compiled, which a test forbids.
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| compile(self.language, self.pattern).ok()).as_ref()
    }

    /// Why it cannot be compiled.
    #[cfg(test)]
    pub(super) fn problem(&self) -> Option<String> {
        compile(self.language, self.pattern).err().map(|problem| format!("{}: {problem}", self.pattern))
    }
}

fn compile(language: &Language, pattern: &str) -> Result<Regex, String> {
    let script = language.script;
    let pattern = lexicon::expand(language, pattern)?;
    let syntax = syntax::Config::new()
        .case_insensitive(true)
        .multi_line(true)
        .utf8(false)
        // Latin text is ASCII once it is folded; without Unicode tables the automata stay small and fast.
        .unicode(script != Script::Latin);
    // Few sentences come here: nothing is made ready that only helps where most of a long text is passed over. Where
    // words end by all of Unicode an automaton gives up at the first letter outside ASCII.
    let lean = Config::new()
        .utf8_empty(false)
        .auto_prefilter(false)
        .onepass(false)
        .dfa(false)
        .hybrid(script == Script::Latin)
        .which_captures(WhichCaptures::Implicit);
    let built = Regex::builder().syntax(syntax).configure(lean).build(&pattern);
    built.map_err(|error| error.to_string())
}
