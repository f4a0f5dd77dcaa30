//! One session's records in order: what they name is written before them, once.
//!
//! ```text
//! CallRecord ─► session ─► text (policy, schemas, facts) ─► context ─► text (definition) ─► call
//!               └───────── each only where it is new ──────────────────────────────────┘
//! ```
//!
//! What was written is remembered by what it is. A transaction that is not committed takes that back
//! ([`Writer::committed`], [`Writer::undone`]): what it wrote is to be written again.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::chain::{Hash, hex};
use super::entries::{self, Counts, Gap, Names, hash};
use super::entry::Entry;
use super::error::StoreError;
use super::event::{CallRecord, EndRecord, Event, FrameRecord, FrameSent, How, Peer, Sent};
use super::keep::Keep;
use super::sqlite::Transaction;
use crate::guard::Guard;
use crate::json::Document;
use crate::ledger::Recorded;
use crate::praxiom::Dialect;
use crate::session::Window;
use crate::world::Instant;

/// What a session's first record says.
#[derive(Debug, Clone, Default)]
pub struct SessionRecord {
    /// Who.
    pub principal: String,
    /// Which session of theirs.
    pub name: String,
    /// The server's name.
    pub server: String,
    /// The process that records.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// How durable its records are.
    pub durability: String,
    /// The salt that its running hashes of frames begin with.
    pub flow_salt: [u8; 16],
    /// The server's command as a JSON list, fit for reading.
    pub command: String,
    /// SHA-256 of the command as it was given.
    pub command_sha256: Hash,
}

