//! Windows: `limit`, `budget`, and variables of that type.
//!
//! The model has one number of each, what counts of it. A call raises it by what it adds, exactly; between two events
//! any time may pass, and *any part* of it may be too old by then: which entries are how old is not kept. So it never
//! rises without an effect, and whatever the ledger counts at any time is among what the model may count.
//!
//! An amount that nobody knows makes the whole unknown, and that ends too: the entry is too old some time, and what others
//! added meanwhile still counts. Once the model never knew such a window again, and said of a budget of 100 that it is
//! held, though people who say yes while nothing is known let through what comes to 160. So what is added is counted
//! while nothing is known as well.

use super::super::model::InputKind;
use super::super::term::{Id, Sort, Two, Value};
use super::effects::Next;
use super::events::Build;
use super::functions::rational;
use super::names::{Names, Slot};
use crate::cel::Expression;
use crate::policy::{BoundEffect, BoundRule, Policy};
use crate::state::{Kind, Value as Held, Variable};

/// What a proof about windows takes for granted.
const CLOCK: &str = "the clock can be read and is never set back";

/// An effect on a window.
#[derive(Clone, Copy)]
pub(super) struct Entry<'e> {
    pub(super) variable: &'e Variable,
    pub(super) expression: &'e Expression,
    /// More may be uncertain to it than the guard looks at.
    pub(super) is_beyond: bool,
    /// Nothing stops it where the window counts as many entries as it can: nothing is known of it then.
    pub(super) may_be_full: bool,
}

pub(super) fn is_window(variable: &Variable) -> bool {
    matches!(variable.kind, Kind::Window { .. })
}

/// An empty window: a whole number where only whole numbers, which stand in the policy, are ever added.
pub(super) fn empty(policy: &Policy, variable: &Variable) -> Value {
    let effects = policy.rules().iter().flat_map(|rule| rule.effects.set.iter().chain(&rule.effects.after));
    let mut amounts = effects.filter(|effect| effect.variable.name == variable.name).peekable();
    let is_whole = |expression: &Expression| {
        let number = expression.root().constant().and_then(crate::cel::Value::as_number);
        number.is_some_and(|number| number.is_integer())
    };
    let is_whole_lost = |lost: &Option<Held>| match lost {
        Some(Held::Decimal(amount)) => amount.is_integer(),
        other => other.is_none(),
    };
    let is_int = amounts.peek().is_some()
        && amounts.all(|effect| is_whole(&effect.value.expression) && is_whole_lost(&effect.lost));
    Value::zero(if is_int { Sort::Int } else { Sort::Real })
}

