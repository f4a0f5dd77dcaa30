//! What `framegate run` writes into the record of a session, and in which order.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;

use framegate_tests::guarded::{Start, call};
use framegate_tests::{Guarded, Stored};
use serde_json::{Value, json};
use tempfile::TempDir;

const POLICY: &str = "framegate: 1\ntools: { touch: {}, wipe: {} }\nrules:\n  - { name: never, tools: [wipe], that: 'false', because: No. }\n";

struct Session {
    guarded: Guarded,
    folder: TempDir,
}

fn start(policy: Option<&str>, options: &[&str], script: Value) -> Session {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db").display().to_string();
    let options = [&["--store", &file], options].concat();
    let wrapper = framegate_tests::wrapper!();
    let guarded = Start { wrapper: &wrapper, policy, options: &options, script, files: &[] }.now();
    Session { guarded, folder }
}

impl Session {
    fn file(&self) -> PathBuf {
        self.folder.path().join("record.db")
    }

    fn end(mut self) -> Stored {
        self.guarded.end();
        let mut verify = std::process::Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
        let output = verify.args(["verify", "--fidelity"]).arg(self.file()).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&said));
        Stored::read(&self.file()).unwrap()
    }
}

fn tools() -> Value {
    let any = json!({ "type": "object" });
    json!({ "tools": json!([{ "name": "touch", "inputSchema": any }, { "name": "wipe", "inputSchema": any }]).to_string() })
}

fn one<'a>(stored: &'a Stored, kind: &'a str) -> &'a Value {
    let mut all = stored.of(kind);
    let first = all.next().unwrap_or_else(|| panic!("no `{kind}` in {stored:#?}"));
    assert!(all.next().is_none(), "more than one `{kind}`");
    first
}

#[test]
fn after_a_clean_end_the_file_alone_is_the_record() {
    let mut session = start(Some(POLICY), &[], json!([tools()]));
    session.guarded.open();
    session.guarded.call("1", "touch", "{}");
    session.guarded.end();
    let wal = session.folder.path().join("record.db-wal");
    assert!(std::fs::metadata(&wal).map_or(0, |found| found.len()) == 0, "the WAL is left");
    let copy = session.folder.path().join("copy.db");
    std::fs::copy(session.file(), &copy).unwrap();
    let head = |file: &std::path::Path| {
        let mut verify = std::process::Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
        let output = verify.args(["verify", "--json"]).arg(file).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["whole"], true, "{report}");
        report["head"].clone()
    };
    assert_eq!(head(&copy), head(&session.file()));
    let stored = Stored::read(&copy).unwrap();
    assert_eq!(one(&stored, "close")["calls"], 1);
}

