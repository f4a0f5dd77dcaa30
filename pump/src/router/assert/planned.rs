//! The seams of the play: they decide as the frames' plans say.

use std::sync::Arc;

use super::life::{MARK, MARKED, Shared, lock};
use crate::envelope::Kind;
use crate::frame::Frame;
use crate::request::Side;
use crate::request::{Head, Request};
use crate::seam::{Ended, Hold, HoldKind, Interceptor, Interest, Observer, Odd, Seen, Verdict, Wants};
use crate::splice::Edits;

/// Decides as the frames' plans say, and writes it down.
pub(super) struct Planned {
    pub(super) log: Shared,
    pub(super) transparent: bool,
    pub(super) odd: Odd,
}

impl Interceptor for Planned {
    fn interest(&self, _: Side) -> Interest {
        let odd = if self.transparent { Odd::Nothing } else { self.odd };
        Interest { messages: !self.transparent, odd }
    }

    fn wants(&self, _: Side, method: &str) -> Wants {
        match method {
            "notifications/progress" | "sampling/createMessage" | "tools/call" => Wants::Decide,
            "prompts/get" => Wants::Answer,
            _ => Wants::Nothing,
        }
    }

    fn request(&self, request: &Request) -> Verdict {
        if let Some((_, life)) = lock(&self.log).life(request.frame()) {
            life.decided = true;
            life.method = request.method().to_owned();
        }
        verdict(&self.log, request.frame(), Some(request), 0)
    }

    fn notification(&self, notification: &Request) -> Verdict {
        verdict(&self.log, notification.frame(), None, 0)
    }

    fn answer(&self, request: &Request, answer: &Frame) -> Verdict {
        {
            let mut log = lock(&self.log);
            if let Some((_, life)) = log.life(request.frame()) {
                life.answered += 1;
            }
            if let Some((number, _)) = log.life(answer) {
                log.judged_answers.insert(request.head().ticket, number);
            }
        }
        verdict(&self.log, answer, Some(request), 0)
    }

    fn ended(&self, request: &Request, _: Ended) {
        if let Some((_, life)) = lock(&self.log).life(request.frame()) {
            life.ended += 1;
        }
    }

    fn odd_frame(&self, frame: &Frame, _: Kind, _: Side) -> Verdict {
        verdict(&self.log, frame, None, 0)
    }
}

impl Observer for Planned {
    fn frame(&self, _: &Seen<'_>) {}

    fn ended(&self, request: &Head, _: Ended) {
        let mut log = lock(&self.log);
        let answer = log.judged_answers.remove(&request.ticket);
        // The call was withdrawn while its answer was held.
        if let Some(life) = answer.and_then(|number| log.lives.get_mut(number)) {
            life.swallowed = true;
        }
    }
}

/// The `at`-th verdict of a frame's plan. `request` is what an answer would answer.
pub(super) fn verdict(log: &Shared, frame: &Frame, request: Option<&Request>, at: usize) -> Verdict {
    let mut locked = lock(log);
    let left = locked.left.clone();
    let Some((_, life)) = locked.life(frame) else { return Verdict::Forward };
    life.judged = true;
    let letter = life.plan.as_bytes().get(at).copied().unwrap_or(b'f');
    life.stopped |= matches!(letter, b'a' | b'd' | b'x');
    life.by_person |= letter == b'p';
    life.swallowed |= letter == b'p' && left.contains(&life.from);
    life.marked |= letter == b'r';
    match letter {
        b'a' => Verdict::Answer(
            request
                .and_then(|request| request.answer("{}"))
                .unwrap_or_else(|| Frame::line(br#"{"jsonrpc":"2.0","method":"notifications/message"}"#)),
        ),
        b'd' => Verdict::Drop { to_client: vec![] },
        b'm' | b'p' => {
            let kind = if letter == b'm' { HoldKind::Machine } else { HoldKind::Person };
            let (log, frame, request) = (Arc::clone(log), frame.clone(), request.cloned());
            Hold::verdict(kind, async move { verdict(&log, &frame, request.as_ref(), at + 1) })
        }
        b'r' => {
            let text = std::str::from_utf8(frame.body()).unwrap_or_default();
            let mark = text.find(MARK).unwrap_or(0);
            Verdict::Replace(Edits::new().replace(mark..mark + MARK.len(), MARKED))
        }
        b'x' => Verdict::Replace(Edits::new().replace(0..frame.len() + 1, "")),
        _ => Verdict::Forward,
    }
}
