//! The top level of a line that is not read any further: which id it names, and what it seems to be.
//!
//! Only for telling somebody that a message was refused. It reads past everything that made the line
//! unreadable (NaN, depth, lone surrogates, bad UTF-8 in a value), but is certain of an id only when the line
//! is one whole object in which exactly one key could be taken for `id`.

use std::ops::Range;

use framegate_guard::look::fold;
use framegate_pump::Id;

use super::refusal::Subject;

/// What a line of the client's seems to be.
pub(super) fn subject(body: &[u8]) -> Subject {
    let Some(found) = read(body) else { return Subject::Unknown };
    match (found.has_method, found.has_answer, found.certain_id()) {
        (true, _, Some(id)) => Subject::Request(id.clone()),
        (true, false, None) if !found.has_id() => Subject::Notification,
        (false, true, id) => Subject::Response(id.cloned()),
        _ => Subject::Unknown,
    }
}

/// The id that a line of the server's answers, if it answers one.
pub(super) fn answered(body: &[u8]) -> Option<Id> {
    read(body).filter(|found| found.has_answer)?.certain_id().cloned()
}

/// All ids that a line of the server's may be taken to answer.
pub(super) fn answered_perhaps(body: &[u8]) -> Vec<Id> {
    let found = read(body).filter(|found| found.has_answer || !found.has_method);
    found.map(|found| found.ids).unwrap_or_default()
}

/// Ids of one line that are kept.
const IDS_MAX: usize = 8;

#[derive(Debug, Default)]
struct Outline {
    /// The usable values of keys that could be taken for `id`.
    ids: Vec<Id>,
    /// Another such key, or another value, was there.
    is_id_doubtful: bool,
    has_method: bool,
    has_answer: bool,
}

impl Outline {
    fn certain_id(&self) -> Option<&Id> {
        let mut ids = self.ids.iter();
        ids.next().filter(|_| ids.next().is_none() && !self.is_id_doubtful)
    }

    fn has_id(&self) -> bool {
        self.is_id_doubtful || !self.ids.is_empty()
    }
}

/// `None` when the line is not one object from its first to its last byte.
fn read(body: &[u8]) -> Option<Outline> {
    let mut walk = Walk { body: body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body), at: 0 };
    walk.space();
    walk.expect(b'{')?;
    walk.space();
    let mut outline = Outline::default();
    if walk.here() == Some(b'}') {
        walk.at += 1;
    } else {
        while walk.member(&mut outline)? {}
    }
    walk.space();
    (walk.at == walk.body.len()).then_some(outline)
}

struct Walk<'a> {
    body: &'a [u8],
    /// `at <= body.len()`
    at: usize,
}

impl Walk<'_> {
    /// Reads a member and what follows it: true for a comma, false for the end of the object.
    fn member(&mut self, outline: &mut Outline) -> Option<bool> {
        self.space();
        let key = self.string()?;
        self.space();
        self.expect(b':')?;
        self.space();
        let value = self.value()?;
        outline.note(self.slice(&key), self.slice(&value).trim_ascii());
        let end = self.here()?;
        self.at += 1;
        Some(end == b',')
    }

    /// Up to the comma or brace behind the value. Brackets are counted, not matched.
    fn value(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.here()? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b',' | b'}' if depth == 0 => return Some(start..self.at),
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.checked_sub(1)?,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn string(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        self.expect(b'"')?;
        loop {
            self.at += memchr::memchr2(b'"', b'\\', self.body.get(self.at..)?)?;
            if self.here()? == b'"' {
                self.at += 1;
                return Some(start..self.at);
            }
            self.at += 2;
        }
    }

    fn slice(&self, range: &Range<usize>) -> &[u8] {
        self.body.get(range.clone()).unwrap_or_default()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.here()? == byte).then(|| self.at += 1)
    }

    fn here(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.here(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }
}

impl Outline {
    fn note(&mut self, key: &[u8], value: &[u8]) {
        // A key that is no JSON string is none that any reader knows.
        let Ok(key) = serde_json::from_slice::<String>(key) else { return };
        match fold(&key).as_str() {
            "id" => self.note_id(usable(value), key == "id"),
            "method" => self.has_method = true,
            "result" | "error" => self.has_answer = true,
            _ => {}
        }
    }

    fn note_id(&mut self, id: Option<Id>, is_exact: bool) {
        match id.filter(|_| self.ids.len() < IDS_MAX) {
            Some(id) => {
                self.is_id_doubtful |= !is_exact;
                self.ids.push(id);
            }
            None => self.is_id_doubtful = true,
        }
    }
}

fn usable(value: &[u8]) -> Option<Id> {
    let raw: &serde_json::value::RawValue = serde_json::from_slice(value).ok()?;
    Id::from_json(raw.get())
}
