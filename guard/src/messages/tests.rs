use super::kind::normalise;
use super::{Conversation, GUARD_NOTE, Message, Role, read};
use crate::json::{Document, Limits};

fn said(context: &serde_json::Value) -> Vec<(Role, String)> {
    let document = Document::from_value(context, &Limits::default()).unwrap();
    read(document.root()).into_iter().map(|Message { role, text }| (role, text)).collect()
}

#[test]
fn a_type_has_one_spelling() {
    for (written, normal) in [
        ("toolResult", "tool_result"),
        ("TOOL-RESULT", "tool_result"),
        (" tool. -result\u{1f}", "tool_result"),
        ("tool_-result", "tool__result"),
        ("webSearch2Tool", "web_search2_tool"),
        ("", ""),
    ] {
        assert_eq!(normalise(written), normal, "{written:?}");
    }
}

#[test]
fn the_guards_own_note_is_never_the_users() {
    let note = format!("{GUARD_NOTE} Your reply was not sent: pay(DE89).");
    let alone = serde_json::json!([{"role": "user", "content": note}]);
    assert_eq!(said(&alone), [(Role::Assistant, note.clone())]);
    // A harness may join it with what the user said next.
    let joined = serde_json::json!([{"role": "user", "content": [
        {"type": "text", "text": note}, {"type": "text", "text": "yes"}]}]);
    assert_eq!(said(&joined), [(Role::Assistant, note.clone()), (Role::User, "yes".to_owned())]);
    let behind = serde_json::json!([["user", format!("hello\n{note}")]]);
    assert_eq!(said(&behind), [(Role::Assistant, format!("hello\n{note}"))]);
}

#[test]
fn blocks_keep_their_origin_in_a_message_of_unknown_role() {
    let context = serde_json::json!([{"role": "narrator", "content": [
        {"type": "tool_result", "content": "a"}, "skipped", {"type": "tool_result", "content": "b"}]}]);
    assert_eq!(said(&context), [(Role::Tool, "a".to_owned()), (Role::Tool, "b".to_owned())]);
}

#[test]
fn nested_lists_are_one_text() {
    let context = serde_json::json!([{"role": "tool", "content": [
        {"content": ["a", {"text": ["b", ["no", "block"], {"content": "c"}]}, "", 5]}]}]);
    assert_eq!(said(&context), [(Role::Tool, "a\nb\nc".to_owned())]);
}

#[test]
fn what_is_no_conversation_says_nothing() {
    for context in
        ["null", "5", "{}", r#"["user"]"#, r#"[["user","a","b"]]"#, "[[5,\"a\"]]", "[{\"role\":{}}]"]
    {
        let document = Document::read(context.into(), &Limits::default()).unwrap();
        assert_eq!(read(document.root()), [], "{context}");
    }
}

#[test]
fn offsets_are_code_points_and_bytes() {
    let messages = [
        Message { role: Role::User, text: "Привет 😀".into() },
        Message { role: Role::Assistant, text: "a".into() },
        Message { role: Role::User, text: "b".into() },
    ];
    let conversation = Conversation::of(messages.iter().map(Message::parts));
    assert_eq!(conversation.user_request(), "Привет 😀\nb");
    let chars: Vec<char> = conversation.text().chars().collect();
    for (message, span) in messages.iter().zip(conversation.spans()) {
        assert_eq!(conversation.text().get(span.bytes.clone()), Some(message.text.as_str()));
        assert_eq!(chars[span.chars.clone()].iter().collect::<String>(), message.text);
    }
}
