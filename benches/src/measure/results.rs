//! Large results, from writing the request to having read the whole answer line.

use std::io;
use std::time::Duration;

use super::Lane;
use crate::options::Options;
use crate::stats::median;
use crate::table::{Table, number};

const RUNS: usize = 3;

/// One table, a row a case. Returns whether all columns held.
pub fn results(options: &Options) -> io::Result<bool> {
    let mut lanes = Lane::start_all(options);
    let mut head = vec!["size", "body", "id"];
    for lane in &lanes {
        head.push(&lane.column.name);
    }
    let title = "Large results, ms (best of three medians) and × floor";
    let table = Table::new(title, &head)?;
    let mut all_held = true;
    for size in &options.sizes {
        for body in &options.bodies {
            for id in &options.ids {
                lanes.iter_mut().for_each(Lane::revive);
                let best = case(options, &mut lanes, *size, body, id);
                let floor = best.get(1).copied().unwrap_or(f64::NAN);
                let mut row = vec![format!("{} kB", size / 1_000), body.clone(), id.clone()];
                for (lane, time) in lanes.iter().zip(&best) {
                    all_held &= lane.session.is_ok();
                    row.push(
                        lane.failure()
                            .unwrap_or_else(|| format!("{} (×{})", number(*time), number(time / floor))),
                    );
                }
                table.row(&row)?;
            }
        }
    }
    Ok(all_held)
}

/// The best median of each lane, in milliseconds.
fn case(options: &Options, lanes: &mut [Lane<'_>], size: usize, body: &str, id: &str) -> Vec<f64> {
    let arguments = format!("{{\"size\":{size},\"body\":\"{body}\",\"id\":\"{id}\"}}");
    let limit = Duration::from_secs(options.limit_secs);
    let repeats = if options.quick { 1 } else { repeats(size) };
    let mut best = vec![f64::INFINITY; lanes.len()];
    let mut frame = Vec::new();
    // The first run warms: the server builds the body, buffers grow.
    for run in 0..=RUNS {
        lanes.iter_mut().for_each(|lane| lane.values.clear());
        for _ in 0..if run == 0 { 1 } else { repeats } {
            for lane in &mut *lanes {
                let took = lane.run(limit, |session| {
                    let (took, line) = session.call(&arguments, &mut frame)?;
                    // A proxy that spells numbers or escapes anew may shorten it, but not by half.
                    if line.bytes < size / 2 {
                        return Err(io::Error::other("the answer is too short"));
                    }
                    Ok(took.as_secs_f64() * 1e3)
                });
                lane.values.extend(took);
            }
        }
        if run > 0 {
            for (best, lane) in best.iter_mut().zip(&*lanes) {
                *best = best.min(median(&lane.values));
            }
        }
    }
    best
}

fn repeats(size: usize) -> usize {
    match size {
        0..=500_000 => 41,
        500_001..=5_000_000 => 21,
        5_000_001..=20_000_000 => 7,
        _ => 3,
    }
}
