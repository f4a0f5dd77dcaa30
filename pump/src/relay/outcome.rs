//! How a session ended, or broke.

use std::io;

use crate::request::Side;

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client closed its side; everything due was delivered. The usual, clean end.
    ClientClosed,
    /// The client's read end is gone.
    ClientGone,
    /// The server closed its side; whoever still waited for it was told by an error.
    ServerClosed,
    /// [`crate::Handle::stop`].
    Stopped,
}

/// Why a session broke.
#[derive(Debug)]
pub enum PumpError {
    /// Twice [`crate::MAX_FRAME_BYTES`] came without a line feed, or an over-long line stood
    /// still. It is not MCP.
    Flood(Side),
    /// A frame over [`crate::MAX_FRAME_BYTES`] came, and [`crate::OnTooLong::End`] was asked for.
    FrameTooLong {
        /// Who sent it.
        from: Side,
        /// Its length, without terminator.
        frame_bytes: u64,
    },
    /// A stream could not be read.
    Read(Side, io::Error),
    /// A stream could not be written.
    Write(Side, io::Error),
}

impl std::fmt::Display for PumpError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flood(side) => {
                write!(f, "the {side} sent a line over the limit of 64 MiB that does not end")
            }
            Self::FrameTooLong { from, frame_bytes } => {
                write!(f, "the {from} sent a frame of {frame_bytes} bytes, over the limit of 64 MiB")
            }
            Self::Read(side, why) => write!(f, "reading from the {side} failed: {why}"),
            Self::Write(side, why) => write!(f, "writing to the {side} failed: {why}"),
        }
    }
}

impl std::error::Error for PumpError {}
