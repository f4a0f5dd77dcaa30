//! What a guard relies on: nothing that the client sends reaches the server before an interceptor that
//! wants everything has seen exactly these bytes.
//!
//! One session with every kind of frame in it is played against an interceptor that refuses all: the
//! server must hear nothing. Then against interceptors with one hole each: the server must hear
//! something, or the session would prove nothing.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use framegate_pump::{
    Frame, IdLimits, InjectedTool, Interceptor, Interest, Kind, Odd, Options, Pump, Request, RpcError, Side,
    ToolInjector, Verdict, Wants,
};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};

/// A hole that an interceptor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hole {
    None,
    /// Not asked about answers to the server's requests.
    Answers,
    /// Lines that are no JSON are looked at, ambiguous ones are not.
    Ambiguous,
    /// Not asked about one method.
    Method(&'static str),
    /// Odd frames are not looked at.
    Odd,
    /// It looks at nothing.
    All,
}

/// Refuses all that the client sends, and remembers it.
struct Judge {
    hole: Hole,
    seen: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Judge {
    fn see(&self, frame: &Frame) {
        self.seen.lock().unwrap().push(frame.bytes().to_vec());
    }
}

impl Interceptor for Judge {
    fn interest(&self, _: Side) -> Interest {
        let odd = match self.hole {
            Hole::Odd | Hole::All => Odd::Nothing,
            Hole::Ambiguous => Odd::Opaque,
            _ => Odd::All,
        };
        Interest { messages: self.hole != Hole::All, odd }
    }

    fn wants(&self, from: Side, method: &str) -> Wants {
        match (self.hole, from) {
            (Hole::Answers, Side::Server) => Wants::Nothing,
            (Hole::Method(unwanted), Side::Client) if method == unwanted => Wants::Nothing,
            _ => Wants::Decide,
        }
    }

    fn request(&self, request: &Request) -> Verdict {
        if request.head().from == Side::Server {
            return Verdict::Forward;
        }
        self.see(request.frame());
        request
            .refuse(&RpcError::new(-32600, "no"))
            .map_or(Verdict::Drop { to_client: vec![] }, Verdict::Answer)
    }

    fn notification(&self, notification: &Request) -> Verdict {
        if notification.head().from == Side::Server {
            return Verdict::Forward;
        }
        self.see(notification.frame());
        Verdict::Drop { to_client: vec![] }
    }

    fn answer(&self, request: &Request, answer: &Frame) -> Verdict {
        if request.head().from == Side::Client {
            return Verdict::Forward;
        }
        self.see(answer);
        Verdict::Drop { to_client: vec![] }
    }

    fn odd_frame(&self, frame: &Frame, _: Kind, from: Side) -> Verdict {
        if from == Side::Server {
            return Verdict::Forward;
        }
        self.see(frame);
        Verdict::Drop { to_client: vec![] }
    }
}

/// Has a tool of its own, and sends its calls on after all.
struct Lender;

impl ToolInjector for Lender {
    fn tools(&self) -> Vec<InjectedTool> {
        vec![InjectedTool { name: "lent".into(), json: r#"{"name":"lent"}"#.into() }]
    }

    fn call(&self, _: &Request) -> Verdict {
        Verdict::Forward
    }
}

/// What the client sends, one line each: all kinds of messages, in every spelling that was once a way past.
const LINES: [&[u8]; 26] = [
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}\n",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}\r\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":3,\"m\\u0065thod\":\"tools\\/call\",\"params\":{\"name\":\"lent\"}}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"unheard/of\",\"params\":[1]}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"subscriptions/listen\"}\n",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}\n",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":77}}\n",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1,\"requestId\":2}}\n",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"a\":1,\"a\":2}}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1}}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"method\":\"tools/call\"}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"Method\":\"tools/call\"}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"result\":{}}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"tools/call\"}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":7,\r\"method\":\"ping\"}\n",
    b"[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\"}]\n",
    b"not json\n",
    b"7\n",
    b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\"}\n",
    b"\n",
    b" \t\r\r\n",
];

/// Answers of the client's to the server's requests `"s0"`, `"s1"` and `"s2"`, however it spells them.
const ANSWERS: [&[u8]; 3] = [
    b"{\"jsonrpc\":\"2.0\",\"id\":\"s0\",\"result\":{\"action\":\"accept\",\"action\":\"decline\"}}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"result\":\r{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/call\"}\r}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":\"\\u00732\",\"result\":{}}\n",
];

struct Played {
    /// Every byte that reached the server.
    heard: Vec<u8>,
    /// Every frame of the client's that the interceptor was asked about.
    seen: Vec<Vec<u8>>,
}

async fn play(hole: Hole) -> Played {
    let [(mut client, from_client), (to_client, mut client_hears)] = [duplex(1 << 16), duplex(1 << 16)];
    let [(mut server, from_server), (to_server, mut server_hears)] = [duplex(1 << 16), duplex(1 << 16)];
    let seen = Arc::default();
    let judge = Judge { hole, seen: Arc::clone(&seen) };
    let options = Options { id_limits: Some(IdLimits::default()), ..Options::default() };
    let pump = Pump::new(from_client, to_client, from_server, to_server).options(options);
    let running = tokio::spawn(pump.interceptor(judge).tools(Lender).run());

    // Several frames in one read, as a client that is ahead writes them.
    client.write_all(&LINES.concat()).await.unwrap();
    for (number, answer) in ANSWERS.iter().enumerate() {
        let question =
            format!(r#"{{"jsonrpc":"2.0","id":"s{number}","method":"elicitation/create"}}"#) + "\n";
        server.write_all(question.as_bytes()).await.unwrap();
        hear(&mut client_hears, "elicitation/create").await;
        client.write_all(answer).await.unwrap();
    }
    // The last line has no end.
    client.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\"}").await.unwrap();
    drop(client);
    let mut heard = Vec::new();
    server_hears.read_to_end(&mut heard).await.unwrap();
    drop(server);
    running.await.unwrap().unwrap();
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    Played { heard, seen }
}

async fn hear(from: &mut DuplexStream, what: &str) {
    let mut lines = BufReader::new(from);
    let mut line = Vec::new();
    while !String::from_utf8_lossy(&line).contains(what) {
        line.clear();
        let read = tokio::time::timeout(Duration::from_secs(30), lines.read_until(b'\n', &mut line));
        assert_ne!(read.await.unwrap().unwrap(), 0, "`{what}` never came");
    }
}

#[tokio::test]
async fn the_server_hears_nothing_that_was_refused() {
    let played = play(Hole::None).await;
    assert_eq!(played.heard.escape_ascii().to_string(), "");
    let mut sent: Vec<Vec<u8>> = LINES.iter().chain(&ANSWERS).map(|line| line.to_vec()).collect();
    sent.push(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\"}".to_vec());
    assert_eq!(played.seen, sent, "each frame once, byte for byte, in its order");
}

#[tokio::test]
async fn a_hole_in_the_interceptor_shows() {
    for hole in [
        Hole::All,
        Hole::Ambiguous,
        Hole::Answers,
        Hole::Method("notifications/cancelled"),
        Hole::Method("notifications/progress"),
        Hole::Method("ping"),
        Hole::Method("tools/call"),
        Hole::Odd,
    ] {
        assert!(!play(hole).await.heard.is_empty(), "{hole:?}");
    }
}
