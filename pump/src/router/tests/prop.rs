//! Random sessions, against the twin; and routers broken on purpose, which must fail.

use std::collections::{HashMap, HashSet};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use super::naive::{Naive, error_line, is_reserved};
use super::*;

const WORDS: [&str; 6] = ["answer", "drop", "forward", "machine", "person", "replace"];

/// One thing that happens in a session. An [`Index`] picks among what is there by then.
#[derive(Clone, Debug)]
enum Op {
    Answer { from: Side, which: Index, how: &'static str },
    AnswerAgain { from: Side, which: Index },
    Ask { from: Side, method: &'static str, word: &'static str, trespasses: bool },
    Cancel { from: Side, which: Index },
    Forge { from: Side, id: &'static str },
    Forget(Index),
    Odd { from: Side, line: &'static str },
    Pass { from: Side, line: &'static str },
    Question(Side),
    QuestionAnswer { which: Index, times: usize },
    Settle { which: Index, word: &'static str },
}

fn side() -> impl Strategy<Value = Side> + Clone {
    select(vec![Side::Client, Side::Server])
}

fn op() -> impl Strategy<Value = Op> {
    let index = any::<Index>;
    let word = || select(WORDS.to_vec());
    let methods = vec!["tools/call", "resources/read", "ping"];
    let call = |from, methods: Vec<&'static str>| {
        (select(methods), word(), proptest::bool::weighted(0.2))
            .prop_map(move |(method, word, trespasses)| Op::Ask { from, method, word, trespasses })
    };
    let odd = vec!["not json", "please-drop", r#"[{"id":1,"method":"a"}]"#, r#"["please-drop"]"#, "", "{}"];
    let pass = vec![r#"{"method":"notifications/progress"}"#, "{ \"method\" : \"notifications\\/x\" }\r"];
    let forged = vec!["77777", r#""framegate-t-q77""#, r#""framegate-t-r77""#, r#""please-drop""#];
    prop_oneof![
        8 => call(Side::Client, methods),
        3 => call(Side::Server, vec!["sampling/createMessage", "ping"]),
        8 => (side(), index(), select(vec!["plain", "lenient", "please-answer"]))
            .prop_map(|(from, which, how)| Op::Answer { from, which, how }),
        6 => (index(), word()).prop_map(|(which, word)| Op::Settle { which, word }),
        3 => (side(), index()).prop_map(|(from, which)| Op::Cancel { from, which }),
        2 => (side(), index()).prop_map(|(from, which)| Op::AnswerAgain { from, which }),
        2 => side().prop_map(Op::Question),
        2 => (index(), 1..3_usize).prop_map(|(which, times)| Op::QuestionAnswer { which, times }),
        1 => index().prop_map(Op::Forget),
        1 => (side(), select(forged)).prop_map(|(from, id)| Op::Forge { from, id }),
        1 => (side(), select(odd)).prop_map(|(from, line)| Op::Odd { from, line }),
        1 => (side(), select(pass)).prop_map(|(from, line)| Op::Pass { from, line }),
    ]
}

// === a router, whole or broken ===

/// One way to be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sabotage {
    AnswerTheWrongSide,
    CancelOfHeldPassed,
    CancelledStillSent,
    DoubleAnswer,
    EndedTwice,
    FlipAByte,
    ForgetToRename,
    ForgetToRestore,
    ForwardDropped,
    ForwardHeld,
    ForwardRefused,
    LeakLateAnswer,
    LeakOurAnswer,
    LoseAnswer,
    LoseNotification,
    LoseTerminator,
    MissAnswered,
    MissEnded,
    OvertakeMachine,
    SendOriginal,
    SwapTwo,
}

const ALL: [Sabotage; 21] = [
    Sabotage::AnswerTheWrongSide,
    Sabotage::CancelOfHeldPassed,
    Sabotage::CancelledStillSent,
    Sabotage::DoubleAnswer,
    Sabotage::EndedTwice,
    Sabotage::FlipAByte,
    Sabotage::ForgetToRename,
    Sabotage::ForgetToRestore,
    Sabotage::ForwardDropped,
    Sabotage::ForwardHeld,
    Sabotage::ForwardRefused,
    Sabotage::LeakLateAnswer,
    Sabotage::LeakOurAnswer,
    Sabotage::LoseAnswer,
    Sabotage::LoseNotification,
    Sabotage::LoseTerminator,
    Sabotage::MissAnswered,
    Sabotage::MissEnded,
    Sabotage::OvertakeMachine,
    Sabotage::SendOriginal,
    Sabotage::SwapTwo,
];

/// The router under test. Numbers holds in the order they are made, like the twin.
struct Bench {
    rig: Rig,
    broken: Option<Sabotage>,
    /// The router's tokens, by number less one.
    tokens: Vec<Token>,
    /// The line held under each number, for sabotage.
    lines: HashMap<Token, String>,
    /// A frame that is kept back, for sabotage.
    kept: Option<Out>,
}

impl Bench {
    fn new(broken: Option<Sabotage>) -> Self {
        Self { rig: Rig::new(), broken, tokens: Vec::new(), lines: HashMap::new(), kept: None }
    }

    fn number(&mut self, outs: Vec<Out>) -> Vec<Out> {
        let mut numbered = Vec::new();
        for out in outs {
            numbered.push(match out {
                Out::Held(token) => {
                    if !self.tokens.contains(&token) {
                        self.tokens.push(token);
                    }
                    let at = self.tokens.iter().position(|t| *t == token).unwrap();
                    Out::Held(Token(at as u64 + 1))
                }
                Out::Released(token) => match self.tokens.iter().position(|t| *t == token) {
                    Some(at) => Out::Released(Token(at as u64 + 1)),
                    // It had its verdict and waited its turn: nobody waits for this one.
                    None => continue,
                },
                out => out,
            });
        }
        numbered
    }

    fn from(&mut self, side: Side, line: &str) -> Vec<Out> {
        let outs = self.rig.from(side, line);
        let outs = self.number(outs);
        for out in &outs {
            if let Out::Held(token) = out {
                self.lines.insert(*token, line.to_owned());
            }
        }
        self.spoil(side, line, outs)
    }

    fn settle(&mut self, number: usize, word: &str, line: &str) -> Vec<Out> {
        let outs = self.rig.settle(self.tokens[number - 1], verdict_of(word, &request(line)));
        let mut outs = self.number(outs);
        let was_forward = word == "forward";
        match self.broken {
            Some(Sabotage::OvertakeMachine) if was_forward && outs.is_empty() => {
                outs.push(to_server(line));
            }
            Some(Sabotage::SendOriginal) if word == "replace" => {
                for out in &mut outs {
                    if *out == to_server(edited(line)) {
                        *out = to_server(line);
                    }
                }
            }
            _ => {}
        }
        self.reorder(outs)
    }

    fn other(&mut self, step: impl FnOnce(&mut Router, &mut Effects)) -> Vec<Out> {
        let outs = self.rig.run(step);
        let outs = self.number(outs);
        self.reorder(outs)
    }

    fn spoil(&mut self, from: Side, line: &str, mut outs: Vec<Out>) -> Vec<Out> {
        use Sabotage::*;
        let kind = peek(line.trim_end_matches('\r').as_bytes()).kind;
        let (to, original) = (from.other(), Out::Sent(from.other(), line.to_owned()));
        let has_word = |word: &str| kind == Kind::Request && line.contains(&format!("\"name\":\"{word}\""));
        let is_answer = kind == Kind::Response;
        let is_cancel = line.contains("notifications/cancelled");
        match self.broken {
            Some(AnswerTheWrongSide) if has_word("answer") => {
                for out in &mut outs {
                    if let Out::Sent(side, _) = out {
                        *side = side.other();
                    }
                }
            }
            Some(CancelOfHeldPassed) if is_cancel && matches!(outs[..], [Out::Released(_)]) => {
                outs.push(original);
            }
            Some(CancelledStillSent) if is_cancel => {
                let released = outs.iter().find_map(|out| match out {
                    Out::Released(token) => self.lines.get(token).cloned(),
                    _ => None,
                });
                outs.extend(released.map(|line| Out::Sent(to, line)));
            }
            Some(DoubleAnswer) if is_answer => outs.extend(outs.first().cloned()),
            Some(FlipAByte) if is_answer => {
                for out in &mut outs {
                    if let Out::Sent(_, line) = out {
                        *line = line.replace("1e0", "1.0");
                    }
                }
            }
            Some(ForgetToRename) if kind == Kind::Request && line.contains("framegate-t-") => {
                spoil_sends(&mut outs, to, line);
            }
            Some(ForgetToRestore) if is_answer && line.contains("framegate-t-r") => {
                spoil_sends(&mut outs, to, line);
            }
            Some(ForwardDropped) if has_word("drop") && outs.is_empty() => outs.push(original),
            Some(ForwardHeld) if matches!(outs[..], [Out::Held(_)]) => outs.push(original),
            Some(ForwardRefused) if has_word("answer") => outs.push(original),
            Some(LeakLateAnswer) if is_answer && line.contains("framegate-t-") && outs.is_empty() => {
                outs.push(original);
            }
            Some(LeakOurAnswer) if matches!(outs[..], [Out::Answered(..)]) => outs.push(original),
            Some(LoseAnswer) if is_answer => outs.retain(|out| !matches!(out, Out::Sent(..))),
            Some(LoseNotification) if kind == Kind::Notification => outs.clear(),
            Some(LoseTerminator) if kind == Kind::Notification => {
                for out in &mut outs {
                    if let Out::Sent(_, line) = out {
                        *line = line.trim_end_matches('\r').to_owned();
                    }
                }
            }
            Some(OvertakeMachine) if has_word("forward") && outs.is_empty() => outs.push(original),
            Some(SendOriginal) if has_word("replace") => spoil_sends(&mut outs, to, line),
            _ => {}
        }
        self.reorder(outs)
    }

    fn reorder(&mut self, mut outs: Vec<Out>) -> Vec<Out> {
        if self.broken == Some(Sabotage::SwapTwo) {
            if let Some(kept) = self.kept.take() {
                outs.push(kept);
            } else if matches!(outs.last(), Some(Out::Sent(Side::Server, _))) {
                self.kept = outs.pop();
            }
        }
        outs
    }

    fn told(&mut self) -> Vec<Told> {
        let mut told = self.rig.told();
        match self.broken {
            Some(Sabotage::EndedTwice) => {
                told.extend(told.clone().into_iter().filter(|told| matches!(told, Told::Ended(..))));
            }
            Some(Sabotage::MissAnswered) => told.retain(|told| !matches!(told, Told::Answer(_))),
            Some(Sabotage::MissEnded) => told.retain(|told| !matches!(told, Told::Ended(..))),
            _ => {}
        }
        told
    }
}

fn spoil_sends(outs: &mut [Out], to: Side, line: &str) {
    for out in outs {
        if matches!(out, Out::Sent(side, _) if *side == to) {
            *out = Out::Sent(to, line.to_owned());
        }
    }
}

// === the play ===

/// A session: the twin, the router, and what both are told next.
struct Play {
    bench: Bench,
    twin: Naive,
    serial: u64,
    ids: Both<Vec<String>>,
    questions: Vec<(u64, Side)>,
    transcript: Vec<Out>,
    told: Vec<Told>,
    /// Calls whose last verdict lets them pass, as they may then stand on the server's input.
    passed: HashSet<String>,
}

impl Play {
    fn new(broken: Option<Sabotage>) -> Self {
        Self {
            bench: Bench::new(broken),
            twin: Naive::default(),
            serial: 0,
            ids: Both::default(),
            questions: Vec::new(),
            transcript: Vec::new(),
            told: Vec::new(),
            passed: HashSet::new(),
        }
    }

    fn both(&mut self, op: &Op, outs: Vec<Out>) -> Result<(), TestCaseError> {
        let want = std::mem::take(&mut self.twin.out);
        prop_assert_eq!(&outs, &want, "after {:?}", op);
        let (told, want) = (self.bench.told(), std::mem::take(&mut self.twin.told));
        prop_assert_eq!(&told, &want, "the interceptor after {:?}", op);
        self.transcript.extend(outs);
        self.told.extend(told);
        Ok(())
    }

    fn pass(&mut self, line: &str, word: &str) {
        match word {
            "forward" => self.passed.insert(line.to_owned()),
            "replace" => self.passed.insert(edited(line)),
            _ => false,
        };
    }

    fn step(&mut self, op: &Op) -> Result<(), TestCaseError> {
        self.serial += 1;
        let serial = self.serial;
        let outs = match op {
            Op::Answer { from, which, how } => return self.answer(op, *from, which, how),
            Op::AnswerAgain { from, which } => {
                let Some(id) = pick(which, self.twin.answered.of(*from)) else { return Ok(()) };
                let line = result(&id);
                self.twin.answer(*from, &id, &id, &line);
                self.bench.from(*from, &line)
            }
            Op::Ask { from, method, word, trespasses } => {
                let id = match (trespasses, from) {
                    // Both sides count from one, so that their ids are often the same.
                    (false, _) => (self.ids.of(*from).len() + 1).to_string(),
                    (true, Side::Client) => format!("\"framegate-t-c{serial}\""),
                    (true, Side::Server) => format!("\"framegate-t-s{serial}\""),
                };
                self.ids.of_mut(*from).push(id.clone());
                let line = ask(&id, method, word);
                self.pass(&line, if *method == "tools/call" { word } else { "forward" });
                self.twin.request(*from, &id, method, word, &line);
                self.bench.from(*from, &line)
            }
            Op::Cancel { from, which } => {
                let Some(id) = pick(which, self.ids.of(*from)) else { return Ok(()) };
                self.twin.cancel(*from, &id);
                self.bench.from(*from, &cancel(&id))
            }
            Op::Forge { from, id } => {
                self.twin.answer(*from, id, id, &result(id));
                self.bench.from(*from, &result(id))
            }
            Op::Forget(which) => {
                let Some((number, _)) = pick(which, &self.questions) else { return Ok(()) };
                self.twin.forget(number);
                self.bench.other(|router, fx| router.forget_question(number, fx))
            }
            Op::Odd { from, line } => {
                self.twin.odd(*from, Kind2::of(peek(line.as_bytes()).kind), line);
                self.bench.from(*from, line)
            }
            Op::Pass { from, line } => {
                self.twin.pass(*from, line);
                self.bench.from(*from, line)
            }
            Op::Question(to) => {
                self.questions.push((serial, *to));
                self.twin.question(serial, *to);
                self.bench.other(|router, fx| router.question(serial, *to, "ping", None, fx))
            }
            Op::QuestionAnswer { which, times } => return self.answer_us(op, which, *times),
            Op::Settle { which, word } => {
                let Some((hold, ask)) = pick(which, &self.twin.held()) else { return Ok(()) };
                self.pass(&ask.line, word);
                self.twin.settle(hold, word);
                self.bench.settle(hold, word, &ask.line)
            }
        };
        self.both(op, outs)
    }

    fn answer(&mut self, op: &Op, from: Side, which: &Index, how: &str) -> Result<(), TestCaseError> {
        let Some(ask) = pick(which, self.twin.open.of(from.other())) else { return Ok(()) };
        let key = ask.wire;
        let id = if how == "lenient" && !is_reserved(&key) { format!("\" {key} \"") } else { key.clone() };
        let line = if how == "please-answer" {
            format!(r#"{{"id":{id},"result":"please-answer"}}"#)
        } else {
            result(&id)
        };
        self.twin.answer(from, &key, &id, &line);
        let outs = self.bench.from(from, &line);
        self.both(op, outs)
    }

    fn answer_us(&mut self, op: &Op, which: &Index, times: usize) -> Result<(), TestCaseError> {
        let Some((number, to)) = pick(which, &self.questions) else { return Ok(()) };
        let id = format!("\"framegate-t-q{number}\"");
        for _ in 0..times {
            self.twin.answer(to, &id, &id, &result(&id));
            let outs = self.bench.from(to, &result(&id));
            self.both(op, outs)?;
        }
        Ok(())
    }

    fn end(mut self) -> Result<(), TestCaseError> {
        let questions_first = |mut outs: Vec<Out>| {
            outs.sort_by_key(|out| match out {
                Out::Answered(number, _) => (0, *number),
                _ => (1, 0),
            });
            outs
        };
        let op = Op::Question(Side::Client);
        self.twin.client_ends();
        let outs = self.bench.other(|router, fx| router.sender_gone(Side::Client, fx));
        self.twin.out = questions_first(std::mem::take(&mut self.twin.out));
        self.both(&op, questions_first(outs))?;
        self.twin.server_ends();
        let error = RpcError::new(1, "gone");
        let outs = self.bench.other(|router, fx| router.peer_gone(Side::Server, Some(&error), fx));
        self.twin.out = questions_first(std::mem::take(&mut self.twin.out));
        self.both(&op, questions_first(outs))?;
        self.judge()
    }

    /// What must hold whatever the twin thinks.
    fn judge(&self) -> Result<(), TestCaseError> {
        let mut ends: HashMap<&String, usize> = HashMap::new();
        for told in &self.told {
            if let Told::Answer(id) | Told::Ended(id, _) = told {
                *ends.entry(id).or_default() += 1;
            }
        }
        let mut sent: HashSet<&String> = HashSet::new();
        for out in &self.transcript {
            let Out::Sent(to, line) = out else { continue };
            let foreign = match to {
                Side::Client => "framegate-t-s",
                Side::Server => "framegate-t-c",
            };
            prop_assert!(!line.contains(foreign), "{} got {}", to, line);
            for (number, asked) in &self.questions {
                let id = format!("framegate-t-q{number}\"");
                prop_assert!(to == asked || !line.contains(&id), "{} got {}", to, line);
            }
            if *to == Side::Server && line.contains("tools/call") {
                let is_renamed = line.contains("framegate-t-r");
                prop_assert!(is_renamed || self.passed.contains(line), "unjudged: {}", line);
                prop_assert!(sent.insert(line), "twice: {}", line);
            }
        }
        // Each side uses an id once, but both may use the same one.
        for (id, ends) in ends {
            let asked = self.ids.of(Side::Client).iter().filter(|asked| *asked == id).count()
                + self.ids.of(Side::Server).iter().filter(|asked| *asked == id).count();
            prop_assert!(ends <= asked, "{} has {} ends", id, ends);
        }
        let refusals = |id: &String| {
            let line = refusal(id);
            let error = error_line(id);
            self.transcript
                .iter()
                .filter(|out| **out == to_client(&line) || **out == to_client(&error))
                .count()
        };
        for id in self.ids.of(Side::Client) {
            prop_assert!(refusals(id) <= 1, "{} was answered by us twice", id);
        }
        Ok(())
    }
}

fn pick<T: Clone>(which: &Index, from: &[T]) -> Option<T> {
    (!from.is_empty()).then(|| which.get(from).clone())
}

fn check(broken: Option<Sabotage>, ops: &[Op]) -> Result<(), TestCaseError> {
    let mut play = Play::new(broken);
    for op in ops {
        play.step(op)?;
    }
    play.end()
}

fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

#[test]
fn a_router_does_what_its_twin_does() {
    let mut runner = TestRunner::new(config(500));
    runner.run(&vec(op(), 0..60), |ops| check(None, &ops)).unwrap();
}

#[test]
fn a_broken_router_fails_whichever_way_it_is_broken() {
    for sabotage in ALL {
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let config = Config { max_shrink_iters: 0, ..config(300) };
        let run =
            TestRunner::new_with_rng(config, rng).run(&vec(op(), 0..60), |ops| check(Some(sabotage), &ops));
        assert!(matches!(run, Err(TestError::Fail(..))), "{sabotage:?} was not noticed: {run:?}");
    }
}
