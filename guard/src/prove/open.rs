//! What both kinds of policy keep beside their variables: calls under way, and whether a property's `after` was true.

use num_bigint::BigInt;

use super::model::{Event, EventKind, Model};
use super::term::{Id, Two, Value};

/// An event's effects and what the solver chooses at it.
pub(crate) type Parts = (Vec<(usize, Id)>, Vec<usize>);

impl Model {
    /// A counter of a tool's open calls.
    pub(crate) fn open_counter(&mut self, tool: &str) -> usize {
        let at = self.own_variable(format!("open {tool}"), Value::Int(BigInt::ZERO));
        if let Some(variable) = self.variables.get_mut(at) {
            variable.range = Some((BigInt::ZERO, BigInt::from(i64::MAX)));
        }
        at
    }

    /// Whether any call that it counts is open.
    pub(crate) fn is_open(&mut self, open: usize) -> Id {
        let (zero, count) = (self.terms.int(0), self.read(open));
        self.terms.less(zero, count)
    }

    /// Whether any call that one of them counts is open.
    pub(crate) fn is_any_open(&mut self, open: Vec<usize>) -> Id {
        let any: Vec<Id> = open.into_iter().map(|at| self.is_open(at)).collect();
        self.terms.any(any)
    }

    /// One call more, or less.
    pub(crate) fn counted(&mut self, open: usize, by: i32) -> Id {
        let (count, by) = (self.read(open), self.terms.int(by));
        self.terms.two(Two::Add, count, by)
    }

    /// For each property with an `after`: whether that was true of an allowed call.
    pub(crate) fn seen(&mut self, has_after: impl Iterator<Item = bool>) -> Vec<Option<usize>> {
        let seen = |(at, has_after): (usize, bool)| {
            has_after.then(|| self.own_variable(format!("seen#{at}"), Value::Bool(false)))
        };
        has_after.enumerate().map(seen).collect()
    }

    /// An open call's answer comes in, or never will, where this holds.
    pub(crate) fn ended(
        &mut self,
        (tool, shown): (&str, &str),
        kind: EventKind,
        open: usize,
        possible: Id,
        (mut effects, inputs): Parts,
    ) {
        effects.push((open, self.counted(open, -1)));
        let is_open = self.is_open(open);
        let possible = self.terms.all([is_open, possible]);
        let (tool, shown) = (tool.to_owned(), shown.to_owned());
        self.events.push(Event { tool, shown, kind, inputs, possible, effects, watched: Vec::new() });
    }
}
