//! Every frame is in the record: with a row of its own, or in the running hash of those that passed unchanged.
//!
//! ```text
//! received ─► awaited ─┬ an event is about it (call, end, refused, …) ─► its row
//!                      ├ the same bytes are sent ─────────────────────► the running hash of its direction
//!                      ├ other bytes are sent in its place ───────────► a row: edited
//!                      └ nothing ever is ─────────────────────────────► a row: dropped
//! made here ─┬ an event is about it ─► nothing more
//!            └ otherwise ────────────► a row: ours
//! ```
//!
//! What has no row is what was sent as the very bytes that were received, so one hash says both. It begins anew
//! after each row, with the session's salt, over `length (8 bytes, big-endian) ‖ bytes` of each frame, terminators
//! included. Answers to questions of our own (the guard's listing) stop here and are not counted.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use framegate_guard::store::event::{Event, FrameRecord, FrameSent, Peer};
use framegate_guard::store::keep::Keep;
use framegate_pump::{Ended, Head, How, Observer, Point, Seen, Side, Ticket, TooLong};
use sha2::{Digest as _, Sha256};

use super::ledger::{StoreLedger, now};
use super::queue::{Queue, What};

/// Bytes of frames whose hash is left to the recorder's thread; beyond it they are hashed where they are seen.
const LATER_BYTES_MAX: usize = 1024 * 1024;
/// How many such frames.
const LATER_FRAMES_MAX: usize = 256;
/// Frames made here that are announced and not sent yet. One that is forgotten gets a second row.
const ANNOUNCED_MAX: usize = 4096;

/// Frames of one session, between two rows and beyond.
#[derive(Debug, Default)]
pub(super) struct Flow {
    now: Segment,
    /// Received, and nothing became of them yet.
    awaited: Vec<Awaited>,
    /// Made here, with a row; not sent yet.
    announced: Vec<Bytes>,
}

#[derive(Debug)]
struct Awaited {
    from: Side,
    head: Option<Head>,
    bytes: Bytes,
    /// A row is about it already.
    claim: Option<Claim>,
}

/// What a frame's row says of its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// It is sent as it came, or not at all.
    AsItIs,
    /// Others are sent in its place.
    Edited,
    /// It was made here.
    Ours,
}

/// The frames without a row between two rows.
#[derive(Debug, Default)]
pub(super) struct Segment {
    salt: [u8; 16],
    keep: Keep,
    /// Client to server, server to client.
    runs: [Run; 2],
    text: Option<String>,
}

#[derive(Debug, Default)]
struct Run {
    frames: u64,
    bytes: u64,
    later: Vec<Bytes>,
    later_bytes: usize,
    hash: Option<Sha256>,
    /// The salt stands in the record: who knows all of these frames but a code of six digits could find that by
    /// trying. So where a frame is not kept as it is, or nobody has looked, there is no hash.
    is_hidden: bool,
}

impl Flow {
    /// The salt that hashes begin with, and of which frames one may stand in the record.
    pub(super) fn begin(&mut self, salt: [u8; 16], keep: Keep) {
        self.now = Segment { salt, keep, ..Segment::default() };
    }

    /// Ends a segment.
    pub(super) fn close(&mut self) -> Segment {
        let Segment { salt, keep, .. } = self.now;
        let next = Segment { salt, keep, ..Segment::default() };
        std::mem::replace(&mut self.now, next)
    }

    /// This frame has a row of its own; one that was made here will be sent.
    pub(super) fn claim(&mut self, frame: &Bytes, claim: Claim) {
        if claim == Claim::Ours {
            if self.announced.len() >= ANNOUNCED_MAX {
                self.announced.remove(0);
            }
            self.announced.push(frame.clone());
        } else if let Some(awaited) = self.awaited.iter_mut().find(|awaited| is_same(&awaited.bytes, frame)) {
            awaited.claim = Some(claim);
        }
    }

    fn take(&mut self, frame: &Bytes) -> Option<Awaited> {
        let at = self.awaited.iter().position(|awaited| is_same(&awaited.bytes, frame))?;
        Some(self.awaited.remove(at))
    }

    fn take_ticket(&mut self, from: Side, ticket: Ticket) -> Option<Awaited> {
        let is_it = |awaited: &Awaited| {
            awaited.from == from && awaited.head.as_ref().is_some_and(|head| head.ticket == ticket)
        };
        let at = self.awaited.iter().position(is_it)?;
        Some(self.awaited.remove(at))
    }

