//! What a session keeps between decisions: a window of the conversation, and the calls made in it.
//!
//! Whatever leaves the window supports no value any more, and a message longer than the window is cut. (What a
//! message was judged to carry before the cut has its place in `Kept`.)

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, OnceLock};

use crate::messages::{Conversation, Message, Role};
use crate::proposal::CallKey;

/// What stands at the end of a message that was cut.
const CUT: &str = "\n[…]";

/// How much of a conversation is kept; 0 is all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Messages and tool outputs.
    pub max_messages: usize,
    /// Code points of them, in all.
    pub max_chars: usize,
}

impl Default for Window {
    fn default() -> Window {
        Window { max_messages: 50, max_chars: 100_000 }
    }
}

/// One message in the window.
#[derive(Debug, Clone)]
struct Kept {
    /// `None`: of a role nobody knows. It takes its place in the window, and is no one's words.
    role: Option<Role>,
    text: String,
    /// Code points of `text`.
    chars: usize,
}

/// The window and the calls made.
#[derive(Debug, Clone, Default)]
pub struct Session {
    window: Window,
    /// Oldest first; `kept.len() <= window.max_messages`.
    kept: VecDeque<Kept>,
    /// Sum of `kept`'s code points; at most `window.max_chars`.
    chars: usize,
    /// How many messages were added, those that have left the window too.
    heard: u64,
    unheard: Option<Arc<str>>,
    made: BTreeSet<CallKey>,
    /// Put together when it is first asked for, forgotten with each message.
    conversation: OnceLock<Arc<Conversation>>,
}

impl Session {
    /// Nothing said, nothing done.
    #[must_use]
    pub fn new(window: Window) -> Session {
        Session { window, ..Session::default() }
    }

    /// How much it keeps.
    #[must_use]
    pub fn window(&self) -> Window {
        self.window
    }

    /// How many messages were added, those that have left the window too: a record says by it what a decision
    /// had heard.
    #[must_use]
    pub fn heard(&self) -> u64 {
        self.heard
    }

    /// Nobody kept what was said, and why: a rule that reads it cannot be evaluated. An empty conversation would be
    /// a claim that nothing was said.
    pub fn set_unheard(&mut self, why: &str) {
        self.unheard = Some(why.into());
    }

    /// Why it is not known what was said, where it is not.
    #[must_use]
    pub fn unheard(&self) -> Option<&str> {
        self.unheard.as_deref()
    }

    /// Adds a message.
    pub fn add(&mut self, message: Message) {
        self.push(Some(message.role), message.text);
    }

    /// Adds a message whose role may be one that nobody knows.
    pub fn push(&mut self, role: Option<Role>, text: String) {
        let kept = cut(role, text, self.window.max_chars);
        self.heard += 1;
        self.chars += kept.chars;
        self.kept.push_back(kept);
        self.conversation = OnceLock::new();
        while self.too_many() || self.kept.len() > 1 && self.too_long() {
            let oldest = self.kept.pop_front();
            self.chars -= oldest.map_or(0, |oldest| oldest.chars);
        }
    }

    /// Adds what a tool gave, its name before it.
    pub fn tool_output(&mut self, tool: &str, text: &str) {
        // One character more than fits, so that the cut shows; a result may be many megabytes.
        let end = match self.window.max_chars {
            0 => None,
            max => text.char_indices().nth(max.saturating_add(1)),
        };
        let text = end.and_then(|(at, _)| text.get(..at)).unwrap_or(text);
        self.push(Some(Role::Tool), format!("{tool}: {text}"));
    }

    fn too_many(&self) -> bool {
        self.window.max_messages != 0 && self.kept.len() > self.window.max_messages
    }

    fn too_long(&self) -> bool {
        self.window.max_chars != 0 && self.chars > self.window.max_chars
    }

    /// The messages in the window, oldest first; `None` for a role nobody knows.
    pub fn messages(&self) -> impl Iterator<Item = (Option<Role>, &str)> {
        self.kept.iter().map(|kept| (kept.role, kept.text.as_str()))
    }

    /// What rules read as `conversation` and `user_request`.
    #[must_use]
    pub fn conversation(&self) -> Arc<Conversation> {
        let said = || self.kept.iter().filter_map(|kept| Some((kept.role?, kept.text.as_str())));
        Arc::clone(self.conversation.get_or_init(|| Arc::new(Conversation::of(said()))))
    }

