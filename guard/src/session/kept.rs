//! One message in a session's window: its words made ready to be searched, and what in them reads like an
//! instruction.
//!
//! Both are made when they are first asked for, once, by whichever thread asks first: a result of megabytes goes
//! to its reader at once, and is made ready beside that ([`Kept::prepare`]). A message longer than the window is
//! cut to its head, then each instruction-like passage of the rest on a line of its own; what it carries is judged
//! before the cut. Places are told in the message as it was said ([`Kept::original`]).

mod condensed;

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::cut::{self, Cut};
use super::origin::{Origin, OutputKind};
use crate::detect::{Looking, Scan, scan};
use crate::flow::{Index, squeezed};
use crate::ground::{Prepared, Sought};
use crate::json::{Document, Kind, Limits, Value};
use crate::messages::Role;

/// Letters and digits of a value that stands nowhere by chance.
const ASKED_CHARS_MIN: usize = 5;

/// One message. Cheap to clone: clones share what is made ready.
#[derive(Clone)]
pub struct Kept(Arc<Inner>);

struct Inner {
    number: u64,
    role: Option<Role>,
    origin: Option<Origin>,
    /// Code points that are kept of it, where it is longer than that.
    limit: Option<usize>,
    /// What it takes of the window.
    chars: usize,
    /// Bytes of it as it was said.
    bytes: usize,
    /// As it was said, until it is made ready.
    raw: Mutex<Option<String>>,
    ready: OnceLock<Ready>,
    scan: OnceLock<Scan>,
    index: OnceLock<Index>,
    arguments: OnceLock<Option<Called>>,
}

/// What a call was made with.
struct Called {
    document: Document,
    /// Its texts and numbers, to be searched.
    scalars: Prepared,
    /// The same without anything between its words.
    squeezed: OnceLock<String>,
}

impl Called {
    fn squeezed(&self) -> &str {
        self.squeezed.get_or_init(|| squeezed(self.scalars.text()))
    }
}

/// How far a message is made ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Preparing {
    /// What it carries is looked for.
    pub scans: bool,
    /// What it carries can be followed.
    pub follows: bool,
}

impl Preparing {
    /// As far as anything may want it.
    pub const ALL: Preparing = Preparing { scans: true, follows: true };
}

/// What is left of the words.
struct Ready {
    prepared: Prepared,
    /// Where the parts of a cut message stood; empty where nothing was cut.
    pieces: Vec<cut::Piece>,
    /// What a cut message carries.
    scan: Option<Scan>,
    /// Judged before the cut.
    carries: bool,
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("Kept");
        out.field("number", &self.0.number).field("role", &self.0.role).field("origin", &self.0.origin);
        out.field("chars", &self.0.chars).finish_non_exhaustive()
    }
}

impl Kept {
    /// A message, of which at most `max` code points are kept.
    pub(super) fn new(
        number: u64,
        role: Option<Role>,
        origin: Option<Origin>,
        text: String,
        max: Option<usize>,
    ) -> Kept {
        let head = origin.as_ref().map_or(0, |origin| origin.head().chars().count());
        // What stands before the words takes its place too.
        let left = max.map(|max| max.saturating_sub(head));
        let limit = left.filter(|left| text.char_indices().nth(*left).is_some());
        let chars = match limit {
            Some(limit) => head + limit,
            // Where all is kept nobody counts.
            None if max.is_none() => 0,
            None => head + text.chars().count(),
        };
        Kept(Arc::new(Inner {
            number,
            role,
            origin,
            limit,
            chars,
            bytes: text.len(),
            raw: Mutex::new(Some(text)),
            ready: OnceLock::new(),
            scan: OnceLock::new(),
            index: OnceLock::new(),
            arguments: OnceLock::new(),
        }))
    }

