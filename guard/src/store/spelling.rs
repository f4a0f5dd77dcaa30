//! The one spelling of a body, and what the chain itself reads in it.
//!
//! A body that could be written in two ways could be shown in two ways: a reader that keeps the last of two equal
//! keys and one that keeps the first would see different records under one hash. So there is exactly one spelling:
//! no white space; strings escaped only where JSON demands it (`\"`, `\\`, `\b \f \n \r \t`, `\u00xx` in small
//! letters for what else is below U+0020); integers only, from -2^63 to 2^64-1; no key twice in an object.
//! It is what Python's `json.dumps(body, separators=(',', ':'), ensure_ascii=False)` gives back.

use std::borrow::Cow;
use std::collections::HashSet;

use super::chain::Hash;
use super::entry::DROPPED;

/// How deep values may lie in each other; what we write is flat.
pub const DEPTH_MAX: usize = 64;
/// So many contents has a record at most; we write less than ten. What is looked up by name is looked up in a list.
pub const FIELDS_MAX: usize = 64;
/// So many fields, and so many kinds, has a `removed` record at most.
pub const REMOVED_NAMES_MAX: usize = 16;
/// From so many members on, equal keys are looked for in a set.
const LINEAR_MEMBERS_MAX: usize = 16;

/// A body that is not in the one spelling, or not that of a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}, at byte {at}")]
pub struct Misspelled {
    /// What is wrong.
    pub what: &'static str,
    /// Where.
    pub at: usize,
}

/// What the chain reads in a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body<'a> {
    /// The number.
    pub seq: u64,
    /// Microseconds since 1970-01-01T00:00:00Z.
    pub time: i64,
    /// The kind.
    pub kind: Cow<'a, str>,
    /// All members in order, keys as spelled between their quotes, values as JSON.
    pub members: Vec<(&'a str, &'a str)>,
    /// What it commits to.
    pub commitments: Vec<(Cow<'a, str>, Hash)>,
    /// What it commits to and was never kept.
    pub dropped: Vec<String>,
}

impl<'a> Body<'a> {
    /// Reads it.
    ///
    /// # Errors
    /// [`Misspelled`].
    pub fn read(text: &'a str) -> Result<Body<'a>, Misspelled> {
        let members = members(text, DEPTH_MAX)?;
        let wrong = |what| Misspelled { what, at: 0 };
        let [("seq", seq), ("time", time), ("kind", kind), ..] = members.as_slice() else {
            return Err(wrong("a body does not begin with seq, time and kind"));
        };
        let seq = seq.parse().map_err(|_| wrong("seq is no number"))?;
        let time = time.parse().map_err(|_| wrong("time is no number"))?;
        let kind = string(kind).ok_or_else(|| wrong("kind is no string"))?;
        let commitments = commitments(&members).ok_or_else(|| {
            wrong("x is not the last member, or not an object of hashes, or there is nothing in it")
        })?;
        if commitments.len() > FIELDS_MAX {
            return Err(wrong("there are more than 64 fields in x"));
        }
        let dropped = dropped(&members, &commitments)
            .ok_or_else(|| wrong("`dropped` is no list of names that are in x, each once"))?;
        Ok(Body { seq, time, kind, members, commitments, dropped })
    }

    /// A member's value as JSON.
    #[must_use]
    pub fn raw(&self, key: &str) -> Option<&'a str> {
        self.members.iter().find(|(found, _)| *found == key).map(|(_, value)| *value)
    }
}

fn commitments<'a>(members: &[(&'a str, &'a str)]) -> Option<Vec<(Cow<'a, str>, Hash)>> {
    let Some(place) = members.iter().position(|(key, _)| *key == "x") else { return Some(Vec::new()) };
    let (_, last) = members.get(place)?;
    if place + 1 != members.len() || *last == "{}" {
        return None;
    }
    let fields = self::members(last, DEPTH_MAX).ok()?;
    fields
        .into_iter()
        .map(|(field, hash)| {
            let hash = hash.strip_prefix('"')?.strip_suffix('"')?.parse().ok()?;
            Some((unescaped(field)?, hash))
        })
        .collect()
}

fn dropped(members: &[(&str, &str)], commitments: &[(Cow<'_, str>, Hash)]) -> Option<Vec<String>> {
    let Some((_, list)) = members.iter().find(|(key, _)| *key == DROPPED) else { return Some(Vec::new()) };
    let names: Vec<String> = serde_json::from_str(list).ok()?;
    let is_known = |name: &String| commitments.iter().any(|(field, _)| field == name);
    let mut seen = HashSet::new();
    (!names.is_empty() && names.iter().all(|name| is_known(name) && seen.insert(name.clone())))
        .then_some(names)
}

/// A string's text, from its JSON.
pub(super) fn string(json: &str) -> Option<Cow<'_, str>> {
    unescaped(json.strip_prefix('"')?.strip_suffix('"')?)
}

/// A string's text, from what stands between its quotes.
fn unescaped(raw: &str) -> Option<Cow<'_, str>> {
    if raw.contains('\\') {
        return serde_json::from_str(&format!("\"{raw}\"")).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(raw))
}