/// Text kept once each: what they are and their bytes, by their hash.
type TextKey = (&'static str, Hash);

/// All that was written and can be named; committed or not.
#[derive(Debug, Clone, Default)]
struct Written {
    session: Option<u64>,
    texts: HashMap<TextKey, u64>,
    contexts: HashMap<Hash, u64>,
    /// The context of the guard that decided last, which most often decides next.
    last: Option<(Arc<Guard>, (Window, bool), u64)>,
    /// Of each tool the definition that counted last.
    definitions: HashMap<String, (Arc<Document>, u64)>,
}

/// Writes one session's events.
#[derive(Debug)]
pub struct Writer {
    about: SessionRecord,
    keep: Keep,
    now: Written,
    /// As it was at the last commit; nothing while nothing was written since that can be named.
    before: Option<Box<Written>>,
    /// The records of calls that have not ended, by their step.
    open: HashMap<u64, u64>,
    opened: Vec<u64>,
    closed: Vec<(u64, u64)>,
    counts: Counts,
    /// As they were at the last commit.
    counts_before: Counts,
}

impl Writer {
    /// A session that has written nothing.
    #[must_use]
    pub fn new(about: SessionRecord, keep: Keep) -> Writer {
        let now = Written::default();
        Writer {
            about,
            keep,
            now,
            before: None,
            open: HashMap::new(),
            opened: Vec::new(),
            closed: Vec::new(),
            counts: Counts::default(),
            counts_before: Counts::default(),
        }
    }

    /// The transaction is committed.
    pub fn committed(&mut self) {
        self.before = None;
        self.opened.clear();
        self.closed.clear();
        self.counts_before = self.counts;
    }

    /// The transaction is not committed: nothing of it was written.
    pub fn undone(&mut self) {
        if let Some(before) = self.before.take() {
            self.now = *before;
        }
        for (step, record) in self.closed.drain(..) {
            self.open.insert(step, record);
        }
        for step in self.opened.drain(..) {
            self.open.remove(&step);
        }
        self.counts = self.counts_before;
    }

    /// The session's own record, if it is not there yet.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn session(&mut self, to: &mut Transaction<'_>, time: Instant) -> Result<u64, StoreError> {
        if let Some(session) = self.now.session {
            return Ok(session);
        }
        let about = &self.about;
        let salt = hex(&about.flow_salt);
        let entry = Entry::new("session")
            .foreign("principal", &about.principal)
            .foreign("name", &about.name)
            .foreign("server", &about.server)
            .number("pid", about.pid)
            .text("version", &about.version)
            .text("durability", &about.durability)
            .text("content", self.keep.name())
            .hash("command_sha256", &about.command_sha256)
            .text("flow_salt", &salt);
        let entry = self.keep.add(entry, "command", about.command.clone().into());
        let session = to.append(&entry, time)?;
        self.change().session = Some(session);
        Ok(session)
    }

    /// A decided call, the step of this number in the ledger.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn call(
        &mut self,
        to: &mut Transaction<'_>,
        (step, call): (u64, &CallRecord),
        flow: Option<&str>,
        time: Instant,
    ) -> Result<Recorded, StoreError> {
        let session = self.session(to, time)?;
        let context = self.context(to, call, session, time)?;
        let definition = self.definition(to, call, time)?;
        // The call that was asked about goes on as this one.
        let again = call.again.and_then(|before| self.close_call(before));
        let entry = entries::call(call, Names { session, context, definition }, again, self.keep);
        let sequence = to.append(&with_flow(entry, flow), time)?;
        let is_sent = call.sent != Sent::No;
        self.counts.calls += 1;
        self.counts.refused += u64::from(!is_sent);
        self.open.insert(step, sequence);
        self.opened.push(step);
        Ok(Recorded { sequence, hash: to.head().hash })
    }

    /// Anything else.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn event(
        &mut self,
        to: &mut Transaction<'_>,
        event: &Event,
        flow: Option<&str>,
        time: Instant,
    ) -> Result<(), StoreError> {
        let session = self.session(to, time)?;
        let entry = match event {
            Event::Approval(approval) => {
                entries::approval(approval, session, self.open.get(&approval.step).copied(), self.keep)
            }
            Event::Close(close) => entries::close(close, session, self.counts),
            Event::End(end) => {
                // A task's outcome, and what a person says, are still to come.
                let call = match end.how {
                    How::Asked | How::Task => self.open.get(&end.step).copied(),
                    _ => self.close_call(end.step),
                };
                match call {
                    Some(call) => entries::end(end, session, call, self.keep),
                    // The call's own record could not be written.
                    None => entries::frame(&unrecorded(end), session, self.keep),
                }
            }
            Event::Frame(frame) => entries::frame(frame, session, self.keep),
            Event::Heard(message) => entries::message(message, session, self.keep),
            Event::Method(method) => entries::method(method, session, self.keep),
            Event::Overheard(heard) => entries::overheard(heard, session, self.keep),
            Event::State(state) => entries::state(state, session, self.known_call(state.step), self.keep),
        };
        to.append(&with_flow(entry, flow), time)?;
        Ok(())
    }

    /// The record of a call, also of one that ended just now.
    fn known_call(&self, step: u64) -> Option<u64> {
        let ended = || self.closed.iter().rev().find(|(closed, _)| *closed == step).map(|(_, call)| *call);
        self.open.get(&step).copied().or_else(ended)
    }

    /// The record of a call that nothing more is to come of.
    fn close_call(&mut self, step: u64) -> Option<u64> {
        let call = self.open.remove(&step)?;
        self.closed.push((step, call));
        Some(call)
    }

    /// Calls that went through unrecorded.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn gap(&mut self, to: &mut Transaction<'_>, gap: &Gap, time: Instant) -> Result<(), StoreError> {
        let session = self.session(to, time)?;
        to.append(&entries::gap(gap, session), time)?;
        Ok(())
    }

    /// Frames and ends of calls that have no record because too much waited.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn omitted(&mut self, to: &mut Transaction<'_>, gap: &Gap, time: Instant) -> Result<(), StoreError> {
        let session = self.session(to, time)?;
        to.append(&entries::omitted(gap, session), time)?;
        Ok(())
    }

    /// What can be named, about to grow.
    fn change(&mut self) -> &mut Written {
        if self.before.is_none() {
            self.before = Some(Box::new(self.now.clone()));
        }
        &mut self.now
    }

    fn context(
        &mut self,
        to: &mut Transaction<'_>,
        call: &CallRecord,
        session: u64,
        time: Instant,
    ) -> Result<u64, StoreError> {
        if let Some((guard, window, context)) = &self.now.last
            && Arc::ptr_eq(guard, &call.guard)
            && *window == (call.window, call.knows_user)
        {
            return Ok(*context);
        }
        let entry = Entry::new("context").number("session", session);
        let entry = if call.without_policy { entry } else { self.policy(to, &call.guard, entry, time)? };
        let mode = match call.guard.is_monitoring() {
            _ if call.without_policy => "none",
            true => "monitor",
            false => "enforce",
        };
        let Window { max_messages, max_chars } = call.window;
        let rules = call.guard.rust_rules().iter().map(|rule| rule.name.as_str());
        let entry = entry.text("mode", mode).raw("window", &format!("[{max_messages},{max_chars}]"));
        let entry = entry.flag("knows_user", call.knows_user);
        let entry = entry.texts("rust_rules", rules);
        let facts = super::content::facts(call.guard.facts());
        let key = hash(entry.body(0, 0, &[]).as_bytes());
        let key = hash(&[&key.0[..], facts.as_deref().unwrap_or_default()].concat());
        let context = match self.now.contexts.get(&key) {
            Some(context) => *context,
            None => to.append(&self.keep.add_some(entry, "facts", facts), time)?,
        };
        let now = self.change();
        now.contexts.insert(key, context);
        now.last = Some((Arc::clone(&call.guard), (call.window, call.knows_user), context));
        Ok(context)
    }

    /// The policy and its schema files, and what a context says of them.
    fn policy(
        &mut self,
        to: &mut Transaction<'_>,
        guard: &Guard,
        entry: Entry,
        time: Instant,
    ) -> Result<Entry, StoreError> {
        let policy = guard.policy();
        let text = Bytes::copy_from_slice(policy.text().as_bytes());
        let number = self.text(to, ("policy", policy.name()), text, time)?;
        let mut schemas = Vec::new();
        for (path, text) in policy.schema_files() {
            let number = self.text(to, ("schema", path), Bytes::copy_from_slice(text.as_bytes()), time)?;
            schemas.push(format!("[{},{number}]", serde_json::Value::from(path)));
        }
        let entry = entry.number("policy", number).hash("policy_sha256", &Hash(policy.digest()));
        let dialect = policy.praxiom().map(|praxiom| praxiom.dialect());
        let entry = match dialect.filter(|dialect| *dialect != Dialect::default()) {
            Some(dialect) => entry.text("dialect", dialect.name()),
            None => entry,
        };
        Ok(entry.raw("schemas", &format!("[{}]", schemas.join(","))))
    }

    fn definition(
        &mut self,
        to: &mut Transaction<'_>,
        call: &CallRecord,
        time: Instant,
    ) -> Result<Option<u64>, StoreError> {
        let tool = call.decision.tool.as_str();
        let Some(definition) = call.guard.tool_definition(tool) else { return Ok(None) };
        if let Some((known, number)) = self.now.definitions.get(tool)
            && Arc::ptr_eq(known, definition)
        {
            return Ok(Some(*number));
        }
        let root = definition.root();
        let number = self.text(to, ("definition", tool), definition.source().slice(root.span()), time)?;
        self.change().definitions.insert(tool.to_owned(), (Arc::clone(definition), number));
        Ok(Some(number))
    }

    /// A text that others name.
    fn text(
        &mut self,
        to: &mut Transaction<'_>,
        (what, name): (&'static str, &str),
        text: Bytes,
        time: Instant,
    ) -> Result<u64, StoreError> {
        let session = self.session(to, time)?;
        let key = (what, hash(&text));
        if let Some(number) = self.now.texts.get(&key) {
            return Ok(*number);
        }
        let entry = Entry::new("text").number("session", session).text("what", what).foreign("name", name);
        let number = to.append(&self.keep.add_text(entry, text), time)?;
        self.change().texts.insert(key, number);
        Ok(number)
    }
}

/// The end of a call that is not in the record.
fn unrecorded(end: &EndRecord) -> FrameRecord {
    let sent = if end.frame.is_some() { FrameSent::Verbatim } else { FrameSent::No };
    FrameRecord {
        method: "tools/call".to_owned(),
        frame: end.frame.clone(),
        out: end.out.clone(),
        ..FrameRecord::new(Peer::Server, &format!("{}, no record", end.how.name()), sent)
    }
}

fn with_flow(entry: Entry, flow: Option<&str>) -> Entry {
    match flow {
        Some(flow) => entry.raw("flow", flow),
        None => entry,
    }
}
