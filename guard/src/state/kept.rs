//! What is kept of a session's state, and the three events that change it.

mod parts;

pub(crate) use parts::parted;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::after::AfterEnv;
use super::settled::{Settlement, over};
use super::window::Filed;
use super::{
    After, Belief, Change, Changed, Combine, Effects, Kind, Scope, Seen, Value, Variable, View, Window,
};
use crate::cel::Budget;
use crate::ledger::{Ended, Settled, StateNote};
use crate::world::Instant;

/// What is kept of a session's state.
#[derive(Debug, Default)]
pub struct Kept {
    /// By name. What is not here is as its policy declares it at first.
    values: BTreeMap<Arc<str>, Held>,
    /// Calls under way that changed something, or will, by their step.
    open: BTreeMap<u64, Open>,
    /// By variable: the calls under way that may change it with their answer, and their tools.
    pending: BTreeMap<Arc<str>, BTreeMap<u64, Arc<str>>>,
    /// Calls of other processes that are under way.
    elsewhere: BTreeMap<u64, parts::Flight>,
    /// What a store has of the windows as rows, and of which scope these are: a policy that is read anew may say that it
    /// is another one, and what was written on the rows of one was once unreadable on those of the other.
    filed: BTreeMap<Arc<str>, (Scope, Filed)>,
    /// It is what a record says: what is not here is not known.
    is_recorded: bool,
}

#[derive(Debug, Clone)]
struct Held {
    belief: Belief,
    /// The step that gave it this value; 0 for one of an earlier process.
    writer: u64,
}

#[derive(Debug)]
struct Open {
    effects: Arc<Effects>,
    /// What the variables that it changed held before; `None`: what they hold at first.
    before: Vec<(Arc<str>, Option<Held>)>,
}

impl Kept {
    /// What was kept before: by an earlier process, or another one.
    #[must_use]
    pub fn restored(values: impl IntoIterator<Item = (Arc<str>, Belief)>) -> Kept {
        let held = |(name, belief)| (name, Held { belief, writer: 0 });
        Kept { values: values.into_iter().map(held).collect(), ..Kept::default() }
    }

    /// What a record says a decision saw.
    #[must_use]
    pub(crate) fn recorded(seen: impl IntoIterator<Item = (Arc<str>, Seen)>) -> Kept {
        let mut kept = Kept { is_recorded: true, ..Kept::default() };
        for (name, Seen { belief, in_flight }) in seen {
            if !in_flight.is_empty() {
                kept.pending.insert(Arc::clone(&name), (1..).zip(in_flight).collect());
            }
            kept.values.insert(name, Held { belief, writer: 0 });
        }
        kept
    }

    /// All that was ever given a value, by name.
    pub fn values(&self) -> impl Iterator<Item = (&Arc<str>, &Belief)> {
        self.values.iter().map(|(name, held)| (name, &held.belief))
    }

    /// What is known of a variable, leaving aside what calls under way may change.
    #[must_use]
    pub fn belief(&self, variable: &Variable) -> Belief {
        match self.values.get(&variable.name) {
            Some(held) => held.belief.fitted(variable),
            None if self.is_recorded => {
                Belief::unknown(format!("the record does not say what `state.{}` was", variable.name))
            }
            None => Belief::Known(variable.init.clone()),
        }
    }

    /// Tools whose calls are under way and may change a variable.
    pub(super) fn in_flight(&self, variable: &str) -> Vec<Arc<str>> {
        let Some(calls) = self.pending.get(variable) else { return Vec::new() };
        calls.values().take(Seen::TOLD_MAX).cloned().collect()
    }

    /// A call goes out: what it changes at once is so for everybody from now on, and what it may change is uncertain.
    pub fn sent(&mut self, step: u64, effects: &Arc<Effects>) {
        self.begin_to_end(effects);
        let mut before = Vec::with_capacity(effects.changed.len());
        for changed in &effects.changed {
            before.push((Arc::clone(&changed.variable.name), self.write(changed, step)));
        }
        for after in &effects.after {
            self.pend(&after.variable.name, step, &effects.tool);
        }
        self.open.insert(step, Open { effects: Arc::clone(effects), before });
    }

