//! What handles ask for, and verdicts that were waited for.

use std::task::{Context, Poll};

use super::{Alarm, LAST_WRITES_STALL, Relay};
use crate::inject::Command;
use crate::request::Side;

impl Relay {
    pub(super) fn poll_commands(&mut self, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        while let Poll::Ready(Some(command)) = self.commands.poll_recv(cx) {
            moved = true;
            match command {
                Command::Ask { number, to, method, params, answer } => {
                    let lane = self.lanes.of(to);
                    if !lane.read_ended && !lane.write_ended && !answer.is_closed() {
                        self.waiters.insert(number, answer);
                        self.router.question(number, to, &method, params.as_deref(), &mut self.fx);
                    }
                }
                Command::EndClient => {
                    if !self.lanes.of(Side::Client).read_ended {
                        self.end_of(Side::Client);
                    }
                }
                Command::EndServer => {
                    // Its end is met where it is read, after what it has said.
                    if !self.lanes.of(Side::Server).read_ended {
                        self.lanes.of_mut(Side::Server).port.source.end();
                        let moved_bytes = self.gauge.moved_bytes();
                        self.set_alarm(Alarm::LastWrites { moved_bytes }, LAST_WRITES_STALL);
                    }
                }
                Command::Forget(number) => {
                    self.waiters.remove(&number);
                    self.router.forget_question(number, &mut self.fx);
                }
                Command::Notify { to, method, params } => {
                    self.router.notify(to, &method, params.as_deref(), &mut self.fx);
                }
                Command::Stop => self.stopped = true,
            }
            self.carry_out();
        }
        moved
    }

    pub(super) fn poll_holds(&mut self, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        while let Poll::Ready(Some(done)) = self.holds.poll_join_next(cx) {
            moved = true;
            match done {
                Ok((token, verdict)) => {
                    self.aborts.remove(&token);
                    self.router.settle(token, verdict, &mut self.fx);
                }
                // An aborted hold was released. One that panicked would block the calls behind
                // it, and the end of the session, for ever.
                Err(broken) => {
                    let found = self.aborts.iter().find(|(_, abort)| abort.id() == broken.id());
                    if let Some(token) = found.map(|(token, _)| *token) {
                        self.aborts.remove(&token);
                        self.router.abandon(token, &mut self.fx);
                    }
                }
            }
            self.carry_out();
        }
        moved
    }
}
