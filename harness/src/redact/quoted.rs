//! Where a message quotes a known secret: as it is, escaped once or twice, whole or cut.
//!
//! A schema's message quotes the JSON text of a value, a record's `findings` are JSON that quotes such a message, and
//! long ones are cut: a search for the plain value would find none of these.

use std::collections::HashSet;
use std::ops::Range;

use super::{MARK, QUOTED_BYTES_MIN};

/// What stands where a quoted text was cut.
const CUTS: [&str; 2] = ["…", "\\u2026"];
/// Bytes of a cut quote, at most: the longest reason, all of it escaped.
const CUT_BYTES_MAX: usize = 8 * 1024;
/// Bytes of a secret's start that are taken out though nothing says that it was cut there: some quotes end so.
const UNMARKED_BYTES_MIN: usize = 24;

/// Where they stand, in no order.
pub(super) fn find(message: &str, secrets: &[String]) -> Vec<Range<usize>> {
    let mut spellings: Vec<String> = secrets
        .iter()
        .filter(|secret| secret.len() >= QUOTED_BYTES_MIN && *secret != MARK)
        .flat_map(|secret| spellings(start_of(secret, message.len())))
        .collect();
    spellings.sort_unstable();
    spellings.dedup();
    let whole =
        |text: &String| message.match_indices(text.as_str()).map(|(at, it)| at..at + it.len()).collect();
    let mut found: Vec<Range<usize>> = spellings.iter().flat_map(|text| -> Vec<_> { whole(text) }).collect();
    found.extend(cut_ones(message, &spellings));
    found
}

/// As much of it as a message of this size can quote, and a byte more, so that a quote of that much is a cut one.
fn start_of(secret: &str, bytes: usize) -> &str {
    let end = (bytes + 1..secret.len()).find(|at| secret.is_char_boundary(*at));
    end.and_then(|end| secret.get(..end)).unwrap_or(secret)
}

/// Where a secret begins and does not go on: before a mark that it was cut, or, where that much of it is there, before
/// anything. Whoever fills a message with cuts and starts of secrets must not make this take long: each place is
/// compared with two neighbours in order, not with all secrets, and what was found is not looked at again.
fn cut_ones(message: &str, sorted: &[String]) -> Vec<Range<usize>> {
    let cuts = CUTS.iter().flat_map(|cut| message.match_indices(cut)).map(|(at, _)| at);
    let mut cuts: Vec<usize> = cuts.collect();
    cuts.sort_unstable();
    let starts: HashSet<&[u8]> =
        sorted.iter().filter_map(|text| text.as_bytes().get(..QUOTED_BYTES_MIN)).collect();
    if starts.is_empty() {
        return Vec::new();
    }
    let places = message.as_bytes().windows(QUOTED_BYTES_MIN).enumerate();
    let places = places.filter(|(_, piece)| starts.contains(piece)).map(|(at, _)| at);
    let mut found: Vec<Range<usize>> = Vec::new();
    for start in places {
        let is_done = found.last().is_some_and(|last| start < last.end);
        let Some(rest) = message.get(start..).filter(|_| !is_done) else { continue };
        let end = start + shared(rest, sorted);
        let last = cuts.partition_point(|cut| *cut <= end).checked_sub(1).and_then(|last| cuts.get(last));
        let marked = last.copied().filter(|cut| *cut >= start + QUOTED_BYTES_MIN);
        let unmarked = (end >= start + UNMARKED_BYTES_MIN)
            .then(|| (start..=end).rev().find(|at| message.is_char_boundary(*at)).unwrap_or(start));
        found.extend(marked.max(unmarked).map(|end| start..end));
    }
    found
}

/// How much of a text's beginning is the beginning of a secret.
fn shared(text: &str, sorted: &[String]) -> usize {
    let next = sorted.partition_point(|secret| secret.as_str() < text);
    let common = |at: usize| {
        let secret = sorted.get(at).map(String::as_bytes).unwrap_or_default();
        let same = secret.iter().zip(text.as_bytes()).take(CUT_BYTES_MAX).take_while(|(a, b)| a == b);
        same.count()
    };
    common(next).max(next.checked_sub(1).map_or(0, common))
}

/// The secret itself, and what it becomes in JSON text and in the text of an error, each of them once more in JSON.
fn spellings(secret: &str) -> Vec<String> {
    if secret.bytes().all(|b| matches!(b, b' '..=b'~') && !matches!(b, b'"' | b'\'' | b'\\')) {
        return vec![secret.to_owned()];
    }
    let mut all = vec![secret.to_owned(), json(secret), ascii(secret), debug(secret), plain_debug(secret)];
    all.dedup();
    let again: Vec<String> =
        all.iter().flat_map(|text| [json(text), ascii(text), debug(text), plain_debug(text)]).collect();
    all.extend(again);
    all
}

fn json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(&quoted).to_owned()
}

/// JSON in ASCII, as Python writes it.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in json(text).chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    out
}

fn debug(text: &str) -> String {
    text.escape_debug().collect()
}

/// The same where quotes and backslashes stay, as in a schema's messages.
fn plain_debug(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '\'') {
            out.push(c);
        } else {
            out.extend(c.escape_debug());
        }
    }
    out
}
