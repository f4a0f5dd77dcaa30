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

use framegate_guard::Guard;
use framegate_guard::json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::listing;
use super::shared::{Bridge, Inner};
use crate::calls::Level;
use crate::mcp::VERSION_KEY;

/// How long a call waits for the listing before it is refused.
pub(super) const LISTING_WAIT: Duration = Duration::from_secs(5);

/// Between the end of one listing and the next, and how many times as long as the last one took to adopt: a
/// server that says in a loop that its tools have changed keeps no core busy. The first change after a pause is
/// looked at as soon as it is told.
const AGAIN_AFTER: Duration = Duration::from_millis(250);
const REST_PER_WORK: u32 = 4;
/// How often a listing is adopted anew because the guard was changed meanwhile (another policy, a doubt).
const ADOPTIONS_MAX: usize = 3;

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
    /// Not before this moment.
    rest_until: Option<Instant>,
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

    /// One listing is under way, and one may wait behind it: a later one never gives way to an earlier.
    async fn list_until_fresh(self: Arc<Self>) {
        loop {
            let rest_until = self.opening().rest_until;
            if let Some(until) = rest_until {
                tokio::time::sleep_until(until).await;
            }
            // What was told before this moment is answered by this listing.
            let version = {
                let mut opening = self.opening();
                opening.is_stale = false;
                opening.version.clone()
            };
            let mut took = Duration::ZERO;
            let failure = match self.injector.get() {
                Some(injector) => match listing::list(injector, version.as_deref()).await {
                    Ok(tools) => {
                        let since = Instant::now();
                        let adopted = self.adopt(tools).await;
                        took = since.elapsed();
                        adopted.err()
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
                opening.rest_until = Some(Instant::now() + AGAIN_AFTER.max(took * REST_PER_WORK));
                opening.is_listing = opening.is_stale;
                opening.is_listing
            };
            self.listed.send_replace(failure);
            if !again {
                return;
            }
        }
    }

    /// Off the pump's thread: thousands of schemas take a second to compile.
    async fn adopt(self: &Arc<Self>, tools: Vec<listing::Listed>) -> Result<(), String> {
        let tools = Arc::new(tools);
        let adopted = |guard: &Guard, tools: &[listing::Listed]| {
            guard.adopt(tools.iter().map(|tool| (tool.name.clone(), tool.definition.clone())))
        };
        // A few tools are adopted before the next frame is read, as fast as they could be handed over.
        let bytes: usize = tools.iter().map(listing::Listed::bytes).sum();
        let mut attempts = 0..if bytes > listing::ON_THREAD_BYTES_MAX { ADOPTIONS_MAX } else { 0 };
        let warnings = loop {
            let before = self.guard();
            if attempts.next().is_none() {
                // Whoever changes it all the time must not keep the listing out for ever.
                let (guard, warnings) = adopted(&before, &tools);
                self.set_guard(guard);
                break warnings;
            }
            let (of, listed) = (Arc::clone(&before), Arc::clone(&tools));
            let adopting = tokio::task::spawn_blocking(move || adopted(&of, &listed));
            let (guard, warnings) =
                adopting.await.map_err(|why| format!("the server's listing cannot be used: {why}"))?;
            // Under another policy than it was adopted by, a listing means something else.
            if self.replace_guard(&before, guard) {
                break warnings;
            }
        };
        warnings.iter().for_each(|warning| self.log.say_lines(Level::Warn, warning));
        self.doubt_changed();
        Ok(())
    }

    /// Resolves once a listing that was asked for before now is in.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) async fn wait_listed(&self, mut seen: watch::Receiver<Failure>) -> Result<(), String> {
        // Of two that end from now on, the second was begun from now on: a server that goes on saying that its
        // tools have changed keeps nobody waiting.
        let mut ended = 0;
        let settled = |inner: &Inner, ended: usize| {
            (!inner.opening().is_listing || ended >= 2) && inner.guard().is_listed()
        };
        let waiting = async {
            while !settled(self, ended) {
                let failure = seen.borrow_and_update().clone();
                if let Some(failure) = failure.filter(|_| !self.opening().is_listing) {
                    return Err(failure);
                }
                if seen.changed().await.is_err() {
                    return Err("the session ended".to_owned());
                }
                ended += 1;
            }
            Ok(())
        };
        match tokio::time::timeout(LISTING_WAIT, waiting).await {
            Ok(result) => result,
            Err(_) => Err(format!("the server did not list its tools within {} s", LISTING_WAIT.as_secs())),
        }
    }
}
