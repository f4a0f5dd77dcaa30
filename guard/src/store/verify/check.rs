//! The look at each row.

use sha2::{Digest as _, Sha256};

use super::missing::{Missing, Numbers, Removed};
use super::{Counts, EMPTY, FAULTS_MAX, Fault, KnownHead, Options, Place, Report, Watch};
use crate::store::FORMAT;
use crate::store::chain::{Hash, Head, commit, link};
use crate::store::sign;
use crate::store::source::{Item, RawContent, RawRow, TextRow};
use crate::store::spelling::{Body, REMOVED_NAMES_MAX};

/// The look, with what must be remembered on the way.
pub(super) struct Check<'w> {
    options: Options,
    watch: &'w mut (dyn Watch + Send),
    /// The last record, as its own row gives it: one broken row is not a broken rest.
    last: Head,
    /// Something is missing after it: there is nothing to follow from.
    is_torn: bool,
    is_head_seen: bool,
    missing: Missing,
    /// Texts that contents point to.
    used: Numbers,
    counts: Counts,
    faults: Vec<Fault>,
    faults_count: u64,
    /// Texts and what is no row's come last.
    late: Vec<Fault>,
    is_cut_short: bool,
}

impl<'w> Check<'w> {
    pub(super) fn new(options: Options, watch: &'w mut (dyn Watch + Send)) -> Check<'w> {
        let before_all = KnownHead { seq: Some(0), hash: Hash::default() };
        Check {
            options,
            watch,
            last: Head::default(),
            is_torn: false,
            // Whoever saw an empty store saw the head of every store.
            is_head_seen: options.head.is_none_or(|head| matches(head, before_all)),
            missing: Missing::default(),
            used: Numbers::default(),
            counts: Counts::default(),
            faults: Vec::new(),
            faults_count: 0,
            late: Vec::new(),
            is_cut_short: false,
        }
    }

    fn fault(&mut self, place: Place, what: impl Into<String>) {
        self.faults_count += 1;
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(Fault { place, what: what.into() });
        }
    }

    fn late(&mut self, place: Place, what: impl Into<String>) {
        self.faults_count += 1;
        if self.late.len() < FAULTS_MAX {
            self.late.push(Fault { place, what: what.into() });
        }
    }

    pub(super) fn item(&mut self, item: Item) {
        let expected = signed(self.last.sequence.saturating_add(1));
        match item {
            Item::Stray(seq) if seq >= expected => {
                let what = format!("is missing; content of record {seq} is there");
                self.fault(Place::Record(expected), what);
                // The others that are missing are not named again by each of their contents.
                self.last.sequence = unsigned(seq);
                self.is_torn = true;
            }
            // One of a record that was already found missing.
            Item::Stray(seq) if seq > 0 => {}
            Item::Stray(seq) => self.fault(Place::Record(seq), "has content, but numbers begin with 1"),
            Item::Record(row) => self.record(&row, expected),
        }
    }

    fn record(&mut self, row: &RawRow, expected: i64) {
        self.counts.records += 1;
        let place = Place::Record(row.seq);
        if row.seq < 1 {
            return self.fault(place, "numbers begin with 1");
        }
        if row.seq > expected {
            self.is_torn = true;
            self.fault(Place::Record(expected), format!("is missing; the next one is record {}", row.seq));
        }
        let Some(hash) = row.hash else {
            self.last.sequence = unsigned(row.seq);
            self.is_torn = true;
            return self.fault(place, "its hash has not 32 bytes");
        };
        let Ok(text) = std::str::from_utf8(&row.body) else {
            self.last = Head { sequence: unsigned(row.seq), hash };
            self.is_torn = false;
            return self.fault(place, "its body is not UTF-8");
        };
        if !self.is_torn && link(&self.last.hash, text) != hash {
            self.fault(place.clone(), "its hash does not follow from its body and the record before");
        }
        let before = self.last;
        self.is_torn = false;
        self.last = Head { sequence: unsigned(row.seq), hash };
        let known = KnownHead { seq: Some(self.last.sequence), hash };
        self.is_head_seen |= self.options.head.is_some_and(|head| matches(head, known));
        match Body::read(text) {
            Ok(body) => self.body(row, &body, before),
            Err(why) => self.fault(place, format!("its body is not in the one spelling: {why}")),
        }
    }

    fn body(&mut self, row: &RawRow, body: &Body<'_>, before: Head) {
        let place = Place::Record(row.seq);
        if i64::try_from(body.seq) != Ok(row.seq) {
            self.fault(place.clone(), format!("its body says that it is record {}", body.seq));
        }
        if (body.kind == "store") != (row.seq == 1) {
            self.fault(place.clone(), "a `store` record stands first, and nowhere else");
        }
        match &*body.kind {
            "store" if number(body, "format").is_none_or(|format| format > u64::from(FORMAT)) => {
                self.fault(place, "its format is newer than this program's, or none");
            }
            "session" => self.counts.sessions += 1,
            "call" => {
                self.counts.calls += 1;
                self.counts.waived += u64::from(body.raw("waived") == Some("true"));
            }
            "gap" => {
                let count = number(body, "count").unwrap_or_default();
                self.counts.unrecorded = self.counts.unrecorded.saturating_add(count);
            }
            "omitted" => {
                let count = number(body, "count").unwrap_or_default();
                self.counts.omitted = self.counts.omitted.saturating_add(count);
            }
            "frame" => self.counts.unread += u64::from(body.raw("unread") == Some("true")),
            "removed" => match removed(body) {
                Some(removed) => self.missing.removed(removed),
                None => self.fault(place, "it does not say what was removed before it"),
            },
            "checkpoint" => self.checkpoint(body, before),
            _ => {}
        }
        self.contents(row, body);
        self.watch.record(body, &row.contents);
    }

