//! One reading of a text, searched.

use std::ops::Range;

use super::lexicon::Script;
use super::tables::{LEET, Literal, ROT13, Ready, TABLES, Words};
use super::{Kind, Looking, PASSAGES_MAX, Passage, Reading, Scan, WORK_BASE, WORK_PER_BYTE, sentence};

/// Which languages read a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scripts {
    All,
    /// Look-alikes were made Latin: only Latin languages.
    Latin,
    /// They were not.
    Others,
}

impl Scripts {
    fn includes(self, script: Script) -> bool {
        match self {
            Scripts::All => true,
            Scripts::Latin => script == Script::Latin,
            Scripts::Others => script != Script::Latin,
        }
    }
}

/// A search through the readings of one text.
pub(super) struct Search {
    looking: Looking,
    found: Vec<Passage>,
    /// Bytes that rules may still read.
    work: usize,
    is_complete: bool,
    /// Sentences that hold words of a cipher.
    ciphered: Vec<(Range<usize>, Reading)>,
}

impl Search {
    pub(super) fn new(looking: Looking, bytes: usize) -> Search {
        let work = WORK_BASE.saturating_add(bytes.saturating_mul(WORK_PER_BYTE));
        Search { looking, found: Vec::new(), work, is_complete: true, ciphered: Vec::new() }
    }

    /// Searches one reading; `original` tells where a span of it stands in the text.
    pub(super) fn read(
        &mut self,
        text: &str,
        reading: Reading,
        scripts: Scripts,
        original: &dyn Fn(Range<usize>) -> Range<usize>,
    ) {
        let Some(prefilter) = &TABLES.prefilter else {
            self.is_complete = false;
            return;
        };
        let bytes = text.as_bytes();
        let mut current = 0..0;
        let mut words: Words = 0;
        for hit in prefilter.find_overlapping_iter(bytes) {
            let stands = stands(bytes, hit.range(), TABLES.literals.get(hit.pattern().as_usize()));
            if stands == 0 {
                continue;
            }
            if hit.end() > current.end {
                self.sentence(text, current.clone(), words, reading, scripts, original);
                current = sentence::around(bytes, hit.start().max(current.end), current.end);
                words = 0;
                if !self.is_complete {
                    return;
                }
            }
            words |= stands;
        }
        self.sentence(text, current, words, reading, scripts, original);
    }

    fn sentence(
        &mut self,
        text: &str,
        at: Range<usize>,
        words: Words,
        reading: Reading,
        scripts: Scripts,
        original: &dyn Fn(Range<usize>) -> Range<usize>,
    ) {
        if words == 0 {
            return;
        }
        let Some(sentence) = text.get(at.clone()) else { return };
        for (word, reading) in [(ROT13, Reading::Rot13), (LEET, Reading::Leet)] {
            if words & word != 0 {
                self.ciphered.push((at.clone(), reading));
            }
        }
        for rule in &TABLES.rules {
            if rule.needs & !words != 0 || !rule.counts(self.looking) || !scripts.includes(rule.script) {
                continue;
            }
            let Some(work) = self.work.checked_sub(sentence.len()) else {
                self.is_complete = false;
                return;
            };
            self.work = work;
            if let Some(found) = found(rule, sentence) {
                let span = passage(sentence, found);
                let span = original(at.start + span.start..at.start + span.end);
                self.add(rule.name, rule.kind, span, reading);
                return;
            }
        }
    }

    /// The sentences that hold words of a cipher, in what was read last.
    pub(super) fn take_ciphered(&mut self) -> Vec<(Range<usize>, Reading)> {
        std::mem::take(&mut self.ciphered)
    }

    pub(super) fn add(&mut self, rule: &'static str, kind: Kind, span: Range<usize>, reading: Reading) {
        if self.found.len() >= PASSAGES_MAX {
            self.is_complete = false;
        } else if !span.is_empty() {
            self.found.push(Passage { span, rule, kind, reading });
        }
    }

    /// What was found in all readings, in the order of the text `text`.
    pub(super) fn finish(mut self, text: &str) -> Scan {
        self.found.sort_by(|a, b| (a.span.start, a.reading, a.kind).cmp(&(b.span.start, b.reading, b.kind)));
        let mut passages: Vec<Passage> = Vec::with_capacity(self.found.len());
        for found in self.found {
            debug_assert!(text.get(found.span.clone()).is_some(), "a passage is a piece of the text");
            match passages.last_mut() {
                Some(last) if found.span.start < last.span.end => {
                    last.span.end = last.span.end.max(found.span.end)
                }
                _ => passages.push(found),
            }
        }
        Scan { passages, is_complete: self.is_complete }
    }
}

/// Where the sentence fits the rule.
fn found(rule: &Ready, sentence: &str) -> Option<Range<usize>> {
    /// Places in one sentence that are tried when the word before one says that it is none.
    const TRIES_MAX: usize = 4;
    let fits = rule
        .pattern
        .find_iter(sentence.as_bytes())
        .take(TRIES_MAX)
        .find(|found| !follows(sentence, found.start(), rule.not_after))?;
    let is_other = rule.unless.as_ref().is_some_and(|unless| unless.is_match(sentence.as_bytes()));
    (!is_other).then(|| fits.range())
}

/// Whether one of the words stands right before the byte at `at`.
fn follows(sentence: &str, at: usize, words: &[&str]) -> bool {
    let Some(before) = sentence.get(..at).map(str::trim_end) else { return false };
    let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '\'').map_or(0, |at| at + 1);
    before.get(start..).is_some_and(|word| words.iter().any(|other| word.eq_ignore_ascii_case(other)))
}

/// The lists for which the literal at `at` counts: where they ask for the beginning or the whole of a word, it
/// must stand there.
fn stands(text: &[u8], at: Range<usize>, literal: Option<&Literal>) -> Words {
    let Some(literal) = literal else { return 0 };
    let is_letter = |at: Option<usize>| {
        at.and_then(|at| text.get(at)).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    if is_letter(at.start.checked_sub(1)) {
        return literal.anywhere;
    }
    literal.anywhere | literal.stem | if is_letter(Some(at.end)) { 0 } else { literal.whole }
}

/// What is quoted of a sentence when this part of it fits a rule: from there when several words stand before it,
/// else all of it; what stands in quotation marks for itself.
fn passage(sentence: &str, found: Range<usize>) -> Range<usize> {
    if let Some(quoted) = quoted(sentence, &found) {
        return quoted;
    }
    let (before, rest) = sentence.split_at_checked(found.start).unwrap_or(("", sentence));
    let start = if before.split_whitespace().count() >= 3 { before.len() } else { 0 };
    let lead = sentence.get(start..).map_or(0, |part| part.len() - part.trim_start().len());
    let end = before.len() + rest.trim_end().len();
    (start + lead).min(end)..end
}

/// The inside of the quotation marks around the found part.
fn quoted(sentence: &str, found: &Range<usize>) -> Option<Range<usize>> {
    let before = sentence.get(..found.start)?;
    let after = sentence.get(found.end..)?;
    [('"', '"'), ('“', '”'), ('«', '»')].into_iter().find_map(|(open, close)| {
        let start = before.rfind(open)?;
        let inside = start + open.len_utf8();
        // An even number of the same mark before it: the last one closed.
        if open == close && before.matches(open).count() % 2 == 0
            || open != close && before.get(inside..)?.contains(close)
        {
            return None;
        }
        let end = found.end + after.find(close)?;
        Some(inside..end)
    })
}
