//! What a refused call is told: the original's words, and our own for what it cannot say.

use super::Praxiom;
use super::machine::{Because, Call, Denied, Invariant, Verdict};
use super::program::Truth;
use super::python::repr;
use super::state::State;
use super::value::Why;

/// A guard, an invariant or an effect that stands in the way.
pub(crate) struct Stop<'p> {
    pub(crate) what: What<'p>,
    /// `None`: it is false.
    pub(crate) why: Option<Why>,
}

pub(crate) enum What<'p> {
    Effect(&'p str),
    Guard(&'p str),
    Invariant(&'p Invariant),
}

impl Praxiom {
    pub(crate) fn told(&self, why: Why) -> String {
        let name = |at: usize| self.variables.get(at).map(|(name, _)| repr(name)).unwrap_or_default();
        match why {
            Why::Divisor => "a divisor is zero".to_owned(),
            Why::InFlight(at) => {
                format!("a call in flight may still change {}; call again when it has answered", name(at))
            }
            Why::Lost(at) => {
                format!("the answer to an earlier call was not seen and may have changed {}", name(at))
            }
            Why::TooLong => "a value is too long".to_owned(),
        }
    }

    pub(crate) fn stopped(&self, state: &State, call: &Call<'_>, stop: &Stop<'_>) -> Verdict {
        let shown = self.shown(state);
        let (because, rule, subject, fails) = match &stop.what {
            What::Effect(name) => (Because::Undecided, *name, format!("the effect on {}", repr(name)), ""),
            What::Guard(label) => (Because::Guard, *label, format!("guard {}", repr(label)), "fails"),
            What::Invariant(invariant) => {
                let subject = format!("invariant {} ({})", repr(&invariant.name), invariant.source);
                (Because::Invariant, invariant.name.as_str(), subject, "violates")
            }
        };
        let (because, reason) = match stop.why {
            None => (because, format!("{fails} {subject}")),
            Some(why @ Why::InFlight(_)) => {
                (Because::InFlight, format!("cannot decide {subject}: {}", self.told(why)))
            }
            Some(why) => (Because::Undecided, format!("cannot decide {subject}: {}", self.told(why))),
        };
        denied(call, because, Some(rule), format!("{reason} [state: {shown}]"))
    }
}

/// What the model is told: the original's words around a reason.
#[must_use]
pub fn refusal(tool: &str, reason: &str) -> String {
    format!("praxiom blocked {}: {reason}", repr(tool))
}

/// `Err` for what is false, `Ok(Some(..))` for what is undecided.
pub(crate) fn stop(what: What<'_>, truth: Truth) -> Result<Option<Stop<'_>>, Stop<'_>> {
    match truth {
        Truth::True => Ok(None),
        Truth::Undecided(why) => Ok(Some(Stop { what, why: Some(why) })),
        Truth::False => Err(Stop { what, why: None }),
    }
}

pub(crate) fn denied(call: &Call<'_>, because: Because, rule: Option<&str>, reason: String) -> Verdict {
    let text = refusal(call.tool, &reason);
    Verdict::Deny(Denied { because, rule: rule.map(str::to_owned), reason, text })
}
