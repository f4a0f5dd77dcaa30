//! A solver's sequence, played to the code that decides in earnest.

use super::super::counter::Moment;
use super::super::model::{EventKind, InputKind, Model};
use super::super::term::Value;
use super::super::{Asked, Played, Step};
use super::{Arguments, Compiled, arguments, compiled};
use crate::json::{self, Document, Limits};
use crate::praxiom::program::{Env, Program, Truth};
use crate::praxiom::value::{Kept, Text, Value as Known};
use crate::praxiom::{Call, Praxiom, Sort, State, Verdict, payload};

/// A call that was made.
struct Made {
    event: usize,
    tool: String,
    upstream: String,
    arguments: Document,
}

/// Plays a sequence: what each event was in earnest, and why not, if one went otherwise.
#[must_use]
pub fn replay(
    policy: &Praxiom,
    upstream: Option<&str>,
    model: &Model,
    asked: &Asked,
    moments: &[Moment],
) -> Played {
    let prepared = arguments(policy).and_then(|known| Ok((compiled(policy, asked, &known)?, known)));
    let (compiled, known) = match prepared {
        Ok(prepared) => prepared,
        Err(why) => return Played { steps: Vec::new(), differs: Some(why.to_string()) },
    };
    let mut play = Play {
        policy,
        upstream,
        model,
        compiled,
        known,
        state: policy.initial(),
        open: Vec::new(),
        has_seen: asked.after.is_none(),
    };
    let mut steps = Vec::new();
    for (at, moment) in moments.iter().enumerate() {
        let Some((event, inputs)) = &moment.event else { continue };
        let is_last = at + 2 == moments.len();
        match play.event(asked, *event, inputs, is_last) {
            Ok(step) => steps.push(step),
            Err(why) => return Played { steps, differs: Some(why) },
        }
    }
    Played { steps, differs: play.is_broken_at_end(asked).err() }
}

struct Play<'p> {
    policy: &'p Praxiom,
    /// The server's name, where it is known.
    upstream: Option<&'p str>,
    model: &'p Model,
    compiled: Compiled,
    known: Arguments,
    state: State,
    open: Vec<Made>,
    /// The property's `after` was true before.
    has_seen: bool,
}

