//! Cutting a byte stream into frames. Never looks inside a frame.
//!
//! ```text
//!             bytes          LF within the cap
//!   Line ───────────► Line ────────────────────► Cut::Frame
//!    │ cap exceeded
//!    ▼                                LF
//!   Discard (bytes are skimmed) ────────────────► Cut::TooLong, then Line
//!    │ another MAX_FRAME_BYTES without an LF
//!    ▼
//!   Cut::Flood (nothing more is read)
//! ```

use bytes::{BufMut, BytesMut, buf::Limit};

use crate::frame::{Frame, MAX_FRAME_BYTES, Run};
use crate::skim::{Skim, Skimmed};

/// Bytes asked of the stream at once, at least.
const READ_CHUNK_BYTES: usize = 64 * 1024;
/// The same inside a large frame: as much as its pipe holds once it has grown.
const LARGE_CHUNK_BYTES: usize = 256 * 1024;
/// From this size on a frame leaves the read buffer for good, so that its memory goes with it.
pub(crate) const LARGE_FRAME_BYTES: usize = 256 * 1024;

/// What the cutter found.
#[derive(Debug)]
pub enum Cut {
    /// A whole line, or the unterminated last one.
    Frame(Frame),
    /// A line over the cap; its bytes are gone.
    TooLong(TooLong),
    /// A line that is over the cap by as much again and still has no LF.
    Flood,
}

/// What is known of a frame that was discarded for its length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// Length in bytes, without the terminator.
    pub frame_bytes: u64,
    /// What its top level held, read while it was thrown away.
    pub skimmed: Skimmed,
}

/// Cuts frames out of what was read.
#[derive(Debug)]
pub struct Cutter {
    /// Bytes not yet cut.
    /// INVARIANT: `buf.len() <= frame_bytes_max + 2` (the cap, and a `\r\n`).
    buf: BytesMut,
    /// `buf[..scanned]` holds no LF. INVARIANT: `scanned <= buf.len()`. A byte is looked at once.
    scanned: usize,
    frame_bytes_max: usize,
    /// Set while an over-long line is being thrown away.
    discarding: Option<Discard>,
    /// The memory of a large frame that has gone out, for the next one: taking 60 MiB of new
    /// pages from the system costs as much as carrying 60 MiB.
    recycled: Option<BytesMut>,
}

#[derive(Debug, Default)]
struct Discard {
    skim: Skim,
    bytes: u64,
    /// The flood was reported; what still comes is thrown away in silence.
    flooded: bool,
    /// The last byte seen was a CR, which belongs to the terminator if an LF comes next.
    trailing_cr: bool,
}

impl Default for Cutter {
    fn default() -> Self {
        Self::new(MAX_FRAME_BYTES)
    }
}

impl Cutter {
    /// A cutter with a cap of `frame_bytes_max` bytes a frame, terminator not counted.
    pub fn new(frame_bytes_max: usize) -> Self {
        Self { buf: BytesMut::new(), scanned: 0, frame_bytes_max, discarding: None, recycled: None }
    }

    /// Room for the next read. Never lets the buffer hold more than the cap and a terminator.
    pub fn spare(&mut self) -> Limit<&mut BytesMut> {
        let room = (self.frame_bytes_max + 2).saturating_sub(self.buf.len());
        let spare = self.buf.capacity() - self.buf.len();
        if spare < READ_CHUNK_BYTES / 4 {
            self.grow(room);
        }
        // In pieces: the writer goes on while a piece is taken out. A read that empties the pipe
        // makes the two ends take turns.
        let piece = if self.buf.len() < LARGE_FRAME_BYTES { READ_CHUNK_BYTES } else { LARGE_CHUNK_BYTES };
        let limit = (self.buf.capacity() - self.buf.len()).min(room).min(piece);
        (&mut self.buf).limit(limit)
    }

    fn grow(&mut self, room: usize) {
        if self.buf.len() < LARGE_FRAME_BYTES {
            return self.buf.reserve(READ_CHUNK_BYTES.max(self.buf.len()).min(room));
        }
        // A large frame gets address space for the longest at once: pages are only taken as they
        // are written, and growing by doubling would copy the frame several times.
        match self.recycled.take() {
            Some(mut old) if old.capacity() >= self.buf.len() + room => {
                old.clear();
                old.extend_from_slice(&self.buf);
                self.buf = old;
            }
            _ => self.buf.reserve(room),
        }
    }

