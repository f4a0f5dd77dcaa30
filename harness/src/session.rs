//! One wrapped session: a client's two streams, a pump, an upstream, and how all of it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use framegate_pump::{
    End, Ended, Gauge, Handle, Head, IdLimits, Interceptor, Notice, Observer, Options, PassAll, Port, Pump,
    PumpError, RpcError, Seen, Side, TooLong, ToolInjector,
};
use rustix::process::Signal;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};

use crate::child::{Process, ServerName, Tail, Upstream};
use crate::exit::{Exit, how_it_ended};

/// From SIGTERM to SIGKILL.
const TERM_TO_KILL: Duration = Duration::from_millis(900);
/// When we are told to end: from closing the server's stdin to the signal. With the step above
/// under the 2 s that SDK clients give a server before they kill it.
const EOF_TO_TERM: Duration = Duration::from_millis(700);
/// From being told to end to leaving, at most.
const STOP_LIMIT: Duration = Duration::from_millis(1900);
/// After the direct child's exit its output is read until it is silent for this long.
const SILENCE: Duration = Duration::from_millis(100);
/// How long a client may leave the output of a server that has exited unread.
const CLIENT_STALL: Duration = Duration::from_secs(10);
/// How long the error for open requests waits for the exit code.
const EXIT_CODE_WAIT: Duration = Duration::from_millis(500);
/// How often the end of a session is looked at; only then is anything polled.
const LADDER_TICK: Duration = Duration::from_millis(10);
/// A server that dies at once: how long to wait for the request that should be told.
const FIRST_REQUEST_WAIT: Duration = Duration::from_millis(300);

/// How a session is run.
#[derive(Clone)]
pub struct Settings {
    /// After the client's end, with nothing due: silence before SIGTERM.
    pub grace: Duration,
    /// After the client's end, with answers due: silence before SIGTERM.
    pub drain: Duration,
    /// What the server is called.
    pub name: Option<ServerName>,
    /// Who sees the frames.
    pub observers: Vec<Arc<dyn Observer>>,
    /// Who decides on them.
    pub interceptor: Arc<dyn Interceptor>,
    /// Adds tools to the server's, and hides some.
    pub tools: Option<Arc<dyn ToolInjector>>,
    /// Limits on ids, for a guard.
    pub id_limits: Option<IdLimits>,
    /// Called with the pump's handle before the first frame: for asking either side something in
    /// one's own name, and for swapping seams while the session runs.
    pub started: Option<Arc<dyn Fn(Handle) + Send + Sync>>,
    /// What the client is told when there is no server to answer it.
    pub no_server: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            grace: Duration::from_secs(1),
            drain: Duration::from_secs(30),
            name: None,
            observers: Vec::new(),
            interceptor: Arc::new(PassAll),
            tools: None,
            id_limits: None,
            started: None,
            no_server: None,
        }
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("grace", &self.grace)
            .field("drain", &self.drain)
            .finish_non_exhaustive()
    }
}

/// Stops a session from outside, as SIGTERM to `framegate` does. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    inner: Arc<StopInner>,
}

#[derive(Debug, Default)]
struct StopInner {
    /// The signal that asks for the end; 0 while nobody does.
    signal: AtomicU8,
    asked: Notify,
}

impl Stop {
    /// Ends the session; `signal` is passed on to the server (15 is SIGTERM).
    pub fn stop(&self, signal: u8) {
        self.inner.signal.store(signal, Ordering::Release);
        self.inner.asked.notify_waiters();
    }

    async fn asked(&self) -> u8 {
        loop {
            // Listening first: a signal between the look and the wait must not be missed.
            let asked = self.inner.asked.notified();
            match self.signal() {
                0 => asked.await,
                signal => return signal,
            }
        }
    }

    fn signal(&self) -> u8 {
        self.inner.signal.load(Ordering::Acquire)
    }
}

/// Why Framegate ended a server that had not ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedFor {
    /// The client had ended, an answer was due, and nothing moved for this long
    /// ([`Settings::drain`]).
    Drain(Duration),
    /// The client had ended, nothing was due, and nothing moved for this long
    /// ([`Settings::grace`]).
    Grace(Duration),
    /// We were told to end by this signal, and closing its stdin did not do.
    Signal(u8),
}

