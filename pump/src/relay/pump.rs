//! What a pump is made of, and its settings.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use super::{End, PumpError, Relay};
use crate::id::Namespace;
use crate::inject::{Command, Handle, Injector};
use crate::request::RpcError;
use crate::router::IdLimits;
use crate::seam::{Interceptor, Observer, ToolInjector};
use crate::stream::{ByteSink, ByteSource, FrameSink, FrameSource};

/// What to do after a frame over [`crate::MAX_FRAME_BYTES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnTooLong {
    /// Discard it, tell whoever waits for its answer, go on.
    #[default]
    Continue,
    /// End the session.
    End,
}

pub(super) type LastWords = Pin<Box<dyn Future<Output = Option<RpcError>> + Send>>;

/// Settings of a pump. All have defaults.
pub struct Options {
    /// What to do after a frame over the cap.
    pub on_too_long: OnTooLong,
    /// Limits on ids, for a guard; they hold while [`Interceptor::keeps_id_limits`] says so.
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
    pub(super) client: Port,
    pub(super) server: Port,
    pub(super) options: Options,
    pub(super) namespace: Namespace,
    pub(super) handle: Handle,
    pub(super) commands: mpsc::UnboundedReceiver<Command>,
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
