//! What must hold of a record in foreign hands, as one function for the fuzzer; also run over a corpus as an ordinary
//! test. `verify` and `replay` read JSON lines that anybody may have written.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::StoreError;
use super::chain::{Hash, commit, hex, link};
use super::lines::{Lines, line};
use super::read::{Kept, Row};
use super::retrace::{self, Retracer};
use super::source::{Item, RawRow, Source as _};
use super::spelling::{Body, DEPTH_MAX};
use super::verify::{NoWatch, Options, Report, verify};
use crate::guard::Hearing;
use crate::json::{Document, Kind, Limits, Value};

/// More records than that show nothing new, and make one input slow.
const RECORDS_MAX: usize = 64;

/// Reads the bytes as a body, as JSON lines, and as the records of a chain that is whole, and asserts what must hold.
///
/// In the last form each line is what follows `"time":0,` in a body, without its end, then perhaps a tab, a content's
/// name, a tab and the content, and so on: the hashes are made here, so that what is read behind them is reached.
///
/// # Panics
/// When something does not hold.
pub fn fuzz(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    assert_one_spelling(&text);
    // Anything is read or refused; what is read comes back from its own line.
    rows(bytes).iter().for_each(assert_line_comes_back);
    let _ = verified(bytes);
    let chain = Chain::of(&text);
    assert_shows_changes(&chain);
    assert_retraced(&chain);
}

/// What is taken for a body is JSON that has one reading, and that reading has this spelling.
fn assert_one_spelling(text: &str) {
    if Body::read(text).is_err() {
        return;
    }
    let limits = Limits { depth: DEPTH_MAX, ..Limits::default() };
    let read = Document::read(text.to_owned().into(), &limits);
    assert!(read.is_ok(), "a body is no strict JSON ({:?}): {text}", read.err());
    let Ok(read) = read else { return };
    let mut spelled = String::new();
    spell(read.root(), &mut spelled);
    assert_eq!(spelled, text, "a body has another spelling");
}

/// As deep as the reader's limit lets it go.
fn spell(value: Value<'_>, out: &mut String) {
    let string = |text: &str| serde_json::Value::from(text).to_string();
    match value.kind() {
        Kind::Array => {
            out.push('[');
            for (at, item) in value.items().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                spell(item, out);
            }
            out.push(']');
        }
        Kind::Object => {
            out.push('{');
            for (at, (key, member)) in value.members().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                out.push_str(&string(key));
                out.push(':');
                spell(member, out);
            }
            out.push('}');
        }
        Kind::String => out.push_str(&string(value.as_str().unwrap_or_default())),
        Kind::Bool | Kind::Null | Kind::Number => out.push_str(value.raw()),
    }
}

/// The records of JSON lines, up to the first that is none.
fn rows(bytes: &[u8]) -> Vec<RawRow> {
    let mut lines = Lines::new(bytes);
    let mut rows = Vec::new();
    while let Ok(Some(item)) = lines.next() {
        if let Item::Record(row) = item {
            rows.push(row);
        }
    }
    rows
}

fn assert_line_comes_back(row: &RawRow) {
    let kept = row.contents.iter().map(|content| {
        let (field, salt, bytes) = (content.field.clone(), content.salt?, content.bytes.clone()?);
        Some(Kept { field, salt, bytes })
    });
    let (Some(kept), Some(hash), Ok(seq)) =
        (kept.collect::<Option<Vec<Kept>>>(), row.hash, u64::try_from(row.seq))
    else {
        return;
    };
    let body = String::from_utf8(row.body.clone());
    assert!(body.is_ok(), "a line's body is no text: {:?}", row.body);
    let Ok(body) = body else { return };
    let again = line(&Row { seq, body, hash }, &kept);
    assert_eq!(rows(again.as_bytes()), std::slice::from_ref(row), "a line reads as another record: {again}");
}

fn verified(lines: &[u8]) -> Report {
    verify(&mut Lines::new(lines), Options::default(), &mut NoWatch)
}

/// Records that follow from each other.
struct Chain(BTreeMap<u64, (Row, Vec<Kept>)>);

