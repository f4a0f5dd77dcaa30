//! What goes into the router.

use std::task::{Context, Poll, Waker};

use super::life::{Class, Life, MARK};
use super::{IDS, METHODS, ODD, PLANS, Play, Script, Step};
use crate::codec::TooLong;
use crate::frame::Frame;
use crate::id::Id;
use crate::request::Side;
use crate::router::Effects;
use crate::skim::Skimmed;

impl Play {
    pub(super) fn feed(&mut self, from: Side, class: Class, script: &mut Script<'_>) {
        if from == Side::Client && self.client_gone {
            return;
        }
        let method = script.pick(&METHODS).unwrap_or_default();
        let id = self.an_id(from, class, script);
        let plan = script.pick(&PLANS).unwrap_or_default();
        let number = self.log().lives.len();
        let body = format!(r#"{{"n":{number},{MARK}"#);
        let (head, tail) = match class {
            Class::Cancel => (
                format!(r#"{{"method":"notifications/cancelled","params":{body},"requestId":"#),
                "}}\n".to_owned(),
            ),
            Class::Notification => {
                (format!(r#"{{"method":"notifications/progress","params":{body}}}}}"#), "\n".to_owned())
            }
            Class::Odd => (format!("{}{body}}}}}", script.pick(&ODD).unwrap_or_default()), "\r\n".to_owned()),
            Class::Request => {
                (r#"{"id":"#.to_owned(), format!(",\"method\":\"{method}\",\"params\":{body}}}}}\r\n"))
            }
            Class::Response => (format!(r#"{{"result":{body}}},"id":"#), "}\n".to_owned()),
        };
        let has_id = !matches!(class, Class::Notification | Class::Odd);
        let wanted = !self.transparent
            && class == Class::Request
            && matches!(method, "prompts/get" | "sampling/createMessage" | "tools/call");
        let life = Life {
            from,
            class,
            head,
            id: if has_id { id } else { String::new() },
            tail,
            plan,
            wanted,
            judged: false,
            decided: false,
            method: String::new(),
            by_person: false,
            marked: false,
            stopped: false,
            swallowed: false,
            sent: 0,
            answered: 0,
            ended: 0,
        };
        let line = life.line();
        let id = Id::from_json(&life.id);
        if let (Class::Request, Some(id)) = (class, &id) {
            *self.peer(from).asked.entry(id.clone()).or_default() += 1;
        }
        let withdrawn = match (class, &id) {
            (Class::Cancel, Some(id)) => self.all_held(from, id),
            _ => Vec::new(),
        };
        self.log().lives.push(life);
        let mut fx = Effects::new();
        self.router.frame(from, Frame::from_wire(line.into()), &mut fx);
        let step = self.carry_out(fx);
        let is_off = |number: &usize| self.log().lives.get(*number).is_some_and(|life| life.ended > 0);
        assert!(withdrawn.is_empty() || withdrawn.iter().any(is_off), "one of {withdrawn:?} is off");
        self.account(number, method, id.as_ref(), &step);
    }

    /// The requests of this sender with this id, if all that it ever made under it are held.
    pub(super) fn all_held(&self, from: Side, id: &Id) -> Vec<usize> {
        let log = self.log();
        let same = log.lives.iter().enumerate().filter(|(_, life)| {
            (life.class, life.from) == (Class::Request, from) && Id::from_json(&life.id).as_ref() == Some(id)
        });
        let (held, gone): (Vec<_>, Vec<_>) =
            same.partition(|(_, life)| life.decided && life.sent + life.ended == 0 && !life.stopped);
        if gone.is_empty() { held.into_iter().map(|(number, _)| number).collect() } else { Vec::new() }
    }

    /// Marks a frame that rightly stopped at the router itself.
    pub(super) fn account(&mut self, number: usize, method: &str, id: Option<&Id>, step: &Step) {
        let Some(id) = id else { return };
        let is_ours = self.namespace.holds(id);
        let is_limited = self.is_limited;
        let mut log = self.log();
        let Some(life) = log.lives.get_mut(number) else { return };
        if life.sent > 0 || life.judged {
            return;
        }
        let here = match life.class {
            Class::Cancel => step.released || is_ours,
            Class::Request => {
                let was_refused = step.refused.iter().any(|(to, to_id)| *to == life.from && to_id == id);
                let has_taken_id = is_limited && step.refused_as_nobody.contains(&life.from);
                has_taken_id || was_refused && (is_limited || (is_ours && method == "subscriptions/listen"))
            }
            // Late, or to a question that was withdrawn.
            Class::Response => is_ours,
            Class::Notification | Class::Odd => false,
        };
        life.swallowed |= here;
    }

    pub(super) fn an_id(&mut self, from: Side, class: Class, script: &mut Script<'_>) -> String {
        let choice = script.byte();
        let transparent = self.transparent;
        let mut reserved = self.peer(from).reserved.clone();
        if !transparent {
            // A guard looks at every frame, so it also meets ids that this side cannot know.
            reserved.extend(self.peer(from.other()).reserved.iter().cloned());
        }
        let known = match (class, choice & 3) {
            (Class::Response, 0..=2) => self.peer(from).inbox.clone(),
            (_, 3) => reserved,
            _ => Vec::new(),
        };
        let at = usize::from(choice >> 2);
        let known = at.checked_rem(known.len()).and_then(|at| known.get(at).cloned());
        let plain = IDS.get(at % IDS.len()).copied().unwrap_or("1");
        known.unwrap_or_else(|| plain.to_owned())
    }

    pub(super) fn settle(&mut self, choice: usize) {
        let Some(at) = choice.checked_rem(self.holds.len()) else { return };
        let (token, mut until) = self.holds.remove(at);
        let Poll::Ready(verdict) = until.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
            return;
        };
        let mut fx = Effects::new();
        self.router.settle(token, verdict, &mut fx);
        self.carry_out(fx);
    }

    pub(super) fn ask(&mut self, to: Side) {
        if to == Side::Client && self.client_gone {
            return;
        }
        self.next_question += 1;
        self.questions.insert(self.next_question);
        let mut fx = Effects::new();
        self.router.question(self.next_question, to, "ping", None, &mut fx);
        self.carry_out(fx);
    }

    pub(super) fn forget(&mut self, number: u64) {
        let mut fx = Effects::new();
        if self.questions.remove(&number) {
            self.router.forget_question(number, &mut fx);
        }
        self.carry_out(fx);
    }

    pub(super) fn too_long(&mut self, from: Side, script: &mut Script<'_>) {
        if from == Side::Client && self.client_gone {
            return;
        }
        let is_request = script.byte() & 1 == 0;
        let class = if is_request { Class::Request } else { Class::Response };
        let id = self.an_id(from, class, script);
        if let (true, Some(id)) = (is_request, Id::from_json(&id)) {
            *self.peer(from).asked.entry(id).or_default() += 1;
        }
        let skimmed = Skimmed { id: Some(id), has_method: is_request, has_answer: !is_request };
        let mut fx = Effects::new();
        self.router.too_long(from, &TooLong { frame_bytes: 1 << 27, skimmed }, &mut fx);
        self.carry_out(fx);
    }
}
