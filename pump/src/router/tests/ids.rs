//! Ids: ours, theirs, and those who trespass.

use super::*;

#[test]
fn a_trespassing_request_is_renamed_and_its_answer_restored() {
    let mut rig = Rig::new();
    let own = r#""\u0066ramegate-t-q1""#;
    assert_eq!(rig.client(&ping(own)), [to_server(ping(r#""framegate-t-r1""#))]);
    assert_eq!(rig.server(&result(r#""framegate-t-r1""#)), [to_client(result(own))], "its own spelling");
}

#[test]
fn a_servers_trespassing_request_is_renamed_and_its_answer_restored() {
    let mut rig = Rig::new();
    assert_eq!(rig.question(1, Side::Server).len(), 1);
    let own = r#""framegate-t-q1""#;
    assert_eq!(rig.server(&ping(own)), [to_client(ping(r#""framegate-t-r1""#))]);
    assert_eq!(rig.client(&result(r#""framegate-t-r1""#)), [to_server(result(own))]);
}

#[test]
fn the_cancellation_of_a_renamed_request_is_renamed_too() {
    for side in [Side::Client, Side::Server] {
        let mut rig = Rig::new();
        rig.from(side, &ping(r#""framegate-t-x""#));
        assert_eq!(
            rig.from(side, &cancel(r#""framegate-t-x""#)),
            [Out::Sent(side.other(), cancel(r#""framegate-t-r1""#))]
        );
        // The late answer to it goes nowhere.
        assert_eq!(rig.from(side.other(), &result(r#""framegate-t-r1""#)), []);
    }
}

#[test]
fn nobody_cancels_a_question_of_ours_in_anothers_name() {
    let mut rig = Rig::new();
    rig.question(1, Side::Server);
    assert_eq!(rig.client(&cancel(r#""framegate-t-q1""#)), []);
    let answer = result(r#""framegate-t-q1""#);
    assert_eq!(rig.server(&answer), [Out::Answered(1, Some(answer))]);
}

#[test]
fn a_subscription_under_a_reserved_id_is_refused_not_renamed() {
    let mut rig = Rig::new();
    let outs = rig.client(r#"{"id":"framegate-t-1","method":"subscriptions/listen"}"#);
    let [out] = &outs[..] else { panic!("{outs:?}") };
    assert_eq!(error_to(Side::Client, out), Some((r#""framegate-t-1""#.into(), RpcError::INVALID_REQUEST)));
    assert!(rig.eye.take().iter().any(|seen| seen.starts_with("IdRefused")));
}

#[test]
fn an_answer_to_a_question_of_ours_stops_here_in_any_spelling() {
    for (side, id) in [
        (Side::Server, r#""framegate-t-q1""#),
        (Side::Server, r#""fr\u0061megate-t-q\u0031""#),
        (Side::Client, r#""framegate-t-q1""#),
    ] {
        let mut rig = Rig::new();
        let question = r#"{"jsonrpc":"2.0","id":"framegate-t-q1","method":"ping"}"#;
        assert_eq!(rig.question(1, side), [Out::Sent(side, question.into())]);
        rig.eye.take();
        let answer = result(id);
        assert_eq!(rig.from(side, &answer), [Out::Answered(1, Some(answer.clone()))]);
        assert_eq!(rig.eye.take(), [""; 0], "it is not reported");
        assert_eq!(rig.from(side, &answer), [], "nor is a second one passed on");
        assert_eq!(rig.eye.take(), [format!("LateAnswer {{ from: {side:?} }}")]);
        assert_eq!(rig.told(), []);
    }
}

#[test]
fn an_answer_from_the_side_that_was_not_asked_is_dropped() {
    let mut rig = Rig::new();
    rig.question(1, Side::Server);
    assert_eq!(rig.client(&result(r#""framegate-t-q1""#)), []);
    assert_eq!(rig.server(&result(r#""framegate-t-q1""#)).len(), 1, "the question is still open");
}

#[test]
fn a_question_that_is_forgotten_is_cancelled_and_its_late_answer_dropped() {
    let mut rig = Rig::new();
    rig.question(4, Side::Server);
    let told = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"framegate-t-q4","reason":"timed out"}}"#;
    assert_eq!(rig.run(|router, fx| router.forget_question(4, fx)), [to_server(told)]);
    assert_eq!(rig.run(|router, fx| router.forget_question(4, fx)), []);
    assert_eq!(rig.server(&result(r#""framegate-t-q4""#)), []);
}

#[test]
fn an_answer_in_another_spelling_of_the_number_is_the_answer() {
    for spelling in [r#""5""#, "5.0", r#"" 5 ""#, "5e0", r#""0x5""#] {
        let mut rig = Rig::new();
        rig.client(&call("5", "forward"));
        assert_eq!(rig.server(&result(spelling)), [to_client(result(spelling))], "its bytes stay");
        assert_eq!(rig.told(), [Told::Asked("5".into()), Told::Answer("5".into())], "{spelling}");
    }
}

#[test]
fn an_answer_that_two_requests_could_have_asked_for_is_odd() {
    let mut rig = Rig::new();
    rig.client(&call("5", "forward"));
    rig.client(&call("5.0", "forward"));
    rig.told();
    rig.server(&result(r#""5""#));
    assert_eq!(rig.told(), [Told::Odd(Side::Server, Kind2::Response)]);
}

#[test]
fn requests_that_share_an_id_are_answered_in_their_order() {
    let mut rig = Rig::new();
    rig.client(&call("1", "forward"));
    rig.client(&ask("1", "resources/read", ""));
    rig.server(&result("1"));
    assert_eq!(rig.router.due(Side::Client), 1);
    rig.server(&result("1"));
    assert_eq!(rig.router.due(Side::Client), 0);
    assert_eq!(
        rig.told(),
        [Told::Asked("1".into()), Told::Answer("1".into()), Told::Answer("1".into())],
        "each has one answer"
    );
}

#[test]
fn an_id_is_refused_one_byte_above_the_limit() {
    for (id_bytes, is_refused) in [(255, false), (256, false), (257, true)] {
        let mut rig = Rig::with(Script::new(true, Odd::All), None, Some(IdLimits::default()));
        let id = format!("\"{}\"", "x".repeat(id_bytes - 2));
        let outs = rig.client(&call(&id, "forward"));
        let want = if is_refused { Side::Client } else { Side::Server };
        assert!(matches!(&outs[..], [Out::Sent(to, _)] if *to == want), "{id_bytes}: {outs:?}");
        assert_eq!(rig.told().is_empty(), is_refused, "what is outside the limits is not decided");
    }
}

#[test]
fn one_request_above_the_limit_of_open_ones_is_refused() {
    let limits = IdLimits { open_max: 3, ..IdLimits::default() };
    let mut rig = Rig::with(Script::new(true, Odd::All), None, Some(limits));
    rig.client(&ping("1"));
    let held = rig.hold(&call("2", "person"));
    assert_eq!(rig.client(&ping("3")).len(), 1, "at the limit");
    let outs = rig.client(&ping("4"));
    assert_eq!(error_to(Side::Client, &outs[0]), Some(("4".into(), RpcError::INVALID_REQUEST)));
    rig.settle(held, Verdict::Drop { to_client: vec![] });
    assert_eq!(rig.client(&ping("5")), [to_server(ping("5"))], "one below again");
}

#[test]
fn under_limits_an_id_that_is_open_or_held_may_not_be_used_again() {
    let mut rig = Rig::with(Script::new(true, Odd::All), None, Some(IdLimits::default()));
    rig.client(&ping("1"));
    rig.hold(&call("2", "person"));
    rig.client(&ping(r#""framegate-t-x""#));
    for id in ["1", "2", r#""framegate-t-x""#] {
        let outs = rig.client(&ping(id));
        // Under its own id it would be the answer to the first request.
        assert_eq!(error_to(Side::Client, &outs[0]), Some(("null".to_owned(), RpcError::INVALID_REQUEST)));
        assert_eq!(outs.len(), 1);
        let notice = Notice::IdTaken { from: Side::Client, method: "ping".into() };
        assert!(rig.eye.take().contains(&format!("{notice:?}")));
    }
    assert_eq!(rig.server(&result("1")).len(), 1);
    assert_eq!(rig.client(&ping("1")), [to_server(ping("1"))]);
}

#[test]
fn a_server_may_use_the_ids_of_the_client() {
    let mut rig = Rig::new();
    rig.client(&ping("1"));
    assert_eq!(rig.server(&ping("1")), [to_client(ping("1"))]);
    assert_eq!(rig.server(&result("1")), [to_client(result("1"))]);
    assert_eq!(rig.client(&result("1")), [to_server(result("1"))]);
    assert_eq!((rig.router.due(Side::Client), rig.router.due(Side::Server)), (0, 0));
}
