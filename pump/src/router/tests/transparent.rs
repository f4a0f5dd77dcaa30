//! Frames on which nothing depends: sent first, looked at afterwards.

use super::*;

fn bare() -> Rig {
    Rig::with(Script::new(false, Odd::Nothing), None, None)
}

#[test]
fn a_frame_on_which_nothing_depends_is_sent_before_it_is_looked_at() {
    let mut rig = bare();
    for (side, line) in [(Side::Client, call("1", "answer")), (Side::Server, result("1"))] {
        assert_eq!(rig.from(side, &line), [Out::Sent(side.other(), line.clone()), Out::LookLater]);
        assert_eq!(rig.eye.take(), [""; 0], "not looked at yet");
        rig.look_back();
        assert_eq!(
            rig.eye.take(),
            [
                format!("Received({side:?}) tools/call 1"),
                format!("Sent({:?}, Verbatim) tools/call 1", side.other())
            ]
        );
    }
    assert_eq!(rig.told(), []);
}

#[test]
fn what_is_due_is_counted_all_the_same() {
    let mut rig = bare();
    for id in ["1", "2", "3"] {
        rig.client(&ping(id));
    }
    rig.client(r#"{"id":4,"method":"subscriptions/listen"}"#);
    rig.look_back();
    assert_eq!(rig.router.due(Side::Client), 3, "a subscription is not due");
    rig.server(&result("1"));
    rig.client(&cancel("2"));
    rig.look_back();
    assert_eq!(rig.router.due(Side::Client), 1);
}

#[test]
fn a_large_answer_is_known_by_its_ends() {
    let mut rig = bare();
    rig.client(&ping("7"));
    rig.look_back();
    rig.server(&format!(r#"{{"result":{{"text":"{}"}},"id":7,"jsonrpc":"2.0"}}"#, "x".repeat(9000)));
    rig.look_back();
    assert_eq!(rig.router.due(Side::Client), 0);
}

#[test]
fn a_side_that_saw_an_id_of_ours_is_looked_at_first() {
    let mut rig = bare();
    rig.question(1, Side::Server);
    assert_eq!(rig.client(&ping("1")), [to_server(ping("1")), Out::LookLater]);
    let answer = result(r#""framegate-t-q1""#);
    assert_eq!(rig.server(&answer), [Out::Answered(1, Some(answer))]);
    let trespass = ping(r#""framegate-t-q1""#);
    assert_eq!(rig.server(&trespass), [to_client(ping(r#""framegate-t-r1""#))]);
    // Now the client has seen one too.
    assert_eq!(rig.client(&trespass), [to_server(ping(r#""framegate-t-r2""#))]);
}

#[test]
fn answers_are_looked_at_while_an_interceptor_is_owed_one() {
    let mut rig = Rig::new();
    rig.client(&call("1", "forward"));
    let off = Seams { observer: Arc::<Eye>::clone(&rig.eye), ..Seams::default() };
    rig.router.set_seams(off);
    assert_eq!(rig.server(&result("1")), [to_client(result("1"))]);
    assert_eq!(rig.server(&result("2")), [to_client(result("2")), Out::LookLater]);
}

#[test]
fn a_held_call_is_cancelled_even_after_the_seams_were_taken_away() {
    let mut rig = Rig::new();
    let held = rig.hold(&call("1", "person"));
    rig.router.set_seams(Seams::default());
    assert_eq!(rig.client(&cancel("1")), [Out::Released(held)]);
}

#[test]
fn who_does_not_ask_for_usual_frames_is_shown_the_odd_ones() {
    struct OddOnly(Arc<Eye>);
    impl Observer for OddOnly {
        fn frame(&self, seen: &Seen<'_>) {
            self.0.frame(seen);
        }
        fn sees_usual_frames(&self) -> bool {
            false
        }
    }
    let run = |lines: &[&str]| crate::Run::from_wire((lines.join("\n") + "\n").into());
    let eye = Arc::new(Eye::default());
    let mut router = bare().router;
    router.set_seams(Seams { observer: Arc::new(OddOnly(Arc::clone(&eye))), ..Seams::default() });
    router.attribute_run(Side::Client, &run(&[&ping("1"), &ping("2"), &cancel("2"), "noise"]));
    assert_eq!(router.due(Side::Client), 1);
    assert_eq!(eye.take(), ["Received(Client)", "Sent(Server, Verbatim)"]);
    router.attribute_run(Side::Server, &run(&[&result("1"), "[1,"]));
    assert_eq!(router.due(Side::Client), 0);
    assert_eq!(eye.take(), ["Received(Server)", "Sent(Client, Verbatim)"]);
}
