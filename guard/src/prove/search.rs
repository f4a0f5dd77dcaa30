//! The search for a counter-example and for a proof. It asks nobody: it gives questions and takes answers.
//!
//! For each depth in turn, first whether a sequence of so many events from the start breaks the property (the first
//! one found is a shortest one), then whether from *any* state so many events without a break, through states all
//! different, can be followed by one that breaks it. If they cannot, no longer sequence breaks it either.

use super::counter::{Answer, Moment};
use super::evaluate::evaluate;
use super::model::{Model, Variable};
use super::smt::{From, Query, Script};
use super::term::{Id, Value};

/// What came of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A shortest sequence that breaks it.
    Broken(Vec<Moment>),
    /// It holds for every sequence; the depth of the induction.
    Proved(usize),
    /// Neither was found, and why.
    Undecided(String),
}

/// What to do next.
#[derive(Debug, Clone)]
pub enum Next {
    /// Ask this, and give the answer to [`Search::answer`].
    Ask(Query),
    /// It is over.
    Done(Outcome),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Whether a sequence of that length breaks it.
    Base,
    /// Whether longer ones can, if those up to that length do not.
    Induction,
}

/// The search for one property.
#[derive(Debug)]
pub struct Search<'m> {
    model: &'m Model,
    property: usize,
    depth: usize,
    depth_max: usize,
    stage: Stage,
    known: Vec<Id>,
    done: Option<Outcome>,
}

impl<'m> Search<'m> {
    /// A search over sequences of up to `depth_max` events.
    #[must_use]
    pub fn new(model: &'m Model, property: usize, depth_max: usize) -> Search<'m> {
        let (known, stage) = (Vec::new(), Stage::Base);
        Search { model, property, depth: 0, depth_max, stage, known, done: None }
    }

    /// With what is known of every state that can be reached ([`Lemmas`](super::Lemmas)).
    #[must_use]
    pub fn knowing(mut self, known: Vec<Id>) -> Search<'m> {
        self.known = known;
        self
    }

    /// What to ask, or what came of it.
    #[must_use]
    pub fn next(&self) -> Next {
        match &self.done {
            Some(outcome) => Next::Done(outcome.clone()),
            None => Next::Ask(match self.stage {
                Stage::Base => self.base(),
                Stage::Induction => self.induction(),
            }),
        }
    }

    /// Takes the answer to the last question.
    pub fn answer(&mut self, answer: Answer) {
        match (self.stage, answer) {
            (Stage::Base, Answer::Sat(moments)) => self.found(moments),
            (Stage::Base, Answer::Unsat) => self.stage = Stage::Induction,
            (Stage::Base, Answer::Unknown(why)) => {
                // A shorter one may hide here: what is found later is not a shortest one, so the search ends.
                let why = format!("whether {} can break it: {why}", events(self.depth + 1));
                self.done = Some(Outcome::Undecided(why));
            }
            (Stage::Induction, Answer::Unsat) => self.done = Some(Outcome::Proved(self.depth)),
            (Stage::Induction, _) if self.depth >= self.depth_max => self.end(),
            (Stage::Induction, _) => {
                self.depth += 1;
                self.stage = Stage::Base;
            }
        }
    }

    fn end(&mut self) {
        let why = format!(
            "no sequence of up to {} breaks it, and no proof was found at that depth: a larger --depth may find one, or \
             an invariant of the policy that says what is always so in between",
            events(self.depth + 1)
        );
        self.done = Some(Outcome::Undecided(why));
    }

    /// Of a property over states a sequence of `depth` events ends in the state; of one over calls the call is one more.
    fn steps(&self, depth: usize) -> usize {
        depth + usize::from(!self.is_of_states())
    }

    fn is_of_states(&self) -> bool {
        self.model.properties.get(self.property).is_some_and(|property| property.state.is_some())
    }

    fn base(&self) -> Query {
        let mut script = Script::new(self.model, From::Initial, &[]);
        (0..self.steps(self.depth)).for_each(|_| script.step());
        script.end(Some(self.property));
        let violated = script.violated(self.property, self.depth);
        script.assert(&violated);
        script.query()
    }

