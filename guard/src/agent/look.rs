//! What can be asked of an agent.

use serde_json::Value as Json;

use super::Agent;
use crate::call_shape::CallShape;
use crate::decision::Decision;
use crate::definition::CheckInfo;
use crate::guard::Guard;
use crate::json::Fault;
use crate::refusal::ReplyRole;
use crate::session::Session;
use crate::trace::{Replayed, Trace};

impl Agent {
    /// What was said and done.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The guard, with the listed tools.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Decides again what was decided, from the record alone.
    ///
    /// # Errors
    /// [`Fault`] when the recorded arguments cannot be read.
    pub fn replay(&self, trace: &Trace) -> Result<Replayed, Fault> {
        self.guard.replay(trace)
    }

    /// A tool as a model is shown it, with the rules its calls are held to.
    #[must_use]
    pub fn definition(&self, tool: &str, shape: CallShape) -> Option<String> {
        self.guard.definition(tool, shape)
    }

    /// The checks that a tool's calls pass through, in deciding order.
    #[must_use]
    pub fn checks_of(&self, tool: &str) -> Vec<CheckInfo> {
        self.guard.checks_of(tool)
    }

    /// What a refused call says to the model.
    #[must_use]
    pub fn message(&self, decision: &Decision) -> String {
        self.guard.message(decision)
    }

    /// What the model should do next, alone.
    #[must_use]
    pub fn advice(&self, decision: &Decision) -> String {
        self.guard.advice(decision)
    }

    /// The message that brings a refused call back into a conversation of that shape; for a call without an id,
    /// which stands for a reply of the agent's own, a note in `role`.
    #[must_use]
    pub fn feedback(&self, decision: &Decision, shape: CallShape, role: ReplyRole, reply: &str) -> Json {
        let id = decision.call_id.as_deref();
        self.guard.with_refusal(decision, |refusal| refusal.feedback(shape, id, role, reply))
    }
}
