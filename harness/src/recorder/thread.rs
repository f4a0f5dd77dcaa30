//! The thread that writes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use framegate_guard::ledger::{LedgerFailure, Recorded, SessionKey};
use framegate_guard::store::StoreError;
use framegate_guard::store::event::{CallRecord, Event, FrameRecord, FrameSent, Peer, Sent};
use framegate_guard::store::sqlite::Store;
use framegate_guard::store::writer::Writer;

use super::checkpoints::Checkpoints;
use super::ledger::now;
use super::queue::{Item, Queue, What};
use super::remembers::Remembers;
use super::signer::Signer;
use crate::calls::{CallLog, Level};

/// Entries of one transaction: a step waits for those before it, and memory for all of them.
pub(super) const GROUP_MAX: usize = 512;
/// How long after a failure what nobody waits for is tried again.
const RETRY: Duration = Duration::from_millis(250);

/// Which file is written, by name and by what it is: SQLite goes on writing to one that was deleted, and nobody would
/// ever read that.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    /// Device and inode.
    id: (u64, u64),
}

impl Place {
    /// The file that was opened just now.
    pub(super) fn of(path: &Path) -> std::io::Result<Place> {
        Ok(Place { path: path.to_owned(), id: id(path)? })
    }

    /// # Errors
    /// When there is another one in its place, or none.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if id(&self.path).is_ok_and(|id| id == self.id) {
            return Ok(());
        }
        let path = self.path.display();
        Err(StoreError::Os(format!(
            "`{path}` was moved, deleted or replaced while it was in use; put it back, or start the session anew"
        )))
    }
}

fn id(path: &Path) -> std::io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let found = std::fs::metadata(path)?;
    Ok((found.dev(), found.ino()))
}

/// Writes what waits, group by group.
#[derive(Debug)]
pub(super) struct Scribe {
    pub(super) store: Store,
    pub(super) file: Place,
    pub(super) checkpoints: Checkpoints,
    pub(super) signer: Option<Signer>,
    pub(super) writer: Writer,
    pub(super) queue: Arc<Queue>,
    /// Where a call that is refused is taken back.
    pub(super) past: Arc<Remembers>,
    pub(super) key: SessionKey,
    /// Calls go through when their record cannot be written.
    pub(super) lets_through: bool,
    /// Calls have gone through already: their records are kept until they can be written.
    pub(super) is_bounded: bool,
    pub(super) log: Arc<CallLog>,
    /// The last transaction failed.
    pub(super) failing: bool,
}

impl Scribe {
    /// Ends when the queue is closed and empty; what works the WAL in is left to be ended after it.
    pub(super) fn run(mut self) -> Checkpoints {
        // The session is in the record from its start, whether or not it ever calls.
        let mut items = Vec::new();
        loop {
            match self.write(&mut items) {
                Ok(recorded) => {
                    self.release(items, &recorded);
                    self.queue.written();
                }
                Err(why) => {
                    self.writer.undone();
                    self.failed(items, &why);
                    if self.queue.is_closing() {
                        self.give_up(&why);
                        return self.checkpoints;
                    }
                    self.queue.pause(RETRY, self.is_bounded);
                }
            }
            items = self.queue.take(GROUP_MAX);
            if items.is_empty() {
                return self.checkpoints;
            }
        }
    }

    /// One transaction.
    fn write(&mut self, items: &mut [Item]) -> Result<Vec<Option<Recorded>>, StoreError> {
        self.file.check()?;
        let mut to = self.store.begin()?;
        self.writer.session(&mut to, now())?;
        let gap = self.queue.gap();
        if let Some(gap) = &gap {
            self.writer.gap(&mut to, gap, now())?;
        }
        let omitted = self.queue.omitted();
        if let Some(omitted) = &omitted {
            self.writer.omitted(&mut to, omitted, now())?;
        }
        let is_end = items.iter().any(|item| matches!(item.what, What::Event(Event::Close(_))));
        let mut recorded = Vec::with_capacity(items.len());
        for item in items {
            let flow = item.flow.text();
            recorded.push(match &item.what {
                What::Call { step, record, .. } => {
                    Some(self.writer.call(&mut to, (*step, record), flow, item.time)?)
                }
                What::Event(event) | What::Held(event, _) => {
                    self.writer.event(&mut to, event, flow, item.time)?;
                    None
                }
            });
        }
        if let Some(signer) = &mut self.signer {
            signer.sign(&mut to, is_end)?;
        }
        to.commit()?;
        self.signer.iter_mut().for_each(Signer::committed);
        self.writer.committed();
        self.checkpoints.written();
        self.queue.gap_recorded(gap.as_ref(), omitted.as_ref());
        Ok(recorded)
    }

