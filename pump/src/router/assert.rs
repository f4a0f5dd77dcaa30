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

mod feed;
mod life;
mod outcome;
mod planned;

use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::{Arc, MutexGuard};

use self::life::{Class, Log, Shared, lock};
use self::planned::Planned;
use super::{Effects, IdLimits, Router, Seams, Token};
use crate::id::{Id, Namespace};
use crate::request::{RpcError, Side};
use crate::seam::{Odd, Verdict};

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
    use crate::envelope::Kind;
    use crate::frame::Frame;
    use crate::request::Request;
    use crate::router::Effect;
    use crate::seam::{Hold, HoldKind, How, Interceptor, Interest, Wants};

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

    /// Holds calls for ever and odd frames until they are settled.
    struct HoldsCallsAndOddFrames;

    impl Interceptor for HoldsCallsAndOddFrames {
        fn wants(&self, _: Side, _: &str) -> Wants {
            Wants::Decide
        }

        fn interest(&self, _: Side) -> Interest {
            Interest { messages: true, odd: Odd::All }
        }

        fn request(&self, _: &Request) -> Verdict {
            Hold::verdict(HoldKind::Machine, std::future::pending())
        }

        fn odd_frame(&self, _: &Frame, _: Kind, _: Side) -> Verdict {
            Hold::verdict(HoldKind::Machine, std::future::pending())
        }
    }

    /// Found by the fuzz target `route`: a settled odd frame waited behind a held call; the call ended
    /// with the other side, and the odd frame was due for ever.
    #[test]
    fn a_settled_odd_frame_does_not_wait_for_a_call_that_ended_with_the_other_side() {
        for from in [Side::Client, Side::Server] {
            let seams = Seams { interceptor: Arc::new(HoldsCallsAndOddFrames), ..Seams::default() };
            let mut router = Router::new(Namespace::new("t"), seams, None);
            let mut fx = Effects::new();
            router.frame(from, Frame::line(br#"{"id":7,"method":"tools/call"}"#), &mut fx);
            router.frame(from, Frame::line(br#"{"id":7,"id":8,"method":"tools/call"}"#), &mut fx);
            let Some(Effect::Hold { token, .. }) = fx.pop_back() else { panic!("the odd frame is held") };
            router.settle(token, Verdict::Forward, &mut fx);
            assert_eq!(router.due(from), 1, "{from}: it keeps its place behind the call");
            router.peer_gone(from.other(), None, &mut fx);
            assert_eq!(router.due(from), 0, "{from}");
        }
    }
}
