//! How calls end: settled in the ledger, and in the record.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use framegate_guard::ledger::{LedgerFailure, Settled, StateNote};
use framegate_guard::store::event::{self, EndRecord, Event, StateRecord};
use framegate_pump::{Edits, Ended, Frame, Request, Ticket};

use super::answered::{Answered, ended};
use super::shared::{Bridge, Inner, Sent};
use crate::calls::Level;

impl Bridge {
    /// A request that was sent, or was to be, gets no answer.
    pub(super) fn call_ended(&self, request: &Request, how: Ended) {
        if request.method() == "tools/call" {
            let settled = if how == Ended::TooLong { Settled::Done } else { Settled::Lost };
            if let Some((sent, state)) = self.inner.settle(request.head().ticket, settled, None) {
                self.inner.note_end(&sent, how_ended(how), None, None, state);
            }
        }
    }
}

/// A step whose commit is waited for. When nobody waits any more, it was not sent: cancelled, or the client left.
pub(super) struct Reserved {
    pub(super) inner: Arc<Inner>,
    pub(super) sequence: u64,
    pub(super) since: Instant,
    pub(super) is_over: bool,
}

impl Reserved {
    /// Its commit has come, or failed.
    pub(super) fn over(mut self) {
        self.is_over = true;
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        self.inner.undo(self.sequence);
        self.inner.note_unanswered(self.sequence, event::How::Cancelled, self.since);
    }
}

impl Inner {
    /// A call that was held, and not sent, is over without an answer: it goes on as another one, or nobody waits.
    pub(super) fn note_unanswered(&self, step: u64, how: event::How, since: Instant) {
        let is_unsent = how == event::How::Cancelled;
        let end = EndRecord { is_unsent, ..EndRecord::new(step, how, micros(since)) };
        self.ledger.note(Event::End(end));
    }

    /// Whether a decision off the pump's thread has the ledger, or is about to take it.
    pub(super) fn is_deciding(&self) -> bool {
        self.deciding.load(Ordering::Relaxed) > 0
    }

    /// A call that was sent got this answer, or none. What it made of the state, as far as that is known by now.
    pub(super) fn settle(
        self: &Arc<Self>,
        ticket: Ticket,
        how: Settled,
        answer: Option<Answered>,
    ) -> Option<(Sent, Option<StateNote>)> {
        let sent = self.open().remove(&ticket)?;
        let note = self.settle_step(sent.sequence, how, answer);
        if let Some(note) = &note {
            self.audit_answer(ticket, note);
        }
        Some((sent, note))
    }

    /// The pump must not wait for a ledger that a decision holds, or another process.
    /// What it did to the state then has a record of its own: the call's end must not wait, for other records count on it.
    pub(super) fn settle_step(
        self: &Arc<Self>,
        sequence: u64,
        how: Settled,
        answer: Option<Answered>,
    ) -> Option<StateNote> {
        let at_once = || self.ledger.try_settle(&self.key, sequence, &ended(how, answer.as_ref()));
        // A shared ledger waits for no decision of this process by itself.
        let may_try = self.ledger.is_shared() || !self.is_deciding();
        if let Some(settled) = may_try.then(at_once).flatten() {
            return self.settled(settled);
        }
        let inner = Arc::clone(self);
        self.writing.spawn_blocking(move || {
            if let Some(StateNote(state)) = inner.settle_now(sequence, how, answer.as_ref()) {
                inner.ledger.note(Event::State(StateRecord { step: sequence, state: state.into() }));
            }
        });
        None
    }

    fn settle_now(&self, sequence: u64, how: Settled, answer: Option<&Answered>) -> Option<StateNote> {
        self.settled(self.ledger.settle(&self.key, sequence, &ended(how, answer)))
    }

    fn settled(&self, settled: Result<Option<StateNote>, LedgerFailure>) -> Option<StateNote> {
        settled.unwrap_or_else(|failure| {
            self.log.say(Level::Error, &failure.to_string());
            None
        })
    }

