//! What the names in an expression stand for, within one event.

use std::collections::{BTreeMap, BTreeSet};

use super::super::model::{InputKind, Model};
use super::super::smt::is_writable;
use super::super::term::{Id, Sort};
use super::meaning::Meaning;
use crate::cel::{Expression, Type};
use crate::policy::BoundDefinition;

/// A state variable in the model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) at: usize,
    pub(super) sort: Sort,
    /// The model's own: nobody knows its value.
    pub(super) unknown: usize,
    /// The model's own, of a boolean: it may be either.
    pub(super) either: Option<usize>,
    /// What counts of it falls while time passes.
    pub(super) is_window: bool,
}

/// What of the policy every event reads.
#[derive(Debug, Default)]
pub(super) struct World {
    /// Those that the model has.
    pub(super) slots: BTreeMap<String, Slot>,
    /// The value of a fact, and whether it is given.
    pub(super) facts: BTreeMap<String, (usize, Option<usize>)>,
}

/// An argument, as the tool's schema has it.
#[derive(Debug, Clone)]
pub(super) struct Argument {
    pub(super) kind: Type,
    pub(super) is_whole: bool,
    pub(super) is_required: bool,
}

/// How `state` is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// By what an answer does: as it is, but windows as they were when the call was made.
    Answering,
    /// By what a call does, or by a property: as it is.
    AsItIs,
    /// By a rule: a boolean that may be either is looked at both ways afterwards.
    Judging,
}

/// What is known of the call that an event is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'n> {
    /// Where they are checked by a schema.
    pub(super) arguments: &'n BTreeMap<String, Argument>,
    /// Every argument is declared.
    pub(super) is_closed: bool,
    /// Where whatever is asked of it has one answer.
    pub(super) tool: Option<&'n str>,
    pub(super) definitions: &'n [BoundDefinition],
}

/// The names of one event. Invariant: of one key there is one input.
#[derive(Debug)]
pub(super) struct Names<'n> {
    pub(super) world: &'n World,
    pub(super) call: Call<'n>,
    /// Definitions as they are without a schema.
    pub(super) defined: &'n [std::sync::Arc<crate::policy::Definition>],
    pub(super) reading: Reading,
    /// For variables whose calls are under way: whether any is, by name.
    pub(super) under_way: BTreeMap<String, Id>,
    /// Before what depends on the state, where it is not the state before the call.
    pub(super) prefix: &'static str,
    pub(super) made: BTreeMap<(String, bool, Sort), (usize, Id)>,
    /// A free value of this event depends on the state.
    pub(super) has_free_of_state: bool,
}

impl Ord for Sort {
    fn cmp(&self, other: &Sort) -> std::cmp::Ordering {
        (*self as u8).cmp(&(*other as u8))
    }
}

impl PartialOrd for Sort {
    fn partial_cmp(&self, other: &Sort) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether what is spelled so may read the state, itself or by a definition. A text that says so does no harm.
pub(super) fn is_of_state(key: &str) -> bool {
    key.contains("state") || key.contains("defs")
}

impl<'n> Names<'n> {
    fn input(&mut self, model: &mut Model, key: &str, sort: Sort, kind: InputKind) -> Id {
        let is_free = matches!(kind, InputKind::Free(_));
        let known = (key.to_owned(), is_free, sort);
        if let Some((_, id)) = self.made.get(&known) {
            return *id;
        }
        let made = model.input(key, sort, kind);
        self.made.insert(known, made);
        made.1
    }

    /// The inputs of the event, by place.
    pub(super) fn inputs(&self) -> BTreeSet<usize> {
        self.made.values().map(|(at, _)| *at).collect()
    }

    /// Any value.
    pub(super) fn free(&mut self, model: &mut Model, key: &str, sort: Sort) -> Id {
        let is_of_state = is_of_state(key);
        self.has_free_of_state |= is_of_state;
        let key = if is_of_state { format!("{}{key}", self.prefix) } else { key.to_owned() };
        self.input(model, &key, sort, InputKind::Free(key.clone()))
    }

    /// Any value, of the model's own bookkeeping.
    pub(super) fn own(&mut self, model: &mut Model, key: &str, sort: Sort) -> Id {
        self.input(model, key, sort, InputKind::Own)
    }

    /// A value of the call that is known by its name, or anything else that is written.
    pub(super) fn read(&mut self, model: &mut Model, key: &str, argument: Option<&str>, sort: Sort) -> Id {
        match argument {
            Some(name) => self.input(model, key, sort, InputKind::Argument(name.to_owned())),
            None => self.free(model, key, sort),
        }
    }

    fn named(&mut self, model: &mut Model, name: &'static str, sort: Sort) -> Id {
        self.input(model, name, sort, InputKind::Named(name))
    }

    pub(super) fn definition(&self, name: &str) -> Option<&'n Expression> {
        let bound = self.call.definitions.iter().find(|definition| definition.name == name);
        let loaded = || self.defined.iter().find(|definition| definition.name == name);
        match bound {
            Some(bound) => Some(&bound.value),
            None => loaded().map(|loaded| &*loaded.value.expression),
        }
    }

