//! What of a session's contents is kept beside the chain.

use bytes::Bytes;

#[cfg(feature = "sqlite")]
use super::{chain::Hash, entries::hash, entry::Entry};
use crate::json::{Document, Limits};

/// Which content is kept beside the chain.
#[derive(Clone, Copy, Default)]
pub enum Keep {
    /// All of it.
    #[default]
    Full,
    /// All of it without what looks like a secret. What the body commits to is what is kept.
    Redacted(&'static dyn Redact),
    /// None of what is a call's or a frame's: the body commits to it all the same. Policies, schemas and definitions of
    /// tools are kept, or nobody could say later by what a call was decided.
    None,
}

/// Takes out what looks like a secret.
pub trait Redact: Send + Sync {
    /// The bytes without it, and what was taken out; `None` when nothing looks like one.
    fn redact(&self, bytes: &[u8]) -> Option<(Vec<u8>, Vec<String>)>;

    /// A text that may quote such secrets, without them.
    fn without(&self, text: &str, secrets: &[String]) -> String;
}

impl std::fmt::Debug for Keep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Keep {
    /// `full`, `redacted` or `none`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Keep::Full => "full",
            Keep::Redacted(_) => "redacted",
            Keep::None => "none",
        }
    }

    /// Whether no hash of this frame is to stand with its salt: neither one that is known, nor one over it and others.
    #[must_use]
    pub fn hides(self, frame: &Bytes) -> bool {
        match self {
            Keep::Full => false,
            Keep::Redacted(redact) => !is_strict(frame) || redact.redact(frame).is_some(),
            Keep::None => true,
        }
    }
}

/// What a record is made of.
#[cfg(feature = "sqlite")]
impl Keep {
    pub(super) fn add(self, entry: Entry, field: &'static str, bytes: Bytes) -> Entry {
        let bytes = match self {
            Keep::Full => bytes,
            Keep::Redacted(redact) => redact.redact(&bytes).map_or(bytes, |(redacted, _)| redacted.into()),
            Keep::None => return entry.committed(field, bytes),
        };
        // What comes again and again: the same tools, the same policies, the same answers.
        if matches!(field, "names" | "result" | "text") {
            entry.shared(field, bytes)
        } else {
            entry.content(field, bytes)
        }
    }

    /// A text that others name: a policy, a schema, a definition.
    pub(super) fn add_text(self, entry: Entry, text: Bytes) -> Entry {
        match self {
            Keep::None => entry.shared("text", text),
            Keep::Full | Keep::Redacted(_) => self.add(entry, "text", text),
        }
    }

    pub(super) fn add_some(self, entry: Entry, field: &'static str, bytes: Option<Bytes>) -> Entry {
        match bytes {
            Some(bytes) => self.add(entry, field, bytes),
            None => entry,
        }
    }

    /// What says something about a call's arguments: their secrets are not repeated there.
    pub(super) fn add_about(
        self,
        entry: Entry,
        field: &'static str,
        text: String,
        arguments: Option<&Bytes>,
    ) -> Entry {
        let Keep::Redacted(redact) = self else { return self.add(entry, field, text.into()) };
        let secrets = arguments.and_then(|arguments| redact.redact(arguments)).map(|(_, secrets)| secrets);
        let text = redact.without(&text, &secrets.unwrap_or_default());
        self.add(entry, field, text.into())
    }

    /// A frame as it came, which may be no message. Where nobody can read it for certain, nobody can say what in it is
    /// a secret either.
    pub(super) fn add_frame(self, entry: Entry, field: &'static str, bytes: Bytes) -> Entry {
        match self {
            Keep::Redacted(_) if !is_strict(&bytes) => entry.committed(field, bytes),
            _ => self.add(entry, field, bytes),
        }
    }

    /// Without it nobody can tell whether a frame went through unchanged. It holds no secret; but beside a frame of
    /// which all but a code of six digits is known, it tells the code to whoever tries a million of them.
    pub(super) fn hash_of(self, entry: Entry, field: &'static str, frame: &[u8]) -> Entry {
        let is_told = match self {
            Keep::Full => true,
            Keep::Redacted(redact) => redact.redact(frame).is_none(),
            Keep::None => false,
        };
        told(entry, field, &hash(frame), is_told)
    }

    /// The same of a frame of which only the hash is left: nobody can tell any more whether a secret was in it.
    pub(super) fn known_hash(self, entry: Entry, field: &'static str, hash: &Hash) -> Entry {
        told(entry, field, hash, matches!(self, Keep::Full))
    }

    /// The same of a frame that may be no message: see [`Keep::add_frame`].
    pub(super) fn hash_of_odd(self, entry: Entry, field: &'static str, frame: &Bytes) -> Entry {
        let is_hidden = matches!(self, Keep::Redacted(_)) && !is_strict(frame);
        if is_hidden { Keep::None.hash_of(entry, field, frame) } else { self.hash_of(entry, field, frame) }
    }
}

#[cfg(feature = "sqlite")]
fn told(entry: Entry, field: &'static str, hash: &Hash, is_told: bool) -> Entry {
    let hash = Bytes::copy_from_slice(&hash.0);
    if is_told { entry.content(field, hash) } else { entry.committed(field, hash) }
}

fn is_strict(frame: &Bytes) -> bool {
    let limits = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
    Document::read(frame.clone(), &limits).is_ok()
}
