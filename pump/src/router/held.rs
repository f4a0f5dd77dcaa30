//! Frames whose verdict is still to come.

use std::collections::{BTreeMap, VecDeque};

use super::{Pending, Token};
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
    /// Calls in the order they came; one that is settled waits for those before it.
    /// INVARIANT: each token here is a key of `all`.
    queue: VecDeque<(Token, Option<Verdict>)>,
}

impl HeldTable {
    pub(super) fn insert(&mut self, token: Token, held: Held) {
        self.all.insert(token, held);
    }

    /// Adds a call at the end of the release order, with its verdict if it has one already.
    pub(super) fn enqueue(&mut self, token: Token, held: Held, verdict: Option<Verdict>) {
        self.all.insert(token, held);
        self.queue.push_back((token, verdict));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn has_queue(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Where `token` waits in the release order.
    pub(super) fn slot(&mut self, token: Token) -> Option<&mut Option<Verdict>> {
        self.queue.iter_mut().find(|(t, _)| *t == token).map(|(_, verdict)| verdict)
    }

    /// The next call that may be released.
    pub(super) fn release(&mut self) -> Option<(Token, Held, Verdict)> {
        self.queue.front()?.1.as_ref()?;
        let (token, verdict) = self.queue.pop_front()?;
        Some((token, self.all.remove(&token)?, verdict?))
    }

    pub(super) fn take(&mut self, token: Token) -> Option<Held> {
        self.queue.retain(|(t, _)| *t != token);
        self.all.remove(&token)
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
