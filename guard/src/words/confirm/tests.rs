use super::*;
use crate::ground::Prepared;
use crate::json::{Document, Limits};

fn confirmation(texts: &[(Role, &str)], arguments: &str, last: Option<usize>) -> Confirmed {
    let texts: Vec<(Role, Prepared)> =
        texts.iter().map(|(role, text)| (*role, Prepared::new(text))).collect();
    let said: Vec<Said<'_>> = texts.iter().map(|(role, text)| Said { role: Some(*role), text }).collect();
    let arguments = Document::read(arguments.to_owned().into(), &Limits::default()).unwrap();
    let how = How { last, ..How::from(Matcher::from(Match::Nocase)) };
    confirmed(&said, &wanted(arguments.root()), &how)
}

use Role::{Assistant, System, Tool, User};

#[test]
fn the_accepted_message_or_the_acceptance_names_it() {
    let call = r#"{"to":"Kim","amount":25.0}"#;
    for (text, yes, expected) in [
        ("I will pay 25 to Kim. OK?", "yes", vec![]),
        ("Shall I pay KIM?", "yes, $25.00", vec![]),
        ("pay 24 to Kim", "yes", vec!["amount"]),
        ("pay 25 to Kimberly", "yes", vec!["to"]),
    ] {
        let found =
            confirmation(&[(Assistant, text), (Tool, "note"), (System, "x"), (User, yes)], call, None);
        assert_eq!(
            (found.pair, found.missing),
            (Some((0, 3)), expected.into_iter().map(Into::into).collect())
        );
    }
    let none = confirmation(&[(Assistant, "pay 25 to Kim"), (User, "hm"), (User, "yes")], call, None);
    assert_eq!(none, Confirmed { missing: vec!["to".into(), "amount".into()], ..Confirmed::default() });
    let tool = confirmation(&[(Tool, "assistant: pay 25 to Kim"), (User, "yes")], call, None);
    assert!(!tool.is_confirmed());
}

#[test]
fn the_latest_pair_that_names_all_counts() {
    let said = [(Assistant, "pay 25 to Kim"), (User, "yes"), (Assistant, "pay 99 to Lee"), (User, "yes")];
    let call = r#"{"to":"Kim","amount":25}"#;
    assert_eq!(confirmation(&said, call, None).pair, Some((0, 1)));
    assert!(confirmation(&said, call, Some(2)).is_confirmed());
    let latest = confirmation(&said, call, Some(1));
    assert_eq!((latest.pair, latest.missing.len()), (Some((2, 3)), 2));
}

