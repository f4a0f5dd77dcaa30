//! The state of policies across the wrapped servers of one session, and across restarts.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::process::{Command, Stdio};

use framegate_tests::guarded::{Start, call, failed, text};
use framegate_tests::{Guarded, decided_again};
use serde_json::{Value, json};
use tempfile::TempDir;

const BUDGET: &str = r"
framegate: 1
defaults: { arguments: unchecked, instructions: off }
state: { spent: int }
invariants: [ { name: budget, that: state.spent <= 100 } ]
tools: { pay: {} }
rules: [ { name: spends, tools: [pay], set: { spent: 'state.spent + args.n' } } ]
";
const FILES: &str = r#"
framegate: 1
defaults: { arguments: unchecked, instructions: off }
state: { tainted: bool }
tools: { read: {} }
rules: [ { name: secrets, tools: [read], after: { tainted: 'state.tainted || result.text.contains("SECRET")' } } ]
"#;
const MAIL: &str = r"
framegate: 1
defaults: { arguments: unchecked, instructions: off }
state: { tainted: bool }
tools: { send: {} }
rules: [ { name: no_send, tools: [send], that: '!state.tainted' } ]
";
const STORED: &str = r"
framegate: 1
defaults: { arguments: unchecked, instructions: off }
state: { calls: { type: int, scope: store } }
tools: { pay: {} }
rules: [ { name: counts, tools: [pay], that: state.calls < 3, set: { calls: state.calls + 1 } } ]
";

struct Desk(TempDir);

impl Desk {
    fn new() -> Desk {
        Desk(tempfile::tempdir().unwrap())
    }

    fn record(&self) -> PathBuf {
        self.0.path().join("record.db")
    }

    /// Starts a wrapper whose server has this one tool, and answers its calls with what the script has.
    fn start(&self, policy: &str, (tool, script): (&str, &Value), options: &[&str]) -> Guarded {
        let record = self.record().display().to_string();
        let options = [&["--store", &record], options].concat();
        let tools = json!([{"name": tool, "inputSchema": {"type": "object"}}]).to_string();
        let items = [json!({"tools": tools})].into_iter().chain(script.as_array().unwrap().clone()).collect();
        let wrapper = framegate_tests::wrapper!();
        let script = Value::Array(items);
        let start = Start { wrapper: &wrapper, policy: Some(policy), options: &options, script, files: &[] };
        let mut guarded = start.now();
        guarded.open();
        guarded
    }

    fn of(&self, server: &str, policy: &str, tool: &str) -> Guarded {
        self.start(policy, (tool, &json!([])), &["--session", "s", "--name", server])
    }

    /// The record is whole, and every decision in it can be made again.
    fn is_told(&self) {
        decided_again(env!("CARGO_BIN_EXE_framegate-under-test"), &self.record());
        framegate_tests::verified_by_python(&self.record());
    }
}

