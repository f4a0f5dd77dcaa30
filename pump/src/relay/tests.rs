//! The pump between two peers that are played here, on pipes inside the process.
//!
//! Time is paused where a test needs time: it moves on when nothing else can.

mod bytes;
mod ends;
mod holds;
mod injector;
mod limits;
mod ports;

use std::collections::HashMap;
use std::io;
use std::sync::Mutex;

use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, ReadBuf,
    duplex,
};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::*;
use crate::inject::Handle;
use crate::request::Request;
use crate::router::IdLimits;
use crate::seam::{Ended, Hold, HoldKind, Interceptor, Interest, Odd, Wants};
use crate::stream::{ByteSink, ByteSource};

const PIPE_BYTES: usize = 64 * 1024;
const SECOND: Duration = Duration::from_secs(1);

/// Waits for what must happen. Longer than every timer of the pump's; costs nothing when time
/// is paused.
async fn within<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(3600), future).await.expect("nothing happened for an hour")
}

/// One of the two ends, played by a test.
struct Peer {
    to: Option<DuplexStream>,
    from: Option<BufReader<DuplexStream>>,
}

impl Peer {
    async fn write(&mut self, bytes: &[u8]) {
        within(self.to.as_mut().unwrap().write_all(bytes)).await.unwrap();
    }

    async fn say(&mut self, line: &str) {
        self.write(format!("{line}\n").as_bytes()).await;
    }

    /// The next line, without its LF.
    async fn hear(&mut self) -> String {
        let mut line = Vec::new();
        within(self.from.as_mut().unwrap().read_until(b'\n', &mut line)).await.unwrap();
        let text = String::from_utf8(line).unwrap();
        text.strip_suffix('\n').unwrap_or_else(|| panic!("a whole line, not {text:?}")).to_owned()
    }

    async fn hears_nothing_for(&mut self, time: Duration) {
        let mut byte = [0];
        let heard = timeout(time, self.from.as_mut().unwrap().read(&mut byte)).await;
        assert!(heard.is_err(), "heard {:?}", byte.escape_ascii().to_string());
    }

    /// Everything that still comes, to the end.
    async fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        within(self.from.as_mut().unwrap().read_to_end(&mut rest)).await.unwrap();
        String::from_utf8(rest).unwrap()
    }

    fn hang_up(&mut self) {
        self.to = None;
    }

    fn stop_listening(&mut self) {
        self.from = None;
    }
}

/// A pump that runs, and who plays its ends.
struct Session {
    client: Peer,
    server: Peer,
    handle: Handle,
    run: JoinHandle<Result<End, PumpError>>,
}

impl Session {
    async fn end(&mut self) -> Result<End, PumpError> {
        within(&mut self.run).await.unwrap()
    }

    async fn ends_with(&mut self, want: End) {
        let end = self.end().await;
        assert!(matches!(&end, Ok(end) if *end == want), "{end:?}");
    }

    /// A request that arrives, so that an answer to it is due.
    async fn ask(&mut self, line: &str) {
        self.client.say(line).await;
        assert_eq!(self.server.hear().await, line);
    }
}

fn start(set: impl FnOnce(Pump) -> Pump) -> Session {
    start_on(PIPE_BYTES, set)
}

fn start_on(pipe_bytes: usize, set: impl FnOnce(Pump) -> Pump) -> Session {
    start_between(pipe_bytes, pipe_bytes, set)
}

fn start_between(client: usize, server: usize, set: impl FnOnce(Pump) -> Pump) -> Session {
    let [(client_says, from_client), (to_client, client_hears)] = [duplex(client), duplex(client)];
    let [(server_says, from_server), (to_server, server_hears)] = [duplex(server), duplex(server)];
    let pump = set(Pump::new(from_client, to_client, from_server, to_server));
    let peer = |to, from| Peer { to: Some(to), from: Some(BufReader::new(from)) };
    Session {
        client: peer(client_says, client_hears),
        server: peer(server_says, server_hears),
        handle: pump.handle(),
        run: tokio::spawn(pump.run()),
    }
}

fn call(id: &str, word: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{word}"}}}}"#)
}

