//! One reading of a text, searched: in one pass over its words, then by the rules whose words a sentence holds.

use std::ops::Range;

use super::lexicon::Script;
use super::tables::{LEET, ROT13, Ready, TABLES, Words};
use super::vocabulary::Word;
use super::{
    Kind, Looking, PASSAGES_MAX, Passage, Reading, SENTENCE_BYTES_MAX, Scan, WORK_BASE, WORK_PER_BYTE,
    sentence,
};

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

/// Where other readings may hide something, as seen in passing: ranges of the text, in order.
#[derive(Debug, Default)]
pub(super) struct Leads {
    /// Markup or escapes.
    pub(super) wrapped: Vec<Range<usize>>,
    /// Letters that stand apart.
    pub(super) spaced: Vec<Range<usize>>,
    /// Long words, or many of two or eight characters.
    pub(super) encoded: Vec<Range<usize>>,
    /// Words of a cipher.
    pub(super) ciphered: Vec<(Range<usize>, Reading)>,
}

/// A word of that length is no word.
const LONG_BYTES: usize = 16;
/// Letters or groups in a row.
const ROW_MIN: usize = 6;

/// A sentence, as far as it was read.
#[derive(Debug, Default)]
struct Open {
    start: usize,
    words: Words,
    wraps: bool,
    long: bool,
    /// Words of one letter in a row, and of two or eight characters; and the most there were.
    singles: usize,
    singles_most: usize,
    groups: usize,
    groups_most: usize,
}

impl Open {
    fn at(start: usize) -> Open {
        Open { start, ..Open::default() }
    }

    #[inline]
    fn word(&mut self, word: Word, lists: Words) {
        self.words |= lists;
        self.long |= word.length >= LONG_BYTES && word.is_ascii();
        self.singles = if word.length == 1 { self.singles + 1 } else { 0 };
        self.singles_most = self.singles_most.max(self.singles);
        self.groups = if matches!(word.length, 2 | 8) { self.groups + 1 } else { 0 };
        self.groups_most = self.groups_most.max(self.groups);
    }
}

/// A search through the readings of one text.
pub(super) struct Search {
    looking: Looking,
    found: Vec<Passage>,
    /// Bytes that rules may still read.
    work: usize,
    is_complete: bool,
}

/// A reading and how its spans map back.
pub(super) struct View<'a> {
    pub(super) text: &'a str,
    pub(super) reading: Reading,
    pub(super) scripts: Scripts,
    pub(super) original: &'a dyn Fn(Range<usize>) -> Range<usize>,
}

impl Search {
    pub(super) fn new(looking: Looking, bytes: usize) -> Search {
        let work = WORK_BASE.saturating_add(bytes.saturating_mul(WORK_PER_BYTE));
        Search { looking, found: Vec::new(), work, is_complete: true }
    }

    /// Searches one reading.
    pub(super) fn read(&mut self, view: &View<'_>) -> Leads {
        let mut leads = Leads::default();
        if view.scripts != Scripts::Others || !view.text.is_ascii() {
            self.words(view, &mut leads);
        }
        if view.scripts != Scripts::Latin && !view.text.is_ascii() {
            self.unspaced(view);
        }
        leads
    }

    fn words(&mut self, view: &View<'_>, leads: &mut Leads) {
        let bytes = view.text.as_bytes();
        let vocabulary = &TABLES.vocabulary;
        let mut open = Open::at(0);
        let mut at = 0;
        while at < bytes.len() && self.is_complete {
            let word = Word::at(bytes, at);
            if word.length > 0 {
                open.word(word, vocabulary.lists(word));
                at += word.length;
                if at - open.start > SENTENCE_BYTES_MAX {
                    self.close(view, open, at, leads);
                    open = Open::at(at);
                }
                // One space, and the next word: what most of a text is.
                if bytes.get(at) == Some(&b' ') {
                    at += 1;
                }
                continue;
            }
            open.wraps |= is_wrapping(bytes.get(at));
            at += 1;
            if sentence::ends_before(bytes, at) {
                self.close(view, open, at, leads);
                open = Open::at(at);
            }
        }
        self.close(view, open, bytes.len(), leads);
    }

    /// Words of languages without spaces.
    fn unspaced(&mut self, view: &View<'_>) {
        let Some(words) = &TABLES.unspaced else {
            self.is_complete = false;
            return;
        };
        let bytes = view.text.as_bytes();
        let mut current = 0..0;
        let mut seen: Words = 0;
        for hit in words.find_overlapping_iter(bytes) {
            if hit.end() > current.end {
                self.rules(view, current.clone(), seen);
                current = sentence::around(bytes, hit.start().max(current.end), current.end);
                seen = 0;
            }
            seen |= TABLES.unspaced_lists.get(hit.pattern().as_usize()).copied().unwrap_or(0);
        }
        self.rules(view, current, seen);
    }