    /// A frame came in. Only requests and answers are ever held: what else is still awaited of this side was
    /// dropped, and needs a row if it has none.
    fn received(&mut self, seen: &Seen<'_>, from: Side) -> Option<FrameRecord> {
        let is_over = |awaited: &Awaited| {
            awaited.from == from && awaited.head.as_ref().is_none_or(|head| head.id.is_none())
        };
        let at = self.awaited.iter().position(is_over);
        let dropped = at.map(|at| self.awaited.remove(at));
        let (head, bytes) = (seen.request.cloned(), seen.frame.bytes().clone());
        self.awaited.push(Awaited { from, head, bytes, claim: None });
        Some(row(dropped.filter(|dropped| dropped.claim.is_none())?, "dropped", None))
    }

    /// The row that a frame which is sent needs beside what was noted of it.
    fn sent(&mut self, seen: &Seen<'_>, to: Side, how: How) -> Option<FrameRecord> {
        let bytes = seen.frame.bytes();
        match how {
            How::Verbatim => {
                let passed = self.take(bytes).filter(|passed| passed.claim.is_none())?;
                self.now.add(passed.from, passed.bytes);
                None
            }
            How::Edited => {
                let awaited = self.take_ticket(to.other(), seen.request?.ticket)?;
                let is_said = awaited.claim == Some(Claim::Edited);
                (!is_said).then(|| row(awaited, "edited", Some(bytes.clone())))
            }
            How::Ours => self.ours(seen, to),
        }
    }

    /// A frame made here is on its way: what it answers, or takes the place of, goes no further.
    fn ours(&mut self, seen: &Seen<'_>, to: Side) -> Option<FrameRecord> {
        let bytes = seen.frame.bytes();
        let announced = self.announced.iter().position(|ours| is_same(ours, bytes));
        let is_announced = announced.map(|at| self.announced.remove(at)).is_some();
        let over = seen.request.and_then(|head| {
            let ticket = head.ticket;
            self.take_ticket(to, ticket).or_else(|| self.take_ticket(to.other(), ticket))
        });
        match over.filter(|over| over.claim.is_none()) {
            Some(over) => {
                let out = (!is_announced).then(|| bytes.clone());
                Some(FrameRecord { sent: FrameSent::No, ..row(over, "refused", out) })
            }
            None if is_announced => None,
            None => Some(made(seen, to)),
        }
    }

    /// A request that waited will get no answer; it needs a row if it has none.
    fn ended(&mut self, head: &Head, reason: &str) -> Option<FrameRecord> {
        let ended = self.take_ticket(head.from, head.ticket)?;
        ended.claim.is_none().then(|| row(ended, reason, None))
    }
}

fn made(seen: &Seen<'_>, to: Side) -> FrameRecord {
    let reason = if seen.request.is_some() { "answered" } else { "made" };
    FrameRecord {
        method: seen.request.map(|head| head.method.to_string()).unwrap_or_default(),
        out: Some(seen.frame.bytes().clone()),
        ..FrameRecord::new(peer(to.other()), reason, FrameSent::Ours)
    }
}

/// The very same bytes, not just equal ones.
fn is_same(a: &Bytes, b: &Bytes) -> bool {
    a.as_ptr() == b.as_ptr() && a.len() == b.len()
}

/// A side, as a record has it.
pub(crate) fn peer(side: Side) -> Peer {
    match side {
        Side::Client => Peer::Client,
        Side::Server => Peer::Server,
    }
}

fn row(awaited: Awaited, reason: &str, out: Option<Bytes>) -> FrameRecord {
    let sent = if out.is_some() { FrameSent::Edited } else { FrameSent::No };
    FrameRecord {
        method: awaited.head.map(|head| head.method.to_string()).unwrap_or_default(),
        frame: Some(awaited.bytes),
        out,
        ..FrameRecord::new(peer(awaited.from), reason, sent)
    }
}

impl Segment {
    fn add(&mut self, from: Side, frame: Bytes) {
        let (salt, keep) = (self.salt, self.keep);
        let [c2s, s2c] = &mut self.runs;
        let run = if from == Side::Client { c2s } else { s2c };
        run.add(frame, salt, keep);
    }

