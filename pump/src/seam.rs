//! The seams: what somebody else's code can see, decide and add.
//!
//! All three traits are object safe, called on the pump's thread, and can be replaced while the
//! pump runs ([`crate::Handle::set_interceptor`] and its siblings). A call that has to wait for
//! something returns [`Verdict::Hold`]: an interceptor that waits inside its call blocks the very
//! stream that carries the answer it waits for.

use std::future::Future;
use std::pin::Pin;

use crate::codec::TooLong;
use crate::envelope::{Envelope, Kind};
use crate::frame::Frame;
use crate::request::{Head, Request, Side};
use crate::splice::Edits;

// === observing ===

/// Where a frame was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// It came in from this side.
    Received(Side),
    /// It was put on the wire toward this side.
    Sent(Side, How),
}

/// How a frame that is sent relates to what was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// The same frame with some byte ranges replaced.
    Edited,
    /// A frame made here.
    Ours,
    /// The bytes that were received.
    Verbatim,
}

/// One sighting of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Where.
    pub point: Point,
    /// The bytes.
    pub frame: &'a Frame,
    /// The request that this frame is, or answers, where that is known.
    pub request: Option<&'a Head>,
    /// The frame's envelope as it was received, where it was read. For a large frame on which
    /// nothing depends only its ends were looked at.
    pub envelope: Option<&'a Envelope>,
}

/// Sees every frame, decides nothing.
///
/// * `frame` is called for each frame as received, before any verdict, refused ones too, and
///   again for what was sent. Where no verdict can depend on a frame it is written first and
///   reported after.
/// * Frames consumed as answers to requests made through an [`crate::Injector`] are not reported.
/// * Calls must be quick: they run on the pump's thread.
pub trait Observer: Send + Sync {
    /// A frame was received or sent.
    fn frame(&self, seen: &Seen<'_>);

    /// Whether it wants to see every frame; asked once when it is set. If not, frames that are
    /// certain messages, small, and passed on unread may be left out.
    fn sees_usual_frames(&self) -> bool {
        true
    }

    /// A request that was passed on (or held) will get no answer.
    fn ended(&self, _request: &Head, _how: Ended) {}

    /// A frame from `from` was over [`crate::MAX_FRAME_BYTES`] and was discarded.
    fn too_long(&self, _from: Side, _gone: &TooLong) {}

    /// Something a person should know of.
    fn notice(&self, _notice: &Notice) {}
}

/// Something worth a line in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A client used an id from our namespace on a method that cannot be renamed.
    IdRefused {
        /// Who sent it.
        from: Side,
        /// The method.
        method: String,
    },
    /// A request came under an id that an earlier one still waits under; it was refused by an
    /// error without an id ([`crate::IdLimits`]).
    IdTaken {
        /// Who sent it.
        from: Side,
        /// The method.
        method: String,
    },
    /// An answer to one of our own requests came late, twice, or unasked, and was dropped.
    LateAnswer {
        /// Who sent it.
        from: Side,
    },
    /// The server listed a tool under an injected tool's name; it was hidden.
    ToolShadowed {
        /// The name.
        name: String,
    },
    /// A tool listing could not be read for certain; the client got an error instead.
    ListingUnreadable,
    /// A verdict's edits could not be made; the frame was dropped.
    SpliceFailed {
        /// Why.
        why: crate::splice::SpliceError,
    },
    /// Tools of the server whose name could not be read for certain were hidden.
    ToolsUnreadable {
        /// How many.
        count: usize,
    },
}

/// Why a request gets no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ended {
    /// Its sender cancelled it.
    Cancelled,
    /// Its sender went away while it was held.
    SenderGone,
    /// The side that should have answered went away. Its sender was told by an error.
    PeerGone,
    /// We answered it ourselves: its own answer was refused, or the edit that a verdict asked
    /// for could not be made.
    Replaced,
    /// Its answer was over the cap. Its sender was told by an error.
    TooLong,
    /// Its answer was a line that is no JSON (it held `NaN`, which some readers take) and was
    /// passed on: what it said is not known.
    Unreadable,
}

/// An observer that sees nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoopObserver;

impl Observer for NoopObserver {
    fn frame(&self, _: &Seen<'_>) {}

    fn sees_usual_frames(&self) -> bool {
        false
    }
}

// === deciding ===

/// What an interceptor wants to be asked about a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wants {
    /// Nothing: the frame is not read beyond its envelope.
    Nothing,
    /// The answer only.
    Answer,
    /// The request before it is sent on, and then the answer.
    Decide,
}

/// Which frames of one side an interceptor is interested in at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest {
    /// [`Interceptor::wants`] may say more than nothing for this side's messages.
    pub messages: bool,
    /// Which frames that cannot be read for certain go to [`Interceptor::odd_frame`].
    pub odd: Odd,
}

/// Which odd frames are of interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Odd {
    /// None: they pass.
    Nothing,
    /// Lines that are no JSON object or array ([`Kind::Opaque`]).
    Opaque,
    /// All that are not certain, blank lines included, and answers that match no open request.
    All,
}

