//! Ports that are no byte streams, and byte streams that fail.

use super::*;
use crate::stream::{ChannelSink, ChannelSource};

fn frame(text: &str) -> Frame {
    Frame::line(text.as_bytes())
}

struct Channels {
    client_says: mpsc::Sender<Frame>,
    client_hears: mpsc::Receiver<Frame>,
    server_says: mpsc::Sender<Frame>,
    server_hears: mpsc::Receiver<Frame>,
    run: JoinHandle<Result<End, PumpError>>,
}

fn start_on_channels(set: impl FnOnce(Pump) -> Pump) -> Channels {
    let [(client_says, from_client), (to_client, client_hears)] = [mpsc::channel(1), mpsc::channel(1)];
    let [(server_says, from_server), (to_server, server_hears)] = [mpsc::channel(1), mpsc::channel(1)];
    let port =
        |from, to| Port { source: Box::new(ChannelSource::new(from)), sink: Box::new(ChannelSink::new(to)) };
    let run = tokio::spawn(set(Pump::over(port(from_client, to_client), port(from_server, to_server))).run());
    Channels { client_says, client_hears, server_says, server_hears, run }
}

#[tokio::test(start_paused = true)]
async fn frames_pass_between_channels_in_order() {
    let mut ends = start_on_channels(|pump| pump.interceptor(Desk::default()));
    let says = ends.client_says.clone();
    let client = tokio::spawn(async move {
        for id in 0..500 {
            says.send(frame(&call(&id.to_string(), "x"))).await.unwrap();
        }
    });
    let says = ends.server_says.clone();
    let server = tokio::spawn(async move {
        for id in 0..500 {
            let heard = within(ends.server_hears.recv()).await.unwrap();
            assert_eq!(heard, frame(&call(&id.to_string(), "x")));
            says.send(frame(&result(&id.to_string()))).await.unwrap();
        }
        ends.server_hears
    });
    for id in 0..500 {
        let heard = within(ends.client_hears.recv()).await.unwrap();
        assert_eq!(heard, frame(&result(&id.to_string())));
    }
    client.await.unwrap();
    drop(ends.client_says);
    let mut server_hears = server.await.unwrap();
    assert_eq!(within(server_hears.recv()).await, None, "the end is passed on");
    drop(ends.server_says);
    assert_eq!(within(ends.client_hears.recv()).await, None);
    assert!(matches!(within(ends.run).await.unwrap(), Ok(End::ClientClosed)));
}

#[tokio::test(start_paused = true)]
async fn a_frame_between_channels_is_not_copied() {
    let mut ends = start_on_channels(|pump| pump);
    let sent = frame(&ping("1"));
    ends.client_says.send(sent.clone()).await.unwrap();
    let heard = within(ends.server_hears.recv()).await.unwrap();
    assert_eq!(heard.bytes().as_ptr(), sent.bytes().as_ptr());
}

#[tokio::test(start_paused = true)]
async fn channels_end_like_pipes() {
    let mut ends = start_on_channels(|pump| pump);
    ends.client_says.send(frame(&ping("1"))).await.unwrap();
    assert!(within(ends.server_hears.recv()).await.is_some());
    drop(ends.server_says);
    assert_eq!(within(ends.client_hears.recv()).await, Some(frame(&gone("1"))));
    assert!(matches!(within(ends.run).await.unwrap(), Ok(End::ServerClosed)));

    let ends = start_on_channels(|pump| pump);
    drop(ends.client_hears);
    ends.server_says.send(frame("news")).await.unwrap();
    assert!(matches!(within(ends.run).await.unwrap(), Ok(End::ClientGone)));
}

#[tokio::test(start_paused = true)]
async fn frames_that_were_queued_before_a_channel_closed_are_delivered() {
    let mut ends = start_on_channels(|pump| pump);
    let says = ends.server_says;
    let server = tokio::spawn(async move {
        for n in 0..20 {
            says.send(frame(&format!("{n}{}", "x".repeat(200_000)))).await.unwrap();
        }
    });
    sleep(SECOND).await;
    for n in 0..20 {
        let heard = within(ends.client_hears.recv()).await.unwrap();
        assert!(heard.body().starts_with(n.to_string().as_bytes()));
    }
    server.await.unwrap();
    assert!(matches!(within(ends.run).await.unwrap(), Ok(End::ServerClosed)));
}

/// Says something and then fails.
struct Failing(&'static [u8], io::ErrorKind);

impl AsyncRead for Failing {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.0.is_empty() {
            return Poll::Ready(Err(self.1.into()));
        }
        buf.put_slice(std::mem::take(&mut self.0));
        Poll::Ready(Ok(()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_resets_its_connection_has_ended_like_any_other() {
    let (_client_says, from_client) = duplex(64);
    let (to_client, mut client_hears) = duplex(PIPE_BYTES);
    let from_server = Failing(b"whole\nunterminated", io::ErrorKind::ConnectionReset);
    let pump = Pump::new(from_client, to_client, from_server, tokio::io::sink());
    assert!(matches!(within(pump.run()).await, Ok(End::ServerClosed)));
    let mut heard = String::new();
    client_hears.read_to_string(&mut heard).await.unwrap();
    assert_eq!(heard, "whole\nunterminated");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_cannot_be_read_is_an_error() {
    let (_client_says, from_client) = duplex(64);
    let from_server = Failing(b"", io::ErrorKind::PermissionDenied);
    let pump = Pump::new(from_client, tokio::io::sink(), from_server, tokio::io::sink());
    let end = within(pump.run()).await;
    assert!(
        matches!(&end, Err(PumpError::Read(Side::Server, why)) if why.kind() == io::ErrorKind::PermissionDenied)
    );
    assert!(end.unwrap_err().to_string().starts_with("reading from the server failed: "));
}
