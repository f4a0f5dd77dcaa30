//! A policy as a transition system: variables, and events that change them. It knows no policy language; what builds
//! one says what an event may do, never less. Whatever is only known roughly is an [`Input`] that the solver chooses
//! freely: then more sequences are possible here than in the guard, and what holds for all of them holds there too.

use std::collections::HashMap;

use num_bigint::BigInt;

use super::term::{Id, Sort, Terms, Value};

/// A state variable.
#[derive(Debug, Clone)]
pub struct Variable {
    /// As the policy names it.
    pub name: String,
    /// Its sort.
    pub sort: Sort,
    /// Its value before the first call; `None`: any, and it keeps it unless an event changes it.
    pub initial: Option<Value>,
    /// The values it can have in any case.
    pub range: Option<(BigInt, BigInt)>,
    /// Bookkeeping of the model, not of the policy: never printed.
    pub is_own: bool,
    /// It may fall by any part whenever it likes: what bounds it is among the numbers of the policy.
    pub is_window: bool,
}

/// What the solver chooses at a step.
#[derive(Debug, Clone)]
pub struct Input {
    /// What it is called in a counter-example: `args.path`.
    pub label: String,
    /// Its sort.
    pub sort: Sort,
    /// What it is.
    pub kind: InputKind,
}

/// What an [`Input`] stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputKind {
    /// An argument of the call, by its name.
    Argument(String),
    /// Something the model knows nothing about, as it is written in the policy: any value is taken for possible.
    Free(String),
    /// Whether an argument is given, by its name.
    Given(String),
    /// `payload`, `result` and the like, by that name.
    Named(&'static str),
    /// Of the model's own making: never printed.
    Own,
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// The answer of an open call comes in.
    Answer,
    /// A call is allowed.
    Call,
    /// It is known that an open call's answer will never come.
    Lost,
    /// A call of another server of the same session, or its answer.
    Elsewhere,
    /// Another session begins on the same store.
    Restart,
}

/// A property as one event sees it: over the state before it, and the call.
#[derive(Debug, Clone, Copy)]
pub struct Watch {
    /// The property's place.
    pub property: usize,
    /// What may never be true here; with `after`, once that was.
    pub never: Id,
}

/// A kind of step.
#[derive(Debug, Clone)]
pub struct Event {
    /// The tool.
    pub tool: String,
    /// What people are told of it: the pattern of the policy where it stands for all that this one matches.
    pub shown: String,
    /// What happens.
    pub kind: EventKind,
    /// What the solver chooses, by place in [`Model::inputs`].
    pub inputs: Vec<usize>,
    /// Only where this holds.
    pub possible: Id,
    /// Variables that change, each once, all from the state before.
    pub effects: Vec<(usize, Id)>,
    /// Of a call: the properties.
    pub watched: Vec<Watch>,
}

/// A rule, and the calls it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// Where it does not hold a person is asked.
    pub is_ask: bool,
    /// It demands nothing.
    pub has_effects_only: bool,
    /// Of each call, by the event's place: when it stops it.
    pub uses: Vec<(usize, Id)>,
}

/// What is to hold for every sequence of allowed calls.
#[derive(Debug, Clone)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// As it is written.
    pub never: String,
    /// As it is written.
    pub after: Option<String>,
    /// Of one that reads the state alone: what no state may be.
    pub state: Option<Id>,
}

/// A transition system and what is asked about it.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// All terms.
    pub terms: Terms,
    /// The state.
    pub variables: Vec<Variable>,
    /// What may be chosen.
    pub inputs: Vec<Input>,
    /// What may happen.
    pub events: Vec<Event>,
    /// What refuses calls, in the order of the policy.
    pub rules: Vec<Rule>,
    /// What is asked.
    pub properties: Vec<Property>,
    /// Where the model allows more than the guard, in words.
    pub notes: Vec<String>,
    /// What is taken for granted beside what always is, in words.
    pub assumed: Vec<String>,
}

