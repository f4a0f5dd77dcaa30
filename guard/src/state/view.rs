//! The state as one decision sees it.

use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

use super::{Belief, Kept, Kind, Machine, UNCERTAIN_MAX, Value, Variable};
use crate::cel::{self, Expression, Failure};
use crate::world::{Instant, Unknown};

/// A variable as a decision sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// What is known of it. A window is there as its [`Value::Summary`].
    pub belief: Belief,
    /// Tools whose calls are under way and may change it with their answer; at most [`Seen::TOLD_MAX`] of them.
    pub in_flight: Vec<Arc<str>>,
}

impl Seen {
    /// So many calls under way are told.
    pub const TOLD_MAX: usize = 3;

    /// Whether it may be true and may be false.
    fn may_be_both(&self, kind: Kind, is_judging: bool) -> bool {
        match &self.belief {
            Belief::Either => true,
            Belief::Known(_) => kind == Kind::Bool && is_judging && !self.in_flight.is_empty(),
            Belief::Unknown(_) => false,
        }
    }
}

/// The state before a call and after it, for its record.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Noted {
    /// All variables, by name.
    pub before: Vec<(Arc<str>, Seen)>,
    /// Those that the call changes at once, by name.
    pub after: Vec<(Arc<str>, Belief)>,
}

impl Noted {
    /// As a record has it: `{"before":{…},"after":{…}}`.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        super::noted(self)
    }

    /// What changes, for people: a variable, what it held, and what it holds then.
    pub fn changes(&self) -> impl Iterator<Item = (&str, String, String)> {
        self.after.iter().map(|(name, after)| {
            let before = self.before.iter().find(|(other, _)| other == name);
            let before = before.map(|(_, seen)| seen.belief.to_string()).unwrap_or_default();
            (&**name, before, after.to_string())
        })
    }
}

/// The state as one decision sees it.
///
/// While it is *judged* a call must be right whatever the calls under way will change: their variables are uncertain.
/// What the call itself changes is computed from what is so now: theirs come when their answers are in.
#[derive(Debug)]
pub struct View<'a> {
    machine: &'a Machine,
    seen: Vec<Seen>,
    values: Vec<OnceCell<cel::Value<'static>>>,
    /// Which of the uncertain ones are true just now.
    chosen: RefCell<Vec<(usize, bool)>>,
    is_judging: Cell<bool>,
}

impl<'a> View<'a> {
    /// What is kept, at that time.
    #[must_use]
    pub fn new(machine: &'a Machine, kept: Option<&Kept>, now: &Result<Instant, Unknown>) -> View<'a> {
        let seen = machine.variables().iter().map(|variable| seen(variable, kept, now)).collect();
        View::of(machine, seen)
    }

    /// These, in the machine's order.
    fn of(machine: &'a Machine, seen: Vec<Seen>) -> View<'a> {
        let values = seen.iter().map(|_| OnceCell::new()).collect();
        View { machine, seen, values, chosen: RefCell::default(), is_judging: Cell::new(true) }
    }

    /// The state after these changes, with what is under way.
    #[must_use]
    pub fn after(&self, changed: &[(Arc<str>, Belief)]) -> View<'a> {
        let mut seen = self.seen.clone();
        for (name, belief) in changed {
            if let Some(seen) = self.machine.place(name).and_then(|place| seen.get_mut(place)) {
                seen.belief.clone_from(belief);
            }
        }
        View::of(self.machine, seen)
    }

    /// No call is under way that may change anything.
    pub(crate) fn is_quiet(&self) -> bool {
        self.seen.iter().all(|seen| seen.in_flight.is_empty())
    }

    /// From now on what the call changes is computed.
    pub(crate) fn change(&self) {
        self.is_judging.set(false);
        self.chosen.borrow_mut().clear();
    }

    /// All variables and what is seen of them.
    pub fn all(&self) -> impl Iterator<Item = (&'a Arc<Variable>, &Seen)> {
        self.machine.variables().iter().zip(&self.seen)
    }

    /// What is seen of one.
    #[must_use]
    pub fn seen(&self, name: &str) -> Option<(&'a Arc<Variable>, &Seen)> {
        let place = self.machine.place(name)?;
        Some((self.machine.variables().get(place)?, self.seen.get(place)?))
    }

    /// All of it, for a record.
    pub(crate) fn noted(&self) -> Vec<(Arc<str>, Seen)> {
        self.all().map(|(variable, seen)| (Arc::clone(&variable.name), seen.clone())).collect()
    }

    /// `state.NAME`
    #[must_use]
    pub fn member(&self, name: &str) -> Option<cel::Value<'static>> {
        self.value(self.machine.place(name)?)
    }