    /// A window of which nothing is known: whatever it counts was added before this call, and is too old when that is.
    /// Where nobody said when, as for a call whose time was not known, it was once unknown for ever.
    fn begin_to_end(&mut self, effects: &Effects) {
        let decided = effects.call.as_ref().and_then(|call| call.now.as_ref().ok().copied());
        let changed = effects.changed.iter().map(|changed| (&changed.variable, changed.change.at()));
        for (variable, at) in changed.chain(effects.after.iter().map(|after| (&after.variable, decided))) {
            let (Kind::Window { per_us }, Some(at)) = (variable.kind, at) else { continue };
            let Some(held) = self.values.get_mut(&variable.name) else { continue };
            if let Belief::Unknown(why) = held.belief.fitted(variable) {
                let mut window = Window::default();
                window.push_unclear(per_us, at, &why, 0);
                held.belief = Belief::Known(Value::Window(Arc::new(window)));
            }
        }
    }

    /// Makes one change; what was there before. A window is not copied for it.
    fn write(&mut self, changed: &Changed, step: u64) -> Option<Held> {
        let (variable, name) = (&*changed.variable, &changed.variable.name);
        let held = self.values.remove(name);
        let before = match &changed.change {
            // It is taken back by its step, entry by entry.
            change if change.is_entry() => None,
            _ => held.clone(),
        };
        let belief = match held {
            Some(held) if held.belief.value().is_none_or(|value| value.fits(variable.kind)) => held.belief,
            Some(held) => held.belief.fitted(variable),
            None => Belief::Known(variable.init.clone()),
        };
        let belief = changed.change.make(variable, belief, step);
        self.values.insert(Arc::clone(name), Held { belief, writer: step });
        before
    }

    /// The call's answer is in, or will never be. What the record of its end says.
    pub fn settle(&mut self, step: u64, ended: &Ended<'_>) -> Option<StateNote> {
        let open = self.open.remove(&step)?;
        let effects = &open.effects;
        self.no_longer_pending(step, effects);
        if !effects.ends_with(ended.how) {
            return None;
        }
        let before = effects.met(self);
        let mut undone = Vec::new();
        if ended.how == Settled::Failed {
            let names = self.take_back(step, &open, |changed| changed.is_undone);
            undone = effects.met(self);
            undone.retain(|(name, _)| names.contains(name));
        }
        let met = over(&before, &undone);
        let changes = effects.at_end(&met, ended);
        let after = over(&undone, &effects.made(&met, &changes));
        for changed in changes {
            let _ = self.write(&changed, step);
        }
        let settlement = Settlement { how: ended.how, before, undone, after };
        (!settlement.after.is_empty()).then(|| StateNote(settlement.spelled()))
    }

    /// The call was not sent after all.
    pub fn undo(&mut self, step: u64) {
        let Some(open) = self.open.remove(&step) else { return };
        self.no_longer_pending(step, &open.effects);
        self.take_back(step, &open, |_| true);
    }

    fn no_longer_pending(&mut self, step: u64, effects: &Effects) {
        effects.after.iter().for_each(|after| self.pend_no_more(&after.variable.name, step));
    }

    fn pend(&mut self, name: &Arc<str>, step: u64, tool: &Arc<str>) {
        self.pending.entry(Arc::clone(name)).or_default().insert(step, Arc::clone(tool));
    }

    fn pend_no_more(&mut self, name: &Arc<str>, step: u64) {
        let Some(calls) = self.pending.get_mut(name) else { return };
        calls.remove(&step);
        if calls.is_empty() {
            self.pending.remove(name);
        }
    }

