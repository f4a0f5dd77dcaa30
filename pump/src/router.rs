//! The heart of the pump: a frame and its side in, effects out. No I/O, no clock.
//!
//! ```text
//!  frame ─ peek ─┬ answer to a question of ours ───────────► Effect::Answered (stops here)
//!                ├ answer ─ open request ─ Interceptor::answer ─┐
//!                ├ request ─ injected tool? ─ Interceptor::request ─┤ Verdict
//!                ├ cancelled ─ held? dropped : renamed ─────────────┤
//!                ├ notification ────────────────────────────────────┤
//!                └ odd ─ Interceptor::odd_frame ────────────────────┤
//!       Forward / Replace ─► Effect::Send (other side) ◄────────────┤
//!       Answer ─► Effect::Send (back)    Hold ─► Effect::Hold ◄─────┘
//! ```
//!
//! Where nothing can depend on a frame ([`Router::frame`] tells) it is sent first and looked at
//! after the write ([`Router::attribute`]).

mod arms;
mod assert;
mod ends;
mod held;
mod open;
mod pending;
#[cfg(test)]
mod tests;
mod unread;
mod verdicts;

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

#[doc(hidden)]
pub use self::assert::assert_routes;
use self::held::HeldTable;
use self::open::{Open, OpenTable};
use crate::envelope::{Envelope, Kind, peek};
use crate::frame::Frame;
use crate::id::{Id, Namespace};
use crate::request::{Head, Request, RpcError, Side, Ticket};
use crate::seam::{
    Ended, HoldKind, How, InjectedTool, Interceptor, Interest, NoopObserver, Observer, PassAll, Point, Seen,
    ToolInjector, Verdict, Wants,
};
use crate::splice::Edits;

/// Requests that are remembered at once, for each side, without [`IdLimits`]. Later ones pass,
/// but are not accounted for.
const OPEN_REMEMBERED_MAX: usize = 65_536;
/// From this size on an answer that nobody reads is not read here either, beyond its envelope. The random
/// sessions of the tests are short ones.
const OUTLINED_BYTES_MIN: usize = if cfg!(test) { 1 } else { 64 * 1024 };
/// Up to this size a line that starts like an object is read to see whether it is one.
const NOISE_BYTES: usize = 2 * 1024;

/// What the shell has to do, in this order.
pub enum Effect {
    /// Our question got its answer, or never will.
    Answered {
        /// The question's number.
        question: u64,
        /// The raw answer. `None`: the side that was asked is gone.
        answer: Option<Frame>,
    },
    /// Wait for a verdict; give it to [`Router::settle`].
    Hold {
        /// Names the held frame.
        token: Token,
        /// Resolves to the verdict.
        until: Pin<Box<dyn Future<Output = Verdict> + Send>>,
    },
    /// After what was sent is written, call [`Router::attribute`].
    LookLater {
        /// Who sent the frame.
        from: Side,
        /// The frame.
        frame: Frame,
    },
    /// Stop waiting for this verdict.
    Release(Token),
    /// Write a frame.
    Send {
        /// Toward this side.
        to: Side,
        /// These bytes.
        frame: Frame,
        /// How they relate to what was received.
        how: How,
    },
}

impl std::fmt::Debug for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Answered { question, answer } => write!(f, "Answered({question}, {answer:?})"),
            Self::Hold { token, .. } => write!(f, "Hold({token:?})"),
            Self::LookLater { from, frame } => write!(f, "LookLater({from}, {frame:?})"),
            Self::Release(token) => write!(f, "Release({token:?})"),
            Self::Send { to, frame, how } => write!(f, "Send({to}, {how:?}, {frame:?})"),
        }
    }
}

/// Effects in the order they are to be carried out.
pub type Effects = VecDeque<Effect>;

/// Names a held frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub u64);

/// Limits that a guard sets on ids. A request outside them is refused, never sent on; so is one
/// whose id an open request has, by an error whose id is null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdLimits {
    /// Longest id, in bytes of JSON text.
    pub id_bytes_max: usize,
    /// Most requests of one side that are open or held at once.
    pub open_max: usize,
}

impl Default for IdLimits {
    fn default() -> Self {
        Self { id_bytes_max: 256, open_max: 4096 }
    }
}

