//! Carrying out a verdict, at once or when a hold is settled.

use super::held::Held;
use super::open::Open;
use super::pending::{Asked, Pending};
use super::{Effect, Effects, Kind, Router, Token, with_id};
use crate::envelope::peek;
use crate::frame::Frame;
use crate::id::Id;
use crate::listing;
use crate::request::{Request, RpcError, Side};
use crate::seam::{Ended, Hold, HoldKind, How, Notice, Point, Verdict, Wants};
use crate::splice::Edits;

impl Router {
    /// A held frame's verdict has come.
    pub fn settle(&mut self, token: Token, verdict: Verdict, fx: &mut Effects) {
        if let Some(slot) = self.held.slot(token) {
            match verdict {
                // Still a machine's turn: it keeps its place.
                Verdict::Hold(Hold { kind: HoldKind::Machine, until }) => {
                    fx.push_back(Effect::Hold { token, until });
                }
                verdict => *slot = Some(verdict),
            }
            return self.release_queue(fx);
        }
        if let Some(held) = self.held.take(token) {
            self.verdict(held.pending, verdict, fx);
        }
    }

    /// Carries out a verdict. A decided request waits behind machine-held ones of its method that came
    /// before.
    pub(super) fn verdict(&mut self, pending: Pending, verdict: Verdict, fx: &mut Effects) {
        let is_decided_call = matches!(&pending, Pending::Message { wants: Wants::Decide, request, .. } if request.id().is_some());
        let is_person = matches!(&verdict, Verdict::Hold(Hold { kind: HoldKind::Person, .. }));
        if is_decided_call && !is_person && self.held.has_queue(&pending) {
            let token = self.token();
            let held = Held { pending, kind: HoldKind::Machine };
            match verdict {
                Verdict::Hold(hold) => {
                    self.held.enqueue(token, held, None);
                    fx.push_back(Effect::Hold { token, until: hold.until });
                }
                verdict => self.held.enqueue(token, held, Some(verdict)),
            }
            return;
        }
        self.carry_out(pending, verdict, fx);
    }

    pub(super) fn release_queue(&mut self, fx: &mut Effects) {
        for side in [Side::Client, Side::Server] {
            while let Some((held, verdict)) = self.held.release(side) {
                self.carry_out(held.pending, verdict, fx);
            }
        }
    }

    /// Drops a held frame: its sender cancelled it or went away.
    pub(super) fn drop_held(&mut self, token: Token, how: Ended, fx: &mut Effects) {
        let Some(held) = self.held.take(token) else { return };
        fx.push_back(Effect::Release(token));
        self.end_pending(&held.pending, how);
    }

    fn end_pending(&self, pending: &Pending, how: Ended) {
        if let Some(head) = pending.head() {
            self.tell_ended(head, pending.decided(), how);
        }
    }

    fn carry_out(&mut self, pending: Pending, verdict: Verdict, fx: &mut Effects) {
        match verdict {
            Verdict::Answer(frame) => self.answer_instead(&pending, frame, fx),
            Verdict::Drop { to_client } => {
                for frame in to_client {
                    self.send_instead(&pending, Side::Client, frame, fx);
                }
            }
            Verdict::Forward => self.forward(pending, Edits::new(), fx),
            Verdict::Hold(hold) => self.hold(pending, hold, fx),
            Verdict::Replace(edits) => self.forward(pending, edits, fx),
        }
    }

    fn hold(&mut self, pending: Pending, hold: Hold, fx: &mut Effects) {
        if hold.kind == HoldKind::Person && *self.left.of(pending.concerns()) {
            // A machine wants to ask a person who has left in the meantime.
            return self.end_pending(&pending, Ended::SenderGone);
        }
        let token = self.token();
        let in_order = match &pending {
            Pending::Message { wants: Wants::Decide, request, .. } => request.id().is_some(),
            Pending::Message { .. } | Pending::Answer { .. } => false,
            Pending::Odd { .. } => true,
        };
        let held = Held { pending, kind: hold.kind };
        if in_order && hold.kind == HoldKind::Machine {
            self.held.enqueue(token, held, None);
        } else {
            self.held.insert(token, held);
        }
        fx.push_back(Effect::Hold { token, until: hold.until });
    }

    fn token(&mut self) -> Token {
        self.tokens += 1;
        Token(self.tokens)
    }

    /// `frame` goes to whoever waits for an answer; nobody waits for one to a notification.
    fn answer_instead(&mut self, pending: &Pending, frame: Frame, fx: &mut Effects) {
        let to = match pending {
            Pending::Answer { open, .. } => open.head.from,
            Pending::Message { request, .. } => request.head().from,
            Pending::Odd { from, .. } => *from,
        };
        self.send_instead(pending, to, frame, fx);
    }