    /// A step that was to be sent was not.
    pub(super) fn undo(self: &Arc<Self>, sequence: u64) {
        let inner = Arc::clone(self);
        // Dropped with its runtime there is nobody left to count for.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) if self.is_deciding() => {
                self.writing.spawn_blocking_on(move || inner.ledger.undo(&inner.key, sequence), &runtime);
            }
            _ => self.ledger.undo(&self.key, sequence),
        }
    }

    /// How a call that was to be sent ended. `answer`: as it came, and how it is edited on its way.
    pub(super) fn note_end(
        &self,
        sent: &Sent,
        how: event::How,
        answer: Option<(&Frame, Option<&Edits>)>,
        heard: Option<u64>,
        state: Option<StateNote>,
    ) {
        let out = answer.and_then(|(frame, edits)| edits?.apply(frame).ok());
        self.ledger.note(Event::End(EndRecord {
            frame: answer.map(|(frame, _)| frame.bytes().clone()),
            out: out.map(Frame::into_bytes),
            is_unsent: how == event::How::Cancelled && !sent.is_out,
            heard,
            state: state.map(|StateNote(state)| state.into()),
            ..EndRecord::new(sent.sequence, how, micros(sent.since))
        }));
    }
}

pub(super) fn how_ended(how: Ended) -> event::How {
    match how {
        Ended::Cancelled => event::How::Cancelled,
        Ended::SenderGone | Ended::PeerGone | Ended::Replaced => event::How::Lost,
        Ended::TooLong => event::How::TooLong,
        Ended::Unreadable => event::How::Unreadable,
    }
}

pub(super) fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc;

    use std::time::Duration;

    use framegate_guard::json::Document;
    use framegate_guard::ledger::{Ledger as _, MemoryLedger, SessionKey, Snapshot, Step};
    use framegate_guard::policy::Policy;
    use framegate_guard::session::Session;
    use framegate_guard::{Call, Facts, Guard};

    use super::*;
    use crate::bridge::{BridgeSettings, Disk};
    use crate::calls::{CallLog, LogFormat};
    use crate::child::ServerName;
    use crate::stderr::Stderr;

    fn bridge(ledger: &Arc<MemoryLedger>) -> Arc<Bridge> {
        let policy = Policy::load("p.yaml", b"framegate: 1\ndefault: allow\n", &mut |_| Err(String::new()));
        Bridge::new(BridgeSettings {
            context: crate::context::ContextSettings::default(),
            programs: crate::program::Programs::default(),
            guard: Guard::new(policy.unwrap().policy, "s", Facts::default()),
            ledger: Arc::<MemoryLedger>::clone(ledger),
            key: SessionKey { principal: "p".into(), name: "s".into() },
            world: Arc::new(Disk::new(Path::new("."))),
            log: Arc::new(CallLog::new(Stderr::start(), ServerName::given("s"), Level::Off, LogFormat::Text)),
            noise: None,
            without_policy: false,
            annotates: false,
            ask: crate::approve::AskSettings::default(),
        })
        .unwrap()
    }

    #[tokio::test]
    async fn an_answer_that_comes_while_a_decision_has_the_ledger_does_not_wait_for_it() {
        let ledger = Arc::new(MemoryLedger::default());
        let inner = Arc::clone(&bridge(&ledger).inner);
        let (let_go, held) = mpsc::channel::<()>();
        let (has_it, taken) = mpsc::channel();
        let (of, key, guard) = (Arc::clone(&ledger), inner.key.clone(), inner.guard());
        inner.deciding.fetch_add(1, Ordering::Relaxed);
        let deciding = std::thread::spawn(move || {
            of.step(&key, &mut |past: &Snapshot<'_>| {
                has_it.send(()).unwrap();
                held.recv().unwrap();
                let none = Document::empty_object();
                let call = Call { tool: "t", id: None, arguments: none.root() };
                let decision = guard.decide(&call, &Session::default(), past, &Disk::new(Path::new(".")));
                Step { decision: Arc::new(decision), is_sent: false, record: None }
            })
        });
        taken.recv().unwrap();
        let since = Instant::now();
        let sent = Sent { sequence: 1, tool: "t".into(), since, is_out: true, receipt: None, fill: None };
        inner.open().insert(Ticket(1), sent);
        assert!(inner.settle(Ticket(1), Settled::Done, None).is_some());
        assert!(since.elapsed() < Duration::from_secs(1));
        let_go.send(()).unwrap();
        deciding.join().unwrap().unwrap();
    }
}
