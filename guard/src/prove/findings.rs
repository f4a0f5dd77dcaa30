//! What a policy says in vain: rules that never refuse, that always do, or that others make superfluous, tools that
//! can never be called, and states that nothing leaves. What the terms themselves show needs no solver; the rest is
//! asked, each question apart.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Event, EventKind, Model, Rule};
use super::smt::{Query, anywhere};
use super::term::{Id, Value};

/// Something that may be in vain.
#[derive(Debug, Clone)]
pub struct Suspicion {
    /// What is to be said if it is.
    pub text: String,
    /// It is, if this cannot be satisfied; `None`: it is in any case.
    pub query: Option<Query>,
    /// Nothing is said where one of these is so already, by place.
    pub moot_if: Vec<usize>,
}

/// What is in vain, and how much nobody could say. `ask` says whether a question can be satisfied, if it can be told.
///
/// # Errors
/// Those of `ask`.
pub fn findings<E>(
    suspicions: &[Suspicion],
    mut ask: impl FnMut(&Query) -> Result<Option<bool>, E>,
) -> Result<(Vec<String>, usize), E> {
    let (mut found, mut unknown) = (BTreeMap::new(), 0);
    for (at, suspicion) in suspicions.iter().enumerate() {
        if suspicion.moot_if.iter().any(|other| found.contains_key(other)) {
            continue;
        }
        match suspicion.query.as_ref().map_or(Ok(Some(false)), &mut ask)? {
            Some(true) => {}
            Some(false) => drop(found.insert(at, suspicion.text.clone())),
            None => unknown += 1,
        }
    }
    Ok((found.into_values().collect(), unknown))
}

/// Which rules each tool's calls are held to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// In the order of the policy.
    pub rules: Vec<String>,
    /// Tools, and of each rule whether it is the tool's.
    pub tools: Vec<(String, Vec<bool>)>,
}

/// The table tool × rule.
#[must_use]
pub fn coverage(model: &Model) -> Coverage {
    let calls = model.events.iter().enumerate().filter(|(_, event)| event.kind == EventKind::Call);
    let row = |(at, event): (usize, &Event)| {
        let is_of = |rule: &Rule| rule.uses.iter().any(|(of, _)| *of == at);
        (event.shown.clone(), model.rules.iter().map(is_of).collect())
    };
    Coverage {
        rules: model.rules.iter().map(|rule| rule.name.clone()).collect(),
        tools: calls.map(row).collect(),
    }
}

/// All that may be in vain, in the order of the policy.
pub fn suspicions(model: &mut Model) -> Vec<Suspicion> {
    let mut found = Found { model, suspicions: Vec::new(), always: BTreeMap::new() };
    found.rules();
    found.tools();
    found.states();
    found.suspicions
}

struct Found<'m> {
    model: &'m mut Model,
    suspicions: Vec<Suspicion>,
    /// Of each event, which suspicions say that a rule refuses all its calls.
    always: BTreeMap<usize, Vec<usize>>,
}

