//! The state of a policy: a value for each variable.

use std::fmt::Write as _;
use std::sync::Arc;

use num_bigint::BigInt;

use super::Praxiom;
use super::python;
use super::value::{Kept, Sort, Why};
use crate::json::{Document, Limits, Value};

/// What a policy remembers between calls. Cheap to clone, never changes: a transition gives another.
#[derive(Debug, Clone)]
pub struct State {
    pub(crate) values: Arc<[Kept]>,
    /// As the file writes the initial values, until the first commit.
    written: Option<Arc<[Kept]>>,
}

/// The same values, however they were come by.
impl PartialEq for State {
    fn eq(&self, other: &State) -> bool {
        self.values == other.values
    }
}

impl Eq for State {}

impl State {
    /// Whether a call has changed anything yet.
    pub(crate) fn is_committed(&self) -> bool {
        self.written.is_none()
    }

    pub(crate) fn initial(values: Vec<Kept>, written: &[Kept]) -> State {
        State { values: values.into(), written: Some(written.into()) }
    }

    pub(crate) fn committed(values: Vec<Kept>) -> State {
        State { values: values.into(), written: None }
    }
}

/// A state that does not belong to the policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the kept state does not fit the policy: {0}")]
pub struct StateError(pub(crate) String);

impl Praxiom {
    /// The state before the first call.
    #[must_use]
    pub fn initial(&self) -> State {
        self.initial.clone()
    }

    /// The state as denials and the audit line show it: `a=1, b=False, s='x'`.
    #[must_use]
    pub fn shown(&self, state: &State) -> String {
        let shown: Vec<String> =
            self.each_shown(state).map(|(name, value)| format!("{name}={value}")).collect();
        if shown.is_empty() { crate::prove::NO_STATE.to_owned() } else { shown.join(", ") }
    }

    /// Each variable with its value as it is shown, in the order declared.
    pub fn each_shown<'p>(&'p self, state: &'p State) -> impl Iterator<Item = (&'p str, String)> {
        let written = state.written.is_none();
        let values = state.written.as_ref().unwrap_or(&state.values);
        let pairs = self.variables.iter().zip(values.iter());
        pairs.map(move |((name, _), value)| (name.as_str(), value.shown(written)))
    }

    /// The state for a store, as JSON: an object of the variables. What nobody can say is an array with the
    /// reason; a state before its first commit says so.
    #[must_use]
    pub fn encode(&self, state: &State) -> String {
        let mut out = String::from(if state.written.is_some() { "{\"initial\":{" } else { "{\"state\":{" });
        for (at, ((name, _), value)) in self.variables.iter().zip(state.values.iter()).enumerate() {
            if at > 0 {
                out.push(',');
            }
            python::json_string(&mut out, name);
            out.push(':');
            put(&mut out, value);
        }
        out.push_str("}}");
        out
    }

    /// The state from a store.
    ///
    /// # Errors
    /// Another policy's state: a variable more or less, or of another type.
    pub fn decode(&self, text: &str) -> Result<State, StateError> {
        let limits = Limits { number_digits: super::yaml11::INT_DIGITS_MAX, ..Limits::default() };
        let document =
            Document::read(text.to_owned().into(), &limits).map_err(|why| StateError(why.to_string()))?;
        let root = document.root();
        if root.get("initial").is_some_and(|values| values.len() == self.variables.len()) {
            return Ok(self.initial());
        }
        let values = root.get("state").filter(|values| values.len() == self.variables.len());
        let values = values.ok_or_else(|| StateError("it has other variables".to_owned()))?;
        let read = self.variables.iter().enumerate().map(|(at, (name, sort))| {
            let value = values.get(name).and_then(|value| kept(value, *sort, at));
            value.ok_or_else(|| StateError(format!("`{name}` is no {}", sort.word())))
        });
        Ok(State::committed(read.collect::<Result<_, _>>()?))
    }
}

/// A value as JSON.
pub(crate) fn put(out: &mut String, value: &Kept) {
    // Writing to a string cannot fail.
    let _ = match value {
        Kept::Bool(value) => write!(out, "{value}"),
        Kept::Int(value) => write!(out, "{value}"),
        Kept::Str(text) => {
            python::json_string(out, text);
            Ok(())
        }
        Kept::Unknown(why) => write!(out, "[\"{}\"]", why.word()),
    };
}

pub(crate) fn kept(value: Value<'_>, sort: Sort, at: usize) -> Option<Kept> {
    if let Some(why) = value.item(0).and_then(Value::as_str) {
        return Why::of(why, at).map(Kept::Unknown);
    }
    match sort {
        Sort::Bool => value.as_bool().map(Kept::Bool),
        Sort::Int => BigInt::parse_bytes(value.number()?.as_bytes(), 10).map(Kept::Int),
        Sort::Str => value.as_str().map(|text| Kept::Str(text.into())),
    }
}

impl Why {
    fn word(self) -> &'static str {
        match self {
            Why::Divisor => "zero divisor",
            Why::InFlight(_) => "in flight",
            Why::Lost(_) => "answer lost",
            Why::TooLong => "too long",
        }
    }

    fn of(word: &str, at: usize) -> Option<Why> {
        Some(match word {
            "zero divisor" => Why::Divisor,
            // A process that ended while a call was in flight has lost its answer.
            "in flight" | "answer lost" => Why::Lost(at),
            "too long" => Why::TooLong,
            _ => return None,
        })
    }
}
