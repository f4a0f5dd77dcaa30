//! The cache folder with the installed peers: where it is, and that it is complete.
//!
//! `MCP_PEERS_CACHE` names it; `MCP_PEERS_CACHE=none` skips every test that needs it, except
//! under `CI=true`. A peer that cannot be installed fails the test: a skipped test that
//! nobody notices proves nothing.

use std::collections::HashMap;
use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The installed peers: absolute paths by the names that `setup.sh` gives them.
pub(crate) struct Peers {
    pub(crate) folder: PathBuf,
    paths: HashMap<String, String>,
}

impl Peers {
    pub(crate) fn path(&self, name: &str) -> String {
        self.paths.get(name).unwrap_or_else(|| panic!("peers.env has no {name}")).clone()
    }
}

/// The folder with `setup.sh`, the client programs and the small servers.
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

/// The peers, installed by the first caller; `None` only if the person running the tests
/// asked for it.
pub(crate) fn peers() -> Option<&'static Peers> {
    static PEERS: OnceLock<Result<Peers, String>> = OnceLock::new();
    let folder = match env::var("MCP_PEERS_CACHE") {
        Ok(value) if value == "none" => {
            assert!(env::var("CI").as_deref() != Ok("true"), "MCP_PEERS_CACHE=none under CI=true");
            // Not eprintln!: the test harness would swallow it, as the test passes.
            let _ = writeln!(std::io::stderr(), "SKIPPED, MCP_PEERS_CACHE=none: NO REAL PEER RAN");
            return None;
        }
        Ok(value) => PathBuf::from(value),
        Err(_) => default_folder(),
    };
    // The error is kept, so that one failed installation is not tried again by every test.
    match PEERS.get_or_init(|| install(&folder)) {
        Ok(peers) => Some(peers),
        Err(err) => panic!("\n\nREAL PEERS ARE MISSING: {err}\n"),
    }
}

fn default_folder() -> PathBuf {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .expect("neither XDG_CACHE_HOME nor HOME is set")
        .join("framegate-peers")
}

/// Runs `setup.sh`, which returns at once when everything is current and holds a file lock
/// while it installs: test processes that start together wait for the first.
fn install(folder: &Path) -> Result<Peers, String> {
    let script = sources().join("setup.sh");
    // stderr is inherited: an installation takes a minute or two and should be seen.
    let status =
        Command::new(&script).arg(folder).status().map_err(|err| format!("{}: {err}", script.display()))?;
    if !status.success() {
        return Err(format!("{} {}: {status}", script.display(), folder.display()));
    }
    let marker = folder.join("peers.env");
    let text = std::fs::read_to_string(&marker).map_err(|err| format!("{}: {err}", marker.display()))?;
    let paths = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    Ok(Peers { folder: folder.to_owned(), paths })
}
