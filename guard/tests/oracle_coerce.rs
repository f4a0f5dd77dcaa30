//! What solvi 1.3.0 makes of arguments (`data/oracle/solvi_coerce.jsonl`): accepted or not, and what is sent on.
//!
//! Where JSON Schema and its subset of it part, the schema is right: such rows stand in
//! `data/oracle/solvi_coerce_deviations.jsonl`, each with our answer and the reason; a row there that agrees is an error.

#![expect(clippy::unwrap_used, reason = "the data is the project's own")]

use framegate_guard::json::{Document, Limits, Value};
use framegate_guard::schema::{Schema, coerce, invisible};
use std::collections::BTreeMap;

fn rows(text: &str) -> impl Iterator<Item = Document> {
    text.lines().map(|line| Document::read(line.to_owned().into(), &Limits::default()).unwrap())
}

/// What is sent on; nothing when the arguments are refused, or the schema is.
fn forwarded(schema: Value<'_>, arguments: Value<'_>) -> Option<Document> {
    let schema = Schema::compile(schema).ok()?;
    if !invisible(arguments).is_empty() {
        return None;
    }
    let coerced = coerce(&schema, arguments);
    let sent = coerced.apply(arguments)?;
    schema.check(sent.root()).is_empty().then_some(sent)
}

/// `null`: it is refused.
fn is_answer(ours: Option<&Document>, expected: Value<'_>) -> bool {
    ours.map_or(expected.is_null(), |ours| ours.root() == expected)
}

#[test]
fn accepts_and_sends_what_the_original_does() {
    let key =
        |input: Value<'_>| (input.get("schema").unwrap().digest(), input.get("arguments").unwrap().digest());
    let mut deviations: BTreeMap<_, Document> =
        rows(include_str!("data/oracle/solvi_coerce_deviations.jsonl"))
            .map(|row| {
                assert!(
                    row.root().get("reason").and_then(Value::as_str).is_some_and(|reason| reason.len() > 20)
                );
                (key(row.root()), row)
            })
            .collect();
    let mut wrong = Vec::new();
    for row in rows(include_str!("data/oracle/solvi_coerce.jsonl")) {
        let (input, output) = (row.root().get("input").unwrap(), row.root().get("output").unwrap());
        let ours = forwarded(input.get("schema").unwrap(), input.get("arguments").unwrap());
        let theirs = output.get("forwarded");
        let same = match (&ours, theirs) {
            (Some(ours), Some(theirs)) => ours.root() == theirs,
            (None, None) => true,
            _ => false,
        };
        let deviation = deviations.remove(&key(input));
        // Where we part from the original it is our own answer that is held to.
        let is_right = match &deviation {
            Some(row) => !same && is_answer(ours.as_ref(), row.root().get("ours").unwrap()),
            None => same,
        };
        if !is_right {
            wrong.push(format!(
                "{input:?}\n  ours {:?}\n  theirs {theirs:?}",
                ours.as_ref().map(Document::root)
            ));
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
    assert!(deviations.is_empty(), "no such rows: {:?}", deviations.keys());
}
