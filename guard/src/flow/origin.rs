//! Where else words came from: what excuses a value that a suspicious part names too.

use std::cell::Cell;
use std::ops::Range;

use super::region::Region;
use super::value::sought;
use super::verbs::Families;
use super::{Flowing, Heard, STEPS_MAX};
use crate::messages::Role;

/// The call cannot be followed: it would take too long.
pub(super) struct Lost;

/// The conversation, asked for words.
pub(super) struct Origins<'a> {
    call: &'a Flowing<'a>,
    /// Suspicious parts, by message.
    regions: &'a [Vec<Region>],
    steps: Cell<u64>,
}

impl<'a> Origins<'a> {
    pub(super) fn new(call: &'a Flowing<'a>, regions: &'a [Vec<Region>]) -> Origins<'a> {
        Origins { call, regions, steps: Cell::new(0) }
    }

    /// Counts work.
    pub(super) fn spend(&self, steps: usize) -> Result<(), Lost> {
        let sum = self.steps.get().saturating_add(steps as u64);
        self.steps.set(sum);
        if sum > STEPS_MAX { Err(Lost) } else { Ok(()) }
    }

    /// The bytes of the first place within these positions where the words follow each other.
    pub(super) fn find(
        &self,
        heard: &Heard<'_>,
        words: &[u32],
        within: &Range<usize>,
    ) -> Result<Option<Range<usize>>, Lost> {
        let (places, work) = heard.index.find(words, within);
        self.spend(work)?;
        Ok(places.into_iter().next())
    }

    /// Whether the user asked for one of these kinds of acts.
    pub(super) fn is_wanted(&self, families: Families) -> bool {
        let wants = |heard: &Heard<'_>| {
            let mut words = heard.index.words().iter();
            words.any(|word| heard.index.class(*word).families & families != 0)
        };
        self.users().any(wants)
    }

    /// What the user said, where all of it is known.
    pub(super) fn users(&self) -> impl Iterator<Item = &'a Heard<'a>> {
        let known = self.call.user_known;
        self.call.heard.iter().filter(move |heard| known && heard.role == Role::User)
    }

    /// Whether the user said these words.
    pub(super) fn is_said(&self, words: &[String]) -> Result<bool, Lost> {
        for heard in self.users() {
            if let Some(ids) = heard.index.ids(words)
                && self.find(heard, &ids, &heard.index.all())?.is_some()
            {
                return Ok(true);
            }
            self.spend(words.len())?;
        }
        Ok(false)
    }

    /// Whether these words came from elsewhere before this message: from the system, from an earlier output outside
    /// of suspicious parts, or from the model, which had called a tool with them.
    pub(super) fn is_clean(&self, words: &[String], message: usize) -> Result<bool, Lost> {
        for (at, heard) in self.call.heard.iter().enumerate().take(message + 1) {
            let called = heard.arguments.map(sought).unwrap_or_default();
            self.spend(
                called.iter().map(|value| value.words.len() + 1 + work_of(&value.words, words)).sum(),
            )?;
            let is_other = at < message && matches!(heard.role, Role::System | Role::Tool);
            if called.iter().any(|value| names(&value.words, words))
                || is_other && self.has_outside(words, at, heard)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_outside(&self, words: &[String], at: usize, heard: &Heard<'_>) -> Result<bool, Lost> {
        self.spend(words.len())?;
        let Some(ids) = heard.index.ids(words) else { return Ok(false) };
        let regions = self.regions.get(at).map(Vec::as_slice).unwrap_or_default();
        let (places, work) = heard.index.find(&ids, &heard.index.all());
        self.spend(work + places.len() * regions.len())?;
        let is_outside = |place: &Range<usize>| {
            !regions.iter().any(|region| place.start < region.around.end && place.end > region.around.start)
        };
        Ok(places.iter().any(is_outside))
    }
}

/// Letters of words that stand inside longer ones by no chance.
const INSIDE_LETTERS_MIN: usize = 6;

/// Whether a value of an earlier call is these words, or holds them in a row: the folder of a file that was read is known
/// from there like the file itself.
fn names(value: &[String], words: &[String]) -> bool {
    let letters: usize = words.iter().map(String::len).sum();
    value == words
        || words.len() > 1
            && letters >= INSIDE_LETTERS_MIN
            && value.windows(words.len()).any(|row| row == words)
}

/// What comparing them costs at most, beside looking at each word once.
fn work_of(value: &[String], words: &[String]) -> usize {
    let Some(first) = words.first() else { return 0 };
    value.iter().filter(|word| *word == first).count().saturating_mul(words.len())
}
