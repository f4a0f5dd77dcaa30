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

/// A text without its credentials.
#[derive(Debug, Clone)]
pub(crate) struct Redacted {
    /// The text; the very same bytes where nothing was found.
    pub(crate) bytes: Bytes,
    /// What was taken out, decoded.
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
    let mut secrets: Vec<&String> =
        secrets.iter().filter(|secret| secret.len() >= QUOTED_BYTES_MIN && *secret != MARK).collect();
    // One may be the start of another.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    let cleaned = secrets.iter().fold(message.to_owned(), |message, secret| {
        if message.contains(secret.as_str()) { message.replace(secret.as_str(), MARK) } else { message }
    });
    let mut found = Vec::new();
    value::find(&cleaned, &mut found);
    marked(&cleaned, merged(found))
}

/// Where the credentials of a text stand, in order, without overlaps.
fn find(text: &str) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    if value::may_be_in(text.as_bytes()) {
        value::find(text, &mut all);
    }
    if key::may_be_in(text.as_bytes()) {
        pairs::find(text, &mut all);
    }
    merged(all)
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
#[derive(Debug, Default)]
struct Hits {
    found: Vec<(Range<usize>, Cow<'static, str>)>,
    secrets: Vec<String>,
    /// Keys that were replaced: two of one name would be no strict JSON.
    keys: usize,
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
        for range in find(text) {
            let (start, end) = (value.raw_offset(range.start), value.raw_offset(range.end));
            self.secrets.extend(text.get(range).map(str::to_owned));
            self.found.push((start..end, MARK.into()));
        }
    }

    fn whole(&mut self, value: Value<'_>, text: &str) {
        if !text.is_empty() && text != MARK {
            self.found.push((value.span(), format!("\"{MARK}\"").into()));
            self.secrets.push(text.to_owned());
        }
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
