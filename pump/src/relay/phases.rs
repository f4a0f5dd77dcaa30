//! The way to the end, and the timers that bound it.

use std::task::{Context, Poll};
use std::time::Duration;

use super::{Alarm, DEAF_SERVER, DISCARD_STALL, End, LAST_WRITES_STALL, Phase, PumpError, Relay};
use crate::request::{RpcError, Side};
use crate::stream::ByteSink;

impl Relay {
    pub(super) fn poll_phase(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        let awaits_first_request = self.awaits_first_request();
        match &mut self.phase {
            Phase::Running => {
                self.close_server_input(cx);
                Poll::Pending
            }
            Phase::LastWords(_) if awaits_first_request => Poll::Pending,
            // Its last answers may still be held; they are no less due for its end.
            Phase::LastWords(_) if self.router.has_machine_holds(Side::Server) => Poll::Pending,
            Phase::LastWords(words) => {
                if let Poll::Ready(error) = words.as_mut().poll(cx) {
                    let somebody_waits = self.router.due(Side::Client) > 0;
                    self.tell(error.as_ref());
                    match error.filter(|_| somebody_waits && self.tells_on()) {
                        Some(error) => {
                            // What the client sends now goes nowhere.
                            self.lanes.of_mut(Side::Server).write_ended = true;
                            self.phase = Phase::Telling(error);
                        }
                        None => self.start_flushing(),
                    }
                    cx.waker().wake_by_ref();
                }
                Poll::Pending
            }
            Phase::Telling(error) if self.router.due(Side::Client) > 0 => {
                let error = error.clone();
                self.tell(Some(&error));
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Phase::Telling(_) => {
                if self.alarm.is_none() || self.lanes.of(Side::Client).read_ended {
                    self.start_flushing();
                    cx.waker().wake_by_ref();
                }
                Poll::Pending
            }
            Phase::Flushing(end) if self.gave_up || self.lanes.of(Side::Client).is_written() => {
                Poll::Ready(*end)
            }
            Phase::Flushing(_) => Poll::Pending,
        }
    }

    /// Answers all who wait with the error.
    pub(super) fn tell(&mut self, error: Option<&RpcError>) {
        self.router.peer_gone(Side::Server, error, &mut self.fx);
        self.carry_out();
        self.set_alarm(Alarm::FirstRequest, self.options.first_request_wait);
    }

    /// Whether further requests will be told too: a client whose `server/discover` fails goes on
    /// with `initialize`, and shows its user the answer to that.
    pub(super) fn tells_on(&self) -> bool {
        let client_waits = !self.lanes.of(Side::Client).read_ended;
        let never_spoke = self.gauge.server_frames() == 0;
        client_waits && never_spoke && !self.options.first_request_wait.is_zero()
    }

    pub(super) fn start_flushing(&mut self) {
        let client_ended = self.lanes.of(Side::Client).read_ended;
        self.phase = Phase::Flushing(if client_ended { End::ClientClosed } else { End::ServerClosed });
        let moved_bytes = self.gauge.moved_bytes();
        self.set_alarm(Alarm::LastWrites { moved_bytes }, LAST_WRITES_STALL);
    }

    /// After the client's end: what a machine holds is finished first, then the server's input
    /// is closed.
    pub(super) fn close_server_input(&mut self, cx: &mut Context<'_>) {
        let client_ended = self.lanes.of(Side::Client).read_ended;
        let server = self.lanes.of_mut(Side::Server);
        if !client_ended || !server.outbox.is_empty() || self.router.has_machine_holds(Side::Client) {
            return;
        }
        if !server.write_ended && server.port.sink.poll_close(cx).is_ready() {
            server.write_ended = true;
            // Shutting a pipe down does nothing; only dropping its write end tells the server.
            server.port.sink = Box::new(ByteSink::new(tokio::io::sink()));
        }
    }

    /// The server ended before the client said a word: somebody should be told.
    pub(super) fn awaits_first_request(&self) -> bool {
        let expired = !matches!(self.alarm, None | Some((Alarm::FirstRequest, _)));
        !self.client_spoke
            && !self.lanes.of(Side::Client).read_ended
            && !self.options.first_request_wait.is_zero()
            && !expired
    }

    pub(super) fn set_alarm(&mut self, alarm: Alarm, after: Duration) {
        self.alarm = Some((alarm, Box::pin(tokio::time::sleep(after))));
    }

    pub(super) fn watch_discard(&mut self, side: Side) {
        let discards = self.lanes.of(side).port.source.is_discarding();
        *self.stalls.of_mut(side) = discards.then(|| Box::pin(tokio::time::sleep(DISCARD_STALL)));
    }

    pub(super) fn poll_stalls(&mut self, cx: &mut Context<'_>) -> Result<(), PumpError> {
        for side in [Side::Client, Side::Server] {
            let Some(stall) = self.stalls.of_mut(side) else { continue };
            if stall.as_mut().poll(cx).is_pending() {
                continue;
            }
            if self.may_read(side) {
                return Err(PumpError::Flood(side));
            }
            // It stands still because we do not read it.
            self.watch_discard(side);
            cx.waker().wake_by_ref();
        }
        Ok(())
    }

    pub(super) fn poll_alarm(&mut self, cx: &mut Context<'_>) -> bool {
        let Some((alarm, sleep)) = &mut self.alarm else { return false };
        if sleep.as_mut().poll(cx).is_pending() {
            return false;
        }
        let alarm = *alarm;
        self.alarm = None;
        let now = self.gauge.moved_bytes();
        match alarm {
            Alarm::DeafServer { moved_bytes } if moved_bytes != now => {
                self.set_alarm(Alarm::DeafServer { moved_bytes: now }, DEAF_SERVER);
            }
            Alarm::DeafServer { .. } => self.end_of(Side::Server),
            Alarm::FirstRequest => self.client_spoke = true,
            Alarm::LastWrites { moved_bytes } if moved_bytes != now => {
                self.set_alarm(Alarm::LastWrites { moved_bytes: now }, LAST_WRITES_STALL);
            }
            Alarm::LastWrites { .. } => {
                self.gave_up = true;
                if !self.lanes.of(Side::Server).read_ended {
                    self.end_of(Side::Server);
                }
            }
        }
        true
    }
}
