//! Where frames come from and go to: byte streams, or channels inside a process.
//!
//! A multiplexer or an HTTP upstream hands frames over as frames; only a byte stream has to be
//! cut and joined. Both ends are polled by one task, so all state lives in the struct and a
//! dropped poll loses nothing.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio_util::io::poll_read_buf;
use tokio_util::sync::PollSender;

use crate::codec::{Cut, Cutter, LARGE_FRAME_BYTES};
use crate::frame::{Frame, MAX_FRAME_BYTES, Run};

/// Frames, or runs of them, in one vectored write, at most.
const PIECES_A_WRITE: usize = 64;

/// Bytes of a large frame in one write, at most.
const PIECE_BYTES: usize = 256 * 1024;

/// What a source has after [`FrameSource::poll_fill`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Nothing more will come; what is left is still to be cut.
    End,
    /// This many bytes came in.
    More(usize),
}

/// Gives frames.
pub trait FrameSource: Send {
    /// Waits for input.
    ///
    /// # Errors
    /// When the stream failed; it is not asked again.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Fill>>;

    /// The next frame among what has come in. After [`Fill::End`] also the unterminated last one.
    fn next_cut(&mut self) -> Option<Cut>;

    /// All frames that have come in and lie back to back, in one piece: for when they are passed on
    /// unread. A source that has no such thing has `None`, and gives them by
    /// [`FrameSource::next_cut`].
    fn next_run(&mut self) -> Option<Run> {
        None
    }

    /// Reads no more: the next fill is the end. What has come in is still to be cut.
    fn end(&mut self);

    /// Whether an over-long frame is being thrown away.
    fn is_discarding(&self) -> bool {
        false
    }

    /// Takes back a frame that it gave and that has gone out, for its memory.
    fn recycle(&mut self, _frame: Frame) {}

    /// Gives back memory that it keeps for the next large frame.
    fn shrink(&mut self) {}
}

/// Takes frames.
pub trait FrameSink: Send {
    /// Writes from the front of `queue` until it is empty. A frame leaves the queue when all of
    /// it is written.
    ///
    /// # Errors
    /// When the other end is gone or the write failed.
    fn poll_send(&mut self, cx: &mut Context<'_>, queue: &mut Outbox) -> Poll<io::Result<()>>;

    /// Tells the other end that nothing more comes.
    ///
    /// # Errors
    /// When that failed; the sink is dropped all the same.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
}

/// Frames on their way out, in order.
#[derive(Debug, Default)]
pub struct Outbox {
    items: VecDeque<Item>,
    /// INVARIANT: the sum of the lengths in `items`.
    bytes: usize,
    /// INVARIANT: the part of `bytes` that was made here.
    ours_bytes: usize,
    /// Bytes of the item at the front that are written already.
    /// INVARIANT: less than that item's length.
    front_written: usize,
    /// The last frame had no LF.
    unterminated: bool,
    /// The last large frame that has gone out.
    gone_large: Option<Frame>,
}

/// What leaves in one piece: a frame, or a run of them.
#[derive(Debug)]
struct Item {
    bytes: Bytes,
    /// It was made here.
    is_ours: bool,
    /// It may be several frames.
    is_run: bool,
    /// The frame before it had no LF: in a byte stream this one would be joined to it.
    needs_lf: bool,
}

impl Outbox {
    pub(crate) fn push(&mut self, frame: Frame, is_ours: bool) {
        if frame.bytes().is_empty() {
            return;
        }
        let needs_lf = std::mem::replace(&mut self.unterminated, !frame.is_terminated());
        self.add(Item { bytes: frame.into_bytes(), is_ours, is_run: false, needs_lf });
    }

    pub(crate) fn push_run(&mut self, run: &Run) {
        let needs_lf = std::mem::take(&mut self.unterminated);
        self.add(Item { bytes: run.bytes().clone(), is_ours: false, is_run: true, needs_lf });
    }

