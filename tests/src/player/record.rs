//! The directory of one case: where the server writes down what it saw.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{
    process::{Leftover, leftovers},
    scan,
};

/// A fresh directory, also the mark by which the processes of a case are known.
#[derive(Debug)]
pub struct Record {
    directory: TempDir,
}

impl Record {
    /// Makes the directory.
    pub fn new(name: &str) -> Self {
        let prefix = format!("framegate-{name}-");
        let directory = tempfile::Builder::new().prefix(&prefix).tempdir();
        Self { directory: directory.expect("a temporary directory can be made") }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Every byte the server has read.
    pub fn server_got(&self) -> Vec<u8> {
        self.read("c2s.bin")
    }

    /// Every byte the server has written.
    pub fn server_sent(&self) -> Vec<u8> {
        self.read("s2c.bin")
    }

    /// A file of the directory; one that does not exist is empty.
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).unwrap_or_default()
    }

    /// Waits until the server has read `text`.
    pub fn wait_server_got(&self, text: &str, within: Duration) -> Result<(), String> {
        let deadline = Instant::now() + within;
        while !scan::has(&self.server_got(), text.as_bytes()) {
            if Instant::now() > deadline {
                return Err(format!("the server never got `{text}` in {} ms", within.as_millis()));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Waits until no process of the case is left; gives those that stay.
    pub fn wait_no_leftover(&self, within: Duration) -> Vec<Leftover> {
        let deadline = Instant::now() + within;
        loop {
            let left = leftovers(self.path());
            if left.is_empty() || Instant::now() > deadline {
                return left;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}
