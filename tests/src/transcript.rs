//! Recorded sessions, whose turn it is in them, and awkward ways to cut them.

use std::{fs, path::Path, thread, time::Duration};

use serde_json::Value;

/// Who wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The client, `c2s`.
    Client,
    /// The server, `s2c`.
    Server,
}

/// Lines one side wrote before the other said anything.
#[derive(Debug)]
pub struct Turn {
    /// Who wrote them.
    pub side: Side,
    /// The lines with their line feeds.
    pub bytes: Vec<u8>,
}

/// One session.
#[derive(Debug)]
pub struct Transcript {
    turns: Vec<Turn>,
}

impl Transcript {
    /// Reads a file of `{"dir": "c2s" | "s2c", "raw": LINE}` lines.
    pub fn load(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut turns: Vec<Turn> = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let bad = |what: &str| format!("{} line {}: {what}", path.display(), at + 1);
            let entry: Value = serde_json::from_str(line).map_err(|error| bad(&error.to_string()))?;
            let side = match entry["dir"].as_str() {
                Some("c2s") => Side::Client,
                Some("s2c") => Side::Server,
                _ => return Err(bad("`dir` is neither c2s nor s2c")),
            };
            let raw = entry["raw"].as_str().ok_or_else(|| bad("no `raw`"))?;
            if turns.last().is_none_or(|turn| turn.side != side) {
                turns.push(Turn { side, bytes: Vec::new() });
            }
            if let Some(turn) = turns.last_mut() {
                turn.bytes.extend_from_slice(raw.as_bytes());
                turn.bytes.push(b'\n');
            }
        }
        Ok(Self { turns })
    }

    /// The turns in order; sides alternate.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// Everything one side wrote.
    pub fn all_of(&self, side: Side) -> Vec<u8> {
        let turns = self.turns.iter().filter(|turn| turn.side == side);
        turns.flat_map(|turn| turn.bytes.iter().copied()).collect()
    }
}

/// How a turn is cut into writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chunking {
    /// One byte a write.
    EveryByte,
    /// Writes of a prime size, so that every phase against the frames comes up.
    Prime(usize),
    /// Inside each character of several bytes, and before each line feed.
    Seams,
    /// A turn in one write, however many frames it has.
    Whole,
}

impl Chunking {
    /// By the name [`Chunking::name`] gives.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "every-byte" => Some(Self::EveryByte),
            "seams" => Some(Self::Seams),
            "whole" => Some(Self::Whole),
            name => Some(Self::Prime(name.strip_prefix("prime-")?.parse().ok()?)),
        }
    }

    /// A name for the command line.
    pub fn name(self) -> String {
        match self {
            Self::EveryByte => "every-byte".to_owned(),
            Self::Prime(size) => format!("prime-{size}"),
            Self::Seams => "seams".to_owned(),
            Self::Whole => "whole".to_owned(),
        }
    }

    /// The writes for `bytes`.
    pub fn pieces(self, bytes: &[u8]) -> Vec<&[u8]> {
        match self {
            Self::EveryByte => bytes.chunks(1).collect(),
            Self::Prime(size) => bytes.chunks(size).collect(),
            Self::Seams => at_seams(bytes),
            Self::Whole => vec![bytes],
        }
    }

    /// The gap after a write.
    ///
    /// Few cuts, each of which must be seen as one: wait until the reader has taken the piece. Many
    /// cuts: let the pipe join them as it likes, or a megabyte of single bytes takes minutes.
    pub fn pause(self) {
        if self == Self::Seams {
            thread::sleep(Duration::from_micros(200));
        }
    }
}

fn at_seams(bytes: &[u8]) -> Vec<&[u8]> {
    let continues = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
    let (mut pieces, mut start) = (Vec::new(), 0);
    for at in 1..bytes.len() {
        let first_continuation = continues(bytes[at]) && !continues(bytes[at - 1]);
        if first_continuation || bytes[at] == b'\n' {
            pieces.push(&bytes[start..at]);
            start = at;
        }
    }
    pieces.push(&bytes[start..]);
    pieces
}

/// Where `got` leaves `want`, with a little of both.
pub fn difference(got: &[u8], want: &[u8]) -> String {
    let common = got.iter().zip(want).take_while(|(a, b)| a == b).count();
    let shown = |bytes: &[u8]| {
        let end = bytes.len().min(common + 40);
        bytes[common..end].escape_ascii().to_string()
    };
    format!(
        "{} bytes arrived, {} sent, first difference at {common}: `{}` instead of `{}`",
        got.len(),
        want.len(),
        shown(got),
        shown(want)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_to_the_whole() {
        let text = "café\n读取 🎉\r\n\n".as_bytes();
        for chunking in [Chunking::EveryByte, Chunking::Prime(3), Chunking::Seams, Chunking::Whole] {
            assert_eq!(chunking.pieces(text).concat(), text);
            assert_eq!(Chunking::named(&chunking.name()), Some(chunking));
        }
        let seams = Chunking::Seams.pieces(text);
        assert_eq!(seams[0], b"caf\xc3");
        assert_eq!(seams[1], b"\xa9");
        assert_eq!(&seams[2][..2], b"\n\xe8");
    }

    #[test]
    fn a_difference_is_quoted() {
        let text = difference(b"ab\x00c", b"abc");
        assert!(text.ends_with(r"first difference at 2: `\x00c` instead of `c`"), "{text}");
    }
}
