//! From spawning to the answer to `initialize`.

use std::io;

use crate::options::Options;
use crate::session::Session;
use crate::stats::{median, median_difference, quantile};
use crate::table::{Table, number};

const STARTS: usize = 30;

/// One row a column. Returns whether all columns held.
pub fn startup(options: &Options) -> io::Result<bool> {
    let starts = if options.quick { 3 } else { STARTS };
    let mut times = vec![Vec::new(); options.columns.len()];
    let mut failures = vec![None; options.columns.len()];
    for _ in 0..starts {
        for ((column, times), failure) in options.columns.iter().zip(&mut times).zip(&mut failures) {
            if failure.is_some() {
                continue;
            }
            match Session::start(column) {
                Ok(session) => times.push(session.started_in.as_secs_f64() * 1e3),
                Err(error) => *failure = Some(format!("failed: {error}")),
            }
        }
    }
    let head = ["column", "median ms", "p99 ms", "added over direct ms"];
    let table = Table::new("Start: spawn to the answer to initialize", &head)?;
    let base = times.first().cloned().unwrap_or_default();
    for ((column, times), failure) in options.columns.iter().zip(&times).zip(&failures) {
        let mut row = vec![column.name.clone()];
        match failure {
            Some(reason) => row.push(reason.clone()),
            None => {
                let figures = [median(times), quantile(times, 0.99), median_difference(times, &base)];
                row.extend(figures.map(number));
            }
        }
        table.row(&row)?;
    }
    Ok(failures.iter().all(Option::is_none))
}
