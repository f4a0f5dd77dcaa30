//! Expressions of praxiom as terms. A value may be undecided there (a zero divisor, a variable that a lost answer may
//! have changed), and goes through conditions as in Kleene's logic; so each step becomes two terms: what it is, and
//! whether it is decided.

use crate::praxiom::ast::Compare;
use crate::praxiom::lower::List;
use crate::praxiom::program::{Program, Slot, Step};

use super::super::model::Model;
use super::super::smt::is_writable;
use super::super::term::{Id, Sort, Terms, Two};

/// What a program's steps stand for.
#[derive(Debug, Clone)]
pub(super) struct Names {
    pub(super) arguments: Vec<Id>,
    pub(super) payload: Id,
    pub(super) tool: Id,
    pub(super) upstream: Id,
    /// `None` for an answer that never came: undecided.
    pub(super) result: Option<Id>,
}

/// A step: what it is, and whether it is decided.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lowered {
    pub(super) value: Id,
    pub(super) decided: Id,
}

impl Lowered {
    /// Of a condition: it is decided, and true.
    pub(super) fn holds(self, terms: &mut Terms) -> Id {
        terms.all([self.value, self.decided])
    }
}

/// The program as a term. `None` when it has a text that no solver can write.
pub(super) fn lower(model: &mut Model, program: &Program, names: &Names) -> Option<Lowered> {
    let mut slots: Vec<Lowered> = Vec::with_capacity(program.steps().len());
    for step in program.steps() {
        let lowered = Steps { model, slots: &slots, names }.step(step)?;
        slots.push(lowered);
    }
    slots.pop()
}

struct Steps<'s> {
    model: &'s mut Model,
    slots: &'s [Lowered],
    names: &'s Names,
}

