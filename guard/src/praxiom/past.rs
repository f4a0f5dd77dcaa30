//! What a session remembers under such a policy, and what a call does to it.
//!
//! ```text
//! Praxiom::step(what is remembered, call) ─► Step { denied?, transition }
//! the call goes out ─► Past::apply            the effects, and what the answer may change counts as due
//! its answer is in  ─► Past::settle           `on_result`; without an answer what it may have changed is unknown
//! it never went out ─► Past::undo             as before, where nothing has happened since
//! ```
//!
//! A policy that is replaced by another one keeps what fits: variables go by name and type.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::machine::{Call, Denied, Verdict};
use super::state::StateError;
use super::value::{Kept, Sort, Why};
use super::{Dialect, Observed, Praxiom, State};
use crate::json::{Document, Limits, Value};
use crate::ledger::{Ended, Settled, StateNote};

/// What is remembered of a session.
#[derive(Debug, Clone)]
pub struct Past {
    pub(crate) variables: Arc<[(String, Sort)]>,
    pub(crate) state: State,
    /// Grows with each change: nothing is taken back from under another call.
    pub(crate) version: u64,
    /// Calls that have not ended, by the step that sent them.
    pub(crate) due: BTreeMap<u64, Due>,
}

/// A call that has not ended.
#[derive(Debug, Clone)]
pub(crate) struct Due {
    /// Variables that its answer may change.
    pub(crate) may_change: Vec<String>,
    /// [`Past::version`] after it went out, and the state before; nothing in a past that was read from a store.
    pub(crate) before: Option<(u64, State)>,
}

/// What a call that is sent does to the state of its session, and what it was decided from.
#[derive(Debug)]
pub struct Transition {
    policy: Arc<Praxiom>,
    tool: String,
    upstream: String,
    /// Their JSON, as it was decided on.
    arguments: Bytes,
    met: State,
    in_flight: Vec<String>,
    comes_to: ComesTo,
}

#[derive(Debug)]
enum ComesTo {
    /// The covering actions, the state that follows, and what the answer may change in it.
    Allowed { actions: Vec<String>, next: State, may_change: Vec<String> },
    /// No action is for this tool.
    Pass,
    /// Nothing: also where the call goes out all the same, since the policy only observes.
    Refused,
}

/// A decision.
#[derive(Debug)]
pub struct Step {
    /// Why it is refused, if it is.
    pub denied: Option<Denied>,
    /// What it does to the state.
    pub transition: Transition,
}

impl Praxiom {
    /// Decides a call from what is remembered. What another policy remembered counts as far as it fits.
    #[must_use]
    pub fn step(self: &Arc<Self>, past: Option<&Past>, call: &Call<'_>) -> Step {
        let met = self.adopt(past);
        let in_flight: Vec<String> = past.map(Past::in_flight).unwrap_or_default();
        let names: Vec<&str> = in_flight.iter().map(String::as_str).collect();
        let (comes_to, denied) = match self.decide(&met, call, &names) {
            Verdict::Allow(allowed) => {
                let (actions, next, may_change) = (allowed.actions, allowed.next, allowed.may_change);
                (ComesTo::Allowed { actions, next, may_change }, None)
            }
            Verdict::Deny(denied) => (ComesTo::Refused, Some(denied)),
            Verdict::Pass => (ComesTo::Pass, None),
        };
        let text = |value: Value<'_>| value.document().source().slice(value.span());
        let arguments = call.arguments.map_or_else(Bytes::new, text);
        let (policy, tool, upstream) = (Arc::clone(self), call.tool.to_owned(), call.upstream.to_owned());
        Step {
            denied,
            transition: Transition { policy, tool, upstream, arguments, met, in_flight, comes_to },
        }
    }

    /// What is remembered, as a state of this policy: variables of the same name and type keep their values, others
    /// begin anew.
    #[must_use]
    pub fn adopt(&self, past: Option<&Past>) -> State {
        match past {
            None => self.initial(),
            Some(past) if *past.variables == *self.variables && past.state.is_committed() => {
                past.state.clone()
            }
            // Nothing has happened yet.
            Some(past) if !past.state.is_committed() => self.initial(),
            Some(past) => carried((&past.variables, &past.state), (&self.variables, &self.initial)),
        }
    }
}

/// Variables with their values.
type Typed<'t> = (&'t [(String, Sort)], &'t State);