    /// Takes back the memory of a large frame, if nobody else holds it.
    pub fn recycle(&mut self, frame: Frame) {
        if frame.bytes().len() >= LARGE_FRAME_BYTES {
            self.recycled = frame.into_bytes().try_into_mut().ok();
        }
    }

    /// Gives recycled memory back to the system.
    pub fn shrink(&mut self) {
        self.recycled = None;
    }

    /// Adds bytes by copying; [`Cutter::spare`] is the way without a copy.
    /// Takes as many as there is room for and says how many.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        let mut spare = self.spare();
        let n = spare.remaining_mut().min(bytes.len());
        spare.put_slice(bytes.get(..n).unwrap_or_default());
        n
    }

    /// The next frame, if a whole one is there.
    pub fn next_cut(&mut self) -> Option<Cut> {
        if self.discarding.is_some() {
            return self.discard_on();
        }
        let fresh = self.buf.get(self.scanned..).unwrap_or_default();
        if let Some(at) = memchr::memchr(b'\n', fresh) {
            let end = self.scanned + at + 1;
            let over = body_bytes(self.buf.get(..end).unwrap_or_default()) > self.frame_bytes_max;
            self.scanned = 0;
            if over {
                self.discarding = Some(Discard::default());
                return self.discard_on();
            }
            return Some(Cut::Frame(self.take(end)));
        }
        self.scanned = self.buf.len();
        if self.is_over_cap() {
            self.discarding = Some(Discard::default());
            return self.discard_on();
        }
        None
    }

    /// All whole frames that have come in, in one piece. `None` if there are none, or if the next is
    /// long enough to need more care: then [`Cutter::next_cut`] has it.
    pub fn next_run(&mut self) -> Option<Run> {
        let has_small_frames_only =
            self.buf.len() <= self.frame_bytes_max && self.buf.len() < LARGE_FRAME_BYTES;
        if self.discarding.is_some() || !has_small_frames_only {
            return None;
        }
        let fresh = self.buf.get(self.scanned..).unwrap_or_default();
        let Some(at) = memchr::memrchr(b'\n', fresh) else {
            self.scanned = self.buf.len();
            return None;
        };
        let run = self.buf.split_to(self.scanned + at + 1).freeze();
        // What is left starts no whole line, and has been seen to hold no LF.
        self.scanned = self.buf.len();
        Some(Run::from_wire(run))
    }

    /// What is left when the stream has ended: an unterminated last line goes through as it came.
    pub fn finish(&mut self) -> Option<Cut> {
        if let Some(discard) = self.discarding.take() {
            self.buf.clear();
            return Some(Cut::TooLong(discard.done()));
        }
        self.scanned = 0;
        if self.buf.is_empty() {
            return None;
        }
        let end = self.buf.len();
        if end > self.frame_bytes_max {
            // A CR was let in because an LF could have followed; none did.
            let mut discard = Discard::default();
            discard.eat(&self.buf);
            self.buf.clear();
            return Some(Cut::TooLong(TooLong { frame_bytes: end as u64, ..discard.done() }));
        }
        Some(Cut::Frame(self.take(end)))
    }

    /// Whether an over-long line is being thrown away right now.
    pub fn is_discarding(&self) -> bool {
        self.discarding.is_some()
    }

    /// Whether bytes of an unfinished line are waiting.
    pub fn has_partial(&self) -> bool {
        !self.buf.is_empty()
    }

    fn is_over_cap(&self) -> bool {
        let len = self.buf.len();
        // A CR at the cap may still turn out to be half of the terminator.
        len > self.frame_bytes_max + 1 || (len == self.frame_bytes_max + 1 && self.buf.last() != Some(&b'\r'))
    }

    fn take(&mut self, end: usize) -> Frame {
        let bytes = self.buf.split_to(end).freeze();
        if bytes.len() >= LARGE_FRAME_BYTES {
            // The rest would keep the whole allocation alive: up to 64 MiB for a few bytes.
            self.buf = BytesMut::from(&self.buf[..]);
        }
        Frame::from_wire(bytes)
    }

    fn discard_on(&mut self) -> Option<Cut> {
        let discard = self.discarding.as_mut()?;
        let end = memchr::memchr(b'\n', &self.buf);
        let line_end = end.unwrap_or(self.buf.len());
        discard.eat(self.buf.get(..line_end).unwrap_or_default());
        let flood = !discard.flooded && discard.bytes > 2 * self.frame_bytes_max as u64;
        discard.flooded |= flood;
        let rest = self.buf.get(end.map_or(line_end, |at| at + 1)..).unwrap_or_default();
        // A fresh buffer: the old one has grown to the cap.
        self.buf = BytesMut::from(rest);
        self.scanned = 0;
        match end {
            Some(_) => self.discarding.take().map(|d| Cut::TooLong(d.done())),
            None if flood => Some(Cut::Flood),
            None => None,
        }
    }
}

