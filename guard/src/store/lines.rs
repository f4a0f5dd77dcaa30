//! A record as JSON lines: the chain as a file that any tool can read.
//!
//! One record a line: `{"seq":…,"hash":"…","body":{…},"contents":{"field":{"salt":"…","text":"…"}}}`, in the one
//! spelling of bodies, so that the body's text is found in the line as it was hashed. Content that is not UTF-8
//! has `base64` instead of `text`; a record without contents has no `contents`.

use std::io::{BufRead, Read as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use super::chain::{Hash, unhex};
use super::error::StoreError;
use super::read::{Kept, Row};
use super::source::{Item, RawContent, RawRow, Source, TextRow};
use super::spelling::{DEPTH_MAX, members, string};

/// Bytes of a line that is read: a frame of 64 MiB, at its worst spelling, with room.
pub const LINE_BYTES_MAX: usize = 512 * 1024 * 1024;

/// A record's line, without its end.
#[must_use]
pub fn line(row: &Row, contents: &[Kept]) -> String {
    let mut line = format!("{{\"seq\":{},\"hash\":\"{}\",\"body\":{}", row.seq, row.hash, row.body);
    let mut before = ",\"contents\":{";
    for kept in contents {
        let field = serde_json::Value::from(kept.field.as_str());
        let salt = super::chain::hex(&kept.salt);
        let (key, bytes) = match kept.text() {
            Some(text) => ("text", serde_json::Value::from(text).to_string()),
            None => ("base64", format!("\"{}\"", STANDARD.encode(&kept.bytes))),
        };
        line.push_str(&format!("{before}{field}:{{\"salt\":\"{salt}\",\"{key}\":{bytes}}}"));
        before = ",";
    }
    line.push_str(if contents.is_empty() { "}" } else { "}}" });
    line
}

/// Records from lines.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    number: u64,
    line_bytes_max: usize,
}

impl<R: BufRead> Lines<R> {
    /// Reads from here.
    pub fn new(input: R) -> Lines<R> {
        Lines { input, number: 0, line_bytes_max: LINE_BYTES_MAX }
    }

    /// The next line that is not blank, without its end.
    fn line(&mut self) -> Result<Option<String>, StoreError> {
        loop {
            self.number += 1;
            let mut line = Vec::new();
            let most = u64::try_from(self.line_bytes_max).unwrap_or(u64::MAX).saturating_add(1);
            let read = self.input.by_ref().take(most).read_until(b'\n', &mut line);
            if read.map_err(|why| StoreError::Os(why.to_string()))? == 0 {
                return Ok(None);
            }
            if line.last() == Some(&b'\n') {
                line.pop();
            } else if line.len() > self.line_bytes_max {
                return Err(self.wrong("it is longer than any that we write"));
            }
            if !line.is_empty() {
                return String::from_utf8(line).map(Some).map_err(|_| self.wrong("it is not UTF-8"));
            }
        }
    }

    fn wrong(&self, what: &str) -> StoreError {
        StoreError::Corrupt(format!("line {}: {what}", self.number))
    }

    /// A row, and the rows of its contents.
    fn parse(&self, line: &str) -> Result<RawRow, StoreError> {
        let found = members(line, DEPTH_MAX + 1).map_err(|why| self.wrong(&why.to_string()))?;
        let ([("seq", seq), ("hash", hash), ("body", body)], contents) = found.split_at(found.len().min(3))
        else {
            return Err(self.wrong("it does not begin with seq, hash and body"));
        };
        let contents = match contents {
            [] => Vec::new(),
            [("contents", contents)] => {
                parse_contents(contents).ok_or_else(|| self.wrong("its contents are not as we write them"))?
            }
            _ => return Err(self.wrong("it has more than seq, hash, body and contents")),
        };
        let seq = seq.parse().map_err(|_| self.wrong("its seq is no number"))?;
        Ok(RawRow { seq, body: body.as_bytes().to_vec(), hash: hex(hash).map(Hash), contents })
    }
}

impl<R: BufRead> Source for Lines<R> {
    fn next(&mut self) -> Result<Option<Item>, StoreError> {
        let Some(line) = self.line()? else { return Ok(None) };
        Ok(Some(Item::Record(self.parse(&line)?)))
    }

    fn texts(&mut self, _: &mut dyn FnMut(TextRow)) -> Result<(), StoreError> {
        Ok(())
    }

    fn file(&mut self) -> Vec<String> {
        Vec::new()
    }
}

fn parse_contents(json: &str) -> Option<Vec<RawContent>> {
    let fields = members(json, DEPTH_MAX).ok()?;
    fields
        .into_iter()
        .map(|(field, content)| {
            let field = string(&format!("\"{field}\""))?.into_owned();
            let found = members(content, DEPTH_MAX).ok()?;
            let [("salt", salt), bytes @ ..] = found.as_slice() else { return None };
            let bytes = match bytes {
                [("text", text)] => Bytes::from(string(text)?.into_owned()),
                [("base64", text)] => Bytes::from(STANDARD.decode(string(text)?.as_bytes()).ok()?),
                _ => return None,
            };
            let salt = hex(salt);
            Some(RawContent { field, salt, bytes: Some(bytes), text: None, is_double: false })
        })
        .collect()
}

/// The bytes of a string of hexadecimal digits.
fn hex<const LENGTH: usize>(json: &str) -> Option<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    unhex(json.strip_prefix('"')?.strip_suffix('"')?, &mut bytes)?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_their_limit() {
        let line = "{\"seq\":1,\"hash\":\"\",\"body\":{}}";
        let read = |line_bytes_max, end: &str| {
            let text = format!("\n{line}{end}");
            Lines { input: text.as_bytes(), number: 0, line_bytes_max }.next().map(|item| item.is_some())
        };
        for end in ["\n", ""] {
            assert_eq!(read(line.len() + 1, end), Ok(true));
            assert_eq!(read(line.len(), end), Ok(true));
            assert!(
                matches!(read(line.len() - 1, end), Err(StoreError::Corrupt(why)) if why.starts_with("line 2"))
            );
        }
    }
}
