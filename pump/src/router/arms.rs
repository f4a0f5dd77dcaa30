//! What becomes of a frame that was read: one arm for each kind of it.

use super::pending::{Asked, Pending};
use super::{Effect, Effects, IdLimits, Router};
use crate::envelope::{Envelope, Kind};
use crate::frame::Frame;
use crate::id::Id;
use crate::request::{Head, Request, RpcError, Side};
use crate::seam::{Ended, Notice, Odd, Point, Verdict, Wants};

impl Router {
    pub(super) fn request(&mut self, from: Side, frame: Frame, envelope: Envelope, fx: &mut Effects) {
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

    pub(super) fn notification(&mut self, from: Side, frame: Frame, envelope: Envelope, fx: &mut Effects) {
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

    pub(super) fn response(&mut self, from: Side, frame: Frame, envelope: Envelope, fx: &mut Effects) {
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

    pub(super) fn odd(&mut self, from: Side, frame: Frame, envelope: Envelope, fx: &mut Effects) {
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
    pub(super) fn cancelled(&mut self, from: Side, request: Box<Request>, fx: &mut Effects) {
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

    // === asking the seams ===

    pub(super) fn ask_injector(&self, request: &Request) -> Option<Verdict> {
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

    pub(super) fn ask_interceptor(&mut self, request: Box<Request>, alias: Option<Id>, fx: &mut Effects) {
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

    pub(super) fn outside_limits(&self, request: &Request) -> Option<RpcError> {
        let limits = self.limits_now()?;
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

    /// The limits that hold for this request.
    pub(super) fn limits_now(&self) -> Option<IdLimits> {
        self.limits.filter(|_| self.seams.interceptor.keeps_id_limits())
    }

    /// Under [`IdLimits`]: whether an earlier request with this id still waits for its answer.
    pub(super) fn is_id_taken(&self, request: &Request) -> bool {
        let (from, Some(id)) = (request.head().from, request.id()) else { return false };
        let open = self.open.of(from);
        self.limits_now().is_some()
            && (open.contains(id) || open.alias_of(id).is_some() || self.held.find(from, id).is_some())
    }

    /// An error with the id would be taken for the answer to the earlier request, which would then
    /// come as a second one. JSON-RPC has null for an id that cannot be used (2.0, section 5).
    pub(super) fn refuse_taken_id(&mut self, request: &Request, fx: &mut Effects) {
        let head = request.head();
        let method = request.method().to_owned();
        self.seams.observer.notice(&Notice::IdTaken { from: head.from, method });
        let text = "the id of this request belongs to an earlier one that is still open";
        let answer = RpcError::new(RpcError::INVALID_REQUEST, text).answer_nobody();
        self.send_ours(head.from, answer, Some(head), fx);
    }
}
