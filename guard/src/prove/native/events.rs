//! The events of a policy: each tool's call, and what becomes of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::model::{Event, EventKind, InputKind, Model};
use super::super::term::{Id, Sort};
use super::cel::Lower;
use super::names::{Argument, Call, Names, Reading, World};
use super::{Asks, Compiled, Tool, arguments};
use crate::json;
use crate::policy::{Arguments, BoundRule, Mode, Otherwise, Policy, arguments_of};
use crate::schema::Schema;

/// Of an event about no call.
static NOTHING: BTreeMap<String, Argument> = BTreeMap::new();

pub(super) struct Build<'b> {
    pub(super) model: &'b mut Model,
    pub(super) policy: &'b Policy,
    pub(super) world: &'b World,
    pub(super) asks: Asks,
    compiled: &'b [Compiled],
    /// For each property with an `after`: whether it was true of an allowed call.
    seen: Vec<Option<usize>>,
    /// For each tool whose answers matter: the count of its open calls, and the variables they may change.
    open: Vec<(usize, BTreeSet<String>)>,
    /// What properties ask of states and nobody knows.
    any: Vec<(usize, Sort)>,
    /// Rules of the tool whose call was last translated, where it may be uncertain whether they are for it.
    pub(super) uncertain: BTreeSet<String>,
}

/// A rule of a tool, and the calls that it is for.
pub(super) struct Ruled<'t> {
    pub(super) bound: &'t BoundRule,
    pub(super) applies: Applies,
}

/// Which calls a rule is for, beside its `when`.
pub(super) enum Applies {
    Always,
    /// Those that send one of these.
    Sent(Vec<String>),
    /// Nobody knows, but for those that send all of the first, and one of the others where there is no first.
    Perhaps(Vec<String>, Vec<String>),
}

/// What is known of a tool's arguments.
pub(super) struct About<'t> {
    pub(super) arguments: BTreeMap<String, Argument>,
    pub(super) is_closed: bool,
    pub(super) tool: &'t Tool<'t>,
    pub(super) rules: Vec<Ruled<'t>>,
}

