//! How a refusal comes back into a conversation.

use serde_json::{Value as Json, json};

use super::language::Key;
use super::{REPLY_CHARS_MAX, Refusal, plain};
use crate::call_shape::CallShape;
use crate::messages::GUARD_NOTE;

/// The role of a note about a refused reply. Every chat API takes `user` in mid-conversation; some take the
/// others. What it says is never the user's: [`crate::messages`] knows the note by its mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplyRole {
    /// `developer`
    Developer,
    /// `system`
    System,
    /// `user`
    #[default]
    User,
}

impl ReplyRole {
    fn name(self) -> &'static str {
        match self {
            ReplyRole::Developer => "developer",
            ReplyRole::System => "system",
            ReplyRole::User => "user",
        }
    }
}

impl Refusal<'_> {
    /// What answers a refused call of that shape, with the call's own id. For MCP it is the result of the
    /// request, whose id is the envelope's.
    #[must_use]
    pub fn call_result(&self, shape: CallShape, id: &str) -> Json {
        let text = self.message();
        let tool = self.tool;
        match shape {
            CallShape::Anthropic => json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "is_error": true, "content": text}]}),
            CallShape::LangChain => {
                json!({"type": "tool", "tool_call_id": id, "name": tool, "status": "error", "content": text})
            }
            CallShape::Mcp => json!({"content": [{"type": "text", "text": text}], "isError": true}),
            CallShape::OpenAiChat => {
                json!({"role": "tool", "tool_call_id": id, "name": tool, "content": text})
            }
            CallShape::OpenAiResponses => {
                json!({"type": "function_call_output", "call_id": id, "output": text})
            }
        }
    }

    /// The note about a refused reply of the agent's own: from the guard and not from the user, who has not seen
    /// the reply.
    #[must_use]
    pub fn reply_note(&self, role: ReplyRole, reply: &str) -> Json {
        let reply = plain::line(reply, REPLY_CHARS_MAX);
        let text = self.language.text(Key::ReplyRefused, &[("reply", &reply), ("message", &self.message())]);
        json!({"role": role.name(), "content": format!("{GUARD_NOTE} {text}")})
    }

    /// [`Refusal::call_result`] for a call with an id, else [`Refusal::reply_note`]: an agent's reply is checked
    /// as a call without one.
    #[must_use]
    pub fn feedback(&self, shape: CallShape, id: Option<&str>, role: ReplyRole, reply: &str) -> Json {
        match id {
            Some(id) => self.call_result(shape, id),
            None => self.reply_note(role, reply),
        }
    }
}
