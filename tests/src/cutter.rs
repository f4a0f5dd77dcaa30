//! Cutting a stream at line feeds, shared by both ends of the test.

use std::io::BufRead;

/// Collects bytes and gives out whole lines.
#[derive(Debug, Default)]
pub struct Cutter {
    partial: Vec<u8>,
}

impl Cutter {
    /// Takes one read's bytes; calls `line` for each line that is now complete, without its LF.
    pub fn push(&mut self, mut bytes: &[u8], mut line: impl FnMut(Vec<u8>)) {
        // `read_until` on a slice: std's own memchr, fast even in a debug build, which 64 MiB need.
        while let Ok(1..) = bytes.read_until(b'\n', &mut self.partial) {
            if self.partial.last() == Some(&b'\n') {
                self.partial.pop();
                line(std::mem::take(&mut self.partial));
            }
        }
    }

    /// What came after the last line feed.
    pub fn rest(&mut self) -> Option<Vec<u8>> {
        Some(std::mem::take(&mut self.partial)).filter(|rest| !rest.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_cutting_gives_the_same_lines() {
        let text = b"one\n\ntwo\r\nrest";
        for size in 1..=text.len() {
            let (mut cutter, mut lines) = (Cutter::default(), Vec::new());
            for piece in text.chunks(size) {
                cutter.push(piece, |line| lines.push(line));
            }
            assert_eq!(lines, [&b"one"[..], b"", b"two\r"]);
            assert_eq!(cutter.rest().as_deref(), Some(&b"rest"[..]));
            assert_eq!(cutter.rest(), None);
        }
    }
}
