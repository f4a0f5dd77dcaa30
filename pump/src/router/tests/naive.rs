//! The stupid twin: what a router does, written down from the contract, in strings and vectors.

use std::collections::VecDeque;

use super::*;

/// A request under way.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) from: Side,
    /// The id its sender wrote, and the one it is sent on under.
    pub(super) own: String,
    pub(super) wire: String,
    pub(super) line: String,
    method: String,
    pub(super) is_decided: bool,
    pub(super) is_wanted: bool,
    arrival: u64,
}

/// A decided request behind a machine that holds one of its method: how many holds were made before it, and its verdict.
#[derive(Debug)]
struct Queued(Ask, Option<usize>, Option<&'static str>);

#[derive(Debug, Default)]
pub(super) struct Naive {
    queue: Both<VecDeque<Queued>>,
    persons: Vec<(Ask, usize)>,
    pub(super) open: Both<Vec<Ask>>,
    pub(super) answered: Both<Vec<String>>,
    pub(super) questions: Vec<(u64, Side)>,
    pub(super) told: Vec<Told>,
    pub(super) out: Vec<Out>,
    arrivals: u64,
    aliases: u64,
    holds: usize,
}

pub(super) fn is_reserved(id: &str) -> bool {
    id.starts_with("\"framegate-t-")
}

impl Naive {
    /// Holds that are open, by their number.
    pub(super) fn held(&self) -> Vec<(usize, Ask)> {
        let queued = [Side::Client, Side::Server].into_iter().flat_map(|side| self.queue.of(side));
        let machines = queued.filter_map(|Queued(ask, hold, verdict)| {
            Some((hold.filter(|_| verdict.is_none())?, ask.clone()))
        });
        machines.chain(self.persons.iter().map(|(ask, hold)| (*hold, ask.clone()))).collect()
    }

    fn send(&mut self, to: Side, line: impl Into<String>) {
        self.out.push(Out::Sent(to, line.into()));
    }

    fn hold(&mut self) -> usize {
        self.holds += 1;
        self.out.push(Out::Held(Token(self.holds as u64)));
        self.holds
    }

    pub(super) fn request(&mut self, from: Side, id: &str, method: &str, word: &'static str, line: &str) {
        self.arrivals += 1;
        let mut wire = id.to_owned();
        if is_reserved(id) {
            self.aliases += 1;
            wire = format!("\"framegate-t-r{}\"", self.aliases);
        }
        let is_decided = matches!(method, "tools/call" | "sampling/createMessage");
        let ask = Ask {
            from,
            own: id.to_owned(),
            wire,
            line: line.to_owned(),
            method: method.to_owned(),
            is_decided,
            is_wanted: is_decided || method == "resources/read",
            arrival: self.arrivals,
        };
        if is_decided {
            self.told.push(Told::Asked(id.to_owned()));
        }
        self.decide(ask, if is_decided { word } else { "forward" });
    }

    fn decide(&mut self, ask: Ask, word: &'static str) {
        let waits = self.queue.of(ask.from).iter().any(|queued| queued.0.method == ask.method);
        if ask.is_decided && word != "person" && waits {
            let hold = (word == "machine").then(|| self.hold());
            let verdict = (word != "machine").then_some(word);
            return self.queue.of_mut(ask.from).push_back(Queued(ask, hold, verdict));
        }
        self.act(ask, word);
    }

    fn act(&mut self, ask: Ask, word: &'static str) {
        match word {
            "answer" => self.send(ask.from, refusal(&ask.own)),
            "drop" => {}
            "machine" => {
                let hold = self.hold();
                self.queue.of_mut(ask.from).push_back(Queued(ask, Some(hold), None));
            }
            "person" => {
                let hold = self.hold();
                self.persons.push((ask, hold));
            }
            _ => {
                let line = if word == "replace" { edited(&ask.line) } else { ask.line.clone() };
                self.send(ask.from.other(), line.replacen(&ask.own, &ask.wire, 1));
                self.open.of_mut(ask.from).push(ask);
            }
        }
    }

    fn drain(&mut self, side: Side) {
        loop {
            let queue = self.queue.of_mut(side);
            let is_first =
                |at: usize| !queue.iter().take(at).any(|other| other.0.method == queue[at].0.method);
            let Some(at) = (0..queue.len()).find(|at| queue[*at].2.is_some() && is_first(*at)) else {
                return;
            };
            let Some(Queued(ask, _, Some(word))) = queue.remove(at) else { return };
            self.act(ask, word);
        }
    }

    pub(super) fn settle(&mut self, hold: usize, word: &'static str) {
        for side in [Side::Client, Side::Server] {
            if let Some(Queued(_, _, verdict)) =
                self.queue.of_mut(side).iter_mut().find(|queued| queued.1 == Some(hold))
            {
                match word {
                    "machine" => self.out.push(Out::Held(Token(hold as u64))),
                    word => *verdict = Some(word),
                }
                return self.drain(side);
            }
        }
        if let Some(at) = self.persons.iter().position(|(_, person)| *person == hold) {
            let (ask, _) = self.persons.remove(at);
            self.decide(ask, word);
        }
    }

    pub(super) fn cancel(&mut self, from: Side, id: &str) {
        let ended = Told::Ended(id.to_owned(), Ended::Cancelled);
        let queue = self.queue.of_mut(from);
        if let Some(at) = queue.iter().position(|queued| queued.0.own == id) {
            let hold = queue.remove(at).and_then(|queued| queued.1);
            self.out.extend(hold.map(|hold| Out::Released(Token(hold as u64))));
            self.told.push(ended);
            return self.drain(from);
        }
        if let Some(at) = self.persons.iter().position(|(ask, _)| ask.from == from && ask.own == id) {
            let (_, hold) = self.persons.remove(at);
            self.out.push(Out::Released(Token(hold as u64)));
            self.told.push(ended);
            return;
        }
        let open = self.open.of_mut(from);
        let Some(at) = open.iter().position(|ask| ask.own == id) else {
            if !is_reserved(id) {
                self.send(from.other(), cancel(id));
            }
            return;
        };
        let ask = open.remove(at);
        if ask.is_wanted {
            self.told.push(ended);
        }
        self.answered.of_mut(from.other()).push(ask.wire.clone());
        self.send(from.other(), cancel(&ask.wire));
    }

    /// `id` is the id as `from` wrote it, `key` the one that it means.
    pub(super) fn answer(&mut self, from: Side, key: &str, id: &str, line: &str) {
        if let Some(at) =
            self.questions.iter().position(|(n, to)| *to == from && key == format!("\"framegate-t-q{n}\""))
        {
            let (number, _) = self.questions.remove(at);
            return self.out.push(Out::Answered(number, Some(line.to_owned())));
        }
        if let Some(at) = self.open.of(from.other()).iter().position(|ask| ask.wire == key) {
            let ask = self.open.of_mut(from.other()).remove(at);
            self.answered.of_mut(from).push(ask.wire.clone());
            if ask.is_wanted {
                self.told.push(Told::Answer(ask.own.clone()));
            }
            let line = if ask.is_wanted && line.contains("please-answer") {
                refusal(&ask.own)
            } else if ask.own == ask.wire {
                line.to_owned()
            } else {
                line.replacen(id, &ask.own, 1)
            };
            return self.send(from.other(), line);
        }
        if !is_reserved(key) {
            self.odd(from, Kind2::Response, line);
        }
    }

    pub(super) fn odd(&mut self, from: Side, kind: Kind2, line: &str) {
        self.told.push(Told::Odd(from, kind));
        if !line.contains("please-drop") {
            self.send(from.other(), line);
        }
    }

    pub(super) fn pass(&mut self, from: Side, line: &str) {
        self.send(from.other(), line);
    }

    pub(super) fn question(&mut self, number: u64, to: Side) {
        self.questions.push((number, to));
        self.send(to, format!(r#"{{"jsonrpc":"2.0","id":"framegate-t-q{number}","method":"ping"}}"#));
    }

    pub(super) fn forget(&mut self, number: u64) {
        let Some(at) = self.questions.iter().position(|(n, _)| *n == number) else { return };
        let (_, to) = self.questions.remove(at);
        self.send(
            to,
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":"framegate-t-q{number}","reason":"timed out"}}}}"#
            ),
        );
    }

    fn questions_end(&mut self, side: Side) {
        let (gone, left) = self.questions.iter().partition(|(_, to)| *to == side);
        self.questions = left;
        let gone: Vec<(u64, Side)> = gone;
        self.out.extend(gone.into_iter().map(|(number, _)| Out::Answered(number, None)));
    }

    pub(super) fn client_ends(&mut self) {
        let (gone, left): (Vec<_>, Vec<_>) =
            self.persons.drain(..).partition(|(ask, _)| ask.from == Side::Client);
        self.persons = left;
        for (ask, hold) in gone {
            self.out.push(Out::Released(Token(hold as u64)));
            self.told.push(Told::Ended(ask.own, Ended::SenderGone));
        }
        self.questions_end(Side::Client);
        let mut open = std::mem::take(self.open.of_mut(Side::Server));
        open.sort_by_key(|ask| ask.arrival);
        let wanted = open.into_iter().filter(|ask| ask.is_wanted);
        self.told.extend(wanted.map(|ask| Told::Ended(ask.own, Ended::PeerGone)));
    }

    pub(super) fn server_ends(&mut self) {
        self.questions_end(Side::Server);
        let mut open = std::mem::take(self.open.of_mut(Side::Client));
        open.sort_by_key(|ask| ask.arrival);
        for ask in open {
            if ask.is_wanted {
                self.told.push(Told::Ended(ask.own.clone(), Ended::PeerGone));
            }
            self.send(Side::Client, error_line(&ask.own));
        }
        for Queued(ask, hold, _) in std::mem::take(self.queue.of_mut(Side::Client)) {
            self.out.extend(hold.map(|hold| Out::Released(Token(hold as u64))));
            self.told.push(Told::Ended(ask.own.clone(), Ended::PeerGone));
            self.send(Side::Client, error_line(&ask.own));
        }
    }
}

pub(super) fn error_line(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":1,"message":"gone"}}}}"#)
}
