//! What must be so for a call to be let through: rules, invariants and facts, whatever the variables are that may be
//! either.

use super::super::term::Id;
use super::Asks;
use super::events::Build;
use super::names::{Names, Slot};
use super::ruled::Ruled;
use crate::cel::Expression;
use crate::check::rules::reads_arguments;
use crate::policy::{BoundRule, Mode, Otherwise};
use crate::state::{Kind, reads};

/// Variables that may be either at once: with more of them a rule asks instead.
const UNCERTAIN_MAX: usize = crate::state::UNCERTAIN_MAX;

/// A condition, and what becomes of calls where it does not hold.
struct Demand<'d> {
    name: &'d str,
    otherwise: Otherwise,
    is_monitored: bool,
    /// More may be uncertain to it than the guard looks at: it asks.
    is_beyond: bool,
}

impl Build<'_> {
    /// What must be so for a rule to let a call through.
    pub(super) fn rule(&mut self, ruled: &Ruled<'_>, is_enforced: bool, names: &mut Names<'_>) -> Option<Id> {
        let bound = ruled.bound;
        let when = self.when(ruled, names);
        self.note_uncertain(bound, when, is_enforced);
        let that = self.lower(names).condition(&bound.that);
        let terms = &mut self.model.terms;
        let stops = terms.all([when.0, that.1]);
        let passes = terms.any([when.1, that.0]);
        let conditions = bound.when.iter().chain([&bound.that]).map(|condition| &**condition);
        let demand = Demand {
            name: &bound.rule.name,
            otherwise: bound.rule.otherwise,
            is_monitored: !is_enforced || bound.rule.mode == Mode::Monitor,
            is_beyond: self.is_beyond(conditions),
        };
        self.demanded(&demand, passes, (stops, stops))
    }

    /// What a call is held to, of a condition that holds where it `passes` and stops it where it `denies`; `refuses` is
    /// the same over the state before.
    fn demanded(&mut self, demand: &Demand<'_>, passes: Id, (denies, refuses): (Id, Id)) -> Option<Id> {
        let rule = self.model.rule(demand.name);
        if demand.is_monitored {
            let never = self.model.terms.bool(false);
            self.model.refuses(rule, never);
            return None;
        }
        self.model.refuses(rule, refuses);
        match (self.asks, demand.otherwise) {
            (Asks::Granted, _) if demand.is_beyond => None,
            (Asks::Refused, _) => Some(passes),
            (Asks::Granted, Otherwise::Deny) => Some(self.model.terms.not(denies)),
            (Asks::Granted, Otherwise::Ask) => None,
        }
    }

    /// A rule whose `when` has no value, or another one in another state that may be, may be for a call or not.
    fn note_uncertain(&mut self, bound: &BoundRule, when: (Id, Id), is_enforced: bool) {
        let Some(condition) = &bound.when else { return };
        if !is_enforced && reads_arguments(bound) {
            self.uncertain.insert(bound.rule.name.clone());
        }
        let terms = &mut self.model.terms;
        let is_certain = terms.any([when.0, when.1]);
        let is_total = terms.truth(is_certain) == Some(true);
        let bools = self.policy.machine().variables().iter().filter(|one| one.kind == Kind::Bool);
        if !is_total || bools.into_iter().any(|one| reads(condition, &one.name)) {
            self.uncertain.insert(bound.rule.name.clone());
        }
    }

    /// The invariants over the state before: to be read after the effects.
    pub(super) fn invariants(
        &mut self,
        effects: &[(usize, Id)],
        is_enforced: bool,
        names: &mut Names<'_>,
    ) -> Vec<Id> {
        let policy = self.policy;
        let mut all = Vec::with_capacity(policy.invariants().len());
        for invariant in policy.invariants() {
            let (yes, no) = self.lower(names).condition(&invariant.that.expression);
            let stops = self.model.after(no, effects);
            let demand = Demand {
                name: &invariant.name,
                otherwise: invariant.otherwise,
                is_monitored: !is_enforced || invariant.mode == Mode::Monitor,
                is_beyond: self.is_beyond([&*invariant.that.expression].into_iter()),
            };
            all.extend(self.demanded(&demand, yes, (no, stops)));
        }
        all
    }

    /// What must be so whatever the variables are that may be either.
    pub(super) fn in_every_state(&mut self, condition: Id, has_free_of_state: bool) -> Id {
        let bools: Vec<(String, Slot)> = self
            .world
            .slots
            .iter()
            .filter(|(_, slot)| slot.either.is_some())
            .map(|(name, slot)| (name.clone(), *slot))
            .collect();
        let read = self.model.terms.reached([condition]);
        let mut uncertain = Vec::new();
        for (name, slot) in bools {
            let value = self.model.read(slot.at);
            if read.binary_search(&value).is_ok() {
                uncertain.push((name, slot));
            }
        }
        // What a free value is in another state nobody knows; more than so many ask.
        if has_free_of_state || uncertain.len() > UNCERTAIN_MAX {
            return condition;
        }
        let mut all = condition;
        for (name, slot) in uncertain {
            let value = self.model.read(slot.at);
            let flip = self.model.terms.not(value);
            let flipped = self.model.after(all, &[(slot.at, flip)]);
            let open = self.open_for(&name);
            // After the effects the flag is that of the state after them: both are read there.
            let either = slot.either.map(|either| self.model.read(either));
            let uncertain = self.model.terms.any(std::iter::once(open).chain(either));
            let certain = self.model.terms.not(uncertain);
            let flipped = self.model.terms.any([certain, flipped]);
            all = self.model.terms.all([all, flipped]);
        }
        all
    }

    /// A fact is one of those that the policy names.
    pub(super) fn facts(&mut self) -> Vec<Id> {
        let (policy, world) = (self.policy, self.world);
        let mut all = Vec::new();
        for (name, fact) in policy.facts().iter().filter(|(_, fact)| !fact.one_of.is_empty()) {
            let Some((at, given)) = world.facts.get(name).copied() else { continue };
            let value = self.model.read(at);
            let texts: Option<Vec<String>> =
                fact.one_of.iter().map(|one| one.root().as_str().map(str::to_owned)).collect();
            let Some(texts) = texts.filter(|texts| texts.iter().all(|text| super::is_writable(text))) else {
                continue;
            };
            let mut any = Vec::new();
            for text in texts {
                let text = self.model.terms.text(&text);
                any.push(self.model.terms.equal(value, text));
            }
            if let Some(given) = given {
                let given = self.model.read(given);
                any.push(self.model.terms.not(given));
            }
            all.push(self.model.terms.any(any));
        }
        all
    }

    /// Whether so many variables may be uncertain to these expressions that the guard does not look at all states.
    pub(super) fn is_beyond<'e>(&self, expressions: impl Iterator<Item = &'e Expression> + Clone) -> bool {
        let bools = self.policy.machine().variables().iter().filter(|one| one.kind == Kind::Bool);
        let read = bools.filter(|one| expressions.clone().any(|expression| reads(expression, &one.name)));
        read.count() > UNCERTAIN_MAX
    }
}
