#![expect(clippy::unwrap_used, reason = "the data is the tests' own")]

use super::*;
use crate::guard::Guard;
use crate::store::chain::Hash;
use crate::store::entry::Entry;
use crate::store::reader::Reader;
use crate::store::sqlite::{Durability, Store};
use crate::world::Instant;
use crate::{Facts, Outcome};

const POLICY: &str = "framegate: 1
facts: { role: { type: string, default: viewer }, limit: { type: number } }
tools: { read: { arguments: coerce }, other: {} }
rules:
  - { name: inside, tools: [read], that: 'within(args.path, \"/work\")', because: Only /work. }
  - { name: small, tools: [read], that: 'args.size <= facts.limit', because: Too much. }
  - { name: quiet, tools: [read], that: '!conversation.contains(\"stop\")', because: Told to stop. }
  - { name: by_argument, that: 'args.command != \"rm\"', because: No rm. }
";
const DEFINITION: &str = r#"{"name":"read","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"size":{"type":"number"}}}}"#;
const ALLOWED: &str = r#"{"path":"/work/a","size":1}"#;
const ANSWERS: &str = r#"{"paths":{"/work":{"is":"/work"},"/work/a":{"is":"/work/a"}}}"#;

/// The first record, of kind `store`, is the store's own.
const SESSION: u64 = 2;
const POLICY_TEXT: u64 = 3;
const CONTEXT: u64 = 4;
const DEFINITION_TEXT: u64 = 5;

#[test]
fn a_session_that_heard_less_than_nothing_is_not_recomputable() {
    let mut written = Written::new("heard");
    for heard in ["-1", "-9223372036854775808", "9223372036854775807", "18446744073709551615", "true"] {
        let call =
            Entry::new("call").number("session", SESSION).number("context", CONTEXT).text("tool", "read");
        let call = call.text("outcome", "allow").raw("heard", heard).content("arguments", "{}".into());
        let seq = written.add(call);
        let reader = written.reader();
        let mut retracer = Retracer::new(&reader);
        let call = reader.row(seq).unwrap().unwrap().record().unwrap();
        retracer.see(&call);
        let why = retracer.trace(&call, crate::Hearing::Sources).unwrap().unwrap_err();
        assert!(matches!(why, Missing::Heard | Missing::Unreadable(_)), "{heard}: {why}");
    }
}

#[test]
fn what_a_session_heard_under_a_number_is_what_was_first_recorded_under_it() {
    let mut written = Written::new("doubled");
    let mut hear = |text: &'static str| {
        let message =
            Entry::new("message").number("session", SESSION).number("heard", 1).text("role", "user");
        written.add(message.content("text", text.into()))
    };
    let (first, second) = (hear("first"), hear("second"));
    let call = Entry::new("call").number("session", SESSION).number("context", CONTEXT).text("tool", "read");
    let call = call.text("outcome", "allow").number("heard", 1).content("arguments", "{}".into());
    let seq = written.add(call);
    let reader = written.reader();
    let record = |seq| reader.row(seq).unwrap().unwrap().record().unwrap();
    let mut retracer = Retracer::new(&reader);
    [first, second].into_iter().for_each(|seq| retracer.see(&record(seq)));
    let trace = retracer.trace(&record(seq), crate::Hearing::Words).unwrap();
    let heard: Vec<String> =
        trace.unwrap().trace.session.messages().map(|kept| kept.text().to_owned()).collect();
    assert_eq!(heard, ["first"]);
}

struct Written {
    store: Store,
    folder: std::path::PathBuf,
}

fn salt(bytes: &mut [u8]) -> Result<(), StoreError> {
    bytes.fill(7);
    Ok(())
}

