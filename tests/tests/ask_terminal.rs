//! Approving from a terminal: `framegate pending`, `approve`, `deny` and `revoke`, on a real terminal, while `run` holds
//! the call of a client that cannot ask anybody.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use framegate_guard::store::sqlite::Store;
use framegate_tests::asked::modern;
use framegate_tests::guarded::{Start, call, decision, ping, text};
use framegate_tests::{Guarded, Stored};
use serde_json::{Value, json};
use tempfile::TempDir;

const POLICY: &str = "framegate: 1\ndefault: allow\napprove: terminal\nlimits: { asks_per_minute: 100 }\nrules:\n  - { name: ask_first, tools: [touch], that: 'false', otherwise: ask, because: Touching needs a yes. }\n";
const PASSPHRASE: &str = "correct horse battery";

/// A folder with an approver, and the binary.
struct Desk {
    folder: TempDir,
}

fn desk() -> Desk {
    let desk = Desk { folder: tempfile::tempdir().unwrap() };
    let done = desk.on_terminal(&[PASSPHRASE, PASSPHRASE], &["approver", "init"]);
    assert!(done.status.success(), "{}", shown(&done));
    desk
}

fn shown(done: &Output) -> String {
    let text = [&done.stdout[..], &done.stderr].concat();
    String::from_utf8_lossy(&text).replace('\r', "")
}

impl Desk {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn start(&self, policy: &str, options: &[&str]) -> Guarded {
        let (store, approver) = (self.path("r.db"), self.path("approver.json"));
        let own =
            ["--store", store.to_str().unwrap(), "--approver", approver.to_str().unwrap(), "--name", "s"];
        let (wrapper, script) = (framegate_tests::wrapper!(), Guarded::script_of_touch(&[]));
        let options = [&own, options].concat();
        Start { wrapper: &wrapper, policy: Some(policy), options: &options, script, files: &[] }.now()
    }

    /// Without a terminal: a session of its own has none.
    fn without_terminal(&self, words: &[&str]) -> Output {
        let mut command = Command::new("setsid");
        command.arg("--wait").arg(env!("CARGO_BIN_EXE_framegate-under-test")).args(words);
        self.run(command)
    }

    fn on_terminal(&self, lines: &[&str], words: &[&str]) -> Output {
        let mut command = Command::new("python3");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("on_terminal.py");
        command
            .arg(script)
            .arg(json!(lines).to_string())
            .arg(env!("CARGO_BIN_EXE_framegate-under-test"))
            .args(words);
        self.run(command)
    }

    fn run(&self, mut command: Command) -> Output {
        command
            .env("FRAMEGATE_STORE", self.path("r.db"))
            .env("FRAMEGATE_APPROVER", self.path("approver.json"));
        command.env("USER", "ada").stdin(Stdio::null()).output().unwrap()
    }