impl std::fmt::Display for EndedFor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let silence = |f: &mut std::fmt::Formatter<'_>, due, time: &Duration, option| {
            write!(
                f,
                "was ended by Framegate: the client has left, {due}, and nothing moved for {time:?} ({option})"
            )
        };
        match self {
            Self::Drain(time) => silence(f, "an answer was due", time, "--drain"),
            Self::Grace(time) => silence(f, "no answer was due", time, "--grace"),
            Self::Signal(signal) => {
                write!(f, "was ended by Framegate, which was told to end by signal {signal}")
            }
        }
    }
}

/// The server has exited.
#[derive(Clone, Copy, Debug)]
struct Exited {
    code: u8,
    ended_for: Option<EndedFor>,
}

/// How a session ended.
#[derive(Debug)]
pub struct Outcome {
    /// What the pump says.
    pub end: Result<End, PumpError>,
    /// The server's exit code, where it is a process.
    pub server_code: Option<u8>,
    /// The server ended by itself, not by our signal.
    pub ended_itself: bool,
    /// Why we ended it, where its time was up.
    pub ended_for: Option<EndedFor>,
    /// The signal that stopped the session, if one did.
    pub stopped_by: Option<u8>,
}

impl Outcome {
    /// The exit code that `framegate run` leaves with.
    pub fn exit(&self) -> Exit {
        let server = match self.server_code {
            Some(0) | None => Exit::Clean,
            Some(code) => Exit::Server(code),
        };
        match &self.end {
            Err(PumpError::Flood(_) | PumpError::FrameTooLong { .. }) => Exit::Flood,
            Err(_) => Exit::Broken,
            Ok(_) if self.stopped_by.is_some() => Exit::Server(128 + self.stopped_by.unwrap_or(0)),
            Ok(End::ServerClosed) => server,
            // A client that has left gets no fault for how we ended its server.
            Ok(_) if !self.ended_itself => Exit::Clean,
            Ok(_) => server,
        }
    }
}

/// A session that is ready to run.
#[derive(Debug)]
pub struct Session {
    upstream: Upstream,
    settings: Settings,
    stop: Stop,
}

impl Session {
    /// A session with this upstream.
    pub fn new(upstream: Upstream, settings: Settings) -> Self {
        Self { upstream, settings, stop: Stop::default() }
    }

    /// Something to stop it by.
    pub fn stopper(&self) -> Stop {
        self.stop.clone()
    }

