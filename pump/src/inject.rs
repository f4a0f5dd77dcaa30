//! Handles on a running pump: asking and telling in our own name, swapping seams, stopping.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot};

use crate::frame::Frame;
use crate::request::Side;
use crate::router::Seams;
use crate::seam::{Interceptor, Observer, ToolInjector};

/// What a handle tells the pump.
#[derive(Debug)]
pub(crate) enum Command {
    Ask { number: u64, to: Side, method: String, params: Option<String>, answer: oneshot::Sender<Frame> },
    EndClient,
    EndServer,
    Forget(u64),
    Notify { to: Side, method: String, params: Option<String> },
    Stop,
}

/// Why a question of ours has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectError {
    /// `params` is not one JSON value on one line.
    BadParams,
    /// The pump has ended, or the side that was asked is gone, or its answer was over the cap.
    Closed,
    /// No answer came in time. One that comes later is dropped.
    TimedOut,
}

impl std::fmt::Display for InjectError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::BadParams => "params is not one JSON value on one line",
            Self::Closed => "the session ended before an answer came",
            Self::TimedOut => "no answer came in time",
        })
    }
}

impl std::error::Error for InjectError {}

/// Asks and tells either side in our own name. Cheap to clone; outlives the pump harmlessly.
///
/// Ids come from a reserved namespace with a random part for each session; answers never reach
/// the other side, however late or often they come. Nothing should be sent to a server before
/// the client's opening exchange is complete: Python servers pin the protocol era by the first
/// request they see.
#[derive(Clone, Debug)]
pub struct Injector {
    commands: mpsc::UnboundedSender<Command>,
    numbers: Arc<AtomicU64>,
}

impl Injector {
    pub(crate) fn new(commands: mpsc::UnboundedSender<Command>) -> Self {
        Self { commands, numbers: Arc::default() }
    }

    /// Sends the server a request; returns its raw answer, a result or an error.
    ///
    /// # Errors
    /// [`InjectError`]; on a time-out the server is sent `notifications/cancelled`.
    pub async fn request_server(
        &self,
        method: &str,
        params: Option<&str>,
        deadline: Duration,
    ) -> Result<Frame, InjectError> {
        self.request(Side::Server, method, params, deadline).await
    }

    /// Sends the client a request; returns its raw answer, a result or an error.
    ///
    /// # Errors
    /// [`InjectError`]; on a time-out the client is sent `notifications/cancelled`.
    pub async fn request_client(
        &self,
        method: &str,
        params: Option<&str>,
        deadline: Duration,
    ) -> Result<Frame, InjectError> {
        self.request(Side::Client, method, params, deadline).await
    }

    /// Sends the server a notification.
    ///
    /// # Errors
    /// [`InjectError::BadParams`] or [`InjectError::Closed`].
    pub fn notify_server(&self, method: &str, params: Option<&str>) -> Result<(), InjectError> {
        self.notify(Side::Server, method, params)
    }

    /// Sends the client a notification.
    ///
    /// # Errors
    /// [`InjectError::BadParams`] or [`InjectError::Closed`].
    pub fn notify_client(&self, method: &str, params: Option<&str>) -> Result<(), InjectError> {
        self.notify(Side::Client, method, params)
    }

    async fn request(
        &self,
        to: Side,
        method: &str,
        params: Option<&str>,
        deadline: Duration,
    ) -> Result<Frame, InjectError> {
        let params = one_line(params)?;
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let (answer, waiting) = oneshot::channel();
        let ask = Command::Ask { number, to, method: method.to_owned(), params, answer };
        self.send(ask)?;
        let mut forget = ForgetOnDrop { injector: self, number: Some(number) };
        match tokio::time::timeout(deadline, waiting).await {
            Err(_) => Err(InjectError::TimedOut),
            Ok(answer) => {
                forget.number = None;
                answer.map_err(|_| InjectError::Closed)
            }
        }
    }

    fn notify(&self, to: Side, method: &str, params: Option<&str>) -> Result<(), InjectError> {
        let params = one_line(params)?;
        self.send(Command::Notify { to, method: method.to_owned(), params })
    }

    fn send(&self, command: Command) -> Result<(), InjectError> {
        self.commands.send(command).map_err(|_| InjectError::Closed)
    }
}

/// A question whose asker stopped waiting (time-out, or a dropped future) is withdrawn.
struct ForgetOnDrop<'a> {
    injector: &'a Injector,
    number: Option<u64>,
}

impl Drop for ForgetOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            // A pump that has ended has nothing to forget.
            let _ = self.injector.send(Command::Forget(number));
        }
    }
}

fn one_line(params: Option<&str>) -> Result<Option<String>, InjectError> {
    let Some(params) = params else { return Ok(None) };
    let is_json = serde_json::from_str::<&serde_json::value::RawValue>(params).is_ok();
    let is_line = memchr::memchr2(b'\n', b'\r', params.as_bytes()).is_none();
    (is_json && is_line).then(|| Some(params.to_owned())).ok_or(InjectError::BadParams)
}

