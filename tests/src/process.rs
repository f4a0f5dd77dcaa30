//! What `/proc` says about the processes of a case.

use std::{fs, os::unix::ffi::OsStrExt, path::Path, time::Duration};

use rustix::process::{Pid, Signal};

use crate::scan;

/// A process that still runs although its case is over.
#[derive(Debug)]
pub struct Leftover {
    pid: i32,
    command: String,
}

impl std::fmt::Display for Leftover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} `{}`", self.pid, self.command)
    }
}

/// The living processes of a case: their command line names `marker`, a directory only this case
/// uses, or they work in it. The second finds a helper that hides its command line.
pub fn leftovers(marker: &Path) -> Vec<Leftover> {
    let own = std::process::id().cast_signed();
    let left = |pid: i32| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let named = || scan::has(&command, marker.as_os_str().as_bytes());
        let inside = || fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == marker);
        if pid == own || !(named() || inside()) || Stat::of(pid)?.state == "Z" {
            return None;
        }
        let command = String::from_utf8_lossy(&command).trim_end_matches('\0').replace('\0', " ");
        Some(Leftover { pid, command })
    };
    pids().into_iter().filter_map(left).collect()
}

/// Ends what [`leftovers`] finds.
pub fn kill_leftovers(marker: &Path) {
    for leftover in leftovers(marker) {
        signal(leftover.pid, Signal::KILL);
    }
}

/// The unreaped children of a process.
pub fn zombies_of(parent: u32) -> usize {
    let parent = parent.to_string();
    let dead_child = |stat: &Stat| stat.state == "Z" && stat.parent == parent;
    pids().into_iter().filter_map(Stat::of).filter(dead_child).count()
}

/// The processor time a process has used so far.
pub fn cpu_time(pid: u32) -> Option<Duration> {
    let ticks = Stat::of(pid.cast_signed())?.ticks;
    Some(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
}

/// The largest resident size a process has had.
pub fn peak_rss_mib(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

/// A signal to one process; one that is gone is no fault.
pub fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _gone = rustix::process::kill_process(pid, signal);
    }
}

/// A signal to a process group, as a terminal sends it.
pub fn signal_group(leader: i32, signal: Signal) {
    if let Some(leader) = Pid::from_raw(leader) {
        let _gone = rustix::process::kill_process_group(leader, signal);
    }
}

fn pids() -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The fields of `/proc/PID/stat` that are read here.
struct Stat {
    state: String,
    parent: String,
    ticks: u64,
}

impl Stat {
    fn of(pid: i32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name before the last `)` may hold anything, blanks and `)` included.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        Some(Self {
            state: fields.first()?.to_string(),
            parent: fields.get(1)?.to_string(),
            ticks: number(11)? + number(12)?,
        })
    }
}
