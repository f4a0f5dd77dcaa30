//! A whole session as a library: no process of our own, or one that is dropped half way.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use framegate::pump::{End, Handle, InjectedTool, Request, ToolInjector, Verdict};
use framegate::{Exit, ServerCommand, Session, Settings, Upstream};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};

struct Clock;

impl ToolInjector for Clock {
    fn tools(&self) -> Vec<InjectedTool> {
        vec![InjectedTool { name: "clock".into(), json: r#"{"name":"clock"}"#.into() }]
    }

    fn call(&self, call: &Request) -> Verdict {
        Verdict::Answer(call.answer(r#"{"content":[]}"#).unwrap())
    }
}

#[tokio::test]
async fn a_session_runs_over_any_streams_with_tools_and_questions_of_its_own() {
    let (client, ours) = duplex(4096);
    let (server, theirs) = duplex(4096);
    let (from_client, to_client) = split(ours);
    let (from_server, to_server) = split(theirs);
    let handle: Arc<Mutex<Option<Handle>>> = Arc::default();
    let keep = Arc::clone(&handle);
    let settings = Settings {
        tools: Some(Arc::new(Clock)),
        started: Some(Arc::new(move |handle| *keep.lock().unwrap() = Some(handle))),
        grace: Duration::from_millis(50),
        ..Settings::default()
    };
    let session = Session::new(Upstream::streams(from_server, to_server), settings);
    let running = tokio::spawn(session.run(from_client, to_client));

    let (client_hears, mut client_says) = split(client);
    let (server_hears, mut server_says) = split(server);
    let (mut client_hears, mut server_hears) =
        (BufReader::new(client_hears).lines(), BufReader::new(server_hears).lines());
    client_says
        .write_all(b"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"clock\"}}\n")
        .await
        .unwrap();
    let answer = client_hears.next_line().await.unwrap().unwrap();
    assert_eq!(answer, r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#);

    let injector = handle.lock().unwrap().as_ref().unwrap().injector();
    let question =
        tokio::spawn(async move { injector.request_server("ping", None, Duration::from_secs(5)).await });
    let asked = server_hears.next_line().await.unwrap().unwrap();
    let id = asked.split('"').find(|part| part.starts_with("framegate-")).unwrap();
    server_says.write_all(format!("{{\"id\":\"{id}\",\"result\":{{}}}}\n").as_bytes()).await.unwrap();
    assert!(question.await.unwrap().is_ok());

    drop((client_says, client_hears));
    // The server never closes its side; with nothing due it is left after `grace`.
    let outcome = tokio::time::timeout(Duration::from_secs(5), running).await.unwrap().unwrap();
    assert!(matches!(outcome.end, Ok(End::ClientClosed | End::ClientGone)), "{outcome:?}");
    assert_eq!(outcome.exit(), Exit::Clean);
}

#[tokio::test]
async fn a_session_that_is_dropped_leaves_no_process_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("still-here");
    let script = format!("while :; do touch {}; sleep 0.05; done", mark.display());
    let upstream = ServerCommand::new("sh", ["-c", &script]).start().unwrap();
    let (_client, ours) = duplex(64);
    let (from_client, to_client) = split(ours);
    let session = Session::new(upstream, Settings::default()).run(from_client, to_client);
    assert!(tokio::time::timeout(Duration::from_millis(300), session).await.is_err(), "it still ran");
    // Whoever touched the file is gone.
    let _ = std::fs::remove_file(&mark);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!mark.exists());
}
