//! The past as a store that several processes share keeps it: part by part, so that a step writes what it changed and
//! nothing else. A session of a thousand calls must not be written anew for the next one.

use std::collections::{BTreeMap, BTreeSet};

use super::{Ended, OpenCall, Past, Remembered, Settled, Transition};
use crate::ledger::Declared;
use crate::policy::Policy;
use crate::praxiom;
use crate::proposal::CallKey;
use crate::state::{self, Kept, Scope, Variable};

/// What is remembered is of a kind of policy that others of the session do not have.
const OTHER: &str = "it is of another kind of policy";

/// The part that is all that a policy of praxiom remembers. No variable of our own can be called so.
const PRAXIOM: &str = "state of praxiom";

/// One part of what an engine remembers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its name, the same in all processes.
    pub name: String,
    /// It is the store's: it outlives the session.
    pub is_stores: bool,
    /// What it holds; nothing where that is what its policy says at first.
    pub text: Option<String>,
    /// What it holds besides, a row each: a step is to cost what it adds, however much there is.
    pub rows: Rows,
}

/// Rows of a part: by their numbers, which grow.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Rows {
    /// It is these and no others.
    All(Vec<(u64, String)>),
    /// Those that were there, but not these, and new ones.
    Changed {
        /// Those before this one are there no more.
        below: u64,
        /// Nor are these.
        gone: Vec<u64>,
        /// These are new.
        added: Vec<(u64, String)>,
    },
    /// It never had any.
    #[default]
    None,
}

impl Past {
    /// How many calls with this key were sent and did not fail.
    #[must_use]
    pub fn made_count(&self, call: &CallKey) -> u32 {
        self.made.get(call).copied().unwrap_or_default()
    }

    /// Says how many were; 0 forgets it.
    pub fn set_made(&mut self, call: CallKey, count: u32) {
        if count == 0 {
            self.made.remove(&call);
        } else {
            self.made.insert(call, count);
        }
    }

    /// Calls that have not ended, by their step.
    #[must_use]
    pub fn open(&self) -> &BTreeMap<u64, OpenCall> {
        &self.open
    }

    /// Another process has a call under way. `flight`: what it may do to the state ([`Transition::flight`]).
    ///
    /// # Errors
    /// Nobody here can read that.
    pub fn open_elsewhere(&mut self, step: u64, call: CallKey, flight: Option<&str>) -> Result<(), String> {
        if let Some(flight) = flight {
            self.remembered.open_elsewhere(step, flight)?;
        }
        self.open.insert(step, OpenCall { call, transition: None });
        Ok(())
    }

    /// A call of this process is under way still, after all was read anew.
    pub fn open_again(&mut self, step: u64, open: &OpenCall) {
        if let Some(transition) = &open.transition {
            self.remembered.open_again(step, transition);
        }
        self.open.insert(step, open.clone());
    }

    /// A call of another process has ended; what came of it stands in the parts.
    pub fn ended_elsewhere(&mut self, step: u64) {
        self.open.remove(&step);
        self.remembered.ended_elsewhere(step);
    }

    /// A call of a process that is gone: nobody knows whether it ran. What that changes.
    pub fn lose(&mut self, step: u64) -> Vec<Part> {
        let Some(open) = self.open.remove(&step) else { return Vec::new() };
        match open.transition {
            // One of this process, after all.
            Some(transition) => {
                self.remembered.settle(step, &transition, &Ended::without_answer(Settled::Lost));
                self.parts(&transition)
            }
            None => self.remembered.lose(step),
        }
    }

    /// All that this call may have changed, as it is now.
    #[must_use]
    pub fn parts(&mut self, of: &Transition) -> Vec<Part> {
        self.remembered.parts(of)
    }

    /// All that the end of this call may have changed, as it is now.
    #[must_use]
    pub fn settled_parts(&mut self, of: &Transition, how: Settled) -> Vec<Part> {
        match (&mut self.remembered, of) {
            (Remembered::Native(kept), Transition::Native(effects)) => {
                effects.settled_variables(how).map(|variable| part(kept, variable)).collect()
            }
            _ => self.parts(of),
        }
    }

    /// From which number on the rows of a part are to be read that another process wrote; nothing where it has none.
    ///
    /// # Errors
    /// Nobody here can read it.
    pub fn rows_from(
        &self,
        (name, is_stores): (&str, bool),
        text: Option<&str>,
    ) -> Result<Option<u64>, String> {
        let new = Kept::default();
        let kept = match &self.remembered {
            Remembered::Native(kept) => kept,
            Remembered::Nothing | Remembered::Praxiom(_) => &new,
        };
        if name == PRAXIOM {
            return Ok(None);
        }
        kept.rows_from((name, scope(is_stores)), text).map_err(|why| why.to_string())
    }

    /// What a new session finds of it: these variables, which are the store's.
    ///
    /// # Errors
    /// What was written cannot be read.
    pub(crate) fn of_store<'v>(self, variables: impl Iterator<Item = &'v Variable>) -> Result<Past, String> {
        let mut next = Past::default();
        if let Remembered::Native(kept) = self.remembered {
            let mut kept = kept.unfiled();
            for variable in variables.filter(|variable| variable.scope == Scope::Store) {
                next.set_part(&part(&mut kept, variable))?;
            }
        }
        Ok(next)
    }

    /// Takes over what another process wrote, with the rows that were to be read ([`Past::rows_from`]).
    ///
    /// # Errors
    /// Nobody here can read it.
    pub fn set_part(&mut self, part: &Part) -> Result<(), String> {
        self.remembered.set_part(part)
    }
}

