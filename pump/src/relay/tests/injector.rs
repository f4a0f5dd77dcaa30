//! Asking and telling in our own name.

use super::*;
use crate::inject::InjectError;

fn id_of(line: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    value.get("id").unwrap().to_string()
}

#[tokio::test(start_paused = true)]
async fn a_side_is_asked_and_the_other_hears_nothing_of_it() {
    for side in [Side::Client, Side::Server] {
        let Session { client, server, handle, run: _run } = start(|pump| pump);
        let (mut asked, mut other) = if side == Side::Server { (server, client) } else { (client, server) };
        let question = tokio::spawn(async move {
            let injector = handle.injector();
            match side {
                Side::Client => injector.request_client("ping", Some("{\"a\":1.0}"), SECOND).await,
                Side::Server => injector.request_server("ping", Some("{\"a\":1.0}"), SECOND).await,
            }
        });
        let line = asked.hear().await;
        let id = id_of(&line);
        assert!(id.starts_with("\"framegate-"), "{line}");
        assert_eq!(line, format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","params":{{"a":1.0}}}}"#));
        asked.say(&result(&id)).await;
        let answer = question.await.unwrap().unwrap();
        assert_eq!(answer.bytes()[..], *format!("{}\n", result(&id)).as_bytes(), "raw");
        asked.say(&result(&id)).await;
        other.hears_nothing_for(SECOND).await;
    }
}

#[tokio::test(start_paused = true)]
async fn answers_find_their_questions_in_any_order() {
    let mut session = start(|pump| pump);
    let ask = |method: &'static str| {
        let injector = session.handle.injector();
        tokio::spawn(async move { injector.request_server(method, None, SECOND).await.unwrap() })
    };
    let first = ask("a");
    let a = session.server.hear().await;
    let second = ask("b");
    let b = session.server.hear().await;
    for line in [&b, &a] {
        session.server.say(&result(&id_of(line))).await;
    }
    let text = |frame: Frame| String::from_utf8(frame.body().to_vec()).unwrap();
    assert_eq!(text(first.await.unwrap()), result(&id_of(&a)));
    assert_eq!(text(second.await.unwrap()), result(&id_of(&b)));
}

#[tokio::test(start_paused = true)]
async fn a_question_that_times_out_is_cancelled_and_its_late_answer_dropped() {
    let mut session = start(|pump| pump);
    let injector = session.handle.injector();
    let question = tokio::spawn(async move { injector.request_server("slow", None, 3 * SECOND).await });
    let id = id_of(&session.server.hear().await);
    let cancel = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"timed out"}}}}"#
    );
    assert_eq!(session.server.hear().await, cancel);
    assert_eq!(question.await.unwrap(), Err(InjectError::TimedOut));
    session.server.say(&result(&id)).await;
    session.client.hears_nothing_for(SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn a_question_whose_asker_goes_away_is_cancelled() {
    let mut session = start(|pump| pump);
    let injector = session.handle.injector();
    let question = tokio::spawn(async move { injector.request_client("slow", None, 60 * SECOND).await });
    session.client.hear().await;
    question.abort();
    assert!(session.client.hear().await.contains("notifications/cancelled"));
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_side_that_has_ended() {
    let mut session = start(|pump| pump);
    let injector = session.handle.injector();
    let question = tokio::spawn(async move { injector.request_server("slow", None, 3600 * SECOND).await });
    session.server.hear().await;
    session.ask(&ping("1")).await;
    session.server.hang_up();
    assert_eq!(question.await.unwrap(), Err(InjectError::Closed));
    session.ends_with(End::ServerClosed).await;
    let injector = session.handle.injector();
    assert_eq!(injector.request_server("ping", None, SECOND).await, Err(InjectError::Closed));
    assert_eq!(injector.request_client("ping", None, SECOND).await, Err(InjectError::Closed));
    assert_eq!(injector.notify_server("x", None), Err(InjectError::Closed));
    session.handle.stop();
}

#[tokio::test(start_paused = true)]
async fn a_client_that_has_ended_is_asked_nothing() {
    let mut session = start(|pump| pump);
    session.client.hang_up();
    assert_eq!(session.server.rest().await, "");
    let asked = session.handle.injector().request_client("ping", None, SECOND).await;
    assert_eq!(asked, Err(InjectError::Closed));
}

#[tokio::test(start_paused = true)]
async fn either_side_can_be_told_something() {
    let mut session = start(|pump| pump);
    let injector = session.handle.injector();
    injector.notify_client("notifications/a", Some("[1]")).unwrap();
    injector.notify_server("notifications/\"b\"", None).unwrap();
    assert_eq!(session.client.hear().await, r#"{"jsonrpc":"2.0","method":"notifications/a","params":[1]}"#);
    assert_eq!(session.server.hear().await, r#"{"jsonrpc":"2.0","method":"notifications/\"b\""}"#);
}

#[tokio::test(start_paused = true)]
async fn params_that_would_break_the_line_are_not_sent() {
    let mut session = start(|pump| pump);
    let injector = session.handle.injector();
    for params in ["{", "1 2", "", "{\n}", "{\r}", "{}\n{}"] {
        assert_eq!(injector.notify_server("x", Some(params)), Err(InjectError::BadParams), "{params:?}");
        let asked = injector.request_client("x", Some(params), SECOND).await;
        assert_eq!(asked, Err(InjectError::BadParams));
    }
    session.server.hears_nothing_for(SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_uses_our_ids_is_renamed() {
    let mut session = start(|pump| pump);
    let injector = session.handle.injector();
    let _question = tokio::spawn(async move { injector.request_server("slow", None, 60 * SECOND).await });
    let id = id_of(&session.server.hear().await);
    session.server.say(&ping(&id)).await;
    let renamed = id_of(&session.client.hear().await);
    assert_ne!(renamed, id);
    session.client.say(&result(&renamed)).await;
    assert_eq!(session.server.hear().await, result(&id));
}