impl Model {
    /// Adds a variable; its place.
    pub fn variable(&mut self, name: impl Into<String>, initial: Value) -> usize {
        let (name, sort) = (name.into(), initial.sort());
        self.variables.push(Variable {
            name,
            sort,
            initial: Some(initial),
            range: None,
            is_own: false,
            is_window: false,
        });
        self.variables.len() - 1
    }

    /// Adds a variable that may begin with any value; its place.
    pub fn any_variable(&mut self, name: impl Into<String>, sort: Sort) -> usize {
        self.variables.push(Variable {
            name: name.into(),
            sort,
            initial: None,
            range: None,
            is_own: false,
            is_window: false,
        });
        self.variables.len() - 1
    }

    /// Adds a variable of the model's own; its place.
    pub(crate) fn own_variable(&mut self, name: impl Into<String>, initial: Value) -> usize {
        let at = self.variable(name, initial);
        if let Some(variable) = self.variables.get_mut(at) {
            variable.is_own = true;
        }
        at
    }

    /// The value of a variable before the step.
    pub fn read(&mut self, at: usize) -> Id {
        let sort = self.variables.get(at).map_or(Sort::Bool, |variable| variable.sort);
        self.terms.state(at, sort)
    }

    /// A new input; its place and the term that reads it.
    pub fn input(&mut self, label: impl Into<String>, sort: Sort, kind: InputKind) -> (usize, Id) {
        let at = self.inputs.len();
        self.inputs.push(Input { label: label.into(), sort, kind });
        (at, self.terms.input(at, sort))
    }

    /// The place of a rule, added if it is new.
    pub(crate) fn rule(&mut self, name: &str) -> usize {
        let known = self.rules.iter().position(|rule| rule.name == name);
        known.unwrap_or_else(|| {
            self.rules.push(Rule {
                name: name.to_owned(),
                is_ask: false,
                has_effects_only: false,
                uses: Vec::new(),
            });
            self.rules.len() - 1
        })
    }

    /// Notes that a rule refuses calls of the event that is added next.
    pub(crate) fn refuses(&mut self, rule: usize, when: Id) {
        let event = self.events.len();
        if let Some(rule) = self.rules.get_mut(rule) {
            rule.uses.push((event, when));
        }
    }

    /// Adds a note, once.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Adds what is taken for granted, once.
    pub(crate) fn assume(&mut self, what: &str) {
        if !self.assumed.iter().any(|assumed| assumed == what) {
            self.assumed.push(what.to_owned());
        }
    }

    /// A term as it reads after an event's effects.
    pub(crate) fn after(&mut self, term: Id, effects: &[(usize, Id)]) -> Id {
        let by: HashMap<usize, Id> = effects.iter().copied().collect();
        self.terms.substituted(term, &by)
    }

    /// Has a property of two parts watched: `seen` is whether `after` was true of an allowed call before.
    pub(crate) fn watch(&mut self, event: &mut Event, property: usize, seen: Option<(usize, Id)>, never: Id) {
        let never = match seen {
            Some((seen, after)) => {
                let was = self.read(seen);
                let is = self.terms.any([was, after]);
                event.effects.push((seen, is));
                self.terms.all([was, never])
            }
            None => never,
        };
        event.watched.push(Watch { property, never });
    }

    /// What an event's input of this name was chosen to be.
    pub(crate) fn named<'v>(&self, event: usize, inputs: &'v [Value], wanted: &str) -> Option<&'v Value> {
        let is_wanted = |at: &&usize| {
            let kind = self.inputs.get(**at).map(|input| &input.kind);
            matches!(kind, Some(InputKind::Named(name)) if *name == wanted)
        };
        inputs.get(*self.events.get(event)?.inputs.iter().find(is_wanted)?)
    }

    /// What stands in for something unknown, as the policy writes it, each once.
    #[must_use]
    pub fn free(&self) -> Vec<&str> {
        let mut free: Vec<&str> = Vec::new();
        for input in &self.inputs {
            if let InputKind::Free(text) = &input.kind
                && !free.contains(&text.as_str())
            {
                free.push(text);
            }
        }
        free
    }
}