impl Steps<'_> {
    fn at(&self, slot: Slot) -> Option<Lowered> {
        self.slots.get(slot).copied()
    }

    fn decided(&mut self, value: Id) -> Lowered {
        Lowered { value, decided: self.model.terms.bool(true) }
    }

    fn text(&mut self, text: &str) -> Option<Id> {
        is_writable(text).then(|| self.model.terms.text(text))
    }

    fn step(&mut self, step: &Step) -> Option<Lowered> {
        Some(match step {
            Step::Bool(value) => {
                let value = self.model.terms.bool(*value);
                self.decided(value)
            }
            Step::Int(value) => {
                let value = self.model.terms.int(value.clone());
                self.decided(value)
            }
            Step::Str(text) => {
                let text = self.text(text)?;
                self.decided(text)
            }
            Step::Variable(at) => {
                let value = self.model.read(*at);
                self.decided(value)
            }
            Step::Argument(at) => {
                let value = *self.names.arguments.get(*at)?;
                self.decided(value)
            }
            Step::Payload => self.decided(self.names.payload),
            Step::Tool => self.decided(self.names.tool),
            Step::Upstream => self.decided(self.names.upstream),
            Step::Result => match self.names.result {
                Some(result) => self.decided(result),
                None => Lowered { value: self.model.terms.text(""), decided: self.model.terms.bool(false) },
            },
            Step::All(slots) => self.junction(slots, true)?,
            Step::Any(slots) => self.junction(slots, false)?,
            Step::If(condition, then, otherwise) => {
                let parts = (self.at(*condition)?, self.at(*then)?, self.at(*otherwise)?);
                self.choose(parts.0, parts.1, parts.2)
            }
            Step::Implies(left, right) => {
                let (left, right) = (self.at(*left)?, self.at(*right)?);
                let not = Lowered { value: self.model.terms.not(left.value), ..left };
                self.kleene(&[not, right], false)
            }
            Step::AsInt(slot) | Step::Neg(slot) | Step::Not(slot) => self.one(step, *slot)?,
            Step::Matches(slot, list) => self.listed(*slot, list, Two::Contains)?,
            Step::Member(slot, list) => self.listed(*slot, list, Two::Equal)?,
            _ => self.two(step)?,
        })
    }

    fn junction(&mut self, slots: &[Slot], is_all: bool) -> Option<Lowered> {
        let parts: Option<Vec<Lowered>> = slots.iter().map(|slot| self.at(*slot)).collect();
        Some(self.kleene(&parts?, is_all))
    }

    /// One decided part that decides makes up for all others.
    fn kleene(&mut self, parts: &[Lowered], is_all: bool) -> Lowered {
        let terms = &mut self.model.terms;
        let values = parts.iter().map(|part| part.value);
        let value = if is_all { terms.all(values) } else { terms.any(values) };
        let mut deciding = Vec::with_capacity(parts.len() + 1);
        for part in parts {
            let decides = if is_all { terms.not(part.value) } else { part.value };
            deciding.push(terms.all([part.decided, decides]));
        }
        // Without one that decides, all have to be decided; the value of a part that is not counts for nothing.
        let all = terms.all(parts.iter().map(|part| part.decided));
        let decides = terms.any(deciding.clone());
        let decided = terms.any([all, decides]);
        let value = match is_all {
            true => {
                let not = terms.not(decides);
                terms.all([value, not])
            }
            false => terms.any([value, decides]),
        };
        Lowered { value, decided }
    }

    fn choose(&mut self, condition: Lowered, then: Lowered, otherwise: Lowered) -> Lowered {
        let terms = &mut self.model.terms;
        let value = terms.choose(condition.value, then.value, otherwise.value);
        let taken = terms.choose(condition.value, then.decided, otherwise.decided);
        let known = terms.all([condition.decided, taken]);
        // Whatever an undecided condition is, the value is the same; then the value of either branch is it.
        let same = terms.equal(then.value, otherwise.value);
        let same = terms.all([same, then.decided, otherwise.decided]);
        Lowered { value, decided: terms.any([known, same]) }
    }

    fn one(&mut self, step: &Step, slot: Slot) -> Option<Lowered> {
        let part = self.at(slot)?;
        let terms = &mut self.model.terms;
        let (zero, one) = (terms.int(0), terms.int(1));
        let value = match step {
            Step::AsInt(_) => terms.choose(part.value, one, zero),
            Step::Neg(_) => terms.two(Two::Sub, zero, part.value),
            _ => terms.not(part.value),
        };
        Some(Lowered { value, ..part })
    }

    fn listed(&mut self, slot: Slot, list: &List, how: Two) -> Option<Lowered> {
        let part = self.at(slot)?;
        let mut any = Vec::with_capacity(list.items.len());
        for item in list.items.iter() {
            let item = self.text(item)?;
            let terms = &mut self.model.terms;
            any.push(if how == Two::Equal {
                terms.equal(part.value, item)
            } else {
                terms.two(how, part.value, item)
            });
        }
        Some(Lowered { value: self.model.terms.any(any), ..part })
    }

    fn two(&mut self, step: &Step) -> Option<Lowered> {
        let (two, left, right) = match step {
            Step::Add(a, b) => (Two::Add, a, b),
            Step::Sub(a, b) => (Two::Sub, a, b),
            Step::Mul(a, b) => (Two::Mul, a, b),
            Step::Div(a, b) => (Two::Div, a, b),
            Step::Mod(a, b) => (Two::Mod, a, b),
            Step::Concat(a, b) => (Two::Concat, a, b),
            Step::Contains(a, b) => (Two::Contains, a, b),
            Step::StartsWith(a, b) => (Two::StartsWith, a, b),
            Step::EndsWith(a, b) => (Two::EndsWith, a, b),
            Step::Compare(compare, a, b) => return self.compare(*compare, *a, *b),
            _ => return None,
        };
        let (left, right) = (self.at(*left)?, self.at(*right)?);
        let terms = &mut self.model.terms;
        let mut decided = terms.all([left.decided, right.decided]);
        if matches!(two, Two::Div | Two::Mod) {
            let zero = terms.int(0);
            let is_zero = terms.equal(right.value, zero);
            let not = terms.not(is_zero);
            decided = terms.all([decided, not]);
        }
        Some(Lowered { value: terms.two(two, left.value, right.value), decided })
    }

    fn compare(&mut self, compare: Compare, left: Slot, right: Slot) -> Option<Lowered> {
        let (left, right) = (self.at(left)?, self.at(right)?);
        let terms = &mut self.model.terms;
        let (a, b) = (left.value, right.value);
        let value = match compare {
            Compare::Eq => terms.equal(a, b),
            Compare::Ne => {
                let equal = terms.equal(a, b);
                terms.not(equal)
            }
            Compare::Lt => terms.less(a, b),
            Compare::Le => terms.at_most(a, b),
            Compare::Gt => terms.less(b, a),
            Compare::Ge => terms.at_most(b, a),
            Compare::Other(_) => return None,
        };
        Some(Lowered { value, decided: terms.all([left.decided, right.decided]) })
    }
}

impl From<crate::praxiom::Sort> for Sort {
    fn from(sort: crate::praxiom::Sort) -> Sort {
        match sort {
            crate::praxiom::Sort::Bool => Sort::Bool,
            crate::praxiom::Sort::Int => Sort::Int,
            crate::praxiom::Sort::Str => Sort::Text,
        }
    }
}
