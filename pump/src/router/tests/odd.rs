//! Frames that cannot be read for certain, and answers that nobody asked for.

use super::*;

const OPAQUE: &str = "[INFO] up";
const BLANK: &str = " \t";
const BATCH: &str = r#"[{"id":1,"method":"tools/call"}]"#;
const DOUBLE: &str = r#"{"id":1,"id":2,"method":"tools/call"}"#;
const UNASKED: &str = r#"{"id":99,"result":{}}"#;

#[test]
fn odd_frames_reach_the_interceptor_as_far_as_it_wants_them() {
    let all = [
        (OPAQUE, Kind2::Opaque),
        (BLANK, Kind2::Blank),
        (BATCH, Kind2::Batch),
        (DOUBLE, Kind2::Ambiguous),
        (UNASKED, Kind2::Response),
    ];
    for side in [Side::Client, Side::Server] {
        for (odd, messages) in [
            (Odd::Nothing, true),
            (Odd::Opaque, true),
            (Odd::Opaque, false),
            (Odd::All, true),
            (Odd::All, false),
        ] {
            for (line, kind) in all {
                let mut rig = Rig::with(Script::new(messages, odd), None, None);
                let outs = rig.from(side, line);
                assert_eq!(outs, [Out::Sent(side.other(), line.into())], "{line}");
                let asked = odd == Odd::All || (odd == Odd::Opaque && kind == Kind2::Opaque);
                let want = if asked { vec![Told::Odd(side, kind)] } else { vec![] };
                assert_eq!(rig.told(), want, "{line} under {odd:?}");
            }
        }
    }
}

#[test]
fn a_large_line_that_is_no_json_is_odd_too() {
    let mut rig = Rig::with(Script::new(false, Odd::Opaque), None, None);
    let line = "x".repeat(10_000);
    assert_eq!(rig.server(&line), [to_client(line.clone())]);
    assert_eq!(rig.told(), [Told::Odd(Side::Server, Kind2::Opaque)]);
}

