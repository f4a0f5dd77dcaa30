//! A byte-faithful pump for MCP (Model Context Protocol) over stdio.
//!
//! It promises that **a frame goes through untouched**: one line in, the same bytes out,
//! terminator included, up to [`MAX_FRAME_BYTES`], in order, in both directions, whatever else
//! goes on. It knows where frames end, who asked what, and how to take its own questions and
//! answers out of the stream again. It refuses to know what a tool is allowed to do: that is
//! decided behind the [`seam`]s.
//!
//! * [`Pump`] runs over four byte streams (or two [`Port`]s of frames) and hands out a
//!   [`Handle`].
//! * An [`Observer`] sees every frame, as received and as sent.
//! * An [`Interceptor`] is asked about the messages it wants and returns a [`Verdict`]; a verdict
//!   that has to wait for a person or a machine is a [`Hold`], and everything else flows on.
//! * A [`ToolInjector`] adds tools to the server's listing and answers their calls.
//! * An [`Injector`] asks either side something in our own name; the answers never leak.
//!
//! ```text
//! client ─► source ─► cut ─► router ─┬─► sink ─► server
//!                              ▲     └─► sink ─► client (refusals, our questions)
//!            seams ────────────┘
//! ```
//!
//! Exceptions to the promise are few, and each is a *splice* ([`Edits`]): byte ranges of the
//! frame are replaced, every other byte stays. They are: edits that an interceptor asks for, tools
//! appended to or hidden from a listing (and its `cacheScope`), and a request id that trespasses
//! on our reserved namespace.
//!
//! # Example
//!
//! An interceptor that refuses one tool, and a tool of our own (`cargo run --example embed -p
//! framegate-pump -- SERVER` wraps a server with it):
//!
//! ```
#![doc = include_str!("../examples/embed.rs")]
//! ```
//!
//! # Limits
//!
//! | what | number | beyond it |
//! |---|---|---|
//! | a frame, without its terminator | 64 MiB | discarded; who waits for its answer is told by an error |
//! | a line without an LF | 128 MiB, or 10 s of silence after 64 MiB | [`PumpError::Flood`] |
//! | bytes queued for a side | 1 MiB, or one frame | the other side is not read |
//! | our own answers queued for a side | 8 MiB | that side is not read |
//! | open requests remembered a side | 65,536 | pass, but are not accounted for |
//!
//! Memory: one frame being read and one being written, for each direction.

pub mod codec;
mod ends;
pub mod envelope;
mod frame;
mod id;
mod inject;
mod listing;
mod relay;
mod request;
pub mod router;
mod scan;
pub mod seam;
mod skim;
mod splice;
pub mod stream;

pub use codec::TooLong;
pub use ends::{Member, members as members_at_ends, visit as visit_ends};
pub use envelope::{Ambiguity, Envelope, Kind, Opacity, Span};
pub use frame::{Frame, MAX_FRAME_BYTES, Run};
pub use id::{Decimal, Id, Namespace};
pub use inject::{Gauge, Handle, InjectError, Injector};
#[doc(hidden)]
pub use listing::assert_splice_is_exact;
pub use relay::{End, OnTooLong, Options, Port, Pump, PumpError};
pub use request::{Head, Method, Request, RpcError, Side, Ticket};
pub use router::{IdLimits, Seams};
pub use seam::{
    Ended, Hold, HoldKind, How, InjectedTool, Interceptor, Interest, NoopObserver, Notice, Observer, Odd,
    PassAll, Point, Seen, ToolInjector, Verdict, Wants,
};
pub use skim::Skimmed;
pub use splice::{Edits, SpliceError};
