//! Verdicts while the pump runs.

use super::*;

#[tokio::test(start_paused = true)]
async fn what_waits_for_a_person_stops_nothing_else() {
    let desk = Desk::default();
    let mut session = start(|pump| pump.interceptor(desk.clone()));
    session.client.say(&call("1", "person")).await;
    session.ask(&call("2", "x")).await;
    session.server.say(&result("2")).await;
    assert_eq!(session.client.hear().await, result("2"));
    assert!(desk.settle("1", Verdict::Forward).await);
    assert_eq!(session.server.hear().await, call("1", "person"));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_hold_is_given_up_and_nobody_hears_of_it() {
    let desk = Desk::default();
    let mut session = start(|pump| pump.interceptor(desk.clone()));
    session.client.say(&call("1", "person")).await;
    let cancel = r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#;
    session.client.say(cancel).await;
    session.ask(&ping("2")).await;
    assert!(!desk.settle("1", Verdict::Forward).await, "its future was dropped");
    session.server.hears_nothing_for(SECOND).await;
    session.client.hears_nothing_for(SECOND).await;
    assert_eq!(*desk.ended.lock().unwrap(), [("1".to_owned(), Ended::Cancelled)]);
}

#[tokio::test(start_paused = true)]
async fn calls_that_a_machine_holds_keep_their_order() {
    let desk = Desk::default();
    let mut session = start(|pump| pump.interceptor(desk.clone()));
    for id in ["1", "2"] {
        session.client.say(&call(id, "machine")).await;
    }
    session.client.say(&call("3", "x")).await;
    assert!(desk.settle("2", Verdict::Forward).await);
    session.server.hears_nothing_for(SECOND).await;
    assert!(desk.settle("1", Verdict::Forward).await);
    for (id, word) in [("1", "machine"), ("2", "machine"), ("3", "x")] {
        assert_eq!(session.server.hear().await, call(id, word));
    }
}

#[tokio::test(start_paused = true)]
async fn at_the_clients_end_a_machine_is_waited_for_and_a_person_is_not() {
    let desk = Desk::default();
    let mut session = start(|pump| pump.interceptor(desk.clone()));
    session.client.say(&call("1", "person")).await;
    session.client.say(&call("2", "machine")).await;
    session.client.hang_up();
    session.server.hears_nothing_for(60 * SECOND).await;
    assert!(!desk.settle("1", Verdict::Forward).await);
    assert!(desk.settle("2", Verdict::Forward).await);
    assert_eq!(session.server.rest().await, format!("{}\n", call("2", "machine")), "and then its end");
    session.server.say(&result("2")).await;
    session.server.hang_up();
    assert_eq!(session.client.rest().await, format!("{}\n", result("2")));
    session.ends_with(End::ClientClosed).await;
    assert_eq!(*desk.ended.lock().unwrap(), [("1".to_owned(), Ended::SenderGone)]);
}

#[tokio::test(start_paused = true)]
async fn a_held_answer_is_delivered_after_both_sides_have_ended() {
    let desk = Desk::default();
    let mut session = start(|pump| pump.interceptor(desk.clone()));
    session.ask(&call("1", "x")).await;
    session.client.hang_up();
    let answer = r#"{"id":1,"result":"machine"}"#;
    session.server.say(answer).await;
    session.server.hang_up();
    session.client.hears_nothing_for(5 * SECOND).await;
    assert!(desk.settle("1", Verdict::Forward).await);
    assert_eq!(session.client.rest().await, format!("{answer}\n"));
    session.ends_with(End::ClientClosed).await;
}

#[tokio::test(start_paused = true)]
async fn calls_that_are_held_when_the_server_ends_are_answered() {
    let desk = Desk::default();
    let mut session = start(|pump| pump.interceptor(desk.clone()));
    session.client.say(&call("1", "person")).await;
    session.client.say(&call("2", "machine")).await;
    session.ask(&ping("3")).await;
    session.server.hang_up();
    let rest = session.client.rest().await;
    assert_eq!(rest, ["3", "1", "2"].map(|id| format!("{}\n", gone(id))).concat());
    session.ends_with(End::ServerClosed).await;
}

#[tokio::test(start_paused = true)]
async fn a_hold_that_panics_refuses_its_call_and_blocks_nothing() {
    let desk = Desk::default();
    let mut session = start(|pump| pump.interceptor(desk.clone()));
    session.client.say(&call("1", "panic")).await;
    session.client.say(&call("2", "x")).await;
    assert!(session.client.hear().await.contains("no decision"));
    assert_eq!(session.server.hear().await, call("2", "x"));
    session.client.hang_up();
    assert_eq!(session.server.rest().await, "", "nor the end of the session");
}

#[tokio::test(start_paused = true)]
async fn seams_can_be_swapped_while_it_runs() {
    let desk = Desk::default();
    let mut session = start(|pump| pump.interceptor(desk.clone()));
    session.client.say(&call("1", "refuse")).await;
    assert_eq!(session.client.hear().await, refusal("1"));
    session.client.say(&call("2", "person")).await;
    session.client.say(&call("3", "refuse")).await;
    assert_eq!(session.client.hear().await, refusal("3"));
    session.handle.set_interceptor(Arc::new(crate::PassAll));
    session.ask(&call("4", "refuse")).await;
    assert!(desk.settle("2", Verdict::Forward).await, "what was held stays held");
    assert_eq!(session.server.hear().await, call("2", "person"));
    session.handle.set_interceptor(Arc::new(desk.clone()));
    session.client.say(&call("5", "refuse")).await;
    assert_eq!(session.client.hear().await, refusal("5"));
}

/// Is interested in nothing but what is no JSON, like a desk that only watches.
struct Watcher;

impl Interceptor for Watcher {
    fn interest(&self, _: Side) -> Interest {
        Interest { messages: false, odd: Odd::Opaque }
    }
}

#[tokio::test(start_paused = true)]
async fn frames_are_accounted_for_in_the_order_they_came() {
    let mut session = start(|pump| pump.interceptor(Watcher));
    // A large request is looked at after it was written, a small frame at once.
    let large = format!(r#"{{"id":1,"method":"a","params":"{}"}}"#, "x".repeat(5000));
    let cancel = r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#;
    session.client.write(format!("{large}\n{cancel}\n").as_bytes()).await;
    assert_eq!(session.server.hear().await, large);
    assert_eq!(session.server.hear().await, cancel);
    sleep(SECOND).await;
    assert_eq!(session.handle.gauge().due(), 0);
}