    /// What waits, as programs read it.
    fn pending(&self) -> Vec<Value> {
        let done = self.without_terminal(&["pending", "--json"]);
        assert!(done.status.success(), "{}", shown(&done));
        let lines = String::from_utf8(done.stdout).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The only one that waits, once it is there.
    fn waiting(&self) -> String {
        let since = Instant::now();
        loop {
            if let [one] = &self.pending()[..] {
                return one["id"].as_str().unwrap().to_owned();
            }
            assert!(since.elapsed() < Duration::from_secs(15), "nothing waits");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn approve(&self, id: &str, more: &[&str]) -> Output {
        self.on_terminal(&[PASSPHRASE], &[&["approve", id], more].concat())
    }

    fn stored(&self) -> Stored {
        Stored::read(&self.path("r.db")).unwrap()
    }
}

/// Everything that the client got.
fn client_got(session: &Guarded) -> String {
    String::from_utf8_lossy(&session.session.client.received()).into_owned()
}

#[test]
fn a_yes_at_a_terminal_sends_the_very_bytes_and_the_model_never_sees_how() {
    let desk = desk();
    let mut session = desk.start(POLICY, &[]);
    session.open();
    let frame = r#"{"jsonrpc":"2.0", "id":1,"method":"tools\/call","params":{"arguments":{"n":1.50,"s":"p\u0430y"},"name":"touch" } }"#;
    session.send(frame);
    let id = desk.waiting();
    session.ask(&ping("2"), "2");
    assert_eq!(session.server_got_count("touch"), 0, "nothing is sent before the yes");
    let store = desk.path("r.db").display().to_string();
    session.wait_stderr(&format!(
        "framegate approve {id} --store {store} (framegate pending --store {store} shows it)"
    ));
    let pending = shown(&desk.without_terminal(&["pending"]));
    assert!(pending.starts_with(&id), "{pending}");
    let done = desk.approve(&id, &["--note", "asked ada"]);
    let seen = shown(&done);
    assert!(done.status.success(), "{seen}");
    for part in [
        "tool: touch\n",
        "  n: 1.50\n",
        r#"  s: "p\u{430}y""#,
        "- Touching needs a yes.\n",
        "approved: the call goes on",
    ] {
        assert!(
            seen.contains(part) && (part.starts_with("approved") || pending.contains(part)),
            "{part}: {seen} {pending}"
        );
    }
    assert!(!seen.contains(PASSPHRASE), "{seen}");
    assert_eq!(text(&session.wait("1")), "ran touch");
    assert!(session.server_got().contains(&frame.to_owned()), "byte for byte");
    session.wait_stderr("asked, approved");
    // Once.
    let again = desk.approve(&id, &[]);
    assert_eq!(again.status.code(), Some(1));
    assert!(shown(&again).contains("was already resolved: approved by ada (uid "), "{}", shown(&again));
    let denied = desk.without_terminal(&["deny", &id]);
    assert!(shown(&denied).contains("already resolved"), "{}", shown(&denied));
    assert!(desk.pending().is_empty());
    // A no, with its reason.
    session.send(&call("3", "touch", "{}"));
    let id = desk.waiting();
    let denied = desk.without_terminal(&["deny", &id, "--reason", "not on a Friday"]);
    assert!(denied.status.success(), "{}", shown(&denied));
    let refused = session.wait("3");
    assert!(
        text(&refused).contains("the approver was asked and declined the call: not on a Friday"),
        "{refused}"
    );
    let got = client_got(&session);
    assert!(!got.contains(&id) && !got.contains("framegate approve") && !got.contains("pending"), "{got}");
    assert_eq!(session.server_got_count("touch"), 1);
    session.end();
    let stored = desk.stored();
    let [yes, no] = stored.of("approval").collect::<Vec<_>>()[..] else { panic!("{stored:#?}") };
    assert_eq!(
        (&yes["how"], &yes["outcome"], &yes["note"]),
        (&json!("terminal"), &json!("approved"), &json!("asked ada"))
    );
    assert!(yes["by"].as_str().unwrap().starts_with("ada (uid "), "{yes}");
    assert_eq!((&no["outcome"], &no["note"]), (&json!("declined"), &json!("not on a Friday")));
    let sent = stored.of("call").find(|call| call["sent"] == "verbatim").unwrap();
    assert_eq!(sent["again"], yes["call"]);
    assert!(
        !fs::read(desk.path("r.db-asks")).unwrap().windows(4).any(|part| part == b"1.50"),
        "what was asked is gone"
    );
}

#[test]
fn without_a_terminal_or_the_passphrase_nobody_approves() {
    let desk = desk();
    let mut session = desk.start(POLICY, &["--terminal-timeout", "60"]);
    session.open();
    session.send(&call("1", "touch", "{}"));
    let id = desk.waiting();
    let done = desk.without_terminal(&["approve", &id]);
    assert_eq!(done.status.code(), Some(1));
    assert!(shown(&done).contains("there is no terminal here"), "{}", shown(&done));
    let done = desk.on_terminal(&["wrong one", "", "x"], &["approve", &id]);
    assert!(done.status.code() == Some(1) && shown(&done).contains("nothing was done"), "{}", shown(&done));
    let done = desk.on_terminal(&["wrong one", "another", "a third"], &["approve", &id]);
    assert!(
        done.status.code() == Some(1) && shown(&done).contains("was not the approver's"),
        "{}",
        shown(&done)
    );
    let done = desk.on_terminal(&["\u{3}"], &["approve", &id]);
    assert!(done.status.code() == Some(1) && shown(&done).contains("nothing was done"), "{}", shown(&done));
    assert_eq!(desk.waiting(), id, "it waits still");
    let done = desk.approve("zzzzzz", &[]);
    assert!(shown(&done).contains("there is no call `zzzzzz` that waits"), "{}", shown(&done));
    // Typed with a mistake and corrected: Ctrl-U, a character too many and backspace.
    let line = format!("oops\u{15}{PASSPHRASE}x\u{7f}");
    let done = desk.on_terminal(&[&line], &["approve", &id]);
    assert!(done.status.success(), "{}", shown(&done));
    session.wait("1");
    session.end();
    // Set up once, and by somebody who types the same twice.
    let again = desk.on_terminal(&["another long one", "another long one"], &["approver", "init"]);
    assert!(again.status.code() == Some(74) && shown(&again).contains("already"), "{}", shown(&again));
    for (lines, why) in
        [(["short", "short"], "fewer than 10"), (["one that is long", "one that is not"], "not the same")]
    {
        let file = desk.path("other.json").display().to_string();
        let done = desk.on_terminal(&lines, &["approver", "init", "--approver", &file]);
        assert!(done.status.code() == Some(1) && shown(&done).contains(why), "{}", shown(&done));
        assert!(!desk.path("other.json").exists());
    }
    let done = desk.without_terminal(&["approver", "init", "--approver", "/tmp/none.json"]);
    assert!(shown(&done).contains("there is no terminal here"), "{}", shown(&done));
}

/// What an agent with a shell can do to the file.
fn forged(desk: &Desk, sql: &str) {
    let file = rusqlite::Connection::open(desk.path("r.db-asks")).unwrap();
    file.execute_batch(sql).unwrap();
}

#[test]
fn what_is_written_into_the_file_approves_nothing() {
    let desk = desk();
    let mut session = desk.start(POLICY, &[]);
    session.open();
    // A real yes to one question, copied to another.
    session.send(&call("1", "touch", r#"{"n":1}"#));
    let first = desk.waiting();
    forged(&desk, "CREATE TABLE kept AS SELECT * FROM questions");
    let file = rusqlite::Connection::open(desk.path("r.db-asks")).unwrap();
    let spy = thread::spawn({
        let path = desk.path("r.db-asks");
        move || {
            // Whoever looks all the time sees the signature before it is taken.
            let file = rusqlite::Connection::open(path).unwrap();
            let since = Instant::now();
            while since.elapsed() < Duration::from_secs(20) {
                let found = file.query_row(
                    "SELECT statement, signature, note, who FROM questions WHERE statement IS NOT NULL",
                    [],
                    |row| {
                        Ok((
                            row.get::<_, String>(0)?,
                            row.get::<_, Vec<u8>>(1)?,
                            row.get::<_, String>(2)?,
                            row.get::<_, String>(3)?,
                        ))
                    },
                );
                if let Ok(found) = found {
                    return found;
                }
            }
            panic!("no signature was seen");
        }
    });
    assert!(desk.approve(&first, &[]).status.success());
    session.wait("1");
    let (statement, signature, note, who) = spy.join().unwrap();
    session.send(&call("2", "touch", r#"{"n":2}"#));
    let id = desk.waiting();
    let update = "UPDATE questions SET state = 'approved', statement = ?1, signature = ?2, note = ?3, who = ?4 WHERE id = ?5";
    file.execute(update, rusqlite::params![statement, signature, note, who, id]).unwrap();
    session.wait_stderr("without the approver's signature on what was asked");
    // No signature, or the state alone.
    forged(&desk, "UPDATE questions SET state = 'approved' WHERE state = 'open'");
    thread::sleep(Duration::from_millis(400));
    assert_eq!(session.server_got_count(r#""n":2"#), 0);
    // Another question in its place, under the name that the person was told: what is signed is what was shown.
    let body: String =
        file.query_row("SELECT body FROM questions WHERE id = ?1", [&id], |row| row.get(0)).unwrap();
    let harmless = body.replace(r#"\"n\":2"#, r#"\"n\":0"#);
    assert_ne!(body, harmless);
    file.execute("UPDATE questions SET body = ?1 WHERE id = ?2", [&harmless, &id]).unwrap();
    let done = desk.approve(&id, &[]);
    assert!(done.status.code() == Some(1) && shown(&done).contains("n: 0"), "{}", shown(&done));
    assert_eq!(session.server_got_count(r#""n":2"#), 0);
    // As it was asked, it can still be approved.
    file.execute("UPDATE questions SET body = ?1, state = 'open' WHERE id = ?2", [&body, &id]).unwrap();
    let done = desk.approve(&id, &[]);
    assert!(done.status.success(), "{}", shown(&done));
    assert_eq!(text(&session.wait("2")), "ran touch");
    session.end();
}

#[test]
fn a_planted_question_is_shown_with_the_server_that_a_standing_yes_is_for() {
    let desk = desk();
    let mut session = desk.start(POLICY, &[]);
    session.open();
    session.send(&call("1", "touch", r#"{"n":1}"#));
    let id = desk.waiting();
    let file = rusqlite::Connection::open(desk.path("r.db-asks")).unwrap();
    let body: String =
        file.query_row("SELECT body FROM questions WHERE id = ?1", [&id], |row| row.get(0)).unwrap();
    let plant = |name: &str, body: &str| {
        let insert = "INSERT INTO questions (id, body, pid, asked_ms, until_ms, state) \
                      SELECT ?1, ?2, pid, asked_ms, until_ms, 'open' FROM questions WHERE id = ?3";
        file.execute(insert, rusqlite::params![name, body, id]).unwrap();
    };
    // Another name for the server, beside the one that is signed.
    plant("fakeaa", &body.replacen('{', r#"{"server":"sandbox","#, 1));
    let done = desk.approve("fakeaa", &["--for", "5m"]);
    assert!(done.status.code() == Some(1) && shown(&done).contains("cannot be read"), "{}", shown(&done));
    // Another in its place: shown, signed, and no yes for this one. Its "session" takes it.
    let other = body.replace(r#""session":"s""#, r#""session":"sandbox""#);
    assert_ne!(body, other);
    plant("fakebb", &other);
    let taker = thread::spawn({
        let path = desk.path("r.db-asks");
        move || {
            let file = rusqlite::Connection::open(path).unwrap();
            let since = Instant::now();
            let take = "UPDATE questions SET taken = 1 WHERE id = 'fakebb' AND state = 'approved'";
            while file.execute(take, []).unwrap_or(0) == 0 {
                assert!(since.elapsed() < Duration::from_secs(20), "it was never approved");
                thread::sleep(Duration::from_millis(20));
            }
        }
    });
    let done = desk.approve("fakebb", &["--for", "5m"]);
    taker.join().unwrap();
    assert!(done.status.success() && shown(&done).contains("server: sandbox\n"), "{}", shown(&done));
    let standing = shown(&desk.without_terminal(&["pending", "--standing"]));
    assert!(standing.contains("touch of sandbox, the same arguments"), "{standing}");
    file.execute("DELETE FROM questions WHERE id = 'fakeaa'", []).unwrap();
    assert!(desk.without_terminal(&["deny", &id]).status.success());
    session.wait("1");
    session.send(&call("2", "touch", r#"{"n":1}"#));
    assert!(desk.without_terminal(&["deny", &desk.waiting()]).status.success());
    assert_eq!(session.wait("2")["result"]["isError"], true);
    assert_eq!(session.server_got_count("touch"), 0);
    session.end();
}

#[test]
fn a_record_that_is_not_there_is_no_record_without_questions() {
    let desk = desk();
    for more in [&["pending"][..], &["pending", "--json"], &["pending", "--standing"]] {
        let done = desk.without_terminal(more);
        assert_eq!(done.status.code(), Some(74), "{}", shown(&done));
        assert!(shown(&done).contains("there is no record"), "{}", shown(&done));
    }
    let mut session = desk.start(POLICY, &[]);
    session.open();
    let done = desk.without_terminal(&["pending"]);
    assert!(done.status.success() && shown(&done).contains("no call waits"), "{}", shown(&done));
    // The file is there and its tables are not yet.
    fs::write(desk.path("r.db-asks"), "").unwrap();
    let done = desk.without_terminal(&["pending"]);
    assert!(done.status.success() && shown(&done).contains("no call waits"), "{}", shown(&done));
    session.send(&call("1", "touch", "{}"));
    assert!(desk.without_terminal(&["deny", &desk.waiting()]).status.success());
    session.wait("1");
    session.end();
}

#[test]
fn a_question_ends_with_its_time_its_call_and_its_session() {
    let desk = desk();
    let mut session = desk.start(POLICY, &["--terminal-timeout", "1.5"]);
    session.open();
    session.send(&call("1", "touch", "{}"));
    let late = desk.waiting();
    let refused = session.wait("1");
    assert!(text(&refused).contains("the approver was asked and did not answer within 1.5 s"), "{refused}");
    let done = desk.approve(&late, &[]);
    assert!(
        done.status.code() == Some(1) && shown(&done).contains("too late: the time for"),
        "{}",
        shown(&done)
    );
    session.send(&call("2", "touch", "{}"));
    let cancelled = desk.waiting();
    session.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#);
    session.ask(&ping("3"), "3");
    let since = Instant::now();
    while !desk.pending().is_empty() {
        assert!(since.elapsed() < Duration::from_secs(1), "it is still there");
    }
    let done = desk.approve(&cancelled, &[]);
    assert!(shown(&done).contains("too late") && shown(&done).contains("was withdrawn"), "{}", shown(&done));
    session.end();
    let mut session = desk.start(POLICY, &[]);
    session.open();
    session.send(&call("1", "touch", "{}"));
    let left = desk.waiting();
    session.end();
    let done = desk.approve(&left, &["--for", "1h"]);
    assert!(shown(&done).contains("was withdrawn"), "{}", shown(&done));
    // Killed, it withdraws nothing; nobody takes the answer then, and nothing stands.
    let mut session = desk.start(POLICY, &[]);
    session.open();
    session.send(&call("1", "touch", "{}"));
    let orphan = desk.waiting();
    framegate_tests::process::signal(
        session.session.client.pid().cast_signed(),
        rustix::process::Signal::KILL,
    );
    session.session.client.wait_exit(Duration::from_secs(5)).unwrap();
    // Nobody is asked for a passphrase then: there is no terminal here.
    for words in [&["approve", &orphan, "--for", "1h"][..], &["deny", &orphan]] {
        let done = desk.without_terminal(words);
        assert!(
            done.status.code() == Some(1) && shown(&done).contains("its session is gone"),
            "{}",
            shown(&done)
        );
    }
    let pending = shown(&desk.without_terminal(&["pending"]));
    assert!(pending.starts_with(&format!("{orphan}  its session is gone, asked ")), "{pending}");
    assert_eq!(desk.pending()[0]["session_gone"], true);
    assert!(desk.without_terminal(&["pending", "--standing"]).stdout.is_empty());
    let outcomes: Vec<String> = desk
        .stored()
        .of("approval")
        .map(|approval| approval["outcome"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(outcomes, ["timed out", "withdrawn", "withdrawn"]);
}

#[test]
fn only_a_policy_that_says_so_and_an_approver_that_is_there_make_a_terminal_a_way() {
    let desk = desk();
    let refused = |policy: &str, options: &[&str], why: &str| {
        let mut session = desk.start(policy, options);
        session.open();
        let refused = session.call("1", "touch", "{}");
        assert!(text(&refused).contains(why), "{why}: {refused}");
        session.end();
    };
    let off = POLICY.replace("approve: terminal\n", "");
    refused(&off, &[], "this client cannot ask its user");
    refused(&off, &["--ask", "terminal"], "the policy lets nobody approve it from a terminal");
    refused(POLICY, &["--ask", "client"], "this client cannot ask its user");
    refused(POLICY, &["--ask", "none"], "--ask none");
    let none = desk.path("none.json").display().to_string();
    refused(POLICY, &["--approver", &none], "nobody is set up to approve it from a terminal");
    assert!(desk.pending().is_empty());
    // Where both are there, the first of the order is asked.
    for (order, at_client) in [("client,terminal", 1), ("terminal,client", 0)] {
        let mut session = desk.start(POLICY, &["--ask", order]);
        session.open_asking("2025-11-25", "{}");
        session.send(&call("1", "touch", "{}"));
        if at_client == 1 {
            session.reply(&session.question(0), framegate_tests::asked::YES);
        } else {
            assert!(desk.approve(&desk.waiting(), &[]).status.success());
        }
        assert_eq!(text(&session.wait("1")), "ran touch");
        assert_eq!(session.client_asked("elicitation/create").len(), at_client);
        session.end();
    }
    // A client of 2026-07-28 that cannot ask: its call is held like any other.
    let session = desk.start(POLICY, &[]);
    session.send(&modern("1", "touch", "{}", "{}", ""));
    assert!(desk.approve(&desk.waiting(), &[]).status.success());
    let sent = session.ask_modern(&ping("2"), "2");
    assert!(sent.is_object());
    session.wait_server_got("\"touch\"", 1);
}

#[test]
fn what_stands_lets_the_same_call_through_until_it_ends() {
    let desk = desk();
    let mut session = desk.start(POLICY, &[]);
    session.open();
    session.send(&call("1", "touch", r#"{"a":1,"b":2}"#));
    let done = desk.approve(&desk.waiting(), &["--for", "10m", "--note", "for the release"]);
    assert!(
        done.status.success() && shown(&done).contains("and for 10m, without another question"),
        "{}",
        shown(&done)
    );
    session.wait("1");
    // The same by value, under another id; here and in another session.
    assert_eq!(text(&session.call("2", "touch", r#"{"b":2.0,"a":1}"#)), "ran touch");
    let mut other = desk.start(POLICY, &[]);
    other.open();
    assert_eq!(text(&other.call("1", "touch", r#"{"a":1,"b":2}"#)), "ran touch");
    other.wait_stderr("approved before");
    // Other arguments are asked about.
    other.send(&call("2", "touch", r#"{"a":1,"b":3}"#));
    assert!(desk.without_terminal(&["deny", &desk.waiting()]).status.success());
    other.wait("2");
    // So is the same under another policy: also where it changes while the session runs.
    let more = format!(
        "{POLICY}  - {{ name: also, tools: [touch], that: 'false', otherwise: ask, because: This too. }}\n"
    );
    fs::write(other.policy_file(), &more).unwrap();
    other.wait_stderr("was read anew and is in force");
    other.send(&call("3", "touch", r#"{"a":1,"b":2}"#));
    assert!(desk.without_terminal(&["deny", &desk.waiting()]).status.success());
    other.wait("3");
    other.end();
    let standing = shown(&desk.without_terminal(&["pending", "--standing"]));
    let id = standing.split_whitespace().next().unwrap().to_owned();
    assert!(
        standing.contains("touch of s, the same arguments") && standing.contains("(for the release)"),
        "{standing}"
    );
    // A copy under another time or tool is not signed.
    forged(
        &desk,
        "INSERT INTO standing SELECT 'aaaaaa', tool, until_ms, replace(statement, '\"until_ms\":1', '\"until_ms\":9'), signature FROM standing",
    );
    let copies = shown(&desk.without_terminal(&["pending", "--standing"]));
    assert!(copies.contains("aaaaaa  counts for nothing"), "{copies}");
    assert!(desk.without_terminal(&["revoke", &id]).status.success());
    assert_eq!(desk.without_terminal(&["revoke", &id]).status.code(), Some(1));
    session.send(&call("4", "touch", r#"{"a":1,"b":2}"#));
    assert!(desk.without_terminal(&["deny", &desk.waiting()]).status.success());
    session.wait("4");
    // One that ends by itself.
    session.send(&call("5", "touch", r#"{"a":5}"#));
    assert!(desk.approve(&desk.waiting(), &["--for", "1ms"]).status.success());
    session.wait("5");
    session.send(&call("6", "touch", r#"{"a":5}"#));
    assert!(desk.without_terminal(&["deny", &desk.waiting()]).status.success());
    session.wait("6");
    session.end();
    let stored = desk.stored();
    let standing: Vec<&Value> =
        stored.of("approval").filter(|approval| approval["how"] == "standing").collect();
    assert_eq!(standing.len(), 2, "{stored:#?}");
    for approval in standing {
        assert_eq!(
            (&approval["outcome"], &approval["note"]),
            (&json!("approved"), &json!(format!("standing approval {id}")))
        );
        let sent = stored.of("call").find(|call| call["again"] == approval["call"]).unwrap();
        assert_eq!(
            (&sent["outcome"], &sent["would"], &sent["sent"]),
            (&json!("allow"), &json!("ask"), &json!("verbatim"))
        );
    }
    assert!(Store::open_read(&desk.path("r.db")).is_ok());
}

#[test]
fn a_whole_tool_is_approved_only_where_the_policy_says_so_and_only_rules_ask() {
    let desk = desk();
    let try_with = |policy: &str, more: &[&str], why: &str| {
        let mut session = desk.start(policy, &[]);
        session.open();
        session.send(&call("1", "touch", "{}"));
        let id = desk.waiting();
        let done = desk.approve(&id, more);
        assert!(done.status.code() == Some(1) && shown(&done).contains(why), "{why}: {}", shown(&done));
        assert!(desk.without_terminal(&["deny", &id]).status.success());
        session.wait("1");
        session.end();
    };
    let any = ["--for", "10m", "--any-arguments"];
    try_with(POLICY, &any, "the same arguments only");
    let with =
        |options: &str| POLICY.replace("rules:", &format!("tools: {{ touch: {{ {options} }} }}\nrules:"));
    try_with(&with("remember: never"), &["--for", "10m"], "each call of this tool asked about");
    let unknown = with("remember: tool").replace("rules:", "facts: { who: { type: string } }\nrules:\n  - { name: who, tools: [touch], that: facts.who == 'me', otherwise: ask, because: You only. }");
    try_with(&unknown, &any, "not only rules of the policy ask");
    let mut session = desk.start(&with("remember: tool"), &[]);
    session.open();
    session.send(&call("1", "touch", r#"{"a":1}"#));
    let done = desk.approve(&desk.waiting(), &any);
    assert!(shown(&done).contains("EVERY call of this tool"), "{}", shown(&done));
    session.wait("1");
    assert_eq!(text(&session.call("2", "touch", r#"{"a":2}"#)), "ran touch");
    assert_eq!(decision(&session.call("3", "free", "{}"))["outcome"], Value::Null);
    session.end();
}

#[test]
fn a_yes_is_for_the_question_of_one_process() {
    let desk = desk();
    let (mut one, mut other) = (desk.start(POLICY, &[]), desk.start(POLICY, &["--terminal-timeout", "60"]));
    one.open();
    other.open();
    // The very same call, to the same server, under the same policy, with the same id.
    one.send(&call("1", "touch", r#"{"a":1}"#));
    let first = desk.waiting();
    other.send(&call("1", "touch", r#"{"a":1}"#));
    let since = Instant::now();
    while desk.pending().len() < 2 {
        assert!(since.elapsed() < Duration::from_secs(15), "the second never waits");
    }
    assert!(desk.approve(&first, &[]).status.success());
    assert_eq!(text(&one.wait("1")), "ran touch");
    let second = desk.waiting();
    assert_ne!(first, second);
    assert_eq!(other.server_got_count("touch"), 0);
    assert!(desk.without_terminal(&["deny", &second]).status.success());
    assert_eq!(other.wait("1")["result"]["isError"], true);
    one.end();
    other.end();
}