impl Remembered {
    /// The state of a native policy, begun where there was nothing.
    fn native(&mut self) -> Option<&mut Kept> {
        if matches!(self, Remembered::Nothing) {
            *self = Remembered::Native(Kept::default());
        }
        match self {
            Remembered::Native(kept) => Some(kept),
            Remembered::Nothing | Remembered::Praxiom(_) => None,
        }
    }

    fn open_elsewhere(&mut self, step: u64, flight: &str) -> Result<(), String> {
        let Some(kept) = self.native() else { return Err(OTHER.to_owned()) };
        kept.open_elsewhere(step, flight).map_err(|why| why.to_string())
    }

    fn open_again(&mut self, step: u64, transition: &Transition) {
        match transition {
            Transition::Native(effects) => {
                if let Some(kept) = self.native() {
                    kept.open_again(step, effects);
                }
            }
            // It is all in its part.
            Transition::Praxiom(_) => {}
        }
    }

    fn ended_elsewhere(&mut self, step: u64) {
        if let Remembered::Native(kept) = self {
            kept.ended_elsewhere(step);
        }
    }

    fn lose(&mut self, step: u64) -> Vec<Part> {
        match self {
            Remembered::Native(kept) => {
                let changed = kept.lose(step);
                changed.iter().map(|variable| part(kept, variable)).collect()
            }
            Remembered::Nothing => Vec::new(),
            Remembered::Praxiom(past) => {
                past.lose(step);
                vec![whole(past)]
            }
        }
    }

    fn parts(&mut self, of: &Transition) -> Vec<Part> {
        match (self, of) {
            (Remembered::Native(kept), Transition::Native(effects)) => {
                effects.variables().map(|variable| part(kept, variable)).collect()
            }
            (Remembered::Praxiom(past), Transition::Praxiom(_)) => vec![whole(past)],
            _ => Vec::new(),
        }
    }

    fn set_part(&mut self, part: &Part) -> Result<(), String> {
        match (&mut *self, part.name.as_str(), &part.text) {
            (Remembered::Nothing | Remembered::Praxiom(_), PRAXIOM, Some(text)) => {
                *self = Remembered::Praxiom(praxiom::Past::decode(text).map_err(|why| why.to_string())?);
                Ok(())
            }
            (_, PRAXIOM, _) => Err(OTHER.to_owned()),
            _ => {
                let Some(kept) = self.native() else { return Err(OTHER.to_owned()) };
                let rows = match &part.rows {
                    Rows::All(rows) => rows.as_slice(),
                    Rows::Changed { .. } | Rows::None => &[],
                };
                kept.set_part((&part.name, scope(part.is_stores)), part.text.as_deref(), rows)
                    .map_err(|why| why.to_string())
            }
        }
    }
}

/// What other processes know of a call under way ([`Transition::flight`]), in two parts: what it may do to these
/// variables, which are the store's, and to those of its session where `has_sessions` is set; and the rest.
///
/// # Errors
/// Nobody here can read it.
pub fn parted(
    flight: &str,
    stores: &BTreeSet<String>,
    has_sessions: bool,
) -> Result<[Option<String>; 2], String> {
    state::parted(flight, stores, has_sessions).map_err(|why| why.to_string())
}

fn scope(is_stores: bool) -> Scope {
    if is_stores { Scope::Store } else { Scope::Session }
}

fn part(kept: &mut Kept, variable: &Variable) -> Part {
    let (name, is_stores) = (variable.name.to_string(), variable.scope == Scope::Store);
    let (text, rows) = kept.part(variable);
    Part { name, is_stores, text, rows }
}

/// What a policy of praxiom remembers is one part: its variables are few, and its policies replace them whole.
fn whole(past: &praxiom::Past) -> Part {
    Part { name: PRAXIOM.to_owned(), is_stores: false, text: Some(past.encode()), rows: Rows::None }
}

impl Policy {
    /// How it declares the variables of its state, for other policies that share them.
    pub fn declared(&self) -> impl Iterator<Item = Declared> {
        let of_praxiom = self.praxiom().into_iter().map(|praxiom| {
            let initial = praxiom.initial();
            let sorts = praxiom.variables().zip(praxiom.each_shown(&initial));
            let all: Vec<String> = sorts
                .map(|((name, sort), (_, first))| format!("{name}: {} = {first}", sort.word()))
                .collect();
            let says = format!("all of ({})", all.join(", "));
            Declared { name: PRAXIOM.to_owned(), is_stores: false, says }
        });
        self.machine().variables().iter().map(|variable| variable.declared()).chain(of_praxiom)
    }
}

impl Transition {
    /// What other processes have to know of a call under way: what it may do to the state when it ends. Nothing where
    /// it does nothing then, or where that is in its parts.
    #[must_use]
    pub fn flight(&self) -> Option<String> {
        match self {
            Transition::Native(effects) => effects.flight(),
            Transition::Praxiom(_) => None,
        }
    }
}