/// `state` in terms of other variables; those that it lacks are as in `otherwise`.
fn carried((from, state): Typed<'_>, (to, otherwise): Typed<'_>) -> State {
    let value = |at: usize| {
        let (name, sort) = to.get(at)?;
        let old = from.iter().position(|(old, of)| old == name && of == sort)?;
        Some(match state.values.get(old)? {
            Kept::Unknown(Why::Lost(_) | Why::InFlight(_)) => Kept::Unknown(Why::Lost(at)),
            kept => kept.clone(),
        })
    };
    let pairs = otherwise.values.iter().enumerate();
    State::committed(pairs.map(|(at, other)| value(at).unwrap_or_else(|| other.clone())).collect())
}

impl Transition {
    /// The state before the call.
    #[must_use]
    pub fn met(&self) -> &State {
        &self.met
    }

    /// The state once the call is sent.
    #[must_use]
    pub fn next(&self) -> &State {
        match &self.comes_to {
            ComesTo::Allowed { next, .. } => next,
            ComesTo::Pass | ComesTo::Refused => &self.met,
        }
    }

    /// The actions that cover the call; nothing for one that is refused, or that none is for.
    #[must_use]
    pub fn actions(&self) -> Option<&[String]> {
        match &self.comes_to {
            ComesTo::Allowed { actions, .. } => Some(actions),
            ComesTo::Pass | ComesTo::Refused => None,
        }
    }

    /// The policy that decided.
    #[must_use]
    pub fn policy(&self) -> &Arc<Praxiom> {
        &self.policy
    }

    /// The tool as the policy names it.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What the record of the call says: what was remembered before it, by which actions it was allowed, and the state
    /// that follows.
    #[must_use]
    pub fn record(&self) -> String {
        let due = Due { may_change: self.in_flight.clone(), before: None };
        let due = (!self.in_flight.is_empty()).then_some((0, due)).into_iter().collect();
        let met = Past { due, ..Past::new(&self.policy, self.met.clone()) };
        let actions = serde_json::Value::from(self.actions().unwrap_or_default());
        let next = self.policy.encode(self.next());
        format!(r#"{{"praxiom":{{"met":{},"actions":{actions},"next":{next}}}}}"#, met.encode())
    }

    /// The arguments again, once the answer is in. They were read before.
    fn arguments(&self) -> Option<Document> {
        let none = self.arguments.is_empty();
        let read = || Document::read(self.arguments.clone(), &Limits::again()).ok();
        if none { Some(Document::empty_object()) } else { read() }
    }

    /// The state after the answer, which says `told`, if anything is known of it.
    fn observed(&self, met: &State, told: Option<&str>) -> Observed {
        let arguments = self.arguments();
        let arguments = arguments.as_ref().map(Document::root);
        // Without arguments that a decision accepted nobody can say what an answer means.
        let call = Call { tool: &self.tool, upstream: &self.upstream, arguments };
        let observed = told.and_then(|text| self.policy.answer(met, &call, text));
        observed.unwrap_or_else(|| {
            let next = self.policy.lost(met, &call);
            Observed { actions: Vec::new(), changed: next != *met, next, violated: Vec::new() }
        })
    }

    /// What the answer says, where it says anything; nothing at all where it does nothing to the state.
    fn told(&self, ended: &Ended<'_>) -> Option<Option<String>> {
        let policy = &self.policy;
        Some(match ended.answer {
            // It comes again, with what was asked for: nothing ran yet.
            Some(answer) if ended.how == Settled::Failed && !answer.is_error() => return None,
            Some(answer) => match (answer.result(), policy.dialect) {
                (Some(result), _) => Some(policy.result_text(result.root())),
                // A JSON-RPC error: what it says reaches the model too.
                (None, Dialect::Original) if answer.is_error() => return None,
                (None, _) => Some(answer.text().as_ref().to_owned()),
            },
            None => None,
        })
    }

    /// The record of its end made again, from the state that `note` says it met.
    ///
    /// # Errors
    /// It says nothing of it.
    pub(crate) fn settled_again(
        &self,
        note: &str,
        ended: &Ended<'_>,
    ) -> Result<Option<StateNote>, StateError> {
        let whole = Document::read(note.to_owned().into(), &Limits::again());
        let whole = whole.map_err(|why| StateError(why.to_string()))?;
        let met = whole.root().get("praxiom").and_then(|engine| engine.get("met"));
        let met = met.ok_or_else(|| StateError("it is not that of a policy of praxiom".to_owned()))?;
        let met = self.policy.decode(met.raw())?;
        let told = self.told(ended);
        Ok(told.map(|told| note_of(&self.policy, &met, &self.observed(&met, told.as_deref()))))
    }

    /// Whether its answer may change the state.
    #[must_use]
    pub fn reads_answer(&self) -> bool {
        !self.may_change().is_empty()
    }

    fn may_change(&self) -> &[String] {
        match &self.comes_to {
            ComesTo::Allowed { may_change, .. } => may_change,
            ComesTo::Pass | ComesTo::Refused => &[],
        }
    }
}

impl Past {
    /// A session that met this state before its first call.
    #[must_use]
    pub fn new(policy: &Praxiom, state: State) -> Past {
        Past { variables: Arc::clone(&policy.variables), state, version: 0, due: BTreeMap::new() }
    }

