//! `framegate prove`: what holds for every sequence of allowed calls.

mod policy;
mod report;
mod solver;

use framegate_guard::prove::{
    Answer, Id, Lemmas, Model, Moment, Next, Outcome, Played, Search, Suspicion, coverage, findings, guesses,
    suspicions, told,
};

use self::report::{Report, Result as Came};
use self::solver::Solver;
use super::out::{Failure, Out, say};
use crate::args::ProveArgs;
use crate::exit::Exit;

pub(crate) fn main(args: &ProveArgs) -> Exit {
    prove(args).unwrap_or_else(Failure::said)
}

fn prove(args: &ProveArgs) -> Result<Exit, Failure> {
    let mut subject = policy::read(args)?;
    let solver = if args.no_solver { None } else { Some(Solver::find(args.timeout)?) };
    let suspicions = suspicions(&mut subject.model);
    let guesses = guesses(&mut subject.model);
    let subject = subject;
    let model = &subject.model;
    let mut report = Report {
        policy: args.policy.display().to_string(),
        model,
        results: Vec::new(),
        findings: Vec::new(),
        unasked: 0,
        coverage: args.coverage.then(|| coverage(model)),
        solver: solver.is_some(),
    };
    if let Some(solver) = &solver {
        if subject.asked.is_empty() {
            say("no property is asked about: give `properties:` in the policy, --properties FILE or --never");
        }
        let known = if subject.asked.is_empty() { Vec::new() } else { known(solver, model, guesses)? };
        for (at, property) in subject.asked.iter().enumerate() {
            let came = decided(
                solver,
                Search::new(model, at, usize::from(args.depth)).knowing(known.clone()),
                model,
            )?;
            report.results.push((at, result(model, came, |moments| subject.played(property, moments))));
        }
    }
    (report.findings, report.unasked) = in_vain(model, &suspicions, solver.as_ref())?;
    let mut out = Out::stdout();
    let text = if args.json { report.json() } else { report.text() };
    out.line(&text).and_then(|()| out.flush()).map_err(|why| Failure::stdout(&why))?;
    Ok(exit(&report))
}

/// What the policy says in vain, and how much of that nobody could say.
fn in_vain(
    model: &Model,
    suspicions: &[Suspicion],
    solver: Option<&Solver>,
) -> Result<(Vec<String>, usize), Failure> {
    // One that takes too long for one of these small questions does for the next as well.
    let mut patient = solver;
    findings(suspicions, |query| {
        let Some(solver) = patient else { return Ok(None) };
        Ok(match solver.ask(model, query)? {
            Answer::Sat(_) => Some(true),
            Answer::Unsat => Some(false),
            Answer::Unknown(_) => {
                patient = None;
                None
            }
        })
    })
}

fn exit(report: &Report<'_>) -> Exit {
    let has = |wanted: fn(&Came) -> bool| report.results.iter().any(|(_, result)| wanted(result));
    if has(|result| matches!(result, Came::Broken { .. })) {
        return Exit::Failed;
    }
    if has(|result| !matches!(result, Came::Proved { .. })) {
        return Exit::Undecided;
    }
    Exit::Clean
}

/// What holds in every state that can be reached, as far as it is guessed.
fn known(solver: &Solver, model: &Model, guesses: Vec<Id>) -> Result<Vec<Id>, Failure> {
    let mut lemmas = Lemmas::new(model, guesses);
    while let Some(query) = lemmas.next() {
        lemmas.answer(&solver.ask(model, &query)?);
    }
    Ok(lemmas.held())
}

fn decided(solver: &Solver, mut search: Search<'_>, model: &Model) -> Result<Outcome, Failure> {
    loop {
        match search.next() {
            Next::Ask(query) => search.answer(solver.ask(model, &query)?),
            Next::Done(outcome) => return Ok(outcome),
        }
    }
}

/// A counter-example counts when the guard itself lets it through.
fn result(model: &Model, outcome: Outcome, played: impl FnOnce(&[Moment]) -> Played) -> Came {
    match outcome {
        Outcome::Proved(depth) => Came::Proved { depth },
        Outcome::Undecided(why) => Came::Undecided { why },
        Outcome::Broken(moments) => {
            let played = played(&moments);
            match played.differs {
                None => Came::Broken { steps: played.steps },
                Some(why) => Came::Spurious { steps: told(model, &moments), why },
            }
        }
    }
}