    fn release(&mut self, items: Vec<Item>, recorded: &[Option<Recorded>]) {
        if std::mem::take(&mut self.failing) {
            self.queue.set_lets_through(false);
            self.log.say(Level::Warn, "the record can be written again");
        }
        for (item, recorded) in items.into_iter().zip(recorded) {
            if let What::Call { slot, .. } | What::Held(_, slot) = item.what {
                slot.settle(Ok(*recorded));
            }
        }
    }

    /// Nothing of these was written. Calls that wait, and all that came meanwhile, get their answer now: an attempt
    /// may have taken as long as a call may wait. The rest is kept.
    fn failed(&mut self, items: Vec<Item>, why: &StoreError) {
        let why = why.to_string();
        if !std::mem::replace(&mut self.failing, true) {
            let then = match (self.is_bounded, self.lets_through) {
                (true, _) => "what happens is kept in memory until it can be",
                (_, true) => "calls go through unrecorded until it can be",
                (_, false) => "calls are refused until it can be",
            };
            self.log.say(Level::Error, &format!("the record cannot be written: {why}; {then}"));
            self.queue.set_lets_through(self.lets_through && !self.is_bounded);
        }
        if self.is_bounded {
            return self.queue.put_back(items);
        }
        let all = items.into_iter().chain(self.queue.take_all());
        let kept = all.map(|item| self.unrecorded(item, &why)).collect();
        self.queue.put_back(kept);
    }

    /// A call gets its answer; what is left of it in the record is its frame.
    fn unrecorded(&self, item: Item, why: &str) -> Item {
        let Item { what, time, flow } = item;
        let (step, record, slot) = match what {
            What::Call { step, record, slot } => (step, record, slot),
            What::Held(event, slot) => {
                let what = What::Event(if self.lets_through { event } else { unsent(event) });
                slot.settle(if self.lets_through { Ok(None) } else { Err(LedgerFailure(why.to_owned())) });
                return Item { what, time, flow };
            }
            what => return Item { what, time, flow },
        };
        let sent = match record.sent {
            _ if !self.lets_through => FrameSent::No,
            Sent::Edited => FrameSent::Edited,
            Sent::No => FrameSent::No,
            Sent::Verbatim => FrameSent::Verbatim,
        };
        if self.lets_through {
            // What was refused anyhow did not go out unrecorded.
            if record.sent != Sent::No {
                self.queue.miss(time, why);
            }
            slot.settle(Ok(None));
        } else {
            self.past.undo(&self.key, step);
            slot.settle(Err(LedgerFailure(why.to_owned())));
        }
        let frame = FrameRecord {
            method: "tools/call".to_owned(),
            rule: refused_by(&record),
            frame: Some(record.frame),
            ..FrameRecord::new(Peer::Client, "no record", sent)
        };
        Item { what: What::Event(Event::Frame(frame)), time, flow }
    }

    fn give_up(&self, why: &StoreError) {
        let count = self.queue.len();
        let text = format!(
            "the record is incomplete: the last {count} entries of this session could not be written: {why}"
        );
        self.log.say(Level::Error, &text);
    }
}

/// By which rules and checks a call is refused, record or none.
fn refused_by(record: &CallRecord) -> String {
    if record.sent != Sent::No {
        return String::new();
    }
    record.decision.failed().collect::<Vec<_>>().join(", ")
}

/// A frame that was to be sent on and was not, for want of a record.
fn unsent(event: Event) -> Event {
    match event {
        Event::Frame(frame) => Event::Frame(FrameRecord { sent: FrameSent::No, is_unread: false, ..frame }),
        event => event,
    }
}
