//! The original's rows, the evaluator against a naive twin, limits, calls in flight.

mod cel;
mod corpus;
mod flight;
mod guarded;
mod imported;
mod limits;
mod native;
mod oracle;
mod past;
mod random;
mod twin;

use super::{Call, Denied, Dialect, Praxiom, State, Verdict};
use crate::json::{Document, Limits};

fn load(text: &str) -> Praxiom {
    Praxiom::load("policy.yaml", text.as_bytes(), Dialect::Safe).unwrap_or_else(|errors| panic!("{errors}"))
}

fn original(text: &str) -> Praxiom {
    Praxiom::load("policy.yaml", text.as_bytes(), Dialect::Original)
        .unwrap_or_else(|errors| panic!("{errors}"))
}

fn errors(text: &str) -> String {
    let errors = Praxiom::load("policy.yaml", text.as_bytes(), Dialect::Safe).expect_err("it is wrong");
    errors.problems().iter().map(|problem| problem.message()).collect::<Vec<_>>().join("\n")
}

fn document(text: &str) -> Document {
    let limits = Limits { number_digits: 10_000, ..Limits::default() };
    Document::read(text.to_owned().into(), &limits).unwrap()
}

fn decide(policy: &Praxiom, state: &State, tool: &str, arguments: &str, in_flight: &[&str]) -> Verdict {
    let arguments = document(arguments);
    policy.decide(state, &Call { tool, upstream: "t", arguments: Some(arguments.root()) }, in_flight)
}

fn allowed(verdict: Verdict) -> State {
    match verdict {
        Verdict::Allow(allowed) => allowed.next,
        other => panic!("{other:?}"),
    }
}

fn denied(verdict: Verdict) -> Denied {
    match verdict {
        Verdict::Deny(denied) => denied,
        other => panic!("{other:?}"),
    }
}
