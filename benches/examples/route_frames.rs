//! Cuts, reads and routes N frames of 200 bytes and ends: something to count instructions on.
//!
//! ```sh
//! cargo build --release -p framegate-benches --example route_frames
//! valgrind --tool=callgrind target/release/examples/route_frames decided 20000
//! ```
//!
//! The first word says how far a frame goes: `none`, `cut`, `peek`, `transparent` or `decided`.
//! The difference of two runs with different N, divided by the difference of N, is what one frame
//! costs; instruction counts repeat where times on a shared machine do not.

use std::hint::black_box;
use std::sync::Arc;

use framegate_pump::codec::{Cut, Cutter};
use framegate_pump::envelope::peek;
use framegate_pump::router::{Effect, Effects, Router};
use framegate_pump::{Frame, Interceptor, Namespace, Request, Seams, Side, Verdict, Wants};

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

fn main() -> Result<(), String> {
    let mut args = std::env::args().skip(1);
    let depth = args.next().ok_or("usage: route_frames none|cut|peek|transparent|decided N")?;
    let frames: usize = args.next().and_then(|n| n.parse().ok()).ok_or("N is not a number")?;
    let seams = match depth.as_str() {
        "decided" => Seams { interceptor: Arc::new(Decides), ..Seams::default() },
        _ => Seams::default(),
    };
    let mut router = Router::new(Namespace::new("count"), seams, None);
    let mut effects = Effects::new();
    // One cutter a side, as in the relay.
    let mut sides = [(Side::Client, call()), (Side::Server, answer())].map(|(side, line)| {
        assert_eq!(line.len(), 200, "{side}");
        (side, line, Cutter::default())
    });
    for _ in 0..frames / 2 {
        for (side, line, cutter) in &mut sides {
            match depth.as_str() {
                "none" => {
                    black_box(line);
                }
                "cut" => {
                    black_box(cut(cutter, line)?);
                }
                "peek" => {
                    black_box(peek(cut(cutter, line)?.body()));
                }
                _ => route(&mut router, *side, cut(cutter, line)?, &mut effects),
            }
        }
    }
    Ok(())
}

fn cut(cutter: &mut Cutter, line: &[u8]) -> Result<Frame, String> {
    let taken = cutter.push(line);
    match cutter.next_cut() {
        Some(Cut::Frame(frame)) if taken == line.len() => Ok(frame),
        other => Err(format!("no frame: {other:?}")),
    }
}

fn route(router: &mut Router, from: Side, frame: Frame, effects: &mut Effects) {
    router.frame(from, frame, effects);
    while let Some(effect) = effects.pop_front() {
        match effect {
            Effect::LookLater { from, frame } => router.attribute(from, &frame),
            effect => drop(black_box(effect)),
        }
    }
}

fn call() -> Vec<u8> {
    let open = r#"{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"write_file","arguments":{"text":""#;
    filled(open, "\"}}}\n")
}

fn answer() -> Vec<u8> {
    let open = r#"{"result":{"content":[{"type":"text","text":""#;
    filled(open, "\"}],\"isError\":false},\"jsonrpc\":\"2.0\",\"id\":17}\n")
}

fn filled(open: &str, close: &str) -> Vec<u8> {
    [open, &"x".repeat(200 - open.len() - close.len()), close].concat().into_bytes()
}
