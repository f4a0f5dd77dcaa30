//! `--session NAME`: several wrapped servers of one client share what was called and what is in flight.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use framegate_tests::guarded::{Start, call, failed, ping};
use framegate_tests::{Guarded, Stored};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

const POLICY: &str = "framegate: 1\ndefaults: { arguments: unchecked, instructions: off }\ntools: { pay: { once: true }, look: {} }\n";

struct Desk(TempDir);

impl Desk {
    fn new() -> Desk {
        Desk(tempfile::tempdir().unwrap())
    }

    fn record(&self) -> PathBuf {
        self.0.path().join("record.db")
    }

    fn state(&self) -> PathBuf {
        self.0.path().join("record.db-state")
    }

    /// A wrapper whose server answers `pay` as the script says.
    fn start(&self, options: &[&str], script: &Value) -> Guarded {
        let record = self.record().display().to_string();
        let options = [&["--store", &record], options].concat();
        let wrapper = framegate_tests::wrapper!();
        let tools = json!({"tools": r#"[{"name":"pay","inputSchema":{"type":"object"}},{"name":"look","inputSchema":{"type":"object"}}]"#});
        let items: Vec<Value> = [tools].into_iter().chain(script.as_array().cloned().unwrap()).collect();
        let start = Start {
            wrapper: &wrapper,
            policy: Some(POLICY),
            options: &options,
            script: Value::Array(items),
            files: &[],
        };
        let mut guarded = start.now();
        guarded.open();
        guarded
    }

    fn of(&self, session: &str, server: &str) -> Guarded {
        self.start(&["--session", session, "--name", server], &json!([]))
    }

    fn count(&self, sql: &str) -> i64 {
        Connection::open(self.state()).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    fn files(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

fn ran(answer: &Value) -> bool {
    answer["result"]["content"][0]["text"] == "ran pay"
}

/// Never answers `pay`.
fn silent() -> Value {
    json!([{"on": "tools/call", "name": "pay", "emit": [{"stderr": "got it\n"}]}])
}

#[test]
fn a_call_made_through_one_wrapper_was_made_for_every_wrapper_of_that_server() {
    let desk = Desk::new();
    let (mut one, mut two) = (desk.of("s", "bank"), desk.of("s", "bank"));
    let (mut other_server, mut other_session) = (desk.of("s", "shop"), desk.of("t", "bank"));
    assert!(ran(&one.call("1", "pay", r#"{"to":"a"}"#)));
    let refused = two.call("1", "pay", r#"{"to":"a"}"#);
    assert_eq!(failed(&refused), &json!(["not_made_before"]), "{refused}");
    assert!(ran(&two.call("2", "pay", r#"{"to":"b"}"#)));
    assert!(!ran(&one.call("2", "pay", r#"{"to":"b"}"#)));
    assert!(ran(&other_server.call("1", "pay", r#"{"to":"a"}"#)), "another server's tool is another tool");
    assert!(ran(&other_session.call("1", "pay", r#"{"to":"a"}"#)));
    for mut guarded in [one, two, other_server, other_session] {
        guarded.end();
    }
    assert_eq!(desk.count("SELECT count(*) FROM leases"), 0);
    assert!(desk.files().iter().all(|name| !name.contains("lease")), "{:?}", desk.files());
    let stored = Stored::read(&desk.record()).unwrap();
    let names: Vec<String> =
        stored.of("session").map(|it| format!("{}/{}", it["name"], it["server"])).collect();
    assert_eq!(names, [r#""s"/"bank""#, r#""s"/"bank""#, r#""s"/"shop""#, r#""t"/"bank""#]);
    for (session, calls) in [("s", 5), ("t", 1), ("u", 0)] {
        let mut log = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
        let said = log.args(["log", "--json", "--session", session]).arg(desk.record()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&said.stdout).lines().count(), calls, "{session}: {said:?}");
    }
}

#[test]
fn a_call_in_flight_counts_for_the_others_and_one_that_failed_does_not() {
    let desk = Desk::new();
    let one = desk.start(&["--session", "s", "--name", "bank"], &silent());
    let fails = json!([{"on": "tools/call", "name": "pay", "times": 1,
        "reply": r#"{"jsonrpc":"2.0","id":$ID,"result":{"isError":true,"content":[]}}"#}]);
    let mut two = desk.start(&["--session", "s", "--name", "bank"], &fails);
    one.send(&call("1", "pay", r#"{"to":"a"}"#));
    one.wait_stderr("got it");
    assert_eq!(failed(&two.call("1", "pay", r#"{"to":"a"}"#)), &json!(["not_made_before"]));
    assert_eq!(two.call("2", "pay", r#"{"to":"b"}"#)["result"]["isError"], true);
    one.send(&call("2", "pay", r#"{"to":"b"}"#));
    one.wait_server_got(r#""to":"b""#, 1);
    assert!(ran(&two.call("3", "pay", r#"{"to":"c"}"#)));
    assert!(!ran(&two.call("4", "pay", r#"{"to":"b"}"#)), "now it is under way again");
}

#[test]
fn what_a_killed_process_had_reserved_counts_as_made() {
    let desk = Desk::new();
    let mut one = desk.start(&["--session", "s", "--name", "bank"], &silent());
    let mut two = desk.of("s", "bank");
    one.send(&call("1", "pay", r#"{"to":"a"}"#));
    one.wait_stderr("got it");
    assert_eq!(desk.count("SELECT count(*) FROM open"), 1);
    one.kill();
    assert_eq!(failed(&two.call("1", "pay", r#"{"to":"a"}"#)), &json!(["not_made_before"]));
    assert_eq!(desk.count("SELECT count(*) FROM open"), 0, "settled by who came next");
    // And for who comes later: the dead one's lease is taken away then.
    let mut three = desk.of("s", "bank");
    assert_eq!(failed(&three.call("1", "pay", r#"{"to":"a"}"#)), &json!(["not_made_before"]));
    assert_eq!(desk.count("SELECT count(*) FROM leases"), 2);
    two.end();
    three.end();
    assert!(desk.files().iter().all(|name| !name.contains("lease")), "{:?}", desk.files());
}

#[test]
fn a_session_goes_on_after_a_restart_and_ends_when_nobody_came_for_long() {
    let desk = Desk::new();
    let mut one = desk.of("s", "bank");
    assert!(ran(&one.call("1", "pay", "{}")));
    one.end();
    let mut again = desk.of("s", "bank");
    assert!(!ran(&again.call("1", "pay", "{}")));
    again.end();
    let hours_ago = "UPDATE sessions SET used_ms = used_ms - 3600000";
    Connection::open(desk.state()).unwrap().execute(hours_ago, []).unwrap();
    let mut late = desk.of("s", "bank");
    assert!(ran(&late.call("1", "pay", "{}")), "another session of the same name");
    // While one is in it, it is used, however long ago anybody called.
    Connection::open(desk.state()).unwrap().execute(hours_ago, []).unwrap();
    assert!(!ran(&desk.of("s", "bank").call("1", "pay", "{}")));
    // One that was killed was in it until now.
    Connection::open(desk.state()).unwrap().execute(hours_ago, []).unwrap();
    late.kill();
    assert!(!ran(&desk.of("s", "bank").call("1", "pay", "{}")));
}

/// Another process holds what sessions remember, for this long.
fn hold(state: &Path, time: Duration) -> std::thread::JoinHandle<()> {
    let (state, (holding, held)) = (state.to_owned(), std::sync::mpsc::channel());
    let holder = std::thread::spawn(move || {
        let connection = Connection::open(&state).unwrap();
        connection.busy_timeout(Duration::from_secs(5)).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        holding.send(()).unwrap();
        std::thread::sleep(time);
    });
    held.recv().unwrap();
    holder
}

#[test]
fn a_call_waits_for_another_process_and_then_is_refused_and_nothing_else_waits() {
    let desk = Desk::new();
    let mut one = desk.of("s", "bank");
    let holder = hold(&desk.state(), Duration::from_millis(300));
    one.send(&call("1", "pay", r#"{"to":"a"}"#));
    let since = Instant::now();
    one.ask(&ping("2"), "2");
    assert!(one.answer("1").is_none() || since.elapsed() > Duration::from_millis(250), "ping does not wait");
    assert!(ran(&one.wait("1")));
    holder.join().unwrap();
    let holder = hold(&desk.state(), Duration::from_secs(3));
    let refused = one.call("3", "pay", r#"{"to":"b"}"#);
    let said = refused["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("another process has held what the session `s` remembers"), "{said}");
    assert_eq!(failed(&refused), &json!(["record"]));
    assert_eq!(one.server_got_count("\"to\":\"b\""), 0);
    holder.join().unwrap();
    assert!(ran(&one.call("4", "pay", r#"{"to":"b"}"#)), "a refused call was not made");
    one.end();
}

#[test]
fn in_monitor_mode_nobody_is_refused_for_what_cannot_be_shared() {
    let desk = Desk::new();
    let mut one = desk.start(&["--session", "s", "--name", "bank", "--mode", "monitor"], &json!([]));
    let holder = hold(&desk.state(), Duration::from_secs(3));
    assert!(ran(&one.call("1", "pay", "{}")));
    one.wait_stderr("decided by what was known before");
    holder.join().unwrap();
    one.end();
}

#[test]
fn a_state_that_is_taken_away_refuses_calls() {
    let desk = Desk::new();
    let mut one = desk.of("s", "bank");
    assert!(ran(&one.call("1", "pay", "{}")));
    std::fs::rename(desk.state(), desk.0.path().join("elsewhere")).unwrap();
    let refused = one.call("2", "pay", r#"{"to":"b"}"#);
    let said = refused["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("was moved, deleted or replaced"), "{said}");
    assert_eq!(one.server_got_count("tools/call"), 1);
}

/// What `run` says where it does not start; the client's first request is answered with it.
fn refused(options: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("policy.yaml");
    std::fs::write(&policy, POLICY).unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    run.arg("run").arg("--policy").arg(&policy).args(options).args(["--", "true"]);
    run.envs(variables.iter().copied()).env("XDG_STATE_HOME", folder.path()).stdin(Stdio::null());
    let output = run.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_session_that_cannot_be_stops_the_start() {
    let (code, said) = refused(&["--session", "s", "--store", "none"], &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--session needs a record") && said.contains("--store FILE"), "{said}");
    assert_eq!(refused(&["--store", "none"], &[("FRAMEGATE_SESSION", "s")]).0, Some(2));
    let long = "x".repeat(65);
    for (name, why) in [
        ("", "it is empty"),
        ("a b", "it has a space in it"),
        ("a/b", "it has `/` in it"),
        ("\u{430}", "it has `\u{430}` in it"),
        ("-a", "does not begin with"),
        (long.as_str(), "more than 64 characters"),
    ] {
        let (code, said) = refused(&[&format!("--session={name}")], &[]);
        assert!(code == Some(2) && said.contains(why), "`{name}`: {code:?} {said}");
    }
    assert_ne!(refused(&[&format!("--session={}", "x".repeat(64))], &[]).0, Some(2));
}

#[test]
fn a_file_that_is_none_of_ours_is_left_as_it_is() {
    let desk = Desk::new();
    Connection::open(desk.state()).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    let before = std::fs::read(desk.state()).unwrap();
    let record = desk.record().display().to_string();
    let (code, said) = refused(&["--session", "s", "--store", &record], &[]);
    assert!(code == Some(74) && said.contains("it is none of this program"), "{code:?} {said}");
    assert_eq!(std::fs::read(desk.state()).unwrap(), before);
}

#[test]
fn of_processes_that_try_the_same_at_once_one_makes_each_call() {
    const CALLS: usize = 60;
    const PROCESSES: usize = 3;
    let desk = Desk::new();
    let ran: Vec<Vec<usize>> = std::thread::scope(|scope| {
        let one = || {
            let mut guarded = desk.start(&["--quiet", "--session", "s", "--name", "bank"], &json!([]));
            let frames = (0..CALLS).map(|n| call(&n.to_string(), "pay", &format!("{{\"n\":{n}}}")));
            guarded.send(&frames.collect::<Vec<_>>().join("\n"));
            let made = (0..CALLS).filter(|n| ran(&guarded.wait(&n.to_string()))).collect();
            guarded.end();
            made
        };
        let all: Vec<_> = (0..PROCESSES).map(|_| scope.spawn(one)).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut times: BTreeMap<usize, usize> = BTreeMap::new();
    ran.iter().flatten().for_each(|n| *times.entry(*n).or_default() += 1);
    assert_eq!(times, (0..CALLS).map(|n| (n, 1)).collect(), "{ran:?}");
    assert_eq!(Stored::read(&desk.record()).unwrap().of("call").count(), CALLS * PROCESSES);
}

/// Kills come at moments that differ; a call that was reserved and never sent counts as made.
#[test]
fn no_call_is_made_twice_whoever_is_killed_when() {
    const ROUNDS: usize = 30;
    let desk = Desk::new();
    let mut got = vec![0; ROUNDS];
    let frame = |n: usize| call(&n.to_string(), "pay", &format!("{{\"n\":\"<{n}>\"}}"));
    let count = |guarded: &Guarded, got: &mut Vec<usize>| {
        got.iter_mut()
            .enumerate()
            .for_each(|(n, times)| *times += guarded.server_got_count(&format!("<{n}>")));
    };
    for round in 0..ROUNDS {
        let mut guarded = desk.start(&["--quiet", "--session", "s", "--name", "bank"], &json!([]));
        // One that nobody has made, then all that others have tried.
        let mine: Vec<String> = (0..=round).rev().map(frame).collect();
        guarded.send(&mine.join("\n"));
        if round % 2 == 1 {
            guarded.wait_server_got(&format!("<{round}>"), 1);
        } else {
            std::thread::sleep(Duration::from_millis(u64::try_from(round % 10).unwrap()));
        }
        guarded.kill();
        // What its server still reads from the pipe is counted too.
        guarded.wait_quiet();
        count(&guarded, &mut got);
    }
    let mut last = desk.of("s", "bank");
    let made = (0..ROUNDS).filter(|n| ran(&last.ask(&frame(*n), &n.to_string()))).count();
    count(&last, &mut got);
    last.end();
    assert!(got.iter().all(|times| *times <= 1), "{got:?}");
    assert!(got.iter().sum::<usize>() > made, "no kill came after a call: {made} of {got:?}");
    assert_eq!(desk.count("SELECT count(*) FROM open"), 0);
    Stored::read(&desk.record()).unwrap();
}
