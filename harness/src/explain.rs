//! A session played without a server: each call in it is decided as `framegate run` would decide it.
//!
//! ```text
//! {"policy":"framegate.yaml"}                  Stage: loads the policy, once
//! {"tools":[…]}                                Guard::adopt
//! {"message":{"role":"user","content":"…"}}    the conversation
//! {"facts":{…}} {"now":"…"} {"paths":{…}}      what the policy decides by
//! {"call":{…},"output":"…"}                    wire::client_frame, Ledger::step { Guard::decide } ─► Decided
//! ```
//!
//! A call goes through the strict reader of the bridge, inside the frame an MCP client would send, so that what
//! `run` refuses as unreadable is refused here.

pub(crate) mod event;
mod expect;
mod provenance;
mod report;
mod stage;
mod world;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use framegate_guard::form::Revision;
use framegate_guard::json::{Document, Limits, Value};
use framegate_guard::ledger::{
    Ended, Ledger, MemoryLedger, Said, SessionKey, Settled, StateNote, Step, Stepped,
};
use framegate_guard::policy::Policy;
use framegate_guard::session::{Origin, OutputKind, Session};
use framegate_guard::world::World;
use framegate_guard::{Call, Decision, Facts, Guard, Incomplete, Outcome};
use framegate_pump::Frame;

use crate::wire::{self, ClientFrame};

pub(crate) use event::{CallEvent, Event};
pub(crate) use expect::{Difference, differences};
pub(crate) use report::{Options, options};
pub(crate) use stage::{Setting, Stage, StageError};
pub(crate) use world::Staged;

/// The check that arguments which cannot be read fail.
const ARGUMENTS: &str = "arguments_valid";

/// Plays the lines of one session.
#[derive(Debug)]
pub(crate) struct Player {
    guard: Guard,
    session: Session,
    world: Staged,
    ledger: MemoryLedger,
    key: SessionKey,
}

/// What came of a line.
#[derive(Debug)]
pub(crate) enum Played {
    /// A call was decided.
    Decided(Box<Decided>),
    /// The server's tools are known, and what a person should know of them.
    Listed(Vec<String>),
    /// Nothing to say.
    Nothing,
}

/// A decided call.
#[derive(Debug)]
pub(crate) struct Decided {
    pub(crate) decision: Arc<Decision>,
    /// The arguments as they would be sent; `None`: they cannot be read.
    pub(crate) sent: Option<String>,
    /// What a refused call says to the model; empty when it is allowed.
    pub(crate) message: String,
    /// What of it says what to do next.
    pub(crate) advice: String,
    /// What a person would be asked for, or why not; nothing for a call that lacks nothing, or more.
    pub(crate) asks: Option<String>,
    /// What its answer made of the state.
    pub(crate) then: Option<StateNote>,
    /// What a test expects.
    pub(crate) expect: Option<Document>,
}

impl Player {
    /// A session at its beginning.
    pub(crate) fn new(policy: Policy, server: &str, facts: Facts, world: Arc<dyn World>) -> Self {
        Self {
            session: Session::new(policy.window()),
            // A session's tools are called as its author calls them.
            guard: Guard::new(policy, server, facts).with_whole_names(),
            world: Staged::new(world),
            ledger: MemoryLedger::default(),
            key: SessionKey { principal: crate::approve::LOCAL.into(), name: server.to_owned() },
        }
    }

