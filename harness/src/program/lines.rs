//! Cutting a program's answers into lines of bounded length.

use framegate_guard::program::ANSWER_BYTES_MAX;

/// What is left over of a line.
#[derive(Debug, Default)]
pub(super) struct LineCutter {
    /// `left.len() <= ANSWER_BYTES_MAX`
    left: Vec<u8>,
}

/// A line goes on for longer than any answer may.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl LineCutter {
    /// Takes what was read, and gives the lines that are whole now, without their ends.
    pub(super) fn take(&mut self, read: &[u8]) -> Result<Vec<Vec<u8>>, TooLong> {
        let mut lines = Vec::new();
        for piece in read.split_inclusive(|byte| *byte == b'\n') {
            let (text, is_whole) = match piece.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (piece, false),
            };
            if self.left.len() + text.len() > ANSWER_BYTES_MAX {
                return Err(TooLong);
            }
            self.left.extend_from_slice(text);
            if is_whole {
                let line = std::mem::take(&mut self.left);
                lines.push(line.trim_ascii().to_vec());
            }
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_cutting_gives_the_same_lines() {
        let all = b"{\"id\":1}\r\n\n  {\"id\":2}  \nrest";
        for size in 1..=all.len() {
            let mut cutter = LineCutter::default();
            let lines: Vec<Vec<u8>> =
                all.chunks(size).flat_map(|chunk| cutter.take(chunk).unwrap()).collect();
            assert_eq!(lines, [&b"{\"id\":1}"[..], b"", b"{\"id\":2}"], "{size}");
            assert_eq!(cutter.left, b"rest");
        }
    }

    #[test]
    fn a_line_at_the_limit_is_one_and_a_longer_one_is_not() {
        let of = |bytes: usize| {
            let mut cutter = LineCutter::default();
            let line = [vec![b'x'; bytes], vec![b'\n']].concat();
            line.chunks(1000)
                .map(|chunk| cutter.take(chunk))
                .find_map(|lines| lines.map(|mut it| it.pop()).transpose())
        };
        for bytes in [ANSWER_BYTES_MAX - 1, ANSWER_BYTES_MAX] {
            assert_eq!(of(bytes).unwrap().unwrap().len(), bytes);
        }
        assert_eq!(of(ANSWER_BYTES_MAX + 1), Some(Err(TooLong)));
        let mut endless = LineCutter::default();
        assert!(endless.take(&vec![b'x'; ANSWER_BYTES_MAX]).is_ok() && endless.take(b"x").is_err());
    }
}