    /// Runs the session over the client's streams until it ends, and leaves no process behind.
    pub async fn run(
        self,
        from_client: impl AsyncRead + Send + Unpin + 'static,
        to_client: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Outcome {
        self.run_port(Port::bytes(from_client, to_client)).await
    }

    /// The same over a port.
    pub async fn run_port(self, client: Port) -> Outcome {
        let Self { upstream, settings, stop } = self;
        let (exited, exit_seen) = watch::channel(None);
        let tail = upstream.process.as_ref().map(|process| process.tail.clone());
        let pump = Pump::over(client, upstream.port);
        let handle = pump.handle();
        let pump = pump.options(Options {
            server_gone: Box::pin(obituary(settings.clone(), tail, exit_seen, handle.gauge())),
            first_request_wait: FIRST_REQUEST_WAIT,
            id_limits: settings.id_limits,
            ..Options::default()
        });
        handle.set_observer(Arc::new(Observers(settings.observers.clone())));
        handle.set_interceptor(Arc::clone(&settings.interceptor));
        handle.set_tools(settings.tools.clone());
        if let Some(started) = &settings.started {
            started(handle.clone());
        }
        let running = pump.run();
        let Some(mut process) = upstream.process else {
            let abandon = async {
                // No process to signal: what has nothing more to say is left alone.
                drained(&handle.gauge(), &settings).await;
                handle.end_server();
                std::future::pending::<()>().await;
            };
            let end = tokio::select! {
                end = running => end,
                _ = stop.asked() => Ok(End::Stopped),
                () = abandon => Ok(End::Stopped),
            };
            let stopped_by = stopped_by(&stop);
            return Outcome { end, server_code: None, ended_itself: true, ended_for: None, stopped_by };
        };
        let mut fate = None;
        let end = {
            let watched = watch_over(&mut process, &handle, &settings, &stop, &exited);
            let overdue = overdue(&stop);
            tokio::pin!(running, watched, overdue);
            let end = loop {
                tokio::select! {
                    biased;
                    end = &mut running => break end,
                    ended = &mut watched, if fate.is_none() => fate = Some(ended),
                    // The server is gone by now; what is left is a client that reads no more.
                    () = &mut overdue => break Ok(End::Stopped),
                }
            };
            // The pump goes with this block, and with it the server's stdin.
            end
        };
        let stopped_by = stopped_by(&stop);
        let (code, ended_for) = match fate {
            Some(Exited { code, ended_for }) => (code, ended_for),
            None => {
                // The end of its output may be seen before its exit is dealt with.
                let ended_for = exited.borrow().and_then(|fate: Exited| fate.ended_for);
                (end_now(&mut process, &end).await, ended_for)
            }
        };
        let ended_itself = !process.was_signalled();
        drop(process);
        Outcome { end, server_code: Some(code), ended_itself, ended_for, stopped_by }
    }
}

/// Resolves when we were told to end and have taken as long as that may take.
async fn overdue(stop: &Stop) {
    stop.asked().await;
    sleep(STOP_LIMIT).await;
}

fn stopped_by(stop: &Stop) -> Option<u8> {
    Some(stop.signal()).filter(|signal| *signal != 0)
}

/// Watches the process until it has exited, ending it where it is time.
async fn watch_over(
    process: &mut Process,
    handle: &Handle,
    settings: &Settings,
    stop: &Stop,
    exited: &watch::Sender<Option<Exited>>,
) -> Exited {
    let gauge = handle.gauge();
    let ended_for = tokio::select! {
        code = process.exit_code() => {
            return after_exit(process, handle, stop, exited, Exited { code, ended_for: None }).await;
        }
        signal = stop.asked() => {
            handle.end_client();
            if let Ok(code) = tokio::time::timeout(EOF_TO_TERM, process.exit_code()).await {
                return after_exit(process, handle, stop, exited, Exited { code, ended_for: None }).await;
            }
            EndedFor::Signal(signal)
        }
        silence = drained(&gauge, settings) => silence,
    };
    let signal = match ended_for {
        EndedFor::Signal(signal) => Signal::from_named_raw(i32::from(signal)).unwrap_or(Signal::TERM),
        EndedFor::Drain(_) | EndedFor::Grace(_) => Signal::TERM,
    };
    let code = climb(process, signal).await;
    after_exit(process, handle, stop, exited, Exited { code, ended_for: Some(ended_for) }).await
}

/// SIGTERM, then SIGKILL, to the whole group.
async fn climb(process: &Process, first: Signal) -> u8 {
    process.signal(first);
    if let Ok(code) = tokio::time::timeout(TERM_TO_KILL, process.exit_code()).await {
        return code;
    }
    process.signal(Signal::KILL);
    process.exit_code().await
}

/// The pump has ended and the process has not: the client is gone, or the server has closed its
/// output and stays.
async fn end_now(process: &mut Process, end: &Result<End, PumpError>) -> u8 {
    if end.is_err() {
        process.signal(Signal::KILL);
    }
    if !matches!(end, Ok(End::ClientGone)) {
        // The end of its output is seen before its exit: it is on its way, or tidies up.
        if let Ok(code) = tokio::time::timeout(TERM_TO_KILL, process.exit_code()).await {
            process.stderr_read(SILENCE).await;
            return code;
        }
    }
    let code = climb(process, Signal::TERM).await;
    process.stderr_read(SILENCE).await;
    code
}

/// Resolves when the client has ended and the server has nothing more to say.
async fn drained(gauge: &Gauge, settings: &Settings) -> EndedFor {
    gauge.client_end().await;
    let (mut moved, mut since) = (gauge.moved_bytes(), Instant::now());
    loop {
        sleep(LADDER_TICK).await;
        let now = gauge.moved_bytes();
        if now != moved {
            (moved, since) = (now, Instant::now());
        }
        // Activity, not a fixed time: a 64 MiB answer may be on its way for longer than that.
        let (patience, ended_for) = match gauge.due() {
            0 => (settings.grace, EndedFor::Grace(settings.grace)),
            _ => (settings.drain, EndedFor::Drain(settings.drain)),
        };
        if since.elapsed() >= patience {
            return ended_for;
        }
    }
}

/// What is left in the pipes is read; then the pump is told, for a grandchild may hold them open.
async fn after_exit(
    process: &mut Process,
    handle: &Handle,
    stop: &Stop,
    exited: &watch::Sender<Option<Exited>>,
    fate: Exited,
) -> Exited {
    process.stderr_read(SILENCE).await;
    exited.send_replace(Some(fate));
    let gauge = handle.gauge();
    let mut stalled = Duration::ZERO;
    loop {
        let before = gauge.moved_bytes();
        sleep(SILENCE).await;
        if gauge.moved_bytes() != before {
            stalled = Duration::ZERO;
            continue;
        }
        stalled += SILENCE;
        // A client that is slow to read is not a silent server.
        if !gauge.client_full() || stalled >= CLIENT_STALL || stop.signal() != 0 {
            break;
        }
    }
    handle.end_server();
    fate
}

/// The error that open requests are answered with: nobody should have to look for a log.
async fn obituary(
    settings: Settings,
    tail: Option<Tail>,
    mut exited: watch::Receiver<Option<Exited>>,
    gauge: Arc<Gauge>,
) -> Option<RpcError> {
    if let Some(text) = settings.no_server {
        return Some(RpcError::new(RpcError::INTERNAL, text));
    }
    let waiting = exited.wait_for(Option::is_some);
    let fate = match tokio::time::timeout(EXIT_CODE_WAIT, waiting).await {
        Ok(Ok(fate)) => *fate,
        _ => None,
    };
    let code = fate.map(|fate| fate.code);
    if gauge.client_ended() && code == Some(0) {
        // The client closed its side, the server ended well: what it left unanswered (a call that
        // was given up, say) it would leave unanswered without us.
        return None;
    }
    let name =
        settings.name.map_or_else(|| "the MCP server".to_owned(), |name| format!("the MCP server `{name}`"));
    let ended_for = fate.and_then(|fate| fate.ended_for);
    let how = match (code, ended_for) {
        (_, Some(why)) => why.to_string(),
        (Some(127), None) => format!("{} (command not found)", how_it_ended(127)),
        (Some(code), None) => how_it_ended(code),
        (None, None) => "closed its output".to_owned(),
    };
    let lines = tail.map(|tail| tail.lines()).unwrap_or_default();
    let said = if lines.is_empty() {
        "It wrote nothing to stderr; run its command by hand to see why.".to_owned()
    } else {
        format!("Its last lines of stderr:\n{}", lines.join("\n"))
    };
    let data = serde_json::json!({ "exitCode": code, "stderr": lines });
    Some(RpcError {
        code: RpcError::INTERNAL,
        message: format!("{name} {how} before it answered. {said}"),
        data: Some(data.to_string()),
    })
}

/// Several observers as one.
struct Observers(Vec<Arc<dyn Observer>>);

impl Observer for Observers {
    fn frame(&self, seen: &Seen<'_>) {
        self.0.iter().for_each(|observer| observer.frame(seen));
    }

    fn sees_usual_frames(&self) -> bool {
        self.0.iter().any(|observer| observer.sees_usual_frames())
    }

    fn ended(&self, request: &Head, how: Ended) {
        self.0.iter().for_each(|observer| observer.ended(request, how));
    }

    fn too_long(&self, from: Side, gone: &TooLong) {
        self.0.iter().for_each(|observer| observer.too_long(from, gone));
    }

    fn notice(&self, notice: &Notice) {
        self.0.iter().for_each(|observer| observer.notice(notice));
    }
}
