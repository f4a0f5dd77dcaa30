//! One question, put on the desk.

use std::sync::Arc;
use std::time::Duration;

use framegate_guard::decision::Decision;
use framegate_guard::ledger::SessionKey;
use framegate_guard::policy::Remember;

use super::body::Body;
use super::file::now_ms;
use super::row::State;
use super::run::Desk;
use crate::approve::{Answered, Asker, Asking, Question, Reply};

/// The clock of the limit began a little before that of the desk.
const NEAR_MS: i64 = 250;

/// Asks whoever sits at a terminal.
pub(crate) struct TerminalAsker {
    pub(crate) desk: Arc<Desk>,
    pub(crate) key: SessionKey,
    pub(crate) decision: Arc<Decision>,
    pub(crate) remember: Remember,
    pub(crate) limit: Duration,
}

impl Asker for TerminalAsker {
    fn ask(&self, _: Question) -> Asking {
        let desk = Arc::clone(&self.desk);
        let (key, decision) = (self.key.clone(), Arc::clone(&self.decision));
        let (remember, limit) = (self.remember, self.limit);
        Box::pin(async move {
            let until_ms = now_ms().saturating_add(i64::try_from(limit.as_millis()).unwrap_or(i64::MAX));
            // Made elsewhere: arguments may be of megabytes.
            let made = tokio::task::spawn_blocking(move || Body::of(&decision, &key, remember, until_ms));
            let body = match made.await {
                Ok(Ok(body)) => body,
                Ok(Err(why)) => return Reply::Unavailable(why).into(),
                Err(panicked) => return Reply::Unavailable(panicked.to_string()).into(),
            };
            let (number, answered) = desk.ask(body, limit);
            let mut lies = Lies { desk, number, until_ms, is_over: false };
            let answered = answered.await;
            lies.is_over = true;
            answered.unwrap_or_else(|_| Answered::from(Reply::Unavailable("the session ends".into())))
        })
    }

    fn who(&self) -> &str {
        "the approver"
    }
}

/// Takes the question off the desk when nobody waits for its answer any more.
struct Lies {
    desk: Arc<Desk>,
    number: u64,
    until_ms: i64,
    is_over: bool,
}

impl Drop for Lies {
    fn drop(&mut self) {
        if !self.is_over {
            let is_late = now_ms().saturating_add(NEAR_MS) >= self.until_ms;
            self.desk.close(self.number, if is_late { State::Late } else { State::Withdrawn });
        }
    }
}
