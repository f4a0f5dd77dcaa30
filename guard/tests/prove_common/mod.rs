//! The real solver, and what it says of a property.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use framegate_guard::Decision;
use framegate_guard::prove::{Lemmas, Model, Next, Outcome, Search, guesses};
use framegate_guard::state::Value;

/// What the solver prints.
pub(crate) fn z3(script: &str) -> String {
    let child = Command::new("z3").arg("-in").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.unwrap_or_else(|why| {
        panic!(
            "these tests need the program z3 on PATH ({why}): install Debian's package `z3`, or run .ci/run"
        )
    });
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// What comes of a property, looked for up to this depth.
pub(crate) fn outcome(model: &mut Model, property: usize, depth: usize) -> Outcome {
    let guesses = guesses(model);
    let model = &*model;
    let mut lemmas = Lemmas::new(model, guesses);
    while let Some(query) = lemmas.next() {
        lemmas.answer(&query.read(model, &z3(&query.script)).unwrap());
    }
    let mut search = Search::new(model, property, depth).knowing(lemmas.held());
    loop {
        match search.next() {
            Next::Ask(query) => search.answer(query.read(model, &z3(&query.script)).unwrap()),
            Next::Done(outcome) => return outcome,
        }
    }
}

/// A comparison of a variable with a number.
#[derive(Debug, Clone)]
pub(crate) struct Test(pub(crate) &'static str, pub(crate) &'static str, pub(crate) u8);

impl Test {
    pub(crate) fn text(&self) -> String {
        format!("state.{} {} {}", self.0, self.1, self.2)
    }

    /// Of the state that a call met: of what is not known nothing is true.
    pub(crate) fn holds(&self, decision: &Decision) -> bool {
        let state = decision.state.as_ref().unwrap();
        let (_, seen) = state.before.iter().find(|(name, _)| **name == *self.0).unwrap();
        let number = match seen.belief.value() {
            Some(Value::Int(number)) => number.to_string(),
            Some(Value::Summary(summary)) => summary.sum.to_string(),
            _ => return false,
        };
        let (number, other) = (number.parse::<f64>().unwrap(), f64::from(self.2));
        match self.1 {
            ">" => number > other,
            "<" => number < other,
            // Halves and whole numbers: no digits are lost.
            _ => (number - other).abs() < 0.01,
        }
    }
}
