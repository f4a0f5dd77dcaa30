//! What holds in every state that can be reached, found before anything is asked: an induction that may begin in any
//! state fails in states that are never reached. Guesses about pairs of booleans (and of whether calls are
//! under way) and about numbers are made, and those
//! that one event can break are given up until none is broken; what is left holds together (the *Houdini* method).

use std::collections::BTreeSet;

use num_rational::BigRational;
use num_traits::Signed as _;

use super::counter::{Answer, Moment};
use super::evaluate::evaluate;
use super::model::Model;
use super::smt::{From, Query, Script};
use super::term::{Id, Sort, Value};

/// Booleans that are paired: their guesses grow with the square.
const BOOLS_MAX: usize = 16;
/// Counts of calls under way that are paired with them.
const COUNTS_MAX: usize = 8;
/// Numbers of the policy that are taken for bounds of a window.
const BOUNDS_MAX: usize = 16;

/// The guesses that are left.
#[derive(Debug)]
pub struct Lemmas<'m> {
    model: &'m Model,
    guesses: Vec<Id>,
    is_done: bool,
}

/// Guesses that are true at first.
pub fn guesses(model: &mut Model) -> Vec<Id> {
    let (mut literals, mut counts, mut guesses) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..model.variables.len() {
        let Some(variable) = model.variables.get(at) else { continue };
        let (initial, is_window, is_own) = (variable.initial.clone(), variable.is_window, variable.is_own);
        let Some(initial) = initial else { continue };
        let read = model.read(at);
        match &initial {
            Value::Bool(_) if literals.len() < 2 * BOOLS_MAX => {
                let not = model.terms.not(read);
                literals.extend([read, not]);
            }
            Value::Int(_) | Value::Real(_) => {
                let first = model.terms.value(initial);
                let (least, most) = (model.terms.at_most(first, read), model.terms.at_most(read, first));
                guesses.extend([least, most]);
                // What an answer may change is often so only while its call is under way.
                if is_own && counts.len() < 2 * COUNTS_MAX {
                    counts.extend([most, model.terms.not(most)]);
                }
                if is_window {
                    guesses.extend(bounds(model, read));
                }
            }
            _ => {}
        }
    }
    literals.extend(counts);
    for (at, first) in literals.iter().enumerate() {
        for second in literals.iter().skip(at) {
            guesses.push(model.terms.any([*first, *second]));
        }
    }
    let state: Vec<Value> = model
        .variables
        .iter()
        .map(|variable| variable.initial.clone().unwrap_or_else(|| Value::zero(variable.sort)))
        .collect();
    guesses.retain(|guess| model.terms.truth(*guess).is_none());
    let values = evaluate(&model.terms, &guesses, &state, &[]);
    let held = guesses.into_iter().zip(values).filter(|(_, value)| *value == Some(Value::Bool(true)));
    held.map(|(guess, _)| guess).collect()
}

/// That a number is at most one of those that the policy names, the smallest of them.
fn bounds(model: &mut Model, read: Id) -> Vec<Id> {
    let sort = model.terms.sort(read);
    let numbers: BTreeSet<BigRational> =
        model.terms.numbers().filter(|number| !number.is_negative()).collect();
    let numbers = numbers.into_iter().filter(|number| sort == Sort::Real || number.is_integer());
    let bound = |number: BigRational| {
        let number = match sort {
            Sort::Int => Value::Int(number.to_integer()),
            _ => Value::Real(number),
        };
        let number = model.terms.value(number);
        model.terms.at_most(read, number)
    };
    numbers.take(BOUNDS_MAX).map(bound).collect()
}

impl<'m> Lemmas<'m> {
    /// Begins with these.
    #[must_use]
    pub fn new(model: &'m Model, guesses: Vec<Id>) -> Lemmas<'m> {
        let is_done = guesses.is_empty() || model.events.is_empty();
        Lemmas { model, guesses, is_done }
    }

    /// The next question; `None` when what is left holds.
    #[must_use]
    pub fn next(&self) -> Option<Query> {
        if self.is_done {
            return None;
        }
        let mut script = Script::new(self.model, From::Anywhere, &self.guesses);
        script.step();
        script.end(None);
        script.lemmas(0);
        let broken = script.any_broken(1);
        script.assert(&broken);
        Some(script.query())
    }

    /// Takes the answer to it. Where there is none, nothing is known to hold.
    pub fn answer(&mut self, answer: &Answer) {
        let after = match answer {
            Answer::Unsat => {
                self.is_done = true;
                return;
            }
            Answer::Sat(moments) => moments.last(),
            Answer::Unknown(_) => None,
        };
        let before = self.guesses.len();
        match after {
            Some(moment) => self.keep_true(moment),
            None => self.guesses.clear(),
        }
        // An answer that breaks none is no answer to the question.
        if self.guesses.len() == before {
            self.guesses.clear();
        }
        self.is_done |= self.guesses.is_empty();
    }

    fn keep_true(&mut self, moment: &Moment) {
        let values = evaluate(&self.model.terms, &self.guesses, &moment.state, &[]);
        let mut values = values.into_iter();
        self.guesses.retain(|_| values.next().flatten() == Some(Value::Bool(true)));
    }

    /// What holds in every state that can be reached.
    #[must_use]
    pub fn held(self) -> Vec<Id> {
        self.guesses
    }
}
