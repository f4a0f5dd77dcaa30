//! The public MCP conformance suite gives the same outcome, check by check, with and without
//! Framegate in front of the server. `conformance/run_conformance.py` does the work.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::support::cache::peers;
use crate::support::process;
use crate::support::scenario::{framegate, scratch};

/// Half a minute on an idle machine with two cores.
const LIMIT: Duration = Duration::from_secs(300);

fn same_checks(revision: &str) {
    let Some(peers) = peers() else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance").join("run_conformance.py");
    // The suite's own output stays there, to be looked at after a failure.
    let output = scratch(&format!("conformance-{revision}"));
    let mut command = Command::new(peers.path("PY2"));
    command.arg("-B").arg(script).args(["--revision", revision]);
    command.arg("--peers").arg(&peers.folder);
    command.args(["--framegate", &framegate()]).arg("--keep").arg(&output);
    let outcome = process::run(&mut command, LIMIT);
    assert!(
        outcome.status.success(),
        "{}, output in {}\n{}\n{}",
        outcome.status,
        output.display(),
        outcome.stdout,
        outcome.stderr
    );
}

#[test]
fn conformance_2025_11_25_same_checks() {
    same_checks("2025-11-25");
}

#[test]
fn conformance_2026_07_28_same_checks() {
    same_checks("2026-07-28");
}