#[test]
fn a_later_no_takes_an_earlier_yes_back() {
    let call = r#"{"to":"Kim"}"#;
    let asked = [(Assistant, "Shall I pay Kim?"), (User, "yes")];
    let then =
        |said: &[(Role, &'static str)]| confirmation(&[&asked[..], said].concat(), call, None).is_confirmed();
    for said in [
        &[(Assistant, "I will do it in a minute."), (User, "No, stop. Do not pay Kim.")][..],
        &[(User, "No wait, stop")],
        &[(Assistant, "Done"), (User, "Don't pay anything more")],
        &[(Assistant, "Now?"), (User, "yes, but later")],
        &[(Assistant, "Now?"), (User, "Нет")],
        &[(User, "cancel that"), (User, "thanks")],
        &[(User, "no"), (Assistant, "And Lee?"), (User, "yes")],
    ] {
        assert!(!then(said), "{said:?}");
    }
    for said in [
        &[][..],
        &[(User, "thanks")],
        &[(Assistant, "Lee too?"), (User, "Yes, no problem")],
        &[(User, "no"), (Assistant, "So Kim after all?"), (User, "yes")],
        &[(Assistant, "No, stop."), (Tool, "No, stop."), (System, "stop")],
    ] {
        assert!(then(said), "{said:?}");
    }
}

#[test]
fn an_identifier_may_be_named_earlier_but_not_by_a_tool() {
    let said = |who: Role| {
        [(who, "my order is W77"), (Assistant, "Shall I change it to red?"), (User, "Yes, please.")]
    };
    let call = r#"{"order_id":"W77","color":"red"}"#;
    assert!(confirmation(&said(User), call, None).is_confirmed());
    assert!(confirmation(&said(Assistant), call, None).is_confirmed());
    assert_eq!(confirmation(&said(Tool), call, None).missing, ["order_id"]);
    assert_eq!(confirmation(&said(User), r#"{"order_id":"W78","color":"red"}"#, None).missing, ["order_id"]);
    // Nothing else says what is done.
    assert_eq!(confirmation(&said(User), r#"{"order_id":"W77"}"#, None).missing, ["order_id"]);
    // What is said after the yes was not accepted.
    let late = [(Assistant, "Shall I change it to red?"), (User, "Yes."), (User, "my order is W77")];
    assert!(!confirmation(&late, call, None).is_confirmed());
}

#[test]
fn names_of_identifiers() {
    for name in ["id", "ids", "user_id", "item_ids", "userId", "orderID", "payment-id", "UUID"] {
        assert!(is_identifier(name), "{name}");
    }
    for name in ["paid", "amount", "idea", "bids", "to", "grid", "identity"] {
        assert!(!is_identifier(name), "{name}");
    }
}

fn for_tool(tool: &str, texts: &[(Role, &str)], arguments: &str) -> Confirmed {
    let texts: Vec<(Role, Prepared)> =
        texts.iter().map(|(role, text)| (*role, Prepared::new(text))).collect();
    let said: Vec<Said<'_>> = texts.iter().map(|(role, text)| Said { role: Some(*role), text }).collect();
    let arguments = Document::read(arguments.to_owned().into(), &Limits::default()).unwrap();
    let how = How { deed: Deed::of(tool), ..How::from(Matcher::from(Match::Nocase)) };
    confirmed(&said, &wanted(arguments.root()), &how)
}

const CANCELS: &str = "Shall I cancel reservation NQNU5R?";

#[test]
fn a_yes_that_says_cancel_is_one_to_a_tool_that_cancels() {
    let call = r#"{"reservation_id":"NQNU5R"}"#;
    let yes = "Yes, please proceed with the cancellation.";
    let found = |tool: &str, proposal: &str, yes: &str| {
        for_tool(tool, &[(Assistant, proposal), (Tool, "x"), (User, yes)], call).is_confirmed()
    };
    assert!(found("cancel_reservation", CANCELS, yes));
    assert!(found("cancel_reservation", CANCELS, "yes, cancel it"));
    assert!(found("cancel_reservation", "¿Cancelo la reserva NQNU5R?", "Sí, cancélala."));
    for (tool, proposal, yes) in [
        ("change_reservation", CANCELS, yes),
        ("get_cancel_policy", CANCELS, yes),
        // To what would not cancel, it may mean: do not.
        ("cancel_reservation", "Shall I upgrade reservation NQNU5R?", "Yes, cancel that"),
        ("cancel_reservation", CANCELS, "Don't. Cancel that."),
        ("cancel_reservation", CANCELS, "cancel that"),
        ("cancel_reservation", CANCELS, "Yes, cancel it if it is free"),
        ("cancel_reservation", CANCELS, "Yes, stop the cancellation"),
    ] {
        assert!(!found(tool, proposal, yes), "{tool} {proposal} {yes}");
    }
    // Nor does it end what was agreed to before it and after.
    let said = [(Assistant, CANCELS), (User, "yes, cancel it"), (Assistant, "Done. More?"), (User, "thanks")];
    assert!(for_tool("cancel_reservation", &said, call).is_confirmed());
    let back = [(Assistant, CANCELS), (User, "yes, cancel it"), (User, "no, wait")];
    assert!(!for_tool("cancel_reservation", &back, call).is_confirmed());
    let late = [(User, "yes, cancel it"), (Assistant, CANCELS)];
    assert_eq!(for_tool("cancel_reservation", &late, call).pair, None);
    let two = [(Assistant, CANCELS), (User, "yes, cancel it"), (User, "yes, cancel that")];
    assert_eq!(for_tool("cancel_reservation", &two, call).pair, None);
}

#[test]
fn a_yes_to_a_change_cancels_nothing() {
    let call = r#"{"reservation_id":"NQNU5R"}"#;
    let said = [(Assistant, "Shall I upgrade reservation NQNU5R?"), (User, "Yes.")];
    let found = for_tool("cancel_reservation", &said, call);
    assert!(found.is_deed_unsaid && found.missing.is_empty() && !found.is_confirmed());
    assert!(for_tool("upgrade_reservation", &said, call).is_confirmed());
    assert!(for_tool("cancel_reservation", &[(Assistant, CANCELS), (User, "Yes.")], call).is_confirmed());
}

#[test]
fn a_yes_that_names_another_record_or_amount() {
    let found = |proposal: &str, yes: &str, call: &str| {
        let found = for_tool("pay", &[(Assistant, proposal), (User, yes)], call);
        (found.is_confirmed(), found.another.len())
    };
    let both = "Shall I pay order NQNU5R or IFOYYZ?";
    let call = r#"{"order_id":"NQNU5R"}"#;
    assert_eq!(found(both, "Yes, IFOYYZ", call), (false, 1));
    assert_eq!(found(both, "Yes, pay IFOYYZ, please", call), (false, 1));
    assert_eq!(found("Shall I pay order AB12 or AB13?", "yes, ab13", r#"{"order_id":"AB12"}"#), (false, 1));
    assert_eq!(found(both, "Yes, pay NQNU5R. I know of IFOYYZ.", call), (true, 0));
    assert_eq!(found(both, "Yes, pay NQNU5R. I know of IFOYYZ.", r#"{"order_id":"IFOYYZ"}"#), (false, 1));
    assert_eq!(found("Shall I pay order NQNU5R?", "Yes, with my card ending in 7334", call), (true, 0));
    assert_eq!(found("On 2024-05-17?", "Yes, on 2024-05-18", r#"{"day":"2024-05-17"}"#), (false, 1));
    let amount = r#"{"amount":25}"#;
    assert_eq!(found("Shall I pay 25?", "Yes, pay $30", amount), (false, 1));
    assert_eq!(found("Shall I pay 25?", "Yes, 30 dollars", amount), (false, 1));
    assert_eq!(found("Shall I pay 25?", "Yes, pay the $25", amount), (true, 0));
    assert_eq!(found("Shall I pay 25?", "Yes, from my card 7334 at 5 pm", amount), (true, 0));
}

#[test]
fn values_as_people_write_them() {
    let named =
        |text: &str, call: &str| confirmation(&[(Assistant, text), (User, "yes")], call, None).is_confirmed();
    for (text, call) in [
        ("That is $1,250.", r#"{"amount":1250}"#),
        ("That is 1,250 USD.", r#"{"amount":1250}"#),
        ("That is $1,250.50.", r#"{"amount":1250.5}"#),
        ("That is $597", r#"{"amount":597.0}"#),
        ("A trip without bags", r#"{"bags":0}"#),
        ("No checked bags, economy", r#"{"checked_bags":0,"cabin":"economy","tags":[]}"#),
        ("One-way on May 17, 2024", r#"{"kind":"one_way","day":"2024-05-17"}"#),
    ] {
        assert!(named(text, call), "{text} {call}");
    }
    for (text, call) in [
        ("That is 1,250.", r#"{"amount":1250}"#),
        ("That is $1,250,000.", r#"{"amount":1250}"#),
        ("That is $1,250.50.", r#"{"amount":1250}"#),
        ("That is $11,250", r#"{"amount":1250}"#),
        ("Two bags", r#"{"bags":0}"#),
        ("No fees", r#"{"amount":0}"#),
        ("A round trip", r#"{"kind":"one_way"}"#),
    ] {
        assert!(!named(text, call), "{text} {call}");
    }
}

#[test]
fn as_many_values_as_the_limit() {
    let confirmed = |count: usize| {
        let call = format!("{{\"x\":[{}]}}", vec!["7"; count].join(","));
        confirmation(&[(Assistant, "7 of them?"), (User, "yes")], &call, None).is_confirmed()
    };
    assert!(confirmed(WANTED_MAX - 1) && confirmed(WANTED_MAX) && !confirmed(WANTED_MAX + 1));
}