    /// Counts a call as made: from when it may run, since a lost answer does not prove that nothing ran.
    pub fn record_made(&mut self, call: CallKey) {
        self.made.insert(call);
    }

    /// Takes a call off the list again: it is known to have failed and may be tried again.
    pub fn forget_made(&mut self, call: &CallKey) {
        self.made.remove(call);
    }

    /// Whether this very call was made.
    #[must_use]
    pub fn is_made(&self, call: &CallKey) -> bool {
        self.made.contains(call)
    }

    /// The calls made, each once.
    pub fn made(&self) -> impl Iterator<Item = &CallKey> {
        self.made.iter()
    }
}

/// At most `max_chars` of a text (0: all), with a mark where it ends early.
fn cut(role: Option<Role>, mut text: String, max_chars: usize) -> Kept {
    if max_chars == 0 || text.char_indices().nth(max_chars).is_none() {
        let chars = text.chars().count();
        return Kept { role, text, chars };
    }
    let mark: String = CUT.chars().take(max_chars).collect();
    let head = max_chars - mark.chars().count();
    let end = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
    text.truncate(end);
    text.push_str(&mark);
    text.shrink_to_fit();
    Kept { role, text, chars: max_chars }
}

#[cfg(test)]
mod tests {
    use super::{Session, Window};
    use crate::json::Document;
    use crate::messages::{Message, Role};
    use crate::proposal::CallKey;

    fn session(max_messages: usize, max_chars: usize, texts: &[&str]) -> Vec<String> {
        let mut session = Session::new(Window { max_messages, max_chars });
        for text in texts {
            session.add(Message { role: Role::Tool, text: (*text).to_owned() });
        }
        session.messages().map(|(_, text)| text.to_owned()).collect()
    }

    #[test]
    fn a_message_at_the_limit_stays_whole() {
        assert_eq!(session(0, 9, &["12345678"]), ["12345678"]);
        assert_eq!(session(0, 9, &["12345678ä"]), ["12345678ä"]);
        assert_eq!(session(0, 9, &["12345678ä0"]), ["12345\n[…]"]);
        assert_eq!(session(0, 2, &["123"]), ["\n["]);
        assert_eq!(session(0, 0, &["123"]), ["123"]);
    }

    #[test]
    fn a_long_output_is_cut_as_any_message() {
        let text = |output: &str| {
            let mut session = Session::new(Window { max_messages: 0, max_chars: 9 });
            session.tool_output("f", output);
            session.messages().map(|(_, text)| text.to_owned()).collect::<String>()
        };
        assert_eq!(text("12345"), "f: 12345");
        assert_eq!(text("12345ä"), "f: 12345ä");
        assert_eq!(text("1234567"), "f: 12\n[…]");
        assert_eq!(text(&"ä".repeat(100)), "f: ää\n[…]");
    }

    #[test]
    fn the_oldest_go_first() {
        assert_eq!(session(2, 0, &["a", "b"]), ["a", "b"]);
        assert_eq!(session(2, 0, &["a", "b", "c"]), ["b", "c"]);
        assert_eq!(session(1, 0, &["a", "b", "c"]), ["c"]);
        assert_eq!(session(0, 4, &["aa", "bb"]), ["aa", "bb"]);
        assert_eq!(session(0, 4, &["aa", "b", "cc"]), ["b", "cc"]);
        assert_eq!(session(0, 4, &["aa", "b", "cccc"]), ["cccc"]);
    }

    #[test]
    fn the_conversation_follows_the_window() {
        let mut session = Session::new(Window { max_messages: 2, max_chars: 0 });
        session.add(Message { role: Role::User, text: "hi".into() });
        assert_eq!(session.conversation().text(), "[user] hi");
        session.tool_output("look", "fine");
        session.push(None, "no one".into());
        assert_eq!(session.conversation().text(), "[tool] look: fine");
        assert_eq!((session.messages().count(), session.heard()), (2, 3));
        assert_eq!(session.conversation().user_request(), "");
    }

    #[test]
    fn a_failed_call_may_be_tried_again() {
        let arguments = Document::empty_object();
        let key = CallKey::of("pay", arguments.root());
        let mut session = Session::default();
        session.record_made(key);
        session.record_made(key);
        assert!(session.is_made(&key) && session.made().count() == 1);
        session.forget_made(&key);
        assert!(!session.is_made(&key));
    }
}
