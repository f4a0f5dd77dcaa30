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

mod assert;
mod held;
mod open;
#[cfg(test)]
mod tests;
mod verdicts;

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

#[doc(hidden)]
pub use self::assert::assert_routes;
use self::held::HeldTable;
use self::open::{Open, OpenTable};
use crate::codec::TooLong;
use crate::envelope::{Envelope, Kind, peek};
use crate::frame::{Frame, Run};
use crate::id::{Id, Namespace};
use crate::request::{Head, Request, RpcError, Side, Ticket};
use crate::seam::{
    Ended, HoldKind, How, InjectedTool, Interceptor, Interest, NoopObserver, Notice, Observer, Odd, PassAll,
    Point, Seen, ToolInjector, Verdict, Wants,
};
use crate::splice::Edits;

/// Requests that are remembered at once, for each side, without [`IdLimits`]. Later ones pass,
/// but are not accounted for.
const OPEN_REMEMBERED_MAX: usize = 65_536;
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

/// A frame on which a verdict is due.
#[derive(Debug)]
enum Pending {
    /// An answer, and the request it answers.
    Answer { from: Side, frame: Frame, envelope: Envelope, open: Box<Open> },
    /// A request or a notification.
    Message { request: Box<Request>, alias: Option<Id>, wants: Wants, asked: Asked },
    /// A frame that cannot be read for certain.
    Odd { from: Side, frame: Frame },
}

/// Who gave (or will give) the verdict on a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Injector,
    Interceptor,
}

impl Pending {
    /// Who sent the frame.
    fn sender(&self) -> Side {
        match self {
            Self::Answer { from, .. } | Self::Odd { from, .. } => *from,
            Self::Message { request, .. } => request.head().from,
        }
    }

    /// Who waits for the answer, and under which id.
    fn asker(&self) -> Option<(Side, &Id)> {
        match self {
            Self::Answer { open, .. } => Some((open.head.from, open.head.id.as_ref()?)),
            Self::Message { request, .. } => Some((request.head().from, request.id()?)),
            Self::Odd { .. } => None,
        }
    }

    /// Who gets nothing when the frame is dropped: who asked, or who sent what asks nothing.
    fn concerns(&self) -> Side {
        self.head().map_or(self.sender(), |head| head.from)
    }

    /// The message, if it was the interceptor that was asked: it is told the end of that, and
    /// not of what it never saw, nor of what it has seen the answer to.
    fn decided(&self) -> Option<&Request> {
        match self {
            Self::Message { request, asked: Asked::Interceptor, .. } => Some(&**request),
            _ => None,
        }
    }

