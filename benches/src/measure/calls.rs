//! Small calls: one at a time, and 64 in flight.

use std::io;
use std::time::{Duration, Instant};

use super::Lane;
use crate::options::Options;
use crate::session::Session;
use crate::stats::{median, median_difference, median_ratio, quantile};
use crate::table::{Table, number};

const IN_FLIGHT: usize = 64;
/// A round of a slow peer is cut short here, or it would take minutes.
const ROUND_MAX: Duration = Duration::from_secs(1);
/// Makes the request as long as the answer, about 150 bytes.
const ARGUMENTS: &str = "{\"text\":\"The quick brown fox jumps over the lazy dog, then\"}";

/// Round trips, one call at a time. Returns whether all columns held.
pub fn rtt(options: &Options, place: &str) -> io::Result<bool> {
    let mut lanes = run_rounds(options, |session, calls, lane| {
        let mut times = one_at_a_time(session, calls)?;
        times.sort_by(f64::total_cmp);
        lane.0.push(median(&times));
        lane.1.push(quantile(&times, 0.99));
        Ok(())
    });
    let head =
        ["column", "p50 µs", "min p50 µs", "p99 µs", "added p50 µs", "× floor", "added × floor's added"];
    let table = Table::new(&format!("Round trip of a small call, {place}"), &head)?;
    let base = values(&lanes, 0);
    let floor = values(&lanes, 1);
    let floor_added = median_difference(&floor, &base);
    for lane in &mut lanes {
        let added = median_difference(&lane.values, &base);
        let cells = [
            median(&lane.values),
            quantile(&lane.values, 0.0),
            median(&lane.tails),
            added,
            median_ratio(&lane.values, &floor),
            added / floor_added,
        ];
        row(&table, lane, &cells)?;
    }
    Ok(lanes.iter().all(|lane| lane.session.is_ok()))
}

/// Calls per second, 64 in flight. Returns whether all columns held.
pub fn pipelined(options: &Options, place: &str) -> io::Result<bool> {
    let mut lanes = run_rounds(options, |session, calls, lane| {
        lane.0.push(in_flight(session, calls * 10)?);
        Ok(())
    });
    let head = ["column", "calls/s", "slowest round", "fastest round", "µs a call", "× floor's rate"];
    let table = Table::new(&format!("Small calls, {IN_FLIGHT} in flight, {place}"), &head)?;
    let floor = values(&lanes, 1);
    for lane in &mut lanes {
        let rate = median(&lane.values);
        let cells = [
            rate,
            quantile(&lane.values, 0.0),
            quantile(&lane.values, 1.0),
            1e6 / rate,
            median_ratio(&lane.values, &floor),
        ];
        row(&table, lane, &cells)?;
    }
    Ok(lanes.iter().all(|lane| lane.session.is_ok()))
}

type Figures<'a> = (&'a mut Vec<f64>, &'a mut Vec<f64>);

fn run_rounds(
    options: &Options,
    mut round: impl FnMut(&mut Session, usize, Figures<'_>) -> io::Result<()>,
) -> Vec<Lane<'_>> {
    let limit = Duration::from_secs(options.limit_secs);
    let mut lanes = Lane::start_all(options);
    for lane in &mut lanes {
        lane.run(limit, |session| one_at_a_time(session, options.calls / 4));
    }
    for _ in 0..options.rounds {
        for lane in &mut lanes {
            let mut values = std::mem::take(&mut lane.values);
            let mut tails = std::mem::take(&mut lane.tails);
            lane.run(limit, |session| round(session, options.calls, (&mut values, &mut tails)));
            lane.values = values;
            lane.tails = tails;
        }
    }
    lanes
}

/// Microseconds of each call.
fn one_at_a_time(session: &mut Session, calls: usize) -> io::Result<Vec<f64>> {
    let mut frame = Vec::with_capacity(256);
    let mut times = Vec::with_capacity(calls);
    let began = Instant::now();
    while times.len() < calls && began.elapsed() < ROUND_MAX {
        let (took, _) = session.call(ARGUMENTS, &mut frame)?;
        times.push(took.as_secs_f64() * 1e6);
    }
    Ok(times)
}

/// Calls per second. Each batch of answers is replaced by one write of as many requests.
fn in_flight(session: &mut Session, calls: usize) -> io::Result<f64> {
    let mut frames = Vec::with_capacity(64 * 1024);
    let (mut sent, mut answered, mut due) = (0, 0, IN_FLIGHT);
    let began = Instant::now();
    loop {
        frames.clear();
        if began.elapsed() < ROUND_MAX {
            for _ in 0..due.min(calls.saturating_sub(sent)) {
                session.request(ARGUMENTS, &mut frames)?;
                sent += 1;
            }
        }
        session.send(&frames)?;
        if answered == sent {
            break;
        }
        due = 0;
        while due == 0 || session.lines.has_buffered() {
            if session.lines.answer()?.is_refusal() {
                return Err(io::Error::other("the call was refused"));
            }
            due += 1;
        }
        answered += due;
    }
    #[expect(clippy::cast_precision_loss, reason = "a few thousand calls")]
    let count = answered as f64;
    Ok(count / began.elapsed().as_secs_f64())
}

fn values(lanes: &[Lane<'_>], at: usize) -> Vec<f64> {
    lanes.get(at).map(|lane| lane.values.clone()).unwrap_or_default()
}

fn row(table: &Table, lane: &Lane<'_>, cells: &[f64]) -> io::Result<()> {
    let mut row = vec![lane.column.name.clone()];
    match lane.failure() {
        Some(reason) => row.push(reason),
        None => row.extend(cells.iter().map(|cell| number(*cell))),
    }
    table.row(&row)
}
