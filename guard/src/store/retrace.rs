//! Records as decisions with their inputs: what [`crate::Guard::replay`] decides again.
//!
//! A `call` names all it was decided from by number: its context (policy, facts, window), the tool's definition, and
//! how many outputs its session had heard. So one row can be replayed alone, from this file and nothing else. What
//! is not there any more makes a call *not recomputable*, and says why ([`Missing`]); it is never looked up
//! elsewhere.

mod contents;
mod ended;
mod parse;

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;

use self::contents::Contents;
use super::error::StoreError;
use super::read::{Kept, Record, Row};
use crate::guard::Hearing;
use crate::json::{Document, Limits};
use crate::messages::Role;
use crate::policy::Policy;
use crate::praxiom::Dialect;
use crate::session::{Origin, OutputKind, Session, Window};
use crate::trace::{ListedAs, Trace};

/// Outputs that are remembered for each session before one of its calls is decided again.
const OUTPUTS_MAX: usize = 4096;

/// Where records are found by number.
pub trait Source {
    /// One record.
    ///
    /// # Errors
    /// [`StoreError`].
    fn row(&self, seq: u64) -> Result<Option<Row>, StoreError>;

    /// What is still there of its contents.
    ///
    /// # Errors
    /// [`StoreError`].
    fn contents(&self, seq: u64) -> Result<Vec<Kept>, StoreError>;
}

#[cfg(feature = "sqlite")]
impl Source for super::reader::Reader {
    fn row(&self, seq: u64) -> Result<Option<Row>, StoreError> {
        super::reader::Reader::row(self, seq)
    }

    fn contents(&self, seq: u64) -> Result<Vec<Kept>, StoreError> {
        super::reader::Reader::contents(self, seq)
    }
}

/// Why a decision cannot be made again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Missing {
    /// The bytes are not those that the chain commits to.
    #[error("content changed (`{0}`)")]
    Changed(String),
    /// A foreign string was longer than a body keeps.
    #[error("`{0}` was clipped")]
    Clipped(&'static str),
    /// An output that its session had heard.
    #[error("what the session had heard is not all there")]
    Heard,
    /// The end of a call, where what it made of the state was to be told.
    #[error("the record does not say what its answer made of the state")]
    NoEnd,
    /// The state that a policy of praxiom met: another one decided, or it is of an earlier version.
    #[error("the record says nothing of the state that the policy reads")]
    NoState,
    /// Committed to, and not written.
    #[error("content was never kept (`{0}`)")]
    NeverKept(String),
    /// No policy decided.
    #[error("no policy was in force")]
    NoPolicy,
    /// A record that it names.
    #[error("record {0}, which it names, is not there")]
    NoRecord(u64),
    /// The policy of then is one that this version cannot read.
    #[error("the recorded policy cannot be read")]
    Policy,
    /// What looked like a secret was taken out before it was written.
    #[error("content redacted (`{0}`)")]
    Redacted(String),
    /// Deleted on purpose, or by somebody; `verify` tells which.
    #[error("content removed (`{0}`)")]
    Removed(String),
    /// No judgement was made, for there was no listing, no time, no record; or a person's no stands in its place.
    #[error("it was not refused by a judgement (`{0}`)")]
    Unjudged(String),
    /// Not in a form that this version knows.
    #[error("its `{0}` cannot be read")]
    Unreadable(String),
}

/// A value, or why it cannot be had.
pub type Maybe<T> = Result<T, Missing>;

/// A session, as far as its calls need it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its record.
    pub seq: u64,
    /// Whose it is.
    pub name: String,
    /// The server's name.
    pub server: String,
    is_redacted: bool,
}

/// What decisions depend on from some record on.
#[derive(Debug, Clone)]
pub struct Context {
    /// Its record.
    pub seq: u64,
    /// The policy's text, and those of its schema files; nothing when there was no policy.
    policy: Option<(u64, Vec<(String, u64)>)>,
    digest: [u8; 32],
    /// Of a policy of praxiom; nothing where this version does not know it.
    dialect: Option<Dialect>,
    /// Nothing followed from any decision.
    pub is_monitoring: bool,
    window: Window,
    knows_user: bool,
    /// Names of the rules given in Rust. What they do is not in the record.
    pub rust_rules: Vec<String>,
    facts: Maybe<BTreeMap<String, Option<Bytes>>>,
}