impl Build<'_> {
    /// A window after an effect that adds to it, beside those `before`; and whether it fits: less than nothing is
    /// refused.
    pub(super) fn entry(
        &mut self,
        effect: Entry<'_>,
        before: Option<Next>,
        when: (Id, Id),
        names: &mut Names<'_>,
    ) -> Option<(Next, Id)> {
        let variable = effect.variable;
        let slot = *self.world.slots.get(&*variable.name)?;
        let kept = before.unwrap_or_else(|| self.kept(slot));
        let (amount, ok, lost) = self.amount(effect, slot, names);
        let (added, has_room) = self.not_below_zero(amount);
        let is_sure = self.model.terms.any([when.0, when.1]);
        let unsure = self.model.terms.not(is_sure);
        let (mut is_applied, mut is_lost) = (when.0, unsure);
        if !self.eithers(unsure).is_empty() {
            // Whatever it reads is, it may come out the same.
            let (may_be, may_be_lost) =
                (self.choice(variable, names, Sort::Bool), self.choice(variable, names, Sort::Bool));
            let terms = &mut self.model.terms;
            let may_be = terms.all([unsure, may_be]);
            (is_applied, is_lost) = (terms.any([when.0, may_be]), terms.all([unsure, may_be_lost]));
        }
        let is_full = match effect.may_be_full {
            true => self.choice(variable, names, Sort::Bool),
            false => self.model.terms.bool(false),
        };
        let terms = &mut self.model.terms;
        let zero = terms.value(Value::zero(slot.sort));
        let added = terms.choose(is_applied, added, zero);
        // Where nothing stops a call whose effect does not fit, nothing is known afterwards.
        let (none, has_none, is_not) = (terms.not(ok), terms.not(has_room), terms.not(when.0));
        let unfit = terms.any([lost, has_none, is_full]);
        let unknown = terms.all([is_applied, unfit]);
        let unknown = terms.any([kept.unknown, is_lost, unknown]);
        let next = Next { value: terms.two(Two::Add, kept.value, added), unknown, either: terms.bool(false) };
        // To what nobody knows anything can be added.
        Some((next, terms.any([has_room, none, is_not, kept.unknown])))
    }

    /// What an effect gives, whether it is certain, and whether it is lost. What reads a boolean that may be either may
    /// come out the same both ways.
    fn amount(&mut self, effect: Entry<'_>, slot: Slot, names: &mut Names<'_>) -> (Id, Id, Id) {
        let variable = effect.variable;
        let (given, mut ok) = self.lower(names).value(effect.expression, slot.sort);
        if effect.is_beyond {
            let is_certain = self.choice(variable, names, Sort::Bool);
            ok = self.model.terms.all([ok, is_certain]);
        }
        let not = self.model.terms.not(ok);
        if self.model.terms.truth(not) == Some(false) {
            return (given, ok, not);
        }
        let zero = self.model.terms.value(Value::zero(slot.sort));
        // What nobody knows adds nothing, and is not known until it is too old.
        let (mut instead, mut lost) = (zero, not);
        if !self.eithers(ok).is_empty() {
            let (any, is_lost) =
                (self.choice(variable, names, slot.sort), self.choice(variable, names, Sort::Bool));
            lost = self.model.terms.all([not, is_lost]);
            instead = self.model.terms.choose(lost, zero, any);
        }
        (self.model.terms.choose(ok, given, instead), ok, lost)
    }

    /// A value of the model's own that nothing else shares: two rules may add to one window.
    fn choice(&mut self, variable: &Variable, names: &mut Names<'_>, sort: Sort) -> Id {
        let key = format!("state.{}, choice {}", variable.name, names.made.len());
        names.own(self.model, &key, sort)
    }

    /// A number, or zero for one below it; and whether it is none.
    pub(super) fn not_below_zero(&mut self, value: Id) -> (Id, Id) {
        let sort = self.model.terms.sort(value);
        let terms = &mut self.model.terms;
        let zero = terms.value(Value::zero(sort));
        let has_room = terms.at_most(zero, value);
        (terms.choose(has_room, value, zero), has_room)
    }

    /// Any number from zero to another one.
    pub(super) fn part_of(&mut self, any: Id, whole: Id) -> Id {
        let sort = self.model.terms.sort(whole);
        let terms = &mut self.model.terms;
        let zero = terms.value(Value::zero(sort));
        let (low, high) = (terms.at_most(zero, any), terms.at_most(any, whole));
        let is_part = terms.all([low, high]);
        terms.choose(is_part, any, whole)
    }

    /// Where it was not certain that a rule was for the call that is answered, nothing may be known afterwards.
    pub(super) fn or_lost(
        &mut self,
        rule: &BoundRule,
        unknown: Id,
        when: (Id, Id),
        names: &mut Names<'_>,
    ) -> Id {
        if !self.uncertain.contains(&rule.rule.name) {
            return unknown;
        }
        let key = format!("a window of {}, not certain {}", rule.rule.name, names.made.len());
        let is_lost = names.own(self.model, &key, Sort::Bool);
        let terms = &mut self.model.terms;
        let is_lost = terms.all([when.0, is_lost]);
        terms.any([unknown, is_lost])
    }

    /// A window after a call that got no answer: what `lost` says is added, else an amount that nobody knows.
    pub(super) fn lost_entry(
        &mut self,
        effect: &BoundEffect,
        (before, slot): (Option<Next>, Slot),
        when: (Id, Id),
        names: &mut Names<'_>,
    ) -> Next {
        let mut next = before.unwrap_or_else(|| self.kept(slot));
        let amount = match &effect.lost {
            Some(Held::Decimal(amount)) if !amount.is_negative() => rational(amount),
            _ => None,
        };
        let is_full = self.choice(&effect.variable, names, Sort::Bool);
        let terms = &mut self.model.terms;
        let is_unclear = match amount {
            Some(amount) => {
                let amount = match slot.sort {
                    Sort::Int => Value::Int(amount.to_integer()),
                    _ => Value::Real(amount),
                };
                let (amount, zero) = (terms.value(amount), terms.value(Value::zero(slot.sort)));
                let added = terms.choose(when.0, amount, zero);
                next.value = terms.two(Two::Add, next.value, added);
                terms.all([when.0, is_full])
            }
            None => when.0,
        };
        next.unknown = terms.any([next.unknown, is_unclear]);
        next
    }

    /// After every event time passes: of what counts then any part may be left, and what made it unknown may be too old.
    pub(super) fn age(&mut self) {
        let windows: Vec<(String, Slot)> = self
            .world
            .slots
            .iter()
            .filter(|(_, slot)| slot.is_window)
            .map(|(name, slot)| (name.clone(), *slot))
            .collect();
        for (name, slot) in windows {
            self.model.note(format!(
                "`state.{name}` is a window: between two events any part of what counts may be too old"
            ));
            self.model.assume(CLOCK);
            let label = format!("state.{name}, what is left of it");
            let (input, any) = self.model.input(label, slot.sort, InputKind::Own);
            let label = format!("state.{name}, is not known yet");
            let (unclear_input, is_unclear) = self.model.input(label, Sort::Bool, InputKind::Own);
            for at in 0..self.model.events.len() {
                let whole = self.made_of(at, slot.at);
                let left = self.part_of(any, whole);
                let unknown = self.made_of(at, slot.unknown);
                let unknown = self.model.terms.all([unknown, is_unclear]);
                let Some(event) = self.model.events.get_mut(at) else { continue };
                event.inputs.extend([input, unclear_input]);
                event.effects.retain(|(changed, _)| *changed != slot.at && *changed != slot.unknown);
                event.effects.extend([(slot.at, left), (slot.unknown, unknown)]);
            }
        }
    }

    /// What an event makes of a variable.
    fn made_of(&mut self, event: usize, variable: usize) -> Id {
        let effects = self.model.events.get(event).into_iter().flat_map(|event| &event.effects);
        let made = effects.clone().find(|(changed, _)| *changed == variable).map(|(_, value)| *value);
        made.unwrap_or_else(|| self.model.read(variable))
    }
}
