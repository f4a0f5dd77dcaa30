//! Requests that are no calls: `methods:` and `server_requests:`.

use super::Guard;
use crate::cel::Budget;
use crate::check::env::CallEnv;
use crate::decision::Outcome;
use crate::json::{Document, Value};
use crate::policy::{Otherwise, Passage};
use crate::refusal::{NAME_CHARS_MAX, REASON_CHARS_MAX, plain};
use crate::session::Session;
use crate::world::World;

/// A request that is no call.
#[derive(Debug, Clone, Copy)]
pub struct MethodCall<'a> {
    /// The method.
    pub method: &'a str,
    /// Its params.
    pub params: Option<Value<'a>>,
    /// The server sent it; otherwise the client did.
    pub is_servers: bool,
}

/// What becomes of a request that is no call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruled {
    /// What is to happen.
    pub outcome: Outcome,
    /// What would happen if nothing were set to *monitor*; `outcome <= would`.
    pub would: Outcome,
    /// Why, for people; empty when it passes.
    pub text: String,
}

impl Guard {
    /// Decides on a request that is no call, by `methods:` and `server_requests:`.
    #[must_use]
    pub fn method(&self, call: &MethodCall<'_>, session: &Session, world: &dyn World) -> Ruled {
        self.method_within(call, session, world, &mut Budget::default())
    }

    /// [`Guard::method`] within what is left for several requests that come in one message.
    #[must_use]
    pub fn method_within(
        &self,
        call: &MethodCall<'_>,
        session: &Session,
        world: &dyn World,
        budget: &mut Budget,
    ) -> Ruled {
        let (would, text) = self.rule_on(call, session, world, budget);
        Ruled { outcome: if self.is_monitoring() { Outcome::Allow } else { would }, would, text }
    }

    fn rule_on(
        &self,
        call: &MethodCall<'_>,
        session: &Session,
        world: &dyn World,
        budget: &mut Budget,
    ) -> (Outcome, String) {
        let methods = if call.is_servers { self.policy.server_requests() } else { self.policy.methods() };
        let ruling = match methods.of(call.method) {
            Passage::Pass => return (Outcome::Allow, String::new()),
            Passage::Deny => {
                return (Outcome::Deny, format!("the policy does not let `{}` pass", name(call.method)));
            }
            Passage::Ruled(ruling) => ruling,
        };
        let none = Document::empty_object();
        let mut env =
            CallEnv::new((&self.policy, &self.server, ""), none.root(), &self.facts, session, world);
        env.params = Some(call.params.unwrap_or(none.root()));
        env.method = call.method;
        let value = ruling.that.expression.evaluate(&env, budget).and_then(|value| value.condition());
        let (outcome, why) = match value {
            Ok(true) => return (Outcome::Allow, String::new()),
            Ok(false) if ruling.because.is_empty() => {
                (outcome_of(ruling.otherwise), format!("`{}` does not hold", ruling.that.expression.source()))
            }
            Ok(false) => (outcome_of(ruling.otherwise), ruling.because.clone()),
            Err(failure) => {
                let message = plain::line(&failure.message, REASON_CHARS_MAX);
                let why = format!("the policy's ruling cannot be evaluated: {message}");
                (Outcome::Ask, why)
            }
        };
        (outcome, format!("`{}` was not passed on: {why}", name(call.method)))
    }
}

fn outcome_of(otherwise: Otherwise) -> Outcome {
    match otherwise {
        Otherwise::Ask => Outcome::Ask,
        Otherwise::Deny => Outcome::Deny,
    }
}

/// A method in a sentence: one visible line, cut.
fn name(method: &str) -> String {
    plain::line(method, NAME_CHARS_MAX)
}