    fn send_instead(&mut self, pending: &Pending, to: Side, frame: Frame, fx: &mut Effects) {
        if matches!(pending, Pending::Odd { from, .. } if *from == to) {
            return self.refuse_unread(to, frame, fx);
        }
        let head = pending.head().cloned();
        if head.is_none() {
            let is_due = self.close_answered(to, &frame, fx);
            if !is_due && matches!(pending, Pending::Odd { from: Side::Server, .. }) {
                // An error under an id that the client never used would be noise of ours.
                return;
            }
        }
        self.send_ours(to, frame, head.as_ref(), fx);
    }

    /// Refuses a frame that was no request for certain, to who sent it. Under the id of an earlier request that
    /// still waits, a sender would take the refusal for the answer to that one, which the other side has and is
    /// working on; so it goes out under none, as for every id that cannot be used (JSON-RPC 2.0, section 5).
    pub(super) fn refuse_unread(&mut self, to: Side, frame: Frame, fx: &mut Effects) {
        let envelope = peek(frame.body());
        let span = envelope.id.filter(|_| envelope.kind == Kind::Response);
        let id = span.and_then(|span| Id::from_json(span.text_of(frame.body())));
        let frame = match (span, id.filter(|id| self.is_waited_for(to, id))) {
            (Some(span), Some(_)) => {
                Edits::new().replace(span.range(), "null").apply(&frame).unwrap_or(frame)
            }
            _ => frame,
        };
        self.send_ours(to, frame, None, fx);
    }

    /// Whether a request of this side's waits for an answer that it would recognise by this id.
    fn is_waited_for(&self, asker: Side, id: &Id) -> bool {
        let open = self.open.of(asker);
        let is_it = |other: &Id| other == id || other.number().is_some_and(|n| Some(n) == id.number());
        let is_held =
            |held: &Held| held.pending.asker().is_some_and(|(from, other)| from == asker && is_it(other));
        open.find(id).is_some() || open.alias_of(id).is_some() || !self.held.tokens(is_held).is_empty()
    }

    /// A frame of ours that answers an open request closes it: its own answer was refused. Whether anybody waits
    /// for this frame.
    fn close_answered(&mut self, to: Side, frame: &Frame, fx: &mut Effects) -> bool {
        let envelope = peek(frame.body());
        if envelope.kind != Kind::Response {
            return true;
        }
        let Some(id) = envelope.id.and_then(|span| Id::from_json(span.text_of(frame.body()))) else {
            return false;
        };
        if let Some(question) = self.questions.of_mut(to.other()).remove(&id) {
            fx.push_back(Effect::Answered { question, answer: None });
            return false;
        }
        let open = self.open.of_mut(to).take_answered(&id);
        if let Some(open) = &open {
            self.tell_ended(&open.head, open.request.as_deref(), Ended::Replaced);
        }
        open.is_some()
    }

    /// A line of the server's that is no JSON to us may be the answer to some readers: Python takes
    /// `NaN`. Whether it may go on: not as a listing in which nothing could be hidden, nor as the answer to
    /// a question of ours.
    fn may_go_on_unread(&mut self, frame: &Frame, fx: &mut Effects) -> bool {
        let Some(found) = skimmed(frame).filter(|found| found.has_answer && !found.has_method) else {
            return true;
        };
        let Some(id) = found.id.and_then(|id| Id::from_json(&id)) else {
            return !self.open.client.awaits_listing();
        };
        if let Some(question) = self.questions.server.remove(&id) {
            fx.push_back(Effect::Answered { question, answer: None });
            return false;
        }
        if self.open.client.find(&id).is_none_or(|(_, open)| open.first_page.is_none()) {
            return !self.namespace.holds(&id);
        }
        if let Some(open) = self.open.client.take_answered(&id) {
            self.seams.observer.notice(&Notice::ListingUnreadable);
            self.fail(&open.head, open.request.as_deref(), Ended::Unreadable, &unreadable_listing(), fx);
        }
        false
    }

    /// The request that a line which went on unread names is no longer waited for.
    fn close_unreadable(&mut self, frame: &Frame) {
        let found = skimmed(frame).filter(|found| found.has_answer && !found.has_method);
        if let Some(open) = found
            .and_then(|found| Id::from_json(&found.id?))
            .and_then(|id| self.open.client.take_answered(&id))
        {
            self.tell_ended(&open.head, open.request.as_deref(), Ended::Unreadable);
        }
    }

    // === sending on ===

