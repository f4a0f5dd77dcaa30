//! What becomes of a call: its answer, where an `on_result` looks at it, or none.

use super::super::model::{EventKind, InputKind};
use super::super::term::{Id, Sort};
use super::Tool;
use super::events::Build;
use super::lower::Lowered;
use crate::praxiom::machine::Action;
use crate::praxiom::program::Step;

impl Build<'_> {
    pub(super) fn answer(&mut self, tool: &Tool, open: usize) {
        let Some(mut bound) = self.bind(tool) else { return };
        let result = self.input(&mut bound.inputs, "result", Sort::Text, InputKind::Named("result"));
        let actions = self.covering(tool);
        let assigned = self.assigned(&mut bound, &actions, |action| &action.on_result, Some(result));
        self.tell_arguments(&actions);
        let mut effects = Vec::new();
        for (at, lowered) in assigned {
            self.settle(&mut effects, at, lowered, &mut bound.inputs);
        }
        let always = self.model.terms.bool(true);
        self.model.ended((&tool.name, &tool.shown), EventKind::Answer, open, always, (effects, bound.inputs));
    }

    /// Nobody saw the answer: what it would not have changed, whatever it said, is still known.
    pub(super) fn lost(&mut self, tool: &Tool, open: usize) {
        let Some(mut bound) = self.bind(tool) else { return };
        let actions = self.covering(tool);
        let assigned = self.assigned(&mut bound, &actions, |action| &action.on_result, None);
        let mut effects = Vec::new();
        for (at, lowered) in assigned {
            let old = self.model.read(at);
            let same = self.model.terms.equal(lowered.value, old);
            let known = self.model.terms.all([lowered.decided, same]);
            let lowered = Lowered { value: old, decided: known };
            self.settle(&mut effects, at, lowered, &mut bound.inputs);
        }
        let always = self.model.terms.bool(true);
        self.model.ended((&tool.name, &tool.shown), EventKind::Lost, open, always, (effects, bound.inputs));
    }

    /// A variable after an answer: the value where it is decided, else any, and nobody knows it.
    fn settle(
        &mut self,
        effects: &mut Vec<(usize, Id)>,
        at: usize,
        lowered: Lowered,
        inputs: &mut Vec<usize>,
    ) {
        let value = match self.model.terms.truth(lowered.decided) {
            Some(true) => lowered.value,
            _ => {
                let label =
                    self.model.variables.get(at).map(|variable| variable.name.clone()).unwrap_or_default();
                let any = self.input(inputs, &label, self.sort_of(at), InputKind::Own);
                self.model.terms.choose(lowered.decided, lowered.value, any)
            }
        };
        effects.push((at, value));
        if let Some(unknown) = self.unknown.get(&at).copied() {
            effects.push((unknown, self.model.terms.not(lowered.decided)));
        }
    }

    /// An answer is taken to be of a call with any arguments.
    fn tell_arguments(&mut self, actions: &[&Action]) {
        let reads = |step: &Step| matches!(step, Step::Argument(_) | Step::Payload);
        for action in actions {
            if action.on_result.iter().any(|(_, program)| program.steps().iter().any(reads)) {
                self.model.note(format!(
                    "`on_result` of action `{}` reads the call's arguments: any are taken for possible when its answer comes",
                    action.name
                ));
            }
        }
    }
}
