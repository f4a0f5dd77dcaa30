//! When the guard may ask the server for its tools, and in which era's words.
//!
//! ```text
//! Unopened ─ notifications/initialized ─────────────► Listing (legacy)
//!          ─ an enveloped request, not discover ────► Listing (modern, that request's version)
//!          ─ another request without a handshake ───► Listing (legacy: nothing is pinned by us that the client
//!                                                     has not pinned already)
//! Listing ─ all pages are in, or it failed ─────────► Listed
//! Listed  ─ notifications/tools/list_changed ───────► Listing
//! ```
//!
//! Python servers pin the protocol era by the first request they see, so nothing is asked before the client's
//! own opening (2026-07-28, section 3.3).

use std::sync::Arc;
use std::time::Duration;

use framegate_guard::json::Value;
use tokio::sync::watch;

use super::listing;
use super::shared::{Bridge, Inner};
use crate::calls::Level;
use crate::mcp::VERSION_KEY;

/// How long a call waits for the listing before it is refused.
pub(super) const LISTING_WAIT: Duration = Duration::from_secs(5);

/// Where the session stands.
#[derive(Debug, Default)]
pub(super) struct Opening {
    /// The protocol revision of a modern session; set with the first enveloped request.
    version: Option<String>,
    /// A listing was asked for.
    is_open: bool,
    /// A listing is on its way.
    is_listing: bool,
    /// It must be asked for again when it is in.
    is_stale: bool,
}

/// Why the last listing failed, if it did. Sent anew with each listing that is over.
pub(super) type Failure = Option<String>;

impl Opening {
    /// A listing is on its way.
    pub(super) fn is_listing(&self) -> bool {
        self.is_listing
    }

    /// The opening exchange is over, and it was a handshake.
    pub(super) fn is_legacy(&self) -> bool {
        self.is_open && self.version.is_none()
    }
}

impl Bridge {
    /// A request of the client's is on its way: the opening exchange may be over with it.
    pub(super) fn note_request(&self, method: &str, params: Option<Value<'_>>) {
        let mut opening = self.inner.opening();
        if opening.is_open || matches!(method, "initialize" | "ping" | "server/discover") {
            return;
        }
        let meta = params.and_then(|params| params.get("_meta"));
        let version = meta.and_then(|meta| meta.get(VERSION_KEY)).and_then(Value::as_str);
        opening.version = version.map(str::to_owned);
        drop(opening);
        self.inner.list();
    }

    /// `notifications/initialized` is on its way to the server.
    pub(super) fn note_initialized(&self) {
        if !self.inner.opening().is_open {
            self.inner.list();
        }
    }

    /// The server says that its tools are others now.
    pub(super) fn note_list_changed(&self) {
        if self.inner.opening().is_open {
            self.inner.list();
        }
    }
}

impl Inner {
    /// Asks for the tools, or notes that they must be asked for again.
    pub(super) fn list(self: &Arc<Self>) {
        {
            let mut opening = self.opening();
            opening.is_open = true;
            if opening.is_listing {
                opening.is_stale = true;
                return;
            }
            opening.is_listing = true;
        }
        let inner = Arc::clone(self);
        tokio::spawn(async move { inner.list_until_fresh().await });
    }

    async fn list_until_fresh(self: Arc<Self>) {
        loop {
            let version = self.opening().version.clone();
            let failure = match self.injector.get() {
                Some(injector) => match listing::list(injector, version.as_deref()).await {
                    Ok(tools) => {
                        self.adopt(tools);
                        None
                    }
                    Err(why) => Some(why),
                },
                None => Some("the bridge was not started".to_owned()),
            };
            if let Some(why) = &failure {
                self.log.say(Level::Warn, &format!("{why}; calls are refused until it does"));
            }
            let again = {
                let mut opening = self.opening();
                let again = std::mem::take(&mut opening.is_stale);
                opening.is_listing = again;
                again
            };
            self.listed.send_replace(failure);
            if !again {
                return;
            }
        }
    }

    fn adopt(&self, tools: Vec<listing::Listed>) {
        let (guard, warnings) =
            self.guard().adopt(tools.into_iter().map(|tool| (tool.name, tool.definition)));
        self.set_guard(guard);
        for warning in warnings {
            self.log.say(Level::Warn, &warning);
        }
        self.doubt_changed();
    }

    /// Resolves once a listing that was asked for before now is in.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) async fn wait_listed(&self, mut seen: watch::Receiver<Failure>) -> Result<(), String> {
        let settled = |inner: &Inner| !inner.opening().is_listing && inner.guard().is_listed();
        let waiting = async {
            while !settled(self) {
                let failure = seen.borrow_and_update().clone();
                if let Some(failure) = failure.filter(|_| !self.opening().is_listing) {
                    return Err(failure);
                }
                if seen.changed().await.is_err() {
                    return Err("the session ended".to_owned());
                }
            }
            Ok(())
        };
        match tokio::time::timeout(LISTING_WAIT, waiting).await {
            Ok(result) => result,
            Err(_) => Err(format!("the server did not list its tools within {} s", LISTING_WAIT.as_secs())),
        }
    }
}
