//! What looks like a credential does not go where others read it: logs, tables, refusals, a redacted store.
//!
//! Two ways to know one: by the name it has (`api_key`, `--password`, `Authorization:`), read word by word so that
//! `max_tokens` stays, and by its own looks ([`value`]). It is better to hide a harmless word than to show half a
//! secret, so doubt redacts; but what is replaced is only the value, in place: every other byte stays as it was.
//!
//! * [`json`]: a JSON text, by byte ranges of the strict reader's document; the result is JSON again.
//! * [`text`]: any text (log lines, command lines, headers, `.env` files, results).
//! * [`Redacted::secrets`]: what was found, so that a message that quotes it can be cleaned ([`without`]).

mod key;
mod pairs;
mod quoted;
mod value;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use bytes::Bytes;
use framegate_guard::json::{Document, Fault, Kind, Limits, Value};

use self::key::Holds;

/// What stands for a credential.
pub(crate) const MARK: &str = "***";
/// Shorter ones are not looked for in messages: they would be found everywhere.
const QUOTED_BYTES_MIN: usize = 4;
/// Nested documents in strings: each is escaped once more, so a deeper one is soon as large as a frame may be.
const NESTED_MAX: usize = 8;

/// A text without its credentials.
#[derive(Debug, Clone)]
pub(crate) struct Redacted {
    /// The text; the very same bytes where nothing was found.
    pub(crate) bytes: Bytes,
    /// What was taken out: decoded, and as it was written where that differs.
    pub(crate) secrets: Vec<String>,
}

/// A JSON text without its credentials.
///
/// # Errors
/// [`Fault`] when it cannot be read for certain; then nothing of it should be shown, or [`text`] of it.
pub(crate) fn json(source: Bytes) -> Result<Redacted, Fault> {
    if !may_have_one(&source) {
        return Ok(Redacted { bytes: source, secrets: Vec::new() });
    }
    let limits = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
    let document = Document::read(source.clone(), &limits)?;
    let mut hits = Hits::default();
    hits.value(document.root(), None);
    if hits.found.is_empty() {
        return Ok(Redacted { bytes: source, secrets: Vec::new() });
    }
    Ok(Redacted { bytes: hits.spliced(&source), secrets: hits.secrets })
}

/// Whether a JSON text may have a credential in it: one look, and never wrong about a no. Most calls have none, and
/// this is all that they cost.
pub(crate) fn may_have_one(source: &[u8]) -> bool {
    static NEEDLES: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let build = || {
        // An escape may spell anything.
        let all = key::NEEDLES.iter().copied().chain(value::words()).chain(["\\u"]);
        let mut builder = AhoCorasick::builder();
        builder.ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA)).build(all).ok()
    };
    NEEDLES.get_or_init(build).as_ref().is_none_or(|needles| needles.is_match(source))
}

/// What looks like a credential in a JSON text, decoded.
pub(crate) fn secrets(source: &Bytes) -> Vec<String> {
    json(source.clone()).map(|found| found.secrets).unwrap_or_default()
}

/// JSON, or whatever it is, without its credentials; nothing when there are none.
pub(crate) fn bytes(source: &[u8]) -> Option<Vec<u8>> {
    match json(Bytes::copy_from_slice(source)) {
        Ok(redacted) => (!redacted.secrets.is_empty()).then(|| redacted.bytes.to_vec()),
        Err(_) => match text(&String::from_utf8_lossy(source)) {
            Cow::Borrowed(_) => None,
            Cow::Owned(changed) if changed.as_bytes() == source => None,
            Cow::Owned(changed) => Some(changed.into_bytes()),
        },
    }
}

/// A text without its credentials.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    let found = find(text);
    if found.is_empty() { text.into() } else { marked(text, found).into() }
}

fn marked(text: &str, found: Vec<Range<usize>>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for range in found {
        out.push_str(text.get(done..range.start).unwrap_or_default());
        out.push_str(MARK);
        done = range.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// A message without what it quotes of these secrets, and without what looks like one. (Names are not looked at:
/// "`password`: expected a string" is what its reader must know.)
pub(crate) fn without(message: &str, secrets: &[String]) -> String {
    let cleaned = marked(message, merged(quoted::find(message, secrets)));
    let mut found = Vec::new();
    value::find(&cleaned, &mut found);
    marked(&cleaned, merged(found))
}

/// Where the credentials of a text stand, in order, without overlaps.
fn find(text: &str) -> Vec<Range<usize>> {
    find_nested(text, NESTED_MAX)
}

fn find_nested(text: &str, depth: usize) -> Vec<Range<usize>> {
    if !may_have_one(text.as_bytes()) {
        return Vec::new();
    }
    let mut all = Vec::new();
    if value::may_be_in(text.as_bytes()) {
        value::find(text, &mut all);
    }
    // Where a stretch is JSON, its names say more than a search for pairs could: lists, objects, schemas.
    let mut plain = 0;
    if depth > 0 {
        for part in embedded(text) {
            let Some(found) = text.get(part.clone()).and_then(|text| json_in(text, depth - 1)) else {
                continue;
            };
            all.extend(found.into_iter().map(|range| part.start + range.start..part.start + range.end));
            pairs_in(text, plain..part.start, &mut all);
            plain = part.end;
        }
    }
    pairs_in(text, plain..text.len(), &mut all);
    merged(all)
}

fn pairs_in(text: &str, part: Range<usize>, all: &mut Vec<Range<usize>>) {
    let start = part.start;
    let Some(text) = text.get(part).filter(|text| key::may_be_in(text.as_bytes())) else { return };
    let mut found = Vec::new();
    pairs::find(text, &mut found);
    all.extend(found.into_iter().map(|range| start + range.start..start + range.end));
}

/// What may be JSON in a text: all of it, or else each line that looks like it.
fn embedded(text: &str) -> Vec<Range<usize>> {
    let begins = |text: &str| text.trim_start().starts_with(['{', '[']);
    let ends = |text: &str| text.trim_end().ends_with(['}', ']']);
    let limits = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
    let is_json = |text: &str| Document::read(Bytes::copy_from_slice(text.as_bytes()), &limits).is_ok();
    if begins(text) && ends(text) && is_json(text) {
        return std::iter::once(0..text.len()).collect();
    }
    let mut at = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        at += line.len();
        (at - line.len()..at, line)
    });
    lines.filter(|(_, line)| begins(line) && ends(line)).map(|(range, _)| range).collect()
}

