//! The end of a call, for its record: what it met of the state, and what it made of that.
//!
//! What it made is computed from what the record says that it met, and from nothing else: so it is made again from the
//! record by the same steps ([`Settlement::again`]).

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::after::AfterEnv;
use super::kept::{in_all, lost_of, merged, subtracted, worst};
use super::spell::{belief, is_only_hash, short};
use super::view::seen;
use super::{Belief, Change, Changed, Combine, Effects, Kept, Noted, Seen, Value, Variable, View, reads};
use crate::cel::Budget;
use crate::ledger::{Ended, Said, Settled};
use crate::world::{Instant, Unknown};

/// Variables and what they hold.
pub(crate) type Values = Vec<(Arc<str>, Belief)>;

/// The end of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settlement {
    pub(crate) how: Settled,
    /// What it reads or changes, as it was.
    pub(crate) before: Values,
    /// What an error took back, and what there was then.
    pub(crate) undone: Values,
    /// What it changed.
    pub(crate) after: Values,
}

impl Settlement {
    /// As a record has it.
    pub(crate) fn spelled(&self) -> String {
        let values = |values: &Values| -> Json {
            values
                .iter()
                .map(|(name, belief)| (name.to_string(), short(belief)))
                .collect::<Map<_, _>>()
                .into()
        };
        let mut text = Map::new();
        text.insert("after".to_owned(), values(&self.after));
        text.insert("before".to_owned(), values(&self.before));
        text.insert("how".to_owned(), self.how.name().into());
        if !self.undone.is_empty() {
            text.insert("undone".to_owned(), values(&self.undone));
        }
        Json::Object(text).to_string()
    }

    /// What [`Settlement::spelled`] made.
    pub(crate) fn read(text: &[u8]) -> Option<Settlement> {
        let read: Json = serde_json::from_slice(text).ok()?;
        let values = |key: &str| -> Option<Values> {
            let Some(members) = read.get(key) else { return Some(Vec::new()) };
            let one = |(name, value): (&String, &Json)| Some((Arc::from(name.as_str()), belief(value)?));
            members.as_object()?.iter().map(one).collect()
        };
        let how = Settled::named(read.get("how")?.as_str()?)?;
        Some(Settlement {
            how,
            before: values("before")?,
            undone: values("undone")?,
            after: values("after")?,
        })
    }

    /// Of some of what it met there is only a hash.
    pub(crate) fn is_cut(&self) -> bool {
        self.before.iter().chain(&self.undone).any(|(_, belief)| is_only_hash(belief))
    }

    /// The same end once more: what it met is as this says. `call`: the state that its call met.
    pub(crate) fn again(&self, effects: &Effects, call: Option<&Noted>, ended: &Ended<'_>) -> Settlement {
        let undone = |(name, told): &(Arc<str>, Belief)| {
            Some((Arc::clone(name), effects.without(name, told, (self, call))?))
        };
        let undone: Values = self.undone.iter().filter_map(undone).collect();
        let met = over(&self.before, &undone);
        let changes = effects.at_end(&met, ended);
        let after = over(&undone, &effects.made(&met, &changes));
        Settlement { how: ended.how, before: self.before.clone(), undone, after }
    }
}

/// These, or what they are by now.
pub(super) fn over(values: &Values, newer: &Values) -> Values {
    let mut all = newer.clone();
    let old = values.iter().filter(|(name, _)| !newer.iter().any(|(other, _)| other == name));
    all.extend(old.cloned());
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    all
}

fn of<'v>(values: &'v [(Arc<str>, Belief)], name: &str) -> Option<&'v Belief> {
    values.iter().find(|(other, _)| &**other == name).map(|(_, belief)| belief)
}

impl Effects {
    /// When the call was decided.
    pub(super) fn now(&self) -> Result<Instant, Unknown> {
        match &self.call {
            Some(call) => call.now.clone(),
            None => {
                let at = self.changed.iter().find_map(|changed| changed.change.at());
                at.ok_or_else(|| Unknown("the call says no time".to_owned()))
            }
        }
    }

    /// Whether such an end does anything to the state.
    pub(crate) fn ends_with(&self, how: Settled) -> bool {
        let is_undone = |changed: &Changed| changed.is_undone;
        !self.after.is_empty() || (how == Settled::Failed && self.changed.iter().any(is_undone))
    }

