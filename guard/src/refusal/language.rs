//! The sentences, as a table that is checked when it is loaded.

use std::collections::BTreeMap;

use super::{NAME_CHARS_MAX, NextStep, REASON_CHARS_MAX, plain};
use crate::json::{Document, Fault, Kind, Limits};

const ENGLISH: &str = include_str!("language.en.json");
/// Code points of one sentence of a table.
const SENTENCE_CHARS_MAX: usize = 400;

/// The sentences of a table. The order is that of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Refused,
    Held,
    Rule,
    More,
    AskFirst,
    ConfirmFirst,
    DoNotRepeat,
    FixArguments,
    NobodyToAsk,
    NotEvaluated,
    NotFollow,
    NotFromTools,
    NotOffered,
    TellUser,
    UseAsWritten,
    ReplyRefused,
    RulesHead,
    RulesDeny,
    RulesAsk,
}

/// Each sentence's name in the file, and the placeholders it must hold.
const KEYS: [(Key, &str, &[&str]); 19] = [
    (Key::Refused, "refused", &["tool", "reasons"]),
    (Key::Held, "held", &["tool", "reasons"]),
    (Key::Rule, "rule", &["name"]),
    (Key::More, "more", &["count"]),
    (Key::AskFirst, "ask_first", &[]),
    (Key::ConfirmFirst, "confirm_first", &[]),
    (Key::DoNotRepeat, "do_not_repeat", &[]),
    (Key::FixArguments, "fix_arguments", &[]),
    (Key::NobodyToAsk, "nobody_to_ask", &[]),
    (Key::NotEvaluated, "not_evaluated", &[]),
    (Key::NotFollow, "not_follow", &[]),
    (Key::NotFromTools, "not_from_tools", &[]),
    (Key::NotOffered, "not_offered", &[]),
    (Key::TellUser, "tell_user", &[]),
    (Key::UseAsWritten, "use_as_written", &[]),
    (Key::ReplyRefused, "reply_refused", &["reply", "message"]),
    (Key::RulesHead, "rules_head", &[]),
    (Key::RulesDeny, "rules_deny", &["reason"]),
    (Key::RulesAsk, "rules_ask", &["reason"]),
];

impl From<NextStep> for Key {
    fn from(step: NextStep) -> Key {
        match step {
            NextStep::AskFirst => Key::AskFirst,
            NextStep::ConfirmFirst => Key::ConfirmFirst,
            NextStep::DoNotRepeat => Key::DoNotRepeat,
            NextStep::FixArguments => Key::FixArguments,
            NextStep::NobodyToAsk => Key::NobodyToAsk,
            NextStep::NotEvaluated => Key::NotEvaluated,
            NextStep::NotFollow => Key::NotFollow,
            NextStep::NotFromTools => Key::NotFromTools,
            NextStep::NotOffered => Key::NotOffered,
            NextStep::TellUser => Key::TellUser,
            NextStep::UseAsWritten => Key::UseAsWritten,
        }
    }
}

/// The sentences of one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Language {
    name: String,
    sentences: BTreeMap<Key, Vec<Piece>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Slot(&'static str),
    Text(String),
}

/// Why a table of sentences cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LanguageError {
    /// Sentences that the table lacks.
    #[error("the table of sentences lacks {}", quoted(.0))]
    Missing(Vec<String>),
    /// The table is not an object.
    #[error("a table of sentences is an object, not {0}")]
    NotAnObject(Kind),
    /// A sentence that is not text.
    #[error("the sentence `{0}` is not text")]
    NotText(String),
    /// A placeholder that the sentence does not know.
    #[error("the sentence `{key}` has no placeholder `{{{placeholder}}}`; it has {}", quoted(.known))]
    Placeholder {
        /// The sentence.
        key: String,
        /// As written.
        placeholder: String,
        /// Those it has.
        known: Vec<String>,
    },
    /// Not JSON.
    #[error("the table of sentences cannot be read: {0}")]
    Read(#[from] Fault),
    /// A sentence that is too long to be part of a short message.
    #[error("the sentence `{0}` has more than {SENTENCE_CHARS_MAX} characters")]
    TooLong(String),
    /// Sentences that nothing says.
    #[error("the table of sentences has unknown entries: {}", quoted(.0))]
    Unknown(Vec<String>),
    /// A placeholder that the sentence does not use.
    #[error("the sentence `{key}` leaves out `{{{placeholder}}}`")]
    Unused {
        /// The sentence.
        key: String,
        /// What it must say.
        placeholder: String,
    },
}

