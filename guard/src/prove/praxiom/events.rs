//! The events of a policy: for each tool its call, and where an `on_result` looks at the answer, the answer and its
//! loss.

use std::collections::{BTreeMap, BTreeSet};

use super::super::model::{Event, EventKind, InputKind, Model};
use super::super::term::{Id, Sort, Value};
use super::lower::{Lowered, Names, lower};
use super::{Arguments, Compiled, Tool};
use crate::praxiom::Praxiom;
use crate::praxiom::machine::Action;
use crate::praxiom::program::{Program, Step};

/// What a property over the state alone reads.
pub(super) fn of_states(model: &mut Model, program: &Program) -> Id {
    let none = model.terms.text("");
    let names = Names { arguments: Vec::new(), payload: none, tool: none, upstream: none, result: None };
    condition(model, program, &names)
}

/// Whether a condition holds; of one that no solver can write, anything.
fn condition(model: &mut Model, program: &Program, names: &Names) -> Id {
    if let Some(lowered) = lower(model, program, names) {
        return lowered.holds(&mut model.terms);
    }
    let what = "an expression of a property with a character beyond U+2FA1F".to_owned();
    model.input(what.clone(), Sort::Bool, InputKind::Free(what)).1
}

pub(super) struct Build<'b> {
    pub(super) model: &'b mut Model,
    policy: &'b Praxiom,
    upstream: Option<&'b str>,
    arguments: &'b Arguments,
    compiled: &'b [Compiled],
    /// For each property with an `after`: whether it was true of an allowed call.
    seen: Vec<Option<usize>>,
    /// For each variable that answers may change: the model's variable that says nobody knows it.
    pub(super) unknown: BTreeMap<usize, usize>,
    /// For each tool whose answers are looked at: how many of its calls are open, and which variables they may change.
    pub(super) open: Vec<(usize, BTreeSet<usize>)>,
}

/// One call's inputs.
pub(super) struct Bound {
    pub(super) inputs: Vec<usize>,
    /// By name: each is one value, whichever action declares it.
    arguments: BTreeMap<String, (Sort, Id)>,
    payload: Id,
    tool: Id,
    upstream: Id,
}

