//! The shell: one task that reads, routes, writes and waits.
//!
//! Everything happens in one poll loop over four streams, so that a frame costs no hop between
//! tasks, an output has one owner, and a dropped future loses nothing (all state is in
//! [`Relay`]). The order of one turn: commands and settled holds, then for each side *read, cut,
//! route, write*, and only then the look at frames on which nothing depended.

mod commands;
mod input;
mod outcome;
mod output;
mod phases;
mod pump;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Sleep;

pub use self::outcome::{End, PumpError};
use self::pump::LastWords;
pub use self::pump::{OnTooLong, Options, Port, Pump};
use crate::frame::{Frame, Run};
use crate::inject::{Command, Gauge, SharedSeams};
use crate::request::{RpcError, Side};
use crate::router::{Both, Effects, Router, Token};
use crate::seam::Verdict;
use crate::stream::Outbox;

/// While this many bytes wait for a side, the other side is not read.
const QUEUE_BYTES_MAX: usize = 1024 * 1024;
/// While this many bytes of *our own* answers wait for a side, that side is not read: it floods
/// us with calls to refuse and does not read the refusals.
const OURS_BYTES_MAX: usize = 8 * 1024 * 1024;
/// An over-long line that stands still for this long will not end.
const DISCARD_STALL: Duration = Duration::from_secs(10);
/// A server that closed its input and says nothing more for this long is gone.
const DEAF_SERVER: Duration = Duration::from_secs(1);
/// At the end, a client that takes nothing for this long gets the rest no more.
const LAST_WRITES_STALL: Duration = Duration::from_secs(10);

/// How long the memory of a large frame is kept for the next one.
const RECYCLED_FOR: Duration = Duration::from_millis(250);

/// One side while the pump runs.
struct Lane {
    port: Port,
    outbox: Outbox,
    /// The source has ended, and every frame of it is routed.
    read_ended: bool,
    /// The sink is closed or broken.
    write_ended: bool,
    /// What was written has reached the stream (a `tokio::fs::File` takes bytes before it writes them).
    flushed: bool,
}

impl Lane {
    fn new(port: Port) -> Self {
        Self { port, outbox: Outbox::default(), read_ended: false, write_ended: false, flushed: true }
    }

    fn is_written(&self) -> bool {
        self.outbox.is_empty() && self.flushed
    }
}

/// ```text
///           client ends            server ends
///  Running ────────────► Draining ────────────► LastWords ──► (Telling) ──► Flushing ──► done
///     │ server ends                                 ▲
///     └─────────────────────────────────────────────┘
/// ```
enum Phase {
    /// The last answers are being written.
    Flushing(End),
    /// The server is gone; the error for those who wait is being made.
    LastWords(LastWords),
    /// Both directions run, or only the server's (the client has ended).
    Running,
    /// The server went without a word; each request that still comes is told why.
    Telling(RpcError),
}

/// Why a timer runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alarm {
    /// The server's input broke; has it anything left to say?
    DeafServer { moved_bytes: u64 },
    /// No request was seen before the server's end.
    FirstRequest,
    /// The client does not take the last writes.
    LastWrites { moved_bytes: u64 },
}

/// Frames that were passed on unread.
enum Unread {
    One(Frame),
    Run(Run),
}

struct Relay {
    lanes: Both<Lane>,
    router: Router,
    options: Options,
    seams: Arc<SharedSeams>,
    seams_version: u64,
    gauge: Arc<Gauge>,
    commands: mpsc::UnboundedReceiver<Command>,
    /// Who waits for the answer to a question of ours.
    waiters: HashMap<u64, oneshot::Sender<Frame>>,
    holds: JoinSet<(Token, Verdict)>,
    aborts: HashMap<Token, AbortHandle>,
    fx: Effects,
    /// Frames that were queued unread and are looked at after the write.
    later: Vec<(Side, Unread)>,
    phase: Phase,
    alarm: Option<(Alarm, Pin<Box<Sleep>>)>,
    /// When memory kept for large frames is given back.
    shrink: Option<Pin<Box<Sleep>>>,
    /// For each side that sends an over-long line, when it will have stood still for too long.
    stalls: Both<Option<Pin<Box<Sleep>>>>,
    client_spoke: bool,
    /// The client took nothing of the last writes for too long.
    gave_up: bool,
    stopped: bool,
}

impl Relay {
    fn new(pump: Pump) -> Self {
        let seams = pump.handle.seams;
        let seams_version = seams.version();
        Self {
            lanes: Both::new(Lane::new(pump.client), Lane::new(pump.server)),
            router: Router::new(pump.namespace, seams.current(), pump.options.id_limits),
            options: pump.options,
            seams,
            seams_version,
            gauge: pump.handle.gauge,
            commands: pump.commands,
            waiters: HashMap::new(),
            holds: JoinSet::new(),
            aborts: HashMap::new(),
            fx: Effects::new(),
            later: Vec::new(),
            phase: Phase::Running,
            alarm: None,
            shrink: None,
            stalls: Both::default(),
            client_spoke: false,
            gave_up: false,
            stopped: false,
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<End, PumpError>> {
        loop {
            let mut moved = self.poll_commands(cx) | self.poll_holds(cx);
            for side in [Side::Client, Side::Server] {
                moved |= self.poll_read(side, cx)?;
                moved |= self.poll_write(side.other(), cx)?;
                self.look_back();
                self.recycle(side);
            }
            moved |= self.poll_write(Side::Client, cx)?;
            if self.lanes.of(Side::Client).write_ended {
                return Poll::Ready(Ok(End::ClientGone));
            }
            self.gauge.set_due(self.router.due(Side::Client));
            self.gauge.set_client_full(!self.has_room(Side::Server));
            if self.stopped {
                return Poll::Ready(Ok(End::Stopped));
            }
            if let Poll::Ready(end) = self.poll_phase(cx) {
                return Poll::Ready(Ok(end));
            }
            moved |= self.poll_alarm(cx);
            self.poll_stalls(cx)?;
            self.poll_shrink(cx);
            if !moved {
                return Poll::Pending;
            }
        }
    }
}