    fn close(&mut self, view: &View<'_>, open: Open, end: usize, leads: &mut Leads) {
        let at = open.start..end;
        for (word, reading) in [(ROT13, Reading::Rot13), (LEET, Reading::Leet)] {
            if open.words & word != 0 {
                leads.ciphered.push((at.clone(), reading));
            }
        }
        if open.wraps {
            extend(&mut leads.wrapped, &at);
        }
        if open.singles_most >= ROW_MIN {
            extend(&mut leads.spaced, &at);
        }
        if open.long || open.groups_most >= ROW_MIN {
            extend(&mut leads.encoded, &at);
        }
        self.rules(view, at, open.words);
    }

    fn rules(&mut self, view: &View<'_>, at: Range<usize>, words: Words) {
        if words == 0 {
            return;
        }
        for ready in &TABLES.rules {
            if ready.needs & !words != 0
                || !ready.counts(self.looking)
                || !view.scripts.includes(ready.script)
            {
                continue;
            }
            let Some(sentence) = view.text.get(at.clone()) else { return };
            let Some(work) = self.work.checked_sub(sentence.len()) else {
                self.is_complete = false;
                return;
            };
            self.work = work;
            if let Some(found) = found(ready, sentence) {
                let span = passage(sentence, found);
                let span = (view.original)(at.start + span.start..at.start + span.end);
                self.add(ready.rule.name, ready.rule.kind, span, view.reading);
                return;
            }
        }
    }

    pub(super) fn add(&mut self, rule: &'static str, kind: Kind, span: Range<usize>, reading: Reading) {
        if self.found.len() >= PASSAGES_MAX {
            self.is_complete = false;
        } else if !span.is_empty() {
            self.found.push(Passage { span, rule, kind, reading });
        }
    }

    /// What was found in all readings, in the order of the text.
    pub(super) fn finish(mut self, text: &str) -> Scan {
        self.found.sort_by_key(|passage| (passage.span.start, passage.reading, passage.kind));
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

/// Sentences that follow each other are one piece.
fn extend(ranges: &mut Vec<Range<usize>>, at: &Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == at.start => last.end = at.end,
        _ => ranges.push(at.clone()),
    }
}

/// Bytes that markup and escapes begin with.
#[inline]
fn is_wrapping(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| matches!(byte, b'&' | b'%' | b'\\' | b'<' | b'*' | b'~' | b'`' | b'_' | b'='))
}

/// Where the sentence fits the rule.
fn found(ready: &Ready, sentence: &str) -> Option<Range<usize>> {
    /// Places in one sentence that are tried when the word before one says that it is none.
    const TRIES_MAX: usize = 4;
    let fits = ready
        .pattern()?
        .find_iter(sentence.as_bytes())
        .take(TRIES_MAX)
        .find(|found| !follows(sentence, found.start(), ready.rule.not_after))?;
    (!ready.is_other(sentence.as_bytes())).then(|| fits.range())
}

/// Whether one of the words stands right before the byte at `at`.
fn follows(sentence: &str, at: usize, words: &[&str]) -> bool {
    if words.is_empty() {
        return false;
    }
    let Some(before) = sentence.get(..at).map(str::trim_end) else { return false };
    let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '\'').map_or(0, |at| at + 1);
    before.get(start..).is_some_and(|word| words.iter().any(|other| word.eq_ignore_ascii_case(other)))
}

/// What is quoted of a sentence when this part of it fits a rule: from there when several words stand before it,
/// else all of it; what stands in quotation marks for itself.
fn passage(sentence: &str, found: Range<usize>) -> Range<usize> {
    if let Some(quoted) = quoted(sentence, &found) {
        return quoted;
    }
    let (before, rest) = sentence.split_at_checked(found.start).unwrap_or(("", sentence));
    let start = if before.split_whitespace().nth(2).is_some() { before.len() } else { 0 };
    let lead = sentence.get(start..).map_or(0, |part| part.len() - part.trim_start().len());
    let end = before.len() + rest.trim_end().len();
    (start + lead).min(end)..end
}

/// The inside of the quotation marks around the found part.
fn quoted(sentence: &str, found: &Range<usize>) -> Option<Range<usize>> {
    let before = sentence.get(..found.start)?;
    let after = sentence.get(found.end..)?;
    [('"', '"'), ('“', '”'), ('«', '»')].into_iter().find_map(|(open, close)| {
        let inside = before.rfind(open)? + open.len_utf8();
        // An even number of the same mark before it: the last one closed.
        let is_closed = if open == close {
            before.matches(open).count().is_multiple_of(2)
        } else {
            before.get(inside..)?.contains(close)
        };
        let end = found.end + after.find(close)?;
        (!is_closed).then_some(inside..end)
    })
}
