//! One reading of a text, searched: in one pass over its words, then by the rules whose words a sentence holds.

use std::ops::Range;

use super::count::looked;
use super::fold::{Known, Letters};
use super::lexicon::Script;
use super::tables::{LEET, ROT13, TABLES, Words};
use super::words::{Sentence, Sentences};
use super::{
    Explained, Kind, Looking, PASSAGES_MAX, Passage, Reading, Reread, Scan, WORK_BASE, WORK_PER_BYTE, glance,
    passage, phrase, sentence,
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
    /// Characters outside ASCII, whose sentences no rule has read yet.
    pub(super) foreign: Vec<Range<usize>>,
    /// Markup or escapes.
    pub(super) wrapped: Vec<Range<usize>>,
    /// Letters that stand apart.
    pub(super) spaced: Vec<Range<usize>>,
    /// Long words, or many of two or eight characters.
    pub(super) encoded: Vec<Range<usize>>,
    /// Words of a cipher.
    pub(super) ciphered: Vec<(Range<usize>, Reading)>,
}

/// A search through the readings of one text.
pub(super) struct Search {
    looking: Looking,
    found: Vec<Passage>,
    /// Bytes that may be read in all, and those that still may.
    budget: usize,
    work: usize,
    is_complete: bool,
    /// What characters are folded to, for each of [`Letters`].
    known: [Known; 3],
    /// Whether expressions run only where the phrases stand in full: always, but in a test that compares.
    asks_phrases: bool,
    /// Kept when somebody asks what was read.
    readings: Option<Vec<Reread>>,
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
        let (found, known) = (Vec::new(), Default::default());
        Search {
            looking,
            found,
            budget: work,
            work,
            is_complete: true,
            known,
            asks_phrases: true,
            readings: None,
        }
    }

    /// What characters were folded to before.
    pub(super) fn known(&mut self, letters: Letters) -> &mut Known {
        let [latin, latin_i, own] = &mut self.known;
        match letters {
            Letters::Latin => latin,
            Letters::LatinI => latin_i,
            Letters::Own => own,
        }
    }

    #[cfg(test)]
    pub(super) fn without_phrases(mut self) -> Search {
        self.asks_phrases = false;
        self
    }

    /// Keeps what is read.
    pub(super) fn explained(mut self) -> Search {
        self.readings = Some(Vec::new());
        self
    }

    /// Searches one reading. Sentences with characters outside ASCII are left for a folded reading, unless this is
    /// one.
    pub(super) fn read(&mut self, view: &View<'_>) -> Leads {
        let mut leads = Leads::default();
        looked(view.text.len());
        if !self.spend(view.text.len()) {
            return leads;
        }
        if let Some(readings) = self.readings.as_mut().filter(|_| view.reading != Reading::Written) {
            let span = (view.original)(0..view.text.len());
            readings.push(Reread { reading: view.reading, span, text: view.text.to_owned() });
        }
        self.words(view, &mut leads);
        if view.scripts == Scripts::Others {
            self.unspaced(view);
        }
        leads
    }

    /// Whether that many bytes may still be read.
    fn spend(&mut self, bytes: usize) -> bool {
        match self.work.checked_sub(bytes).filter(|_| self.is_complete) {
            Some(work) => self.work = work,
            None => self.is_complete = false,
        }
        self.is_complete
    }

    fn words(&mut self, view: &View<'_>, leads: &mut Leads) {
        let mut sentences = Sentences::new(view.text);
        while let Some(sentence) = sentences.next() {
            self.close(view, sentence, sentences.seen(), leads);
            if !self.is_complete {
                return;
            }
        }
    }

    /// Words of languages without spaces.
    fn unspaced(&mut self, view: &View<'_>) {
        let bytes = view.text.as_bytes();
        let is_lead = |byte: &u8| TABLES.unspaced_bytes.contains(byte);
        // Without a way out of the inner loop, which the compiler makes a vector's.
        if !bytes.chunks(256).any(|chunk| chunk.iter().fold(false, |has, byte| has | is_lead(byte))) {
            return;
        }
        let Some(words) = TABLES.unspaced() else {
            self.is_complete = false;
            return;
        };
        let mut current = 0..0;
        let mut seen: Words = 0;
        for hit in words.find_overlapping_iter(bytes) {
            if hit.end() > current.end {
                self.rules(view, current.clone(), seen, None);
                current = sentence::around(bytes, hit.start().max(current.end), current.end);
                seen = 0;
            }
            seen |= TABLES.unspaced_lists.get(hit.pattern().as_usize()).copied().unwrap_or(0);
        }
        self.rules(view, current, seen, None);
    }

    #[inline]
    fn close(&mut self, view: &View<'_>, found: Sentence, seen: &[usize], leads: &mut Leads) {
        let at = found.at;
        if found.is_foreign && view.scripts == Scripts::All {
            return extend(&mut leads.foreign, &at);
        }
        for (word, reading) in [(ROT13, Reading::Rot13), (LEET, Reading::Leet)] {
            if found.words & word != 0 {
                leads.ciphered.push((at.clone(), reading));
            }
        }
        if found.has_singles {
            extend(&mut leads.spaced, &at);
        }
        if found.is_long || found.has_groups {
            extend(&mut leads.encoded, &at);
        }
        let was_tried = self.rules(view, at.clone(), found.words, Some(seen).filter(|_| !found.is_foreign));
        if found.has_escapes || found.has_marks && was_tried {
            extend(&mut leads.wrapped, &at);
        }
    }

    /// Shows the sentence to the rules whose words it holds; whether there was one, and it did not fit. Where the
    /// places of the words are given, an expression runs only if the phrases stand there in full.
    fn rules(&mut self, view: &View<'_>, at: Range<usize>, words: Words, seen: Option<&[usize]>) -> bool {
        let (mut was_tried, mut standing, mut shown) = (false, None, None);
        if words == 0 {
            return was_tried;
        }
        for ready in TABLES.candidates(words) {
            if !ready.counts(self.looking) || !view.scripts.includes(ready.script) {
                continue;
            }
            let Some(sentence) = view.text.get(at.clone()) else { return was_tried };
            if !self.spend(sentence.len()) {
                return was_tried;
            }
            was_tried = true;
            if self.asks_phrases && !ready.has_byte(sentence.as_bytes()) {
                continue;
            }
            if let Some(seen) = seen.filter(|_| self.asks_phrases) {
                let standing =
                    *standing.get_or_insert_with(|| self.standing(view, words, sentence, at.start, seen));
                if ready.firm() & !standing != 0 {
                    continue;
                }
            }
            if self.asks_phrases {
                let shown =
                    shown.get_or_insert_with(|| glance::shown(sentence, view.scripts != Scripts::Others));
                if !ready.may_fit(shown) {
                    continue;
                }
            }
            looked(sentence.len());
            if let Some(found) = passage::found(ready, sentence) {
                let span = passage::quote(sentence, found);
                let span = (view.original)(at.start + span.start..at.start + span.end);
                self.add(ready.rule.name, ready.rule.kind, span, view.reading);
                return false;
            }
        }
        was_tried
    }

    /// The lists, of those that matter to the sentence's rules, of which a phrase stands in it.
    fn standing(&self, view: &View<'_>, words: Words, sentence: &str, start: usize, seen: &[usize]) -> Words {
        let rules = TABLES.candidates(words);
        let counting =
            rules.filter(|ready| ready.counts(self.looking) && view.scripts.includes(ready.script));
        let wanted = counting.fold(0, |wanted, ready| wanted | ready.firm());
        phrase::standing(&TABLES.vocabulary, wanted, sentence.as_bytes(), seen.iter().map(|at| at - start))
    }

    pub(super) fn add(&mut self, rule: &'static str, kind: Kind, span: Range<usize>, reading: Reading) {
        if self.found.len() >= PASSAGES_MAX {
            self.is_complete = false;
        } else if !span.is_empty() {
            self.found.push(Passage { span, rule, kind, reading });
        }
    }

    /// What was found in all readings, in the order of the text.
    pub(super) fn finish(mut self, text: &str) -> Explained {
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
        let scan = Scan { passages, is_complete: self.is_complete };
        Explained { scan, readings: self.readings.unwrap_or_default(), bytes_read: self.budget - self.work }
    }
}

/// Sentences that follow each other are one piece.
fn extend(ranges: &mut Vec<Range<usize>>, at: &Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end >= at.start => last.end = last.end.max(at.end),
        _ => ranges.push(at.clone()),
    }
}
