//! The measurements. Each keeps its columns running side by side and lets them take turns.

pub mod calls;
pub mod memory;
pub mod results;
pub mod startup;

use std::io;
use std::time::Duration;

use crate::column::Column;
use crate::options::Options;
use crate::session::Session;

/// A column in the middle of a measurement: running, or the reason why not.
#[derive(Debug)]
pub struct Lane<'a> {
    /// Which way.
    pub column: &'a Column,
    /// The running instance.
    pub session: io::Result<Session>,
    /// One number a round (or call), the same unit within a measurement.
    pub values: Vec<f64>,
    /// The 99th percentile of each round, where there is one.
    pub tails: Vec<f64>,
}

impl<'a> Lane<'a> {
    /// Starts every column.
    pub fn start_all(options: &'a Options) -> Vec<Self> {
        options.columns.iter().map(Self::start).collect()
    }

    fn start(column: &'a Column) -> Self {
        Self { column, session: Session::start(column), values: Vec::new(), tails: Vec::new() }
    }

    /// Runs `work` within `limit`; the first failure ends the lane.
    pub fn run<T>(&mut self, limit: Duration, work: impl FnOnce(&mut Session) -> io::Result<T>) -> Option<T> {
        let session = self.session.as_mut().ok()?;
        session.allow(limit);
        match work(session) {
            Ok(value) => {
                // Idle until its next turn, however long the others take.
                session.allow(Duration::from_secs(3_600));
                Some(value)
            }
            Err(error) => {
                self.session = Err(error);
                None
            }
        }
    }

    /// A failed lane gets another process; a case that kills it must not cost it the others.
    pub fn revive(&mut self) {
        self.values.clear();
        if self.session.is_err() {
            self.session = Session::start(self.column);
        }
    }

    /// Why there is no figure.
    pub fn failure(&self) -> Option<String> {
        self.session.as_ref().err().map(|error| format!("failed: {error}"))
    }
}
