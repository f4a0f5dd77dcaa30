//! The shell: one task that reads, routes, writes and waits.
//!
//! Everything happens in one poll loop over four streams, so that a frame costs no hop between
//! tasks, an output has one owner, and a dropped future loses nothing (all state is in
//! [`Relay`]). The order of one turn: commands and settled holds, then for each side *read, cut,
//! route, write*, and only then the look at frames on which nothing depended.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Sleep;

use crate::codec::Cut;
use crate::frame::{Frame, Run};
use crate::id::Namespace;
use crate::inject::{Command, Gauge, Handle, Injector, SharedSeams};
use crate::request::{RpcError, Side};
use crate::router::{Both, Effect, Effects, IdLimits, Router, Token};
use crate::seam::{How, Interceptor, Observer, ToolInjector, Verdict};
use crate::stream::{ByteSink, ByteSource, Fill, FrameSink, FrameSource, Outbox};

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

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client closed its side; everything due was delivered. The usual, clean end.
    ClientClosed,
    /// The client's read end is gone.
    ClientGone,
    /// The server closed its side; whoever still waited for it was told by an error.
    ServerClosed,
    /// [`Handle::stop`].
    Stopped,
}

/// Why a session broke.
#[derive(Debug)]
pub enum PumpError {
    /// Twice [`crate::MAX_FRAME_BYTES`] came without a line feed, or an over-long line stood
    /// still. It is not MCP.
    Flood(Side),
    /// A frame over [`crate::MAX_FRAME_BYTES`] came, and [`OnTooLong::End`] was asked for.
    FrameTooLong {
        /// Who sent it.
        from: Side,
        /// Its length, without terminator.
        frame_bytes: u64,
    },
    /// A stream could not be read.
    Read(Side, io::Error),
    /// A stream could not be written.
    Write(Side, io::Error),
}

impl std::fmt::Display for PumpError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flood(side) => {
                write!(f, "the {side} sent a line over the limit of 64 MiB that does not end")
            }
            Self::FrameTooLong { from, frame_bytes } => {
                write!(f, "the {from} sent a frame of {frame_bytes} bytes, over the limit of 64 MiB")
            }
            Self::Read(side, why) => write!(f, "reading from the {side} failed: {why}"),
            Self::Write(side, why) => write!(f, "writing to the {side} failed: {why}"),
        }
    }
}

impl std::error::Error for PumpError {}

/// What to do after a frame over [`crate::MAX_FRAME_BYTES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnTooLong {
    /// Discard it, tell whoever waits for its answer, go on.
    #[default]
    Continue,
    /// End the session.
    End,
}

type LastWords = Pin<Box<dyn Future<Output = Option<RpcError>> + Send>>;

/// Settings of a pump. All have defaults.
pub struct Options {
    /// What to do after a frame over the cap.
    pub on_too_long: OnTooLong,
    /// Limits on ids, for a guard.
    pub id_limits: Option<IdLimits>,
    /// The error that open requests are answered with when the server is gone. May take a
    /// moment (an exit status, the last lines of stderr). `None` leaves them unanswered: a
    /// server that was told to end, and ended well, owes nothing.
    pub server_gone: LastWords,
    /// When the server ends before it has said anything, how long to wait for the client's first
    /// request, and after each for the next, so that somebody is told.
    pub first_request_wait: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let error = RpcError::new(RpcError::INTERNAL, "the server closed the connection before it answered");
        Self {
            on_too_long: OnTooLong::default(),
            id_limits: None,
            server_gone: Box::pin(std::future::ready(Some(error))),
            first_request_wait: Duration::ZERO,
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("on_too_long", &self.on_too_long)
            .field("id_limits", &self.id_limits)
            .finish_non_exhaustive()
    }
}

/// One end of a pump: what it says and what it is told.
pub struct Port {
    /// Frames from this side.
    pub source: Box<dyn FrameSource>,
    /// Frames to this side.
    pub sink: Box<dyn FrameSink>,
}

impl Port {
    /// A port over two byte streams.
    pub fn bytes(
        from: impl AsyncRead + Send + Unpin + 'static,
        to: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self { source: Box::new(ByteSource::new(from)), sink: Box::new(ByteSink::new(to)) }
    }
}

impl std::fmt::Debug for Port {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Port")
    }
}

