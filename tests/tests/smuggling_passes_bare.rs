//! Frames that two parsers may read differently. Without a policy the wrapper is transparent: it
//! has no opinion, so each arrives as it was sent and the session goes on.

use std::{fs, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use framegate_tests::{Wrapper, data, player::Session, transcript::difference};
use serde_json::Value;

const WRITE_WITHIN: Duration = Duration::from_secs(10);
const END_WITHIN: Duration = Duration::from_secs(5);

#[test]
fn every_ambiguous_frame_arrives_byte_for_byte() {
    let wrapper = framegate_tests::wrapper!();
    let text = fs::read_to_string(data("smuggling.jsonl")).unwrap();
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(cases.len(), 110);
    let mut failures = Vec::new();
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        let frame = STANDARD.decode(case["bytes_base64"].as_str().unwrap()).unwrap();
        let version = case["protocol_version"].as_str().unwrap();
        if let Err(failure) = passes(&wrapper, version, &frame) {
            let why = case["why"].as_str().unwrap_or_default();
            failures.push(format!("{name} ({why}): {failure}\n    frame: {}", shown(&frame)));
        }
    }
    assert!(failures.is_empty(), "{} frames:\n  - {}", failures.len(), failures.join("\n  - "));
}

fn passes(wrapper: &Wrapper, version: &str, frame: &[u8]) -> Result<(), String> {
    // The case gives a scripted server without rules: a plain answer to everything.
    let no_rules = data("cases").join("C032.json");
    let mut session = Session::start(wrapper, "smuggling", "scripted", &no_rules, &[]);
    session.open(version)?;
    let before = session.client.sent().len();
    session.client.send(frame.to_vec(), WRITE_WITHIN)?;
    // Without a line feed the frame is whole at end of file only: nothing can follow it.
    if frame.contains(&b'\n') {
        session.ask("\"alive\"", "ping", "{}").map_err(|failure| format!("session dead: {failure}"))?;
    }
    session.end(END_WITHIN)?;
    let (got, sent) = (session.record.server_got(), session.client.sent());
    if got.get(before..) != sent.get(before..) {
        return Err(format!("client->server: {}", difference(&got, &sent)));
    }
    let (received, server_sent) = (session.client.received(), session.record.server_sent());
    if received == server_sent {
        return Ok(());
    }
    Err(format!("server->client: {}", difference(&received, &server_sent)))
}

fn shown(frame: &[u8]) -> String {
    frame[..frame.len().min(300)].escape_ascii().to_string()
}
