//! One call: which actions cover it, whether their guards and the invariants hold, and the state that follows.

use std::borrow::Cow;
use std::ops::Range;

use super::deny::{Stop, What, denied, stop};
use super::glob::Glob;
use super::payload::{self, PAYLOAD};
use super::program::{Env, Program, Truth};
use super::python::repr;
use super::value::{Kept, Sort, Text, Value, Why};
use super::{Dialect, Praxiom, State};
use crate::json::{self, Kind};

#[derive(Debug)]
pub(crate) struct Invariant {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) program: Program,
}

#[derive(Debug)]
pub(crate) struct Action {
    pub(crate) name: String,
    /// Where its globs stand in the file.
    pub(crate) span: Range<usize>,
    pub(crate) globs: Vec<Glob>,
    pub(crate) arguments: Vec<(String, Sort)>,
    pub(crate) guards: Vec<(String, Program)>,
    /// Variables by position; each once.
    pub(crate) effect: Vec<(usize, Program)>,
    pub(crate) on_result: Vec<(usize, Program)>,
}

/// A call as the policy sees it.
#[derive(Debug, Clone, Copy)]
pub struct Call<'c> {
    /// With the server's name before it: `fs__write_file`.
    pub tool: &'c str,
    /// The server's name: `fs`.
    pub upstream: &'c str,
    /// Absent and `null` count as `{}`.
    pub arguments: Option<json::Value<'c>>,
}

/// What a policy says to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// All guards and invariants hold; the state that follows is to be committed before the call is sent.
    Allow(Allowed),
    /// Refused; the state stays.
    Deny(Denied),
    /// No action covers the tool, and the policy lets such calls through.
    Pass,
}

/// An allowed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    /// The covering actions, in the order declared.
    pub actions: Vec<String>,
    /// The state after the call. It is never rolled back.
    pub next: State,
    /// Variables that the call's answer may change: to be given to [`Praxiom::decide`] as in flight until
    /// [`Praxiom::answer`] or [`Praxiom::lost`].
    pub may_change: Vec<String>,
}

/// Why a call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// A declared argument is absent or of another type.
    Argument,
    /// No action covers the tool, and the policy's default is deny.
    Default,
    /// A guard is false.
    Guard,
    /// A call in flight may change what the decision rests on.
    InFlight,
    /// An invariant would be false in the state that follows.
    Invariant,
    /// The solver would find a contradiction of its own making ([`Dialect::Original`] only).
    Solver,
    /// A guard, an invariant or an effect has no value: a zero divisor, a value that is too long, or a variable
    /// that an unseen answer may have changed.
    Undecided,
}

/// A refused call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// Why.
    pub because: Because,
    /// The guard's label, the invariant's or the variable's name, `args` or `default`.
    pub rule: Option<String>,
    /// For the audit line, with the state that was met.
    pub reason: String,
    /// For the model.
    pub text: String,
}

/// Everything a decision evaluates with.
pub(crate) struct Bound<'c> {
    pub(crate) actions: Vec<(&'c Action, Vec<Kept>)>,
    pub(crate) payload: Option<String>,
    pub(crate) tool: Cow<'c, str>,
    pub(crate) upstream: Cow<'c, str>,
}

impl Praxiom {
    /// Decides a call. `in_flight` names the variables that answers still due may change: what depends on them is
    /// not decided until they are in. (The original lets such calls slip past each other, and so does
    /// [`Dialect::Original`].)
    #[must_use]
    pub fn decide(&self, state: &State, call: &Call<'_>, in_flight: &[&str]) -> Verdict {
        let covering: Vec<&Action> = self.covering(call.tool).collect();
        if covering.is_empty() {
            if !self.deny {
                return Verdict::Pass;
            }
            let tool = repr(call.tool);
            let reason = format!("no policy action covers {tool} and the policy default is deny");
            return denied(call, Because::Default, Some("default"), reason);
        }
        let bound = match self.bind(call, covering) {
            Ok(bound) => bound,
            Err((because, reason)) => return denied(call, because, Some("args"), reason),
        };
        let next = match self.transition(state, &bound) {
            Ok(next) => next,
            Err(stop) => return self.stopped(state, call, &stop),
        };
        if let Some(stop) = self.held_up(state, &bound, &next, in_flight) {
            return self.stopped(state, call, &stop);
        }
        if self.contradicts(state, &next) {
            let shown = self.shown(state);
            let reason = format!("the action is unsatisfiable against the current state [state: {shown}]");
            return denied(call, Because::Solver, None, reason);
        }
        let actions = bound.actions.iter().map(|(action, _)| action.name.clone()).collect();
        let may_change = self.may_change(call.tool);
        Verdict::Allow(Allowed { actions, next: State::committed(next), may_change })
    }

