//! A record that cannot be written: calls are refused with the reason, everything else goes on, nothing is lost.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use framegate_guard::store::sqlite::{Durability, Store};
use framegate_tests::guarded::{Start, call, ping};
use framegate_tests::{Guarded, Stored};
use serde_json::{Value, json};

const POLICY: &str = "framegate: 1\ntools: { touch: {} }\n";

fn start(file: &Path, options: &[&str]) -> Guarded {
    let file = file.display().to_string();
    let options = [&["--store", &file], options].concat();
    let wrapper = framegate_tests::wrapper!();
    Start { wrapper: &wrapper, policy: Some(POLICY), options: &options, script: json!([]), files: &[] }.now()
}

fn decision(answer: &Value) -> &Value {
    &answer["result"]["_meta"]["dev.framegate/decision"]
}

fn ran(answer: &Value) -> bool {
    answer["result"]["content"][0]["text"] == "ran touch"
}

/// Lines of stderr take their own way.
fn said(guarded: &Guarded, text: &str) {
    let since = Instant::now();
    while !guarded.stderr().contains(text) {
        assert!(since.elapsed() < Duration::from_secs(5), "no `{text}` in {}", guarded.stderr());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Another process, as far as SQLite can tell, holds the file for this long.
fn hold(file: &Path, time: Duration) -> std::thread::JoinHandle<()> {
    let (file, (holding, held)) = (file.to_owned(), std::sync::mpsc::channel());
    let holder = std::thread::spawn(move || {
        let mut store = Store::open(&file, Durability::Normal, |_| Ok(())).unwrap();
        let step = store.begin().unwrap();
        holding.send(()).unwrap();
        std::thread::sleep(time);
        drop(step);
    });
    held.recv().unwrap();
    holder
}

#[test]
fn a_call_waits_for_another_process_and_ping_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db");
    let mut guarded = start(&file, &[]);
    guarded.open();
    let holder = hold(&file, Duration::from_secs(3));
    let since = Instant::now();
    guarded.send(&call("1", "touch", "{}"));
    guarded.ask(&ping("2"), "2");
    assert!(since.elapsed() < Duration::from_millis(700), "a ping waits for no record");
    assert!(guarded.answer("1").is_none());
    assert!(ran(&guarded.wait("1")));
    assert!(since.elapsed() >= Duration::from_secs(2));
    holder.join().unwrap();
    guarded.end();
    assert_eq!(Stored::read(&file).unwrap().of("call").count(), 1);
}

#[test]
fn past_the_bound_a_call_is_refused_with_the_reason_and_the_next_one_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db");
    let mut guarded = start(&file, &[]);
    guarded.open();
    let holder = hold(&file, Duration::from_secs(8));
    let refused = guarded.call("1", "touch", "{}");
    assert_eq!(decision(&refused)["failed"], json!(["record"]), "{refused}");
    assert!(refused.to_string().contains("another process has held the store"), "{refused}");
    holder.join().unwrap();
    assert!(ran(&guarded.call("2", "touch", "{}")), "{}", guarded.stderr());
    assert!(
        !guarded.server_got().iter().any(|line| line.contains("\"id\":1,")),
        "what is refused is not sent"
    );
    said(&guarded, "the record can be written again");
    guarded.end();
    let stored = Stored::read(&file).unwrap();
    let ids: Vec<&Value> = stored.of("call").map(|call| &call["call_id"]).collect();
    assert_eq!(ids, ["2"]);
    let late = stored.of("frame").find(|frame| frame["reason"] == "no record").unwrap();
    assert_eq!((&late["method"], &late["sent"]), (&json!("tools/call"), &json!("no")), "told when it can be");
}