impl Chain {
    fn of(text: &str) -> Chain {
        let mut chain = Chain(BTreeMap::new());
        for piece in text.lines().take(RECORDS_MAX) {
            let mut parts = piece.split('\t');
            let members = parts.next().unwrap_or_default();
            let mut kept: BTreeMap<String, Bytes> = BTreeMap::new();
            while let (Some(field), Some(content)) = (parts.next(), parts.next()) {
                kept.insert(field.to_owned(), Bytes::copy_from_slice(content.as_bytes()));
            }
            chain.add(members, kept);
        }
        chain
    }

    /// Adds it, if it is a body.
    fn add(&mut self, members: &str, kept: BTreeMap<String, Bytes>) {
        let (before, seq) = match self.0.last_key_value() {
            Some((seq, (row, _))) => (row.hash, seq + 1),
            None => (Hash::default(), 1),
        };
        let salt = [7; 16];
        let name = |field: &str| serde_json::Value::from(field).to_string();
        let commitments = kept
            .iter()
            .map(|(field, bytes)| format!("{}:\"{}\"", name(field), hex(&commit(&salt, field, bytes).0)));
        let commitments = commitments.collect::<Vec<_>>().join(",");
        let commitments = if kept.is_empty() { String::new() } else { format!(",\"x\":{{{commitments}}}") };
        let body = format!("{{\"seq\":{seq},\"time\":0,{members}{commitments}}}");
        if Body::read(&body).is_ok() {
            let hash = link(&before, &body);
            let kept = kept.into_iter().map(|(field, bytes)| Kept { field, salt, bytes });
            self.0.insert(seq, (Row { seq, body, hash }, kept.collect()));
        }
    }

    fn lines(&self) -> Vec<String> {
        self.0.values().map(|(row, kept)| line(row, kept)).collect()
    }
}

/// A chain that is whole is not whole any more once a record of it is taken out or has another body.
fn assert_shows_changes(chain: &Chain) {
    let lines = chain.lines();
    if !verified(lines.join("\n").as_bytes()).is_whole() {
        return;
    }
    for at in 0..lines.len().saturating_sub(1) {
        let mut cut = lines.clone();
        cut.remove(at);
        assert!(
            !verified(cut.join("\n").as_bytes()).is_whole(),
            "nobody sees that record {} is gone",
            at + 1
        );
    }
    for (at, changed) in lines.iter().enumerate() {
        let mut others = lines.clone();
        others.splice(at..=at, [changed.replacen("\"time\":0,", "\"time\":1,", 1)]);
        assert!(!verified(others.join("\n").as_bytes()).is_whole(), "nobody sees another record {}", at + 1);
    }
}

impl retrace::Source for Chain {
    fn row(&self, seq: u64) -> Result<Option<Row>, StoreError> {
        Ok(self.0.get(&seq).map(|(row, _)| row.clone()))
    }

    fn contents(&self, seq: u64) -> Result<Vec<Kept>, StoreError> {
        Ok(self.0.get(&seq).map(|(_, kept)| kept.clone()).unwrap_or_default())
    }
}

/// Each call gives its inputs, or says what is missing: the same in one pass over all as from this row alone.
fn assert_retraced(chain: &Chain) {
    for reads in [Hearing::Nothing, Hearing::Words, Hearing::Sources] {
        let mut all = Retracer::new(chain);
        for (row, _) in chain.0.values() {
            let record = row.record();
            assert!(record.is_ok(), "a body is no record: {record:?}");
            let Ok(record) = record else { return };
            if record.kind() == "call" {
                let mut alone = Retracer::new(chain);
                let earlier = chain.0.range(..row.seq).filter_map(|(_, (row, _))| row.record().ok());
                earlier.for_each(|record| alone.see(&record));
                let [one, other] =
                    [&mut all, &mut alone].map(|retracer| format!("{:?}", retracer.trace(&record, reads)));
                assert_eq!(one, other, "record {} is read in two ways", row.seq);
            }
            all.see(&record);
        }
    }
}