impl Written {
    fn new(name: &str) -> Written {
        let folder = std::env::temp_dir().join(format!("framegate-retrace-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("s.db");
        let _ = std::fs::remove_file(&path);
        let mut written = Written { store: Store::open(&path, Durability::Normal, salt).unwrap(), folder };
        written.add(Entry::new("session").text("name", "s").text("server", "files").text("content", "full"));
        let policy =
            Entry::new("text").number("session", SESSION).text("what", "policy").text("name", "p.yaml");
        written.add(policy.content("text", POLICY.into()));
        let digest = Hash(load(POLICY).digest());
        let context = Entry::new("context").number("session", SESSION).number("policy", POLICY_TEXT);
        let context = context.hash("policy_sha256", &digest).raw("schemas", "[]").text("mode", "enforce");
        let context = context.raw("window", "[50,100000]").raw("rust_rules", "[]");
        written.add(context.content("facts", r#"{"role":"viewer","limit":5.0}"#.into()));
        let definition =
            Entry::new("text").number("session", SESSION).text("what", "definition").text("name", "read");
        assert_eq!(written.add(definition.content("text", DEFINITION.into())), DEFINITION_TEXT);
        written
    }

    fn add(&mut self, entry: Entry) -> u64 {
        let mut step = self.store.begin().unwrap();
        let sequence = step.append(&entry, Instant(1)).unwrap();
        step.commit().unwrap();
        sequence
    }

    fn reader(&self) -> Reader {
        Store::open_read(&self.folder.join("s.db")).unwrap()
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn call(outcome: &str) -> Entry {
    let entry = Entry::new("call").number("session", SESSION).number("context", CONTEXT).text("tool", "read");
    let entry = entry.text("call_id", "7").text("listed", "tool").number("definition", DEFINITION_TEXT);
    entry.text("outcome", outcome).text("sent", "verbatim").number("start", 10)
}

fn load(text: &str) -> Policy {
    Policy::load("p.yaml", text.as_bytes(), &mut |_| Err("none".into())).unwrap().policy
}

fn replayed(written: &Written, seq: u64) -> Result<(Outcome, Vec<String>), Missing> {
    let reader = written.reader();
    let mut retracer = Retracer::new(&reader);
    for row in reader.rows(..seq) {
        retracer.see(&row.unwrap().record().unwrap());
    }
    let record = reader.row(seq).unwrap().unwrap().record().unwrap();
    let context = retracer.context(&record).unwrap()?;
    let policy = retracer.policy(&context).unwrap()?;
    let guard = Guard::new(policy, "files", Facts::default());
    let retraced = retracer.trace(&record, guard.hearing()).unwrap()?;
    let replayed = guard.replay(&retraced.trace).unwrap();
    Ok((replayed.decision.outcome, replayed.differences.iter().map(ToString::to_string).collect()))
}

#[test]
fn a_recorded_call_is_decided_again() {
    let mut written = Written::new("again");
    let entry = call("allow").content("arguments", ALLOWED.into()).content("answers", ANSWERS.into());
    let seq = written.add(entry);
    assert_eq!(replayed(&written, seq), Ok((Outcome::Allow, Vec::new())));
    let other = call("deny").content("arguments", ALLOWED.into()).content("answers", ANSWERS.into());
    let seq = written.add(other);
    let (outcome, differences) = replayed(&written, seq).unwrap();
    assert_eq!((outcome, differences), (Outcome::Allow, vec!["outcome: then deny, now allow".to_owned()]));
}

#[test]
fn what_was_found_coerced_and_not_listed_reads_back() {
    let mut written = Written::new("found");
    let guard = Guard::new(load(POLICY), "files", Facts::default());
    let findings = r#"[{"check":"known_tool","effect":"deny","reason":"R","next":"not_offered"}]"#;
    let entry = Entry::new("call").number("session", SESSION).number("context", CONTEXT).text("tool", "raed");
    let entry =
        entry.text("listed", "missing").text("outcome", "deny").content("names", r#"["read"]"#.into());
    let seq = written.add(entry.content("arguments", "{}".into()).content("findings", findings.into()));
    let (outcome, differences) = replayed(&written, seq).unwrap();
    assert_eq!(outcome, Outcome::Deny);
    // Only the made-up reason differs.
    assert!(differences.iter().all(|difference| difference.contains("known_tool")), "{differences:?}");
    let edited = call("allow").content("arguments", r#"{"path":"/work/a","size":"1"}"#.into());
    let edited =
        edited.content("edited", r#"{"path":"/work/a","size":1}"#.into()).content("answers", ANSWERS.into());
    let changes =
        r#"{"edits":[[35,38,"1"]],"changes":[{"path":"size","pointer":"/size","from":"\"1\"","to":"1"}]}"#;
    let seq = written.add(edited.content("changes", changes.into()));
    assert_eq!(replayed(&written, seq), Ok((Outcome::Allow, Vec::new())));
    assert!(guard.faults().is_empty());
}

#[test]
fn what_the_session_had_heard_counts_up_to_the_call() {
    let mut written = Written::new("heard");
    let first =
        written.add(call("allow").content("arguments", ALLOWED.into()).content("answers", ANSWERS.into()));
    let end = |call: u64, heard: u64| {
        Entry::new("end")
            .number("session", SESSION)
            .number("call", call)
            .text("how", "done")
            .number("heard", heard)
    };
    written
        .add(end(first, 1).content("result", r#"{"content":[{"type":"text","text":"please stop"}]}"#.into()));
    let at = |heard: u64| {
        let entry = call("allow").number("heard", heard);
        entry.content("arguments", ALLOWED.into()).content("answers", ANSWERS.into())
    };
    let (before, after) = (written.add(at(0)), written.add(at(1)));
    assert_eq!(replayed(&written, before).unwrap().0, Outcome::Allow);
    assert_eq!(replayed(&written, after).unwrap().0, Outcome::Deny);
    let unheard = written.add(at(2));
    assert_eq!(replayed(&written, unheard), Err(Missing::Heard));
}

#[test]
fn what_is_missing_is_named_and_not_looked_up() {
    let mut written = Written::new("missing");
    let seq = written.add(call("allow").committed("arguments", ALLOWED.into()));
    assert_eq!(replayed(&written, seq), Err(Missing::NeverKept("arguments".into())));
    let seq = written.add(call("allow").content("arguments", ALLOWED.into()));
    let (outcome, _) = replayed(&written, seq).unwrap();
    assert_eq!(outcome, Outcome::Ask, "a path that was not recorded is unknown");
    let seq =
        written.add(call("deny").content("arguments", ALLOWED.into()).committed("findings", "[]".into()));
    let reader = written.reader();
    let record = reader.row(seq).unwrap().unwrap().record().unwrap();
    assert!(!Retracer::new(&reader).trace(&record, crate::Hearing::Nothing).unwrap().unwrap().has_findings);
    let seq = written.add(call("deny").texts("failed", ["listing"].into_iter()));
    assert_eq!(replayed(&written, seq), Err(Missing::Unjudged("listing".into())));
    let lost = Entry::new("call").number("session", SESSION).number("context", 99).text("tool", "read");
    let seq = written.add(lost);
    assert_eq!(replayed(&written, seq), Err(Missing::NoRecord(99)));
}

#[test]
fn redacted_content_is_not_decided_on() {
    let mut written = Written::new("redacted");
    let session = written.add(Entry::new("session").text("server", "files").text("content", "redacted"));
    let call = |arguments: &'static str| {
        let entry =
            Entry::new("call").number("session", session).number("context", CONTEXT).text("tool", "read");
        let entry =
            entry.text("listed", "tool").number("definition", DEFINITION_TEXT).text("outcome", "allow");
        entry.content("arguments", arguments.into()).content("answers", ANSWERS.into())
    };
    let (hidden, plain) = (written.add(call(r#"{"path":"***"}"#)), written.add(call(ALLOWED)));
    assert_eq!(replayed(&written, hidden), Err(Missing::Redacted("arguments".into())));
    assert_eq!(replayed(&written, plain).unwrap().0, Outcome::Allow);
}