    fn head(&self) -> Option<&Head> {
        match self {
            Self::Answer { open, .. } => Some(&open.head),
            Self::Message { request, .. } => Some(request.head()),
            Self::Odd { .. } => None,
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
        let envelope = peek(frame.body());
        match envelope.kind {
            Kind::Notification => self.notification(from, frame, envelope, fx),
            Kind::Request => self.request(from, frame, envelope, fx),
            Kind::Response => self.response(from, frame, envelope, fx),
            _ => self.odd(from, frame, envelope, fx),
        }
    }

    /// Accounts for a frame that was sent before it was looked at.
    pub fn attribute(&mut self, from: Side, frame: &Frame) {
        self.account(from, frame.body(), &glance(frame.body()), Some(frame));
    }

    /// The same for each frame of a run.
    pub(crate) fn attribute_run(&mut self, from: Side, run: &Run) {
        if self.observes_usual {
            return run.frames().for_each(|frame| self.attribute(from, &frame));
        }
        for line in run.lines() {
            let envelope = glance(line.body());
            if envelope.kind.is_certain() {
                self.account(from, line.body(), &envelope, None);
            } else {
                self.account(from, line.body(), &envelope, Some(&line.frame()));
            }
        }
    }

    fn account(&mut self, from: Side, body: &[u8], envelope: &Envelope, frame: Option<&Frame>) {
        let head = match envelope.kind {
            Kind::Notification => {
                self.note_cancel(from, body, envelope);
                None
            }
            Kind::Request => {
                let ticket = self.ticket();
                Head::read(body, envelope, from, ticket)
            }
            Kind::Response => {
                let id = envelope.id.and_then(|span| Id::from_json(span.text_of(body)));
                id.and_then(|id| self.open.of_mut(from.other()).take_answered(&id)).map(|open| open.head)
            }
            _ => None,
        };
        if let Some(frame) = frame {
            for point in [Point::Received(from), Point::Sent(from.other(), How::Verbatim)] {
                self.observe(point, frame, Some(envelope), head.as_ref());
            }
        }
        if envelope.kind == Kind::Request
            && let Some(head) = head
            && let Some(id) = head.id.clone()
            && self.open.of(from).len() < OPEN_REMEMBERED_MAX
        {
            self.open.of_mut(from).insert(id, Open { head, request: None, original: None, first_page: None });
        }
    }

    /// A frame from `from` was discarded for its length.
    pub fn too_long(&mut self, from: Side, gone: &TooLong, fx: &mut Effects) {
        self.seams.observer.too_long(from, gone);
        let Some(id) = gone.skimmed.id.as_deref().and_then(Id::from_json) else {
            return;
        };
        let bytes = gone.frame_bytes;
        if gone.skimmed.has_answer && !gone.skimmed.has_method {
            if let Some(question) = self.questions.of_mut(from).remove(&id) {
                fx.push_back(Effect::Answered { question, answer: None });
            } else if let Some(open) = self.open.of_mut(from.other()).take_answered(&id) {
                let text =
                    format!("the {from}'s answer of {bytes} bytes is over the limit of 64 MiB a frame");
                self.fail(
                    &open.head,
                    open.request.as_deref(),
                    Ended::TooLong,
                    &RpcError::new(RpcError::INTERNAL, text),
                    fx,
                );
            }
        } else if gone.skimmed.has_method && from == Side::Client {
            // Nothing is ever written to the server because of its own bad frame.
            let text = format!("this request of {bytes} bytes is over the limit of 64 MiB a frame");
            let answer = RpcError::new(RpcError::INVALID_REQUEST, text).answer(&id);
            self.send_ours(from, answer, None, fx);
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

    /// The client or the server will send nothing more: what waits for a person is dropped. A
    /// client may still read: an answer that a machine holds is finished for it.
    pub fn sender_gone(&mut self, side: Side, fx: &mut Effects) {
        *self.left.of_mut(side) = true;
        let gone = |held: &held::Held| {
            let is_answer = matches!(held.pending, Pending::Answer { .. });
            held.pending.concerns() == side
                && (held.kind == HoldKind::Person || (is_answer && side == Side::Server))
        };
        for token in self.held.tokens(gone) {
            self.drop_held(token, Ended::SenderGone, fx);
        }
        self.release_queue(fx);
        // It will not answer either. Nobody is told by a frame: that is [`Router::peer_gone`].
        for question in std::mem::take(self.questions.of_mut(side)).into_values() {
            fx.push_back(Effect::Answered { question, answer: None });
        }
        if side == Side::Client {
            for open in self.open.of_mut(side.other()).drain() {
                self.tell_ended(&open.head, open.request.as_deref(), Ended::PeerGone);
            }
        }
    }

    /// `side` will answer nothing more: whoever waits for it is told by `error`, if there is one.
    pub fn peer_gone(&mut self, side: Side, error: Option<&RpcError>, fx: &mut Effects) {
        for question in std::mem::take(self.questions.of_mut(side)).into_values() {
            fx.push_back(Effect::Answered { question, answer: None });
        }
        for open in self.open.of_mut(side.other()).drain() {
            self.end(&open.head, open.request.as_deref(), error, fx);
        }
        let held = |held: &held::Held| held.pending.head().is_some_and(|head| head.from == side.other());
        for token in self.held.tokens(held) {
            let Some(held) = self.held.take(token) else { continue };
            fx.push_back(Effect::Release(token));
            if let Some(head) = held.pending.head() {
                self.end(head, held.pending.decided(), error, fx);
            }
        }
    }

    fn end(&mut self, head: &Head, request: Option<&Request>, error: Option<&RpcError>, fx: &mut Effects) {
        match error {
            Some(error) => self.fail(head, request, Ended::PeerGone, error, fx),
            None => self.tell_ended(head, request, Ended::PeerGone),
        }
    }

    /// The verdict on a held frame will never come, as whoever was to give it broke: it is
    /// refused, and blocks nobody behind it.
    pub fn abandon(&mut self, token: Token, fx: &mut Effects) {
        let Some(held) = self.held.take(token) else { return };
        if let Some(head) = held.pending.head() {
            let error = RpcError::new(RpcError::INTERNAL, "no decision could be made on this");
            self.fail(head, held.pending.decided(), Ended::Replaced, &error, fx);
        }
        self.release_queue(fx);
    }

    /// Whether nothing but the log can depend on any frame of this side: they may be passed on
    /// unread, and looked at after ([`Router::attribute`]).
    pub(crate) fn passes_all(&self, from: Side) -> bool {
        self.interest.of(from).odd == Odd::Nothing && !self.may_depend_on_messages(from)
    }

    /// Whether anything but the log can depend on this frame.
    pub(crate) fn may_depend_on(&self, from: Side, frame: &Frame) -> bool {
        let is_of_interest = match self.interest.of(from).odd {
            Odd::Nothing => false,
            Odd::Opaque => frame.len() <= NOISE_BYTES || !frame.body().starts_with(b"{"),
            Odd::All => true,
        };
        is_of_interest || self.may_depend_on_messages(from)
    }

    fn may_depend_on_messages(&self, from: Side) -> bool {
        self.interest.of(from).messages
            || *self.exposed.of(from)
            || self.seams.tools.is_some()
            || !self.held.is_empty()
            || self.open.of(from.other()).wanted() > 0
    }

    fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    fn observe(&self, point: Point, frame: &Frame, envelope: Option<&Envelope>, request: Option<&Head>) {
        self.seams.observer.frame(&Seen { point, frame, request, envelope });
    }

    // === the arms, one for each kind of frame ===

    fn request(&mut self, from: Side, frame: Frame, envelope: Envelope, fx: &mut Effects) {
        let ticket = self.ticket();
        let Some(head) = Head::read(frame.body(), &envelope, from, ticket) else {
            return self.odd(from, frame, envelope, fx);
        };
        let request = Box::new(Request::new(frame, envelope, head));
        self.observe(Point::Received(from), request.frame(), Some(request.envelope()), Some(request.head()));
        if self.is_id_taken(&request) {
            return self.refuse_taken_id(&request, fx);
        }
        if let Some(error) = self.outside_limits(&request) {
            return self.refuse(&request, &error, fx);
        }
        let alias = match request.id() {
            Some(id) if self.namespace.holds(id) => {
                if request.method() == "subscriptions/listen" {
                    // The subscription's id is the request's id: a new name would show.
                    let method = request.method().to_owned();
                    self.seams.observer.notice(&Notice::IdRefused { from, method });
                    let text = "this id is reserved by a proxy on the way; use another";
                    return self.refuse(&request, &RpcError::new(RpcError::INVALID_REQUEST, text), fx);
                }
                self.aliases += 1;
                Some(self.namespace.alias(self.aliases))
            }
            _ => None,
        };
        if let Some(verdict) = self.ask_injector(&request) {
            let pending = Pending::Message { request, alias, wants: Wants::Nothing, asked: Asked::Injector };
            return self.verdict(pending, verdict, fx);
        }
        self.ask_interceptor(request, alias, fx);
    }

    fn notification(&mut self, from: Side, frame: Frame, envelope: Envelope, fx: &mut Effects) {
        let ticket = self.ticket();
        let Some(head) = Head::read(frame.body(), &envelope, from, ticket) else {
            return self.odd(from, frame, envelope, fx);
        };
        let request = Box::new(Request::new(frame, envelope, head));
        self.observe(Point::Received(from), request.frame(), Some(request.envelope()), Some(request.head()));
        if request.method() == "notifications/cancelled" {
            return self.cancelled(from, request, fx);
        }
        self.ask_interceptor(request, None, fx);
    }

    fn response(&mut self, from: Side, frame: Frame, envelope: Envelope, fx: &mut Effects) {
        let id = envelope.id.and_then(|span| Id::from_json(span.text_of(frame.body())));
        if let Some(id) = &id {
            if let Some(question) = self.questions.of_mut(from).remove(id) {
                fx.push_back(Effect::Answered { question, answer: Some(frame) });
                return;
            }
            if let Some(open) = self.open.of_mut(from.other()).take_answered(id) {
                self.observe(Point::Received(from), &frame, Some(&envelope), Some(&open.head));
                let verdict = match &open.request {
                    Some(request) => self.seams.interceptor.answer(request, &frame),
                    None => Verdict::Forward,
                };
                let pending = Pending::Answer { from, frame, envelope, open: Box::new(open) };
                return self.verdict(pending, verdict, fx);
            }
            if self.namespace.holds(id) {
                self.seams.observer.notice(&Notice::LateAnswer { from });
                return;
            }
        }
        self.odd(from, frame, envelope, fx);
    }

    fn odd(&mut self, from: Side, frame: Frame, envelope: Envelope, fx: &mut Effects) {
        self.observe(Point::Received(from), &frame, Some(&envelope), None);
        let asks = match self.interest.of(from).odd {
            Odd::Nothing => false,
            Odd::Opaque => matches!(envelope.kind, Kind::Opaque(_)),
            Odd::All => true,
        };
        let verdict = if asks {
            self.seams.interceptor.odd_frame(&frame, envelope.kind, from)
        } else {
            Verdict::Forward
        };
        self.verdict(Pending::Odd { from, frame }, verdict, fx);
    }

    /// `notifications/cancelled`: a held call ends here, an alias is put in.
    fn cancelled(&mut self, from: Side, request: Box<Request>, fx: &mut Effects) {
        let Some(id) = request.param("requestId").and_then(Id::from_json) else {
            return self.ask_interceptor(request, None, fx);
        };
        if let Some(token) = self.held.find(from, &id) {
            // The other side never saw the call, so it need not hear that it is off.
            self.drop_held(token, Ended::Cancelled, fx);
            return self.release_queue(fx);
        }
        let alias = self.open.of(from).alias_of(&id);
        let sent_as = alias.as_ref().unwrap_or(&id);
        if let Some(open) = self.open.of_mut(from).take(sent_as) {
            self.tell_ended(&open.head, open.request.as_deref(), Ended::Cancelled);
        }
        if alias.is_none() && self.namespace.holds(&id) {
            // Nobody may cancel a question of ours in the other side's name.
            return;
        }
        self.ask_interceptor(request, alias, fx);
    }

    /// The same for a frame that has already gone out.
    fn note_cancel(&mut self, from: Side, body: &[u8], envelope: &Envelope) {
        if envelope.method_name(body).as_deref() != Some("notifications/cancelled") {
            return;
        }
        let params = envelope.params.map(|span| span.text_of(body)).unwrap_or_default();
        if let Some(id) = crate::scan::member(params, "requestId").and_then(Id::from_json)
            && let Some(open) = self.open.of_mut(from).take(&id)
        {
            self.tell_ended(&open.head, open.request.as_deref(), Ended::Cancelled);
        }
    }

    // === asking the seams ===

    fn ask_injector(&self, request: &Request) -> Option<Verdict> {
        let tools = self.seams.tools.as_ref()?;
        if request.head().from != Side::Client || request.method() != "tools/call" {
            return None;
        }
        let name = request.tool()?;
        if !self.injected.iter().any(|tool| tool.name == name) {
            return None;
        }
        match tools.call(request) {
            // Not its own after all: judged like any other call.
            Verdict::Forward => None,
            verdict => Some(verdict),
        }
    }

    fn ask_interceptor(&mut self, request: Box<Request>, alias: Option<Id>, fx: &mut Effects) {
        let from = request.head().from;
        let interceptor = &self.seams.interceptor;
        let wants = if self.interest.of(from).messages {
            interceptor.wants(from, request.method())
        } else {
            Wants::Nothing
        };
        let verdict = match (wants, request.id()) {
            (Wants::Decide, Some(_)) => interceptor.request(&request),
            (Wants::Decide, None) => interceptor.notification(&request),
            _ => Verdict::Forward,
        };
        let pending = Pending::Message { request, alias, wants, asked: Asked::Interceptor };
        self.verdict(pending, verdict, fx);
    }

    fn outside_limits(&self, request: &Request) -> Option<RpcError> {
        let limits = self.limits?;
        let from = request.head().from;
        let id = request.id()?;
        let open = self.open.of(from);
        let held = self.held.tokens(|held| held.pending.head().is_some_and(|head| head.from == from)).len();
        let text = if id.json().len() > limits.id_bytes_max {
            format!("the id is over {} bytes", limits.id_bytes_max)
        } else if open.len() + held >= limits.open_max {
            format!("{} requests are open already", limits.open_max)
        } else {
            return None;
        };
        Some(RpcError::new(RpcError::INVALID_REQUEST, text))
    }

    /// Under [`IdLimits`]: whether an earlier request with this id still waits for its answer.
    fn is_id_taken(&self, request: &Request) -> bool {
        let (from, Some(id)) = (request.head().from, request.id()) else { return false };
        let open = self.open.of(from);
        self.limits.is_some()
            && (open.contains(id) || open.alias_of(id).is_some() || self.held.find(from, id).is_some())
    }

    /// An error with the id would be taken for the answer to the earlier request, which would then
    /// come as a second one. JSON-RPC has null for an id that cannot be used (2.0, section 5).
    fn refuse_taken_id(&mut self, request: &Request, fx: &mut Effects) {
        let head = request.head();
        let method = request.method().to_owned();
        self.seams.observer.notice(&Notice::IdTaken { from: head.from, method });
        let text = "the id of this request belongs to an earlier one that is still open";
        let answer = RpcError::new(RpcError::INVALID_REQUEST, text).answer_nobody();
        self.send_ours(head.from, answer, Some(head), fx);
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
        let lists =
            self.seams.tools.is_some() && head.from == Side::Client && request.method() == "tools/list";
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

/// The envelope of a frame by which nothing is decided.
fn glance(body: &[u8]) -> Envelope {
    crate::ends::glance(body).unwrap_or_else(|| peek(body))
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