/// The three seams.
#[derive(Clone)]
pub struct Seams {
    /// Sees.
    pub observer: Arc<dyn Observer>,
    /// Decides.
    pub interceptor: Arc<dyn Interceptor>,
    /// Adds and hides tools.
    pub tools: Option<Arc<dyn ToolInjector>>,
}

impl Default for Seams {
    fn default() -> Self {
        Self { observer: Arc::new(NoopObserver), interceptor: Arc::new(PassAll), tools: None }
    }
}

impl std::fmt::Debug for Seams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seams").field("tools", &self.tools.is_some()).finish_non_exhaustive()
    }
}

/// One value for each side.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Both<T> {
    client: T,
    server: T,
}

impl<T> Both<T> {
    pub(crate) fn new(client: T, server: T) -> Self {
        Self { client, server }
    }

    pub(crate) fn of(&self, side: Side) -> &T {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    pub(crate) fn of_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }
}

/// Routes frames between two sides.
#[derive(Debug)]
pub struct Router {
    namespace: Namespace,
    seams: Seams,
    interest: Both<Interest>,
    /// [`Observer::sees_usual_frames`], asked once when it is set.
    observes_usual: bool,
    /// What the tool injector adds, asked once when it is set.
    injected: Vec<InjectedTool>,
    limits: Option<IdLimits>,
    /// Requests *from* each side that wait for the other's answer.
    open: Both<OpenTable>,
    /// Questions of ours that each side has yet to answer.
    questions: Both<HashMap<Id, u64>>,
    /// Whether this side has ever seen an id of ours, and could use it.
    exposed: Both<bool>,
    held: HeldTable,
    /// Whether this side has left: nobody is asked on its behalf any more.
    left: Both<bool>,
    tickets: u64,
    tokens: u64,
    aliases: u64,
}

impl Router {
    /// A router with its own namespace and seams.
    pub fn new(namespace: Namespace, seams: Seams, limits: Option<IdLimits>) -> Self {
        let interest = seams.interceptor.interest(Side::Client);
        let mut router = Self {
            namespace,
            seams: seams.clone(),
            interest: Both::new(interest, interest),
            observes_usual: true,
            injected: Vec::new(),
            limits,
            open: Both::default(),
            questions: Both::default(),
            exposed: Both::default(),
            held: HeldTable::default(),
            left: Both::default(),
            tickets: 0,
            tokens: 0,
            aliases: 0,
        };
        router.set_seams(seams);
        router
    }

    /// Replaces the seams. Frames already decided stay decided.
    pub fn set_seams(&mut self, seams: Seams) {
        self.interest =
            Both::new(seams.interceptor.interest(Side::Client), seams.interceptor.interest(Side::Server));
        self.injected = seams.tools.as_ref().map(|tools| tools.tools()).unwrap_or_default();
        self.observes_usual = seams.observer.sees_usual_frames();
        self.seams = seams;
    }

    /// How many answers are due to `asker`, calls that a machine still holds included.
    pub fn due(&self, asker: Side) -> usize {
        self.open.of(asker).due() + usize::from(!self.held.is_empty() && self.has_machine_holds(asker))
    }

    /// Whether machine-held frames that `from` sent, of whatever kind, are still to be finished.
    pub fn has_machine_holds(&self, from: Side) -> bool {
        let of_from = |held: &held::Held| held.kind == HoldKind::Machine && held.pending.sender() == from;
        !self.held.tokens(of_from).is_empty()
    }

    /// A frame came in from `from`.
    pub fn frame(&mut self, from: Side, frame: Frame, fx: &mut Effects) {
        if !self.may_depend_on(from, &frame) {
            fx.push_back(Effect::Send { to: from.other(), frame: frame.clone(), how: How::Verbatim });
            fx.push_back(Effect::LookLater { from, frame });
            return;
        }
        let envelope = self.outline(from, &frame).unwrap_or_else(|| peek(frame.body()));
        match envelope.kind {
            Kind::Notification => self.notification(from, frame, envelope, fx),
            Kind::Request => self.request(from, frame, envelope, fx),
            Kind::Response => self.response(from, frame, envelope, fx),
            _ => self.odd(from, frame, envelope, fx),
        }
    }

