//! The router against a bookkeeper: the function behind the fuzz target `route`.
//!
//! A byte string is read as a script of frames, verdicts, cancels, settled holds, swapped seams
//! and ends. The bookkeeper does not know how the router works. It numbers each frame it feeds,
//! keeps one [`Life`] for it, and asks of every effect only what must hold for any router:
//!
//! * a frame leaves at most once, on the other side, as it came but for what was asked for;
//! * a frame that does not leave was stopped by a verdict, ended, refused, or was an answer of ours;
//! * an id of ours reaches nobody but as a question, an alias, or the id its receiver chose itself;
//! * decided requests of one method that no person held leave in the order they came;
//! * each forwarded request that somebody decides on gets exactly one `answer` or `ended`.

use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::{Effect, Effects, IdLimits, Router, Seams, Token};
use crate::codec::TooLong;
use crate::envelope::{Kind, peek};
use crate::frame::Frame;
use crate::id::{Id, Namespace};
use crate::request::{Head, Request, RpcError, Side, Ticket};
use crate::seam::{Ended, Hold, HoldKind, How, Interceptor, Interest, Observer, Odd, Seen, Verdict, Wants};
use crate::skim::Skimmed;
use crate::splice::Edits;

/// Frames of one script, at most: a longer one finds nothing that a shorter one does not.
const FRAMES_MAX: usize = 128;
const IDS: [&str; 8] =
    ["1", "2", r#""1""#, "1.0", r#""a""#, r#""\u0061""#, r#"" 2 ""#, r#""over-the-limit-of-16""#];
const METHODS: [&str; 6] =
    ["tools/call", "prompts/get", "ping", "sampling/createMessage", "tools/list", "subscriptions/listen"];
/// What the interceptor says of a frame, one letter a verdict: see [`verdict`].
const PLANS: [&str; 14] = ["f", "a", "d", "r", "x", "mf", "pf", "ma", "pr", "mpf", "pmf", "md", "mmr", "mx"];
const ODD: [&str; 4] = ["noise ", "[1,", r#"{"id":1,"id":1,"method":"ping","x":"#, r#"{"status":1,"x":"#];

/// Plays `script` and asserts that the router lost, doubled and leaked nothing.
///
/// # Panics
/// When it did.
pub fn assert_routes(script: &[u8]) {
    let mut script = Script(script);
    let mut play = Play::new(script.byte());
    while !script.0.is_empty() && play.log().lives.len() < FRAMES_MAX {
        play.step(&mut script);
    }
    play.end();
}

/// The script; an empty one goes on with zeros.
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        let at = usize::from(self.byte()).checked_rem(from.len())?;
        from.get(at).copied()
    }
}

// === what is known of the frames ===

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Cancel,
    Notification,
    Odd,
    Request,
    Response,
}

/// One frame that was fed, and what became of it.
#[derive(Debug)]
struct Life {
    from: Side,
    class: Class,
    /// The line is `head`, `id`, `tail`.
    head: String,
    id: String,
    tail: String,
    plan: &'static str,
    /// Exactly one `answer` or `ended` is due once it is forwarded.
    wanted: bool,
    /// A verdict was asked for.
    judged: bool,
    /// It is a call that an interceptor decided on.
    decided: bool,
    /// Its method, if it is one.
    method: String,
    /// A person held it.
    by_person: bool,
    /// A verdict says that its mark is to be changed.
    marked: bool,
    /// A verdict says that it must not leave.
    stopped: bool,
    /// It may have ended here: consumed, refused, withdrawn.
    swallowed: bool,
    sent: usize,
    answered: usize,
    ended: usize,
}

impl Life {
    fn line(&self) -> String {
        [&*self.head, &*self.id, &*self.tail].concat()
    }

    /// The id that `sent` bears, if nothing else in it was changed but (where asked for) the mark.
    fn id_in<'a>(&self, sent: &'a str) -> Option<&'a str> {
        let cut = |change: fn(&str) -> String| {
            sent.strip_prefix(&*change(&self.head))?.strip_suffix(&*change(&self.tail))
        };
        if self.marked { cut(|part| part.replace(MARK, MARKED)) } else { cut(str::to_owned) }
    }
}

const MARK: &str = r#""mark":"a""#;
const MARKED: &str = r#""mark":"b""#;

#[derive(Debug, Default)]
struct Log {
    /// Who will send nothing more.
    left: Vec<Side>,
    lives: Vec<Life>,
    /// Answers whose verdict was asked for, by the request they answer.
    judged_answers: HashMap<Ticket, usize>,
}

