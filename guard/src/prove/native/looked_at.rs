//! The state as a sequence was played, and what the property says of it.

use std::sync::Arc;

use super::super::term::Value;
use super::clock::{Still, passed, times};
use super::replay::Play;
use crate::cel::{Budget, Expression};
use crate::check::env::CallEnv;
use crate::decision::Decision;
use crate::json::Document;
use crate::ledger::Snapshot;
use crate::state::{Belief, View};

impl Play<'_> {
    pub(super) fn is_after(&self, tool: &str, arguments: &Document) -> bool {
        self.of.compiled.after.as_ref().is_some_and(|after| self.is(after, tool, arguments))
    }

    pub(super) fn is(&self, expression: &Expression, tool: &str, arguments: &Document) -> bool {
        let machine = self.of.guard.policy().machine();
        let view = View::new(machine, Snapshot::replayed(&self.past, false).kept(), &Ok(self.now));
        view.change();
        let of = (self.of.guard.policy(), self.of.guard.server(), tool);
        let clock = Still(self.now);
        let mut env = CallEnv::new(of, arguments.root(), self.of.guard.facts(), &self.session, &clock);
        env.state = Some(&view);
        let value = expression.evaluate(&env, &mut Budget::default());
        value.is_ok_and(|value| value.as_bool() == Some(true))
    }

    /// Whether a decision makes of the state what the sequence says.
    pub(super) fn changes(&self, decision: &Decision, after: &[Value]) -> Result<(), String> {
        let changed = decision.state.iter().flat_map(|noted| &noted.after);
        for (name, belief) in changed {
            let at = self.of.model.variables.iter().position(|variable| *variable.name == **name);
            let (Some(wanted), Some(made)) = (at.and_then(|at| after.get(at)), belief.value()) else {
                continue;
            };
            if super::held(made).is_some_and(|made| made != *wanted) {
                return Err(format!("`state.{name}` becomes another value"));
            }
        }
        Ok(())
    }

    /// No state may be so at any time: what the property says may be true only once time has passed.
    pub(super) fn at_end(&mut self) -> Result<(), String> {
        if !self.of.compiled.is_of_states {
            return Ok(());
        }
        let (nothing, now) = (Document::empty_object(), self.now);
        let times = times(self.of.guard.policy(), &self.past, now);
        for at in std::iter::once(now).chain(times) {
            self.now = at;
            if self.is(&self.of.compiled.never, "", &nothing) {
                self.waited = passed(now, at);
                return Ok(());
            }
        }
        Err(format!("the state at the end does not meet `{}`", self.of.asked.never))
    }

    /// The variables, as they are shown everywhere.
    pub(super) fn state(&self) -> String {
        let kept = Snapshot::replayed(&self.past, false);
        let view = View::new(self.of.guard.policy().machine(), kept.kept(), &Ok(self.now));
        let shown = |(variable, seen): (&Arc<crate::state::Variable>, &crate::state::Seen)| {
            format!("{}={}", variable.name, crate::state::shown(&without_time(&seen.belief)))
        };
        let all: Vec<String> = view.all().map(shown).collect();
        if all.is_empty() { crate::prove::NO_STATE.to_owned() } else { all.join(", ") }
    }
}

/// The clock of a sequence begins nowhere in particular: until when nothing is known would be told as a day of 1970.
fn without_time(belief: &Belief) -> Belief {
    match belief {
        Belief::Unknown(why) => match why.split_once("; known again from ") {
            Some((why, _)) => Belief::unknown(why),
            None => belief.clone(),
        },
        belief => belief.clone(),
    }
}
