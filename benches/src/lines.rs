//! The reading half of the client: counts bytes, looks for LF, and nothing else.

use std::io::{self, Read};

use memchr::{memchr, memmem};

const BUFFER_BYTES: usize = 256 * 1024;
const HEAD_BYTES: usize = 256;

/// What is known of a line that has gone by; the line itself is not kept.
#[derive(Debug)]
pub struct Line {
    /// Its length with the LF.
    pub bytes: usize,
    head: [u8; HEAD_BYTES],
}

impl Line {
    fn head(&self) -> &[u8] {
        self.head.get(..self.bytes.min(HEAD_BYTES)).unwrap_or(&self.head)
    }

    fn has(&self, text: &str) -> bool {
        memmem::find(self.head(), text.as_bytes()).is_some()
    }

    /// Requests and notifications that a proxy sends of its own accord are not answers.
    fn is_answer(&self) -> bool {
        !self.has("\"method\":")
    }

    /// A refusal is faster than an answer, so it must never be timed as one.
    pub fn is_refusal(&self) -> bool {
        self.has("\"error\":") || self.has("\"isError\":true") || self.has("\"isError\": true")
    }
}

/// Lines of a stream through one reused buffer.
#[derive(Debug)]
pub struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl<R: Read> Lines<R> {
    /// Starts at the beginning of a line.
    pub fn new(source: R) -> Self {
        Self { source, buffer: vec![0; BUFFER_BYTES], start: 0, end: 0 }
    }

    /// Whether a whole line is there without another read.
    pub fn has_buffered(&self) -> bool {
        memchr(b'\n', self.buffered()).is_some()
    }

    /// Waits for the next answer, passing over other lines.
    pub fn answer(&mut self) -> io::Result<Line> {
        loop {
            let line = self.line()?;
            if line.is_answer() {
                return Ok(line);
            }
        }
    }

    fn buffered(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    fn line(&mut self) -> io::Result<Line> {
        let mut line = Line { bytes: 0, head: [0; HEAD_BYTES] };
        loop {
            let chunk = self.buffered();
            let lf = memchr(b'\n', chunk);
            let taken = lf.map_or(chunk.len(), |at| at + 1);
            for (to, from) in line.head.iter_mut().skip(line.bytes).zip(chunk.iter().take(taken)) {
                *to = *from;
            }
            line.bytes += taken;
            self.start += taken;
            if lf.is_some() {
                return Ok(line);
            }
            self.start = 0;
            self.end = self.source.read(&mut self.buffer)?;
            if self.end == 0 {
                return Err(io::Error::other("stream ended inside an answer, or time ran out"));
            }
        }
    }
}
