//! Where a tool output comes from.

use std::sync::Arc;

use bytes::Bytes;

/// By which way an output reached the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputKind {
    /// What the user wrote in answer to a question of the server's, where the policy lets it count (`context.answers`): their
    /// words, though none of the conversation's, and no word of the question.
    Answer,
    /// An error, of the protocol or the tool's own.
    Error,
    /// What the user wrote into a form that was shown to them here: their words, though none of the conversation's.
    Form,
    /// What the server said unasked, as in its log. What it carries counts; it supports no value, and any number of it
    /// pushes nothing out of a window.
    Notice,
    /// A prompt that the client fetched.
    Prompt,
    /// A resource that the client read.
    Resource,
    /// A call's result: its texts, embedded resources, links, structured content, joined, so that nothing hides
    /// in the seam between two of them.
    #[default]
    Result,
    /// What the server said beside the results of calls: of a task, of itself. What it carries counts; it supports no
    /// value, since nobody knows which call's arguments it says back.
    Server,
    /// A line of the server's that only some readers take for an answer.
    Unread,
}

impl OutputKind {
    /// All of them by name, as a record has it.
    pub const NAMES: [(&'static str, OutputKind); 9] = [
        ("answer", OutputKind::Answer),
        ("error", OutputKind::Error),
        ("form", OutputKind::Form),
        ("notice", OutputKind::Notice),
        ("prompt", OutputKind::Prompt),
        ("resource", OutputKind::Resource),
        ("result", OutputKind::Result),
        ("server", OutputKind::Server),
        ("unread", OutputKind::Unread),
    ];

    /// Its name in a record.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, kind)| *kind == self).map_or("result", |(name, _)| name)
    }

    /// The user wrote it, and not in the conversation.
    #[must_use]
    pub fn is_typed(self) -> bool {
        matches!(self, OutputKind::Answer | OutputKind::Form)
    }

    /// The kind of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<OutputKind> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }
}

/// Where a tool output, or another word from outside of the conversation, comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The tool, the resource's address, or the prompt's name.
    pub name: Arc<str>,
    /// By which way.
    pub kind: OutputKind,
    /// What the server says of the tool: that it changes nothing. A hint, never a proof.
    pub read_only: Option<bool>,
    /// JSON text of what it may only say back, which supports no value here: the call's own arguments; of an answer the
    /// question, its names and texts.
    pub arguments: Option<Bytes>,
}

impl Origin {
    /// The result of a call of this tool.
    #[must_use]
    pub fn tool(name: &str) -> Origin {
        Origin::new(OutputKind::Result, name)
    }

    /// What came by that way.
    #[must_use]
    pub fn new(kind: OutputKind, name: &str) -> Origin {
        Origin { name: name.into(), kind, read_only: None, arguments: None }
    }

    /// With the call's arguments: what it only says back supports no value.
    #[must_use]
    pub fn called_with(self, arguments: Bytes) -> Origin {
        Origin { arguments: Some(arguments), ..self }
    }

    /// With what the server says of the tool.
    #[must_use]
    pub fn read_only(self, read_only: Option<bool>) -> Origin {
        Origin { read_only, ..self }
    }

    /// What stands before the words in a conversation's text. It is nobody's words: a tool called `system` would
    /// begin every output with a role, and its own name would support a value.
    pub(super) fn head(&self) -> String {
        if self.kind.is_typed() { String::new() } else { format!("{}: ", self.name) }
    }

    /// For people: `the output of `fetch``.
    #[must_use]
    pub fn shown(&self) -> String {
        let name = crate::refusal::plain::line(&self.name, crate::refusal::NAME_CHARS_MAX);
        match self.kind {
            OutputKind::Answer => format!("what the user answered to the server (`{name}`)"),
            OutputKind::Error => format!("an error of `{name}`"),
            OutputKind::Form => format!("what the user filled in for `{name}`"),
            OutputKind::Notice => format!("what the server said unasked (`{name}`)"),
            OutputKind::Prompt => format!("the prompt `{name}`"),
            OutputKind::Resource => format!("the resource `{name}`"),
            OutputKind::Result => format!("the output of `{name}`"),
            OutputKind::Server => format!("what the server said of `{name}`"),
            OutputKind::Unread => "a line of the server".to_owned(),
        }
    }
}