    fn add(&mut self, item: Item) {
        let len = item.bytes.len();
        self.bytes += len;
        self.ours_bytes += if item.is_ours { len } else { 0 };
        self.items.push_back(item);
    }

    /// What is at the front: a frame, or several whole ones back to back.
    pub fn front(&self) -> Option<&Bytes> {
        self.items.front().map(|item| &item.bytes)
    }

    /// Takes the frame at the front: what is not yet written, if some of it is.
    pub fn pop(&mut self) -> Option<Frame> {
        let item = self.items.front_mut()?;
        let rest = item.bytes.get(self.front_written..).unwrap_or_default();
        let more = memchr::memchr(b'\n', rest).filter(|at| item.is_run && at + 1 < rest.len());
        let Some(lf) = more else {
            let mut item = self.take_front()?;
            item.bytes.advance(std::mem::take(&mut self.front_written));
            return Some(Frame::from_wire(item.bytes));
        };
        let mut first = item.bytes.split_to(self.front_written + lf + 1);
        item.needs_lf = false;
        self.bytes -= first.len();
        first.advance(std::mem::take(&mut self.front_written));
        Some(Frame::from_wire(first))
    }

    fn take_front(&mut self) -> Option<Item> {
        let item = self.items.pop_front()?;
        self.bytes -= item.bytes.len();
        self.ours_bytes -= if item.is_ours { item.bytes.len() } else { 0 };
        Some(item)
    }

    /// The last large frame that has gone out, once.
    pub(crate) fn take_gone(&mut self) -> Option<Frame> {
        self.gone_large.take()
    }

    /// Bytes at the front that are written already.
    pub fn front_written(&self) -> usize {
        self.front_written
    }

    /// Whether an LF must be written before the front, and was not yet: for sinks that join frames.
    fn needs_lf(&self) -> bool {
        self.front_written == 0 && self.items.front().is_some_and(|item| item.needs_lf)
    }

    fn lf_written(&mut self) {
        if let Some(item) = self.items.front_mut() {
            item.needs_lf = false;
        }
    }