/// A pump between a client and a server, not yet running.
#[derive(Debug)]
pub struct Pump {
    client: Port,
    server: Port,
    options: Options,
    namespace: Namespace,
    handle: Handle,
    commands: mpsc::UnboundedReceiver<Command>,
}

impl Pump {
    /// A pump over four byte streams, named from the pump's point of view: what comes from the
    /// client, what goes to it, and the same for the server.
    pub fn new(
        from_client: impl AsyncRead + Send + Unpin + 'static,
        to_client: impl AsyncWrite + Send + Unpin + 'static,
        from_server: impl AsyncRead + Send + Unpin + 'static,
        to_server: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self::over(Port::bytes(from_client, to_client), Port::bytes(from_server, to_server))
    }

    /// A pump over any two ports.
    pub fn over(client: Port, server: Port) -> Self {
        let (sender, commands) = mpsc::unbounded_channel();
        let handle = Handle { injector: Injector::new(sender), seams: Arc::default(), gauge: Arc::default() };
        Self { client, server, options: Options::default(), namespace: Namespace::random(), handle, commands }
    }

    /// Sets the observer.
    #[must_use]
    pub fn observer(self, observer: impl Observer + 'static) -> Self {
        self.handle.set_observer(Arc::new(observer));
        self
    }

    /// Sets the interceptor.
    #[must_use]
    pub fn interceptor(self, interceptor: impl Interceptor + 'static) -> Self {
        self.handle.set_interceptor(Arc::new(interceptor));
        self
    }

    /// Sets the tool injector.
    #[must_use]
    pub fn tools(self, tools: impl ToolInjector + 'static) -> Self {
        self.handle.set_tools(Some(Arc::new(tools)));
        self
    }

