//! Bytes go through untouched, and neither direction stops the other.

use super::*;

/// Lines of many kinds, none of which a desk refuses.
const MIXED: &[u8] = b"{\"id\":1,\"method\":\"ping\"}\n{\"id\" : 2.0 ,\"method\":\"tools\\/call\",\"params\":{\"name\":\"x\"}}\r\n\
\n \t\r\nnot json \xff\xfe\n[{\"id\":1}]\n{\"id\":3,\"id\":4,\"method\":\"a\"}\n{\"result\":{\"a\":1e5},\"id\":99}\r\n\
{\"method\":\"notifications\\/x\"}\n\xef\xbb\xbf{\"id\":5,\"method\":\"b\"}\nlast, unterminated \r";

async fn pass(bytes_max: usize, with_desk: bool) {
    let [(mut client_says, from_client), (to_client, mut client_hears)] = [duplex(256), duplex(256)];
    let [(mut server_says, from_server), (to_server, mut server_hears)] = [duplex(256), duplex(256)];
    let chop = |stream| Choppy::new(stream, bytes_max);
    let mut pump = Pump::new(chop(from_client), chop(to_client), chop(from_server), chop(to_server));
    if with_desk {
        pump = pump.interceptor(Desk::default());
    }
    let run = tokio::spawn(pump.run());
    let says = tokio::spawn(async move {
        client_says.write_all(MIXED).await.unwrap();
        drop(client_says);
    });
    let server = tokio::spawn(async move {
        let mut heard = Vec::new();
        server_says.write_all(MIXED).await.unwrap();
        server_hears.read_to_end(&mut heard).await.unwrap();
        heard
    });
    let mut heard = Vec::new();
    within(client_hears.read_to_end(&mut heard)).await.unwrap();
    says.await.unwrap();
    assert!(matches!(run.await.unwrap(), Ok(End::ClientClosed)));
    let tail = heard.split_off(MIXED.len());
    assert_eq!(heard.escape_ascii().to_string(), MIXED.escape_ascii().to_string());
    let errors = String::from_utf8(tail).unwrap();
    assert_eq!(errors, format!("\n{}\n{}\n", gone("1"), gone("2.0")));
    let heard = server.await.unwrap();
    assert_eq!(heard.escape_ascii().to_string(), MIXED.escape_ascii().to_string());
}

#[tokio::test(start_paused = true)]
async fn bytes_pass_untouched_however_they_are_cut() {
    for bytes_max in [1, 2, 3, 7, 64, 100_000] {
        for with_desk in [false, true] {
            pass(bytes_max, with_desk).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_large_answer_after_the_clients_end_is_delivered_whole() {
    let mut session = start(|pump| pump);
    session.ask(&ping("1")).await;
    session.client.hang_up();
    assert_eq!(session.server.rest().await, "", "the server hears the end");
    let answer = format!(r#"{{"result":"{}","id":1}}"#, "x".repeat(5_000_000));
    let mut server = session.server;
    let line = answer.clone();
    let says = tokio::spawn(async move {
        server.say(&line).await;
        server.hang_up();
    });
    assert!(session.client.rest().await == format!("{answer}\n"), "every byte, and nothing else");
    says.await.unwrap();
    assert!(matches!(within(session.run).await.unwrap(), Ok(End::ClientClosed)));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_a_large_last_answer_slowly_gets_all_of_it() {
    let mut session = start(|pump| pump);
    session.ask(&ping("1")).await;
    let answer = format!(r#"{{"result":"{}","id":1}}"#, "x".repeat(1_000_000));
    session.server.say(&answer).await;
    session.server.hang_up();
    let mut heard = 0;
    let mut piece = vec![0; 32 * 1024];
    loop {
        // Each pause is shorter than the one that is taken for the end, all are far longer. (The
        // frame does not fill the queue, so the server's end is seen before it is written.)
        sleep(5 * SECOND).await;
        match within(session.client.from.as_mut().unwrap().read(&mut piece)).await.unwrap() {
            0 => break,
            n => heard += n,
        }
    }
    assert_eq!(heard, answer.len() + 1);
    session.ends_with(End::ServerClosed).await;
}

#[tokio::test(start_paused = true)]
async fn the_gauge_moves_while_a_large_frame_is_being_written() {
    let mut session = start(|pump| pump);
    let answer = format!(r#"{{"result":"{}","id":1}}"#, "x".repeat(1_500_000));
    session.server.say(&answer).await;
    sleep(SECOND).await;
    let gauge = session.handle.gauge();
    let before = gauge.moved_bytes();
    let mut piece = vec![0; 32 * 1024];
    session.client.from.as_mut().unwrap().read_exact(&mut piece).await.unwrap();
    sleep(SECOND).await;
    assert!(gauge.moved_bytes() > before, "or whoever ends the server takes it for dead");
}

#[tokio::test(start_paused = true)]
async fn an_unterminated_last_line_is_never_joined_with_our_error() {
    let mut session = start(|pump| pump);
    session.ask(&ping("1")).await;
    session.ask(&ping("2")).await;
    session.server.write(br#"{"result":{},"id":1}"#).await;
    session.server.hang_up();
    assert_eq!(session.client.rest().await, format!("{}\n{}\n", result("1"), gone("2")));
    session.ends_with(End::ServerClosed).await;
}

#[tokio::test(start_paused = true)]
async fn a_partial_last_line_of_the_client_is_a_frame_and_is_judged() {
    let mut session = start(|pump| pump.interceptor(Desk::default()));
    session.client.write(call("1", "refuse").as_bytes()).await;
    session.client.hang_up();
    assert_eq!(session.server.rest().await, "");
    session.server.hang_up();
    assert_eq!(session.client.rest().await, format!("{}\n", refusal("1")));
    session.ends_with(End::ClientClosed).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_can_still_speak() {
    let mut session = start_on(1024, |pump| pump);
    let mut says = session.server.to.take().unwrap();
    let flood = tokio::spawn(async move {
        let line = format!("{}\n", "x".repeat(100_000));
        for _ in 0..50 {
            says.write_all(line.as_bytes()).await.unwrap();
        }
    });
    sleep(SECOND).await;
    assert!(!flood.is_finished(), "the server waits for the client");
    for n in 0..2000 {
        session.ask(&ping(&n.to_string())).await;
    }
    let all = within(async {
        let mut line = Vec::new();
        for _ in 0..50 {
            line.clear();
            session.client.from.as_mut().unwrap().read_until(b'\n', &mut line).await.unwrap();
            assert_eq!(line.len(), 100_001);
        }
    });
    all.await;
    flood.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_read_can_still_speak() {
    let mut session = start_on(1024, |pump| pump);
    let mut says = session.client.to.take().unwrap();
    let flood = tokio::spawn(async move {
        let line = format!("{}\n", "x".repeat(100_000));
        for _ in 0..50 {
            says.write_all(line.as_bytes()).await.unwrap();
        }
    });
    sleep(SECOND).await;
    assert!(!flood.is_finished(), "the client waits for the server");
    for n in 0..2000 {
        session.server.say(&result(&n.to_string())).await;
        assert_eq!(session.client.hear().await, result(&n.to_string()));
    }
    flood.abort();
}