    /// Takes back what a call changed, as far as nobody changed it since: entries and sums exactly, a value where it
    /// is still that call's. What it took back.
    fn take_back(&mut self, step: u64, open: &Open, which: impl Fn(&Changed) -> bool) -> Vec<Arc<str>> {
        let mut taken = Vec::new();
        // The last one first: what it found is what the one before it left.
        for (changed, (name, before)) in open.effects.changed.iter().zip(&open.before).rev() {
            if !which(changed) {
                continue;
            }
            let Some(held) = self.values.get_mut(name) else { continue };
            let is_taken = match (&changed.change, &mut held.belief) {
                (change, Belief::Known(Value::Window(window))) if change.is_entry() => {
                    Arc::make_mut(window).take_off(step)
                }
                // Nothing is known of it, with the entry or without. As if nothing had been there before, it was once
                // empty after a call that failed.
                (change, _) if change.is_entry() => false,
                (Change::Join(with), belief) if changed.variable.combine == Some(Combine::Add) => {
                    subtracted(belief, with)
                }
                _ if held.writer == step => {
                    match before {
                        Some(before) => *held = before.clone(),
                        None => drop(self.values.remove(name)),
                    }
                    true
                }
                _ => false,
            };
            if is_taken {
                taken.push(Arc::clone(name));
            }
        }
        taken
    }
}

/// What an effect gives in all the states that may be.
pub(super) fn in_all(after: &After, view: &View<'_>, env: &AfterEnv<'_>, budget: &mut Budget) -> Belief {
    let places = match view.uncertain(std::iter::once(&*after.expression)) {
        Ok(places) => places,
        Err(failure) => return failed(after, &failure.message),
    };
    let mut given: Option<Value> = None;
    for bits in 0..1_usize << places.len() {
        view.choose(&places, bits);
        let value = after.expression.evaluate(env, budget).map_err(|failure| failure.message);
        let value =
            value.and_then(|value| Value::of(&value, after.variable.kind).map_err(|why| why.to_string()));
        view.choose_none();
        match (value, &given) {
            (Err(why), _) => return failed(after, &why),
            (Ok(value), Some(other)) if value != *other => {
                return worst(after, "it depends on what is not certain");
            }
            (Ok(value), _) => given = Some(value),
        }
    }
    given.map_or(Belief::Either, Belief::Known)
}

fn failed(after: &After, why: &str) -> Belief {
    Belief::unknown(format!("`after` of `{}` could not be computed: {why}", after.rule))
}

/// What becomes of a variable of a call whose answer nobody knows: the worst that it can be.
pub(super) fn lost_of(after: &After, tool: &str) -> Belief {
    match &after.lost {
        Some(value) => Belief::Known(value.clone()),
        None => worst(after, &format!("a call of `{tool}` got no answer")),
    }
}

/// Whatever it turns out to be.
pub(super) fn worst(after: &After, why: &str) -> Belief {
    if after.variable.kind == Kind::Bool { Belief::Either } else { Belief::unknown(why) }
}

/// One change a variable, and for a window one an amount. Two rules that give one variable the same value are one; a
/// policy with two that may give it different ones was refused, unless it combines them.
pub(super) fn merged(given: Vec<(&After, Belief)>, now: Option<Instant>) -> Vec<Changed> {
    let mut changes: Vec<Changed> = Vec::new();
    for (after, belief) in given {
        let variable = &after.variable;
        add(&mut changes, Changed::of(variable, belief, now, false));
    }
    changes
}

/// Adds a change to those of the same call.
pub(crate) fn add(changes: &mut Vec<Changed>, new: Changed) {
    let is_window = matches!(new.variable.kind, Kind::Window { .. });
    let known = changes.iter_mut().find(|changed| changed.variable.name == new.variable.name);
    let Some(known) = known.filter(|_| !is_window) else {
        changes.push(new);
        return;
    };
    known.is_undone &= new.is_undone;
    match (&mut known.change, new.change) {
        (Change::Join(with), Change::Join(more)) => with.extend(more),
        (known, new) if *known != new => {
            *known = Change::To(Belief::unknown("two effects of one call give it different values"));
        }
        _ => {}
    }
}

/// Takes what was added off a sum that others changed since; says whether it could.
pub(super) fn subtracted(belief: &mut Belief, added: &[Belief]) -> bool {
    for one in added {
        let less = match (&*belief, one) {
            (Belief::Known(Value::Int(sum)), Belief::Known(Value::Int(part))) => {
                sum.checked_sub(*part).map(Value::Int)
            }
            (Belief::Known(Value::Decimal(sum)), Belief::Known(Value::Decimal(part))) => {
                sum.sub(part).ok().map(Value::Decimal)
            }
            _ => None,
        };
        match less {
            Some(less) => *belief = Belief::Known(less),
            None => return false,
        }
    }
    true
}
