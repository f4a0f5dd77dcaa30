//! What the log says of a call under a policy of praxiom.

use framegate_guard::decision::Decision;
use framegate_guard::json::Value;
use framegate_guard::ledger::StateNote;
use framegate_guard::praxiom::audit::{Arguments, Event, arguments};
use framegate_guard::{Guard, Outcome};
use framegate_pump::Ticket;
use serde::Deserialize;

use super::shared::Inner;
use crate::calls::{Audit, LogArguments};

impl Inner {
    /// A decision, for the call's line.
    pub(super) fn audited(&self, ticket: Ticket, guard: &Guard, decision: &Decision, of: Option<Value<'_>>) {
        let Some(shows) = self.log.audits() else { return };
        let Some(transition) = decision.transition.as_ref().and_then(|all| all.praxiom()) else { return };
        let shows = match shows {
            LogArguments::None => Arguments::None,
            LogArguments::Redacted => Arguments::Redacted,
            LogArguments::Full => Arguments::Full,
        };
        let policy = transition.policy();
        let reasons = || decision.reasons().collect::<Vec<_>>().join("; ");
        let is_refused = decision.would != Outcome::Allow;
        let (event, detail) = match transition.actions() {
            _ if is_refused && guard.is_monitoring() => (Event::Pass, format!("would deny: {}", reasons())),
            _ if is_refused => (Event::Deny, reasons()),
            Some(actions) => {
                (Event::Allow, format!("[{}] {}", actions.join(", "), policy.shown(transition.next())))
            }
            None => (Event::Pass, "no policy action covers this tool".to_owned()),
        };
        let tool = transition.tool().to_owned();
        self.log.audited(ticket, Audit { event, tool, arguments: arguments(of, shows), detail });
    }

    /// What its answer did to the state.
    pub(super) fn audit_answer(&self, ticket: Ticket, note: &StateNote) {
        #[derive(Deserialize)]
        struct Note {
            praxiom: Engine,
        }
        #[derive(Deserialize)]
        struct Engine {
            actions: Vec<String>,
            changed: bool,
            shown: String,
            violated: Vec<String>,
        }
        let Ok(Note { praxiom: Engine { actions, changed, shown, violated } }) =
            serde_json::from_str(&note.0)
        else {
            return;
        };
        if changed && !actions.is_empty() {
            self.log.audit_detail(ticket, format!("[{}] result → {shown}", actions.join(", ")));
        }
        if !violated.is_empty() {
            let text = format!(
                "the answer left a state that violates {}: every call that an action covers is refused until it \
                 is another one",
                violated.join(", ")
            );
            self.log.say(crate::calls::Level::Warn, &text);
        }
    }
}