    /// Holds on to no frame any more.
    pub(super) fn let_go(&mut self) {
        let (salt, keep) = (self.salt, self.keep);
        self.runs.iter_mut().for_each(|run| run.fold_unseen(salt, keep));
    }

    /// Bytes that are not hashed yet.
    pub(super) fn waiting_bytes(&self) -> usize {
        self.runs.iter().map(|run| run.later_bytes).sum()
    }

    /// Its place in a record; nothing when no frame passed.
    pub(super) fn text(&mut self) -> Option<&str> {
        if self.text.is_none() {
            let mut text = String::new();
            for (name, run) in ["c2s", "s2c"].into_iter().zip(&mut self.runs) {
                if run.frames > 0 {
                    let hash = run.finish(self.salt, self.keep);
                    let hash = hash.map_or_else(|| "null".to_owned(), |hash| format!("\"{hash}\""));
                    let head = if text.is_empty() { '{' } else { ',' };
                    let _ = write!(text, "{head}\"{name}\":[{},{},{hash}]", run.frames, run.bytes);
                }
            }
            if !text.is_empty() {
                text.push('}');
            }
            self.text = Some(text);
        }
        self.text.as_deref().filter(|text| !text.is_empty())
    }
}

impl Run {
    fn add(&mut self, frame: Bytes, salt: [u8; 16], keep: Keep) {
        self.frames += 1;
        self.bytes += u64::try_from(frame.len()).unwrap_or(u64::MAX);
        self.later_bytes += frame.len();
        self.later.push(frame);
        if self.later_bytes > LATER_BYTES_MAX || self.later.len() > LATER_FRAMES_MAX {
            self.fold_unseen(salt, keep);
        }
    }

    /// Where frames are carried nobody looks for secrets in them.
    fn fold_unseen(&mut self, salt: [u8; 16], keep: Keep) {
        self.is_hidden |= !self.later.is_empty() && !matches!(keep, Keep::Full);
        self.fold(salt);
    }

