//! What one call does to one variable.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::value::over;
use super::{Belief, Combine, Kind, Value, Variable, Window};
use crate::decimal::Decimal;
use crate::world::Instant;

/// Why a change cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no room: never wrapped, never cut.
    #[error("{0}")]
    Overflow(String),
    /// It makes no sense.
    #[error("{0}")]
    Unfit(String),
}

impl Refused {
    fn why(&self) -> String {
        format!("an effect on it could not be computed: {self}")
    }

    /// What is known of a variable that it was made to all the same.
    pub(super) fn belief(&self) -> Belief {
        Belief::unknown(self.why())
    }
}

/// What one call does to one variable.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// It is added to a window.
    Entry {
        /// When.
        at: Instant,
        /// How much.
        amount: Decimal,
    },
    /// An amount that nobody knows is added to a window.
    Unclear {
        /// When.
        at: Instant,
        /// Why nobody knows it.
        why: Arc<str>,
    },
    /// What it holds is combined with these.
    Join(Vec<Belief>),
    /// This takes its place.
    To(Belief),
}

impl Change {
    /// It is an entry of a window: taken back by its step, whatever others added since.
    pub(super) fn is_entry(&self) -> bool {
        matches!(self, Change::Entry { .. } | Change::Unclear { .. })
    }

    /// When it is, where that matters.
    pub(super) fn at(&self) -> Option<Instant> {
        match self {
            Change::Entry { at, .. } | Change::Unclear { at, .. } => Some(*at),
            Change::Join(_) | Change::To(_) => None,
        }
    }

    /// What a variable holds after it was made, come what may: what does not go was found when the call was judged, and
    /// where it is sent all the same nothing is known. `step`: who makes it.
    pub(super) fn make(&self, variable: &Variable, before: Belief, step: u64) -> Belief {
        let (Kind::Window { per_us }, Belief::Known(Value::Window(window))) = (variable.kind, &before) else {
            return self.apply(variable, before).unwrap_or_else(|why| why.belief());
        };
        if let Change::To(belief) = self {
            return belief.clone();
        }
        let mut window = Arc::clone(window);
        drop(before);
        // In the ledger nobody else holds it: no copy is made there.
        let entries = Arc::make_mut(&mut window);
        match self {
            Change::Entry { at, amount } => {
                if let Err(why) = entries.push(per_us, *at, amount.clone(), step) {
                    entries.push_unclear(per_us, *at, &why.why().into(), step);
                }
            }
            Change::Unclear { at, why } => entries.push_unclear(per_us, *at, why, step),
            Change::Join(_) | Change::To(_) => {}
        }
        Belief::Known(Value::Window(window))
    }

    /// What a variable would hold after it, as a decision sees it.
    ///
    /// # Errors
    /// [`Refused`].
    pub(super) fn apply(&self, variable: &Variable, before: Belief) -> Result<Belief, Refused> {
        match self {
            Change::To(belief) => Ok(belief.clone()),
            Change::Join(with) => {
                with.iter().try_fold(before, |all, one| joined(variable.kind, variable.combine, &all, one))
            }
            Change::Entry { at, amount } => {
                let Kind::Window { per_us } = variable.kind else {
                    return Err(Refused::Unfit("it is no window".to_owned()));
                };
                match before {
                    Belief::Known(Value::Summary(mut summary)) => {
                        Window::takes(&summary, amount)?;
                        summary.sum = summary.sum.add(amount).unwrap_or(summary.sum);
                        summary.count += 1;
                        summary.until = summary.until.or(Some(Instant(at.0.saturating_add(per_us))));
                        Ok(Belief::Known(Value::Summary(summary)))
                    }
                    other => Ok(other),
                }
            }
            Change::Unclear { at, why } => {
                let Kind::Window { per_us } = variable.kind else {
                    return Err(Refused::Unfit("it is no window".to_owned()));
                };
                let mut only = Window::default();
                only.push_unclear(per_us, *at, why, 0);
                Ok(only.seen(per_us, *at))
            }
        }
    }
}

/// Two values of a combining variable as one.
fn joined(kind: Kind, combine: Option<Combine>, a: &Belief, b: &Belief) -> Result<Belief, Refused> {
    let decides = match combine {
        Some(Combine::Or) => Some(true),
        Some(Combine::And) => Some(false),
        _ => None,
    };
    let is = |belief: &Belief, value: bool| *belief == Belief::Known(Value::Bool(value));
    if let Some(decides) = decides {
        return Ok(match (a, b) {
            _ if is(a, decides) || is(b, decides) => Belief::Known(Value::Bool(decides)),
            (Belief::Unknown(_), _) => a.clone(),
            (_, Belief::Unknown(_)) => b.clone(),
            (Belief::Either, _) | (_, Belief::Either) => Belief::Either,
            _ => Belief::Known(Value::Bool(!decides)),
        });
    }
    match (a, b) {
        (Belief::Known(a), Belief::Known(b)) => values(kind, combine, a, b).map(Belief::Known),
        (Belief::Unknown(_), _) => Ok(a.clone()),
        (_, other) => Ok(other.clone()),
    }
}

fn values(kind: Kind, combine: Option<Combine>, a: &Value, b: &Value) -> Result<Value, Refused> {
    let overflow = || Refused::Overflow("it is beyond the whole numbers of 64 bits".to_owned());
    Ok(match (combine, a, b) {
        (Some(Combine::Add), Value::Int(a), Value::Int(b)) => {
            Value::Int(a.checked_add(*b).ok_or_else(overflow)?)
        }
        (Some(Combine::Add), Value::Decimal(a), Value::Decimal(b)) => {
            Value::Decimal(a.add(b).map_err(|why| Refused::Overflow(why.to_string()))?)
        }
        (Some(Combine::Max), Value::Int(a), Value::Int(b)) => Value::Int(*a.max(b)),
        (Some(Combine::Min), Value::Int(a), Value::Int(b)) => Value::Int(*a.min(b)),
        (Some(Combine::Max), Value::Decimal(a), Value::Decimal(b)) => Value::Decimal(a.max(b).clone()),
        (Some(Combine::Min), Value::Decimal(a), Value::Decimal(b)) => Value::Decimal(a.min(b).clone()),
        (Some(Combine::Max), Value::Timestamp(a), Value::Timestamp(b)) => Value::Timestamp(*a.max(b)),
        (Some(Combine::Min), Value::Timestamp(a), Value::Timestamp(b)) => Value::Timestamp(*a.min(b)),
        (Some(Combine::Union), Value::Set(a), Value::Set(b)) => {
            let all: BTreeSet<Arc<str>> = a.union(b).cloned().collect();
            match kind {
                Kind::Set { max } if all.len() > max => return Err(over(max)),
                _ => Value::Set(Arc::new(all)),
            }
        }
        _ => return Err(Refused::Unfit("two effects on it cannot be combined".to_owned())),
    })
}
