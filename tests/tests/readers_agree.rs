//! No real server executes what the strict reader did not read.
//!
//! Thousands of mutated frames from fixed seeds; those that [`client_frame`] accepts are written straight to
//! a server of each SDK that notes every call it is asked to execute. Each execution must be one that was
//! read, with this tool and these arguments; a difference is a frame to refuse.
//!
//! `DIFFERENTIAL_FRAMES` and `DIFFERENTIAL_SEED` make a longer or another run.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::support::cache::{Peers, peers, sources};
use crate::support::scenario::scratch;
use base64::Engine as _;
use bytes::Bytes;
use framegate::pump::Frame;
use framegate::wire::{Limits, Reason, client_frame};
use framegate_guard::json::{self, Document, Kind, Value};
use framegate_tests::mutate::{Dice, Era, MODERN_META, frame};

const SEED: u64 = 20_261_130;
const FRAMES: usize = 6000;
/// Frames between two questions whether the server is still there.
const BATCH: usize = 40;
const PATIENCE: Duration = Duration::from_secs(30);

fn setting<T: std::str::FromStr>(name: &str, default: T) -> T {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

// === what was read, and what was run ===

/// A call in a form in which two spellings of one call are equal.
#[derive(Debug)]
struct Call {
    /// Everything but the numbers.
    shape: String,
    /// The numbers as doubles, which is all that a JavaScript server holds.
    numbers: Vec<f64>,
}

impl Call {
    fn new(name: &str, arguments: Option<Value<'_>>) -> Self {
        let mut call = Self { shape: format!("{name:?} "), numbers: Vec::new() };
        match arguments {
            Some(arguments) => call.push(arguments),
            None => call.shape.push_str("{}"),
        }
        call
    }

    fn push(&mut self, value: Value<'_>) {
        match value.kind() {
            Kind::Null | Kind::Bool => self.shape.push_str(value.raw()),
            Kind::Number => {
                self.shape.push('#');
                self.numbers.push(value.raw().parse().expect("a number"));
            }
            Kind::String => self.shape.push_str(&format!("{:?}", value.as_str().expect("a string"))),
            Kind::Array => {
                self.shape.push('[');
                for item in value.items() {
                    self.push(item);
                    self.shape.push(',');
                }
                self.shape.push(']');
            }
            Kind::Object => {
                let mut members: Vec<_> = value.members().collect();
                members.sort_unstable_by_key(|(key, _)| *key);
                self.shape.push('{');
                for (key, member) in members {
                    self.shape.push_str(&format!("{key:?}:"));
                    self.push(member);
                    self.shape.push(',');
                }
                self.shape.push('}');
            }
        }
    }

    /// The Rust SDK's reader takes a shortcut that is off by one in the last place now and then.
    fn is(&self, other: &Self) -> bool {
        let is_close = |a: f64, b: f64| (a - b).abs() <= 1e-15 * a.abs().max(b.abs()) + 1e-307;
        self.shape == other.shape
            && self.numbers.len() == other.numbers.len()
            && self.numbers.iter().zip(&other.numbers).all(|(a, b)| is_close(*a, *b))
    }
}

/// What a witness wrote down, as calls.
fn executed(log: &str) -> Vec<Call> {
    let limits = json::Limits { depth: 127, ..json::Limits::default() };
    let call = |line: &str| match Document::read(line.to_owned().into(), &limits) {
        Ok(document) => {
            let root = document.root();
            let name = root.get("name").and_then(Value::as_str).unwrap_or_default();
            Call::new(name, root.get("arguments").filter(|arguments| !arguments.is_null()))
        }
        // NaN, a lone surrogate: nothing that was read can look like this.
        Err(fault) => Call { shape: format!("unreadable: {fault}: {line}"), numbers: Vec::new() },
    };
    log.lines().map(call).collect()
}

// === a server ===

struct Witness {
    era: Era,
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    log: PathBuf,
    /// Bytes of the log that were looked at.
    seen: usize,
    batches: usize,
}

impl Witness {
    fn start(argv: &[String], era: Era, log: PathBuf) -> Self {
        fs::write(&log, "").expect("make the log");
        let mut child = Command::new(&argv[0])
            .args(&argv[1..])
            .arg(&log)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|err| panic!("cannot start {argv:?}: {err}"));
        let stdin = child.stdin.take().expect("stdin");
        let stdout = BufReader::new(child.stdout.take().expect("stdout"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.split(b'\n') {
                let Ok(line) = line else { return };
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
            }
        });
        let mut witness = Self { era, child, stdin, lines, log, seen: 0, batches: 0 };
        witness.open();
        witness
    }

    fn open(&mut self) {
        let (method, params) = match self.era {
            Era::Legacy => (
                "initialize",
                r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}"#.to_owned(),
            ),
            Era::Modern => ("server/discover", format!(r#"{{"_meta":{MODERN_META}}}"#)),
        };
        self.write(&format!(r#"{{"jsonrpc":"2.0","id":"open","method":"{method}","params":{params}}}"#));
        assert!(self.hears("\"open\""), "the server did not open the session");
        if self.era == Era::Legacy {
            self.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        }
    }

    /// A server that has gone is noticed by its silence.
    fn write(&mut self, line: &str) {
        self.write_bytes(format!("{line}\n").as_bytes());
    }

    fn write_bytes(&mut self, bytes: &[u8]) {
        let _ = self.stdin.write_all(bytes);
    }

    fn hears(&self, what: &str) -> bool {
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            if line.contains(what) {
                return true;
            }
        }
        false
    }

    /// The calls that it was asked to execute since the last time; `None` when it is gone.
    fn executed(&mut self) -> Option<Vec<Call>> {
        self.batches += 1;
        let mark = format!("mark-{}", self.batches);
        let meta = if self.era == Era::Modern { format!(r#","_meta":{MODERN_META}"#) } else { String::new() };
        self.write(&format!(
            r#"{{"jsonrpc":"2.0","id":"{mark}","method":"tools/call","params":{{"name":"{mark}"{meta}}}}}"#
        ));
        self.hears(&format!("\"{mark}\"")).then(|| {
            let log = fs::read_to_string(&self.log).expect("read the log");
            let new = log.get(self.seen..).unwrap_or_default().to_owned();
            self.seen = log.len();
            let mark = Call::new(&mark, None);
            executed(&new).into_iter().filter(|call| !call.is(&mark)).collect()
        })
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

// === the comparison ===

#[derive(Debug, Default)]
struct Outcome {
    made: usize,
    accepted: usize,
    read: usize,
    executed: usize,
    /// The server left, or fell silent.
    lost: usize,
    refused: BTreeMap<Reason, usize>,
    undecided: Vec<String>,
}

/// Sends the lines that the reader lets pass (all, if it is `blind`) and compares.
fn compare(
    argv: &[String],
    era: Era,
    name: &str,
    lines: impl Iterator<Item = Vec<u8>>,
    is_blind: bool,
) -> Outcome {
    let folder = scratch(&format!("witness-{name}"));
    let mut outcome = Outcome::default();
    let mut witness = Witness::start(argv, era, folder.join("log"));
    // The calls that were read and not run yet, by shape.
    let mut read: HashMap<String, Vec<Call>> = HashMap::new();
    let mut batch = Vec::new();
    let mut lines = lines.peekable();
    while let Some(line) = lines.next() {
        outcome.made += 1;
        let frame = Frame::from_wire(Bytes::from(line.clone()));
        let judged = client_frame(&frame, &Limits::default());
        if let Ok(Some(message)) = &judged {
            outcome.accepted += 1;
            if let Some(call) = message.call() {
                outcome.read += 1;
                let call = Call::new(call.name, call.arguments);
                read.entry(call.shape.clone()).or_default().push(call);
            }
        }
        if let Err(refusal) = &judged {
            *outcome.refused.entry(refusal.reason).or_default() += 1;
        }
        if is_blind || matches!(judged, Ok(Some(_))) {
            witness.write_bytes(&line);
            batch.push(line);
        }
        if batch.len() < BATCH && lines.peek().is_some() {
            continue;
        }
        match witness.executed() {
            Some(calls) => {
                outcome.executed += calls.len();
                for call in calls {
                    let candidates = read.entry(call.shape.clone()).or_default();
                    match candidates.iter().position(|read| read.is(&call)) {
                        Some(at) => drop(candidates.remove(at)),
                        None => outcome.undecided.push(format!("{call:?}\n{}", shown(&batch))),
                    }
                }
            }
            None => {
                outcome.lost += 1;
                outcome
                    .undecided
                    .extend((outcome.lost > 5).then(|| format!("gone after:\n{}", shown(&batch))));
                witness = Witness::start(argv, era, folder.join(format!("log-{}", outcome.lost)));
            }
        }
        batch.clear();
    }
    drop(witness);
    let _ = fs::remove_dir_all(&folder);
    outcome
}

fn shown(batch: &[Vec<u8>]) -> String {
    batch.iter().map(|line| format!("    {}\n", line.escape_ascii())).collect()
}

/// A mutated frame, cut as the pump cuts.
fn mutated(seed: u64, era: Era, count: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut dice = Dice::new(seed);
    (0..count).flat_map(move |serial| {
        let bytes = frame(&mut dice, era, serial + 1);
        bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>()
    })
}

fn witness(peers: &Peers, sdk: &str) -> Vec<String> {
    let source = |name: &str| sources().join(name).display().to_string();
    match sdk {
        "py1" | "py2" => {
            vec![peers.path(&sdk.to_uppercase()), "-B".into(), source(&format!("witness_{sdk}.py"))]
        }
        "ts1" | "ts2" => {
            vec![peers.path("NODE"), source(&format!("witness_{sdk}.mjs")), peers.path("NODE_MODULES")]
        }
        "rmcp" => vec![peers.path("RMCP_WITNESS")],
        other => panic!("no witness `{other}`"),
    }
}

fn agrees(sdk: &str, era: Era) {
    let Some(peers) = peers() else { return };
    let (seed, frames) = (setting("DIFFERENTIAL_SEED", SEED), setting("DIFFERENTIAL_FRAMES", FRAMES));
    let outcome =
        compare(&witness(peers, sdk), era, &format!("{sdk}-{era:?}"), mutated(seed, era, frames), false);
    let counts = Outcome { undecided: Vec::new(), ..outcome };
    assert!(
        outcome.undecided.is_empty(),
        "{counts:?}\nexecuted, but not read:\n{}",
        outcome.undecided.join("\n")
    );
    assert!(counts.lost == 0, "the server left or fell silent: {counts:?}");
    // Else it proves nothing.
    assert!(counts.read * 4 > counts.made && counts.executed * 2 > counts.read, "{counts:?}");
    let _ = writeln!(std::io::stderr(), "{sdk} {era:?}: {counts:?}");
}

#[test]
fn the_python_1_sdk_executes_what_was_read() {
    agrees("py1", Era::Legacy);
}

#[test]
fn the_python_2_sdk_executes_what_was_read() {
    agrees("py2", Era::Legacy);
}

#[test]
fn the_typescript_1_sdk_executes_what_was_read() {
    agrees("ts1", Era::Legacy);
}

#[test]
fn the_typescript_2_sdk_executes_what_was_read() {
    agrees("ts2", Era::Legacy);
}

#[test]
fn the_rust_sdk_executes_what_was_read() {
    agrees("rmcp", Era::Legacy);
}

#[test]
fn the_python_2_sdk_executes_what_was_read_without_a_handshake() {
    agrees("py2", Era::Modern);
}

#[test]
fn the_typescript_2_sdk_executes_what_was_read_without_a_handshake() {
    agrees("ts2", Era::Modern);
}

#[test]
fn the_rust_sdk_executes_what_was_read_without_a_handshake() {
    agrees("rmcp", Era::Modern);
}

/// With the reader's refusals ignored the comparison must find what each server is known to run.
#[test]
fn a_blind_guard_would_be_noticed() {
    let Some(peers) = peers() else { return };
    let smuggled = |name: &str| {
        let text = fs::read_to_string(framegate_tests::data("smuggling.jsonl")).expect("smuggling.jsonl");
        let row =
            text.lines().find(|line| line.contains(&format!("\"{name}\""))).expect("the row").to_owned();
        let row: serde_json::Value = serde_json::from_str(&row).expect("a row");
        let bytes = row["bytes_base64"].as_str().expect("bytes");
        base64::engine::general_purpose::STANDARD.decode(bytes).expect("base64")
    };
    for (sdk, name) in [
        ("py1", "cr_nested_ping"),
        ("py2", "cr_nested_notification"),
        ("py2", "val_nan"),
        ("ts1", "dup_params_danger_last"),
        ("ts2", "val_lone_surrogate"),
        ("rmcp", "dup_arg_key"),
    ] {
        let outcome = compare(
            &witness(peers, sdk),
            Era::Legacy,
            &format!("blind-{sdk}-{name}"),
            [smuggled(name)].into_iter(),
            true,
        );
        assert_eq!((outcome.read, outcome.undecided.len()), (0, 1), "{sdk} {name}: {outcome:?}");
    }
}
