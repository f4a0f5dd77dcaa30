//! Conversation messages of every model API, as who said what.
//!
//! What counts as the user's words is narrow, because a value that the user gave may be trusted where others may
//! not: in a user message only a plain string and blocks of text are the user's. Whatever else stands there, a
//! document, an image's caption, a tool's result, is read as a tool output; a summary that a framework wrote in
//! the user's place, and the guard's own notes, as the assistant's.
//!
//! ```
//! use framegate_guard::json::{Document, Limits};
//! use framegate_guard::messages::{Conversation, Role};
//! let context = Document::read(
//!     r#"[{"role":"user","content":[{"type":"text","text":"pay it"},
//!         {"type":"tool_result","tool_use_id":"t","content":"total: 5"}]}]"#.into(),
//!     &Limits::default())?;
//! let conversation = Conversation::read(context.root());
//! assert_eq!(conversation.text(), "[user] pay it\n[tool] total: 5");
//! assert_eq!(conversation.user_request(), "pay it");
//! assert_eq!(conversation.spans()[1].role, Role::Tool);
//! # Ok::<(), framegate_guard::json::Fault>(())
//! ```

mod block;
mod conversation;
mod kind;
mod outcome;
mod result;
mod said;

use std::fmt;

use crate::json::{Kind, Value};

pub use block::text_of;
pub use conversation::{Conversation, Span};
pub use outcome::{says_error, structured, task_outcome, tool_result};
pub use result::result_text;
pub use said::{as_written, heard_error, heard_text};

/// Begins a note that the guard itself puts into a conversation (see [`crate::refusal`]). Chat APIs take such a
/// note only in the role of the user; read back, nothing beside this mark is the user's words.
pub const GUARD_NOTE: &str = "[framegate guard: this note is not from the user]";

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The model.
    Assistant,
    /// Who deployed the agent.
    System,
    /// A tool's output, or anything of unsure origin.
    Tool,
    /// The person.
    User,
}

impl Role {
    /// The role that an API's name stands for, in any letter case.
    #[must_use]
    pub fn named(name: &str) -> Option<Role> {
        Some(match name.to_lowercase().as_str() {
            "user" | "human" => Role::User,
            "assistant" | "ai" | "model" => Role::Assistant,
            "tool" | "function" | "function_call_output" | "tool_result" => Role::Tool,
            "system" | "developer" => Role::System,
            _ => return None,
        })
    }

    /// `user`, `assistant`, `tool` or `system`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Role::Assistant => "assistant",
            Role::System => "system",
            Role::Tool => "tool",
            Role::User => "user",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Words with the one who said them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who.
    pub role: Role,
    /// What; not empty when it was read from a conversation.
    pub text: String,
}

impl Message {
    /// Who and what.
    #[must_use]
    pub fn parts(&self) -> (Role, &str) {
        (self.role, &self.text)
    }
}

/// Reads a conversation: a string is one message of the user, a list holds objects as model APIs know them, or
/// pairs of role and content. What cannot be read says nothing, thus supports no value.
#[must_use]
pub fn read(context: Value<'_>) -> Vec<Message> {
    if let Some(text) = context.as_str() {
        return vec![Message { role: Role::User, text: text.to_owned() }];
    }
    context.items().flat_map(read_one).collect()
}

/// Reads one message of a list: none, one, or several where its blocks have several origins.
#[must_use]
pub fn read_one(message: Value<'_>) -> Vec<Message> {
    let parts = match message.kind() {
        Kind::Array if message.len() == 2 => pair(message),
        Kind::Object => object(message),
        _ => return Vec::new(),
    };
    let said = |(role, text): (Option<Role>, String)| Some(Message { role: role?, text });
    parts.into_iter().filter_map(said).filter(|message| !message.text.is_empty()).collect()
}

fn pair(message: Value<'_>) -> Vec<(Option<Role>, String)> {
    let mut items = message.items();
    let role = items.next().and_then(Value::as_str).and_then(Role::named);
    block::parts(role, items.next())
}

fn object(message: Value<'_>) -> Vec<(Option<Role>, String)> {
    if kind::is_tool_output(message.get("type")) || kind::answers_a_call(message) {
        return block::parts(Some(Role::Tool), present(message, "content").or(message.get("output")));
    }
    let named = message.get("role").filter(|role| kind::says_something(*role)).or(message.get("type"));
    let role = match named.and_then(Value::as_str).and_then(Role::named) {
        Some(Role::User) if kind::is_generated(message) => Some(Role::Assistant),
        role => role,
    };
    block::parts(role, message.get("content"))
}

/// A member that is there and not `null`.
fn present<'a>(object: Value<'a>, name: &str) -> Option<Value<'a>> {
    object.get(name).filter(|member| !member.is_null())
}

#[cfg(test)]
mod tests;
