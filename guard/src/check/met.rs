//! The state that a rule met, in words, and the states in which it must hold.

use crate::cel::{Expression, Failure};
use crate::finding::{Effect, Finding, NextStep};
use crate::policy::Otherwise;
use crate::state::{Belief, Seen, Value, Variable, View, calls, reads, shown, time};

use super::purse::Purse;

/// Goes through all states that may be, as far as these expressions tell them apart.
pub(super) fn worlds<'a, 'e>(
    view: &View<'_>,
    read: impl Iterator<Item = &'e Expression> + Clone,
    purse: &mut Purse<'a>,
    visit: &mut dyn FnMut(&mut Purse<'a>),
) -> Result<(), Failure> {
    let places = view.uncertain(read)?;
    if places.is_empty() {
        visit(purse);
        return Ok(());
    }
    for bits in 0..1_usize << places.len() {
        view.choose(&places, bits);
        purse.forget();
        visit(purse);
    }
    view.choose_none();
    purse.forget();
    Ok(())
}

/// What a rule read of the state.
#[derive(Debug, Default)]
pub(super) struct Met {
    /// In words; empty where it read nothing of it.
    said: String,
    /// What would clear it, as far as that can be told.
    clears: Option<String>,
}

impl Met {
    pub(super) fn of<'e>(view: &View<'_>, read: impl Iterator<Item = &'e Expression> + Clone) -> Met {
        let is_read = |variable: &Variable| {
            read.clone().any(|expression| {
                !expression.reads().variables.contains("defs") && reads(expression, &variable.name)
            })
        };
        let all: Vec<(&Variable, &Seen)> = view
            .all()
            .map(|(variable, seen)| (&**variable, seen))
            .filter(|(variable, _)| is_read(variable))
            .collect();
        let said: Vec<String> = all.iter().map(|(variable, seen)| said(variable, seen)).collect();
        Met { said: said.join(", "), clears: all.iter().find_map(|(_, seen)| clears(seen)) }
    }

    fn with(&self, text: &str) -> String {
        if self.said.is_empty() { text.to_owned() } else { format!("{text} ({})", self.said) }
    }

    pub(super) fn failed(
        &self,
        name: &str,
        otherwise: Otherwise,
        because: &str,
        advice: Option<String>,
    ) -> Finding {
        let because = self.with(because);
        let reason = format!("{name}: {because}");
        let finding = Finding::new(name, Effect::from(otherwise), NextStep::TellUser, reason);
        Finding { because, advice: advice.or_else(|| self.clears.clone()), is_rule: true, ..finding }
    }

    pub(super) fn unevaluated(&self, name: &str, part: &str, failure: &Failure) -> Finding {
        let what = if failure.unknown { "is unknown" } else { "failed" };
        let reason = format!("{name}: cannot be evaluated, `{part}` {what}: {}", failure.message);
        let finding = Finding::new(name, Effect::Unevaluated, NextStep::NotEvaluated, reason);
        Finding { is_rule: true, advice: self.clears.clone(), ..finding }
    }
}

fn said(variable: &Variable, seen: &Seen) -> String {
    let name = &variable.name;
    if !seen.in_flight.is_empty() {
        return format!("`state.{name}` is not settled while {} under way", calls(&seen.in_flight));
    }
    match &seen.belief {
        Belief::Either => format!("`state.{name}` may be true: a call that decides it got no answer"),
        // What a tool or a model wrote is not repeated as if it were ours.
        Belief::Known(Value::String(_)) => format!("`state.{name}` as it is"),
        Belief::Known(Value::List(items)) => format!("`state.{name}` has {} items", items.len()),
        Belief::Known(Value::Set(items)) => format!("`state.{name}` has {} items", items.len()),
        belief => format!("`state.{name}` is {}", shown(belief)),
    }
}

fn clears(seen: &Seen) -> Option<String> {
    if !seen.in_flight.is_empty() {
        return Some(format!("Wait until {} over, then call again.", calls(&seen.in_flight)));
    }
    match &seen.belief {
        Belief::Known(Value::Summary(summary)) => {
            Some(format!("Some of it counts no more from {} on.", time(summary.until?)))
        }
        _ => None,
    }
}
