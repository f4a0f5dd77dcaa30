//! What came out of the router is held against what went in.

use super::life::{Class, Life};
use super::{Play, Step};
use crate::envelope::{Kind, peek};
use crate::frame::Frame;
use crate::id::Id;
use crate::request::Side;
use crate::router::{Effect, Effects};
use crate::seam::How;

impl Play {
    pub(super) fn carry_out(&mut self, mut fx: Effects) -> Step {
        let mut step = Step::default();
        while let Some(effect) = fx.pop_front() {
            match effect {
                Effect::Answered { question, answer } => self.answered(question, answer.as_ref()),
                Effect::Hold { token, until } => {
                    assert!(self.holds.iter().all(|(held, _)| *held != token), "{token:?} is held twice");
                    self.holds.push((token, until));
                }
                Effect::LookLater { from, frame } => self.router.attribute(from, &frame),
                Effect::Release(token) => {
                    self.holds.retain(|(held, _)| *held != token);
                    step.released = true;
                }
                Effect::Send { to, frame, how: How::Ours } => self.ours(to, &frame, &mut step),
                Effect::Send { to, frame, how } => self.theirs(to, &frame, how),
            }
        }
        step
    }

    pub(super) fn answered(&mut self, question: u64, answer: Option<&Frame>) {
        assert!(self.questions.remove(&question), "question {question} is answered once");
        let mut log = self.log();
        if let Some((number, life)) = answer.and_then(|frame| log.life(frame)) {
            assert!(life.class == Class::Response && life.sent == 0, "frame {number} is an answer");
            life.swallowed = true;
        }
    }

    pub(super) fn ours(&mut self, to: Side, frame: &Frame, step: &mut Step) {
        let envelope = peek(frame.body());
        assert!(envelope.kind.is_certain(), "our own {frame:?} can be read");
        let Some(id) = envelope.id.map(|span| span.text_of(frame.body()).to_owned()) else { return };
        let Some(key) = Id::from_json(&id) else {
            assert!(self.is_limited && id == "null", "{frame:?} is for somebody");
            return step.refused_as_nobody.push(to);
        };
        let is_reserved = self.namespace.holds(&key);
        let peer = self.peer(to);
        if envelope.kind == Kind::Response {
            let asked = peer.asked.get(&key).copied().unwrap_or_default();
            let answered = peer.answered.entry(key.clone()).or_default();
            *answered += 1;
            assert!(*answered <= asked, "the {to} asked {asked} times under {id}");
            step.refused.push((to, key));
        } else {
            assert!(is_reserved, "our question {frame:?} bears an id of ours");
            peer.inbox.push(id.clone());
            peer.reserved.push(id);
        }
    }

    pub(super) fn theirs(&mut self, to: Side, frame: &Frame, how: How) {
        let text = std::str::from_utf8(frame.bytes()).unwrap_or_default().to_owned();
        let (number, class, own, id) = {
            let mut log = self.log();
            let found = log.life(frame);
            assert!(found.is_some(), "nobody sent {frame:?}");
            let Some((number, life)) = found else { return };
            life.sent += 1;
            assert_eq!(
                (life.sent, life.from.other()),
                (1, to),
                "frame {number} leaves once, to the other side"
            );
            assert!(!life.stopped, "frame {number} was stopped");
            assert!(how == How::Edited || life.line() == text, "frame {number} is as it came");
            let id = if how == How::Verbatim { Some(&*life.id) } else { life.id_in(&text) };
            assert!(id.is_some(), "only what was asked for is edited: {frame:?} was {}", life.line());
            let id = id.unwrap_or_default().to_owned();
            (number, life.class, life.id.clone(), id)
        };
        self.check_order(number);
        let Some(key) = Id::from_json(&id) else { return };
        let is_reserved = self.namespace.holds(&key);
        assert!(id == own || is_reserved, "frame {number}: {own} became {id}");
        if is_reserved {
            assert_ne!(id, own, "an id of ours passed as it came");
        }
        let alias = format!("\"{}r", self.namespace.prefix());
        match class {
            Class::Request => {
                assert!(!is_reserved || id.starts_with(&alias), "{id} is an alias");
                assert!(!is_reserved || self.aliases.insert(id.clone()), "alias {id} is used once");
                let peer = self.peer(to);
                peer.inbox.push(id.clone());
                peer.reserved.extend(is_reserved.then_some(id));
            }
            Class::Cancel => assert!(!is_reserved || self.aliases.contains(&id), "{id} is an alias in use"),
            _ if is_reserved => {
                assert!(self.peer(to).asked.contains_key(&key), "the {to} never asked under {id}");
            }
            _ => {}
        }
    }

    pub(super) fn check_order(&mut self, number: usize) {
        let in_order =
            |life: &Life| (life.decided && !life.by_person).then(|| (life.from, life.method.clone()));
        let ordered = self.log().lives.get(number).and_then(in_order);
        if let Some((from, method)) = ordered {
            let last = self.last_in_order.of_mut(from).insert(method, number);
            assert!(last < Some(number), "frame {number} overtook {last:?}");
        }
    }
}