impl<'b> Build<'b> {
    pub(super) fn new(
        model: &'b mut Model,
        policy: &'b Policy,
        world: &'b World,
        asks: Asks,
        compiled: &'b [Compiled],
    ) -> Build<'b> {
        let mut build = Build {
            model,
            policy,
            world,
            asks,
            compiled,
            seen: Vec::new(),
            open: Vec::new(),
            any: Vec::new(),
            uncertain: BTreeSet::new(),
        };
        for rule in policy.rules() {
            let at = build.model.rule(&rule.name);
            if let Some(known) = build.model.rules.get_mut(at) {
                known.is_ask = rule.otherwise == Otherwise::Ask;
                known.has_effects_only = rule.has_effects_only;
            }
        }
        for invariant in policy.invariants() {
            let at = build.model.rule(&invariant.name);
            if let Some(known) = build.model.rules.get_mut(at) {
                known.is_ask = invariant.otherwise == Otherwise::Ask;
            }
        }
        build.seen = build.model.seen(compiled.iter().map(|compiled| compiled.after.is_some()));
        build.properties_of_states();
        build
    }

    fn properties_of_states(&mut self) {
        let compiled = self.compiled;
        for (at, property) in compiled.iter().enumerate().filter(|(_, property)| property.is_of_states) {
            let mut names = self.names_of_none();
            let (never, _) = self.lower(&mut names).condition(&property.never);
            let inputs = names.inputs();
            let never = self.free_of_states(at, never, &inputs);
            if let Some(property) = self.model.properties.get_mut(at) {
                property.state = Some(never);
            }
        }
    }

    /// What a property asks of a state and the model does not know is any value there, and another one in the next.
    fn free_of_states(&mut self, property: usize, never: Id, inputs: &BTreeSet<usize>) -> Id {
        if inputs.is_empty() {
            return never;
        }
        let name =
            self.model.properties.get(property).map(|property| property.name.clone()).unwrap_or_default();
        self.model.note(format!("`{name}` reads what the model does not know of a state"));
        let mut by = HashMap::new();
        for at in inputs {
            let Some(input) = self.model.inputs.get(*at) else { continue };
            let (label, sort) = (input.label.clone(), input.sort);
            let variable = self.model.any_variable(label, sort);
            if let Some(variable) = self.model.variables.get_mut(variable) {
                variable.is_own = true;
            }
            self.any.push((variable, sort));
            by.insert(*at, self.model.read(variable));
        }
        self.model.terms.with_inputs(never, &by)
    }

    /// `after` of a property may have been true of another server's call.
    pub(super) fn seen_elsewhere(&mut self, names: &mut Names<'_>) -> Vec<(usize, Id)> {
        let seen: Vec<usize> = self.seen.iter().flatten().copied().collect();
        let is_seen = |(at, seen): (usize, usize)| {
            let elsewhere = names.own(self.model, &format!("seen elsewhere {at}"), Sort::Bool);
            let before = self.model.read(seen);
            (seen, self.model.terms.any([before, elsewhere]))
        };
        seen.into_iter().enumerate().map(is_seen).collect()
    }

    /// After every event what nobody knows of a state is something else.
    pub(super) fn havoc(&mut self) {
        for (variable, sort) in self.any.clone() {
            let (input, value) = self.model.input("of a state", sort, InputKind::Own);
            for event in &mut self.model.events {
                event.effects.push((variable, value));
                event.inputs.push(input);
            }
        }
    }

    /// The names of an event that is about no call in particular.
    pub(super) fn names_of_none<'n>(&mut self) -> Names<'n>
    where
        'b: 'n,
    {
        self.names(
            Reading::AsItIs,
            Call { arguments: &NOTHING, is_closed: false, tool: None, definitions: &[] },
        )
    }

    /// The names of a tool's call.
    pub(super) fn names_of<'n>(&mut self, about: &'n About<'_>, reading: Reading) -> Names<'n>
    where
        'b: 'n,
    {
        let bound = &about.tool.bound;
        let call = Call {
            arguments: &about.arguments,
            is_closed: about.is_closed,
            tool: about.tool.is_known.then_some(bound.name.as_str()),
            definitions: &bound.definitions,
        };
        self.names(reading, call)
    }

    fn names<'n>(&mut self, reading: Reading, call: Call<'n>) -> Names<'n>
    where
        'b: 'n,
    {
        let names: Vec<String> = self.world.slots.keys().cloned().collect();
        let under_way = names.into_iter().map(|name| {
            let open = self.open_for(&name);
            (name, open)
        });
        let under_way = under_way.collect();
        Names {
            world: self.world,
            call,
            defined: self.policy.definitions(),
            reading,
            under_way,
            prefix: "",
            made: BTreeMap::new(),
            has_free_of_state: false,
        }
    }

    pub(super) fn lower<'l, 'n>(&'l mut self, names: &'l mut Names<'n>) -> Lower<'l, 'n> {
        Lower { model: self.model, names, locals: Vec::new() }
    }

    pub(super) fn events(&mut self, tools: &[Tool<'_>]) {
        let callable: Vec<&Tool<'_>> = tools.iter().filter(|tool| self.is_callable(tool)).collect();
        let open: Vec<Option<usize>> = callable.iter().map(|tool| self.opened(tool)).collect();
        for (tool, open) in callable.into_iter().zip(open) {
            let enforced = self.mode(tool) == Mode::Enforce
                && tool
                    .bound
                    .options
                    .as_ref()
                    .is_some_and(|options| options.arguments != Arguments::Unchecked);
            let own = tool.bound.options.as_ref().and_then(|options| options.schema.as_ref());
            let schema = own.map(|schema| schema.document().root()).or(tool.schema);
            let rules = self.ruled(tool, schema.is_some());
            // Where it cannot be used a call asks, and may be anything.
            let is_usable = |schema: &json::Value<'_>| enforced && Schema::compile(*schema).is_ok();
            let (arguments, is_closed) = arguments(schema.filter(is_usable));
            let about = About { arguments, is_closed, tool, rules };
            self.call(&about, open);
            if let Some(open) = open {
                self.answer(&about, open);
                self.lost(&about, open);
            }
        }
    }

    /// A rule without `tools` is for tools with the arguments that it reads; without a schema nobody knows which these
    /// are.
    fn ruled<'t>(&self, tool: &'t Tool<'_>, has_schema: bool) -> Vec<Ruled<'t>> {
        let applies = |bound: &BoundRule| {
            let rule = &bound.rule;
            if has_schema || !rule.tools.is_empty() || rule.made_of.is_some() {
                return Applies::Always;
            }
            let wanted = arguments_of(self.policy, rule);
            if wanted.is_empty() {
                return Applies::Always;
            }
            Applies::Perhaps(wanted.needed.into_iter().collect(), wanted.optional.into_iter().collect())
        };
        let bound = tool.bound.rules.iter().map(|bound| Ruled { bound, applies: applies(bound) });
        let undeclared = tool.bound.undeclared();
        let undeclared =
            undeclared.map(|(names, bound)| Ruled { bound, applies: Applies::Sent(names.to_vec()) });
        bound.chain(undeclared).collect()
    }

    /// Whether a rule is for a call: certainly, and certainly not.
    pub(super) fn when(&mut self, rule: &Ruled<'_>, names: &mut Names<'_>) -> (Id, Id) {
        let (yes, no) = match &rule.bound.when {
            Some(when) => self.lower(names).condition(when),
            None => super::cel::always(self.model),
        };
        let is_given = |build: &mut Self, names: &mut Names<'_>, all: &[String]| -> Vec<Id> {
            all.iter().filter_map(|name| names.given(build.model, "args", name)).collect()
        };
        let applies = match &rule.applies {
            Applies::Always => return (yes, no),
            Applies::Sent(sent) => {
                let sent = is_given(self, names, sent);
                self.model.terms.any(sent)
            }
            Applies::Perhaps(needed, optional) => {
                let mut all = is_given(self, names, needed);
                if needed.is_empty() {
                    let optional = is_given(self, names, optional);
                    all.push(self.model.terms.any(optional));
                }
                let has_all = self.model.terms.all(all);
                let key = format!("the tool declares what `{}` reads", rule.bound.rule.name);
                let declares = names.own(self.model, &key, Sort::Bool);
                self.model.terms.any([declares, has_all])
            }
        };
        let terms = &mut self.model.terms;
        let not = terms.not(applies);
        (terms.all([applies, yes]), terms.any([not, no]))
    }

    /// Hidden tools, and those that the policy does not offer, cannot be called.
    fn is_callable(&self, tool: &Tool<'_>) -> bool {
        self.mode(tool) == Mode::Monitor || tool.bound.visible()
    }

    fn mode(&self, tool: &Tool<'_>) -> Mode {
        let of = tool.bound.options.as_ref().map(|options| options.mode);
        if self.policy.mode() == Mode::Monitor { Mode::Monitor } else { of.unwrap_or_default() }
    }

    fn opened(&mut self, tool: &Tool<'_>) -> Option<usize> {
        let rules = tool.bound.rules.iter().chain(tool.bound.undeclared().map(|(_, rule)| rule));
        let changed: BTreeSet<String> = rules
            .clone()
            .flat_map(|rule| &rule.after)
            .map(|effect| effect.variable.name.to_string())
            .collect();
        let undone = rules.clone().any(|rule| rule.rule.effects.is_undone && !rule.set.is_empty());
        if changed.is_empty() && !undone {
            return None;
        }
        let at = self.model.open_counter(&tool.bound.name);
        self.open.push((at, changed));
        Some(at)
    }

    /// Whether a call under way may change a variable.
    pub(super) fn open_for(&mut self, name: &str) -> Id {
        let open: Vec<usize> =
            self.open.iter().filter(|(_, changed)| changed.contains(name)).map(|(at, _)| *at).collect();
        self.model.is_any_open(open)
    }

    fn call(&mut self, about: &About<'_>, open: Option<usize>) {
        let bound = &about.tool.bound;
        let mut names = self.names_of(about, Reading::Judging);
        let is_enforced = self.mode(about.tool) == Mode::Enforce;
        let mut holds = Vec::new();
        self.uncertain.clear();
        for rule in &about.rules {
            holds.extend(self.rule(rule, is_enforced, &mut names));
        }
        names.reading = Reading::AsItIs;
        let (changes, fits) = self.set(&about.rules, is_enforced, &mut names);
        let mut effects = self.effects(&changes);
        let decided = self.model.terms.all(holds);
        names.reading = Reading::Judging;
        names.prefix = "after the call: ";
        let invariants = self.invariants(&effects, is_enforced, &mut names);
        let mut possible = vec![self.in_every_state(decided, names.has_free_of_state)];
        for invariant in invariants {
            let every = self.in_every_state(invariant, names.has_free_of_state);
            possible.push(self.model.after(every, &effects));
        }
        // What is set is computed from what is so now: calls under way make no other state of that.
        possible.extend(fits.into_iter().filter(|_| is_enforced));
        possible.extend(self.facts());
        (names.prefix, names.reading) = ("", Reading::AsItIs);
        let possible = self.model.terms.all(possible);
        if let Some(open) = open {
            effects.push((open, self.model.counted(open, 1)));
        }
        let mut event = Event {
            tool: bound.name.clone(),
            shown: about.tool.shown.clone(),
            kind: EventKind::Call,
            inputs: Vec::new(),
            possible,
            effects,
            watched: Vec::new(),
        };
        self.watch(&mut event, &mut names);
        event.inputs = names.inputs().into_iter().collect();
        self.model.events.push(event);
    }

    fn watch(&mut self, event: &mut Event, names: &mut Names<'_>) {
        let compiled = self.compiled;
        for (at, property) in compiled.iter().enumerate().filter(|(_, property)| !property.is_of_states) {
            let (never, _) = self.lower(names).condition(&property.never);
            let after = property.after.as_ref().map(|after| self.lower(names).condition(after).0);
            let seen = self.seen.get(at).copied().flatten().zip(after);
            self.model.watch(event, at, seen, never);
        }
    }
}
