//! A guard, a ledger and a clock: calls that are sent, and answers that come or do not.

#![expect(clippy::unwrap_used, reason = "a failing test may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use framegate_guard::json::{Document, Limits};
use framegate_guard::ledger::{
    Ended, Ledger as _, MemoryLedger, Remembered, Said, SessionKey, Settled, Snapshot, Step,
};
use framegate_guard::policy::Policy;
use framegate_guard::session::Session;
use framegate_guard::world::{Instant, Unknown, World};
use framegate_guard::{Call, Decision, Facts, Guard, Outcome};

/// One hour of the clock.
pub(crate) const HOUR: i64 = 3_600_000_000;

pub(crate) struct Clock(pub AtomicI64);

impl World for Clock {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        Ok(path.to_owned())
    }

    fn now(&self) -> Result<Instant, Unknown> {
        Ok(Instant(self.0.load(Ordering::Relaxed)))
    }
}

/// What an answer says.
pub(crate) struct Answer {
    pub(crate) is_error: bool,
    pub(crate) text: String,
    pub(crate) structured: Option<Arc<Document>>,
}

impl Said for Answer {
    fn is_error(&self) -> bool {
        self.is_error
    }

    fn text(&self) -> Arc<str> {
        self.text.as_str().into()
    }

    fn structured(&self) -> Option<Arc<Document>> {
        self.structured.clone()
    }
}

pub(crate) struct Rig {
    pub(crate) guard: Guard,
    pub(crate) ledger: MemoryLedger,
    pub(crate) key: SessionKey,
    pub(crate) clock: Clock,
}

/// A call that was decided, and where it stands.
pub(crate) struct Made {
    pub(crate) decision: Arc<Decision>,
    pub(crate) sequence: u64,
}

impl Made {
    pub(crate) fn outcome(&self) -> Outcome {
        self.decision.outcome
    }

    pub(crate) fn reasons(&self) -> String {
        self.decision.findings.iter().map(|finding| finding.reason.as_str()).collect::<Vec<_>>().join("\n")
    }
}

pub(crate) fn load(text: &str) -> Policy {
    let text = format!("framegate: 1\ndefault: allow\n{text}");
    let loaded = Policy::load("p.yaml", text.as_bytes(), &mut |_| Err("no files here".into()));
    loaded.map_err(|errors| errors.to_string()).unwrap().policy
}

impl Rig {
    pub(crate) fn new(text: &str) -> Rig {
        Rig {
            guard: Guard::new(load(text), "s", Facts::default()),
            ledger: MemoryLedger::default(),
            key: SessionKey { principal: "p".into(), name: "s".into() },
            clock: Clock(AtomicI64::new(1_000 * HOUR)),
        }
    }

    pub(crate) fn pass(&self, micros: i64) {
        self.clock.0.fetch_add(micros, Ordering::Relaxed);
    }

    /// Decides, and sends what is allowed.
    pub(crate) fn call(&self, tool: &str, arguments: &str) -> Made {
        self.call_if(tool, arguments, |outcome| outcome == Outcome::Allow)
    }

    pub(crate) fn call_if(&self, tool: &str, arguments: &str, is_sent: impl Fn(Outcome) -> bool) -> Made {
        let arguments = Document::read(arguments.to_owned().into(), &Limits::default()).unwrap();
        let call = Call { tool, id: None, arguments: arguments.root() };
        let mut decide = |past: &Snapshot<'_>| {
            let decision = self.guard.decide(&call, &Session::default(), past, &self.clock);
            let is_sent = is_sent(decision.outcome);
            Step { decision: Arc::new(decision), is_sent, record: None }
        };
        let receipt = self.ledger.step(&self.key, &mut decide).unwrap().wait().unwrap();
        Made { decision: receipt.decision, sequence: receipt.sequence }
    }

    /// The outcome of a call that ends well at once.
    pub(crate) fn run(&self, tool: &str, arguments: &str) -> Outcome {
        let made = self.call(tool, arguments);
        self.done(&made, "");
        made.outcome()
    }

    pub(crate) fn done(&self, made: &Made, text: &str) -> Option<String> {
        let answer = Answer { is_error: false, text: text.to_owned(), structured: None };
        self.settle(made, Settled::Done, Some(&answer))
    }

    pub(crate) fn failed(&self, made: &Made, text: &str) -> Option<String> {
        let answer = Answer { is_error: true, text: text.to_owned(), structured: None };
        self.settle(made, Settled::Failed, Some(&answer))
    }

    pub(crate) fn lost(&self, made: &Made) -> Option<String> {
        self.settle(made, Settled::Lost, None)
    }

    /// What that changed.
    pub(crate) fn settle(&self, made: &Made, how: Settled, answer: Option<&Answer>) -> Option<String> {
        let noted: serde_json::Value = serde_json::from_str(&self.ends(made, how, answer)?).unwrap();
        noted.get("after").map(ToString::to_string)
    }

    /// What the record of its end says.
    pub(crate) fn ends(&self, made: &Made, how: Settled, answer: Option<&Answer>) -> Option<String> {
        let ended = Ended { how, answer: answer.map(|answer| answer as &dyn Said) };
        self.ledger.settle(&self.key, made.sequence, &ended).unwrap().map(|note| note.0)
    }

    /// Everything that was ever given a value, as it is kept.
    pub(crate) fn state(&self) -> String {
        let mut state = String::new();
        let look = &mut |past: &Snapshot<'_>| {
            state = match past.remembered() {
                Remembered::Native(kept) => framegate_guard::state::encode(kept.values()),
                _ => "{}".to_owned(),
            };
            let none = Document::empty_object();
            let decision = Decision::refused("t", None, none.root(), "look", "only looking");
            Step { decision: Arc::new(decision), is_sent: false, record: None }
        };
        self.ledger.step(&self.key, look).unwrap();
        state
    }
}