    /// `state`
    #[must_use]
    pub fn whole(&self) -> cel::Value<'static> {
        let value = |(place, variable): (usize, &Arc<Variable>)| {
            Some((variable.name.to_string(), self.value(place)?))
        };
        cel::Value::map(self.machine.variables().iter().enumerate().filter_map(value))
    }

    fn value(&self, place: usize) -> Option<cel::Value<'static>> {
        let (variable, seen) = (self.machine.variables().get(place)?, self.seen.get(place)?);
        if let Some((_, value)) = self.chosen.borrow().iter().find(|(chosen, _)| *chosen == place) {
            return Some(cel::Value::Bool(*value));
        }
        let missing = |why: String| Some(cel::Value::missing(format!("`state.{}` {why}", variable.name)));
        if self.is_judging.get() && !seen.in_flight.is_empty() {
            return missing(format!("is uncertain while {} under way", calls(&seen.in_flight)));
        }
        match &seen.belief {
            Belief::Known(value) => Some(self.values.get(place)?.get_or_init(|| value.cel()).clone()),
            Belief::Unknown(why) => missing(format!("is unknown: {why}")),
            Belief::Either => missing("may be true and may be false".to_owned()),
        }
    }

    /// The variables that may be true and may be false, of those that these expressions read.
    ///
    /// # Errors
    /// There are more than [`UNCERTAIN_MAX`].
    pub(crate) fn uncertain<'e>(
        &self,
        expressions: impl Iterator<Item = &'e Expression> + Clone,
    ) -> Result<Vec<usize>, Failure> {
        let judging = self.is_judging.get();
        let both = |(place, (variable, seen)): (usize, (&Arc<Variable>, &Seen))| {
            (seen.may_be_both(variable.kind, judging)
                && expressions.clone().any(|expression| reads(expression, &variable.name)))
            .then_some(place)
        };
        let places: Vec<usize> = self.all().enumerate().filter_map(both).collect();
        if places.len() > UNCERTAIN_MAX {
            let why = format!(
                "{} variables that it reads are uncertain while calls are under way; at most {UNCERTAIN_MAX} can be",
                places.len()
            );
            return Err(Failure::unknown(why));
        }
        Ok(places)
    }

    /// The states that these variables make: `bits` says which of them are true.
    pub(crate) fn choose(&self, places: &[usize], bits: usize) {
        let chosen = places.iter().enumerate().map(|(bit, place)| (*place, (bits >> bit) & 1 == 1));
        *self.chosen.borrow_mut() = chosen.collect();
    }

    /// In no state in particular.
    pub(crate) fn choose_none(&self) {
        self.chosen.borrow_mut().clear();
    }
}

/// `a`, or `a` and `b`: calls under way.
pub(crate) fn calls(tools: &[Arc<str>]) -> String {
    let names = crate::policy::listed(tools.iter().map(|tool| &**tool), "and");
    if tools.len() == 1 { format!("a call of {names} is") } else { format!("calls of {names} are") }
}

pub(super) fn seen(variable: &Variable, kept: Option<&Kept>, now: &Result<Instant, Unknown>) -> Seen {
    let belief = match kept {
        Some(kept) => kept.belief(variable),
        None => Belief::Known(variable.init.clone()),
    };
    let belief = match (belief, variable.kind) {
        (Belief::Known(Value::Window(window)), Kind::Window { per_us }) => match now {
            Ok(now) => window.seen(per_us, *now),
            Err(why) => Belief::unknown(format!("the time is not known ({why})")),
        },
        (belief, _) => belief,
    };
    Seen { belief, in_flight: kept.map(|kept| kept.in_flight(&variable.name)).unwrap_or_default() }
}

/// Whether an expression may read this variable. What it reads through definitions is not followed.
pub(crate) fn reads(expression: &Expression, variable: &str) -> bool {
    let reads = expression.reads();
    if reads.variables.contains("defs") {
        return true;
    }
    reads.paths.iter().chain(&reads.tested).any(|path| match path.as_slice() {
        [first] => first == "state",
        [first, name, ..] => first == "state" && name == variable,
        [] => false,
    })
}