impl Found<'_> {
    /// It is so if `unless` can never be true; its place, if it may be.
    fn suspect(&mut self, text: String, unless: Id, moot_if: Vec<usize>) -> Option<usize> {
        let query = match self.model.terms.truth(unless) {
            Some(true) => return None,
            Some(false) => None,
            None => Some(anywhere(self.model, unless)),
        };
        self.suspicions.push(Suspicion { text, query, moot_if });
        Some(self.suspicions.len() - 1)
    }

    fn certain(&mut self, text: String) {
        self.suspicions.push(Suspicion { text, query: None, moot_if: Vec::new() });
    }

    fn rules(&mut self) {
        let rules = self.model.rules.clone();
        for (at, rule) in rules.iter().enumerate() {
            let name = &rule.name;
            if rule.uses.is_empty() {
                self.certain(format!("`{name}` is about no tool that can be called"));
                continue;
            }
            if rule.has_effects_only {
                continue;
            }
            let refuses = self.model.terms.any(rule.uses.iter().map(|(_, refuses)| *refuses));
            let never = self.suspect(format!("`{name}` never stops a call"), refuses, Vec::new());
            for (event, refuses) in &rule.uses {
                let passes = self.model.terms.not(*refuses);
                let text = format!("`{name}` stops every call of `{}`", self.tool(*event));
                if let Some(place) = self.suspect(text, passes, Vec::new()) {
                    self.always.entry(*event).or_default().push(place);
                }
            }
            self.shadowed(rule, rules.get(..at).unwrap_or_default(), never);
        }
    }

    /// Whether each call that a rule refuses is refused by one before it as well.
    fn shadowed(&mut self, rule: &Rule, before: &[Rule], never: Option<usize>) {
        let Rule { name, uses, .. } = rule;
        let mut of: BTreeMap<usize, Vec<(&str, Id)>> = BTreeMap::new();
        // One that asks does not stop what one that denies would.
        for rule in before.iter().filter(|other| rule.is_ask || !other.is_ask) {
            for (event, refuses) in &rule.uses {
                of.entry(*event).or_default().push((&rule.name, *refuses));
            }
        }
        let mut names = BTreeSet::new();
        let mut alone = Vec::with_capacity(uses.len());
        for (event, refuses) in uses {
            let others = of.get(event).map(Vec::as_slice).unwrap_or_default();
            // Of one that asks the very same, no other need be named.
            let same = others.iter().find(|(_, other)| other == refuses);
            names.extend(
                same.into_iter().chain(others.iter().filter(|_| same.is_none())).map(|(name, _)| *name),
            );
            let any = self.model.terms.any(others.iter().map(|(_, other)| *other));
            let not = self.model.terms.not(any);
            alone.push(self.model.terms.all([*refuses, not]));
        }
        if names.is_empty() {
            return;
        }
        let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
        let alone = self.model.terms.any(alone);
        let text = format!("all that `{name}` stops is stopped by {} too", names.join(", "));
        self.suspect(text, alone, never.into_iter().collect());
    }

    fn tool(&self, event: usize) -> String {
        self.model.events.get(event).map(|event| event.shown.clone()).unwrap_or_default()
    }

    fn tools(&mut self) {
        for at in 0..self.model.events.len() {
            let event = self.model.events.get(at).filter(|event| event.kind == EventKind::Call);
            let Some((tool, possible)) = event.map(|event| (event.shown.clone(), event.possible)) else {
                continue;
            };
            let moot_if = self.always.get(&at).cloned().unwrap_or_default();
            self.suspect(format!("no call of `{tool}` is ever possible"), possible, moot_if);
        }
    }

    /// Of each boolean: whether a value is never left, and whether it lets no call through.
    fn states(&mut self) {
        let bools: Vec<(usize, String, Option<Value>)> = self
            .model
            .variables
            .iter()
            .enumerate()
            .filter(|(_, variable)| !variable.is_own)
            .map(|(at, variable)| (at, variable.name.clone(), variable.initial.clone()))
            .filter(|(_, _, initial)| matches!(initial, Some(Value::Bool(_))))
            .collect();
        for (at, name, initial) in bools {
            if self.model.events.iter().all(|event| event.effects.iter().all(|(changed, _)| *changed != at)) {
                let always = initial.map(|initial| initial.to_string()).unwrap_or_default();
                self.certain(format!("`{name}` is always {always}: nothing changes it"));
                continue;
            }
            for value in [true, false] {
                let left = self.left(at, value);
                self.suspect(
                    format!("once `{name}` is {value}, nothing makes it {} again", !value),
                    left,
                    Vec::new(),
                );
                let callable = self.callable(at, value);
                self.suspect(format!("while `{name}` is {value}, no call is possible"), callable, Vec::new());
            }
        }
    }

    fn is_value(&mut self, at: usize, value: bool) -> Id {
        let read = self.model.read(at);
        if value { read } else { self.model.terms.not(read) }
    }

    /// Whether some event can end a boolean's value.
    fn left(&mut self, at: usize, value: bool) -> Id {
        let is = self.is_value(at, value);
        let events = self.model.events.iter();
        let changes: Vec<(Id, Id)> = events
            .filter_map(|event| {
                let effect = event.effects.iter().find(|(changed, _)| *changed == at)?;
                Some((event.possible, effect.1))
            })
            .collect();
        let mut any = Vec::with_capacity(changes.len());
        for (possible, effect) in changes {
            let other = if value { self.model.terms.not(effect) } else { effect };
            any.push(self.model.terms.all([is, possible, other]));
        }
        self.model.terms.any(any)
    }

    fn callable(&mut self, at: usize, value: bool) -> Id {
        let is = self.is_value(at, value);
        let calls = self.model.events.iter().filter(|event| event.kind == EventKind::Call);
        let possible: Vec<Id> = calls.map(|event| event.possible).collect();
        let possible = self.model.terms.any(possible);
        self.model.terms.all([is, possible])
    }
}
