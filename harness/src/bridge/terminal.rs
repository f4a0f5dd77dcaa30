//! The approver at a terminal: what stands already lets a call through, otherwise a question goes on the desk.

use std::sync::Arc;
use std::time::Instant;

use framegate_guard::policy::{Approve, Remember, ToolOptions};
use framegate_guard::store::event::How;
use framegate_pump::{Hold, HoldKind, Verdict};

use super::asking::{Asked, QUESTIONS_OF_ONE_CALL_MAX};
use super::reach::{Reach, Way};
use super::shared::Inner;
use crate::approve::Carrier;
use crate::desk::{Desk, TerminalAsker, Wanted};

/// Why no terminal is a way to the approver.
pub(super) const NOT_LET: &str = "the policy lets nobody approve it from a terminal";

impl Inner {
    /// Where the approver of this call looks, if the policy lets it be approved from a terminal, and anybody can.
    pub(super) fn desk_of(&self, asked: &Asked) -> Option<Arc<Desk>> {
        let mut desks = self.asking.settings.order.iter().filter_map(|carrier| match carrier {
            Carrier::Terminal(desk) => Some(desk),
            Carrier::Client | Carrier::Library(_) => None,
        });
        let is_let = options(asked).is_some_and(|options| options.approve == Approve::Terminal);
        // What an approval that stands let through before, and was not sent for something else, is a person's again.
        let is_first = asked.basis.asked < QUESTIONS_OF_ONE_CALL_MAX;
        desks.next().filter(|desk| is_let && is_first && desk.without_approver().is_none()).cloned()
    }

    pub(super) fn way_of_terminal(&self, asked: &Asked, desk: &Arc<Desk>) -> Result<Way, &'static str> {
        let Some(options) = options(asked).filter(|options| options.approve == Approve::Terminal) else {
            return Err(NOT_LET);
        };
        if desk.without_approver().is_some() {
            return Err("nobody is set up to approve it from a terminal");
        }
        let limit = self.asking.settings.terminal_timeout;
        let asker = TerminalAsker {
            desk: Arc::clone(desk),
            key: self.asks_as.clone(),
            decision: Arc::clone(&asked.receipt.decision),
            remember: options.remember,
            limit,
        };
        Ok(Way::Asker(Reach { asker: Arc::new(asker), how: "terminal", limit }))
    }

    /// A standing approval lets the call through, by the decision of now like any other; without one somebody is asked.
    pub(super) fn stand_or_ask(self: &Arc<Self>, asked: Asked, desk: Arc<Desk>) -> Verdict {
        let inner = Arc::clone(self);
        let (key, decision) = (self.asks_as.clone(), Arc::clone(&asked.receipt.decision));
        let remember = options(&asked).map_or(Remember::Never, |options| options.remember);
        let waits = Undone {
            inner: Arc::clone(self),
            step: asked.receipt.sequence,
            since: Instant::now(),
            is_over: false,
        };
        Hold::verdict(HoldKind::Person, async move {
            let standing = desk.standing(Wanted { key, decision, remember }).await;
            let since = waits.over();
            let Some((by, id)) = standing else { return inner.ask_somebody(asked) };
            let step = asked.receipt.sequence;
            inner.note_approval(
                step,
                ("standing", &by),
                ("approved", &format!("standing approval {id}")),
                since,
            );
            inner.note_unanswered(step, How::Asked, since);
            inner.approved(asked, &by, "approved before")
        })
    }
}

fn options(asked: &Asked) -> Option<Arc<ToolOptions>> {
    asked.guard.options(&asked.receipt.decision.tool)
}

/// A call that is looked up. When nobody waits for it any more, it was cancelled, or the client left.
struct Undone {
    inner: Arc<Inner>,
    step: u64,
    since: Instant,
    is_over: bool,
}

impl Undone {
    fn over(mut self) -> Instant {
        self.is_over = true;
        self.since
    }
}

impl Drop for Undone {
    fn drop(&mut self) {
        if !self.is_over {
            self.inner.note_unanswered(self.step, How::Cancelled, self.since);
        }
    }
}