/// One output that went into a session's conversation.
#[derive(Debug, Clone, Copy)]
struct Output {
    seq: u64,
    /// The call it answers; nothing where that is not known.
    call: Option<u64>,
}

/// By which way, who, and what.
type Said = (Option<Origin>, Option<Role>, String);

/// A decision with its inputs.
#[derive(Debug, Clone)]
pub struct Retraced {
    /// What [`crate::Guard::replay`] takes.
    pub trace: Trace,
    /// The findings of then are there, to be compared.
    pub has_findings: bool,
}

/// Reads records and gives traces; what many calls share is read once.
#[derive(Debug)]
pub struct Retracer<'s, S> {
    source: &'s S,
    sessions: HashMap<u64, Option<Arc<SessionInfo>>>,
    contexts: HashMap<u64, Option<Arc<Context>>>,
    texts: HashMap<u64, Maybe<Bytes>>,
    /// Outputs by the number under which their session heard them.
    heard: HashMap<u64, BTreeMap<u64, Output>>,
    /// Each session as far as it was put together: what has left a window counts too, so it is all heard again, once.
    built: HashMap<u64, Built>,
}

#[derive(Debug)]
struct Built {
    window: Window,
    knows_user: bool,
    reads: Hearing,
    session: Session,
}

impl<'s, S: Source> Retracer<'s, S> {
    /// Knows nothing yet.
    #[must_use]
    pub fn new(source: &'s S) -> Retracer<'s, S> {
        let (sessions, contexts, texts) = (HashMap::new(), HashMap::new(), HashMap::new());
        Retracer { source, sessions, contexts, texts, heard: HashMap::new(), built: HashMap::new() }
    }

    /// Takes note of a record that a later decision may depend on. Records come in order; to replay one row alone
    /// it is enough to see those of its session, the last ones before it.
    pub fn see(&mut self, record: &Record) {
        let numbers = (record.count("session"), record.count("heard"));
        let (Some(session), Some(heard), "end" | "frame" | "message") = (numbers.0, numbers.1, record.kind())
        else {
            return;
        };
        let call = record.count("call");
        let outputs = self.heard.entry(session).or_default();
        // A session gives each number once. Another record under it was not written by us: if it counted, the next call
        // replayed after those before it and the same call replayed alone would have heard different things.
        outputs.entry(heard).or_insert(Output { seq: record.seq(), call });
        if outputs.len() > OUTPUTS_MAX {
            outputs.pop_first();
        }
    }

    /// The session of a record.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn session(&mut self, record: &Record) -> Result<Option<Arc<SessionInfo>>, StoreError> {
        let Some(seq) = record.count("session") else { return Ok(None) };
        if let Some(known) = self.sessions.get(&seq) {
            return Ok(known.clone());
        }
        let found = self.record(seq)?.filter(|record| record.kind() == "session").map(|record| {
            let text = |key| record.text(key).unwrap_or_default().to_owned();
            let is_redacted = record.text("content") == Some("redacted");
            Arc::new(SessionInfo { seq, name: text("name"), server: text("server"), is_redacted })
        });
        self.sessions.insert(seq, found.clone());
        Ok(found)
    }