#[test]
fn a_budget_is_one_for_all_servers_of_the_session() {
    let desk = Desk::new();
    let (mut bank, mut shop) = (desk.of("bank", BUDGET, "pay"), desk.of("shop", BUDGET, "pay"));
    assert_eq!(text(&bank.call("1", "pay", r#"{"n":60}"#)), "ran pay");
    assert_eq!(failed(&shop.call("1", "pay", r#"{"n":60}"#)), &json!(["budget"]));
    assert_eq!(text(&shop.call("2", "pay", r#"{"n":40}"#)), "ran pay");
    assert_eq!(failed(&bank.call("2", "pay", r#"{"n":1}"#)), &json!(["budget"]));
    let mut other = desk.start(BUDGET, ("pay", &json!([])), &["--session", "t", "--name", "bank"]);
    assert_eq!(text(&other.call("1", "pay", r#"{"n":60}"#)), "ran pay");
    // It goes on where it was.
    bank.end();
    shop.end();
    let mut again = desk.of("bank", BUDGET, "pay");
    assert_eq!(failed(&again.call("1", "pay", r#"{"n":1}"#)), &json!(["budget"]));
    again.end();
    other.end();
    desk.is_told();
}

#[test]
fn processes_that_spend_at_once_do_not_slip_past_each_other() {
    let desk = Desk::new();
    let ran: usize = std::thread::scope(|scope| {
        let one = |server: &'static str| {
            let mut guarded = desk.of(server, BUDGET, "pay");
            let frames = (0..30).map(|id| call(&id.to_string(), "pay", r#"{"n":3}"#));
            guarded.send(&frames.collect::<Vec<_>>().join("\n"));
            let ran = (0..30).filter(|id| text(&guarded.wait(&id.to_string())) == "ran pay").count();
            guarded.end();
            ran
        };
        let all: Vec<_> =
            ["a", "b", "c"].into_iter().map(|server| scope.spawn(move || one(server))).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(ran, 33, "33 * 3 is 99");
    desk.is_told();
}

#[test]
fn a_secret_that_one_server_gave_taints_the_calls_of_another() {
    let desk = Desk::new();
    let secret = json!([{"on": "tools/call", "times": 1, "reply": r#"{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"clean"}]}}"#},
               {"on": "tools/call", "reply": r#"{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"the SECRET"}]}}"#}]);
    let mut files = desk.start(FILES, ("read", &secret), &["--session", "s", "--name", "files"]);
    let mut mail = desk.of("mail", MAIL, "send");
    files.call("1", "read", "{}");
    assert_eq!(text(&mail.call("1", "send", "{}")), "ran send");
    files.call("2", "read", "{}");
    assert_eq!(failed(&mail.call("2", "send", "{}")), &json!(["no_send"]));
    files.end();
    mail.end();
    desk.is_told();
}

#[test]
fn what_a_call_under_way_may_do_counts_for_the_others_and_so_it_does_when_its_process_is_killed() {
    let desk = Desk::new();
    let silent = json!([{"on": "tools/call", "emit": [{"stderr": "got it\n"}]}]);
    let mut files = desk.start(FILES, ("read", &silent), &["--session", "s", "--name", "files"]);
    let mut mail = desk.of("mail", MAIL, "send");
    files.send(&call("1", "read", "{}"));
    files.wait_stderr("got it");
    let refused = mail.call("1", "send", "{}");
    assert_eq!(failed(&refused), &json!(["no_send"]));
    assert!(text(&refused).contains("while a call of `read` is under way"), "{}", text(&refused));
    files.kill();
    let refused = mail.call("2", "send", "{}");
    assert_eq!(failed(&refused), &json!(["no_send"]));
    assert!(!text(&refused).contains("under way"), "nobody waits for it any more: {}", text(&refused));
    // Who comes later finds it so.
    let mut late = desk.of("post", MAIL, "send");
    assert_eq!(failed(&late.call("1", "send", "{}")), &json!(["no_send"]));
    mail.end();
    late.end();
}

#[test]
fn what_is_the_stores_survives_restarts_without_a_session() {
    let desk = Desk::new();
    for _ in 0..3 {
        let mut one = desk.start(STORED, ("pay", &json!([])), &[]);
        assert_eq!(text(&one.call("1", "pay", "{}")), "ran pay");
        one.end();
    }
    let mut one = desk.start(STORED, ("pay", &json!([])), &[]);
    assert_eq!(failed(&one.call("1", "pay", "{}")), &json!(["counts"]));
    one.end();
    let mut shared = desk.of("bank", STORED, "pay");
    assert_eq!(failed(&shared.call("1", "pay", "{}")), &json!(["counts"]));
    shared.end();
    let state = rusqlite::Connection::open(desk.0.path().join("record.db-state")).unwrap();
    let private = "SELECT count(*) FROM sessions WHERE name <> 's'";
    assert_eq!(state.query_row(private, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    desk.is_told();
}

#[test]
fn what_a_call_may_do_to_the_store_counts_in_other_sessions_and_so_it_does_when_its_process_is_killed() {
    let desk = Desk::new();
    let stored = |policy: &str| policy.replace("tainted: bool", "tainted: { type: bool, scope: store }");
    let (files, mail) = (stored(FILES), stored(MAIL));
    let silent = json!([{"on": "tools/call", "emit": [{"stderr": "got it\n"}]}]);
    for options in [&[][..], &["--session", "one", "--name", "files"]] {
        let _ = std::fs::remove_file(desk.0.path().join("record.db-state"));
        let mut reads = desk.start(&files, ("read", &silent), options);
        let mut sends = desk.start(&mail, ("send", &json!([])), &[]);
        assert_eq!(text(&sends.call("1", "send", "{}")), "ran send");
        reads.send(&call("1", "read", "{}"));
        reads.wait_stderr("got it");
        let refused = sends.call("2", "send", "{}");
        assert_eq!(failed(&refused), &json!(["no_send"]), "{options:?}");
        assert!(text(&refused).contains("while a call of `read` is under way"), "{}", text(&refused));
        reads.kill();
        let mut late = desk.start(&mail, ("send", &json!([])), &[]);
        assert_eq!(failed(&late.call("1", "send", "{}")), &json!(["no_send"]), "{options:?}");
        let refused = sends.call("3", "send", "{}");
        assert_eq!(failed(&refused), &json!(["no_send"]), "{options:?}");
        assert!(!text(&refused).contains("under way"), "{}", text(&refused));
        late.end();
        sends.end();
        // Nothing of it stays behind.
        desk.start(&mail, ("send", &json!([])), &[]).end();
        let state = rusqlite::Connection::open(desk.0.path().join("record.db-state")).unwrap();
        let left =
            "SELECT count(*) FROM leases WHERE session IN (SELECT number FROM sessions WHERE name <> 'one')";
        assert_eq!(state.query_row(left, [], |row| row.get::<_, i64>(0)).unwrap(), 0, "{options:?}");
    }
    desk.is_told();
}

/// Exit code and stderr of a `run` with this policy that ends at once.
fn started(desk: &Desk, policy: &str, options: &[&str]) -> (Option<i32>, String) {
    let file = desk.0.path().join("second.yaml");
    std::fs::write(&file, policy).unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    run.arg("run").arg("--policy").arg(&file).args(options).args(["--", "cat"]).stdin(Stdio::null());
    let output = run.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_variable_that_is_declared_in_two_ways_stops_the_start_and_a_new_policy() {
    let desk = Desk::new();
    let record = desk.record().display().to_string();
    let options = ["--session", "s", "--name", "two", "--store", &record];
    let text = BUDGET.replace("spent: int", "spent: { type: int, init: 5 }");
    assert_eq!(started(&desk, &text, &options).0, Some(0), "alone it is good");
    let mut bank = desk.of("bank", BUDGET, "pay");
    let (code, said) = started(&desk, &text, &options);
    assert_eq!(code, Some(78), "{said}");
    let first = bank.policy_file();
    for part in ["`spent` is declared in two ways", first.to_str().unwrap(), "second.yaml", "5 at first"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(started(&desk, BUDGET, &options).0, Some(0));
    // A policy that comes while it runs is held against the others too.
    let mut shop = desk.of("shop", BUDGET, "pay");
    std::fs::write(shop.policy_file(), &text).unwrap();
    shop.wait_stderr("declared in two ways");
    assert_eq!(framegate_tests::guarded::text(&shop.call("1", "pay", r#"{"n":1}"#)), "ran pay");
    bank.end();
    shop.end();
}

#[test]
fn what_is_the_stores_needs_a_record() {
    let desk = Desk::new();
    let (code, said) = started(&desk, STORED, &["--store", "none"]);
    assert!(code == Some(78) && said.contains("`calls`") && said.contains("--store FILE"), "{code:?} {said}");
}
