//! One real client against one real server, twice: directly, and through Framegate.
//!
//! The second run is `client -> tee a -> framegate run -- tee b -> server`. What the two tees
//! recorded must be the same bytes in both directions, and the client must report the same
//! session as in the direct run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::process;

/// Builds the client's command from the server command it is to start.
pub(crate) type Client<'a> = dyn Fn(&[String]) -> Command + 'a;
/// Builds the server command; the folder is fresh for each of the two runs.
pub(crate) type Server<'a> = dyn Fn(&Path) -> Vec<String> + 'a;

/// Far above what any scenario takes, for a machine that is busy building.
const LIMIT: Duration = Duration::from_secs(90);

/// Runs the scenario and returns what the client printed, the same in both runs.
pub(crate) fn same_through_framegate(name: &str, client: &Client<'_>, server: &Server<'_>) -> String {
    let scratch = scratch(name);
    let direct = session(&scratch, "direct", client, |folder| server(folder));
    let wrapped = session(&scratch, "wrapped", client, |folder| wrap(folder, &[], &server(folder)));
    same_bytes(&scratch.join("wrapped"));
    assert_eq!(direct, wrapped, "the client got a different session through framegate");
    // Kept after a failure, to be looked at.
    let _ = fs::remove_dir_all(&scratch);
    wrapped
}

/// Both runs of a scenario, the second one under a policy.
pub(crate) struct Guarded {
    /// What the client printed without Framegate.
    pub(crate) direct: String,
    /// What it printed with it.
    pub(crate) guarded: String,
    /// The lines it sent in its session.
    pub(crate) sent: Vec<String>,
    /// Those that the server got of it.
    pub(crate) arrived: Vec<String>,
    /// What the client got.
    pub(crate) got: Vec<String>,
}

/// Runs the scenario directly and through `run --policy`.
pub(crate) fn under_policy(name: &str, client: &Client<'_>, server: &Server<'_>, policy: &str) -> Guarded {
    // Nobody's own record is written to.
    guarded(name, client, server, policy, &["--store", "none"])
}

/// The same with more options of `run`, so that a record may be kept.
pub(crate) fn guarded(
    name: &str,
    client: &Client<'_>,
    server: &Server<'_>,
    policy: &str,
    options: &[&str],
) -> Guarded {
    let scratch = scratch(name);
    let file = scratch.join("policy.yaml");
    fs::write(&file, policy).expect("write the policy");
    let file = file.display().to_string();
    let options: Vec<String> =
        [options, &["--policy", &file]].concat().into_iter().map(str::to_owned).collect();
    let direct = session(&scratch, "direct", client, |folder| server(folder));
    let guarded = session(&scratch, "guarded", client, |folder| wrap(folder, &options, &server(folder)));
    let folder = scratch.join("guarded");
    // The last run is the session; one before it a probe.
    let last = (1..).take_while(|run| recording(&folder, "a", *run, "c2s").exists()).last();
    let last = last.expect("the client started its server command");
    let lines = |tee, direction| {
        let bytes = fs::read(recording(&folder, tee, last, direction)).expect("read a recording");
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        lines.map(|line| String::from_utf8_lossy(line).into_owned()).collect::<Vec<_>>()
    };
    let (sent, got, mut arrived) = (lines("a", "c2s"), lines("a", "s2c"), lines("b", "c2s"));
    arrived.retain(|line| !line.contains("\"id\":\"framegate-"));
    let _ = fs::remove_dir_all(&scratch);
    Guarded { direct, guarded, sent, arrived, got }
}

/// A new empty folder for one test.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("peers-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("create the scratch folder");
    folder
}

fn session(scratch: &Path, run: &str, client: &Client<'_>, server: impl Fn(&Path) -> Vec<String>) -> String {
    let folder = scratch.join(run);
    fs::create_dir_all(&folder).expect("create the folder of the run");
    let outcome = process::run(&mut client(&server(&folder)), LIMIT);
    assert!(
        outcome.status.success(),
        "{run}: the client ended with {}\nstdout: {}\nstderr: {}",
        outcome.status,
        outcome.stdout,
        outcome.stderr
    );
    outcome.stdout
}

fn wrap(folder: &Path, options: &[String], server: &[String]) -> Vec<String> {
    let path = |name| folder.join(name).display().to_string();
    let tee = env!("CARGO_BIN_EXE_tee");
    let mut argv = vec![tee.to_owned(), path("a"), "--".into(), framegate(), "run".into()];
    argv.extend_from_slice(options);
    argv.extend(["--".into(), tee.into(), path("b"), "--".into()]);
    argv.extend_from_slice(server);
    argv
}

/// The binary under test.
pub(crate) fn framegate() -> String {
    std::env::var("FRAMEGATE_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_framegate-under-test").to_owned())
}

/// Compares the recordings of every run of the command (see `tee` on second runs).
fn same_bytes(folder: &Path) {
    let runs = (1..).take_while(|run| recording(folder, "a", *run, "c2s").exists()).count();
    assert!(runs > 0, "the client never started its server command");
    for run in 1..=runs {
        let read = |tee, direction| {
            let path = recording(folder, tee, run, direction);
            fs::read(&path).unwrap_or_else(|err| panic!("{}: {err}", path.display()))
        };
        let (from_client, to_server) = (read("a", "c2s"), read("b", "c2s"));
        let (from_server, to_client) = (read("b", "s2c"), read("a", "s2c"));
        assert!(!from_client.is_empty(), "run {run}: the client sent nothing");
        if run == runs {
            assert!(!from_server.is_empty(), "the server sent nothing");
            assert_same("client to server", &from_client, &to_server);
            assert_same("server to client", &from_server, &to_client);
        } else {
            // A probe may be killed while bytes are under way: nothing may be altered,
            // but the end may not have arrived.
            assert!(from_client.starts_with(&to_server), "run {run}: altered to the server");
            assert!(from_server.starts_with(&to_client), "run {run}: altered to the client");
        }
    }
}

fn recording(folder: &Path, tee: &str, run: usize, direction: &str) -> PathBuf {
    match run {
        1 => folder.join(format!("{tee}.{direction}")),
        run => folder.join(format!("{tee}.{run}.{direction}")),
    }
}

/// `assert_eq!` on megabytes would print megabytes.
fn assert_same(direction: &str, sent: &[u8], arrived: &[u8]) {
    if sent == arrived {
        return;
    }
    let at = sent.iter().zip(arrived).take_while(|(a, b)| a == b).count();
    let around = |bytes: &[u8]| {
        let from = at.saturating_sub(80);
        let part = bytes.get(from..bytes.len().min(at + 80)).unwrap_or_default();
        String::from_utf8_lossy(part).into_owned()
    };
    panic!(
        "{direction}: {} bytes sent, {} arrived, the first difference is at {at}\n\
         sent:    {}\narrived: {}",
        sent.len(),
        arrived.len(),
        around(sent),
        around(arrived)
    );
}
