//! What properties ask: of states, and of calls.

use std::collections::{BTreeSet, HashMap};

use super::super::model::{Event, InputKind};
use super::super::term::{Id, Sort};
use super::events::Build;
use super::names::Names;

impl Build<'_> {
    pub(super) fn properties_of_states(&mut self) {
        let compiled = self.compiled;
        for (at, property) in compiled.iter().enumerate().filter(|(_, property)| property.is_of_states) {
            let mut names = self.names_of_none();
            let (never, _) = self.lower(&mut names).condition(&property.never);
            let inputs = names.inputs();
            let never = self.free_of_states(at, never, &inputs);
            if let Some(property) = self.model.properties.get_mut(at) {
                property.state = Some(never);
            }
        }
    }

    /// What a property asks of a state and the model does not know is any value there, and another one in the next.
    fn free_of_states(&mut self, property: usize, never: Id, inputs: &BTreeSet<usize>) -> Id {
        if inputs.is_empty() {
            return never;
        }
        let name =
            self.model.properties.get(property).map(|property| property.name.clone()).unwrap_or_default();
        self.model.note(format!("`{name}` reads what the model does not know of a state"));
        let mut by = HashMap::new();
        for at in inputs {
            let Some(input) = self.model.inputs.get(*at) else { continue };
            let (label, sort) = (input.label.clone(), input.sort);
            let variable = self.model.any_variable(label, sort);
            if let Some(variable) = self.model.variables.get_mut(variable) {
                variable.is_own = true;
            }
            self.any.push((variable, sort));
            by.insert(*at, self.model.read(variable));
        }
        self.model.terms.with_inputs(never, &by)
    }

    /// `after` of a property may have been true of another server's call.
    pub(super) fn seen_elsewhere(&mut self, names: &mut Names<'_>) -> Vec<(usize, Id)> {
        let seen: Vec<usize> = self.seen.iter().flatten().copied().collect();
        let is_seen = |(at, seen): (usize, usize)| {
            let elsewhere = names.own(self.model, &format!("seen elsewhere {at}"), Sort::Bool);
            let before = self.model.read(seen);
            (seen, self.model.terms.any([before, elsewhere]))
        };
        seen.into_iter().enumerate().map(is_seen).collect()
    }

    /// After every event what nobody knows of a state is something else.
    pub(super) fn havoc(&mut self) {
        for (variable, sort) in self.any.clone() {
            let (input, value) = self.model.input("of a state", sort, InputKind::Own);
            for event in &mut self.model.events {
                event.effects.push((variable, value));
                event.inputs.push(input);
            }
        }
    }

    pub(super) fn watch(&mut self, event: &mut Event, names: &mut Names<'_>) {
        let compiled = self.compiled;
        for (at, property) in compiled.iter().enumerate().filter(|(_, property)| !property.is_of_states) {
            let (never, _) = self.lower(names).condition(&property.never);
            let after = property.after.as_ref().map(|after| self.lower(names).condition(after).0);
            let seen = self.seen.get(at).copied().flatten().zip(after);
            self.model.watch(event, at, seen, never);
        }
    }
}
