//! The router alone: frames in, effects out.
//!
//! The tests beside this file are one behaviour each; `prop` plays random sessions against the
//! `naive` twin, and shows that a router broken on purpose fails.

mod ends;
mod holds;
mod ids;
mod naive;
mod odd;
mod prop;
mod tools;
mod transparent;

use std::sync::{Arc, Mutex};

use super::*;
use crate::codec::TooLong;
use crate::envelope::Span;
use crate::seam::{Hold, Notice, Odd};

/// What the router did, in a form that tests can write down. Frames are without their LF.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Out {
    Answered(u64, Option<String>),
    Held(Token),
    LookLater,
    Released(Token),
    Sent(Side, String),
}

fn to_client(line: impl Into<String>) -> Out {
    Out::Sent(Side::Client, line.into())
}

fn to_server(line: impl Into<String>) -> Out {
    Out::Sent(Side::Server, line.into())
}

/// What an interceptor was told.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Answer(String),
    Asked(String),
    Ended(String, Ended),
    Note(String),
    Odd(Side, Kind2),
}

/// [`Kind`] without its reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind2 {
    Ambiguous,
    Batch,
    Blank,
    Opaque,
    Response,
}

impl Kind2 {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Ambiguous(_) => Self::Ambiguous,
            Kind::Batch => Self::Batch,
            Kind::Blank => Self::Blank,
            Kind::Opaque(_) => Self::Opaque,
            Kind::Response => Self::Response,
            Kind::Notification | Kind::Request => panic!("{kind:?} is not odd"),
        }
    }
}

/// Takes its verdict from the name that a request gives, and logs what it is told.
#[derive(Debug)]
struct Script {
    interest: Interest,
    told: Mutex<Vec<Told>>,
}

impl Script {
    fn new(messages: bool, odd: Odd) -> Arc<Self> {
        Arc::new(Self { interest: Interest { messages, odd }, told: Mutex::default() })
    }

    fn tell(&self, told: Told) {
        self.told.lock().unwrap().push(told);
    }

    fn take(&self) -> Vec<Told> {
        std::mem::take(&mut self.told.lock().unwrap())
    }
}

fn id_of(request: &Request) -> String {
    request.id().map_or_else(|| "-".to_owned(), |id| id.json().to_owned())
}

/// A line of the client's as a request.
fn request(line: &str) -> Request {
    let frame = Frame::line(line.as_bytes());
    let envelope = peek(frame.body());
    let head = Head::read(frame.body(), &envelope, Side::Client, Ticket(0)).unwrap();
    Request::new(frame.clone(), envelope, head)
}

/// The verdict that a word stands for.
fn verdict_of(word: &str, request: &Request) -> Verdict {
    match word {
        "answer" => Verdict::Answer(request.refuse_tool("no").unwrap_or_else(|| Frame::line(b"{}"))),
        "drop" => Verdict::Drop { to_client: vec![] },
        "machine" => Hold::verdict(HoldKind::Machine, std::future::pending()),
        "overlap" => {
            let id = request.envelope().id.unwrap().range();
            Verdict::Replace(Edits::new().replace(id.clone(), "7").replace(id, "8"))
        }
        "person" => Hold::verdict(HoldKind::Person, std::future::pending()),
        "replace" => Verdict::Replace(edit_arguments(request)),
        "tell" => Verdict::Drop { to_client: vec![Frame::line(b"{\"told\":1}")] },
        _ => Verdict::Forward,
    }
}

