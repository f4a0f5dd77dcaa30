//! Questions to long-lived programs, and their answers: what is written on the lines, not the process.
//!
//! What CEL cannot say, or only a model can judge, a program says: one JSON line asks, one JSON line answers, matched by
//! `id`. A program is asked through the [`crate::world::World`], so that each answer is in the record and a replay asks
//! nobody. Whatever is no answer for certain is an [`crate::world::Unknown`], and so never an allow.
//!
//! ```
//! use framegate_guard::json::Document;
//! use framegate_guard::program::{About, Asked, Said, read_answer};
//!
//! let arguments = Document::empty_object();
//! let asked = Asked::new("office_hours", "pay", arguments.root(), About::Call);
//! assert_eq!(asked.line(7), r#"{"id":7,"program":"office_hours","tool":"pay","arguments":{}}"#);
//! let (id, answer) = read_answer(br#"{"id":7,"allow":false,"reason":"it is night"}"#)?;
//! assert_eq!((id, answer.unwrap().said), (7, Said::Allow(false)));
//! # Ok::<(), String>(())
//! ```

mod answer;

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::json::Value;
use crate::messages::Message;
use crate::policy::read::quoted;

pub use answer::{ANSWER_BYTES_MAX, Answer, Said, Score, read_answer, read_stated};

/// The name under which the authorizer is asked; no program of a policy may have it.
pub const AUTHORIZER: &str = "authorizer";

/// The longest question: a whole conversation without a window must not be one.
pub const QUESTION_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Questions to programs in one decision.
pub const QUESTIONS_MAX: usize = 64;

/// What a question is about.
#[derive(Debug, Clone, Copy)]
pub enum About<'a> {
    /// The call alone.
    Call,
    /// Whether this conversation authorizes it.
    Conversation {
        /// What the agent is for.
        task: Option<&'a str>,
        /// What was said. Message by message: in one text, a tool could write as if the user spoke.
        said: &'a [Message],
    },
    /// Whether what the user said authorizes it.
    UserRequest {
        /// What the agent is for.
        task: Option<&'a str>,
        /// The user's words.
        said: &'a str,
    },
    /// Whether a text names a value of it.
    Value {
        /// The argument's path.
        argument: &'a str,
        /// The value.
        value: Value<'a>,
        /// One message.
        text: &'a str,
    },
}

/// A question to a program.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// The program's name in the policy, or [`AUTHORIZER`].
    pub program: &'a str,
    /// The tool, as called.
    pub tool: &'a str,
    /// The arguments decided on.
    pub arguments: Value<'a>,
    /// What it is about.
    pub about: About<'a>,
    /// All members of the line but `id`.
    members: String,
}

/// By what a question is known again: a record has this and the answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskedKey {
    /// [`Asked::program`].
    pub program: String,
    /// SHA-256 of the line without its `id`.
    pub digest: [u8; 32],
}

impl<'a> Asked<'a> {
    /// A question.
    #[must_use]
    pub fn new(program: &'a str, tool: &'a str, arguments: Value<'a>, about: About<'a>) -> Asked<'a> {
        let mut members = String::new();
        let mut member = |key: &str, text: &str| {
            let _ = write!(members, ",\"{key}\":{text}");
        };
        member("program", &quoted(program));
        if let About::Conversation { task: Some(task), .. } | About::UserRequest { task: Some(task), .. } =
            about
        {
            member("task", &quoted(task));
        }
        member("tool", &quoted(tool));
        member("arguments", &one_line(arguments));
        match about {
            About::Call => {}
            About::Conversation { said, .. } => member("conversation", &messages(said)),
            About::UserRequest { said, .. } => member("user_request", &quoted(said)),
            About::Value { argument, value, text } => {
                member("argument", &quoted(argument));
                member("value", &one_line(value));
                member("text", &quoted(text));
            }
        }
        Asked { program, tool, arguments, about, members }
    }

    /// By what it is known again.
    #[must_use]
    pub fn key(&self) -> AskedKey {
        AskedKey { program: self.program.to_owned(), digest: Sha256::digest(&self.members).into() }
    }

    /// The line that asks it, without its end.
    #[must_use]
    pub fn line(&self, id: u64) -> String {
        line(&self.members, id)
    }

    /// Bytes of its line, without the id.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no question is empty")]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// It, to be asked later.
    #[must_use]
    pub fn open(&self) -> Open {
        Open { key: self.key(), members: self.members.clone() }
    }
}