impl Discard {
    fn eat(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.skim.feed(bytes);
        self.bytes += bytes.len() as u64;
        self.trailing_cr = bytes.last() == Some(&b'\r');
    }

    fn done(self) -> TooLong {
        TooLong { frame_bytes: self.bytes - u64::from(self.trailing_cr), skimmed: self.skim.finish() }
    }
}

fn body_bytes(line: &[u8]) -> usize {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line).len()
}

/// Cuts `stream` fed in pieces of the given sizes and asserts what must hold for every cutting.
///
/// The function behind the fuzz target `frame_split`: the frames put together are the stream,
/// whatever the pieces were, and each frame but the last ends with its only LF.
///
/// # Panics
/// When the cutter lost, doubled or moved a byte.
#[doc(hidden)]
pub fn assert_cuts_whole(stream: &[u8], pieces: &[u8]) {
    const CAP: usize = 64;
    let mut cutter = Cutter::new(CAP);
    let mut out = Vec::new();
    let mut sizes = pieces.iter().map(|p| usize::from(*p) + 1).cycle();
    let mut rest = stream;
    // Runs and single cuts may be asked for in any order.
    let mut asks_for_run = pieces.iter().map(|p| p % 2 == 1).cycle();
    loop {
        loop {
            if asks_for_run.next() == Some(true)
                && let Some(run) = cutter.next_run()
            {
                let before = out.len();
                out.extend(run.frames().map(Cut::Frame));
                let joined: usize = out.iter().skip(before).map(wire_bytes).sum();
                assert_eq!(joined, run.bytes().len(), "a run is its frames");
                continue;
            }
            let Some(cut) = cutter.next_cut() else { break };
            out.push(cut);
            if matches!(out.last(), Some(Cut::Flood)) {
                break;
            }
        }
        if rest.is_empty() || matches!(out.last(), Some(Cut::Flood)) {
            break;
        }
        let n = sizes.next().unwrap_or(1).min(rest.len());
        let (now, _) = rest.split_at(n);
        let taken = cutter.push(now);
        assert!(taken > 0, "a cutter that was asked for cuts has room");
        rest = rest.split_at(taken).1;
    }
    if !matches!(out.last(), Some(Cut::Flood)) {
        out.extend(cutter.finish());
    }
    check_against_split(stream, &out, CAP);
}

fn wire_bytes(cut: &Cut) -> usize {
    match cut {
        Cut::Frame(frame) => frame.bytes().len(),
        _ => 0,
    }
}

