//! Frames on which nothing depends: they are passed on unread and accounted for afterwards.

use super::open::Open;
use super::{NOISE_BYTES, OPEN_REMEMBERED_MAX, OUTLINED_BYTES_MIN, Router};
use crate::envelope::{Envelope, Kind, outline, peek};
use crate::frame::{Frame, Run};
use crate::id::Id;
use crate::request::{Head, Side};
use crate::seam::{Ended, How, Odd, Point};

impl Router {
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

    /// The envelope of a large answer of the server's, when nobody reads what is inside it. `None`: all of it
    /// is to be read.
    pub(super) fn outline(&self, from: Side, frame: &Frame) -> Option<Envelope> {
        if from != Side::Server || frame.len() < OUTLINED_BYTES_MIN {
            return None;
        }
        // The ends first: they cost nothing, and mostly tell whether the rest is worth a look.
        let hint = crate::ends::glance(frame.body())?;
        if !self.passes_inside(from, frame, &hint) {
            return None;
        }
        let envelope = outline(frame.body())?;
        self.passes_inside(from, frame, &envelope).then_some(envelope)
    }

    /// Whether nobody reads this answer beyond its envelope.
    fn passes_inside(&self, from: Side, frame: &Frame, envelope: &Envelope) -> bool {
        let id = envelope.id.and_then(|span| Id::from_json(span.text_of(frame.body())));
        let Some(id) = id.filter(|id| !self.questions.of(from).contains_key(id)) else {
            return false;
        };
        let Some((_, open)) = self.open.of(from.other()).find(&id) else { return false };
        let is_read = match open.request.as_deref() {
            Some(request) => self.seams.interceptor.reads_answer(request, frame),
            // As an answer nobody is asked about it, as a line that is no JSON somebody may be.
            None => self.interest.of(from).odd != Odd::Nothing,
        };
        open.first_page.is_none() && !is_read
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
}

/// The envelope of a frame by which nothing is decided.
fn glance(body: &[u8]) -> Envelope {
    crate::ends::glance(body).unwrap_or_else(|| peek(body))
}
