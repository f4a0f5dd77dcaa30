//! What ends without an answer of its own: a side that leaves, a frame over the cap, a verdict that
//! never comes.

use super::pending::Pending;
use super::{Effect, Effects, Router, Token, held};
use crate::codec::TooLong;
use crate::id::Id;
use crate::request::{Head, Request, RpcError, Side};
use crate::seam::{Ended, HoldKind};

impl Router {
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
            match self.limits_now() {
                Some(_) => self.refuse_unread(from, answer, fx),
                // Without a guard ids need not be unique: some clients use 1 for everything.
                None => self.send_ours(from, answer, None, fx),
            }
        }
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
        // An odd frame that is settled may have waited behind one of them, and would wait for ever.
        self.release_queue(fx);
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
}