#[test]
fn if_so_chosen_calls_go_through_and_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db");
    let mut guarded = start(&file, &["--store-failure", "allow"]);
    guarded.open();
    let holder = hold(&file, Duration::from_secs(7));
    assert!(ran(&guarded.call("1", "touch", "{}")));
    said(&guarded, "calls go through unrecorded");
    holder.join().unwrap();
    assert!(ran(&guarded.call("2", "touch", "{}")));
    guarded.end();
    let stored = Stored::read(&file).unwrap();
    let gap = stored.of("gap").next().unwrap();
    assert_eq!(gap["count"], 1);
    assert!(gap["why"].as_str().unwrap().contains("another process"), "{gap}");
    assert_eq!(stored.of("call").count(), 1);
}

#[test]
fn a_refused_call_does_not_count_as_gone_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db");
    let mut guarded = start(&file, &["--store-failure", "allow"]);
    guarded.open();
    let holder = hold(&file, Duration::from_secs(7));
    guarded.send(&call("1", "touch", "{}"));
    guarded.send(&call("2", "raed", "{}"));
    assert!(ran(&guarded.wait("1")));
    assert_eq!(decision(&guarded.wait("2"))["failed"], json!(["known_tool"]));
    holder.join().unwrap();
    assert!(ran(&guarded.call("3", "touch", "{}")));
    guarded.end();
    let stored = Stored::read(&file).unwrap();
    let counts: u64 = stored.of("gap").map(|gap| gap["count"].as_u64().unwrap()).sum();
    assert_eq!(counts, 1, "{stored:#?}");
    let rules: Vec<(&Value, &Value)> = stored
        .of("frame")
        .filter(|frame| frame["reason"] == "no record")
        .map(|frame| (&frame["sent"], &frame["rule"]))
        .collect();
    assert_eq!(rules, [(&json!("verbatim"), &Value::Null), (&json!("no"), &json!("known_tool"))]);
    // Who reads the log sees them too.
    let log = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
        let output = command.arg("log").args(options).arg(&file).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let said = log(&[]);
    for part in ["no record: known_tool", "1 call went out unrecorded: ", "touch"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("made"), "{said}");
    assert!(log(&["--outcome", "deny"]).contains("known_tool"));
    let kinds: Vec<String> = log(&["--json"])
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].as_str().unwrap().to_owned())
        .collect();
    let count = |kind: &str| kinds.iter().filter(|other| *other == kind).count();
    assert_eq!((count("call"), count("frame"), count("gap")), (1, 2, 1), "{}", log(&["--json"]));
}

#[test]
fn with_a_bounded_queue_calls_do_not_wait_and_the_record_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db");
    let mut guarded = start(&file, &["--durability", "bounded"]);
    guarded.open();
    let holder = hold(&file, Duration::from_secs(2));
    let since = Instant::now();
    assert!(ran(&guarded.call("1", "touch", "{}")));
    assert!(since.elapsed() < Duration::from_secs(1));
    holder.join().unwrap();
    guarded.end();
    let stored = Stored::read(&file).unwrap();
    assert_eq!(stored.of("session").next().unwrap()["durability"], "bounded");
    let call = stored.of("call").next().unwrap();
    assert_eq!(call["waived"], true);
    assert_eq!(stored.end_of(call).unwrap()["how"], "done");
}

#[test]
fn a_held_call_that_is_cancelled_is_recorded_as_never_sent() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db");
    let mut guarded = start(&file, &[]);
    guarded.open();
    let holder = hold(&file, Duration::from_secs(1));
    guarded.send(&call("1", "touch", "{}"));
    guarded.ask(&ping("2"), "2");
    guarded.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    holder.join().unwrap();
    assert!(ran(&guarded.call("3", "touch", "{}")));
    guarded.end();
    assert!(!guarded.server_got().iter().any(|line| line.contains("\"id\":1,")));
    let stored = Stored::read(&file).unwrap();
    let call = stored.of("call").find(|call| call["call_id"] == "1").unwrap();
    let end = stored.end_of(call).unwrap();
    assert_eq!((&end["how"], &end["sent"]), (&json!("cancelled"), &json!("no")));
}