impl Play<'_> {
    fn event(
        &mut self,
        asked: &Asked,
        event: usize,
        inputs: &[Value],
        is_last: bool,
    ) -> Result<Step, String> {
        let Some(about) = self.model.events.get(event) else {
            return Err("there is no such event".to_owned());
        };
        match about.kind {
            EventKind::Call => self.call(asked, event, inputs, is_last),
            EventKind::Answer => {
                let made = self.ended(&about.tool)?;
                let result = self.named(event, inputs, "result");
                if let Some(observed) = self.policy.answer(&self.state, &made.call(), &result) {
                    self.state = observed.next;
                }
                Ok(self.step(event, format!("text {}", serde_json::Value::from(result.as_str()))))
            }
            EventKind::Elsewhere | EventKind::Restart => Err("sessions of this format begin anew".to_owned()),
            EventKind::Lost => {
                let made = self.ended(&about.tool)?;
                self.state = self.policy.lost(&self.state, &made.call());
                Ok(self.step(event, String::new()))
            }
        }
    }

    fn step(&self, event: usize, with: String) -> Step {
        Step { event, later: None, with, state: self.policy.shown(&self.state) }
    }

    /// The first call of the tool that is open.
    fn ended(&mut self, tool: &str) -> Result<Made, String> {
        let of = |made: &Made| self.model.events.get(made.event).is_some_and(|event| event.tool == tool);
        match self.open.iter().position(of) {
            Some(at) => Ok(self.open.remove(at)),
            None => Err(format!("no call of `{tool}` is open")),
        }
    }

    fn named(&self, event: usize, inputs: &[Value], wanted: &str) -> String {
        match self.model.named(event, inputs, wanted) {
            Some(Value::Text(text)) => text.to_string(),
            _ => String::new(),
        }
    }

    /// The arguments that the solver chose, and what it wants the payload to hold.
    fn arguments(&self, event: usize, inputs: &[Value]) -> Result<Document, String> {
        let mut members: Vec<String> = Vec::new();
        let chosen = self.model.events.get(event).into_iter().flat_map(|event| &event.inputs);
        for at in chosen {
            let (Some(input), Some(value)) = (self.model.inputs.get(*at), inputs.get(*at)) else { continue };
            if let InputKind::Argument(name) = &input.kind {
                members.push(format!("{}:{value}", serde_json::Value::from(name.as_str())));
            }
        }
        let payload = self.named(event, inputs, "payload");
        if !payload.is_empty() {
            members.push(format!("\"text\":{}", serde_json::Value::from(payload)));
        }
        let text = format!("{{{}}}", members.join(","));
        let limits = Limits { number_digits: crate::praxiom::yaml11::INT_DIGITS_MAX, ..Limits::default() };
        Document::read(text.into(), &limits).map_err(|why| format!("its arguments are none: {why}"))
    }

    fn call(&mut self, asked: &Asked, event: usize, inputs: &[Value], is_last: bool) -> Result<Step, String> {
        let tool = self.model.events.get(event).map(|event| event.tool.clone()).unwrap_or_default();
        let chosen = || self.named(event, inputs, "upstream");
        let upstream = self.upstream.map_or_else(chosen, str::to_owned);
        let made = Made { event, tool, upstream, arguments: self.arguments(event, inputs)? };
        self.watch(asked, &made, is_last)?;
        let in_flight: Vec<String> =
            self.open.iter().flat_map(|open| self.policy.may_change(&open.tool)).collect();
        let in_flight: Vec<&str> = in_flight.iter().map(String::as_str).collect();
        match self.policy.decide(&self.state, &made.call(), &in_flight) {
            Verdict::Allow(allowed) => {
                self.state = allowed.next;
                let step = self.step(event, made.arguments.root().raw().to_owned());
                if !allowed.may_change.is_empty() {
                    self.open.push(made);
                }
                Ok(step)
            }
            Verdict::Pass => Ok(self.step(event, made.arguments.root().raw().to_owned())),
            Verdict::Deny(denied) => Err(format!("`{}` is refused: {}", made.tool, denied.reason)),
        }
    }

    /// The property on the state and the call as they are.
    fn watch(&mut self, asked: &Asked, made: &Made, is_last: bool) -> Result<(), String> {
        if self.compiled.is_of_states {
            return Ok(());
        }
        if is_last && !(self.has_seen && self.is_true(&self.compiled.never, made)?) {
            return Err(format!("the last call does not meet `{}`", asked.never));
        }
        if let Some(after) = &self.compiled.after {
            self.has_seen |= self.is_true(after, made)?;
        }
        Ok(())
    }

    fn is_true(&self, program: &Program, made: &Made) -> Result<bool, String> {
        let policy = self.policy;
        let bound = policy.bind(&made.call(), Vec::new()).map_err(|(_, why)| why)?;
        let root = made.arguments.root();
        let payload = payload::write(root, payload::PAYLOAD);
        let payload = policy.dialect.text(&payload.unwrap_or_default()).into_owned();
        let mut arguments = Vec::with_capacity(self.known.len());
        for (name, sort) in &self.known {
            let known = root.get(name).map(|value| self.kept(value, *sort));
            arguments.push(known.flatten().unwrap_or(Kept::Unknown(crate::praxiom::value::Why::TooLong)));
        }
        let env = Env {
            state: &self.state.values,
            in_flight: &[],
            arguments: &arguments,
            payload: Known::Str(Text::Borrowed(&payload)),
            tool: &bound.tool,
            upstream: &bound.upstream,
            result: Known::Str(Text::Borrowed("")),
        };
        Ok(program.truth(&env) == Truth::True)
    }

    fn kept(&self, value: json::Value<'_>, sort: Sort) -> Option<Kept> {
        match sort {
            Sort::Bool => value.as_bool().map(Kept::Bool),
            Sort::Int => value.number().and_then(payload::integer).flatten().map(Kept::Int),
            Sort::Str => value.as_str().map(|text| Kept::Str(self.policy.dialect.text(text).into())),
        }
    }

    fn is_broken_at_end(&self, asked: &Asked) -> Result<(), String> {
        if !self.compiled.is_of_states {
            return Ok(());
        }
        let unread = Known::Str(Text::Borrowed(""));
        let env = Env {
            state: &self.state.values,
            in_flight: &[],
            arguments: &[],
            payload: unread.clone(),
            tool: "",
            upstream: "",
            result: unread,
        };
        match self.compiled.never.truth(&env) {
            Truth::True => Ok(()),
            _ => Err(format!("the state at the end does not meet `{}`", asked.never)),
        }
    }
}

impl Made {
    fn call(&self) -> Call<'_> {
        Call { tool: &self.tool, upstream: &self.upstream, arguments: Some(self.arguments.root()) }
    }
}
