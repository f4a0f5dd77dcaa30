//! The real solver, and what it says of a property.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use framegate_guard::prove::{Lemmas, Model, Next, Outcome, Search, guesses};

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
