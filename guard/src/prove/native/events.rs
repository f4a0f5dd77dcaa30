//! The events of a policy: each tool's call, and what becomes of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use num_bigint::BigInt;

use super::super::model::{Event, EventKind, InputKind, Model, OWN};
use super::super::term::{Id, Sort, Two, Value};
use super::cel::Lower;
use super::names::{Argument, Names, Reading, Slot, World};
use super::windows::{Entry, is_window};
use super::{Asks, Compiled, Tool, arguments};
use crate::cel::Expression;
use crate::json;
use crate::policy::{Arguments, BoundEffect, BoundRule, Mode, Otherwise, Policy, arguments_of};
use crate::schema::Schema;
use crate::state::{Combine, Kind, Variable, reads};

/// Variables that may be either at once: with more of them a rule asks instead.
const UNCERTAIN_MAX: usize = crate::state::UNCERTAIN_MAX;

/// A variable after an event: its value, and whether nobody knows it, or it may be either.
#[derive(Debug, Clone, Copy)]
pub(super) struct Next {
    pub(super) value: Id,
    pub(super) unknown: Id,
    pub(super) either: Id,
}

pub(super) struct Build<'b> {
    pub(super) model: &'b mut Model,
    pub(super) policy: &'b Policy,
    pub(super) world: &'b World,
    asks: Asks,
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
        for (at, compiled) in compiled.iter().enumerate() {
            let seen = compiled.after.is_some();
            let seen = seen.then(|| build.model.own_variable(format!("seen#{at}"), Value::Bool(false)));
            build.seen.push(seen);
        }
        build.properties_of_states();
        build
    }

    fn properties_of_states(&mut self) {
        let (compiled, nothing) = (self.compiled, BTreeMap::new());
        for (at, property) in compiled.iter().enumerate().filter(|(_, property)| property.is_of_states) {
            let mut names = self.names(&nothing, false, None, Reading::AsItIs, &[]);
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
            let (input, value) = self.model.input("of a state", sort, InputKind::Named(OWN));
            for event in &mut self.model.events {
                event.effects.push((variable, value));
                event.inputs.push(input);
            }
        }
    }

    pub(super) fn names<'n>(
        &mut self,
        arguments: &'n BTreeMap<String, Argument>,
        is_closed: bool,
        tool: Option<&'n str>,
        reading: Reading,
        definitions: &'n [crate::policy::BoundDefinition],
    ) -> Names<'n>
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
            definitions,
            defined: self.policy.definitions(),
            arguments,
            is_closed,
            tool,
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
    fn when(&mut self, rule: &Ruled<'_>, names: &mut Names<'_>) -> (Id, Id) {
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

    /// Whether so many variables may be uncertain to these expressions that the guard does not look at all states.
    pub(super) fn is_beyond<'e>(&self, expressions: impl Iterator<Item = &'e Expression> + Clone) -> bool {
        let bools = self.policy.machine().variables().iter().filter(|one| one.kind == Kind::Bool);
        let read = bools.filter(|one| expressions.clone().any(|expression| reads(expression, &one.name)));
        read.count() > UNCERTAIN_MAX
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
        let at = self.model.own_variable(format!("open {}", tool.bound.name), Value::Int(BigInt::ZERO));
        if let Some(variable) = self.model.variables.get_mut(at) {
            variable.range = Some((BigInt::ZERO, BigInt::from(i64::MAX)));
        }
        self.open.push((at, changed));
        Some(at)
    }

    /// Whether a call under way may change a variable.
    fn open_for(&mut self, name: &str) -> Id {
        let open: Vec<usize> =
            self.open.iter().filter(|(_, changed)| changed.contains(name)).map(|(at, _)| *at).collect();
        let any: Vec<Id> = open.into_iter().map(|at| self.is_open(at)).collect();
        self.model.terms.any(any)
    }

    pub(super) fn is_open(&mut self, open: usize) -> Id {
        let (zero, count) = (self.model.terms.int(0), self.model.read(open));
        self.model.terms.less(zero, count)
    }

    pub(super) fn counted(&mut self, open: usize, by: i32) -> Id {
        let (count, by) = (self.model.read(open), self.model.terms.int(by));
        self.model.terms.two(Two::Add, count, by)
    }

    fn call(&mut self, about: &About<'_>, open: Option<usize>) {
        let bound = &about.tool.bound;
        let tool = about.tool.is_known.then_some(bound.name.as_str());
        let (arguments, definitions) = (&about.arguments, bound.definitions.as_slice());
        let mut names = self.names(arguments, about.is_closed, tool, Reading::Judging, definitions);
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
            effects.push((open, self.counted(open, 1)));
        }
        let mut event = Event {
            tool: bound.name.clone(),
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

    /// What must be so for a rule to let a call through.
    fn rule(&mut self, ruled: &Ruled<'_>, is_enforced: bool, names: &mut Names<'_>) -> Option<Id> {
        let bound = ruled.bound;
        let when = self.when(ruled, names);
        self.note_uncertain(bound, when);
        let that = self.lower(names).condition(&bound.that);
        let terms = &mut self.model.terms;
        let stops = terms.all([when.0, that.1]);
        let passes = terms.any([when.1, that.0]);
        let rule = self.model.rule(&bound.rule.name);
        if !is_enforced || bound.rule.mode == Mode::Monitor {
            let never = self.model.terms.bool(false);
            self.model.refuses(rule, never);
            return None;
        }
        self.model.refuses(rule, stops);
        let conditions = bound.when.iter().chain([&bound.that]).map(|condition| &**condition);
        if self.asks == Asks::Granted && self.is_beyond(conditions) {
            return None;
        }
        match (self.asks, bound.rule.otherwise) {
            (Asks::Refused, _) => Some(passes),
            (Asks::Granted, Otherwise::Deny) => Some(self.model.terms.not(stops)),
            (Asks::Granted, Otherwise::Ask) => None,
        }
    }

    /// A rule whose `when` has no value, or another one in another state that may be, may be for a call or not.
    fn note_uncertain(&mut self, bound: &BoundRule, when: (Id, Id)) {
        let Some(condition) = &bound.when else { return };
        let terms = &mut self.model.terms;
        let is_certain = terms.any([when.0, when.1]);
        let is_total = terms.truth(is_certain) == Some(true);
        let bools = self.policy.machine().variables().iter().filter(|one| one.kind == Kind::Bool);
        if !is_total || bools.into_iter().any(|one| reads(condition, &one.name)) {
            self.uncertain.insert(bound.rule.name.clone());
        }
    }

    /// The invariants over the state before: to be read after the effects.
    fn invariants(&mut self, effects: &[(usize, Id)], is_enforced: bool, names: &mut Names<'_>) -> Vec<Id> {
        let policy = self.policy;
        let mut all = Vec::with_capacity(policy.invariants().len());
        for invariant in policy.invariants() {
            let (yes, no) = self.lower(names).condition(&invariant.that.expression);
            let stops = self.model.after(no, effects);
            let rule = self.model.rule(&invariant.name);
            if !is_enforced || invariant.mode == Mode::Monitor {
                let never = self.model.terms.bool(false);
                self.model.refuses(rule, never);
                continue;
            }
            self.model.refuses(rule, stops);
            if self.asks == Asks::Granted && self.is_beyond([&*invariant.that.expression].into_iter()) {
                continue;
            }
            match (self.asks, invariant.otherwise) {
                (Asks::Refused, _) => all.push(yes),
                (Asks::Granted, Otherwise::Deny) => all.push(self.model.terms.not(no)),
                (Asks::Granted, Otherwise::Ask) => {}
            }
        }
        all
    }

    /// What must be so whatever the variables are that may be either.
    fn in_every_state(&mut self, condition: Id, has_free_of_state: bool) -> Id {
        let bools: Vec<(String, Slot)> = self
            .world
            .slots
            .iter()
            .filter(|(_, slot)| slot.either.is_some())
            .map(|(name, slot)| (name.clone(), *slot))
            .collect();
        let read = self.model.terms.reached([condition]);
        let mut uncertain = Vec::new();
        for (name, slot) in bools {
            let value = self.model.read(slot.at);
            if read.binary_search(&value).is_ok() {
                uncertain.push((name, slot));
            }
        }
        // What a free value is in another state nobody knows; more than so many ask.
        if has_free_of_state || uncertain.len() > UNCERTAIN_MAX {
            return condition;
        }
        let mut all = condition;
        for (name, slot) in uncertain {
            let value = self.model.read(slot.at);
            let flip = self.model.terms.not(value);
            let flipped = self.model.after(all, &[(slot.at, flip)]);
            let open = self.open_for(&name);
            // After the effects the flag is that of the state after them: both are read there.
            let either = slot.either.map(|either| self.model.read(either));
            let uncertain = self.model.terms.any(std::iter::once(open).chain(either));
            let certain = self.model.terms.not(uncertain);
            let flipped = self.model.terms.any([certain, flipped]);
            all = self.model.terms.all([all, flipped]);
        }
        all
    }

    /// A fact is one of those that the policy names.
    fn facts(&mut self) -> Vec<Id> {
        let (policy, world) = (self.policy, self.world);
        let mut all = Vec::new();
        for (name, fact) in policy.facts().iter().filter(|(_, fact)| !fact.one_of.is_empty()) {
            let Some((at, given)) = world.facts.get(name).copied() else { continue };
            let value = self.model.read(at);
            let texts: Option<Vec<String>> =
                fact.one_of.iter().map(|one| one.root().as_str().map(str::to_owned)).collect();
            let Some(texts) = texts.filter(|texts| texts.iter().all(|text| super::is_writable(text))) else {
                continue;
            };
            let mut any = Vec::new();
            for text in texts {
                let text = self.model.terms.text(&text);
                any.push(self.model.terms.equal(value, text));
            }
            if let Some(given) = given {
                let given = self.model.read(given);
                any.push(self.model.terms.not(given));
            }
            all.push(self.model.terms.any(any));
        }
        all
    }

    /// What a call's rules set, from the state before it, and what must be so for it to fit.
    fn set(
        &mut self,
        rules: &[Ruled<'_>],
        is_enforced: bool,
        names: &mut Names<'_>,
    ) -> (BTreeMap<String, Next>, Vec<Id>) {
        let (mut changes, mut fits) = (BTreeMap::new(), Vec::new());
        for ruled in rules {
            let (rule, when) = (ruled.bound, self.when(ruled, names));
            for effect in &rule.set {
                let before = changes.get(&*effect.variable.name).copied();
                // The guard looks at all that both of them read.
                let read = rule.when.iter().chain([&effect.value]).map(|expression| &**expression);
                let is_beyond = self.is_beyond(read);
                let certain = self.is_certain(effect, when, names);
                if rule.rule.mode != Mode::Monitor {
                    fits.extend(certain);
                }
                if is_window(&effect.variable) {
                    let of = Entry {
                        variable: &effect.variable,
                        expression: &effect.value,
                        is_beyond,
                        may_be_full: !is_enforced,
                    };
                    let Some((next, fit)) = self.entry(of, before, when, names) else { continue };
                    changes.insert(effect.variable.name.to_string(), next);
                    if rule.rule.mode != Mode::Monitor {
                        fits.push(fit);
                    }
                    continue;
                }
                let change = self.change((&effect.variable, &effect.value), is_beyond, when, names);
                let Some((mut next, fit)) = change else { continue };
                // Of a rule that is monitored nothing is stopped, and nobody knows what the variable holds then.
                let is_over = self.model.terms.not(fit);
                next.unknown = self.model.terms.any([next.unknown, is_over]);
                let next = self.merged(&effect.variable, before, next, when, names);
                changes.insert(effect.variable.name.to_string(), next);
                if rule.rule.mode != Mode::Monitor {
                    fits.push(fit);
                }
            }
        }
        (changes, fits)
    }

    /// Where nobody says yes: an effect that has no value asks. One that reads what may be either is let through here,
    /// since it may come out the same both ways.
    fn is_certain(&mut self, effect: &BoundEffect, when: (Id, Id), names: &mut Names<'_>) -> Option<Id> {
        if self.asks == Asks::Granted {
            return None;
        }
        let slot = *self.world.slots.get(&*effect.variable.name)?;
        let (_, ok) = self.lower(names).value(&effect.value, slot.sort);
        let terms = &mut self.model.terms;
        let is_set = terms.all([when.0, ok]);
        let certain = terms.any([when.1, is_set]);
        self.eithers(certain).is_empty().then_some(certain)
    }

    /// What an effect makes of a variable, and whether it fits: an overflow is refused.
    pub(super) fn change(
        &mut self,
        (variable, expression): (&Variable, &Expression),
        is_beyond: bool,
        when: (Id, Id),
        names: &mut Names<'_>,
    ) -> Option<(Next, Id)> {
        let slot = *self.world.slots.get(&*variable.name)?;
        let (given, mut ok) = self.lower(names).value(expression, slot.sort);
        if is_beyond {
            let key = format!("state.{}, where too much is uncertain", variable.name);
            let is_certain = names.own(self.model, &key, Sort::Bool);
            ok = self.model.terms.all([ok, is_certain]);
        }
        let (value, ok) = self.combined(variable, slot, given, ok);
        let (value, fit) = match variable.kind {
            Kind::Int => {
                let terms = &mut self.model.terms;
                let (least, most) = (terms.int(i64::MIN), terms.int(i64::MAX));
                let (low, high) = (terms.at_most(least, value), terms.at_most(value, most));
                let fits = terms.all([low, high]);
                let zero = terms.int(0);
                let kept = terms.choose(fits, value, zero);
                let not = terms.not(ok);
                (kept, terms.any([fits, not, when.1]))
            }
            _ => (value, self.model.terms.bool(true)),
        };
        Some((self.of(variable, slot, value, ok, names), fit))
    }

    /// A value that is there, or anything.
    fn of(&mut self, variable: &Variable, slot: Slot, value: Id, ok: Id, names: &mut Names<'_>) -> Next {
        let not = self.model.terms.not(ok);
        if self.model.terms.truth(not) == Some(false) {
            let never = self.model.terms.bool(false);
            return Next { value, unknown: never, either: never };
        }
        let key = format!("state.{}, where its effect has no value", variable.name);
        let any = names.own(self.model, &key, slot.sort);
        let which = names.own(self.model, &format!("{key}, may be either"), Sort::Bool);
        // Only what reads one that may be either may be either itself.
        let eithers = self.eithers(ok);
        let is_either = self.model.terms.any(eithers);
        let which = self.model.terms.all([which, is_either]);
        let not = self.is_lost(ok, not, &key, names);
        let terms = &mut self.model.terms;
        let value = terms.choose(ok, value, any);
        if slot.either.is_none() {
            return Next { value, unknown: not, either: terms.bool(false) };
        }
        let is_not = terms.not(which);
        Next { value, unknown: terms.all([not, is_not]), either: terms.all([not, which]) }
    }

    /// Whether a value that is not certain is lost. One that reads what may be either may come out the same both ways.
    fn is_lost(&mut self, ok: Id, not: Id, key: &str, names: &mut Names<'_>) -> Id {
        let eithers = self.eithers(ok);
        if eithers.is_empty() {
            return not;
        }
        let is_lost = names.own(self.model, &format!("{key}, is not certain"), Sort::Bool);
        let terms = &mut self.model.terms;
        let is_either = terms.any(eithers);
        let is_none = terms.not(is_either);
        let lost = terms.any([is_lost, is_none]);
        terms.all([not, lost])
    }

    /// Whether each boolean that a term reads may be either.
    pub(super) fn eithers(&mut self, term: Id) -> Vec<Id> {
        let read = self.model.terms.reached([term]);
        let mut eithers = Vec::new();
        for either in self.world.slots.values().filter_map(|slot| slot.either) {
            let either = self.model.read(either);
            if read.binary_search(&either).is_ok() {
                eithers.push(either);
            }
        }
        eithers
    }

    /// With what the variable holds already, where it combines.
    pub(super) fn combined(&mut self, variable: &Variable, slot: Slot, given: Id, ok: Id) -> (Id, Id) {
        let Some(combine) = variable.combine else { return (given, ok) };
        let (held, unknown) = (self.model.read(slot.at), self.model.read(slot.unknown));
        let either = slot.either.map(|either| self.model.read(either));
        let terms = &mut self.model.terms;
        let lost = terms.any(std::iter::once(unknown).chain(either));
        let known = terms.not(lost);
        let decides = |terms: &mut super::super::term::Terms, value: bool| {
            let (a, b) = match value {
                true => (held, given),
                false => (terms.not(held), terms.not(given)),
            };
            let (a, b) = (terms.all([known, a]), terms.all([ok, b]));
            terms.any([a, b])
        };
        let both = terms.all([ok, known]);
        match combine {
            Combine::Or => {
                let decides = decides(terms, true);
                (decides, terms.any([both, decides]))
            }
            Combine::And => {
                let decides = decides(terms, false);
                (terms.not(decides), terms.any([both, decides]))
            }
            Combine::Add => (terms.two(Two::Add, held, given), both),
            Combine::Max | Combine::Min => {
                let is_less = terms.less(held, given);
                let (larger, smaller) =
                    (terms.choose(is_less, given, held), terms.choose(is_less, held, given));
                (if combine == Combine::Max { larger } else { smaller }, both)
            }
            Combine::Union => (given, terms.bool(false)),
        }
    }

    /// An effect beside those of other rules, where its `when` holds; where that has no value it may or may not.
    pub(super) fn merged(
        &mut self,
        variable: &Variable,
        before: Option<Next>,
        next: Next,
        when: (Id, Id),
        names: &mut Names<'_>,
    ) -> Next {
        let Some(slot) = self.world.slots.get(&*variable.name).copied() else { return next };
        let key = |what: &str| format!("state.{}, {what}", variable.name);
        let never = self.model.terms.bool(false);
        if variable.combine.is_some() && before.is_some() {
            let what = key("where several effects combine");
            let value = names.own(self.model, &what, slot.sort);
            let unknown = names.own(self.model, &format!("{what}, is not known"), Sort::Bool);
            let either = self.either(slot, &format!("{what}, may be either"), unknown, names);
            return Next { value, unknown, either };
        }
        let kept = before.unwrap_or_else(|| self.kept(slot));
        let is_sure = self.model.terms.any([when.0, when.1]);
        let unsure = self.model.terms.not(is_sure);
        let (mut is_applied, mut is_lost, mut is_either) = (when.0, unsure, never);
        let is_certain = variable.combine.is_none() && self.eithers(unsure).is_empty();
        if !is_certain && self.model.terms.truth(unsure) != Some(false) {
            // It may come out the same whatever it reads is, or be decided by what the variable holds.
            let what = key("where `when` has no value");
            let may_be = names.own(self.model, &what, Sort::Bool);
            let lost = names.own(self.model, &format!("{what}, is not known"), Sort::Bool);
            let terms = &mut self.model.terms;
            let may_be = terms.all([unsure, may_be]);
            (is_applied, is_lost) = (terms.any([when.0, may_be]), terms.all([unsure, lost]));
            let either = self.either(slot, &format!("{what}, may be either"), is_lost, names);
            is_either = self.model.terms.all([unsure, either]);
        }
        let terms = &mut self.model.terms;
        let unknown = terms.choose(is_applied, next.unknown, kept.unknown);
        let either = terms.choose(is_applied, next.either, kept.either);
        Next {
            value: terms.choose(is_applied, next.value, kept.value),
            unknown: terms.any([unknown, is_lost]),
            either: terms.any([either, is_either]),
        }
    }

    /// Of a boolean: it may be either, or not, where it is not unknown.
    pub(super) fn either(&mut self, slot: Slot, key: &str, unknown: Id, names: &mut Names<'_>) -> Id {
        if slot.either.is_none() {
            return self.model.terms.bool(false);
        }
        let either = names.own(self.model, key, Sort::Bool);
        let known = self.model.terms.not(unknown);
        self.model.terms.all([known, either])
    }

    pub(super) fn kept(&mut self, slot: Slot) -> Next {
        let either = match slot.either {
            Some(either) => self.model.read(either),
            None => self.model.terms.bool(false),
        };
        Next { value: self.model.read(slot.at), unknown: self.model.read(slot.unknown), either }
    }

    pub(super) fn effects(&mut self, changes: &BTreeMap<String, Next>) -> Vec<(usize, Id)> {
        let mut effects = Vec::new();
        for (name, next) in changes {
            let Some(slot) = self.world.slots.get(name) else { continue };
            effects.push((slot.at, next.value));
            effects.push((slot.unknown, next.unknown));
            effects.extend(slot.either.map(|either| (either, next.either)));
        }
        effects
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