    /// The context of a call.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn context(&mut self, call: &Record) -> Result<Maybe<Arc<Context>>, StoreError> {
        let Some(seq) = call.count("context") else {
            return Ok(Err(Missing::Unreadable("context".into())));
        };
        if !self.contexts.contains_key(&seq) {
            let read = match self.record(seq)? {
                Some(record) => Some(Arc::new(self.read_context(&record)?)),
                None => None,
            };
            self.contexts.insert(seq, read);
        }
        Ok(self.contexts.get(&seq).cloned().flatten().ok_or(Missing::NoRecord(seq)))
    }

    fn read_context(&mut self, record: &Record) -> Result<Context, StoreError> {
        let schemas = record.value("schemas").and_then(|list| list.as_array()).into_iter().flatten();
        let schema =
            |pair: &serde_json::Value| Some((pair.get(0)?.as_str()?.to_owned(), pair.get(1)?.as_u64()?));
        let policy = record.count("policy").map(|seq| (seq, schemas.filter_map(schema).collect()));
        let limit = |at: usize| record.value("window").and_then(|window| window.get(at)?.as_u64());
        let limit = |at| limit(at).and_then(|limit| usize::try_from(limit).ok());
        let standard = Window::default();
        let facts = self.content(record, "facts")?.and_then(|facts| match facts {
            Some(text) => parse::facts(text).ok_or_else(|| Missing::Unreadable("facts".into())),
            None => Ok(BTreeMap::new()),
        });
        Ok(Context {
            seq: record.seq(),
            policy,
            digest: record.hash("policy_sha256").unwrap_or_default().0,
            dialect: record.text("dialect").map_or(Some(Dialect::Safe), Dialect::named),
            is_monitoring: record.text("mode") == Some("monitor"),
            window: Window {
                max_messages: limit(0).unwrap_or(standard.max_messages),
                max_chars: limit(1).unwrap_or(standard.max_chars),
            },
            knows_user: record.flag("knows_user"),
            rust_rules: record.texts("rust_rules").map(str::to_owned).collect(),
            facts,
        })
    }

    /// The policy of a context.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn policy(&mut self, context: &Context) -> Result<Maybe<Policy>, StoreError> {
        let Some((seq, schemas)) = &context.policy else { return Ok(Err(Missing::NoPolicy)) };
        let name = self.record(*seq)?.and_then(|record| record.text("name").map(str::to_owned));
        let text = match self.text(*seq)? {
            Ok(text) => text,
            Err(why) => return Ok(Err(why)),
        };
        let mut files = BTreeMap::new();
        for (name, seq) in schemas {
            match self.text(*seq)? {
                Ok(text) => files.insert(name.as_str(), String::from_utf8_lossy(&text).into_owned()),
                Err(why) => return Ok(Err(why)),
            };
        }
        let mut file =
            |name: &str| files.get(name).cloned().ok_or_else(|| "it is not in the record".to_owned());
        let Some(dialect) = context.dialect else { return Ok(Err(Missing::Policy)) };
        let loaded = Policy::load_in(dialect, &name.unwrap_or_default(), &text, &mut file);
        Ok(loaded.map(|loaded| loaded.policy).map_err(|_| Missing::Policy))
    }

    /// A call as it was decided. `reads`: what the guard that decides again reads of what was heard.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn trace(&mut self, call: &Record, reads: Hearing) -> Result<Maybe<Retraced>, StoreError> {
        let context = match self.context(call)? {
            Ok(context) => context,
            Err(why) => return Ok(Err(why)),
        };
        let session = self.session(call)?.unwrap_or_default();
        let contents = Contents::of(self.source, call, session.is_redacted)?;
        let inputs = contents.inputs(call).and_then(|inputs| Ok((inputs, context.facts.clone()?)));
        let (mut inputs, facts) = match inputs {
            Ok(inputs) => inputs,
            Err(why) => return Ok(Err(why)),
        };
        if let ListedAs::Tool { definition, .. } = &mut inputs.listed
            && let Some(seq) = call.count("definition")
        {
            match self.text(seq)? {
                Ok(text) => *definition = Some(text),
                Err(why) => return Ok(Err(why)),
            }
        }
        let heard = match self.heard(call, &context, reads)? {
            Ok(heard) => heard,
            Err(why) => return Ok(Err(why)),
        };
        inputs.decision.policy = context.digest;
        let trace = Trace {
            server: session.server.clone(),
            tool: inputs.decision.tool.clone(),
            call_id: inputs.decision.call_id.clone(),
            arguments: inputs.arguments,
            arguments_start: inputs.start,
            listed: inputs.listed,
            facts,
            session: heard,
            is_made: inputs.decision.was_made,
            is_monitoring: context.is_monitoring,
            rust_rules: context.rust_rules.clone(),
            praxiom: inputs.praxiom,
            decision: inputs.decision,
        };
        Ok(Ok(Retraced { trace, has_findings: inputs.has_findings }))
    }

    /// The session with what it had heard, from its first message on: what has left its window counts too.
    fn heard(
        &mut self,
        call: &Record,
        context: &Context,
        reads: Hearing,
    ) -> Result<Maybe<Session>, StoreError> {
        let heard = match call.value("heard") {
            None => 0,
            // A number below zero would be a huge one, and reading on from there no less.
            Some(_) => match call.count("heard") {
                Some(heard) => heard,
                None => return Ok(Err(Missing::Unreadable("heard".into()))),
            },
        };
        let mut empty = Session::new(context.window).knowing_user(context.knows_user);
        if let Some(why) = call.text("unheard") {
            // What was said counted for nothing: it was not all known.
            empty.set_unheard(why);
            return Ok(Ok(empty));
        }
        if reads == Hearing::Nothing || heard == 0 {
            return Ok(Ok(empty));
        }
        let number = call.count("session").unwrap_or_default();
        let is_same = |built: &Built| {
            (built.window, built.knows_user, built.reads) == (context.window, context.knows_user, reads)
                && built.session.heard() <= heard
        };
        let built = self.built.remove(&number).filter(is_same);
        let mut session = built.map_or(empty, |built| built.session);
        let gone = session.heard();
        let within = (Bound::Excluded(gone), Bound::Included(heard));
        let outputs: Vec<Output> = match self.heard.get(&number) {
            Some(all) if gone < heard => all.range(within).map(|(_, one)| *one).collect(),
            _ => Vec::new(),
        };
        if u64::try_from(outputs.len()).ok() != Some(heard - gone) {
            return Ok(Err(Missing::Heard));
        }
        for output in outputs {
            match self.said(output, reads)? {
                Ok((Some(origin), _, text)) if origin.kind == OutputKind::Form => {
                    session.filled_in(&origin.name, text);
                }
                Ok((Some(origin), _, text)) if origin.kind == OutputKind::Answer => {
                    session.answered(&origin.name, text, origin.arguments.unwrap_or_default());
                }
                Ok((Some(origin), _, text)) => session.output(origin, text),
                Ok((None, role, text)) => session.push(role, text),
                Err(why) => return Ok(Err(why)),
            }
        }
        let (window, knows_user) = (context.window, context.knows_user);
        self.built.insert(number, Built { window, knows_user, reads, session: session.clone() });
        // What the user said before may be here, and what they said since was not known to the session.
        Ok(Ok(session.knowing_user(context.knows_user)))
    }

    fn said(&mut self, output: Output, reads: Hearing) -> Result<Maybe<Said>, StoreError> {
        let Some(record) = self.record(output.seq)? else { return Ok(Err(Missing::NoRecord(output.seq))) };
        if record.kind() == "message" {
            return self.message(&record, reads);
        }
        let origin = match self.origin(output.call, &record, reads)? {
            Ok(origin) => origin,
            Err(why) => return Ok(Err(why)),
        };
        let said = |text: String| Ok((Some(origin), Some(Role::Tool), text));
        let is_error = record.text("how") == Some("error");
        if is_error && record.text("heard_as").is_none() {
            // What it said was not heard then, and it is counted as heard all the same.
            return Ok(said(String::new()));
        }
        let field = if record.commitment("text").is_some() { "text" } else { "result" };
        Ok(self.content(&record, field)?.and_then(|kept| {
            let text = kept.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
            said(match field {
                "text" => text,
                _ if is_error => crate::messages::heard_error(&text),
                _ => crate::messages::heard_text(&text),
            })
        }))
    }

    /// What was said in the conversation, or came by another way than a call's answer.
    fn message(&mut self, record: &Record, reads: Hearing) -> Result<Maybe<Said>, StoreError> {
        if record.value("name_sha256").is_some() {
            return Ok(Err(Missing::Clipped("name")));
        }
        let name = record.text("name").unwrap_or_default();
        let origin = record.text("from").and_then(OutputKind::named).map(|kind| Origin::new(kind, name));
        let role = record.text("role").and_then(Role::named);
        let read_only = record.value("read_only").and_then(serde_json::Value::as_bool);
        let origin = origin.map(|origin| origin.read_only(read_only));
        let is_answer = origin.as_ref().is_some_and(|origin| origin.kind == OutputKind::Answer);
        let arguments = match reads {
            Hearing::Sources if is_answer => self.content(record, "question")?,
            Hearing::Sources => self.content(record, "arguments")?,
            Hearing::Nothing | Hearing::Words => Ok(None),
        };
        let origin = match arguments {
            Ok(arguments) => origin.map(|origin| Origin { arguments, ..origin }),
            Err(why) => return Ok(Err(why)),
        };
        Ok(self.content(record, "text")?.map(|kept| {
            let text = kept.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
            (origin, role, text)
        }))
    }

    /// Where the output of a call comes from.
    fn origin(
        &mut self,
        call: Option<u64>,
        end: &Record,
        reads: Hearing,
    ) -> Result<Maybe<Origin>, StoreError> {
        let call = match call {
            Some(call) => self.record(call)?,
            None => None,
        };
        let Some(call) = call else { return Ok(Ok(Origin::new(OutputKind::Unread, "?"))) };
        let kind = match end.text("how") {
            Some("error" | "tool error") => OutputKind::Error,
            _ => OutputKind::Result,
        };
        let origin = Origin::new(kind, call.text("tool").unwrap_or("?"));
        if reads < Hearing::Sources {
            return Ok(Ok(origin));
        }
        let origin = match call.count("definition") {
            Some(seq) => match self.text(seq)? {
                Ok(text) => origin.read_only(read_only(text)),
                Err(why) => return Ok(Err(why)),
            },
            None => origin,
        };
        let field = if call.commitment("edited").is_some() { "edited" } else { "arguments" };
        Ok(self.content(&call, field)?.map(|arguments| Origin { arguments, ..origin }))
    }

    /// A content as it is kept, whatever was taken out of it before; `None` where the record has none of that name.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn kept(&self, record: &Record, field: &str) -> Result<Maybe<Option<Bytes>>, StoreError> {
        Ok(Contents::of(self.source, record, false)?.content(record, field))
    }

    fn record(&self, seq: u64) -> Result<Option<Record>, StoreError> {
        self.source.row(seq)?.map(|row| row.record()).transpose()
    }

    /// A text that others name.
    fn text(&mut self, seq: u64) -> Result<Maybe<Bytes>, StoreError> {
        if let Some(known) = self.texts.get(&seq) {
            return Ok(known.clone());
        }
        let text = match self.record(seq)? {
            Some(record) => {
                self.content(&record, "text")?.and_then(|text| text.ok_or(Missing::Removed("text".into())))
            }
            None => Err(Missing::NoRecord(seq)),
        };
        self.texts.insert(seq, text.clone());
        Ok(text)
    }

    /// A content; `None` where the record has none of that name.
    fn content(&mut self, record: &Record, field: &str) -> Result<Maybe<Option<Bytes>>, StoreError> {
        let is_redacted = self.session(record)?.is_some_and(|session| session.is_redacted);
        Ok(Contents::of(self.source, record, is_redacted)?.content(record, field))
    }
}

fn read_only(definition: Bytes) -> Option<bool> {
    let definition =
        Document::read(definition, &Limits { depth: Limits::DEPTH_MAX, ..Limits::default() }).ok()?;
    crate::catalogue::read_only(definition.root())
}

#[cfg(all(test, feature = "sqlite"))]
mod tests;