    /// What its end reads or changes, as it is.
    pub(super) fn met(&self, kept: &Kept) -> Values {
        let now = self.now();
        let is_concerned = |variable: &&Arc<Variable>| {
            let name = &variable.name;
            let undone = self.changed.iter().filter(|changed| changed.is_undone);
            undone.map(|changed| &changed.variable.name).any(|other| other == name)
                || self
                    .after
                    .iter()
                    .any(|after| after.variable.name == *name || reads(&after.expression, name))
        };
        let variables = self.machine.variables().iter().filter(is_concerned);
        variables
            .map(|variable| (Arc::clone(&variable.name), seen(variable, Some(kept), &now).belief))
            .collect()
    }

    /// What its end changes where the state is this.
    pub(super) fn at_end(&self, met: &Values, ended: &Ended<'_>) -> Vec<Changed> {
        match ended.answer.filter(|_| ended.how != Settled::Lost) {
            Some(said) => self.answered(met, said),
            None => {
                let given = self.after.iter().map(|after| (after, lost_of(after, &self.tool)));
                merged(given.collect(), self.now().ok())
            }
        }
    }

    /// What the `after` effects give, all from this state.
    fn answered(&self, met: &Values, said: &dyn Said) -> Vec<Changed> {
        let Some(call) = &self.call else { return Vec::new() };
        let met = met
            .iter()
            .map(|(name, belief)| (Arc::clone(name), Seen { belief: belief.clone(), in_flight: Vec::new() }));
        let kept = Kept::recorded(met);
        let view = View::new(&self.machine, Some(&kept), &call.now);
        view.change();
        let env = AfterEnv::new((&self.tool, call), &view, said);
        let mut budget = Budget::new(Budget::DECISION_STEPS);
        let given = self.after.iter().map(|after| {
            if !after.is_certain {
                return (after, worst(after, "it is not certain that a rule was for a call"));
            }
            (after, in_all(after, &view, &env, &mut budget))
        });
        merged(given.collect(), call.now.as_ref().ok().copied())
    }

    /// What these changes make of this state. When a window is known again is told when it is read.
    pub(super) fn made(&self, met: &Values, changes: &[Changed]) -> Values {
        let mut made = Values::new();
        for changed in changes {
            let name = &changed.variable.name;
            let before = of(&made, name).or_else(|| of(met, name)).cloned();
            let before = before.unwrap_or_else(|| Belief::unknown("nothing is said of it"));
            let after = match &changed.change {
                Change::Unclear { why, .. } => Belief::Unknown(Arc::clone(why)),
                change => change.apply(&changed.variable, before).unwrap_or_else(|why| why.belief()),
            };
            made.retain(|(other, _)| other != name);
            made.push((Arc::clone(name), after));
        }
        made
    }

    /// What a variable holds without what the call made of it, where that can be told; else what is told of it.
    /// Nothing: such an end takes none of it back.
    fn without(
        &self,
        name: &str,
        told: &Belief,
        (noted, call): (&Settlement, Option<&Noted>),
    ) -> Option<Belief> {
        let own = |changed: &&Changed| changed.is_undone && &*changed.variable.name == name;
        let mut changes = self.changed.iter().filter(own).peekable();
        if noted.how != Settled::Failed || changes.peek().is_none() {
            return None;
        }
        let mut belief = of(&noted.before, name)?.clone();
        for changed in changes {
            match (&changed.change, &mut belief) {
                (Change::Entry { amount, .. }, Belief::Known(Value::Summary(summary))) => {
                    summary.sum = summary.sum.sub(amount).ok()?;
                    summary.count = summary.count.checked_sub(1)?;
                    // When the first of the rest is too old only the whole window says.
                    summary.until = match told {
                        Belief::Known(Value::Summary(told)) => told.until,
                        _ => None,
                    };
                }
                (Change::Entry { .. } | Change::Unclear { .. }, _) => return Some(told.clone()),
                (Change::Join(with), belief) if changed.variable.combine == Some(Combine::Add) => {
                    if !subtracted(belief, with) {
                        return None;
                    }
                }
                (Change::Join(_) | Change::To(_), belief) => {
                    let before = call?.before.iter().find(|(other, _)| &**other == name)?;
                    *belief = before.1.belief.clone();
                }
            }
        }
        Some(belief)
    }
}

#[cfg(test)]
mod tests;