    /// Sets the options.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// A handle for injecting, swapping seams and stopping, now and while it runs.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Pumps until either side ends or it is stopped; a client that closes its side cleanly is
    /// success. Returns after both directions have ended, with the first error.
    ///
    /// After the client's end the server's input is closed and its output is read to the end:
    /// an answer that is still to come is delivered, however large. Ending a server that does
    /// not end by itself is the caller's part ([`Handle::end_server`], [`Handle::stop`]).
    ///
    /// # Errors
    /// [`PumpError`]. Dropping the future stops the pump at once.
    pub async fn run(self) -> Result<End, PumpError> {
        let mut relay = Relay::new(self);
        poll_fn(|cx| relay.poll(cx)).await
    }
}

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

    // === input ===

    fn poll_read(&mut self, side: Side, cx: &mut Context<'_>) -> Result<bool, PumpError> {
        let mut moved = self.cut_all(side)?;
        if !self.may_read(side) {
            return Ok(moved);
        }
        let lane = self.lanes.of_mut(side);
        let filled = match lane.port.source.poll_fill(cx) {
            Poll::Pending => return Ok(moved),
            Poll::Ready(Ok(filled)) => filled,
            Poll::Ready(Err(e)) => return Err(PumpError::Read(side, e)),
        };
        if let (Fill::More(bytes), Side::Server) = (filled, side) {
            self.gauge.moved(bytes);
        }
        moved |= self.cut_all(side)?;
        // With room left the source stopped because it has no more, not for a full queue.
        if filled == Fill::End && self.has_room(side) {
            self.end_of(side);
        }
        self.watch_discard(side);
        Ok(moved | matches!(filled, Fill::More(_)) | self.lanes.of(side).read_ended)
    }

    fn may_read(&self, side: Side) -> bool {
        let lane = self.lanes.of(side);
        let after_server_end = side == Side::Client
            && !matches!(self.phase, Phase::Running | Phase::Telling(_))
            && !self.awaits_first_request();
        !lane.read_ended
            && !after_server_end
            && self.has_room(side)
            && lane.outbox.ours_bytes() < OURS_BYTES_MAX
    }

    /// Whether what `from` sends can be queued for the other side.
    fn has_room(&self, from: Side) -> bool {
        self.lanes.of(from.other()).outbox.bytes() < QUEUE_BYTES_MAX
    }

    /// Routes the frames that have come in, as long as there is room for them.
    fn cut_all(&mut self, side: Side) -> Result<bool, PumpError> {
        let mut moved = false;
        while self.has_room(side) {
            self.refresh_seams();
            if self.router.passes_all(side)
                && let Some(run) = self.lanes.of_mut(side).port.source.next_run()
            {
                moved = true;
                self.count(side);
                self.lanes.of_mut(side.other()).outbox.push_run(&run);
                self.later.push((side, Unread::Run(run)));
                continue;
            }
            let Some(cut) = self.lanes.of_mut(side).port.source.next_cut() else {
                break;
            };
            moved = true;
            match cut {
                Cut::Flood => return Err(PumpError::Flood(side)),
                Cut::Frame(frame) => {
                    self.count(side);
                    if !self.later.is_empty() && self.router.may_depend_on(side, &frame) {
                        // What came before it must be known by now: this may cancel it.
                        self.look_back();
                    }
                    self.router.frame(side, frame, &mut self.fx);
                }
                Cut::TooLong(gone) => {
                    self.count(side);
                    self.router.too_long(side, &gone, &mut self.fx);
                    if self.options.on_too_long == OnTooLong::End {
                        let frame_bytes = gone.frame_bytes;
                        return Err(PumpError::FrameTooLong { from: side, frame_bytes });
                    }
                }
            }
            self.carry_out();
        }
        Ok(moved)
    }

    fn count(&mut self, side: Side) {
        match side {
            Side::Client => self.client_spoke = true,
            Side::Server => self.gauge.count_server_frame(),
        }
    }

    fn end_of(&mut self, side: Side) {
        self.lanes.of_mut(side).read_ended = true;
        if side == Side::Client {
            self.gauge.set_client_ended();
        }
        *self.stalls.of_mut(side) = None;
        self.router.sender_gone(side, &mut self.fx);
        self.carry_out();
        if side == Side::Server && matches!(self.phase, Phase::Running) {
            let words = std::mem::replace(&mut self.options.server_gone, Options::default().server_gone);
            self.phase = Phase::LastWords(words);
            self.alarm = None;
            if self.awaits_first_request() {
                self.set_alarm(Alarm::FirstRequest, self.options.first_request_wait);
            }
        }
    }

    fn refresh_seams(&mut self) {
        let version = self.seams.version();
        if version != self.seams_version {
            self.seams_version = version;
            self.router.set_seams(self.seams.current());
        }
    }

    // === output ===

    fn poll_write(&mut self, to: Side, cx: &mut Context<'_>) -> Result<bool, PumpError> {
        let lane = self.lanes.of_mut(to);
        if lane.write_ended || (self.gave_up && to == Side::Client) {
            lane.outbox.clear();
            lane.flushed = true;
            return Ok(false);
        }
        // Counted in bytes, not in frames: a large frame on its way to a slow reader is moving.
        let before = lane.outbox.left_bytes();
        let sent = lane.port.sink.poll_send(cx, &mut lane.outbox);
        let wrote = before - lane.outbox.left_bytes();
        lane.flushed = sent.is_ready();
        if wrote > 0 {
            self.gauge.moved(wrote);
        }
        match sent {
            Poll::Ready(Err(e)) if is_peer_gone(&e) => {
                self.lanes.of_mut(to).write_ended = true;
                if to == Side::Server && !self.lanes.of(Side::Server).read_ended {
                    let moved_bytes = self.gauge.moved_bytes();
                    self.set_alarm(Alarm::DeafServer { moved_bytes }, DEAF_SERVER);
                }
                Ok(true)
            }
            Poll::Ready(Err(e)) => Err(PumpError::Write(to, e)),
            _ => Ok(wrote > 0),
        }
    }

    fn look_back(&mut self) {
        for (from, unread) in self.later.drain(..) {
            match unread {
                Unread::One(frame) => self.router.attribute(from, &frame),
                Unread::Run(run) => self.router.attribute_run(from, &run),
            }
        }
    }

    /// The memory of a large frame that went out is used for the next one, for a while.
    fn recycle(&mut self, from: Side) {
        if let Some(gone) = self.lanes.of_mut(from.other()).outbox.take_gone() {
            self.lanes.of_mut(from).port.source.recycle(gone);
            self.shrink = Some(Box::pin(tokio::time::sleep(RECYCLED_FOR)));
        }
    }

    fn poll_shrink(&mut self, cx: &mut Context<'_>) {
        if self.shrink.as_mut().is_some_and(|sleep| sleep.as_mut().poll(cx).is_ready()) {
            self.shrink = None;
            for side in [Side::Client, Side::Server] {
                self.lanes.of_mut(side).port.source.shrink();
            }
        }
    }

    fn carry_out(&mut self) {
        while let Some(effect) = self.fx.pop_front() {
            match effect {
                Effect::Answered { question, answer } => {
                    let waiter = self.waiters.remove(&question);
                    if let (Some(waiter), Some(answer)) = (waiter, answer) {
                        // An asker that stopped waiting has dropped its end.
                        let _ = waiter.send(answer);
                    }
                }
                Effect::Hold { token, until } => {
                    let abort = self.holds.spawn(async move { (token, until.await) });
                    self.aborts.insert(token, abort);
                }
                Effect::LookLater { from, frame } => self.later.push((from, Unread::One(frame))),
                Effect::Release(token) => {
                    if let Some(abort) = self.aborts.remove(&token) {
                        abort.abort();
                    }
                }
                Effect::Send { to, frame, how } => {
                    self.lanes.of_mut(to).outbox.push(frame, how == How::Ours);
                }
            }
        }
    }

    // === commands, holds, timers ===

    fn poll_commands(&mut self, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        while let Poll::Ready(Some(command)) = self.commands.poll_recv(cx) {
            moved = true;
            match command {
                Command::Ask { number, to, method, params, answer } => {
                    let lane = self.lanes.of(to);
                    if !lane.read_ended && !lane.write_ended && !answer.is_closed() {
                        self.waiters.insert(number, answer);
                        self.router.question(number, to, &method, params.as_deref(), &mut self.fx);
                    }
                }
                Command::EndClient => {
                    if !self.lanes.of(Side::Client).read_ended {
                        self.end_of(Side::Client);
                    }
                }
                Command::EndServer => {
                    // Its end is met where it is read, after what it has said.
                    if !self.lanes.of(Side::Server).read_ended {
                        self.lanes.of_mut(Side::Server).port.source.end();
                        let moved_bytes = self.gauge.moved_bytes();
                        self.set_alarm(Alarm::LastWrites { moved_bytes }, LAST_WRITES_STALL);
                    }
                }
                Command::Forget(number) => {
                    self.waiters.remove(&number);
                    self.router.forget_question(number, &mut self.fx);
                }
                Command::Notify { to, method, params } => {
                    self.router.notify(to, &method, params.as_deref(), &mut self.fx);
                }
                Command::Stop => self.stopped = true,
            }
            self.carry_out();
        }
        moved
    }

    fn poll_holds(&mut self, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        while let Poll::Ready(Some(done)) = self.holds.poll_join_next(cx) {
            moved = true;
            match done {
                Ok((token, verdict)) => {
                    self.aborts.remove(&token);
                    self.router.settle(token, verdict, &mut self.fx);
                }
                // An aborted hold was released. One that panicked would block the calls behind
                // it, and the end of the session, for ever.
                Err(broken) => {
                    let found = self.aborts.iter().find(|(_, abort)| abort.id() == broken.id());
                    if let Some(token) = found.map(|(token, _)| *token) {
                        self.aborts.remove(&token);
                        self.router.abandon(token, &mut self.fx);
                    }
                }
            }
            self.carry_out();
        }
        moved
    }

    fn poll_phase(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        let awaits_first_request = self.awaits_first_request();
        match &mut self.phase {
            Phase::Running => {
                self.close_server_input(cx);
                Poll::Pending
            }
            Phase::LastWords(_) if awaits_first_request => Poll::Pending,
            // Its last answers may still be held; they are no less due for its end.
            Phase::LastWords(_) if self.router.has_machine_holds(Side::Server) => Poll::Pending,
            Phase::LastWords(words) => {
                if let Poll::Ready(error) = words.as_mut().poll(cx) {
                    let somebody_waits = self.router.due(Side::Client) > 0;
                    self.tell(error.as_ref());
                    match error.filter(|_| somebody_waits && self.tells_on()) {
                        Some(error) => {
                            // What the client sends now goes nowhere.
                            self.lanes.of_mut(Side::Server).write_ended = true;
                            self.phase = Phase::Telling(error);
                        }
                        None => self.start_flushing(),
                    }
                    cx.waker().wake_by_ref();
                }
                Poll::Pending
            }
            Phase::Telling(error) if self.router.due(Side::Client) > 0 => {
                let error = error.clone();
                self.tell(Some(&error));
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Phase::Telling(_) => {
                if self.alarm.is_none() || self.lanes.of(Side::Client).read_ended {
                    self.start_flushing();
                    cx.waker().wake_by_ref();
                }
                Poll::Pending
            }
            Phase::Flushing(end) if self.gave_up || self.lanes.of(Side::Client).is_written() => {
                Poll::Ready(*end)
            }
            Phase::Flushing(_) => Poll::Pending,
        }
    }

    /// Answers all who wait with the error.
    fn tell(&mut self, error: Option<&RpcError>) {
        self.router.peer_gone(Side::Server, error, &mut self.fx);
        self.carry_out();
        self.set_alarm(Alarm::FirstRequest, self.options.first_request_wait);
    }

    /// Whether further requests will be told too: a client whose `server/discover` fails goes on
    /// with `initialize`, and shows its user the answer to that.
    fn tells_on(&self) -> bool {
        let client_waits = !self.lanes.of(Side::Client).read_ended;
        let never_spoke = self.gauge.server_frames() == 0;
        client_waits && never_spoke && !self.options.first_request_wait.is_zero()
    }

    fn start_flushing(&mut self) {
        let client_ended = self.lanes.of(Side::Client).read_ended;
        self.phase = Phase::Flushing(if client_ended { End::ClientClosed } else { End::ServerClosed });
        let moved_bytes = self.gauge.moved_bytes();
        self.set_alarm(Alarm::LastWrites { moved_bytes }, LAST_WRITES_STALL);
    }

    /// After the client's end: what a machine holds is finished first, then the server's input
    /// is closed.
    fn close_server_input(&mut self, cx: &mut Context<'_>) {
        let client_ended = self.lanes.of(Side::Client).read_ended;
        let server = self.lanes.of_mut(Side::Server);
        if !client_ended || !server.outbox.is_empty() || self.router.has_machine_holds(Side::Client) {
            return;
        }
        if !server.write_ended && server.port.sink.poll_close(cx).is_ready() {
            server.write_ended = true;
            // Shutting a pipe down does nothing; only dropping its write end tells the server.
            server.port.sink = Box::new(ByteSink::new(tokio::io::sink()));
        }
    }

    /// The server ended before the client said a word: somebody should be told.
    fn awaits_first_request(&self) -> bool {
        let expired = !matches!(self.alarm, None | Some((Alarm::FirstRequest, _)));
        !self.client_spoke
            && !self.lanes.of(Side::Client).read_ended
            && !self.options.first_request_wait.is_zero()
            && !expired
    }

    fn set_alarm(&mut self, alarm: Alarm, after: Duration) {
        self.alarm = Some((alarm, Box::pin(tokio::time::sleep(after))));
    }

    fn watch_discard(&mut self, side: Side) {
        let discards = self.lanes.of(side).port.source.is_discarding();
        *self.stalls.of_mut(side) = discards.then(|| Box::pin(tokio::time::sleep(DISCARD_STALL)));
    }

    fn poll_stalls(&mut self, cx: &mut Context<'_>) -> Result<(), PumpError> {
        for side in [Side::Client, Side::Server] {
            let Some(stall) = self.stalls.of_mut(side) else { continue };
            if stall.as_mut().poll(cx).is_pending() {
                continue;
            }
            if self.may_read(side) {
                return Err(PumpError::Flood(side));
            }
            // It stands still because we do not read it.
            self.watch_discard(side);
            cx.waker().wake_by_ref();
        }
        Ok(())
    }

    fn poll_alarm(&mut self, cx: &mut Context<'_>) -> bool {
        let Some((alarm, sleep)) = &mut self.alarm else { return false };
        if sleep.as_mut().poll(cx).is_pending() {
            return false;
        }
        let alarm = *alarm;
        self.alarm = None;
        let now = self.gauge.moved_bytes();
        match alarm {
            Alarm::DeafServer { moved_bytes } if moved_bytes != now => {
                self.set_alarm(Alarm::DeafServer { moved_bytes: now }, DEAF_SERVER);
            }
            Alarm::DeafServer { .. } => self.end_of(Side::Server),
            Alarm::FirstRequest => self.client_spoke = true,
            Alarm::LastWrites { moved_bytes } if moved_bytes != now => {
                self.set_alarm(Alarm::LastWrites { moved_bytes: now }, LAST_WRITES_STALL);
            }
            Alarm::LastWrites { .. } => {
                self.gave_up = true;
                if !self.lanes.of(Side::Server).read_ended {
                    self.end_of(Side::Server);
                }
            }
        }
        true
    }
}

/// Errors that say that nobody reads any more: an end, not a fault.
fn is_peer_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted
    )
}