#[test]
fn calls_stand_in_the_record_with_what_they_were_decided_by_and_how_they_ended() {
    let mut session = start(Some(POLICY), &[], json!([tools()]));
    session.guarded.open();
    session.guarded.call("1", "touch", r#"{"m":1.0}"#);
    let refused = session.guarded.call("2", "wipe", "{}");
    let stored = session.end();
    let [sent, kept] = stored.of("call").collect::<Vec<_>>()[..] else { panic!("{stored:#?}") };
    assert_eq!((&sent["outcome"], &sent["sent"]), (&json!("allow"), &json!("verbatim")));
    assert_eq!(stored.content(sent, "arguments").unwrap(), r#"{"m":1.0}"#, "as it was written");
    let ended = stored.end_of(sent).unwrap();
    assert_eq!(ended["how"], "done");
    assert!(stored.content(ended, "result").unwrap().contains("content"));
    assert_eq!((&kept["outcome"], &kept["sent"]), (&json!("deny"), &json!("no")));
    assert_eq!(kept["failed"], json!(["never"]));
    assert_eq!(stored.end_of(kept).unwrap()["how"], "refused");
    let said = &refused["result"]["_meta"]["dev.framegate/decision"];
    assert_eq!(said["record"], kept["seq"], "a refusal says where it is recorded");
    assert_eq!(said["hash"].as_str().unwrap().len(), 64);
    let context = one(&stored, "context");
    assert_eq!((&sent["context"], &context["mode"]), (&context["seq"], &json!("enforce")));
    let policy = stored.records.iter().find(|record| record["seq"] == context["policy"]).unwrap();
    assert_eq!(stored.content(policy, "text").unwrap(), POLICY);
    let definition = stored.records.iter().find(|record| record["seq"] == sent["definition"]).unwrap();
    assert!(stored.content(definition, "text").unwrap().contains("touch"));
    assert_eq!(one(&stored, "close")["calls"], 2);
    assert_eq!(stored.records.last().unwrap()["kind"], "close");
}

#[test]
fn without_a_policy_calls_are_recorded_and_nothing_is_changed() {
    let frame = r#"{"jsonrpc":"2.0", "id":7,"method":"tools\/call","params":{"name":"other","arguments":{"x":1,"x":2}}}"#;
    let mut session = start(None, &[], json!([tools()]));
    session.guarded.open();
    session.guarded.call("1", "touch", "{}");
    session.guarded.send(frame);
    session.guarded.wait("7");
    assert!(session.guarded.server_got().iter().any(|line| line.trim_end() == frame));
    let stored = session.end();
    let call = one(&stored, "call");
    assert_eq!((&call["outcome"], &call["sent"]), (&json!("allow"), &json!("verbatim")));
    assert_eq!(one(&stored, "context")["mode"], "none");
    let odd =
        stored.of("frame").find(|frame| frame["from"] == "client" && frame["sent"] == "verbatim").unwrap();
    assert_eq!(stored.content(odd, "bytes").unwrap().trim_end(), frame);
}

#[test]
fn every_frame_is_in_the_record() {
    let mut session = start(Some(POLICY), &[], json!([tools()]));
    session.guarded.open();
    session.guarded.send(r#"{"jsonrpc":"2.0","id":5,"id":6,"method":"ping"}"#);
    session.guarded.ask(r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#, "8");
    session.guarded.call("1", "touch", "{}");
    let client = session.guarded.server_got_of_client();
    let stored = session.end();
    let flows = |side: &str| -> (u64, u64) {
        let all = stored.records.iter().filter_map(|record| record["flow"][side].as_array());
        all.fold((0, 0), |sum, flow| (sum.0 + flow[0].as_u64().unwrap(), sum.1 + flow[1].as_u64().unwrap()))
    };
    let call = one(&stored, "call")["bytes"].as_u64().unwrap();
    let (frames, bytes) = flows("c2s");
    assert_eq!(frames, 3, "initialize, initialized, ping");
    assert_eq!(bytes + call, client.len() as u64);
    let refused = stored.of("frame").find(|frame| frame["sent"] == "no").unwrap();
    assert_eq!((&refused["from"], &refused["reason"]), (&json!("client"), &json!("duplicate_key")));
    assert!(stored.of("frame").any(|frame| frame["sent"] == "ours"), "the guard's own listing");
    assert_eq!(flows("s2c").0, 2, "answers to initialize and ping");
}

#[test]
fn outcomes_are_honest() {
    let rule =
        |name: &str, answer: &str| json!({ "on": "tools/call", "name": name, "times": 1, "emit": [answer] });
    let names = ["failed", "fault", "silent"];
    let listed: Vec<Value> =
        names.iter().map(|name| json!({ "name": name, "inputSchema": { "type": "object" } })).collect();
    let script = json!([
        { "tools": Value::from(listed).to_string() },
        rule("failed", r#"{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"isError":true}}"#),
        rule("fault", r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32001,"message":"x"}}"#),
        json!({ "on": "tools/call", "name": "silent", "times": 2, "emit": [] }),
    ]);
    let policy = "framegate: 1\ndefault: allow\n";
    let mut session = start(Some(policy), &["--drain", "0.2"], script);
    session.guarded.open();
    session.guarded.call("1", "failed", "{}");
    session.guarded.call("2", "fault", "{}");
    session.guarded.send(&call("3", "silent", "{}"));
    session.guarded.send(&call("4", "silent", "{}"));
    session.guarded.session.record.wait_server_got("\"id\":4", framegate_tests::guarded::WITHIN).unwrap();
    session.guarded.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#);
    let stored = session.end();
    let how = |id: &str| {
        let call = stored.of("call").find(|call| call["call_id"] == id).unwrap();
        stored.end_of(call).unwrap()
    };
    assert_eq!(how("1")["how"], "tool error");
    assert_eq!((&how("2")["how"], &how("2")["code"]), (&json!("error"), &json!(-32001)));
    assert_eq!((&how("3")["how"], &how("3")["sent"]), (&json!("cancelled"), &Value::Null));
    assert_eq!(how("4")["how"], "lost");
}

#[test]
fn results_say_where_they_are_recorded_if_asked() {
    let mut session = start(Some(POLICY), &["--annotate"], json!([tools()]));
    session.guarded.open();
    let answer = session.guarded.call("1", "touch", "{}");
    let said = answer["result"]["_meta"]["dev.framegate/record"].clone();
    let stored = session.end();
    let call = one(&stored, "call");
    assert_eq!((&said["record"], &said["outcome"]), (&call["seq"], &json!("allow")));
    assert!(stored.end_of(call).unwrap()["x"]["out"].is_string(), "what was sent is not what came");
}

#[test]
fn content_is_kept_as_asked() {
    for (content, arguments) in [
        ("full", Some(r#"{"password":"hunter2-MARK"}"#)),
        ("redacted", Some(r#"{"password":"***"}"#)),
        ("none", None),
    ] {
        let options = ["--store-content", content, "--log", "debug"];
        let mut session = start(Some(POLICY), &options, json!([tools()]));
        session.guarded.open();
        session.guarded.call("1", "touch", r#"{"password":"hunter2-MARK"}"#);
        // C116: what the file keeps is in no log.
        assert!(!session.guarded.stderr().contains("MARK"), "{}", session.guarded.stderr());
        let stored = session.end();
        let call = one(&stored, "call");
        assert!(call["x"]["arguments"].is_string(), "committed to in any case");
        assert_eq!(stored.content(call, "arguments").as_deref(), arguments, "{content}");
        // A policy is no call's: without it nobody can say later what was decided by.
        let text = stored.of("text").find(|text| text["what"] == "policy").unwrap();
        assert_eq!(stored.content(text, "text").as_deref(), Some(POLICY), "{content}");
    }
}

#[test]
fn a_redacted_record_keeps_no_hash_that_tells_a_short_secret() {
    let options = ["--store-content", "redacted"];
    let mut session = start(Some(POLICY), &options, json!([tools()]));
    session.guarded.open();
    session.guarded.call("1", "touch", r#"{"otp":"493817"}"#);
    session.guarded.call("2", "touch", r#"{"n":1}"#);
    // Two of one name: nobody can say which, so neither its bytes nor their hash are kept.
    session.guarded.call("3", "touch", r#"{"notes":"493817","a":1,"a":2}"#);
    let stored = session.end();
    let calls: Vec<&Value> = stored.of("call").collect();
    assert!(calls[0]["x"]["frame"].is_string(), "committed to");
    assert_eq!(stored.content(calls[0], "frame"), None, "a million tries would tell the code");
    assert!(stored.content(calls[1], "frame").is_some(), "nothing was taken out");
    let odd = stored.of("frame").find(|frame| frame["x"]["bytes"].is_string()).unwrap();
    assert!(odd["x"]["bytes"].is_string() && odd["x"]["frame"].is_string(), "{odd}");
    assert_eq!((stored.content(odd, "bytes"), stored.content(odd, "frame")), (None, None));
}

#[test]
fn the_record_of_whoever_says_nothing_is_in_the_state_directory_and_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let policy = home.path().join("p.yaml");
    std::fs::write(&policy, POLICY).unwrap();
    let run = |options: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
        command.args(["run", "--grace", "0"]).args(options).args(["--", "cat"]);
        command.env_remove("FRAMEGATE_STORE").env("XDG_STATE_HOME", home.path().join("state"));
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let file = home.path().join("state/framegate/record.db");
    run(&[]);
    assert!(!file.exists(), "no policy, no record");
    let said = run(&["--policy", policy.to_str().unwrap(), "--store", "none"]);
    assert!(!file.exists(), "{said}");
    let said = run(&["--policy", policy.to_str().unwrap()]);
    assert!(said.contains("decisions are recorded in"), "{said}");
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert_eq!(one(&Stored::read(&file).unwrap(), "session")["content"], "full");
}

#[test]
fn options_of_a_record_that_is_not_kept_are_not_ignored_in_silence() {
    let run = |options: &[&str], variables: &[(&str, &str)]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
        command.args(["run", "--grace", "0"]).args(options).args(["--", "cat"]).env_remove("FRAMEGATE_STORE");
        let output =
            command.envs(variables.iter().copied()).stdin(std::process::Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for options in
        [&["--sign-key", "/no/such"][..], &["--annotate"], &["--store", "none", "--durability", "full"]]
    {
        let (code, said) = run(options, &[]);
        assert!(
            code == Some(2) && said.contains("about the record of decisions"),
            "{options:?} {code:?} {said}"
        );
    }
    let (code, said) = run(&[], &[("FRAMEGATE_SIGN_KEY", "/no/such")]);
    assert!(code == Some(0) && said.contains("FRAMEGATE_SIGN_KEY sets nothing"), "{code:?} {said}");
}