    /// Asks `to` something in our own name.
    pub fn question(&mut self, number: u64, to: Side, method: &str, params: Option<&str>, fx: &mut Effects) {
        let id = self.namespace.question(number);
        let frame = message_line(Some(&id), method, params);
        self.questions.of_mut(to).insert(id, number);
        *self.exposed.of_mut(to) = true;
        self.send_ours(to, frame, None, fx);
    }

    /// Nobody waits for this question any more. The side that was asked is told; its answer, if
    /// it still comes, is dropped.
    pub fn forget_question(&mut self, number: u64, fx: &mut Effects) {
        let id = self.namespace.question(number);
        for to in [Side::Client, Side::Server] {
            if self.questions.of_mut(to).remove(&id).is_some() {
                let params = format!(r#"{{"requestId":{},"reason":"timed out"}}"#, id.json());
                self.notify(to, "notifications/cancelled", Some(&params), fx);
            }
        }
    }

    /// Tells `to` something in our own name.
    pub fn notify(&mut self, to: Side, method: &str, params: Option<&str>, fx: &mut Effects) {
        self.send_ours(to, message_line(None, method, params), None, fx);
    }

    fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    fn observe(&self, point: Point, frame: &Frame, envelope: Option<&Envelope>, request: Option<&Head>) {
        self.seams.observer.frame(&Seen { point, frame, request, envelope });
    }

    // === what all arms need ===

    /// Remembers a request that was sent on.
    fn remember(&mut self, request: Box<Request>, alias: Option<Id>, wants: Wants) {
        let head = request.head().clone();
        let Some(own_id) = head.id.clone() else { return };
        let table = self.open.of_mut(head.from);
        if wants == Wants::Nothing && alias.is_none() && table.len() >= OPEN_REMEMBERED_MAX {
            return;
        }
        let is_edited =
            self.seams.tools.as_ref().is_some_and(|tools| tools.hides() || !self.injected.is_empty());
        let lists = is_edited && head.from == Side::Client && request.method() == "tools/list";
        // A null is what some serialisers make of "no cursor"; an empty string is a cursor.
        let first_page = lists.then(|| request.param("cursor").is_none_or(|cursor| cursor == "null"));
        let sent_as = alias.clone().unwrap_or_else(|| own_id.clone());
        let open = Open {
            original: alias.is_some().then_some(own_id),
            request: (wants != Wants::Nothing).then(|| request.detached()),
            first_page,
            head,
        };
        table.insert(sent_as, open);
    }

    /// Answers a request with an error of ours, and tells the seams that it ended.
    fn fail(
        &mut self,
        head: &Head,
        request: Option<&Request>,
        how: Ended,
        error: &RpcError,
        fx: &mut Effects,
    ) {
        self.tell_ended(head, request, how);
        if let Some(id) = &head.id {
            self.send_ours(head.from, error.answer(id), Some(head), fx);
        }
    }

    fn refuse(&mut self, request: &Request, error: &RpcError, fx: &mut Effects) {
        if let Some(answer) = request.refuse(error) {
            self.send_ours(request.head().from, answer, Some(request.head()), fx);
        }
    }

    fn tell_ended(&self, head: &Head, request: Option<&Request>, how: Ended) {
        if let Some(request) = request {
            self.seams.interceptor.ended(request, how);
        }
        self.seams.observer.ended(head, how);
    }

    fn send_ours(&mut self, to: Side, frame: Frame, request: Option<&Head>, fx: &mut Effects) {
        self.observe(Point::Sent(to, How::Ours), &frame, None, request);
        fx.push_back(Effect::Send { to, frame, how: How::Ours });
    }
}

fn message_line(id: Option<&Id>, method: &str, params: Option<&str>) -> Frame {
    let method = serde_json::Value::from(method);
    let id = id.map_or(String::new(), |id| format!(r#""id":{},"#, id.json()));
    let params = params.map_or(String::new(), |params| format!(r#","params":{params}"#));
    Frame::line(format!(r#"{{"jsonrpc":"2.0",{id}"method":{method}{params}}}"#).as_bytes())
}

/// One-line edits that give an envelope another id.
fn with_id(envelope: &Envelope, id: &Id) -> Edits {
    let mut edits = Edits::new();
    if let Some(span) = envelope.id {
        edits.push(span.range(), id.json().to_owned());
    }
    edits
}