    /// The next `n` bytes are written; frames that are whole leave. For sinks that write a frame
    /// in pieces.
    pub fn advance(&mut self, mut n: usize) {
        while let Some(front) = self.front() {
            let left = front.len() - self.front_written;
            if n < left {
                self.front_written += n;
                return;
            }
            n -= left;
            self.front_written = 0;
            if let Some(item) = self.take_front()
                && item.bytes.len() >= LARGE_FRAME_BYTES
            {
                self.gone_large = Some(Frame::from_wire(item.bytes));
            }
        }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes that are still to be written.
    pub(crate) fn left_bytes(&self) -> usize {
        self.bytes - self.front_written
    }

    pub(crate) fn ours_bytes(&self) -> usize {
        self.ours_bytes
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

// === byte streams ===

/// Frames cut from a byte stream.
#[derive(Debug)]
pub struct ByteSource<R> {
    stream: R,
    cutter: Cutter,
    at_end: bool,
}

impl<R> ByteSource<R> {
    /// Cuts `stream` with the usual cap.
    pub fn new(stream: R) -> Self {
        Self::with_cap(stream, MAX_FRAME_BYTES)
    }

    /// Cuts `stream` with a cap of its own.
    pub fn with_cap(stream: R, frame_bytes_max: usize) -> Self {
        Self { stream, cutter: Cutter::new(frame_bytes_max), at_end: false }
    }
}

impl<R: AsyncRead + Send + Unpin> FrameSource for ByteSource<R> {
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Fill>> {
        if self.at_end {
            return Poll::Ready(Ok(Fill::End));
        }
        let read = match ready!(poll_read_buf(Pin::new(&mut self.stream), cx, &mut self.cutter.spare())) {
            // A peer that was killed resets its socket: an end like any other.
            Err(e) if e.kind() == io::ErrorKind::ConnectionReset => 0,
            read => read?,
        };
        self.at_end = read == 0;
        Poll::Ready(Ok(if read == 0 { Fill::End } else { Fill::More(read) }))
    }

    fn next_cut(&mut self) -> Option<Cut> {
        let cut = self.cutter.next_cut();
        if cut.is_none() && self.at_end {
            return self.cutter.finish();
        }
        cut
    }

    fn next_run(&mut self) -> Option<Run> {
        self.cutter.next_run()
    }

    fn end(&mut self) {
        self.at_end = true;
    }

    fn is_discarding(&self) -> bool {
        self.cutter.is_discarding()
    }

    fn recycle(&mut self, frame: Frame) {
        self.cutter.recycle(frame);
    }

    fn shrink(&mut self) {
        self.cutter.shrink();
    }
}

/// Frames joined into a byte stream. Frames that wait leave in one write: a run as the one piece it
/// is, others vectored.
#[derive(Debug)]
pub struct ByteSink<W> {
    stream: W,
    /// Data was written since the last flush.
    dirty: bool,
}

impl<W> ByteSink<W> {
    /// Writes to `stream`.
    pub fn new(stream: W) -> Self {
        Self { stream, dirty: false }
    }
}

impl<W: AsyncWrite + Unpin> ByteSink<W> {
    fn poll_write_front(&mut self, cx: &mut Context<'_>, queue: &Outbox) -> Poll<io::Result<usize>> {
        let stream = Pin::new(&mut self.stream);
        let front = queue.front().and_then(|bytes| bytes.get(queue.front_written..)).unwrap_or_default();
        // An LF that is due between two of them is written when its turn comes.
        let joinable = queue.items.iter().skip(1).take_while(|item| !item.needs_lf);
        let mut slices = [IoSlice::new(&[]); PIECES_A_WRITE];
        let mut count = 0;
        for (slot, bytes) in
            slices.iter_mut().zip(std::iter::once(front).chain(joinable.map(|item| &item.bytes[..])))
        {
            *slot = IoSlice::new(bytes);
            count += 1;
        }
        match slices.get(..count).unwrap_or_default() {
            // In pieces: the reader starts on the first while the next is written. A write that
            // fills the pipe at once makes the two ends take turns.
            [one] => stream.poll_write(cx, one.get(..PIECE_BYTES).unwrap_or(one)),
            many => stream.poll_write_vectored(cx, many),
        }
    }
}

/// A stream that takes nothing will never take more.
fn written(n: usize) -> io::Result<usize> {
    if n == 0 { Err(io::ErrorKind::WriteZero.into()) } else { Ok(n) }
}

impl<W: AsyncWrite + Send + Unpin> FrameSink for ByteSink<W> {
    fn poll_send(&mut self, cx: &mut Context<'_>, queue: &mut Outbox) -> Poll<io::Result<()>> {
        while !queue.is_empty() {
            if queue.needs_lf() {
                written(ready!(Pin::new(&mut self.stream).poll_write(cx, b"\n"))?)?;
                queue.lf_written();
            }
            let n = written(ready!(self.poll_write_front(cx, queue))?)?;
            self.dirty = true;
            queue.advance(n);
        }
        if self.dirty {
            ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
            self.dirty = false;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

// === channels ===

/// Frames from another task of this process; nothing is cut.
#[derive(Debug)]
pub struct ChannelSource {
    frames: mpsc::Receiver<Frame>,
    next: Option<Frame>,
}

impl ChannelSource {
    /// Takes the receiving half.
    pub fn new(frames: mpsc::Receiver<Frame>) -> Self {
        Self { frames, next: None }
    }
}

impl FrameSource for ChannelSource {
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Fill>> {
        Poll::Ready(Ok(match ready!(self.frames.poll_recv(cx)) {
            None => Fill::End,
            Some(frame) => {
                let bytes = frame.bytes().remaining();
                self.next = Some(frame);
                Fill::More(bytes)
            }
        }))
    }

    fn next_cut(&mut self) -> Option<Cut> {
        self.next.take().map(Cut::Frame)
    }

    fn end(&mut self) {
        self.frames.close();
    }
}

/// Frames to another task of this process; nothing is joined.
#[derive(Debug)]
pub struct ChannelSink {
    frames: PollSender<Frame>,
}

impl ChannelSink {
    /// Takes the sending half.
    pub fn new(frames: mpsc::Sender<Frame>) -> Self {
        Self { frames: PollSender::new(frames) }
    }
}

impl FrameSink for ChannelSink {
    fn poll_send(&mut self, cx: &mut Context<'_>, queue: &mut Outbox) -> Poll<io::Result<()>> {
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        while !queue.is_empty() {
            ready!(self.frames.poll_reserve(cx)).map_err(gone)?;
            if let Some(frame) = queue.pop() {
                self.frames.send_item(frame).map_err(gone)?;
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.frames.close();
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(bytes: &'static [u8]) -> Run {
        Run::from_wire(Bytes::from_static(bytes))
    }

    fn frame(bytes: &'static [u8]) -> Frame {
        Frame::from_wire(Bytes::from_static(bytes))
    }

    /// A run between two frames, the first of which has no LF.
    fn outbox() -> Outbox {
        let mut outbox = Outbox::default();
        outbox.push(frame(b"ours"), true);
        outbox.push_run(&run(b"a\nbb\r\n\n"));
        outbox.push(frame(b"last\n"), false);
        outbox
    }

    #[test]
    fn a_run_is_taken_frame_by_frame() {
        let mut outbox = outbox();
        assert_eq!((outbox.bytes(), outbox.ours_bytes()), (4 + 7 + 5, 4));
        let taken: Vec<Frame> = std::iter::from_fn(|| outbox.pop()).collect();
        let want: [&[u8]; 5] = [b"ours", b"a\n", b"bb\r\n", b"\n", b"last\n"];
        assert_eq!(taken, want.map(frame));
        assert_eq!((outbox.bytes(), outbox.ours_bytes(), outbox.is_empty()), (0, 0, true));
    }

    #[test]
    fn what_is_written_of_a_run_is_not_taken_again() {
        for (written, rest) in [
            (0, &b"ours"[..]),
            (1, b"urs"),
            (4, b"a\n"),
            (5, b"\n"),
            (6, b"bb\r\n"),
            (10, b"\n"),
            (11, b"last\n"),
        ] {
            let mut outbox = outbox();
            outbox.advance(written);
            let left = outbox.left_bytes();
            assert_eq!(outbox.pop().map(|frame| frame.bytes().to_vec()).as_deref(), Some(rest), "{written}");
            assert_eq!(outbox.left_bytes(), left - rest.len(), "{written}");
        }
    }

    /// Takes a few bytes at a time.
    struct Narrow(Vec<u8>, usize);

    impl AsyncWrite for Narrow {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let n = bytes.len().min(self.1);
            self.0.extend_from_slice(&bytes[..n]);
            Poll::Ready(Ok(n))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn a_byte_stream_gets_the_lf_that_a_frame_lacks_and_nothing_else_does() {
        let cx = &mut Context::from_waker(std::task::Waker::noop());
        for width in [1, 2, 3, 100] {
            let mut sink = ByteSink::new(Narrow(Vec::new(), width));
            assert!(sink.poll_send(cx, &mut outbox()).is_ready());
            assert_eq!(sink.stream.0, b"ours\na\nbb\r\n\nlast\n", "{width}");
        }
        let (send, mut frames) = mpsc::channel(8);
        assert!(ChannelSink::new(send).poll_send(cx, &mut outbox()).is_ready());
        let taken: Vec<Frame> = std::iter::from_fn(|| frames.try_recv().ok()).collect();
        assert_eq!(taken.first(), Some(&frame(b"ours")));
        assert_eq!(taken.len(), 5, "no frame that nobody sent");
    }
}