/// Decides on frames. Every method has a default that lets everything pass.
///
/// For each request that was sent on after [`Wants::Decide`] or [`Wants::Answer`], or was to be
/// sent on and could not, there is exactly one later call of `answer` or `ended`.
pub trait Interceptor: Send + Sync {
    /// What can depend on this interceptor at all; asked once when it is set. Where nothing
    /// can, frames are written before they are looked at.
    fn interest(&self, from: Side) -> Interest {
        Interest { messages: true, odd: if from == Side::Client { Odd::All } else { Odd::Nothing } }
    }

    /// Whether the limits on ids ([`crate::IdLimits`]), where there are any, hold for the next request: one that
    /// only watches refuses nothing, and may begin to enforce while the pump runs.
    fn keeps_id_limits(&self) -> bool {
        true
    }

    /// What it wants to be asked about `method`, sent by `from`.
    fn wants(&self, _from: Side, _method: &str) -> Wants {
        Wants::Nothing
    }

    /// A request is about to be sent on.
    fn request(&self, _request: &Request) -> Verdict {
        Verdict::Forward
    }

    /// A notification is about to be sent on ([`Wants::Decide`] for its method).
    fn notification(&self, _notification: &Request) -> Verdict {
        Verdict::Forward
    }

    /// The answer to `request` is about to be sent back. [`Verdict::Answer`] replaces it.
    fn answer(&self, _request: &Request, _answer: &Frame) -> Verdict {
        Verdict::Forward
    }

    /// Whether [`Interceptor::answer`] looks inside this answer to `request`, which is a large one, or
    /// decides by it. If not, only its envelope is read: it may then be broken inside its `result`, where
    /// it would otherwise come as an odd frame that is no JSON.
    fn reads_answer(&self, _request: &Request, _answer: &Frame) -> bool {
        true
    }

    /// `request` will get no answer.
    fn ended(&self, _request: &Request, _how: Ended) {}

    /// A frame that cannot be read for certain, or an answer that matches no open request
    /// (`kind` is then [`Kind::Response`]).
    fn odd_frame(&self, _frame: &Frame, _kind: Kind, _from: Side) -> Verdict {
        Verdict::Forward
    }
}

/// What is to happen to a frame.
#[derive(Debug)]
pub enum Verdict {
    /// Not sent on; its sender gets this frame.
    Answer(Frame),
    /// Not sent on. The client gets these frames, maybe none.
    Drop {
        /// Frames for the client.
        to_client: Vec<Frame>,
    },
    /// Sent on, byte for byte.
    Forward,
    /// Not decided yet.
    Hold(Hold),
    /// Sent on with these byte ranges replaced.
    Replace(Edits),
}

/// A decision that is still to come.
pub struct Hold {
    /// Who is waited for.
    pub kind: HoldKind,
    /// Resolves to the verdict, which may be another hold. Dropped when the frame is
    /// cancelled or its sender leaves.
    pub until: Pin<Box<dyn Future<Output = Verdict> + Send>>,
}

impl Hold {
    /// A hold as a verdict.
    pub fn verdict(kind: HoldKind, until: impl Future<Output = Verdict> + Send + 'static) -> Verdict {
        Verdict::Hold(Self { kind, until: Box::pin(until) })
    }
}

impl std::fmt::Debug for Hold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hold").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// Who a hold waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HoldKind {
    /// A machine: store, listing, scan. Decided requests of one method are released in the order
    /// they came (a ping never waits for a call), and finished before the server's stdin is closed.
    Machine,
    /// A person. Other frames overtake it; it is dropped when the client leaves.
    Person,
}

/// An interceptor that lets everything pass, unread.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassAll;

impl Interceptor for PassAll {
    fn interest(&self, _: Side) -> Interest {
        Interest { messages: false, odd: Odd::Nothing }
    }
}

// === adding tools ===

/// Adds tools to the server's, and hides some of the server's from the client.
pub trait ToolInjector: Send + Sync {
    /// The tools to append to the first page of a listing: name and JSON text of each.
    fn tools(&self) -> Vec<InjectedTool>;

    /// Whether the client may see this tool of the server's. Static: a listing must not vary
    /// within a session (MCP 2026-07-28).
    fn is_visible(&self, _name: &str) -> bool {
        true
    }

    /// Whether it hides any tool at all. Where it does not, and adds none, listings pass as they are, those that
    /// cannot be read for certain too.
    fn hides(&self) -> bool {
        true
    }

    /// A `tools/call` that names one of [`ToolInjector::tools`], before any interceptor. The
    /// server never sees it unless this forwards it.
    fn call(&self, request: &Request) -> Verdict;
}

/// One injected tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InjectedTool {
    /// Its name.
    pub name: String,
    /// The whole tool as JSON text, one line (MCP, `Tool`).
    pub json: String,
}
