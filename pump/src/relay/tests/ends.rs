//! Who leaves when, and what the other side is told.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_servers_end_is_an_error_to_whoever_waits() {
    let words = async {
        sleep(2 * SECOND).await;
        Some(RpcError { code: -5, message: "exit 3".into(), data: Some("\"tail\"".into()) })
    };
    let options = Options { server_gone: Box::pin(words), ..Options::default() };
    let mut session = start(|pump| pump.options(options));
    session.ask(&ping("1")).await;
    session.ask(&ping(r#""b""#)).await;
    session.server.hang_up();
    let error = |id: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-5,"message":"exit 3","data":"tail"}}}}"#)
    };
    assert_eq!(session.client.rest().await, format!("{}\n{}\n", error("1"), error(r#""b""#)));
    session.ends_with(End::ServerClosed).await;
}

#[tokio::test(start_paused = true)]
async fn a_clients_end_is_passed_on_and_the_servers_awaited() {
    let mut session = start(|pump| pump);
    session.ask(&ping("1")).await;
    session.client.hang_up();
    assert_eq!(session.server.rest().await, "");
    let gauge = session.handle.gauge();
    assert!(gauge.client_ended());
    assert_eq!(gauge.due(), 1);
    session.client.hears_nothing_for(600 * SECOND).await;
    session.server.say(&result("1")).await;
    assert_eq!(session.client.hear().await, result("1"));
    assert_eq!(gauge.due(), 0);
    session.server.hang_up();
    session.ends_with(End::ClientClosed).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_no_more_ends_the_session() {
    let mut session = start(|pump| pump);
    session.client.stop_listening();
    session.server.say("news").await;
    session.ends_with(End::ClientGone).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_nothing_at_the_end_is_left_after_a_while() {
    let mut session = start_on(64, |pump| pump);
    session.server.say(&"x".repeat(1000)).await;
    session.server.hang_up();
    let began = tokio::time::Instant::now();
    session.ends_with(End::ServerClosed).await;
    assert_eq!(began.elapsed().as_secs(), LAST_WRITES_STALL.as_secs());
}

#[tokio::test(start_paused = true)]
async fn stop_ends_it_and_writes_what_can_be_written() {
    let mut session = start(|pump| pump);
    session.handle.injector().notify_client("notifications/bye", None).unwrap();
    session.handle.stop();
    session.ends_with(End::Stopped).await;
    assert_eq!(session.client.hear().await, r#"{"jsonrpc":"2.0","method":"notifications/bye"}"#);
    assert_eq!(session.client.rest().await, "");
    assert_eq!(session.server.rest().await, "");
}

#[tokio::test(start_paused = true)]
async fn a_server_can_be_ended_though_its_stream_is_open() {
    let mut session = start(|pump| pump);
    session.ask(&ping("1")).await;
    session.handle.end_server();
    assert_eq!(session.client.rest().await, format!("{}\n", gone("1")));
    session.ends_with(End::ServerClosed).await;
    session.handle.end_server();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hears_nothing_and_says_nothing_is_gone() {
    let mut session = start(|pump| pump);
    session.server.stop_listening();
    session.client.say(&ping("1")).await;
    let began = tokio::time::Instant::now();
    assert_eq!(session.client.rest().await, format!("{}\n", gone("1")));
    session.ends_with(End::ServerClosed).await;
    assert_eq!(began.elapsed(), DEAF_SERVER);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hears_nothing_may_finish_what_it_says() {
    let mut session = start(|pump| pump);
    session.ask(&ping("1")).await;
    session.server.stop_listening();
    session.client.say(&ping("2")).await;
    for _ in 0..10 {
        sleep(DEAF_SERVER / 2).await;
        session.server.say("still here").await;
        assert_eq!(session.client.hear().await, "still here");
    }
    session.server.say(&result("1")).await;
    assert_eq!(session.client.rest().await, format!("{}\n{}\n", result("1"), gone("2")));
    session.ends_with(End::ServerClosed).await;
}

#[tokio::test(start_paused = true)]
async fn the_clients_end_is_told_though_the_server_hears_nothing() {
    let mut session = start(|pump| pump);
    session.server.stop_listening();
    session.client.say(&ping("1")).await;
    session.client.hang_up();
    sleep(DEAF_SERVER / 2).await;
    assert!(session.handle.gauge().client_ended(), "or nobody ends a server that goes on talking");
    session.server.say("still here").await;
    assert_eq!(session.client.hear().await, "still here");
    session.ends_with(End::ClientClosed).await;
}

#[tokio::test(start_paused = true)]
async fn a_first_request_after_the_servers_end_is_still_answered() {
    let options = || Options { first_request_wait: 5 * SECOND, ..Options::default() };
    let mut session = start(|pump| pump.options(options()));
    session.server.hang_up();
    sleep(4 * SECOND).await;
    session.client.say(&ping("1")).await;
    assert_eq!(session.client.rest().await, format!("{}\n", gone("1")));
    session.ends_with(End::ServerClosed).await;

    let mut session = start(|pump| pump.options(options()));
    session.server.hang_up();
    let began = tokio::time::Instant::now();
    session.ends_with(End::ServerClosed).await;
    assert_eq!(began.elapsed().as_secs(), 5, "and no longer");

    let mut session = start(|pump| pump.options(options()));
    session.server.hang_up();
    session.client.hang_up();
    let began = tokio::time::Instant::now();
    session.ends_with(End::ClientClosed).await;
    assert_eq!(began.elapsed(), Duration::ZERO, "nor for a client that has left");
}

#[tokio::test(start_paused = true)]
async fn without_a_first_request_wait_the_servers_end_is_the_end() {
    let mut session = start(|pump| pump);
    session.server.hang_up();
    let began = tokio::time::Instant::now();
    session.ends_with(End::ServerClosed).await;
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_dropped_closes_its_streams() {
    let mut session = start(|pump| pump);
    session.ask(&ping("1")).await;
    session.run.abort();
    assert_eq!(session.client.rest().await, "");
    assert_eq!(session.server.rest().await, "");
}

#[tokio::test(start_paused = true)]
async fn what_an_ended_server_has_said_is_delivered_before_the_error() {
    let mut session = start_between(1024, 4 * 1024 * 1024, |pump| pump);
    for id in ["1", "2", "3"] {
        session.ask(&ping(id)).await;
    }
    // More than a queue holds, so that the last answers are read but not yet cut.
    let large = format!(r#"{{"result":"{}","id":1}}"#, "x".repeat(QUEUE_BYTES_MAX));
    let said = format!("{large}\n{}\n{}", result("2"), r#"{"result":{},"id":4}"#);
    session.server.write(said.as_bytes()).await;
    sleep(SECOND).await;
    session.handle.end_server();
    let rest = session.client.rest().await;
    assert!(rest == format!("{said}\n{}\n", gone("3")), "the unterminated line too");
    session.ends_with(End::ServerClosed).await;
}

#[tokio::test(start_paused = true)]
async fn an_ended_server_does_not_wait_for_a_client_that_takes_nothing() {
    let mut session = start_between(64, 4 * 1024 * 1024, |pump| pump);
    session.server.say(&"x".repeat(2 * QUEUE_BYTES_MAX)).await;
    session.server.say("more").await;
    sleep(SECOND).await;
    session.handle.end_server();
    let began = tokio::time::Instant::now();
    session.ends_with(End::ServerClosed).await;
    assert!(began.elapsed() <= 3 * LAST_WRITES_STALL, "{:?}", began.elapsed());
}