    /// Its number, counted from 1 at the session's start.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// Who said it; `None` for a role nobody knows, whose words are no one's.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        self.0.role
    }

    /// Where a tool output comes from, as far as that was told.
    #[must_use]
    pub fn origin(&self) -> Option<&Origin> {
        self.0.origin.as_ref()
    }

    /// The tool whose output it is.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        let origin = self.origin().filter(|_| self.role() == Some(Role::Tool));
        origin.map(|origin| &*origin.name)
    }

    /// Code points that it takes in the window; 0 where that has no limit.
    #[must_use]
    pub fn chars(&self) -> usize {
        self.0.chars
    }

    /// Bytes of it as it was said: what making it ready reads.
    #[must_use]
    pub fn said_bytes(&self) -> usize {
        self.0.bytes
    }

    /// The words, as far as they are kept.
    #[must_use]
    pub fn text(&self) -> &str {
        self.prepared().text()
    }

    /// The words, ready to be searched.
    #[must_use]
    pub fn prepared(&self) -> &Prepared {
        &self.ready().prepared
    }

    /// What reads like an instruction, by places in [`Kept::text`].
    #[must_use]
    pub fn scan(&self) -> &Scan {
        match &self.ready().scan {
            Some(of_cut) => of_cut,
            None => self.0.scan.get_or_init(|| scan(self.text(), self.looking())),
        }
    }

    /// Whether it carries instruction-like text, or may: what could not be read to its end counts.
    #[must_use]
    pub fn carries_instructions(&self) -> bool {
        if self.ready().carries {
            return true;
        }
        self.scan().carries()
    }

    /// The words and what they carry, ready to be followed.
    #[must_use]
    pub fn index(&self) -> &Index {
        self.0.index.get_or_init(|| Index::new(self.text(), self.scan()))
    }

    /// Makes it ready, on whichever thread: decisions on it take microseconds from then on.
    pub fn prepare(&self, to: Preparing) {
        let _ = self.ready();
        if to.scans {
            let _ = self.carries_instructions();
        }
        if to.follows {
            let _ = self.index();
        }
    }

    /// Whether [`Kept::prepare`] has nothing left to do.
    #[must_use]
    pub fn is_prepared(&self, to: Preparing) -> bool {
        let Some(ready) = self.0.ready.get() else { return false };
        let is_scanned = ready.scan.is_some() || self.0.scan.get().is_some();
        (!to.scans || is_scanned) && (!to.follows || self.0.index.get().is_some())
    }

    /// Where this value is written in it, by places in [`Kept::text`]. What a tool only says back is not: a value
    /// that stood in the call's own arguments is the caller's, wherever that had it from; one that stood in the question
    /// is the server's.
    #[must_use]
    pub fn find(&self, sought: &Sought) -> Vec<Range<usize>> {
        let found = sought.find_in(self.prepared());
        let is_echo = || self.echoed().is_some_and(|echoed| sought.is_in(echoed));
        if found.is_empty() || is_echo() { Vec::new() } else { found }
    }

    /// What it may only say back: the texts and numbers of the call's arguments, or of the question.
    #[must_use]
    pub fn echoed(&self) -> Option<&Prepared> {
        self.called().map(|called| &called.scalars)
    }

    /// Whether it answers a question in which this value stands, however it is grouped or spelled there: then it is the
    /// server's word, whoever typed it. A question that cannot be read may have any.
    #[must_use]
    pub fn is_asked_for(&self, value: Value<'_>) -> bool {
        if self.origin().is_none_or(|origin| origin.kind != OutputKind::Answer) {
            return false;
        }
        let Some(called) = self.called() else { return true };
        let value = squeezed(value.as_str().unwrap_or_else(|| value.raw()));
        // Shorter ones stand in many words by chance; by themselves they are found like any other echo.
        value.chars().nth(ASKED_CHARS_MIN - 1).is_some() && called.squeezed().contains(&value)
    }

    /// The arguments of the call whose output it is.
    #[must_use]
    pub fn arguments(&self) -> Option<Value<'_>> {
        self.called().map(|called| called.document.root())
    }

    fn called(&self) -> Option<&Called> {
        let origin = self.origin()?;
        let read = |bytes: &bytes::Bytes| {
            let limits = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
            let document = Document::read(bytes.clone(), &limits).ok()?;
            let is_scalar = |value: &Value<'_>| !matches!(value.kind(), Kind::Array | Kind::Object);
            let texts = document.all().filter(is_scalar);
            let texts: Vec<&str> = texts.map(|value| value.as_str().unwrap_or_else(|| value.raw())).collect();
            let scalars = Prepared::new(&texts.join("\n"));
            Some(Called { document, scalars, squeezed: OnceLock::new() })
        };
        self.0.arguments.get_or_init(|| origin.arguments.as_ref().and_then(read)).as_ref()
    }

    /// A place in the message as it was said, for one in [`Kept::text`].
    #[must_use]
    pub fn original(&self, range: &Range<usize>) -> Range<usize> {
        cut::original(&self.ready().pieces, range)
    }

    fn looking(&self) -> Looking {
        if self.0.role == Some(Role::User) { Looking::User } else { Looking::Output }
    }

    fn ready(&self) -> &Ready {
        self.0.ready.get_or_init(|| {
            let raw = self.0.raw.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
            let Some(limit) = self.0.limit else {
                return Ready {
                    prepared: Prepared::new(&raw),
                    pieces: Vec::new(),
                    scan: None,
                    carries: false,
                };
            };
            let looking = self.looking();
            let whole = scan(&raw, looking);
            let carries = whole.carries();
            let Cut { text, pieces, passages } = cut::cut(&raw, limit, &whole.passages, looking);
            let scan = Some(Scan { passages, is_complete: whole.is_complete });
            Ready { prepared: Prepared::new(&text), pieces, scan, carries }
        })
    }
}
