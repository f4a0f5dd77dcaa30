//! Our fd 0 and 1 as async streams.
//!
//! `tokio::io::stdin()` costs a hop to a thread for each read (112 µs here against 5), so what
//! the descriptors are decides: pipes and sockets become non-blocking, files, terminals and
//! `/dev/null` go through blocking threads.
//!
//! `O_NONBLOCK` belongs to the open file description, not to us: it reaches whoever shares it
//! and outlives us. So the flags are put back at the end, and a descriptor that shares its
//! description with stderr (`2>&1`) is left blocking.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::pipe::fcntl_setpipe_size;
use rustix::stdio::{stderr, stdin, stdout};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// A pipe's size from the first large frame on. Sizes count against the user's soft limit of
/// 64 MiB in all pipes, so not more.
const LARGE_PIPE_BYTES: usize = 256 * 1024;
/// A read or write of this size filled a pipe of the usual size.
const FULL_PIPE_BYTES: usize = 64 * 1024;

/// An input stream.
pub(crate) type Input = Box<dyn AsyncRead + Send + Unpin>;
/// An output stream.
pub(crate) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Standard input and output, and what is to be put back when they are done with.
pub(crate) struct Stdio {
    pub(crate) input: Input,
    pub(crate) output: Output,
    pub(crate) flags: SavedFlags,
}

impl Stdio {
    /// Opens both. Needs a runtime with I/O.
    pub(crate) fn open() -> io::Result<Self> {
        let flags = SavedFlags::take();
        let input: Input = match kind_of(stdin()) {
            FdKind::Pipe => Box::new(pipe::Receiver::from_owned_fd(duplicate(stdin())?)?),
            FdKind::Socket => Box::new(socket(stdin())?),
            FdKind::Other => Box::new(tokio::fs::File::from_std(duplicate(stdin())?.into())),
        };
        let output: Output = match kind_of(stdout()) {
            FdKind::Pipe => Box::new(Growing::new(pipe::Sender::from_owned_fd(duplicate(stdout())?)?)),
            FdKind::Socket => Box::new(socket(stdout())?),
            FdKind::Other => Box::new(tokio::fs::File::from_std(duplicate(stdout())?.into())),
        };
        Ok(Self { input, output, flags })
    }
}

enum FdKind {
    Other,
    Pipe,
    Socket,
}

fn kind_of(fd: BorrowedFd<'_>) -> FdKind {
    let Ok(stat) = fstat(fd) else { return FdKind::Other };
    if let Ok(err) = fstat(stderr())
        && (err.st_dev, err.st_ino) == (stat.st_dev, stat.st_ino)
    {
        return FdKind::Other;
    }
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Fifo => FdKind::Pipe,
        FileType::Socket => FdKind::Socket,
        _ => FdKind::Other,
    }
}

fn duplicate(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    fd.try_clone_to_owned()
}

fn socket(fd: BorrowedFd<'_>) -> io::Result<UnixStream> {
    let stream = std::os::unix::net::UnixStream::from(duplicate(fd)?);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

/// The status flags of fd 0 and 1 as they were; puts them back when dropped.
#[derive(Debug)]
pub(crate) struct SavedFlags {
    stdin: Option<OFlags>,
    stdout: Option<OFlags>,
}

impl SavedFlags {
    fn take() -> Self {
        Self { stdin: fcntl_getfl(stdin()).ok(), stdout: fcntl_getfl(stdout()).ok() }
    }
}

impl Drop for SavedFlags {
    fn drop(&mut self) {
        for (fd, flags) in [(stdin(), self.stdin), (stdout(), self.stdout)] {
            if let Some(flags) = flags {
                // A descriptor that was closed meanwhile has no flags to restore.
                let _ = fcntl_setfl(fd, flags);
            }
        }
    }
}

/// A pipe that grows once when a large frame goes through it.
#[derive(Debug)]
pub(crate) struct Growing<P> {
    pipe: P,
    grown: bool,
}

impl<P: AsFd> Growing<P> {
    pub(crate) fn new(pipe: P) -> Self {
        Self { pipe, grown: false }
    }

    fn moved(&mut self, bytes: usize) {
        if bytes >= FULL_PIPE_BYTES && !self.grown {
            self.grown = true;
            // Over the user's limit the pipe stays as it is, which is only slower.
            let _ = fcntl_setpipe_size(&self.pipe, LARGE_PIPE_BYTES);
        }
    }
}

impl<P: AsyncRead + AsFd + Unpin> AsyncRead for Growing<P> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.pipe).poll_read(cx, buf))?;
        let read = buf.filled().len() - before;
        self.moved(read);
        Poll::Ready(Ok(()))
    }
}

impl<P: AsyncWrite + AsFd + Unpin> AsyncWrite for Growing<P> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if buf.len() >= FULL_PIPE_BYTES {
            self.moved(buf.len());
        }
        Pin::new(&mut self.pipe).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.pipe).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.pipe.is_write_vectored()
    }
}
