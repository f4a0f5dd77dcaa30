//! A conversation as one text, with who said which part of it.

use std::ops::Range;

use super::{Message, Role, read};
use crate::json::Value;

/// Whose words a part of the text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Who.
    pub role: Role,
    /// The part in bytes.
    pub bytes: Range<usize>,
    /// The part in code points: the offsets that evidence shows to people and records keep.
    pub chars: Range<usize>,
}

/// A conversation as rules and matchers read it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conversation {
    text: String,
    spans: Vec<Span>,
    user_request: String,
}

impl Conversation {
    /// A text that is all the user's.
    #[must_use]
    pub fn plain(text: &str) -> Conversation {
        let span = Span { role: Role::User, bytes: 0..text.len(), chars: 0..text.chars().count() };
        Conversation { text: text.to_owned(), spans: vec![span], user_request: text.to_owned() }
    }

    /// A string is [`Conversation::plain`], a list its messages.
    #[must_use]
    pub fn read(context: Value<'_>) -> Conversation {
        match context.as_str() {
            Some(text) => Conversation::plain(text),
            None => Conversation::of(read(context).iter().map(Message::parts)),
        }
    }

    /// One message after the other, `[role] ` before each.
    #[must_use]
    pub fn of<'a>(messages: impl IntoIterator<Item = (Role, &'a str)>) -> Conversation {
        let mut all = Conversation::default();
        let mut chars = 0;
        let mut requests = Vec::new();
        for (role, text) in messages {
            if !all.spans.is_empty() {
                all.text.push('\n');
                chars += 1;
            }
            let head = format!("[{role}] ");
            all.text.push_str(&head);
            chars += head.len();
            let start = all.text.len();
            all.text.push_str(text);
            let end_chars = chars + text.chars().count();
            all.spans.push(Span { role, bytes: start..all.text.len(), chars: chars..end_chars });
            chars = end_chars;
            if role == Role::User {
                requests.push(text);
            }
        }
        all.user_request = requests.join("\n");
        all
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whose words its parts are; the `[role] ` heads are nobody's.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The user's messages, line by line.
    #[must_use]
    pub fn user_request(&self) -> &str {
        &self.user_request
    }
}
