//! What an expression means to the solver. A condition is two terms, *certainly true* and *certainly false*: where
//! neither is so it has no value, which the guard asks a person about. So `&&` and `||` go as they do there: one side
//! that decides makes up for an error of the other.

use super::super::term::{Id, Sort, Terms, Two};
use crate::cel::{Type, Value};

/// A part of an expression.
#[derive(Debug, Clone)]
pub(super) enum Meaning {
    Bool {
        yes: Id,
        no: Id,
    },
    /// A value that is written in the policy.
    Constant(Value<'static>),
    Number {
        value: Id,
        ok: Id,
    },
    /// What the solver knows nothing about but its name: the same one where the same is written.
    Opaque {
        key: String,
        /// Of an argument: its name.
        argument: Option<String>,
        ok: Id,
        kind: Type,
    },
    Text {
        value: Id,
        ok: Id,
    },
}

/// A condition that is always true, or always false.
pub(super) fn truth(terms: &mut Terms, value: bool) -> Meaning {
    Meaning::Bool { yes: terms.bool(value), no: terms.bool(!value) }
}

/// A test that has a value where `ok`.
pub(super) fn test(terms: &mut Terms, is: Id, ok: Id) -> Meaning {
    let not = terms.not(is);
    Meaning::Bool { yes: terms.all([ok, is]), no: terms.all([ok, not]) }
}

pub(super) fn not((yes, no): (Id, Id)) -> Meaning {
    Meaning::Bool { yes: no, no: yes }
}

pub(super) fn both(terms: &mut Terms, all: &[(Id, Id)]) -> Meaning {
    let yes = terms.all(all.iter().map(|(yes, _)| *yes));
    Meaning::Bool { yes, no: terms.any(all.iter().map(|(_, no)| *no)) }
}

pub(super) fn either(terms: &mut Terms, all: &[(Id, Id)]) -> Meaning {
    let yes = terms.any(all.iter().map(|(yes, _)| *yes));
    Meaning::Bool { yes, no: terms.all(all.iter().map(|(_, no)| *no)) }
}

/// Two numbers of one sort.
pub(super) fn alike(terms: &mut Terms, a: Id, b: Id) -> (Id, Id) {
    if terms.sort(a) == terms.sort(b) { (a, b) } else { (terms.to_real(a), terms.to_real(b)) }
}

/// Equality of numbers, texts and conditions; of two kinds it is false.
pub(super) fn equal(terms: &mut Terms, a: Id, b: Id) -> Id {
    match (terms.sort(a), terms.sort(b)) {
        (Sort::Int | Sort::Real, Sort::Int | Sort::Real) => {
            let (a, b) = alike(terms, a, b);
            terms.equal(a, b)
        }
        (one, other) if one == other => terms.equal(a, b),
        _ => terms.bool(false),
    }
}

/// A comparison by its parts: `a < b`, or with `or_equal` `a <= b`.
pub(super) fn ordered(terms: &mut Terms, a: Id, b: Id, or_equal: bool) -> Option<Id> {
    let (a, b) = match (terms.sort(a), terms.sort(b)) {
        (Sort::Int | Sort::Real, Sort::Int | Sort::Real) => alike(terms, a, b),
        (Sort::Text, Sort::Text) => (a, b),
        _ => return None,
    };
    Some(terms.two(if or_equal { Two::AtMost } else { Two::Less }, a, b))
}