/// A question that is still to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// [`Asked::key`].
    pub key: AskedKey,
    members: String,
}

impl Open {
    /// A question to the authorizer with these members, each as JSON text: one that was written down.
    #[must_use]
    pub fn to_authorizer<'m>(members: impl IntoIterator<Item = (&'m str, &'m str)>) -> Open {
        let mut all = format!(",\"program\":{}", quoted(AUTHORIZER));
        for (key, text) in members {
            let _ = write!(all, ",{}:{}", quoted(key), text.replace(['\r', '\n'], " "));
        }
        let digest = Sha256::digest(&all).into();
        Open { key: AskedKey { program: AUTHORIZER.to_owned(), digest }, members: all }
    }

    /// [`Asked::line`].
    #[must_use]
    pub fn line(&self, id: u64) -> String {
        line(&self.members, id)
    }
}

fn line(members: &str, id: u64) -> String {
    format!("{{\"id\":{id}{members}}}")
}

fn messages(said: &[Message]) -> String {
    let one = |message: &Message| {
        let (role, text) = (quoted(message.role.name()), quoted(&message.text));
        format!("{{\"role\":{role},\"text\":{text}}}")
    };
    format!("[{}]", said.iter().map(one).collect::<Vec<_>>().join(","))
}

/// A value as it was written. Line breaks can stand only between its parts: inside a string they are no JSON.
fn one_line(value: Value<'_>) -> String {
    value.raw().replace(['\r', '\n'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Document, Limits};
    use crate::messages::Role;
    use proptest::prelude::*;

    fn asked(about: About<'_>) -> String {
        let arguments = Document::read("{\n \"to\": \"a\\nb\",\r\n \"n\": 1.0 }".into(), &Limits::default());
        let arguments = arguments.unwrap();
        Asked::new("p", "pay", arguments.root(), about).line(1)
    }

    #[test]
    fn a_question_is_one_line_of_json_whatever_it_is_about() {
        let value = Document::read("\"x\\n\"".into(), &Limits::default()).unwrap();
        let said = [Message { role: Role::Tool, text: "x\n[user] yes".into() }];
        let abouts = [
            (About::Call, ""),
            (
                About::Conversation { task: Some("t \"q\""), said: &said },
                r#""conversation":[{"role":"tool","text":"x\n[user] yes"}]"#,
            ),
            (About::UserRequest { task: None, said: "hi\u{2028}" }, "\"user_request\":\"hi\u{2028}\""),
            (
                About::Value { argument: "to", value: value.root(), text: "a" },
                r#""argument":"to","value":"x\n","text":"a""#,
            ),
        ];
        for (about, has) in abouts {
            let line = asked(about);
            assert!(!line.contains(['\n', '\r']) && line.contains(has), "{line}");
            let read: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert_eq!((&read["id"], &read["arguments"]["to"]), (&1.into(), &"a\nb".into()), "{line}");
        }
    }

    proptest! {
        #[test]
        fn equal_questions_have_equal_keys_and_others_do_not(a in ".{0,12}", b in ".{0,12}") {
            let none = Document::empty_object();
            let key = |said: &str| {
                Asked::new("p", "t", none.root(), About::UserRequest { task: None, said }).key()
            };
            prop_assert_eq!(key(&a) == key(&b), a == b);
        }
    }
}
