//! A frame on which a verdict is due, and who is concerned by it.

use super::open::Open;
use crate::envelope::Envelope;
use crate::frame::Frame;
use crate::id::Id;
use crate::request::{Head, Method, Request, Side};
use crate::seam::Wants;

/// A frame on which a verdict is due.
#[derive(Debug)]
pub(super) enum Pending {
    /// An answer, and the request it answers.
    Answer { from: Side, frame: Frame, envelope: Envelope, open: Box<Open> },
    /// A request or a notification.
    Message { request: Box<Request>, alias: Option<Id>, wants: Wants, asked: Asked },
    /// A frame that cannot be read for certain.
    Odd { from: Side, frame: Frame },
}

/// Who gave (or will give) the verdict on a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Injector,
    Interceptor,
}

impl Pending {
    /// Who sent the frame.
    pub(super) fn sender(&self) -> Side {
        match self {
            Self::Answer { from, .. } | Self::Odd { from, .. } => *from,
            Self::Message { request, .. } => request.head().from,
        }
    }

    /// Who waits for the answer, and under which id.
    pub(super) fn asker(&self) -> Option<(Side, &Id)> {
        match self {
            Self::Answer { open, .. } => Some((open.head.from, open.head.id.as_ref()?)),
            Self::Message { request, .. } => Some((request.head().from, request.id()?)),
            Self::Odd { .. } => None,
        }
    }

    /// Who gets nothing when the frame is dropped: who asked, or who sent what asks nothing.
    pub(super) fn concerns(&self) -> Side {
        self.head().map_or(self.sender(), |head| head.from)
    }

    /// The message, if it was the interceptor that was asked: it is told the end of that, and
    /// not of what it never saw, nor of what it has seen the answer to.
    pub(super) fn decided(&self) -> Option<&Request> {
        match self {
            Self::Message { request, asked: Asked::Interceptor, .. } => Some(&**request),
            _ => None,
        }
    }

    /// The requests among which it keeps its place. Nobody can say what an odd frame is; a machine holds one since it
    /// may be a call, and then no later call may run before it.
    pub(super) fn lane(&self) -> Method {
        self.head().map_or_else(Method::call, |head| head.method.clone())
    }

    pub(super) fn head(&self) -> Option<&Head> {
        match self {
            Self::Answer { open, .. } => Some(&open.head),
            Self::Message { request, .. } => Some(request.head()),
            Self::Odd { .. } => None,
        }
    }
}
