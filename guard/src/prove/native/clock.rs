//! The time at which a solver's sequence is played. The model says how much of a window is left before each call, and
//! not which entries are how old; here times are looked for at which the ledger counts as much.

use std::sync::Arc;

use num_rational::BigRational;

use super::super::model::Model;
use super::super::term::Value;
use super::functions::rational;
use crate::ledger::{Past, Snapshot};
use crate::policy::Policy;
use crate::state::{Belief, Kind, Value as Held, Variable};
use crate::world::{Instant, Unknown, World};

/// Between two events, so that no two entries are of one age; too little to count.
const GAP_US: i64 = 1;
/// What is told of time that passes.
const TOLD_US: i64 = 1_000_000;

/// A disk without links, and a clock that stands.
pub(super) struct Still(pub(super) Instant);

impl World for Still {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        if path.starts_with('/') && !path.split('/').any(|part| part == "..") {
            return Ok(path.to_owned());
        }
        Err(Unknown("only absolute paths lead anywhere here".into()))
    }

    fn now(&self) -> Result<Instant, Unknown> {
        Ok(self.0)
    }
}

/// How much time passes. What the solver chose may be more than it needs: then another way may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// So much that as much is left as the solver has it, or less where it cannot be as much.
    AsChosen,
    /// None: nothing grows too old.
    Hasty,
    /// So much that everything is too old before each call.
    Slow,
}

impl Pace {
    /// Those that differ for a policy, the one that takes least time first.
    pub(super) fn all(policy: &Policy) -> &'static [Pace] {
        match policy.machine().reads_time() {
            true => &[Pace::Hasty, Pace::AsChosen, Pace::Slow],
            false => &[Pace::Hasty],
        }
    }

    /// When the next call is made.
    pub(super) fn next(
        self,
        (policy, model): (&Policy, &Model),
        past: &Past,
        now: Instant,
        wanted: &[Value],
    ) -> Instant {
        let soon = Instant(now.0.saturating_add(GAP_US));
        let times = times(policy, past, now);
        match self {
            Pace::Hasty => soon,
            Pace::Slow => times.last().copied().unwrap_or(soon),
            Pace::AsChosen => {
                let left = |at: &Instant| compared(policy, model, past, *at, wanted);
                let exact = times.iter().find(|at| left(at).iter().all(|order| order.is_eq()));
                let at_most = || times.iter().find(|at| left(at).iter().all(|order| order.is_le()));
                exact.or_else(at_most).copied().unwrap_or(soon)
            }
        }
    }
}

/// Times from now on between which nothing changes, the one that is most like the others first.
pub(super) fn times(policy: &Policy, past: &Past, now: Instant) -> Vec<Instant> {
    let soon = Instant(now.0.saturating_add(GAP_US));
    let mut ends: Vec<Instant> = Vec::new();
    let mut open = vec![now];
    while let Some(at) = open.pop() {
        let until = windows(policy, past, at).filter_map(|(_, _, until)| until).min();
        if let Some(until) = until.filter(|until| *until > at) {
            ends.push(until);
            open.push(until);
        }
    }
    [soon, now].into_iter().chain(ends).collect()
}

/// Of each window: its name, the sum where it is known, and when the next of its entries counts no more.
fn windows<'w>(
    policy: &'w Policy,
    past: &Past,
    at: Instant,
) -> impl Iterator<Item = (&'w str, Option<BigRational>, Option<Instant>)> {
    let snapshot = Snapshot::replayed(past, false);
    let kept = snapshot.kept();
    let of = |variable: &'w Arc<Variable>| {
        let Kind::Window { per_us } = variable.kind else { return None };
        let Belief::Known(Held::Window(window)) = kept?.belief(variable) else { return None };
        let sum = match window.seen(per_us, at) {
            Belief::Known(Held::Summary(summary)) => rational(&summary.sum),
            _ => None,
        };
        Some((&*variable.name, sum, window.summary(per_us, at).until))
    };
    let found: Vec<_> = policy.machine().variables().iter().filter_map(of).collect();
    found.into_iter()
}

/// Of each window: how its sum compares with what the solver has of it.
fn compared(
    policy: &Policy,
    model: &Model,
    past: &Past,
    at: Instant,
    wanted: &[Value],
) -> Vec<std::cmp::Ordering> {
    let wanted = |name: &str| {
        let place = model.variables.iter().position(|variable| variable.name == name)?;
        match wanted.get(place)? {
            Value::Int(value) => Some(value.clone().into()),
            Value::Real(value) => Some(value.clone()),
            _ => None,
        }
    };
    windows(policy, past, at).filter_map(|(name, sum, _)| Some(sum?.cmp(&wanted(name)?))).collect()
}

/// The time that has passed, where it is worth telling.
pub(super) fn passed(from: Instant, to: Instant) -> Option<String> {
    let micros = to.0.saturating_sub(from.0);
    let seconds = micros.saturating_add(TOLD_US - 1) / TOLD_US;
    (micros >= TOLD_US / 2).then(|| crate::state::span(seconds * TOLD_US))
}