    fn fold(&mut self, salt: [u8; 16]) {
        if self.is_hidden {
            self.later.clear();
        }
        let hash = self.hash.get_or_insert_with(|| Sha256::new().chain_update(salt));
        for frame in self.later.drain(..) {
            hash.update(u64::try_from(frame.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(&frame);
        }
        self.later_bytes = 0;
    }

    fn finish(&mut self, salt: [u8; 16], keep: Keep) -> Option<framegate_guard::store::chain::Hash> {
        self.is_hidden = self.is_hidden || self.later.iter().any(|frame| keep.hides(frame));
        self.fold(salt);
        let hash = self.hash.take().filter(|_| !self.is_hidden)?;
        Some(framegate_guard::store::chain::Hash(hash.finalize().into()))
    }
}

/// The observer that sees to it.
#[derive(Debug)]
pub(crate) struct Fidelity(Arc<Queue>);

impl Fidelity {
    /// Of the session that this ledger records.
    pub(crate) fn new(ledger: &StoreLedger) -> Self {
        Self(Arc::clone(ledger.queue()))
    }

    fn note(&self, frame: FrameRecord) {
        self.0.push_seen(What::Event(Event::Frame(frame)), now());
    }
}

impl Observer for Fidelity {
    fn frame(&self, seen: &Seen<'_>) {
        let row = match seen.point {
            Point::Received(from) => self.0.lock().flow.received(seen, from),
            Point::Sent(to, how) => self.0.lock().flow.sent(seen, to, how),
        };
        if let Some(row) = row {
            self.note(row);
        }
    }

    fn ended(&self, head: &Head, how: Ended) {
        let reason = if how == Ended::Cancelled { "cancelled" } else { "dropped" };
        let row = self.0.lock().flow.ended(head, reason);
        if let Some(row) = row {
            self.note(row);
        }
    }

    fn too_long(&self, from: Side, gone: &TooLong) {
        let row = FrameRecord::new(peer(from), "too long", FrameSent::No);
        self.note(FrameRecord { frame_bytes: Some(gone.frame_bytes), ..row });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_pump::Frame;

    fn seen<'a>(point: Point, frame: &'a Frame) -> Seen<'a> {
        Seen { point, frame, request: None, envelope: None }
    }

    #[test]
    fn what_passes_unchanged_is_hashed_and_what_does_not_gets_a_row() {
        let mut flow = Flow::default();
        flow.begin([7; 16], Keep::Full);
        assert_eq!(flow.close().text(), None);
        let (a, b, c) = (Frame::line(b"a"), Frame::line(b"bb"), Frame::line(b"c"));
        assert!(flow.received(&seen(Point::Received(Side::Client), &a), Side::Client).is_none());
        assert!(
            flow.sent(&seen(Point::Sent(Side::Server, How::Verbatim), &a), Side::Server, How::Verbatim)
                .is_none()
        );
        assert!(flow.received(&seen(Point::Received(Side::Client), &b), Side::Client).is_none());
        let dropped = flow.received(&seen(Point::Received(Side::Client), &c), Side::Client).unwrap();
        assert_eq!(dropped.frame.as_ref(), Some(b.bytes()), "nothing became of it");
        flow.claim(c.bytes(), Claim::AsItIs);
        let (to, how) = (Side::Server, How::Verbatim);
        assert!(flow.sent(&seen(Point::Sent(to, how), &c), to, how).is_none());
        let mut hash = Sha256::new().chain_update([7; 16]);
        hash.update([0, 0, 0, 0, 0, 0, 0, 2, b'a', b'\n']);
        let hash = framegate_guard::store::chain::Hash(hash.finalize().into());
        assert_eq!(flow.close().text(), Some(format!(r#"{{"c2s":[1,2,"{hash}"]}}"#).as_str()));
        assert_eq!(flow.close().text(), None);
        let ours = Frame::line(b"ours");
        let row =
            flow.sent(&seen(Point::Sent(Side::Client, How::Ours), &ours), Side::Client, How::Ours).unwrap();
        assert_eq!((row.reason.as_str(), row.from), ("made", Peer::Server));
        flow.claim(ours.bytes(), Claim::Ours);
        assert!(
            flow.sent(&seen(Point::Sent(Side::Client, How::Ours), &ours), Side::Client, How::Ours).is_none()
        );
    }

    #[test]
    fn much_is_hashed_where_it_is_seen() {
        for (count, waits) in [(LATER_FRAMES_MAX, LATER_FRAMES_MAX * 2), (LATER_FRAMES_MAX + 1, 0)] {
            let mut segment = Segment::default();
            (0..count).for_each(|_| segment.add(Side::Server, Bytes::from_static(b"x\n")));
            assert_eq!(segment.waiting_bytes(), waits, "{count}");
            assert!(segment.text().unwrap().starts_with(&format!("{{\"s2c\":[{count},{},", count * 2)));
        }
        for (bytes, waits) in [(LATER_BYTES_MAX, LATER_BYTES_MAX), (LATER_BYTES_MAX + 1, 0)] {
            let mut segment = Segment::default();
            segment.add(Side::Client, Bytes::from(vec![0; bytes]));
            assert_eq!(segment.waiting_bytes(), waits);
        }
    }

    #[test]
    fn no_running_hash_stands_over_a_frame_that_holds_a_secret_or_that_nobody_looked_at() {
        let text = |keep: Keep, frames: &[&str], lets_go: bool| {
            let mut segment = Segment { keep, ..Segment::default() };
            frames
                .iter()
                .for_each(|frame| segment.add(Side::Client, Bytes::copy_from_slice(frame.as_bytes())));
            if lets_go {
                segment.let_go();
                assert_eq!(segment.waiting_bytes(), 0);
            }
            segment.text().unwrap().to_owned()
        };
        let redacted = Keep::Redacted(&crate::recorder::settings::Credentials);
        let (plain, secret) = ("{\"method\":\"ping\"}\n", "{\"password\":\"123456\"}\n");
        let hidden = |text: String| text.ends_with(",null]}");
        for (keep, frames, lets_go, is_hidden) in [
            (Keep::Full, &[plain, secret][..], true, false),
            (redacted, &[plain, plain], false, false),
            (redacted, &[plain, secret], false, true),
            (redacted, &[secret, plain], false, true),
            (redacted, &["no JSON"], false, true),
            (redacted, &[plain], true, true),
            (Keep::None, &[plain], false, true),
        ] {
            assert_eq!(hidden(text(keep, frames, lets_go)), is_hidden, "{keep:?} {frames:?} {lets_go}");
        }
    }
}
