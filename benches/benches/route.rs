//! What one small frame costs inside the process: read its envelope, route it, account for it.
//!
//! A round is a 200-byte call and its 200-byte answer, so a frame is half of it. The goal is at
//! most 400 ns a frame. `examples/route_frames.rs` counts instructions on the same work.

use std::hint::black_box;
use std::sync::Arc;

use bytes::Bytes;
use criterion::{Criterion, Throughput};
use framegate_pump::router::{Effect, Effects, Router};
use framegate_pump::{Frame, Interceptor, Namespace, Request, Seams, Side, Verdict, Wants};

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    routes(&mut criterion);
    criterion.final_summary();
}

/// Decides on each call, by its tool's name.
struct Decides;

impl Interceptor for Decides {
    fn wants(&self, _: Side, method: &str) -> Wants {
        if method == "tools/call" { Wants::Decide } else { Wants::Nothing }
    }

    fn request(&self, call: &Request) -> Verdict {
        match call.tool().as_deref() {
            Some("delete_file") | None => Verdict::Drop { to_client: vec![] },
            Some(_) => Verdict::Forward,
        }
    }
}

fn routes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("route");
    group.throughput(Throughput::Elements(2));
    let (call, answer) = (frame(CALL), frame(ANSWER));
    let deciding = Seams { interceptor: Arc::new(Decides), ..Seams::default() };
    for (name, seams) in [("transparent", Seams::default()), ("decided", deciding)] {
        let mut router = Router::new(Namespace::new("bench"), seams, None);
        let mut effects = Effects::new();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let sent = route(&mut router, Side::Client, &call, &mut effects)
                    + route(&mut router, Side::Server, &answer, &mut effects);
                assert_eq!(sent, 2, "both were sent");
            });
        });
        assert_eq!(router.due(Side::Client), 0, "nothing piles up");
    }
    group.finish();
}

/// What the relay does with one frame, but for the write.
fn route(router: &mut Router, from: Side, frame: &Frame, effects: &mut Effects) -> usize {
    router.frame(from, black_box(frame).clone(), effects);
    let mut sent = 0;
    while let Some(effect) = effects.pop_front() {
        match effect {
            Effect::Send { frame, .. } => sent += usize::from(!black_box(frame).is_empty()),
            Effect::LookLater { from, frame } => router.attribute(from, &frame),
            _ => {}
        }
    }
    sent
}

const CALL: [&str; 2] = [
    r#"{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"write_file","arguments":{"text":""#,
    "\"}}}\n",
];
const ANSWER: [&str; 2] = [
    r#"{"result":{"content":[{"type":"text","text":""#,
    "\"}],\"isError\":false},\"jsonrpc\":\"2.0\",\"id\":17}\n",
];

/// A frame of 200 bytes, terminator included.
fn frame([open, close]: [&str; 2]) -> Frame {
    let fill = "x".repeat(200 - open.len() - close.len());
    Frame::from_wire(Bytes::from([open, &fill, close].concat()))
}
