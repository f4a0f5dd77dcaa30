//! Resident memory of the wrapper itself, never of its server.

use std::fs;
use std::io;
use std::thread;
use std::time::Duration;

use super::Lane;
use crate::options::Options;
use crate::session::Session;
use crate::table::{Table, number};

const FRAME_BYTES: usize = 60 * 1024 * 1024;
/// Some allocators give memory back a little later.
const SETTLE: Duration = Duration::from_millis(500);

/// One row a column. Returns whether all columns held.
pub fn memory(options: &Options) -> io::Result<bool> {
    let head = ["column", "idle RSS MiB", "peak (VmHWM) MiB", "RSS afterwards MiB"];
    let table = Table::new("Memory of the wrapper, one 60 MiB frame each way", &head)?;
    let bytes = if options.quick { FRAME_BYTES / 60 } else { FRAME_BYTES };
    let arguments = format!("{{\"size\":{bytes},\"body\":\"text\",\"blob\":\"{}\"}}", "x".repeat(bytes));
    let limit = Duration::from_secs(options.limit_secs);
    let mut all_held = true;
    for column in &options.columns {
        // One at a time: several of these at once would not fit a small machine.
        let mut lane = Lane::start(column);
        let figures = lane.run(limit, |session| frame_each_way(session, &arguments));
        let mut row = vec![column.name.clone()];
        row.extend(figures.iter().flatten().map(|mib| number(*mib)));
        row.extend(lane.failure());
        all_held &= figures.is_some();
        table.row(&row)?;
    }
    Ok(all_held)
}

fn frame_each_way(session: &mut Session, arguments: &str) -> io::Result<[f64; 3]> {
    thread::sleep(SETTLE);
    let idle = status(session.pid(), "VmRSS:")?;
    session.call(arguments, &mut Vec::new())?;
    thread::sleep(SETTLE);
    Ok([idle, status(session.pid(), "VmHWM:")?, status(session.pid(), "VmRSS:")?])
}

/// A line of `/proc/PID/status`, in MiB.
fn status(pid: u32, name: &str) -> io::Result<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    kib.map(|kib| kib / 1024.0).ok_or_else(|| io::Error::other("no such line in the status file"))
}
