//! From the suspicious parts of messages to the call.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use super::day::Day;
use super::identifier::{Identifier, identifiers};
use super::origin::{Lost, Origins};
use super::parting::words_of;
use super::reason;
use super::region::{Region, regions};
use super::request;
use super::value::{Sought, run_of, sought};
use super::verbs::Deed;
use super::{Flow, Flowing, Heard, REGIONS_MAX};
use crate::messages::Role;

/// Words that follow each other in a part and in a call: fewer are chance.
const COPIED_WORDS: usize = 5;

/// Tells how a call is tied to what an output asks for, if it is.
pub(super) fn follow(call: &Flowing<'_>) -> Option<Flow> {
    let deed = Deed::of(call.tool);
    let of = |heard: &Heard<'_>| match heard.role {
        Role::Tool => regions(heard.text, heard.index, &deed, REGIONS_MAX),
        Role::Assistant | Role::System | Role::User => Some(Vec::new()),
    };
    let Some(regions) = call.heard.iter().map(of).collect::<Option<Vec<_>>>() else {
        return Some(reason::lost());
    };
    if regions.iter().all(Vec::is_empty) {
        return None;
    }
    let origins = Origins::new(call, &regions);
    let found = Trail::new(call, &deed, &origins).and_then(|trail| trail.find(&regions));
    found.unwrap_or_else(|Lost| Some(reason::lost()))
}

/// What is followed.
struct Trail<'a> {
    call: &'a Flowing<'a>,
    deed: &'a Deed,
    origins: &'a Origins<'a>,
    /// Every value of the call.
    sought: Vec<Sought>,
    /// Those that the user did not name.
    unsaid: Vec<Sought>,
    /// The letters and digits of all.
    run: String,
    /// The user asked for this kind of act.
    is_wanted: bool,
    /// What the last part's values hold of the call. The requests inside one passage share what stands around it:
    /// a mail of nothing but requests was read once for each of them.
    held: RefCell<Held>,
}

/// Names, addresses and the like of a stretch of a message that stand in the call too.
#[derive(Default)]
struct Held {
    message: usize,
    bytes: Range<usize>,
    identifiers: Rc<[Identifier]>,
}

/// A part of a message, beside the call.
pub(super) struct Part<'a> {
    pub(super) message: usize,
    pub(super) heard: &'a Heard<'a>,
    pub(super) region: &'a Region,
    /// It asks for what the tool does: verb and object.
    is_asked: bool,
    /// Positions of words that a call may have its values from. What stands around a passage belongs to it only
    /// where something like the call is spoken of.
    values: Range<usize>,
}

