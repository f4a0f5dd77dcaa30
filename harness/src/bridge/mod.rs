//! The bridge: a guard plugged into the pump.
//!
//! ```text
//! client frame ─ wire::client_frame ─┬ not read for certain ─► JSON-RPC error, nothing is sent
//!                                    ├ tools/call ─ Ledger::step { Guard::decide } ─┬ allow ─► sent, byte for byte
//!                                    │                                              │         (or with edits)
//!                                    │                                              ├ ask ─► a person is asked ([`asking`])
//!                                    │                                              └ deny ─┬► refusal result
//!                                    │                                                     └ lacks arguments ─► asked for ([`form`])
//!                                    ├ another request ─ methods: ─┬ pass ─► sent
//!                                    │                             └ deny ─► JSON-RPC error
//!                                    └ notification, answer ─► sent
//! server frame ─ wire::server_frame ─┬ could be taken for another message ─► dropped; who waits is told
//!                                    ├ a request of its own ─ server_requests: ─► passed or refused
//!                                    └ everything else ─► passed
//! ```
//!
//! The guard lists the tools for itself ([`listing`]) once the opening exchange is over; a call that comes
//! before waits, alone, for that. In *monitor* mode the same is decided and logged, and no byte is changed.

mod annotate;
mod answered;
mod answers;
mod asking;
mod audit;
mod beside;
mod calls;
mod cuts;
mod disk;
mod elicitations;
mod ends;
mod form;
mod form_frame;
mod form_record;
mod form_refusal;
mod form_rounds;
mod hearing;
mod incident;
pub(crate) mod listing;
mod opening;
mod programs;
mod progress;
mod questions;
mod reach;
mod refusals;
mod reload;
mod requests;
mod retry;
mod shared;
mod terminal;
#[cfg(test)]
mod tests;
mod turn;

use std::sync::Arc;

use framegate_pump::{
    Ended, Frame, InjectedTool, Interceptor, Interest, Kind, Observer, Odd, Point, Request, Seen, Side,
    ToolInjector, Verdict, Wants,
};

pub(crate) use self::disk::Disk;
pub(crate) use self::reload::follow;
pub use self::shared::{Bridge, BridgeSettings};

impl Interceptor for Bridge {
    fn interest(&self, _: Side) -> Interest {
        Interest { messages: true, odd: Odd::All }
    }

    fn keeps_id_limits(&self) -> bool {
        // Asked for each request: another policy may monitor, or enforce again.
        !self.guard().is_monitoring()
    }

    fn wants(&self, _: Side, _: &str) -> Wants {
        // Every frame of the client's is read strictly before it goes on; every answer of the server's is
        // matched to what asked for it.
        Wants::Decide
    }

    fn request(&self, request: &Request) -> Verdict {
        match request.head().from {
            Side::Client => self.client_request(request),
            Side::Server => self.server_request(request),
        }
    }

    fn notification(&self, notification: &Request) -> Verdict {
        match notification.head().from {
            Side::Client => self.client_notification(notification),
            Side::Server => self.server_notification(notification),
        }
    }

    fn answer(&self, request: &Request, answer: &Frame) -> Verdict {
        match request.head().from {
            Side::Client => self.server_answer(request, answer),
            Side::Server => self.client_answer(request, answer),
        }
    }

    fn reads_answer(&self, request: &Request, answer: &Frame) -> bool {
        match request.head().from {
            Side::Client => self.reads_server_answer(request, answer),
            Side::Server => true,
        }
    }

    fn ended(&self, request: &Request, how: Ended) {
        self.call_ended(request, how);
    }

    fn odd_frame(&self, frame: &Frame, kind: Kind, from: Side) -> Verdict {
        match from {
            Side::Client => self.odd_client_frame(frame),
            Side::Server => self.odd_server_frame(frame, kind),
        }
    }
}

/// Hides what the policy does not offer.
#[derive(Debug)]
pub(crate) struct Visible(pub(crate) Arc<Bridge>);

impl ToolInjector for Visible {
    fn tools(&self) -> Vec<InjectedTool> {
        Vec::new()
    }

    fn is_visible(&self, name: &str) -> bool {
        self.0.is_visible(name)
    }

    fn hides(&self) -> bool {
        !self.0.guard().is_monitoring()
    }

    fn call(&self, _: &Request) -> Verdict {
        Verdict::Forward
    }
}

/// Notes which calls have gone out: of one that ends before that, the record says so.
pub(crate) struct Outgoing(pub(crate) Arc<Bridge>);

impl Observer for Outgoing {
    fn frame(&self, seen: &Seen<'_>) {
        if let (Point::Sent(Side::Server, _), Some(head)) = (seen.point, seen.request)
            && head.from == Side::Client
            && head.method.as_str() == "tools/call"
            && let Some(sent) = self.0.inner.open().get_mut(&head.ticket)
        {
            sent.is_out = true;
        }
    }
}