impl<'b> Build<'b> {
    pub(super) fn new(
        model: &'b mut Model,
        policy: &'b Praxiom,
        upstream: Option<&'b str>,
        arguments: &'b Arguments,
        compiled: &'b [Compiled],
    ) -> Build<'b> {
        let mut build = Build {
            model,
            policy,
            upstream,
            arguments,
            compiled,
            seen: Vec::new(),
            unknown: BTreeMap::new(),
            open: Vec::new(),
        };
        for (label, _) in policy.actions.iter().flat_map(|action| &action.guards) {
            build.model.rule(label);
        }
        for invariant in &policy.invariants {
            build.model.rule(&invariant.name);
        }
        build.seen = build.model.seen(compiled.iter().map(|compiled| compiled.after.is_some()));
        for (at, _) in policy.actions.iter().flat_map(|action| &action.on_result) {
            if !build.unknown.contains_key(at) {
                let own = build.model.own_variable(format!("unknown#{at}"), Value::Bool(false));
                build.unknown.insert(*at, own);
            }
        }
        for at in 0..build.model.properties.len() {
            let state = build.model.properties.get(at).and_then(|property| property.state);
            let state = state.map(|state| build.known(state));
            if let Some(property) = build.model.properties.get_mut(at) {
                property.state = state;
            }
        }
        build
    }

    pub(super) fn events(mut self, tools: &[Tool]) {
        let open: Vec<Option<usize>> = tools.iter().map(|tool| self.opened(tool)).collect();
        for (tool, open) in tools.iter().zip(open) {
            if tool.actions.is_empty() && self.policy.deny {
                continue;
            }
            self.call(tool, open);
            if let Some(open) = open {
                self.answer(tool, open);
                self.lost(tool, open);
            }
        }
    }

    pub(super) fn covering(&self, tool: &Tool) -> Vec<&'b Action> {
        let policy = self.policy;
        tool.actions.iter().filter_map(|at| policy.actions.get(*at)).collect()
    }

    /// The counter of a tool's open calls, where their answers are looked at.
    fn opened(&mut self, tool: &Tool) -> Option<usize> {
        let covering = self.covering(tool);
        let changed: BTreeSet<usize> =
            covering.iter().flat_map(|action| action.on_result.iter().map(|(at, _)| *at)).collect();
        if changed.is_empty() {
            return None;
        }
        let at = self.model.open_counter(&tool.name);
        self.open.push((at, changed));
        Some(at)
    }

    pub(super) fn input(&mut self, bound: &mut Vec<usize>, label: &str, sort: Sort, kind: InputKind) -> Id {
        let (at, id) = self.model.input(label, sort, kind);
        bound.push(at);
        id
    }

    pub(super) fn bind(&mut self, tool: &Tool) -> Option<Bound> {
        let mut inputs = Vec::new();
        let mut sorts: BTreeMap<String, crate::praxiom::Sort> = self
            .arguments
            .iter()
            .enumerate()
            .filter(|(at, _)| self.is_asked_about(*at))
            .map(|(_, argument)| argument.clone())
            .collect();
        let mut declared: BTreeMap<&str, crate::praxiom::Sort> = BTreeMap::new();
        for (name, sort) in self.covering(tool).into_iter().flat_map(|action| &action.arguments) {
            if *declared.entry(name).or_insert(*sort) != *sort {
                self.model.note(format!(
                    "`{}` can never be called: two actions want its argument `{name}` to be of different types",
                    tool.name
                ));
                return None;
            }
            sorts.insert(name.clone(), *sort);
        }
        let mut arguments = BTreeMap::new();
        for (name, sort) in sorts {
            let kind = InputKind::Argument(name.clone());
            let id = self.input(&mut inputs, &format!("args.{name}"), sort.into(), kind);
            arguments.insert(name, (sort.into(), id));
        }
        let payload = self.input(&mut inputs, "payload", Sort::Text, InputKind::Named("payload"));
        let is_known = tool.is_known && super::super::smt::is_writable(&tool.name);
        let name = match is_known {
            true => self.model.terms.text(&tool.name),
            false => self.input(&mut inputs, "tool", Sort::Text, InputKind::Named("tool")),
        };
        let upstream = match self.upstream.filter(|name| super::super::smt::is_writable(name)) {
            Some(upstream) => self.model.terms.text(upstream),
            None => self.input(&mut inputs, "upstream", Sort::Text, InputKind::Named("upstream")),
        };
        Some(Bound { inputs, arguments, payload, tool: name, upstream })
    }

    /// Whether a property reads an argument.
    fn is_asked_about(&self, argument: usize) -> bool {
        let programs = self.compiled.iter().flat_map(|one| std::iter::once(&one.never).chain(&one.after));
        programs.flat_map(Program::steps).any(|step| matches!(step, Step::Argument(at) if *at == argument))
    }

    fn names<'n>(&self, bound: &Bound, declared: impl Iterator<Item = &'n str>, result: Option<Id>) -> Names {
        // One that nobody reads keeps its place.
        let arguments =
            declared.map(|name| bound.arguments.get(name).map_or(bound.payload, |(_, id)| *id)).collect();
        Names { arguments, payload: bound.payload, tool: bound.tool, upstream: bound.upstream, result }
    }

    fn of_action(&self, bound: &Bound, action: &Action, result: Option<Id>) -> Names {
        self.names(bound, action.arguments.iter().map(|(name, _)| name.as_str()), result)
    }

    /// A program of an action: what it is and whether it is decided.
    fn program(
        &mut self,
        program: &Program,
        names: &Names,
        (action, sort): (&Action, Sort),
        inputs: &mut Vec<usize>,
    ) -> Lowered {
        if let Some(lowered) = lower(self.model, program, names) {
            return lowered;
        }
        let what = format!("an expression of action `{}` with a character beyond U+2FA1F", action.name);
        let value = self.input(inputs, &what, sort, InputKind::Free(what.clone()));
        let decided = self.input(inputs, &what, Sort::Bool, InputKind::Free(what.clone()));
        Lowered { value, decided }
    }

    pub(super) fn sort_of(&self, variable: usize) -> Sort {
        self.model.variables.get(variable).map_or(Sort::Bool, |variable| variable.sort)
    }

    /// The last assignment to each variable.
    pub(super) fn assigned(
        &mut self,
        bound: &mut Bound,
        actions: &[&'b Action],
        which: fn(&Action) -> &Vec<(usize, Program)>,
        result: Option<Id>,
    ) -> BTreeMap<usize, Lowered> {
        let mut assigned = BTreeMap::new();
        for action in actions {
            let names = self.of_action(bound, action, result);
            for (at, program) in which(action) {
                let sort = self.sort_of(*at);
                let lowered = self.program(program, &names, (action, sort), &mut bound.inputs);
                assigned.insert(*at, lowered);
            }
        }
        assigned
    }

    fn call(&mut self, tool: &Tool, open: Option<usize>) {
        let Some(mut bound) = self.bind(tool) else { return };
        let actions = self.covering(tool);
        let mut holds = Vec::new();
        for action in &actions {
            let names = self.of_action(&bound, action, None);
            for (label, guard) in &action.guards {
                let lowered = self.program(guard, &names, (action, Sort::Bool), &mut bound.inputs);
                let guard = lowered.holds(&mut self.model.terms);
                self.refused(label, guard);
                holds.push(guard);
            }
        }
        let assigned = self.assigned(&mut bound, &actions, |action| &action.effect, None);
        let mut effects: Vec<(usize, Id)> =
            assigned.iter().map(|(at, lowered)| (*at, lowered.value)).collect();
        holds.extend(assigned.values().map(|lowered| lowered.decided));
        let invariants = self.invariants();
        if !actions.is_empty() {
            for (invariant, source) in invariants.iter().zip(&self.policy.invariants) {
                let invariant = self.model.after(*invariant, &effects);
                self.refused(&source.name, invariant);
                holds.push(invariant);
            }
        }
        let holds = self.model.terms.all(holds);
        let mut possible = vec![holds];
        possible.extend(self.in_every_state(holds, &effects, &invariants));
        let possible = self.model.terms.all(possible);
        for (at, unknown) in &self.unknown {
            if assigned.contains_key(at) {
                effects.push((*unknown, self.model.terms.bool(false)));
            }
        }
        if let Some(open) = open {
            effects.push((open, self.model.counted(open, 1)));
        }
        let mut event = Event {
            tool: tool.name.clone(),
            shown: tool.shown.clone(),
            kind: EventKind::Call,
            inputs: Vec::new(),
            possible,
            effects,
            watched: Vec::new(),
        };
        self.watch(&mut event, &mut bound);
        event.inputs = bound.inputs;
        self.model.events.push(event);
    }

    fn refused(&mut self, rule: &str, unless: Id) {
        let rule = self.model.rule(rule);
        let refuses = self.model.terms.not(unless);
        self.model.refuses(rule, refuses);
    }

    fn watch(&mut self, event: &mut Event, bound: &mut Bound) {
        let (compiled, arguments) = (self.compiled, self.arguments);
        let names = self.names(bound, arguments.iter().map(|(name, _)| name.as_str()), None);
        for (at, property) in compiled.iter().enumerate().filter(|(_, property)| !property.is_of_states) {
            let never = self.asked(&property.never, &names);
            let after = property.after.as_ref().map(|after| self.asked(after, &names));
            let seen = self.seen.get(at).copied().flatten().zip(after);
            self.model.watch(event, at, seen, never);
        }
    }

    fn asked(&mut self, program: &Program, names: &Names) -> Id {
        let holds = condition(self.model, program, names);
        self.known(holds)
    }

    fn invariants(&mut self) -> Vec<Id> {
        let policy = self.policy;
        policy.invariants.iter().map(|invariant| of_states(self.model, &invariant.program)).collect()
    }
}