    /// A variable that has a meaning of its own.
    pub(super) fn variable(&mut self, model: &mut Model, name: &str) -> Option<Meaning> {
        let ok = model.terms.bool(true);
        match name {
            "tool" => Some(match self.call.tool.filter(|tool| is_writable(tool)) {
                Some(tool) => Meaning::Text { value: model.terms.text(tool), ok },
                None => Meaning::Text { value: self.named(model, "tool", Sort::Text), ok },
            }),
            "server" => Some(Meaning::Text { value: self.named(model, "server", Sort::Text), ok }),
            "payload" => Some(Meaning::Text { value: self.named(model, "payload", Sort::Text), ok }),
            // They are always there, whatever they are.
            "texts" | "args" => {
                Some(Meaning::Opaque { key: name.to_owned(), argument: None, ok, kind: Type::Dyn })
            }
            _ => None,
        }
    }

    pub(super) fn member(&mut self, model: &mut Model, variable: &str, field: &str) -> Option<Meaning> {
        match variable {
            "args" => Some(self.argument(model, field)),
            "facts" => self.fact(model, field),
            "result" => self.result(model, field),
            "state" => self.state(model, field),
            _ => None,
        }
    }

    fn argument(&mut self, model: &mut Model, name: &str) -> Meaning {
        let key = format!("args.{name}");
        let ok = self.is_given(model, name);
        match self.call.arguments.get(name) {
            Some(argument) if argument.is_whole => {
                let value = self.read(model, &key, Some(name), Sort::Int);
                Meaning::Number { value, ok }
            }
            Some(argument) => {
                Meaning::Opaque { key, argument: Some(name.to_owned()), ok, kind: argument.kind.clone() }
            }
            None => Meaning::Opaque { key, argument: Some(name.to_owned()), ok, kind: Type::Dyn },
        }
    }

    fn is_given(&mut self, model: &mut Model, name: &str) -> Id {
        match self.call.arguments.get(name) {
            Some(argument) if argument.is_required => model.terms.bool(true),
            None if self.call.is_closed => model.terms.bool(false),
            _ => {
                let key = format!("has(args.{name})");
                self.input(model, &key, Sort::Bool, InputKind::Given(name.to_owned()))
            }
        }
    }

    fn fact(&mut self, model: &mut Model, name: &str) -> Option<Meaning> {
        let (at, given) = *self.world.facts.get(name)?;
        let ok = match given {
            Some(given) => model.read(given),
            None => model.terms.bool(true),
        };
        let value = model.read(at);
        Some(plain(model, value, ok))
    }

    fn result(&mut self, model: &mut Model, field: &str) -> Option<Meaning> {
        let ok = model.terms.bool(true);
        match field {
            "is_error" => {
                let value = self.named(model, "result.is_error", Sort::Bool);
                Some(plain(model, value, ok))
            }
            "text" => Some(Meaning::Text { value: self.named(model, "result.text", Sort::Text), ok }),
            _ => None,
        }
    }

    fn state(&mut self, model: &mut Model, name: &str) -> Option<Meaning> {
        let slot = *self.world.slots.get(name)?;
        let (mut value, unknown) = (model.read(slot.at), model.read(slot.unknown));
        let mut known = vec![model.terms.not(unknown)];
        if slot.is_window && self.reading == Reading::Answering {
            // What is too old by now counted then, and may have been what nobody knew.
            let key = format!("state.{name} as of the call that is answered");
            value = self.free(model, &key, slot.sort);
            known.push(self.own(model, &format!("{key} is known"), Sort::Bool));
        }
        match (self.reading, slot.either) {
            (Reading::Answering | Reading::AsItIs, Some(either)) => {
                let either = model.read(either);
                known.push(model.terms.not(either));
            }
            // What calls under way may change a rule does not read.
            (Reading::Judging, None) => {
                let under_way = self.under_way.get(name).copied();
                known.extend(under_way.map(|under_way| model.terms.not(under_way)));
            }
            (Reading::Answering | Reading::AsItIs, None) | (Reading::Judging, Some(_)) => {}
        }
        let ok = model.terms.all(known);
        Some(plain(model, value, ok))
    }

    /// Whether a member is there.
    pub(super) fn given(&mut self, model: &mut Model, variable: &str, field: &str) -> Option<Id> {
        match variable {
            "args" => Some(self.is_given(model, field)),
            "facts" => {
                let (_, given) = *self.world.facts.get(field)?;
                Some(match given {
                    Some(given) => model.read(given),
                    None => model.terms.bool(true),
                })
            }
            _ => None,
        }
    }
}

fn plain(model: &mut Model, value: Id, ok: Id) -> Meaning {
    match model.terms.sort(value) {
        Sort::Bool => super::meaning::test(&mut model.terms, value, ok),
        Sort::Text => Meaning::Text { value, ok },
        Sort::Int | Sort::Real => Meaning::Number { value, ok },
    }
}