#[test]
fn a_file_that_is_taken_away_gets_no_more_records_and_no_call_goes_out() {
    let folder = tempfile::tempdir().unwrap();
    let (file, away) = (folder.path().join("record.db"), folder.path().join("away.db"));
    let mut guarded = start(&file, &[]);
    guarded.open();
    assert!(ran(&guarded.call("1", "touch", "{}")));
    std::fs::rename(&file, &away).unwrap();
    let refused = guarded.call("2", "touch", "{}");
    assert!(refused.to_string().contains("was moved, deleted or replaced"), "{refused}");
    std::fs::rename(&away, &file).unwrap();
    assert!(ran(&guarded.call("3", "touch", "{}")));
    guarded.end();
    assert_eq!(Stored::read(&file).unwrap().of("call").count(), 2);
}

/// Calls that the strict reader does not take for any, and other readers run.
const ODD_CALLS: [&str; 5] = [
    r#"{"jsonrpc":"2.0","id":101,"method":"tools/call","params":{"name":"touch","arguments":{"a":1,"a":2}}}"#,
    r#"{"jsonrpc":"2.0","id":102,"method":"tools\/call","params":{"name":"touch","arguments":{"a":1,"a":2}}}"#,
    r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"touch","arguments":{"no":"id"}}}"#,
    r#"[{"jsonrpc":"2.0","id":103,"method":"tools/call","params":{"name":"touch","arguments":{}}}]"#,
    r#"{"jsonrpc":"2.0","id":104,"method":"tools/call","params":{"name":"touch","arguments":{"x":"\ud800"}}}"#,
];

/// Sessions in which nothing is refused: without a policy, and in monitor mode.
fn watches(file: &Path, options: &[&str]) -> [Guarded; 2] {
    let wrapper = framegate_tests::wrapper!();
    [(None, "a.db"), (Some(POLICY), "b.db")].map(|(policy, name)| {
        let file = file.join(name).display().to_string();
        let mode: &[&str] = if policy.is_some() { &["--mode", "monitor"] } else { &[] };
        let options = [&["--store", &file], mode, options].concat();
        Start { wrapper: &wrapper, policy, options: &options, script: json!([]), files: &[] }.now()
    })
}

#[test]
fn what_may_be_a_call_and_cannot_be_read_as_one_waits_for_its_record_in_every_mode() {
    let folder = tempfile::tempdir().unwrap();
    for (mut guarded, name) in watches(folder.path(), &[]).into_iter().zip(["a.db", "b.db"]) {
        guarded.open();
        let file = folder.path().join(name);
        let holder = hold(&file, Duration::from_secs(2));
        ODD_CALLS.iter().for_each(|frame| guarded.send(frame));
        guarded.ask(&ping("2"), "2");
        assert_eq!(guarded.server_got_count("touch"), 0, "not before they are in the record");
        holder.join().unwrap();
        guarded.wait_server_got("touch", ODD_CALLS.len());
        let got = guarded.server_got();
        for frame in ODD_CALLS {
            assert!(got.iter().any(|line| line.trim_end() == frame), "{frame}");
        }
        guarded.end();
        let stored = Stored::read(&file).unwrap();
        let unread =
            stored.of("frame").filter(|frame| frame["unread"] == true && frame["sent"] == "verbatim");
        assert_eq!(unread.count(), ODD_CALLS.len());
        let verified =
            Command::new(env!("CARGO_BIN_EXE_framegate-under-test")).arg("verify").arg(&file).output();
        let said = String::from_utf8(verified.unwrap().stdout).unwrap();
        assert!(said.contains("frames sent that could not be read as calls: 5"), "{said}");
    }
}