    /// The actions that cover a tool, in the order declared.
    pub(crate) fn covering<'p>(&'p self, tool: &str) -> impl Iterator<Item = &'p Action> {
        self.actions.iter().filter(move |action| action.covers(tool))
    }

    /// Whether an action covers the tool.
    #[must_use]
    pub fn covers(&self, tool: &str) -> bool {
        self.covering(tool).next().is_some()
    }

    /// The names of the actions that cover a tool, in the order declared.
    pub fn actions<'p>(&'p self, tool: &str) -> impl Iterator<Item = &'p str> {
        self.covering(tool).map(|action| action.name.as_str())
    }

    /// Variables that an answer of this tool may change.
    #[must_use]
    pub fn may_change(&self, tool: &str) -> Vec<String> {
        let mut positions: Vec<usize> =
            self.covering(tool).flat_map(|action| action.on_result.iter().map(|(at, _)| *at)).collect();
        positions.sort_unstable();
        positions.dedup();
        positions.into_iter().filter_map(|at| self.variables.get(at)).map(|(name, _)| name.clone()).collect()
    }

    pub(crate) fn bind<'c>(
        &'c self,
        call: &Call<'c>,
        covering: Vec<&'c Action>,
    ) -> Result<Bound<'c>, (Because, String)> {
        let arguments = call.arguments.filter(|arguments| !arguments.is_null());
        if arguments.is_some_and(|arguments| arguments.kind() != Kind::Object) {
            return Err((Because::Argument, "the arguments are not an object".to_owned()));
        }
        let payload = covering.iter().any(|action| action.reads_payload()).then(|| match arguments {
            Some(arguments) => payload::write(arguments, PAYLOAD),
            None => Some("{}".to_owned()),
        });
        let payload = payload.flatten().map(|text| self.dialect.text(&text).into_owned());
        let mut actions = Vec::with_capacity(covering.len());
        for action in covering {
            let mut values = Vec::with_capacity(action.arguments.len());
            for (name, sort) in &action.arguments {
                values.push(self.argument(action, name, *sort, arguments)?);
            }
            actions.push((action, values));
        }
        let (tool, upstream) = (self.dialect.text(call.tool), self.dialect.text(call.upstream));
        Ok(Bound { actions, payload, tool, upstream })
    }

    fn argument(
        &self,
        action: &Action,
        name: &str,
        sort: Sort,
        arguments: Option<json::Value<'_>>,
    ) -> Result<Kept, (Because, String)> {
        let label = repr(&action.name);
        let Some(value) = arguments.and_then(|arguments| arguments.get(name)) else {
            let reason = format!("action {label} requires argument {}, which the call omits", repr(name));
            return Err((Because::Argument, reason));
        };
        let integer = value.number().and_then(payload::integer);
        let (kept, got) = match (value.kind(), integer) {
            (Kind::Bool, _) => (value.as_bool().map(Kept::Bool), "bool"),
            (Kind::String, _) => {
                let text = self.dialect.text(value.as_str().unwrap_or_default());
                (Some(Kept::Str(text.into())), "str")
            }
            (Kind::Number, Some(Some(integer))) => (Some(Kept::Int(integer)), "int"),
            (Kind::Number, Some(None)) if sort == Sort::Int => {
                let reason = format!("argument {} has more than 4300 digits", repr(name));
                return Err((Because::Argument, reason));
            }
            (Kind::Number, Some(None)) => (None, "int"),
            (Kind::Number, None) => (None, "float"),
            (Kind::Null, _) => (None, "NoneType"),
            (Kind::Array, _) => (None, "list"),
            (Kind::Object, _) => (None, "dict"),
        };
        kept.filter(|_| got == sort.word()).ok_or_else(|| {
            let (name, wanted) = (repr(name), sort.word());
            (Because::Argument, format!("action {label} requires {name} to be {wanted}, got {got}"))
        })
    }

    /// The state that follows, when all guards and invariants hold.
    fn transition<'p>(&'p self, state: &State, bound: &Bound<'p>) -> Result<Vec<Kept>, Stop<'p>> {
        let mut undecided = None;
        for (label, truth) in guards(state, bound, &[]) {
            undecided = undecided.or(stop(What::Guard(label), truth)?);
        }
        let (next, unknown) = self.assigned(state, bound, &[]);
        let mut undecided = undecided.or(unknown);
        for invariant in &self.invariants {
            let truth = invariant.holds(&next, &[]);
            undecided = undecided.or(stop(What::Invariant(invariant), truth)?);
        }
        undecided.map_or(Ok(next), Err)
    }

    /// What the answers that are still due leave undecided.
    fn held_up<'p>(
        &'p self,
        state: &'p State,
        bound: &Bound<'p>,
        next: &[Kept],
        in_flight: &[&str],
    ) -> Option<Stop<'p>> {
        if in_flight.is_empty() || self.dialect == Dialect::Original {
            return None;
        }
        let hidden: Vec<bool> =
            self.variables.iter().map(|(name, _)| in_flight.contains(&name.as_str())).collect();
        for (label, truth) in guards(state, bound, &hidden) {
            if let Truth::Undecided(why) = truth {
                return Some(Stop { what: What::Guard(label), why: Some(why) });
            }
        }
        let (_, unknown) = self.assigned(state, bound, &hidden);
        if unknown.is_some() {
            return unknown;
        }
        // What this call assigns, the answers may assign again.
        self.invariants.iter().filter(|invariant| invariant.program.reads_any(&hidden)).find_map(
            |invariant| match invariant.holds(next, &hidden) {
                Truth::Undecided(why) => Some(Stop { what: What::Invariant(invariant), why: Some(why) }),
                _ => None,
            },
        )
    }

    /// The variables after the effects; the first one that has no value.
    fn assigned<'p>(
        &'p self,
        state: &State,
        bound: &Bound<'p>,
        hidden: &[bool],
    ) -> (Vec<Kept>, Option<Stop<'p>>) {
        let mut next = state.values.to_vec();
        let mut winners: Vec<Option<(&Program, &Vec<Kept>)>> = vec![None; next.len()];
        for (action, arguments) in &bound.actions {
            for (at, program) in &action.effect {
                if let Some(winner) = winners.get_mut(*at) {
                    // The later declaration wins.
                    *winner = Some((program, arguments));
                }
            }
        }
        let mut unknown = None;
        for (at, winner) in winners.into_iter().enumerate() {
            let (Some((program, arguments)), Some(slot)) = (winner, next.get_mut(at)) else { continue };
            if !hidden.is_empty() && !program.reads_any(hidden) {
                continue;
            }
            let env = bound.env(&state.values, hidden, arguments, Value::Unknown(Why::TooLong));
            *slot = program.run(&env).keep();
            if let (Kept::Unknown(why), None, Some((name, _))) = (&*slot, &unknown, self.variables.get(at)) {
                unknown = Some(Stop { what: What::Effect(name), why: Some(*why) });
            }
        }
        (next, unknown)
    }

    /// The original gives a variable `x_next` and the next value of `x` one name.
    fn contradicts(&self, state: &State, next: &[Kept]) -> bool {
        self.collisions.iter().any(|(first, second)| next.get(*first) != state.values.get(*second))
    }

    /// The first invariant that does not hold before the first call, and why it is undecided if it is.
    pub(crate) fn broken_at_start(&self) -> Option<(String, Option<String>)> {
        let truth = |invariant: &Invariant| invariant.holds(&self.initial.values, &[]);
        let broken = self.invariants.iter().find(|one| matches!(truth(one), Truth::False));
        if let Some(invariant) = broken {
            return Some((invariant.name.clone(), None));
        }
        self.invariants.iter().find_map(|invariant| match truth(invariant) {
            Truth::Undecided(why) => Some((invariant.name.clone(), Some(self.told(why)))),
            _ => None,
        })
    }
}