/// The stupid twin: split at LF, keep the LF.
fn check_against_split(stream: &[u8], cuts: &[Cut], cap: usize) {
    let mut lines = stream.split_inclusive(|b| *b == b'\n');
    for cut in cuts {
        let line = lines.next().unwrap_or_default();
        assert!(!line.is_empty(), "no more cuts than lines");
        match cut {
            Cut::Frame(frame) => {
                assert_eq!(&frame.bytes()[..], line, "bytes as they came");
                assert!(frame.len() <= cap, "within the cap");
            }
            Cut::TooLong(gone) => {
                assert!(
                    body_bytes(line) > cap || !line.ends_with(b"\n"),
                    "only an over-long line is discarded"
                );
                assert!(gone.frame_bytes as usize <= line.len());
            }
            Cut::Flood => {
                assert!(line.len() > 2 * cap, "a flood is over twice the cap");
                return;
            }
        }
    }
    assert!(lines.next().is_none(), "every line came out");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_all(cap: usize, input: &[u8]) -> Vec<Cut> {
        let mut cutter = Cutter::new(cap);
        let mut out = Vec::new();
        let mut rest = input;
        loop {
            while let Some(cut) = cutter.next_cut() {
                out.push(cut);
            }
            if rest.is_empty() {
                break;
            }
            let n = cutter.push(rest);
            rest = &rest[n..];
        }
        out.extend(cutter.finish());
        out
    }

    fn frames(cuts: &[Cut]) -> Vec<&[u8]> {
        cuts.iter()
            .map(|cut| match cut {
                Cut::Frame(frame) => &frame.bytes()[..],
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn terminators_and_blank_lines_stay_as_they_came() {
        let cuts = cut_all(64, b"{}\r\n\n\r\n[]\nlast");
        assert_eq!(frames(&cuts), [&b"{}\r\n"[..], b"\n", b"\r\n", b"[]\n", b"last"]);
    }

    #[test]
    fn the_cap_counts_the_frame_without_its_terminator() {
        for (end, body, whole) in [
            ("\n", 9, true),
            ("\n", 10, true),
            ("\n", 11, false),
            ("\r\n", 10, true),
            ("\r\n", 11, false),
            ("", 10, true),
            ("", 11, false),
        ] {
            let line = format!("{}{end}", "x".repeat(body));
            let cuts = cut_all(10, line.as_bytes());
            assert_eq!(cuts.len(), 1);
            assert_eq!(matches!(cuts[0], Cut::Frame(_)), whole, "{body} bytes and {end:?}");
        }
    }

    #[test]
    fn after_an_over_long_line_the_next_frame_is_whole() {
        let id_last = br#"{"result":{"a":"0123456789"},"id":"z"}"#;
        let mut input = id_last.to_vec();
        input.extend_from_slice(b"\r\n{}\n");
        let cuts = cut_all(20, &input);
        let [Cut::TooLong(gone), Cut::Frame(next)] = &cuts[..] else {
            panic!("{cuts:?}");
        };
        assert_eq!(gone.frame_bytes, id_last.len() as u64);
        assert_eq!(gone.skimmed.id.as_deref(), Some("\"z\""));
        assert_eq!(&next.bytes()[..], b"{}\n");
    }

    #[test]
    fn twice_the_cap_without_an_lf_is_a_flood() {
        let cap = 100;
        let at = cut_all(cap, &vec![b'x'; 2 * cap]);
        assert!(matches!(at[..], [Cut::TooLong(_)]));
        let mut cutter = Cutter::new(cap);
        let mut seen = Vec::new();
        for _ in 0..2 * cap + 1 {
            assert_eq!(cutter.push(b"x"), 1);
            seen.extend(cutter.next_cut());
        }
        assert!(matches!(seen[..], [Cut::Flood]), "{seen:?}");
    }

    #[test]
    fn the_buffer_never_holds_more_than_the_cap_and_a_terminator() {
        let mut cutter = Cutter::new(1000);
        for _ in 0..100 {
            cutter.push(&[b'x'; 333]);
            assert!(cutter.buf.len() <= 1002);
            while cutter.next_cut().is_some() {}
        }
    }

    #[test]
    fn a_large_frame_takes_its_memory_with_it() {
        let mut cutter = Cutter::default();
        let mut line = vec![b'x'; 2 * LARGE_FRAME_BYTES];
        line.extend_from_slice(b"\nrest");
        let mut rest = &line[..];
        let mut found = None;
        while !rest.is_empty() {
            let n = cutter.push(rest);
            rest = &rest[n..];
            found = found.or_else(|| cutter.next_cut());
        }
        assert!(found.is_some());
        assert!(cutter.buf.capacity() < LARGE_FRAME_BYTES);
    }

    #[test]
    fn the_memory_of_a_large_frame_is_used_again() {
        let mut cutter = Cutter::default();
        let mut places = Vec::new();
        for fill in [b'a', b'b', b'c'] {
            let mut line = vec![fill; 3 * LARGE_FRAME_BYTES];
            line.extend_from_slice(b"\n{}\n");
            let mut rest = &line[..];
            let mut cuts = Vec::new();
            while !rest.is_empty() {
                rest = &rest[cutter.push(rest)..];
                cuts.extend(std::iter::from_fn(|| cutter.next_cut()));
            }
            let [Cut::Frame(large), Cut::Frame(small)] = &cuts[..] else { panic!("{cuts:?}") };
            assert_eq!(&large.bytes()[..], &line[..line.len() - 3]);
            assert_eq!(&small.bytes()[..], b"{}\n");
            places.push(large.bytes().as_ptr().addr());
            let large = large.clone();
            drop(cuts);
            cutter.recycle(large);
        }
        assert_eq!(places[1], places[2], "the same memory");
    }

    #[test]
    fn any_cutting_gives_the_same_bytes() {
        assert_cuts_whole(b"a\nbb\r\n\n\nlast", &[0]);
        assert_cuts_whole(&[b'x'; 500], &[3, 7]);
        assert_cuts_whole(&[&[b'y'; 90][..], b"\r\nz\n"].concat(), &[63, 0, 1]);
    }
}