    fn induction(&self) -> Query {
        let depth = self.depth + 1;
        let mut script = Script::new(self.model, From::Anywhere, &self.known);
        (0..self.steps(depth)).for_each(|_| script.step());
        script.end(Some(self.property));
        (0..=depth).for_each(|state| script.lemmas(state));
        for at in 0..depth {
            let violated = script.violated(self.property, at);
            script.assert(&format!("(not {violated})"));
        }
        let violated = script.violated(self.property, depth);
        script.assert(&violated);
        script.distinct(depth + 1);
        script.query()
    }

    /// A solver's sequence is believed once it was followed here, event by event.
    fn found(&mut self, moments: Vec<Moment>) {
        self.done = Some(match self.followed(&moments) {
            Ok(()) => Outcome::Broken(moments),
            Err(why) => Outcome::Undecided(format!("the solver's sequence is none: {why}")),
        });
    }

    fn followed(&self, moments: &[Moment]) -> Result<(), String> {
        let is_initial = |(variable, value): (&Variable, &Value)| {
            variable.initial.as_ref().is_none_or(|initial| initial == value)
        };
        let begins = |first: &Moment| self.model.variables.iter().zip(&first.state).all(is_initial);
        if !moments.first().is_some_and(begins) {
            return Err("it does not begin with the initial state".to_owned());
        }
        if moments.len() != self.steps(self.depth) + 1 {
            return Err("it is not as long as was asked".to_owned());
        }
        for (at, pair) in moments.windows(2).enumerate() {
            let [before, after] = pair else { continue };
            let Some((event, inputs)) = &before.event else { return Err(format!("no event {}", at + 1)) };
            let next = self.model.next(&before.state, *event, inputs);
            if next.as_ref() != Some(&after.state) {
                return Err(format!("event {} does not lead there", at + 1));
            }
        }
        if self.breaks(moments) { Ok(()) } else { Err("it breaks nothing".to_owned()) }
    }

    fn breaks(&self, moments: &[Moment]) -> bool {
        let last = |back: usize| moments.len().checked_sub(back).and_then(|at| moments.get(at));
        if self.is_of_states() {
            return last(1).is_some_and(|moment| self.model.is_bad(self.property, &moment.state));
        }
        let Some(Moment { state, event: Some((event, inputs)) }) = last(2) else { return false };
        self.model.breaks(self.property, state, *event, inputs)
    }
}

impl Model {
    /// The state after an event; `None` where it is not possible.
    #[must_use]
    pub fn next(&self, state: &[Value], event: usize, inputs: &[Value]) -> Option<Vec<Value>> {
        let event = self.events.get(event)?;
        let roots: Vec<_> =
            std::iter::once(event.possible).chain(event.effects.iter().map(|(_, term)| *term)).collect();
        let mut values = evaluate(&self.terms, &roots, state, inputs).into_iter();
        if values.next()? != Some(Value::Bool(true)) {
            return None;
        }
        let mut next = state.to_vec();
        for ((at, _), value) in event.effects.iter().zip(values) {
            *next.get_mut(*at)? = value?;
        }
        Some(next)
    }

    /// Whether a state breaks a property over states.
    #[must_use]
    pub fn is_bad(&self, property: usize, state: &[Value]) -> bool {
        let term = self.properties.get(property).and_then(|property| property.state);
        term.is_some_and(|term| evaluate(&self.terms, &[term], state, &[]) == [Some(Value::Bool(true))])
    }

    /// Whether an event breaks a property over calls.
    #[must_use]
    pub fn breaks(&self, property: usize, state: &[Value], event: usize, inputs: &[Value]) -> bool {
        let watched = self.events.get(event).into_iter().flat_map(|event| &event.watched);
        let roots: Vec<_> =
            watched.filter(|watch| watch.property == property).map(|watch| watch.never).collect();
        evaluate(&self.terms, &roots, state, inputs).contains(&Some(Value::Bool(true)))
    }
}

fn events(count: usize) -> String {
    if count == 1 { "one event".to_owned() } else { format!("{count} events") }
}
