//! Frames over the cap, floods, and queues that are full.

use super::*;

const CAP: usize = 200;

/// A session whose frames may have [`CAP`] bytes.
fn start_capped(set: impl FnOnce(Pump) -> Pump) -> Session {
    let [(client_says, from_client), (to_client, client_hears)] = [duplex(PIPE_BYTES), duplex(PIPE_BYTES)];
    let [(server_says, from_server), (to_server, server_hears)] = [duplex(PIPE_BYTES), duplex(PIPE_BYTES)];
    let port = |from, to| Port {
        source: Box::new(ByteSource::with_cap(from, CAP)),
        sink: Box::new(ByteSink::new(to)),
    };
    let pump = set(Pump::over(port(from_client, to_client), port(from_server, to_server)));
    let peer = |to, from| Peer { to: Some(to), from: Some(BufReader::new(from)) };
    Session {
        client: peer(client_says, client_hears),
        server: peer(server_says, server_hears),
        handle: pump.handle(),
        run: tokio::spawn(pump.run()),
    }
}

/// A frame of exactly so many bytes.
fn padded(head: &str, bytes: usize, tail: &str) -> String {
    format!("{head}{}{tail}", "x".repeat(bytes - head.len() - tail.len()))
}

#[tokio::test(start_paused = true)]
async fn a_request_over_the_cap_is_answered_and_the_next_passes() {
    let mut session = start_capped(|pump| pump);
    let request = |bytes| padded(r#"{"id":1,"method":"a","params":{"x":""#, bytes, r#""}}"#);
    for bytes in [CAP - 1, CAP] {
        session.ask(&request(bytes)).await;
    }
    session.client.say(&request(CAP + 1)).await;
    let error = session.client.hear().await;
    assert!(error.starts_with(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"#), "{error}");
    session.ask(&ping("2")).await;
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_an_answer_over_the_cap_is_told() {
    let mut session = start_capped(|pump| pump);
    session.ask(&ping("7")).await;
    // The id stands last, and only the terminator makes it a whole line.
    session.server.say(&padded(r#"{"result":""#, 2 * CAP - 10, r#"","id":7}"#)).await;
    let error = session.client.hear().await;
    assert!(error.starts_with(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"#), "{error}");
    session.server.say("next").await;
    assert_eq!(session.client.hear().await, "next");
    assert_eq!(session.handle.gauge().due(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_frame_over_the_cap_can_end_the_session() {
    let options = Options { on_too_long: OnTooLong::End, ..Options::default() };
    let mut session = start_capped(|pump| pump.options(options));
    session.server.say(&"x".repeat(CAP + 1)).await;
    match session.end().await {
        Err(error @ PumpError::FrameTooLong { from: Side::Server, frame_bytes }) => {
            assert_eq!(frame_bytes, CAP as u64 + 1);
            assert!(error.to_string().contains("201 bytes"), "{error}");
        }
        end => panic!("{end:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_that_does_not_end_ends_the_session() {
    for side in [Side::Client, Side::Server] {
        let mut session = start_capped(|pump| pump);
        let peer = if side == Side::Client { &mut session.client } else { &mut session.server };
        peer.write(&[b'x'; 2 * CAP]).await;
        peer.write(b"x").await;
        let end = session.end().await;
        assert!(matches!(end, Err(PumpError::Flood(from)) if from == side), "{end:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_over_long_line_that_stands_still_ends_the_session() {
    let mut session = start_capped(|pump| pump);
    session.server.write(&[b'x'; CAP + 2]).await;
    let began = tokio::time::Instant::now();
    let end = session.end().await;
    assert!(matches!(end, Err(PumpError::Flood(Side::Server))), "{end:?}");
    assert_eq!(began.elapsed(), DISCARD_STALL);
}

#[tokio::test(start_paused = true)]
async fn an_over_long_line_that_moves_is_waited_for() {
    let mut session = start_capped(|pump| pump);
    session.server.write(&[b'x'; CAP + 2]).await;
    for _ in 0..10 {
        sleep(DISCARD_STALL - SECOND).await;
        session.server.write(b"x").await;
    }
    session.server.say("").await;
    sleep(2 * DISCARD_STALL).await;
    session.server.say("next").await;
    assert_eq!(session.client.hear().await, "next");
}

#[tokio::test(start_paused = true)]
async fn a_line_that_stands_still_is_noticed_though_the_other_side_has_one_too() {
    let mut session = start_capped(|pump| pump);
    session.client.write(&[b'x'; CAP + 2]).await;
    sleep(SECOND).await;
    session.server.write(&[b'y'; CAP + 2]).await;
    session.server.say("").await;
    let end = session.end().await;
    assert!(matches!(end, Err(PumpError::Flood(Side::Client))), "{end:?}");
}

#[tokio::test(start_paused = true)]
async fn an_over_long_last_line_is_told_too() {
    let mut session = start_capped(|pump| pump);
    session.ask(&ping("7")).await;
    session.server.write(padded(r#"{"result":""#, CAP + 50, r#"","id":7}"#).as_bytes()).await;
    session.server.hang_up();
    let rest = session.client.rest().await;
    assert!(rest.starts_with(r#"{"jsonrpc":"2.0","id":7,"error":"#), "{rest}");
    assert!(rest.contains("over the limit"), "{rest}");
    assert_eq!(rest.lines().count(), 1);
    session.ends_with(End::ServerClosed).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_its_refusals_is_read_no_more() {
    let mut session = start_on(1024, |pump| pump.interceptor(Desk::default()));
    let said = Arc::new(Mutex::new(0));
    let mut says = session.client.to.take().unwrap();
    let count = Arc::clone(&said);
    let calls = tokio::spawn(async move {
        for id in 0..100 {
            // One that is refused by a MiB, and of a size that fills the pipe.
            let line = format!("{}{}\n", call(&id.to_string(), "big"), " ".repeat(2000));
            says.write_all(line.as_bytes()).await.unwrap();
            *count.lock().unwrap() += 1;
        }
        says
    });
    sleep(SECOND).await;
    let stalled_at = *said.lock().unwrap();
    let limit = OURS_BYTES_MAX / (1024 * 1024);
    // What was read at once is still refused: a read takes at most 64 KiB at first.
    assert!((limit - 1..=limit + 33).contains(&stalled_at), "{stalled_at}");
    // We and the server still talk.
    session.handle.injector().notify_server("notifications/x", None).unwrap();
    assert!(session.server.hear().await.contains("notifications/x"));
    for id in 0..100 {
        let answer = session.client.hear().await;
        assert!(answer.len() > 1024 * 1024);
        let id = format!("\"id\":{id},");
        assert!(answer.chars().take(40).collect::<String>().contains(&id), "in their order");
    }
    calls.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn limits_on_ids_are_an_option() {
    let options =
        Options { id_limits: Some(IdLimits { open_max: 2, ..IdLimits::default() }), ..Options::default() };
    let mut session = start(|pump| pump.interceptor(Desk::default()).options(options));
    session.ask(&ping("1")).await;
    session.ask(&ping("2")).await;
    session.client.say(&ping("3")).await;
    assert!(session.client.hear().await.contains("open already"));
}
