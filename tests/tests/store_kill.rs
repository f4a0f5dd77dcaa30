//! SIGKILL at a random moment of a running session, again and again (C112): the chain holds after each, and every
//! call that the server got is in it.
//!
//! `FRAMEGATE_KILLS` says how often (200), `FRAMEGATE_KILL_SEED` where the moments begin.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use framegate_tests::guarded::{INITIALIZE, INITIALIZED, call};
use framegate_tests::{Stored, process, scan};
use serde_json::Value;

/// Calls of one session; more than get through before the latest kill.
const CALLS: usize = 40;
/// The latest moment.
const KILL_WITHIN_US: u64 = 30_000;
/// A session that nobody kills early starts within this.
const START: Duration = Duration::from_secs(10);

/// Moments that come again with the same seed.
struct Moments(u64);

impl Moments {
    fn next(&mut self) -> Duration {
        // Knuth's MMIX.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Duration::from_micros((self.0 >> 33) % KILL_WITHIN_US)
    }
}

fn number(name: &str, or: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or)
}

/// One session, killed; gives the ids of the calls that the server got.
fn session(round: u64, folder: &Path, after: Duration, extra: &[&str]) -> BTreeSet<String> {
    let record = folder.join(format!("server-{round}"));
    std::fs::create_dir(&record).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    command.args(["run", "--quiet", "--policy"]).arg(folder.join("policy.yaml"));
    command.arg("--store").arg(folder.join("record.db")).args(extra);
    command.args(["--", env!("CARGO_BIN_EXE_fake-server"), "scripted"]);
    command.arg(folder.join("script.json")).arg(&record);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let calls = (0..CALLS).map(|at| call(&format!("\"{round}-{at}\""), "touch", "{}"));
    let frames: Vec<String> =
        [INITIALIZE.to_owned(), INITIALIZED.to_owned()].into_iter().chain(calls).collect();
    stdin.write_all((frames.join("\n") + "\n").as_bytes()).unwrap();
    // Some moments lie in the start, most among the calls.
    let seen: &[u8] = if round % 4 == 1 { b"tools/list" } else { b"tools/call" };
    let since = Instant::now();
    while !round.is_multiple_of(4) && !scan::has(&got(&record), seen) && since.elapsed() < START {
        std::thread::sleep(Duration::from_micros(200));
    }
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    // The warden ends the server; until then it may still read.
    while !process::leftovers(&record).is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let got = got(&record);
    std::fs::remove_dir_all(&record).unwrap();
    let lines = got.split(|byte| *byte == b'\n').filter(|line| scan::has(line, b"tools/call"));
    // Half a line is no call.
    let whole = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    whole.map(|line| line["id"].to_string()).collect()
}

fn got(record: &Path) -> Vec<u8> {
    std::fs::read(record.join("c2s.bin")).unwrap_or_default()
}

fn kill_again_and_again(rounds: u64, extra: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.yaml"), "framegate: 1\ntools: { touch: {} }\n").unwrap();
    std::fs::write(folder.path().join("script.json"), r#"{"server_frames":[]}"#).unwrap();
    let seed = number("FRAMEGATE_KILL_SEED", 1);
    let mut moments = Moments(seed);
    let file = folder.path().join("record.db");
    let (mut reached, mut stored) = (0, Stored::default());
    for round in 0..rounds {
        let got = session(round, folder.path(), moments.next(), extra);
        if !file.exists() {
            assert!(got.is_empty(), "seed {seed}, round {round}: calls without a record");
            continue;
        }
        match stored.read_on(&file) {
            Ok(()) => {}
            // Killed while it was made: there is a file, and no store in it yet.
            Err(_) if stored.records.is_empty() && got.is_empty() => continue,
            Err(why) => panic!("seed {seed}, round {round}: {why}"),
        }
        let of_round = format!("\"{round}-");
        let sent = stored.of("call").filter(|call| call["sent"] == "verbatim");
        let ids = sent.filter_map(|call| call["call_id"].as_str()).filter(|id| id.starts_with(&of_round));
        let sent: BTreeSet<String> = ids.map(str::to_owned).collect();
        let missing: Vec<&String> = got.difference(&sent).collect();
        assert!(missing.is_empty(), "seed {seed}, round {round}: {missing:?} reached the server unrecorded");
        reached += got.len();
    }
    // Nothing of what was read on the way has changed since.
    let whole = Stored::read(&file).unwrap();
    assert_eq!(whole.records, stored.records);
    let verified = Command::new(env!("CARGO_BIN_EXE_framegate-under-test")).arg("verify").arg(&file).output();
    let verified = verified.unwrap();
    let said = [verified.stdout, verified.stderr].concat();
    assert_eq!(verified.status.code(), Some(0), "seed {seed}: {}", String::from_utf8_lossy(&said));
    assert!(reached > 0, "no kill came after a call");
}

#[test]
fn whatever_reached_the_server_is_in_the_record_whenever_framegate_is_killed() {
    kill_again_and_again(number("FRAMEGATE_KILLS", 200), &[]);
}

#[test]
fn the_same_with_records_that_survive_a_power_cut() {
    kill_again_and_again(number("FRAMEGATE_KILLS", 200) / 10, &["--durability", "full"]);
}
