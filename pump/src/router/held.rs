//! Frames whose verdict is still to come.

use std::collections::{BTreeMap, VecDeque};

use super::{Both, Pending, Token};
use crate::id::Id;
use crate::request::Side;
use crate::seam::{HoldKind, Verdict};

/// A frame that waits.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) pending: Pending,
    pub(super) kind: HoldKind,
}

/// All held frames, and the order in which machine-held calls are released.
#[derive(Debug, Default)]
pub(super) struct HeldTable {
    all: BTreeMap<Token, Held>,
    /// Calls of each side in the order they came; one that is settled waits for those before
    /// it. The sides do not wait for each other: a call may be held until the server has answered
    /// us, and the server may ask the client something first.
    /// INVARIANT: each token here is a key of `all`.
    queue: Both<VecDeque<(Token, Option<Verdict>)>>,
}

impl HeldTable {
    pub(super) fn insert(&mut self, token: Token, held: Held) {
        self.all.insert(token, held);
    }

    /// Adds a call at the end of the release order, with its verdict if it has one already.
    pub(super) fn enqueue(&mut self, token: Token, held: Held, verdict: Option<Verdict>) {
        self.queue.of_mut(held.pending.sender()).push_back((token, verdict));
        self.all.insert(token, held);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn has_queue(&self, side: Side) -> bool {
        !self.queue.of(side).is_empty()
    }

    /// Where `token` waits in the release order.
    pub(super) fn slot(&mut self, token: Token) -> Option<&mut Option<Verdict>> {
        let side = self.all.get(&token)?.pending.sender();
        let mut queue = self.queue.of_mut(side).iter_mut();
        queue.find(|(t, _)| *t == token).map(|(_, verdict)| verdict)
    }

    /// The next call of `side` that may be released.
    pub(super) fn release(&mut self, side: Side) -> Option<(Held, Verdict)> {
        let queue = self.queue.of_mut(side);
        queue.front()?.1.as_ref()?;
        let (token, verdict) = queue.pop_front()?;
        Some((self.all.remove(&token)?, verdict?))
    }

    pub(super) fn take(&mut self, token: Token) -> Option<Held> {
        let held = self.all.remove(&token)?;
        self.queue.of_mut(held.pending.sender()).retain(|(t, _)| *t != token);
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