/// The members of an object in the one spelling: keys as they stand between their quotes, values as JSON.
pub(super) fn members(text: &str, depth_max: usize) -> Result<Vec<(&str, &str)>, Misspelled> {
    let mut scan = Scan { text, at: 0, depth_max, keys: Vec::new() };
    let mut members = Vec::with_capacity(16);
    scan.object(1, &mut |key, value| members.push((key, value)))?;
    if scan.at != text.len() {
        return scan.wrong("something stands after the object");
    }
    Ok(members)
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    depth_max: usize,
    /// Keys of all objects that are open.
    keys: Vec<&'a str>,
}

impl<'a> Scan<'a> {
    fn wrong<T>(&self, what: &'static str) -> Result<T, Misspelled> {
        Err(Misspelled { what, at: self.at })
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8, what: &'static str) -> Result<(), Misspelled> {
        if self.peek() != Some(byte) {
            return self.wrong(what);
        }
        self.at += 1;
        Ok(())
    }

    fn object(&mut self, depth: usize, member: &mut dyn FnMut(&'a str, &'a str)) -> Result<(), Misspelled> {
        self.take(b'{', "an object is expected")?;
        let first = self.keys.len();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            let key = self.string()?;
            self.take(b':', "a colon is expected, without space")?;
            let from = self.at;
            self.value(depth)?;
            member(key, self.text.get(from..self.at).unwrap_or_default());
            self.keys.push(key);
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return self.wrong("a comma or the object's end is expected"),
            }
        }
        self.at += 1;
        let keys = self.keys.get(first..).unwrap_or_default();
        if has_equal(keys) {
            return self.wrong("a key stands twice in an object");
        }
        self.keys.truncate(first);
        Ok(())
    }

    fn array(&mut self, depth: usize) -> Result<(), Misspelled> {
        self.take(b'[', "a list is expected")?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.value(depth)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return self.wrong("a comma or the list's end is expected"),
            }
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<(), Misspelled> {
        match self.peek() {
            Some(b'"') => self.string().map(|_| ()),
            Some(b'0'..=b'9' | b'-') => self.number(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(b'{' | b'[') if depth >= self.depth_max => self.wrong("values lie too deep in each other"),
            Some(b'{') => self.object(depth + 1, &mut |_, _| ()),
            Some(b'[') => self.array(depth + 1),
            _ => self.wrong("a value is expected, without space"),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Misspelled> {
        if !self.text.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
            return self.wrong("a value is expected, without space");
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), Misspelled> {
        let from = self.at;
        let bytes = self.text.as_bytes();
        let rest = bytes.get(from..).unwrap_or_default();
        let length =
            rest.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'.' | b'e' | b'E' | b'+'));
        let to = from + length.count();
        let digits = self.text.get(from..to).unwrap_or_default();
        // One integer has one spelling: the one that is printed.
        let is_printed = match digits.parse::<i64>() {
            Ok(number) => spells(number.unsigned_abs(), number < 0, digits),
            Err(_) => digits.parse::<u64>().is_ok_and(|number| spells(number, false, digits)),
        };
        if !is_printed {
            return self.wrong("a number is no integer of at most 64 bits in its plain spelling");
        }
        self.at = to;
        Ok(())
    }

    /// A string; what stands between its quotes.
    fn string(&mut self) -> Result<&'a str, Misspelled> {
        self.take(b'"', "a string is expected")?;
        let from = self.at;
        loop {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
            let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
            let Some(plain) = plain else { return self.wrong("a string does not end") };
            self.at += plain;
            match rest.get(plain..) {
                Some([b'"', ..]) => break,
                Some([b'\\', b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't', ..]) => self.at += 2,
                Some([b'\\', b'u', b'0', b'0', high, low, ..]) if is_escaped_control(*high, *low) => {
                    self.at += 6;
                }
                _ => return self.wrong("a string is escaped in another way than the one spelling"),
            }
        }
        let between = self.text.get(from..self.at).unwrap_or_default();
        self.at += 1;
        Ok(between)
    }
}

/// Whether digits are those that are printed for a number.
fn spells(number: u64, is_negative: bool, digits: &str) -> bool {
    let plain = if is_negative { digits.strip_prefix('-').unwrap_or_default() } else { digits };
    match plain.as_bytes() {
        [b'0'] => number == 0 && !is_negative,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// `\u00xx` is for what is below U+0020 and has no letter of its own.
fn is_escaped_control(high: u8, low: u8) -> bool {
    matches!((high, low), (b'0', b'0'..=b'7' | b'b' | b'e' | b'f') | (b'1', b'0'..=b'9' | b'a'..=b'f'))
}

fn has_equal(keys: &[&str]) -> bool {
    if keys.len() > LINEAR_MEMBERS_MAX {
        let mut seen = HashSet::with_capacity(keys.len());
        return !keys.iter().all(|key| seen.insert(key));
    }
    let mut left = keys;
    while let [first, rest @ ..] = left {
        if rest.contains(first) {
            return true;
        }
        left = rest;
    }
    false
}

#[cfg(test)]
mod tests;
