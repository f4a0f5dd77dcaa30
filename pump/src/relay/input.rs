//! Reading, cutting and routing.

use std::task::{Context, Poll};

use super::{Alarm, OURS_BYTES_MAX, OnTooLong, Options, Phase, PumpError, QUEUE_BYTES_MAX, Relay, Unread};
use crate::codec::Cut;
use crate::request::Side;
use crate::stream::Fill;

impl Relay {
    pub(super) fn poll_read(&mut self, side: Side, cx: &mut Context<'_>) -> Result<bool, PumpError> {
        let mut moved = self.cut_all(side)?;
        if !self.may_read(side) {
            return Ok(moved);
        }
        let lane = self.lanes.of_mut(side);
        let filled = match lane.port.source.poll_fill(cx) {
            Poll::Pending => return Ok(moved),
            Poll::Ready(Ok(filled)) => filled,
            Poll::Ready(Err(e)) => return Err(PumpError::Read(side, e)),
        };
        if let (Fill::More(bytes), Side::Server) = (filled, side) {
            self.gauge.moved(bytes);
        }
        moved |= self.cut_all(side)?;
        // With room left the source stopped because it has no more, not for a full queue.
        if filled == Fill::End && self.has_room(side) {
            self.end_of(side);
        }
        self.watch_discard(side);
        Ok(moved | matches!(filled, Fill::More(_)) | self.lanes.of(side).read_ended)
    }

    pub(super) fn may_read(&self, side: Side) -> bool {
        let lane = self.lanes.of(side);
        let after_server_end = side == Side::Client
            && !matches!(self.phase, Phase::Running | Phase::Telling(_))
            && !self.awaits_first_request();
        !lane.read_ended
            && !after_server_end
            && self.has_room(side)
            && lane.outbox.ours_bytes() < OURS_BYTES_MAX
    }

    /// Whether what `from` sends can be queued for the other side.
    pub(super) fn has_room(&self, from: Side) -> bool {
        self.lanes.of(from.other()).outbox.bytes() < QUEUE_BYTES_MAX
    }

    /// Routes the frames that have come in, as long as there is room for them.
    pub(super) fn cut_all(&mut self, side: Side) -> Result<bool, PumpError> {
        let mut moved = false;
        while self.has_room(side) {
            self.refresh_seams();
            if self.router.passes_all(side)
                && let Some(run) = self.lanes.of_mut(side).port.source.next_run()
            {
                moved = true;
                self.count(side);
                self.lanes.of_mut(side.other()).outbox.push_run(&run);
                self.later.push((side, Unread::Run(run)));
                continue;
            }
            let Some(cut) = self.lanes.of_mut(side).port.source.next_cut() else {
                break;
            };
            moved = true;
            match cut {
                Cut::Flood => return Err(PumpError::Flood(side)),
                Cut::Frame(frame) => {
                    self.count(side);
                    if !self.later.is_empty() && self.router.may_depend_on(side, &frame) {
                        // What came before it must be known by now: this may cancel it.
                        self.look_back();
                    }
                    self.router.frame(side, frame, &mut self.fx);
                }
                Cut::TooLong(gone) => {
                    self.count(side);
                    self.router.too_long(side, &gone, &mut self.fx);
                    if self.options.on_too_long == OnTooLong::End {
                        let frame_bytes = gone.frame_bytes;
                        return Err(PumpError::FrameTooLong { from: side, frame_bytes });
                    }
                }
            }
            self.carry_out();
        }
        Ok(moved)
    }

    pub(super) fn count(&mut self, side: Side) {
        match side {
            Side::Client => self.client_spoke = true,
            Side::Server => self.gauge.count_server_frame(),
        }
    }

    pub(super) fn end_of(&mut self, side: Side) {
        self.lanes.of_mut(side).read_ended = true;
        if side == Side::Client {
            self.gauge.set_client_ended();
        }
        *self.stalls.of_mut(side) = None;
        self.router.sender_gone(side, &mut self.fx);
        self.carry_out();
        if side == Side::Server && matches!(self.phase, Phase::Running) {
            let words = std::mem::replace(&mut self.options.server_gone, Options::default().server_gone);
            self.phase = Phase::LastWords(words);
            self.alarm = None;
            if self.awaits_first_request() {
                self.set_alarm(Alarm::FirstRequest, self.options.first_request_wait);
            }
        }
    }

    pub(super) fn refresh_seams(&mut self) {
        let version = self.seams.version();
        if version != self.seams_version {
            self.seams_version = version;
            self.router.set_seams(self.seams.current());
        }
    }
}
