//! What an event makes of variables: effects with and without a value, and several of one variable.

use std::collections::BTreeMap;

use super::super::term::{Id, Sort, Terms, Two};
use super::Asks;
use super::events::Build;
use super::names::{Names, Slot};
use super::ruled::Ruled;
use super::windows::{Entry, is_window};
use crate::cel::Expression;
use crate::check::rules::{reads_arguments, reads_of_arguments};
use crate::policy::{BoundEffect, BoundRule, Mode};
use crate::state::{Combine, Kind, Variable};

/// A variable after an event: its value, and whether nobody knows it, or it may be either.
#[derive(Debug, Clone, Copy)]
pub(super) struct Next {
    pub(super) value: Id,
    pub(super) unknown: Id,
    pub(super) either: Id,
}

impl Build<'_> {
    /// What a call's rules set, from the state before it, and what must be so for it to fit.
    pub(super) fn set(
        &mut self,
        rules: &[Ruled<'_>],
        is_enforced: bool,
        names: &mut Names<'_>,
    ) -> (BTreeMap<String, Next>, Vec<Id>) {
        let (mut changes, mut fits) = (BTreeMap::new(), Vec::new());
        for ruled in rules {
            let (rule, is_for) = (ruled.bound, self.when(ruled, names));
            for effect in &rule.set {
                let reads_them = reads_arguments(rule) || reads_of_arguments(&effect.value);
                let when = self.or_invalid(is_for, !is_enforced && reads_them, names);
                let before = changes.get(&*effect.variable.name).copied();
                let certain = self.is_certain(effect, when, names);
                let (next, fit) = self.set_one((rule, effect), before, when, is_enforced, names).unzip();
                changes.extend(next.map(|next| (effect.variable.name.to_string(), next)));
                // Of a rule that is monitored nothing is stopped.
                if rule.rule.mode != Mode::Monitor {
                    fits.extend(certain.into_iter().chain(fit));
                }
            }
        }
        (changes, fits)
    }

    /// What one effect makes of its variable, beside those `before` it, and what must be so for it to fit.
    fn set_one(
        &mut self,
        (rule, effect): (&BoundRule, &BoundEffect),
        before: Option<Next>,
        when: (Id, Id),
        is_enforced: bool,
        names: &mut Names<'_>,
    ) -> Option<(Next, Id)> {
        let (variable, expression) = (&*effect.variable, &*effect.value);
        // The guard looks at all that both of them read.
        let is_beyond = self.is_beyond(rule.when.as_deref().into_iter().chain([expression]));
        if is_window(variable) {
            let of = Entry { variable, expression, is_beyond, may_be_full: !is_enforced };
            return self.entry(of, before, when, names);
        }
        let (mut next, mut fit) = self.change((variable, expression), is_beyond, when, names)?;
        // Where it is sent all the same nobody knows what the variable holds then.
        let is_over = self.model.terms.not(fit);
        next.unknown = self.model.terms.any([next.unknown, is_over]);
        if before.is_some() && variable.combine.is_some() {
            // What one adds may make room for what the next one adds: only the first one is to fit by itself.
            fit = self.model.terms.bool(true);
        }
        Some((self.merged(variable, before, next, when, names), fit))
    }

    /// Where nobody says yes: an effect that has no value asks. One that reads what may be either is let through here,
    /// since it may come out the same both ways.
    fn is_certain(&mut self, effect: &BoundEffect, when: (Id, Id), names: &mut Names<'_>) -> Option<Id> {
        if self.asks == Asks::Granted {
            return None;
        }
        let slot = *self.world.slots.get(&*effect.variable.name)?;
        let (_, ok) = self.lower(names).value(&effect.value, slot.sort);
        let terms = &mut self.model.terms;
        let is_set = terms.all([when.0, ok]);
        let certain = terms.any([when.1, is_set]);
        self.eithers(certain).is_empty().then_some(certain)
    }

    /// What an effect makes of a variable, and whether it fits: an overflow is refused.
    pub(super) fn change(
        &mut self,
        (variable, expression): (&Variable, &Expression),
        is_beyond: bool,
        when: (Id, Id),
        names: &mut Names<'_>,
    ) -> Option<(Next, Id)> {
        let slot = *self.world.slots.get(&*variable.name)?;
        let (given, mut ok) = self.lower(names).value(expression, slot.sort);
        if is_beyond {
            let key = format!("state.{}, where too much is uncertain", variable.name);
            let is_certain = names.own(self.model, &key, Sort::Bool);
            ok = self.model.terms.all([ok, is_certain]);
        }
        let (value, ok) = self.combined(variable, slot, given, ok);
        let (value, fit) = match variable.kind {
            Kind::Int => {
                // What is added has to fit as well as the sum.
                let fits = [self.is_of_64_bits(given), self.is_of_64_bits(value)];
                let terms = &mut self.model.terms;
                let fits = terms.all(fits);
                let zero = terms.int(0);
                let kept = terms.choose(fits, value, zero);
                let not = terms.not(ok);
                (kept, terms.any([fits, not, when.1]))
            }
            _ => (value, self.model.terms.bool(true)),
        };
        Some((self.of(variable, slot, value, ok, names), fit))
    }

    fn is_of_64_bits(&mut self, value: Id) -> Id {
        let terms = &mut self.model.terms;
        let (least, most) = (terms.int(i64::MIN), terms.int(i64::MAX));
        let (low, high) = (terms.at_most(least, value), terms.at_most(value, most));
        terms.all([low, high])
    }

    /// A value that is there, or anything.
    fn of(&mut self, variable: &Variable, slot: Slot, value: Id, ok: Id, names: &mut Names<'_>) -> Next {
        let not = self.model.terms.not(ok);
        if self.model.terms.truth(not) == Some(false) {
            let never = self.model.terms.bool(false);
            return Next { value, unknown: never, either: never };
        }
        let key = format!("state.{}, where its effect has no value", variable.name);
        let any = names.own(self.model, &key, slot.sort);
        let which = names.own(self.model, &format!("{key}, may be either"), Sort::Bool);
        // Only what reads one that may be either may be either itself.
        let eithers = self.eithers(ok);
        let is_either = self.model.terms.any(eithers);
        let which = self.model.terms.all([which, is_either]);
        let not = self.is_lost(ok, not, &key, names);
        let terms = &mut self.model.terms;
        let value = terms.choose(ok, value, any);
        if slot.either.is_none() {
            return Next { value, unknown: not, either: terms.bool(false) };
        }
        let is_not = terms.not(which);
        Next { value, unknown: terms.all([not, is_not]), either: terms.all([not, which]) }
    }

    /// Whether a value that is not certain is lost. One that reads what may be either may come out the same both ways.
    fn is_lost(&mut self, ok: Id, not: Id, key: &str, names: &mut Names<'_>) -> Id {
        let eithers = self.eithers(ok);
        if eithers.is_empty() {
            return not;
        }
        let is_lost = names.own(self.model, &format!("{key}, is not certain"), Sort::Bool);
        let terms = &mut self.model.terms;
        let is_either = terms.any(eithers);
        let is_none = terms.not(is_either);
        let lost = terms.any([is_lost, is_none]);
        terms.all([not, lost])
    }

    /// Whether each boolean that a term reads may be either.
    pub(super) fn eithers(&mut self, term: Id) -> Vec<Id> {
        let read = self.model.terms.reached([term]);
        let mut eithers = Vec::new();
        for either in self.world.slots.values().filter_map(|slot| slot.either) {
            let either = self.model.read(either);
            if read.binary_search(&either).is_ok() {
                eithers.push(either);
            }
        }
        eithers
    }

    /// With what the variable holds already, where it combines.
    pub(super) fn combined(&mut self, variable: &Variable, slot: Slot, given: Id, ok: Id) -> (Id, Id) {
        let Some(combine) = variable.combine else { return (given, ok) };
        let (held, unknown) = (self.model.read(slot.at), self.model.read(slot.unknown));
        let either = slot.either.map(|either| self.model.read(either));
        let terms = &mut self.model.terms;
        let lost = terms.any(std::iter::once(unknown).chain(either));
        let known = terms.not(lost);
        let decides = |terms: &mut Terms, value: bool| {
            let (a, b) = match value {
                true => (held, given),
                false => (terms.not(held), terms.not(given)),
            };
            let (a, b) = (terms.all([known, a]), terms.all([ok, b]));
            terms.any([a, b])
        };
        let both = terms.all([ok, known]);
        match combine {
            Combine::Or => {
                let decides = decides(terms, true);
                (decides, terms.any([both, decides]))
            }
            Combine::And => {
                let decides = decides(terms, false);
                (terms.not(decides), terms.any([both, decides]))
            }
            Combine::Add => (terms.two(Two::Add, held, given), both),
            Combine::Max | Combine::Min => {
                let is_less = terms.less(held, given);
                let (larger, smaller) =
                    (terms.choose(is_less, given, held), terms.choose(is_less, held, given));
                (if combine == Combine::Max { larger } else { smaller }, both)
            }
            Combine::Union => (given, terms.bool(false)),
        }
    }

    /// An effect beside those of other rules, where its `when` holds; where that has no value it may or may not.
    pub(super) fn merged(
        &mut self,
        variable: &Variable,
        before: Option<Next>,
        next: Next,
        when: (Id, Id),
        names: &mut Names<'_>,
    ) -> Next {
        let Some(slot) = self.world.slots.get(&*variable.name).copied() else { return next };
        let key = |what: &str| format!("state.{}, {what}", variable.name);
        let never = self.model.terms.bool(false);
        if variable.combine.is_some() && before.is_some() {
            let what = key("where several effects combine");
            let value = names.own(self.model, &what, slot.sort);
            let unknown = names.own(self.model, &format!("{what}, is not known"), Sort::Bool);
            let either = self.either(slot, &format!("{what}, may be either"), unknown, names);
            return Next { value, unknown, either };
        }
        let kept = before.unwrap_or_else(|| self.kept(slot));
        let is_sure = self.model.terms.any([when.0, when.1]);
        let unsure = self.model.terms.not(is_sure);
        let (mut is_applied, mut is_lost, mut is_either) = (when.0, unsure, never);
        let is_certain = variable.combine.is_none() && self.eithers(unsure).is_empty();
        if !is_certain && self.model.terms.truth(unsure) != Some(false) {
            // It may come out the same whatever it reads is, or be decided by what the variable holds.
            let what = key("where `when` has no value");
            let may_be = names.own(self.model, &what, Sort::Bool);
            let lost = names.own(self.model, &format!("{what}, is not known"), Sort::Bool);
            let terms = &mut self.model.terms;
            let may_be = terms.all([unsure, may_be]);
            (is_applied, is_lost) = (terms.any([when.0, may_be]), terms.all([unsure, lost]));
            let either = self.either(slot, &format!("{what}, may be either"), is_lost, names);
            is_either = self.model.terms.all([unsure, either]);
        }
        let terms = &mut self.model.terms;
        let unknown = terms.choose(is_applied, next.unknown, kept.unknown);
        let either = terms.choose(is_applied, next.either, kept.either);
        Next {
            value: terms.choose(is_applied, next.value, kept.value),
            unknown: terms.any([unknown, is_lost]),
            either: terms.any([either, is_either]),
        }
    }

    /// Of a boolean: it may be either, or not, where it is not unknown.
    pub(super) fn either(&mut self, slot: Slot, key: &str, unknown: Id, names: &mut Names<'_>) -> Id {
        if slot.either.is_none() {
            return self.model.terms.bool(false);
        }
        let either = names.own(self.model, key, Sort::Bool);
        let known = self.model.terms.not(unknown);
        self.model.terms.all([known, either])
    }

    pub(super) fn kept(&mut self, slot: Slot) -> Next {
        let either = match slot.either {
            Some(either) => self.model.read(either),
            None => self.model.terms.bool(false),
        };
        Next { value: self.model.read(slot.at), unknown: self.model.read(slot.unknown), either }
    }

    pub(super) fn effects(&mut self, changes: &BTreeMap<String, Next>) -> Vec<(usize, Id)> {
        let mut effects = Vec::new();
        for (name, next) in changes {
            let Some(slot) = self.world.slots.get(name) else { continue };
            effects.push((slot.at, next.value));
            effects.push((slot.unknown, next.unknown));
            effects.extend(slot.either.map(|either| (either, next.either)));
        }
        effects
    }
}
