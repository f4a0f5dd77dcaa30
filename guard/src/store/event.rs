//! What happens in a session, as whoever sees it hands it over: nothing is serialised or hashed yet.
//!
//! An event holds on to what it is about (frames are shared bytes, a guard is an `Arc`), so that making one costs
//! nothing on the thread that carries the frames. [`super::entries`] makes records of it elsewhere.

use std::sync::Arc;

use bytes::Bytes;

use crate::decision::Decision;
use crate::guard::Guard;
use crate::messages::Role;
use crate::schema::Edit;
use crate::session::{Origin, OutputKind, Window};

/// One thing that happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// A person was asked about a call.
    Approval(ApprovalRecord),
    /// The session is over.
    Close(CloseRecord),
    /// A call ended.
    End(EndRecord),
    /// A frame that is no call was refused, dropped, edited, or made here.
    Frame(FrameRecord),
    /// A session heard something that is no call's answer.
    Heard(HeardRecord),
    /// A request that is no call was refused by a ruling.
    Method(MethodRecord),
    /// Another process of the session heard something.
    Overheard(OverheardRecord),
    /// The state changed with an answer whose end is in the record already.
    State(StateRecord),
}

/// Which side a frame came from, or stands beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Peer {
    /// The client.
    Client,
    /// The server.
    Server,
}

impl Peer {
    /// Its name in a record.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Peer::Client => "client",
            Peer::Server => "server",
        }
    }
}

/// What goes to the other side of a frame that came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// The bytes that came.
    Verbatim,
    /// Others in their place.
    Edited,
    /// Nothing.
    No,
}

/// What became of a frame that is no call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameSent {
    /// `out` went to the other side in its place.
    Edited,
    /// It went nowhere; `out`, if there is one, is what its sender got.
    No,
    /// It was made here.
    Ours,
    /// It went on as it was, odd though it is.
    Verbatim,
}

impl FrameSent {
    /// Its name in a record.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FrameSent::Edited => "edited",
            FrameSent::No => "no",
            FrameSent::Ours => "ours",
            FrameSent::Verbatim => "verbatim",
        }
    }
}

/// A decided call.
#[derive(Debug, Clone)]
pub struct CallRecord {
    /// What it was decided by: policy, facts, the tools as listed.
    pub guard: Arc<Guard>,
    /// No policy was given: the guard only stands in for one.
    pub without_policy: bool,
    /// How much of the conversation is kept.
    pub window: Window,
    /// How many messages the session had heard.
    pub heard: u64,
    /// The session knew the user's words.
    pub knows_user: bool,
    /// Why the session did not know what was said, where decisions depend on it.
    pub unheard: Option<String>,
    /// What was decided.
    pub decision: Arc<Decision>,
    /// The arguments as they came; nothing when none came.
    pub arguments: Option<Bytes>,
    /// Where they stood in the frame.
    pub start: usize,
    /// The frame as it was received, terminator included.
    pub frame: Bytes,
    /// What is sent to the server.
    pub sent: Sent,
    /// How long the decision took.
    pub decided_us: u64,
    /// The verdict did not wait for this record.
    pub is_waived: bool,
    /// The step in the ledger in which the same call was decided before, and a person was asked.
    pub again: Option<u64>,
    /// What is taken out of the frame, or put in, beside the decision's own edits: what carried a person's reply.
    pub cuts: Vec<Edit>,
    /// A person completed the call: it is judged as it is then.
    pub filled: Option<FilledRecord>,
}

/// How a person completed a call.
#[derive(Debug, Clone)]
pub struct FilledRecord {
    /// The arguments that they gave.
    pub names: Vec<String>,
    /// The frame with them, and without what carried them. `arguments`, `start` and the decision's edits are of this one.
    pub frame: Bytes,
}

/// What came of asking a person.
#[derive(Debug, Clone)]
pub struct ApprovalRecord {
    /// The decision's step in the ledger.
    pub step: u64,
    /// By which way: `client`, `library` or `terminal`; `standing` where it was approved before.
    pub how: &'static str,
    /// Who replied, or was to.
    pub by: String,
    /// What came of it, in a word or two: `approved`, `declined`, `timed out`, …
    pub outcome: &'static str,
    /// From the question to the reply.
    pub after_ms: u64,
    /// More of it, for people; may be empty.
    pub note: String,
    /// It was about arguments that the call lacked.
    pub form: Option<FormRecord>,
}

/// What a person was asked for, and gave.
#[derive(Debug, Clone)]
pub struct FormRecord {
    /// The arguments.
    pub names: Vec<String>,
    /// The question and its form as JSON: `{"message","requestedSchema"}`.
    pub question: Bytes,
    /// What was given, as JSON, credentials taken out.
    pub answer: Option<Bytes>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum How {
    /// A person is asked by this answer: the client will call again.
    Asked,
    /// The server asks for input: the client will call again.
    Asks,
    /// Its sender cancelled it.
    Cancelled,
    /// A result that is no error.
    Done,
    /// A JSON-RPC error.
    Error,
    /// The server left, or the client.
    Lost,
    /// It was refused here.
    Refused,
    /// A task's handle: its outcome comes later.
    Task,
    /// A result with `isError`.
    ToolError,
    /// Its answer was over the limit.
    TooLong,
    /// Its answer was no JSON.
    Unreadable,
}

impl How {
    /// Its name in a record.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            How::Asked => "asked",
            How::Asks => "asks for input",
            How::Cancelled => "cancelled",
            How::Done => "done",
            How::Error => "error",
            How::Lost => "lost",
            How::Refused => "refused",
            How::Task => "task",
            How::ToolError => "tool error",
            How::TooLong => "too long",
            How::Unreadable => "unreadable",
        }
    }
}

