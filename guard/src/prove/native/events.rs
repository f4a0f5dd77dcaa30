//! The events of a policy: each tool's call, and what becomes of it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::model::{Event, EventKind, Model};
use super::super::term::{Id, Sort};
use super::cel::Lower;
use super::names::{Argument, Call, Names, Reading, World};
use super::ruled::Ruled;
use super::under_way::UnderWay;
use super::{Asks, Compiled, Tool, arguments};
use crate::json;
use crate::policy::{Arguments, Definitions, Missing, Mode, Otherwise, Policy};
use crate::schema::Schema;

/// Of an event about no call.
static NOTHING: BTreeMap<String, Argument> = BTreeMap::new();

pub(super) struct Build<'b> {
    pub(super) model: &'b mut Model,
    pub(super) policy: &'b Policy,
    pub(super) world: &'b World,
    pub(super) asks: Asks,
    pub(super) compiled: &'b [Compiled],
    /// For each property with an `after`: whether it was true of an allowed call.
    pub(super) seen: Vec<Option<usize>>,
    /// Counts of open calls, each with the variables that their answers may change.
    pub(super) open: Vec<(usize, BTreeSet<String>)>,
    /// What properties ask of states and nobody knows.
    pub(super) any: Vec<(usize, Sort)>,
    /// Rules of the tool whose call was last translated, where it may be uncertain whether they are for it.
    pub(super) uncertain: BTreeSet<String>,
}

/// What is known of a tool's arguments.
pub(super) struct About<'t> {
    pub(super) arguments: BTreeMap<String, Argument>,
    pub(super) is_closed: bool,
    /// Where nothing is enforced it can be called all the same.
    pub(super) is_hidden: bool,
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
        let callable: Vec<About<'_>> =
            tools.iter().filter(|tool| self.is_callable(tool)).map(|tool| self.about(tool)).collect();
        let open: Vec<Option<UnderWay>> = callable.iter().map(|about| self.opened(about)).collect();
        for (about, open) in callable.iter().zip(open) {
            if !about.is_hidden {
                self.call(about, open.as_ref());
            }
            if about.is_hidden || self.may_be_hidden(about.tool) {
                self.unjudged(about);
            }
            if let Some(open) = open {
                self.answer(about, &open);
                self.lost(about, &open);
            }
        }
    }

    fn about<'t>(&self, tool: &'t Tool<'t>) -> About<'t> {
        let options = tool.bound.options.as_ref();
        let enforced = self.mode(tool) == Mode::Enforce
            && options.is_some_and(|options| options.arguments != Arguments::Unchecked);
        let own = options.and_then(|options| options.schema.as_ref());
        let schema = own.map(|schema| schema.document().root()).or(tool.schema);
        // Where it cannot be used a call asks, and may be anything.
        let is_usable = |schema: &json::Value<'_>| enforced && Schema::compile(*schema).is_ok();
        let missing = options.map_or(Missing::Pass, |options| options.missing());
        let is_hidden = !tool.bound.visible();
        // What is hidden is judged by nothing where it is called all the same.
        let rules = if is_hidden { Vec::new() } else { self.ruled(tool, schema.is_some()) };
        let (arguments, is_closed) = arguments(schema.filter(is_usable), missing);
        About { arguments, is_closed, is_hidden, tool, rules }
    }

    /// Hidden tools, and those that the policy does not offer, cannot be called.
    fn is_callable(&self, tool: &Tool<'_>) -> bool {
        self.mode(tool) == Mode::Monitor || tool.bound.visible()
    }

    pub(super) fn mode(&self, tool: &Tool<'_>) -> Mode {
        let of = tool.bound.options.as_ref().map(|options| options.mode);
        if self.policy.mode() == Mode::Monitor { Mode::Monitor } else { of.unwrap_or_default() }
    }

    /// A server's definition that gives orders may hide a tool; what it says the model does not know.
    fn may_be_hidden(&self, tool: &Tool<'_>) -> bool {
        let options = tool.bound.options.as_ref();
        self.mode(tool) == Mode::Monitor
            && options.is_some_and(|options| options.definitions == Definitions::Hide)
    }

    /// A call of what is not offered, where nothing is enforced: it is sent, and changes nothing.
    fn unjudged(&mut self, about: &About<'_>) {
        let mut names = self.names_of(about, Reading::AsItIs);
        let facts = self.facts();
        let possible = self.model.terms.all(facts);
        self.called(about, possible, Vec::new(), &mut names);
    }

    fn call(&mut self, about: &About<'_>, open: Option<&UnderWay>) {
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
            effects.extend(self.begun(about, open, is_enforced, &mut names));
        }
        self.called(about, possible, effects, &mut names);
    }

    fn called(&mut self, about: &About<'_>, possible: Id, effects: Vec<(usize, Id)>, names: &mut Names<'_>) {
        let mut event = Event {
            tool: about.tool.bound.name.clone(),
            shown: about.tool.shown.clone(),
            kind: EventKind::Call,
            inputs: Vec::new(),
            possible,
            effects,
            watched: Vec::new(),
        };
        self.watch(&mut event, names);
        event.inputs = names.inputs().into_iter().collect();
        self.model.events.push(event);
    }
}