impl<'a> Trail<'a> {
    fn new(call: &'a Flowing<'a>, deed: &'a Deed, origins: &'a Origins<'a>) -> Result<Trail<'a>, Lost> {
        let sought = sought(call.arguments);
        let mut unsaid = Vec::new();
        for value in sought.iter().filter(|value| value.is_whole()) {
            let said_day =
                |day: Day| origins.users().any(|heard| day.is_named(heard.index, &heard.index.all()));
            let is_said = match value.day {
                Some(day) => said_day(day),
                None => origins.is_said(&value.words)?,
            };
            unsaid.extend((!is_said).then(|| value.clone()));
        }
        let (run, is_wanted) = (run_of(&sought), origins.is_wanted(deed.families));
        Ok(Trail { call, deed, origins, sought, unsaid, run, is_wanted, held: RefCell::default() })
    }

    fn find(&self, regions: &[Vec<Region>]) -> Result<Option<Flow>, Lost> {
        for (message, (heard, regions)) in self.call.heard.iter().zip(regions).enumerate() {
            for region in regions {
                let part = self.part(message, heard, region)?;
                let ways = [Trail::concealed, Trail::named, Trail::asked, Trail::carried, Trail::copied];
                for way in ways {
                    if let Some(flow) = way(self, &part)? {
                        return Ok(Some(flow));
                    }
                }
            }
        }
        Ok(None)
    }

    /// A part whose words are hidden may ask for anything, except for what is wholly the user's.
    fn concealed(&self, part: &Part<'_>) -> Result<Option<Flow>, Lost> {
        let is_users = self.is_wanted && self.unsaid.is_empty() && self.sought.iter().all(Sought::is_whole);
        self.origins.spend(1)?;
        Ok(part.region.hidden.filter(|_| !is_users).map(|reading| reason::concealed(part, reading)))
    }

    fn part(&self, message: usize, heard: &'a Heard<'a>, region: &'a Region) -> Result<Part<'a>, Lost> {
        let index = heard.index;
        let (core, around) = (index.within(&region.core), index.within(&region.around));
        self.origins.spend(core.len() + around.len() + 1)?;
        let has_verb = |within: &Range<usize>| {
            request::families_within(index, within) & self.deed.families != 0
                || request::mentions(index, &self.deed.verb, within)
        };
        let mut nouns = self.deed.nouns.iter();
        let has_noun = nouns.len() == 0 || nouns.any(|noun| request::mentions(index, noun, &core));
        let is_asked = has_noun && (region.asks || has_verb(&core));
        let is_near = self.deed.families == 0 || has_verb(&around);
        Ok(Part { message, heard, region, is_asked, values: if is_near { around } else { core } })
    }

    /// A value that only this part names.
    fn named(&self, part: &Part<'_>) -> Result<Option<Flow>, Lost> {
        if !part.region.is_firm() && !part.is_asked {
            return Ok(None);
        }
        for value in self.unsaid.iter().filter(|value| value.tells() && value.day.is_none()) {
            self.origins.spend(value.words.len())?;
            let Some(ids) = part.heard.index.ids(&value.words) else { continue };
            if let Some(place) = self.origins.find(part.heard, &ids, &part.values)?
                && !is_inside(part.heard.text, &place)
                && !self.origins.is_clean(&value.words, part.message)?
            {
                return Ok(Some(reason::named(part, value, place)));
            }
        }
        Ok(None)
    }

    /// The very call that this part asks for: with the values it names, or with none where it names none.
    fn asked(&self, part: &Part<'_>) -> Result<Option<Flow>, Lost> {
        // A request that the user made too is the user's.
        if !part.is_asked || part.region.has_requests || self.is_wanted && !part.region.is_firm() {
            return Ok(None);
        }
        let index = part.heard.index;
        let core = index.within(&part.region.core);
        let (mut named, mut is_other) = (None, false);
        let (mut named_day, mut is_other_day) = (None, false);
        for value in self.unsaid.iter().filter(|value| !value.is_name) {
            self.origins.spend(value.words.len() + 1)?;
            if let Some(day) = value.day {
                let is_named = day.is_named(index, &core);
                named_day = named_day.or(is_named.then(|| (value, part.region.core.clone())));
                is_other_day |= !is_named;
                continue;
            }
            let ids = index.ids(&value.words);
            let place = ids.map_or(Ok(None), |ids| self.origins.find(part.heard, &ids, &core))?;
            let is_letter = value.words.iter().map(String::len).sum::<usize>() < 2;
            match place {
                Some(place) if !is_letter => named = named.or(Some((value, place))),
                // A short value that the request does not name: the call does something else.
                None => is_other |= value.words.len() <= 3,
                Some(_) => {}
            }
        }
        let found = named.filter(|_| !is_other).or(named_day.filter(|_| !is_other_day));
        if let Some((value, place)) = found {
            return Ok(Some(reason::asked(part, value, place)));
        }
        let is_open = part.region.is_firm() && part.region.asks && self.names_nothing(part)?;
        Ok((is_open || self.sought.is_empty()).then(|| reason::asked_openly(part)))
    }

    /// Whether a part names no one thing, so that any call of its kind may be what it wants.
    fn names_nothing(&self, part: &Part<'_>) -> Result<bool, Lost> {
        let core = &part.region.core;
        self.origins.spend(core.len())?;
        let text = part.heard.text.get(core.clone()).unwrap_or_default();
        Ok(!text.chars().any(char::is_numeric) && identifiers(part.heard.text, core).is_empty())
    }

    /// Something that only this part names, inside the values.
    fn carried(&self, part: &Part<'_>) -> Result<Option<Flow>, Lost> {
        let core = &part.region.core;
        for Identifier { span, letters } in self.held(part)?.iter() {
            let is_inside = span.start >= core.start && span.end <= core.end;
            if !(part.region.is_firm() || part.is_asked || is_inside) {
                continue;
            }
            let words = words_of(part.heard.text.get(span.clone()).unwrap_or_default());
            if !self.origins.is_said(&words)? && !self.origins.is_clean(&words, part.message)? {
                let holds = |value: &&Sought| value.words.concat().contains(letters);
                let holder = self.sought.iter().find(holds);
                return Ok(Some(reason::carried(part, holder, span.clone())));
            }
        }
        Ok(None)
    }

    /// What this part's values hold of the call.
    fn held(&self, part: &Part<'_>) -> Result<Rc<[Identifier]>, Lost> {
        let bytes = part.heard.index.bytes(&part.values);
        let mut held = self.held.borrow_mut();
        if held.message != part.message || held.bytes != bytes {
            self.origins.spend(bytes.len() / 8)?;
            let mut found = identifiers(part.heard.text, &bytes);
            self.origins.spend(found.len() * (self.run.len() / 32 + 1))?;
            let run = self.run.as_bytes();
            found.retain(|identifier| memchr::memmem::find(run, identifier.letters.as_bytes()).is_some());
            *held = Held { message: part.message, bytes, identifiers: found.into() };
        }
        Ok(Rc::clone(&held.identifiers))
    }

    /// Words that only this part has, one after the other.
    fn copied(&self, part: &Part<'_>) -> Result<Option<Flow>, Lost> {
        if !part.region.is_firm() && !part.is_asked {
            return Ok(None);
        }
        let index = part.heard.index;
        for value in self.sought.iter().filter(|value| value.words.len() >= COPIED_WORDS) {
            self.origins.spend(value.words.len())?;
            let ids: Vec<Option<u32>> = value.words.iter().map(|word| index.id(word)).collect();
            for (ids, words) in ids.windows(COPIED_WORDS).zip(value.words.windows(COPIED_WORDS)) {
                let Some(ids) = ids.iter().copied().collect::<Option<Vec<u32>>>() else { continue };
                if let Some(place) = self.origins.find(part.heard, &ids, &part.values)?
                    && !self.origins.is_said(words)?
                    && !self.origins.is_clean(words, part.message)?
                {
                    return Ok(Some(reason::copied(part, value, place)));
                }
            }
        }
        Ok(None)
    }
}

/// Whether a place lies inside a longer name, as `random` in `evil.example/random`: that names something else.
fn is_inside(text: &str, place: &Range<usize>) -> bool {
    let is_joint = |c: Option<char>| matches!(c, Some('.' | '@' | '-' | '/' | '_'));
    let goes_on = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut before = text.get(..place.start).unwrap_or_default().chars().rev();
    let mut after = text.get(place.end..).unwrap_or_default().chars();
    is_joint(before.next()) && goes_on(before.next()) || is_joint(after.next()) && goes_on(after.next())
}
