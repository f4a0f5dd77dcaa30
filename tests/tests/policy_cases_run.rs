//! Every policy case through `framegate run`: the same outcome as `framegate test` expects, the reasons in the
//! refusal, and what is allowed at the server with the arguments the case says.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use framegate_tests::{
    Guarded, data,
    guarded::{Start, decision, ping, text},
    policy_case::{Call, Event, Play, Read},
    scan,
};
use serde_json::{Value, json};

/// Files that a wrapper cannot play, because nobody tells it what was said or what time it is.
const NOT_FOR_RUN: &[&str] =
    &["messages.jsonl", "not_requested.jsonl", "office_hours.jsonl", "provenance.jsonl"];

#[test]
fn every_policy_case_has_the_same_outcome_in_a_session() {
    let mut files: Vec<_> =
        fs::read_dir(data("policy_cases")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let schemas = of_kind(&files, "json");
    files = of_kind(&files, "jsonl");
    files.sort();
    let (mut failures, mut calls) = (Vec::new(), 0);
    for file in &files {
        let root = tempfile::tempdir().unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        match Play::read(file, &root.path().canonicalize().unwrap()).unwrap() {
            Read::NotForRun(why) => assert!(NOT_FOR_RUN.contains(&name), "{name}: {why}"),
            Read::Plays(plays) => {
                for one in &plays {
                    calls += play(one, root.path(), &schemas, &mut failures);
                }
            }
        }
    }
    assert!(calls >= 9, "only {calls} calls were played");
    assert!(failures.is_empty(), "{} of {calls}:\n  - {}", failures.len(), failures.join("\n  - "));
}

fn of_kind(files: &[PathBuf], extension: &str) -> Vec<PathBuf> {
    files.iter().filter(|file| file.extension().is_some_and(|is| is == extension)).cloned().collect()
}

fn play(play: &Play, root: &Path, files: &[PathBuf], failures: &mut Vec<String>) -> usize {
    let wrapper = framegate_tests::wrapper!();
    let facts = Value::from(play.facts.clone()).to_string();
    let work = root.canonicalize().unwrap().join("work");
    fs::create_dir_all(&work).unwrap();
    let options = ["--facts", &facts, "--name", "server", "--cwd", work.to_str().unwrap()];
    let start = Start {
        wrapper: &wrapper,
        policy: Some(&play.policy),
        options: &options,
        script: play.script(),
        files,
    };
    let mut guarded = start.now();
    guarded.open();
    let (mut listings, mut calls) = (0, 0);
    for (at, event) in play.events.iter().enumerate() {
        match event {
            Event::Tools(_) => {
                if listings > 0 {
                    list_again(&mut guarded, listings);
                }
                listings += 1;
            }
            Event::Call(call) => {
                calls += 1;
                failures.extend(different(&mut guarded, call, at));
            }
        }
    }
    guarded.end();
    calls
}

fn list_again(guarded: &mut Guarded, listings: usize) {
    let id = format!("\"list {listings}\"");
    guarded.ask(&ping(&id), &id);
    guarded.wait_server_got("tools/list", listings + 1);
    // What the guard makes of the answer cannot be seen from outside.
    thread::sleep(Duration::from_millis(300));
}

/// What differs from what the case expects.
fn different(guarded: &mut Guarded, call: &Call, at: usize) -> Vec<String> {
    let id = format!("{}", 1000 + at);
    let arguments = call.arguments.as_ref().map(|text| format!(r#","arguments":{text}"#)).unwrap_or_default();
    let name = Value::from(call.name.clone());
    let frame = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":{name}{arguments}}}}}"#
    );
    let answer = guarded.ask(&frame, &id);
    let said = decision(&answer);
    let got = match said["outcome"].as_str() {
        Some(outcome) => outcome.to_owned(),
        None if answer.get("result").is_some() => "allow".to_owned(),
        // The strict reader refuses what could not be judged at all.
        None => "deny".to_owned(),
    };
    let mut wrong = Vec::new();
    let mut differs = |key: &str, got: &dyn std::fmt::Display| {
        let expected = &call.expect[key];
        wrong.push(format!("{}: `{key}` is {got}, expected {expected}", call.place));
    };
    if call.expect.get("outcome").is_some_and(|expected| *expected != got) {
        differs("outcome", &got);
    }
    // The id as it was written: the bare digits stand in a random id of the guard's own now and then.
    let own = format!(r#""id":{id},"#);
    let arrived: Vec<String> = guarded.server_got().into_iter().filter(|line| line.contains(&own)).collect();
    if got == "allow" {
        let line = arrived.last().cloned().unwrap_or_default();
        let sent = sent(&line);
        if call
            .expect
            .get("sent")
            .is_some_and(|expected| !sent.as_ref().is_some_and(|sent| same(expected, sent)))
        {
            differs("sent", &line);
        }
        let exact = call.expect["sent_text"].as_str();
        if exact
            .is_some_and(|exact| !scan::has(line.as_bytes(), format!(r#""arguments":{exact}"#).as_bytes()))
        {
            differs("sent_text", &line);
        }
        return wrong;
    }
    if !arrived.is_empty() {
        differs("outcome", &"refused, and reached the server all the same");
    }
    let is_judged = answer.get("error").is_none();
    if is_judged && call.expect.get("failed").is_some_and(|expected| *expected != said["failed"]) {
        differs("failed", &said["failed"]);
    }
    let reasons = if is_judged { &said["reasons"] } else { &answer["error"]["message"] }.to_string();
    let told = |part: &str| reasons.contains(Value::from(part).to_string().trim_matches('"'));
    if call.expect["reasons"].as_array().into_iter().flatten().any(|part| !told(part.as_str().unwrap())) {
        differs("reasons", &reasons);
    }
    for key in ["message", "advice"] {
        if call.expect[key].as_str().is_some_and(|part| !text(&answer).contains(part)) {
            differs(key, &text(&answer));
        }
    }
    wrong
}

fn sent(line: &str) -> Option<Value> {
    let frame: Value = serde_json::from_str(line).ok()?;
    Some(frame["params"].get("arguments").cloned().unwrap_or_else(|| json!({})))
}

/// Equal, numbers by their value.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}
