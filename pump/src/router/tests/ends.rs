//! A side that leaves, and frames that were too long.

use super::*;
use crate::skim::Skimmed;

fn gone(rig: &mut Rig, side: Side) -> Vec<Out> {
    rig.run(|router, fx| router.peer_gone(side, Some(&RpcError::new(-32603, "gone")), fx))
}

fn error(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"gone"}}}}"#)
}

#[test]
fn when_the_server_is_gone_every_open_request_is_answered_once() {
    let mut rig = Rig::new();
    rig.client(&ping("1"));
    rig.client(&call(r#""framegate-t-x""#, "forward"));
    rig.client(&ping("1"));
    let person = rig.hold(&call("3", "person"));
    let machine = rig.hold(&call("4", "machine"));
    rig.client(&call("5", "forward"));
    let outs = gone(&mut rig, Side::Server);
    let mut sent: Vec<_> = outs.iter().filter(|out| matches!(out, Out::Sent(..))).cloned().collect();
    let want = ["1", r#""framegate-t-x""#, "1", "3", "4", "5"].map(|id| to_client(error(id)));
    assert_eq!(sent, want);
    sent.clear();
    for token in [person, machine] {
        assert!(outs.contains(&Out::Released(token)));
        assert_eq!(rig.settle(token, Verdict::Forward), []);
    }
    assert_eq!(gone(&mut rig, Side::Server), []);
    assert_eq!(rig.router.due(Side::Client), 0);
}

#[test]
fn a_question_to_a_side_that_is_gone_has_no_answer() {
    let mut rig = Rig::new();
    rig.question(1, Side::Server);
    rig.question(2, Side::Client);
    assert_eq!(gone(&mut rig, Side::Server), [Out::Answered(1, None)]);
    assert_eq!(rig.run(|router, fx| router.sender_gone(Side::Client, fx)), [Out::Answered(2, None)]);
}

#[test]
fn at_the_clients_end_persons_are_dropped_and_machines_finished() {
    let mut rig = Rig::new();
    let person = rig.hold(&call("1", "person"));
    let machine = rig.hold(&call("2", "machine"));
    rig.client(&call("3", "forward"));
    let outs = rig.run(|router, fx| router.sender_gone(Side::Client, fx));
    assert_eq!(outs, [Out::Released(person)]);
    assert!(rig.router.has_machine_holds(Side::Client));
    assert_eq!(
        rig.settle(machine, Verdict::Forward),
        [to_server(call("2", "machine")), to_server(call("3", "forward"))]
    );
    assert!(!rig.router.has_machine_holds(Side::Client));
}

#[test]
fn a_machine_that_wants_to_ask_a_person_who_has_left_gets_no_hold() {
    let mut rig = Rig::new();
    let machine = rig.hold(&call("1", "machine"));
    rig.run(|router, fx| router.sender_gone(Side::Client, fx));
    rig.told();
    let ask = Hold::verdict(HoldKind::Person, std::future::pending());
    assert_eq!(rig.settle(machine, ask), []);
    assert_eq!(rig.told(), [Told::Ended("1".into(), Ended::SenderGone)]);
}

#[test]
fn an_answer_that_a_machine_holds_outlives_the_clients_end() {
    let mut rig = Rig::new();
    rig.client(&call("1", "forward"));
    let answer = r#"{"id":1,"result":"please-machine"}"#;
    let outs = rig.server(answer);
    let [Out::Held(token)] = outs[..] else { panic!("{outs:?}") };
    assert_eq!(rig.run(|router, fx| router.sender_gone(Side::Client, fx)), []);
    assert_eq!(rig.settle(token, Verdict::Forward), [to_client(answer)], "the client still reads");
}

#[test]
fn an_answer_that_is_held_when_the_server_goes_is_not_lost_in_silence() {
    let mut rig = Rig::new();
    rig.client(&call("1", "forward"));
    let outs = rig.server(r#"{"id":1,"result":"please-person"}"#);
    let [Out::Held(token)] = outs[..] else { panic!("{outs:?}") };
    assert_eq!(gone(&mut rig, Side::Server), [Out::Released(token), to_client(error("1"))]);
    assert_eq!(rig.told(), [Told::Asked("1".into()), Told::Answer("1".into())], "answered once");
}

#[test]
fn a_hold_that_failed_is_refused_and_blocks_nobody() {
    let mut rig = Rig::new();
    let broken = rig.hold(&call("1", "machine"));
    rig.client(&call("2", "forward"));
    let outs = rig.run(|router, fx| router.abandon(broken, fx));
    assert_eq!(error_to(Side::Client, &outs[0]), Some(("1".into(), RpcError::INTERNAL)));
    assert_eq!(outs[1..], [to_server(call("2", "forward"))]);
}

// === frames over the cap ===

fn too_long(id: Option<&str>, has_method: bool, has_answer: bool) -> TooLong {
    let skimmed = Skimmed { id: id.map(str::to_owned), has_method, has_answer };
    TooLong { frame_bytes: 70_000_000, skimmed }
}

fn discard(rig: &mut Rig, from: Side, gone: &TooLong) -> Vec<Out> {
    rig.run(|router, fx| router.too_long(from, gone, fx))
}

#[test]
fn who_waits_for_an_answer_over_the_cap_is_told() {
    let mut rig = Rig::new();
    rig.client(&call("1", "forward"));
    rig.client(&call(r#""framegate-t-x""#, "forward"));
    for (sent, id) in [("1", "1"), (r#""framegate-t-r1""#, r#""framegate-t-x""#)] {
        let outs = discard(&mut rig, Side::Server, &too_long(Some(sent), false, true));
        assert_eq!(outs.len(), 1);
        assert_eq!(error_to(Side::Client, &outs[0]), Some((id.to_owned(), RpcError::INTERNAL)));
    }
    let ended = |id: &str| Told::Ended(id.into(), Ended::TooLong);
    assert_eq!(rig.told()[2..], [ended("1"), ended(r#""framegate-t-x""#)]);
    assert_eq!(rig.router.due(Side::Client), 0);
}

#[test]
fn a_client_whose_request_is_over_the_cap_is_told() {
    let mut rig = Rig::new();
    let outs = discard(&mut rig, Side::Client, &too_long(Some("1"), true, false));
    assert_eq!(error_to(Side::Client, &outs[0]), Some(("1".into(), RpcError::INVALID_REQUEST)));
}

#[test]
fn a_server_is_told_when_the_clients_answer_was_over_the_cap() {
    let mut rig = Rig::new();
    rig.server(&ping("1"));
    let outs = discard(&mut rig, Side::Client, &too_long(Some("1"), false, true));
    assert_eq!(error_to(Side::Server, &outs[0]), Some(("1".into(), RpcError::INTERNAL)));
}

#[test]
fn nothing_is_written_to_a_server_for_its_own_request_over_the_cap() {
    let mut rig = Rig::new();
    assert_eq!(discard(&mut rig, Side::Server, &too_long(Some("1"), true, false)), []);
}

#[test]
fn a_frame_over_the_cap_without_an_id_or_a_waiter_is_only_discarded() {
    let mut rig = Rig::new();
    rig.client(&ping("1"));
    for side in [Side::Client, Side::Server] {
        assert_eq!(discard(&mut rig, side, &too_long(None, true, false)), []);
        assert_eq!(discard(&mut rig, side, &too_long(None, false, true)), []);
        assert_eq!(discard(&mut rig, side, &too_long(Some("8"), false, true)), []);
    }
    assert_eq!(discard(&mut rig, Side::Server, &too_long(Some("1"), true, true)), [], "a hybrid");
}

#[test]
fn our_question_whose_answer_is_over_the_cap_has_none() {
    let mut rig = Rig::new();
    rig.question(3, Side::Server);
    let outs = discard(&mut rig, Side::Server, &too_long(Some(r#""framegate-t-q3""#), false, true));
    assert_eq!(outs, [Out::Answered(3, None)]);
}
