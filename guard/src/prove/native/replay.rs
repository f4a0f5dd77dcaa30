//! A solver's sequence, played to [`Guard::decide`].
//!
//! What the solver chose for an argument is tried first. Where a free value stands for what the guard works out (a
//! path's root, a pattern), its choice means nothing to the guard: then texts that stand in the policy are tried, so
//! that a sequence is given up only when none of them goes.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::counter::Moment;
use super::super::model::{EventKind, Model};
use super::super::term::Value;
use super::super::{Asked, Played, Step};
use super::clock::{Pace, Still, passed};
use super::{Asks, Compiled, candidates, compiled};
use crate::decision::{Decision, Outcome};
use crate::json::Document;
use crate::ledger::{Ended, Past, Said, Settled, Snapshot};
use crate::policy::Bound;
use crate::session::Session;
use crate::world::Instant;
use crate::{Call, Guard};

struct Answered {
    text: Arc<str>,
    is_error: bool,
}

impl Said for Answered {
    fn is_error(&self) -> bool {
        self.is_error
    }

    fn text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    fn structured(&self) -> Option<Arc<Document>> {
        None
    }
}

/// Plays a sequence: what each event was in earnest, and why not, if one went otherwise. `guard` decides by no facts
/// of its own.
#[must_use]
pub fn replay(
    guard: &Guard,
    bound: &Bound,
    asks: Asks,
    model: &Model,
    asked: &Asked,
    moments: &[Moment],
) -> Played {
    let first = moments.first().map(|moment| moment.state.as_slice()).unwrap_or_default();
    let prepared = compiled(bound, asked).map_err(|why| why.to_string());
    let prepared =
        prepared.and_then(|compiled| Ok((compiled, candidates::facts(guard.policy(), model, first)?)));
    let (compiled, facts) = match prepared {
        Ok(prepared) => prepared,
        Err(why) => return Played { steps: Vec::new(), differs: Some(why) },
    };
    let guard = guard.under(guard.policy().clone(), facts).0;
    let texts = candidates::texts(guard.policy(), &compiled);
    let arguments = candidates::read(guard.policy(), &compiled);
    let subject = Subject { guard, asks, model, asked, compiled, texts, arguments };
    let mut furthest = Played { steps: Vec::new(), differs: Some("there is nothing to play".to_owned()) };
    for pace in Pace::all(subject.guard.policy()) {
        let played = Play::of(&subject, *pace).all(moments);
        if played.differs.is_none() {
            return played;
        }
        if furthest.steps.len() <= played.steps.len() {
            furthest = played;
        }
    }
    furthest
}

/// What is played, and by what.
pub(super) struct Subject<'p> {
    pub(super) guard: Guard,
    pub(super) asks: Asks,
    pub(super) model: &'p Model,
    pub(super) asked: &'p Asked,
    pub(super) compiled: Compiled,
    pub(super) texts: Vec<String>,
    /// Arguments that conditions read.
    pub(super) arguments: BTreeSet<String>,
}

pub(super) struct Play<'p> {
    pub(super) of: &'p Subject<'p>,
    pub(super) pace: Pace,
    pub(super) now: Instant,
    pub(super) session: Session,
    pub(super) past: Past,
    /// The last step's.
    pub(super) sequence: u64,
    /// Calls whose answers are due, by the step that sent them.
    pub(super) open: Vec<(String, u64)>,
    /// Tools of calls that were open when their session ended.
    pub(super) left: Vec<String>,
    pub(super) has_seen: bool,
    /// How long after the last event the state is as the property says.
    pub(super) waited: Option<String>,
}

/// A call that goes as the sequence says.
struct Fitting {
    decision: Decision,
    arguments: Document,
    is_after: bool,
}

