//! What becomes of a call: its answer, none, or the end of the session.

use std::collections::BTreeMap;

use super::super::model::{Event, EventKind};
use super::super::term::{Id, Sort};
use super::effects::Next;
use super::events::{About, Build};
use super::names::{Names, Reading, Slot};
use super::under_way::UnderWay;
use super::windows::{Entry, is_window};
use super::{Value, held};
use crate::policy::{BoundEffect, BoundRule, Rule};
use crate::state::{Scope, Value as Held, Variable};

impl Build<'_> {
    /// The answer comes: what `after` makes of it, and what a failed call takes back.
    pub(super) fn answer(&mut self, about: &About<'_>, open: &UnderWay) {
        let mut names = self.names_of(about, Reading::Answering);
        let mut changes = BTreeMap::new();
        for ruled in about.rules.iter().filter(|ruled| !ruled.bound.after.is_empty()) {
            let (rule, when) = (ruled.bound, self.was(ruled, &mut names));
            for effect in &rule.after {
                let is_beyond = self.is_beyond([&*effect.value].into_iter());
                if is_window(&effect.variable) {
                    let (variable, expression) = (&*effect.variable, &*effect.value);
                    let of = Entry { variable, expression, is_beyond, may_be_full: true };
                    let before = changes.get(&*effect.variable.name).copied();
                    let Some((mut next, _)) = self.entry(of, before, when, &mut names) else { continue };
                    next.unknown = self.or_lost(rule, next.unknown, when, &mut names);
                    changes.insert(effect.variable.name.to_string(), next);
                    continue;
                }
                let Some((mut next, fits)) =
                    self.change((&effect.variable, &effect.value), is_beyond, when, &mut names)
                else {
                    continue;
                };
                // What does not fit there is not known afterwards.
                let not = self.model.terms.not(fits);
                next.unknown = self.model.terms.any([next.unknown, not]);
                let next = self.or_worst(rule, effect, next, &mut names);
                let before = changes.get(&*effect.variable.name).copied();
                let next = self.merged(&effect.variable, before, next, when, &mut names);
                changes.insert(effect.variable.name.to_string(), next);
            }
            let reads = rule.after.iter().flat_map(|effect| &effect.value.reads().variables);
            if reads.clone().any(|name| matches!(name.as_str(), "args" | "defs" | "texts" | "payload")) {
                self.model.note(format!(
                    "`after` of `{}` reads the call's arguments: any are taken for possible when its answer comes",
                    rule.rule.name
                ));
            }
        }
        let changes = self.effects(&changes);
        let effects = self.undone(about, changes, &mut names);
        self.ended(about, EventKind::Answer, open, effects, &mut names);
    }

    /// Where it was not certain that a rule was for a call, its `after` is the worst that it can be.
    fn or_worst(
        &mut self,
        rule: &BoundRule,
        effect: &BoundEffect,
        next: Next,
        names: &mut Names<'_>,
    ) -> Next {
        let slot = self.world.slots.get(&*effect.variable.name).copied();
        let Some(slot) = slot.filter(|_| self.uncertain.contains(&rule.rule.name)) else { return next };
        let worst = self.worst((&effect.variable, None), slot, names);
        let key = format!("it was certain that {} was for the call", rule.rule.name);
        let is_certain = names.own(self.model, &key, Sort::Bool);
        let terms = &mut self.model.terms;
        Next {
            value: terms.choose(is_certain, next.value, worst.value),
            unknown: terms.choose(is_certain, next.unknown, worst.unknown),
            either: terms.choose(is_certain, next.either, worst.either),
        }
    }

    /// `on_error: undo`: of a call that failed, what it set may be what it was before, whatever was known of that. What
    /// `after` gives is computed from there.
    fn undone(
        &mut self,
        about: &About<'_>,
        after: Vec<(usize, Id)>,
        names: &mut Names<'_>,
    ) -> Vec<(usize, Id)> {
        let mut changes = BTreeMap::new();
        let rules = about.rules.iter().map(|ruled| ruled.bound).filter(|rule| rule.rule.effects.is_undone);
        for effect in rules.flat_map(|rule| &rule.set) {
            let Some(slot) = self.world.slots.get(&*effect.variable.name).copied() else { continue };
            let key = format!("state.{}, where a failed call takes it back", effect.variable.name);
            let (mut any, is_taken) =
                (names.own(self.model, &key, slot.sort), names.own(self.model, &key, Sort::Bool));
            let value = self.model.read(slot.at);
            if slot.is_window {
                any = self.part_of(any, value);
            }
            let mut was_unknown = names.own(self.model, &format!("{key}, was not known"), Sort::Bool);
            if slot.is_window {
                // Its entries are taken off a window that is known, and it stays known.
                let is_unknown = self.model.read(slot.unknown);
                was_unknown = self.model.terms.all([was_unknown, is_unknown]);
            }
            let was_either = self.either(slot, &format!("{key}, might be either"), was_unknown, names);
            let never = self.model.terms.bool(false);
            let (unknown, either) =
                (self.model.read(slot.unknown), slot.either.map(|at| self.model.read(at)));
            let terms = &mut self.model.terms;
            let next = Next {
                value: terms.choose(is_taken, any, value),
                unknown: terms.choose(is_taken, was_unknown, unknown),
                either: terms.choose(is_taken, was_either, either.unwrap_or(never)),
            };
            changes.insert(effect.variable.name.to_string(), next);
        }
        let mut back = self.effects(&changes);
        let mut effects = Vec::with_capacity(after.len() + back.len());
        for (at, value) in after {
            effects.push((at, self.model.after(value, &back)));
        }
        back.retain(|(at, _)| effects.iter().all(|(changed, _)| changed != at));
        effects.extend(back);
        effects
    }

    /// Nobody saw an answer: the worst it can have been.
    pub(super) fn lost(&mut self, about: &About<'_>, open: &UnderWay) {
        let mut names = self.names_of_none();
        let mut changes = BTreeMap::new();
        for ruled in about.rules.iter().filter(|ruled| !ruled.bound.after.is_empty()) {
            let (rule, when) = (ruled.bound, self.was(ruled, &mut names));
            for effect in &rule.after {
                let Some(slot) = self.world.slots.get(&*effect.variable.name).copied() else { continue };
                let before = changes.get(&*effect.variable.name).copied();
                if slot.is_window {
                    let next = self.lost_entry(effect, (before, slot), when, &mut names);
                    changes.insert(effect.variable.name.to_string(), next);
                    continue;
                }
                let mut next = self.worst((&effect.variable, effect.lost.as_ref()), slot, &mut names);
                if before.is_some() {
                    // Two rules may say different things by `lost`: then nothing is known.
                    let key =
                        format!("state.{}, of which two rules say different things", effect.variable.name);
                    let differ = names.own(self.model, &key, Sort::Bool);
                    let terms = &mut self.model.terms;
                    let same = terms.not(differ);
                    next.unknown = terms.any([next.unknown, differ]);
                    next.either = terms.all([next.either, same]);
                }
                let next = self.merged(&effect.variable, before, next, when, &mut names);
                changes.insert(effect.variable.name.to_string(), next);
            }
        }
        let effects = self.effects(&changes);
        self.ended(about, EventKind::Lost, open, effects, &mut names);
    }

    /// `lost:`, else a boolean may be either and nobody knows another.
    fn worst(
        &mut self,
        (variable, lost): (&Variable, Option<&Held>),
        slot: Slot,
        names: &mut Names<'_>,
    ) -> Next {
        let (never, always) = (self.model.terms.bool(false), self.model.terms.bool(true));
        let (given, ok) = match lost.and_then(held) {
            Some(value) => (self.model.terms.value(value), always),
            None => (self.model.terms.value(Value::zero(slot.sort)), never),
        };
        let (value, ok) = self.combined(variable, slot, given, ok);
        if self.model.terms.truth(ok) == Some(true) {
            return Next { value, unknown: never, either: never };
        }
        let key = format!("state.{}, after an answer that never came", variable.name);
        let any = names.own(self.model, &key, slot.sort);
        let was_lost = names.own(self.model, &format!("{key}, is not known"), Sort::Bool);
        let terms = &mut self.model.terms;
        let (value, not) = (terms.choose(ok, value, any), terms.not(ok));
        // A boolean that nobody knew before is not known afterwards either.
        let is_either = if slot.either.is_some() { terms.not(was_lost) } else { never };
        let not_either = terms.not(is_either);
        Next { value, unknown: terms.all([not, not_either]), either: terms.all([not, is_either]) }
    }

    /// Calls of the other servers of a session change what they share with this one: to what, and when, nobody knows.
    pub(super) fn elsewhere(&mut self, server: &str) {
        self.model.note(format!(
            "the policy names other servers than `{server}`: what their calls may set is any value at any time, and \
             properties are of the calls of `{server}`"
        ));
        let mut names = self.names_of_none();
        let is_own = |rule: &Rule| {
            !rule.tools.is_empty()
                && rule.tools.iter().all(|glob| glob.names_server() && glob.matches_server(server))
        };
        let policy = self.policy;
        let rules = policy.rules().iter().filter(|rule| !is_own(rule));
        let mut changes = BTreeMap::new();
        for effect in rules.flat_map(|rule| rule.effects.set.iter().chain(&rule.effects.after)) {
            let name = &*effect.variable.name;
            let Some(slot) = self.world.slots.get(name).copied() else { continue };
            let mut value = names.own(self.model, &format!("state.{name}, elsewhere"), slot.sort);
            if slot.is_window {
                value = self.not_below_zero(value).0;
            }
            let unknown = names.own(self.model, &format!("state.{name}, unknown elsewhere"), Sort::Bool);
            let either = self.either(slot, &format!("state.{name}, either elsewhere"), unknown, &mut names);
            changes.insert(name.to_owned(), Next { value, unknown, either });
        }
        let mut effects = self.effects(&changes);
        effects.extend(self.seen_elsewhere(&mut names));
        let (possible, inputs) = (self.model.terms.bool(true), names.inputs().into_iter().collect());
        let (tool, kind) = ("(another server)".to_owned(), EventKind::Elsewhere);
        self.model.events.push(Event {
            shown: tool.clone(),
            tool,
            kind,
            inputs,
            possible,
            effects,
            watched: Vec::new(),
        });
    }

    /// Another session on the same store begins: what only a session remembers is forgotten.
    pub(super) fn restart(&mut self) {
        let mut effects = Vec::new();
        for variable in self.policy.machine().variables() {
            let Some(slot) =
                self.world.slots.get(&*variable.name).filter(|_| variable.scope == Scope::Session)
            else {
                continue;
            };
            // A window begins empty.
            let initial = if slot.is_window { Some(Value::zero(slot.sort)) } else { held(&variable.init) };
            let Some(initial) = initial else { continue };
            effects.push((slot.at, self.model.terms.value(initial)));
            let never = self.model.terms.value(Value::Bool(false));
            effects.push((slot.unknown, never));
            effects.extend(slot.either.map(|either| (either, never)));
        }
        let possible = self.model.terms.bool(true);
        let (tool, kind) = (String::new(), EventKind::Restart);
        self.model.events.push(Event {
            shown: tool.clone(),
            tool,
            kind,
            inputs: Vec::new(),
            possible,
            effects,
            watched: Vec::new(),
        });
    }
}