// === the handle ===

/// Seams that are read by the pump and replaced by handles.
#[derive(Debug, Default)]
pub(crate) struct SharedSeams {
    /// Grows with each change, so that the pump sees one without taking the lock.
    version: AtomicU64,
    seams: Mutex<Seams>,
}

impl SharedSeams {
    pub(crate) fn change(&self, change: impl FnOnce(&mut Seams)) {
        let mut seams = self.seams.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut seams);
        self.version.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn current(&self) -> Seams {
        self.seams.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }
}

/// Counters that whoever ends the server reads: what is due, and whether anything still moves.
#[derive(Debug, Default)]
pub struct Gauge {
    client_ended: AtomicBool,
    client_end: Notify,
    due: AtomicUsize,
    client_full: AtomicBool,
    moved_bytes: AtomicU64,
    server_frames: AtomicU64,
}

impl Gauge {
    /// The client will send nothing more.
    pub fn client_ended(&self) -> bool {
        self.client_ended.load(Ordering::Acquire)
    }

    /// Resolves when [`Gauge::client_ended`] does. One waiter at a time.
    pub async fn client_end(&self) {
        while !self.client_ended() {
            self.client_end.notified().await;
        }
    }

    /// Answers that the client still waits for. A `subscriptions/listen` is not due.
    pub fn due(&self) -> usize {
        self.due.load(Ordering::Acquire)
    }

    /// The server is not read, for the client does not take what is queued for it.
    pub fn client_full(&self) -> bool {
        self.client_full.load(Ordering::Acquire)
    }

    /// Bytes read from the server and written to either side so far: it stands still when
    /// nothing moves.
    pub fn moved_bytes(&self) -> u64 {
        self.moved_bytes.load(Ordering::Acquire)
    }

    /// Frames read from the server so far.
    pub fn server_frames(&self) -> u64 {
        self.server_frames.load(Ordering::Acquire)
    }

    pub(crate) fn set_client_ended(&self) {
        self.client_ended.store(true, Ordering::Release);
        self.client_end.notify_one();
    }

    pub(crate) fn set_due(&self, due: usize) {
        self.due.store(due, Ordering::Release);
    }

    pub(crate) fn set_client_full(&self, full: bool) {
        self.client_full.store(full, Ordering::Release);
    }

    pub(crate) fn moved(&self, bytes: usize) {
        // One task writes; a plain store is cheaper than a read-modify-write.
        let before = self.moved_bytes.load(Ordering::Relaxed);
        self.moved_bytes.store(before.wrapping_add(bytes as u64), Ordering::Release);
    }

    pub(crate) fn count_server_frame(&self) {
        let before = self.server_frames.load(Ordering::Relaxed);
        self.server_frames.store(before.wrapping_add(1), Ordering::Release);
    }
}

/// A handle on a running pump.
#[derive(Clone, Debug)]
pub struct Handle {
    pub(crate) injector: Injector,
    pub(crate) seams: Arc<SharedSeams>,
    pub(crate) gauge: Arc<Gauge>,
}

impl Handle {
    /// For asking and telling in our own name.
    pub fn injector(&self) -> Injector {
        self.injector.clone()
    }

    /// What is due, and whether anything moves.
    pub fn gauge(&self) -> Arc<Gauge> {
        Arc::clone(&self.gauge)
    }

    /// Replaces the observer, from the next frame on.
    pub fn set_observer(&self, observer: Arc<dyn Observer>) {
        self.seams.change(|seams| seams.observer = observer);
    }

    /// Replaces the interceptor, from the next frame on. Frames it holds stay held.
    pub fn set_interceptor(&self, interceptor: Arc<dyn Interceptor>) {
        self.seams.change(|seams| seams.interceptor = interceptor);
    }

    /// Replaces the tool injector, from the next frame on. Tell the client by
    /// `notifications/tools/list_changed` that its listing is old.
    pub fn set_tools(&self, tools: Option<Arc<dyn ToolInjector>>) {
        self.seams.change(|seams| seams.tools = tools);
    }

    /// Treats the client's stream as ended: the server's input is closed once what the client
    /// sent is written, and what the server still says is passed on.
    pub fn end_client(&self) {
        let _ = self.injector.send(Command::EndClient);
    }

    /// Treats the server's stream as ended, though it is still open (a grandchild may hold it).
    pub fn end_server(&self) {
        // A pump that has ended needs no telling.
        let _ = self.injector.send(Command::EndServer);
    }

    /// Ends the session: what is queued is written if it can be at once.
    pub fn stop(&self) {
        let _ = self.injector.send(Command::Stop);
    }
}