    fn forward(&mut self, pending: Pending, edits: Edits, fx: &mut Effects) {
        match pending {
            Pending::Answer { from, frame, envelope, open } => {
                let mut edits = edits;
                if let Some(own) = &open.original {
                    edits.extend(with_id(&envelope, own));
                }
                if let Err(error) = self.edit_listing(&frame, &open, &mut edits) {
                    return self.fail(&open.head, None, Ended::Replaced, &error, fx);
                }
                let (to, head) = (from.other(), &open.head);
                if self.splice_and_send(to, (&frame, How::Verbatim), &edits, Some(head), fx).is_err() {
                    self.fail(head, None, Ended::Replaced, &unspliceable(), fx);
                }
            }
            Pending::Message { request, alias, asked: Asked::Injector, .. } => {
                // A call that the injector sends on after all: it is judged like any other, on
                // the bytes that will be sent.
                match request.with_edits(&edits) {
                    Some(edited) => self.ask_interceptor(Box::new(edited), alias, fx),
                    None => self.refuse(&request, &unspliceable(), fx),
                }
            }
            Pending::Message { request, alias, wants, .. } => {
                self.forward_message(request, alias, wants, edits, fx);
            }
            Pending::Odd { from, frame } => {
                if from == Side::Server && !self.may_go_on_unread(&frame, fx) {
                    return;
                }
                // An odd frame that cannot be edited is dropped: it may not pass as it is.
                let sent = self.splice_and_send(from.other(), (&frame, How::Verbatim), &edits, None, fx);
                if sent.is_ok() && from == Side::Server {
                    self.close_unreadable(&frame);
                }
            }
        }
    }

    fn forward_message(
        &mut self,
        request: Box<Request>,
        alias: Option<Id>,
        wants: Wants,
        mut edits: Edits,
        fx: &mut Effects,
    ) {
        let (to, frame) = (request.head().from.other(), request.frame().clone());
        if let Some(alias) = &alias {
            edits.extend(match request.id() {
                Some(_) => with_id(request.envelope(), alias),
                None => cancel_alias(&request, alias),
            });
        }
        let so_far = if request.is_edited() { How::Edited } else { How::Verbatim };
        if self.splice_and_send(to, (&frame, so_far), &edits, Some(request.head()), fx).is_err() {
            let told = (wants != Wants::Nothing && request.id().is_some()).then_some(&*request);
            return self.fail(request.head(), told, Ended::Replaced, &unspliceable(), fx);
        }
        if alias.is_some() {
            *self.exposed.of_mut(to) = true;
        }
        if request.id().is_some() {
            self.remember(request, alias, wants);
        }
    }

    fn splice_and_send(
        &mut self,
        to: Side,
        (frame, so_far): (&Frame, How),
        edits: &Edits,
        head: Option<&crate::request::Head>,
        fx: &mut Effects,
    ) -> Result<(), ()> {
        let (frame, how) = if edits.is_empty() {
            (frame.clone(), so_far)
        } else {
            match edits.apply(frame) {
                Ok(edited) => (edited, How::Edited),
                Err(why) => {
                    self.seams.observer.notice(&Notice::SpliceFailed { why });
                    return Err(());
                }
            }
        };
        self.observe(Point::Sent(to, how), &frame, None, head);
        fx.push_back(Effect::Send { to, frame, how });
        Ok(())
    }

    /// Adds the edits that append and hide tools, when `open` asked for a listing.
    fn edit_listing(&self, frame: &Frame, open: &Open, edits: &mut Edits) -> Result<(), RpcError> {
        let (Some(first_page), Some(tools)) = (open.first_page, &self.seams.tools) else {
            return Ok(());
        };
        let envelope = peek(frame.body());
        let (Ok(body), Some(result)) = (std::str::from_utf8(frame.body()), envelope.result) else {
            return Ok(());
        };
        let all: Vec<String> = self.injected.iter().map(|tool| tool.json.clone()).collect();
        let reserved: Vec<String> = self.injected.iter().map(|tool| tool.name.clone()).collect();
        let plan = listing::Plan {
            visible: &|name| tools.is_visible(name),
            append: if first_page { &all } else { &[] },
            reserved: &reserved,
        };
        let Ok(edited) = listing::edit(body, result.text_of(frame.body()), &plan) else {
            self.seams.observer.notice(&Notice::ListingUnreadable);
            return Err(unreadable_listing());
        };
        for name in edited.shadowing {
            self.seams.observer.notice(&Notice::ToolShadowed { name });
        }
        if edited.unreadable > 0 {
            self.seams.observer.notice(&Notice::ToolsUnreadable { count: edited.unreadable });
        }
        edits.extend(edited.edits);
        Ok(())
    }
}

fn cancel_alias(notification: &Request, alias: &Id) -> Edits {
    let mut edits = Edits::new();
    let body = std::str::from_utf8(notification.frame().body()).unwrap_or_default();
    if let Some(id) = notification.param("requestId") {
        edits.push(crate::envelope::Span::within(body, id).range(), alias.json().to_owned());
    }
    edits
}

/// What the top level of an odd line of the server's seems to be, if it may be an object.
fn skimmed(frame: &Frame) -> Option<crate::skim::Skimmed> {
    if !frame.body().trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let mut skim = crate::skim::Skim::default();
    skim.feed(frame.body());
    Some(skim.finish())
}

fn unreadable_listing() -> RpcError {
    let text = "the server's tool listing cannot be read for certain, so nothing in it can be hidden";
    RpcError::new(RpcError::INTERNAL, text)
}

fn unspliceable() -> RpcError {
    RpcError::new(RpcError::INTERNAL, "the edit that a policy asked for cannot be made on this frame")
}
