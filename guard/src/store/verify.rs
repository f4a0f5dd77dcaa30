//! Whether a record is whole: every hash, every commitment, nothing missing, nothing slipped in.
//!
//! What a chain alone cannot show is that its end was cut, or that it was written anew from some row on: for that
//! somebody must have kept a head elsewhere ([`Options::head`]), or a key must have signed ([`Options::key`]).
//!
//! What is broken is named by its row, and the first one first: a record whose own columns are wrong; then content
//! that is missing, unless a `removed` record says so; then texts that are kept once. (A broken row may be the very
//! one that explained what is missing, so it comes first wherever it stands.)

mod check;
mod missing;

use std::sync::mpsc::sync_channel;

use super::chain::{Hash, Head};
use super::source::{Item, RawContent, Source};
use super::spelling::Body;
use check::Check;

/// Records that go to the second thread at once.
const BATCH: usize = 256;
/// A batch of so many bytes goes earlier: records of megabytes would else wait by the thousand.
const BATCH_BYTES: usize = 1024 * 1024;
/// Batches that may wait for it.
const BATCHES_WAITING: usize = 4;
/// What is said of a file that has none.
pub const EMPTY: &str = "empty: no record";
/// Faults that are kept; more are counted.
pub const FAULTS_MAX: usize = 20;

/// What to hold the chain against.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// A head that was seen once: it must be in the chain.
    pub head: Option<KnownHead>,
    /// Only this key's signatures count, and there must be one.
    pub key: Option<[u8; 32]>,
}

/// A hash that was the chain's head once, perhaps with its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownHead {
    /// Its number, where that is known.
    pub seq: Option<u64>,
    /// The hash.
    pub hash: Hash,
}

/// A text that is no head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a head as `framegate verify` prints it: 64 hexadecimal digits, or a number, a colon and these"
)]
pub struct NotAHead;

impl std::str::FromStr for KnownHead {
    type Err = NotAHead;

    fn from_str(text: &str) -> Result<KnownHead, NotAHead> {
        let (seq, hash) = match text.split_once(':') {
            None => (None, text),
            Some((seq, hash)) => (Some(seq.parse().map_err(|_| NotAHead)?), hash),
        };
        Ok(KnownHead { seq, hash: hash.parse().map_err(|_| NotAHead)? })
    }
}

/// Where something is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A row of `records`.
    Record(i64),
    /// A row of `contents`.
    Content(i64, String),
    /// A row of `texts`.
    Text(i64),
    /// No row in particular.
    File,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Record(seq) => write!(f, "record {seq}"),
            Place::Content(seq, field) => write!(f, "record {seq}, content {}", field.escape_debug()),
            Place::Text(id) => write!(f, "text {id}"),
            Place::File => f.write_str("the file"),
        }
    }
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub place: Place,
    /// What.
    pub what: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// The end of the chain.
    pub head: Head,
    /// What is wrong, the first broken row first; at most [`FAULTS_MAX`].
    pub faults: Vec<Fault>,
    /// How many there are in all.
    pub faults_count: u64,
    /// How much there is.
    pub counts: Counts,
}

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Records.
    pub records: u64,
    /// Sessions.
    pub sessions: u64,
    /// Calls.
    pub calls: u64,
    /// Contents that are there.
    pub contents: u64,
    /// Contents that were removed on purpose.
    pub removed: u64,
    /// Contents that were never kept.
    pub dropped: u64,
    /// Texts that are kept once.
    pub texts: u64,
    /// Calls that went out before they were on disk.
    pub waived: u64,
    /// Calls that went out and were never written.
    pub unrecorded: u64,
    /// Frames of the client's that may be calls, and went on though they could not be read as any.
    pub unread: u64,
    /// Frames and ends of calls that have no record because too much waited.
    pub omitted: u64,
    /// Signatures that are right.
    pub signed: u64,
    /// The last record that such a signature covers.
    pub signed_to: u64,
}

impl Report {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.faults_count == 0
    }
}

/// Looks at each record on the way; see [`verify`].
pub trait Watch {
    /// A record whose body is in its spelling.
    fn record(&mut self, body: &Body<'_>, contents: &[RawContent]);
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWatch;

impl Watch for NoWatch {
    fn record(&mut self, _: &Body<'_>, _: &[RawContent]) {}
}

/// Verifies all that a source gives. Reading goes on in this thread, looking in another.
pub fn verify(source: &mut dyn Source, options: Options, watch: &mut (dyn Watch + Send)) -> Report {
    let (send, receive) = sync_channel::<Vec<Item>>(BATCHES_WAITING);
    let (mut check, failed) = std::thread::scope(|scope| {
        let checking = scope.spawn(move || {
            let mut check = Check::new(options, watch);
            for item in receive.into_iter().flatten() {
                check.item(item);
            }
            check
        });
        let (mut batch, mut bytes) = (Vec::with_capacity(BATCH), 0);
        let failed = loop {
            match source.next() {
                Ok(Some(item)) => {
                    bytes += item.bytes();
                    batch.push(item);
                }
                Ok(None) => break None,
                Err(why) => break Some(why),
            }
            if batch.len() >= BATCH || bytes >= BATCH_BYTES {
                bytes = 0;
                // Only a check that panicked hears no more, and joining it says so.
                let _ = send.send(std::mem::replace(&mut batch, Vec::with_capacity(BATCH)));
            }
        };
        let _ = send.send(batch);
        drop(send);
        match checking.join() {
            Ok(check) => (check, failed),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    match failed {
        Some(why) => check.unreadable(&why.what()),
        None => {
            if let Err(why) = source.texts(&mut |text| check.text(&text)) {
                check.unreadable_texts(&why.what());
            }
        }
    }
    source.file().into_iter().for_each(|what| check.file(what));
    check.report()
}
