//! What answers that are due may change, or lost ones may have: a decision must be the same whatever that is.

use super::super::term::{Id, Sort};
use super::events::Build;

/// Variables of which every combination is tried where an answer may change them: beyond it, one by one.
const UNCERTAIN_MAX: usize = 6;

impl Build<'_> {
    /// True whatever the variables are that nobody knows: what a property asks of such a one is not decided.
    pub(super) fn known(&mut self, mut term: Id) -> Id {
        let unknown: Vec<(usize, usize)> = self.unknown.iter().map(|(at, own)| (*at, *own)).collect();
        for (at, own) in unknown {
            if self.sort_of(at) != Sort::Bool {
                continue;
            }
            let (value, unknown) = (self.model.read(at), self.model.read(own));
            let flip = self.model.terms.not(value);
            let flipped = self.model.after(term, &[(at, flip)]);
            let both = self.implied(vec![unknown], flipped);
            term = self.model.terms.all([term, both]);
        }
        term
    }

    /// What an answer may change, or a lost one may have, is not decided on: whatever such a variable is, the decision
    /// and the effects are to be the same. Of variables that are no booleans nothing is asked, which allows more.
    pub(super) fn in_every_state(
        &mut self,
        holds: Id,
        effects: &[(usize, Id)],
        invariants: &[Id],
    ) -> Vec<Id> {
        let flipped: Vec<usize> =
            self.unknown.keys().copied().filter(|at| self.sort_of(*at) == Sort::Bool).collect();
        let combinations = if flipped.len() <= UNCERTAIN_MAX { 1_u32 << flipped.len() } else { 0 };
        let single: Vec<Vec<usize>> = flipped.iter().map(|at| vec![*at]).collect();
        let several = (1..combinations).map(|bits| {
            let chosen = flipped.iter().enumerate().filter(|(at, _)| bits & (1 << at) != 0);
            chosen.map(|(_, variable)| *variable).collect::<Vec<_>>()
        });
        let sets: Vec<Vec<usize>> = if combinations > 0 { several.collect() } else { single };
        sets.iter().map(|set| self.where_flipped(set, holds, effects, invariants)).collect()
    }

    pub(super) fn where_flipped(
        &mut self,
        set: &[usize],
        holds: Id,
        effects: &[(usize, Id)],
        invariants: &[Id],
    ) -> Id {
        let mut flips = Vec::with_capacity(set.len());
        for at in set {
            let value = self.model.read(*at);
            flips.push((*at, self.model.terms.not(value)));
        }
        let mut same = vec![self.model.after(holds, &flips)];
        for (_, effect) in effects {
            let other = self.model.after(*effect, &flips);
            same.push(self.model.terms.equal(*effect, other));
        }
        let same = self.model.terms.all(same);
        let unknown: Vec<Id> = set.iter().map(|at| self.uncertain(*at)).collect();
        let decision = self.implied(unknown, same);
        // What this call assigns, an open one's answer may assign again; a lost one's never will.
        let mut next: Vec<(usize, Id)> = effects.to_vec();
        for (at, flip) in &flips {
            match next.iter_mut().find(|(changed, _)| changed == at) {
                Some((_, value)) => *value = self.model.terms.not(*value),
                None => next.push((*at, *flip)),
            }
        }
        let hold: Vec<Id> = invariants.iter().map(|invariant| self.model.after(*invariant, &next)).collect();
        let hold = self.model.terms.all(hold);
        let open: Vec<Id> = set.iter().map(|at| self.open_for(*at)).collect();
        let invariant = self.implied(open, hold);
        self.model.terms.all([decision, invariant])
    }

    pub(super) fn implied(&mut self, all: Vec<Id>, then: Id) -> Id {
        let all = self.model.terms.all(all);
        let not = self.model.terms.not(all);
        self.model.terms.any([not, then])
    }

    /// Whether an open call may change a variable.
    pub(super) fn open_for(&mut self, at: usize) -> Id {
        let open: Vec<usize> =
            self.open.iter().filter(|(_, changed)| changed.contains(&at)).map(|(open, _)| *open).collect();
        self.model.is_any_open(open)
    }

    /// Whether an open call may change a variable, or a lost one may have.
    pub(super) fn uncertain(&mut self, at: usize) -> Id {
        let open = self.open_for(at);
        let unknown = self.unknown.get(&at).copied().map(|unknown| self.model.read(unknown));
        self.model.terms.any(std::iter::once(open).chain(unknown))
    }
}
