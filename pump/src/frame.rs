//! One line of the wire, with its terminator as it was received.

use bytes::{Bytes, BytesMut};

/// The longest frame that is passed on, in bytes, **not** counting its terminator.
///
/// A frame of exactly this size is whole; one byte more is discarded up to its LF
/// (see [`crate::codec::Cut::TooLong`]).
pub const MAX_FRAME_BYTES: usize = 64 * 1024 * 1024;

/// One line as it came, terminator included. Cheap to clone: the bytes are shared.
#[derive(Clone, PartialEq, Eq)]
pub struct Frame {
    /// INVARIANT: at most one LF, and then it is the last byte.
    bytes: Bytes,
}

impl Frame {
    /// Takes bytes that were cut at an LF (or at the end of the stream).
    pub fn from_wire(bytes: Bytes) -> Self {
        debug_assert!(
            memchr::memchr(b'\n', &bytes).is_none_or(|at| at + 1 == bytes.len()),
            "a frame has no inner LF"
        );
        Self { bytes }
    }

    /// Makes a frame of our own: `body` and an LF.
    ///
    /// `body` must be one line; JSON text written by `serde_json` always is.
    pub fn line(body: &[u8]) -> Self {
        let mut bytes = BytesMut::with_capacity(body.len() + 1);
        bytes.extend_from_slice(body);
        bytes.extend_from_slice(b"\n");
        Self::from_wire(bytes.freeze())
    }

    /// Everything, terminator included: what goes on the wire.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The bytes themselves.
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// The frame without its terminator (`\n` or `\r\n`).
    pub fn body(&self) -> &[u8] {
        body_of(&self.bytes)
    }

    /// Whether the line ended with an LF; false only for a stream's last line.
    pub fn is_terminated(&self) -> bool {
        self.bytes.ends_with(b"\n")
    }

    /// Length of the body in bytes.
    pub fn len(&self) -> usize {
        self.body().len()
    }

    /// Whether the body is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same bytes in an allocation of their own.
    ///
    /// A frame is a view into the read buffer it was cut from, and keeps that buffer alive: a
    /// 200-byte request that stays open would pin 64 KiB.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self { bytes: Bytes::copy_from_slice(&self.bytes) }
    }
}

/// Whole lines that lie back to back in one buffer: they can leave in one piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// INVARIANT: not empty, and the last byte is an LF.
    bytes: Bytes,
}

impl Run {
    /// Takes bytes that were cut after an LF.
    pub(crate) fn from_wire(bytes: Bytes) -> Self {
        debug_assert!(bytes.ends_with(b"\n"), "a run is whole lines");
        Self { bytes }
    }

    /// Everything, terminators included.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The frames in it, in order.
    pub fn frames(&self) -> impl Iterator<Item = Frame> {
        self.lines().map(|line| line.frame())
    }

    /// The same without taking a share in the buffer for each.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let mut at = 0;
        memchr::memchr_iter(b'\n', &self.bytes).filter_map(move |lf| {
            let bytes = self.bytes.get(std::mem::replace(&mut at, lf + 1)..=lf)?;
            Some(Line { run: self, bytes })
        })
    }
}

/// One frame of a run.
pub(crate) struct Line<'a> {
    run: &'a Run,
    bytes: &'a [u8],
}

impl Line<'_> {
    pub(crate) fn body(&self) -> &[u8] {
        body_of(self.bytes)
    }

    pub(crate) fn frame(&self) -> Frame {
        Frame { bytes: self.run.bytes.slice_ref(self.bytes) }
    }
}

fn body_of(line: &[u8]) -> &[u8] {
    let Some(text) = line.strip_suffix(b"\n") else {
        return line;
    };
    text.strip_suffix(b"\r").unwrap_or(text)
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 200;
        let shown = self.bytes.get(..SHOWN).unwrap_or(&self.bytes);
        write!(f, "Frame({} bytes: {})", self.bytes.len(), shown.escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_leaves_out_exactly_one_terminator() {
        for (wire, body) in [
            ("a\n", "a"),
            ("a\r\n", "a"),
            ("a\r\r\n", "a\r"),
            ("a\r", "a\r"),
            ("a", "a"),
            ("\n", ""),
            ("\r\n", ""),
            ("", ""),
        ] {
            let frame = Frame::from_wire(Bytes::from_static(wire.as_bytes()));
            assert_eq!(frame.body(), body.as_bytes(), "{wire:?}");
        }
    }
}