/// The guards of all covering actions; with hidden variables only those that read one.
fn guards<'b, 'p>(
    state: &'b State,
    bound: &'b Bound<'p>,
    hidden: &'b [bool],
) -> impl Iterator<Item = (&'p str, Truth)> + use<'b, 'p> {
    bound.actions.iter().flat_map(move |(action, arguments)| {
        let relevant = action.guards.iter().filter(|(_, guard)| hidden.is_empty() || guard.reads_any(hidden));
        relevant.map(move |(label, guard)| {
            let env = bound.env(&state.values, hidden, arguments, Value::Unknown(Why::TooLong));
            (label.as_str(), guard.truth(&env))
        })
    })
}

impl Invariant {
    pub(crate) fn holds(&self, state: &[Kept], hidden: &[bool]) -> Truth {
        let unread = Value::Unknown(Why::TooLong);
        self.program.truth(&Env {
            state,
            in_flight: hidden,
            arguments: &[],
            payload: unread.clone(),
            tool: "",
            upstream: "",
            result: unread,
        })
    }
}

impl Action {
    /// Whether it is about a tool.
    pub(crate) fn covers(&self, tool: &str) -> bool {
        self.globs.iter().any(|glob| glob.matches(tool))
    }

    fn reads_payload(&self) -> bool {
        let guards = self.guards.iter().map(|(_, program)| program);
        let assignments = self.effect.iter().chain(&self.on_result).map(|(_, program)| program);
        guards.chain(assignments).any(Program::reads_payload)
    }
}

impl Bound<'_> {
    pub(crate) fn env<'b>(
        &'b self,
        state: &'b [Kept],
        in_flight: &'b [bool],
        arguments: &'b [Kept],
        result: Value<'b>,
    ) -> Env<'b> {
        let payload = self.payload.as_deref();
        Env {
            state,
            in_flight,
            arguments,
            payload: payload.map_or(Value::Unknown(Why::TooLong), |text| Value::Str(Text::Borrowed(text))),
            tool: &self.tool,
            upstream: &self.upstream,
            result,
        }
    }
}