    /// The call goes out. `past`: what was remembered before, if anything was.
    #[must_use]
    pub fn apply(past: Option<Past>, sequence: u64, transition: &Transition) -> Past {
        let policy = &transition.policy;
        let mut past = past.unwrap_or_else(|| Past::new(policy, transition.met.clone()));
        if !matches!(transition.comes_to, ComesTo::Allowed { .. }) {
            return past;
        }
        past.version += 1;
        past.variables = Arc::clone(&policy.variables);
        past.state = transition.next().clone();
        let before = Some((past.version, transition.met.clone()));
        past.due.insert(sequence, Due { may_change: transition.may_change().to_vec(), before });
        past
    }

    /// The call ended. What the record of its end says.
    pub fn settle(&mut self, sequence: u64, transition: &Transition, ended: &Ended<'_>) -> Option<StateNote> {
        let due = self.due.remove(&sequence)?;
        if due.may_change.is_empty() {
            return None;
        }
        let policy = &transition.policy;
        let met = match *self.variables == *policy.variables {
            true => self.state.clone(),
            // Another policy has come meanwhile.
            false => carried((&self.variables, &self.state), (&policy.variables, &transition.met)),
        };
        let observed = transition.observed(&met, transition.told(ended)?.as_deref());
        if observed.changed {
            self.version += 1;
            let mine = self.state.clone();
            self.state = self.with(&policy.variables, &observed.next, &mine);
        }
        Some(note_of(policy, &met, &observed))
    }

    /// A state of other variables in terms of these; what is not among those is as in `mine`.
    fn with(&self, variables: &[(String, Sort)], state: &State, mine: &State) -> State {
        if *variables == *self.variables {
            return state.clone();
        }
        carried((variables, state), (&self.variables, mine))
    }

    /// The call was not sent after all. What others made of the state since stays, and with it what this call did:
    /// too much is counted then, never too little.
    pub fn undo(&mut self, sequence: u64, transition: &Transition) {
        let Some(Due { before: Some((version, state)), .. }) = self.due.remove(&sequence) else { return };
        if version == self.version && *self.variables == *transition.policy.variables {
            self.version += 1;
            self.state = state;
        }
    }

    /// A call of a process that is gone: what its answer may have changed is unknown from here on.
    pub fn lose(&mut self, sequence: u64) {
        let Some(due) = self.due.remove(&sequence) else { return };
        let is_lost = |name: &String| due.may_change.contains(name);
        let pairs = self.variables.iter().zip(self.state.values.iter()).enumerate();
        let values: Vec<Kept> = pairs
            .map(
                |(at, ((name, _), kept))| {
                    if is_lost(name) { Kept::Unknown(Why::Lost(at)) } else { kept.clone() }
                },
            )
            .collect();
        if values.as_slice() != &*self.state.values {
            self.version += 1;
            self.state = State::committed(values);
        }
    }

    /// What was remembered before a call, from [`Transition::record`].
    ///
    /// # Errors
    /// It says nothing of it.
    pub fn recorded(text: &str) -> Result<Past, StateError> {
        let whole = Document::read(text.to_owned().into(), &Limits::again());
        let whole = whole.map_err(|why| StateError(why.to_string()))?;
        let met = whole.root().get("praxiom").and_then(|engine| engine.get("met"));
        Past::decode(met.ok_or_else(|| StateError("it is not that of a policy of praxiom".to_owned()))?.raw())
    }

    /// Variables that answers still due may change, each once.
    #[must_use]
    pub fn in_flight(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.due.values().flat_map(|due| due.may_change.iter().cloned()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }
}

/// What a record says of an answer: the state it met, what follows, and by which actions.
fn note_of(policy: &Praxiom, met: &State, observed: &Observed) -> StateNote {
    let list = |names: &[String]| serde_json::Value::from(names).to_string();
    StateNote(format!(
        r#"{{"praxiom":{{"actions":{},"changed":{},"met":{},"next":{},"shown":{},"violated":{}}}}}"#,
        list(&observed.actions),
        observed.changed,
        policy.encode(met),
        policy.encode(&observed.next),
        serde_json::Value::from(policy.shown(&observed.next)),
        list(&observed.violated)
    ))
}
