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
        let all = &self.bytes[..];
        let Some(line) = all.strip_suffix(b"\n") else {
            return all;
        };
        line.strip_suffix(b"\r").unwrap_or(line)
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