/// The end of a call.
#[derive(Debug, Clone)]
pub struct EndRecord {
    /// The call's step in the ledger.
    pub step: u64,
    /// How.
    pub how: How,
    /// The answer as it was received, or as it was made here; terminator included.
    pub frame: Option<Bytes>,
    /// What the client was sent instead of it, where that is not the same.
    pub out: Option<Bytes>,
    /// From the decision to the answer.
    pub latency_us: u64,
    /// The call was decided and held, and never sent.
    pub is_unsent: bool,
    /// The running number under which its output went into the session's conversation.
    pub heard: Option<u64>,
    /// What the answer made of the state ([`crate::ledger::StateNote`]).
    pub state: Option<Bytes>,
}

impl EndRecord {
    /// Of a call that got no answer.
    #[must_use]
    pub fn new(step: u64, how: How, latency_us: u64) -> EndRecord {
        EndRecord {
            step,
            how,
            frame: None,
            out: None,
            latency_us,
            is_unsent: false,
            heard: None,
            state: None,
        }
    }
}

/// The state changed with an answer.
#[derive(Debug, Clone)]
pub struct StateRecord {
    /// The call's step in the ledger.
    pub step: u64,
    /// See [`EndRecord::state`].
    pub state: Bytes,
}

/// A frame with a row of its own that is no call.
#[derive(Debug, Clone)]
pub struct FrameRecord {
    /// Who sent it; of a frame made here: to whose other side it goes.
    pub from: Peer,
    /// Its method, where it has one.
    pub method: String,
    /// Why, in a word.
    pub reason: String,
    /// By which rule or part of the policy, where there is one.
    pub rule: String,
    /// The frame as it was received, terminator included; nothing for one that is made here.
    pub frame: Option<Bytes>,
    /// What was sent instead: to the other side, or to its sender as an answer.
    pub out: Option<Bytes>,
    /// What became of it.
    pub sent: FrameSent,
    /// The running number under which its text went into the session's conversation, and that text.
    pub heard: Option<(u64, String)>,
    /// How long it was, where it is not here.
    pub frame_bytes: Option<u64>,
    /// It may be a call, and went on though it could not be read as one.
    pub is_unread: bool,
    /// SHA-256 of the frame, where it is known and the frame is not here.
    pub frame_sha256: Option<super::chain::Hash>,
}

impl FrameRecord {
    /// Of a frame that is neither here nor known any closer.
    #[must_use]
    pub fn new(from: Peer, reason: &str, sent: FrameSent) -> FrameRecord {
        FrameRecord {
            from,
            method: String::new(),
            reason: reason.to_owned(),
            rule: String::new(),
            frame: None,
            out: None,
            sent,
            heard: None,
            frame_bytes: None,
            is_unread: false,
            frame_sha256: None,
        }
    }
}

/// What a session heard that is no call's answer: a message of the conversation, a resource or prompt that the client
/// fetched.
#[derive(Debug, Clone)]
pub struct HeardRecord {
    /// The running number under which it was heard.
    pub number: u64,
    /// Who said it.
    pub role: Option<Role>,
    /// By which way it came, and its name there; nothing for what was said in the conversation.
    pub origin: Option<(OutputKind, String)>,
    /// What was said.
    pub text: Bytes,
    /// Of an answer to a question of the server's, the question: see [`Session::answered`].
    ///
    /// [`Session::answered`]: crate::session::Session::answered
    pub question: Option<Bytes>,
}

/// What another process of the session heard, as it counts here.
#[derive(Debug, Clone)]
pub struct OverheardRecord {
    /// The running number under which it was heard here.
    pub number: u64,
    /// By which way it came there, and of what.
    pub origin: Origin,
    /// What was said; nothing where the other process does not tell.
    pub text: Option<Bytes>,
}

/// A refused request that is no call.
#[derive(Debug, Clone)]
pub struct MethodRecord {
    /// Who sent it.
    pub from: Peer,
    /// The method.
    pub method: String,
    /// `ask` or `deny`.
    pub outcome: String,
    /// Why, for people.
    pub text: String,
    /// Its params as JSON.
    pub params: Option<Bytes>,
    /// The frame as it was received, terminator included.
    pub frame: Bytes,
    /// What its sender was sent.
    pub out: Option<Bytes>,
    /// Nothing follows from it: it was passed on.
    pub is_observed: bool,
}

/// The end of a session.
#[derive(Debug, Clone)]
pub struct CloseRecord {
    /// How, in a few words.
    pub how: String,
}
