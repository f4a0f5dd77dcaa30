//! The server's two pipes, with a record of every byte.

use std::{
    collections::VecDeque,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::fd::AsFd,
    path::Path,
    sync::{Mutex, PoisonError},
};

use rustix::io::{Errno, read, write};

use crate::cutter::Cutter;

/// One write is at most this long, as a pipe's usual capacity.
const PIECE_BYTES_MAX: usize = 1 << 16;

/// Opens both directions with their records, which are appended to: `wrapper` opens them twice.
pub(super) fn open(record: &Path) -> io::Result<(Input, Output)> {
    fs::create_dir_all(record)?;
    let open = |name| OpenOptions::new().append(true).create(true).open(record.join(name));
    let input = Input { record: open("c2s.bin")?, cutter: Cutter::default(), lines: VecDeque::new() };
    Ok((input, Output { record: Mutex::new(open("s2c.bin")?) }))
}

/// Standard input.
#[derive(Debug)]
pub(super) struct Input {
    record: File,
    cutter: Cutter,
    lines: VecDeque<Vec<u8>>,
}

impl Input {
    /// The next line without its LF; the bytes before EOF are a line too. `None` at EOF.
    pub(super) fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        while self.lines.is_empty() {
            let Some(bytes) = self.bytes()? else { return Ok(self.cutter.rest()) };
            self.cutter.push(&bytes, |line| self.lines.push_back(line));
        }
        Ok(self.lines.pop_front())
    }

    /// What one read gives; `None` at EOF.
    pub(super) fn bytes(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = vec![0; PIECE_BYTES_MAX];
        let length = loop {
            match read(io::stdin().as_fd(), &mut bytes) {
                Err(Errno::INTR) => {}
                // EAGAIN included: a wrapper that makes the child's own end non-blocking breaks
                // real servers, so it must break this one.
                result => break result?,
            }
        };
        bytes.truncate(length);
        self.record.write_all(&bytes)?;
        Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }
}

/// Standard output. Threads may share it: a frame is never cut by another one.
#[derive(Debug)]
pub(super) struct Output {
    record: Mutex<File>,
}

impl Output {
    /// Records, then writes.
    pub(super) fn put(&self, bytes: &[u8]) -> io::Result<()> {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        record.write_all(bytes)?;
        self.put_unrecorded(bytes)
    }

    /// Writes what nobody will compare.
    pub(super) fn put_unrecorded(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let piece = &bytes[..bytes.len().min(PIECE_BYTES_MAX)];
            match write(io::stdout().as_fd(), piece) {
                Err(Errno::INTR) => {}
                result => bytes = &bytes[result?..],
            }
        }
        Ok(())
    }
}