/// Where the credentials of a JSON text stand, without the quotes around them; nothing when it is not JSON.
fn json_in(text: &str, depth: usize) -> Option<Vec<Range<usize>>> {
    let limits = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
    let document = Document::read(Bytes::copy_from_slice(text.as_bytes()), &limits).ok()?;
    let mut hits = Hits { depth, ..Hits::default() };
    hits.value(document.root(), None);
    let inner = |(range, _): (Range<usize>, Cow<'static, str>)| {
        let is_quoted = text.get(range.clone()).is_some_and(|text| text.len() > 1 && text.starts_with('"'));
        if is_quoted { range.start + 1..range.end - 1 } else { range }
    };
    Some(hits.found.into_iter().map(inner).collect())
}

fn merged(mut all: Vec<Range<usize>>) -> Vec<Range<usize>> {
    all.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(all.len());
    for range in all.into_iter().filter(|range| !range.is_empty()) {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Where the credentials of a document stand, in order.
#[derive(Debug)]
struct Hits {
    found: Vec<(Range<usize>, Cow<'static, str>)>,
    secrets: Vec<String>,
    /// Keys that were replaced: two of one name would be no strict JSON.
    keys: usize,
    /// How deep JSON in its strings is read.
    depth: usize,
}

impl Default for Hits {
    fn default() -> Hits {
        Hits { found: Vec::new(), secrets: Vec::new(), keys: 0, depth: NESTED_MAX }
    }
}

impl Hits {
    fn spliced(&self, source: &Bytes) -> Bytes {
        let mut out = Vec::with_capacity(source.len());
        let mut done = 0;
        for (range, mark) in &self.found {
            out.extend_from_slice(source.get(done..range.start).unwrap_or_default());
            out.extend_from_slice(mark.as_bytes());
            done = range.end;
        }
        out.extend_from_slice(source.get(done..).unwrap_or_default());
        out.into()
    }

    /// `held`: by the name of what it lies in, all of it is a credential.
    fn value(&mut self, value: Value<'_>, held: Option<Holds>) {
        match value.kind() {
            Kind::Object => self.object(value, held),
            Kind::Array => self.array(value, held),
            Kind::String => self.string(value, held.is_some()),
            Kind::Number if held == Some(Holds::Anything) => self.whole(value, value.raw()),
            Kind::Number | Kind::Bool | Kind::Null => {}
        }
    }

    fn object(&mut self, object: Value<'_>, held: Option<Holds>) {
        // `{"name":"TOKEN","value":"…"}`, whichever comes first.
        let names = object.members().filter(|(key, _)| key::names(key));
        let of_pair = names.filter_map(|(_, name)| name.as_str()).find_map(key::holds);
        let is_schema = held.is_some() && key::is_schema(object);
        for (key, value) in object.entries() {
            let name = key.as_str().unwrap_or_default();
            self.key(key, name);
            let held = held.filter(|_| !is_schema || !key::describes(name));
            let of_pair = of_pair.filter(|_| !is_schema || !key::describes(name));
            let by_pair = of_pair.filter(|_| key::values(name));
            self.value(value, held.or_else(|| key::holds(name)).or(by_pair));
        }
    }

    fn array(&mut self, array: Value<'_>, held: Option<Holds>) {
        let is_pair = array.len() == 2;
        let mut before: Option<&str> = None;
        for item in array.items() {
            let flag = before.filter(|word| word.starts_with('-') || is_pair);
            let by_flag = flag.filter(|word| !word.contains(['=', ':', ' '])).and_then(key::holds);
            self.value(item, held.or(by_flag.map(|_| Holds::Anything)));
            before = item.as_str();
        }
    }

    fn string(&mut self, value: Value<'_>, is_held: bool) {
        let text = value.as_str().unwrap_or_default();
        if is_held {
            return self.whole(value, text);
        }
        for range in find_nested(text, self.depth) {
            let (start, end) = (value.raw_offset(range.start), value.raw_offset(range.end));
            let at = value.span().start;
            self.secret(text.get(range), value.raw().get(start - at..end - at));
            self.found.push((start..end, MARK.into()));
        }
    }

    fn whole(&mut self, value: Value<'_>, text: &str) {
        if !text.is_empty() && text != MARK {
            self.found.push((value.span(), format!("\"{MARK}\"").into()));
            let raw = value.raw();
            self.secret(Some(text), raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')));
        }
    }

    /// A message may quote it decoded, or as it was written: `"\u0070ass"` is a spelling that no escaping finds again.
    fn secret(&mut self, text: Option<&str>, written: Option<&str>) {
        let written = written.filter(|written| Some(*written) != text);
        self.secrets.extend(text.into_iter().chain(written).map(str::to_owned));
    }

    fn key(&mut self, key: Value<'_>, name: &str) {
        if find(name).is_empty() {
            return;
        }
        self.keys += 1;
        let number = if self.keys == 1 { String::new() } else { self.keys.to_string() };
        self.found.push((key.span(), format!("\"{MARK}{number}\"").into()));
        self.secrets.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests;
