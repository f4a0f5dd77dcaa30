//! How much of a WAL counts.
//!
//! A WAL that is begun anew is written over from its start: its file stays as long as it was, and what stands behind
//! the last frame of now is left from before. Writing over pages that the system holds takes a third of the time of
//! making the file longer, so the file is not cut each time; then its length says nothing any more. (The layout:
//! <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>.)

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// What stands before the first frame.
const HEADER_BYTES: u64 = 32;
/// What stands before each page.
const FRAME_HEADER_BYTES: u64 = 24;

/// What tells the frames of now from those left from before: the header has it, and each frame repeats it.
pub(super) type Salts = [u8; 8];

/// The salts of a WAL, and how many bytes of it count: those up to the last frame that has them. It may be written
/// meanwhile; then this is how much it was a moment ago. 0 of a file that is no WAL, or not there.
pub(super) fn used(wal: &Path) -> (Salts, u64) {
    let read = || {
        let file = File::open(wal).ok()?;
        let length = file.metadata().ok()?.len();
        let mut header = [0; HEADER_BYTES as usize];
        file.read_exact_at(&mut header, 0).ok()?;
        let page = u64::from(u32::from_be_bytes(header.get(8..12)?.try_into().ok()?));
        let salts: Salts = header.get(16..24)?.try_into().ok()?;
        let frame = FRAME_HEADER_BYTES + page;
        let is_of_now = |number: u64| {
            let mut found: Salts = [0; 8];
            file.read_exact_at(&mut found, HEADER_BYTES + number * frame + 8).is_ok() && found == salts
        };
        // Frames of now come first: so the last one is found by halving.
        let (mut some, mut none) = (0, length.saturating_sub(HEADER_BYTES) / frame);
        while some < none {
            let middle = some + (none - some) / 2;
            if is_of_now(middle) { some = middle + 1 } else { none = middle }
        }
        Some((salts, if some == 0 { 0 } else { HEADER_BYTES + some * frame }))
    };
    read().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A WAL of pages of 512 bytes, by the first byte of each frame's salts; the header's are 7.
    fn wal(frames: &[u8], cut: usize) -> u64 {
        let mut bytes = vec![0; 32];
        bytes[8..12].copy_from_slice(&512_u32.to_be_bytes());
        bytes[16..24].copy_from_slice(&[7; 8]);
        for salt in frames {
            let mut frame = vec![0; 24 + 512];
            frame[8..16].copy_from_slice(&[*salt; 8]);
            bytes.extend(frame);
        }
        bytes.truncate(bytes.len() - cut);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a-wal");
        std::fs::write(&path, bytes).unwrap();
        used(&path).1
    }

    #[test]
    fn only_frames_of_now_count() {
        let of = |frames| 32 + frames * (24 + 512);
        assert_eq!(wal(&[], 0), 0);
        assert_eq!(wal(&[6, 6, 6], 0), 0, "begun anew, and nothing written");
        for now in 1..9 {
            for before in 0..4 {
                let frames = [vec![7; now], vec![6; before]].concat();
                assert_eq!(wal(&frames, 0), of(now as u64), "{frames:?}");
            }
        }
        assert_eq!(wal(&[7, 7], 1), of(1), "a torn frame is none");
        assert_eq!(used(Path::new("/nowhere/a-wal")).1, 0);
    }
}
