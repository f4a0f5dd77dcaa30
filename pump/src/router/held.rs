//! Frames whose verdict is still to come.

use std::collections::{BTreeMap, VecDeque};

use super::pending::Pending;
use super::{Both, Token};
use crate::id::Id;
use crate::request::{Method, Side};
use crate::seam::{HoldKind, Verdict};

/// A frame that waits.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) pending: Pending,
    pub(super) kind: HoldKind,
}

/// A place in the release order.
#[derive(Debug)]
struct Queued {
    token: Token,
    method: Method,
    /// Set when it is settled, and waits only for those before it.
    verdict: Option<Verdict>,
}

/// All held frames, and the order in which machine-held calls are released.
#[derive(Debug, Default)]
pub(super) struct HeldTable {
    all: BTreeMap<Token, Held>,
    /// Decided requests of each side in the order they came; one that is settled waits for those of
    /// its method before it. A ping never waits for a call. An odd frame that is held is one of the
    /// calls: it may be one. The sides do not wait for each other: a
    /// call may be held until the server has answered us, and the server may ask the client
    /// something first.
    /// INVARIANT: each token here is a key of `all`.
    queue: Both<VecDeque<Queued>>,
}

impl HeldTable {
    pub(super) fn insert(&mut self, token: Token, held: Held) {
        self.all.insert(token, held);
    }

    /// Adds a request at the end of its method's release order, with its verdict if it has one
    /// already.
    pub(super) fn enqueue(&mut self, token: Token, held: Held, verdict: Option<Verdict>) {
        let method = held.pending.lane();
        self.queue.of_mut(held.pending.sender()).push_back(Queued { token, method, verdict });
        self.all.insert(token, held);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether a request like this one is waiting, sent by the same side.
    pub(super) fn has_queue(&self, like: &Pending) -> bool {
        let method = like.lane();
        self.queue.of(like.sender()).iter().any(|queued| queued.method == method)
    }

    /// Where `token` waits in the release order.
    pub(super) fn slot(&mut self, token: Token) -> Option<&mut Option<Verdict>> {
        let side = self.all.get(&token)?.pending.sender();
        let mut queue = self.queue.of_mut(side).iter_mut();
        queue.find(|queued| queued.token == token).map(|queued| &mut queued.verdict)
    }

    /// The next request of `side` that may be released: settled, and the first of its method.
    pub(super) fn release(&mut self, side: Side) -> Option<(Held, Verdict)> {
        let queue = self.queue.of_mut(side);
        let mut waiting: Vec<&Method> = Vec::new();
        let mut first = None;
        for (at, queued) in queue.iter().enumerate() {
            if waiting.contains(&&queued.method) {
                continue;
            }
            if queued.verdict.is_some() {
                first = Some(at);
                break;
            }
            waiting.push(&queued.method);
        }
        let queued = queue.remove(first?)?;
        Some((self.all.remove(&queued.token)?, queued.verdict?))
    }

    pub(super) fn take(&mut self, token: Token) -> Option<Held> {
        let held = self.all.remove(&token)?;
        self.queue.of_mut(held.pending.sender()).retain(|queued| queued.token != token);
        Some(held)
    }

    /// The held request of `from` with this id, or the held answer to it.
    pub(super) fn find(&self, from: Side, id: &Id) -> Option<Token> {
        let mut all = self.all.iter();
        all.find(|(_, held)| held.pending.asker() == Some((from, id))).map(|(token, _)| *token)
    }

    /// Tokens of all held frames that satisfy `which`, oldest first.
    pub(super) fn tokens(&self, which: impl Fn(&Held) -> bool) -> Vec<Token> {
        self.all.iter().filter(|(_, held)| which(held)).map(|(token, _)| *token).collect()
    }
}
