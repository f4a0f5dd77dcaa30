//! Verdicts, at once and later.

use super::*;

fn forward() -> Verdict {
    Verdict::Forward
}

fn refuse(id: &str) -> Verdict {
    Verdict::Answer(Frame::line(refusal(id).as_bytes()))
}

#[test]
fn each_verdict_does_what_it_says() {
    for (word, want) in [
        ("forward", vec![to_server(call("1", "forward"))]),
        ("answer", vec![to_client(refusal("1"))]),
        ("drop", vec![]),
        ("tell", vec![to_client(r#"{"told":1}"#)]),
        ("replace", vec![to_server(edited(&call("1", "replace")))]),
    ] {
        assert_eq!(Rig::new().client(&call("1", word)), want, "{word}");
        // And when it comes later.
        let mut rig = Rig::new();
        let line = call("1", "person");
        let held = rig.hold(&line);
        let want: Vec<Out> = want.into_iter().map(|out| in_words_of(out, word, "person")).collect();
        assert_eq!(rig.settle(held, verdict_of(word, &request(&line))), want, "held, then {word}");
    }
}

fn in_words_of(out: Out, from: &str, to: &str) -> Out {
    match out {
        Out::Sent(side, line) => Out::Sent(side, line.replace(&format!("\"{from}\""), &format!("\"{to}\""))),
        out => out,
    }
}

#[test]
fn an_edit_that_overlaps_sends_nothing_and_the_asker_is_told() {
    let mut rig = Rig::new();
    let outs = rig.client(&call("1", "overlap"));
    assert_eq!(outs.len(), 1);
    assert_eq!(error_to(Side::Client, &outs[0]), Some(("1".into(), RpcError::INTERNAL)));
    assert_eq!(rig.router.due(Side::Client), 0);
    assert!(rig.eye.take().iter().any(|seen| seen.contains("SpliceFailed")));
}

#[test]
fn a_decided_call_that_could_not_be_edited_is_ended_for_its_interceptor() {
    let mut rig = Rig::new();
    rig.client(&call("1", "overlap"));
    // What it reserved for the call is given back.
    assert_eq!(rig.told(), [Told::Asked("1".into()), Told::Ended("1".into(), Ended::Replaced)]);
}

#[test]
fn an_edit_of_the_id_of_a_renamed_call_overlaps_with_the_renaming() {
    let mut rig = Rig::new();
    let outs = rig.client(&call(r#""framegate-t-x""#, "overlap"));
    assert_eq!(error_to(Side::Client, &outs[0]), Some((r#""framegate-t-x""#.into(), RpcError::INTERNAL)));
}

#[test]
fn a_renamed_call_can_be_edited() {
    let mut rig = Rig::new();
    let outs = rig.client(&call(r#""framegate-t-x""#, "replace"));
    assert_eq!(outs, [to_server(edited(&call(r#""framegate-t-r1""#, "replace")))]);
}

#[test]
fn what_waits_for_a_person_is_overtaken() {
    let mut rig = Rig::new();
    let held = rig.hold(&call("1", "person"));
    assert_eq!(rig.client(&call("2", "forward")), [to_server(call("2", "forward"))]);
    assert_eq!(rig.client(&ping("3")), [to_server(ping("3"))]);
    assert_eq!(rig.server(&result("2")), [to_client(result("2"))]);
    assert_eq!(rig.settle(held, forward()), [to_server(call("1", "person"))]);
    assert_eq!(rig.settle(held, forward()), [], "once");
}

#[test]
fn a_cancelled_call_that_is_held_is_dropped_without_an_answer() {
    for word in ["person", "machine"] {
        let mut rig = Rig::new();
        let held = rig.hold(&call("1", word));
        assert_eq!(rig.client(&cancel("1")), [Out::Released(held)], "nor is its cancel passed on");
        assert_eq!(rig.settle(held, forward()), [], "a verdict that was on its way changes nothing");
        assert_eq!(rig.told(), [Told::Asked("1".into()), Told::Ended("1".into(), Ended::Cancelled)]);
        assert!(!rig.router.has_machine_holds(Side::Client));
    }
}

#[test]
fn only_the_exact_id_cancels_a_held_call() {
    let mut rig = Rig::new();
    rig.hold(&call("1", "person"));
    assert_eq!(rig.client(&cancel(r#""1""#)), [to_server(cancel(r#""1""#))]);
    assert_eq!(rig.server(&cancel("1")), [to_client(cancel("1"))], "nor does the other side");
}

#[test]
fn calls_held_by_a_machine_are_released_in_the_order_they_came() {
    let mut rig = Rig::new();
    let [a, b, c] = ["1", "2", "3"].map(|id| rig.hold(&call(id, "machine")));
    assert_eq!(rig.settle(c, forward()), []);
    assert_eq!(rig.settle(b, refuse("2")), []);
    assert_eq!(
        rig.settle(a, forward()),
        [to_server(call("1", "machine")), to_client(refusal("2")), to_server(call("3", "machine"))]
    );
}

#[test]
fn a_call_decided_at_once_waits_behind_a_machine_and_other_frames_do_not() {
    let mut rig = Rig::new();
    let held = rig.hold(&call("1", "machine"));
    assert_eq!(rig.client(&call("2", "forward")), []);
    assert_eq!(rig.client(&call("3", "answer")), []);
    assert_eq!(rig.client(&call("4", "replace")), []);
    assert_eq!(rig.client(&ping("5")), [to_server(ping("5"))]);
    assert_eq!(rig.client(&ask("6", "resources/read", "")).len(), 1);
    assert_eq!(rig.client(&cancel("9")), [to_server(cancel("9"))]);
    assert_eq!(rig.client("noise"), [to_server("noise")]);
    assert_eq!(rig.server(&ping("1")), [to_client(ping("1"))]);
    assert_eq!(
        rig.settle(held, forward()),
        [
            to_server(call("1", "machine")),
            to_server(call("2", "forward")),
            to_client(refusal("3")),
            to_server(edited(&call("4", "replace"))),
        ]
    );
}

#[test]
fn an_odd_frame_that_is_held_keeps_its_place_among_the_calls() {
    let odd = r#"[{"id":9,"method":"tools/call","params":"please-machine"}]"#;
    let mut rig = Rig::new();
    let before = rig.hold(&call("1", "machine"));
    let held = rig.hold(odd);
    let after = rig.hold(&call("2", "machine"));
    assert_eq!(rig.client(&call("3", "forward")), []);
    assert_eq!(rig.client(&ping("4")), [to_server(ping("4"))], "which waits for no call");
    assert_eq!(rig.settle(after, forward()), []);
    assert_eq!(rig.settle(held, forward()), []);
    assert_eq!(
        rig.settle(before, forward()),
        [
            to_server(call("1", "machine")),
            to_server(odd),
            to_server(call("2", "machine")),
            to_server(call("3", "forward"))
        ]
    );
    assert!(!rig.router.has_machine_holds(Side::Client));
}

#[test]
fn a_servers_request_does_not_wait_behind_the_clients_calls() {
    // A call may wait for the server's listing, and the server may first ask for the roots.
    let mut rig = Rig::new();
    rig.hold(&call("1", "machine"));
    let asked = ask("1", "sampling/createMessage", "forward");
    assert_eq!(rig.server(&asked), [to_client(asked.clone())]);
}

#[test]
fn a_cancelled_call_makes_room_for_those_behind_it() {
    let mut rig = Rig::new();
    let held = rig.hold(&call("1", "machine"));
    rig.client(&call("2", "forward"));
    assert_eq!(rig.client(&cancel("1")), [Out::Released(held), to_server(call("2", "forward"))]);
}

#[test]
fn a_call_that_waits_its_turn_with_a_verdict_can_be_cancelled() {
    let mut rig = Rig::new();
    let held = rig.hold(&call("1", "machine"));
    rig.client(&call("2", "forward"));
    assert!(matches!(rig.client(&cancel("2"))[..], [Out::Released(_)]));
    assert_eq!(rig.settle(held, forward()), [to_server(call("1", "machine"))]);
}

#[test]
fn a_machine_hold_that_settles_into_another_keeps_its_place() {
    let mut rig = Rig::new();
    let held = rig.hold(&call("1", "machine"));
    rig.client(&call("2", "forward"));
    let again = Hold::verdict(HoldKind::Machine, std::future::pending());
    assert_eq!(rig.settle(held, again), [Out::Held(held)]);
    assert_eq!(
        rig.settle(held, forward()),
        [to_server(call("1", "machine")), to_server(call("2", "forward"))]
    );
}

#[test]
fn a_machine_hold_that_settles_into_a_question_lets_the_others_pass() {
    let mut rig = Rig::new();
    let held = rig.hold(&call("1", "machine"));
    rig.client(&call("2", "forward"));
    let outs = rig.settle(held, Hold::verdict(HoldKind::Person, std::future::pending()));
    let [Out::Held(person), ref passed] = outs[..] else { panic!("{outs:?}") };
    assert_eq!(*passed, to_server(call("2", "forward")));
    assert_eq!(rig.settle(person, forward()), [to_server(call("1", "machine"))]);
}

#[test]
fn a_persons_yes_may_need_a_machine_again() {
    let mut rig = Rig::new();
    let person = rig.hold(&call("1", "person"));
    let outs = rig.settle(person, Hold::verdict(HoldKind::Machine, std::future::pending()));
    let [Out::Held(machine)] = outs[..] else { panic!("{outs:?}") };
    assert!(rig.router.has_machine_holds(Side::Client));
    assert_eq!(rig.settle(machine, forward()), [to_server(call("1", "person"))]);
}

#[test]
fn a_held_answer_is_settled_like_a_call() {
    for kind in ["person", "machine"] {
        let mut rig = Rig::new();
        rig.client(&call("1", "forward"));
        let answer = format!(r#"{{"id":1,"result":"please-{kind}"}}"#);
        let outs = rig.server(&answer);
        let [Out::Held(token)] = outs[..] else { panic!("{outs:?}") };
        assert_eq!(rig.client(&call("2", "forward")).len(), 1, "calls pass a held answer");
        assert_eq!(rig.settle(token, forward()), [to_client(answer)]);
        assert_eq!(rig.router.due(Side::Client), 1);
    }
}

#[test]
fn a_call_whose_answer_is_held_can_still_be_cancelled() {
    let mut rig = Rig::new();
    rig.client(&call("1", "forward"));
    let outs = rig.server(r#"{"id":1,"result":"please-machine"}"#);
    let [Out::Held(token)] = outs[..] else { panic!("{outs:?}") };
    assert_eq!(rig.client(&cancel("1")), [Out::Released(token)], "the server has answered already");
    assert_eq!(rig.told(), [Told::Asked("1".into()), Told::Answer("1".into())]);
}

#[test]
fn an_answer_can_be_replaced_or_dropped() {
    let mut rig = Rig::new();
    rig.client(&call("1", "forward"));
    assert_eq!(rig.server(r#"{"id":1,"result":"please-answer"}"#), [to_client(refusal("1"))]);
    rig.client(&call("2", "forward"));
    assert_eq!(rig.server(r#"{"id":2,"result":"please-tell"}"#), [to_client(r#"{"told":1}"#)]);
    rig.client(&call("3", "forward"));
    assert_eq!(rig.server(r#"{"id":3,"result":"please-drop"}"#), []);
    assert_eq!(rig.router.due(Side::Client), 0);
}

#[test]
fn the_answer_to_a_servers_request_goes_by_the_interceptor_too() {
    let mut rig = Rig::new();
    rig.server(&ask("1", "sampling/createMessage", "forward"));
    assert_eq!(rig.client(r#"{"id":1,"result":"please-answer"}"#), [to_server(refusal("1"))]);
    assert_eq!(rig.server(&ask("2", "sampling/createMessage", "answer")), [to_server(refusal("2"))]);
    assert_eq!(rig.told(), [Told::Asked("1".into()), Told::Answer("1".into()), Told::Asked("2".into())]);
}

#[test]
fn a_notification_can_be_decided() {
    let mut rig = Rig::new();
    let note = |word: &str| format!(r#"{{"method":"notifications/decided","params":{{"name":"{word}"}}}}"#);
    assert_eq!(rig.client(&note("forward")), [to_server(note("forward"))]);
    assert_eq!(rig.client(&note("drop")), []);
    let held = rig.hold(&note("person"));
    assert_eq!(rig.settle(held, forward()), [to_server(note("person"))]);
    assert_eq!(rig.told(), vec![Told::Note("notifications/decided".into()); 3]);
}

#[test]
fn each_decided_request_has_exactly_one_answer_or_end() {
    let mut rig = Rig::new();
    for (id, word) in [("1", "forward"), ("2", "forward"), ("3", "answer"), ("4", "person"), ("5", "forward")]
    {
        rig.client(&call(id, word));
    }
    rig.server(&result("1"));
    rig.server(&result("1"));
    rig.client(&cancel("2"));
    rig.client(&cancel("2"));
    rig.server(&result("2"));
    rig.run(|router, fx| router.sender_gone(Side::Client, fx));
    rig.run(|router, fx| router.peer_gone(Side::Server, Some(&RpcError::new(1, "gone")), fx));
    rig.run(|router, fx| router.peer_gone(Side::Server, Some(&RpcError::new(1, "gone")), fx));
    let mut told = rig.told();
    told.retain(|told| matches!(told, Told::Answer(_) | Told::Ended(..)));
    assert_eq!(
        told,
        [
            Told::Answer("1".into()),
            Told::Ended("2".into(), Ended::Cancelled),
            Told::Ended("4".into(), Ended::SenderGone),
            Told::Ended("5".into(), Ended::PeerGone),
        ]
    );
}

#[test]
fn a_decided_request_of_another_method_does_not_wait_behind_a_held_call() {
    let mut rig = Rig::new();
    let held = rig.hold(&call("1", "machine"));
    let other = ask("2", "sampling/createMessage", "forward");
    assert_eq!(rig.client(&other), [to_server(other)]);
    let slow = rig.hold(&ask("3", "sampling/createMessage", "machine"));
    assert_eq!(rig.client(&call("4", "forward")), []);
    assert_eq!(rig.settle(slow, forward()).len(), 1, "settled, and the first of its method");
    assert_eq!(
        rig.settle(held, forward()),
        [to_server(call("1", "machine")), to_server(call("4", "forward"))]
    );
}
