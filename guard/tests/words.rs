//! What solvi 1.3.0 takes for a yes, a confirmation, a request (`data/oracle/solvi_{accepts,accepted_proposals,
//! intent}.jsonl`). Where ours differs, `solvi_words_deviations.jsonl` has the row and the reason why the original is
//! wrong there.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the data is the project's own")]

use std::collections::BTreeMap;

use framegate_guard::ground::Prepared;
use framegate_guard::messages::Role;
use framegate_guard::words::{Intent, Said, accepted, accepts, asks_for};
use serde_json::{Value, json};

fn rows(text: &str, count: usize) -> Vec<Value> {
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), count);
    rows
}

/// Rows whose output is another, by input; each must be listed with a reason, and each that is listed must differ.
fn differ(rows: &[Value], kind: &str, ours: impl Fn(&Value) -> Value) {
    let listed: Vec<Value> = include_str!("data/oracle/solvi_words_deviations.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|listed: &Value| listed["kind"] == kind)
        .collect();
    let mut listed: BTreeMap<String, Value> =
        listed.into_iter().map(|listed| (listed["input"].to_string(), listed)).collect();
    let mut wrong = Vec::new();
    for row in rows {
        let found = ours(&row["input"]);
        let deviation = listed.remove(&row["input"].to_string());
        let reason = deviation.as_ref().and_then(|listed| listed["reason"].as_str());
        if (found == row["output"]) != deviation.is_none() || reason == Some("") {
            wrong.push(format!("{} ours: {found} listed: {deviation:?}", row));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(listed.is_empty(), "listed, but in no row: {listed:?}");
}

#[test]
fn a_yes_is_what_it_is_to_the_original() {
    let rows = rows(include_str!("data/oracle/solvi_accepts.jsonl"), 180);
    differ(&rows, "accepts", |input| json!(accepts(input["text"].as_str().unwrap())));
}

#[test]
fn intents_are_those_of_the_original() {
    let rows = rows(include_str!("data/oracle/solvi_intent.jsonl"), 117);
    differ(&rows, "intent", |input| {
        let intent = Intent::named(input["intent"].as_str().unwrap()).unwrap();
        json!(asks_for(&intent, input["text"].as_str().unwrap()))
    });
}

#[test]
fn accepted_messages_are_those_of_the_original() {
    let rows = rows(include_str!("data/oracle/solvi_accepted_proposals.jsonl"), 39);
    differ(&rows, "accepted_proposals", |input| {
        let conversation = input["conversation"].as_array().cloned().unwrap_or_default();
        let texts: Vec<(Option<Role>, Prepared)> = conversation
            .iter()
            .map(|said| (Role::named(said["role"].as_str().unwrap()), said["content"].as_str().unwrap()))
            .map(|(role, text)| (role, Prepared::new(text)))
            .collect();
        let said: Vec<Said<'_>> = texts.iter().map(|(role, text)| Said { role: *role, text }).collect();
        let last = input["last"].as_u64().map(|last| usize::try_from(last).unwrap());
        json!(accepted(&said, last))
    });
}