    fn contents(&mut self, row: &RawRow, body: &Body<'_>) {
        for content in &row.contents {
            self.counts.contents += 1;
            if let Some((id, _)) = content.text {
                self.used.insert(unsigned(id));
            }
            if let Some(what) = wrong_content(content, body) {
                self.fault(Place::Content(row.seq, content.field.clone()), what);
            }
        }
        for (field, _) in &body.commitments {
            if row.contents.iter().any(|content| content.field == *field) {
                continue;
            }
            if body.dropped.iter().any(|dropped| dropped == field) {
                self.counts.dropped += 1;
            } else {
                self.missing.content(unsigned(row.seq), &body.kind, field);
            }
        }
    }

    fn checkpoint(&mut self, body: &Body<'_>, before: Head) {
        let place = Place::Record(signed(body.seq));
        let Some(signature) = sign::Signed::read(body) else {
            return self.fault(place, "it has no signature that can be read");
        };
        if signature.signs != before.hash {
            return self.fault(place, "it signs another hash than that of the record before");
        }
        if self.options.key.is_some_and(|key| key != signature.key) {
            return self.fault(place, "it is signed by another key");
        }
        match signature.is_right(before.sequence) {
            Some(true) => {
                self.counts.signed += 1;
                self.counts.signed_to = before.sequence;
            }
            Some(false) => self.fault(place, "its signature is wrong"),
            None => {}
        }
    }

    /// A text that is kept once. Whose bytes were changed under a content shows here.
    pub(super) fn text(&mut self, text: &TextRow) {
        self.counts.texts += 1;
        if text.hash != Some(plain(&text.bytes)) {
            self.late(Place::Text(text.id), "its hash is not that of its bytes");
        } else if !self.used.contains(unsigned(text.id)) {
            self.late(Place::Text(text.id), "no content points to it");
        }
    }

    /// The rest cannot be read.
    pub(super) fn unreadable(&mut self, why: &str) {
        self.is_cut_short = true;
        let next = signed(self.last.sequence.saturating_add(1));
        self.fault(Place::Record(next), format!("cannot be read: {why}"));
    }

    /// The texts cannot be read.
    pub(super) fn unreadable_texts(&mut self, why: &str) {
        self.late(Place::File, format!("its texts cannot be read: {why}"));
    }

    /// Something that is no row's.
    pub(super) fn file(&mut self, what: String) {
        self.late(Place::File, what);
    }

    pub(super) fn report(mut self) -> Report {
        let (removed, lost) = self.missing.settle();
        self.counts.removed = removed;
        if !self.is_cut_short {
            for place in lost {
                self.fault(place, "is missing, and no `removed` record says so");
            }
        }
        if self.counts.records == 0 && self.faults_count == 0 {
            // Nobody wrote an empty file: the store's own record stands in any that was written.
            self.late(Place::File, EMPTY);
        }
        if !self.is_head_seen {
            let what = "the head that you know is not in it: its end was cut, or it is another store";
            self.late(Place::File, what);
        }
        if self.options.key.is_some() && self.counts.signed == 0 {
            self.late(Place::File, "nothing in it is signed by this key");
        }
        let mut faults = self.faults;
        faults.append(&mut self.late);
        faults.truncate(FAULTS_MAX);
        Report { head: self.last, faults, faults_count: self.faults_count, counts: self.counts }
    }
}

fn wrong_content(content: &RawContent, body: &Body<'_>) -> Option<String> {
    let field = content.field.as_str();
    let Some((_, committed)) = body.commitments.iter().find(|(name, _)| name == field) else {
        return Some("its record does not commit to it".into());
    };
    if body.dropped.iter().any(|dropped| dropped == field) {
        return Some("its record says that it was never kept".into());
    }
    let Some(salt) = content.salt else {
        return Some("its salt has not 16 bytes".into());
    };
    if content.is_double {
        return Some("it has bytes of its own and points to a text".into());
    }
    let bytes = match (&content.bytes, &content.text) {
        (Some(bytes), _) => bytes,
        (None, Some((id, _))) => return Some(format!("it points to text {id}, which is not there")),
        (None, None) => return Some("it has no bytes and points to no text".into()),
    };
    if commit(&salt, field, bytes) == *committed {
        return None;
    }
    // A text that was changed is named itself, once, not by all that point to it.
    let is_text_changed = content.text.is_some_and(|(_, hash)| hash != Some(plain(bytes)));
    (!is_text_changed).then(|| "it is not what its record commits to".into())
}

fn plain(bytes: &[u8]) -> Hash {
    Hash(Sha256::digest(bytes).into())
}

fn removed(body: &Body<'_>) -> Option<Removed> {
    let from = number(body, "from")?;
    let to = number(body, "to")?;
    let names = |key| {
        let names: Vec<String> = serde_json::from_str(body.raw(key)?).ok()?;
        (names.len() <= REMOVED_NAMES_MAX).then(|| names.into_iter().collect())
    };
    let (fields, except) = (names("fields")?, names("except")?);
    // What comes later cannot have been removed by then.
    (1 <= from && from <= to && to < body.seq).then_some(Removed { from, to, fields, except })
}

fn number(body: &Body<'_>, key: &str) -> Option<u64> {
    body.raw(key)?.parse().ok()
}

fn matches(wanted: KnownHead, found: KnownHead) -> bool {
    wanted.hash == found.hash && (wanted.seq.is_none() || wanted.seq == found.seq)
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Of a number that may be below zero, one that differs from all others.
fn unsigned(number: i64) -> u64 {
    number.cast_unsigned()
}
