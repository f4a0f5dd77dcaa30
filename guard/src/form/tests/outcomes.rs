use super::*;
use crate::json::Value;

type Case = (Outcome, &'static str, &'static str, &'static str, &'static str);

fn blocked() -> Vec<Case> {
    let unaskable = Unaskable { name: "city".into(), why: Why::Nested };
    vec![
        (
            Outcome::Sensitive,
            "tool_call_blocked",
            "reject",
            "sensitive_required_field",
            "Tool call blocked because form-mode elicitation cannot request sensitive required field 'city'. \
             Tool call blocked because form-mode elicitation cannot request sensitive required field 'days'.",
        ),
        (
            Outcome::StillMissing(Vec::new()),
            "tool_call_blocked",
            "needs_elicitation",
            "required_fields_missing_or_empty",
            "Tool call requires additional input for: city, days.",
        ),
        (
            Outcome::StillMissing(names(&["`days`: expected integer, got string \"x\""])),
            "tool_call_blocked",
            "needs_elicitation",
            "required_fields_missing_or_empty",
            "Tool call requires additional input for: city, days. \
             The answer did not fit: `days`: expected integer, got string \"x\".",
        ),
        (
            Outcome::Unaskable(vec![unaskable]),
            "tool_call_blocked",
            "needs_elicitation",
            "fields_not_askable",
            "The user cannot be asked for these in a form: `city`: it is an object, and forms are flat. \
             Call the tool again with values for: city, days.",
        ),
    ]
}

fn unanswered() -> Vec<Case> {
    vec![
        (
            Outcome::Disabled,
            "elicitation_required",
            "needs_elicitation",
            "elicitation_disabled",
            "The call lacks required arguments. Call the tool again with values for: city, days.",
        ),
        (
            Outcome::Unsupported,
            "elicitation_required",
            "needs_elicitation",
            "elicitation_unsupported",
            "The client cannot ask its user. Call the tool again with values for: city, days.",
        ),
        (
            Outcome::Declined,
            "elicitation_required",
            "needs_elicitation",
            "elicitation_declined",
            "The user declined to give these values: city, days. Do not guess them; ask what to do instead.",
        ),
        (
            Outcome::Cancelled,
            "elicitation_required",
            "needs_elicitation",
            "elicitation_cancelled",
            "The user closed the question without an answer. Call the tool again with values for: city, days.",
        ),
        (
            Outcome::Failed,
            "elicitation_required",
            "needs_elicitation",
            "elicitation_failed",
            "The user could not be asked: the client's answer was none. Call the tool again with values for: city, days.",
        ),
        (
            Outcome::TimedOut,
            "elicitation_required",
            "needs_elicitation",
            "elicitation_timed_out",
            "The user did not answer in time. Call the tool again with values for: city, days.",
        ),
    ]
}

#[test]
fn six_members_in_their_order() {
    let missing = names(&["city", "days"]);
    for (outcome, error, status, reason, message) in blocked().into_iter().chain(unanswered()) {
        let result = document(&outcome.json("t\"1", &missing));
        let order: Vec<&str> = result.root().members().map(|(name, _)| name).collect();
        assert_eq!(order, ["error", "tool", "status", "reason", "missing_or_ambiguous", "message"]);
        let get = |name: &str| result.root().get(name).and_then(Value::as_str).unwrap();
        assert_eq!(
            (get("error"), get("tool"), get("status"), get("reason"), get("message")),
            (error, "t\"1", status, reason, message)
        );
        assert_eq!(result.root().get("missing_or_ambiguous").unwrap().raw(), r#"["city","days"]"#);
    }
}

#[test]
fn many_names_and_odd_ones_make_a_short_visible_text() {
    let many: Vec<String> = (0..1000).map(|n| format!("f{n}\u{202e}")).collect();
    let message = Outcome::Disabled.message(&many);
    assert!(message.contains(r"f31\u{202e}, and 968 more.") && !message.contains('\u{202e}'), "{message}");
}

#[test]
fn the_question_is_the_policys_and_says_what_was_wrong() {
    let ask = Ask::default();
    assert_eq!(
        question("pay\n", &ask, None),
        "Input for tool 'pay' is incomplete. Please provide the missing fields."
    );
    let own = Ask { message: Some("Where to?\u{1b}[2J".into()), ..Ask::default() };
    assert_eq!(question("pay", &own, None), r"Where to?\u{1b}[2J");
    let rejected = Rejected::Missing(names(&["city"]));
    assert_eq!(
        question("pay", &own, Some(&rejected)),
        r"Where to?\u{1b}[2J The last answer did not fit: `city`: a value is needed."
    );
}
