//! What holds for any conversation, call and listing.

use framegate_guard::call_shape::CallShape;
use framegate_guard::definition::{CheckInfo, Edit, show_rules};
use framegate_guard::json::{Document, Limits};
use framegate_guard::messages::{self, Conversation, Message};
use framegate_guard::refusal::{FindingView, Language, NextStep, OnFailure, Refusal};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// Names and types that mean something, between others that do not.
const WORDS: [&str; 20] = [
    "role",
    "type",
    "content",
    "text",
    "output",
    "name",
    "input",
    "arguments",
    "args",
    "function",
    "tool_use_id",
    "metadata",
    "lc_source",
    "user",
    "tool",
    "tool_use",
    "toolResult",
    "text",
    "{\"a\":1,\"a\":2}",
    "ж\u{200b}",
];

fn json() -> impl Strategy<Value = Json> {
    let word = prop::sample::select(&WORDS[..]);
    let leaf = prop_oneof![
        word.clone().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        Just(Json::Null),
        Just(Json::from(true)),
        ".{0,8}".prop_map(Json::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::btree_map(word.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn every_span_is_the_message_it_says(context in json()) {
        let document = Document::from_value(&json!([context, ["user", context]]), &Limits::default()).unwrap();
        let said = messages::read(document.root());
        let conversation = Conversation::of(said.iter().map(Message::parts));
        prop_assert_eq!(said.len(), conversation.spans().len());
        let chars: Vec<char> = conversation.text().chars().collect();
        for (message, span) in said.iter().zip(conversation.spans()) {
            prop_assert!(!message.text.is_empty());
            prop_assert_eq!(conversation.text().get(span.bytes.clone()), Some(message.text.as_str()));
            prop_assert_eq!(&chars[span.chars.clone()].iter().collect::<String>(), &message.text);
        }
    }

    #[test]
    fn a_call_is_read_or_refused(call in json(), name in ".{0,4}") {
        let document = Document::from_value(&json!([call, {"name": name, "args": call}]), &Limits::default());
        for value in document.unwrap().root().items() {
            if let Ok(call) = CallShape::parse(value, &Limits::default()) {
                prop_assert!(!call.name.is_empty());
            }
        }
    }

    #[test]
    fn rules_change_nothing_but_descriptions(
        tools in prop::collection::vec(json(), 0..4), description in ".{0,12}", reason in ".{0,12}"
    ) {
        let mut tools = tools;
        tools.push(json!({"name": "a", "description": description}));
        tools.push(json!({"name": "b"}));
        let text = Json::from(tools.clone()).to_string();
        let document = Document::read(text.clone().into(), &Limits::default()).unwrap();
        let check = CheckInfo { name: "r".into(), reason, on_failure: OnFailure::Ask };
        let mut bytes = text.into_bytes();
        let edits = show_rules(document.root(), &Language::english(), |_| vec![check.clone()]);
        for Edit { range, bytes: with } in edits.into_iter().rev() {
            bytes.splice(range, with);
        }
        let after = Document::read(bytes.into(), &Limits::default()).unwrap();
        let mut after: Vec<Json> = after.root().items().map(|tool| tool.to_serde()).collect();
        let last = after[tools.len() - 2]["description"].as_str().unwrap().to_owned();
        prop_assert!(last.starts_with(&description) && last.contains("A guard checks this call"));
        for (tool, before) in after.iter_mut().zip(&tools) {
            let (Some(tool), Some(before)) = (tool.as_object_mut(), before.as_object()) else { continue };
            match before.get("description") {
                Some(was) => drop(tool.insert("description".into(), was.clone())),
                None => drop(tool.remove("description")),
            }
        }
        prop_assert_eq!(after, tools.iter().map(reread).collect::<Vec<_>>());
    }

    #[test]
    fn a_refusal_shows_all_it_holds(tool in any::<String>(), reason in any::<String>()) {
        let finding = FindingView {
            name: &tool, reason: &reason, on_failure: OnFailure::Deny, next: NextStep::NotOffered,
        };
        let english = Language::english();
        let text = Refusal { tool: &tool, findings: &[finding], language: &english }.message();
        prop_assert_eq!(text.lines().count(), 2);
        let hidden = |c: char| c.is_control() && c != '\n' || c == '\u{200b}';
        prop_assert!(!text.contains(hidden));
        prop_assert!(text.chars().count() < 1000);
    }
}

/// A float may read back as its neighbour: compare what was read once.
fn reread(value: &Json) -> Json {
    serde_json::from_str(&value.to_string()).unwrap_or_default()
}
