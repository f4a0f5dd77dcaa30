//! The installed clients and servers, and how each is started.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::cache::{Peers, sources};

/// Which of the two protocol eras the client opens with; `auto` lets it find out.
pub(crate) const LEGACY: &str = "legacy";
pub(crate) const MODERN: &str = "modern";
pub(crate) const AUTO: &str = "auto";

pub(crate) const LEGACY_VERSION: &str = "2025-11-25";
pub(crate) const MODERN_VERSION: &str = "2026-07-28";

/// The calls of a session, and one call to be given up after half a second.
pub(crate) struct Script {
    pub(crate) calls: Value,
    pub(crate) cancel: Option<Value>,
    /// What the client's user says when asked for a yes, in order; without it nobody can be asked.
    pub(crate) answers: Option<Value>,
}

impl Script {
    /// The arguments that all clients but the Rust one take.
    fn arguments(&self, era: &str) -> Vec<String> {
        let mut arguments = vec!["--era".into(), era.into(), "--calls".into(), self.calls.to_string()];
        if let Some(cancel) = &self.cancel {
            arguments.extend(["--cancel".into(), cancel.to_string()]);
        }
        if let Some(answers) = &self.answers {
            arguments.extend(["--answers".into(), answers.to_string()]);
        }
        arguments.push("--".into());
        arguments
    }
}

fn source(name: &str) -> String {
    sources().join(name).display().to_string()
}

fn python_client(peers: &Peers, sdk: &str, script: &Script, era: &str) -> Command {
    let mut command = Command::new(peers.path(&sdk.to_uppercase()));
    // -B: no byte code beside the sources.
    command.arg("-B").arg(source(&format!("client_{sdk}.py"))).args(script.arguments(era));
    command
}

fn node_client(peers: &Peers, sdk: &str, script: &Script, era: &str) -> Command {
    let mut command = Command::new(peers.path("NODE"));
    command.env("NODE_MODULES", peers.path("NODE_MODULES"));
    command.arg(source(&format!("client_{sdk}.mjs"))).args(script.arguments(era));
    command
}

fn rmcp_client(peers: &Peers, script: &Script, era: &str) -> Command {
    let mut command = Command::new(peers.path("RMCP_CLIENT"));
    let cancel = script.cancel.as_ref().map_or_else(|| "-".into(), Value::to_string);
    let answers = script.answers.as_ref().map_or_else(|| "-".into(), Value::to_string);
    command.args([era, &script.calls.to_string(), &cancel, &answers]);
    command
}

pub(crate) fn client(peers: &Peers, sdk: &str, script: &Script, era: &str) -> Command {
    match sdk {
        "py1" | "py2" => python_client(peers, sdk, script, era),
        "ts1" | "ts2" => node_client(peers, sdk, script, era),
        "rmcp" => rmcp_client(peers, script, era),
        other => panic!("no client `{other}`"),
    }
}

pub(crate) fn node_server(peers: &Peers, name: &str) -> Vec<String> {
    vec![peers.path("NODE"), peers.path(name)]
}

/// The servers that offer the same five tools, one for each server SDK; `asks` is another, that asks its user.
pub(crate) fn small_server(peers: &Peers, sdk: &str) -> Vec<String> {
    match sdk {
        "py2" => vec![peers.path("PY2"), source("server_py2.py")],
        "asks" => vec![peers.path("PY2"), source("server_asks_py2.py")],
        "fastmcp" => vec![peers.path("FASTMCP"), source("server_fastmcp.py")],
        "ts2" => {
            vec![peers.path("NODE"), source("server_ts2.mjs"), peers.path("NODE_MODULES")]
        }
        "rmcp" => vec![peers.path("RMCP_SERVER")],
        other => panic!("no server `{other}`"),
    }
}

/// SDK clients hand only a handful of variables to the server, so it gets them by `env`.
pub(crate) fn memory_server(peers: &Peers, folder: &Path) -> Vec<String> {
    let file = folder.join("memory.jsonl");
    let mut argv = vec!["env".into(), format!("MEMORY_FILE_PATH={}", file.display())];
    argv.extend(node_server(peers, "MEMORY"));
    argv
}