fn edit_arguments(request: &Request) -> Edits {
    let body = std::str::from_utf8(request.frame().body()).unwrap();
    let span = Span::within(body, request.param("arguments").unwrap());
    Edits::new().replace(span.range(), r#"{"n":2}"#)
}

/// What [`edit_arguments`] makes of a line, found in another way.
fn edited(line: &str) -> String {
    line.replace(r#"{"n":1.0}"#, r#"{"n":2}"#)
}

impl Interceptor for Script {
    fn interest(&self, _: Side) -> Interest {
        self.interest
    }

    fn wants(&self, _: Side, method: &str) -> Wants {
        match method {
            "tools/call" | "sampling/createMessage" | "notifications/decided" => Wants::Decide,
            "resources/read" => Wants::Answer,
            _ => Wants::Nothing,
        }
    }

    fn request(&self, request: &Request) -> Verdict {
        self.tell(Told::Asked(id_of(request)));
        verdict_of(&request.tool().unwrap_or_default(), request)
    }

    fn notification(&self, notification: &Request) -> Verdict {
        self.tell(Told::Note(notification.method().to_owned()));
        verdict_of(&notification.tool().unwrap_or_default(), notification)
    }

    fn answer(&self, request: &Request, answer: &Frame) -> Verdict {
        self.tell(Told::Answer(id_of(request)));
        let text = std::str::from_utf8(answer.body()).unwrap();
        for word in ["answer", "drop", "machine", "person", "tell"] {
            if text.contains(&format!("please-{word}")) {
                return verdict_of(word, request);
            }
        }
        Verdict::Forward
    }

    fn reads_answer(&self, _: &Request, answer: &Frame) -> bool {
        let text = String::from_utf8_lossy(answer.body());
        text.contains("please-") || text.contains("NaN")
    }

    fn ended(&self, request: &Request, how: Ended) {
        self.tell(Told::Ended(id_of(request), how));
    }

    fn odd_frame(&self, frame: &Frame, kind: Kind, from: Side) -> Verdict {
        self.tell(Told::Odd(from, Kind2::of(kind)));
        let text = String::from_utf8_lossy(frame.body()).into_owned();
        match text {
            text if text.contains("please-drop") => Verdict::Drop { to_client: vec![] },
            text if text.contains("please-tell") => {
                Verdict::Drop { to_client: vec![Frame::line(b"{\"told\":1}")] }
            }
            text if text.contains("please-machine") => {
                Hold::verdict(HoldKind::Machine, std::future::pending())
            }
            text if text.contains("please-person") => Hold::verdict(HoldKind::Person, std::future::pending()),
            text if text.contains("please-edit") => Verdict::Replace(Edits::new().replace(0..9_999, "x")),
            _ => Verdict::Forward,
        }
    }
}

/// Keeps what an observer is told, as one line each.
#[derive(Debug, Default)]
struct Eye(Mutex<Vec<String>>);

impl Eye {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Observer for Eye {
    fn frame(&self, seen: &Seen<'_>) {
        let head = seen.request.map_or_else(String::new, |head| {
            format!(" {} {}", head.method, head.id.as_ref().map_or("-", |id| id.json()))
        });
        self.0.lock().unwrap().push(format!("{:?}{head}", seen.point));
    }

    fn notice(&self, notice: &Notice) {
        self.0.lock().unwrap().push(format!("{notice:?}"));
    }
}

/// A router and what watches it.
struct Rig {
    router: Router,
    script: Arc<Script>,
    eye: Arc<Eye>,
    later: Vec<(Side, Frame)>,
}

impl Rig {
    fn new() -> Self {
        Self::with(Script::new(true, Odd::All), None, None)
    }

    fn with(script: Arc<Script>, tools: Option<Arc<dyn ToolInjector>>, limits: Option<IdLimits>) -> Self {
        let eye = Arc::new(Eye::default());
        let seams =
            Seams { observer: Arc::<Eye>::clone(&eye), interceptor: Arc::<Script>::clone(&script), tools };
        Self { router: Router::new(Namespace::new("t"), seams, limits), script, eye, later: Vec::new() }
    }

    fn run(&mut self, step: impl FnOnce(&mut Router, &mut Effects)) -> Vec<Out> {
        let mut fx = Effects::new();
        step(&mut self.router, &mut fx);
        let text = |frame: &Frame| {
            let text = String::from_utf8(frame.bytes().to_vec()).unwrap();
            text.strip_suffix('\n').unwrap_or(&text).to_owned()
        };
        let mut outs = Vec::new();
        for effect in fx {
            outs.push(match effect {
                Effect::Answered { question, answer } => Out::Answered(question, answer.as_ref().map(text)),
                Effect::Hold { token, .. } => Out::Held(token),
                Effect::LookLater { from, frame } => {
                    self.later.push((from, frame));
                    Out::LookLater
                }
                Effect::Release(token) => Out::Released(token),
                Effect::Send { to, frame, .. } => Out::Sent(to, text(&frame)),
            });
        }
        outs
    }

    fn from(&mut self, side: Side, line: &str) -> Vec<Out> {
        self.run(|router, fx| router.frame(side, Frame::line(line.as_bytes()), fx))
    }

    fn client(&mut self, line: &str) -> Vec<Out> {
        self.from(Side::Client, line)
    }

    fn server(&mut self, line: &str) -> Vec<Out> {
        self.from(Side::Server, line)
    }

    fn question(&mut self, number: u64, to: Side) -> Vec<Out> {
        self.run(|router, fx| router.question(number, to, "ping", None, fx))
    }

    /// Holds `line`, which must do nothing else.
    fn hold(&mut self, line: &str) -> Token {
        match self.client(line)[..] {
            [Out::Held(token)] => token,
            ref outs => panic!("not held: {outs:?}"),
        }
    }

    fn settle(&mut self, token: Token, verdict: Verdict) -> Vec<Out> {
        self.run(|router, fx| router.settle(token, verdict, fx))
    }

    fn look_back(&mut self) {
        for (from, frame) in std::mem::take(&mut self.later) {
            self.router.attribute(from, &frame);
        }
    }

    /// What the interceptor was told so far, once.
    fn told(&self) -> Vec<Told> {
        self.script.take()
    }
}

fn ask(id: &str, method: &str, word: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"name":"{word}","arguments":{{"n":1.0}}}}}}"#
    )
}

fn call(id: &str, word: &str) -> String {
    ask(id, "tools/call", word)
}

fn ping(id: &str) -> String {
    format!(r#"{{"id":{id}, "method":"ping"}}"#)
}

fn result(id: &str) -> String {
    format!(r#"{{"result":{{"n":1e0}},"id":{id},"jsonrpc":"2.0"}}"#)
}

fn cancel(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
}

fn refusal(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"no"}}],"isError":true,"resultType":"complete"}}}}"#
    )
}

/// The id and the code of an error answer that went to the client.
fn error_to(side: Side, out: &Out) -> Option<(String, i64)> {
    let Out::Sent(to, line) = out else { return None };
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    (*to == side).then_some(())?;
    Some((value.get("id")?.to_string(), value.pointer("/error/code")?.as_i64()?))
}
