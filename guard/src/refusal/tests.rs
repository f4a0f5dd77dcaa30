use serde_json::json;

use super::language::{Language, LanguageError};
use super::{FindingView, NextStep, OnFailure, REASON_CHARS_MAX, REASONS_MAX, Refusal, ReplyRole};
use crate::call_shape::CallShape;
use crate::json::{Document, Limits};
use crate::messages::{self, Role};

const ENGLISH: &str = include_str!("language.en.json");

fn deny<'a>(name: &'a str, reason: &'a str, next: NextStep) -> FindingView<'a> {
    FindingView { name, reason, on_failure: OnFailure::Deny, next }
}

fn message(findings: &[FindingView<'_>]) -> String {
    Refusal { tool: "pay", findings, language: &Language::english() }.message()
}

#[test]
fn says_what_failed_and_then_each_step_once() {
    let findings = [
        deny("arguments_valid", "amount: expected number, got \"2\"", NextStep::FixArguments),
        deny("cap", "At most 100 EUR.", NextStep::TellUser),
        deny("hours", "", NextStep::TellUser),
        FindingView { on_failure: OnFailure::Ask, ..deny("cap", "At most 100 EUR.", NextStep::TellUser) },
    ];
    assert_eq!(
        message(&findings),
        "pay was refused and not run: amount: expected number, got \"2\"; At most 100 EUR. The rule hours does \
         not hold.\n\
         - Fix the arguments as the reasons say, to match the tool's schema, and call again.\n\
         - Do as the reasons say; if that cannot be done, tell the user what you can and cannot do."
    );
}

#[test]
fn a_call_that_only_asks_is_not_called_refused() {
    let asks = FindingView { on_failure: OnFailure::Ask, ..deny("big", "Over 50.", NextStep::NobodyToAsk) };
    assert!(
        message(&[asks]).starts_with("pay was not run, a person would have to decide: Over 50.\n- A person")
    );
    assert!(message(&[]).starts_with("pay was refused"));
}

#[test]
fn foreign_text_fills_in_nothing_and_hides_nothing() {
    let text = message(&[deny("r", "{tool} {reasons}\n- ignore\u{1b}[2J\u{200b}", NextStep::TellUser)]);
    assert!(
        text.starts_with(r"pay was refused and not run: {tool} {reasons} - ignore\u{1b}[2J\u{200b}"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 2);
}

#[test]
fn a_message_is_bounded() {
    let long = "\u{200b}".repeat(100_000);
    let reasons: Vec<String> = (0..REASONS_MAX + 2).map(|n| format!("{n} {long}")).collect();
    let findings: Vec<_> = reasons.iter().map(|reason| deny("r", reason, NextStep::TellUser)).collect();
    let at = message(&findings[..REASONS_MAX]);
    assert!(!at.contains("more"));
    assert!(message(&findings[..REASONS_MAX - 1]).len() < at.len());
    let above = message(&findings);
    assert!(above.contains("and 2 more"), "{above}");
    assert!(above.chars().count() < (REASON_CHARS_MAX + 2) * REASONS_MAX + 1000);
}

#[test]
fn a_refused_call_comes_back_as_its_result() {
    let findings = [deny("r", "No.", NextStep::TellUser)];
    let english = Language::english();
    let refusal = Refusal { tool: "pay", findings: &findings, language: &english };
    let text = refusal.message();
    let shapes =
        [CallShape::Anthropic, CallShape::LangChain, CallShape::OpenAiChat, CallShape::OpenAiResponses];
    for shape in shapes {
        let answer = refusal.feedback(shape, Some("c1"), ReplyRole::User, "");
        assert!(answer.to_string().contains("\"c1\""), "{answer}");
        let history = Document::from_value(&json!([answer]), &Limits::default()).unwrap();
        let said = messages::read(history.root());
        assert_eq!(
            said.iter().map(messages::Message::parts).collect::<Vec<_>>(),
            [(Role::Tool, text.as_str())]
        );
    }
    assert_eq!(
        refusal.call_result(CallShape::Mcp, ""),
        json!({"content": [{"type": "text", "text": text}], "isError": true})
    );
}

#[test]
fn a_refused_reply_comes_back_as_a_note_that_is_not_the_users() {
    let findings = [deny("tone", "Be kind.", NextStep::TellUser)];
    let english = Language::english();
    let refusal = Refusal { tool: "respond", findings: &findings, language: &english };
    for (role, name) in
        [(ReplyRole::User, "user"), (ReplyRole::System, "system"), (ReplyRole::Developer, "developer")]
    {
        let note = refusal.feedback(CallShape::Mcp, None, role, "go\naway");
        assert_eq!(note["role"], name);
        let text = note["content"].as_str().unwrap();
        assert!(
            text.starts_with(
                "[framegate guard: this note is not from the user] Your last message was not sent"
            )
        );
        assert!(text.contains("go away\nrespond was refused and not run: Be kind.\n- Do as"), "{text}");
    }
    let note = refusal.reply_note(ReplyRole::User, "transfer to DE89");
    let history = Document::from_value(&json!([note]), &Limits::default()).unwrap();
    assert_eq!(messages::read(history.root())[0].role, Role::Assistant);
}

fn changed(
    change: impl FnOnce(&mut serde_json::Map<String, serde_json::Value>),
) -> Result<Language, LanguageError> {
    let mut table = serde_json::from_str(ENGLISH).unwrap();
    change(&mut table);
    Language::from_json(&serde_json::Value::Object(table).to_string())
}

#[test]
fn the_built_in_table_is_whole() {
    assert_eq!(Language::from_json(ENGLISH).unwrap(), Language::english());
    assert_eq!(Language::english().name(), "en");
}

#[test]
fn a_table_is_checked_at_load() {
    let set = |key: &'static str, text: String| changed(|table| drop(table.insert(key.into(), text.into())));
    let error = |result: Result<Language, LanguageError>| result.unwrap_err().to_string();
    assert_eq!(error(changed(|table| drop(table.remove("more")))), "the table of sentences lacks `more`");
    assert_eq!(error(set("surplus", String::new())), "the table of sentences has unknown entries: `surplus`");
    assert_eq!(
        error(set("more", "{count} {n}".into())),
        "the sentence `more` has no placeholder `{n}`; it has `count`"
    );
    assert_eq!(error(set("more", "many".into())), "the sentence `more` leaves out `{count}`");
    assert_eq!(
        error(set("tell_user", "{".into())),
        "the sentence `tell_user` has no placeholder `{}`; it has none"
    );
    assert_eq!(
        error(changed(|table| drop(table.insert("held".into(), 5.into())))),
        "the sentence `held` is not text"
    );
    assert_eq!(error(Language::from_json("[]")), "a table of sentences is an object, not array");
    assert!(error(Language::from_json("{\"a\":1,\"a\":2}")).contains("duplicate key `a`"));
    assert!(set("tell_user", "x".repeat(399)).is_ok());
    assert!(set("tell_user", "x".repeat(400)).is_ok());
    assert!(error(set("tell_user", "x".repeat(401))).contains("more than 400"));
}

#[test]
fn another_language_is_data() {
    let german = changed(|table| {
        table.insert("language".into(), "de".into());
        table.insert("refused".into(), "{reasons} Nicht ausgeführt: {tool}".into());
    })
    .unwrap();
    let findings = [deny("r", "Nein.", NextStep::TellUser)];
    let refusal = Refusal { tool: "pay", findings: &findings, language: &german };
    assert_eq!(refusal.summary(), "Nein. Nicht ausgeführt: pay");
}
