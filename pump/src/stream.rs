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
use crate::frame::{Frame, MAX_FRAME_BYTES};

/// Frames in one vectored write, at most.
const FRAMES_A_WRITE: usize = 64;

/// Bytes of a large frame in one write, at most.
const PIECE_BYTES: usize = 64 * 1024;

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
    /// Each frame, and whether it was made here.
    frames: VecDeque<(Frame, bool)>,
    /// INVARIANT: the sum of the lengths in `frames`.
    bytes: usize,
    /// INVARIANT: the part of `bytes` that was made here.
    ours_bytes: usize,
    /// Bytes of the frame at the front that are written already.
    /// INVARIANT: less than that frame's length.
    front_written: usize,
    /// The last frame had no LF: another one after it would be joined to it.
    unterminated: bool,
    /// The last large frame that has gone out.
    gone_large: Option<Frame>,
}

impl Outbox {
    pub(crate) fn push(&mut self, frame: Frame, is_ours: bool) {
        if frame.bytes().is_empty() {
            return;
        }
        if std::mem::replace(&mut self.unterminated, !frame.is_terminated()) {
            self.add(Frame::from_wire(Bytes::from_static(b"\n")), true);
        }
        self.add(frame, is_ours);
    }

    fn add(&mut self, frame: Frame, is_ours: bool) {
        let len = frame.bytes().len();
        self.bytes += len;
        self.ours_bytes += if is_ours { len } else { 0 };
        self.frames.push_back((frame, is_ours));
    }

    /// The frame at the front.
    pub fn front(&self) -> Option<&Frame> {
        self.frames.front().map(|(frame, _)| frame)
    }

    /// Takes the frame at the front.
    pub fn pop(&mut self) -> Option<Frame> {
        let (frame, is_ours) = self.frames.pop_front()?;
        let len = frame.bytes().len();
        self.bytes -= len;
        self.ours_bytes -= if is_ours { len } else { 0 };
        self.front_written = 0;
        Some(frame)
    }

    /// Drops the frame at the front: all of it is written.
    fn sent(&mut self) {
        if let Some(frame) = self.pop()
            && frame.bytes().len() >= LARGE_FRAME_BYTES
        {
            self.gone_large = Some(frame);
        }
    }

    /// The last large frame that has gone out, once.
    pub(crate) fn take_gone(&mut self) -> Option<Frame> {
        self.gone_large.take()
    }

    /// Bytes of the frame at the front that are written already.
    pub fn front_written(&self) -> usize {
        self.front_written
    }

    /// The next `n` bytes are written; frames that are whole leave. For sinks that write a frame
    /// in pieces.
    pub fn advance(&mut self, mut n: usize) {
        while let Some(front) = self.front() {
            let left = front.bytes().len() - self.front_written;
            if n < left {
                self.front_written += n;
                return;
            }
            n -= left;
            self.sent();
        }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
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
        while self.pop().is_some() {}
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

/// Frames joined into a byte stream. Frames that wait leave in one vectored write.
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

impl<W: AsyncWrite + Send + Unpin> FrameSink for ByteSink<W> {
    fn poll_send(&mut self, cx: &mut Context<'_>, queue: &mut Outbox) -> Poll<io::Result<()>> {
        while !queue.is_empty() {
            let mut slices = [IoSlice::new(&[]); FRAMES_A_WRITE];
            let mut count = 0;
            for (slot, (frame, _)) in slices.iter_mut().zip(&queue.frames) {
                let done = if count == 0 { queue.front_written } else { 0 };
                *slot = IoSlice::new(frame.bytes().get(done..).unwrap_or_default());
                count += 1;
            }
            let stream = Pin::new(&mut self.stream);
            let slices = slices.get(..count).unwrap_or_default();
            let n = match slices {
                // In pieces: the reader starts on the first while the next is written. A write that
                // fills the pipe at once makes the two ends take turns.
                [one] => ready!(stream.poll_write(cx, one.get(..PIECE_BYTES).unwrap_or(one)))?,
                many => ready!(stream.poll_write_vectored(cx, many))?,
            };
            if n == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
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