fn ping(id: &str) -> String {
    format!(r#"{{"id":{id},"method":"ping"}}"#)
}

fn result(id: &str) -> String {
    format!(r#"{{"result":{{}},"id":{id}}}"#)
}

fn refusal(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":1,"message":"no"}}}}"#)
}

/// The answer to a request whose server has gone.
fn gone(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"the server closed the connection before it answered"}}}}"#
    )
}

/// Decides calls by the tool's name, and keeps those that are to be held.
#[derive(Clone, Debug, Default)]
struct Desk {
    held: Arc<Mutex<HashMap<String, oneshot::Sender<Verdict>>>>,
    ended: Arc<Mutex<Vec<(String, Ended)>>>,
}

impl Desk {
    fn park(&self, kind: HoldKind, id: &str) -> Verdict {
        let (sender, verdict) = oneshot::channel();
        self.held.lock().unwrap().insert(id.to_owned(), sender);
        Hold::verdict(kind, async move { verdict.await.unwrap_or(Verdict::Drop { to_client: vec![] }) })
    }

    /// Gives a verdict on what is held under `id`, when it is. Says whether it was still wanted.
    async fn settle(&self, id: &str, verdict: Verdict) -> bool {
        within(async {
            loop {
                let sender = self.held.lock().unwrap().remove(id);
                match sender {
                    Some(sender) => return sender.send(verdict).is_ok(),
                    None => sleep(Duration::from_millis(1)).await,
                }
            }
        })
        .await
    }

    fn decide(&self, word: &str, request: &Request) -> Verdict {
        let id = request.id().map_or("-", |id| id.json());
        match word {
            "big" => Verdict::Answer(request.answer(&format!("\"{}\"", "x".repeat(1024 * 1024))).unwrap()),
            "machine" => self.park(HoldKind::Machine, id),
            "panic" => Hold::verdict(HoldKind::Machine, async { panic!("a broken policy (a test)") }),
            "person" => self.park(HoldKind::Person, id),
            "refuse" => Verdict::Answer(request.refuse(&RpcError::new(1, "no")).unwrap()),
            _ => Verdict::Forward,
        }
    }
}

impl Interceptor for Desk {
    fn interest(&self, _: Side) -> Interest {
        Interest { messages: true, odd: Odd::All }
    }

    fn wants(&self, from: Side, method: &str) -> Wants {
        if from == Side::Client && method == "tools/call" { Wants::Decide } else { Wants::Nothing }
    }

    fn request(&self, request: &Request) -> Verdict {
        self.decide(&request.tool().unwrap(), request)
    }

    fn answer(&self, request: &Request, answer: &Frame) -> Verdict {
        let text = std::str::from_utf8(answer.body()).unwrap();
        let word = ["machine", "person"].into_iter().find(|word| text.contains(word));
        self.decide(word.unwrap_or_default(), request)
    }

    fn ended(&self, request: &Request, how: Ended) {
        self.ended.lock().unwrap().push((request.id().unwrap().json().to_owned(), how));
    }
}

/// A stream that moves at most so many bytes a poll, and makes one wait every other time
/// (after h2's mock).
#[derive(Debug)]
struct Choppy<S> {
    stream: S,
    bytes_max: usize,
    makes_wait: bool,
}

impl<S> Choppy<S> {
    fn new(stream: S, bytes_max: usize) -> Self {
        Self { stream, bytes_max, makes_wait: false }
    }

    fn waits(&mut self, cx: &Context<'_>) -> bool {
        self.makes_wait = !self.makes_wait;
        if self.makes_wait {
            cx.waker().wake_by_ref();
        }
        self.makes_wait
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Choppy<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.waits(cx) {
            return Poll::Pending;
        }
        let mut piece = vec![0; self.bytes_max.min(buf.remaining())];
        let mut part = ReadBuf::new(&mut piece);
        std::task::ready!(Pin::new(&mut self.stream).poll_read(cx, &mut part))?;
        buf.put_slice(part.filled());
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Choppy<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.waits(cx) {
            return Poll::Pending;
        }
        let piece = &buf[..self.bytes_max.min(buf.len())];
        Pin::new(&mut self.stream).poll_write(cx, piece)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
