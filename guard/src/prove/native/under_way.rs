//! Calls under way: how many, and what their answers may change.
//!
//! What an answer may change is uncertain while its call is under way, and only that: a rule whose `when` is not so for a
//! call leaves what its `after` gives as certain as it was. So each such rule has a count of its own.

use std::collections::{BTreeMap, BTreeSet};

use super::super::model::EventKind;
use super::super::term::{Id, Sort, Two};
use super::events::{About, Build};
use super::names::Names;
use super::ruled::Ruled;
use crate::check::rules::reads_arguments;

/// The calls of a tool that have not ended.
#[derive(Debug)]
pub(super) struct UnderWay {
    /// The count of them.
    all: usize,
    /// Of each rule with an `after` that is for some calls only: the count of those that it is for, or may be.
    of_rules: BTreeMap<String, usize>,
}

impl Build<'_> {
    /// Counts the calls of a tool whose answers matter.
    pub(super) fn opened(&mut self, about: &About<'_>) -> Option<UnderWay> {
        let is_undone = |ruled: &Ruled<'_>| ruled.bound.rule.effects.is_undone && !ruled.bound.set.is_empty();
        let is_read = |ruled: &Ruled<'_>| !ruled.bound.after.is_empty();
        if !about.rules.iter().any(|ruled| is_undone(ruled) || is_read(ruled)) {
            return None;
        }
        let tool = &about.tool.bound.name;
        let all = self.model.open_counter(tool);
        let mut of_rules = BTreeMap::new();
        for ruled in about.rules.iter().filter(|ruled| is_read(ruled)) {
            let after = ruled.bound.after.iter();
            let changed: BTreeSet<String> = after.map(|effect| effect.variable.name.to_string()).collect();
            let mut counter = all;
            if !ruled.is_for_all() {
                let name = &ruled.bound.rule.name;
                counter = self.model.open_counter(&format!("{tool}, by {name}"));
                of_rules.insert(name.clone(), counter);
            }
            self.open.push((counter, changed));
        }
        Some(UnderWay { all, of_rules })
    }

    /// Whether a call under way may change a variable.
    pub(super) fn open_for(&mut self, name: &str) -> Id {
        let open: BTreeSet<usize> =
            self.open.iter().filter(|(_, changed)| changed.contains(name)).map(|(at, _)| *at).collect();
        self.model.is_any_open(open.into_iter().collect())
    }

    /// A call goes out. A rule of which it is not certain whether it is for it may be.
    pub(super) fn begun(
        &mut self,
        about: &About<'_>,
        open: &UnderWay,
        is_enforced: bool,
        names: &mut Names<'_>,
    ) -> Vec<(usize, Id)> {
        let mut counts = vec![(open.all, self.model.counted(open.all, 1))];
        for ruled in &about.rules {
            let Some(counter) = open.of_rules.get(&ruled.bound.rule.name).copied() else { continue };
            let when = self.when(ruled, names);
            let (yes, no) = self.or_invalid(when, !is_enforced && reads_arguments(ruled.bound), names);
            let mut is_for = self.model.terms.not(no);
            let unsure = self.model.terms.any([yes, no]);
            if !self.eithers(unsure).is_empty() {
                // Whatever what it reads is, it may come out the same.
                let key = format!("{} may be for the call", ruled.bound.rule.name);
                let may_be = names.own(self.model, &key, Sort::Bool);
                let terms = &mut self.model.terms;
                let may_be = terms.all([is_for, may_be]);
                is_for = terms.any([yes, may_be]);
            }
            let (before, after) = (self.model.read(counter), self.model.counted(counter, 1));
            counts.push((counter, self.model.terms.choose(is_for, after, before)));
        }
        counts
    }

    /// Whether a rule was for the call that has ended, or may have been; with a `when` it was or not.
    pub(super) fn was(&mut self, ruled: &Ruled<'_>, names: &mut Names<'_>) -> (Id, Id) {
        if ruled.is_for_all() {
            return super::cel::always(self.model);
        }
        let was = self.was_for(&ruled.bound.rule.name, names);
        (was, self.model.terms.not(was))
    }

    fn was_for(&mut self, rule: &str, names: &mut Names<'_>) -> Id {
        names.own(self.model, &format!("{rule} was for the call when it was made"), Sort::Bool)
    }

    /// One of them has ended: of each rule one that it was for, where there is one, or one that it was not for.
    pub(super) fn ended(
        &mut self,
        about: &About<'_>,
        kind: EventKind,
        open: &UnderWay,
        mut effects: Vec<(usize, Id)>,
        names: &mut Names<'_>,
    ) {
        let mut possible = Vec::new();
        for (rule, counter) in &open.of_rules {
            let was = self.was_for(rule, names);
            let (all, count, less) =
                (self.model.read(open.all), self.model.read(*counter), self.model.counted(*counter, -1));
            let is_open = self.model.is_open(*counter);
            let terms = &mut self.model.terms;
            let has_other = terms.two(Two::Less, count, all);
            possible.push(terms.choose(was, is_open, has_other));
            effects.push((*counter, terms.choose(was, less, count)));
        }
        let possible = self.model.terms.all(possible);
        let of = (about.tool.bound.name.as_str(), about.tool.shown.as_str());
        let parts = (effects, names.inputs().into_iter().collect());
        self.model.ended(of, kind, open.all, possible, parts);
    }
}