fn quoted(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", plain::line(name, 64))).collect();
    quoted.join(", ")
}

impl Language {
    /// The built-in sentences.
    #[must_use]
    pub fn english() -> Language {
        // Checked by a test of its own; without sentences a refusal still refuses.
        Language::from_json(ENGLISH)
            .unwrap_or_else(|_| Language { name: "en".to_owned(), sentences: BTreeMap::new() })
    }

    /// Reads a table: an object of sentences by name, as `language.en.json`, every one of them.
    ///
    /// # Errors
    /// [`LanguageError`] when one is missing, unknown, too long, or does not use its placeholders.
    pub fn from_json(text: &str) -> Result<Language, LanguageError> {
        let table = Document::read(text.to_owned().into(), &Limits::default())?;
        let root = table.root();
        if root.kind() != Kind::Object {
            return Err(LanguageError::NotAnObject(root.kind()));
        }
        let known = |key: &str| key == "language" || KEYS.iter().any(|(_, name, _)| *name == key);
        let unknown: Vec<String> =
            root.members().filter(|(key, _)| !known(key)).map(|(key, _)| key.to_owned()).collect();
        if !unknown.is_empty() {
            return Err(LanguageError::Unknown(unknown));
        }
        let names = std::iter::once("language").chain(KEYS.iter().map(|(_, name, _)| *name));
        let missing: Vec<String> = names.filter(|name| root.get(name).is_none()).map(str::to_owned).collect();
        if !missing.is_empty() {
            return Err(LanguageError::Missing(missing));
        }
        let sentence = |name: &str| {
            let text = root.get(name).and_then(|text| text.as_str()).ok_or(name);
            text.map_err(|name| LanguageError::NotText(name.to_owned()))
        };
        let mut sentences = BTreeMap::new();
        for (key, name, slots) in KEYS {
            sentences.insert(key, pieces(name, sentence(name)?, slots)?);
        }
        Ok(Language { name: sentence("language")?.to_owned(), sentences })
    }

    /// What the table calls itself: `en`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A sentence filled in. What is filled in is never looked at for placeholders again.
    pub(crate) fn text(&self, key: Key, values: &[(&str, &str)]) -> String {
        let mut out = String::new();
        for piece in self.sentences.get(&key).into_iter().flatten() {
            out.push_str(match piece {
                Piece::Text(text) => text,
                Piece::Slot(slot) => {
                    values.iter().find(|(name, _)| name == slot).map_or("", |(_, value)| value)
                }
            });
        }
        out
    }

    /// A check's reason as one line, or a sentence with its name where it has none.
    pub(crate) fn reason(&self, name: &str, reason: &str) -> String {
        let line = plain::line(reason, REASON_CHARS_MAX);
        if !line.is_empty() {
            return line;
        }
        self.text(Key::Rule, &[("name", &plain::line(name, NAME_CHARS_MAX))])
    }
}

fn pieces(key: &str, text: &str, slots: &'static [&'static str]) -> Result<Vec<Piece>, LanguageError> {
    if text.chars().count() > SENTENCE_CHARS_MAX {
        return Err(LanguageError::TooLong(key.to_owned()));
    }
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (placeholder, behind) = after.split_once('}').unwrap_or((after, ""));
        let slot =
            slots.iter().find(|slot| **slot == placeholder).ok_or_else(|| LanguageError::Placeholder {
                key: key.to_owned(),
                placeholder: placeholder.to_owned(),
                known: slots.iter().map(|slot| (*slot).to_owned()).collect(),
            })?;
        pieces.extend([Piece::Text(before.to_owned()), Piece::Slot(slot)]);
        rest = behind;
    }
    pieces.push(Piece::Text(rest.to_owned()));
    let unused = slots.iter().find(|slot| !pieces.contains(&Piece::Slot(slot)));
    unused.map_or(Ok(pieces), |slot| {
        Err(LanguageError::Unused { key: key.to_owned(), placeholder: (*slot).to_owned() })
    })
}