    /// Programs are run; else the session says what they say.
    pub(crate) fn running_programs(mut self) -> Self {
        self.world.run_programs();
        self
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Plays one line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn play(&mut self, event: Event) -> Result<Played, String> {
        match event {
            Event::Call(call) => return self.decide(*call).map(|decided| Played::Decided(Box::new(decided))),
            Event::Tools(tools) => {
                let tools = tools.into_iter().map(|tool| (tool.name, tool.definition));
                let (guard, warnings) = self.guard.adopt(tools);
                self.guard = guard;
                return Ok(Played::Listed(warnings));
            }
            Event::Facts(facts) => self.learn(facts)?,
            Event::Messages(messages) => messages.into_iter().for_each(|message| self.session.add(message)),
            Event::Now(now) => self.world.set_now(now),
            Event::Paths(paths) => self.world.add_paths(paths),
            Event::Programs(programs) => self.world.add_programs(programs),
            Event::Policy(_) | Event::PolicyText(_) => {
                return Err("a session has one policy, and says so in its first line".to_owned());
            }
            Event::Nothing => {}
        }
        Ok(Played::Nothing)
    }

    /// Facts beside, or instead of, those that are known.
    fn learn(&mut self, facts: BTreeMap<String, Document>) -> Result<(), String> {
        let known = self.guard.facts().clone();
        let mut all: BTreeMap<String, Document> =
            known.iter().filter_map(|(name, value)| Some((name.to_owned(), own(value?)))).collect();
        all.extend(facts);
        let facts = Facts::new(self.guard.policy(), &all).map_err(|wrong| wrong.join("; "))?;
        // What is odd about the listing was said when it came.
        self.guard = self.guard.under(self.guard.policy().clone(), facts).0;
        Ok(())
    }

    fn decide(&mut self, event: CallEvent) -> Result<Decided, String> {
        let CallEvent { tool, id, arguments, output, is_error, structured, made, expect } = event;
        let frame = arguments.and_then(|arguments| self.frame(&tool, &arguments));
        let absent = Document::empty_object();
        // Whatever is no object is refused: so is what cannot be read for certain.
        let unread = text_document("\"\"");
        let arguments = match &frame {
            Ok(frame) => frame.call().and_then(|call| call.arguments).unwrap_or(absent.root()),
            Err(_) => unread.root(),
        };
        let (guard, session, world) = (&self.guard, &self.session, &self.world);
        world.next_call();
        let receipt = self.ledger.step(&self.key, &mut |past| {
            let call = Call { tool: &tool, id: id.as_deref(), arguments };
            let mut decision = guard.decide(&call, session, past, world);
            let of_arguments = decision.findings.iter_mut().find(|finding| finding.check == ARGUMENTS);
            if let (Err(why), Some(finding)) = (&frame, of_arguments) {
                finding.reason.clone_from(why);
            }
            let is_sent = made.unwrap_or(decision.outcome == Outcome::Allow);
            Step { decision: Arc::new(decision), is_sent, record: None }
        });
        let receipt = receipt.and_then(Stepped::wait).map_err(|failure| failure.to_string())?;
        let mut then = None;
        let decision = receipt.decision;
        let sent = frame.is_ok().then(|| String::from_utf8_lossy(&decision.arguments).into_owned());
        if made.unwrap_or(decision.outcome == Outcome::Allow) {
            // Of an answer that the session does not tell nothing is known.
            let is_told = output.is_some() || is_error.is_some();
            let is_error = is_error.unwrap_or(false);
            let how = if is_error { Settled::Failed } else { Settled::Done };
            let text = output.as_deref().unwrap_or_default();
            let structured = structured.map(Arc::new);
            let answer = is_told.then_some(Told { is_error, text, structured });
            let ended = Ended { how, answer: answer.as_ref().map(|answer| answer as &dyn Said) };
            let settled = self.ledger.settle(&self.key, receipt.sequence, &ended);
            then = settled.map_err(|failure| failure.to_string())?;
            if let Some(output) = output {
                let kind = if is_error { OutputKind::Error } else { OutputKind::Result };
                let origin = Origin::new(kind, &tool).called_with(decision.arguments.clone());
                self.session.output(origin.read_only(self.guard.is_read_only(&tool)), output);
            }
        }
        let (message, advice) = self.said(&decision);
        let asks = self.asks(&decision);
        Ok(Decided { decision, sent, message, advice, asks, then, expect })
    }

    /// The call as an MCP client would send it, read as the bridge reads it.
    fn frame(&self, tool: &str, arguments: &Document) -> Result<ClientFrame, String> {
        let limits = wire::Limits::of(self.guard.policy());
        let tool = serde_json::Value::from(tool);
        // Arguments from a string of JSON may have line breaks between their values; no frame has.
        let arguments = arguments.root().raw().replace(['\r', '\n'], " ");
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":{tool},"arguments":{arguments}}}}}"#
        );
        match wire::client_frame(&Frame::line(line.as_bytes()), &limits) {
            Ok(Some(frame)) => Ok(frame),
            Ok(None) => Err("an empty frame".to_owned()),
            Err(refusal) => {
                let why =
                    refusal.message.strip_prefix("not sent to the server: ").unwrap_or(&refusal.message);
                Err(format!("the call cannot be read for certain: {why}"))
            }
        }
    }

    /// A client that can ask in every way is assumed.
    fn asks(&self, decision: &Decision) -> Option<String> {
        if decision.missing.is_empty() {
            return None;
        }
        Some(match self.guard.form(decision, Some(Revision::V2026_07_28)) {
            Ok(form) => format!("would ask for: {}", form.names().join(", ")),
            Err(Incomplete { outcome, names }) => {
                format!("would not ask for {}: {}", names.join(", "), outcome.message(&names))
            }
        })
    }

    /// The message to the model, and its part that says what to do.
    fn said(&self, decision: &Decision) -> (String, String) {
        if decision.outcome == Outcome::Allow {
            return (String::new(), String::new());
        }
        let message = self.guard.message(decision);
        let summary = self.guard.summary(decision);
        let advice = message.strip_prefix(&summary).unwrap_or_default().trim_start().to_owned();
        (message, advice)
    }
}

/// What an answer says, as the session file tells it.
struct Told<'a> {
    is_error: bool,
    text: &'a str,
    structured: Option<Arc<Document>>,
}

impl Said for Told<'_> {
    fn is_error(&self) -> bool {
        self.is_error
    }

    fn text(&self) -> Arc<str> {
        self.text.into()
    }

    fn result(&self) -> Option<Arc<Document>> {
        let text = serde_json::Value::from(self.text);
        Some(Arc::new(text_document(&format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#))))
    }

    fn structured(&self) -> Option<Arc<Document>> {
        self.structured.clone()
    }
}

/// A part of a document as one of its own.
fn own(value: Value<'_>) -> Document {
    text_document(value.raw())
}

/// Text that was read before.
fn text_document(text: &str) -> Document {
    let limits = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
    Document::read(Bytes::copy_from_slice(text.as_bytes()), &limits)
        .unwrap_or_else(|_| Document::empty_object())
}

#[cfg(test)]
mod tests;