impl<'p> Play<'p> {
    fn of(of: &'p Subject<'p>, pace: Pace) -> Play<'p> {
        Play {
            of,
            pace,
            now: Instant(0),
            session: Session::new(of.guard.policy().window()),
            past: Past::default(),
            sequence: 0,
            open: Vec::new(),
            left: Vec::new(),
            has_seen: false,
            waited: None,
        }
    }

    fn all(mut self, moments: &[Moment]) -> Played {
        let mut steps: Vec<Step> = Vec::new();
        for (at, pair) in moments.windows(2).enumerate() {
            let [before, after] = pair else { continue };
            let Some((event, inputs)) = &before.event else { continue };
            let from = self.now;
            let kind = self.of.model.events.get(*event).map(|event| event.kind);
            if kind == Some(EventKind::Call) {
                let subject = (self.of.guard.policy(), self.of.model);
                self.now = self.pace.next(subject, &self.past, self.now, &before.state);
            }
            let later = passed(from, self.now);
            match self.event(*event, inputs, &after.state, at + 2 == moments.len()) {
                Ok(with) => steps.push(Step { event: *event, later, with, state: self.state() }),
                Err(why) => return Played { steps, differs: Some(why) },
            }
        }
        let differs = self.at_end().err();
        if let (Some(waited), Some(last)) = (&self.waited, steps.last_mut()) {
            last.state = format!("{}, {waited} later", self.state());
        }
        Played { steps, differs }
    }

    fn event(
        &mut self,
        event: usize,
        inputs: &[Value],
        after: &[Value],
        is_last: bool,
    ) -> Result<String, String> {
        let Some(about) = self.of.model.events.get(event) else {
            return Err("there is no such event".to_owned());
        };
        match about.kind {
            EventKind::Call => self.call(event, inputs, after, is_last),
            EventKind::Answer => {
                let text = match self.of.model.named(event, inputs, "result.text") {
                    Some(Value::Text(text)) => Arc::clone(text),
                    _ => "".into(),
                };
                let is_error =
                    self.of.model.named(event, inputs, "result.is_error") == Some(&Value::Bool(true));
                let how = if is_error { Settled::Failed } else { Settled::Done };
                let said = Answered { text: Arc::clone(&text), is_error };
                self.ended(&about.tool, &Ended { how, answer: Some(&said) })?;
                let error = if is_error { "an error, " } else { "" };
                Ok(format!("{error}text {}", serde_json::Value::from(&*text)))
            }
            EventKind::Lost => {
                self.ended(&about.tool, &Ended { how: Settled::Lost, answer: None })?;
                Ok(String::new())
            }
            EventKind::Elsewhere => Err("what calls of other servers do is not played".to_owned()),
            EventKind::Restart => self.restart().map(|()| String::new()),
        }
    }

    fn ended(&mut self, tool: &str, ended: &Ended<'_>) -> Result<(), String> {
        let Some(at) = self.open.iter().position(|(open, _)| open == tool) else {
            return self.ended_before(tool, ended.how);
        };
        let (_, sequence) = self.open.remove(at);
        self.past.settle(sequence, ended);
        Ok(())
    }

    /// Of a call of a session that has ended: its answer never came.
    fn ended_before(&mut self, tool: &str, how: Settled) -> Result<(), String> {
        let Some(at) = self.left.iter().position(|left| left == tool) else {
            return Err(format!("no call of `{tool}` is open"));
        };
        self.left.remove(at);
        match how {
            Settled::Lost => Ok(()),
            _ => Err(format!("an answer to a call of `{tool}` that comes after its session is not played")),
        }
    }

    /// The session ends, its open calls without an answer, and another one finds what the store keeps.
    fn restart(&mut self) -> Result<(), String> {
        for (tool, sequence) in std::mem::take(&mut self.open) {
            self.past.settle(sequence, &Ended { how: Settled::Lost, answer: None });
            self.left.push(tool);
        }
        let variables = self.of.guard.policy().machine().variables().iter().map(|variable| &**variable);
        self.past = std::mem::take(&mut self.past).of_store(variables)?;
        self.session = Session::new(self.of.guard.policy().window());
        Ok(())
    }

    fn call(
        &mut self,
        event: usize,
        inputs: &[Value],
        after: &[Value],
        is_last: bool,
    ) -> Result<String, String> {
        let tool = self.of.model.events.get(event).map(|event| event.tool.clone()).unwrap_or_default();
        let mut why = "there is no such call".to_owned();
        for arguments in self.of.candidates(event, inputs) {
            match self.tried(&tool, arguments, after, is_last) {
                Ok(fitting) => return Ok(self.made(&tool, fitting)),
                // What the solver chose itself says most.
                Err(other) if why == "there is no such call" => why = other,
                Err(_) => {}
            }
        }
        Err(why)
    }

    fn made(&mut self, tool: &str, fitting: Fitting) -> String {
        self.sequence += 1;
        let sequence = self.sequence;
        let asked = if fitting.decision.outcome == Outcome::Ask { " (a person says yes)" } else { "" };
        self.has_seen |= fitting.is_after;
        self.past.sent(sequence, &fitting.decision);
        self.open.push((tool.to_owned(), sequence));
        format!("{}{asked}", fitting.arguments.root().raw())
    }

    /// A call that goes out, changes what it is to change, and is what the property is about.
    fn tried(
        &self,
        tool: &str,
        arguments: Document,
        after: &[Value],
        is_last: bool,
    ) -> Result<Fitting, String> {
        let root = arguments.root();
        let call = Call { tool, id: None, arguments: root };
        let decision = self.of.guard.decide(
            &call,
            &self.session,
            &Snapshot::replayed(&self.past, false),
            &Still(self.now),
        );
        let goes = match (decision.outcome, self.of.asks) {
            (Outcome::Allow, _) | (Outcome::Ask, Asks::Granted) => true,
            (Outcome::Ask, Asks::Refused) | (Outcome::Deny, _) => false,
        };
        if !goes {
            let reasons: Vec<&str> = decision.reasons().collect();
            return Err(format!("`{tool}` is stopped: {}", reasons.join("; ")));
        }
        self.changes(&decision, after)?;
        let (is_never, is_after) =
            (self.is(&self.of.compiled.never, tool, &arguments), self.is_after(tool, &arguments));
        let counts = self.of.compiled.after.is_none() || self.has_seen;
        if is_last && !self.of.compiled.is_of_states && !(counts && is_never) {
            return Err(format!("the last call does not meet `{}`", self.of.asked.never));
        }
        Ok(Fitting { decision, arguments, is_after })
    }
}