impl Log {
    fn life(&mut self, frame: &Frame) -> Option<(usize, &mut Life)> {
        let text = std::str::from_utf8(frame.body()).ok()?;
        let (_, after) = text.split_once(r#""n":"#)?;
        let number = after.split(',').next()?.parse().ok()?;
        Some((number, self.lives.get_mut(number)?))
    }
}

type Shared = Arc<Mutex<Log>>;

fn lock(log: &Shared) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

// === the seams ===

/// Decides as the frames' plans say, and writes it down.
struct Planned {
    log: Shared,
    transparent: bool,
    odd: Odd,
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
fn verdict(log: &Shared, frame: &Frame, request: Option<&Request>, at: usize) -> Verdict {
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

// === the play ===

#[derive(Debug, Default)]
struct Peer {
    /// How often it used an id.
    asked: HashMap<Id, usize>,
    /// How often we answered it under an id.
    answered: HashMap<Id, usize>,
    /// Ids of requests that reached it, ours too.
    inbox: Vec<String>,
    /// Ids of ours that reached it.
    reserved: Vec<String>,
}

type Until = Pin<Box<dyn Future<Output = Verdict> + Send>>;

struct Play {
    router: Router,
    log: Shared,
    namespace: Namespace,
    transparent: bool,
    is_limited: bool,
    odd: Odd,
    ends_early: bool,
    client_gone: bool,
    client: Peer,
    server: Peer,
    holds: Vec<(Token, Until)>,
    questions: HashSet<u64>,
    next_question: u64,
    aliases: HashSet<String>,
    /// Each side's decided requests of one method keep their order; others do not wait for them.
    last_in_order: super::Both<std::collections::HashMap<String, usize>>,
}

/// What happened while one frame was routed.
#[derive(Default)]
struct Step {
    released: bool,
    refused: Vec<(Side, Id)>,
    /// Who was refused by an error without an id: its id belongs to an open request.
    refused_as_nobody: Vec<Side>,
}

impl Play {
    fn new(config: u8) -> Self {
        let log = Shared::default();
        let namespace = Namespace::new("t");
        let is_limited = config & 1 != 0;
        let limits = is_limited.then_some(IdLimits { id_bytes_max: 16, open_max: 4 });
        let odd = match config >> 1 & 3 {
            0 => Odd::Nothing,
            1 => Odd::Opaque,
            _ => Odd::All,
        };
        let transparent = config & 8 != 0;
        let mut play = Self {
            router: Router::new(namespace.clone(), Seams::default(), limits),
            log,
            namespace,
            transparent,
            is_limited,
            odd,
            ends_early: config & 16 != 0,
            client_gone: false,
            client: Peer::default(),
            server: Peer::default(),
            holds: Vec::new(),
            questions: HashSet::new(),
            next_question: 0,
            aliases: HashSet::new(),
            last_in_order: super::Both::default(),
        };
        play.set_seams();
        play
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        lock(&self.log)
    }

    fn peer(&mut self, side: Side) -> &mut Peer {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    fn set_seams(&mut self) {
        let log = Arc::clone(&self.log);
        let planned = Arc::new(Planned { log, transparent: self.transparent, odd: self.odd });
        self.router.set_seams(Seams { observer: planned.clone(), interceptor: planned, tools: None });
    }

    fn step(&mut self, script: &mut Script<'_>) {
        let op = script.byte();
        let from = if op & 1 == 0 { Side::Client } else { Side::Server };
        match op >> 1 & 15 {
            0..=3 => self.feed(from, Class::Request, script),
            4..=6 => self.feed(from, Class::Response, script),
            7 => self.feed(from, Class::Cancel, script),
            8 => self.feed(from, Class::Notification, script),
            9 => self.feed(from, Class::Odd, script),
            10 | 11 => self.settle(usize::from(script.byte())),
            12 => self.ask(from),
            13 => self.forget(u64::from(script.byte())),
            14 => self.too_long(from, script),
            _ if op & 0xe0 == 0 => self.client_end(),
            _ => {
                self.transparent = !self.transparent;
                self.set_seams();
            }
        }
    }

    // === feeding ===

    fn feed(&mut self, from: Side, class: Class, script: &mut Script<'_>) {
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
    fn all_held(&self, from: Side, id: &Id) -> Vec<usize> {
        let log = self.log();
        let same = log.lives.iter().enumerate().filter(|(_, life)| {
            (life.class, life.from) == (Class::Request, from) && Id::from_json(&life.id).as_ref() == Some(id)
        });
        let (held, gone): (Vec<_>, Vec<_>) =
            same.partition(|(_, life)| life.decided && life.sent + life.ended == 0 && !life.stopped);
        if gone.is_empty() { held.into_iter().map(|(number, _)| number).collect() } else { Vec::new() }
    }

    /// Marks a frame that rightly stopped at the router itself.
    fn account(&mut self, number: usize, method: &str, id: Option<&Id>, step: &Step) {
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

    fn an_id(&mut self, from: Side, class: Class, script: &mut Script<'_>) -> String {
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

    fn settle(&mut self, choice: usize) {
        let Some(at) = choice.checked_rem(self.holds.len()) else { return };
        let (token, mut until) = self.holds.remove(at);
        let Poll::Ready(verdict) = until.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
            return;
        };
        let mut fx = Effects::new();
        self.router.settle(token, verdict, &mut fx);
        self.carry_out(fx);
    }

    fn ask(&mut self, to: Side) {
        if to == Side::Client && self.client_gone {
            return;
        }
        self.next_question += 1;
        self.questions.insert(self.next_question);
        let mut fx = Effects::new();
        self.router.question(self.next_question, to, "ping", None, &mut fx);
        self.carry_out(fx);
    }

    fn forget(&mut self, number: u64) {
        let mut fx = Effects::new();
        if self.questions.remove(&number) {
            self.router.forget_question(number, &mut fx);
        }
        self.carry_out(fx);
    }

    fn too_long(&mut self, from: Side, script: &mut Script<'_>) {
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

    // === what came out ===

    fn carry_out(&mut self, mut fx: Effects) -> Step {
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

    fn answered(&mut self, question: u64, answer: Option<&Frame>) {
        assert!(self.questions.remove(&question), "question {question} is answered once");
        let mut log = self.log();
        if let Some((number, life)) = answer.and_then(|frame| log.life(frame)) {
            assert!(life.class == Class::Response && life.sent == 0, "frame {number} is an answer");
            life.swallowed = true;
        }
    }

    fn ours(&mut self, to: Side, frame: &Frame, step: &mut Step) {
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

    fn theirs(&mut self, to: Side, frame: &Frame, how: How) {
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

    fn check_order(&mut self, number: usize) {
        let in_order =
            |life: &Life| (life.decided && !life.by_person).then(|| (life.from, life.method.clone()));
        let ordered = self.log().lives.get(number).and_then(in_order);
        if let Some((from, method)) = ordered {
            let last = self.last_in_order.of_mut(from).insert(method, number);
            assert!(last < Some(number), "frame {number} overtook {last:?}");
        }
    }

    // === the end ===

    fn client_end(&mut self) {
        if std::mem::replace(&mut self.client_gone, true) {
            return;
        }
        let mut fx = Effects::new();
        self.router.sender_gone(Side::Client, &mut fx);
        self.drop_what_waits_for_a_person(Side::Client);
        self.carry_out(fx);
    }

    /// A frame whose sender has left waits for no person, whatever kind of frame it is.
    fn drop_what_waits_for_a_person(&mut self, from: Side) {
        self.log().left.push(from);
        for life in &mut self.log().lives {
            life.swallowed |= life.from == from && life.by_person && life.sent == 0;
        }
    }

    fn end(&mut self) {
        self.client_end();
        if !self.ends_early {
            self.settle_all();
        }
        let error = RpcError::new(RpcError::INTERNAL, "the server is gone");
        for gone in [Side::Server, Side::Client] {
            let mut fx = Effects::new();
            self.router.sender_gone(gone, &mut fx);
            self.drop_what_waits_for_a_person(gone);
            self.router.peer_gone(gone, (gone == Side::Server).then_some(&error), &mut fx);
            self.carry_out(fx);
        }
        self.settle_all();
        assert!(self.questions.is_empty(), "questions {:?} got no answer", self.questions);
        for side in [Side::Client, Side::Server] {
            assert_eq!(self.router.due(side), 0, "nothing is due to the {side}");
        }
        let log = self.log();
        for (number, life) in log.lives.iter().enumerate() {
            let has_fate = life.sent == 1 || life.stopped || life.ended > 0 || life.swallowed;
            assert!(has_fate, "frame {number} is lost: {life:?}");
            let told = life.answered + life.ended;
            let is_due = life.wanted && life.sent == 1;
            assert!(told <= 1 && (told == 1 || !is_due), "frame {number} was told of {told} times: {life:?}");
        }
    }

    fn settle_all(&mut self) {
        while !self.holds.is_empty() {
            self.settle(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds every answer for ever.
    struct HoldsAnswers;

    impl Interceptor for HoldsAnswers {
        fn wants(&self, _: Side, _: &str) -> Wants {
            Wants::Answer
        }

        fn answer(&self, _: &Request, _: &Frame) -> Verdict {
            Hold::verdict(HoldKind::Machine, std::future::pending())
        }
    }

    /// Found by the fuzz target `route`: the answer had come, was held, and vanished when the
    /// server ended; whoever waited for it was told nothing.
    #[test]
    fn an_answer_that_is_held_when_the_server_ends_becomes_an_error() {
        let seams = Seams { interceptor: Arc::new(HoldsAnswers), ..Seams::default() };
        let mut router = Router::new(Namespace::new("t"), seams, None);
        let mut fx = Effects::new();
        router.frame(Side::Client, Frame::line(br#"{"id":7,"method":"tools/call"}"#), &mut fx);
        router.frame(Side::Server, Frame::line(br#"{"id":7,"result":{}}"#), &mut fx);
        fx.clear();
        router.peer_gone(Side::Server, Some(&RpcError::new(RpcError::INTERNAL, "gone")), &mut fx);
        assert!(matches!(fx.pop_front(), Some(Effect::Release(_))));
        let Some(Effect::Send { to: Side::Client, frame, how: How::Ours }) = fx.pop_front() else {
            panic!("the client is told")
        };
        assert!(frame.body().starts_with(br#"{"jsonrpc":"2.0","id":7,"error""#), "{frame:?}");
        assert!(fx.is_empty(), "once");
    }
}
