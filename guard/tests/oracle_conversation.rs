//! What solvi 1.3.0 made of conversations and calls (`data/oracle/`), and that ours is the same.
//!
//! Exactly the same: normalised messages, conversation text, role spans in code points, the user's request, call
//! shapes, canonical call texts, and the window wherever no instruction-like text decides what a cut keeps.

#![expect(clippy::unwrap_used, reason = "the data is the project's own")]

use framegate_guard::call_shape::{CallShape, ParsedCall, ShapeError};
use framegate_guard::json::{Document, Limits, Value};
use framegate_guard::messages::{self, Conversation, Message, Role};
use framegate_guard::proposal::proposal;
use framegate_guard::session::{Kept, Session, Window};
use serde_json::{Value as Json, json};

fn rows(text: &str) -> Vec<Document> {
    text.lines().map(|line| Document::read(line.to_owned().into(), &Limits::default()).unwrap()).collect()
}

fn input(row: &Document) -> Value<'_> {
    row.root().get("input").unwrap()
}

fn output(row: &Document) -> Json {
    row.root().get("output").unwrap().to_serde()
}

fn conversation(of: &Conversation) -> Json {
    let spans: Vec<Json> =
        of.spans().iter().map(|span| json!([span.chars.start, span.chars.end, span.role.name()])).collect();
    json!([of.text(), spans, of.user_request()])
}

#[test]
fn messages_are_read_as_the_original_reads_them() {
    for row in rows(include_str!("data/oracle/messages.jsonl")) {
        let context = input(&row).get("context").unwrap();
        let read: Vec<Json> = messages::read(context)
            .into_iter()
            .map(|Message { role, text }| json!([role.name(), text]))
            .collect();
        let ours = json!({"messages": read, "conversation": conversation(&Conversation::read(context))});
        assert_eq!(ours, output(&row), "{context:?}");
    }
}

#[test]
fn calls_are_read_as_the_original_reads_them() {
    for row in rows(include_str!("data/oracle/parse_call.jsonl")) {
        let ours = match CallShape::parse(input(&row), &Limits::default()) {
            Ok(ParsedCall { name, arguments, id, .. }) => {
                json!({"name": name, "arguments": arguments.root().to_serde(), "id": id})
            }
            Err(ShapeError::NoName) => json!({"error": "ValueError"}),
            Err(error) => json!({"error": error.to_string()}),
        };
        assert_eq!(ours, output(&row), "{:?}", input(&row));
    }
}

#[test]
fn call_texts_are_written_as_the_original_writes_them() {
    for row in rows(include_str!("data/oracle/proposal.jsonl")) {
        let call = input(&row);
        let name = call.get("name").unwrap().as_str().unwrap();
        assert_eq!(json!(proposal(name, call.get("arguments").unwrap())), output(&row));
    }
}

#[test]
fn the_window_is_kept_as_the_original_keeps_it() {
    for (number, row) in rows(include_str!("data/oracle/session.jsonl")).iter().enumerate() {
        let limit = |key: &str| {
            let text = input(row).get(key).unwrap().number();
            text.map_or(0, |text| text.parse().unwrap())
        };
        let mut session =
            Session::new(Window { max_messages: limit("max_messages"), max_chars: limit("max_chars") });
        for message in input(row).get("add").unwrap().items() {
            let words: Vec<&str> = message.items().filter_map(Value::as_str).collect();
            session.push(Role::named(words[0]), words[1].to_owned());
        }
        // Only of a message that it cut the original says beside it what it carried.
        let is_cut = |kept: &Kept| kept.text().contains("\n[…]");
        let is_tainted =
            |kept: &Kept| is_cut(kept) && kept.role() == Some(Role::Tool) && kept.carries_instructions();
        let told =
            |kept: &Kept| json!([kept.role().map_or("weird", Role::name), kept.text(), is_tainted(kept)]);
        let kept: Vec<Json> = session.messages().map(told).collect();
        assert_eq!(json!(kept), output(row), "row {number}");
    }
}
