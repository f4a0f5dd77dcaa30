//! Ends process trees that outlive their deadline.
//!
//! The measured loop uses plain blocking reads, since a poll before each would be measured too.
//! What keeps it from waiting for ever is this thread: it kills the group, the pipe closes, the
//! read ends.

use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

static WATCHED: Mutex<Vec<(u32, Instant)>> = Mutex::new(Vec::new());
static STARTED: Once = Once::new();

/// From now on `group` may run until `limit` has passed; replaces an earlier deadline.
pub fn allow(group: u32, limit: Duration) {
    STARTED.call_once(|| drop(thread::spawn(watch)));
    let deadline = Instant::now() + limit;
    let mut watched = watched();
    match watched.iter_mut().find(|(id, _)| *id == group) {
        Some(entry) => entry.1 = deadline,
        None => watched.push((group, deadline)),
    }
}

/// Kills what is left of `group` and forgets it; call before its leader is reaped, so that the
/// number cannot belong to somebody else by then.
pub fn end(group: u32) {
    watched().retain(|(id, _)| *id != group);
    kill(group);
}

fn watch() {
    loop {
        thread::sleep(Duration::from_millis(100));
        let now = Instant::now();
        watched().retain(|&(group, deadline)| {
            if now >= deadline {
                kill(group);
            }
            now < deadline
        });
    }
}

fn watched() -> MutexGuard<'static, Vec<(u32, Instant)>> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kill(group: u32) {
    if let Some(pid) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        // Already gone is as good as killed.
        let _ = kill_process_group(pid, Signal::KILL);
    }
}