#[test]
fn what_may_be_a_call_is_refused_where_no_call_is_made_without_a_record() {
    let folder = tempfile::tempdir().unwrap();
    let away = folder.path().join("away.db");
    let sessions = watches(folder.path(), &["--store-failure", "refuse"]);
    for (mut guarded, name) in sessions.into_iter().zip(["a.db", "b.db"]) {
        guarded.open();
        let file = folder.path().join(name);
        guarded.ask(&ping("2"), "2");
        std::fs::rename(&file, &away).unwrap();
        ODD_CALLS.iter().for_each(|frame| guarded.send(frame));
        let refused = guarded.wait("104");
        assert!(refused.to_string().contains("is not sent without a record"), "{refused}");
        guarded.ask(&ping("3"), "3");
        assert_eq!(guarded.server_got_count("touch"), 0);
        std::fs::rename(&away, &file).unwrap();
        guarded.end();
        let stored = Stored::read(&file).unwrap();
        let sent = |sent: &'static str| {
            stored.of("frame").filter(|frame| frame["from"] == "client" && frame["sent"] == sent).count()
        };
        assert_eq!((sent("verbatim"), sent("no")), (0, ODD_CALLS.len()), "told as it was");
    }
}

// === a store that cannot be opened ===

fn refused(file: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("p.yaml");
    std::fs::write(&policy, POLICY).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    command.args(["run", "--policy"]).arg(&policy).args(["--store", file, "--", "touch"]);
    command.arg(folder.path().join("started"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    use std::io::Write as _;
    let asked = framegate_tests::guarded::INITIALIZE.to_owned() + "\n";
    child.stdin.take().unwrap().write_all(asked.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(!folder.path().join("started").exists(), "no server without its record");
    output
}

#[test]
fn a_store_that_cannot_be_opened_is_said_and_nothing_starts() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other");
    std::fs::write(&other, "this is no database, and long enough to be looked at as one: ".repeat(20))
        .unwrap();
    for file in
        ["/dev/full", folder.path().to_str().unwrap(), "/proc/none/record.db", other.to_str().unwrap()]
    {
        let output = refused(file);
        let (said, answered) =
            (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        assert_eq!(output.status.code(), Some(74), "{file}: {said}");
        for text in [&said, &answered] {
            assert!(text.contains("--store none"), "{file}: {text}");
            assert!(text.contains(file), "{file}: {text}");
        }
        assert!(answered.contains("\"id\":\"open\""), "the client's first request is answered: {answered}");
    }
}

// === as an ordinary user ===

/// These need root to become somebody else; whoever is nobody already needs not.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Copies of the programs that anybody may run, and a folder of nobody's own.
struct Ordinary {
    folder: tempfile::TempDir,
}

impl Ordinary {
    fn new() -> Self {
        use std::fs::Permissions;
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
        let copy = |from: &str, to: &str| {
            let to = folder.path().join(to);
            std::fs::copy(from, &to).unwrap();
            std::fs::set_permissions(&to, Permissions::from_mode(0o755)).unwrap();
        };
        copy(env!("CARGO_BIN_EXE_framegate-under-test"), "framegate");
        copy(env!("CARGO_BIN_EXE_fake-server"), "fake-server");
        std::fs::write(folder.path().join("p.yaml"), POLICY).unwrap();
        std::fs::write(folder.path().join("script.json"), r#"{"server_frames":[]}"#).unwrap();
        let ordinary = Self { folder };
        ordinary.give(&ordinary.made("own"));
        ordinary.give(&ordinary.made("server"));
        ordinary
    }

    fn made(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        path
    }

    fn give(&self, path: &Path) {
        if is_root() {
            std::os::unix::fs::chown(path, Some(65534), Some(65534)).unwrap();
        }
    }

    fn command(&self, store: &Path) -> Command {
        let path = |name: &str| self.folder.path().join(name);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]);
            command.arg(path("framegate"));
            command
        } else {
            Command::new(path("framegate"))
        };
        command.args(["run", "--policy"]).arg(path("p.yaml")).arg("--store").arg(store).arg("--");
        command.arg(path("fake-server")).arg("scripted").arg(path("script.json")).arg(path("server"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("own/record.db")
    }

    /// A session of these frames, one after the other, each after the answer to the one before.
    fn session(&self, store: &Path, frames: &[String]) -> (Vec<Value>, String) {
        use std::io::{BufRead as _, BufReader, Write as _};
        let mut child = self.command(store).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut answers = Vec::new();
        for frame in frames {
            if writeln!(stdin, "{frame}").is_err() {
                break;
            }
            if !frame.contains("\"id\"") {
                continue;
            }
            let Some(Ok(line)) = lines.next() else { break };
            answers.push(serde_json::from_str(&line).unwrap());
        }
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        (answers, String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn opening() -> Vec<String> {
    use framegate_tests::guarded::{INITIALIZE, INITIALIZED};
    vec![INITIALIZE.to_owned(), INITIALIZED.to_owned()]
}

#[test]
fn a_store_that_may_only_be_read_is_refused_at_the_start() {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;
    let ordinary = Ordinary::new();
    let calls = || [opening(), vec![call("1", "touch", "{}")]].concat();
    let (answers, said) = ordinary.session(&ordinary.store(), &calls());
    assert!(answers.last().is_some_and(ran), "{said}");
    std::fs::set_permissions(ordinary.store(), Permissions::from_mode(0o444)).unwrap();
    let before = std::fs::read(ordinary.store()).unwrap();
    let (answers, said) = ordinary.session(&ordinary.store(), &calls());
    assert!(said.contains("may only be read") || said.contains("cannot be written"), "{said}");
    assert!(!answers.iter().any(ran));
    assert_eq!(std::fs::read(ordinary.store()).unwrap(), before);
    let (_, said) = ordinary.session(Path::new("/proc/record.db"), &calls());
    assert!(said.contains("--store none"), "a folder that nobody may write in: {said}");
}

/// A file system of 1 MiB, mounted while this lives.
struct Small(PathBuf);

impl Small {
    fn mount(at: PathBuf) -> Self {
        let options = ["-t", "tmpfs", "-o", "size=1m,uid=65534,gid=65534,mode=700", "tmpfs"];
        let status = Command::new("mount").args(options).arg(&at).status().unwrap();
        assert!(status.success(), "this test mounts a small file system: it needs CAP_SYS_ADMIN");
        Self(at)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn on_a_full_disk_calls_are_refused_with_that_reason_and_nothing_written_is_lost() {
    if !is_root() {
        // CI runs as root. Whoever does not sees what is missing.
        assert!(std::env::var_os("CI").is_none(), "CI must run this as root");
        eprintln!("SKIPPED: a small file system can only be mounted by root");
        return;
    }
    let ordinary = Ordinary::new();
    let small = Small::mount(ordinary.made("small"));
    let store = small.0.join("record.db");
    let big = format!(r#"{{"text":"{}"}}"#, "x".repeat(40_000));
    let calls = (0..60).map(|at| call(&at.to_string(), "touch", &big));
    let mut frames: Vec<String> = opening().into_iter().chain(calls).collect();
    frames.push(ping("\"last\""));
    let (answers, said) = ordinary.session(&store, &frames);
    let first_refused = answers.iter().position(|answer| decision(answer)["failed"] == json!(["record"]));
    let first_refused = first_refused.unwrap_or_else(|| panic!("the disk never filled: {said}"));
    assert!(first_refused > 2, "some went through: {said}");
    assert!(answers[first_refused].to_string().contains("full"), "{}", answers[first_refused]);
    assert_eq!(answers.last().unwrap()["id"], "last", "a ping is answered all the same");
    assert!(said.contains("the disk with the store is full"), "{said}");
    let stored = Stored::read(&store).unwrap();
    let sent: Vec<&str> = stored.of("call").filter_map(|call| call["call_id"].as_str()).collect();
    let ran: Vec<String> =
        answers[1..].iter().filter(|answer| ran(answer)).map(|answer| answer["id"].to_string()).collect();
    assert!(!ran.is_empty() && ran.iter().all(|id| sent.contains(&id.as_str())), "{ran:?} {sent:?}");
}