#[test]
fn an_odd_frame_that_is_dropped_goes_nowhere() {
    for side in [Side::Client, Side::Server] {
        let mut rig = Rig::new();
        assert_eq!(rig.from(side, "please-drop"), []);
        assert_eq!(rig.from(side, r#"["please-tell"]"#), [to_client(r#"{"told":1}"#)]);
        assert_eq!(rig.from(side, "please-edit, but it is too short"), [], "nor one that cannot be edited");
    }
}

#[test]
fn a_batch_passes_whole_or_not_at_all() {
    let mut rig = Rig::new();
    assert_eq!(rig.client(BATCH), [to_server(BATCH)]);
    assert_eq!(rig.router.due(Side::Client), 0, "what is in it is not accounted for");
    assert_eq!(rig.client(r#"[{"id":1,"method":"please-drop"}]"#), []);
}

#[test]
fn an_odd_frame_can_be_held() {
    let mut rig = Rig::new();
    let held = rig.hold("please-person");
    assert_eq!(rig.client(&call("1", "forward")).len(), 1);
    assert_eq!(rig.settle(held, Verdict::Forward), [to_server("please-person")]);
}

#[test]
fn an_odd_frame_that_a_machine_holds_is_finished_at_the_senders_end() {
    let mut rig = Rig::new();
    let machine = rig.hold("please-machine");
    let person = rig.hold("please-person");
    assert!(rig.router.has_machine_holds(Side::Client));
    let outs = rig.run(|router, fx| router.sender_gone(Side::Client, fx));
    assert_eq!(outs, [Out::Released(person)]);
    assert_eq!(rig.settle(machine, Verdict::Forward), [to_server("please-machine")]);
    assert!(!rig.router.has_machine_holds(Side::Client));
}

#[test]
fn our_answer_in_place_of_an_odd_one_closes_the_request() {
    struct Strict;
    impl Interceptor for Strict {
        fn wants(&self, _: Side, _: &str) -> Wants {
            Wants::Answer
        }
        fn interest(&self, _: Side) -> Interest {
            Interest { messages: true, odd: Odd::All }
        }
        fn odd_frame(&self, _: &Frame, _: Kind, _: Side) -> Verdict {
            Verdict::Drop { to_client: vec![Frame::line(br#"{"id":1,"error":{"code":1,"message":"odd"}}"#)] }
        }
    }
    let mut rig = Rig::new();
    rig.client(&call("1", "forward"));
    let seams = Seams { interceptor: Arc::new(Strict), ..Seams::default() };
    rig.router.set_seams(seams);
    let outs = rig.server(r#"{"id":1,"id":1,"result":{}}"#);
    assert_eq!(error_to(Side::Client, &outs[0]), Some(("1".into(), 1)));
    assert_eq!(rig.router.due(Side::Client), 0);
}

#[test]
fn an_odd_frame_is_not_refused_under_the_id_of_an_open_request() {
    struct Strict;
    impl Interceptor for Strict {
        fn wants(&self, _: Side, _: &str) -> Wants {
            Wants::Answer
        }
        fn odd_frame(&self, frame: &Frame, _: Kind, _: Side) -> Verdict {
            let line = |id: &str| format!(r#"{{"id":{id},"error":{{"code":1,"message":"odd"}}}}"#);
            let text = String::from_utf8_lossy(frame.body()).into_owned();
            let ids = ["1", "2", "\"1\"", "\"2\""]
                .into_iter()
                .filter(|id| text.contains(&format!(r#""id":{id},"#)));
            let mut errors: Vec<Frame> = ids.map(|id| Frame::line(line(id).as_bytes())).collect();
            match (errors.len(), errors.pop()) {
                (1, Some(error)) => Verdict::Answer(error),
                (_, last) => {
                    errors.extend(last);
                    Verdict::Drop { to_client: errors }
                }
            }
        }
    }
    let mut rig = Rig::new();
    rig.client(&call("1", "forward"));
    let held = rig.hold(&call("2", "machine"));
    rig.router.set_seams(Seams { interceptor: Arc::new(Strict), ..Seams::default() });
    let nobody = Some(("null".into(), 1));
    for odd in [
        r#"{"id":1,"method":"ping","method":"x"}"#,
        r#"{"id":2,"method":"ping","method":"x"}"#,
        // A client may read "1" as the 1 that it waits for.
        r#"{"id":"1","method":"ping","method":"x"}"#,
        r#"{"id":"2","method":"ping","method":"x"}"#,
    ] {
        assert_eq!(error_to(Side::Client, &rig.client(odd)[0]), nobody, "{odd}");
    }
    let batch = rig.client(r#"[{"id":1,"method":"ping"},{"id":2,"method":"ping"}]"#);
    assert_eq!(
        batch.iter().map(|out| error_to(Side::Client, out)).collect::<Vec<_>>(),
        [nobody.clone(), nobody]
    );
    // Both still get the answer that they wait for, and nothing but that.
    assert_eq!(rig.settle(held, Verdict::Forward).len(), 1);
    for id in ["1", "2"] {
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        assert_eq!(rig.server(&answer), [to_client(&answer)]);
    }
    // Nobody waits any more: now it is the frame's own id.
    let free = rig.client(r#"{"id":1,"method":"ping","method":"x"}"#);
    assert_eq!(error_to(Side::Client, &free[0]), Some(("1".into(), 1)));
}

#[test]
fn an_answer_that_only_some_readers_take_for_json_ends_its_request() {
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"ratio":NaN}}"#;
    let mut rig = Rig::new();
    rig.client(&call("1", "forward"));
    rig.client(&call("2", "forward"));
    rig.told();
    assert_eq!(rig.server(answer), [to_client(answer)]);
    assert_eq!(
        rig.told(),
        [Told::Odd(Side::Server, Kind2::Opaque), Told::Ended("1".into(), Ended::Unreadable)]
    );
    assert_eq!(rig.router.due(Side::Client), 1, "nobody waits for it at the end");
    // Neither a question of the server's, nor a line that names nothing.
    for other in [
        r#"{"id":2,"method":"x","params":NaN}"#,
        "NaN",
        r#"{"x":NaN,"result":1}"#,
        r#"{"id":3,"result":NaN}"#,
    ] {
        assert_eq!(rig.server(other), [to_client(other)]);
        assert_eq!(rig.router.due(Side::Client), 1, "{other}");
    }
    // One that is not passed on ends nothing: who dropped it answers the request.
    rig.server(r#"{"id":2,"result":{"please-drop":NaN}}"#);
    assert_eq!(rig.router.due(Side::Client), 1);
}

#[test]
fn an_answer_that_nobody_reads_may_be_broken_inside_and_not_in_its_envelope() {
    let broken = |envelope: &str| envelope.replace("...", r#"{"rows":[1,,2]}"#);
    let mut rig = Rig::new();
    rig.client(&call("1", "forward"));
    rig.client(&call("2", "forward"));
    rig.told();
    for (envelope, kind) in [
        (r#"{"id":1,"result":...,"id":2}"#, Kind2::Opaque),
        (r#"{"id":1,"result":...,"Id":2}"#, Kind2::Opaque),
        (r#"{"id":1,"result":...,"method":"x"}"#, Kind2::Opaque),
        (r#"{"id":1,"result":{},"id":2}"#, Kind2::Ambiguous),
        (r#"{"id":9,"result":...}"#, Kind2::Opaque),
    ] {
        rig.server(&broken(envelope));
        let told = rig.told();
        assert_eq!(told.first(), Some(&Told::Odd(Side::Server, kind)), "{envelope}");
    }
    let mut rig = Rig::new();
    rig.client(&call("1", "forward"));
    rig.told();
    let answer = broken(r#"{"result":...,"jsonrpc":"2.0","id":1}"#);
    assert_eq!(rig.server(&answer), [to_client(&answer)]);
    assert_eq!(rig.told(), [Told::Answer("1".into())]);
    assert_eq!(rig.router.due(Side::Client), 0);
}

#[test]
fn what_the_client_answers_is_always_read_whole() {
    let mut rig = Rig::new();
    rig.server(r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"name":"forward"}}"#);
    rig.told();
    rig.client(r#"{"jsonrpc":"2.0","id":1,"result":{"rows":[1,,2]}}"#);
    assert_eq!(rig.told(), [Told::Odd(Side::Client, Kind2::Opaque)]);
}
