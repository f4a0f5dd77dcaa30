//! Writing, and what is done after a write.

use std::io;
use std::task::{Context, Poll};

use super::{Alarm, DEAF_SERVER, PumpError, RECYCLED_FOR, Relay, Unread};
use crate::request::Side;
use crate::router::Effect;
use crate::seam::How;

impl Relay {
    pub(super) fn poll_write(&mut self, to: Side, cx: &mut Context<'_>) -> Result<bool, PumpError> {
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

    pub(super) fn look_back(&mut self) {
        for (from, unread) in self.later.drain(..) {
            match unread {
                Unread::One(frame) => self.router.attribute(from, &frame),
                Unread::Run(run) => self.router.attribute_run(from, &run),
            }
        }
    }

    /// The memory of a large frame that went out is used for the next one, for a while.
    pub(super) fn recycle(&mut self, from: Side) {
        if let Some(gone) = self.lanes.of_mut(from.other()).outbox.take_gone() {
            self.lanes.of_mut(from).port.source.recycle(gone);
            self.shrink = Some(Box::pin(tokio::time::sleep(RECYCLED_FOR)));
        }
    }

    pub(super) fn poll_shrink(&mut self, cx: &mut Context<'_>) {
        if self.shrink.as_mut().is_some_and(|sleep| sleep.as_mut().poll(cx).is_ready()) {
            self.shrink = None;
            for side in [Side::Client, Side::Server] {
                self.lanes.of_mut(side).port.source.shrink();
            }
        }
    }

    pub(super) fn carry_out(&mut self) {
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
}

/// Errors that say that nobody reads any more: an end, not a fault.
fn is_peer_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted
    )
}
